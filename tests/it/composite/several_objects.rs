//! One call for several objects, and for what people say in one breath: a list as a parameter of the path, a comment
//! with a change, a merge request with a commit.

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
    // A filter that names one object is such a name, too: other servers list users by `usernames`.
    let users = execute(&mut client, "user.list", json!({"usernames": ["alice", "bob"]}));
    let found: Vec<&Value> =
        users.structured["data"].as_array().unwrap().iter().map(|row| &row["data"][0]["username"]).collect();
    assert_eq!(found, ["alice", "bob"], "{}", users.text);
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

#[test]
fn a_comment_and_the_change_that_it_is_about_are_one_call() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": "acme/widget", "iid": [3, 4], "comment": "Done in $1.2"});
    let reply = execute(&mut client, "issue.close", params);
    assert!(!reply.is_error, "{}", reply.text);
    for iid in [3, 4] {
        let issue = execute(&mut client, "issue.get", json!({"fullPath": "acme/widget", "iid": iid}));
        assert_eq!(issue.structured["data"]["state"], "closed", "{}", issue.text);
        let notes = execute(&mut client, "issue_note.list", json!({"fullPath": "acme/widget", "iid": iid}));
        assert!(notes.text.contains("Done in $1.2"), "{}", notes.text);
    }
    let by_url = json!({"target": "acme/widget!5", "comment": "Not now", "state_event": "close"});
    let reply = execute(&mut client, "merge_request.update", by_url);
    let statuses: Vec<&Value> =
        reply.structured["data"].as_array().unwrap().iter().map(|row| &row["status"]).collect();
    assert_eq!(statuses, ["ok", "ok"], "{}", reply.text);
}

#[test]
fn nothing_is_closed_whose_comment_failed() {
    let gitlab = Gitlab::with_project();
    gitlab.says("POST /api/v4/projects/", [answer(403, json!({"message": "403 Forbidden"}))]);
    let mut client = gitlab.client(&[]);
    let params = json!({"fullPath": "acme/widget", "iid": 3, "comment": "Done"});
    let reply = execute(&mut client, "issue.close", params);
    let statuses: Vec<&Value> =
        reply.structured["data"].as_array().unwrap().iter().map(|row| &row["status"]).collect();
    assert_eq!(statuses, ["error", "skipped"], "{}", reply.text);
    assert!(!gitlab.seen().iter().any(|line| line.starts_with("PUT")), "{:?}", gitlab.seen());
}

#[test]
fn a_commit_on_a_new_branch_and_its_merge_request_are_one_call() {
    let mut client = Client::sandbox();
    let change = json!({"action": "create", "file_path": "oil.txt", "content": "Oil"});
    let mut params = json!({"fullPath": "acme/widget", "branch": "oil", "start_branch": "main",
        "commit_message": "Add oil\n\nIt was dry.", "actions": [change], "merge_request": {"labels": "bug"}});
    let reply = execute(&mut client, "commit.create", params.clone());
    let opened = &reply.structured["data"][1]["data"];
    assert_eq!(
        (&opened["title"], &opened["target_branch"]),
        (&json!("Add oil"), &json!("main")),
        "{}",
        reply.text
    );
    // The branch is there now: the commit fails, and no second merge request is opened.
    params["merge_request"] = json!({});
    let again = execute(&mut client, "commit.create", params.clone());
    assert_eq!(again.structured["data"][1]["status"], "skipped", "{}", again.text);
    // The fault of the merge request is reported before the commit is made.
    params["merge_request"] = json!({"titel": "Oil"});
    params["branch"] = json!("more-oil");
    refused(&execute(&mut client, "commit.create", params.clone()), "invalid_params");
    let branch = execute(&mut client, "branch.get", json!({"fullPath": "acme/widget", "branch": "more-oil"}));
    assert!(branch.is_error, "{}", branch.text);
}

#[test]
fn both_are_confirmed_together() {
    let mut client = Client::sandbox_with(&[("GITLAB_CONFIRM", "write")]);
    let params = json!({"fullPath": "acme/widget", "iid": 3, "comment": "Done"});
    let error = refused(&execute(&mut client, "issue.close", params), "needs_confirmation");
    let reply = follow(&mut client, &error["fix"]);
    assert!(!reply.is_error, "{}", reply.text);
    let issue = execute(&mut client, "issue.get", json!({"fullPath": "acme/widget", "iid": 3}));
    assert_eq!(issue.structured["data"]["state"], "closed", "{}", issue.text);
}

/// The parameter is not GitLab's: within a batch, where nothing adds the other call, it would be lost.
#[test]
fn a_comment_within_a_batch_is_refused_before_anything_is_sent() {
    let gitlab = Gitlab::with_project();
    let mut client = gitlab.client(&[]);
    let change = json!({"fullPath": "acme/widget", "iid": 3, "state_event": "close", "comment": "Done"});
    let calls = json!({"calls": [{"action": "issue.update", "params": change}]});
    let error = refused(&execute(&mut client, "api.batch", calls), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("`comment` only in a call of its own"), "{error}");
    assert!(!gitlab.seen().iter().any(|line| line.starts_with("PUT")), "{:?}", gitlab.seen());
}

#[test]
fn an_error_that_several_objects_have_is_shown_once_with_those_objects() {
    let gitlab = Gitlab::with_project();
    let forbidden = |id: u64| {
        answer(403, json!({"message": "403 Forbidden"})).header("x-request-id", &format!("request-{id}"))
    };
    for (iid, response) in [(4, forbidden(1)), (5, answer(200, json!({"iid": 5}))), (6, forbidden(2))] {
        gitlab.says(&format!("PUT /api/v4/projects/acme%2Fwidget/issues/{iid}"), [response]);
    }
    gitlab.says("PUT /api/v4/projects/acme%2Fwidget/issues/7", [answer(409, json!({"message": "Locked"}))]);
    let mut client = gitlab.client(&[]);
    let params = json!({"fullPath": "acme/widget", "iid": [4, 5, 6, 7], "title": "Gears"});
    let reply = execute(&mut client, "issue.update", params);
    assert_eq!(reply.text.matches("Error (forbidden)").count(), 1, "{}", reply.text);
    let tag = "<call call=\"1, 3\" action=\"issue.update\" status=\"error\" iid=\"4, 6\">";
    assert!(reply.text.contains(tag), "{}", reply.text);
    assert_eq!(reply.text.matches("Error (conflict)").count(), 1, "{}", reply.text);
    let rows = reply.structured["data"].as_array().unwrap();
    let statuses: Vec<&Value> = rows.iter().map(|row| &row["status"]).collect();
    assert_eq!(statuses, ["error", "ok", "error", "error"]);
    assert_eq!(rows[0]["error"]["kind"], "forbidden");
    assert_eq!(rows[2]["error"], json!({"kind": "forbidden", "same_as_row": 1}));
    assert_eq!(rows[3]["error"]["kind"], "conflict");
}

/// Three creations whose answers were lost were one error without a number, and two of them were not said to be unknown.
#[test]
fn each_lost_creation_is_counted_and_unknown() {
    let gitlab = Gitlab::with_project();
    gitlab.answer("POST", "/issues", answer(502, json!({"message": "Bad gateway"})));
    gitlab.json("/issues", &json!([]));
    let item = |title: &str| json!({"itemType": "issue", "fullPath": "acme/widget", "title": title});
    let items = json!({"items": [item("a"), item("b"), item("c")]});
    let reply = execute(&mut gitlab.client(&[]), "resource.create", items);
    let rows = reply.structured["data"].as_array().unwrap_or_else(|| panic!("{}", reply.text));
    assert!(rows.len() == 3 && rows.iter().all(|row| row["error"]["applied"] == "unknown"), "{rows:?}");
    assert!(reply.text.contains("items=\"3\"") || reply.text.matches("<item").count() == 3, "{}", reply.text);
}
