//! What a call is waiting for, told while it waits to whoever started it.
//!
//! The listener belongs to the task, not to the call: a call is made of many requests, look-ups among them, which
//! are all its own and of which none has to know who listens.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// One thing worth telling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// As many requests are under way as may be at a time.
    Turn { in_flight: usize },
    /// GitLab takes no more requests for so long.
    RateLimit { pause: Duration },
    /// The request failed in a way that may pass, and is sent again after a pause.
    Again { attempt: u32, pause: Duration, status: Option<u16> },
    /// So much of a large answer has come, of what was announced.
    Received { bytes: u64, of: Option<u64> },
    /// So many pages of a list have been read.
    Pages { read: usize, rows: usize },
}

type Listener = Arc<dyn Fn(Event) + Send + Sync>;

tokio::task_local! {
    static LISTENER: Listener;
}

/// The same future, with what its calls wait for told to `listener`.
pub fn watched<F: Future>(
    listener: impl Fn(Event) + Send + Sync + 'static,
    future: F,
) -> impl Future<Output = F::Output> {
    let listener: Listener = Arc::new(listener);
    LISTENER.scope(listener, future)
}

/// The same future with the listener of the task that makes it, so that another task can run it.
pub fn with_listener<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let listener = LISTENER.try_with(Arc::clone).ok();
    async move {
        match listener {
            Some(listener) => LISTENER.scope(listener, future).await,
            None => future.await,
        }
    }
}

/// Tells, where anyone listens.
pub fn tell(event: Event) {
    // An error means that nobody does.
    let _ = LISTENER.try_with(|listener| listener(event));
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Turn { in_flight } => {
                write!(f, "waiting for a turn: {in_flight} requests are under way")
            }
            Event::RateLimit { pause } => {
                write!(f, "GitLab's rate limit is used up: waiting {:.1} s", pause.as_secs_f32())
            }
            Event::Again { attempt, pause, status } => {
                let why = status.map_or_else(|| "no answer".to_owned(), |status| format!("status {status}"));
                write!(f, "{why}: attempt {attempt} follows in {:.1} s", pause.as_secs_f32())
            }
            Event::Received { bytes, of: Some(all) } => write!(f, "{bytes} of {all} bytes received"),
            Event::Received { bytes, of: None } => write!(f, "{bytes} bytes received"),
            Event::Pages { read, rows } => write!(f, "pages read: {read}, rows: {rows}"),
        }
    }
}
