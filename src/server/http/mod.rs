//! MCP over streamable HTTP (MCP 2025-11-25 and 2026-07-28, transports): one stateless endpoint for many callers, each
//! with their own credential.
//!
//! A request passes, in this order: a place for its connection (`connections`), its head (`heads`) and host (`hosts`),
//! the path and method (`edge`), headers that may be given once (`request_rules`), the credential and the limits that it
//! asks for (`credentials`), the caller's state (`callers`), rate and concurrency, the size, time and memory of the body
//! (`body`, `pools`), Host and Origin and the protocol's headers (rmcp), and the caller's own handler (`handler`).
//!
//! Nothing of a caller is visible to another: each has tools, look-ups, confirmation tokens and limits of its own.

mod body;
mod browsers;
mod bucket;
mod caller_key;
mod callers;
mod connections;
mod credentials;
mod edge;
mod handler;
mod heads;
mod health;
mod hosts;
mod listener;
mod metrics;
mod oauth;
mod page;
mod pools;
mod reachability;
mod refusal;
mod request_rules;
mod settings;
mod tls;

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

pub use edge::ACCESS;
pub use health::{HealthError, check_health};
pub use listener::ListenError;
pub use settings::{AuthMode, HttpSettings, ListenAddress, TlsFiles};
pub use tls::TlsError;

use rmcp::handler::server::ServerHandler;

use crate::surface;
use crate::tools::ToolsFactory;
use edge::Edge;

/// Failure of the HTTP server.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("cannot set up the tools of a caller")]
    Caller(#[from] crate::tools::CallerError),
    #[error("cannot install the signal handlers")]
    Signals(#[source] std::io::Error),
}

/// Time from SIGTERM until no connection is accepted any more. `/health` answers 503 meanwhile, so that a load balancer
/// takes the server out.
const DRAIN_NOTICE: Duration = Duration::from_secs(3);

/// Serves until SIGTERM or another signal that ends a process, then drains. Needs a multi-threaded runtime.
///
/// # Errors
/// An address, certificate or policy that cannot be used.
pub async fn serve_http(
    factory: ToolsFactory,
    surface: surface::SurfaceSettings,
    settings: HttpSettings,
) -> Result<(), HttpError> {
    serve_behind_edge(factory, surface, settings, Edge::handler).await
}

/// Serves another MCP handler than the product's behind the same edge, so that a conformance suite can test the edge
/// with the tools that it needs.
///
/// # Errors
/// Errors of [`serve_http`].
pub async fn serve_handler<H: ServerHandler + Clone>(
    factory: ToolsFactory,
    settings: HttpSettings,
    handler: H,
) -> Result<(), HttpError> {
    serve_behind_edge(factory, surface::SurfaceSettings::default(), settings, |_| handler).await
}

async fn serve_behind_edge<H: ServerHandler + Clone>(
    factory: ToolsFactory,
    surface: surface::SurfaceSettings,
    mut settings: HttpSettings,
    handler: impl FnOnce(&Edge) -> H,
) -> Result<(), HttpError> {
    let mut stop = super::ShutdownSignals::install().map_err(HttpError::Signals)?;
    let acceptor = settings.tls.as_ref().map(tls::acceptor).transpose()?;
    let operation = match &settings.metrics {
        Some(address) => Some(listener::bind(address, "GITLAB_MCP_METRICS").await?),
        None => None,
    };
    let listener = listener::bind(&settings.listen, "GITLAB_MCP_HTTP").await?;
    // The port that the system has chosen, if any was asked for.
    if let listener::HttpListener::Tcp(_, bound) = &listener {
        settings.listen = ListenAddress::Tcp(*bound);
    }
    let factory = Arc::new(factory);
    let edge = Arc::new(Edge::new(Arc::clone(&factory), surface, settings)?);
    warm(Arc::clone(&factory));
    let operation = operation.map(|listener| {
        tracing::info!(target: ACCESS, address = %listener.address(), "listening for /health and /metrics");
        let router = edge::operation_router(Arc::clone(&edge));
        tokio::spawn(listener::HttpServer::new(listener, None, router).accept())
    });
    announce(&edge, &listener);
    tracing::info!(target: ACCESS, address = %listener.address(), "listening");
    let router = edge::router(Arc::clone(&edge), handler(&edge));
    let server = listener::HttpServer::new(listener, acceptor, router);
    let sweeping = tokio::spawn(edge::sweep(Arc::clone(&edge)));
    let accept = tokio::spawn(server.clone().accept());
    stop.recv().await;
    edge.start_draining();
    tokio::select! {
        () = tokio::time::sleep(DRAIN_NOTICE) => {}
        () = stop.recv() => {}
    }
    accept.abort();
    tokio::select! {
        () = server.drain() => {}
        () = stop.recv() => {}
    }
    // Until then, the operator sees that the server drains.
    for task in [Some(sweeping), operation].into_iter().flatten() {
        task.abort();
    }
    factory.close_audit();
    Ok(())
}

/// Says on standard error which URL a client takes, for the person who starts the server. With the log, it can be
/// switched off.
fn announce(edge: &Edge, listener: &listener::HttpListener) {
    if tracing::enabled!(target: ACCESS, tracing::Level::INFO) {
        // A closed standard error takes nothing, and there is nowhere else to say it.
        let _ = match listener {
            listener::HttpListener::Tcp(..) => {
                writeln!(io::stderr(), "MCP clients connect to {}", edge.resource())
            }
            #[cfg(unix)]
            listener::HttpListener::Unix(_, path) => writeln!(
                io::stderr(),
                "MCP clients connect to the socket {}, with the URL {}",
                path.display(),
                edge.resource()
            ),
        };
    }
}

/// Opens the finder on a thread of its own while the first requests are handled.
fn warm(factory: Arc<ToolsFactory>) {
    drop(tokio::task::spawn_blocking(move || {
        if let Err(error) = factory.warm() {
            tracing::error!(%error, "the finder cannot be opened");
        }
    }));
}
