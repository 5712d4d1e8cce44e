//! The runtime of tool calls, apart from the one that reads and writes messages: however long a call computes, a ping,
//! a cancellation and a signal are answered at once.

use std::future::Future;
use std::io;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinError, JoinHandle};

use crate::tools::with_listener;

/// Threads that run calls. One keeps calls in their order; a long computation moves the others to a further thread.
const THREADS: usize = 1;

/// Time that the shutdown waits for calls to be dropped, so that each has its audit line.
const GRACE: Duration = Duration::from_millis(250);

/// Runs calls. Its threads start with the first of them.
#[derive(Debug, Default)]
pub(super) struct Worker {
    /// `None` if calls run on the current runtime, also if no thread could be started.
    runtime: OnceLock<Option<Runtime>>,
}

impl Worker {
    /// A worker without threads of its own: calls run on the runtime that calls it.
    pub(super) fn of_current_runtime() -> Worker {
        Worker { runtime: OnceLock::from(None) }
    }

    /// Runs a call on the worker's threads; dropping the future drops the call. An error is a panic.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        call: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, JoinError> {
        let call = with_listener(call);
        let task = match self.runtime.get_or_init(|| start().ok()) {
            Some(runtime) => runtime.spawn(call),
            None => tokio::spawn(call),
        };
        let mut task = Task(task);
        (&mut task.0).await
    }

    /// Runs a detached background task.
    pub(super) fn run_detached(&self, work: impl Future<Output = ()> + Send + 'static) {
        match self.runtime.get_or_init(|| start().ok()) {
            Some(runtime) => drop(runtime.spawn(work)),
            None => drop(tokio::spawn(work)),
        }
    }
}

/// Stack of a thread that runs calls, in bytes: that of a main thread. The futures of a call within a batch are deeply nested, and
/// only what is used takes memory.
pub const CALL_STACK: usize = 8 * 1024 * 1024;

fn start() -> io::Result<Runtime> {
    let started = Builder::new_multi_thread()
        .worker_threads(THREADS)
        .thread_name("calls")
        .thread_stack_size(CALL_STACK)
        .enable_all()
        .build();
    started.inspect_err(|error| tracing::error!(%error, "no thread can be started for calls"))
}

impl Drop for Worker {
    fn drop(&mut self) {
        let Some(Some(runtime)) = self.runtime.take() else { return };
        // From a thread of its own: a runtime must not wait for another. What still computes then is left behind.
        let stop =
            thread::Builder::new().name("stop".to_owned()).spawn(move || runtime.shutdown_timeout(GRACE));
        if let Ok(stopping) = stop {
            // A panic of that thread needs no handling.
            let _ = stopping.join();
        }
    }
}

/// Task that is aborted when its handle is dropped.
struct Task<T>(JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
