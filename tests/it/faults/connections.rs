//! The way to GitLab: names, hosts, certificates, proxies, and where a redirect leads.

use std::io::Read;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{HASTY, Misbehaving, PATIENT, ask, error, is_well, process, write};
use crate::support::client::HANG_GUARD;
use crate::support::raw_server::{Behaviour, answer, nowhere, send, wait_for_end};
use crate::support::tls::{Authority, serve};

/// Serves this behavior to every connection, and returns the port.
fn serve_raw(behave: fn(TcpStream)) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || behave(stream));
        }
    });
    port
}

/// A port that takes no more connections: what comes is dropped without a word, as by a firewall. The queue of its
/// listener has one place, which stays taken: nothing is accepted.
#[cfg(target_os = "linux")]
fn full() -> (u16, (tokio::net::TcpListener, Vec<TcpStream>)) {
    // The kernel takes a connection to this host at once, or not at all.
    const TRIED_FOR: Duration = Duration::from_secs(1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let _entered = runtime.enter();
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let waiting: Vec<TcpStream> =
        std::iter::from_fn(|| TcpStream::connect_timeout(&address, TRIED_FOR).ok()).take(8).collect();
    assert!(waiting.len() < 8, "the queue is not full");
    (address.port(), (listener, waiting))
}

fn stalled(mut stream: TcpStream) {
    wait_for_end(&mut stream);
}

fn plain_http(mut stream: TcpStream) {
    send(&mut stream, b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
    wait_for_end(&mut stream);
}

fn hangs_up(stream: TcpStream) {
    drop(stream);
}

/// The error of a write that never reached a GitLab, which therefore changed nothing; the process goes on.
fn unreached(case: &str, url: &str, variables: &[(&str, &str)], kind: &str) -> Value {
    let timeout = if kind == "timeout" { HASTY } else { PATIENT };
    let mut client = process(url, &[&[timeout], variables].concat());
    let reply = write(&mut client, case);
    assert!(reply.is_error, "{case}: {}", reply.text);
    let error = reply.structured["error"].clone();
    assert_eq!(error["kind"], kind, "{case}: {error}");
    assert_eq!(error["applied"], Value::Null, "{case}: nothing was sent: {error}");
    let found = client.call("gitlab_find_action", json!({"query": "list issues"}));
    assert!(!found.is_error, "{case}");
    client.close().well();
    error
}

fn hints(case: &str, error: &Value, word: &str) {
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains(word)), "{case}: {word} in {error}");
}

#[test]
fn a_host_that_is_not_there() {
    let here = |port: u16| format!("http://127.0.0.1:{port}");
    let error = unreached("no listener", &here(nowhere()), &[], "network");
    hints("no listener", &error, "GITLAB_URL");
    let error =
        unreached("no name", "http://does-not-exist.invalid", &[("GITLAB_PLAIN_HTTP", "true")], "network");
    hints("no name", &error, "name resolves");
}

#[cfg(target_os = "linux")]
#[test]
fn a_host_that_answers_no_connection() {
    let (full, _waiting) = full();
    unreached("no answer", &format!("http://127.0.0.1:{full}"), &[], "timeout");
}

#[test]
fn no_secure_connection() {
    let here = |port: u16| format!("https://127.0.0.1:{port}");
    unreached("a stalled handshake", &here(serve_raw(stalled)), &[], "timeout");
    let error = unreached("no TLS", &here(serve_raw(plain_http)), &[], "network");
    hints("no TLS", &error, "does not use TLS");
    unreached("a handshake that breaks", &here(serve_raw(hangs_up)), &[], "network");
}

#[test]
fn certificates_are_verified_and_failures_explained() {
    let authority = Authority::new();
    let file = authority.file();
    let trusting = [("GITLAB_CA_FILE", file.path().to_str().unwrap())];
    let good = serve(&authority.vouch("localhost", 2099), None);
    is_well(&mut process(&good, &trusting), "a certificate of a known authority");

    let error = unreached("an unknown authority", &good, &[], "network");
    hints("an unknown authority", &error, "GITLAB_CA_FILE");
    let other = serve(&authority.vouch("elsewhere.example.com", 2099), None);
    hints("another name", &unreached("another name", &other, &trusting, "network"), "another host name");
    let expired = serve(&authority.vouch("localhost", 2002), None);
    hints("expired", &unreached("expired", &expired, &trusting, "network"), "clock");

    let insecure = [("GITLAB_INSECURE_TLS", "true")];
    for url in [&good, &other, &expired] {
        let mut client = process(url, &insecure);
        is_well(&mut client, "an unverified certificate");
        assert!(client.close().stderr.contains("GITLAB_INSECURE_TLS is set"), "the start says so");
    }
}

#[test]
fn a_certificate_of_the_client() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let url = serve(&authority.vouch("localhost", 2099), Some(&clients));
    let (trusted, mine, strange) =
        (authority.file(), clients.vouch("me", 2099), Authority::new().vouch("me", 2099));
    fn path(file: &tempfile::NamedTempFile) -> &str {
        file.path().to_str().unwrap()
    }
    let ca = ("GITLAB_CA_FILE", path(&trusted));
    let with = |certificate, key| [ca, ("GITLAB_CLIENT_CERT", certificate), ("GITLAB_CLIENT_KEY", key)];
    is_well(
        &mut process(&url, &with(path(&mine.certificate_file), path(&mine.key_file))),
        "a client's certificate",
    );
    let error = unreached("none", &url, &[ca], "network");
    hints("none", &error, "GITLAB_CLIENT_CERT");
    let error = unreached(
        "a stranger's",
        &url,
        &with(path(&strange.certificate_file), path(&strange.key_file)),
        "network",
    );
    hints("a stranger's", &error, "GITLAB_CLIENT_CERT");
    let mixed = with(path(&mine.certificate_file), path(&strange.key_file));
    let error = unreached("a key of another", &url, &mixed, "internal");
    assert!(error["message"].as_str().unwrap().contains(path(&strange.key_file)), "{error}");
}

/// A proxy that refuses every connection.
fn refuses(mut stream: TcpStream) {
    send(&mut stream, b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
    wait_for_end(&mut stream);
}

#[test]
fn a_proxy_that_does_not_do_its_part() {
    let proxy = |port: u16| format!("http://127.0.0.1:{port}");
    for (case, proxy, kind) in [
        ("a proxy that refuses", proxy(serve_raw(refuses)), "network"),
        ("a proxy that is not there", proxy(nowhere()), "network"),
        ("a proxy that says nothing", proxy(serve_raw(stalled)), "timeout"),
        ("a proxy that hangs up", proxy(serve_raw(hangs_up)), "network"),
    ] {
        unreached(case, "https://gitlab.example.com", &[("HTTPS_PROXY", &proxy)], kind);
    }
}

#[test]
fn a_proxy_that_answers_itself() {
    fn answers(mut stream: TcpStream) {
        let page = "<html><title>Blocked by policy</title></html>";
        // Never before it is asked.
        let _ = stream.read(&mut [0; 4096]);
        answer(&mut stream, "200 OK", "content-type: text/html\r\n", page);
        wait_for_end(&mut stream);
    }
    let proxy = format!("http://127.0.0.1:{}", serve_raw(answers));
    let mut client =
        process("http://gitlab.example.com", &[("HTTP_PROXY", &proxy), ("GITLAB_PLAIN_HTTP", "true")]);
    let error = error("a page", ask(&mut client, "a-page"), "gitlab_error");
    assert!(error["message"].as_str().unwrap().contains("Blocked by policy"), "{error}");
}

const STORAGE: &[(&str, Behaviour)] =
    &[("kept-file", |stream, _| answer(stream, "200 OK", "content-type: text/plain\r\n", "the file"))];

#[test]
fn another_host_is_told_no_secret() {
    let storage = Misbehaving::start(STORAGE);
    let elsewhere = format!("{}/file%2Ffault%2Fkept-file ", storage.url());
    let away = move |stream: &mut TcpStream, _: usize| redirect(stream, &elsewhere);
    let gitlab = Misbehaving::sharing(vec![("kept-away", Box::new(away))]);
    let headers = "CF-Access-Client-Id: open.access; CF-Access-Client-Secret: sesame-of-the-proxy";
    let mut client = process(&gitlab.url(), &[("GITLAB_EXTRA_HEADERS", headers)]);
    let reply = ask(&mut client, "kept-away");
    assert!(reply.text.contains("the file"), "{}", reply.text);
    let headers = |requests: Vec<crate::support::raw_server::Request>| requests[0].head.to_ascii_lowercase();
    let (to_gitlab, to_storage) =
        (headers(gitlab.requests("kept-away")), headers(storage.requests("kept-file")));
    for secret in ["private-token: glpat-sesame", "cf-access-client-id: open", "secret: sesame-of-the-proxy"]
    {
        assert!(to_gitlab.contains(secret), "{secret} in {to_gitlab}");
    }
    for secret in ["sesame", "token", "cf-access", "open.access", "authorization", "referer"] {
        assert!(!to_storage.contains(secret), "{secret} in {to_storage}");
    }
    client.close().well();
}

/// Answers, through a proxy, of a GitLab that redirects, and of the redirect targets.
const PROXIED: &[(&str, Behaviour)] = &[
    ("kept-out", |stream, _| redirect(stream, "http://storage.example.com/fault%2Fkept-file ")),
    ("kept-file", |stream, _| answer(stream, "200 OK", "content-type: text/plain\r\n", "the file")),
    ("kept-in", |stream, _| redirect(stream, "http://10.0.0.1/fault%2Fkept-file ")),
    ("kept-near", |stream, _| redirect(stream, "http://redis/fault%2Fkept-file ")),
    ("kept-meta", |stream, _| redirect(stream, "http://169.254.169.254/fault%2Fkept-file ")),
];

fn redirect(stream: &mut TcpStream, to: &str) {
    answer(stream, "302 Found", &format!("location: {to}\r\n"), "");
}

#[test]
fn a_proxy_is_asked_for_no_address_inside() {
    let proxy = Misbehaving::start(PROXIED);
    let mut client =
        process("http://gitlab.example.com", &[("HTTP_PROXY", &proxy.url()), ("GITLAB_PLAIN_HTTP", "true")]);
    for case in ["kept-in", "kept-near", "kept-meta"] {
        let error = error(case, ask(&mut client, case), "gitlab_error");
        assert!(error["message"].as_str().unwrap().contains("the address is internal"), "{error}");
    }
    assert!(proxy.requests("kept-file").is_empty());
    let reply = ask(&mut client, "kept-out");
    assert!(reply.text.contains("the file"), "{}", reply.text);
    let file = proxy.requests("kept-file").remove(0);
    assert!(file.line.starts_with("GET http://storage.example.com/"), "{}", file.line);
    assert!(!file.head.contains("sesame"), "{}", file.head);
    client.close().well();
}

#[test]
fn a_header_of_ours_cannot_be_set_and_none_is_shown() {
    for headers in [
        "PRIVATE-TOKEN: sesame",
        "authorization: sesame",
        "Host: sesame",
        "no colon sesame",
        "X-A: sesame\u{7}",
    ] {
        let mut command = crate::support::client::program(&[], &[("GITLAB_EXTRA_HEADERS", headers)]);
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{headers}");
        assert!(
            error.contains("GITLAB_EXTRA_HEADERS: invalid value") && !error.contains("sesame"),
            "{error}"
        );
    }
}

#[test]
fn an_idle_connection_that_was_closed_is_made_again() {
    let (closed, both_sides) = channel();
    let closed = Mutex::new(closed);
    // Closed without a word after each answer. What the client has not closed too is still idle there.
    let close = move |stream: &mut TcpStream, _: usize| {
        send(
            stream,
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{\"id\": 1}",
        );
        stream.shutdown(Shutdown::Write).unwrap();
        wait_for_end(stream);
        closed.lock().unwrap().send(()).unwrap();
    };
    let gitlab = Misbehaving::sharing(vec![("once", Box::new(close))]);
    let mut client = process(&gitlab.url(), &[]);
    for turn in 0..10 {
        assert!(!ask(&mut client, "once").is_error, "read {turn}");
        both_sides.recv_timeout(HANG_GUARD).unwrap();
        let reply = write(&mut client, "once");
        assert!(!reply.is_error, "write {turn}: {}", reply.text);
        both_sides.recv_timeout(HANG_GUARD).unwrap();
    }
    client.close().well();
}

#[test]
fn one_connection_serves_many_calls() {
    let gitlab = Misbehaving::start(&[]);
    // With a token, another is opened for what it may do.
    let mut client = process(&gitlab.url(), &[("GITLAB_TOKEN", "")]);
    for call in 0..20 {
        is_well(&mut client, &format!("call {call}"));
    }
    assert_eq!(gitlab.connections(), 1);
    client.close().well();
}
