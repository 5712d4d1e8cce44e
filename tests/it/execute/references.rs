//! Names where GitLab wants ids, and texts that a person would paste as `target`, over stdio on the sandbox.

use std::collections::BTreeSet;

use gitlab_mcp::catalog::{Audience, Catalog, Param, Risk, example};
use serde_json::json;

use crate::catalog::data::actions;
use crate::support::client::{Client, EXECUTE, FIND, execute, refused, succeed};

#[test]
fn an_issue_takes_people_and_a_milestone_by_name() {
    let mut client = Client::sandbox();
    let created = succeed(
        &mut client,
        "issue.create",
        json!({"fullPath": "acme/widget", "title": "Squeaks", "assignee_ids": ["alice"],
               "milestone_id": "v1.1", "labels": ["bug"]}),
    );
    assert_eq!(created["data"]["assignees"], json!(["alice"]));
    assert_eq!(created["data"]["milestone"], "v1.1");
    assert_eq!(created["resolved"], json!({"assignee_ids": "alice -> 3", "milestone_id": "v1.1 -> 2"}));
    let moved = succeed(
        &mut client,
        "issue.update",
        json!({"fullPath": "acme/widget", "iid": created["data"]["iid"], "milestone_id": "%\"Spring fair\"",
               "assignee_ids": ["@Bob", 3]}),
    );
    assert_eq!(moved["data"]["milestone"], "Spring fair", "a milestone of the group is one of the project's");
    assert_eq!(moved["resolved"]["assignee_ids"], "@Bob -> 4");
}

#[test]
fn what_names_nothing_says_where_it_was_looked_for() {
    let mut client = Client::sandbox();
    let error = refused(
        &execute(
            &mut client,
            "issue.update",
            json!({"fullPath": "acme/widget", "iid": 1, "assignee_ids": ["nobody-here"]}),
        ),
        "not_found",
    );
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("`assignee_ids`: no user `nobody-here`"), "{message}");
    assert!(error["hint"].as_str().unwrap().starts_with("Members: \"carol\""), "{error}");
    assert_eq!(error["fix"]["arguments"]["action"], "user.list");
    let error = refused(
        &execute(
            &mut client,
            "issue.update",
            json!({"fullPath": "acme/widget", "iid": 1, "epic_id": "the big one"}),
        ),
        "not_found",
    );
    assert!(error["message"].as_str().unwrap().contains("no epic `the big one` in `acme`"), "{error}");
    assert_eq!(error["fix"]["arguments"]["action"], "epic.list", "{error}");
}

#[test]
fn a_name_that_several_have_lists_them() {
    let mut client = Client::sandbox();
    let board = || json!({"fullPath": "acme/widget", "name": "Twin"});
    succeed(&mut client, "board.create", board());
    succeed(&mut client, "board.create", board());
    let error = refused(
        &execute(
            &mut client,
            "board.get",
            json!({"fullPath": "acme/widget", "scope": "project", "board_id": "Twin"}),
        ),
        "invalid_params",
    );
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("`board_id` is ambiguous: `Twin` with the id 2 or `Twin`"), "{message}");
}

#[test]
fn a_dry_run_resolves_and_sends_nothing_else() {
    let mut client = Client::sandbox_with(&[("GITLAB_SAFE_MODE", "true")]);
    let shown = succeed(
        &mut client,
        "epic_issue.assign",
        json!({"fullPath": "acme", "iid": 1, "issue_id": "acme/widget#3"}),
    );
    assert_eq!(shown["preview"], true);
    assert_eq!(shown["request"]["path"], "/api/v4/groups/acme/epics/1/issues/3");
    let shown = client.call(
        EXECUTE,
        json!({"action": "environment.stop", "dry_run": true,
               "params": {"fullPath": "acme/widget", "environment_id": "staging"}}),
    );
    assert_eq!(shown.structured["request"]["path"], "/api/v4/projects/acme%2Fwidget/environments/2/stop");
    assert!(shown.text.contains("Resolved: environment_id: staging -> 2."), "{}", shown.text);
}

#[test]
fn ids_and_the_words_of_filters_stay_as_they_are() {
    let mut client = Client::sandbox();
    let listed = succeed(
        &mut client,
        "issue.list",
        json!({"fullPath": "acme/widget", "scope": "project", "assignee_id": "None", "milestone_id": "Any"}),
    );
    assert!(listed.get("resolved").is_none(), "{listed}");
    let listed = succeed(
        &mut client,
        "merge_request.list",
        json!({"fullPath": "acme/widget", "scope": "project", "author_id": "alice", "not": {"author_id": 4}}),
    );
    assert_eq!(listed["resolved"], json!({"author_id": "alice -> 3"}));
    assert!(listed["data"].as_array().unwrap().len() > 2);
    assert_eq!(listed["in_every_row"]["author"], "alice");
}

#[test]
fn things_are_found_by_what_people_call_them() {
    let mut client = Client::sandbox();
    let widget = |name: &str, value: &str| json!({"fullPath": "acme/widget", name: value});
    for (action, params, id) in [
        ("environment.get", widget("environment_id", "production"), 1),
        ("pipeline_schedule.get", widget("pipeline_schedule_id", "every night"), 1),
        ("webhook.get", widget("hook_id", "https://hooks.acme.example/widget"), 1),
        ("deploy_key.get", widget("key_id", "Workshop door"), 1),
        ("snippet.get", widget("snippet_id", "How to oil"), 1),
        ("milestone.get", widget("milestone_id", "v2.0"), 3),
        ("milestone.get", widget("milestone_id", "%2"), 2),
        ("pipeline_trigger.get", widget("trigger_id", "nightly from outside"), 1),
        ("runner.get", json!({"runner_id": "the one under the stairs"}), 1),
        ("user.get", json!({"user_id": "carol"}), 5),
        ("topic.get", json!({"topic_id": "gears"}), 2),
    ] {
        let got = client.call(EXECUTE, json!({"action": action, "params": params, "view": "full"}));
        assert!(!got.is_error, "{action}: {}", got.text);
        assert_eq!(got.structured["data"]["id"], id, "{action}: {}", got.structured);
        assert_eq!(got.structured["resolved"].as_object().unwrap().len(), 1, "{action}");
    }
    let latest = succeed(&mut client, "pipeline.get", widget("pipeline_id", "latest"));
    assert!(latest["data"]["id"].is_u64(), "{latest}");
}

/// The address of the client's sandbox, as its answers write it.
fn address(client: &mut Client) -> String {
    let project = client.call(
        EXECUTE,
        json!({"action": "project.get", "params": {"fullPath": "acme/widget"}, "fields": ["web_url"]}),
    );
    let url = project.structured["data"]["web_url"].as_str().unwrap().to_owned();
    url.strip_suffix("/acme/widget").unwrap().to_owned()
}

#[test]
fn a_pasted_url_is_a_target() {
    let mut client = Client::sandbox();
    let base = address(&mut client);
    let asked = succeed(
        &mut client,
        "merge_request.update",
        json!({"target": format!("{base}/acme/widget/-/merge_requests/5/diffs#x"),
               "reviewer_ids": ["bob", "@carol"]}),
    );
    assert_eq!(asked["data"]["iid"], 5);
    assert_eq!(asked["data"]["reviewers"], json!(["bob", "carol"]));
    assert_eq!(asked["resolved"]["reviewer_ids"], "bob -> 4, @carol -> 5");
    let file = succeed(
        &mut client,
        "repository_file.get",
        json!({"target": format!("{base}/acme/widget/-/blob/main/README.md#L3")}),
    );
    assert_eq!(file["data"]["file_path"], "README.md");
    let note = succeed(
        &mut client,
        "issue_note.get",
        json!({"target": format!("{base}/acme/widget/-/issues/1#note_1004")}),
    );
    assert_eq!(note["data"]["id"], 1004);
    let milestone = succeed(
        &mut client,
        "milestone.get",
        json!({"target": format!("{base}/acme/widget/-/milestones/3")}),
    );
    assert_eq!(milestone["data"]["title"], "v2.0");
}

#[test]
fn a_reference_is_a_target() {
    let mut client = Client::sandbox();
    let noted = succeed(&mut client, "epic_note.create", json!({"target": "acme&1", "body": "More oil."}));
    assert_eq!(noted["data"]["body"], "More oil.");
    let closed =
        execute(&mut client, "issue.update", json!({"target": "acme/widget#3", "state_event": "close"}));
    assert_eq!(closed.structured["data"]["iid"], 3);
    assert!(closed.text.contains("understood `target` as fullPath: acme/widget, iid: 3"), "{}", closed.text);
    let listed = succeed(&mut client, "issue.list", json!({"target": "acme/widget", "per_page": 2}));
    let next = &listed["page"]["next"]["arguments"]["params"];
    assert_eq!(next["fullPath"], "acme/widget", "what follows says where in the catalog's own words: {next}");
    assert!(next.get("target").is_none());
}

#[test]
fn a_target_that_cannot_be_is_told() {
    let mut client = Client::sandbox();
    let base = address(&mut client);
    let foreign = refused(
        &execute(&mut client, "issue.get", json!({"target": "https://gitlab.other/acme/widget/-/issues/1"})),
        "invalid_params",
    );
    let message = foreign["message"].as_str().unwrap();
    let here = base.split_once("://").unwrap().1;
    assert!(message.contains("gitlab.other") && message.contains(here), "{message}");

    let wrong =
        refused(&execute(&mut client, "issue.get", json!({"target": "acme/widget!5"})), "invalid_params");
    let message = wrong["message"].as_str().unwrap();
    assert!(message.contains("`target` is a merge request, and this works on an issue"), "{message}");
    assert_eq!(
        wrong["fix"]["arguments"],
        json!({"action": "merge_request.get", "params": {"target": "acme/widget!5"}})
    );
    let fixed = client.call(wrong["fix"]["tool"].as_str().unwrap(), wrong["fix"]["arguments"].clone());
    assert!(!fixed.is_error, "{}", fixed.text);

    let whole =
        refused(&execute(&mut client, "branch.list", json!({"target": "acme/widget#1"})), "invalid_params");
    assert_eq!(whole["fix"]["tool"], FIND, "{whole}");

    let group = json!({"target": format!("{base}/groups/acme")});
    let wrong = refused(&execute(&mut client, "branch.list", group), "invalid_params");
    assert!(
        wrong["message"].as_str().unwrap().contains("is a group, and this works on a project"),
        "{wrong}"
    );

    let both = json!({"target": "acme/widget#1", "iid": 2});
    let disagrees = refused(&execute(&mut client, "issue.get", both), "invalid_params");
    assert!(disagrees["message"].as_str().unwrap().contains("`iid` is 2, but `target` has 1"), "{disagrees}");
}

#[test]
fn an_answer_is_kept_until_gitlab_says_there_is_no_such_thing() {
    let mut client = Client::sandbox();
    let named = || json!({"fullPath": "acme/widget", "scope": "project", "board_id": "Development"});
    assert_eq!(succeed(&mut client, "board.get", named())["data"]["id"], 1);
    // Asked again, the name would be ambiguous.
    let twin = json!({"fullPath": "acme/widget", "name": "Development"});
    let twin = succeed(&mut client, "board.create", twin)["data"]["id"].clone();
    assert_eq!(succeed(&mut client, "board.get", named())["data"]["id"], 1);
    let first = json!({"fullPath": "acme/widget", "scope": "project", "board_id": 1});
    let deleted = client.call(EXECUTE, json!({"action": "board.delete", "params": first, "confirm": true}));
    assert!(!deleted.is_error, "{}", deleted.text);
    refused(&execute(&mut client, "board.get", named()), "not_found");
    assert_eq!(succeed(&mut client, "board.get", named())["data"]["id"], twin);
}

/// Parameters named like an id that accept no name; those of GraphQL by the type of their ids.
fn ids_alone<'a>(params: &'a [Param], found: &mut BTreeSet<&'a str>) {
    let is_id = |name: &str| {
        matches!(name, "id" | "ids") || ["_id", "_ids", "Id", "Ids"].iter().any(|end| name.ends_with(end))
    };
    for param in params {
        match (&param.names, &param.gid) {
            (Some(_), _) => {}
            (None, Some(kind)) => {
                found.insert(kind);
            }
            (None, None) if is_id(&param.name) && param.choices.is_empty() => {
                found.insert(&param.name);
            }
            (None, None) => {}
        }
        ids_alone(&param.fields, found);
    }
}

#[test]
fn the_documentation_lists_what_still_takes_an_id_alone() {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/concepts/references.md"));
    let table = text.split("What only an id can name:").nth(1).unwrap().split("\n\n").nth(1).unwrap();
    let cells = table.lines().filter_map(|line| line.rsplit('|').nth(1));
    let listed: BTreeSet<&str> = cells
        .flat_map(|cell| cell.split_whitespace())
        .filter_map(|word| word.strip_prefix('`')?.strip_suffix('`'))
        .collect();
    let people: Vec<_> = actions().into_iter().filter(|action| action.audience == Audience::Person).collect();
    let mut found = BTreeSet::new();
    people.iter().for_each(|action| ids_alone(&action.params, &mut found));
    let graphql = people.iter().flat_map(|action| &action.operations).filter_map(|o| o.graphql.as_ref());
    graphql.for_each(|graphql| found.extend(graphql.gids.values().map(String::as_str)));
    assert_eq!(listed, found);
}

/// The address bar of a filtered list was answered with the list without its filters, and without a word.
#[test]
fn the_filters_in_the_url_of_a_list_are_applied() {
    let mut client = Client::sandbox();
    let filtered = json!({"target": "acme/widget/-/issues?label_name[]=bug&state=closed&first_page_size=20"});
    let reply = execute(&mut client, "issue.list", filtered);
    let expected = json!({"fullPath": "acme/widget", "labels": ["bug"], "state": "closed"});
    assert_eq!(reply.structured["data"], succeed(&mut client, "issue.list", expected)["data"]);
    let odd = json!({"target": "acme/widget/-/issues?state=closed&sort=popularity_desc", "state": "opened"});
    let reply = execute(&mut client, "issue.list", odd);
    let expected = json!({"fullPath": "acme/widget", "state": "opened"});
    assert_eq!(
        reply.structured["data"],
        succeed(&mut client, "issue.list", expected)["data"],
        "a parameter wins"
    );
    assert!(reply.text.contains("`sort` of the URL as nothing: not a filter here"), "{}", reply.text);
    let object = json!({"target": "acme/widget/-/merge_requests/5/diffs?diff_id=3&start_sha=abc"});
    let reply = execute(&mut client, "merge_request_note.list", object);
    assert!(!reply.is_error && !reply.text.contains("of the URL"), "{}", reply.text);
}

/// `project.delete {"target": "acme/widget#5"}` was answered with the call that deletes the project.
#[test]
fn no_call_is_offered_without_the_object_that_its_target_names() {
    let catalog = Catalog::embedded().unwrap();
    let words = catalog.words().unwrap();
    let mut client = Client::sandbox();
    let mut refused_targets = 0;
    for action in actions().into_iter().filter(|action| action.twin.is_none()) {
        let mut params = example(&action, words);
        if params.shift_remove("fullPath").is_none() {
            continue;
        }
        for target in ["acme/widget#3", "acme/widget!5"] {
            params.insert("target".to_owned(), json!(target));
            let reply = client.call(EXECUTE, json!({"action": action.id, "params": params, "dry_run": true}));
            let error = &reply.structured["error"];
            if !error["message"].as_str().is_some_and(|message| message.contains(", and this works on")) {
                continue;
            }
            refused_targets += 1;
            let fix = &error["fix"];
            if fix["tool"] == EXECUTE {
                let other = fix["arguments"]["action"].as_str().unwrap();
                let risk = catalog.get(other).unwrap().unwrap().risk;
                assert!(risk <= Risk::Write && risk <= action.risk, "{}: {fix}", action.id);
                assert_eq!(fix["arguments"]["params"]["target"], target, "{}: {fix}", action.id);
            }
        }
    }
    assert!(refused_targets > 500, "{refused_targets}");
    for (action, params, other) in [
        ("pipeline.list", json!({"target": "acme/widget!5"}), "merge_request.list_pipelines"),
        ("job.list", json!({"target": "acme/widget/-/pipelines/305"}), "pipeline.list_jobs"),
        ("issue.update", json!({"target": "acme/widget!5", "title": "x"}), "merge_request.update"),
    ] {
        let error = refused(&execute(&mut client, action, params), "invalid_params");
        assert_eq!(error["fix"]["arguments"]["action"], other, "{error}");
    }
}
