//! Limits of what a caller may ask for: beyond them an error says so at once.

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE};

/// The error of a call. Work that grows with a power of the input would run into the hang guard.
fn refused(client: &mut Client, arguments: Value, expected: &str) {
    let reply = client.call(EXECUTE, arguments);
    assert!(reply.is_error, "{}", reply.text);
    let error = &reply.structured["error"];
    assert!(error["message"].as_str().unwrap().contains(expected), "{error}");
    assert!(error["message"].as_str().unwrap().len() < 2_000, "{expected}: it repeats what was sent");
}

#[test]
fn a_path_of_thousands_of_segments_is_refused_at_once() {
    let mut client = Client::sandbox();
    refused(&mut client, json!({"action": format!("/projects{}", "/a".repeat(900))}), "segments");
    refused(&mut client, json!({"action": format!("/projects{}", "/a".repeat(3_000))}), "`action` has");
    let direct = |path: String| json!({"action": "api.rest", "params": {"method": "GET", "path": path}});
    refused(&mut client, direct(format!("/projects{}", "/a".repeat(3_000))), "segments");
    refused(&mut client, direct(format!("/projects/{}", "a".repeat(9_000))), "bytes");
    let query = format!("/projects{}", "/a".repeat(480));
    client.call("gitlab_find_action", json!({"query": query}));
}

#[test]
fn fields_and_targets_have_limits() {
    let mut client = Client::sandbox();
    let list = |fields: Value| json!({"action": "issue.list", "params": {"fullPath": "acme/widget"}, "fields": fields});
    refused(&mut client, list(json!(vec!["iid"; 201])), "`fields` has 201 fields; the limit is 200");
    refused(&mut client, list(json!(["a.".repeat(20_000)])), "20 steps");
    let target = json!({"target": "a/".repeat(5_000)});
    refused(&mut client, json!({"action": "issue.list", "params": target}), "`target` has 10000 bytes");
    let name = "x".repeat(100_000);
    let unknown = json!({"action": "issue.list", "params": {"fullPath": "acme/widget", name: 1}});
    refused(&mut client, unknown, "there is no parameter `xxx");
    let long = "y".repeat(100_000);
    let found = client.call("gitlab_find_action", json!({"query": "issues", "domain": long.clone()}));
    assert!(found.is_error && found.text.len() < 2_000, "{} bytes", found.text.len());
    let unknown = client.request("tools/call", json!({"name": long, "arguments": {}}));
    assert!(unknown["error"].to_string().len() < 2_000, "{unknown}");
}

#[test]
fn references_of_a_batch_have_limits() {
    let mut client = Client::sandbox();
    let mut batch = |title: String| {
        let calls = json!([
            {"action": "project.get", "params": {"fullPath": "acme/widget"}},
            {"action": "issue.create", "params": {"fullPath": "acme/widget", "title": "x", "description": title}},
        ]);
        refused(
            &mut client,
            json!({"action": "api.batch", "params": {"calls": calls}}),
            "references; the limit is 100",
        );
    };
    batch("$1.description".repeat(101));
    batch("$1.id $1.name ".repeat(500));
}
