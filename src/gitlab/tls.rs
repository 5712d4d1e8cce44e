//! TLS trust and client certificates. Trusted are the platform's authorities (on Linux those of `SSL_CERT_FILE` and
//! `SSL_CERT_DIR`, if set) and the certificates of a CA file. rustls with ring, TLS 1.2 and 1.3.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustls::client::WantsClientCert;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ConfigBuilder, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme,
};
use rustls_platform_verifier::Verifier;

use super::certificate_expiry::CertificateExpiry;
use super::{ClientCertificate, ClientSettings, GitlabError};

/// Peer of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peer {
    Gitlab,
    /// A host that GitLab redirected to: never sent the client certificate, and always verified.
    Other,
}

/// Builds the TLS configuration of a client. Loads the platform's certificates. `expiry` records the certificates that
/// GitLab presents.
pub(super) fn config(
    settings: &ClientSettings,
    peer: Peer,
    expiry: &Arc<CertificateExpiry>,
) -> Result<ClientConfig, GitlabError> {
    let is_gitlab = peer == Peer::Gitlab;
    let extra = settings.ca_file.as_deref().map(authorities).transpose()?.unwrap_or_default();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let is_insecure = settings.insecure_tls && is_gitlab;
    let platform = match Verifier::new_with_extra_roots(extra.iter().cloned(), Arc::clone(&provider)) {
        Ok(verifier) => Some(verifier),
        // A system without certificates can still reach a GitLab that needs none.
        Err(_) if settings.base.scheme() == "http" || is_insecure => None,
        Err(error) => {
            let what = "no usable certificates of authorities were found on this system \
                        (SSL_CERT_FILE or GITLAB_CA_FILE names them)";
            return Err(GitlabError::Setup { what: what.to_owned(), source: Some(Box::new(error)) });
        }
    };
    let algorithms = provider.signature_verification_algorithms;
    let expiry = is_gitlab.then(|| Arc::clone(expiry));
    let verifier = Arc::new(Trust { platform, given: extra, is_insecure, algorithms, expiry });
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(setup)?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match settings.client_certificate.as_ref().filter(|_| is_gitlab) {
        Some(own) => with_client_certificate(config, own)?,
        None => config.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Adds the client certificate.
fn with_client_certificate(
    config: ConfigBuilder<ClientConfig, WantsClientCert>,
    own: &ClientCertificate,
) -> Result<ClientConfig, GitlabError> {
    let chain = certificates(&own.certificate, "client certificate")?;
    let key = PrivateKeyDer::from_pem_file(&own.key).map_err(|error| {
        let what = format!("cannot read the key of the client certificate: {}", own.key.display());
        GitlabError::Setup { what, source: Some(Box::new(error)) }
    })?;
    config.with_client_auth_cert(chain, key).map_err(|error| {
        let (certificate, key) = (own.certificate.display(), own.key.display());
        let what = format!("the client certificate {certificate} and the key {key} do not match");
        GitlabError::Setup { what, source: Some(Box::new(error)) }
    })
}

/// Loads the certificates of the CA file.
fn authorities(path: &Path) -> Result<Vec<CertificateDer<'static>>, GitlabError> {
    let found = certificates(path, "CA file")?;
    // An invalid certificate would fail later, without the file's name in the error.
    for certificate in &found {
        RootCertStore::empty().add(certificate.clone()).map_err(|error| {
            let what = format!("the CA file {} contains an invalid certificate", path.display());
            GitlabError::Setup { what, source: Some(Box::new(error)) }
        })?;
    }
    Ok(found)
}

/// Loads the certificates of a PEM file. `kind` is its name in errors.
fn certificates(path: &Path, kind: &str) -> Result<Vec<CertificateDer<'static>>, GitlabError> {
    let fail = |what: &str, source| {
        let what = format!("the {kind} {} {what}", path.display());
        GitlabError::Setup { what, source }
    };
    let pem = fs::read(path).map_err(|error| fail("cannot be read", Some(Box::new(error))))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let found = found.map_err(|error| fail("is not valid PEM", Some(Box::new(error))))?;
    if found.is_empty() {
        return Err(fail("contains no certificate", None));
    }
    Ok(found)
}

fn setup(error: Error) -> GitlabError {
    GitlabError::Setup { what: "TLS could not be set up".to_owned(), source: Some(Box::new(error)) }
}

/// Certificate verifier: trusts the platform's authorities, the CA file's, and the exact certificates in the CA file.
///
/// Exact matches cover a self-signed certificate as `openssl req -x509` makes it, which is marked as an authority: curl
/// accepts it from a CA file, webpki never as a server's certificate.
#[derive(Debug)]
struct Trust {
    platform: Option<Verifier>,
    given: Vec<CertificateDer<'static>>,
    /// True if verification is turned off (`GITLAB_INSECURE_TLS`).
    is_insecure: bool,
    algorithms: WebPkiSupportedAlgorithms,
    /// None for other hosts than GitLab.
    expiry: Option<Arc<CertificateExpiry>>,
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(expiry) = &self.expiry {
            expiry.record(end_entity);
        }
        if self.is_insecure {
            return Ok(ServerCertVerified::assertion());
        }
        let verdict = match &self.platform {
            Some(platform) => {
                platform.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
            }
            None => Err(Error::InvalidCertificate(CertificateError::UnknownIssuer)),
        };
        match verdict {
            Err(error) if !is_final(&error) && self.given.contains(end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// True if a certificate is invalid regardless of its issuer. webpki checks the dates first.
fn is_final(error: &Error) -> bool {
    use CertificateError as Bad;
    matches!(
        error,
        Error::InvalidCertificate(
            Bad::BadEncoding
                | Bad::Expired
                | Bad::ExpiredContext { .. }
                | Bad::NotValidYet
                | Bad::NotValidYetContext { .. }
                | Bad::Revoked
                | Bad::NotValidForName
                | Bad::NotValidForNameContext { .. }
        )
    )
}
