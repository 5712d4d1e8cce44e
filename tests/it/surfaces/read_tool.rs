//! `gitlab_read_action`: what only reads runs, what policy calls anything else is refused with the call that runs it.

use serde_json::{Value, json};

use super::listings::{list, start, tool};
use crate::support::client::{Client, EXECUTE, FIND, Reply, follow, refused};

const READ: &str = "gitlab_read_action";

fn client() -> Client {
    start("dynamic", &[("GITLAB_READ_TOOL", "true")])
}

fn read_action(client: &mut Client, action: &str, params: Value) -> Reply {
    client.call(READ, json!({"action": action, "params": params}))
}

#[test]
fn it_is_listed_where_it_is_wanted() {
    for (kind, wanted, listed) in [
        ("dynamic", "true", true),
        ("toolset", "true", true),
        ("dynamic", "false", false),
        ("meta", "true", false),
        ("individual", "true", false),
    ] {
        let mut client = start(kind, &[("GITLAB_READ_TOOL", wanted)]);
        let tools = list(&mut client);
        assert_eq!(tools.iter().any(|tool| tool["name"] == READ), listed, "{kind}");
        let call = json!({"name": READ, "arguments": {"action": "current_user.get"}});
        let answer = client.request("tools/call", call);
        assert_eq!(answer["result"].is_object(), listed, "{kind}: {answer}");
    }
    let mut client = client();
    let tools = list(&mut client);
    let own = tool(&tools, READ);
    assert_eq!(own["annotations"]["readOnlyHint"], true);
    for name in ["confirm", "confirmation_token", "dry_run", "save_to"] {
        assert!(own["inputSchema"]["properties"].get(name).is_none(), "{name}");
    }
    assert_eq!(tool(&tools, EXECUTE)["annotations"]["readOnlyHint"], false);
}

#[test]
fn reads_run_and_their_next_calls_are_its_own() {
    let mut client = client();
    let listed = read_action(&mut client, "issue.list", json!({"fullPath": "acme/widget", "per_page": 2}));
    assert!(!listed.is_error, "{}", listed.text);
    let next = listed.structured["page"]["next"].clone();
    assert_eq!(next["tool"], READ);
    assert!(listed.text.contains(&next.to_string()), "{}", listed.text);
    assert!(!follow(&mut client, &next).is_error);
    for (action, params) in [
        ("issue.get", json!({"target": "acme/widget#1"})),
        ("api.rest", json!({"method": "GET", "path": "/projects/acme%2Fwidget"})),
        ("api.graphql", json!({"query": "{ currentUser { username } }"})),
        ("api.batch", json!({"calls": [{"action": "project.get", "params": {"fullPath": "acme/widget"}}]})),
        ("resource.fetch", json!({"targets": ["acme/widget#1"]})),
    ] {
        let reply = read_action(&mut client, action, params);
        assert!(!reply.is_error, "{action}: {}", reply.text);
    }
}

#[test]
fn whatever_else_is_refused_with_the_call_that_runs_it() {
    let mut client = client();
    let before =
        read_action(&mut client, "issue.get", json!({"target": "acme/widget#1"})).structured["data"].clone();
    for (action, params) in [
        ("issue.update", json!({"target": "acme/widget#1", "title": "x"})),
        ("issue.delete", json!({"target": "acme/widget#1"})),
        ("delete_issue", json!({"fullPath": "acme/widget", "iid": 1})),
        ("project_access_token.create", json!({"fullPath": "acme/widget", "name": "x", "scopes": ["api"]})),
        (
            "api.rest",
            json!({"method": "PUT", "path": "/projects/acme%2Fwidget/issues/1", "body": {"title": "x"}}),
        ),
        ("DELETE /projects/acme%2Fwidget/issues/1", json!({})),
        ("api.graphql", json!({"query": "mutation { todosMarkAllDone(input: {}) { errors } }"})),
        ("resource.update", json!({"changes": [{"target": "acme/widget#1", "title": "x"}]})),
        ("merge_request.review", json!({"target": "acme/widget!5", "comments": [], "summary": "x"})),
    ] {
        let reply = read_action(&mut client, action, params);
        let error = refused(&reply, "denied");
        assert_eq!(error["fix"]["tool"], EXECUTE, "{action}: {error}");
        assert!(error["message"].as_str().unwrap().starts_with("gitlab_read_action only reads"), "{error}");
    }
    // The writes of a batch are refused, too.
    let calls = json!([{"action": "issue.update", "params": {"target": "acme/widget#1", "title": "x"}}]);
    let batch = read_action(&mut client, "api.batch", json!({"calls": calls}));
    assert!(batch.text.contains("the tool that was called only reads"), "{}", batch.text);
    // No argument gives consent.
    let consent = json!({"action": "issue.delete", "params": {"target": "acme/widget#1"}, "confirm": true});
    refused(&client.call(READ, consent), "invalid_params");
    let after =
        read_action(&mut client, "issue.get", json!({"target": "acme/widget#1"})).structured["data"].clone();
    assert_eq!(after, before);
}

#[test]
fn the_call_that_a_refusal_offers_runs() {
    let mut client = client();
    let change = json!({"target": "acme/widget#1", "title": "Renamed by execute"});
    let fix = refused(&read_action(&mut client, "issue.update", change), "denied")["fix"].clone();
    let done = follow(&mut client, &fix);
    assert!(!done.is_error && done.text.contains("Renamed by execute"), "{}", done.text);
}

#[test]
fn a_call_with_an_argument_that_the_tool_lacks_is_offered_by_execute() {
    let mut client = client();
    let call =
        json!({"action": "issue.get", "params": {"fulPath": "acme/widget", "iid": 1}, "dry_run": true});
    let fix = refused(&client.call(EXECUTE, call), "invalid_params")["fix"].clone();
    assert_eq!(fix["arguments"]["dry_run"], true, "{fix}");
    let shown = follow(&mut client, &fix);
    assert!(!shown.is_error && shown.text.starts_with("Not sent: "), "{}", shown.text);
}

#[test]
fn the_tools_that_every_task_needs_are_loaded_at_once() {
    for (kind, loaded) in [
        ("dynamic", &[FIND, EXECUTE, READ][..]),
        ("meta", &[FIND]),
        ("individual", &[FIND]),
        ("toolset", &[FIND, EXECUTE, READ]),
    ] {
        let mut client = start(kind, &[("GITLAB_READ_TOOL", "true")]);
        let tools = list(&mut client);
        let marked: Vec<&str> = tools
            .iter()
            .filter(|tool| tool["_meta"]["anthropic/alwaysLoad"] == true)
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert_eq!(marked, loaded, "{kind}");
    }
}
