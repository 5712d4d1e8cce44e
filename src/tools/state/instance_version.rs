//! The version of the instance, once it was requested.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::time::Instant;

use crate::catalog::Version;

/// Time without a new request after one that failed.
const PAUSE: Duration = Duration::from_secs(60);

/// The version of the instance, or that it does not report one.
#[derive(Debug, Default)]
pub struct InstanceVersion {
    pub version: OnceCell<Option<Version>>,
    failed: Mutex<Option<Instant>>,
}

impl InstanceVersion {
    /// The version, if it is known by now.
    pub fn known(&self) -> Option<Version> {
        self.version.get().copied().flatten()
    }

    /// True if a request failed a moment ago.
    pub fn is_paused(&self) -> bool {
        let failed = *self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.is_some_and(|at| at.elapsed() < PAUSE)
    }

    /// Notes that a request failed, for a reason that may pass.
    pub fn pause(&self) {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn after_a_failure_nothing_is_asked_for_a_minute() {
        let version = InstanceVersion::default();
        assert!(!version.is_paused());
        version.pause();
        tokio::time::advance(PAUSE - Duration::from_secs(1)).await;
        assert!(version.is_paused());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(!version.is_paused());
        assert_eq!(version.known(), None);
    }
}
