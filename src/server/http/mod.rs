//! MCP over streamable HTTP (MCP 2025-11-25 and 2026-07-28, transports): one stateless endpoint for many callers, each
//! with their own credential.
//!
//! A request passes, in this order: the path and method (`edge`), the credential and the limits that it asks for
//! (`credentials`), the caller's state (`callers`), rate and concurrency, the size and time of the body, Host and Origin
//! and the protocol's headers (rmcp), and the caller's own handler (`handler`).
//!
//! Nothing of a caller is visible to another: each has tools, look-ups, confirmation tokens and limits of its own.

mod bucket;
mod caller_key;
mod callers;
mod credentials;
mod edge;
mod handler;
mod health;
mod listener;
mod metrics;
mod oauth;
mod tls;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

pub use health::{HealthError, check_health};
pub use listener::ListenError;
pub use tls::TlsError;

use crate::surface;
use crate::tools::ToolsFactory;
use edge::Edge;

/// Settings of the HTTP server.
#[derive(Clone, Debug)]
pub struct Settings {
    pub listen: ListenAddress,
    pub auth: AuthMode,
    /// The URL that clients use, without the path of the endpoint.
    pub public_url: Option<Url>,
    pub tls: Option<TlsFiles>,
    /// Hosts accepted in `Host`, in addition to loopback and the host of `public_url`.
    pub allowed_hosts: Vec<String>,
    /// Origins accepted in `Origin`, in addition to the server's own; a request without the header is accepted.
    pub allowed_origins: Vec<String>,
    /// Instances that callers may name, in addition to the default one.
    pub instances: Vec<Url>,
    /// Sustained requests per second of one caller; twice as many in a burst.
    pub caller_rate: u32,
    /// Concurrent requests of one caller.
    pub caller_calls: usize,
}

/// Address to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    Tcp(SocketAddr),
    /// Path of a unix socket, which only its owner may open.
    Unix(PathBuf),
}

impl ListenAddress {
    /// True if only this machine can connect.
    pub fn is_local(&self) -> bool {
        match self {
            ListenAddress::Tcp(address) => address.ip().is_loopback(),
            ListenAddress::Unix(_) => true,
        }
    }
}

/// How a caller is identified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthMode {
    /// Every request uses the process's own token.
    None,
    /// Each request brings a token of GitLab.
    Token,
    /// Each request brings an OAuth access token of one of these applications (their uids).
    OAuth { applications: Vec<String> },
}

/// PEM files of the server's certificate chain and key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

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

/// Serves until SIGTERM or SIGINT, then drains. Needs a multi-threaded runtime.
///
/// # Errors
/// An address, certificate or policy that cannot be used.
pub async fn serve_http(
    factory: ToolsFactory,
    surface: surface::Settings,
    mut settings: Settings,
) -> Result<(), HttpError> {
    let mut stop = super::Signals::install().map_err(HttpError::Signals)?;
    let acceptor = settings.tls.as_ref().map(tls::acceptor).transpose()?;
    let listener = listener::bind(&settings.listen).await?;
    // The port that the system has chosen, if any was asked for.
    if let listener::Listener::Tcp(_, bound) = &listener {
        settings.listen = ListenAddress::Tcp(*bound);
    }
    let factory = Arc::new(factory);
    let edge = Arc::new(Edge::new(Arc::clone(&factory), surface, settings)?);
    warm(Arc::clone(&factory));
    tracing::info!(target: ACCESS, address = %listener.address(), "listening");
    let server = listener::Server::new(listener, acceptor, edge::router(Arc::clone(&edge)));
    let sweeping = tokio::spawn(callers::sweep(Arc::clone(&edge)));
    let accepting = server.clone();
    let accept = tokio::spawn(async move { accepting.accept().await });
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
    sweeping.abort();
    factory.close_audit();
    Ok(())
}

/// Target of the access log.
pub const ACCESS: &str = "gitlab_mcp::access";

/// Opens the finder on a thread of its own while the first requests are handled.
fn warm(factory: Arc<ToolsFactory>) {
    drop(tokio::task::spawn_blocking(move || {
        if let Err(error) = factory.warm() {
            tracing::error!(%error, "the finder cannot be opened");
        }
    }));
}
