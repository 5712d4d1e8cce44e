//! Network failures. The remedy is outside the call, which is then the same.

use std::net::TcpListener;

use serde_json::{Value, json};

use super::{follow, mended, refused};
use crate::support::client::{Client, EXECUTE, HANG_GUARD};
use crate::support::scripted_gitlab::{Answer, Gitlab, answer};
use crate::support::tls::{Authority, serve_answer};

const ISSUE: &str = "/api/v4/projects/acme%2Fwidget/issues/12";

fn read_arguments() -> Value {
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
    for call in [read_arguments(), write()] {
        // An address without a listener at first.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let mut client = Client::for_gitlab(&format!("http://{address}"), &[]);
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
    let mut client = gitlab.client(&[("GITLAB_TIMEOUT", "3")]);
    let host = gitlab.address.to_string();
    let (error, _) = mended(&mut client, (EXECUTE, read_arguments()), "timeout", &[&host, "3 s"]);
    assert!(error["hint"].as_str().unwrap().contains("GITLAB_TIMEOUT"), "{error}");
    // A change may have been made: it is not offered again.
    let error = refused(&mut client, (EXECUTE, write()), "timeout", &[&host]);
    assert_eq!(error["applied"], "unknown");
    assert_ne!(error["fix"]["arguments"]["action"], "issue.update");
    follow(&mut client, &error);
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_trusted_by_a_file() {
    let authority = Authority::new();
    let url = serve_answer(&authority.vouch("localhost", 2099), None, issue());
    let mut client = Client::for_gitlab(&url, &[]);
    let error = refused(&mut client, (EXECUTE, write()), "network", &["certificate", "localhost"]);
    assert!(error["hint"].as_str().unwrap().contains("GITLAB_CA_FILE"), "{error}");
    assert_eq!(error["fix"]["arguments"], write());
    let file = authority.file();
    let mut client = Client::for_gitlab(&url, &[("GITLAB_CA_FILE", file.path().to_str().unwrap())]);
    follow(&mut client, &error);
}

/// A proxy that wants to know who asks, until it does not.
#[test]
fn a_proxy_that_refuses_is_named_without_its_password() {
    let proxy = Gitlab::start();
    let refusal = answer(407, json!({"message": "Proxy Authentication Required"}));
    proxy.says("GET http://gitlab.example/", [refusal]);
    let address = format!("http://user:open-sesame@{}", proxy.address);
    let mut client = Client::for_gitlab(
        "http://gitlab.example",
        &[("HTTP_PROXY", &address), ("GITLAB_PLAIN_HTTP", "true")],
    );
    let named = format!("the proxy http://{}", proxy.address);
    let error = refused(&mut client, (EXECUTE, read_arguments()), "network", &[&named]);
    assert!(!error.to_string().contains("open-sesame"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("HTTP_PROXY"), "{error}");
    assert_eq!(error["fix"]["arguments"], read_arguments());
    proxy.says("GET http://gitlab.example/", [issue()]);
    follow(&mut client, &error);
}

#[test]
fn a_proxy_that_opens_no_tunnel_is_named_without_its_password() {
    let proxy = Gitlab::start();
    proxy.says("CONNECT", [answer(403, json!({}))]);
    let address = format!("http://user:open-sesame@{}", proxy.address);
    let mut client = Client::for_gitlab("https://gitlab.example", &[("HTTPS_PROXY", &address)]);
    let named = format!("the proxy http://{}", proxy.address);
    let error = refused(&mut client, (EXECUTE, write()), "network", &[&named]);
    assert!(!error.to_string().contains("open-sesame"), "{error}");
    assert_eq!(error["fix"]["arguments"], write());
}
