//! Reachability of the instances, for `/health` and `/metrics`: one probe of each per interval, however many requests
//! ask for it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use url::Url;

use crate::tools::ToolsFactory;

/// Time from the start of one probe to the next at the earliest.
const INTERVAL: Duration = Duration::from_secs(30);

/// Time limit of a probe; shorter than the interval, so that no two run at the same time.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Time that a request waits for a running probe. A container's probe waits a second by default.
const WAIT: Duration = Duration::from_millis(500);

/// Outcome of the probes.
#[derive(Debug, Default)]
pub(super) struct Reachability {
    /// Start of the last probe.
    started: Mutex<Option<Instant>>,
    latest: watch::Sender<Arc<Probed>>,
}

/// Result of a probe.
#[derive(Debug, Default)]
pub(super) struct Probed {
    /// Start of the probe; none before the first.
    started: Option<Instant>,
    reachable: BTreeMap<Url, bool>,
}

impl Probed {
    /// True or false as an instance has answered; none if it was not probed yet.
    pub(super) fn is_reachable(&self, instance: &Url) -> Option<bool> {
        self.reachable.get(instance).copied()
    }
}

impl Reachability {
    /// Starts a probe if the last one is older than the interval, and waits for it within a bound. A probe that takes
    /// longer leaves the outcome of the one before it.
    pub(super) async fn probe(self: &Arc<Self>, factory: &Arc<ToolsFactory>) -> Arc<Probed> {
        let started = self.start(factory);
        let mut latest = self.latest.subscribe();
        let is_done = |probed: &Arc<Probed>| probed.started >= Some(started);
        // The sender lives as long as this value: what fails is the time limit alone.
        let _ = tokio::time::timeout(WAIT, latest.wait_for(is_done)).await;
        self.latest()
    }

    /// The outcome of the last probe that has ended.
    pub(super) fn latest(&self) -> Arc<Probed> {
        Arc::clone(&self.latest.borrow())
    }

    /// Starts a probe if one is due. Returns the start of the last one.
    pub(super) fn start(self: &Arc<Self>, factory: &Arc<ToolsFactory>) -> Instant {
        let now = Instant::now();
        let mut last = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(started) = *last
            && now.saturating_duration_since(started) < INTERVAL
        {
            return started;
        }
        *last = Some(now);
        let (this, factory) = (Arc::clone(self), Arc::clone(factory));
        tokio::spawn(async move {
            let reachable = factory.probe_instances(TIMEOUT).await;
            this.latest.send_replace(Arc::new(Probed { started: Some(now), reachable }));
        });
        now
    }
}
