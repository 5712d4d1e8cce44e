//! TLS certificates: which are trusted, and the errors for others.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tempfile::NamedTempFile;
use tokio_rustls::TlsAcceptor;

use super::super::{Applied, NetworkError};
use super::*;

/// A server's certificate and key.
struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
    /// The issuer's certificate as PEM.
    pem: String,
}

fn params(name: &str) -> CertificateParams {
    CertificateParams::new([name.to_owned()]).unwrap()
}

/// Makes a self-signed certificate like `openssl req -x509`: marked as an authority.
fn self_signed(mut params: CertificateParams) -> Identity {
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let pem = certificate.pem();
    Identity { certificate: certificate.der().clone(), key: key.into(), pem }
}

/// Makes a certificate issued by a test authority.
fn issued() -> Identity {
    let mut authority = params("authority.example.com");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = params("localhost").signed_by(&key, &issuer).unwrap();
    Identity { certificate: certificate.der().clone(), key: key.into(), pem: issuer.pem() }
}

fn file(content: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(content.as_bytes()).unwrap();
    file
}

/// Serves `[]` with this certificate and sends a POST there, trusting this CA file.
async fn sent(identity: Identity, ca_file: Option<&str>) -> Result<Reply, GitlabError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![identity.certificate], identity.key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if let Ok(mut stream) = acceptor.accept(stream).await {
                read_request(&mut stream).await;
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                stream.write_all(answer).await.unwrap();
                stream.shutdown().await.unwrap();
            }
        }
    });
    let ca_file = ca_file.map(file);
    let path = ca_file.as_ref().map(|file| file.path().to_owned());
    client(ClientSettings { ca_file: path, ..settings(&base) }).send(&post()).await
}

fn assert_not_trusted(result: Result<Reply, GitlabError>) {
    let error = result.unwrap_err();
    assert!(matches!(error, GitlabError::Network { trouble: NetworkError::Tls, .. }), "{error:?}");
    assert_eq!(error.applied(), Applied::No);
}

#[tokio::test]
async fn a_ca_file_is_trusted_in_addition_to_the_platform() {
    let identity = issued();
    let pem = identity.pem.clone();
    assert_eq!(sent(identity, Some(&pem)).await.unwrap().status, 200);
    assert_not_trusted(sent(issued(), Some(&pem)).await);
    assert_not_trusted(sent(issued(), None).await);
}

#[tokio::test]
async fn a_self_signed_certificate_in_the_ca_file_is_trusted() {
    let identity = self_signed(params("localhost"));
    let pem = identity.pem.clone();
    assert_eq!(sent(identity, Some(&pem)).await.unwrap().status, 200);
    assert_not_trusted(sent(self_signed(params("localhost")), Some(&pem)).await);
}

#[tokio::test]
async fn a_certificate_in_the_ca_file_must_match_name_and_dates() {
    let other_name = self_signed(params("elsewhere.example.com"));
    let pem = other_name.pem.clone();
    assert_not_trusted(sent(other_name, Some(&pem)).await);
    let mut past = params("localhost");
    (past.not_before, past.not_after) = (date_time_ymd(2001, 1, 1), date_time_ymd(2002, 1, 1));
    let expired = self_signed(past);
    let pem = expired.pem.clone();
    assert_not_trusted(sent(expired, Some(&pem)).await);
}

#[tokio::test]
async fn a_server_without_tls_is_detected() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut hello = [0; 4096];
            let _ = stream.read(&mut hello).await;
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        }
    });
    assert_not_trusted(client(settings(&base)).send(&post()).await);
}

#[tokio::test]
async fn a_handshake_that_never_ends_is_a_timeout_before_anything_was_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://{}", listener.local_addr().unwrap());
    let client = client(ClientSettings { connect_timeout: Duration::from_millis(100), ..settings(&base) });
    let error = client.send(&post()).await.unwrap_err();
    assert!(matches!(error, GitlabError::Timeout { .. }), "{error:?}");
    assert_eq!(error.applied(), Applied::No);
}

#[tokio::test]
async fn an_invalid_ca_file_is_an_error() {
    let empty = file("no certificate");
    let broken = file("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n");
    let other = file("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let missing = PathBuf::from("/does/not/exist.pem");
    for path in [missing, empty.path().to_owned(), broken.path().to_owned(), other.path().to_owned()] {
        let settings = ClientSettings { ca_file: Some(path.clone()), ..settings("http://127.0.0.1:9") };
        let error = client(settings).send(&get(PATH)).await.unwrap_err();
        assert!(matches!(error, GitlabError::Setup { .. }), "{error:?}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    }
}
