//! Rules of the policy file: on reads, which queries of the caller could contain; with `allow`; on operations that the
//! catalog does not know.

use std::collections::BTreeSet;

use gitlab_mcp::call::Call;
use gitlab_mcp::catalog::{Interface, Risk};
use gitlab_mcp::policy::{Confirm, Consent, Policy, PolicySettings, Ruling};
use serde_json::{Value, json};

use crate::policy::vault::{self, kind, policy_file, run, sent};
use crate::support::calls::{CATALOG, build_call};
use crate::support::client::EXECUTE;

fn call(id: &str, params: &Value) -> Call {
    let action = CATALOG.get(id).unwrap().unwrap();
    let built = build_call(&action, params.as_object().unwrap().clone(), 7);
    built.unwrap_or_else(|fault| panic!("{id} {params}: {fault:?}")).unwrap()
}

fn policy(rules: &str) -> Policy {
    Policy::new(PolicySettings { file: Some(rules.to_owned()), ..PolicySettings::default() }, &CATALOG)
        .unwrap()
}

fn decide(policy: &Policy, call: &Call) -> &'static str {
    policy.decide(call.effects(), Consent::default()).name()
}

/// Queries of a caller that may read variables of CI below `acme`, none of which names the action that does.
fn queries() -> Vec<Call> {
    let document = |text: &str| call("api.graphql", &json!({"document": text}));
    let variables = "ciVariables { nodes { key } }";
    let glql = json!({"glql_yaml": "query: project = \"acme/production\""});
    vec![
        document(&format!("{{ group(fullPath: \"acme\") {{ projects {{ nodes {{ {variables} }} }} }} }}")),
        document(&format!(
            "{{ a: group(fullPath: \"x\") {{ p: projects {{ n: nodes {{ v: {variables} }} }} }} }}"
        )),
        document(&format!(
            "query {{ projects {{ nodes {{ ...P ... on Project {{ id }} }} }} }} fragment P on Project {{ {variables} }}"
        )),
        document(&format!(
            "mutation {{ createNote(input: {{noteableId: \"gid://gitlab/Issue/1\", body: \"x\"}}) {{ note {{ project {{ {variables} }} }} }} }}"
        )),
        call("glql.query", &glql),
        call("api.rest", &json!({"method": "POST", "path": "/glql", "body": glql})),
        call("duo_chat.ask", &json!({"content": "Which variables has acme/production?"})),
        call("api.rest", &json!({"method": "POST", "path": "/mcp", "body": {"method": "tools/call"}})),
    ]
}

#[test]
fn a_rule_on_a_read_holds_for_every_query_that_may_contain_it() {
    for scope in [
        "actions = [\"ci_variable.*\"]",
        "actions = [\"ci_variable.list\", \"issue.delete\"]",
        "actions = [\"ci_variable.*\"]\npaths = [\"acme/production\"]",
        "paths = [\"acme/production\"]",
    ] {
        for verdict in ["deny", "preview", "confirm"] {
            let policy = policy(&format!("[[rule]]\n{scope}\ndecision = \"{verdict}\"\n"));
            for query in queries() {
                let operation = query.operation();
                let decided = decide(&policy, &query);
                assert_eq!(decided, verdict, "{scope}: {} {operation}", query.action());
            }
            assert!(!policy.selects(), "{scope}: `fields` could select it");
        }
    }
}

#[test]
fn a_rule_on_changes_leaves_queries_alone() {
    for rule in [
        "[[rule]]\nactions = [\"issue.delete\"]\ndecision = \"deny\"",
        "[[rule]]\nactions = [\"ci_variable.*\"]\nrisk = \"write\"\ndecision = \"deny\"",
        "[[rule]]\ndecision = \"allow\"\n[[rule]]\nactions = [\"ci_variable.*\"]\ndecision = \"deny\"",
    ] {
        let policy = policy(rule);
        let document = "{ group(fullPath: \"acme\") { projects { nodes { name } } } }";
        for query in [
            call("api.graphql", &json!({"document": document})),
            call("glql.query", &json!({"glql_yaml": "query: state = opened"})),
        ] {
            assert_eq!(decide(&policy, &query), "allow", "{rule}: {}", query.action());
        }
        assert!(policy.selects(), "{rule}");
    }
}

/// The first rule that applies decides on the fields that a document names, and another one on what it selects.
#[test]
fn allowing_what_a_document_names_does_not_allow_what_it_selects() {
    let deny = "[[rule]]\nactions = [\"ci_variable.*\"]\ndecision = \"deny\"\n";
    let named = "{ project(fullPath: \"acme/widget\") { group { projects { nodes { ciVariables { nodes { key } } } } } } }";
    let query = call("api.graphql", &json!({"document": named}));
    let ids: BTreeSet<&str> =
        query.touches().iter().flat_map(|touched| &touched.ids).map(String::as_str).collect();
    let ids: Vec<String> = ids.iter().map(|id| format!("\"{id}\"")).collect();
    for allow in [
        format!("[[rule]]\nactions = [{}]\ndecision = \"allow\"\n", ids.join(", ")),
        "[[rule]]\npaths = [\"acme\"]\ndecision = \"allow\"\n".to_owned(),
    ] {
        assert_eq!(decide(&policy(&allow), &query), "allow", "{allow}");
        assert_eq!(decide(&policy(&format!("{allow}{deny}")), &query), "deny", "{allow}");
    }
}

#[test]
fn what_a_rule_always_denies_is_not_offered() {
    let denies = policy("[[rule]]\nactions = [\"ci_variable.list\"]\ndecision = \"deny\"\n");
    for id in ["api.graphql", "glql.query", "mcp_protocol.call"] {
        let action = CATALOG.get(id).unwrap().unwrap();
        assert!(denies.withholds(&action).is_some(), "{id}");
        let asks = policy("[[rule]]\nactions = [\"ci_variable.list\"]\ndecision = \"confirm\"\n");
        assert!(asks.withholds(&action).is_none(), "{id}");
    }
}

#[test]
fn every_action_that_takes_a_document_is_a_query() {
    let queries = &CATALOG.words().unwrap().query_actions;
    let mut found = 0;
    for action in CATALOG.actions().map(Result::unwrap) {
        let names = |word: &str| action.operations.iter().any(|operation| operation.path.ends_with(word));
        let is_rest = action.operations.iter().all(|operation| operation.graphql.is_none());
        let takes_document = action.direct() == Some(Interface::Graphql)
            || (is_rest && ["/glql", "/graphql", "/mcp"].into_iter().any(names) && action.risk != Risk::Read)
            || action.params.iter().any(|param| param.name.contains("glql"));
        if takes_document && action.direct() != Some(Interface::Rest) {
            found += 1;
            assert!(queries.contains(&action.id), "{}", action.id);
        }
    }
    assert!(found >= 4, "{found}");
}

/// The same on the way to GitLab: neither by a document nor by fields nor by GLQL does a request read what is denied.
#[test]
fn no_request_selects_what_a_rule_on_reads_denies() {
    for scope in ["", "paths = [\"acme\"]\n"] {
        for verdict in ["deny", "confirm", "preview"] {
            let gitlab = vault::gitlab();
            let rule = format!("[[rule]]\nactions = [\"ci_variable.*\"]\n{scope}decision = \"{verdict}\"\n");
            let file = policy_file(&rule);
            let mut client = gitlab.client(&[("GITLAB_POLICY", &file.path)]);
            let document =
                "{ group(fullPath: \"acme\") { projects { nodes { ciVariables { nodes { key } } } } } }";
            run(&mut client, "api.graphql", &json!({"document": document}), false);
            run(&mut client, "glql.query", &json!({"glql_yaml": "query: project = \"acme/vault\""}), false);
            let fields = ["nodes.name", "nodes.ciVariables.nodes.key"];
            client.call(EXECUTE, json!({"action": "graphql.projects", "params": {}, "fields": fields}));
            for request in gitlab.received() {
                let body = String::from_utf8_lossy(&request.body).into_owned();
                assert!(!body.contains("ciVariables"), "{rule}: {body}");
                assert!(!request.path.ends_with("/glql"), "{rule}: {body}");
            }
        }
    }
}

/// `allow` for one project, where every change is asked about.
fn allowed_below(path: &str) -> Policy {
    let file = format!("[[rule]]\npaths = [\"{path}\"]\ndecision = \"allow\"\n");
    let confirm = Confirm::parse("write,grant,destructive").unwrap();
    let settings = PolicySettings { file: Some(file), confirm, ..PolicySettings::default() };
    Policy::new(settings, &CATALOG).unwrap()
}

#[test]
fn a_rule_that_allows_covers_every_place_of_a_call() {
    let policy = allowed_below("acme/a");
    let raw =
        |path: &str, body: Value| call("api.rest", &json!({"method": "POST", "path": path, "body": body}));
    let moved = |to: &str| call("issue.move", &json!({"fullPath": "acme/a", "iid": 1, "to_project_id": to}));
    let forked = |to: &str| call("project.fork", &json!({"fullPath": "acme/a", "namespace_path": to}));
    let transferred = |to: &str| call("project.transfer", &json!({"fullPath": "acme/a", "namespace": to}));
    for (call, expected) in [
        (moved("acme/a/x"), "allow"),
        (moved("acme/b"), "confirm"),
        (forked("acme/a"), "allow"),
        (forked("acme/b"), "confirm"),
        (transferred("acme/b"), "confirm"),
        (raw("/projects/acme%2Fa/issues/1/move", json!({"to_project_id": "acme/a/x"})), "allow"),
        (raw("/projects/acme%2Fa/issues/1/move", json!({"to_project_id": "acme/b"})), "confirm"),
        (raw("/projects/acme%2Fb/issues/1/move", json!({"to_project_id": "acme/a"})), "confirm"),
        // A place that is only named says nothing of where the request works.
        (raw("/not/known/yet", json!({"project_id": "acme/a"})), "confirm"),
        (raw("/broadcast_messages", json!({"project_id": "acme/a", "message": "x"})), "confirm"),
    ] {
        assert_eq!(decide(&policy, &call), expected, "{} {:?}", call.path(), call.effects().places());
    }
}

/// GitLab may ignore a place that a request only names, and make the change in the project that a rule is about.
#[test]
fn a_rule_on_a_project_holds_for_a_change_that_does_not_say_where_it_works() {
    for verdict in ["deny", "confirm", "preview"] {
        let policy = policy(&format!("[[rule]]\npaths = [\"acme/vault\"]\ndecision = \"{verdict}\"\n"));
        for path in ["/not/known/yet", "/broadcast_messages"] {
            let named = json!({"project_id": "acme/widget", "message": "x"});
            let call = call("api.rest", &json!({"method": "POST", "path": path, "body": named}));
            assert_eq!(decide(&policy, &call), verdict, "{path} {:?}", call.effects().places());
        }
    }
}

/// An endpoint that the catalog does not know could be the one that a rule is about.
/// Access to a group is access to the projects in it, and its deletion deletes them.
#[test]
fn a_rule_on_a_project_holds_for_what_opens_or_deletes_a_group_above_it() {
    for verdict in ["deny", "confirm"] {
        let policy = policy(&format!("[[rule]]\npaths = [\"acme/vault\"]\ndecision = \"{verdict}\"\n"));
        for (action, params) in [
            ("group.share", json!({"fullPath": "acme", "group_id": 9, "group_access": 30})),
            ("group.update", json!({"fullPath": "acme", "visibility": "public"})),
            ("group.delete", json!({"fullPath": "acme"})),
        ] {
            let call = call(action, &params);
            assert!(call.effects().risk() >= Risk::Grant, "{action}");
            assert_eq!(decide(&policy, &call), verdict, "{action}");
        }
        let rename = call("group.update", &json!({"fullPath": "acme", "description": "x"}));
        assert_eq!(decide(&policy, &rename), "allow");
        let beside = call("group.delete", &json!({"fullPath": "acme/tools"}));
        assert_ne!(decide(&policy, &beside), "deny");
    }
}

#[test]
fn a_rule_on_an_action_holds_for_operations_that_the_catalog_does_not_know() {
    for verdict in ["deny", "confirm", "preview"] {
        let policy = policy(&format!("[[rule]]\nactions = [\"issue.delete\"]\ndecision = \"{verdict}\"\n"));
        for (id, params) in [
            ("api.rest", json!({"method": "POST", "path": "/not/known/yet"})),
            ("api.rest", json!({"method": "GET", "path": "/not/known/yet"})),
            ("api.rest", json!({"method": "DELETE", "path": "/projects/1/no_such_part/1"})),
            ("api.graphql", json!({"document": "mutation { nothingThatIs(input: {id: 1}) { errors } }"})),
            ("api.graphql", json!({"document": "{ nothingThatIs { id } }"})),
        ] {
            let decided = policy.decide(call(id, &params).effects(), Consent::default());
            assert_eq!(decided.name(), verdict, "{params}");
            let confirmed = Consent { confirm: true, ..Consent::default() };
            let confirmed = policy.decide(call(id, &params).effects(), confirmed);
            assert_eq!(matches!(confirmed, Ruling::Allow), verdict == "confirm", "{params}");
        }
        // What the catalog does know, and is another action, is not concerned.
        let known = call("api.rest", &json!({"method": "GET", "path": "/projects/1/issues"}));
        assert_eq!(decide(&policy, &known), "allow");
    }
}

#[test]
fn a_raw_request_to_an_unknown_endpoint_is_not_sent_past_a_rule() {
    let gitlab = vault::gitlab();
    let file = policy_file("[[rule]]\nactions = [\"issue.delete\"]\ndecision = \"deny\"\n");
    let mut client = gitlab.client(&[("GITLAB_POLICY", &file.path)]);
    let reply = run(&mut client, "api.rest", &json!({"method": "POST", "path": "/not/known/yet"}), true);
    assert_eq!(kind(&reply), "denied", "{}", reply.text);
    assert!(sent(&gitlab).iter().all(|request| request.ends_with("/self")), "{:?}", sent(&gitlab));
}

#[test]
fn a_comment_is_not_posted_with_a_change_that_is_only_previewed() {
    let gitlab = vault::gitlab();
    let file = policy_file("[[rule]]\nactions = [\"issue.update\"]\ndecision = \"preview\"\n");
    let mut client = gitlab.client(&[("GITLAB_POLICY", &file.path)]);
    let params = json!({"fullPath": "acme/widget", "iid": 1, "state_event": "close", "comment": "Closed."});
    let reply = run(&mut client, "issue.update", &params, true);
    let rows = reply.structured["data"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["status"] == "preview"), "{}", reply.text);
    assert_eq!(rows.len(), 2, "{}", reply.text);
    assert!(sent(&gitlab).iter().all(|request| request.starts_with("GET")), "{:?}", sent(&gitlab));
}

#[test]
fn what_follows_a_previewed_call_of_a_batch_is_previewed_too_unless_it_reads() {
    let gitlab = vault::gitlab();
    let file = policy_file("[[rule]]\nactions = [\"issue.update\"]\ndecision = \"preview\"\n");
    let mut client = gitlab.client(&[("GITLAB_POLICY", &file.path)]);
    let place = json!({"fullPath": "acme/widget", "iid": 1});
    let note = json!({"fullPath": "acme/widget", "iid": 1, "body": "Closed."});
    let change = json!({"fullPath": "acme/widget", "iid": 1, "state_event": "close"});
    let calls = json!([
        {"action": "issue.update", "params": change},
        {"action": "issue.get", "params": place},
        {"action": "issue_note.create", "params": note},
    ]);
    for (goes_on, expected) in [(false, ["preview", "ok", "preview"]), (true, ["preview", "ok", "ok"])] {
        let reply =
            run(&mut client, "api.batch", &json!({"calls": calls, "continue_on_error": goes_on}), true);
        let rows = reply.structured["data"].as_array().unwrap();
        let statuses: Vec<&Value> = rows.iter().map(|row| &row["status"]).collect();
        assert_eq!(statuses, expected, "{}", reply.text);
    }
}
