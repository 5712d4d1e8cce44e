//! A GitLab behind TLS: with a certificate of whichever kind a test wants, and one that it may want of its client.

use std::io::Write;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;
use tempfile::NamedTempFile;

use crate::support::scripted_gitlab::{Answer, answer, exchange};

/// A certificate authority that signs identities.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    key: Vec<u8>,
}

/// A certificate with its key.
pub struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
    pub certificate_file: NamedTempFile,
    pub key_file: NamedTempFile,
}

impl Authority {
    pub fn new() -> Authority {
        let mut params = CertificateParams::new(["authority.example.com".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pair = KeyPair::generate().unwrap();
        let key = pair.serialize_der();
        Authority { issuer: CertifiedIssuer::self_signed(params, pair).unwrap(), key }
    }

    pub fn file(&self) -> NamedTempFile {
        file(&self.issuer.pem())
    }

    /// The authority's own certificate in the place of a server's.
    pub fn present_itself(&self) -> Identity {
        Identity {
            certificate: self.issuer.der().clone(),
            key: PrivateKeyDer::Pkcs8(self.key.clone().into()),
            certificate_file: self.file(),
            key_file: NamedTempFile::new().unwrap(),
        }
    }

    /// For that name, until the end of that year.
    pub fn vouch(&self, name: &str, until: i32) -> Identity {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2001, 1, 1);
        params.not_after = date_time_ymd(until, 12, 31);
        let key = KeyPair::generate().unwrap();
        let issuer: &Issuer<'_, KeyPair> = &self.issuer;
        let certificate = params.signed_by(&key, issuer).unwrap();
        Identity {
            certificate_file: file(&certificate.pem()),
            key_file: file(&key.serialize_pem()),
            certificate: certificate.der().clone(),
            key: key.into(),
        }
    }
}

fn file(content: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(content.as_bytes()).unwrap();
    file
}

/// Serves a version to every client that completes the handshake; requires a client certificate if an authority is
/// given. Returns the URL.
pub fn serve(identity: &Identity, clients: Option<&Authority>) -> String {
    serve_answer(identity, clients, answer(200, json!({"version": "18.0.0"})))
}

/// The same with another answer.
pub fn serve_answer(identity: &Identity, clients: Option<&Authority>, answer: Answer) -> String {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions().unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority.issuer.der().clone()).unwrap();
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
            builder.with_client_cert_verifier(verifier)
        }
    };
    let chain = vec![identity.certificate.clone()];
    let config = Arc::new(builder.with_single_cert(chain, identity.key.clone_key()).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (config, answer) = (config.clone(), answer.clone());
            thread::spawn(move || {
                let connection = ServerConnection::new(config).unwrap();
                exchange(StreamOwned::new(connection, stream), |_| answer.clone());
            });
        }
    });
    url
}
