//! TLS of the listener.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::settings::TlsFiles;

/// A certificate or key that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("GITLAB_MCP_TLS_CERT: no certificate can be read from {}", .0.display())]
    Certificate(PathBuf, #[source] pem::Error),
    #[error("GITLAB_MCP_TLS_CERT: {} has no certificate in PEM form", .0.display())]
    NoCertificate(PathBuf),
    #[error("GITLAB_MCP_TLS_KEY: no private key can be read from {}", .0.display())]
    Key(PathBuf, #[source] pem::Error),
    #[error("GITLAB_MCP_TLS_CERT and GITLAB_MCP_TLS_KEY do not belong together")]
    Pair(#[source] tokio_rustls::rustls::Error),
}

/// Loads the certificate and the key. TLS 1.2 and 1.3, HTTP/1.1.
pub(super) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, TlsError> {
    let failed = |error| TlsError::Certificate(files.certificate.clone(), error);
    let chain = CertificateDer::pem_file_iter(&files.certificate).map_err(failed)?;
    let chain: Vec<CertificateDer<'static>> = chain.collect::<Result<_, _>>().map_err(failed)?;
    if chain.is_empty() {
        return Err(TlsError::NoCertificate(files.certificate.clone()));
    }
    let key =
        PrivateKeyDer::from_pem_file(&files.key).map_err(|error| TlsError::Key(files.key.clone(), error))?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Pair)?
        .with_no_client_auth()
        .with_single_cert(chain, key);
    let mut config = config.map_err(TlsError::Pair)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
