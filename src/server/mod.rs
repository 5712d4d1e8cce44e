//! MCP server over standard input and output, and over HTTP: translates between the protocol and a surface's tools. The only module
//! that uses rmcp.
//!
//! Both eras of the protocol are served by one set of handlers: the `initialize` handshake of 2024-11-05 to
//! 2025-11-25, and 2026-07-28, where `server/discover` replaces it and every request carries its own version.

mod backend;
mod batch;
mod broken_text;
mod elicitation;
mod handler;
pub mod http;
mod line;
mod outline;
mod output;
mod progress;
mod request_parts;
mod resources_prompts;
mod roots;
mod running_calls;
mod server_info;
mod shortened_structure;
mod signals;
mod stdio;
mod worker;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::service::{RunningService, ServerInitializeError};
use rmcp::{RoleServer, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;
use tokio::task::JoinError;

use crate::surface::Surface;
use crate::tools::Instances;
pub use backend::Backend;
use handler::Handler;
use output::Queue;
use running_calls::RunningCalls;
pub use server_info::sent;
use signals::ShutdownSignals;
pub use signals::until_signal;
use stdio::Session;
pub use worker::CALL_STACK;

/// Grace period for running calls after the end of input: input from a file ends at once, and a change that GitLab takes
/// its time for has its answer. A client that does not wait so long sends SIGTERM after about two seconds, which ends them
/// (MCP 2025-11-25, lifecycle, shutdown over stdio).
const GRACE: Duration = Duration::from_secs(30);

/// Failure of the server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("cannot open the MCP session")]
    Opening(#[source] Box<ServerInitializeError>),
    #[error("the MCP session failed")]
    Session(#[source] JoinError),
    #[error("cannot install the signal handlers")]
    Signals(#[source] io::Error),
}

/// Serves on standard input and output until the input ends or a signal arrives.
pub async fn serve(instances: Arc<Instances>, surface: Surface) -> Result<(), ServerError> {
    let mut stop = ShutdownSignals::install().map_err(ServerError::Signals)?;
    let (reader, writer) = rmcp::transport::stdio_pipes();
    let (served, calls) = (Arc::clone(&instances), Arc::<RunningCalls>::default());
    let outcome = tokio::select! {
        outcome = session(served, surface, Arc::clone(&calls), (reader, writer)) => outcome,
        () = stop.recv() => Ok(()),
    };
    calls.report_unanswered();
    // Waiting calls have ended by now; a computing one may outlast the grace period.
    instances.default_tools().close_audit();
    outcome
}

/// Serves the two tools on any pair of streams until the reader ends.
pub async fn serve_on<B, R, W>(backend: Arc<B>, reader: R, writer: W) -> Result<(), ServerError>
where
    B: Backend,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    session(backend, Surface::default(), Arc::default(), (reader, writer)).await
}

/// Runs one client session. End of input before the first request is a normal end.
async fn session<B, R, W>(
    backend: Arc<B>,
    surface: Surface,
    calls: Arc<RunningCalls>,
    (reader, writer): (R, W),
) -> Result<(), ServerError>
where
    B: Backend,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let queue = Arc::new(Queue::default());
    let (session, ended) = Session::new(reader, writer, Arc::clone(&queue), Arc::clone(&calls));
    // On the heap: the future is large, and each caller of this one would hold a copy on the stack.
    let handler = Handler::new(backend, surface, queue).noting(calls);
    match Box::pin(handler.serve(session)).await {
        Ok(running) => finish(running, ended).await,
        Err(
            ServerInitializeError::ConnectionClosed(_)
            | ServerInitializeError::TransportError { .. }
            | ServerInitializeError::Cancelled,
        ) => Ok(()),
        Err(error) => Err(ServerError::Opening(Box::new(error))),
    }
}

/// Waits for the end of the session: the end of input, then running calls or the end of their grace period.
async fn finish<B: Backend>(
    running: RunningService<RoleServer, Handler<B>>,
    ended: oneshot::Receiver<()>,
) -> Result<(), ServerError> {
    let out_of_time = async {
        // An error means that the session has ended.
        let _ = ended.await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        reason = running.waiting() => reason.map(drop).map_err(ServerError::Session),
        () = out_of_time => Ok(()),
    }
}
