//! Titles and names in place of numbers, and parameters of this server's own that stand for another call or text.

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, Reply, execute, follow, refused, succeed};
use crate::support::scripted_gitlab::{Gitlab, answer};

pub const WIDGET: &str = "acme/widget";

pub fn confirmed(client: &mut Client, action: &str, params: Value) -> Reply {
    let reply = client.call(EXECUTE, json!({"action": action, "params": params, "confirm": true}));
    assert!(!reply.is_error, "{action}: {}", reply.text);
    reply
}

pub fn with_iid(iid: impl Into<Value>, more: &Value) -> Value {
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
fn a_line_of_code_keeps_its_indentation() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "file_path": "src/main.rs", "ref": "main"});
    let reply = execute(&mut client, "repository_file.blame", params);
    let line = "lines: 4:     println!(\"Hello from everybody at acme\");\n";
    assert!(reply.text.contains(line), "{}", reply.text);
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
fn what_a_call_gives_goes_before_what_its_name_says() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "search": "gear", "scope": "wiki_blobs"});
    let call = json!({"action": "search_code", "params": params, "dry_run": true});
    let reply = client.call(EXECUTE, call);
    let query = reply.structured["request"]["query"].as_array().unwrap();
    assert!(query.contains(&json!("scope=wiki_blobs")), "{}", reply.text);
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
fn an_unknown_name_is_answered_with_the_few_that_there_are() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "environment_id": "live"});
    let error = refused(&execute(&mut client, "environment.get", params), "not_found");
    assert_eq!(error["hint"], "There are: \"production\", \"staging\", \"review/old\".", "{error}");
    let rows = follow(&mut client, &error["fix"]).structured["data"].as_array().unwrap().len();
    assert_eq!(rows, 3, "the list is not filtered by the name");
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
fn marks_of_numbers_are_accepted() {
    let mut client = Client::sandbox();
    let pipeline = json!({"fullPath": WIDGET, "pipeline_id": "#302"});
    assert_eq!(succeed(&mut client, "pipeline.get", pipeline)["data"]["id"], 302);
    let link = with_iid(3, &json!({"target_issue_iid": "#4"}));
    succeed(&mut client, "issue_link.create", link);
    let links = succeed(&mut client, "issue_link.list", with_iid(3, &json!({})));
    assert!(links["data"].as_array().unwrap().iter().any(|link| link["iid"] == 4), "{links}");
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
