//! Answers that are late, broken, endless, or something else than they say.

use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use super::{HASTY, Misbehaving, ask, error, is_well, process, project_of, write};
use crate::support::client::{Client, execute};
use crate::support::raw_server::{Behaviour, answer, drip, packed_zeros, send, wait_for_end};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
const JSON: &str = "content-type: application/json\r\n";

/// Behavior of each case, with the kind of error for a read; none if the read succeeds.
const CASES: &[(&str, Behaviour, Option<&str>)] = &[
    ("silence", silence, Some("timeout")),
    ("reset", |_, _| (), Some("network")),
    ("closed", |_, _| (), Some("network")),
    ("half-a-head", |stream, _| send(stream, b"HTTP/1.1 200 OK\r\nconte"), Some("network")),
    ("half-a-body", half_a_body, Some("network")),
    ("half-a-chunk", half_a_chunk, Some("network")),
    ("garbage", |stream, _| send(stream, b"\x00\xff\x16\x03not http at all\r\n\r\n"), Some("network")),
    ("ssh", |stream, _| send(stream, b"SSH-2.0-OpenSSH_9.7\r\n"), Some("network")),
    ("drip", drip_body, Some("timeout")),
    ("drip-head", drip_head, Some("timeout")),
    ("hundreds", hundreds, Some("timeout")),
    ("a-flood-of-headers", flood_of_headers, Some("network")),
    ("huge-by-word", huge_by_word, Some("too_large")),
    ("not-gzip", not_gzip, Some("network")),
    (
        "a-page",
        |stream, _| answer(stream, "200 OK", "content-type: text/html\r\n", PAGE),
        Some("gitlab_error"),
    ),
    ("not-json", |stream, _| answer(stream, "200 OK", JSON, "{\"id\": 1,"), Some("gitlab_error")),
    (
        "json-as-text",
        |stream, _| answer(stream, "200 OK", "content-type: text/plain\r\n", "{\"id\": 1}"),
        None,
    ),
    ("nothing", |stream, _| answer(stream, "200 OK", JSON, ""), None),
    ("kept-null", |stream, _| answer(stream, "200 OK", JSON, "null"), None),
    ("kept-two-for-one", two_for_one, None),
    ("teapot", |stream, _| answer(stream, "418 I'm a teapot", "", "short and stout"), Some("gitlab_error")),
    ("a-status-of-its-own", |stream, _| answer(stream, "799 What", "", ""), Some("gitlab_error")),
    (
        "kept-500",
        |stream, _| answer(stream, "500 Internal Server Error", "", "<html><title>We're sorry</title>"),
        Some("gitlab_error"),
    ),
    ("kept-503", |stream, _| answer(stream, "503 Service Unavailable", "", ""), Some("gitlab_error")),
    (
        "kept-401",
        |stream, _| answer(stream, "401 Unauthorized", JSON, "{\"message\": \"401 glpat-sesame\"}"),
        Some("forbidden"),
    ),
    ("kept-round", |stream, _| redirect(stream, "/api/v4/projects/fault%2Fkept-round"), Some("gitlab_error")),
    (
        "kept-inside",
        |stream, _| redirect(stream, "http://169.254.169.254/latest/meta-data/"),
        Some("gitlab_error"),
    ),
    ("kept-nowhere", |stream, _| redirect(stream, "gopher://["), Some("gitlab_error")),
    ("kept-to-sign-in", |stream, _| redirect(stream, "/users/sign_in"), Some("gitlab_error")),
];

const PAGE: &str = "<!DOCTYPE html><html><title>Sign in to the network</title></html>";

fn silence(stream: &mut TcpStream, _: usize) {
    wait_for_end(stream);
}

fn half_a_body(stream: &mut TcpStream, _: usize) {
    send(stream, &[OK, b"content-length: 1000\r\n\r\n{\"id\": 1,"].concat());
}

fn half_a_chunk(stream: &mut TcpStream, _: usize) {
    send(stream, &[OK, b"transfer-encoding: chunked\r\n\r\nff\r\n{\"id\""].concat());
}

fn drip_body(stream: &mut TcpStream, _: usize) {
    send(stream, &[OK, b"content-length: 100000\r\n\r\n"].concat());
    drip(stream, b" ", Duration::from_millis(50));
}

fn drip_head(stream: &mut TcpStream, _: usize) {
    send(stream, OK);
    drip(stream, b"x", Duration::from_millis(50));
}

fn hundreds(stream: &mut TcpStream, _: usize) {
    drip(stream, b"HTTP/1.1 100 Continue\r\n\r\n", Duration::from_millis(1));
}

fn flood_of_headers(stream: &mut TcpStream, _: usize) {
    send(stream, OK);
    drip(stream, format!("x-flood: {}\r\n", "x".repeat(8000)).as_bytes(), Duration::ZERO);
}

fn huge_by_word(stream: &mut TcpStream, _: usize) {
    send(stream, &[OK, b"content-length: 99999999999\r\n\r\n[1"].concat());
    wait_for_end(stream);
}

fn huge_by_deed(stream: &mut TcpStream, _: usize) {
    send(stream, &[OK, b"transfer-encoding: chunked\r\n\r\n"].concat());
    let chunk = format!("100000\r\n{}\r\n", " ".repeat(0x10_0000));
    drip(stream, chunk.as_bytes(), Duration::ZERO);
}

fn bomb(stream: &mut TcpStream, _: usize) {
    let zeros = packed_zeros(80);
    let length = format!("content-encoding: gzip\r\ncontent-length: {}\r\n\r\n", zeros.len());
    send(stream, &[OK, length.as_bytes(), &zeros].concat());
}

fn not_gzip(stream: &mut TcpStream, _: usize) {
    answer(stream, "200 OK", "content-type: application/json\r\ncontent-encoding: gzip\r\n", "{\"id\": 1}");
}

/// A second answer that was not asked for must not be taken for that to the next request.
fn two_for_one(stream: &mut TcpStream, _: usize) {
    let one = format!("HTTP/1.1 200 OK\r\n{JSON}content-length: 9\r\n\r\n{{\"id\": 1}}");
    let other = format!("HTTP/1.1 200 OK\r\n{JSON}content-length: 18\r\n\r\n{{\"version\": \"bad\"}}");
    send(stream, (one + &other).as_bytes());
}

fn redirect(stream: &mut TcpStream, to: &str) {
    answer(stream, "302 Found", &format!("location: {to}\r\n"), "");
}

fn behaviours() -> Vec<(&'static str, Behaviour)> {
    CASES.iter().map(|(case, behave, _)| (*case, *behave)).collect()
}

/// One process for the cases that end by a timeout, and one for the others.
struct Clients {
    hasty: Client,
    patient: Client,
}

fn clients(gitlab: &Misbehaving) -> Clients {
    let url = gitlab.url();
    Clients { hasty: process(&url, &[HASTY]), patient: process(&url, &[]) }
}

impl Clients {
    fn client_for(&mut self, kind: Option<&str>) -> &mut Client {
        if kind == Some("timeout") { &mut self.hasty } else { &mut self.patient }
    }

    fn close(self) {
        self.hasty.close().well();
        self.patient.close().well();
    }
}

#[test]
fn a_read_of_whatever_is_answered() {
    let gitlab = Misbehaving::start(&behaviours());
    let mut clients = clients(&gitlab);
    for (case, _, kind) in CASES {
        let client = clients.client_for(*kind);
        let reply = ask(client, case);
        match kind {
            Some(kind) => drop(error(case, reply, kind)),
            None => assert!(!reply.is_error, "{case}: {}", reply.text),
        }
        is_well(client, case);
        assert!(gitlab.requests(case).len() <= 6, "{case} is asked {} times", gitlab.requests(case).len());
    }
    clients.close();
}

#[test]
fn a_write_of_whatever_is_answered_is_sent_once() {
    /// Behaviors after which the outcome of a write is unknown. After all others the answer states it.
    const UNKNOWN: [&str; 15] = [
        "silence",
        "reset",
        "closed",
        "half-a-head",
        "garbage",
        "ssh",
        "drip-head",
        "hundreds",
        "a-flood-of-headers",
        "a-status-of-its-own",
        "kept-500",
        "kept-503",
        "a-page",
        "not-json",
        "kept-null",
    ];
    let gitlab = Misbehaving::start(&behaviours());
    let mut clients = clients(&gitlab);
    for (case, _, kind) in CASES {
        let client = clients.client_for(*kind);
        let reply = write(client, case);
        let is_unknown = reply.structured["error"]["applied"] == "unknown";
        assert_eq!(is_unknown, UNKNOWN.contains(case), "{case}: {}", reply.text);
        is_well(client, case);
        let posts = gitlab.requests(case).iter().filter(|request| request.line.starts_with("POST")).count();
        assert_eq!(posts, 1, "{case}");
    }
    clients.close();
}

#[test]
fn what_grows_past_all_bounds_is_let_go() {
    const GROWING: &[(&str, Behaviour)] = &[("huge-by-deed", huge_by_deed), ("bomb", bomb)];
    let gitlab = Misbehaving::start(GROWING);
    let mut client = process(&gitlab.url(), &[]);
    for (case, _) in GROWING {
        let project = json!({"fullPath": project_of(case)});
        error(case, execute(&mut client, "project.get", project), "too_large");
        is_well(&mut client, case);
        let issue = json!({"fullPath": project_of(case), "title": "Squeaks"});
        let made = execute(&mut client, "issue.create", issue);
        assert!(!made.is_error && made.text.contains("was not read"), "{case}: {}", made.text);
        is_well(&mut client, case);
    }
    client.close().well();
}

#[test]
fn all_at_once_hold_up_nobody_else() {
    let gitlab = Misbehaving::start(&behaviours());
    let mut client = process(&gitlab.url(), &[HASTY]);
    for (id, (case, ..)) in (100..).zip(CASES) {
        let arguments = json!({"action": "project.get", "params": {"fullPath": project_of(case)}});
        let params = json!({"name": "gitlab_execute_action", "arguments": arguments});
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }
    let mut answered: Vec<u64> = CASES.iter().map(|_| client.receive()["id"].as_u64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, (100..).take(CASES.len()).collect::<Vec<u64>>());
    is_well(&mut client, "all at once");
    client.close().well();
}
