//! The state of the request for the token's scopes.

use std::sync::{Mutex, OnceLock, PoisonError};

use tokio::sync::{OnceCell, watch};
use tokio::time::Instant;

/// What is known of the token, and what is still to be told of it.
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
    /// What has not been told yet, once.
    pub fn take_warning(&self) -> Option<String> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
