//! Standard output of all commands but the server.

use std::io::{self, BufWriter, Stdout, Write};

use super::terminal::{self, Screen};
use crate::untrusted::cleaned;

/// Writer that ignores a closed pipe, so that `catalog list | head` succeeds, and removes terminal codes and invisible
/// characters: texts of GitLab and of configurations are among what is printed.
#[derive(Debug)]
pub struct Output<W> {
    to: W,
    /// The terminal that it is written to.
    screen: Option<Screen>,
}

impl Output<BufWriter<Stdout>> {
    /// Buffered standard output.
    pub fn stdout() -> Output<BufWriter<Stdout>> {
        Output { to: BufWriter::new(io::stdout()), screen: terminal::screen() }
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Every command writes text in whole pieces; other bytes are shown as they can be.
        let text = String::from_utf8_lossy(bytes);
        let text = cleaned(&text);
        let text = self.screen.map(|screen| screen.render(&text)).unwrap_or(text);
        forgive(self.to.write_all(text.as_bytes()).map(|()| bytes.len()), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        forgive(self.to.flush(), ())
    }
}

fn forgive<T>(outcome: io::Result<T>, instead: T) -> io::Result<T> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(instead),
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_codes_and_hidden_characters_are_not_printed() {
        let mut printed = Output { to: Vec::new(), screen: None };
        let hostile = "\u{1b}]0;title\u{7}\u{1b}[31mred\u{202e}";
        write!(printed, "a {hostile}\tb").unwrap();
        writeln!(printed, " ü").unwrap();
        assert_eq!(String::from_utf8(printed.to).unwrap(), "a red\tb ü\n");
    }
}
