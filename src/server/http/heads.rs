//! Checks the head of each request on a connection before hyper parses it. hyper accepts what a server may accept: it
//! drops a length beside a coding and a second length that is equal (RFC 9112, 6.1 and 6.3). A proxy in front may read
//! such a request in another way, so it is refused here, where its bytes are still as they came.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Maximum size of the head of a request in bytes.
pub(super) const MAX_HEAD: usize = 32 * 1024;

/// Bytes of a header line that are looked at: more than any accepted length or coding has.
const MAX_LINE: usize = 256;

/// A head that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum HeadFault {
    #[error("the head of the request is larger than {MAX_HEAD} bytes")]
    TooLarge,
    #[error("Content-Length is given more than once: send it once")]
    SeveralLengths,
    #[error("Content-Length: expected a number of bytes")]
    NotALength,
    #[error("Transfer-Encoding: expected `chunked` alone, given once")]
    Coding,
    #[error("Content-Length is given with Transfer-Encoding: send one of them")]
    LengthWithCoding,
    /// hyper found a request where this module found none.
    #[error("the head of the request cannot be read")]
    Unreadable,
}

/// Judgment of one head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeadCheck {
    pub(super) fault: Option<HeadFault>,
    /// True if nothing is read from the connection after this request: its end is not known here.
    pub(super) is_last: bool,
}

/// Judgments of the heads on a connection, in the order of its requests.
#[derive(Clone, Debug, Default)]
pub(super) struct HeadChecks(Arc<Mutex<VecDeque<HeadCheck>>>);

impl HeadChecks {
    /// The judgment of the next request.
    pub(super) fn next(&self) -> HeadCheck {
        let mut checks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        checks.pop_front().unwrap_or(HeadCheck { fault: Some(HeadFault::Unreadable), is_last: true })
    }
}

/// The stream of a connection, whose heads are checked while they are read.
pub(super) struct CheckedStream<S> {
    stream: S,
    part: HeadPart,
    checks: HeadChecks,
}

/// The part of the stream that the next byte belongs to.
#[derive(Debug)]
enum HeadPart {
    Head(Head),
    Body {
        left: u64,
    },
    /// Bytes after a request whose end this parser does not determine.
    Unchecked,
}

/// A head, as far as it was read.
#[derive(Debug, Default)]
struct Head {
    size: usize,
    /// The beginning of the current line.
    line: Vec<u8>,
    has_request_line: bool,
    lengths: Vec<Option<u64>>,
    codings: usize,
    is_chunked: bool,
}

impl<S> CheckedStream<S> {
    pub(super) fn new(stream: S) -> CheckedStream<S> {
        CheckedStream { stream, part: HeadPart::Head(Head::default()), checks: HeadChecks::default() }
    }

    pub(super) fn checks(&self) -> HeadChecks {
        self.checks.clone()
    }

    /// Follows the bytes that were read.
    fn observe(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let taken = match &mut self.part {
                HeadPart::Unchecked => return,
                HeadPart::Body { left } => {
                    let skipped = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                    *left = left.saturating_sub(skipped as u64);
                    if *left == 0 {
                        self.part = HeadPart::Head(Head::default());
                    }
                    skipped
                }
                HeadPart::Head(head) => {
                    let line_end = bytes.iter().position(|byte| *byte == b'\n');
                    let taken = line_end.map_or(bytes.len(), |at| at + 1);
                    head.extend(bytes.get(..taken).unwrap_or(bytes));
                    if line_end.is_some() && head.end_line() {
                        self.part = self.checks.judge(head);
                    }
                    taken
                }
            };
            bytes = bytes.get(taken..).unwrap_or_default();
        }
    }
}

impl HeadChecks {
    /// Records the judgment of a whole head, and returns the part that follows it.
    fn judge(&self, head: &Head) -> HeadPart {
        let (fault, length) = (head.fault(), head.lengths.first().copied().flatten());
        let is_last = fault.is_some() || head.codings > 0;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(HeadCheck { fault, is_last });
        match length {
            _ if is_last => HeadPart::Unchecked,
            Some(left @ 1..) => HeadPart::Body { left },
            _ => HeadPart::Head(Head::default()),
        }
    }
}

impl Head {
    fn extend(&mut self, bytes: &[u8]) {
        self.size = self.size.saturating_add(bytes.len());
        let room = MAX_LINE.saturating_sub(self.line.len());
        self.line.extend(bytes.iter().take(room));
    }

    /// Reads the line that has ended. Returns true if it ends the head. As in httparse, a line may end without a
    /// carriage return, and empty lines before the first one are skipped.
    fn end_line(&mut self) -> bool {
        let line = std::mem::take(&mut self.line);
        let line = line.trim_ascii();
        if line.is_empty() {
            return self.has_request_line;
        }
        if !std::mem::replace(&mut self.has_request_line, true) {
            return false;
        }
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let (name, value) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let value = value.trim_ascii();
        if name.eq_ignore_ascii_case(b"content-length") {
            self.lengths.push(parse_length(value));
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.codings += 1;
            self.is_chunked = value.eq_ignore_ascii_case(b"chunked");
        }
        false
    }

    fn fault(&self) -> Option<HeadFault> {
        match (self.lengths.as_slice(), self.codings) {
            _ if self.size > MAX_HEAD => Some(HeadFault::TooLarge),
            ([_, _, ..], _) => Some(HeadFault::SeveralLengths),
            ([_], 1..) => Some(HeadFault::LengthWithCoding),
            ([None], _) => Some(HeadFault::NotALength),
            (_, 2..) => Some(HeadFault::Coding),
            (_, 1) if !self.is_chunked => Some(HeadFault::Coding),
            _ => None,
        }
    }
}

/// A length of digits alone (RFC 9110, 8.6).
fn parse_length(value: &[u8]) -> Option<u64> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(value).ok().filter(|_| is_number)?.parse().ok()
}

impl<S: AsyncRead + Unpin> AsyncRead for CheckedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.observe(buffer.filled().get(before..).unwrap_or_default());
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CheckedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: HeadCheck = HeadCheck { fault: None, is_last: false };

    /// The judgments of everything that is sent, in pieces of a size.
    fn checks(sent: &str, piece: usize) -> Vec<HeadCheck> {
        let mut stream = CheckedStream::new(());
        sent.as_bytes().chunks(piece).for_each(|bytes| stream.observe(bytes));
        let checks = stream.checks.0.lock().unwrap();
        checks.iter().copied().collect()
    }

    fn check(headers: &str) -> HeadCheck {
        let found = checks(&format!("POST /mcp HTTP/1.1\r\nHost: a\r\n{headers}\r\n"), 7);
        assert_eq!(found.len(), 1, "{headers}: {found:?}");
        found[0]
    }

    #[test]
    fn a_head_has_one_length_or_one_coding() {
        for (headers, fault) in [
            ("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", HeadFault::LengthWithCoding),
            ("Transfer-Encoding: chunked\r\ncontent-length: 4\r\n", HeadFault::LengthWithCoding),
            ("Content-Length: 4\r\nContent-Length: 4\r\n", HeadFault::SeveralLengths),
            ("Content-Length: 4\r\nX: y\r\nCONTENT-LENGTH:4\n", HeadFault::SeveralLengths),
            ("Content-Length: 4, 4\r\n", HeadFault::NotALength),
            ("Content-Length: +4\r\n", HeadFault::NotALength),
            ("Content-Length:\r\n", HeadFault::NotALength),
            ("Content-Length: 99999999999999999999\r\n", HeadFault::NotALength),
            ("Transfer-Encoding: gzip, chunked\r\n", HeadFault::Coding),
            ("Transfer-Encoding: chunked, chunked\r\n", HeadFault::Coding),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", HeadFault::Coding),
            ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", HeadFault::Coding),
            ("Transfer-Encoding: identity\r\n", HeadFault::Coding),
        ] {
            assert_eq!(check(headers), HeadCheck { fault: Some(fault), is_last: true }, "{headers}");
        }
        assert_eq!(check("Transfer-Encoding: Chunked\r\n"), HeadCheck { fault: None, is_last: true });
        for headers in ["", "Content-Length: 0\r\n", "X-Content-Length: 4\r\nX: Content-Length: 4\r\n"] {
            assert_eq!(check(headers), OK, "{headers}");
        }
    }

    #[test]
    fn a_head_is_at_most_32_kib() {
        let head = |size: usize| {
            let begin = "POST /mcp HTTP/1.1\r\nX: ";
            let filling = "a".repeat(size - begin.len() - "\r\n\r\n".len());
            checks(&format!("{begin}{filling}\r\n\r\n"), 1_000)
        };
        assert_eq!(head(MAX_HEAD), [OK]);
        let too_large = HeadCheck { fault: Some(HeadFault::TooLarge), is_last: true };
        assert_eq!(head(MAX_HEAD + 1), [too_large]);
    }

    #[test]
    fn each_request_of_a_connection_is_checked_wherever_its_bytes_are_cut() {
        let body = "Content-Length: 1\r\nContent-Length: 2\r\n\r\n";
        let first = format!("POST /mcp HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let empty = "\r\n\r\nGET /health HTTP/1.1\nHost: a\n\n";
        let faulty = "POST /mcp HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n";
        let sent = format!("{first}{empty}{first}{faulty}{first}");
        let refused = HeadCheck { fault: Some(HeadFault::SeveralLengths), is_last: true };
        for piece in [1, 2, 3, 10, 64, 10_000] {
            assert_eq!(checks(&sent, piece), [OK, OK, OK, refused], "pieces of {piece}");
        }
    }

    #[test]
    fn a_request_without_a_judgment_is_refused() {
        let check = HeadChecks::default().next();
        assert_eq!((check.fault, check.is_last), (Some(HeadFault::Unreadable), true));
    }
}
