//! What stands between here and GitLab. The mend is outside the call, which is then the same.

use std::io::Write;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

use super::{EXECUTE, follow, mended, refused, server};
use crate::support::client::HANG_GUARD;
use crate::support::scripted_gitlab::{Answer, Gitlab, answer, exchange};

const ISSUE: &str = "/api/v4/projects/acme%2Fwidget/issues/12";

fn read() -> Value {
    json!({"action": "issue.get", "params": {"fullPath": "acme/widget", "iid": 12}, "fields": ["title"]})
}

fn write() -> Value {
    json!({"action": "issue.update", "params": {"fullPath": "acme/widget", "iid": 12, "title": "Quiet"}})
}

fn issue() -> Answer {
    answer(200, json!({"iid": 12, "title": "Squeaks"}))
}

#[test]
fn a_gitlab_that_is_down_is_called_again_when_it_is_up() {
    for call in [read(), write()] {
        // An address where nothing listens, until something does.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let mut client = server(&format!("http://{address}"), &[]);
        let error = refused(&mut client, (EXECUTE, call.clone()), "network", &[&address.to_string()]);
        assert!(error["hint"].as_str().unwrap().contains("GITLAB_URL"), "{error}");
        assert_eq!(error["fix"]["arguments"], call);
        let gitlab = Gitlab::on(TcpListener::bind(address).unwrap());
        gitlab.says("GET", [issue()]).says("PUT", [issue()]);
        follow(&mut client, &error);
    }
}

#[test]
fn a_host_that_does_not_answer_is_called_again() {
    let gitlab = Gitlab::start();
    let slow = issue().after(10 * HANG_GUARD);
    gitlab.says(&format!("GET {ISSUE}"), [slow.clone(), issue()]).says(&format!("PUT {ISSUE}"), [slow]);
    let mut client = server(&gitlab.url(), &[("GITLAB_TIMEOUT", "3")]);
    let host = gitlab.address.to_string();
    let (error, _) = mended(&mut client, (EXECUTE, read()), "timeout", &[&host, "3 s"]);
    assert!(error["hint"].as_str().unwrap().contains("GITLAB_TIMEOUT"), "{error}");
    // A change may have been made: it is not offered again.
    let error = refused(&mut client, (EXECUTE, write()), "timeout", &[&host]);
    assert_eq!(error["applied"], "unknown");
    assert_ne!(error["fix"]["arguments"]["action"], "issue.update");
    follow(&mut client, &error);
}

/// A certificate by an authority of its own, and that authority's, as PEM.
fn issued() -> (ServerConfig, String) {
    let mut authority = CertificateParams::new(["authority.example".to_owned()]).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(["localhost".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key.into())
        .unwrap();
    (config, issuer.pem())
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_trusted_by_a_file() {
    let (config, authority) = issued();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let config = config.clone();
            thread::spawn(move || {
                let connection = ServerConnection::new(config).unwrap();
                let stream = StreamOwned::new(connection, stream);
                exchange(stream, |_| issue());
            });
        }
    });
    let mut client = server(&url, &[]);
    let error = refused(&mut client, (EXECUTE, write()), "network", &["certificate", "localhost"]);
    assert!(error["hint"].as_str().unwrap().contains("GITLAB_CA_FILE"), "{error}");
    assert_eq!(error["fix"]["arguments"], write());
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(authority.as_bytes()).unwrap();
    let mut client = server(&url, &[("GITLAB_CA_FILE", file.path().to_str().unwrap())]);
    follow(&mut client, &error);
}

/// A proxy that wants to know who asks, until it does not.
#[test]
fn a_proxy_that_refuses_is_named_without_its_password() {
    let proxy = Gitlab::start();
    let refusal = answer(407, json!({"message": "Proxy Authentication Required"}));
    proxy.says("GET http://gitlab.example/", [refusal]);
    let address = format!("http://user:open-sesame@{}", proxy.address);
    let mut client = server("http://gitlab.example", &[("HTTP_PROXY", &address)]);
    let named = format!("the proxy http://{}", proxy.address);
    let error = refused(&mut client, (EXECUTE, read()), "network", &[&named]);
    assert!(!error.to_string().contains("open-sesame"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("HTTP_PROXY"), "{error}");
    assert_eq!(error["fix"]["arguments"], read());
    proxy.says("GET http://gitlab.example/", [issue()]);
    follow(&mut client, &error);
}

#[test]
fn a_proxy_that_opens_no_tunnel_is_named_without_its_password() {
    let proxy = Gitlab::start();
    proxy.says("CONNECT", [answer(403, json!({}))]);
    let address = format!("http://user:open-sesame@{}", proxy.address);
    let mut client = server("https://gitlab.example", &[("HTTPS_PROXY", &address)]);
    let named = format!("the proxy http://{}", proxy.address);
    let error = refused(&mut client, (EXECUTE, write()), "network", &[&named]);
    assert!(!error.to_string().contains("open-sesame"), "{error}");
    assert_eq!(error["fix"]["arguments"], write());
}
