//! Whom to believe: the platform's certificates of authorities (on Linux those of `SSL_CERT_FILE` and
//! `SSL_CERT_DIR`, where set), and those of a CA file beside them. rustls with ring, TLS 1.2 and 1.3.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;

use super::{GitlabError, Settings};

/// The TLS side of a client. The platform's certificates are read here, once a client.
pub(super) fn config(settings: &Settings) -> Result<ClientConfig, GitlabError> {
    let extra = settings.ca_file.as_deref().map(certificates).transpose()?.unwrap_or_default();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let platform = match Verifier::new_with_extra_roots(extra.iter().cloned(), Arc::clone(&provider)) {
        Ok(verifier) => Some(verifier),
        // A system without certificates can still reach a GitLab that needs none.
        Err(_) if settings.base.scheme() == "http" => None,
        Err(error) => {
            let what = "no usable certificates of authorities were found on this system \
                        (SSL_CERT_FILE or a CA file names them)";
            return Err(GitlabError::Setup { what: what.to_owned(), source: Some(Box::new(error)) });
        }
    };
    let algorithms = provider.signature_verification_algorithms;
    let verifier = Arc::new(Trust { platform, given: extra, algorithms });
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(setup)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The certificates of a PEM file.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, GitlabError> {
    let fail = |what: &str, source| {
        let what = format!("the CA file {} {what}", path.display());
        GitlabError::Setup { what, source }
    };
    let pem = fs::read(path).map_err(|error| fail("cannot be read", Some(Box::new(error))))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let found = found.map_err(|error| fail("is not valid PEM", Some(Box::new(error))))?;
    if found.is_empty() {
        return Err(fail("holds no certificate", None));
    }
    // One that cannot be an authority's would fail later, and then without the file's name.
    for certificate in &found {
        RootCertStore::empty()
            .add(certificate.clone())
            .map_err(|error| fail("holds what is no certificate", Some(Box::new(error))))?;
    }
    Ok(found)
}

fn setup(error: Error) -> GitlabError {
    GitlabError::Setup { what: "TLS could not be set up".to_owned(), source: Some(Box::new(error)) }
}

/// Trusts what the platform and the CA file vouch for, and the very certificates in the CA file.
///
/// The latter for a self-signed certificate as `openssl req -x509` makes it, which marks itself as an
/// authority's: curl accepts it from a CA file, webpki never as a server's.
#[derive(Debug)]
struct Trust {
    platform: Option<Verifier>,
    given: Vec<CertificateDer<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
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

/// Whether a certificate is bad whoever vouches for it. webpki looks at its dates before anything else.
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
