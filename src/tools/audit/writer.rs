//! Writer of the audit lines. A client that never reads standard error must not block a call: a thread writes the
//! lines, and lines that do not fit the queue are counted and reported later.

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

/// A writer of lines, which begins with the first.
#[derive(Debug, Default)]
pub(super) struct LineWriter {
    /// The file of the audit, written besides standard error.
    file: Option<RotatedLog>,
    writer: OnceLock<Option<Writer>>,
    lost: AtomicU64,
}

/// Commands of the writer.
#[derive(Debug)]
enum WriterCommand {
    Write(String),
    /// A line for the file alone.
    Keep(String),
    /// Say that all lines before it are written.
    Confirm(SyncSender<()>),
}

#[derive(Debug)]
struct Writer {
    lines: SyncSender<WriterCommand>,
    /// Told when the last line is written.
    done: Mutex<Receiver<()>>,
}

impl LineWriter {
    pub(super) fn new(file: Option<RotatedLog>) -> LineWriter {
        LineWriter { file, writer: OnceLock::new(), lost: AtomicU64::new(0) }
    }

    /// True if lines are kept in a file.
    pub(super) fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Hands a line for the file to the writer, and waits where the queue is full: a kept line is not lost.
    pub(super) fn keep(&self, line: String) {
        let Some(writer) = self.writer.get_or_init(|| start(self.file.clone())) else { return };
        // The writer ends with the process alone.
        let _ = writer.lines.send(WriterCommand::Keep(line));
    }

    /// Hands a line to the writer.
    pub(super) fn write(&self, line: String) {
        let Some(writer) = self.writer.get_or_init(|| start(self.file.clone())) else { return };
        let lost = self.lost.swap(0, Ordering::Relaxed);
        let line = match lost {
            0 => format!("{line}\n"),
            lost => format!("audit: {lost} lines are missing, as standard error was not read\n{line}\n"),
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
            // A timeout means that standard error is not read.
            let _ = confirmation.recv_timeout(GRACE);
        }
    }
}

impl Drop for LineWriter {
    fn drop(&mut self) {
        if let Some(Some(Writer { lines, done })) = self.writer.take() {
            drop(lines);
            // A timeout means that standard error is not read.
            let _ = done.into_inner().unwrap_or_else(PoisonError::into_inner).recv_timeout(GRACE);
        }
    }
}

/// Starts the thread. If that fails, there is no audit, and the log has an error.
fn start(file: Option<RotatedLog>) -> Option<Writer> {
    let (lines, waiting) = sync_channel::<WriterCommand>(WAITING);
    let (finished, done) = sync_channel(1);
    let run = move || {
        for order in waiting {
            // Errors are ignored: a closed standard error takes nothing, and there is nowhere else to report it; the
            // receiver of a confirmation may be gone.
            match order {
                WriterCommand::Write(line) => drop(io::stderr().lock().write_all(line.as_bytes())),
                WriterCommand::Keep(line) => {
                    if let Some(Err(error)) = file.as_ref().map(|file| file.append(&line)) {
                        tracing::error!(%error, "the audit file cannot be written");
                    }
                }
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
