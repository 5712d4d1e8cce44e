//! Progress of a call in one line of a terminal, on standard error.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::terminal;
use crate::tools::Event;
use crate::untrusted::one_line;

/// Characters of the line: a line that is wrapped cannot be taken back.
const MAX_CHARACTERS: usize = 78;

/// Takes back what the line shows.
const CLEAR: &str = "\r\u{1b}[K";

/// The line; it disappears with the call.
pub struct ProgressLine {
    is_terminal: bool,
    is_shown: Arc<AtomicBool>,
    has_sent_change: Arc<AtomicBool>,
}

impl ProgressLine {
    /// The line of this process, which is shown if standard error is a terminal that can take back a line.
    pub fn stderr() -> ProgressLine {
        let is_terminal = io::stderr().is_terminal() && !terminal::is_dumb();
        ProgressLine { is_terminal, is_shown: Arc::default(), has_sent_change: Arc::default() }
    }

    /// True once the call has sent a request that changes something.
    pub fn has_sent_change(&self) -> bool {
        self.has_sent_change.load(Ordering::Relaxed)
    }

    /// The listener for the events of a call.
    pub fn listener(&self) -> impl Fn(Event) + Send + Sync + 'static {
        let (is_terminal, is_shown) = (self.is_terminal, Arc::clone(&self.is_shown));
        let has_sent_change = Arc::clone(&self.has_sent_change);
        move |event| {
            if event == Event::SendingChange {
                has_sent_change.store(true, Ordering::Relaxed);
            } else if is_terminal {
                is_shown.store(true, Ordering::Relaxed);
                // Progress that cannot be shown is no reason to fail the call.
                let _ = io::stderr().write_all(line(&event).as_bytes());
            }
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.is_shown.load(Ordering::Relaxed) {
            let _ = io::stderr().write_all(CLEAR.as_bytes());
        }
    }
}

/// The line of an event, in place of the one before.
fn line(event: &Event) -> String {
    let text: String = one_line(&event.to_string()).chars().take(MAX_CHARACTERS).collect();
    format!("{CLEAR}{text}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_line_takes_the_place_of_the_one_before_without_terminal_codes_of_gitlab() {
        let event =
            Event::Waiting { state: "run\u{1b}[2Jning\n".to_owned(), elapsed: Duration::from_secs(4) };
        let shown = line(&event);
        let text = shown.strip_prefix(CLEAR).unwrap();
        assert!(text.starts_with("run") && text.ends_with("waiting for 4 s"), "{text}");
        assert!(!text.contains(['\u{1b}', '\n']), "{text}");
        let long = Event::Waiting { state: "x".repeat(500), elapsed: Duration::ZERO };
        assert_eq!(line(&long).chars().count(), CLEAR.len() + MAX_CHARACTERS);
    }
}
