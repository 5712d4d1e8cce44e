//! Files that the commands read and write. An error names its file.

use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::error::GeneratorError;

/// Loads a text.
pub fn load_text(path: &Path) -> Result<String, GeneratorError> {
    std::fs::read_to_string(path).map_err(|source| unreadable(path, source))
}

/// Loads a file of TOML.
pub fn load_toml<T: DeserializeOwned>(path: &Path) -> Result<T, GeneratorError> {
    toml::from_str(&load_text(path)?).map_err(|error| malformed(path, error.to_string()))
}

/// The paths in a folder, sorted.
pub fn list(folder: &Path) -> Result<Vec<PathBuf>, GeneratorError> {
    let entries = std::fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
    let entries = entries.map_err(|source| unreadable(folder, source))?;
    let mut paths: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).collect();
    paths.sort();
    Ok(paths)
}

/// Writes a file, and its folder.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), GeneratorError> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, content))
        .map_err(|source| unwritable(path, source))
}

/// Removes a file.
pub fn remove(path: &Path) -> Result<(), GeneratorError> {
    std::fs::remove_file(path).map_err(|source| unwritable(path, source))
}

/// Error of a file whose content is refused.
pub fn malformed(path: &Path, reason: String) -> GeneratorError {
    GeneratorError::Malformed { path: path.display().to_string(), reason }
}

fn unreadable(path: &Path, source: io::Error) -> GeneratorError {
    GeneratorError::Read { path: path.display().to_string(), source }
}

fn unwritable(path: &Path, source: io::Error) -> GeneratorError {
    GeneratorError::Write { path: path.display().to_string(), source }
}
