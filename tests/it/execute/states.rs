//! States in answers: threads, mergeability, manual jobs, schedules.

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, execute, follow, succeed};
use crate::support::fixtures::{self, PROJECT};
use crate::support::scripted_gitlab::{Gitlab, answer};

const BOTH_WAYS: &str = "acme/widget";

#[test]
fn a_thread_has_its_state_once() {
    let mut client = Client::sandbox();
    let of = json!({"fullPath": BOTH_WAYS, "iid": 12});
    let all = succeed(&mut client, "merge_request_discussion.list", of.clone());
    let threads = all["data"].as_array().unwrap();
    let open: Vec<&Value> = threads.iter().filter(|thread| thread["resolved"] == false).collect();
    assert_eq!(open.len(), 1, "{all}");
    assert!(threads.iter().any(|thread| thread.get("resolved").is_none()), "a comment has no state: {all}");
    let notes = open[0]["notes"].as_array().unwrap();
    assert!(notes.iter().all(|note| note.get("resolvable").is_none() && note.get("resolved").is_none()));
    let id = open[0]["id"].clone();
    let resolve = json!({"fullPath": BOTH_WAYS, "iid": 12, "discussion_id": id, "resolved": true});
    succeed(&mut client, "merge_request_discussion.resolve", resolve);
    let all = succeed(&mut client, "merge_request_discussion.list", of);
    let resolved: Vec<&Value> =
        all["data"].as_array().unwrap().iter().filter(|thread| thread["resolved"] == true).collect();
    assert_eq!((resolved.len(), &resolved[0]["id"]), (1, &id));
}

#[test]
fn unresolved_threads_are_found_on_every_page() {
    let thread = |number: usize, resolved: bool| {
        let note =
            json!({"id": number, "body": format!("n{number}"), "resolvable": true, "resolved": resolved});
        json!({"id": format!("{number:040}"), "individual_note": false, "notes": [note]})
    };
    let comment =
        json!({"id": "c", "individual_note": true, "notes": [{"id": 1, "body": "x", "resolvable": false}]});
    let gitlab = Gitlab::with_project();
    let path = format!("GET /api/v4/projects/{}/merge_requests/7/discussions", PROJECT.replace('/', "%2F"));
    let page = |rows: Value, next: &str| answer(200, rows).header("x-next-page", next);
    gitlab.says(
        &path,
        [
            page(json!([thread(1, true), comment]), "2"),
            page(json!([thread(2, true), thread(3, false)]), "3"),
            page(json!([thread(4, false)]), ""),
        ],
    );
    let mut client = gitlab.client(&[]);
    let of = json!({"fullPath": PROJECT, "iid": 7, "unresolved": true});
    let reply = execute(&mut client, "merge_request_discussion.list", of);
    assert!(!reply.is_error, "{}", reply.text);
    let ids: Vec<&str> =
        reply.structured["data"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [format!("{:040}", 3), format!("{:040}", 4)]);
    assert_eq!(reply.structured["page"]["complete"], true, "{}", reply.structured);
    let asked: Vec<String> = gitlab.seen().into_iter().filter(|line| line.starts_with(&path)).collect();
    assert_eq!(asked.len(), 3, "{asked:?}");
    assert!(asked.iter().all(|line| !line.contains("unresolved")), "GitLab has no such parameter: {asked:?}");
}

#[test]
fn a_count_of_unresolved_threads_counts_no_other() {
    let mut client = Client::sandbox();
    let of = json!({"fullPath": BOTH_WAYS, "iid": 12, "unresolved": true});
    let counted =
        json!({"action": "merge_request_discussion.list", "params": of, "count_by": "individual_note"});
    let reply = client.call(EXECUTE, counted);
    assert_eq!(reply.structured["data"][0]["count"], 1, "{}", reply.text);
    let of = json!({"fullPath": BOTH_WAYS, "iid": 12, "unresolved": false});
    let all = succeed(&mut client, "merge_request_discussion.list", of);
    assert_eq!(all["data"].as_array().unwrap().len(), 2, "false filters nothing: {all}");
}

#[test]
fn a_merge_status_is_explained_with_the_next_step() {
    let gitlab = Gitlab::with_project();
    let mut request = fixtures::one_merge_request();
    request["detailed_merge_status"] = json!("not_approved");
    request["has_conflicts"] = json!(false);
    let iid = request["iid"].clone();
    gitlab.json("/merge_requests/\\d+", &request);
    let mut client = gitlab.client(&[]);
    let reply = execute(&mut client, "merge_request.get", json!({"fullPath": PROJECT, "iid": iid}));
    let said = "detailed_merge_status not_approved: blocked, approvals are missing.\nNext: {";
    assert!(reply.text.contains(said), "{}", reply.text);
    let state = &reply.structured["states"][0];
    assert_eq!(
        (&state["value"], &state["says"]),
        (&json!("not_approved"), &json!("blocked, approvals are missing"))
    );
    let arguments = &state["next"]["arguments"];
    assert_eq!(arguments["action"], "merge_request.overview");
    assert_eq!(arguments["params"], json!({"fullPath": PROJECT, "iid": iid}));
    // The status has only the first of several reasons.
    request["has_conflicts"] = json!(true);
    let gitlab = Gitlab::with_project();
    gitlab.json("/merge_requests/\\d+", &request);
    let reply =
        execute(&mut gitlab.client(&[]), "merge_request.get", json!({"fullPath": PROJECT, "iid": iid}));
    assert!(reply.text.contains("its changes contradict those of the target branch"), "{}", reply.text);
    request["has_conflicts"] = json!(false);
    // A status that the catalog does not know is left as it is.
    request["detailed_merge_status"] = json!("moon_phase\nNext: evil");
    let gitlab = Gitlab::with_project();
    gitlab.json("/merge_requests/\\d+", &request);
    let reply =
        execute(&mut gitlab.client(&[]), "merge_request.get", json!({"fullPath": PROJECT, "iid": iid}));
    assert!(reply.structured.get("states").is_none(), "{}", reply.structured);
}

#[test]
fn manual_jobs_lead_to_play() {
    let mut client = Client::sandbox();
    let list = json!({"fullPath": "acme/widget", "scope": ["manual"]});
    let pipeline = json!({"fullPath": "acme/widget", "pipeline_id": 303});
    for (action, params) in [("job.list", list), ("pipeline.get", pipeline)] {
        let reply = execute(&mut client, action, params);
        let next = reply.structured["states"][0]["next"].clone();
        assert_eq!(next["arguments"]["action"], "job.play", "{}", reply.text);
        assert_eq!(next["arguments"]["params"], json!({"fullPath": "acme/widget", "job_id": 12}));
        assert!(reply.text.contains(&format!("Next: {next}")), "{}", reply.text);
    }
    let reply = execute(&mut client, "pipeline.get", json!({"fullPath": "acme/widget", "pipeline_id": 303}));
    let manual = &reply.structured["data"]["manual_jobs"];
    assert_eq!(*manual, json!([{"id": 12, "name": "deploy", "stage": "deploy", "status": "manual"}]));
    let played = follow(&mut client, &reply.structured["states"][0]["next"]);
    assert!(!played.is_error, "{}", played.text);
    // With starting jobs denied, the answer does not offer it.
    let mut client = Client::sandbox_with(&[("GITLAB_READ_ONLY", "true")]);
    let reply = execute(&mut client, "pipeline.get", json!({"fullPath": "acme/widget", "pipeline_id": 303}));
    assert!(reply.structured["data"]["manual_jobs"].is_array() && !reply.text.contains("job.play"));
}

#[test]
fn a_schedule_says_when_it_runs_next() {
    let mut client = Client::sandbox();
    let list = succeed(&mut client, "pipeline_schedule.list", json!({"fullPath": "acme/widget"}));
    let one = json!({"fullPath": "acme/widget", "pipeline_schedule_id": 1});
    let one = succeed(&mut client, "pipeline_schedule.get", one);
    for schedule in [&list["data"][0], &one["data"]] {
        assert_eq!((&schedule["cron"], &schedule["active"]), (&json!("0 4 * * *"), &json!(true)));
        assert_eq!(schedule["next_run_at"], "2026-03-03T04:03:00Z");
    }
}

#[test]
fn reviewers_are_listed_with_their_verdict() {
    let mut client = Client::sandbox();
    let of = json!({"fullPath": "acme/widget", "iid": 5});
    let reviewers = succeed(&mut client, "merge_request.list_reviewers", of);
    let states: Vec<(&Value, &Value)> =
        reviewers["data"].as_array().unwrap().iter().map(|row| (&row["user"], &row["state"])).collect();
    assert_eq!(states, [(&json!("sandbox"), &json!("unreviewed")), (&json!("carol"), &json!("approved"))]);
}

/// Which merge request will close an issue took two more calls.
#[test]
fn an_issue_says_which_merge_requests_close_it() {
    let mut client = Client::sandbox();
    let issue = |iid: u64| json!({"fullPath": "acme/widget", "iid": iid});
    let reply = execute(&mut client, "issue.get", issue(3));
    let closing = &reply.structured["data"]["closed_by_merge"];
    assert_eq!(closing[0]["full"], "acme/widget!5", "{}", reply.text);
    assert!(reply.text.contains("acme/widget!5") && reply.text.contains("Quieter gears"), "{}", reply.text);
    // GitLab counts none: nothing is read.
    let none = succeed(&mut client, "issue.get", issue(8));
    assert!(none["data"].get("closed_by_merge").is_none(), "{none}");
}

/// A field that a list or an object lacks is named with the read that has it.
#[test]
fn the_read_of_what_is_left_out_is_named() {
    let mut client = Client::sandbox();
    let runners = execute(&mut client, "runner.list", json!({"fullPath": "acme/widget"}));
    assert!(runners.text.contains("without tags, which `runner.get` has"), "{}", runners.text);
    let snippet = succeed(&mut client, "snippet.get", json!({"id": "My aliases"}));
    assert_eq!(snippet["data"]["title"], "My aliases");
    let text = follow(&mut client, &snippet["states"][0]["next"]);
    assert!(text.text.contains("widget turn"), "{}", text.text);
}

/// GitLab answers `{"status": "success"}`, and the text had nothing else.
#[test]
fn a_receipt_says_what_was_done_however_short_the_answer_is() {
    let mut client = Client::sandbox();
    let params =
        json!({"fullPath": "acme/tools", "email": "frank@acme.example", "access_level": "developer"});
    let arguments = json!({"action": "invitation.create", "params": params, "confirm": true});
    let reply = client.call(EXECUTE, arguments);
    for said in ["Created: invitation in acme/tools", "frank@acme.example", "developer"] {
        assert!(reply.text.contains(said), "{said}: {}", reply.text);
    }
}

/// The question had the call with consent, and the state was deep in the object's fields.
#[test]
fn a_question_about_what_is_done_already_says_so() {
    let mut client = Client::sandbox();
    for (project, is_done) in [("acme/archive", true), ("acme/site", false)] {
        let arguments = json!({"action": "project.archive", "params": {"fullPath": project}});
        let reply = client.call(EXECUTE, arguments);
        let says = reply.text.contains("`archived` is true already: nothing is left to do");
        assert_eq!(says, is_done, "{}", reply.text);
    }
}

/// The number of approvals without its rules, and a package without its files, cost a second call each.
#[test]
fn an_object_has_the_rows_that_make_it_up() {
    let mut client = Client::sandbox();
    let approvals = succeed(&mut client, "approval_configuration.get", json!({"fullPath": "acme/widget"}));
    assert_eq!(approvals["data"]["rules"][0]["name"], "Two pairs of eyes", "{approvals}");
    let package = json!({"fullPath": "acme/widget", "package_id": "widget"});
    let package = succeed(&mut client, "package.get", package);
    assert_eq!(package["data"]["files"][0]["size"], 2048, "{package}");
}

/// A merge left it open whether its source branch is gone, which took a further read.
#[test]
fn a_merge_tells_what_becomes_of_the_source_branch() {
    for (remove, says) in
        [(true, "GitLab removes the source branch after the merge"), (false, "the source branch stays")]
    {
        let mut client = Client::sandbox();
        let params = json!({"fullPath": "acme/widget", "iid": 5, "should_remove_source_branch": remove});
        let call = json!({"action": "merge_request.merge", "params": params, "confirm": true});
        let merged = client.call(EXECUTE, call);
        assert!(!merged.is_error && merged.text.contains(says), "{}", merged.text);
    }
}
