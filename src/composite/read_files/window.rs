//! Streaming reader of a window of a file: a range of lines, or the matches of a pattern with the lines around
//! them. Keeps only the window in memory.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::gitlab::BodySink;
use crate::text::{Pattern, SEARCH_TIME};

/// Maximum length of a kept line in bytes; longer ones are truncated.
const LINE: usize = 4_000;

/// Bytes that are searched for a NUL to detect a binary (as git does).
const LOOKED_AT: u64 = 8_000;

/// Bytes of the beginning that are kept to detect the kind of file.
const HEAD: usize = 1_024;

/// The requested lines.
#[derive(Clone, Debug)]
pub struct WindowRequest {
    /// First line, from 1.
    pub first: u64,
    /// Last line that may be shown.
    pub last: u64,
    /// Maximum number of lines.
    pub lines: u64,
    /// Maximum number of bytes.
    pub bytes: usize,
    /// The pattern, and the number of context lines.
    pub grep: Option<(Pattern, usize)>,
}

/// State of a file that is being streamed.
#[derive(Debug)]
pub struct WindowReader {
    wanted: WindowRequest,
    seen: FileWindow,
}

/// The window and facts of the file.
#[derive(Debug, Default)]
pub struct FileWindow {
    /// The lines of the window, each with its number and without its end.
    pub kept: Vec<(u64, Vec<u8>)>,
    /// First requested line that did not fit.
    pub left: Option<u64>,
    /// Number of matching lines.
    pub matches: u64,
    /// Number of lines that are truncated.
    pub long: u64,
    pub lines: u64,
    pub bytes: u64,
    /// The beginning of the file.
    pub head: Vec<u8>,
    pub binary: bool,
    /// True if the search exceeded its time limit.
    pub timed_out: bool,
    /// Time of the search so far.
    searched: Duration,
    /// True if the whole file was read.
    pub whole: bool,
    /// True if the last line ends in a newline.
    pub ends_in_newline: bool,
    line: Vec<u8>,
    is_long: bool,
    kept_bytes: usize,
    before: VecDeque<(u64, Vec<u8>)>,
    after: usize,
}

impl WindowReader {
    pub fn new(wanted: WindowRequest) -> WindowReader {
        WindowReader { wanted, seen: FileWindow::default() }
    }

    /// The result, once the file has been read.
    pub fn seen(self) -> FileWindow {
        self.seen
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.seen.line);
        let is_long = std::mem::take(&mut self.seen.is_long);
        self.seen.lines += 1;
        let number = self.seen.lines;
        if self.seen.binary || !(self.wanted.first..=self.wanted.last).contains(&number) {
            return;
        }
        match self.wanted.grep.as_ref() {
            None => self.seen.keep(&self.wanted, number, line, is_long),
            Some((expression, context)) => {
                if self.seen.timed_out {
                    return;
                }
                let begun = Instant::now();
                let text = String::from_utf8_lossy(&line);
                let context = *context;
                let is_match = expression.is_match(text.trim_end_matches('\r'));
                self.seen.searched += begun.elapsed();
                self.seen.timed_out = self.seen.searched > SEARCH_TIME;
                self.search_line(is_match, context, (number, line), is_long);
            }
        }
    }

    /// Processes a searched line: kept if it matches or is near a match.
    fn search_line(&mut self, is_match: bool, context: usize, (number, line): (u64, Vec<u8>), is_long: bool) {
        let seen = &mut self.seen;
        if is_match {
            seen.matches += 1;
            seen.after = context;
            for (number, line) in std::mem::take(&mut seen.before) {
                seen.keep(&self.wanted, number, line, false);
            }
            seen.keep(&self.wanted, number, line, is_long);
        } else if seen.after > 0 {
            seen.after -= 1;
            seen.keep(&self.wanted, number, line, is_long);
        } else if context > 0 {
            if seen.before.len() == context {
                seen.before.pop_front();
            }
            seen.before.push_back((number, line));
        }
    }
}

impl FileWindow {
    fn keep(&mut self, wanted: &WindowRequest, number: u64, line: Vec<u8>, is_long: bool) {
        let is_full = u64::try_from(self.kept.len()).is_ok_and(|kept| kept >= wanted.lines)
            || self.kept_bytes + line.len() + 1 > wanted.bytes;
        if self.left.is_some() || is_full {
            self.left.get_or_insert(number);
            return;
        }
        self.long += u64::from(is_long);
        self.kept_bytes += line.len() + 1;
        self.kept.push((number, line));
    }

    /// Size of the window in bytes.
    pub fn size(&self) -> usize {
        self.kept_bytes
    }

    /// Removes lines at the end until the window fits.
    pub fn shrink(&mut self, bytes: usize) {
        while self.kept_bytes > bytes {
            let Some((number, line)) = self.kept.pop() else { return };
            self.kept_bytes -= line.len() + 1;
            self.left = Some(number);
        }
    }
}

impl BodySink for WindowReader {
    fn begin(&mut self) {
        self.seen = FileWindow::default();
    }

    fn take(&mut self, bytes: &[u8]) {
        let seen = &mut self.seen;
        let looked = LOOKED_AT.saturating_sub(seen.bytes).min(bytes.len() as u64) as usize;
        seen.binary |= bytes.iter().take(looked).any(|byte| *byte == 0);
        let room = HEAD.saturating_sub(seen.head.len());
        seen.head.extend(bytes.iter().take(room));
        seen.bytes += bytes.len() as u64;
        seen.ends_in_newline = bytes.last().map_or(seen.ends_in_newline, |byte| *byte == b'\n');
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            let room = LINE.saturating_sub(self.seen.line.len());
            self.seen.is_long |= piece.len() > room;
            self.seen.line.extend(piece.iter().take(room));
            if pieces.peek().is_some() {
                self.end_line();
            }
        }
    }

    fn end(&mut self, whole: bool) {
        if !self.seen.ends_in_newline && self.seen.bytes > 0 {
            self.end_line();
        }
        self.seen.whole = whole;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: WindowRequest =
        WindowRequest { first: 1, last: u64::MAX, lines: 100, bytes: 10_000, grep: None };

    /// Feeds the file in chunks of `piece` bytes.
    fn seen(wanted: WindowRequest, file: &[u8], piece: usize) -> FileWindow {
        let mut window = WindowReader::new(wanted);
        window.begin();
        file.chunks(piece).for_each(|chunk| window.take(chunk));
        window.end(true);
        window.seen()
    }

    fn lines(seen: &FileWindow) -> Vec<(u64, String)> {
        seen.kept.iter().map(|(at, line)| (*at, String::from_utf8_lossy(line).into_owned())).collect()
    }

    fn numbers(seen: &FileWindow) -> Vec<u64> {
        seen.kept.iter().map(|(at, _)| *at).collect()
    }

    #[test]
    fn a_window_does_not_depend_on_chunk_sizes() {
        let file: String = (1..=50).map(|at| format!("line {at}\n")).collect();
        for piece in [1, 7, 8, 64, 10_000] {
            let seen = seen(WindowRequest { first: 11, lines: 3, ..WANTED }, file.as_bytes(), piece);
            let expected = [(11, "line 11"), (12, "line 12"), (13, "line 13")];
            assert_eq!(lines(&seen), expected.map(|(at, text)| (at, text.to_owned())));
            assert_eq!((seen.lines, seen.bytes, seen.left), (50, file.len() as u64, Some(14)));
        }
    }

    #[test]
    fn a_last_line_without_a_newline_is_a_line() {
        assert_eq!(numbers(&seen(WANTED, b"a\nb", 2)), [1, 2]);
        assert_eq!(numbers(&seen(WANTED, b"a\nb\n", 2)), [1, 2]);
        assert_eq!(seen(WANTED, b"", 2).lines, 0);
        assert_eq!(seen(WANTED, b"\n", 2).lines, 1);
    }

    #[test]
    fn matches_have_context_lines() {
        let file = "a\nb\nhit\nc\nd\ne\nf\nhit\nhit\ng\nh\n";
        let grep = |context| Some((Pattern::new("hit").unwrap(), context));
        let around = seen(WindowRequest { grep: grep(1), ..WANTED }, file.as_bytes(), 3);
        assert_eq!(numbers(&around), [2, 3, 4, 7, 8, 9, 10]);
        assert_eq!((around.matches, around.left), (3, None));
        assert_eq!(numbers(&seen(WindowRequest { grep: grep(0), ..WANTED }, file.as_bytes(), 3)), [3, 8, 9]);
        let few = seen(WindowRequest { grep: grep(1), lines: 4, ..WANTED }, file.as_bytes(), 3);
        assert_eq!((numbers(&few), few.left, few.matches), (vec![2, 3, 4, 7], Some(8), 3));
    }

    #[test]
    fn only_the_window_is_kept_in_memory() {
        let large = vec![b'x'; 3_000_000];
        let seen = seen(WANTED, &large, 10_000);
        assert_eq!((seen.bytes, seen.lines, seen.long), (3_000_000, 1, 1));
        assert!(seen.size() <= LINE + 1 && seen.head.len() <= HEAD);
        let mut lines =
            self::seen(WindowRequest { bytes: 40, ..WANTED }, "0123456789\n".repeat(9).as_bytes(), 5);
        assert_eq!((numbers(&lines), lines.left), (vec![1, 2, 3], Some(4)));
        lines.shrink(25);
        assert_eq!((numbers(&lines), lines.left), (vec![1, 2], Some(3)));
    }

    #[test]
    fn a_nul_byte_means_binary() {
        let binary = seen(WANTED, b"\x89PNG\0\n\0\n", 3);
        assert!(binary.binary && binary.bytes == 8);
        let again = {
            let mut window = WindowReader::new(WANTED);
            window.take(b"\0 of an attempt that broke");
            window.begin();
            window.take(b"text\n");
            window.end(true);
            window.seen()
        };
        assert!(!again.binary && again.lines == 1);
    }
}
