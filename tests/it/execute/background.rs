//! Changes that GitLab makes after it has answered (transfers since 19.4): they are read back by the id.

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, Reply};
use crate::support::scripted_gitlab::{Gitlab, answer};

const BY_ID: &str = "GET /api/v4/projects/12";

fn project(namespace: &str, id: u64) -> Value {
    json!({
        "id": 12, "name": "Widget", "path": "widget", "path_with_namespace": format!("{namespace}/widget"),
        "visibility": "private", "namespace": {"id": id, "path": namespace, "full_path": namespace},
    })
}

fn confirmed(client: &mut Client, action: &str, params: Value) -> Reply {
    client.call(EXECUTE, json!({"action": action, "params": params, "confirm": true}))
}

/// Transfers the project to `tools`, while a read shows it in these groups one after the other.
fn transfer(answered: Value, seen: &[Value]) -> (Reply, usize) {
    let gitlab = Gitlab::with_project();
    gitlab.says("PUT /api/v4/projects/acme%2Fwidget/transfer", [answer(200, answered)]);
    gitlab.says(BY_ID, seen.iter().map(|project| answer(200, project)));
    let mut client = gitlab.client(&[]);
    let params = json!({"fullPath": "acme/widget", "namespace": "Tools"});
    let reply = confirmed(&mut client, "project.transfer", params);
    let seen = gitlab.seen();
    assert_eq!(seen.iter().filter(|line| line.starts_with("PUT")).count(), 1, "{seen:?}");
    (reply, seen.iter().filter(|line| *line == BY_ID).count())
}

#[test]
fn a_transfer_in_the_background_is_read_back_by_the_id() {
    let (before, after) = (project("acme", 3), project("tools", 4));
    let (reply, reads) = transfer(before.clone(), &[before, after]);
    assert_eq!(reads, 2);
    assert_eq!(reply.structured["data"]["path_with_namespace"], "tools/widget", "{}", reply.text);
    assert!(reply.text.contains("tools/widget") && !reply.text.contains("background"), "{}", reply.text);
}

#[test]
fn a_transfer_that_is_done_at_once_is_not_read_back() {
    let (reply, reads) = transfer(project("tools", 4), &[]);
    assert_eq!(reads, 0);
    assert_eq!(reply.structured["data"]["path_with_namespace"], "tools/widget", "{}", reply.text);
}

#[test]
fn a_transfer_that_is_not_seen_is_accepted_and_not_done() {
    let before = project("acme", 3);
    let (reply, reads) = transfer(before.clone(), &[before]);
    assert!(reads >= 3, "{reads}");
    assert!(reply.text.starts_with("Accepted (project.transfer)"), "{}", reply.text);
    let notes = reply.structured["notes"].to_string();
    assert!(notes.contains("do not send it again") && notes.contains("transfer_failed"), "{notes}");
    assert!(notes.contains(r#"\"fullPath\":\"12\""#), "{notes}");
}

/// The place before may be called nearly as the new one.
#[test]
fn a_transfer_is_seen_by_the_whole_name_of_the_place() {
    let before = project("acme-tools", 14);
    let (reply, _) = transfer(before.clone(), &[before]);
    assert!(reply.text.starts_with("Accepted (project.transfer)"), "{}", reply.text);
}

#[test]
fn a_group_that_moves_to_the_top_has_no_parent_once_it_is_there() {
    let group =
        |parent: Value, path: &str| json!({"id": 7, "path": "sub", "full_path": path, "parent_id": parent});
    let gitlab = Gitlab::start();
    gitlab.says("POST /api/v4/groups/acme%2Fsub/transfer", [answer(201, group(json!(3), "acme/sub"))]);
    gitlab.says(
        "GET /api/v4/groups/7",
        [answer(200, group(json!(3), "acme/sub")), answer(200, group(Value::Null, "sub"))],
    );
    let mut client = gitlab.client(&[]);
    let reply = confirmed(&mut client, "group.transfer", json!({"fullPath": "acme/sub"}));
    assert_eq!(reply.structured["data"]["full_path"], "sub", "{}", reply.text);
}
