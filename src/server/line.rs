//! Lines of standard input, each within a limit.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::outline::Outline;

/// The longest line, in bytes: as much as rmcp reads of one event over HTTP.
const MOST: usize = 16 * 1024 * 1024;

/// The memory that is kept for the next line.
const KEPT: usize = 64 * 1024;

/// A line, or what there is instead.
pub(super) enum Line {
    Message(Vec<u8>),
    /// Passed over to its end; with the id of its message, null where it has none.
    TooLong {
        id: Value,
        most: usize,
    },
    End,
    Failed(io::Error),
}

/// The lines of a stream.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// Set while a line past the limit goes by.
    passing: Option<Outline>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R) -> Lines<R> {
        Lines { reader: BufReader::new(reader), line: Vec::new(), passing: None }
    }

    /// The next line. Dropping the future loses nothing: nothing is awaited between taking bytes from the reader and
    /// keeping them.
    pub(super) async fn next(&mut self) -> Line {
        loop {
            let available = match self.reader.fill_buf().await {
                Ok(available) => available,
                Err(error) => return Line::Failed(error),
            };
            let at_end = available.is_empty();
            let newline = available.iter().position(|byte| *byte == b'\n');
            let bytes = newline.and_then(|at| available.get(..at)).unwrap_or(available);
            let taken = bytes.len() + usize::from(newline.is_some());
            match &mut self.passing {
                Some(outline) => outline.read(bytes),
                None if self.line.len() + bytes.len() > MOST => {
                    let mut outline = Outline::default();
                    outline.read(&std::mem::take(&mut self.line));
                    outline.read(bytes);
                    self.passing = Some(outline);
                }
                None => self.line.extend_from_slice(bytes),
            }
            self.reader.consume(taken);
            if newline.is_none() && !at_end {
                continue;
            }
            if let Some(outline) = self.passing.take() {
                return Line::TooLong { id: outline.id(), most: MOST };
            }
            // The last line needs no newline.
            if at_end && self.line.is_empty() {
                return Line::End;
            }
            let room = self.line.capacity().min(KEPT);
            return Line::Message(std::mem::replace(&mut self.line, Vec::with_capacity(room)));
        }
    }
}
