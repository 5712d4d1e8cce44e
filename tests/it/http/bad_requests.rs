//! Requests that are wrong in one respect each: a clear status, a body, and a server that serves the next one.

use std::io::{BufReader, Write};

use serde_json::{Value, json};

use super::{HttpServer, read_response, tool_call};
use crate::support::client::FIND;
use crate::support::scripted_gitlab::Gitlab;

const TOKEN: (&str, &str) = ("PRIVATE-TOKEN", "glpat-caller");

/// The fault, the headers, and the status.
type Row = (&'static str, &'static [(&'static str, &'static str)], u16);

fn find() -> Value {
    tool_call(FIND, json!({"query": "list issues", "limit": 1}))
}

fn is_well(server: &HttpServer, after: &str) {
    let answered = server.post(&[TOKEN], &find());
    assert_eq!(answered.status, 200, "after {after}: {}", answered.body);
}

#[test]
fn each_rule_of_the_transport_is_held() {
    let gitlab = Gitlab::start();
    let server = HttpServer::for_callers(&gitlab.url(), &[]);
    let rows: &[Row] = &[
        ("a foreign host", &[TOKEN, ("Host", "evil.example.com")], 403),
        ("a foreign origin", &[TOKEN, ("Origin", "https://evil.example.com")], 403),
        ("the origin null", &[TOKEN, ("Origin", "null")], 403),
        ("another content type", &[TOKEN, ("Content-Type", "text/plain")], 415),
        ("no content type", &[TOKEN, ("Content-Type", "")], 415),
        ("an accept of JSON alone", &[TOKEN, ("Accept", "application/json")], 406),
        ("an unknown protocol version", &[TOKEN, ("MCP-Protocol-Version", "1999-01-01")], 400),
        ("headers of 2026-07-28 without its metadata", &[TOKEN, ("MCP-Protocol-Version", "2026-07-28")], 400),
        ("no token", &[], 401),
        ("two tokens", &[TOKEN, ("Authorization", "Bearer a")], 400),
        ("a token twice", &[TOKEN, TOKEN], 400),
        ("basic authentication", &[("Authorization", "Basic YTpi")], 400),
        ("a token with blanks", &[("PRIVATE-TOKEN", "a b")], 400),
        ("another instance", &[TOKEN, ("GITLAB-URL", "https://gitlab.example.com")], 403),
        ("an invalid limit", &[TOKEN, ("X-MCP-Readonly", "perhaps")], 400),
    ];
    for (what, headers, status) in rows {
        let refused = server.post(headers, &find());
        assert_eq!(refused.status, *status, "{what}: {}", refused.body);
        assert!(!refused.body.is_empty(), "{what} has a body");
        assert!(!refused.body.contains("glpat-caller"), "{what}: {}", refused.body);
        for (name, value) in [("x-content-type-options", "nosniff"), ("cache-control", "no-store")] {
            assert_eq!(refused.header(name), Some(value), "{what}");
        }
        is_well(&server, what);
    }
    assert!(
        gitlab.seen().iter().all(|line| line.contains("personal_access_tokens/self")),
        "{:?}",
        gitlab.seen()
    );
}

#[test]
fn a_token_in_the_query_is_refused_and_not_logged() {
    let server = HttpServer::for_callers(&Gitlab::start().url(), &[("GITLAB_MCP_LOG", "trace")]);
    for name in ["private_token", "access_token", "PRIVATE-TOKEN", "job_token"] {
        let request = server.request(&[TOKEN], &find().to_string());
        let request =
            String::from_utf8(request).unwrap().replace("/mcp ", &format!("/mcp?{name}=glpat-in-query "));
        let refused = server.send(request.as_bytes());
        assert_eq!(refused.status, 400, "{name}: {}", refused.body);
        assert!(refused.body.contains("header"), "{}", refused.body);
    }
    is_well(&server, "tokens in the query");
    assert!(!server.log().contains("glpat-in-query") && !server.log().contains("glpat-caller"));
}

#[test]
fn other_methods_and_paths_are_refused() {
    let server = HttpServer::for_callers(&Gitlab::start().url(), &[]);
    for method in ["GET", "DELETE", "PUT", "OPTIONS", "BREW"] {
        let request = server.request(&[TOKEN], "{}");
        let request = String::from_utf8(request).unwrap().replacen("POST", method, 1);
        let refused = server.send(request.as_bytes());
        assert_eq!((refused.status, refused.header("allow")), (405, Some("POST")), "{method}");
    }
    assert_eq!(server.get("/").status, 404);
    assert_eq!(server.get("/mcp/../secret-path").status, 404);
    assert_eq!(server.get("/.well-known/oauth-protected-resource").status, 404, "only with OAuth");
    assert!(!server.log().contains("secret-path"), "a path may contain anything: {}", server.log());
    is_well(&server, "other methods");
}

#[test]
fn bodies_are_bounded_in_size() {
    let server = HttpServer::for_callers(&Gitlab::start().url(), &[]);
    let announced = server.request(&[TOKEN, ("Content-Length", "99999999")], "{}");
    assert_eq!(server.send(&announced).status, 413);
    // Chunks without an announced length.
    let head = server.request(&[TOKEN, ("Content-Length", ""), ("Transfer-Encoding", "chunked")], "");
    let mut stream = server.connect();
    stream.write_all(&head).unwrap();
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    for _ in 0..120 {
        // The server may answer and close before all chunks are sent.
        if stream.write_all(chunk.as_bytes()).is_err() {
            break;
        }
    }
    if let Some(refused) = read_response(&mut BufReader::new(stream)) {
        assert_eq!(refused.status, 413, "{}", refused.body);
    }
    let long =
        format!("POST /mcp HTTP/1.1\r\nHost: {}\r\nX-Long: {}\r\n\r\n", server.address, "x".repeat(100_000));
    assert_eq!(server.send(long.as_bytes()).status, 431);
    let many: String = (0..200).map(|number| format!("X-{number}: y\r\n")).collect();
    let many = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\n{many}\r\n", server.address);
    assert_eq!(server.send(many.as_bytes()).status, 431);
    is_well(&server, "large requests");
}

#[test]
fn bodies_that_are_no_messages_are_refused() {
    let server = HttpServer::for_callers(&Gitlab::start().url(), &[]);
    for body in [
        "",
        "{",
        "[]",
        "null",
        "{\"jsonrpc\":\"1.0\"}",
        "\u{0}",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
    ] {
        let refused = server.send(&server.request(&[TOKEN], body));
        assert!((400..500).contains(&refused.status), "{body:?}: {} {}", refused.status, refused.body);
        is_well(&server, body);
    }
    let half = server.request(&[TOKEN, ("Content-Length", "100")], "{\"jsonrpc\"");
    let mut stream = server.connect();
    stream.write_all(&half).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    if let Some(refused) = read_response(&mut BufReader::new(stream)) {
        assert_eq!(refused.status, 400, "{}", refused.body);
    }
    is_well(&server, "half a body");
}

#[test]
fn connections_may_be_old_pipelined_or_idle() {
    let server = HttpServer::for_callers(&Gitlab::start().url(), &[]);
    let old = String::from_utf8(server.request(&[TOKEN], &find().to_string()))
        .unwrap()
        .replacen("HTTP/1.1", "HTTP/1.0", 1);
    assert_eq!(server.send(old.as_bytes()).status, 200);
    let kept = server.request(&[TOKEN, ("Connection", "")], &find().to_string());
    let mut stream = server.connect();
    stream.write_all(&[kept.clone(), kept].concat()).unwrap();
    let mut reader = BufReader::new(stream);
    for _ in 0..2 {
        assert_eq!(read_response(&mut reader).unwrap().status, 200);
    }
    // Idle connections do not block others.
    let idle: Vec<_> = (0..100).map(|_| server.connect()).collect();
    let mut slow = server.connect();
    slow.write_all(b"POST /mcp HTTP/1.1\r\nHo").unwrap();
    is_well(&server, "idle and slow connections");
    drop((idle, slow));
}
