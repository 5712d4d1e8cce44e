//! The changes of a sandbox that is kept: one JSON line for each accepted write, made again at the next start. The world
//! has no chance and no clock of its own, so that the same writes make the same world.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::args::{Args, Upload};
use super::graphql;
use super::request::Incoming;
use super::row::Row;
use super::start_error::SandboxError;

/// A write as it is kept.
#[derive(Debug, Serialize, Deserialize)]
pub struct KeptWrite {
    method: String,
    path: String,
    query: Vec<(String, String)>,
    args: Row,
    files: Vec<KeptFile>,
    /// One of the sandbox's own: another is accepted by none of its writes.
    token: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct KeptFile {
    field: String,
    name: String,
    /// In base64.
    bytes: String,
}

impl KeptWrite {
    /// The request, if it may change the world.
    pub fn of(incoming: &Incoming) -> Option<KeptWrite> {
        let is_read = match incoming.path.trim_end_matches('/') {
            graphql::PATH => {
                let document = incoming.args.peek("query").and_then(|query| query.as_str());
                !document.is_some_and(|document| document.contains("mutation"))
            }
            _ => ["GET", "HEAD"].contains(&incoming.method.as_str()),
        };
        (!is_read).then(|| KeptWrite {
            method: incoming.method.clone(),
            path: incoming.path.clone(),
            query: incoming.query.clone(),
            args: incoming.args.given().clone(),
            files: incoming.files.iter().map(KeptFile::of).collect(),
            token: incoming.token.clone(),
        })
    }

    fn incoming(self) -> Result<Incoming, String> {
        let files = self.files.into_iter().map(KeptFile::upload).collect::<Result<_, _>>()?;
        let mut args = Args::default();
        args.extend(self.args);
        let (method, path, query, token) = (self.method, self.path, self.query, self.token);
        Ok(Incoming { method, path, query, args, files, token })
    }
}

impl KeptFile {
    fn of(file: &Upload) -> KeptFile {
        KeptFile { field: file.field.clone(), name: file.name.clone(), bytes: STANDARD.encode(&file.bytes) }
    }

    fn upload(self) -> Result<Upload, String> {
        let bytes = STANDARD.decode(self.bytes).map_err(|error| error.to_string())?;
        Ok(Upload { field: self.field, name: self.name, bytes })
    }
}

/// The file of a sandbox that is kept.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens the file, made if there is none, for its user alone.
    pub fn open(path: PathBuf) -> Result<Journal, SandboxError> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&path) {
            Ok(file) => Ok(Journal { path, file }),
            Err(error) => Err(SandboxError::Journal { path, why: error.to_string() }),
        }
    }

    /// The kept writes, oldest first. A last line without an end was cut off when it was written, and is left out.
    pub fn writes(&self) -> Result<Vec<Incoming>, SandboxError> {
        let unreadable = |why: String| SandboxError::Journal { path: self.path.clone(), why };
        let text = fs::read_to_string(&self.path).map_err(|error| unreadable(error.to_string()))?;
        let whole = text.rfind('\n').map_or("", |end| text.get(..end).unwrap_or_default());
        let lines = whole.lines().enumerate().map(|(at, line)| {
            let kept = serde_json::from_str::<KeptWrite>(line).map_err(|error| error.to_string());
            kept.and_then(KeptWrite::incoming)
                .map_err(|error| unreadable(format!("line {}: {error}", at + 1)))
        });
        lines.collect()
    }

    /// Adds a write, whole or not at all as far as the system has it so.
    pub fn add(&self, write: &KeptWrite) -> io::Result<()> {
        let mut line = serde_json::to_vec(write)?;
        line.push(b'\n');
        (&self.file).write_all(&line)
    }
}
