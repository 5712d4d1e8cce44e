//! Record of what setup inserted, so that it can be taken back to the byte. It has places and hashes and no text: a
//! configuration may hold a token.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use super::config_file::ConfigFile;
use super::edit::{EditPiece, cut};

/// The record of this user.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Record {
    files: Vec<RecordedFile>,
}

/// Insertions into one configuration file.
#[derive(Debug, Serialize, Deserialize)]
struct RecordedFile {
    path: String,
    /// Name of the server that was added.
    server: String,
    /// True if setup created the file.
    created: bool,
    /// Hash of the whole text that was written. The pieces are its own: in an edited text, the text next to them counts.
    #[serde(default)]
    whole: String,
    pieces: Vec<EditPiece>,
    /// Folders that setup created for the file, from the outermost.
    #[serde(default)]
    folders: Vec<String>,
}

/// A configuration file without what setup inserted.
#[derive(Debug, PartialEq, Eq)]
pub enum Original {
    Text(String),
    /// Setup created the file.
    NoFile,
}

impl Record {
    /// Loads the record; empty if there is none.
    pub fn load(path: &Path) -> io::Result<Record> {
        let file = ConfigFile::load(path)?;
        match file.exists() {
            true => Ok(serde_json::from_str(file.text())?),
            false => Ok(Record::default()),
        }
    }

    /// Writes the record, readable by its owner alone.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let file = ConfigFile::load(path)?;
        match self.files.is_empty() {
            true if file.exists() => {
                file.remove()?;
                // Sign-ins and the audit file may be in it, and then it stays.
                drop(path.parent().map(fs::remove_dir));
                Ok(())
            }
            true => Ok(()),
            false => file.replace(&format!("{:#}\n", serde_json::to_value(self)?)),
        }
    }

    /// Notes the pieces that a text has, which a file is to have.
    pub fn note(&mut self, path: &Path, server: &str, created: bool, text: &str, pieces: &[EditPiece]) {
        let folders = self.find(path).map(|file| file.folders.clone()).unwrap_or_default();
        self.forget(path);
        let (path, whole, pieces) = (path.display().to_string(), hash(text), pieces.to_vec());
        self.files.push(RecordedFile { path, server: server.to_owned(), created, whole, pieces, folders });
    }

    /// Notes the folders that are created for a file, unless they are known from before.
    pub fn note_folders(&mut self, path: &Path, folders: Vec<PathBuf>) {
        let path = path.display().to_string();
        let file = self.files.iter_mut().find(|file| file.path == path && file.folders.is_empty());
        if let Some(file) = file {
            file.folders = folders.iter().map(|folder| folder.display().to_string()).collect();
        }
    }

    /// The folders that setup created for a file, from the outermost.
    pub fn folders(&self, path: &Path) -> Vec<PathBuf> {
        self.find(path).map(|file| file.folders.iter().map(PathBuf::from).collect()).unwrap_or_default()
    }

    /// Forgets a file.
    pub fn forget(&mut self, path: &Path) {
        let path = path.display().to_string();
        self.files.retain(|file| file.path != path);
    }

    /// True if setup added a server to a file.
    pub fn has(&self, path: &Path) -> bool {
        self.server(path).is_some()
    }

    /// Name of the server that setup added to a file.
    pub fn server(&self, path: &Path) -> Option<&str> {
        self.find(path).map(|file| file.server.as_str())
    }

    /// The text before setup, if the text is the one that setup wrote.
    pub fn original(&self, path: &Path, text: &str) -> Option<Original> {
        let file = self.find(path)?;
        if file.pieces.is_empty() || hash(text) != file.whole {
            return None;
        }
        let original = cut(text, &file.pieces)?;
        Some(if file.created && original.is_empty() { Original::NoFile } else { Original::Text(original) })
    }

    fn find(&self, path: &Path) -> Option<&RecordedFile> {
        let path = path.display().to_string();
        self.files.iter().find(|file| file.path == path)
    }
}

fn hash(text: &str) -> String {
    digest(&SHA256, text.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
