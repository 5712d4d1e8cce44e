//! The health check of a container: asks a running server for `/health`.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONNECTION, HOST};
use axum::http::{Request, StatusCode};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{self, ClientConfig, DigitallySignedStruct, SignatureScheme};

use super::settings::{HttpSettings, ListenAddress};

/// Time of the whole check.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The server is not healthy.
#[derive(Debug, thiserror::Error)]
pub enum HealthError {
    #[error("cannot connect to {0}")]
    Connect(String, #[source] io::Error),
    #[error("{0} does not answer like gitlab-mcp")]
    Http(String, #[source] hyper::Error),
    #[error("{address} did not answer within {} seconds", TIMEOUT.as_secs())]
    Timeout { address: String },
    #[error("{address} answered {status}")]
    Status { address: String, status: StatusCode },
}

/// Checks the server that listens with these settings on this machine.
///
/// # Errors
/// No answer, or another one than 200: the server drains, or is not gitlab-mcp.
pub async fn check_health(settings: &HttpSettings) -> Result<(), HealthError> {
    let address = match &settings.listen {
        ListenAddress::Tcp(address) => reachable(*address).to_string(),
        ListenAddress::Unix(path) => format!("unix:{}", path.display()),
    };
    match tokio::time::timeout(TIMEOUT, request(settings, &address)).await {
        Ok(Ok(StatusCode::OK)) => Ok(()),
        Ok(Ok(status)) => Err(HealthError::Status { address, status }),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(HealthError::Timeout { address }),
    }
}

/// The address to connect to: a server that listens on all addresses is reached by loopback.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

async fn request(settings: &HttpSettings, address: &str) -> Result<StatusCode, HealthError> {
    let failed = |error| HealthError::Connect(address.to_owned(), error);
    match &settings.listen {
        ListenAddress::Tcp(listen) => {
            let target = reachable(*listen);
            let stream = TcpStream::connect(target).await.map_err(failed)?;
            if settings.tls.is_none() {
                return ask(stream, address).await;
            }
            let connector =
                TlsConnector::from(Arc::new(own_server().map_err(io::Error::other).map_err(failed)?));
            let stream = connector.connect(target.ip().into(), stream).await.map_err(failed)?;
            ask(stream, address).await
        }
        #[cfg(unix)]
        ListenAddress::Unix(path) => {
            let stream = tokio::net::UnixStream::connect(path).await.map_err(failed)?;
            ask(stream, address).await
        }
        #[cfg(not(unix))]
        ListenAddress::Unix(_) => Err(failed(io::ErrorKind::Unsupported.into())),
    }
}

async fn ask(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    address: &str,
) -> Result<StatusCode, HealthError> {
    let failed = |error| HealthError::Http(address.to_owned(), error);
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    let connection = tokio::spawn(connection);
    let request = Request::get("/health").header(HOST, "localhost").header(CONNECTION, "close");
    let request = request
        .body(Body::empty())
        .map_err(|error| HealthError::Connect(address.to_owned(), io::Error::other(error)))?;
    let answered = sender.send_request(request).await.map(|response| response.status()).map_err(failed);
    connection.abort();
    answered
}

/// TLS to the server of this machine. Its certificate names the public host, not loopback, and no secret is sent: it is
/// not verified.
fn own_server() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(default_provider());
    let config =
        ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    let verifier = Arc::new(Unverified(provider.signature_verification_algorithms.supported_schemes()));
    Ok(config.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

#[derive(Debug)]
struct Unverified(Vec<SignatureScheme>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.clone()
    }
}
