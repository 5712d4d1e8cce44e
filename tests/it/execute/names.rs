//! Titles and names in place of numbers, and parameters of this server's own that stand for another call or text.

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, Reply, execute, follow, refused, succeed};
use crate::support::scripted_gitlab::{Gitlab, answer, raw};

const WIDGET: &str = "acme/widget";

fn confirmed(client: &mut Client, action: &str, params: Value) -> Reply {
    let reply = client.call(EXECUTE, json!({"action": action, "params": params, "confirm": true}));
    assert!(!reply.is_error, "{action}: {}", reply.text);
    reply
}

fn with_iid(iid: impl Into<Value>, more: &Value) -> Value {
    let mut params = json!({"fullPath": WIDGET, "iid": iid.into()});
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params
}

#[test]
fn a_title_stands_for_the_iid_in_reads_and_writes() {
    let mut client = Client::sandbox();
    let title = "Which screws are these?";
    let issue = succeed(&mut client, "issue.get", with_iid(title, &json!({})));
    assert_eq!(
        (&issue["data"]["iid"], &issue["resolved"]["iid"]),
        (&json!(15), &json!(format!("{title} -> 15")))
    );
    let params = with_iid(title.to_uppercase(), &json!({"add_labels": ["docs"]}));
    let reply = execute(&mut client, "issue.update", params);
    assert!(reply.text.starts_with("Updated: issue acme/widget#15"), "{}", reply.text);
    // The answer names the object by its number, not by what the call had.
    let note = execute(&mut client, "issue_note.create", with_iid(title, &json!({"body": "M4."})));
    assert!(note.text.lines().next().unwrap().ends_with(" in acme/widget#15."), "{}", note.text);
    // GraphQL has the iid as a text.
    let author = succeed(&mut client, "issue.get_author", with_iid(title, &json!({})));
    assert_eq!(author["resolved"]["iid"], format!("{title} -> 15"));
    let many = execute(&mut client, "issue.get", with_iid(json!([title, 3]), &json!({})));
    let rows = many.structured["data"].as_array().unwrap();
    let iids: Vec<&Value> = rows.iter().map(|row| &row["data"]["iid"]).collect();
    assert_eq!(iids, [15, 3], "{}", many.text);
}

#[test]
fn words_of_a_title_find_it_for_a_read_and_name_it_for_a_write() {
    let mut client = Client::sandbox();
    let words = "the merge request on gears with belts";
    let read = succeed(&mut client, "merge_request.get", with_iid(words, &json!({})));
    assert_eq!(read["data"]["title"], "Replace gears with belts");
    let update = json!({"title": "Belts"});
    let error = refused(&execute(&mut client, "merge_request.update", with_iid(words, &update)), "not_found");
    assert_eq!(error["fix"]["arguments"]["params"], with_iid(3, &update), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("3 \"Replace gears with belts\""), "{error}");
    let reply = follow(&mut client, &error["fix"]);
    assert_eq!(reply.structured["data"]["title"], "Belts");
    // Several: they are named, and `fix` lists them.
    let error =
        refused(&execute(&mut client, "issue.get", with_iid("the screws issue", &json!({}))), "not_found");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("15 \"Which screws are these?\"") && hint.contains("33 "), "{error}");
    let listed = follow(&mut client, &error["fix"]);
    assert_eq!(listed.structured["data"].as_array().unwrap().len(), 2, "{}", listed.text);
    // None: `fix` lists what there is.
    let error =
        refused(&execute(&mut client, "issue.get", with_iid("login trouble", &json!({}))), "not_found");
    assert!(error["message"].as_str().unwrap().contains("no issue in `acme/widget`"), "{error}");
    let listed = follow(&mut client, &error["fix"]);
    assert!(!listed.structured["data"].as_array().unwrap().is_empty(), "{}", listed.text);
}

#[test]
fn titles_are_looked_up_each_time_and_two_alike_are_an_error() {
    let mut client = Client::sandbox();
    let title = "Which screws are these?";
    let number = |client: &mut Client| {
        let issue = execute(client, "issue.get", with_iid(title, &json!({})));
        (!issue.is_error).then(|| issue.structured["data"]["iid"].clone())
    };
    assert_eq!(number(&mut client), Some(json!(15)));
    succeed(&mut client, "issue.update", with_iid(15, &json!({"title": "Those bolts"})));
    let made = succeed(&mut client, "issue.create", json!({"fullPath": WIDGET, "title": title}));
    assert_eq!(number(&mut client), Some(made["data"]["iid"].clone()));
    succeed(&mut client, "issue.create", json!({"fullPath": WIDGET, "title": title}));
    let error = refused(&execute(&mut client, "issue.get", with_iid(title, &json!({}))), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("with the iid 46"), "{error}");
    let listed = follow(&mut client, &error["fix"]);
    assert_eq!(listed.structured["data"].as_array().unwrap().len(), 2, "{}", listed.text);
}

#[test]
fn an_epic_is_found_by_its_title_where_the_path_needs_its_id() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": "acme", "iid": "Widgets that whisper"});
    assert_eq!(succeed(&mut client, "epic.get", params.clone())["data"]["iid"], 1);
    let mut note = params;
    note["body"] = json!("Hush.");
    let reply = execute(&mut client, "epic_note.create", note);
    assert_eq!(reply.structured["data"]["noteable_iid"], 1, "{}", reply.text);
}

#[test]
fn tokens_and_board_lists_have_names() {
    let mut client = Client::sandbox();
    for (action, params, id) in [
        ("deploy_token.get", json!({"token_id": "puller"}), json!(1)),
        ("project_access_token.get", json!({"token_id": "ci"}), json!(51)),
        ("board_list.get", json!({"board_id": "Development", "list_id": "bug"}), json!(1)),
    ] {
        let mut params = params;
        params["fullPath"] = json!(WIDGET);
        assert_eq!(succeed(&mut client, action, params)["data"]["id"], id, "{action}");
    }
    let puller = json!({"fullPath": WIDGET, "token_id": "puller"});
    confirmed(&mut client, "deploy_token.delete", puller.clone());
    let error = refused(&execute(&mut client, "deploy_token.get", puller), "not_found");
    assert_eq!(error["fix"]["arguments"]["action"], "deploy_token.list", "{error}");
}

#[test]
fn a_package_is_looked_up_by_its_name() {
    let gitlab = Gitlab::with_project();
    let rows = json!([{"id": 8, "name": "widget-cli"}, {"id": 9, "name": "widget"}]);
    gitlab.answer("GET", "/packages", answer(200, rows));
    gitlab.answer("GET", "/packages/9", answer(200, json!({"id": 9, "name": "widget", "version": "1.0"})));
    let mut client = gitlab.client(&[]);
    let params = json!({"fullPath": WIDGET, "package_id": "widget"});
    assert_eq!(succeed(&mut client, "package.get", params)["data"]["version"], "1.0");
    assert!(gitlab.last("/packages?").line.contains("package_name=widget"), "{:?}", gitlab.seen());
}

#[test]
fn two_tokens_of_a_name_are_an_error_with_both_ids() {
    let mut client = Client::sandbox();
    let token = json!({"fullPath": WIDGET, "name": "puller", "scopes": ["read_registry"]});
    confirmed(&mut client, "deploy_token.create", token);
    let params = json!({"fullPath": WIDGET, "token_id": "puller"});
    let error = refused(&execute(&mut client, "deploy_token.delete", params), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("with the id 1 or "), "{error}");
    let listed = follow(&mut client, &error["fix"]);
    assert_eq!(listed.structured["data"].as_array().unwrap().len(), 2, "{}", listed.text);
}

#[test]
fn the_name_of_a_flag_is_that_of_the_flag_to_change() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "name": "whisper_mode", "active": true});
    let reply = execute(&mut client, "feature_flag.update", params);
    assert!(reply.text.contains("`name` as `feature_flag_name`"), "{}", reply.text);
    let shown = json!({"fullPath": WIDGET, "feature_flag_name": "whisper_mode"});
    assert_eq!(succeed(&mut client, "feature_flag.get", shown.clone())["data"]["active"], true);
    // With both, `name` is the new one.
    let mut renamed = shown;
    renamed["name"] = json!("quiet_mode");
    let reply = execute(&mut client, "feature_flag.update", renamed);
    assert_eq!(reply.structured["data"]["name"], "quiet_mode", "{}", reply.text);
}

#[test]
fn draft_is_a_mark_before_the_title() {
    let mut client = Client::sandbox();
    let title = |client: &mut Client, params: Value| {
        let reply = execute(client, "merge_request.update", with_iid(4, &params));
        assert!(!reply.is_error, "{}", reply.text);
        let shown = succeed(client, "merge_request.get", with_iid(4, &json!({})));
        shown["data"]["title"].as_str().unwrap().to_owned()
    };
    assert_eq!(title(&mut client, json!({"draft": false})), "Count the turns");
    assert_eq!(title(&mut client, json!({"draft": true})), "Draft: Count the turns");
    assert_eq!(title(&mut client, json!({"draft": true})), "Draft: Count the turns");
    assert_eq!(title(&mut client, json!({"draft": false, "title": "[Draft] Turns"})), "Turns");
    let params = json!({
        "fullPath": WIDGET, "source_branch": "quieter", "target_branch": "main", "title": "Quiet", "draft": true,
    });
    let branch = json!({"fullPath": WIDGET, "branch": "quieter", "ref": "quiet-gears"});
    succeed(&mut client, "branch.create", branch);
    let made = execute(&mut client, "merge_request.create", params);
    assert_eq!(made.structured["data"]["title"], "Draft: Quiet", "{}", made.text);
    let listed = succeed(&mut client, "merge_request.list", json!({"fullPath": WIDGET, "draft": true}));
    let titles: Vec<&Value> = listed["data"].as_array().unwrap().iter().map(|row| &row["title"]).collect();
    assert!(titles.contains(&&json!("Draft: Quiet")) && !titles.contains(&&json!("Turns")), "{titles:?}");
}

/// The actions of the calls of a batch.
fn actions_of(reply: &Reply) -> Vec<&str> {
    let calls = reply.structured["data"].as_array().unwrap();
    calls.iter().map(|call| call["action"].as_str().unwrap()).collect()
}

/// Estimate and time spent of an issue, in seconds.
fn time_stats(client: &mut Client, project: &str, iid: u64) -> [u64; 2] {
    let stats = succeed(client, "issue.get_time_stats", json!({"fullPath": project, "iid": iid}));
    ["time_estimate", "total_time_spent"].map(|name| stats["data"][name].as_u64().unwrap())
}

#[test]
fn an_update_estimates_and_logs_time_with_a_comment() {
    for (place, number) in [("fullPath", "iid"), ("project_id", "issue_iid")] {
        let mut client = Client::sandbox();
        let params = json!({
            place: WIDGET, number: 1,
            "time_estimate": "4h", "spent": "1h30m", "comment": "Took longer.", "weight": 3,
        });
        let reply = execute(&mut client, "issue.update", params);
        assert!(!reply.is_error, "{}", reply.text);
        let expected =
            ["issue_note.create", "issue.update", "issue.set_time_estimate", "issue.add_spent_time"];
        assert_eq!(actions_of(&reply), expected, "{}", reply.text);
        assert_eq!(time_stats(&mut client, WIDGET, 1), [14_400, 5_400]);
    }
    let mut client = Client::sandbox();
    // Nothing but time is one call.
    let reply = execute(&mut client, "merge_request.update", with_iid(5, &json!({"time_estimate": "2h"})));
    assert_eq!(reply.structured["data"]["time_estimate"], 7_200, "{}", reply.text);
}

#[test]
fn a_companion_has_the_project_of_its_call_by_any_spelling() {
    let mut client = Client::sandbox_with(&[("GITLAB_PROJECT", "acme/site")]);
    let before = time_stats(&mut client, "acme/site", 1);
    let params = json!({"project_id": WIDGET, "iid": 1, "title": "Rattle", "time_spent": "1h"});
    let reply = execute(&mut client, "issue.update", params);
    assert!(!reply.is_error, "{}", reply.text);
    assert_eq!(actions_of(&reply), ["issue.update", "issue.add_spent_time"], "{}", reply.text);
    assert_eq!(time_stats(&mut client, WIDGET, 1)[1], 3_600);
    assert_eq!(time_stats(&mut client, "acme/site", 1), before);
    let issue = succeed(&mut client, "issue.get", with_iid(1, &json!({})));
    assert_eq!(issue["data"]["title"], "Rattle");
}

#[test]
fn two_spellings_of_a_companion_are_refused() {
    let mut client = Client::sandbox();
    let params = with_iid(1, &json!({"time_spent": "1h", "spent": "2h"}));
    let error = refused(&execute(&mut client, "issue.update", params), "invalid_params");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("`time_spent`") && message.contains("`spent`"), "{error}");
    assert_eq!(time_stats(&mut client, WIDGET, 1)[1], 0);
}

#[test]
fn companions_have_one_order_by_number_title_and_page() {
    let title = "Which screws are these?";
    let changes = json!({"title": "Those bolts", "comment": "M4.", "time_spent": "1h"});
    for iid in [json!(15), json!(title), json!([title]), json!("acme/widget#15")] {
        // The project is that of the reference, not the default one.
        let mut client = Client::sandbox_with(&[("GITLAB_PROJECT", "acme/site")]);
        let mut params = with_iid(iid.clone(), &changes);
        if iid == "acme/widget#15" {
            params.as_object_mut().unwrap().remove("fullPath");
        }
        let reply = execute(&mut client, "issue.update", params);
        assert!(!reply.is_error, "{}", reply.text);
        let expected = ["issue_note.create", "issue.update", "issue.add_spent_time"];
        assert_eq!(actions_of(&reply), expected, "{iid}: {}", reply.text);
        assert_eq!(time_stats(&mut client, WIDGET, 15)[1], 3_600, "{iid}");
        let issue = succeed(&mut client, "issue.get", with_iid(15, &json!({})));
        assert_eq!(issue["data"]["title"], "Those bolts", "{iid}");
    }
}

#[test]
fn the_corrected_call_of_a_title_keeps_its_companions() {
    let mut client = Client::sandbox();
    let params = with_iid("Which scrws are these?", &json!({"state_event": "close", "comment": "M4."}));
    let error = refused(&execute(&mut client, "issue.update", params), "not_found");
    assert_eq!(
        error["fix"]["arguments"]["params"],
        with_iid(15, &json!({"state_event": "close", "comment": "M4."})),
        "{error}"
    );
    let notes = succeed(&mut client, "issue_note.list", with_iid(15, &json!({})));
    assert!(!notes.to_string().contains("M4."), "{notes}");
    let reply = follow(&mut client, &error["fix"]);
    assert_eq!(actions_of(&reply), ["issue_note.create", "issue.update"], "{}", reply.text);
}

#[test]
fn a_page_or_a_reference_replaces_the_number() {
    let mut client = Client::sandbox();
    let page = |client: &mut Client, action: &str, params: Value| {
        succeed(client, action, params)["data"]["web_url"].as_str().unwrap().to_owned()
    };
    let issue = page(&mut client, "issue.get", with_iid(3, &json!({})));
    let notes = succeed(&mut client, "issue_note.list", with_iid(1, &json!({})));
    let note = notes["data"][0]["id"].clone();
    let anchor = format!("{}#note_{note}", issue.replace("issues/3", "issues/1"));
    let pipeline = page(&mut client, "pipeline.get", json!({"fullPath": WIDGET, "pipeline_id": 302}));
    let commit = page(&mut client, "commit.get", json!({"fullPath": WIDGET, "sha": "main"}));
    let sha = commit.rsplit('/').next().unwrap();
    for (action, params, field, expected) in [
        ("issue.get", json!({"iid": issue}), "iid", json!(3)),
        ("issue.get", json!({"issue_iid": "acme/widget#3"}), "iid", json!(3)),
        ("merge_request.get", json!({"iid": "acme/widget!5", "fullPath": WIDGET}), "iid", json!(5)),
        ("epic.get", json!({"iid": "acme&1"}), "iid", json!(1)),
        ("issue_note.get", json!({"note_id": anchor}), "id", note),
        ("pipeline.get", json!({"pipeline_id": pipeline}), "id", json!(302)),
        ("commit.get", json!({"sha": commit}), "id", json!(sha)),
    ] {
        assert_eq!(succeed(&mut client, action, params)["data"][field], expected, "{action}");
    }
    let other_kind = execute(&mut client, "merge_request.get", json!({"iid": "acme/widget#3"}));
    let error = refused(&other_kind, "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("is an issue"), "{error}");
    let other_host = json!({"iid": "https://gitlab.example.com/acme/widget/-/issues/3"});
    let error = refused(&execute(&mut client, "issue.get", other_host), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("gitlab.example.com"), "{error}");
    let other_project = with_iid("acme/site#1", &json!({}));
    let error = refused(&execute(&mut client, "issue.get", other_project), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("`target` has acme/site"), "{error}");
    // A branch may be called like a reference.
    let branch = json!({"fullPath": WIDGET, "branch": "topic#12", "ref": "main"});
    succeed(&mut client, "branch.create", branch);
    let read = succeed(&mut client, "branch.get", json!({"fullPath": WIDGET, "branch": "topic#12"}));
    assert_eq!(read["data"]["name"], "topic#12");
}

#[test]
fn the_object_is_given_by_its_kind_or_by_the_field_that_names_it() {
    let mut client = Client::sandbox();
    for (action, params, field, expected) in [
        ("milestone.get", json!({"title": "v1.0"}), "iid", json!(1)),
        ("environment.get", json!({"name": "Production"}), "name", json!("production")),
        ("label.get", json!({"label": "bug"}), "name", json!("bug")),
        ("issue.get", json!({"title": "Which screws are these?"}), "iid", json!(15)),
    ] {
        let mut params = params;
        params["fullPath"] = json!(WIDGET);
        assert_eq!(succeed(&mut client, action, params)["data"][field], expected, "{action}");
    }
    let epic = succeed(&mut client, "epic.get", json!({"fullPath": "acme", "epic": "&1"}));
    assert_eq!(epic["data"]["iid"], 1);
    // The new title of a milestone is not the name of the one to change, unless it is not new.
    let params = json!({"fullPath": WIDGET, "title": "v1.9", "state_event": "close"});
    let error = refused(&execute(&mut client, "milestone.update", params), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("`milestone_id` is missing"), "{error}");
}

#[test]
fn a_state_is_accepted_for_the_event_that_leads_to_it() {
    let mut client = Client::sandbox();
    for (state, event) in [("closed", "close"), ("Open", "reopen")] {
        let reply = execute(&mut client, "issue.update", with_iid(3, &json!({"state_event": state})));
        assert!(!reply.is_error, "{}", reply.text);
        assert!(reply.text.contains(&format!("as `{event}`")), "{}", reply.text);
        let shown = succeed(&mut client, "issue.get", with_iid(3, &json!({})));
        assert_eq!(shown["data"]["state"], if event == "close" { "closed" } else { "opened" });
    }
}

#[test]
fn me_is_the_user_of_the_token_in_filters_by_username() {
    let mut client = Client::sandbox();
    let mut listed = |action: &str, filter: Value| {
        let mut params = json!({"fullPath": WIDGET});
        params.as_object_mut().unwrap().extend(filter.as_object().unwrap().clone());
        let reply = execute(&mut client, action, params);
        let rows = reply.structured["data"].as_array().unwrap().iter();
        (rows.map(|row| row["iid"].clone()).collect::<Vec<_>>(), reply.text)
    };
    for (action, mine, same, id) in [
        ("merge_request.list", json!({"reviewer": "me"}), json!({"reviewer": "sandbox"}), "reviewer_id"),
        ("issue.list", json!({"assignee": ["@me"]}), json!({"assignee": "sandbox"}), "assignee_id"),
        ("issue.list", json!({"author": "Me"}), json!({"author": "sandbox"}), "author_id"),
    ] {
        let (mine, text) = listed(action, mine);
        assert!(text.contains(&format!("Resolved: {id}: me -> 2")), "{text}");
        assert!(!mine.is_empty(), "{action} by {id}");
        assert_eq!(mine, listed(action, same).0, "{action} by {id}");
    }
}

#[test]
fn a_misspelled_name_is_answered_with_a_similar_one() {
    let mut client = Client::sandbox();
    for (action, param, given, right) in [
        ("milestone.get", "milestone_id", "v1,0", "v1.0"),
        ("branch.get", "branch", "quiet-gear", "quiet-gears"),
        ("label.get", "name", "bugs", "bug"),
    ] {
        let params = json!({"fullPath": WIDGET, param: given});
        let error = refused(&execute(&mut client, action, params), "not_found");
        assert_eq!(error["hint"], format!("Did you mean \"{right}\"?"), "{action}");
        let fix = &error["fix"]["arguments"];
        assert_eq!((&fix["action"], &fix["params"][param]), (&json!(action), &json!(right)), "{error}");
        assert!(!follow(&mut client, &error["fix"]).is_error);
    }
    // A deletion is not offered for another name.
    let params = json!({"fullPath": WIDGET, "branch": "quiet-gear"});
    let call = json!({"action": "branch.delete", "params": params, "confirm": true});
    let error = refused(&client.call(EXECUTE, call), "not_found");
    assert_eq!(error["fix"]["arguments"]["action"], "branch.list", "{error}");
    // A list of names is not rewritten: the hint has the right name.
    let params = with_iid(3, &json!({"milestone_id": "v1,1"}));
    let error = refused(&execute(&mut client, "issue.update", params), "not_found");
    assert_eq!(error["hint"], "Did you mean \"v1.1\"?", "{error}");
}

#[test]
fn a_job_is_the_newest_of_its_name_for_reads() {
    let mut client = Client::sandbox();
    let jobs = succeed(&mut client, "job.list", json!({"fullPath": WIDGET, "per_page": 100}));
    let ids = jobs["data"].as_array().unwrap().iter().filter(|job| job["name"] == "lint");
    let ids: Vec<u64> = ids.map(|job| job["id"].as_u64().unwrap()).collect();
    let newest = ids.iter().max().unwrap();
    let read = succeed(&mut client, "job.get", json!({"fullPath": WIDGET, "job_id": "lint"}));
    assert_eq!(read["data"]["id"], *newest);
    assert_eq!(read["resolved"]["job_id"], format!("lint -> {newest}"));
    let retry = execute(&mut client, "job.retry", json!({"fullPath": WIDGET, "job_id": "lint"}));
    let error = refused(&retry, "invalid_params");
    let message = error["message"].as_str().unwrap();
    assert!(ids.len() > 1 && ids.iter().all(|id| message.contains(&format!("with the id {id}"))), "{error}");
}

#[test]
fn the_latest_pipeline_is_named_by_its_id_in_the_answer() {
    let mut client = Client::sandbox();
    let latest = json!({"fullPath": WIDGET, "pipeline_id": "latest"});
    let id = succeed(&mut client, "pipeline.get", latest.clone())["data"]["id"].clone();
    let reply = execute(&mut client, "pipeline.retry", latest);
    let first = reply.text.lines().next().unwrap();
    assert!(first.ends_with(&format!("pipeline {id} in acme/widget.")), "{first}");
}

#[test]
fn a_line_of_code_keeps_its_indentation() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "file_path": "src/main.rs", "ref": "main"});
    let reply = execute(&mut client, "repository_file.blame", params);
    let line = "lines: 4:     println!(\"Hello from everybody at acme\");\n";
    assert!(reply.text.contains(line), "{}", reply.text);
}

#[test]
fn a_comment_with_a_thread_is_its_answer() {
    let mut client = Client::sandbox();
    let threads = succeed(&mut client, "merge_request_discussion.list", with_iid(12, &json!({})));
    let thread =
        threads["data"].as_array().unwrap().iter().find(|thread| thread["resolved"] == false).unwrap();
    let before = thread["notes"].as_array().unwrap().len();
    let params = with_iid(12, &json!({"body": "Tested.", "discussion_id": thread["id"]}));
    let reply = execute(&mut client, "merge_request_note.create", params);
    assert!(!reply.is_error, "{}", reply.text);
    let params = with_iid(12, &json!({"discussion_id": thread["id"]}));
    let after = succeed(&mut client, "merge_request_discussion.get", params);
    let notes = after["data"]["notes"].as_array().unwrap();
    assert_eq!((notes.len(), &notes[before]["body"]), (before + 1, &json!("Tested.")), "{after}");
}

#[test]
fn a_parameter_of_another_action_with_the_same_effect_names_it() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "sha": "main", "note": "Hm.", "discussion_id": "abc"});
    let error = refused(&execute(&mut client, "commit_comment.create", params.clone()), "invalid_params");
    assert_eq!(error["message"], "commit_comment.create: there is no parameter `discussion_id`");
    assert_eq!(error["fix"]["arguments"]["action"], "commit_discussion_note.create", "{error}");
    assert_eq!(error["fix"]["arguments"]["params"], params, "{error}");
}

#[test]
fn an_unknown_parameter_is_answered_with_the_known_ones_once() {
    let mut client = Client::sandbox();
    let params = with_iid(1, &json!({"frobnicate": 1, "state_event": "close"}));
    let reply = execute(&mut client, "issue.update", params);
    assert_eq!(reply.text.matches("confidential").count(), 1, "{}", reply.text);
    assert_eq!(reply.text.matches("discussion_locked").count(), 1, "{}", reply.text);
}

#[test]
fn members_are_direct_or_inherited_ones_by_a_flag() {
    let mut client = Client::sandbox();
    let list = |client: &mut Client, params: Value| {
        let reply = execute(client, "member.list", params);
        let rows = reply.structured["data"].as_array().unwrap();
        let names: Vec<String> =
            rows.iter().map(|row| row["username"].as_str().unwrap().to_owned()).collect();
        (names, reply.text)
    };
    let (members, text) = list(&mut client, json!({"fullPath": WIDGET}));
    assert_eq!(members, ["carol", "sandbox", "alice", "bob"]);
    assert!(!text.contains("direct members only"), "{text}");
    let (direct, _) = list(&mut client, json!({"fullPath": WIDGET, "inherited": "false"}));
    assert_eq!(direct, ["carol"]);
    let (all, _) = list(&mut client, json!({"fullPath": WIDGET, "inherited": true}));
    assert_eq!(all, members);
}

#[test]
fn members_are_listed_with_the_place_that_they_come_from() {
    let mut client = Client::sandbox();
    for action in ["member.list", "member.list_all"] {
        let rows = succeed(&mut client, action, json!({"fullPath": WIDGET}))["data"].clone();
        let from = |name: &str| {
            let row = rows.as_array().unwrap().iter().find(|row| row["username"] == name);
            row.map(|row| row["from"].clone()).unwrap_or_default()
        };
        assert_eq!((from("carol"), from("bob")), (json!("direct"), json!("acme")), "{action}: {rows}");
    }
    // GitLab answers 404: he is a member of the group.
    let params = json!({"fullPath": WIDGET, "user_id": "bob"});
    let call = json!({"action": "member.remove", "params": params, "confirm": true});
    let error = refused(&client.call(EXECUTE, call), "not_found");
    assert!(error["message"].as_str().unwrap().contains("through the group \"acme\""), "{error}");
    assert!(!follow(&mut client, &error["fix"]).is_error, "{error}");
}

#[test]
fn lines_of_a_blame_have_numbers() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "file_path": "src/widget/gear.rs", "ref": "quiet-gears"});
    let reply = execute(&mut client, "repository_file.blame", params.clone());
    assert!(reply.text.contains("\n5:     teeth: u32,\n"), "{}", reply.text);
    let rows = reply.structured["data"].as_array().unwrap();
    let (first, second) = (&rows[0], &rows[1]);
    assert_eq!(first["title"], "Begin the widget");
    assert!(reply.text.contains("In every row: author_name: Alice Ambler"), "{}", reply.text);
    assert!(first["lines"].as_str().unwrap().starts_with("1: //! Gears.\n2: "), "{first}");
    assert_eq!(second["title"], "Oil the gears");
    assert!(second["lines"].as_str().unwrap().starts_with("3: /// A wheel"), "{second}");
    // Fields that are asked for are GitLab's own.
    let own = json!({"action": "repository_file.blame", "params": params, "fields": ["commit.author_email"]});
    assert_eq!(
        client.call(EXECUTE, own).structured["data"][0]["commit"]["author_email"],
        "alice@acme.example"
    );
}

#[test]
fn the_diff_of_a_branch_names_its_commit() {
    let mut client = Client::sandbox();
    let diff = |client: &mut Client, sha: &str| {
        execute(client, "commit.diff", json!({"fullPath": WIDGET, "sha": sha})).text
    };
    let id = json!({"action": "commit.get", "params": {"fullPath": WIDGET, "sha": "main"}, "fields": ["id"]});
    let id = client.call(EXECUTE, id).structured["data"]["id"].as_str().unwrap().to_owned();
    let of_branch = diff(&mut client, "main");
    let expected = format!("Note: \"main\" is commit {}, \"Thank everybody\"", &id[..8]);
    assert!(of_branch.contains(&expected), "{of_branch}");
    assert!(!diff(&mut client, &id).contains("is commit"));
}

#[test]
fn an_empty_list_names_its_filters_and_the_call_without_the_narrowest() {
    let mut client = Client::sandbox();
    let params =
        json!({"fullPath": WIDGET, "state": "closed", "labels": ["bug"], "search": "zzz", "per_page": 5});
    let reply = execute(&mut client, "issue.list", params.clone());
    assert!(reply.text.starts_with("Nothing found with state, labels, search.\nWider: "), "{}", reply.text);
    let mut wider = params;
    wider.as_object_mut().unwrap().remove("search");
    assert_eq!(reply.structured["wider"]["arguments"]["params"], wider, "{}", reply.text);
    assert!(!follow(&mut client, &reply.structured["wider"]).is_error);
    let filters = |client: &mut Client, action: &str, params: Value| {
        let reply = execute(client, action, params);
        assert!(!reply.is_error, "{}", reply.text);
        reply.structured["filters"].clone()
    };
    let late = "2099-01-01";
    let params = json!({"fullPath": WIDGET, "within": "project", "updated_after": late});
    assert_eq!(filters(&mut client, "merge_request.list", params), json!(["updated_after"]));
    // The server adds `updated_after` for its own filter.
    let params = json!({"fullPath": WIDGET, "within": "project", "merged_after": late});
    assert_eq!(filters(&mut client, "merge_request.list", params), json!(["merged_after"]));
    let params = json!({"fullPath": WIDGET, "ref": "no-such-branch"});
    assert_eq!(filters(&mut client, "pipeline.list", params), json!(["ref"]));
    let params = json!({"fullPath": WIDGET, "within": "project", "after": late});
    assert_eq!(filters(&mut client, "event.list", params), json!(["after"]));
    // A list without a filter is just empty.
    let reply = execute(&mut client, "remote_mirror.list", json!({"fullPath": WIDGET}));
    assert_eq!(reply.text.trim(), "Nothing found: no remote mirror.");
    assert!(reply.structured.get("wider").is_none(), "{}", reply.structured);
}

#[test]
fn receipts_of_large_objects_say_what_changed_and_where_it_is() {
    let mut client = Client::sandbox();
    let fork = execute(&mut client, "project.fork", json!({"fullPath": "acme/site"}));
    let data = &fork.structured["data"];
    assert_eq!(
        (&data["path_with_namespace"], &data["visibility"]),
        (&json!("sandbox/site"), &json!("public"))
    );
    assert!(data["web_url"].is_string() && data.get("merge_method").is_none(), "{data}");
    let star = execute(&mut client, "project.star", json!({"fullPath": "acme/tools/widget-cli"}));
    assert_eq!(star.structured["data"]["star_count"], 1, "{}", star.text);
    let archived = confirmed(&mut client, "project.archive", json!({"fullPath": "sandbox/site"}));
    assert_eq!(archived.structured["data"]["archived"], true, "{}", archived.text);
    for reply in [&fork, &star, &archived] {
        assert!(reply.text.len() < 500, "{}", reply.text);
    }
}

#[test]
fn a_new_object_is_described_with_what_was_set_and_no_secret() {
    let mut client = Client::sandbox();
    let first = |reply: &Reply| reply.text.lines().next().unwrap().to_owned();
    let params = json!({
        "fullPath": WIDGET, "title": "Handle rattles", "labels": ["bug"], "assignee_ids": ["alice"],
        "due_date": "2026-04-01", "description": "It does.",
    });
    let issue = execute(&mut client, "issue.create", params);
    assert_eq!(first(&issue), "Created: issue acme/widget#46 \"Handle rattles\".");
    for set in ["labels: \"bug\"", "assignees: \"alice\"", "due_date: 2026-04-01"] {
        assert!(issue.text.contains(&format!("\n{set}\n")), "{}", issue.text);
    }
    let params = json!({
        "fullPath": WIDGET, "key": "OIL_TOKEN", "value": "abcDEF1234567890", "masked": true, "protected": true,
        "environment_scope": "production", "description": "Oils the gears. ".repeat(20),
    });
    let variable = confirmed(&mut client, "ci_variable.create", params);
    assert_eq!(
        first(&variable),
        "Created: ci variable \"OIL_TOKEN\" in acme/widget. Set: value, description."
    );
    for set in ["protected, masked: true", "environment_scope: \"production\""] {
        assert!(variable.text.contains(&format!("\n{set}")), "{}", variable.text);
    }
    assert!(!variable.text.contains("abcDEF1234567890"), "{}", variable.text);
    let params = json!({
        "fullPath": WIDGET, "url": "https://bot:hunter2pass@git.example.com/acme/widget.git", "enabled": true,
    });
    // In the text of a long answer with what was set, and of a short one without.
    let gitlab = Gitlab::with_project();
    let long = json!({"id": 1, "url": params["url"], "enabled": true, "avatar_url": "a".repeat(500)});
    gitlab.answer("POST", "/remote_mirrors", answer(201, long));
    for (client, is_long) in [(&mut gitlab.client(&[]), true), (&mut client, false)] {
        let mirror = confirmed(client, "remote_mirror.create", params.clone());
        assert_eq!(first(&mirror).contains(WIDGET), is_long, "{}", mirror.text);
        assert!(mirror.text.contains("enabled: true"), "{}", mirror.text);
        assert_eq!(mirror.structured["changed"], first(&mirror));
        assert!(!mirror.text.contains("hunter2pass"), "{}", mirror.text);
        assert!(!mirror.structured.to_string().contains("hunter2pass"), "{}", mirror.structured);
    }
    // A number is shown, also if the number of the object has its digits.
    let update = execute(&mut client, "issue.update", with_iid(1, &json!({"weight": 1})));
    assert!(update.text.contains("\nweight: 1"), "{}", update.text);
}

#[test]
fn the_value_of_a_header_of_a_webhook_is_not_shown() {
    let gitlab = Gitlab::with_project();
    for place in ["custom_headers", "url_variables"] {
        let line = format!("PUT /api/v4/projects/acme%2Fwidget/hooks/3/{place}/X-Key");
        gitlab.says(&line, [answer(200, json!({"key": "X-Key", "avatar_url": "a".repeat(300)}))]);
    }
    let mut client = gitlab.client(&[]);
    for action in ["webhook.set_custom_header", "webhook.set_url_variable"] {
        let params = json!({
            "fullPath": WIDGET, "scope": "project", "hook_id": 3, "key": "X-Key", "value": "hunter2pass",
        });
        let header = confirmed(&mut client, action, params);
        assert!(header.text.lines().next().unwrap().ends_with(" Set: value."), "{}", header.text);
        assert!(!header.text.contains("hunter2pass"), "{}", header.text);
    }
}

#[test]
fn branches_and_merge_requests_are_filtered_by_merges() {
    let gitlab = Gitlab::with_project();
    let branch = |name: &str, merged: bool| json!({"name": name, "merged": merged});
    let first = answer(200, json!([branch("a", true), branch("b", false)])).header("x-next-page", "2");
    gitlab.says(
        "GET /api/v4/projects/acme%2Fwidget/repository/branches",
        [first.header("x-page", "1"), answer(200, json!([branch("c", true)])).header("x-page", "2")],
    );
    let request = |iid: u64, merged_at: Value| json!({"iid": iid, "title": "x", "state": "merged", "merged_at": merged_at});
    let rows = json!([
        request(1, json!("2026-01-31T23:30:00.000-02:00")),
        request(2, json!("2026-01-31T23:30:00.000Z")),
        request(3, json!("2026-01-01T00:00:00.000Z")),
        request(4, json!(null)),
    ]);
    gitlab.answer("GET", "/merge_requests", answer(200, rows));
    let mut client = gitlab.client(&[]);
    let names = |data: &Value, key: &str| -> Vec<Value> {
        data["data"].as_array().unwrap().iter().map(|row| row[key].clone()).collect()
    };
    let merged = succeed(&mut client, "branch.list", json!({"fullPath": WIDGET, "merged": true}));
    assert_eq!(names(&merged, "name"), ["a", "c"], "{merged}");
    let params = json!({
        "fullPath": WIDGET, "within": "project", "merged_after": "2026-01-01", "merged_before": "2026-02-01",
    });
    let merged = succeed(&mut client, "merge_request.list", params);
    assert_eq!(names(&merged, "iid"), [2, 3], "{merged}");
    let line = gitlab.last("/merge_requests?").line;
    assert!(line.contains("updated_after=2026-01-01") && !line.contains("merged_"), "{line}");
}

#[test]
fn a_name_that_says_a_state_sets_it() {
    let mut client = Client::sandbox();
    let runner = json!({"runner_id": "the one under the stairs"});
    let reply = execute(&mut client, "runner.pause", runner);
    assert!(reply.text.contains("`runner.update` with `paused: true`"), "{}", reply.text);
    assert_eq!(reply.structured["data"]["paused"], true);
    let ready = execute(&mut client, "merge_request.mark_as_ready", with_iid(4, &json!({})));
    assert!(
        ready.text.starts_with("Updated: merge request acme/widget!4 \"Count the turns\""),
        "{}",
        ready.text
    );
}

#[test]
fn a_cherry_pick_begins_a_branch_and_variables_are_pairs() {
    let mut client = Client::sandbox();
    let pick = json!({"fullPath": WIDGET, "sha": "quiet-gears", "branch": "pick", "start_branch": "main"});
    let reply = execute(&mut client, "commit.cherry_pick", pick);
    assert!(!reply.is_error, "{}", reply.text);
    let head = succeed(&mut client, "commit.get", json!({"fullPath": WIDGET, "sha": "pick"}));
    assert_eq!(head["data"]["title"], "Say that they are quiet");
    // The branch would be created for real.
    for action in ["commit.cherry_pick", "commit.revert"] {
        let params = json!({
            "fullPath": WIDGET, "sha": "quiet-gears", "branch": "trial", "start_branch": "main", "dry_run": true,
        });
        let error = refused(&execute(&mut client, action, params), "invalid_params");
        assert!(error["hint"].as_str().unwrap().contains("branch.create"), "{error}");
        let branch = execute(&mut client, "branch.get", json!({"fullPath": WIDGET, "branch": "trial"}));
        refused(&branch, "not_found");
    }
    // Two commits begin one branch.
    let picks = json!({
        "fullPath": WIDGET, "sha": ["quiet-gears", "quiet-gears"], "branch": "picks", "start_branch": "main",
    });
    let picks =
        client.call(EXECUTE, json!({"action": "commit.cherry_pick", "params": picks, "dry_run": true}));
    assert_eq!(picks.structured.to_string().matches("branch.create").count(), 1, "{}", picks.structured);
    let params = json!({"fullPath": WIDGET, "ref": "main", "variables": {"SPEED": "slow", "TURNS": "4"}});
    let made = client.call(EXECUTE, json!({"action": "pipeline.create", "params": params, "dry_run": true}));
    let pairs = json!([{"key": "SPEED", "value": "slow"}, {"key": "TURNS", "value": "4"}]);
    assert_eq!(made.structured["request"]["body"]["variables"], pairs, "{}", made.text);
}

#[test]
fn an_issue_joins_the_epic_of_that_title() {
    let mut client = Client::sandbox();
    let epic = json!({"fullPath": "acme", "iid": "One shop front"});
    let epic =
        client.call(EXECUTE, json!({"action": "epic.get", "params": epic, "fields": ["id"]})).structured;
    let params = with_iid(6, &json!({"epic_id": "One shop front"}));
    let call = json!({"action": "issue.update", "params": params, "dry_run": true});
    let reply = client.call(EXECUTE, call);
    assert_eq!(reply.structured["request"]["body"]["epic_id"], epic["data"]["id"], "{}", reply.text);
}

#[test]
fn titles_of_epics_are_looked_up_each_time() {
    let mut client = Client::sandbox();
    let title = "One shop front";
    let number = |client: &mut Client| {
        let params = with_iid(6, &json!({"epic_id": title}));
        let call = json!({"action": "issue.update", "params": params, "dry_run": true});
        client.call(EXECUTE, call).structured["request"]["body"]["epic_id"].clone()
    };
    let before = number(&mut client);
    let rename = json!({"fullPath": "acme", "iid": title, "title": "Two shop fronts"});
    succeed(&mut client, "epic.update", rename);
    let made = json!({"fullPath": "acme", "title": title});
    let made = client.call(EXECUTE, json!({"action": "epic.create", "params": made, "fields": ["id"]}));
    let after = number(&mut client);
    assert_eq!(after, made.structured["data"]["id"], "{}", made.text);
    assert_ne!(after, before);
}

#[test]
fn the_original_of_a_duplicate_can_be_read() {
    let mut client = Client::sandbox();
    succeed(&mut client, "issue_note.create", with_iid(4, &json!({"body": "/duplicate #1"})));
    let original = succeed(&mut client, "issue.get_closed_as_duplicate_of", with_iid(4, &json!({})));
    assert_eq!(original["data"]["iid"], "1");
    let none = execute(&mut client, "issue.get_closed_as_duplicate_of", with_iid(3, &json!({})));
    refused(&none, "not_found");
}

#[test]
fn me_is_the_user_of_the_token_and_none_takes_away() {
    let mut client = Client::sandbox();
    let me = succeed(&mut client, "current_user.get", json!({}))["data"]["username"].clone();
    let shown = |client: &mut Client| {
        let data = succeed(client, "issue.get", with_iid(3, &json!({})))["data"].clone();
        (data["assignees"].clone(), data["milestone"].clone())
    };
    // With the milestone, it is a look-up of several names, which GraphQL would answer at once.
    let set = json!({"assignees": ["me", "bob"], "milestone": "v1.1"});
    let reply = succeed(&mut client, "issue.update", with_iid(3, &set));
    assert!(reply["resolved"]["assignee_ids"].as_str().unwrap().starts_with("me -> "), "{reply}");
    assert_eq!(shown(&mut client), (json!([me, "bob"]), json!("v1.1")));
    succeed(&mut client, "issue.update", with_iid(3, &json!({"assignee": "none", "milestone": "None"})));
    let (assignees, milestone) = shown(&mut client);
    assert!(assignees.as_array().is_none_or(Vec::is_empty) && milestone.is_null(), "{assignees} {milestone}");
}

#[test]
fn a_full_name_is_that_of_the_only_member_who_has_it() {
    let mut client = Client::sandbox();
    let params = with_iid(3, &json!({"assignee_ids": ["Alice Ambler"]}));
    let reply = execute(&mut client, "issue.update", params);
    assert_eq!(reply.structured["resolved"]["assignee_ids"], "Alice Ambler -> 3", "{}", reply.text);
    // Everybody chooses a display name: who is no member is proposed by the username, and never taken.
    let params = json!({"fullPath": WIDGET, "user_id": "Erin Eaves", "access_level": "developer"});
    let call = json!({"action": "member.add", "params": params, "confirm": true});
    let error = refused(&client.call(EXECUTE, call), "not_found");
    assert_eq!(error["hint"], "Did you mean \"erin\"?", "{error}");
    // Part of a name is no name: the one that has it is proposed.
    let reply = execute(&mut client, "issue.update", with_iid(3, &json!({"assignee_ids": ["Barrow"]})));
    let error = refused(&reply, "not_found");
    assert_eq!(error["hint"], "Did you mean \"bob\"?", "{error}");
    assert!(follow(&mut client, &error["fix"]).text.contains("\"bob\""), "{error}");
}

#[test]
fn a_misspelled_user_is_looked_for_among_the_members() {
    let mut client = Client::sandbox();
    let reply = execute(&mut client, "issue.update", with_iid(3, &json!({"assignee_ids": ["alise", "bob"]})));
    let error = refused(&reply, "not_found");
    assert_eq!(error["hint"], "Did you mean \"alice\"?", "{error}");
    assert_eq!(error["fix"]["arguments"]["params"]["assignee_ids"], json!(["alice", "bob"]), "{error}");
    let reply = execute(&mut client, "issue.update", with_iid(3, &json!({"assignee_ids": ["xyzzy"]})));
    let hint = refused(&reply, "not_found")["hint"].clone();
    assert_eq!(hint, "Members: \"carol\", \"sandbox\", \"alice\", \"bob\".");
}

#[test]
fn a_word_of_the_only_schedule_proposes_it_and_its_deletion_is_not_offered() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "pipeline_schedule_id": "nightly", "active": false});
    let error = refused(&execute(&mut client, "pipeline_schedule.update", params), "not_found");
    assert_eq!(error["hint"], "Did you mean \"Every night\"?", "{error}");
    let reply = follow(&mut client, &error["fix"]);
    assert!(reply.text.starts_with("Updated: pipeline schedule"), "{}", reply.text);
    let params = json!({"fullPath": WIDGET, "pipeline_schedule_id": "nightly"});
    let call = json!({"action": "pipeline_schedule.delete", "params": params, "confirm": true});
    let error = refused(&client.call(EXECUTE, call), "not_found");
    assert_eq!(error["fix"]["arguments"]["action"], "pipeline_schedule.list", "{error}");
}

#[test]
fn an_unknown_name_is_answered_with_the_few_that_there_are() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "environment_id": "live"});
    let error = refused(&execute(&mut client, "environment.get", params), "not_found");
    assert_eq!(error["hint"], "There are: \"production\", \"staging\", \"review/old\".", "{error}");
    let rows = follow(&mut client, &error["fix"]).structured["data"].as_array().unwrap().len();
    assert_eq!(rows, 3, "the list is not filtered by the name");
}

#[test]
fn what_is_there_already_is_shown_without_its_secret() {
    let mut client = Client::sandbox();
    for key in ["OIL_GRADE", "DEPLOY_KEY"] {
        let params = json!({"fullPath": WIDGET, "key": key, "value": "10W-40-new", "environment_scope": "*"});
        let reply = execute(&mut client, "ci_variable.create", params);
        if reply.is_error {
            let existing = &reply.structured["error"]["existing"];
            assert_eq!(existing["key"], key, "{}", reply.text);
            for secret in ["5W-30", "not-a-real-key"] {
                assert!(
                    !reply.text.contains(secret) && !existing.to_string().contains(secret),
                    "{}",
                    reply.text
                );
            }
        } else {
            assert_eq!(key, "DEPLOY_KEY", "of another environment: {}", reply.text);
        }
    }
}

#[test]
fn what_is_there_already_is_shown_with_the_call_that_changes_it() {
    let mut client = Client::sandbox();
    for (action, params, existing, fix) in [
        (
            "label.create",
            json!({"name": "bug", "color": "#ff0000"}),
            json!({"color": "#d9534f"}),
            "label.update",
        ),
        (
            "release.create",
            json!({"tag_name": "v1.0.0", "name": "One"}),
            json!({"name": "Widget 1.0"}),
            "release.update",
        ),
        ("branch.create", json!({"branch": "main", "ref": "main"}), json!({"name": "main"}), "branch.get"),
        (
            "merge_request.create",
            json!({"source_branch": "quiet-gears", "target_branch": "main", "title": "Again"}),
            json!({"iid": 5}),
            "merge_request.get",
        ),
        (
            "repository_file.create",
            json!({"file_path": "README.md", "branch": "main", "content": "x", "commit_message": "x"}),
            json!({"file_path": "README.md"}),
            "repository_file.update",
        ),
        // Who is added by another name than is changed.
        (
            "member.add",
            json!({"username": "carol", "access_level": 20}),
            json!({"username": "carol"}),
            "member.update",
        ),
        // Its update has no `push_access_level`: the call that is offered would change nothing.
        (
            "protected_branch.create",
            json!({"name": "main", "push_access_level": "maintainer"}),
            json!({"name": "main"}),
            "protected_branch.get",
        ),
    ] {
        let mut params = params;
        params["fullPath"] = json!(WIDGET);
        let reply = client.call(EXECUTE, json!({"action": action, "params": params, "confirm": true}));
        let error = &reply.structured["error"];
        for (field, value) in existing.as_object().unwrap() {
            assert_eq!(&error["existing"][field], value, "{action}: {error}");
        }
        assert_eq!(error["fix"]["arguments"]["action"], fix, "{action}: {error}");
        // The existing merge request may not be mergeable, which is no reason of this conflict.
        assert!(error.get("detailed_merge_status").is_none(), "{action}: {error}");
        let mut call = error["fix"]["arguments"].clone();
        call["confirm"] = json!(true);
        assert!(!client.call(EXECUTE, call).is_error, "{action}: {error}");
    }
}

/// Models hand over the number by its name in GitLab's own answers.
#[test]
fn a_numeric_id_is_of_what_its_name_says() {
    let mut client = Client::sandbox();
    for action in ["issue.list", "merge_request.list", "label.list", "milestone.list", "wiki_page.list"] {
        for id in [json!(1), json!("1")] {
            succeed(&mut client, action, json!({"project_id": id}));
        }
    }
    succeed(&mut client, "issue.list", json!({"group_id": 1}));
    let error = refused(
        &execute(&mut client, "issue.list", json!({"project_id": 1, "group_id": 1})),
        "invalid_params",
    );
    assert!(error["message"].is_string(), "{error}");
    // A path that was encoded twice is no reference to a milestone.
    let reply = execute(&mut client, "issue.list", json!({"fullPath": "acme%252Fwidget"}));
    let first = reply.text.lines().next().unwrap();
    assert!(!first.contains("milestone") && first.contains("`fullPath`: expected"), "{first}");
}

#[test]
fn a_file_that_is_a_pointer_names_the_call_with_its_content() {
    let gitlab = Gitlab::with_project();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n";
    gitlab.answer("GET", "/repository/files/[^/]+/raw", raw(200, "text/plain", pointer));
    gitlab.json(
        "/repository/files/[^/]+",
        &json!({"file_path": "a.bin", "content": pointer, "last_commit_id": "a"}),
    );
    let mut client = gitlab.client(&[]);
    let params = json!({"fullPath": WIDGET, "file_path": "a.bin", "ref": "main"});
    for action in ["repository_file.get", "repository_file.get_raw"] {
        let reply = execute(&mut client, action, params.clone());
        assert!(
            reply.text.contains("a Git LFS pointer; the file itself of 12345 bytes"),
            "{action}: {}",
            reply.text
        );
        assert!(reply.text.contains("\"lfs\":true"), "{action}: {}", reply.text);
    }
    // An edit would change the pointer in place of the file.
    let mut update = params.clone();
    update["branch"] = json!("main");
    update["commit_message"] = json!("Edit");
    update["edits"] = json!([{"old": "size 12345", "new": "size 1"}]);
    update.as_object_mut().unwrap().shift_remove("ref");
    let reply = execute(&mut client, "repository_file.update", update);
    assert!(reply.is_error && reply.text.contains("is a Git LFS pointer"), "{}", reply.text);
}

/// A title without its directories moves a page on some versions: links to it break.
#[test]
fn a_wiki_page_that_moved_is_named_with_its_new_slug() {
    let gitlab = Gitlab::with_project();
    let moved = json!({"slug": "setup-notes", "title": "setup notes", "format": "markdown"});
    gitlab.answer("PUT", "/wikis/[^/]+", answer(200, moved));
    let params = json!({"fullPath": WIDGET, "slug": "guide/setup-notes", "title": "setup notes"});
    let reply = execute(&mut gitlab.client(&[]), "wiki_page.update", params);
    assert!(reply.text.contains("its slug is now \"setup-notes\""), "{}", reply.text);
}

#[test]
fn a_trial_shows_whether_the_call_could_succeed() {
    let mut client = Client::sandbox();
    let mut trial = |action: &str, params: Value| {
        let reply = client.call(EXECUTE, json!({"action": action, "params": params, "dry_run": true}));
        assert!(reply.text.starts_with("Not sent: "), "{}", reply.text);
        reply.structured["now"].clone()
    };
    let now = trial("merge_request.merge", with_iid(6, &json!({})));
    let blockers = json!(["conflicts with the target branch", "approvals missing: 1"]);
    assert_eq!((&now["blockers"], &now["detailed_merge_status"]), (&blockers, &json!("not_approved")));
    assert!(now["sha"].as_str().is_some_and(|sha| sha.len() == 40), "{now}");
    let now = trial("branch.delete", json!({"fullPath": WIDGET, "branch": "quiet-gears"}));
    assert_eq!(now["merged"], false, "{now}");
    assert!(trial("issue.update", with_iid(1, &json!({"title": "x"}))).is_null());
}

#[test]
fn environments_have_what_is_deployed_on_them() {
    let mut client = Client::sandbox();
    let rows = succeed(&mut client, "environment.list", json!({"fullPath": WIDGET}))["data"].clone();
    let row = |name: &str| rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    let deployment =
        json!({"fullPath": WIDGET, "environment": "production", "status": "success", "sort": "desc"});
    let last = succeed(&mut client, "deployment.list", deployment)["data"][0].clone();
    assert_eq!(row("production")["deployed"]["sha"], last["sha"], "{rows}");
    assert!(row("review/old").get("deployed").is_none(), "{rows}");
}

#[test]
fn the_only_open_thread_is_answered_and_resolved_without_its_id() {
    let mut client = Client::sandbox();
    let reply =
        execute(&mut client, "merge_request_discussion_note.create", with_iid(12, &json!({"body": "Done."})));
    let thread = "6a9c1750b37d513a43987b574953fceb50b03ce7";
    assert!(reply.text.contains(&format!("\"open\" is the thread {thread}")), "{}", reply.text);
    let params = with_iid(12, &json!({"resolved": true}));
    succeed(&mut client, "merge_request_discussion.resolve", params.clone());
    let error = refused(&execute(&mut client, "merge_request_discussion.resolve", params), "not_found");
    assert!(error["message"].as_str().unwrap().contains("no thread is open"), "{error}");
}

#[test]
fn a_count_of_comments_is_shown_where_it_is_zero() {
    let mut client = Client::sandbox();
    let reply = execute(&mut client, "issue.get", with_iid(9, &json!({})));
    assert!(reply.text.contains("\nuser_notes_count: 0\n"), "{}", reply.text);
    let reply = execute(&mut client, "issue_note.list", with_iid(9, &json!({})));
    assert_eq!(reply.text.trim(), "Nothing found: no issue note.");
}

#[test]
fn marks_of_numbers_are_accepted() {
    let mut client = Client::sandbox();
    let pipeline = json!({"fullPath": WIDGET, "pipeline_id": "#302"});
    assert_eq!(succeed(&mut client, "pipeline.get", pipeline)["data"]["id"], 302);
    let link = with_iid(3, &json!({"target_issue_iid": "#4"}));
    succeed(&mut client, "issue_link.create", link);
    let links = succeed(&mut client, "issue_link.list", with_iid(3, &json!({})));
    assert!(links["data"].as_array().unwrap().iter().any(|link| link["iid"] == 4), "{links}");
}

/// GitLab takes `none` and `any` for the id of an assignee, and looks for a user of that name otherwise: an empty list that
/// was taken for an answer.
#[test]
fn none_and_any_of_a_username_are_those_of_the_id() {
    let mut client = Client::sandbox();
    for (action, name, value, says) in [
        ("issue.list", "assignee", json!("none"), "assignee_id=none"),
        ("issue.list", "assignee_username", json!(["None"]), "assignee_id=None"),
        ("merge_request.list", "reviewer", json!("any"), "reviewer_id=any"),
    ] {
        let call =
            json!({"action": action, "params": {"fullPath": "acme/widget", name: value}, "dry_run": true});
        let shown = client.call(EXECUTE, call).text;
        assert!(shown.contains(says), "{name}: {shown}");
    }
    let call = json!({"action": "issue.list", "params": {"fullPath": "acme/widget", "assignee": "nonesuch"}, "dry_run": true});
    let shown = client.call(EXECUTE, call).text;
    assert!(shown.contains("assignee_username=nonesuch"), "{shown}");
}

#[test]
fn a_pipeline_is_named_by_its_merge_request_and_a_webhook_by_its_host() {
    let mut client = Client::sandbox();
    let of_branch = succeed(&mut client, "merge_request.get", json!({"fullPath": WIDGET, "iid": 10}));
    let head = of_branch["data"]["head_pipeline"]["id"].as_u64().unwrap();
    let params = json!({"fullPath": WIDGET, "pipeline_id": "!10"});
    let reply = execute(&mut client, "pipeline.get_test_report", params);
    assert!(reply.text.contains(&format!("pipeline_id: !10 -> {head}")), "{}", reply.text);
    let params = json!({"fullPath": WIDGET, "hook_id": "hooks.acme.example"});
    let hook = succeed(&mut client, "webhook.get", params);
    assert!(hook["data"]["url"].as_str().unwrap().starts_with("https://hooks.acme.example/"), "{hook}");
    let params = json!({"fullPath": WIDGET, "hook_id": "acme.example"});
    refused(&execute(&mut client, "webhook.get", params), "not_found");
}

/// A word within the first comment names no thread, but the call that replies there is one paste away.
#[test]
fn a_word_of_a_thread_leads_to_the_call_with_its_id() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "iid": 12, "discussion_id": "zero", "body": "It stops."});
    let error = refused(&execute(&mut client, "merge_request_discussion_note.create", params), "not_found");
    let replied = follow(&mut client, &error["fix"]);
    assert!(!replied.is_error && replied.text.contains("note"), "{}", replied.text);
    let params = json!({"fullPath": WIDGET, "iid": 12});
    let threads = succeed(&mut client, "merge_request_discussion.list", params).to_string();
    assert!(threads.contains("What happens at zero?") && threads.contains("It stops."), "{threads}");
}

/// The same note came with each of several objects.
#[test]
fn a_note_of_each_object_is_said_once_for_all() {
    let mut client = Client::sandbox();
    let params =
        json!({"fullPath": "acme", "epic": "One shop front", "project_path": WIDGET, "issue_iids": [17, 18]});
    let reply = execute(&mut client, "epic_issue.assign", params);
    assert!(!reply.is_error, "{}", reply.text);
    assert_eq!(reply.text.matches("is deprecated").count(), 1, "{}", reply.text);
    assert_eq!(reply.structured.to_string().matches("is deprecated").count(), 1, "{}", reply.structured);
    // A note that differs stays with its object.
    assert_eq!(reply.text.matches("Resolved: issue_id: acme/widget#17").count(), 1, "{}", reply.text);
}

#[test]
fn an_approval_takes_a_comment_and_a_list_of_jobs_a_stage() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "iid": 5, "comment": "Fine by me"});
    let reply = execute(&mut client, "merge_request.approve", params);
    assert!(!reply.is_error && reply.text.contains("Fine by me"), "{}", reply.text);
    let params = json!({"fullPath": WIDGET, "pipeline_id": "main", "stage": "test"});
    let jobs = succeed(&mut client, "pipeline.list_jobs", params)["data"].clone();
    let names: Vec<&Value> = jobs.as_array().unwrap().iter().map(|job| &job["name"]).collect();
    assert!(names.contains(&&json!("unit")) && !names.contains(&&json!("deploy")), "{names:?}");
}

/// The title of an issue went to GitLab, whose answer blamed the other one.
#[test]
fn the_number_of_another_issue_is_a_number_a_title_or_a_reference() {
    let mut client = Client::sandbox();
    let params = |target: Value| json!({"fullPath": WIDGET, "iid": 11, "target_issue_iid": target});
    let title = succeed(&mut client, "issue_link.create", params(json!("Add a small bell")));
    assert!(title.to_string().contains("#10"), "{title}");
    let linked = execute(&mut client, "issue_link.create", params(json!("acme/site#2")));
    assert!(!linked.is_error && linked.text.contains("Say where the workshop is"), "{}", linked.text);
}

#[test]
fn a_job_is_named_by_its_name_and_its_pipeline() {
    let mut client = Client::sandbox();
    let log = json!({"fullPath": WIDGET, "job_id": "unit", "pipeline_id": "!10", "tail": 1});
    let read = execute(&mut client, "job.log", log);
    assert!(read.text.contains("pipeline_id: !10 -> 302"), "{}", read.text);
    let several = execute(&mut client, "job.retry", json!({"fullPath": WIDGET, "job_id": "unit"}));
    let error = refused(&several, "invalid_params");
    assert!(error["hint"].as_str().unwrap().contains("`pipeline_id`"), "{error}");
    let retry = |job: &str| json!({"fullPath": WIDGET, "job_id": job, "pipeline_id": "main"});
    let done = succeed(&mut client, "job.retry", retry("unit"));
    assert_eq!(done["data"]["pipeline"]["id"], 305, "{done}");
    // A job of another pipeline is not taken for it.
    let none =
        execute(&mut client, "job.retry", json!({"fullPath": WIDGET, "job_id": "e2e", "pipeline_id": 302}));
    let error = refused(&none, "not_found");
    assert!(error["hint"].as_str().unwrap().contains("There are"), "{error}");
    let waits = json!({"fullPath": WIDGET, "job_id": "deploy", "pipeline_id": "!10"});
    let error = refused(&execute(&mut client, "job.retry", waits), "forbidden");
    assert!(error["hint"].as_str().unwrap().contains("job.play"), "{error}");
}

#[test]
fn a_pipeline_is_named_by_the_branch_or_merge_request_that_is_given() {
    let mut client = Client::sandbox();
    for (name, value, says) in [
        ("ref", json!("main"), "pipeline_id: main -> 305"),
        ("branch", json!("main"), "pipeline_id: main -> 305"),
        ("merge_request", json!(12), "pipeline_id: !12 -> 304"),
        ("merge_request_iid", json!("12"), "pipeline_id: !12 -> 304"),
    ] {
        let params = json!({"fullPath": WIDGET, name: value});
        let reply = execute(&mut client, "pipeline.list_jobs", params);
        assert!(!reply.is_error && reply.text.contains(says), "{name}: {}", reply.text);
        assert!(!reply.text.contains("ip_address"), "{}", reply.text);
    }
    // A merge request that is a parameter of the action stays one.
    let overview = json!({"fullPath": WIDGET, "merge_request": 10});
    let reply = execute(&mut client, "pipeline.diagnose", overview);
    assert!(!reply.is_error && !reply.text.contains("as `pipeline_id"), "{}", reply.text);
}

/// A title is of the project of the call: the number of another project's issue was not meant.
#[test]
fn the_other_issue_of_a_link_is_named_by_its_title_in_the_same_project() {
    let mut client = Client::sandbox();
    let link = |target: Value, project: Value| json!({"fullPath": WIDGET, "iid": 3, "target_issue_iid": target, "target_project_id": project});
    let made =
        succeed(&mut client, "issue_link.create", link(json!("Replace the wooden gears"), Value::Null));
    assert!(made.to_string().contains("#41"), "{made}");
    for target in ["hum", "Widget hums in B flat"] {
        let reply = execute(&mut client, "issue_link.create", link(json!(target), json!("acme/site")));
        let error = refused(&reply, "invalid_params");
        assert!(error["message"].as_str().unwrap().contains("give the number"), "{error}");
    }
    succeed(&mut client, "issue_link.create", link(json!("1"), json!("acme/site")));
}
