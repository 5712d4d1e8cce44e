//! Writers of the audit lines, one for standard error and one for the file. A client that never reads standard error
//! must neither block a call nor keep lines from the file: each sink has its own thread and queue, and lines that do not
//! fit the queue are counted and reported later.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use crate::files::RotatedLog;

/// Capacity of the queue in lines.
const WAITING: usize = 256;

/// Maximum time to write the queued lines at the end of the process.
const GRACE: Duration = Duration::from_millis(700);

/// Destination of audit lines.
#[derive(Clone, Debug)]
pub(super) enum LineSink {
    StandardError,
    File(RotatedLog),
}

/// A writer of lines, which begins with the first.
#[derive(Debug)]
pub(super) struct LineWriter {
    sink: LineSink,
    writer: OnceLock<Option<Writer>>,
    lost: AtomicU64,
}

/// Commands of the writer.
#[derive(Debug)]
enum WriterCommand {
    Write(String),
    /// Say that all lines before it are written.
    Confirm(SyncSender<()>),
}

#[derive(Debug)]
struct Writer {
    lines: SyncSender<WriterCommand>,
    /// Told when the last line is written.
    done: Mutex<Receiver<()>>,
}

impl LineSink {
    /// The reason why lines did not fit the queue.
    fn why_lost(&self) -> &'static str {
        match self {
            LineSink::StandardError => "standard error was not read",
            LineSink::File(_) => "the file could not be written in time",
        }
    }

    /// Writes a line. A closed standard error takes nothing, and there is nowhere else to report it.
    fn write(&self, line: &str) {
        match self {
            LineSink::StandardError => drop(io::stderr().lock().write_all(format!("{line}\n").as_bytes())),
            LineSink::File(file) => {
                if let Err(error) = file.append(line) {
                    tracing::error!(%error, "the audit file cannot be written");
                }
            }
        }
    }
}

impl LineWriter {
    pub(super) fn new(sink: LineSink) -> LineWriter {
        LineWriter { sink, writer: OnceLock::new(), lost: AtomicU64::new(0) }
    }

    /// Hands a line to the writer.
    pub(super) fn write(&self, line: String) {
        let Some(writer) = self.writer.get_or_init(|| start(self.sink.clone())) else { return };
        let lost = self.lost.swap(0, Ordering::Relaxed);
        let line = match lost {
            0 => line,
            lost => format!("audit: {lost} lines are missing, as {}\n{line}", self.sink.why_lost()),
        };
        if writer.lines.try_send(WriterCommand::Write(line)).is_err() {
            self.lost.fetch_add(lost + 1, Ordering::Relaxed);
        }
    }
}

impl LineWriter {
    /// Waits until the lines are written, within a limit.
    pub(super) fn flush(&self) {
        let Some(Some(writer)) = self.writer.get() else { return };
        let (confirmed, confirmation) = sync_channel(1);
        if writer.lines.try_send(WriterCommand::Confirm(confirmed)).is_ok() {
            // A timeout means that the lines are not taken.
            let _ = confirmation.recv_timeout(GRACE);
        }
    }
}

impl Drop for LineWriter {
    fn drop(&mut self) {
        if let Some(Some(Writer { lines, done })) = self.writer.take() {
            drop(lines);
            // A timeout means that the lines are not taken.
            let _ = done.into_inner().unwrap_or_else(PoisonError::into_inner).recv_timeout(GRACE);
        }
    }
}

/// Starts the thread. If that fails, there is no audit, and the log has an error.
fn start(sink: LineSink) -> Option<Writer> {
    let (lines, waiting) = sync_channel::<WriterCommand>(WAITING);
    let (finished, done) = sync_channel(1);
    let run = move || {
        for order in waiting {
            // The receiver of a confirmation may be gone.
            match order {
                WriterCommand::Write(line) => sink.write(&line),
                WriterCommand::Confirm(confirmed) => drop(confirmed.try_send(())),
            }
        }
        // The receiver may be gone.
        let _ = finished.send(());
    };
    match thread::Builder::new().name("audit".to_owned()).spawn(run) {
        Ok(_) => Some(Writer { lines, done: Mutex::new(done) }),
        Err(error) => {
            tracing::error!(%error, "no audit is kept: its thread cannot be started");
            None
        }
    }
}
