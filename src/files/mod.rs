//! Local files that calls read and write, all inside the one configured directory (GITLAB_FILES_DIR), and the git
//! metadata of a client's workspace. The only module that opens files for a call. Paths are resolved relative to an
//! open handle of the directory, so neither `..` nor a symbolic link leaves it, even if the file system changes
//! meanwhile.

mod checkout;
pub mod git_remote;
mod rotated_log;
#[cfg(test)]
mod tests;

use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

pub use checkout::{Checkout, checkout};
pub use rotated_log::RotatedLog;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

/// Maximum number of alternative names tried for a name that exists.
const OTHER_NAMES: u32 = 99;

/// The directory and its file size limit.
#[derive(Debug, Clone)]
pub struct Files {
    root: PathBuf,
    /// In bytes.
    most: u64,
}

/// Failure to read or write a file. Every message quotes the path as given.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    #[error("{given:?} is not a file name inside {}", root.display())]
    Outside { given: String, root: PathBuf },
    #[error("there is no file {given:?} in {}", root.display())]
    Missing { given: String, root: PathBuf },
    #[error("{given:?} is not a regular file")]
    NoFile { given: String },
    #[error("{given:?} has {size} bytes; the limit is {most}")]
    TooLarge { given: String, size: u64, most: u64 },
    #[error("{given:?} already exists; existing files are not overwritten")]
    Taken {
        given: String,
        /// An unused name.
        other: Option<String>,
    },
    #[error("cannot open {given:?} in {}", root.display())]
    Io { given: String, root: PathBuf, source: io::Error },
}

impl Files {
    pub fn new(root: PathBuf, most: u64) -> Files {
        Files { root, most }
    }

    /// The bytes of a file.
    pub fn load(&self, given: &str) -> Result<Vec<u8>, FilesError> {
        let path = self.relative_path(given)?;
        let failed = |source| self.failed(given, source);
        let dir = self.open().map_err(failed)?;
        // Checked before opening: opening a pipe blocks.
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
        // The file may have grown since its size was checked.
        if size > self.most {
            return Err(FilesError::TooLarge { given: given.to_owned(), size, most: self.most });
        }
        Ok(bytes)
    }

    /// Checks that a file could be created: the path stays inside the directory and the name is unused.
    pub fn check_free(&self, given: &str) -> Result<(), FilesError> {
        let path = self.relative_path(given)?;
        if given.chars().any(hides_its_name) {
            return Err(FilesError::Outside { given: given.to_owned(), root: self.root.clone() });
        }
        let dir = self.open().map_err(|source| self.failed(given, source))?;
        if is_free(&dir, &path).map_err(|source| self.failed(given, source))? {
            return Ok(());
        }
        Err(FilesError::Taken { given: given.to_owned(), other: other_name(&dir, &path) })
    }

    /// Creates a file and its parent directories.
    pub fn write(&self, given: &str, bytes: &[u8]) -> Result<(), FilesError> {
        let path = self.relative_path(given)?;
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
            // Remove the partial file; if that fails too, report the first error.
            let _ = dir.remove_file(&path);
            failed(error)
        })
    }

    fn open(&self) -> io::Result<Dir> {
        Dir::open_ambient_dir(&self.root, ambient_authority())
    }

    /// Path relative to the directory. An absolute path is accepted if it is inside the directory.
    fn relative_path(&self, given: &str) -> Result<PathBuf, FilesError> {
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

/// True for a character by which a name is shown as another one: a control character, or one that turns or hides text.
fn hides_its_name(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Returns true if the name is unused. A dangling symbolic link counts as used.
fn is_free(dir: &Dir, path: &Path) -> io::Result<bool> {
    match dir.symlink_metadata(path) {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// Numbers a file name: `trace.log` becomes `trace-2.log`.
fn other_name(dir: &Dir, path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let ending = path.extension().and_then(|ending| ending.to_str()).map(|ending| format!(".{ending}"));
    let names = (2..=OTHER_NAMES).map(|n| format!("{stem}-{n}{}", ending.as_deref().unwrap_or_default()));
    let mut paths = names.map(|name| path.with_file_name(name));
    paths.find(|path| is_free(dir, path).unwrap_or(false))?.to_str().map(str::to_owned)
}
