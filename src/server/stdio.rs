//! The stdio transport: one JSON-RPC message a line (MCP 2025-11-25, transports, stdio).
//!
//! Cases that rmcp's own line transport leaves open are decided here: a line that cannot be parsed gets JSON-RPC's
//! error instead of silence, a last line needs no newline, messages before the first request are ignored, and a client
//! that does not read its answers is not read from.

use std::future::Future;
use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;

use super::line::{Line, Lines};
use super::outline::Outline;
use super::output::{Output, Queue};

/// Maximum nesting of a message: serde_json's limit.
const DEPTH: usize = 127;

/// Transport of one client session.
pub(super) struct Session<R, W> {
    lines: Lines<R>,
    output: Output<W>,
    /// True once a request has arrived. Until then, rmcp fails on any other message.
    opened: bool,
    /// Signals the end of input, once.
    ended: Option<oneshot::Sender<()>>,
}

impl<R, W> Session<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Creates a transport on these streams, and the receiver that signals the end of input.
    pub(super) fn new(reader: R, writer: W, queue: Arc<Queue>) -> (Session<R, W>, oneshot::Receiver<()>) {
        let (ended, end) = oneshot::channel();
        let (lines, output) = (Lines::new(reader), Output::new(writer, queue));
        (Session { lines, output, opened: false, ended: Some(ended) }, end)
    }

    fn is_welcome(&mut self, message: &ClientJsonRpcMessage) -> bool {
        self.opened |= matches!(message, ClientJsonRpcMessage::Request(_));
        self.opened
    }

    /// Writes an error that no request of rmcp's has, from a task of its own: `receive` may be cancelled.
    fn refuse(&self, refusal: Refusal) {
        tracing::debug!(message = refusal.message, "a line was refused");
        let write = self.output.write(refusal.line());
        tokio::spawn(async move {
            if let Err(error) = write.await {
                tracing::debug!(%error, "the error could not be written");
            }
        });
    }
}

impl<R, W> Transport<RoleServer> for Session<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let line = serde_json::to_vec(&message).map_err(io::Error::from);
        let write = line.map(|line| self.output.write(line));
        async move { write?.await }
    }

    /// Cancellation loses nothing: a part of a line stays in `lines`, and no await follows a whole one.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // Messages read before have their turn first: many lines come in one read, and each would be an answer that
            // is held before the first is queued.
            tokio::task::yield_now().await;
            self.output.queue().wait_for_room().await;
            let parsed = match self.lines.next().await {
                Line::Message(line) => parse(&line),
                Line::TooLong { id, most } => Err(Refusal {
                    code: ErrorCode::INVALID_REQUEST,
                    id,
                    message: format!(
                        "Invalid request: the message is longer than {most} bytes; a file is better named by its path \
                         beneath GITLAB_FILES_DIR"
                    ),
                }),
                Line::End => break,
                Line::Failed(error) => {
                    tracing::error!(%error, "standard input cannot be read");
                    break;
                }
            };
            match parsed {
                Ok(Some(message)) if self.is_welcome(&message) => return Some(message),
                Ok(Some(_)) => tracing::debug!("a message before the first request is ignored"),
                Ok(None) => {}
                Err(refusal) => self.refuse(refusal),
            }
        }
        // A dropped receiver means that the server is already stopping.
        let _ = self.ended.take().map(|ended| ended.send(()));
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.close().await;
        Ok(())
    }
}

/// Error response to an invalid line.
#[derive(Debug)]
struct Refusal {
    code: ErrorCode,
    /// Null if the line has no readable id.
    id: Value,
    message: String,
}

impl Refusal {
    fn line(&self) -> Vec<u8> {
        let error = json!({"code": self.code, "message": self.message});
        json!({"jsonrpc": "2.0", "id": self.id, "error": error}).to_string().into_bytes()
    }
}

/// Parses a line. Blank lines and notifications that MCP does not have are no messages, and no errors either: a
/// notification is never answered.
fn parse(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(line).map(Some).or_else(|error| {
        let refusal = refusal(line, &error);
        if is_notification(line) {
            tracing::debug!(message = refusal.message, "a notification is ignored");
            return Ok(None);
        }
        Err(refusal)
    })
}

fn is_notification(line: &[u8]) -> bool {
    let value: Value = serde_json::from_slice(line).unwrap_or_default();
    value.get("method").is_some_and(Value::is_string) && value.get("id").is_none()
}

/// Error response to a line that cannot be parsed (JSON-RPC 2.0, 5.1).
fn refusal(line: &[u8], error: &serde_json::Error) -> Refusal {
    let mut outline = Outline::default();
    outline.feed(line);
    if outline.nesting() > DEPTH {
        let message = format!("Invalid request: the message is nested deeper than {DEPTH} levels");
        return Refusal { code: ErrorCode::INVALID_REQUEST, id: outline.id(), message };
    }
    if serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err() {
        let at = format!("line {}, column {}", error.line(), error.column());
        let message = format!("Parse error: the line is not JSON ({at})");
        return Refusal { code: ErrorCode::PARSE_ERROR, id: Value::Null, message };
    }
    let message = "Invalid request: the line is no JSON-RPC request, notification or response".to_owned();
    Refusal { code: ErrorCode::INVALID_REQUEST, id: outline.id(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &[u8]) -> (i32, Value) {
        let refusal = parse(line).unwrap_err();
        (refusal.code.0, refusal.id)
    }

    #[test]
    fn lines_that_are_no_messages_get_the_error_of_json_rpc() {
        assert_eq!(refused(b"not JSON"), (-32700, Value::Null));
        assert_eq!(refused(b"{\"jsonrpc\": \"2.0\", \"id\":"), (-32700, Value::Null));
        assert_eq!(refused(b"\xff\xfe"), (-32700, Value::Null));
        assert_eq!(refused(b"{\"hello\": 1, \"id\": 3}"), (-32600, json!(3)));
        assert_eq!(
            refused(b"[{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}]"),
            (-32600, Value::Null)
        );
        let deep = format!("{{\"params\": {}{}, \"id\": \"a\"}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(refused(deep.as_bytes()), (-32600, json!("a")));
    }

    #[test]
    fn blank_lines_and_broken_notifications_are_passed_over() {
        for line in ["", " \t", "\u{feff}", "{\"method\": \"x\"}"] {
            assert!(parse(line.as_bytes()).unwrap().is_none(), "{line:?}");
        }
        assert!(parse(b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}").unwrap().is_some());
    }
}
