//! The audit: a line for each executed action, and the values that never occur in one.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::channel;
use std::thread;

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, HANG_GUARD, LATEST_HANDSHAKE, program};

/// Calls of every kind of outcome, each with `sesame` wherever a value may be that names no object; with the values of
/// their audit lines.
fn calls() -> Vec<(Value, [(&'static str, Value); 4])> {
    let issue = json!({"fullPath": "acme/widget", "iid": 1});
    let said = |action: Value, path: Value, decision: &str, outcome: &str| {
        [("action", action), ("path", path), ("decision", json!(decision)), ("outcome", json!(outcome))]
    };
    let issue_path = json!("/projects/acme%2Fwidget/issues/1");
    vec![
        (
            json!({"action": "issue.create", "params": {"fullPath": "acme/widget", "title": "sesame", "description": "sesame"}}),
            said(json!("issue.create"), json!("/projects/acme%2Fwidget/issues"), "allowed", "ok"),
        ),
        (
            json!({"action": "issue.get", "params": issue}),
            said(json!("issue.get"), issue_path.clone(), "allowed", "ok"),
        ),
        (
            json!({"action": "issue.delete", "params": issue}),
            said(json!("issue.delete"), issue_path.clone(), "needs_confirmation", "needs_confirmation"),
        ),
        (
            json!({"action": "issue.update", "params": {"fullPath": "acme/widget", "iid": 1, "title": "sesame"}, "dry_run": true}),
            said(json!("issue.update"), issue_path, "preview", "ok"),
        ),
        (
            json!({"action": "branch.get", "params": {"fullPath": "acme/widget", "branch": "absent"}}),
            said(
                json!("branch.get"),
                json!("/projects/acme%2Fwidget/repository/branches/absent"),
                "allowed",
                "not_found",
            ),
        ),
        (
            json!({"action": "issue.list", "params": {"fullPath": "acme/widget", "sesame": "sesame"}}),
            said(json!("issue.list"), Value::Null, "none", "invalid_params"),
        ),
        (
            json!({"action": "sesame", "params": {"sesame": "sesame"}}),
            said(Value::Null, Value::Null, "none", "unknown_action"),
        ),
        (
            json!({"action": "api.rest", "params": {"method": "GET", "path": "/projects/acme%2Fabsent?search=sesame"}}),
            said(json!("api.rest"), json!("/projects/acme%2Fabsent"), "allowed", "not_found"),
        ),
    ]
}

fn audited(form: &str) -> String {
    let mut client = Client::sandbox_with(&[("GITLAB_AUDIT", form)]);
    for (arguments, _) in calls() {
        client.call(EXECUTE, arguments);
    }
    client.call("gitlab_find_action", json!({"query": "sesame"}));
    let ended = client.close();
    ended.well();
    ended.stderr
}

#[test]
fn each_call_has_its_line_without_a_value() {
    let stderr = audited("json");
    assert!(!stderr.contains("sesame") && !stderr.contains("glpat"), "{stderr}");
    let lines: Vec<Value> = stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), calls().len(), "{stderr}");
    for (line, (arguments, expected)) in lines.iter().zip(calls()) {
        for (name, value) in expected {
            assert_eq!(line["audit"][name], value, "{arguments}: {line}");
        }
        let sent = line["audit"]["decision"] == "allowed";
        assert_eq!(line["audit"]["status"].is_u64(), sent, "{line}");
        assert!(line["audit"]["ms"].is_u64() && line["audit"]["time"].is_string(), "{line}");
    }
    let created = lines[0]["audit"]["created"].as_str().unwrap();
    assert!(created.starts_with("http") && created.contains("/acme/widget/-/issues/"), "{created}");
    assert!(lines[1]["audit"]["bytes"].as_u64() > Some(100), "{}", lines[1]);
}

/// A line on a denied call named the action and no object.
#[test]
fn the_line_of_a_call_that_never_became_a_request_names_its_object() {
    let mut client = Client::sandbox_with(&[("GITLAB_AUDIT", "json"), ("GITLAB_READ_ONLY", "true")]);
    for params in [
        json!({"fullPath": "acme/widget", "iid": 3}),
        json!({"target": "acme/widget#3"}),
        json!({"target": "acme/widget/-/issues/3?search=sesame"}),
    ] {
        client.call(EXECUTE, json!({"action": "issue.delete", "params": params}));
    }
    let stderr = client.close().stderr;
    let lines: Vec<Value> = stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let targets: Vec<&Value> = lines.iter().map(|line| &line["audit"]["target"]).collect();
    assert_eq!(targets, ["acme%2Fwidget/3", "acme%2Fwidget%233", "acme%2Fwidget%2F-%2Fissues%2F3"]);
    assert!(lines.iter().all(|line| line["audit"]["decision"] == "denied"), "{stderr}");
}

#[test]
fn a_token_in_the_place_of_a_path_is_in_no_line() {
    let mut client = Client::sandbox_with(&[("GITLAB_AUDIT", "json")]);
    let token = ["glpat-", "Kd83hfQm", "Zq17PxVw", "Tn52"].concat();
    client.call(EXECUTE, json!({"action": "project.get", "params": {"fullPath": format!("{token}/x")}}));
    let ended = client.close();
    assert!(ended.stderr.contains("project.get") && !ended.stderr.contains(&token), "{}", ended.stderr);
}

#[test]
fn the_same_is_there_to_read() {
    let stderr = audited("text");
    assert!(!stderr.contains("sesame") && !stderr.contains("glpat"), "{stderr}");
    assert_eq!(stderr.lines().count(), calls().len(), "{stderr}");
    let created = stderr.lines().next().unwrap();
    let words = " audit action=issue.create operation=\"POST /projects/:id/issues\" path=/projects/acme%2Fwidget/issues \
                 created=http";
    assert!(created.contains(words) && created.contains(" decision=allowed status=201 bytes="), "{created}");
    assert_eq!(audited("off"), "");
}

#[test]
fn a_command_that_a_person_typed_has_no_line() {
    let output = program(&["--sandbox", "execute", "instance.get_version"], &[("GITLAB_AUDIT", "text")])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

/// A server with an audit log, whose standard error is a pipe.
fn spawn_with_audit(more: &[(&str, &str)]) -> Child {
    program(&["--sandbox"], &[&[("GITLAB_AUDIT", "text")], more].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Standard error and the file have a queue each: one that is not read keeps neither a call nor the other's lines.
#[test]
fn a_client_that_never_reads_standard_error_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.jsonl");
    let mut child = spawn_with_audit(&[("GITLAB_AUDIT_FILE", file.to_str().unwrap())]);
    // Held and not read: what a pipe takes, 64 KiB as a rule, is soon full.
    let unread = child.stderr.take();
    let mut client = Client::adopt(child);
    client.initialize(LATEST_HANDSHAKE);
    for call in 0..800 {
        let arguments =
            json!({"action": "issue.get", "params": {"fullPath": "acme/widget", "iid": 1}, "dry_run": true});
        assert!(!client.call(EXECUTE, arguments).is_error, "call {call}");
    }
    client.close().well();
    drop(unread);
    let kept = std::fs::read_to_string(file).unwrap();
    assert_eq!(kept.matches("\"action\":\"issue.get\"").count(), 800);
}

#[cfg(unix)]
#[test]
fn the_last_line_is_written_when_a_signal_ends_it() {
    let mut client = Client::sandbox();
    client.call(EXECUTE, json!({"action": "instance.get_version"}));
    let killed =
        std::process::Command::new("kill").args(["-TERM", &client.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let ended = client.wait();
    assert!(ended.stderr.contains("action=instance.get_version"), "{}", ended.stderr);
    ended.well();
}

#[cfg(unix)]
#[test]
fn lines_that_were_dropped_are_counted_once_standard_error_is_read() {
    let mut child = spawn_with_audit(&[]);
    let stderr = child.stderr.take().unwrap();
    let mut client = Client::adopt(child);
    client.initialize(LATEST_HANDSHAKE);
    let mut calls = 0;
    let mut call = |client: &mut Client| {
        let params = json!({"fullPath": "acme/widget", "iid": 1});
        client.call(EXECUTE, json!({"action": "issue.get", "params": params, "dry_run": true}));
        calls += 1;
    };
    // More than the pipe and the queue take.
    (0..1_500).for_each(|_| call(&mut client));
    let (sender, lines) = channel();
    let reader = thread::spawn(move || {
        BufReader::new(stderr).lines().map_while(Result::ok).all(|line| sender.send(line).is_ok());
    });
    let (mut written, mut missing) = (0, Vec::new());
    let mut count = |line: String| match line.strip_prefix("audit: ") {
        Some(note) => {
            let number: usize = note.split_once(' ').unwrap().0.parse().unwrap();
            assert_eq!(note, format!("{number} lines are missing, as standard error was not read"));
            missing.push(number);
        }
        None => written += usize::from(line.contains("action=issue.get")),
    };
    // Whatever is in the queue by now is read before the next call has a line.
    count(lines.recv_timeout(HANG_GUARD).unwrap());
    (0..300).for_each(|_| call(&mut client));
    client.close().well();
    reader.join().unwrap();
    lines.iter().for_each(count);
    assert!(!missing.is_empty(), "{written} lines for {calls} calls");
    assert_eq!(written + missing.iter().sum::<usize>(), calls);
}
