//! rmcp's line transport, with what a session over stdio needs beside it: to know when the input has ended, to
//! outlive a client that opens with something other than a request, and to read a last line that does not end.

use std::future::Future;
use std::io;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, Chain};
use tokio::sync::oneshot;

/// One client's messages, a line each (MCP 2025-11-25, transports, stdio).
pub(super) struct Session<R: AsyncRead, W: AsyncWrite> {
    lines: AsyncRwTransport<RoleServer, Chain<R, &'static [u8]>, W>,
    /// Whether a request has come. Until then rmcp would give up at anything else.
    opened: bool,
    /// Told once, when the input ends.
    ended: Option<oneshot::Sender<()>>,
}

impl<R, W> Session<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// A session on these streams, and what says that its input has ended.
    pub(super) fn new(reader: R, writer: W) -> (Session<R, W>, oneshot::Receiver<()>) {
        let (ended, end) = oneshot::channel();
        // What is after the last newline is a line as well; an empty one is passed over.
        let lines = AsyncRwTransport::new_server(reader.chain(b"\n".as_slice()), writer);
        (Session { lines, opened: false, ended: Some(ended) }, end)
    }

    fn is_welcome(&mut self, message: &ClientJsonRpcMessage) -> bool {
        self.opened |= matches!(message, ClientJsonRpcMessage::Request(_));
        self.opened
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
        self.lines.send(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        while let Some(message) = self.lines.receive().await {
            if self.is_welcome(&message) {
                return Some(message);
            }
            tracing::debug!("a message before the first request is ignored");
        }
        // Nobody listening is as good as somebody told.
        let _ = self.ended.take().map(|ended| ended.send(()));
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.lines.close().await
    }
}
