//! A file with a token, read again if it changes.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::issued::parse_token;
use crate::gitlab::{CredentialError, IssuedToken, Secret, Token};

/// State of a file by which a change is noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
}

/// The current state of a regular file; none if there is none, or it can be read once only (a pipe).
pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok().filter(Metadata::is_file)?;
    Some(Stamp { modified: metadata.modified().ok(), length: metadata.len() })
}

/// A file with a token.
#[derive(Clone, Debug)]
pub(super) struct TokenFile {
    /// Name of the setting that has the path.
    pub origin: String,
    pub path: PathBuf,
}

impl TokenFile {
    pub fn load(&self) -> Result<IssuedToken, CredentialError> {
        let failed = |what: String| CredentialError {
            what: format!("{}: {what}", self.origin),
            hint: format!("Write the token, and nothing else, to {}.", self.path.display()),
        };
        // A pipe can be read once only, which was at the start.
        if stamp(&self.path).is_none() {
            return Err(failed(format!("{} cannot be read again", self.path.display())));
        }
        let text = fs::read_to_string(&self.path)
            .map_err(|error| failed(format!("cannot read {}: {error}", self.path.display())))?;
        let token = parse_token(&text)
            .ok_or_else(|| failed(format!("{} does not contain a token", self.path.display())))?;
        Ok(IssuedToken { token: Token::guess(Secret::new(token)), expires_at: None })
    }
}
