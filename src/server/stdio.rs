//! The stdio transport: one JSON-RPC message a line (MCP 2025-11-25, transports, stdio).
//!
//! Cases that rmcp's own line transport leaves open are decided here: a line that cannot be parsed gets JSON-RPC's
//! error instead of silence, a last line needs no newline, messages before the first request are ignored, and a client
//! that does not read its answers is not read from.

use std::collections::{HashSet, VecDeque};
use std::future::Future;
use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;

use super::batch::messages_of;
use super::broken_text::text_fault;
use super::line::{InputLine, InputLines};
use super::outline::Outline;
use super::output::{Queue, ServerOutput};
use super::running_calls::RunningCalls;

/// Maximum nesting of a message: serde_json's limit.
const DEPTH: usize = 127;

/// Maximum number of requests that are handled at once; further ones wait as the lines that they came in, which take a
/// hundredth of the memory. It is above the number of calls that may wait for a user.
const MAX_HANDLED: usize = 256;

/// Maximum size of the waiting lines in bytes, from which nothing more is read.
const MAX_WAITING_BYTES: usize = 32 * 1024 * 1024;

/// Transport of one client session.
pub(super) struct Session<R, W> {
    lines: InputLines<R>,
    output: ServerOutput<W>,
    /// Messages of a batch that were not handled yet.
    batch: VecDeque<Vec<u8>>,
    requests: Requests,
    calls: Arc<RunningCalls>,
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
    pub(super) fn new(
        reader: R,
        writer: W,
        queue: Arc<Queue>,
        calls: Arc<RunningCalls>,
    ) -> (Session<R, W>, oneshot::Receiver<()>) {
        let (ended, end) = oneshot::channel();
        let (lines, output) = (InputLines::new(reader), ServerOutput::new(writer, queue));
        let (batch, requests, opened, ended) = (VecDeque::new(), Requests::default(), false, Some(ended));
        (Session { lines, output, batch, requests, calls, opened, ended }, end)
    }

    /// Begins or ends the call that a message is about.
    fn note_call(&self, message: &ClientJsonRpcMessage) {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                if let ClientRequest::CallToolRequest(call) = &request.request {
                    self.calls.begin(&request.id, &call.params);
                }
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                    cancelled.params.request_id.iter().for_each(|id| drop(self.calls.end(id)));
                }
            }
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => {}
        }
    }

    fn is_welcome(&mut self, message: &ClientJsonRpcMessage) -> bool {
        self.opened |= matches!(message, ClientJsonRpcMessage::Request(_));
        self.opened
    }

    /// Signals the end of input. Requests that wait are still handled, within the grace period.
    fn end_input(&mut self, end: InputLine) {
        if let InputLine::Failed(error) = end {
            tracing::error!(%error, "standard input cannot be read");
        }
        // A dropped receiver means that the server is already stopping.
        let _ = self.ended.take().map(|ended| ended.send(()));
    }

    /// Writes an error that no request of rmcp's has, from a task of its own: `receive` may be cancelled.
    fn refuse(&self, refusal: LineRefusal) {
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
        let answered = match &message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => None,
        };
        answered.into_iter().for_each(|id| self.requests.end(id));
        let call = answered.and_then(|id| self.calls.end(id));
        let line = serde_json::to_vec(&message).map_err(io::Error::from);
        let write = line.map(|line| self.output.write(line));
        async move {
            match (write?.await, call) {
                // rmcp would log that some message was not written.
                (Err(_), Some(call)) => {
                    call.report_unanswered();
                    Ok(())
                }
                (written, _) => written,
            }
        }
    }

    /// Cancellation loses nothing: a part of a line stays in `lines`, and no await follows a whole one.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // Messages read before have their turn first: many lines come in one read, and each would be an answer that
            // is held before the first is queued.
            tokio::task::yield_now().await;
            self.output.queue().wait_for_room().await;
            if let Some(message) = self.requests.next() {
                return Some(message);
            }
            // rmcp ends running calls some seconds after the input.
            match (self.ended.is_none(), self.requests.is_waiting() || !self.calls.is_empty()) {
                (true, false) => return None,
                // The next answer ends this wait: it drops the future, and another is made.
                (true, true) => std::future::pending().await,
                (false, _) if self.requests.is_full() => std::future::pending().await,
                (false, _) => {}
            }
            let next = match self.batch.pop_front() {
                Some(message) => InputLine::Message(message),
                None => self.lines.next().await,
            };
            let (line, parsed) = match next {
                InputLine::Message(line) => {
                    // Each is answered by itself: a call that waits for a user delays none of the others.
                    if let Some(messages) = messages_of(&line) {
                        self.batch.extend(messages);
                        continue;
                    }
                    let parsed = parse(&line);
                    (line, parsed)
                }
                InputLine::TooLong { id, most } => {
                    self.refuse(LineRefusal::too_long(id, most));
                    continue;
                }
                end => {
                    self.end_input(end);
                    continue;
                }
            };
            match parsed {
                Ok(Some(message)) if self.is_welcome(&message) => {
                    self.note_call(&message);
                    if let Some(message) = self.requests.admit(message, line) {
                        return Some(message);
                    }
                }
                Ok(Some(_)) => tracing::debug!("a message before the first request is ignored"),
                Ok(None) => {}
                Err(refusal) => self.refuse(refusal),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.close().await;
        Ok(())
    }
}

/// The requests that are handled, and those that wait for one of them to end. Pings, notifications and answers to the
/// server's own requests do not wait.
#[derive(Debug, Default)]
struct Requests {
    handled: HashSet<RequestId>,
    waiting: VecDeque<(RequestId, Box<[u8]>)>,
    waiting_bytes: usize,
}

impl Requests {
    /// Takes a message that came in this line: it is returned if it is to be handled now.
    fn admit(&mut self, message: ClientJsonRpcMessage, line: Vec<u8>) -> Option<ClientJsonRpcMessage> {
        match &message {
            ClientJsonRpcMessage::Request(request) => {
                if matches!(request.request, ClientRequest::PingRequest(_)) {
                    return Some(message);
                }
                if self.handled.len() >= MAX_HANDLED {
                    self.waiting_bytes += line.len();
                    self.waiting.push_back((request.id.clone(), line.into_boxed_slice()));
                    return None;
                }
                self.handled.insert(request.id.clone());
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.end(id);
                    self.forget(id);
                }
            }
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => {}
        }
        Some(message)
    }

    /// The request that has waited longest, if it can be handled now.
    fn next(&mut self) -> Option<ClientJsonRpcMessage> {
        if self.handled.len() >= MAX_HANDLED {
            return None;
        }
        let (id, line) = self.waiting.pop_front()?;
        self.waiting_bytes -= line.len();
        self.handled.insert(id);
        // It was parsed before, when it came.
        parse(&line).ok().flatten()
    }

    /// A request was answered, or is cancelled and gets no answer.
    fn end(&mut self, id: &RequestId) {
        self.handled.remove(id);
    }

    /// Drops a waiting request that was cancelled.
    fn forget(&mut self, id: &RequestId) {
        self.waiting.retain(|(waiting, _)| waiting != id);
        self.waiting_bytes = self.waiting.iter().map(|(_, line)| line.len()).sum();
    }

    fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn is_full(&self) -> bool {
        self.waiting_bytes >= MAX_WAITING_BYTES
    }
}

/// Error response to an invalid line.
#[derive(Debug)]
struct LineRefusal {
    code: ErrorCode,
    /// Null if the line has no readable id.
    id: Value,
    message: String,
}

impl LineRefusal {
    fn too_long(id: Value, most: usize) -> LineRefusal {
        let message = format!(
            "Invalid request: the message is longer than {most} bytes; a file is better named by its path beneath \
             GITLAB_FILES_DIR"
        );
        LineRefusal { code: ErrorCode::INVALID_REQUEST, id, message }
    }

    fn line(&self) -> Vec<u8> {
        let error = json!({"code": self.code, "message": self.message});
        json!({"jsonrpc": "2.0", "id": self.id, "error": error}).to_string().into_bytes()
    }
}

/// Parses a line. Blank lines and notifications that MCP does not have are no messages, and no errors either: a
/// notification is never answered.
fn parse(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, LineRefusal> {
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
fn refusal(line: &[u8], error: &serde_json::Error) -> LineRefusal {
    let mut outline = Outline::default();
    outline.feed(line);
    if outline.nesting() > DEPTH {
        let message = format!("Invalid request: the message is nested deeper than {DEPTH} levels");
        return LineRefusal { code: ErrorCode::INVALID_REQUEST, id: outline.id(), message };
    }
    if let Some(fault) = text_fault(line) {
        let message = format!("Parse error: {fault}");
        return LineRefusal { code: ErrorCode::PARSE_ERROR, id: outline.id(), message };
    }
    if serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err() {
        let at = format!("line {}, column {}", error.line(), error.column());
        let message = format!("Parse error: the line is not JSON ({at})");
        return LineRefusal { code: ErrorCode::PARSE_ERROR, id: Value::Null, message };
    }
    let message = "Invalid request: the line is no JSON-RPC request, notification or response".to_owned();
    LineRefusal { code: ErrorCode::INVALID_REQUEST, id: outline.id(), message }
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
        for no_batch in ["[]", "[1]", "[[{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}]]"] {
            assert!(messages_of(no_batch.as_bytes()).is_none(), "{no_batch}");
            assert_eq!(refused(no_batch.as_bytes()), (-32600, Value::Null), "{no_batch}");
        }
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
    fn request(id: i64, method: &str) -> String {
        let params = json!({"name": "x", "arguments": {"pad": "x".repeat(100)}});
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    fn id_of(message: Option<ClientJsonRpcMessage>) -> RequestId {
        match message {
            Some(ClientJsonRpcMessage::Request(request)) => request.id,
            other => panic!("no request: {other:?}"),
        }
    }

    fn answer(id: &RequestId) -> ServerJsonRpcMessage {
        ServerJsonRpcMessage::error(rmcp::ErrorData::internal_error("", None), Some(id.clone()))
    }

    #[tokio::test]
    async fn requests_wait_where_many_are_handled_and_others_pass_them() {
        let most = i64::try_from(MAX_HANDLED).unwrap();
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": most}});
        let mut input: String = (0..most + 3).map(|id| request(id, "tools/call")).collect();
        input.push_str(&format!("{}{cancel}\n", request(9_999, "ping")));
        let (mut session, ended) =
            Session::new(input.as_bytes(), tokio::io::sink(), Arc::default(), Arc::default());
        for id in 0..most {
            assert_eq!(id_of(session.receive().await), RequestId::Number(id));
        }
        assert_eq!(id_of(session.receive().await), RequestId::Number(9_999), "a ping does not wait");
        assert!(matches!(session.receive().await, Some(ClientJsonRpcMessage::Notification(_))));
        // The end of input is signaled, and what waits is handled as answers come. A cancelled request is not.
        let wait = tokio::time::timeout(std::time::Duration::from_millis(50), session.receive()).await;
        assert!(wait.is_err() && ended.await.is_ok());
        for (answered, next) in [(7, most + 1), (8, most + 2)] {
            session.send(answer(&RequestId::Number(answered))).await.unwrap();
            assert_eq!(id_of(session.receive().await), RequestId::Number(next));
        }
        for id in 0..most + 3 {
            session.send(answer(&RequestId::Number(id))).await.unwrap();
        }
        assert!(session.receive().await.is_none(), "no call runs any more");
    }

    #[test]
    fn nothing_is_read_while_too_many_bytes_wait() {
        let mut requests = Requests::default();
        let line = vec![b' '; MAX_WAITING_BYTES];
        for id in 0..=MAX_HANDLED {
            let text = request(i64::try_from(id).unwrap(), "tools/call");
            let message = parse(text.as_bytes()).unwrap().unwrap();
            let admitted = requests.admit(message, if id < MAX_HANDLED { Vec::new() } else { line.clone() });
            assert_eq!(admitted.is_some(), id < MAX_HANDLED);
        }
        assert!(requests.is_full());
        requests.forget(&RequestId::Number(i64::try_from(MAX_HANDLED).unwrap()));
        assert!(!requests.is_full() && !requests.is_waiting());
    }
}
