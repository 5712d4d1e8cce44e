//! Next calls that do what was wanted: of errors, of empty answers, and none where there is nothing to do.

use serde_json::{Value, json};

use crate::support::client::{Client, execute, follow, refused, succeed};

const WIDGET: &str = "acme/widget";

fn ids(candidates: &Value) -> Vec<&str> {
    let rows = candidates.as_array().into_iter().flatten();
    rows.filter_map(|row| row["action"].as_str()).collect()
}

/// A relation was given to an update of an issue, and the error led to the schema of that update.
#[test]
fn a_field_that_another_action_sets_leads_to_that_action() {
    let mut client = Client::sandbox();
    let of = |field: &str, value: Value| json!({"fullPath": WIDGET, "iid": 5, field: value});
    for (action, params, other) in [
        ("issue.update", of("related_to", json!("#2")), "issue_link.create"),
        ("merge_request.update", of("approved", json!(true)), "merge_request.approve"),
    ] {
        let error = refused(&execute(&mut client, action, params), "invalid_params");
        assert_eq!(ids(&error["candidates"]), [other], "{error}");
        assert!(!error["hint"].as_str().unwrap().contains("Did you mean"), "{error}");
        let found = follow(&mut client, &error["fix"]);
        assert_eq!(found.structured["results"][0]["action"], other, "{}", found.text);
    }
    // No action speaks of these.
    for field in ["foo", "scoped"] {
        let params = json!({"fullPath": WIDGET, "name": "x", "color": "red", field: 1});
        let error = refused(&execute(&mut client, "label.create", params), "invalid_params");
        assert_eq!(error["candidates"], Value::Null, "{error}");
    }
}

#[test]
fn an_edit_in_other_capitals_is_offered_in_those_of_the_text() {
    let mut client = Client::sandbox();
    let edits = json!([{"old": "oil RUNS", "new": "oil drips"}, {"old": "workshop", "new": "yard"}]);
    let params = json!({"fullPath": WIDGET, "iid": 3, "edits": edits});
    let error = refused(&execute(&mut client, "issue.update", params), "invalid_params");
    let mended = json!([{"old": "Oil runs", "new": "Oil drips"}, {"old": "workshop", "new": "yard"}]);
    assert_eq!(error["fix"]["arguments"]["params"]["edits"], mended, "{error}");
    assert!(!follow(&mut client, &error["fix"]).is_error);
    let issue = succeed(&mut client, "issue.get", json!({"fullPath": WIDGET, "iid": 3}));
    let text = "Oil drips out after a thousand turns.\n\nSeen in the yard.";
    assert_eq!(issue["data"]["description"], text);
}

#[test]
fn an_edit_of_a_page_with_a_similar_name_is_offered_for_that_page() {
    let mut client = Client::sandbox();
    let edits = json!([{"old": "Once a week", "new": "Twice a week"}]);
    let params = json!({"fullPath": WIDGET, "slug": "oiling guide", "edits": edits});
    let error = refused(&execute(&mut client, "wiki_page.update", params), "not_found");
    assert_eq!(error["fix"]["arguments"]["action"], "wiki_page.update", "{error}");
    assert!(!follow(&mut client, &error["fix"]).is_error);
    let page = succeed(&mut client, "wiki_page.get", json!({"fullPath": WIDGET, "slug": "guides/oiling"}));
    assert_eq!(page["data"]["content"], "Twice a week.");
}

#[test]
fn an_inherited_member_is_shown_by_the_next_call() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "user_id": "bob"});
    let error = refused(&execute(&mut client, "member.get", params), "not_found");
    assert!(!error.to_string().contains("Nothing was changed"), "{error}");
    let shown = follow(&mut client, &error["fix"]);
    assert_eq!(shown.structured["data"]["username"], "bob", "{}", shown.text);
}

/// Without a project, only what one has created is searched, and it was not said where the rest is.
#[test]
fn a_title_is_searched_in_all_projects() {
    let mut client = Client::sandbox();
    let title = "Change the greeting again";
    let error = refused(&execute(&mut client, "merge_request.get", json!({"iid": title})), "invalid_params");
    let found = follow(&mut client, &error["fix"]);
    assert_eq!(found.structured["data"][0]["title"], title, "{}", found.text);
    let own = execute(&mut client, "merge_request.list", json!({"search": title}));
    assert_eq!(own.structured["data"], json!([]), "{}", own.text);
    let wider = follow(&mut client, &own.structured["wider"]);
    assert_eq!(wider.structured["data"][0]["title"], title, "{}", wider.text);
}

#[test]
fn a_snippet_of_ones_own_is_no_change_of_the_instance() {
    let mut client = Client::sandbox();
    let params = json!({"title": "Clear it", "visibility": "private", "content": "rm", "file_name": "a.sh"});
    let error = refused(&execute(&mut client, "snippet.create", params), "invalid_params");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("one of your own") && !message.contains("whole instance"), "{message}");
    let made = follow(&mut client, &error["fix"]);
    assert_eq!(made.structured["data"]["project_id"], Value::Null, "{}", made.text);
    // A creation for the whole instance is not offered.
    let variable = json!({"key": "OIL", "value": "thick"});
    let error = refused(&execute(&mut client, "ci_variable.create", variable), "invalid_params");
    assert_eq!(error["fix"]["arguments"]["query"], "ci_variable.create", "{error}");
}

#[test]
fn deployments_by_their_end_come_with_the_filter_that_gitlab_wants() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "status": "success", "order_by": "finished_at", "sort": "desc"});
    let error = refused(&execute(&mut client, "deployment.list", params), "invalid_params");
    let rows = follow(&mut client, &error["fix"]);
    assert!(!rows.structured["data"].as_array().unwrap().is_empty(), "{}", rows.text);
}

#[test]
fn fields_without_a_diff_have_no_note_on_diffs() {
    let mut client = Client::sandbox();
    let call = |fields: &[&str]| {
        let params = json!({"fullPath": WIDGET, "from": "v1.0.0", "to": "main"});
        json!({"action": "repository.compare", "params": params, "fields": fields})
    };
    let commits = client.call("gitlab_execute_action", call(&["commits.title"]));
    assert!(!commits.is_error && !commits.text.contains("left out"), "{}", commits.text);
    let diffs = client.call("gitlab_execute_action", call(&["diffs.new_path"]));
    assert!(diffs.text.contains("left out"), "{}", diffs.text);
}

#[test]
fn a_list_of_todos_says_that_it_has_the_pending_ones() {
    let mut client = Client::sandbox();
    let note = |client: &mut Client, params: Value| {
        execute(client, "todo.list", params).structured["notes"].to_string().contains("pending ones only")
    };
    assert!(note(&mut client, json!({})));
    assert!(!note(&mut client, json!({"state": "done"})));
}

/// The call for the rest of a text was the creation once more, and made a second issue.
#[test]
fn no_change_is_offered_again_for_the_rest_of_its_text() {
    let mut client = Client::sandbox();
    let text = "line of a log\n".repeat(1_500);
    for (action, params) in [
        ("issue.create", json!({"fullPath": WIDGET, "title": "Long", "description": text})),
        ("issue_note.create", json!({"fullPath": WIDGET, "iid": 3, "body": text})),
        (
            "api.rest",
            json!({"method": "POST", "path": "/projects/1/issues", "body": {"title": "x", "description": text}}),
        ),
        (
            "api.batch",
            json!({"calls": [{"action": "issue.create", "params": {"fullPath": WIDGET, "title": "y", "description": text}}]}),
        ),
    ] {
        let made = execute(&mut client, action, params);
        assert!(!made.is_error, "{action}: {}", made.text);
        let offered = made.structured.to_string();
        assert!(!offered.contains("\"next\":") && !made.text.contains("Next: "), "{action}: {}", made.text);
    }
    let read = execute(&mut client, "issue.get", json!({"fullPath": WIDGET, "iid": 46}));
    let rest = &read.structured["omitted"]["description"]["next"];
    assert!(!follow(&mut client, rest).is_error, "{}", read.text);
}

#[test]
fn no_next_call_drops_one_of_several_values() {
    let mut client = Client::sandbox();
    let labels =
        json!({"fullPath": WIDGET, "iid": 5, "labels": ["bug,documentation"], "create_labels": true});
    let issue = succeed(&mut client, "issue.update", labels)["data"]["labels"].clone();
    assert_eq!(issue, json!(["bug", "documentation"]));
    let people = json!({"fullPath": WIDGET, "iid": 5, "assignee_ids": "@alice @bob"});
    let dry = client
        .call("gitlab_execute_action", json!({"action": "issue.update", "params": people, "dry_run": true}));
    assert_eq!(dry.structured["request"]["body"]["assignee_ids"], json!([3, 4]), "{}", dry.text);
    let scopes = json!({"fullPath": WIDGET, "scope": "failed,sucess"});
    let error = refused(&execute(&mut client, "job.list", scopes), "invalid_params");
    assert_eq!(error["fix"]["arguments"]["params"]["scope"], json!(["failed", "success"]), "{error}");
    let two = json!({"fullPath": "acme/vault", "user_id": "bob,carol", "access_level": "developer"});
    let error = refused(&execute(&mut client, "member.add", two), "not_found");
    assert!(!error["fix"].to_string().contains("member.add"), "{error}");
}

#[test]
fn a_merge_that_gitlab_refuses_says_what_is_in_its_way() {
    let mut client = Client::sandbox();
    for (iid, state) in [(2, "not_open"), (4, "draft_status"), (6, "not_approved")] {
        let call = json!({"action": "merge_request.merge", "params": {"fullPath": WIDGET, "iid": iid}, "confirm": true});
        let error = refused(&client.call("gitlab_execute_action", call), "conflict");
        assert_eq!(error["detailed_merge_status"], state, "{error}");
    }
}

#[test]
fn a_path_or_revision_that_is_not_there_is_named_with_the_list_of_them() {
    let mut client = Client::sandbox();
    for (action, more, part, list) in [
        ("repository.list_tree", json!({"path": "nosuch"}), "`path` nosuch", "repository.list_tree"),
        ("repository.compare", json!({"from": "main", "to": "nosuch"}), "`to` nosuch", "branch.list"),
        ("repository_file.get", json!({"file_path": "src"}), "is a folder", "repository.list_tree"),
    ] {
        let mut params = json!({"fullPath": WIDGET});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let error = refused(&execute(&mut client, action, params), "not_found");
        assert!(error["message"].as_str().unwrap().contains(part), "{error}");
        assert_eq!(error["fix"]["arguments"]["action"], list, "{error}");
        assert!(!follow(&mut client, &error["fix"]).is_error, "{error}");
    }
    let raw = json!({"method": "GET", "path": "/projects/acme/widget/issues"});
    let error = refused(&execute(&mut client, "api.rest", raw), "not_found");
    assert!(error["hint"].as_str().unwrap().contains("%2F"), "{error}");
    assert!(!follow(&mut client, &error["fix"]).is_error, "{error}");
}

#[test]
fn no_deletion_is_offered_for_a_name_in_other_capitals() {
    let mut client = Client::sandbox();
    let call =
        json!({"action": "label.delete", "params": {"fullPath": WIDGET, "name": "Bug"}, "confirm": true});
    let error = refused(&client.call("gitlab_execute_action", call), "not_found");
    assert!(error["hint"].as_str().unwrap().contains("\"bug\""), "{error}");
    assert_eq!(error["fix"]["arguments"]["action"], "label.list", "{error}");
}

/// GitLab's own specification of issues takes the weight away by `null`, its page on labels the priority, its page on
/// releases the milestones by an empty list.
#[test]
fn what_gitlab_takes_away_by_null_or_an_empty_list_is_sent() {
    let mut client = Client::sandbox();
    let mut body = |action: &str, params: Value| {
        let call = json!({"action": action, "params": params, "dry_run": true});
        let dry = client.call("gitlab_execute_action", call);
        assert!(!dry.is_error, "{}", dry.text);
        dry.structured["request"]["body"].clone()
    };
    let weight = json!({"fullPath": WIDGET, "iid": 3, "weight": null});
    assert_eq!(body("issue.update", weight), json!({"weight": null}));
    let priority = json!({"fullPath": WIDGET, "name": "bug", "priority": "none"});
    assert_eq!(body("label.update", priority), json!({"priority": null}));
    let expiry =
        json!({"fullPath": "acme", "user_id": "alice", "expires_at": "none", "access_level": "owner"});
    assert_eq!(body("member.update", expiry)["expires_at"], Value::Null);
    let milestones = json!({"fullPath": WIDGET, "tag_name": "v1.0.0", "milestones": null});
    assert_eq!(body("release.update", milestones), json!({"milestones": []}));
    let nothing = json!({"fullPath": WIDGET, "key": "OIL_GRADE", "value": null});
    let error = refused(&execute(&mut client, "ci_variable.update", nothing), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("nothing else is changed"), "{error}");
}

#[test]
fn every_missing_field_is_named_at_once() {
    let mut client = Client::sandbox();
    let position =
        json!({"fullPath": WIDGET, "iid": 5, "body": "x", "position": {"new_path": "a", "new_line": 1}});
    let error = refused(&execute(&mut client, "merge_request_discussion.create", position), "invalid_params");
    let message = error["message"].as_str().unwrap();
    for field in ["base_sha", "start_sha", "head_sha", "position_type"] {
        assert!(message.contains(&format!("`position.{field}`")), "{message}");
    }
    let files = json!({"fullPath": WIDGET, "branch": "main", "actions": [{"action": "update"}]});
    let error = refused(&execute(&mut client, "commit.create", files), "invalid_params");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("`actions.file_path`") && message.contains("`commit_message`"), "{message}");
}

#[test]
fn the_place_of_a_local_file_is_not_uploaded_as_its_content() {
    let mut client = Client::sandbox();
    for file in ["/home/me/report", "./shot", "~/shot", "../notes"] {
        let params = json!({"fullPath": WIDGET, "file": file});
        let error = refused(&execute(&mut client, "project_upload.create", params), "invalid_params");
        assert_eq!(error["fix"]["arguments"]["params"]["file"]["path"], file, "{error}");
    }
}
