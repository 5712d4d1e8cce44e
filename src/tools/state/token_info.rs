//! The state of the request for the token's scopes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use tokio::sync::{OnceCell, watch};
use tokio::time::Instant;

/// Knowledge of the token so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenStanding {
    /// None is set.
    Missing,
    /// GitLab has accepted it before.
    Accepted,
    Unknown,
}

/// The request for the token's scopes, and a warning that is not shown yet.
#[derive(Debug, Default)]
pub struct TokenInfo {
    pub asked: OnceCell<()>,
    /// True once the request has ended, with or without an answer.
    pub ended: watch::Sender<bool>,
    /// The end of the finds' wait.
    pub deadline: OnceLock<Instant>,
    pub news: Mutex<Option<String>>,
    accepted: AtomicBool,
}

impl TokenInfo {
    /// Notes that GitLab has answered a call with this token.
    pub fn accept(&self) {
        self.accepted.store(true, Ordering::Relaxed);
    }

    /// True if GitLab has accepted the token.
    pub fn is_accepted(&self) -> bool {
        self.accepted.load(Ordering::Relaxed)
    }

    /// Takes the warning, so that it is shown once.
    pub fn take_warning(&self) -> Option<String> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
