//! One call for several objects: a list as a parameter of the path.

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, execute, follow, refused};
use crate::support::scripted_gitlab::{Gitlab, answer};

#[test]
fn a_list_of_iids_changes_each_and_a_failed_one_does_not_hide_the_others() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": "acme/widget", "iid": [1, 999, 3], "add_labels": "docs"});
    let reply = execute(&mut client, "issue.update", params);
    assert!(!reply.is_error, "{}", reply.text);
    let rows = reply.structured["data"].as_array().unwrap();
    let statuses: Vec<&Value> = rows.iter().map(|row| &row["status"]).collect();
    assert_eq!(statuses, ["ok", "error", "ok"], "{}", reply.text);
    for iid in [1, 3] {
        let issue = execute(&mut client, "issue.get", json!({"fullPath": "acme/widget", "iid": iid}));
        let labels = issue.structured["data"]["labels"].as_array().unwrap().clone();
        assert!(labels.contains(&json!("docs")), "{}", issue.text);
    }
}

#[test]
fn names_of_the_path_can_be_lists_too_and_one_value_is_no_batch() {
    let mut client = Client::sandbox();
    let read = execute(&mut client, "label.get", json!({"fullPath": "acme/widget", "name": ["bug", "docs"]}));
    assert_eq!(read.structured["data"].as_array().unwrap().len(), 2, "{}", read.text);
    let one = execute(&mut client, "issue.get", json!({"fullPath": "acme/widget", "issue_iid": [3]}));
    assert_eq!(one.structured["data"]["iid"], 3, "{}", one.text);
}

#[test]
fn several_deletions_are_confirmed_together() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": "acme/widget", "iid": [3, 4]});
    let error = refused(&execute(&mut client, "issue.delete", params), "needs_confirmation");
    let hit = error["would_hit"].to_string() + &error["message"].to_string();
    assert!(hit.contains('3') && hit.contains('4'), "{error}");
    assert!(!follow(&mut client, &error["fix"]).is_error);
    for iid in [3, 4] {
        let gone = execute(&mut client, "issue.get", json!({"fullPath": "acme/widget", "iid": iid}));
        assert!(gone.is_error, "{}", gone.text);
    }
}

#[test]
fn texts_with_dollars_are_sent_as_they_are() {
    let gitlab = Gitlab::with_project();
    gitlab.says("POST /api/v4/projects/", [answer(201, json!({"id": 1})), answer(201, json!({"id": 2}))]);
    let mut client = gitlab.client(&[]);
    let body = "It costs $1.iid, or $$2[0].name, or $5";
    let params = json!({"fullPath": "acme/widget", "iid": [1, 2], "body": body});
    let reply = execute(&mut client, "issue_note.create", params);
    assert!(!reply.is_error, "{}", reply.text);
    let sent: Vec<Value> = gitlab
        .received()
        .iter()
        .filter(|request| request.method == "POST")
        .map(|request| serde_json::from_slice(&request.body).unwrap())
        .collect();
    assert_eq!(sent, [json!({"body": body}), json!({"body": body})]);
}

#[test]
fn what_only_reads_run_refuses_each_write() {
    let gitlab = Gitlab::with_project();
    let mut client = gitlab.client(&[("GITLAB_READ_ONLY", "true")]);
    let params = json!({"fullPath": "acme/widget", "iid": [1, 2], "title": "x"});
    let reply = execute(&mut client, "issue.update", params);
    assert!(reply.is_error || reply.text.contains("denied"), "{}", reply.text);
    assert!(gitlab.received().iter().all(|request| request.method == "GET"), "{:?}", gitlab.seen());
}

#[test]
fn too_many_values_and_two_lists_are_refused_before_anything_is_sent() {
    let gitlab = Gitlab::with_project();
    let mut client = gitlab.client(&[]);
    let many: Vec<u32> = (1..=21).collect();
    let call = |params: Value| json!({"action": "issue.update", "params": params});
    let reply = client.call(EXECUTE, call(json!({"fullPath": "acme/widget", "iid": many, "title": "x"})));
    let error = refused(&reply, "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("up to 20 values at once; 21 were given"), "{error}");
    let two = json!({"fullPath": ["acme/widget", "acme/gadget"], "iid": [1, 2], "title": "x"});
    refused(&client.call(EXECUTE, call(two)), "invalid_params");
    let own = |line: &String| line.ends_with("/personal_access_tokens/self");
    assert!(gitlab.seen().iter().all(own), "{:?}", gitlab.seen());
}
