//! Listener and connections: HTTP/1.1 over TCP, TLS or a unix socket, with bounds on connections, headers and time.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::UnixListener;
use tokio_rustls::TlsAcceptor;

use super::connections::{ConnectionPlace, Connections, HttpConnection};
use super::heads::{CheckedStream, MAX_HEAD};
use super::settings::ListenAddress;

/// Time within which the headers of a request have to arrive, also of the next one on a kept connection.
const HEADER_TIME: Duration = Duration::from_secs(15);

/// Time of a TLS handshake.
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);

/// Maximum number of header fields of a request.
const MAX_HEADERS: usize = 64;

/// Time that running requests have at the end.
const DRAIN_TIME: Duration = Duration::from_secs(25);

/// Pause after an error of the system at accepting, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The address cannot be listened on; the first field is the setting that names it.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("{0}: cannot listen on {1}")]
    Tcp(&'static str, SocketAddr, #[source] io::Error),
    #[error("{0}: cannot listen on the unix socket {path}", path = .1.display())]
    Unix(&'static str, PathBuf, #[source] io::Error),
    #[error("{0}: {path} exists and is not a socket", path = .1.display())]
    NotASocket(&'static str, PathBuf),
    #[error("{0}: another process listens on {path}", path = .1.display())]
    InUse(&'static str, PathBuf),
}

/// A bound listener.
pub(super) enum HttpListener {
    Tcp(TcpListener, SocketAddr),
    #[cfg(unix)]
    Unix(UnixListener, PathBuf),
}

impl HttpListener {
    /// The address, as a client would write it.
    pub(super) fn address(&self) -> String {
        match self {
            HttpListener::Tcp(_, address) => address.to_string(),
            #[cfg(unix)]
            HttpListener::Unix(_, path) => format!("unix:{}", path.display()),
        }
    }
}

#[cfg(unix)]
impl Drop for HttpListener {
    fn drop(&mut self) {
        if let HttpListener::Unix(_, path) = self {
            // The socket may already have been removed.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Binds the address of a setting.
pub(super) async fn bind(
    address: &ListenAddress,
    setting: &'static str,
) -> Result<HttpListener, ListenError> {
    match address {
        ListenAddress::Tcp(address) => {
            let failed = |error| ListenError::Tcp(setting, *address, error);
            let listener = TcpListener::bind(address).await.map_err(failed)?;
            let bound = listener.local_addr().map_err(failed)?;
            Ok(HttpListener::Tcp(listener, bound))
        }
        #[cfg(unix)]
        ListenAddress::Unix(path) => bind_unix(path, setting).await,
        #[cfg(not(unix))]
        ListenAddress::Unix(path) => {
            Err(ListenError::Unix(setting, path.clone(), io::Error::from(io::ErrorKind::Unsupported)))
        }
    }
}

/// Binds a unix socket that only its owner may open. A socket that a stopped server has left behind is replaced.
#[cfg(unix)]
async fn bind_unix(path: &std::path::Path, setting: &'static str) -> Result<HttpListener, ListenError> {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};

    let failed = |error| ListenError::Unix(setting, path.to_owned(), error);
    match std::fs::symlink_metadata(path) {
        Ok(there) if !there.file_type().is_socket() => {
            return Err(ListenError::NotASocket(setting, path.to_owned()));
        }
        Ok(_) if tokio::net::UnixStream::connect(path).await.is_ok() => {
            return Err(ListenError::InUse(setting, path.to_owned()));
        }
        Ok(_) => std::fs::remove_file(path).map_err(failed)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let listener = bind_private(path).map_err(failed)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(HttpListener::Unix(listener, path.to_owned()))
}

/// Binds a socket that only its owner can open from the start: a mode that is set later leaves a time in which others can
/// connect. The mask is of the process, so what other threads create meanwhile is private too.
#[cfg(unix)]
fn bind_private(path: &std::path::Path) -> io::Result<UnixListener> {
    use rustix::fs::Mode;
    use rustix::process::umask;

    let mask = umask(Mode::from_raw_mode(0o077));
    let listener = UnixListener::bind(path);
    umask(mask);
    listener
}

/// Accepts connections and serves them.
#[derive(Clone)]
pub(super) struct HttpServer {
    listener: Arc<HttpListener>,
    acceptor: Option<TlsAcceptor>,
    router: Router,
    connections: Arc<Connections>,
    graceful: Arc<Mutex<Option<GracefulShutdown>>>,
}

impl HttpServer {
    pub(super) fn new(listener: HttpListener, acceptor: Option<TlsAcceptor>, router: Router) -> HttpServer {
        HttpServer {
            listener: Arc::new(listener),
            acceptor,
            router,
            connections: Arc::default(),
            graceful: Arc::new(Mutex::new(Some(GracefulShutdown::new()))),
        }
    }

    /// Accepts connections for ever.
    pub(super) async fn accept(self) {
        loop {
            let accepted = match &*self.listener {
                HttpListener::Tcp(listener, _) => match listener.accept().await {
                    Ok((stream, peer)) => {
                        // Without it, a small response may wait for the client's acknowledgement.
                        let _ = stream.set_nodelay(true);
                        self.admit(stream, Some(peer.ip())).await;
                        Ok(())
                    }
                    Err(error) => Err(error),
                },
                #[cfg(unix)]
                HttpListener::Unix(listener, _) => match listener.accept().await {
                    Ok((stream, _)) => {
                        self.admit(stream, None).await;
                        Ok(())
                    }
                    Err(error) => Err(error),
                },
            };
            if let Err(error) = accepted {
                tracing::warn!(%error, "a connection cannot be accepted");
                // The process may have no file left.
                self.connections.close_one();
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }

    /// Serves a connection in the background, if there is a place for it.
    async fn admit(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        peer: Option<IpAddr>,
    ) {
        match self.connections.admit(peer).await {
            Some(place) => self.spawn(stream, place),
            None => tracing::debug!("an address has too many connections"),
        }
    }

    fn spawn(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, place: ConnectionPlace) {
        let server = self.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = server.serve(stream, &place.connection) => {}
                () = place.connection.closing() => tracing::debug!("a connection was closed for another one"),
            }
        });
    }

    async fn serve(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        connection: &Arc<HttpConnection>,
    ) {
        let Some(acceptor) = &self.acceptor else { return self.serve_http(stream, connection).await };
        match tokio::time::timeout(HANDSHAKE_TIME, acceptor.accept(stream)).await {
            Ok(Ok(stream)) => self.serve_http(stream, connection).await,
            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
            Err(_) => tracing::debug!("a TLS handshake did not end in time"),
        }
    }

    async fn serve_http(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        connection: &Arc<HttpConnection>,
    ) {
        let stream = CheckedStream::new(stream);
        let (checks, connection, router) = (stream.checks(), Arc::clone(connection), self.router.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(checks.next());
            request.extensions_mut().insert(Arc::clone(&connection));
            TowerToHyperService::new(router.clone()).call(request)
        });
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIME)
            .max_headers(MAX_HEADERS)
            .max_buf_size(MAX_HEAD)
            .serve_connection(TokioIo::new(stream), service);
        let served = {
            let graceful = self.graceful.lock().unwrap_or_else(PoisonError::into_inner);
            // Without it, the server drains already.
            let Some(graceful) = graceful.as_ref() else { return };
            graceful.watch(served)
        };
        if let Err(error) = served.await {
            tracing::debug!(%error, "a connection ended with an error");
        }
    }

    /// Waits until the running requests have ended, within a limit.
    pub(super) async fn drain(&self) {
        let graceful = self.graceful.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(graceful) = graceful
            && tokio::time::timeout(DRAIN_TIME, graceful.shutdown()).await.is_err()
        {
            tracing::warn!("requests were still running at the end of the drain time");
        }
    }
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("address", &self.listener.address()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    #[tokio::test]
    async fn a_unix_socket_is_its_owners_alone_from_the_start() {
        use std::os::unix::fs::PermissionsExt;

        let path = tempfile::tempdir().unwrap().keep().join("mcp.sock");
        let _listener = super::bind_private(&path).unwrap();
        // Before any mode is set.
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0);
    }

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    use super::super::connections::MAX_CONNECTIONS;
    use super::super::settings::TlsFiles;
    use super::super::tls;
    use super::*;

    /// A server without routes, which drains when it is dropped, and a connection to it.
    async fn connect() -> (HttpServer, tokio::io::DuplexStream) {
        let address = ListenAddress::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)));
        let server = HttpServer::new(bind(&address, "TEST").await.unwrap(), None, Router::new());
        let (client, stream) = tokio::io::duplex(1024);
        server.admit(stream, None).await;
        (server, client)
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_drips_ends_the_connection() {
        for sent in ["", "POST /mcp HTTP/1.1\r\nHost: local"] {
            let ((server, mut client), started) = (connect().await, Instant::now());
            client.write_all(sent.as_bytes()).await.unwrap();
            let mut answered = String::new();
            client.read_to_string(&mut answered).await.unwrap();
            assert!(answered.is_empty() || answered.starts_with("HTTP/1.1 408"), "{answered}");
            assert_eq!(started.elapsed().as_secs(), HEADER_TIME.as_secs(), "{sent}");
            assert_eq!(server.connections.count(), 0, "another may connect");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn half_open_heads_leave_room_for_a_request() {
        let ((server, first), started) = (connect().await, Instant::now());
        let mut slow = vec![first];
        for _ in 0..MAX_CONNECTIONS {
            let (mut client, stream) = tokio::io::duplex(1024);
            server.admit(stream, None).await;
            client.write_all(b"POST /mcp HTTP/1.1\r\nHost: local").await.unwrap();
            slow.push(client);
        }
        let (mut client, stream) = tokio::io::duplex(1024);
        server.admit(stream, None).await;
        client
            .write_all(b"GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .await
            .unwrap();
        let mut answered = String::new();
        client.read_to_string(&mut answered).await.unwrap();
        assert!(answered.starts_with("HTTP/1.1 404"), "{answered}");
        assert_eq!(started.elapsed().as_secs(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_handshake_that_drips_ends_the_connection() {
        let identity = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let files = TlsFiles {
            certificate: folder.path().join("certificate.pem"),
            key: folder.path().join("key.pem"),
        };
        std::fs::write(&files.certificate, identity.cert.pem()).unwrap();
        std::fs::write(&files.key, identity.signing_key.serialize_pem()).unwrap();
        let (server, _) = connect().await;
        let server = HttpServer { acceptor: Some(tls::acceptor(&files).unwrap()), ..server };
        let (mut client, stream) = tokio::io::duplex(1024);
        let started = Instant::now();
        server.admit(stream, None).await;
        // The beginning of a handshake record.
        client.write_all(&[22, 3, 1]).await.unwrap();
        let mut answered = Vec::new();
        client.read_to_end(&mut answered).await.unwrap();
        assert!(answered.is_empty(), "{answered:?}");
        assert_eq!(started.elapsed().as_secs(), HANDSHAKE_TIME.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_is_kept_and_idle_ends() {
        let ((_server, mut client), started) = (connect().await, Instant::now());
        client.write_all(b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        let mut answered = String::new();
        client.read_to_string(&mut answered).await.unwrap();
        assert!(answered.starts_with("HTTP/1.1 404"), "{answered}");
        assert_eq!(started.elapsed().as_secs(), HEADER_TIME.as_secs());
    }
}
