//! Outcomes of requests to one instance, for metrics: counts by status, and of those without an answer.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Outcomes of the requests to one instance.
#[derive(Debug, Default)]
pub struct UpstreamState {
    counts: Mutex<UpstreamCounts>,
}

/// Counts of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpstreamCounts {
    /// Requests by the status of the response.
    pub by_status: BTreeMap<u16, u64>,
    /// Requests without a response: connection failures and timeouts.
    pub unanswered: u64,
}

impl UpstreamState {
    /// Records the status of a request; none if GitLab did not answer.
    pub(super) fn record(&self, status: Option<u16>) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        match status {
            Some(status) => *counts.by_status.entry(status).or_default() += 1,
            None => counts.unanswered += 1,
        }
    }

    /// The counts so far.
    pub fn counts(&self) -> UpstreamCounts {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
