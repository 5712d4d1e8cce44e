//! Progress events of a call: waiting, retrying, downloading.
//!
//! The listener is task-local rather than a parameter: a call makes many requests, look-ups included, and none of them
//! needs to know about the listener.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// A progress event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The request waits for one of the `in_flight` slots.
    Queued { in_flight: usize },
    /// The request waits for the rate limit to reset.
    RateLimit { pause: Duration },
    /// The request failed in a way that may be temporary, and is sent again after a pause.
    Retry { attempt: u32, pause: Duration, status: Option<u16> },
    /// A request that changes something is about to be sent: from now on the change may be made.
    SendingChange,
    /// A part of a large file was sent; `of` is its size.
    Sent { bytes: u64, of: u64 },
    /// A part of a large response has arrived; `of` is the announced size.
    Received { bytes: u64, of: Option<u64> },
    /// Another page of a list has been read; the numbers of pages and rows so far.
    Pages { read: usize, rows: usize },
    /// A call waits for a state of an object.
    Waiting { state: String, elapsed: Duration },
    /// A person was asked about the call and has not answered yet.
    Asking { elapsed: Duration },
}

/// Bytes between two events of a body.
pub(super) const PROGRESS_STEP: u64 = 1024 * 1024;

pub(super) type EventListener = Arc<dyn Fn(Event) + Send + Sync>;

tokio::task_local! {
    static LISTENER: EventListener;
}

/// Runs a future whose calls report their progress to `listener`.
pub fn watched<F: Future>(
    listener: impl Fn(Event) + Send + Sync + 'static,
    future: F,
) -> impl Future<Output = F::Output> {
    let listener: EventListener = Arc::new(listener);
    LISTENER.scope(listener, future)
}

/// Binds the current task's listener to a future, so that another task can run it.
pub fn with_listener<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let listener = listener();
    async move {
        match listener {
            Some(listener) => LISTENER.scope(listener, future).await,
            None => future.await,
        }
    }
}

/// The current task's listener, for work that another task does.
pub(super) fn listener() -> Option<EventListener> {
    LISTENER.try_with(Arc::clone).ok()
}

/// Reports an event to the listener, if there is one.
pub fn notify(event: Event) {
    // An error means that there is no listener.
    let _ = LISTENER.try_with(|listener| listener(event));
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Queued { in_flight } => {
                write!(f, "waiting for a turn: {in_flight} requests are under way")
            }
            Event::RateLimit { pause } => {
                write!(f, "GitLab's rate limit is used up: waiting {:.1} s", pause.as_secs_f32())
            }
            Event::Retry { attempt, pause, status } => {
                let why = status.map_or_else(|| "no answer".to_owned(), |status| format!("status {status}"));
                write!(f, "{why}: attempt {attempt} follows in {:.1} s", pause.as_secs_f32())
            }
            Event::SendingChange => f.write_str("sending the change"),
            Event::Sent { bytes, of } => write!(f, "{bytes} of {of} bytes sent"),
            Event::Received { bytes, of: Some(all) } => write!(f, "{bytes} of {all} bytes received"),
            Event::Received { bytes, of: None } => write!(f, "{bytes} bytes received"),
            Event::Waiting { state, elapsed } => write!(f, "{state}, waiting for {} s", elapsed.as_secs()),
            Event::Asking { elapsed } => {
                write!(f, "waiting for the user's answer for {} s", elapsed.as_secs())
            }
            Event::Pages { read, rows } => write!(f, "pages read: {read}, rows: {rows}"),
        }
    }
}
