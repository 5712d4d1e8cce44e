//! The directories that the client works in (MCP roots).

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use url::Url;

/// Maximum number of directories.
const MAX_ROOTS: usize = 20;

/// The directories, as the client named them.
#[derive(Debug, Default)]
pub struct Workspace {
    roots: Mutex<Vec<PathBuf>>,
}

impl Workspace {
    /// Sets the directories from their addresses (`file:///home/me/project`); skips those of other schemes.
    pub fn name(&self, roots: &[String]) {
        let paths = roots.iter().filter_map(|root| Url::parse(root).ok()?.to_file_path().ok());
        *self.roots.lock().unwrap_or_else(PoisonError::into_inner) = paths.take(MAX_ROOTS).collect();
    }

    pub fn roots(&self) -> Vec<PathBuf> {
        self.roots.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
