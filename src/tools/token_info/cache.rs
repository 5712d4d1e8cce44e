//! The state of the request for the token's scopes.

use std::sync::{Mutex, OnceLock, PoisonError};

use tokio::sync::{OnceCell, watch};
use tokio::time::Instant;

/// The request for the token's scopes, and a warning that is not shown yet.
#[derive(Debug, Default)]
pub struct TokenInfo {
    pub(super) asked: OnceCell<()>,
    /// True once the request has ended, with or without an answer.
    pub(super) ended: watch::Sender<bool>,
    /// The end of the finds' wait.
    pub(super) deadline: OnceLock<Instant>,
    pub(super) news: Mutex<Option<String>>,
}

impl TokenInfo {
    /// Takes the warning, so that it is shown once.
    pub fn take_warning(&self) -> Option<String> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
