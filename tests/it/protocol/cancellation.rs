//! A call that the client has no more use for ends at GitLab too.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use serde_json::json;

use crate::faults::{is_well, process};
use crate::support::client::{Client, Ended};
use crate::support::raw_server::{Behaviour, Misbehaving, answer, wait_for_end};

/// Told of each connection that ended, by what was asked over it.
static ENDED: OnceLock<Mutex<Sender<&'static str>>> = OnceLock::new();

const SLOW: &[(&str, Behaviour)] = &[
    ("waited-for", |stream, _| {
        if wait_for_end(stream) {
            ENDED.get().unwrap().lock().unwrap().send("the call").unwrap();
        }
    }),
    ("silent", |stream, _| {
        wait_for_end(stream);
    }),
    ("storm", |stream, _| answer(stream, "429 Too Many Requests", "retry-after: 1\r\n", "")),
];

#[test]
fn a_cancelled_call_ends_its_request() {
    let (sender, ended) = channel();
    ENDED.set(Mutex::new(sender)).unwrap();
    let gitlab = Misbehaving::start(SLOW);
    let mut client = process(&gitlab.url(), &[("GITLAB_TIMEOUT", "60")]);
    for action in ["project.get", "project.update"] {
        let arguments =
            json!({"action": action, "params": {"fullPath": "fault/waited-for"}, "confirm": true});
        let params = json!({"name": "gitlab_execute_action", "arguments": arguments});
        let asked = gitlab.requests("waited-for").len();
        client.send(&json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params}));
        while gitlab.requests("waited-for").len() == asked {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(ended.try_recv().is_err(), "it is still waited for");
        let cancelled = json!({"requestId": 77, "reason": "never mind"});
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}));
        ended.recv_timeout(Duration::from_secs(10)).expect("the connection is closed");
        assert!(client.is_silent(), "nothing is answered to what was cancelled");
        is_well(&mut client, action);
    }
    let ended = client.close();
    assert_eq!(ended.stderr.matches("outcome=cancelled").count(), 2, "{}", ended.stderr);
    let line = |action: &str| ended.stderr.lines().find(|line| line.contains(action)).unwrap().to_owned();
    let (read, write) = (line("action=project.get"), line("action=project.update"));
    assert!(read.contains("decision=allowed") && !read.contains("applied="), "{read}");
    assert!(write.contains("decision=allowed applied=unknown"), "{write}");
}

/// The audit of a write that had been sent when the session ended in this way.
fn audited_end(end: impl FnOnce(Client) -> Ended) -> String {
    let gitlab = Misbehaving::start(SLOW);
    let mut client = process(&gitlab.url(), &[("GITLAB_TIMEOUT", "60")]);
    let arguments = json!({"action": "project.update", "params": {"fullPath": "fault/silent", "name": "x"}});
    let params = json!({"name": "gitlab_execute_action", "arguments": arguments});
    client.send(&json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params}));
    while gitlab.requests("silent").is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let ended = end(client);
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    ended.stderr
}

#[cfg(unix)]
#[test]
fn the_audit_of_a_write_that_was_sent_says_that_it_may_have_been_made() {
    let killed = audited_end(|client| {
        let kill = std::process::Command::new("kill").args(["-TERM", &client.id().to_string()]).status();
        assert!(kill.unwrap().success());
        client.wait()
    });
    for stderr in [killed, audited_end(Client::close)] {
        assert!(stderr.contains("decision=allowed applied=unknown"), "{stderr}");
        assert!(stderr.contains("outcome=cancelled"), "{stderr}");
    }
}

#[test]
fn a_cancelled_pause_is_not_followed_by_another_attempt() {
    let gitlab = Misbehaving::start(SLOW);
    let mut client = process(&gitlab.url(), &[("GITLAB_TIMEOUT", "60")]);
    let arguments = json!({"action": "project.get", "params": {"fullPath": "fault/storm"}});
    let params = json!({"name": "gitlab_execute_action", "arguments": arguments});
    client.send(&json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params}));
    while gitlab.requests("storm").is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}));
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(gitlab.requests("storm").len(), 1);
    is_well(&mut client, "a cancelled pause");
    client.close().well();
}
