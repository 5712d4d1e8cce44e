//! Line reader of standard input with a length limit.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::outline::Outline;

/// Maximum length of a line in bytes: rmcp's limit of an HTTP event.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Buffer capacity kept between lines.
const KEPT: usize = 64 * 1024;

/// Line, or the reason for its absence.
pub(super) enum InputLine {
    Message(Vec<u8>),
    /// Line longer than the limit, skipped; with the id of its message, null if it has none.
    TooLong {
        id: Value,
        most: usize,
    },
    End,
    Failed(io::Error),
}

/// Line reader of a stream.
pub(super) struct InputLines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// Set while a line longer than the limit is skipped.
    passing: Option<Outline>,
}

impl<R: AsyncRead + Unpin> InputLines<R> {
    pub(super) fn new(reader: R) -> InputLines<R> {
        InputLines { reader: BufReader::new(reader), line: Vec::new(), passing: None }
    }

    /// The next line. Dropping the future loses nothing: nothing is awaited between taking bytes from the reader and
    /// keeping them.
    pub(super) async fn next(&mut self) -> InputLine {
        loop {
            let available = match self.reader.fill_buf().await {
                Ok(available) => available,
                Err(error) => return InputLine::Failed(error),
            };
            let at_end = available.is_empty();
            let newline = available.iter().position(|byte| *byte == b'\n');
            let bytes = newline.and_then(|at| available.get(..at)).unwrap_or(available);
            let taken = bytes.len() + usize::from(newline.is_some());
            match &mut self.passing {
                Some(outline) => outline.feed(bytes),
                None if self.line.len() + bytes.len() > MAX_LINE_BYTES => {
                    let mut outline = Outline::default();
                    outline.feed(&std::mem::take(&mut self.line));
                    outline.feed(bytes);
                    self.passing = Some(outline);
                }
                None => self.line.extend_from_slice(bytes),
            }
            self.reader.consume(taken);
            if newline.is_none() && !at_end {
                continue;
            }
            if let Some(outline) = self.passing.take() {
                return InputLine::TooLong { id: outline.id(), most: MAX_LINE_BYTES };
            }
            // The last line needs no newline.
            if at_end && self.line.is_empty() {
                return InputLine::End;
            }
            let room = self.line.capacity().min(KEPT);
            return InputLine::Message(std::mem::replace(&mut self.line, Vec::with_capacity(room)));
        }
    }
}
