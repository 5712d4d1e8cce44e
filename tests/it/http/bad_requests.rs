//! Requests that are wrong in one respect each: a clear status, a body, and a server that serves the next one.

use std::io::{BufReader, Write};
use std::time::Duration;

use serde_json::{Value, json};

use super::{HttpServer, read_response, tool_call};
use crate::support::client::{EXECUTE, FIND};
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
        ("an unknown protocol version", &[TOKEN, ("MCP-Protocol-Version", "1999-01-01")], 400),
        ("headers of 2026-07-28 without its metadata", &[TOKEN, ("MCP-Protocol-Version", "2026-07-28")], 400),
        ("no token", &[], 401),
        ("two tokens", &[TOKEN, ("Authorization", "Bearer a")], 400),
        ("a token twice", &[TOKEN, TOKEN], 400),
        ("a job token as well", &[TOKEN, ("JOB-TOKEN", "a")], 400),
        ("a job token twice", &[("JOB-TOKEN", "a"), ("JOB-TOKEN", "b")], 400),
        ("a bearer twice", &[("Authorization", "Bearer a"), ("Authorization", "Bearer a")], 400),
        ("a bearer without a token", &[("Authorization", "Bearer ")], 400),
        ("an empty token", &[("PRIVATE-TOKEN", " ")], 400),
        ("a token that is not ASCII", &[("PRIVATE-TOKEN", "glpat-ü")], 400),
        (
            "an instance twice",
            &[TOKEN, ("GITLAB-URL", "https://a.example"), ("GITLAB-URL", "https://a.example")],
            400,
        ),
        (
            "two names of an instance",
            &[TOKEN, ("GITLAB-URL", "https://a.example"), ("X-GitLab-API-URL", "https://a.example")],
            400,
        ),
        ("a limit twice", &[TOKEN, ("X-MCP-Readonly", "true"), ("X-MCP-Readonly", "false")], 400),
        ("toolsets twice", &[TOKEN, ("X-MCP-Toolsets", "issues"), ("X-MCP-Toolsets", "wikis")], 400),
        ("confirmation of nothing", &[TOKEN, ("X-MCP-Confirm", "never")], 400),
        ("a content type in a list", &[TOKEN, ("Content-Type", "text/plain, application/json")], 415),
        ("a form", &[TOKEN, ("Content-Type", "application/x-www-form-urlencoded")], 415),
        ("an accept of events alone", &[TOKEN, ("Accept", "text/event-stream")], 406),
        ("an accept of pages", &[TOKEN, ("Accept", "text/html")], 406),
        (
            "an origin that begins like the server's",
            &[TOKEN, ("Origin", "http://localhost.evil.example.com")],
            403,
        ),
        ("an origin of another port", &[TOKEN, ("Origin", "http://localhost:1")], 403),
        ("a host that begins like the server's", &[TOKEN, ("Host", "localhost.evil.example.com")], 403),
        (
            "a version twice",
            &[TOKEN, ("MCP-Protocol-Version", "2025-11-25"), ("MCP-Protocol-Version", "2025-06-18")],
            400,
        ),
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

/// Simple HTTP clients name JSON, anything or nothing in `Accept`: the responses are JSON.
#[test]
fn a_client_that_takes_json_is_served() {
    let gitlab = Gitlab::start();
    let server = HttpServer::for_callers(&gitlab.url(), &[]);
    for accept in ["application/json", "*/*", "application/*, text/*", "text/html, */*;q=0.8"] {
        let answered = server.post(&[TOKEN, ("Accept", accept)], &find());
        assert_eq!(answered.status, 200, "{accept}: {}", answered.body);
        assert!(answered.json()["result"].is_object(), "{accept}: {}", answered.body);
    }
    let body = find().to_string();
    let request = |path: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nPRIVATE-TOKEN: glpat-caller\r\nContent-Type: \
             application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    // Without the header, and with a slash at the end of the URL.
    for path in ["/mcp", "/mcp/"] {
        let answered = server.send(request(path).as_bytes());
        assert_eq!(answered.status, 200, "{path}: {}", answered.body);
    }
    for path in ["/", "/sse", "/mcp/v1"] {
        let refused = server.send(request(path).as_bytes());
        assert_eq!(refused.status, 404, "{path}");
        assert!(
            refused.json()["message"].as_str().unwrap().contains("/mcp (streamable HTTP)"),
            "{}",
            refused.body
        );
    }
}

/// A page of a listed origin can call the server from a browser, and read what it refuses; any other page cannot.
#[test]
fn a_browser_may_call_from_a_listed_origin_alone() {
    const PAGE: &str = "http://localhost:6274";
    let gitlab = Gitlab::start();
    let server = HttpServer::for_callers(&gitlab.url(), &[("GITLAB_MCP_ALLOWED_ORIGINS", PAGE)]);
    let preflight = |origin: &str| {
        let request = format!(
            "OPTIONS /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: {origin}\r\nAccess-Control-Request-Method: POST\r\n\
             Access-Control-Request-Headers: content-type,private-token\r\nConnection: close\r\n\r\n"
        );
        server.send(request.as_bytes())
    };
    let answered = preflight(PAGE);
    assert_eq!(answered.status, 204, "{}", answered.body);
    assert_eq!(answered.header("access-control-allow-origin"), Some(PAGE));
    assert_eq!(answered.header("access-control-allow-headers"), Some("content-type,private-token"));
    assert!(answered.header("access-control-allow-methods").unwrap().contains("POST"));
    for (headers, status) in [(&[TOKEN, ("Origin", PAGE)][..], 200), (&[("Origin", PAGE)][..], 401)] {
        let answered = server.post(headers, &find());
        assert_eq!(answered.status, status, "{}", answered.body);
        assert_eq!(answered.header("access-control-allow-origin"), Some(PAGE), "{status}");
        assert_eq!(answered.header("vary"), Some("origin"), "{status}");
    }
    for origin in ["https://evil.example.com", "null", "http://localhost:6275"] {
        assert_ne!(preflight(origin).status, 204, "{origin}");
        let refused = server.post(&[TOKEN, ("Origin", origin)], &find());
        assert_eq!((refused.status, refused.header("access-control-allow-origin")), (403, None), "{origin}");
    }
}

/// Half an emoji: the answer has the id of the call, so that the client's request ends, and says what is wrong.
/// MCP 2025-03-26 has batches, and is the version of a request that names none; later versions have none.
#[test]
fn a_batch_is_answered_in_the_version_that_has_them() {
    let gitlab = Gitlab::start();
    let server = HttpServer::for_callers(&gitlab.url(), &[("GITLAB_MCP_CALLER_RATE", "5")]);
    let call = |id: u8| {
        let mut call = find();
        call["id"] = json!(id);
        call
    };
    let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let mixed =
        json!([call(1), done, {"jsonrpc": "2.0", "id": "two", "method": "no/method"}, {"jsonrpc": "1.0"}]);
    for headers in [&[TOKEN][..], &[TOKEN, ("MCP-Protocol-Version", "2025-03-26")]] {
        let answered = server.post(headers, &mixed);
        assert_eq!(answered.status, 200, "{}", answered.body);
        let answers = answered.json();
        let answers = answers.as_array().unwrap();
        assert_eq!(answers.len(), 3, "{}", answered.body);
        assert_eq!((&answers[0]["id"], &answers[1]["id"]), (&json!(1), &json!("two")));
        assert!(answers[0]["result"]["structuredContent"]["results"].is_array(), "{}", answered.body);
        assert_eq!(
            (&answers[1]["error"]["code"], &answers[2]["error"]["code"]),
            (&json!(-32601), &json!(-32600))
        );
        std::thread::sleep(Duration::from_secs(2));
    }
    let no_json = server.post(&[TOKEN, ("Accept", "text/plain")], &mixed);
    assert_eq!(no_json.status, 406, "{}", no_json.body);
    let notified = server.post(&[TOKEN], &json!([done]));
    assert_eq!((notified.status, &*notified.body), (202, ""));
    // A batch is no way round the rate: ten calls are two seconds of it.
    // Each is refused at once, so that they come faster than a slow machine answers a find.
    let empty = |id: u8| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": EXECUTE, "arguments": {}}});
    let many: Vec<Value> = (0..14).map(empty).collect();
    let answered = server.post(&[TOKEN], &Value::from(many)).json();
    let answers = answered.as_array().unwrap();
    let refused: Vec<&Value> = answers.iter().filter(|answer| answer["error"]["code"] == -32029).collect();
    assert_eq!(answers.len(), 14);
    assert!((1..=8).contains(&refused.len()), "{refused:?}");
    assert_eq!(refused.last().unwrap()["id"], 13);
    let later =
        server.post(&[("PRIVATE-TOKEN", "glpat-other"), ("MCP-Protocol-Version", "2025-06-18")], &mixed);
    assert_eq!(later.status, 400);
    assert!(later.body.contains("send each message by itself"), "{}", later.body);
}

#[test]
fn half_a_character_is_named_in_the_answer_to_its_call() {
    let gitlab = Gitlab::start();
    let server = HttpServer::for_callers(&gitlab.url(), &[]);
    let body = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x \ud83d"}}"#;
    let request = server.request(&[TOKEN], body);
    let refused = server.send(&request).json();
    assert_eq!(refused["id"], 7, "{refused}");
    assert!(
        refused["error"]["message"].as_str().unwrap().contains("\\ud83d is half of a character"),
        "{refused}"
    );
}

/// A call of 2026-07-28, which says in its headers what the body has.
fn modern_call() -> (Value, [(&'static str, &'static str); 5]) {
    let mut call = tool_call(EXECUTE, json!({"action": "project.list"}));
    call["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let headers = [
        TOKEN,
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", EXECUTE),
        ("Mcp-Param-Action", "project.list"),
    ];
    (call, headers)
}

#[test]
fn headers_of_2026_07_28_agree_with_the_body() {
    let gitlab = Gitlab::start();
    gitlab.json("/api/v4/projects", &json!([]));
    let server = HttpServer::for_callers(&gitlab.url(), &[]);
    let (call, headers) = modern_call();
    let answered = server.post(&headers, &call);
    assert_eq!(answered.status, 200, "{}", answered.body);
    let sent = || gitlab.seen().iter().filter(|line| line.contains("/projects")).count();
    assert_eq!(sent(), 1);
    for (name, wrong) in [
        ("MCP-Protocol-Version", "2025-11-25"),
        ("MCP-Protocol-Version", "2099-01-01"),
        ("Mcp-Method", "tools/list"),
        ("Mcp-Method", "Tools/Call"),
        ("Mcp-Method", ""),
        ("Mcp-Name", FIND),
        ("Mcp-Name", ""),
        ("Mcp-Param-Action", "project.delete"),
        ("Mcp-Param-Action", "=?base64?@@?="),
        ("Mcp-Param-Action", ""),
    ] {
        let wrong = headers.map(|(known, value)| (known, if known == name { wrong } else { value }));
        let refused = server.post(&wrong, &call);
        assert_eq!(refused.status, 400, "{wrong:?}: {}", refused.body);
        assert!(refused.json()["error"]["code"].is_i64(), "{wrong:?}: {}", refused.body);
    }
    for repeated in &headers[1..] {
        let refused = server.post(&[headers.as_slice(), &[*repeated]].concat(), &call);
        assert_eq!(refused.status, 400, "{repeated:?} twice: {}", refused.body);
        assert!(refused.body.contains("more than once"), "{}", refused.body);
    }
    for missing in ["protocolVersion", "clientCapabilities"] {
        let mut call = call.clone();
        let meta = call["params"]["_meta"].as_object_mut().unwrap();
        meta.remove(&format!("io.modelcontextprotocol/{missing}")).unwrap();
        let refused = server.post(&headers, &call);
        assert_eq!(refused.status, 400, "without {missing}: {}", refused.body);
    }
    assert_eq!(sent(), 1, "none of them reached GitLab");
    assert_eq!(server.post(&headers, &call).status, 200);
}

#[test]
fn requests_of_two_meanings_are_refused() {
    let server = HttpServer::for_callers(&Gitlab::start().url(), &[]);
    let body = find().to_string();
    let length = body.len().to_string();
    let rows: &[(&str, &[(&str, &str)])] = &[
        ("two lengths", &[("Content-Length", "4"), ("Content-Length", "5")]),
        ("two equal lengths", &[("Content-Length", &length), ("Content-Length", &length)]),
        ("a list of lengths", &[("Content-Length", &format!("{length}, {length}"))]),
        ("a length that is none", &[("Content-Length", "-1")]),
        ("a length with a sign", &[("Content-Length", "+4")]),
        ("an unknown coding", &[("Content-Length", ""), ("Transfer-Encoding", "gzip")]),
        ("chunks that are none", &[("Content-Length", ""), ("Transfer-Encoding", "chunked")]),
        ("a header with a blank in its name", &[("X Y", "z")]),
        ("no host", &[("Host", "")]),
        ("a host with a user", &[("Host", "evil@localhost")]),
        ("a host with a user and a password", &[("Host", "a:b@127.0.0.1")]),
        ("a host with a path", &[("Host", "localhost/evil.example.com")]),
        ("hosts in a list", &[("Host", "localhost, evil.example.com")]),
        ("two hosts", &[("Host", "localhost"), ("Host", "evil.example.com")]),
        ("two content types", &[("Content-Type", "application/json"), ("Content-Type", "text/plain")]),
    ];
    for (what, headers) in rows {
        let headers: Vec<(&str, &str)> = [TOKEN].iter().chain(*headers).copied().collect();
        let refused = server.send(&server.request(&headers, &body));
        assert!((400..500).contains(&refused.status), "{what}: {} {}", refused.status, refused.body);
        is_well(&server, what);
    }
    // Each body is whole by the coding.
    let chunks = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let coded: &[(&str, &[(&str, &str)])] = &[
        ("a length with a coding", &[("Content-Length", &length), ("Transfer-Encoding", "chunked")]),
        ("a coding with a length", &[("Transfer-Encoding", "chunked"), ("Content-Length", &length)]),
        ("two codings", &[("Content-Length", ""), ("Transfer-Encoding", "gzip, chunked")]),
        (
            "codings of two lines",
            &[("Content-Length", ""), ("Transfer-Encoding", "gzip"), ("Transfer-Encoding", "chunked")],
        ),
    ];
    for (what, headers) in coded {
        let headers: Vec<(&str, &str)> = [TOKEN].iter().chain(*headers).copied().collect();
        let refused = server.send(&server.request(&headers, &chunks));
        assert_eq!(refused.status, 400, "{what}: {}", refused.body);
        assert_eq!(refused.header("connection"), Some("close"), "{what}");
        is_well(&server, what);
    }
    let whole = server.request(&[TOKEN, ("Content-Length", ""), ("Transfer-Encoding", "chunked")], &chunks);
    assert_eq!(server.send(&whole).status, 200, "one coding");
    let target = String::from_utf8(server.request(&[TOKEN], &body)).unwrap();
    for (target_host, status) in [("evil.example.com", 400), (&server.address.to_string(), 200)] {
        let absolute = target.replacen(" /mcp ", &format!(" http://{target_host}/mcp "), 1);
        assert_eq!(server.send(absolute.as_bytes()).status, status, "{target_host} in the target");
    }
    for head in
        ["GET", "POST /mcp", "POST /mcp HTTP/9.9\r\n\r\n", "\0\0\0\r\n\r\n", "\x16\x03\x01\x02\r\n\r\n"]
    {
        let mut stream = server.connect();
        stream.write_all(head.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        if let Some(refused) = read_response(&mut BufReader::new(stream)) {
            assert!((400..=505).contains(&refused.status), "{head:?}: {}", refused.status);
        }
        is_well(&server, head);
    }
}

#[test]
fn connections_that_close_early_leave_the_server_alive() {
    let gitlab = Gitlab::start();
    gitlab.json("/api/v4/projects", &json!([]));
    let server = HttpServer::for_callers(&gitlab.url(), &[]);
    let call = server.request(&[TOKEN], &tool_call(EXECUTE, json!({"action": "project.list"})).to_string());
    // Half closed: the request is complete, and the client still reads.
    let mut stream = server.connect();
    stream.write_all(&call).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    if let Some(answered) = read_response(&mut BufReader::new(stream)) {
        assert_eq!(answered.status, 200, "{}", answered.body);
    }
    is_well(&server, "a half-closed connection");
    // Closed in the head, in the body, and before the response.
    for sent in [20, call.len() - 5, call.len()] {
        for _ in 0..50 {
            let mut stream = server.connect();
            stream.write_all(&call[..sent]).unwrap();
        }
        // Whole requests may still be running, more than one caller may have. They end, and then the limit is free.
        for _ in 0..600 {
            if server.post(&[TOKEN], &find()).status != 429 {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        is_well(&server, "connections that were closed");
    }
    // A body that stays half sent holds up no other caller.
    let mut dripping = server.connect();
    dripping.write_all(&call[..call.len() - 5]).unwrap();
    is_well(&server, "a body that drips");
    drop(dripping);
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
    assert_eq!(server.get("/secret-path").status, 404);
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
    for (size, status) in [(30_000, 200), (33_000, 431), (40_000, 431), (60_000, 431), (100_000, 431)] {
        let long = server.request(&[TOKEN, ("X-Long", &"x".repeat(size))], &find().to_string());
        assert_eq!(server.send(&long).status, status, "a head of {size} bytes");
    }
    let values = format!("[{}0]", "0,".repeat(2_000_000));
    let many_values = tool_call(FIND, json!({"query": "VALUES"})).to_string().replace("\"VALUES\"", &values);
    let refused = server.send(&server.request(&[TOKEN], &many_values));
    assert_eq!(refused.status, 413, "{}", refused.body);
    let many: String = (0..200).map(|number| format!("X-{number}: y\r\n")).collect();
    let many = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\n{many}\r\n", server.address);
    assert_eq!(server.send(many.as_bytes()).status, 431);
    is_well(&server, "large requests");
}

#[test]
fn bodies_that_are_no_messages_are_refused() {
    let server = HttpServer::for_callers(&Gitlab::start().url(), &[]);
    // Bodies that are no JSON, and bodies that are no message.
    for (bodies, code) in [
        (["", "{", "\u{0}", "{\"jsonrpc\": \"2.0\", secret-of-the-body"], -32_700),
        (
            ["[]", "null", "{\"jsonrpc\":\"1.0\"}", "[[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]]"],
            -32_600,
        ),
    ] {
        for body in bodies {
            let refused = server.send(&server.request(&[TOKEN], body));
            assert_eq!(refused.status, 400, "{body:?}: {}", refused.body);
            assert_eq!(refused.json()["error"]["code"], code, "{body:?}: {}", refused.body);
            assert!(!refused.body.contains("secret-of-the-body"), "{}", refused.body);
            is_well(&server, body);
        }
    }
    // Nested deeper than any stack.
    for open in ["[", "{\"a\":"] {
        let call = tool_call(FIND, json!({"query": "DEEP"})).to_string();
        let deep = call.replace("\"DEEP\"", &open.repeat(60_000));
        let refused = server.send(&server.request(&[TOKEN], &deep));
        assert_eq!(refused.status, 400, "{}", refused.body);
        is_well(&server, "a deep body");
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
