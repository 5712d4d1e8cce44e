//! Writes whose answer is lost: sent once, and what became of them is asked, not guessed.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::{HASTY, error, process, project_of, without_token};
use crate::support::client::execute;
use crate::support::raw_server::{Behaviour, Misbehaving, Request, answer, wait_for_end};

const JSON: &str = "content-type: application/json\r\n";

/// With the header by which GitLab's answers are known.
const GITLABS: &str = "content-type: application/json\r\nx-request-id: 01JZ\r\n";

/// State of the object after its change: the case, the answer to the change, and the answer to a read.
const CASES: &[(&str, Behaviour)] = &[
    ("made", |stream, turn| match turn {
        1 => {}
        _ => answer(stream, "200 OK", JSON, r#"{"id": 9, "iid": 7, "title": "Squeaks", "state": "opened"}"#),
    }),
    ("not-made", |stream, turn| match turn {
        1 => answer(stream, "502 Bad Gateway", "", ""),
        _ => {
            answer(stream, "200 OK", JSON, r#"{"id": 9, "iid": 7, "title": "As it was", "state": "opened"}"#)
        }
    }),
    ("gone", |stream, turn| match turn {
        1 => {}
        _ => answer(stream, "404 Not Found", GITLABS, r#"{"message": "404 Not found"}"#),
    }),
    ("rollout", |stream, turn| match turn {
        1 => answer(stream, "503 Service Unavailable", "", ""),
        _ => answer(stream, "404 Not Found", "content-type: text/plain\r\n", "default backend - 404"),
    }),
    ("maintenance", |stream, turn| match turn {
        1 => answer(stream, "200 OK", "content-type: text/plain\r\n", "OK, back at noon"),
        _ => {
            answer(stream, "200 OK", JSON, r#"{"id": 9, "iid": 7, "title": "As it was", "state": "opened"}"#)
        }
    }),
    ("refused-by-a-gateway", |stream, turn| match turn {
        1 => answer(stream, "200 OK", JSON, r#"{"error": "invalid_token", "error_description": "no"}"#),
        _ => {
            answer(stream, "200 OK", JSON, r#"{"id": 9, "iid": 7, "title": "As it was", "state": "opened"}"#)
        }
    }),
    ("open", |stream, turn| match turn {
        1 => {}
        _ => answer(
            stream,
            "200 OK",
            JSON,
            r#"{"id": 9, "iid": 7, "state": "opened", "sha": "aaaa", "visibility": "private"}"#,
        ),
    }),
    ("silent", |_, _| ()),
    ("hung", |stream, _| {
        wait_for_end(stream);
    }),
    ("lost-then-hung", |stream, turn| {
        if turn > 1 {
            wait_for_end(stream);
        }
    }),
];

fn lose(action: &str, case: &str, more: Value) -> (Value, Vec<Request>) {
    // Each case has its own turns.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock();
    let gitlab = Misbehaving::start(CASES);
    let mut client = process(&gitlab.url(), &[]);
    let mut params = json!({"fullPath": project_of(case)});
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let arguments = json!({"action": action, "params": params, "confirm": true});
    let reply = without_token(case, client.call("gitlab_execute_action", arguments));
    assert!(reply.is_error, "{case}: {}", reply.text);
    // After the end nothing more is sent.
    client.close().well();
    let requests = gitlab.requests(case);
    let changes = requests.iter().filter(|request| !request.line.starts_with("GET")).count();
    assert_eq!(changes, 1, "{case}: a write is sent once");
    (reply.structured["error"].clone(), requests)
}

#[test]
fn an_update_is_compared_with_the_thing_as_it_is() {
    let (made, requests) = lose("issue.update", "made", json!({"iid": 7, "title": "Squeaks"}));
    assert_eq!((&made["applied"], &made["now"]["title"]), (&json!("yes"), &json!("Squeaks")), "{made}");
    assert_eq!(made["fix"], Value::Null, "nothing is left to do: {made}");
    assert!(
        requests[1].line.starts_with("GET /api/v4/projects/fault%2Fmade/issues/7 "),
        "{}",
        requests[1].line
    );

    let (not_made, _) = lose("issue.update", "not-made", json!({"iid": 7, "title": "Squeaks"}));
    assert_eq!((&not_made["applied"], &not_made["now"]["title"]), (&json!("unknown"), &json!("As it was")));
    let read = json!({"action": "issue.get", "params": {"fullPath": "fault/not-made", "iid": 7}});
    assert_eq!(not_made["fix"]["arguments"], read);

    // A change that the object does not show remains unknown.
    let (open, _) =
        lose("issue.update", "made", json!({"iid": 7, "title": "Squeaks", "state_event": "close"}));
    assert_eq!(open["applied"], "unknown", "{open}");
}

#[test]
fn a_deletion_is_looked_for() {
    let (gone, _) = lose("issue.delete", "gone", json!({"iid": 7}));
    assert_eq!((&gone["applied"], &gone["fix"]), (&json!("yes"), &Value::Null), "{gone}");
    let (there, _) = lose("issue.delete", "made", json!({"iid": 7}));
    assert_eq!((&there["applied"], &there["now"]["iid"]), (&json!("unknown"), &json!(7)), "{there}");
    // The 404 of an ingress without a GitLab behind it proves nothing.
    let (rollout, _) = lose("issue.delete", "rollout", json!({"iid": 7}));
    assert_eq!(rollout["applied"], "unknown", "{rollout}");
}

/// A state that a merge depends on is no evidence that it was made, nor is what an original and its copy share.
#[test]
fn a_change_other_than_an_update_is_not_taken_for_made_by_its_parameters() {
    for (action, params) in [
        ("merge_request.merge", json!({"iid": 7, "sha": "aaaa"})),
        ("merge_request.approve", json!({"iid": 7, "sha": "aaaa"})),
        ("project.fork", json!({"visibility": "private"})),
    ] {
        let (lost, _) = lose(action, "open", params);
        assert_eq!(lost["applied"], "unknown", "{action}: {lost}");
    }
}

#[test]
fn a_success_that_is_no_answer_of_gitlabs_proves_nothing() {
    for case in ["maintenance", "refused-by-a-gateway"] {
        for (action, params) in [
            ("issue.create", json!({"title": "Squeaks"})),
            ("issue.update", json!({"iid": 7, "title": "Squeaks"})),
        ] {
            let (lost, _) = lose(action, case, params);
            assert_eq!(lost["applied"], "unknown", "{case} {action}: {lost}");
        }
    }
}

#[test]
fn a_creation_is_to_be_looked_for_among_the_newest() {
    let (lost, requests) = lose("issue.create", "made", json!({"title": "Squeaks"}));
    assert_eq!(lost["applied"], "unknown");
    let params = json!({"fullPath": "fault/made", "order_by": "created_at", "sort": "desc", "per_page": 5});
    assert_eq!(lost["fix"]["arguments"], json!({"action": "issue.list", "params": params}));
    assert_eq!(requests.len(), 1, "a list is the caller's to read");
}

#[test]
fn a_gitlab_that_says_nothing_leaves_it_open() {
    let (lost, _) = lose("issue.update", "silent", json!({"iid": 7, "title": "Squeaks"}));
    assert_eq!(
        (&lost["applied"], &lost["fix"]["arguments"]["action"]),
        (&json!("unknown"), &json!("issue.get"))
    );
}

#[test]
fn the_audit_line_of_a_write_whose_answer_was_lost_says_that_it_may_have_been_made() {
    let gitlab = Misbehaving::start(CASES);
    for (case, applied) in [("silent", true), ("made", false)] {
        let mut client = process(&gitlab.url(), &[]);
        let params = json!({"fullPath": project_of(case), "iid": 7, "title": "Squeaks"});
        error(case, execute(&mut client, "issue.update", params), "network");
        let stderr = client.close().stderr;
        let line = stderr.lines().find(|line| line.contains("action=issue.update")).unwrap();
        assert!(line.contains("decision=allowed") && line.contains("outcome=network"), "{line}");
        assert_eq!(line.contains("applied=unknown"), applied, "{case}: {line}");
    }
}

#[test]
fn a_look_that_hangs_is_given_up() {
    let gitlab = Misbehaving::start(CASES);
    // With the time of a call, the look would run into the hang guard.
    for (case, timeout, kind) in
        [("hung", HASTY, "timeout"), ("lost-then-hung", ("GITLAB_TIMEOUT", "600"), "network")]
    {
        let mut client = process(&gitlab.url(), &[timeout]);
        let params = json!({"fullPath": project_of(case), "iid": 7, "title": "x"});
        let lost = error(case, execute(&mut client, "issue.update", params), kind);
        assert_eq!(lost["applied"], "unknown");
        assert_eq!(gitlab.requests(case).len(), 2, "{case}: the write, and the look");
    }
}

#[test]
fn the_calls_that_are_offered_can_be_made() {
    let gitlab = Misbehaving::start(&[]);
    let mut client = process(&gitlab.url(), &[]);
    for (action, more) in
        [("issue.update", json!({"iid": 7, "title": "x"})), ("issue.create", json!({"title": "x"}))]
    {
        let (lost, _) = lose(action, "silent", more);
        let fix = &lost["fix"]["arguments"];
        let reply = execute(&mut client, fix["action"].as_str().unwrap(), fix["params"].clone());
        assert!(!reply.is_error, "{}", reply.text);
    }
    error("no such", execute(&mut client, "no.such", json!({})), "unknown_action");
}

/// GitLab merges into a ref of its own at this GET.
#[test]
fn a_get_that_makes_gitlab_write_is_sent_once() {
    let gitlab = Misbehaving::start(CASES);
    let mut client = process(&gitlab.url(), &[]);
    let params = json!({"fullPath": project_of("silent"), "iid": 7});
    assert!(execute(&mut client, "merge_request.get_merge_ref", params).is_error);
    let sent = gitlab.requests("silent").into_iter().filter(|request| request.line.contains("/merge_ref"));
    assert_eq!(sent.count(), 1);
}
