//! Forms in which models and clients write parameters: each arrives as what was meant, or is refused, and a correction
//! never means something else.

use gitlab_mcp::catalog::{Catalog, example};
use serde_json::{Map, Value, json};

use crate::catalog::data::actions;
use crate::support::client::{Client, EXECUTE, execute, succeed};
use crate::support::scripted_gitlab::{Gitlab, answer};

fn call(client: &mut Client, arguments: Value) -> (bool, Value, String) {
    let reply = client.call("gitlab_execute_action", arguments);
    (reply.is_error, reply.structured, reply.text)
}

/// What would be sent, as the preview of a call shows it.
fn preview(client: &mut Client, action: &str, params: &Value) -> Option<Value> {
    let arguments = json!({"action": action, "params": params, "dry_run": true});
    let (is_error, structured, _) = call(client, arguments);
    (!is_error).then(|| structured["request"].clone())
}

#[test]
fn a_call_in_another_wrapping_is_the_call() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": "acme/widget", "iid": 3});
    let meant = succeed(&mut client, "issue.get", params.clone())["data"].clone();
    let wrapped = [
        json!({"action": "issue.get", "parameters": params}),
        json!({"action": "issue.get", "arguments": params}),
        json!({"action": "issue.get", "args": params}),
        json!({"action": "issue.get", "input": params.to_string()}),
        json!({"action_id": "issue.get", "params": params}),
        json!({"name": "issue.get", "arguments": params}),
        json!({"tool": "issue.get", "arguments": params}),
        json!({"tool": "gitlab_execute_action", "arguments": {"action": "issue.get", "params": params}}),
        json!({"name": "gitlab_execute_action", "arguments": {"action": "issue.get", "parameters": params}}),
        json!({"tool_name": "gitlab_execute_action", "tool_input": {"action": "issue.get", "params": params}}),
        json!({"tool_name": "issue.get", "tool_input": params}),
        json!({"action": "issue.get", "data": params}),
        json!({"actionId": "issue.get", "kwargs": params}),
        json!({"request": {"operation": "issue.get", "params": params}}),
        json!({"action": "issue.get", "params": {"params": params}}),
        json!({"action": "issue.get", "input": {"arguments": params}}),
        json!({"arguments": {"action": "issue.get", "params": params}}),
        json!({"params": {"action": "issue.get", "payload": params}}),
    ];
    for arguments in wrapped {
        let (is_error, structured, text) = call(&mut client, arguments.clone());
        assert!(!is_error, "{arguments}: {text}");
        assert_eq!(structured["data"], meant, "{arguments}");
    }
    for arguments in [
        json!({"q": "close an issue"}),
        json!({"query": ["close an issue"]}),
        json!({"queries": ["close an issue", "list branches"]}),
        json!({"parameters": {"query": "close an issue"}}),
        json!({"query": "close an issue", "max_results": 3}),
    ] {
        let found = client.call("gitlab_find_action", arguments.clone());
        assert!(!found.is_error, "{arguments}: {}", found.text);
        let ids: Vec<&Value> =
            found.structured["results"].as_array().unwrap().iter().map(|action| &action["action"]).collect();
        assert!(ids.contains(&&json!("issue.update")), "{arguments}: {ids:?}");
        let wants_branches = arguments.get("queries").is_some();
        assert_eq!(ids.contains(&&json!("branch.list")), wants_branches, "{arguments}: {ids:?}");
    }
    let batch = json!({"calls": [{"action": "issue.get", "params": {"data": params}}]});
    let reply = execute(&mut client, "api.batch", batch);
    assert!(!reply.is_error && reply.text.contains("Oil runs out"), "{}", reply.text);
    let mut individual = Client::sandbox_with(&[("TOOL_SURFACE", "individual")]);
    for wrapper in ["params", "arguments", "data", "tool_input", "payload"] {
        let reply = individual.call("issue_get", json!({wrapper: params}));
        assert_eq!(reply.structured["data"]["iid"], 3, "{wrapper}: {}", reply.text);
    }
    // A parameter of that name is no wrapper.
    let run = json!({"action": "pipeline.create", "params": {"inputs": {"ref": "main"}}, "dry_run": true});
    let mut default = Client::sandbox_with(&[("GITLAB_PROJECT", "acme/widget")]);
    assert!(call(&mut default, run).2.contains("`ref` is missing"));
    // Two names for one argument are not one meaning.
    let two = json!({"action": "issue.get", "args": params, "input": {"iid": 1}});
    assert!(call(&mut client, two).0);
}

#[test]
fn negated_filters_are_taken_as_gitlabs_documentation_writes_them() {
    let mut client = Client::sandbox();
    let list = |client: &mut Client, filter: Value| {
        let mut params = json!({"fullPath": "acme/widget", "per_page": 100, "state": "all"});
        params.as_object_mut().unwrap().extend(filter.as_object().unwrap().clone());
        let reply = execute(client, "issue.list", params);
        assert!(!reply.is_error, "{filter}: {}", reply.text);
        reply.structured["data"].as_array().unwrap().len()
    };
    let (all, with) = (list(&mut client, json!({})), list(&mut client, json!({"labels": "bug"})));
    let without = list(&mut client, json!({"not": {"labels": ["bug"]}}));
    assert!(with > 0 && with + without == all, "{with} {without} {all}");
    for filter in [
        json!({"not[labels]": "bug"}),
        json!({"not[labels][]": ["bug"]}),
        json!({"not.labels": "bug"}),
        json!({"not_labels": "bug"}),
        json!({"not": "{\"labels\": [\"bug\"]}"}),
    ] {
        assert_eq!(list(&mut client, filter.clone()), without, "{filter}");
    }
}

/// `milestone`, `due_date` and `status` of a work item are in widgets, whose names nobody knows.
#[test]
fn what_is_in_a_widget_is_named_as_for_an_issue() {
    let mut client = Client::sandbox();
    for (given, sent) in [
        (
            json!({"milestone": "v1.1"}),
            json!({"milestoneWidget": {"milestoneId": "gid://gitlab/Milestone/2"}}),
        ),
        (json!({"due_date": "2026-12-01"}), json!({"startAndDueDateWidget": {"dueDate": "2026-12-01"}})),
        (json!({"health_status": "onTrack"}), json!({"healthStatusWidget": {"healthStatus": "onTrack"}})),
        (json!({"add_labels": ["bug"]}), json!({"labelsWidget": {"addLabelIds": ["gid://gitlab/Label/1"]}})),
        (json!({"assignees": ["bob"]}), json!({"assigneesWidget": {"assigneeIds": ["gid://gitlab/User/4"]}})),
        (json!({"status": "Done"}), json!({"statusWidget": {"name": "Done"}})),
        (
            json!({"status": "gid://gitlab/WorkItems::Statuses::Status/7"}),
            json!({"statusWidget": {"status": "gid://gitlab/WorkItems::Statuses::Status/7"}}),
        ),
        (json!({"status": "closed"}), json!({"stateEvent": "CLOSE"})),
        (json!({"state": "reopen"}), json!({"stateEvent": "REOPEN"})),
    ] {
        let mut params = json!({"fullPath": "acme/widget", "iid": 1});
        params.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
        let request = preview(&mut client, "work_item.update", &params).unwrap_or_else(|| panic!("{given}"));
        let mut input = request["body"]["variables"]["input"].clone();
        input.as_object_mut().unwrap().remove("id");
        assert_eq!(input, sent, "{given}");
    }
    // Nothing is made of a name that several widgets could have.
    let labels = json!({"fullPath": "acme/widget", "iid": 1, "labels": ["bug"]});
    assert!(preview(&mut client, "work_item.update", &labels).is_none());
}

/// Without a project, GitLab lists what the caller created: of alice's issues those.
#[test]
fn a_list_by_a_person_is_of_everybody() {
    let mut client = Client::sandbox();
    let query = |client: &mut Client, params: Value| {
        preview(client, "issue.list", &params).unwrap()["query"].as_array().cloned().unwrap_or_default()
    };
    let of_alice = query(&mut client, json!({"assignee_username": "alice"}));
    assert!(of_alice.contains(&json!("scope=all")), "{of_alice:?}");
    for params in [
        json!({"assignee_username": "alice", "scope": "created_by_me"}),
        json!({"assignee_username": "alice", "fullPath": "acme/widget"}),
        json!({"labels": ["bug"]}),
    ] {
        assert!(!query(&mut client, params.clone()).contains(&json!("scope=all")), "{params}");
    }
    let reply = execute(&mut client, "issue.list", json!({}));
    assert!(reply.text.contains("only what you created"), "{}", reply.text);
    for params in
        [json!({"scope": "all"}), json!({"fullPath": "acme/widget"}), json!({"author_username": "bob"})]
    {
        let reply = execute(&mut client, "issue.list", params);
        assert!(!reply.text.contains("only what you created"), "{}", reply.text);
    }
}

/// A model that escapes a text twice sends `\n` as two characters.
#[test]
fn line_ends_that_are_none_are_named() {
    let mut client = Client::sandbox();
    let create = |text: &str| json!({"fullPath": "acme/widget", "title": "x", "description": text});
    let reply = execute(&mut client, "issue.create", create("one\\ntwo"));
    assert_eq!(reply.structured["data"]["description"], "one\\ntwo");
    assert!(reply.text.contains("as two characters"), "{}", reply.text);
    for text in ["one\ntwo", "a\nprintf(\"\\n\")", "one"] {
        let reply = execute(&mut client, "issue.create", create(text));
        assert!(!reply.text.contains("as two characters"), "{}", reply.text);
    }
}

#[test]
fn null_takes_away_what_gitlab_can_take_away_and_is_named_otherwise() {
    let mut client = Client::sandbox();
    let issue = json!({"fullPath": "acme/widget", "iid": 3});
    let with = |more: Value| {
        let mut params = issue.clone();
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    succeed(&mut client, "issue.update", with(json!({"due_date": "2026-12-24", "assignee_ids": ["alice"]})));
    let cleared = json!({"due_date": null, "assignee_ids": null, "milestone_id": null, "description": null});
    let reply = execute(&mut client, "issue.update", with(cleared));
    assert!(!reply.is_error, "{}", reply.text);
    let arguments = json!({"action": "issue.get", "params": issue, "view": "full"});
    let (_, structured, text) = call(&mut client, arguments);
    let data = &structured["data"];
    assert!(data["due_date"].is_null() && data["milestone"].is_null(), "{text}");
    assert_eq!(data["assignees"], json!([]), "{text}");
    let reply = execute(&mut client, "issue.update", with(json!({"title": "T", "discussion_locked": null})));
    let notes = reply.structured["notes"].to_string();
    assert!(notes.contains("`discussion_locked: null` was not sent"), "{}", reply.text);
    for nothing in ["none", "null"] {
        succeed(&mut client, "issue.update", with(json!({"due_date": "2026-12-24"})));
        let reply = execute(&mut client, "issue.update", with(json!({"due_date": nothing})));
        assert_eq!(reply.structured["data"]["due_date"], Value::Null, "{}", reply.text);
    }
    // In a read, null is nothing.
    let reply = execute(&mut client, "issue.get", with(json!({"per_page": null})));
    assert!(!reply.is_error && reply.structured.get("notes").is_none(), "{}", reply.text);
}

/// `work_item.update` with `weight: null` sent nothing, and refused `none`.
#[test]
fn null_and_none_take_away_what_a_widget_holds() {
    let mut client = Client::sandbox();
    let item = json!({"fullPath": "acme/widget", "iid": 3});
    let with = |more: Value| {
        let mut params = item.clone();
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let set =
        json!({"due_date": "2026-12-24", "weight": 3, "milestone_id": "v1.1", "assignee_ids": ["alice"]});
    for nothing in [json!(null), json!("none"), json!("null")] {
        succeed(&mut client, "issue.update", with(set.clone()));
        let cleared =
            json!({"dueDate": nothing, "weight": nothing, "milestone": nothing, "assignees": nothing});
        succeed(&mut client, "work_item.update", with(cleared));
        let arguments = json!({"action": "issue.get", "params": item, "view": "full"});
        let (_, structured, text) = call(&mut client, arguments);
        let data = &structured["data"];
        assert!(
            data["due_date"].is_null() && data["milestone"].is_null() && data["weight"].is_null(),
            "{text}"
        );
        assert_eq!(data["assignees"], json!([]), "{text}");
    }
    // A text may say either word.
    succeed(&mut client, "issue.update", with(json!({"description": "none"})));
    let reply = execute(&mut client, "issue.get", item);
    assert_eq!(reply.structured["data"]["description"], "none", "{}", reply.text);
}

#[test]
fn a_flag_is_taken_for_its_opposite() {
    let mut client = Client::sandbox();
    let threads = |client: &mut Client, params: Value| {
        let reply = execute(client, "merge_request_discussion.list", params);
        assert!(!reply.is_error, "{}", reply.text);
        reply.structured["data"].clone()
    };
    let with = |name: &str, value: Value| json!({"fullPath": "acme/widget", "iid": 12, name: value});
    let open = threads(&mut client, with("unresolved", json!(true)));
    for given in [json!(false), json!("false")] {
        assert_eq!(threads(&mut client, with("resolved", given)), open);
    }
    assert_ne!(threads(&mut client, json!({"fullPath": "acme/widget", "iid": 12})), open);
    let resolved = execute(&mut client, "merge_request_discussion.list", with("resolved", json!(true)));
    assert!(resolved.is_error, "{}", resolved.text);
    // A name that only looks like the opposite is none: nobody asked to take issues away from the member.
    let params = json!({"fullPath": "acme/widget", "user_id": "bob", "assign_issuables": false});
    let reply = execute(&mut client, "member.remove", params);
    assert_eq!(reply.structured["error"]["kind"], "invalid_params", "{}", reply.text);
}

/// GitLab takes texts alone for the variables of a pipeline that a trigger starts.
#[test]
fn the_values_of_variables_are_texts() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": "acme/widget", "ref": "main", "token": "t", "variables": {"A": 1, "B": true, "C": "c"}});
    let call = json!({"action": "pipeline_trigger.run", "params": params, "dry_run": true});
    let reply = client.call(EXECUTE, call);
    assert!(reply.text.contains(r#""variables":{"A":"1","B":"true","C":"c"}"#), "{}", reply.text);
}

#[test]
fn what_is_no_date_is_never_sent() {
    let mut client = Client::sandbox();
    for given in ["next friday", "soon", "in two weeks", "2026-02-30", "2026-13-45", "2026-12-05T10:00:00Z"] {
        let params = json!({"fullPath": "acme/widget", "iid": 3, "due_date": given});
        let reply = execute(&mut client, "issue.update", params);
        assert_eq!(reply.structured["error"]["kind"], "invalid_params", "{given}: {}", reply.text);
        assert!(reply.text.contains("a date such as"), "{}", reply.text);
    }
    let time = json!({"fullPath": "acme/widget", "iid": 3, "due_date": "2026-12-05T10:00:00Z"});
    let reply = execute(&mut client, "issue.update", time);
    assert_eq!(reply.structured["error"]["fix"]["arguments"]["params"]["due_date"], "2026-12-05");
    for given in ["2026-12-05", ""] {
        let params = json!({"fullPath": "acme/widget", "iid": 3, "due_date": given});
        succeed(&mut client, "issue.update", params);
    }
    // Names of dates in other forms.
    let rotation = |day: &str| json!({"projectPath": "acme/widget", "scheduleIid": "1", "name": "x", "startsAt": {"date": day, "time": "08:00"}, "rotationLength": {"length": 1, "unit": "WEEKS"}, "participants": []});
    for (action, params) in [
        ("epic.create", json!({"fullPath": "acme", "title": "x", "start_date_fixed": "soon"})),
        ("epic.update", json!({"fullPath": "acme", "iid": 1, "due_date_fixed": "soon"})),
        ("iteration.create", json!({"fullPath": "acme", "title": "x", "dueDate": "soon"})),
        ("oncall_rotation.create", rotation("soon")),
    ] {
        let reply = execute(&mut client, action, params);
        assert_eq!(reply.structured["error"]["kind"], "invalid_params", "{action}: {}", reply.text);
        assert!(reply.text.contains("a date such as"), "{action}: {}", reply.text);
    }
    succeed(
        &mut client,
        "epic.update",
        json!({"fullPath": "acme", "iid": 1, "due_date_fixed": "2026-12-05"}),
    );
}

#[test]
fn a_list_in_a_text_is_that_list_for_every_action() {
    let catalog = Catalog::embedded().unwrap();
    let words = catalog.words().unwrap();
    let mut client = Client::sandbox();
    let mut compared = 0;
    for action in actions() {
        let params = example(&action, words);
        let lists: Vec<&String> = params
            .iter()
            .filter(|(_, value)| value.as_array().is_some_and(|list| !list.is_empty()))
            .map(|(name, _)| name)
            .collect();
        if lists.is_empty() {
            continue;
        }
        let Some(meant) = preview(&mut client, &action.id, &json!(params)) else { continue };
        for name in lists {
            let mut written = params.clone();
            written.insert(name.clone(), json!(params[name].to_string()));
            let sent = preview(&mut client, &action.id, &json!(written));
            assert_eq!(sent.as_ref(), Some(&meant), "{}: {name}", action.id);
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

/// A mistake in a call: the parameters with it.
type Mistake = fn(&Map<String, Value>) -> Option<Map<String, Value>>;

/// Mistakes that people and models make, by kind.
const MISTAKES: [(&str, Mistake); 7] = [
    ("a name with a letter too few", |params| {
        renamed(params, |name| (name.len() > 5).then(|| name[..name.len() - 1].to_owned()))
    }),
    ("two letters of a name exchanged", |params| renamed(params, swapped)),
    ("a name in camelCase", |params| renamed(params, |name| name.contains('_').then(|| camel(name)))),
    ("a negated name", |params| renamed(params, |name| Some(format!("not[{name}]")))),
    ("a name within another", |params| renamed(params, |name| Some(format!("filter[{name}]")))),
    ("a value with two letters exchanged", |params| changed(params, swapped)),
    ("an opposite value", |params| changed(params, |text| Some(format!("not_{text}")))),
];

/// Renames the last parameter that can be.
fn renamed(params: &Map<String, Value>, name: impl Fn(&str) -> Option<String>) -> Option<Map<String, Value>> {
    let (given, other) = params.keys().rev().find_map(|given| Some((given, name(given)?)))?;
    Some(
        params
            .iter()
            .map(|(key, value)| (if key == given { other.clone() } else { key.clone() }, value.clone()))
            .collect(),
    )
}

fn changed(
    params: &Map<String, Value>,
    value: impl Fn(&str) -> Option<String>,
) -> Option<Map<String, Value>> {
    let is_word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let (given, other) = params
        .iter()
        .rev()
        .find_map(|(key, given)| Some((key, value(given.as_str().filter(|text| is_word(text))?)?)))?;
    let mut changed = params.clone();
    changed.insert(given.clone(), json!(other));
    Some(changed)
}

fn swapped(text: &str) -> Option<String> {
    let mut letters: Vec<char> = text.chars().collect();
    let at = (1..letters.len().checked_sub(1)?).find(|at| letters[*at] != letters[at + 1])?;
    letters.swap(at, at + 1);
    Some(letters.into_iter().collect())
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |whole, word| format!("{whole}{}{}", word[..1].to_uppercase(), &word[1..]))
}

#[test]
fn no_fix_does_something_else_than_what_was_asked() {
    let catalog = Catalog::embedded().unwrap();
    let words = catalog.words().unwrap();
    let mut client = Client::sandbox();
    let (mut ran, mut meant_so, mut withheld, mut other) = (0, 0, 0, Vec::new());
    // Each action in one of the wrappings, in turns.
    let mut wrappers =
        ["parameters", "arguments", "args", "input", "tool_input", "payload", "data", "body"].iter().cycle();
    for action in actions().into_iter().filter(|action| action.twin.is_none() && action.plan.is_none()) {
        let params = example(&action, words);
        let Some(meant) = preview(&mut client, &action.id, &json!(params)) else { continue };
        let wrapper = *wrappers.next().unwrap();
        let (_, structured, text) =
            call(&mut client, json!({"action": action.id, wrapper: params, "dry_run": true}));
        assert_eq!(structured["request"], meant, "{} by `{wrapper}`: {text}", action.id);
        for (kind, mistake) in MISTAKES {
            let Some(mistaken) = mistake(&params) else { continue };
            let arguments = json!({"action": action.id, "params": mistaken, "dry_run": true});
            let (is_error, structured, text) = call(&mut client, arguments);
            let negates = kind.contains("negated") || kind.contains("within") || kind.contains("opposite");
            if !is_error {
                // Understood, or a value that is text like any other.
                if structured["request"] == meant && negates {
                    other.push(format!(
                        "{} {kind}: understood as what was negated: {}",
                        action.id,
                        text.lines().last().unwrap_or_default()
                    ));
                }
                continue;
            }
            let fix = &structured["error"]["fix"];
            let follows =
                fix["tool"] == "gitlab_execute_action" && fix["arguments"]["action"] == action.id.as_str();
            if !follows {
                withheld += 1;
                continue;
            }
            let fixed = preview(&mut client, &action.id, &fix["arguments"]["params"]);
            match fixed {
                Some(fixed) if fixed == meant && !negates => meant_so += 1,
                Some(_) | None => other.push(format!("{} {kind}: {mistaken:?} -> {fix}", action.id)),
            }
            ran += 1;
        }
    }
    println!(
        "{ran} fixes followed, {meant_so} did what was meant, {withheld} withheld, {} did not",
        other.len()
    );
    assert!(other.is_empty(), "{} of {ran}:\n{}", other.len(), other[..other.len().min(30)].join("\n"));
    assert!(meant_so > 500, "{meant_so}");
}

/// GitLab takes an epic's dates from its children unless a switch says otherwise, so a date alone had no effect.
#[test]
fn a_date_of_an_epic_has_effect_without_its_switch() {
    let gitlab = Gitlab::start();
    gitlab.answer("POST", "/epics", answer(201, json!({"id": 9, "iid": 3, "title": "Safer"})));
    gitlab.answer("GET", "/groups/acme", answer(200, json!({"id": 2, "full_path": "acme"})));
    let mut client = gitlab.client(&[]);
    let params = json!({"fullPath": "acme", "title": "Safer", "due_date": "2026-09-30", "start_date_fixed": "2026-04-01"});
    let reply = client.call(EXECUTE, json!({"action": "epic.create", "params": params}));
    assert!(!reply.is_error, "{}", reply.text);
    let sent = gitlab.received().into_iter().find(|request| request.method == "POST").unwrap();
    let sent: Value = serde_json::from_slice(&sent.body).unwrap();
    for (name, value) in [
        ("due_date_fixed", json!("2026-09-30")),
        ("due_date_is_fixed", json!(true)),
        ("start_date_fixed", json!("2026-04-01")),
        ("start_date_is_fixed", json!(true)),
    ] {
        assert_eq!(sent[name], value, "{name}: {sent}");
    }
    assert!(reply.text.contains("`due_date_fixed` with `due_date_is_fixed: true`"), "{}", reply.text);
}

/// REST asks for the id of a pipeline, which its URL has; GraphQL for its number in the project. A call may bring either.
#[test]
fn a_pipeline_is_named_by_either_of_its_numbers() {
    let mut client = Client::sandbox();
    let asked = json!({"fullPath": "acme/widget"});
    let pipelines = succeed(&mut client, "pipeline.list", asked)["data"].clone();
    let (id, iid) = (pipelines[0]["id"].clone(), pipelines[0]["iid"].clone());
    assert!(id.is_u64() && iid.is_u64() && id != iid, "{pipelines}");
    let asked = json!({"fullPath": "acme/widget", "pipeline_id": id});
    let url = succeed(&mut client, "pipeline.get", asked)["data"]["web_url"].clone();
    for params in
        [json!({"pipeline_id": id}), json!({"iid": iid}), json!({"target": url}), json!({"iid": "latest"})]
    {
        let mut params = params.as_object().unwrap().clone();
        if !params.contains_key("target") {
            params.insert("fullPath".to_owned(), json!("acme/widget"));
        }
        let params = Value::Object(params);
        let stages = preview(&mut client, "pipeline.list_stages", &params).unwrap();
        assert_eq!(stages["body"]["variables"]["iid"], json!(iid.to_string()), "{params}");
        let get = preview(&mut client, "pipeline.get", &params);
        let get = get.map(|request| request["path"].clone());
        let expected = json!(format!("/api/v4/projects/acme%2Fwidget/pipelines/{id}"));
        // `latest` is a word of `pipeline_id`, and no number.
        let is_word = params["iid"] == json!("latest");
        assert!(is_word || get == Some(expected), "{params}: {get:?}");
    }
    let fetched = json!({"items": [{"itemType": "pipeline", "iid": iid, "fullPath": "acme/widget"}]});
    let fetched = succeed(&mut client, "resource.fetch", fetched);
    assert_eq!(fetched["data"][0]["data"]["id"], id);
}

/// Both numbers are small integers in a young project: the one is never taken for the other.
#[test]
fn a_pipeline_that_is_not_there_by_one_number_is_not_looked_for_by_the_other() {
    let mut client = Client::sandbox();
    let of_another_number = [
        ("pipeline.get", json!({"fullPath": "acme/widget", "iid": 305})),
        ("pipeline.list_stages", json!({"fullPath": "acme/widget", "pipeline_id": 5})),
        ("pipeline.list_stages", json!({"fullPath": "acme/widget", "iid": "!9"})),
    ];
    for (action, params) in of_another_number {
        let (is_error, structured, text) = call(&mut client, json!({"action": action, "params": params}));
        assert!(is_error && structured["error"]["kind"] == "not_found", "{action} {params}: {text}");
    }
}

/// Clients that fill every optional parameter of a form with an empty text.
#[test]
fn blank_optional_parameters_are_left_out() {
    let mut client = Client::sandbox();
    let blank = json!({
        "fullPath": "acme/widget", "state": "", "created_after": "", "author_username": "", "labels": "",
        "assignee_id": "", "confidential": "", "per_page": "", "order_by": "null", "search": "",
    });
    let rows = succeed(&mut client, "issue.list", blank)["data"].clone();
    assert_eq!(rows, succeed(&mut client, "issue.list", json!({"fullPath": "acme/widget"}))["data"]);
    let file = json!({"path": "README.md", "ref": "", "line_start": "", "line_end": ""});
    let file = json!({"fullPath": "acme/widget", "files": [file], "grep": ""});
    succeed(&mut client, "repository.read_files", file);
    let create = json!({
        "fullPath": "acme/widget", "title": "Oil it", "weight": "", "confidential": "", "due_date": "", "issue_type": "",
    });
    let sent = preview(&mut client, "issue.create", &create).unwrap();
    for left_out in ["weight", "confidential", "issue_type"] {
        assert!(sent["body"].get(left_out).is_none(), "{sent}");
    }
    // In an update an empty value may take away what is there: that is not guessed.
    let update = json!({"fullPath": "acme/widget", "iid": 3, "weight": ""});
    assert_eq!(preview(&mut client, "issue.update", &update), None);
    // A required parameter has no default.
    let required = json!({"fullPath": "acme/widget", "iid": ""});
    assert_eq!(preview(&mut client, "issue.get", &required), None);
}

/// Other systems take a project as `owner` and `repo`.
#[test]
fn an_owner_and_a_name_are_the_path() {
    let mut client = Client::sandbox();
    for place in [
        json!({"owner": "acme", "repo": "widget"}),
        json!({"namespace": "acme", "project": "widget"}),
        json!({"owner": "acme", "fullPath": "widget"}),
    ] {
        let mut params = place.as_object().unwrap().clone();
        params.insert("iid".to_owned(), json!(3));
        let issue = succeed(&mut client, "issue.get", Value::Object(params))["data"].clone();
        assert_eq!(issue["iid"], 3, "{place}");
    }
    // An id needs no owner.
    let by_id = json!({"namespace": "acme", "id": "1", "iid": 3});
    assert_ne!(
        preview(&mut client, "issue.get", &by_id).unwrap_or_default()["path"],
        "/api/v4/projects/acme%2F1/issues/3"
    );
    let commits = json!({"fullPath": "acme/widget", "sha": "main"});
    assert_eq!(preview(&mut client, "commit.list", &commits).unwrap()["query"][0], "ref_name=main");
    let alone = json!({"owner": "acme", "iid": 3});
    assert_eq!(preview(&mut client, "issue.get", &alone), None);
}

/// `acme/widget/-/issues/5` in place of a path was taken for a project's, and the offered call failed.
#[test]
fn the_path_of_a_page_is_its_object() {
    let mut client = Client::sandbox();
    let page = json!({"fullPath": "acme/widget/-/issues/5"});
    assert_eq!(succeed(&mut client, "issue.get", page)["data"]["iid"], 5);
}

#[test]
fn a_number_with_the_name_or_the_mark_of_its_kind_is_the_number() {
    let mut client = Client::sandbox();
    let mut path = |action: &str, iid: Value| {
        let sent = preview(&mut client, action, &json!({"fullPath": "acme/widget", "iid": iid}))?;
        sent["path"].as_str().map(|path| path.rsplit_once('/').unwrap().1.to_owned())
    };
    for given in ["3", "#3", "issue 3", "Issue #3"] {
        assert_eq!(path("issue.get", json!(given)).as_deref(), Some("3"), "{given}");
    }
    for given in ["!8", "#8", "MR 8", "MR !8", "PR #8", "merge request 8", "Pull Request 8"] {
        assert_eq!(path("merge_request.get", json!(given)).as_deref(), Some("8"), "{given}");
    }
    for (action, other) in
        [("issue.delete", "!3"), ("issue.get", "&3"), ("merge_request.get", "&8"), ("issue.get", "MR 3")]
    {
        assert_eq!(path(action, json!(other)), None, "{other} in {action}");
    }
    let (_, _, text) =
        call(&mut client, json!({"action": "issue.get", "params": {"fullPath": "acme/widget", "iid": "!3"}}));
    assert!(text.contains("\"!3\" (a merge request) was given"), "{text}");
}

/// `issue.delete` with `merge_request_iid: 8` deleted the issue 8.
#[test]
fn the_number_of_another_kind_is_not_taken_for_the_own_one() {
    let mut client = Client::sandbox();
    for (action, name) in [
        ("issue.delete", "merge_request_iid"),
        ("issue.get", "mr_iid"),
        ("issue.update", "pr_number"),
        ("issue_note.list", "merge_request_id"),
        ("merge_request.get", "issue_iid"),
        ("merge_request_note.list", "issue"),
        ("epic.get", "issue_iid"),
        ("epic.delete", "issue_iid"),
        ("work_item.get", "merge_request_iid"),
    ] {
        let mut params = json!({"fullPath": "acme/widget", "title": "x"});
        params[name] = json!(8);
        let (is_error, structured, text) =
            call(&mut client, json!({"action": action, "params": params, "dry_run": true}));
        assert!(
            is_error && text.contains(&format!("there is no parameter `{name}`")),
            "{action} {name}: {text}"
        );
        let fix = structured["error"]["fix"]["arguments"]["action"].as_str().unwrap_or_default();
        assert!(!fix.starts_with(action.split('.').next().unwrap()), "{action} {name}: {fix}");
    }
    for (action, name) in [
        ("issue.get", "issue_iid"),
        ("issue.get", "number"),
        ("issue_note.list", "noteable_iid"),
        ("merge_request.get", "pull_number"),
        ("merge_request.get", "pr_id"),
        ("merge_request_note.list", "merge_request"),
        ("work_item.get", "issue_iid"),
        ("work_item.get", "epic_iid"),
    ] {
        let mut params = json!({"fullPath": "acme/widget"});
        params[name] = json!(8);
        assert!(preview(&mut client, action, &params).is_some(), "{action} {name}");
    }
}

/// `milestone.delete` with `iid: 2` deleted the milestone with the id 2.
#[test]
fn the_number_of_a_milestone_is_not_its_id() {
    let gitlab = Gitlab::with_project();
    let row = json!({"id": 42, "iid": 2, "title": "Two", "state": "active"});
    gitlab.json("/projects/acme%2Fwidget/milestones", &json!([row]));
    let mut client = gitlab.client(&[]);
    for name in ["iid", "milestone_iid"] {
        let mut params = json!({"fullPath": "acme/widget"});
        params[name] = json!(2);
        let sent = preview(&mut client, "milestone.delete", &params).unwrap();
        assert!(sent["path"].as_str().unwrap().ends_with("/milestones/42"), "{name}: {sent}");
        params["iid"] = json!(7);
        params["milestone_iid"] = json!(2);
        let sent = preview(&mut client, "issue.update", &params).unwrap();
        assert_eq!(sent["body"], json!({"milestone_id": 42}));
    }
    let by_id =
        preview(&mut client, "milestone.delete", &json!({"fullPath": "acme/widget", "milestone_id": 2}));
    assert!(by_id.unwrap()["path"].as_str().unwrap().ends_with("/milestones/2"));
}

/// `project.delete` with `group_id: 2` deleted the project 2.
#[test]
fn the_id_of_a_group_is_no_project_and_the_other_way_round() {
    let mut client = Client::sandbox();
    let mut run = |action: &str, params: Value| {
        call(&mut client, json!({"action": action, "params": params, "dry_run": true}))
    };
    for (action, params) in [
        ("project.delete", json!({"group_id": 2})),
        ("project.archive", json!({"group_id": "2"})),
        ("project.transfer", json!({"namespace_id": 2, "namespace": "acme"})),
        ("group.delete", json!({"project_id": 2})),
        ("group.update", json!({"repository": 2, "description": "x"})),
        ("user.delete", json!({"group_id": 3})),
        ("user.delete", json!({"project_id": 3})),
        ("pipeline.delete", json!({"fullPath": "acme/widget", "job_id": 5})),
        ("package.delete", json!({"fullPath": "acme/widget", "package_file_id": 5})),
    ] {
        let (is_error, structured, text) = run(action, params.clone());
        assert!(is_error, "{action} {params}: {text}");
        let fix = structured["error"]["fix"]["arguments"]["action"].as_str().unwrap_or_default();
        assert!(!fix.contains(".delete"), "{action} {params}: {text}");
    }
    for (action, params) in [
        ("project.delete", json!({"project_id": 2})),
        ("project.get", json!({"repo": 1})),
        ("group.get", json!({"group_id": 1})),
        ("label.list", json!({"group_id": 1})),
        ("label.list", json!({"project_id": 1})),
        // A path is one of either by itself.
        ("project.get", json!({"group_path": "acme/widget"})),
    ] {
        let (is_error, _, text) = run(action, params.clone());
        assert!(!is_error, "{action} {params}: {text}");
    }
}

#[test]
fn variables_are_taken_as_a_shell_writes_them() {
    let mut client = Client::sandbox();
    let run = |variables: Value| json!({"fullPath": "acme/widget", "ref": "main", "variables": variables});
    let sent = preview(&mut client, "pipeline.create", &run(json!(["A=1", "B=x=2", "C="]))).unwrap();
    let pairs = json!([{"key": "A", "value": "1"}, {"key": "B", "value": "x=2"}, {"key": "C", "value": ""}]);
    assert_eq!(sent["body"]["variables"], pairs);
    let sent = preview(&mut client, "pipeline.create", &run(json!("A=1"))).unwrap();
    assert_eq!(sent["body"]["variables"], json!([{"key": "A", "value": "1"}]));
    assert_eq!(preview(&mut client, "pipeline.create", &run(json!(["A=1", "B"]))), None);
    assert_eq!(preview(&mut client, "pipeline.create", &run(json!(["a b=1"]))), None);
}

#[test]
fn other_words_for_a_choice_are_the_choice() {
    let mut client = Client::sandbox();
    for (action, params, name, sent) in [
        ("search.run", json!({"search": "oil", "scope": "code"}), "scope", "blobs"),
        ("search.run", json!({"search": "oil", "scope": "Pull Requests"}), "scope", "merge_requests"),
        ("project.list", json!({"order_by": "stars"}), "order_by", "star_count"),
        ("pipeline.list", json!({"fullPath": "acme/widget", "status": "in progress"}), "status", "running"),
        ("issue.list", json!({"fullPath": "acme/widget", "sort": "descending"}), "sort", "desc"),
    ] {
        let preview = preview(&mut client, action, &params).unwrap();
        let query = preview["query"].as_array().unwrap();
        assert!(query.contains(&json!(format!("{name}={sent}"))), "{params}: {preview}");
    }
    let update =
        json!({"fullPath": "acme/widget", "merge_method": "fast-forward", "squash_option": "encouraged"});
    let body = preview(&mut client, "project.update", &update).unwrap()["body"].clone();
    assert_eq!((&body["merge_method"], &body["squash_option"]), (&json!("ff"), &json!("default_on")));
    let link = json!({"fullPath": "acme/widget", "iid": 3, "target_issue_iid": 4, "link_type": "blocked by"});
    let body = preview(&mut client, "issue_link.create", &link).map(|sent| sent["body"].clone());
    assert_eq!(body.unwrap()["link_type"], "is_blocked_by");
    // A word with two readings stays refused.
    assert_eq!(
        preview(&mut client, "project.update", &json!({"fullPath": "acme/widget", "merge_method": "rebase"})),
        None
    );
}
