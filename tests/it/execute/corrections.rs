//! Calls that are understood although a parameter has another name or form, and errors whose next call is the corrected
//! one.

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, Reply, execute, follow, refused, succeed};
use crate::support::scripted_gitlab::{Gitlab, answer};

const WIDGET: &str = "acme/widget";

fn with(client: &mut Client, action: &str, params: Value, options: Value) -> Reply {
    let mut arguments = json!({"action": action, "params": params});
    arguments.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    client.call(EXECUTE, arguments)
}

fn preview(client: &mut Client, action: &str, params: Value) -> Reply {
    let reply = with(client, action, params, json!({"dry_run": true}));
    assert!(!reply.is_error, "{}", reply.text);
    reply
}

fn message(error: &Value) -> &str {
    error["message"].as_str().unwrap()
}

#[test]
fn a_noun_is_the_parameter_with_its_number_in_reads_and_writes() {
    let mut client = Client::sandbox();
    let schedule = json!({"fullPath": WIDGET, "pipeline_schedule": "Every night", "active": false});
    let reply = execute(&mut client, "pipeline_schedule.update", schedule);
    assert!(reply.text.starts_with("Updated: pipeline schedule \"Every night\""), "{}", reply.text);
    let rule = json!({"fullPath": WIDGET, "approval_rule": "Two pairs of eyes", "approvals_required": 3});
    let reply = preview(&mut client, "approval_rule.update", rule);
    assert!(reply.structured["request"]["path"].as_str().unwrap().ends_with("/approval_rules/1"));
    // GitLab's own name of the number is `epic_iid`; the order of the parameters does not matter, although `issue` is
    // the number of the object in other actions.
    for order in [["epic", "issue"], ["issue", "epic"]] {
        let mut params = json!({"fullPath": "acme"});
        for name in order {
            params[name] = json!(if name == "epic" { "One shop front" } else { "acme/site#1" });
        }
        let reply = preview(&mut client, "epic_issue.assign", params);
        assert_eq!(
            reply.structured["resolved"],
            json!({"iid": "One shop front -> 2", "issue_id": "acme/site#1 -> 101"}),
        );
    }
    // The noun of the domain is the object itself.
    let epic = succeed(&mut client, "epic.get", json!({"fullPath": "acme", "epic": 2}));
    assert_eq!(epic["data"]["iid"], 2);
    let notes = epic["notes"].as_array().unwrap();
    assert!(notes.contains(&json!("understood `epic` as `iid`")), "{epic}");
}

#[test]
fn a_noun_of_no_or_of_several_numbers_and_a_number_given_twice_are_errors() {
    let mut client = Client::sandbox();
    let twice = json!({"fullPath": "acme", "iid": 2, "epic": "One shop front", "issue": "acme/site#1"});
    let error = refused(&execute(&mut client, "epic_issue.assign", twice), "invalid_params");
    assert!(message(&error).contains("there is no parameter `epic`"), "{error}");
    let none = json!({"fullPath": WIDGET, "iid": 41, "gearbox": 2});
    let error = refused(&execute(&mut client, "issue.get", none), "invalid_params");
    assert!(message(&error).contains("there is no parameter `gearbox`"), "{error}");
}

#[test]
fn a_name_that_was_looked_up_has_one_line() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "milestone": "Spring fair", "description": "In the hall."});
    let reply = preview(&mut client, "milestone.update", params);
    assert!(reply.text.contains("Resolved: milestone_id: Spring fair -> 4."), "{}", reply.text);
    assert!(!reply.text.contains("understood"), "{}", reply.text);
    // A number is not looked up, so that only the spelling has a note.
    let number = json!({"fullPath": WIDGET, "milestone": 4, "description": "In the hall."});
    let reply = preview(&mut client, "milestone.update", number);
    assert!(reply.text.contains("understood `milestone` as `milestone_id`"), "{}", reply.text);
}

#[test]
fn the_corrected_call_keeps_the_options_of_the_request() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "iid": 44, "titel": "A silent motor"});
    let options = json!({"fields": ["iid", "title"], "view": "full", "confirm": true});
    let error = refused(&with(&mut client, "issue.update", params, options), "invalid_params");
    assert_eq!(
        error["fix"]["arguments"],
        json!({
            "action": "issue.update",
            "params": {"fullPath": WIDGET, "iid": 44, "title": "A silent motor"},
            "fields": ["iid", "title"],
            "view": "full",
        }),
        "consent is to be given to the corrected call"
    );
    let read = json!({"fullPath": WIDGET, "file": "README.md", "reff": "main"});
    let error = refused(
        &with(&mut client, "repository_file.get_raw", read, json!({"lines": "1-2"})),
        "invalid_params",
    );
    assert_eq!(error["fix"]["arguments"]["lines"], "1-2", "{error}");
    assert!(!follow(&mut client, &error["fix"]).is_error);
}

#[test]
fn words_of_states_are_the_events_that_lead_there() {
    let mut client = Client::sandbox();
    for (action, object, state, event) in [
        ("issue.update", json!({"fullPath": WIDGET, "iid": 44}), "opened", "reopen"),
        ("issue.update", json!({"fullPath": WIDGET, "iid": 44}), "Closed", "close"),
        ("merge_request.update", json!({"fullPath": WIDGET, "iid": 12}), "reopened", "reopen"),
        ("milestone.update", json!({"fullPath": WIDGET, "milestone_id": 4}), "open", "activate"),
        ("milestone.update", json!({"fullPath": WIDGET, "milestone_id": 4}), "closed", "close"),
        ("epic.update", json!({"fullPath": "acme", "iid": 2}), "open", "reopen"),
    ] {
        let mut params = object;
        params["state"] = json!(state);
        let reply = preview(&mut client, action, params);
        assert_eq!(reply.structured["request"]["body"], json!({"state_event": event}), "{action} {state}");
        let note = format!("understood `state_event: {}` as `{event}`", state.to_lowercase());
        assert!(reply.text.contains(&note), "{}", reply.text);
    }
}

#[test]
fn one_error_names_everything_that_is_wrong_with_a_call() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "title": "A quieter motor", "state": "opened"});
    let error = refused(&execute(&mut client, "issue.update", params), "invalid_params");
    assert_eq!(message(&error), "issue.update: `iid` is missing (number, URL or title)");
    // The title may be that of the object: the next call finds it.
    let listed = follow(&mut client, &error["fix"]);
    assert_eq!(listed.structured["data"][0]["iid"], 44, "{}", listed.text);
    let params = json!({"fullPath": WIDGET, "weight": "heavy", "gearbox": 1});
    let error = refused(&execute(&mut client, "issue.update", params), "invalid_params");
    for part in ["`weight` is an integer", "no parameter `gearbox`", "`iid` is missing"] {
        assert!(message(&error).contains(part), "{error}");
    }
    // A parameter that the correction of another fault fills is not missing.
    let error = refused(
        &execute(&mut client, "issue.create", json!({"fullPath": WIDGET, "titel": "Gears"})),
        "invalid_params",
    );
    assert_eq!(message(&error), "issue.create: there is no parameter `titel`");
    assert_eq!(error["fix"]["arguments"]["params"], json!({"fullPath": WIDGET, "title": "Gears"}));
    // All missing parameters are named.
    let error =
        refused(&execute(&mut client, "branch.create", json!({"fullPath": WIDGET})), "invalid_params");
    assert!(message(&error).contains("`branch` is missing") && message(&error).contains("`ref` is missing"));
}

#[test]
fn a_thread_is_named_by_its_first_words() {
    let mut client = Client::sandbox();
    let thread = "6a9c1750b37d513a43987b574953fceb50b03ce7";
    let reply_to =
        |words: &str| json!({"fullPath": WIDGET, "iid": 12, "discussion": words, "body": "It stops."});
    let reply = preview(&mut client, "merge_request_note.create", reply_to("What happens at zero?"));
    let path = format!("/api/v4/projects/acme%2Fwidget/merge_requests/12/discussions/{thread}/notes");
    assert_eq!(reply.structured["request"]["path"], path);
    assert!(
        reply.text.contains(&format!("\"What happens at zero?\" is the thread {thread}")),
        "{}",
        reply.text
    );
    succeed(&mut client, "merge_request_note.create", reply_to("what happens"));
    let read = json!({"fullPath": WIDGET, "iid": 12, "discussion_id": thread});
    let notes = succeed(&mut client, "merge_request_discussion.get", read)["data"]["notes"].clone();
    assert_eq!(notes.as_array().unwrap().last().unwrap()["body"], "It stops.");
    // Neither a guess nor a request to a thread that is none.
    let error =
        refused(&execute(&mut client, "merge_request_note.create", reply_to("Nobody said so")), "not_found");
    assert!(
        error["hint"].as_str().unwrap().contains(&format!("{thread} \"What happens at zero?\"")),
        "{error}"
    );
    assert_eq!(error["fix"]["arguments"]["action"], "merge_request_discussion.list");
    let new = json!({"fullPath": WIDGET, "iid": 12, "body": "What happens at night?"});
    succeed(&mut client, "merge_request_discussion.create", new);
    let error = refused(
        &execute(&mut client, "merge_request_note.create", reply_to("What happens")),
        "invalid_params",
    );
    assert!(message(&error).contains("2 threads begin with"), "{error}");
}

#[test]
fn the_title_of_a_wiki_page_is_its_slug_with_dashes() {
    let mut client = Client::sandbox();
    let title = "Oil and grease";
    succeed(&mut client, "wiki_page.create", json!({"fullPath": WIDGET, "title": title, "content": "Once."}));
    let page = succeed(&mut client, "wiki_page.get", json!({"fullPath": WIDGET, "slug": title}));
    assert_eq!(page["data"]["slug"], "Oil-and-grease");
    let update = json!({"fullPath": WIDGET, "slug": title, "content": "Twice."});
    succeed(&mut client, "wiki_page.update", update);
    // GitLab finds a page in any case.
    let page = succeed(&mut client, "wiki_page.get", json!({"fullPath": WIDGET, "slug": "oil and Grease"}));
    assert_eq!(page["data"]["slug"], "Oil-and-grease");
    // Another word is another page: the error of a read has the call for the one that is there, that of a deletion the list.
    let other = json!({"fullPath": WIDGET, "slug": "oil-and-grees"});
    for (action, next, slug) in [
        ("wiki_page.get", "wiki_page.get", json!(title)),
        ("wiki_page.delete", "wiki_page.list", Value::Null),
    ] {
        let error = refused(&execute(&mut client, action, other.clone()), "not_found");
        let fix = &error["fix"]["arguments"];
        assert_eq!((&fix["action"], &fix["params"]["slug"]), (&json!(next), &slug), "{error}");
        assert_eq!(fix.get("confirm"), None);
    }
    let error = refused(
        &execute(&mut client, "wiki_page.get", json!({"fullPath": WIDGET, "slug": "Rust"})),
        "not_found",
    );
    assert_eq!(error["fix"]["arguments"]["action"], "wiki_page.list", "{error}");
}

#[test]
fn a_branch_in_place_of_a_pipeline_is_its_latest_each_time() {
    let gitlab = Gitlab::with_project();
    let latest = |id: u64| answer(200, json!({"id": id, "ref": "main", "status": "success"}));
    gitlab.says("GET /api/v4/projects/acme%2Fwidget/pipelines/latest?ref=main", [latest(7), latest(8)]);
    gitlab.says(
        "GET /api/v4/projects/acme%2Fwidget/pipelines/latest?ref=empty",
        [answer(403, json!({"message": "403 Forbidden"}))],
    );
    for id in [7, 8] {
        gitlab.says(&format!("GET /api/v4/projects/acme%2Fwidget/pipelines/{id}"), [latest(id)]);
    }
    let mut client = gitlab.client(&[]);
    for id in [7, 8] {
        let read = succeed(&mut client, "pipeline.get", json!({"fullPath": WIDGET, "pipeline": "main"}));
        assert_eq!(read["resolved"]["pipeline_id"], format!("main -> {id}"));
    }
    // GitLab refuses the latest pipeline of a branch without any.
    let none = json!({"fullPath": WIDGET, "pipeline_id": "empty"});
    for action in ["pipeline.get", "pipeline.diagnose"] {
        let error = refused(&execute(&mut client, action, none.clone()), "not_found");
        assert!(message(&error).contains("no pipeline"), "{error}");
        assert_eq!(error["fix"]["arguments"]["action"], "pipeline.list", "{error}");
    }
}

/// A call that removes labels was offered to somebody who wanted to remove a person.
#[test]
fn a_parameter_of_another_thing_is_no_correction() {
    let mut client = Client::sandbox();
    for (action, name, value) in [
        ("issue.update", "remove_participants", json!(["sandbox"])),
        ("merge_request.update", "remove_approvers", json!(["sandbox"])),
    ] {
        let params = json!({"fullPath": "acme/widget", "iid": 5, name: value});
        let error = refused(&execute(&mut client, action, params), "invalid_params");
        assert_eq!(error["fix"]["arguments"].get("params"), None, "{error}");
        assert!(!error["hint"].to_string().contains("Did you mean"), "{error}");
    }
}

/// GitLab's own pages call the level without access so.
#[test]
fn no_one_is_a_level_and_a_page_has_a_title() {
    let mut client = Client::sandbox();
    let mut dry = |params: Value| {
        let call = json!({"action": "protected_branch.create", "params": params, "dry_run": true});
        client.call(EXECUTE, call).text
    };
    let rule = |level: &str| json!({"fullPath": "acme/widget", "name": "rel/*", "push_access_level": level});
    assert!(dry(rule("No one")).contains(r#""push_access_level":0"#));
    let refused = dry(rule("boss"));
    assert!(refused.contains("`no_access`") && !refused.contains("`planner`"), "{refused}");
    let page =
        execute(&mut client, "wiki_page.get", json!({"fullPath": "acme/widget", "title": "guides/oiling"}));
    assert!(!page.is_error && page.text.contains("Once a week."), "{}", page.text);
}

/// A read of the file that was probably meant is offered, a change of it never.
#[test]
fn no_other_file_is_offered_for_one_that_is_not_there() {
    let mut client = Client::sandbox();
    let change =
        json!({"fullPath": WIDGET, "file_path": "REDME.md", "branch": "main", "commit_message": "x"});
    for (action, content) in [("repository_file.delete", None), ("repository_file.update", Some("x"))] {
        let mut params = change.clone();
        params.as_object_mut().unwrap().extend(content.map(|text| ("content".to_owned(), json!(text))));
        let reply = client.call(EXECUTE, json!({"action": action, "params": params, "confirm": true}));
        assert!(reply.is_error && reply.text.contains("README.md"), "{action}: {}", reply.text);
        assert_ne!(reply.structured["error"]["fix"]["arguments"]["action"], action, "{}", reply.text);
    }
    let read =
        execute(&mut client, "repository_file.get", json!({"fullPath": WIDGET, "file_path": "REDME.md"}));
    let fix = &read.structured["error"]["fix"]["arguments"];
    assert_eq!(
        (&fix["action"], &fix["params"]["file_path"]),
        (&json!("repository_file.get"), &json!("README.md"))
    );
}

#[test]
fn a_release_is_there_by_its_name_too() {
    let mut client = Client::sandbox();
    let notes = json!({"fullPath": WIDGET, "tag_name": "Widget 1.0", "description": "Quieter."});
    let refused = execute(&mut client, "release.update", notes);
    assert!(refused.text.contains("There is \"v1.0.0\""), "{}", refused.text);
    let done = follow(&mut client, &refused.structured["error"]["fix"]);
    assert!(!done.is_error && done.text.contains("v1.0.0"), "{}", done.text);
}

/// A call was offered that changed another object than the one that was named, or nothing that was asked for.
#[test]
fn no_other_object_is_offered_for_a_new_or_a_deleted_one() {
    let mut client = Client::sandbox();
    let fix = |client: &mut Client, action: &str, params: Value| {
        let reply = client.call(EXECUTE, json!({"action": action, "params": params, "confirm": true}));
        assert!(reply.is_error, "{action}: {}", reply.text);
        reply.structured["error"]["fix"]["arguments"]["action"].as_str().unwrap_or_default().to_owned()
    };
    let guild = json!({"name": "guild", "path": "acme", "visibility": "public"});
    assert_ne!(fix(&mut client, "group.create", guild), "group.update");
    let part = json!({"fullPath": "acme/widget", "iid": "the gear squeaks"});
    assert_eq!(fix(&mut client, "issue.delete", part.clone()), "issue.list");
    assert_eq!(
        fix(
            &mut client,
            "issue.update",
            json!({"fullPath": "acme/widget", "iid": "the gear squeaks", "title": "x"})
        ),
        "issue.update"
    );
    // Two labels of one name: neither the deletion nor the rename of one is a creation.
    let gitlab = Gitlab::with_project();
    gitlab.answer(
        "DELETE",
        "/environments/\\d+",
        answer(409, json!({"message": "Environment already exists"})),
    );
    gitlab.json("/environments/\\d+", &json!({"id": 1, "name": "x", "state": "stopped"}));
    let mut client = gitlab.client(&[]);
    let delete = json!({"fullPath": "acme/widget", "environment_id": 1});
    assert_ne!(fix(&mut client, "environment.delete", delete), "environment.update");
}

/// The corrected call of a refusal repeated the consent that was given to the first one.
#[test]
fn no_corrected_call_has_consent() {
    let gitlab = Gitlab::with_project();
    gitlab.json("/issues/\\d+", &json!({"iid": 1, "title": "x", "state": "opened"}));
    gitlab.answer("DELETE", "/issues/\\d+", answer(302, json!({})).header("location", "/users/sign_in"));
    let mut client = gitlab.client(&[]);
    let call =
        json!({"action": "issue.delete", "params": {"fullPath": "acme/widget", "iid": 1}, "confirm": true});
    let reply = client.call(EXECUTE, call);
    assert!(reply.is_error, "{}", reply.text);
    assert!(!reply.structured["error"]["fix"].to_string().contains("confirm"), "{}", reply.structured);
    let mut client = Client::sandbox();
    let unlisted =
        json!({"action": "delete", "params": {"fullPath": "acme/widget", "iid": 1, "confirm": true}});
    let answer = client.request("tools/call", json!({"name": "gitlab_issues", "arguments": unlisted}));
    assert!(!answer.to_string().contains("confirm"), "{answer}");
}
