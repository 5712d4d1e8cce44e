//! Files of this machine that calls read and write: beneath the one directory that the configuration names, and
//! nowhere else; and of a workspace that the client names, what git keeps of where it comes from. The only place that
//! opens any for a call. Its paths are resolved beneath a handle of that
//! directory, so that neither `..` nor a link leads out of it, whatever changes meanwhile.

mod checkout;
#[cfg(test)]
mod tests;

use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

pub use checkout::{Checkout, checkout};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

/// How many other names are tried for one that is taken.
const OTHER_NAMES: u32 = 99;

/// The directory, and how large a file of it may be.
#[derive(Debug, Clone)]
pub struct Files {
    root: PathBuf,
    /// In bytes.
    most: u64,
}

/// Why a file cannot be read or written. Every message names the path as it was given.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    #[error("{given:?} names no file beneath {}", root.display())]
    Outside { given: String, root: PathBuf },
    #[error("{given:?} is not beneath {}", root.display())]
    Missing { given: String, root: PathBuf },
    #[error("{given:?} is no file")]
    NoFile { given: String },
    #[error("{given:?} has {size} bytes, and {most} are the most")]
    TooLarge { given: String, size: u64, most: u64 },
    #[error("{given:?} is there already, and nothing is written over")]
    Taken {
        given: String,
        /// A name that is free.
        other: Option<String>,
    },
    #[error("{given:?} cannot be opened beneath {}", root.display())]
    Io { given: String, root: PathBuf, source: io::Error },
}

impl Files {
    pub fn new(root: PathBuf, most: u64) -> Files {
        Files { root, most }
    }

    /// The bytes of a file.
    pub fn read(&self, given: &str) -> Result<Vec<u8>, FilesError> {
        let path = self.beneath(given)?;
        let failed = |source| self.failed(given, source);
        let dir = self.open().map_err(failed)?;
        // Asked first: a pipe would be waited for.
        let metadata = dir.metadata(&path).map_err(failed)?;
        if !metadata.is_file() {
            return Err(FilesError::NoFile { given: given.to_owned() });
        }
        if metadata.len() > self.most {
            let (given, size) = (given.to_owned(), metadata.len());
            return Err(FilesError::TooLarge { given, size, most: self.most });
        }
        let file = dir.open(&path).map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(self.most.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        // It may have grown meanwhile.
        if size > self.most {
            return Err(FilesError::TooLarge { given: given.to_owned(), size, most: self.most });
        }
        Ok(bytes)
    }

    /// Whether a file could be written there: the path leads nowhere else, and nothing has the name.
    pub fn check_free(&self, given: &str) -> Result<(), FilesError> {
        let path = self.beneath(given)?;
        let dir = self.open().map_err(|source| self.failed(given, source))?;
        if is_free(&dir, &path).map_err(|source| self.failed(given, source))? {
            return Ok(());
        }
        Err(FilesError::Taken { given: given.to_owned(), other: other_name(&dir, &path) })
    }

    /// Writes a file that was not there, with the directories that lead to it.
    pub fn write(&self, given: &str, bytes: &[u8]) -> Result<(), FilesError> {
        let path = self.beneath(given)?;
        let failed = |source| self.failed(given, source);
        let dir = self.open().map_err(failed)?;
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            dir.create_dir_all(parent).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        let mut file = match dir.open_with(&path, options.write(true).create_new(true)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(FilesError::Taken { given: given.to_owned(), other: other_name(&dir, &path) });
            }
            opened => opened.map_err(failed)?,
        };
        file.write_all(bytes).map_err(|error| {
            // Half a file is none. That it cannot be taken away either changes nothing of the error.
            let _ = dir.remove_file(&path);
            failed(error)
        })
    }

    fn open(&self) -> io::Result<Dir> {
        Dir::open_ambient_dir(&self.root, ambient_authority())
    }

    /// The path from the directory, however it was given: a whole path is taken where it leads there.
    fn beneath(&self, given: &str) -> Result<PathBuf, FilesError> {
        let path = Path::new(given);
        let path = if path.is_absolute() { path.strip_prefix(&self.root).ok() } else { Some(path) };
        let is_plain = |path: &&Path| {
            path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
                && path.file_name().is_some()
                && !given.ends_with(['/', '\\'])
        };
        let outside = || FilesError::Outside { given: given.to_owned(), root: self.root.clone() };
        path.filter(is_plain).map(Path::to_owned).ok_or_else(outside)
    }

    fn failed(&self, given: &str, source: io::Error) -> FilesError {
        let (given, root) = (given.to_owned(), self.root.clone());
        match source.kind() {
            io::ErrorKind::NotFound => FilesError::Missing { given, root },
            _ => FilesError::Io { given, root, source },
        }
    }
}

/// Whether nothing has that name. A link that leads nowhere has it.
fn is_free(dir: &Dir, path: &Path) -> io::Result<bool> {
    match dir.symlink_metadata(path) {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// `trace-2.log` beside a `trace.log`.
fn other_name(dir: &Dir, path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let ending = path.extension().and_then(|ending| ending.to_str()).map(|ending| format!(".{ending}"));
    let names = (2..=OTHER_NAMES).map(|n| format!("{stem}-{n}{}", ending.as_deref().unwrap_or_default()));
    let mut paths = names.map(|name| path.with_file_name(name));
    paths.find(|path| is_free(dir, path).unwrap_or(false))?.to_str().map(str::to_owned)
}
