//! A call that the client has no more use for ends at GitLab too.

use std::net::TcpStream;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::json;

use crate::faults::{is_well, process};
use crate::support::client::{Client, Ended, HANG_GUARD, LATEST_HANDSHAKE, execute, program};
use crate::support::raw_server::{Behaviour, Misbehaving, answer, wait_for_end};

/// No call of these tests ends by a timeout.
const NEVER: (&str, &str) = ("GITLAB_TIMEOUT", "600");

const SLOW: &[(&str, Behaviour)] = &[
    ("silent", |stream, _| {
        wait_for_end(stream);
    }),
    ("storm", |stream, _| answer(stream, "429 Too Many Requests", "retry-after: 1\r\n", "")),
    ("later", |stream, turn| match turn {
        1 => answer(stream, "429 Too Many Requests", "retry-after: 2\r\n", ""),
        _ => answer(stream, "200 OK", "content-type: application/json\r\n", "{\"id\": 1}"),
    }),
];

#[test]
fn a_cancelled_call_ends_its_request() {
    let (sender, ended) = channel();
    let sender = Mutex::new(sender);
    let wait = move |stream: &mut TcpStream, _: usize| {
        if wait_for_end(stream) {
            sender.lock().unwrap().send(()).unwrap();
        }
    };
    let gitlab = Misbehaving::sharing(vec![("waited-for", Box::new(wait))]);
    let mut client = process(&gitlab.url(), &[NEVER]);
    for action in ["project.get", "project.update"] {
        let arguments =
            json!({"action": action, "params": {"fullPath": "fault/waited-for"}, "confirm": true});
        let params = json!({"name": "gitlab_execute_action", "arguments": arguments});
        let asked = gitlab.requests("waited-for").len();
        client.send(&json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params}));
        gitlab.wait_for("waited-for", asked + 1);
        assert!(ended.try_recv().is_err(), "it is still waited for");
        let cancelled = json!({"requestId": 77, "reason": "never mind"});
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}));
        ended.recv_timeout(HANG_GUARD).expect("the connection is closed");
        is_well(&mut client, action);
    }
    let ended = client.close();
    assert!(ended.unread.is_empty(), "nothing is answered to what was cancelled: {:?}", ended.unread);
    assert_eq!(ended.stderr.matches("outcome=cancelled").count(), 2, "{}", ended.stderr);
    let line = |action: &str| ended.stderr.lines().find(|line| line.contains(action)).unwrap().to_owned();
    let (read, write) = (line("action=project.get"), line("action=project.update"));
    assert!(read.contains("decision=allowed") && !read.contains("applied="), "{read}");
    assert!(write.contains("decision=allowed applied=unknown"), "{write}");
}

/// The audit of a write that had been sent when the session ended in this way.
fn audited_end(end: impl FnOnce(Client) -> Ended) -> String {
    let gitlab = Misbehaving::start(SLOW);
    let mut client = process(&gitlab.url(), &[NEVER]);
    let arguments = json!({"action": "project.update", "params": {"fullPath": "fault/silent", "name": "x"}});
    let params = json!({"name": "gitlab_execute_action", "arguments": arguments});
    client.send(&json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params}));
    gitlab.wait_for("silent", 1);
    let ended = end(client);
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    ended.stderr
}

/// Sends a signal to the server and waits for its end.
#[cfg(unix)]
fn end_by(signal: &str) -> impl FnOnce(Client) -> Ended {
    move |client| {
        let kill = std::process::Command::new("kill").args([signal, &client.id().to_string()]).status();
        assert!(kill.unwrap().success());
        client.wait()
    }
}

#[cfg(unix)]
#[test]
fn the_audit_of_a_write_that_was_sent_says_that_it_may_have_been_made() {
    let mut signals = vec!["-TERM", "-INT", "-QUIT"];
    // A server that inherits an ignored SIGHUP keeps it ignored, so the tests can run under nohup too.
    signals.extend(Some("-HUP").filter(|_| !ignores_hangup()));
    let ended = signals.into_iter().map(|signal| audited_end(end_by(signal)));
    for stderr in ended.chain([audited_end(Client::close)]) {
        assert!(stderr.contains("decision=allowed applied=unknown"), "{stderr}");
        assert!(stderr.contains("outcome=cancelled"), "{stderr}");
    }
}

/// True if these tests were started with SIGHUP ignored (proc_pid_status(5), SigIgn).
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1)
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_that_was_started_by_nohup_outlives_its_terminal() {
    let mut nohup = std::process::Command::new("nohup");
    nohup.arg(program(&[], &[]).get_program()).env_clear().stdin(Stdio::piped());
    let mut client = Client::spawn(&mut nohup);
    client.initialize(LATEST_HANDSHAKE);
    let kill = std::process::Command::new("kill").args(["-HUP", &client.id().to_string()]).status();
    assert!(kill.unwrap().success());
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    client.close().well();
}

#[test]
fn a_cancelled_pause_is_not_followed_by_another_attempt() {
    let gitlab = Misbehaving::start(SLOW);
    let mut client = process(&gitlab.url(), &[NEVER]);
    let arguments = json!({"action": "project.get", "params": {"fullPath": "fault/storm"}});
    let params = json!({"name": "gitlab_execute_action", "arguments": arguments});
    client.send(&json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params}));
    gitlab.wait_for("storm", 1);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}));
    // A pause that begins later and is longer ends after the cancelled one would have.
    let later = execute(&mut client, "project.get", json!({"fullPath": "fault/later"}));
    assert!(!later.is_error, "{}", later.text);
    assert_eq!((gitlab.requests("later").len(), gitlab.requests("storm").len()), (2, 1));
    is_well(&mut client, "a cancelled pause");
    client.close().well();
}
