//! Signals that end the process.

use std::future::Future;
use std::io;

/// Runs work until a signal ends the process; none if one did. Work that is given up is dropped, with the requests and
/// programs that it waits for.
///
/// # Errors
/// The handlers cannot be installed.
pub async fn until_signal<T>(work: impl Future<Output = T>) -> io::Result<Option<T>> {
    let mut stop = ShutdownSignals::install()?;
    tokio::select! {
        done = work => Ok(Some(done)),
        () = stop.recv() => Ok(None),
    }
}

/// The signals that ask a process to end (SIGTERM, SIGINT, SIGQUIT, and SIGHUP of a terminal that closes); elsewhere
/// Ctrl-C.
pub(super) struct ShutdownSignals {
    #[cfg(unix)]
    ends: Vec<tokio::signal::unix::Signal>,
}

impl ShutdownSignals {
    /// Installs the handlers.
    #[cfg(unix)]
    pub(super) fn install() -> io::Result<ShutdownSignals> {
        use tokio::signal::unix::{SignalKind, signal};

        let mut kinds = vec![SignalKind::terminate(), SignalKind::interrupt(), SignalKind::quit()];
        if !ignores_hangup() {
            kinds.push(SignalKind::hangup());
        }
        Ok(ShutdownSignals { ends: kinds.into_iter().map(signal).collect::<io::Result<_>>()? })
    }

    /// Completes when one of them arrives.
    #[cfg(unix)]
    pub(super) async fn recv(&mut self) {
        let signals = self.ends.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures_util::future::select_all(signals).await;
    }

    #[cfg(not(unix))]
    pub(super) fn install() -> io::Result<ShutdownSignals> {
        Ok(ShutdownSignals {})
    }

    #[cfg(not(unix))]
    pub(super) async fn recv(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// True if the process was started with SIGHUP ignored, as `nohup` does: it is to outlive its terminal. A handler would
/// replace that. Linux shows the ignored signals (proc_pid_status(5), SigIgn); elsewhere none counts as ignored.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // Signal 1 is the lowest bit of the mask.
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
