//! The protocol during slow work: pings, cancellations and signals are answered while a call computes, and a client
//! that does not read is not read from.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::client::{Client, program, wait_until};
use crate::support::fixtures::PROJECT;
use crate::support::scripted_gitlab::Gitlab;

/// Takes long on every line, and is found in none: what it is in the middle of differs from byte to byte.
const SLOW: &str = "[ab]*a[ab]{900}[^ab]";

fn slow_log() -> Gitlab {
    let gitlab = Gitlab::with_project();
    // Without a pattern of its own (a linear congruential generator).
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if state >> 63 == 0 { 'a' } else { 'b' }
    };
    let line: String = (0..4_000).map(|_| next()).chain(['\n']).collect();
    gitlab.body("/jobs/7/trace", "text/plain", line.repeat(3_000).as_bytes());
    gitlab
}

/// Asks for the lines of the log in which a pattern is found, and waits until GitLab has been asked for it.
fn begin_search(gitlab: &Gitlab, client: &mut Client, id: u64, pattern: &str) {
    let params = json!({"fullPath": PROJECT, "job_id": 7, "grep": pattern});
    let arguments = json!({"action": "job.log", "params": params});
    let params = json!({"name": "gitlab_execute_action", "arguments": arguments});
    client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    wait_for_log(gitlab);
}

/// Waits until GitLab has been asked for the log, and a moment longer, in which it comes. Where that is too short the
/// call computes later, and the test shows less, but does not fail.
fn wait_for_log(gitlab: &Gitlab) {
    let is_asked = || gitlab.received().iter().any(|request| request.path.ends_with("/trace"));
    wait_until("the request for the log", is_asked);
    std::thread::sleep(Duration::from_millis(500));
}

#[test]
fn a_ping_is_answered_beside_a_search_that_ends_in_time() {
    let gitlab = slow_log();
    let mut client = gitlab.client(&[]);
    begin_search(&gitlab, &mut client, 70, SLOW);
    let mut pings = 0;
    let answer = loop {
        client.send(&json!({"jsonrpc": "2.0", "id": 71, "method": "ping"}));
        match client.receive() {
            answer if answer["id"] == 71 => pings += 1,
            answer => break answer,
        }
    };
    assert!(pings > 0, "none is answered before the search is over");
    assert_eq!(client.receive()["id"], 71);
    let error = &answer["result"]["structuredContent"]["error"];
    assert_eq!((&answer["id"], &error["kind"]), (&json!(70), &json!("timeout")), "{answer}");
    assert_eq!(error["message"], "`grep` took longer than 5 s");
    assert!(error["hint"].as_str().unwrap().contains("simpler pattern"), "{error}");
    client.close().well();
}

#[test]
fn a_cancelled_search_holds_nothing_up() {
    let gitlab = slow_log();
    let mut client = gitlab.client(&[]);
    begin_search(&gitlab, &mut client, 70, SLOW);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 70}}));
    // The next message is the answer to this call, and none is the answer to the other.
    assert!(client.call("gitlab_execute_action", json!({"action": "no.such"})).is_error);
    let ended = client.close();
    ended.well();
    assert!(ended.unread.is_empty(), "{:?}", ended.unread);
    assert!(ended.stderr.contains("outcome=cancelled"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("WARN"), "a cancellation is no warning: {}", ended.stderr);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_in_the_middle_of_a_search() {
    let gitlab = slow_log();
    let mut client = gitlab.client(&[]);
    begin_search(&gitlab, &mut client, 70, SLOW);
    assert!(Command::new("kill").args(["-TERM", &client.id().to_string()]).status().unwrap().success());
    let ended = client.wait();
    ended.well();
    // Not `timeout`, which is how the search would have ended by itself.
    let line = ended.stderr.lines().find(|line| line.contains("action=job.log")).unwrap();
    assert!(line.contains("outcome=cancelled"), "{line}");
}

#[cfg(unix)]
#[test]
fn a_call_that_computes_at_a_signal_has_its_audit_line() {
    let gitlab = Gitlab::with_project();
    gitlab.body("/jobs/7/trace", "text/plain", "g\\&%\u{200b}\n".repeat(3_000_000).as_bytes());
    let mut client = gitlab.client(&[]);
    let arguments = json!({"action": "job.log", "params": {"fullPath": PROJECT, "job_id": 7}});
    let params = json!({"name": "gitlab_execute_action", "arguments": arguments});
    client.send(&json!({"jsonrpc": "2.0", "id": 70, "method": "tools/call", "params": params}));
    wait_for_log(&gitlab);
    assert!(Command::new("kill").args(["-TERM", &client.id().to_string()]).status().unwrap().success());
    let ended = client.wait();
    ended.well();
    assert_eq!(ended.stderr.matches("action=job.log").count(), 1, "{}", ended.stderr);
}

#[test]
fn patterns_have_limits() {
    let gitlab = Gitlab::with_project();
    let mut client = gitlab.client(&[]);
    for (pattern, reason) in [
        ("a".repeat(1_001), "it has 1001 bytes; the limit is 1000"),
        ("(?:(?:a?){1000}){1000}".to_owned(), "it is too large when compiled"),
    ] {
        let params = json!({"fullPath": PROJECT, "job_id": 7, "grep": pattern});
        let reply = client.call("gitlab_execute_action", json!({"action": "job.log", "params": params}));
        let error = &reply.structured["error"];
        assert_eq!(error["kind"], "invalid_params", "{error}");
        assert!(error["message"].as_str().unwrap().contains(reason), "{error}");
    }
}

/// Resident memory of a process, in bytes.
#[cfg(target_os = "linux")]
fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

#[cfg(target_os = "linux")]
#[test]
fn a_client_that_does_not_read_is_not_read_from() {
    let mut child =
        program(&[], &[]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let process = child.id();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let mut written = 0;
        let mut write = |message: Value| {
            let result = stdin.write_all(format!("{message}\n").as_bytes());
            written += 1;
            result.is_ok()
        };
        write(hello);
        for id in 1..20_000 {
            let call =
                json!({"name": "gitlab_find_action", "arguments": {"query": "list issues", "limit": 50}});
            if !write(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call})) {
                break;
            }
        }
        written
    });
    // Until nothing moves any more: the writer is stuck, and so is the server.
    let mut last = (0, Instant::now());
    let start = Instant::now();
    while last.1.elapsed() < Duration::from_secs(3) && start.elapsed() < Duration::from_secs(60) {
        let now = resident(process);
        if now.abs_diff(last.0) > 1024 * 1024 {
            last = (now, Instant::now());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!writer.is_finished(), "all of it was read");
    assert!(resident(process) < 200 * 1024 * 1024, "{} bytes", resident(process));
    assert!(Command::new("kill").args(["-TERM", &process.to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(writer.join().unwrap() < 19_000);
}

#[cfg(target_os = "linux")]
#[test]
fn ten_thousand_calls_at_once_take_little_memory_and_none_is_lost() {
    const CALLS: u64 = 10_000;
    let gitlab = Gitlab::with_project();
    gitlab.json("/api/v4/user", &json!({"id": 1, "username": "alice"}));
    let mut client = gitlab.client(&[("GITLAB_AUDIT", "off")]);
    let arguments = json!({"action": "current_user.get", "params": {}});
    let params = json!({"name": "gitlab_execute_action", "arguments": arguments});
    for id in 0..CALLS {
        client
            .send(&json!({"jsonrpc": "2.0", "id": 1_000_000 + id, "method": "tools/call", "params": params}));
    }
    let answers: std::collections::BTreeSet<u64> =
        (0..CALLS).map(|_| client.receive()["id"].as_u64().unwrap()).collect();
    assert_eq!(answers.len(), usize::try_from(CALLS).unwrap());
    let status = fs::read_to_string(format!("/proc/{}/status", client.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 200 * 1024, "{peak} kB");
    client.close().well();
}
