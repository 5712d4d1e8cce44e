//! Lifecycle: the faults that the server survives, and how it ends.

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::client::{Client, LATEST_HANDSHAKE, execute, program, wait_until};
use crate::support::fixtures::PROJECT;
use crate::support::scripted_gitlab::{Gitlab, answer};
use crate::support::tls::{Authority, serve_answer};

fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}

#[test]
fn the_end_of_input_is_the_end_at_any_moment() {
    let handshake = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": LATEST_HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
        },
    });
    Client::start(&[], &[]).close().well();
    for lines in [
        vec!["not JSON".to_owned()],
        vec![json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()],
        vec![handshake.to_string()],
        vec![
            handshake.to_string(),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(),
        ],
        vec![handshake.to_string(), json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string()],
    ] {
        let mut client = Client::start(&[], &[]);
        lines.iter().for_each(|line| client.send_line(line));
        client.close().well();
    }
}

#[test]
fn what_was_asked_before_the_end_is_answered() {
    let mut client = Client::ready();
    let params = json!({"name": "gitlab_find_action", "arguments": {"query": "x"}});
    client.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}));
    client.end_input();
    assert_eq!(client.receive()["id"], 7);
    client.wait().well();
}

/// A shell ends the input of a program with the end of the file, long before GitLab has made a change. rmcp ended calls five
/// seconds later.
#[test]
fn a_change_that_takes_its_time_is_answered_after_the_end_of_input() {
    let gitlab = Gitlab::with_project();
    let made = answer(201, json!({"id": 1, "iid": 7, "title": "Slow"})).after(Duration::from_millis(6_500));
    gitlab.answer("POST", "/issues", made);
    let mut client = gitlab.client(&[]);
    let params = json!({"action": "issue.create", "params": {"fullPath": PROJECT, "title": "Slow"}});
    let params = json!({"name": "gitlab_execute_action", "arguments": params});
    client.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}));
    client.end_input();
    let reply = client.receive();
    assert_eq!(reply["result"]["structuredContent"]["data"]["iid"], 7, "{reply}");
    client.wait().well();
}

/// A call that was dropped left no line, or one about some message.
#[cfg(unix)]
#[test]
fn a_call_that_is_dropped_is_named_with_what_became_of_its_change() {
    let gitlab = Gitlab::with_project();
    let slow = || answer(201, json!({"id": 1, "iid": 7, "title": "Slow"})).after(Duration::from_secs(8));
    gitlab.answer("POST", "/issues", slow());
    gitlab.answer("GET", "/issues/1", slow());
    for (action, params, outcome) in [
        (
            "issue.create",
            json!({"fullPath": PROJECT, "title": "Slow"}),
            "its change was sent, and may have been made",
        ),
        ("issue.get", json!({"fullPath": PROJECT, "iid": 1}), "it had changed nothing"),
    ] {
        let mut client = gitlab.client(&[("GITLAB_AUDIT", "off")]);
        let before = gitlab.seen().len();
        let params =
            json!({"name": "gitlab_execute_action", "arguments": {"action": action, "params": params}});
        client.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}));
        wait_until("GitLab is asked", || {
            gitlab.seen().iter().skip(before).any(|line| line.contains("/issues"))
        });
        signal("-TERM", client.id());
        let log = client.wait().stderr;
        let line = format!("the client did not get the answer to \"{action}\": {outcome}");
        assert!(log.contains(&line), "{log}");
    }
}

#[test]
fn input_from_a_file_or_from_nowhere_is_served_too() {
    Client::spawn(program(&[], &[]).stdin(Stdio::null())).wait().well();
    let path = tempfile::NamedTempFile::new().unwrap();
    let ping = |id: u8| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    std::fs::write(path.path(), format!("{}\n{}", ping(1), ping(2))).unwrap();
    let mut client = Client::spawn(program(&[], &[]).stdin(File::open(path.path()).unwrap()));
    assert_eq!(client.receive()["id"], 1);
    assert_eq!(client.receive()["id"], 2, "the last line needs no newline");
    client.wait().well();
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_in_order_whatever_its_input_is() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    for name in ["-TERM", "-INT"] {
        let client = Client::ready();
        signal(name, client.id());
        client.wait().well();
        // Node's pipes are sockets, which are read by a thread that cannot be interrupted.
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut client = Client::spawn(program(&[], &[]).stdin(Stdio::from(OwnedFd::from(theirs))));
        serde_json::to_writer(&ours, &json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).unwrap();
        std::io::Write::write_all(&mut &ours, b"\n").unwrap();
        assert_eq!(client.receive()["id"], 1);
        signal(name, client.id());
        client.wait().well();
    }
}

#[test]
fn lines_that_are_no_messages_get_an_error() {
    let mut client = Client::ready();
    for line in ["", "  ", "\u{feff}"] {
        client.send_line(line);
    }
    client.assert_unanswered();
    for line in ["not JSON", "{\"jsonrpc\": \"2.0\", \"id\":", "[", "\0\0\0"] {
        client.send_line(line);
        let answer = client.receive();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32700), &json!(null)), "{line:?}");
        assert!(answer.as_object().unwrap().contains_key("id"));
    }
    client.send(&json!({"hello": "world"}));
    assert_eq!(client.receive()["error"]["code"], -32600);
    assert!(client.request("tools/list", json!({}))["result"].is_object());
    client.close().well();
}

/// MCP 2025-03-26 has batches, and is negotiated.
#[test]
fn every_request_of_a_batch_is_answered() {
    let mut client = Client::start(&[], &[]);
    assert!(client.initialize("2025-03-26")["result"].is_object());
    let list = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/list"});
    let ping = json!({"jsonrpc": "2.0", "id": "b", "method": "ping"});
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    client.send(&json!([note, list, {"id": "c", "hello": 1}, ping]));
    let mut answers: Vec<Value> = (0..3).map(|_| client.receive()).collect();
    answers.sort_by_key(|answer| answer["id"].to_string());
    assert!(answers[0]["result"]["tools"].is_array(), "{answers:?}");
    assert_eq!(answers[1], json!({"jsonrpc": "2.0", "id": "b", "result": {}}));
    assert_eq!((&answers[2]["id"], &answers[2]["error"]["code"]), (&json!("c"), &json!(-32600)));
    client.close().well();
}

#[test]
fn a_message_that_is_nested_too_deep_is_refused_by_its_id() {
    let mut client = Client::ready();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    client.send_line(&format!(
        "{{\"method\":\"tools/call\",\"params\":{{\"x\":{deep}}},\"jsonrpc\":\"2.0\",\"id\":41}}"
    ));
    let answer = client.receive();
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!(41)), "{answer}");
    client.close().well();
}

#[test]
fn what_comes_before_the_first_request_is_outlived() {
    let mut client = Client::start(&[], &[]);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    client.send(&json!({"jsonrpc": "2.0", "id": 9, "result": {}}));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    assert!(client.initialize(LATEST_HANDSHAKE)["result"].is_object());
    client.close().well();
}

#[test]
fn ten_mebibytes_in_a_line_are_read() {
    let mut client = Client::ready();
    let long = "x".repeat(10 * 1024 * 1024);
    let reply = client.call("gitlab_execute_action", json!({"action": "no.such", "params": {"text": long}}));
    assert_eq!(reply.structured["error"]["kind"], "unknown_action");
    client.close().well();
}

#[test]
fn a_line_past_every_limit_is_refused_by_its_id() {
    let mut client = Client::ready();
    client.send_line(&"x".repeat(17 * 1024 * 1024));
    let answer = client.receive();
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!(null)));
    let text = "x".repeat(20 * 1024 * 1024);
    client.send_line(&format!(
        "{{\"method\":\"tools/call\",\"params\":{{\"x\":\"{text}\"}},\"jsonrpc\":\"2.0\",\"id\":\"a\"}}"
    ));
    let answer = client.receive();
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!("a")));
    assert!(answer["error"]["message"].as_str().unwrap().contains("longer than 16777216 bytes"), "{answer}");
    assert!(client.request("tools/list", json!({}))["result"].is_object());
}

#[test]
fn a_reader_that_went_away_is_no_crash() {
    let mut child = program(&[], &[]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    serde_json::to_writer(&mut stdin, &json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).unwrap();
    std::io::Write::write_all(&mut stdin, b"\n").unwrap();
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_cancelled_request_that_nobody_made_is_ignored() {
    let mut client = Client::ready();
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}));
    client.assert_unanswered();
    assert!(client.request("tools/list", json!({}))["result"].is_object());
}

#[test]
fn many_requests_at_a_time_are_all_answered() {
    let mut client = Client::ready();
    // Neighbours ask for different actions.
    let wanted = |id: u64| if id.is_multiple_of(2) { "label.get" } else { "branch.get" };
    for id in 100..400 {
        let params = json!({"name": "gitlab_find_action", "arguments": {"query": wanted(id)}});
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }
    let mut answers: Vec<(u64, String)> = (100..400)
        .map(|_| client.receive())
        .map(|answer| {
            let first = &answer["result"]["structuredContent"]["results"][0]["action"];
            (answer["id"].as_u64().unwrap(), first.as_str().unwrap().to_owned())
        })
        .collect();
    answers.sort();
    let expected: Vec<(u64, String)> = (100..400).map(|id| (id, wanted(id).to_owned())).collect();
    assert_eq!(answers, expected);
}

#[test]
fn nothing_but_messages_is_on_standard_output_at_any_log_level() {
    let mut client = Client::connect(&["--log-level", "trace"], &[("GITLAB_TOKEN", "glpat-sesame")]);
    client.call("gitlab_find_action", json!({"query": "list issues"}));
    client.call("gitlab_execute_action", json!({"action": "no.such", "params": {"password": "opensesame"}}));
    let ended = client.close();
    ended.well();
    assert!(!ended.stderr.contains("sesame"), "{}", ended.stderr);
}

#[test]
fn no_secret_is_logged_at_any_level_by_calls_over_http() {
    const SECRET: &str = "glpat-sesame";
    let gitlab = Gitlab::with_project();
    gitlab.json("/issues/1", &json!({"iid": 1, "title": "One"}));
    gitlab.says("PUT /api/v4/projects/acme%2Fwidget/issues/1", [answer(500, json!({"message": SECRET}))]);
    gitlab.answer("POST", "/api/graphql", answer(401, json!({"message": SECRET})));
    gitlab.says(
        "GET /api/v4/projects/acme%2Fwidget/issues/2",
        [answer(429, json!({})).header("retry-after", "0"), answer(200, json!({"iid": 2}))],
    );
    let (authority, secure) = (Authority::new(), answer(200, json!({"iid": 1})));
    let secure = serve_answer(&authority.vouch("localhost", 2099), None, secure);
    let file = authority.file();
    let proxy = format!("http://me:{SECRET}@{}", gitlab.address);
    for (token, url, more) in [
        ("GITLAB_TOKEN", gitlab.url(), ("GITLAB_EXTRA_HEADERS", "X-Access: glpat-sesame")),
        ("GITLAB_OAUTH_TOKEN", gitlab.url(), ("GITLAB_READ_ONLY", "false")),
        ("GITLAB_JOB_TOKEN", gitlab.url(), ("GITLAB_READ_ONLY", "false")),
        ("GITLAB_TOKEN", "http://gitlab.example.com".to_owned(), ("HTTP_PROXY", proxy.as_str())),
        ("GITLAB_TOKEN", secure, ("GITLAB_CA_FILE", file.path().to_str().unwrap())),
    ] {
        let asked = gitlab.received().len();
        let variables = [
            ("GITLAB_URL", url.as_str()),
            (token, SECRET),
            more,
            ("RUST_LOG", "trace"),
            ("GITLAB_PLAIN_HTTP", "true"),
        ];
        let mut client = Client::connect(&["--log-level", "trace"], &variables);
        let issue = |iid: u64| json!({"fullPath": "acme/widget", "iid": iid});
        execute(&mut client, "issue.get", issue(1));
        execute(&mut client, "issue.get", issue(2));
        let update = json!({"fullPath": "acme/widget", "iid": 1, "title": SECRET});
        execute(&mut client, "issue.update", update);
        execute(&mut client, "api.graphql", json!({"document": "{ currentUser { id } }"}));
        let ended = client.close();
        ended.well();
        assert!(!ended.stderr.contains("sesame"), "{token}: {}", ended.stderr);
        assert!(ended.stderr.contains("action=issue.update"), "{token}: {}", ended.stderr);
        if !url.starts_with("https") {
            let heads: String =
                gitlab.received()[asked..].iter().map(|request| request.head.clone()).collect();
            assert!(heads.contains(SECRET), "{token} is sent: {heads}");
        }
    }
}
