//! `api.batch`: references, stopping and going on, and the one question.

use serde_json::{Value, json};

use super::{rows, statuses};
use crate::support::client::{Client, EXECUTE, execute, refused, succeed};

fn issue(iid: u64) -> Value {
    json!({"fullPath": "acme/widget", "iid": iid})
}

fn call(action: &str, params: Value) -> Value {
    json!({"action": action, "params": params})
}

fn is_there(client: &mut Client, iid: u64) -> bool {
    !execute(client, "issue.get", issue(iid)).is_error
}

fn two_deletions() -> Value {
    json!([
        call("issue.get", issue(45)),
        call("issue.delete", json!({"fullPath": "acme/widget", "iid": 45})),
        call("issue.delete", issue(44)),
    ])
}

#[test]
fn later_calls_have_values_of_earlier_answers() {
    let mut client = Client::sandbox();
    let calls = json!([
        call("issue.create", json!({"fullPath": "acme/widget", "title": "Begun in a batch"})),
        call(
            "issue_note.create",
            json!({
                "fullPath": "acme/widget", "iid": "$1.iid", "body": "#$1.iid is $1.author.username's; $$1.iid stays",
            })
        ),
        call("branch.list", json!({"fullPath": "acme/widget"})),
        call("branch.get", json!({"fullPath": "acme/widget", "branch": "$3[0].name"})),
    ]);
    let reply = execute(&mut client, "api.batch", json!({"calls": calls}));
    let rows = rows(&reply);
    assert_eq!(statuses(&rows), ["ok"; 4], "{}", reply.text);
    let iid = &rows[0]["data"]["iid"];
    assert_eq!(rows[1]["data"]["body"], json!(format!("#{iid} is sandbox's; $1.iid stays")));
    assert_eq!(rows[3]["data"]["name"], rows[2]["data"][0]["name"]);
    assert!(reply.text.contains("<call call=\"4\" action=\"branch.get\" status=\"ok\">"), "{}", reply.text);
}

#[test]
fn a_call_by_a_global_id_is_taken_as_it_is_outside_of_a_batch() {
    let mut client = Client::sandbox();
    let shown = succeed(&mut client, "work_item.get", issue(1));
    let by_id = json!({"target": shown["data"]["id"]});
    assert!(!execute(&mut client, "issue.get", by_id.clone()).is_error, "{by_id}");
    let reply = execute(&mut client, "api.batch", json!({"calls": [call("issue.get", by_id)]}));
    let rows = rows(&reply);
    assert_eq!(statuses(&rows), ["ok"], "{}", reply.text);
    assert_eq!(rows[0]["data"]["iid"], 1, "{}", reply.text);
}

#[test]
fn a_secret_is_handed_on_if_its_call_asked_for_it() {
    let mut client = Client::sandbox();
    let note =
        |body: &str| call("issue_note.create", json!({"fullPath": "acme/widget", "iid": 1, "body": body}));
    let listed = call("ci_variable.list", json!({"fullPath": "acme/widget"}));
    let with = |name: &str, value: Value| {
        let mut listed = listed.clone();
        listed[name] = value;
        listed
    };
    let mut bodies = |listed: Value| -> Vec<String> {
        let calls = json!([listed, note("$1[0].value"), note("row: $1[0]"), note("all: $1")]);
        let reply = execute(&mut client, "api.batch", json!({"calls": calls}));
        let rows = rows(&reply);
        assert_eq!(statuses(&rows), ["ok"; 4], "{}", reply.text);
        rows[1..].iter().map(|row| row["data"]["body"].as_str().unwrap().to_owned()).collect()
    };
    let named = bodies(with("fields", json!(["key", "value"])));
    let secret = &named[0];
    assert!(!secret.contains("masked"), "{secret}");
    assert_eq!(&bodies(with("view", json!("full")))[0], secret);
    for listed in [listed.clone(), with("fields", json!(["key"]))] {
        for body in bodies(listed) {
            assert!(!body.contains(secret.as_str()), "{body}");
        }
    }
    assert!(bodies(listed.clone()).iter().all(|body| body.contains("(not shown: ")));
}

#[test]
fn the_first_failure_stops_it_unless_it_goes_on() {
    let mut client = Client::sandbox();
    let calls =
        json!([call("issue.get", issue(1)), call("issue.get", issue(4711)), call("issue.get", issue(2))]);
    let stopped = execute(&mut client, "api.batch", json!({"calls": calls}));
    let stopped_rows = rows(&stopped);
    assert_eq!(statuses(&stopped_rows), ["ok", "error", "skipped"]);
    assert_eq!(stopped_rows[1]["error"]["kind"], "not_found");
    assert!(stopped.structured["notes"].to_string().contains("stopped at call 2"), "{}", stopped.structured);
    let on = execute(&mut client, "api.batch", json!({"calls": calls, "continue_on_error": true}));
    assert_eq!(statuses(&rows(&on)), ["ok", "error", "ok"]);
}

#[test]
fn a_reference_without_a_value_says_what_there_was_and_the_call_as_it_should_be() {
    let mut client = Client::sandbox();
    let get = json!({"fullPath": "acme/widget", "iid": "$1.idd"});
    let calls = json!([call("issue.get", issue(3)), call("issue.get", get)]);
    let rows = rows(&execute(&mut client, "api.batch", json!({"calls": calls})));
    let error = &rows[1]["error"];
    assert_eq!(error["kind"], "invalid_params");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("`$1.idd`") && message.contains("title"), "{message}");
    let corrected = json!({"action": "issue.get", "params": {"fullPath": "acme/widget", "iid": 3}});
    assert_eq!(error["fix"], json!({"tool": EXECUTE, "arguments": corrected}));
    let fixed = client.call(EXECUTE, corrected);
    assert!(!fixed.is_error, "{}", fixed.text);
    assert_eq!(fixed.structured["data"]["iid"], 3);
}

#[test]
fn what_is_wrong_beforehand_is_told_before_anything_is_sent() {
    let mut client = Client::sandbox();
    let create = call("issue.create", json!({"fullPath": "acme/widget", "title": "Never made"}));
    let inner = json!({"calls": [call("issue.get", issue(1))]});
    for (second, said) in [
        (call("frobnicate", issue(1)), "frobnicate"),
        (call("issue.get", json!({"fullPath": "acme/widget", "iid": "1one"})), "iid"),
        // An issue's, or a merge request's.
        (call("list_notes", issue(1)), "`list_notes` may mean"),
        (call("issue.get", json!({"fullPath": "acme/widget", "iid": "$2.iid"})), "$2"),
        (call("issue.get", json!({"fullPath": "acme/widget", "iid": "$0.iid"})), "$0"),
        (call("api.batch", inner), "cannot be nested"),
    ] {
        let reply = execute(&mut client, "api.batch", json!({"calls": [create, second]}));
        assert!(reply.is_error && reply.text.contains(said), "{said}: {}", reply.text);
    }
    let listed =
        succeed(&mut client, "issue.list", json!({"fullPath": "acme/widget", "search": "Never made"}));
    assert_eq!(listed["data"], json!([]));
    let too_many: Vec<Value> = (1..=21).map(|iid| call("issue.get", issue(iid))).collect();
    refused(&execute(&mut client, "api.batch", json!({"calls": too_many})), "invalid_params");
}

#[test]
fn what_destroys_is_asked_about_in_one_question() {
    let mut client = Client::sandbox();
    let reply = execute(&mut client, "api.batch", json!({"calls": two_deletions()}));
    let error = refused(&reply, "needs_confirmation");
    let hit = error["would_hit"].as_array().unwrap();
    assert_eq!(hit.iter().map(|row| row["call"].clone()).collect::<Vec<_>>(), [2, 3]);
    assert!(hit[1]["title"].is_string(), "what can be looked up is: {error}");
    assert!(is_there(&mut client, 45) && is_there(&mut client, 44));
    let agreed = client.call(EXECUTE, error["fix"]["arguments"].clone());
    assert_eq!(statuses(&rows(&agreed)), ["ok"; 3], "{}", agreed.text);
    assert!(!is_there(&mut client, 45) && !is_there(&mut client, 44));
}

#[test]
fn a_deletion_by_a_value_of_an_earlier_answer_is_asked_about_once_it_is_filled_in() {
    for confirm in ["ask", "token"] {
        let mut client = Client::sandbox_with(&[("GITLAB_CONFIRM", confirm)]);
        let calls = json!([
            call("issue.get", issue(45)),
            call("issue.delete", json!({"fullPath": "acme/widget", "iid": "$1.iid"})),
        ]);
        let batch = json!({"action": "api.batch", "params": {"calls": calls}, "confirm": true});
        let rows = rows(&client.call(EXECUTE, batch));
        let error = &rows[1]["error"];
        assert_eq!(error["kind"], "needs_confirmation", "{rows:?}");
        assert!(is_there(&mut client, 45));
        let fix = &error["fix"]["arguments"];
        assert_eq!((&fix["action"], &fix["params"]["iid"]), (&json!("issue.delete"), &json!(45)), "{error}");
        assert!(!client.call(EXECUTE, fix.clone()).is_error);
        assert!(!is_there(&mut client, 45));
    }
}

#[test]
fn one_token_is_bound_to_all_of_them() {
    let mut client = Client::sandbox_with(&[("GITLAB_CONFIRM", "plan")]);
    let bare = json!({"action": "api.batch", "params": {"calls": two_deletions()}, "confirm": true});
    let error = refused(&client.call(EXECUTE, bare), "needs_confirmation");
    let agreed = error["fix"]["arguments"].clone();
    let mut other = agreed.clone();
    other["params"]["calls"][2]["params"]["iid"] = json!(43);
    refused(&client.call(EXECUTE, other), "needs_confirmation");
    // Those that need no question are of the batch that was agreed to, too.
    let mut slipped_in = agreed.clone();
    let title = json!({"fullPath": "acme/widget", "iid": 1, "title": "Slipped in"});
    slipped_in["params"]["calls"][0] = call("issue.update", title);
    refused(&client.call(EXECUTE, slipped_in), "needs_confirmation");
    succeed(
        &mut client,
        "issue.update",
        json!({"fullPath": "acme/widget", "iid": 44, "title": "Another by now"}),
    );
    let error = refused(&client.call(EXECUTE, agreed), "needs_confirmation");
    assert!(is_there(&mut client, 45) && is_there(&mut client, 44));
    let done = client.call(EXECUTE, error["fix"]["arguments"].clone());
    assert_eq!(statuses(&rows(&done)), ["ok"; 3], "{}", done.text);
    assert!(!is_there(&mut client, 44));
}

#[test]
fn a_denied_call_is_denied_in_a_batch() {
    let mut client = Client::sandbox_with(&[("GITLAB_DENIED_ACTIONS", "issue.delete")]);
    let raw = json!({"method": "DELETE", "path": "/projects/acme%2Fwidget/issues/45"});
    let calls = json!([
        call("issue.get", issue(1)),
        call("issue.delete", issue(45)),
        call("api.rest", raw),
        call("issue.get", issue(2)),
    ]);
    let all = json!({"action": "api.batch", "params": {"calls": calls, "continue_on_error": true}, "confirm": true});
    let rows = rows(&client.call(EXECUTE, all));
    assert_eq!(statuses(&rows), ["ok", "error", "error", "ok"]);
    assert!(rows[1]["error"]["kind"] == "denied" && rows[2]["error"]["kind"] == "denied", "{rows:?}");
    assert!(is_there(&mut client, 45));
    let mut reads = Client::sandbox_with(&[("GITLAB_READ_ONLY", "true")]);
    let calls = json!([
        call("issue.get", issue(1)),
        call("issue.update", json!({"fullPath": "acme/widget", "iid": 1, "title": "x"}))
    ]);
    let error = refused(&execute(&mut reads, "api.batch", json!({"calls": calls})), "denied");
    assert!(error["message"].as_str().unwrap().starts_with("call 2: issue.update is denied"), "{error}");
}

#[test]
fn answers_too_large_together_are_each_cut_with_the_call_that_goes_on() {
    let mut client = Client::sandbox_with(&[("GITLAB_MAX_BYTES", "6000")]);
    let list = call("issue.list", json!({"fullPath": "acme/widget", "per_page": 45}));
    let reply =
        execute(&mut client, "api.batch", json!({"calls": [list, call("issue.get", issue(1)), list]}));
    let rows = rows(&reply);
    assert!(
        reply.structured["data"].to_string().len() < 9_000,
        "{}",
        reply.structured["data"].to_string().len()
    );
    assert_eq!(rows[1]["data"]["iid"], 1);
    for row in [&rows[0], &rows[2]] {
        assert!(row["page"]["shown"].as_u64() < row["page"]["came"].as_u64(), "{row}");
        let next = client.call(EXECUTE, row["page"]["next"]["arguments"].clone());
        assert!(!next.is_error, "{}", next.text);
    }
}

#[test]
fn twenty_answers_are_together_at_most_as_large_as_one() {
    const LIMIT: usize = 8_000;
    let mut client = Client::sandbox_with(&[("GITLAB_MAX_BYTES", &LIMIT.to_string())]);
    let long = json!({"fullPath": "acme/widget", "iid": 1, "description": "word ".repeat(4_000)});
    succeed(&mut client, "issue.update", long);
    let mut calls = vec![json!({"action": "issue.get", "params": issue(2), "fields": ["iid"]}); 19];
    calls.push(json!({"action": "issue.get", "params": issue(1), "fields": ["description"]}));
    let reply = execute(&mut client, "api.batch", json!({"calls": calls}));
    let rows = rows(&reply);
    assert_eq!(rows.len(), 20, "{}", reply.text);
    let size = reply.structured["data"].to_string().len();
    assert!((LIMIT / 2..=LIMIT).contains(&size), "{size}: {}", reply.structured["data"]);
}

#[test]
fn a_dry_run_sends_nothing() {
    let mut client = Client::sandbox();
    let all = json!({"action": "api.batch", "params": {"calls": two_deletions()}, "dry_run": true});
    let reply = client.call(EXECUTE, all);
    let rows = rows(&reply);
    assert_eq!(statuses(&rows), ["preview"; 3], "{}", reply.text);
    assert_eq!(rows[2]["request"]["method"], "DELETE");
    assert!(is_there(&mut client, 44) && is_there(&mut client, 45));
}
