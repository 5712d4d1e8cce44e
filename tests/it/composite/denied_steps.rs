//! A step that a rule denies refuses the whole call: nothing is sent for the steps before it.

use serde_json::{Value, json};

use crate::policy::vault::{kind, policy_file};
use crate::support::client::{Client, EXECUTE, Reply};
use crate::support::scripted_gitlab::{Gitlab, answer};

/// A GitLab in which every project has issues and merge requests, and accepts every change.
fn gitlab() -> Gitlab {
    let gitlab = Gitlab::start();
    for path in ["acme", "evil"] {
        let project = json!({"id": 1, "path_with_namespace": format!("{path}/widget")});
        gitlab.json(&format!("/projects/{path}%2Fwidget"), &project);
        for part in ["issues", "merge_requests"] {
            let item = json!({"id": 7, "iid": 1, "title": "One", "description": "x", "state": "opened"});
            gitlab.json(&format!("/projects/{path}%2Fwidget/{part}/1"), &item);
            gitlab.json(&format!("/projects/{path}%2Fwidget/{part}"), &json!([item]));
        }
    }
    for verb in ["POST", "PUT", "DELETE"] {
        gitlab.answer(verb, "/.*", answer(200, json!({"id": 5, "iid": 5})));
    }
    gitlab
}

fn execute(client: &mut Client, action: &str, params: &Value) -> Reply {
    client.call(EXECUTE, json!({"action": action, "params": params, "confirm": true}))
}

/// What was sent, without the request for the scopes of the token.
fn sent(gitlab: &Gitlab) -> Vec<String> {
    gitlab.seen().into_iter().filter(|line| !line.ends_with("/personal_access_tokens/self")).collect()
}

#[track_caller]
fn assert_nothing_is_sent(settings: (&str, &str), action: &str, params: &Value) {
    let gitlab = gitlab();
    let mut client = gitlab.client(&[settings]);
    let reply = execute(&mut client, action, params);
    assert_eq!(kind(&reply), "denied", "{settings:?} {action} {params}: {}", reply.text);
    assert!(sent(&gitlab).is_empty(), "{settings:?} {action} {params}: {:?}", sent(&gitlab));
    assert!(reply.text.contains("Nothing was sent"), "{}", reply.text);
}

const NO_MERGE: (&str, &str) = ("GITLAB_DENIED_ACTIONS", "merge_request.merge,merge_train.add");
const NO_NOTES: (&str, &str) = ("GITLAB_DENIED_ACTIONS", "issue_note.create");
const NO_APPROVALS: (&str, &str) = ("GITLAB_DENIED_ACTIONS", "merge_request.approve");
const ONLY_ACME: (&str, &str) = ("GITLAB_ALLOWED_PATHS", "acme");

#[test]
fn a_comment_beside_a_denied_action_is_not_posted() {
    let of = |iid: Value| json!({"fullPath": "acme/widget", "iid": iid, "comment": "now"});
    assert_nothing_is_sent(NO_MERGE, "merge_request.merge", &of(json!(1)));
    assert_nothing_is_sent(NO_MERGE, "merge_request.merge", &of(json!([1, 2])));
    // The title is not looked up either.
    assert_nothing_is_sent(NO_MERGE, "merge_request.merge", &of(json!("One")));
    for denied in ["issue.update", "issue_note.create", "*_note.create"] {
        let settings = ("GITLAB_DENIED_ACTIONS", denied);
        assert_nothing_is_sent(settings, "issue.close", &of(json!(1)));
        assert_nothing_is_sent(settings, "issue.close", &of(json!("One")));
    }
    let file =
        policy_file("[[rule]]\nactions = [\"issue.update\"]\npaths = [\"acme\"]\ndecision = \"deny\"\n");
    assert_nothing_is_sent(("GITLAB_POLICY", &file.path), "issue.close", &of(json!(1)));
    let commit = json!({"fullPath": "acme/widget", "branch": "x", "start_branch": "main", "commit_message": "x",
        "actions": [{"action": "create", "file_path": "a", "content": "b"}], "merge_request": {}});
    assert_nothing_is_sent(("GITLAB_DENIED_ACTIONS", "merge_request.create"), "commit.create", &commit);
}

#[test]
fn several_objects_of_which_one_is_denied_are_left_as_they_are() {
    let places = json!({"fullPath": ["acme/widget", "evil/widget"], "iid": 1, "title": "x"});
    assert_nothing_is_sent(ONLY_ACME, "issue.update", &places);
    let titles = json!({"fullPath": "acme/widget", "iid": ["One", 2], "title": "x"});
    assert_nothing_is_sent(("GITLAB_DENIED_ACTIONS", "issue.update"), "issue.update", &titles);
}

#[test]
fn a_batch_with_a_denied_call_sends_none() {
    let create = json!({"action": "issue.create", "params": {"fullPath": "acme/widget", "title": "x"}});
    let batch = |second: Value| json!({"calls": [create.clone(), second]});
    let merge = json!({"action": "merge_request.merge", "params": {"fullPath": "acme/widget", "iid": 1}});
    assert_nothing_is_sent(NO_MERGE, "api.batch", &batch(merge.clone()));
    let note = |path: &str, iid: Value| json!({"action": "issue_note.create", "params": {"fullPath": path, "iid": iid, "body": "x"}});
    assert_nothing_is_sent(NO_NOTES, "api.batch", &batch(note("acme/widget", json!("$1.iid"))));
    for iid in [json!(1), json!("$1.iid")] {
        assert_nothing_is_sent(ONLY_ACME, "api.batch", &batch(note("evil/widget", iid)));
    }
    let raw =
        json!({"action": "api.rest", "params": {"method": "POST", "path": "/projects/evil%2Fwidget/issues"}});
    assert_nothing_is_sent(ONLY_ACME, "api.batch", &batch(raw));
    // The steps of a composite action are known as well.
    let review = json!({"action": "merge_request.review",
        "params": {"fullPath": "acme/widget", "iid": 1, "verdict": "approve"}});
    assert_nothing_is_sent(NO_APPROVALS, "api.batch", &batch(review));
    let created = json!({"action": "resource.create",
        "params": {"items": [{"itemType": "issue", "fullPath": "evil/widget", "title": "x"}]}});
    assert_nothing_is_sent(ONLY_ACME, "api.batch", &batch(created));

    // With `continue_on_error` the other calls run.
    let gitlab = gitlab();
    let mut client = gitlab.client(&[NO_MERGE]);
    let mut going_on = json!({"calls": [create, merge]});
    going_on["continue_on_error"] = json!(true);
    let reply = execute(&mut client, "api.batch", &going_on);
    let statuses: Vec<&Value> =
        reply.structured["data"].as_array().unwrap().iter().map(|row| &row["status"]).collect();
    assert_eq!(statuses, ["ok", "error"], "{}", reply.text);
}

/// A place that only an earlier answer tells is decided on when it is known.
#[test]
fn a_call_whose_place_is_an_earlier_answer_is_not_denied_beforehand() {
    let gitlab = gitlab();
    let mut client = gitlab.client(&[ONLY_ACME]);
    let calls = json!([
        {"action": "project.get", "params": {"fullPath": "acme/widget"}},
        {"action": "issue.create", "params": {"fullPath": "$1.path_with_namespace", "title": "x"}},
    ]);
    let reply = execute(&mut client, "api.batch", &json!({"calls": calls}));
    let statuses: Vec<&Value> =
        reply.structured["data"].as_array().unwrap().iter().map(|row| &row["status"]).collect();
    assert_eq!(statuses, ["ok", "ok"], "{}", reply.text);
}

#[test]
fn a_review_with_a_denied_verdict_posts_no_comment() {
    let review = |verdict: &str| {
        json!({"fullPath": "acme/widget", "iid": 1, "verdict": verdict, "body": "Fine.",
            "comments": [{"file": "a.rs", "line": 1, "body": "Why?"}]})
    };
    assert_nothing_is_sent(NO_APPROVALS, "merge_request.review", &review("approve"));
    let no_notes = ("GITLAB_DENIED_ACTIONS", "merge_request_note.create");
    assert_nothing_is_sent(no_notes, "merge_request.review", &review("request_changes"));
    let mut merging = review("comment");
    merging["body"] = json!("Ship it\n\n/merge");
    assert_nothing_is_sent(NO_MERGE, "merge_request.review", &merging);
    let file = policy_file("[[rule]]\nrisk = \"write\"\npaths = [\"acme\"]\ndecision = \"deny\"\n");
    assert_nothing_is_sent(("GITLAB_POLICY", &file.path), "merge_request.review", &review("comment"));
    let comment = json!({"fullPath": "evil/widget", "iid": 1, "file": "a.rs", "line": 1, "body": "Why?"});
    assert_nothing_is_sent(ONLY_ACME, "merge_request.comment_on_line", &comment);
}

/// Drafts that cannot be published would stay with their author, so none is made.
#[test]
fn a_review_that_may_not_publish_drafts_makes_none() {
    for denied in ["draft_note.publish_all", "draft_note.publish", "draft_note.list"] {
        let mut client = Client::sandbox_with(&[("GITLAB_DENIED_ACTIONS", denied)]);
        let params = json!({"fullPath": "acme/widget", "iid": 5, "comments": [{"body": "Without a draft."}]});
        let reply = execute(&mut client, "merge_request.review", &params);
        assert_eq!(reply.structured["data"][0]["status"], "posted", "{denied}: {}", reply.text);
    }
}

#[test]
fn items_of_which_one_is_denied_are_neither_created_nor_changed() {
    let items = json!({"items": [
        {"itemType": "issue", "fullPath": "acme/widget", "title": "x"},
        {"itemType": "label", "fullPath": "evil/widget", "title": "x", "color": "red"},
    ]});
    assert_nothing_is_sent(ONLY_ACME, "resource.create", &items);
    assert_nothing_is_sent(("GITLAB_DENIED_ACTIONS", "label.create"), "resource.create", &items);
    let items = json!({"items": [
        {"target": "acme/widget#1", "title": "x"},
        {"target": "evil/widget!1", "title": "x"},
    ]});
    assert_nothing_is_sent(ONLY_ACME, "resource.update", &items);
    assert_nothing_is_sent(("GITLAB_DENIED_ACTIONS", "merge_request.update"), "resource.update", &items);
}

#[test]
fn a_global_id_of_a_denied_action_is_not_looked_up() {
    let params = json!({"target": "gid://gitlab/Issue/7", "title": "x"});
    assert_nothing_is_sent(("GITLAB_DENIED_ACTIONS", "issue.update"), "issue.update", &params);
    assert_nothing_is_sent(("GITLAB_READ_ONLY", "true"), "issue.update", &params);
}
