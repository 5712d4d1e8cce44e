//! A confirmed call is tied to the object as it was shown: what came since is not merged, and nobody's own state is replaced.

use serde_json::{Value, json};

use crate::policy::vault::{kind, run};
use crate::support::client::{Client, EXECUTE, follow, refused};
use crate::support::scripted_gitlab::{Answer, Gitlab, answer};

const SHOWN: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const NEXT: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

fn merge_request(sha: &str) -> Answer {
    answer(200, json!({"id": 9, "iid": 1, "title": "Squeaks", "state": "opened", "sha": sha}))
}

/// A GitLab whose merge request 1 has these heads in turn, the last for ever.
fn gitlab(heads: &[&str]) -> Gitlab {
    let gitlab = Gitlab::start();
    gitlab.json("/projects/acme%2Fwidget", &json!({"id": 1, "path_with_namespace": "acme/widget"}));
    let shown = heads.iter().map(|head| merge_request(head));
    gitlab.says("GET /api/v4/projects/acme%2Fwidget/merge_requests/1", shown);
    gitlab.says("PUT /api/v4/projects/acme%2Fwidget/merge_requests/1/merge", [merge_request(SHOWN)]);
    let commit = json!({"short_id": "bbbbbbbb", "title": "Sneak in", "author_name": "Mallory\u{1b}[31m"});
    gitlab.json("/repository/compare", &json!({"commits": [commit]}));
    gitlab
}

fn first() -> Value {
    json!({"fullPath": "acme/widget", "iid": 1})
}

/// The bodies of the changes that came.
fn changes(gitlab: &Gitlab) -> Vec<Value> {
    let requests = gitlab.received().into_iter().filter(|request| request.method != "GET");
    requests.map(|request| serde_json::from_slice(&request.body).unwrap_or_default()).collect()
}

#[test]
fn a_merge_sends_the_head_that_was_shown_when_it_was_confirmed() {
    for setting in ["destructive", "destructive,token"] {
        let gitlab = gitlab(&[SHOWN]);
        let mut client = gitlab.client(&[("GITLAB_CONFIRM", setting)]);
        let asked = refused(&run(&mut client, "merge_request.merge", &first(), false), "needs_confirmation");
        assert_eq!(asked["would_hit"]["sha"], SHOWN, "{asked}");
        let done = follow(&mut client, &asked["fix"]);
        assert!(!done.is_error, "{setting}: {}", done.text);
        assert_eq!(changes(&gitlab), [json!({"sha": SHOWN})], "{setting}");
    }
}

/// `/merge` in a comment of a review merged what was pushed since the question.
#[test]
fn a_review_that_merges_is_bound_to_the_head_that_was_shown() {
    let mut client = Client::sandbox_with(&[("GITLAB_CONFIRM", "destructive,token")]);
    let review = json!({"fullPath": "acme/widget", "iid": 5, "comments": [{"body": "/merge"}]});
    let asked = refused(&run(&mut client, "merge_request.review", &review, false), "needs_confirmation");
    let commit = json!({
        "fullPath": "acme/widget", "branch": "quiet-gears", "commit_message": "Sneak in",
        "actions": [{"action": "create", "file_path": "sneak.txt", "content": "in"}],
    });
    assert!(!run(&mut client, "commit.create", &commit, false).is_error);
    let again = refused(&follow(&mut client, &asked["fix"]), "needs_confirmation");
    assert!(!follow(&mut client, &again["fix"]).is_error, "{again}");
}

#[test]
fn what_a_user_accepts_is_merged_at_the_head_that_was_shown() {
    let gitlab = gitlab(&[SHOWN]);
    let mut client = gitlab.client(&[]);
    let params = json!({"name": EXECUTE, "arguments": {"action": "merge_request.merge", "params": first()}});
    let capabilities = json!({"elicitation": {"form": {}}});
    let asked = client.modern_with("tools/call", params.clone(), capabilities.clone());
    let mut accepted = params;
    accepted["requestState"] = asked["result"]["requestState"].clone();
    accepted["inputResponses"] = json!({"confirm": {"action": "accept", "content": {"confirm": true}}});
    let done = client.modern_with("tools/call", accepted, capabilities);
    assert_eq!(done["result"]["isError"], false, "{done}");
    assert_eq!(changes(&gitlab), [json!({"sha": SHOWN})]);
}

#[test]
fn a_head_that_moved_after_the_question_is_not_merged() {
    // Without a token, GitLab refuses the head that was shown.
    let gitlab = gitlab(&[SHOWN, SHOWN, NEXT]);
    let stale = answer(409, json!({"message": "SHA does not match HEAD of source branch"}));
    gitlab.says("PUT /api/v4/projects/acme%2Fwidget/merge_requests/1/merge", [stale]);
    let mut client = gitlab.client(&[]);
    let asked = refused(&run(&mut client, "merge_request.merge", &first(), false), "needs_confirmation");
    says_what_came(&refused(&follow(&mut client, &asked["fix"]), "conflict"));
    assert_eq!(changes(&gitlab), [json!({"sha": SHOWN})]);
    // With one, it is not sent at all.
    let gitlab = self::gitlab(&[SHOWN, SHOWN, NEXT]);
    let mut client = gitlab.client(&[("GITLAB_CONFIRM", "token")]);
    let asked = refused(&run(&mut client, "merge_request.merge", &first(), false), "needs_confirmation");
    says_what_came(&refused(&follow(&mut client, &asked["fix"]), "conflict"));
    assert_eq!(changes(&gitlab), Vec::<Value>::new());
}

/// The error names both heads and the commits between them, and its call has to be confirmed anew.
fn says_what_came(error: &Value) {
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(SHOWN) && message.contains(NEXT), "{message}");
    let came = json!([{"sha": "bbbbbbbb", "title": "Sneak in", "author": "Mallory"}]);
    assert_eq!((&error["commits_since"], &error["came_since"]), (&json!(1), &came), "{error}");
    let next = &error["fix"]["arguments"];
    assert_eq!(next["params"]["sha"], NEXT, "{next}");
    assert!(next.get("confirm").is_none() && next.get("confirmation_token").is_none(), "{next}");
}

#[test]
fn a_head_of_the_callers_own_is_kept_and_a_stale_one_is_not_asked_about() {
    let gitlab = gitlab(&[NEXT]);
    let mut client = gitlab.client(&[]);
    for (sha, expected) in [(NEXT, "needs_confirmation"), (SHOWN, "conflict")] {
        let params = json!({"fullPath": "acme/widget", "iid": 1, "sha": sha});
        let error = refused(&run(&mut client, "merge_request.merge", &params, false), expected);
        assert_eq!(error["fix"]["arguments"]["params"]["sha"], NEXT, "{error}");
    }
    assert_eq!(changes(&gitlab), Vec::<Value>::new());
}

#[test]
fn merges_that_are_asked_about_together_have_a_head_each() {
    for setting in ["destructive", "destructive,token"] {
        let gitlab = gitlab(&[SHOWN]);
        let other = answer(200, json!({"id": 10, "iid": 2, "title": "Rattles", "sha": NEXT}));
        gitlab.says("GET /api/v4/projects/acme%2Fwidget/merge_requests/2", [other.clone()]);
        gitlab.says("PUT /api/v4/projects/acme%2Fwidget/merge_requests/2/merge", [other]);
        let mut client = gitlab.client(&[("GITLAB_CONFIRM", setting)]);
        let both = json!({"fullPath": "acme/widget", "iid": [1, 2]});
        let asked = refused(&run(&mut client, "merge_request.merge", &both, false), "needs_confirmation");
        let done = follow(&mut client, &asked["fix"]);
        assert!(!done.is_error, "{setting}: {}", done.text);
        assert_eq!(changes(&gitlab), [json!({"sha": SHOWN}), json!({"sha": NEXT})], "{setting}");
    }
}

#[test]
fn where_gitlab_requires_the_head_the_error_has_it() {
    let gitlab = gitlab(&[SHOWN]);
    let required = answer(400, json!({"message": "SHA must be provided when merging"}));
    gitlab.says("PUT /api/v4/projects/acme%2Fwidget/merge_requests/1/merge", [required]);
    let mut client = gitlab.client(&[]);
    let error = refused(&run(&mut client, "merge_request.merge", &first(), true), "invalid_params");
    let next = &error["fix"]["arguments"];
    assert_eq!((&next["params"]["sha"], next.get("confirm")), (&json!(SHOWN), None), "{error}");
}

#[test]
fn other_calls_are_tied_to_what_was_shown_too() {
    let gitlab = gitlab(&[SHOWN]);
    let file = json!({"file_path": "a.txt", "ref": "main", "last_commit_id": NEXT, "content": ""});
    gitlab.says("GET /api/v4/projects/acme%2Fwidget/repository/files/a.txt?ref=topic", [answer(200, file)]);
    let mut client = gitlab.client(&[("GITLAB_CONFIRM", "write,destructive")]);
    let deletion =
        json!({"fullPath": "acme/widget", "file_path": "a.txt", "branch": "topic", "commit_message": "x"});
    let note = json!({"fullPath": "acme/widget", "iid": 1, "body": "Ship it\n/merge"});
    for (action, params, param, state) in [
        ("merge_train.add", first(), "sha", SHOWN),
        ("merge_request.approve", first(), "sha", SHOWN),
        ("merge_request_note.create", note, "merge_request_diff_head_sha", SHOWN),
        ("repository_file.delete", deletion, "last_commit_id", NEXT),
    ] {
        let error = refused(&run(&mut client, action, &params, false), "needs_confirmation");
        assert_eq!(error["fix"]["arguments"]["params"][param], state, "{action}: {error}");
    }
}

#[test]
fn a_call_that_is_not_asked_about_sends_no_head_of_its_own() {
    let gitlab = gitlab(&[SHOWN]);
    let mut client = gitlab.client(&[("GITLAB_CONFIRM", "never")]);
    assert!(!run(&mut client, "merge_request.merge", &first(), false).is_error);
    assert_eq!(changes(&gitlab), [Value::Null]);
    let mut client: Client = gitlab.client(&[]);
    assert_eq!(kind(&run(&mut client, "merge_request.merge", &first(), true)), "none");
}
