//! Proves that no spelling gets round a rule: every action with its example, by its id and by raw REST and GraphQL,
//! with encodings, other cases, targets, and ids in place of paths. The effects of each are known from how it was made.

use std::sync::LazyLock;

use gitlab_mcp::call::Call;
use gitlab_mcp::catalog::{Action, Names, Risk, example};
use gitlab_mcp::policy::{Consent, Policy, PolicySettings, Rule, Ruling};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::policy::read_only::direct;
use crate::support::calls::{CATALOG, build_call};

static BELOW_ACME: LazyLock<Policy> = LazyLock::new(|| below("acme"));

fn below(path: &str) -> Policy {
    policy(PolicySettings { allowed_paths: vec![path.to_owned()], ..PolicySettings::default() })
}

fn policy(settings: PolicySettings) -> Policy {
    Policy::new(settings, &CATALOG).unwrap()
}

/// The call that these parameters make; every look-up finds a project, or the id 7.
fn call(action: &Action, params: &Value) -> Option<Call> {
    build_call(action, params.as_object()?.clone(), 7).ok()?
}

fn action_by_id(id: &str) -> Action {
    CATALOG.get(id).unwrap().unwrap()
}

/// True if a policy denies a call with any consent.
fn denies(policy: &Policy, call: &Call) -> bool {
    [(false, false), (true, false), (false, true), (true, true)].into_iter().all(|(confirm, dry_run)| {
        matches!(policy.decide(call.effects(), Consent { confirm, dry_run }), Ruling::Deny(_))
    })
}

#[test]
fn a_denied_action_is_denied_by_every_way_to_it() {
    let mut tried = 0;
    for action in CATALOG.actions().map(Result::unwrap).filter(|action| !action.is_open()) {
        let denied =
            policy(PolicySettings { denied_actions: vec![action.id.clone()], ..PolicySettings::default() });
        assert!(denied.withholds(&action).is_some(), "{}", action.id);
        for operation in action.operations.iter().filter(|operation| operation.any.is_none()) {
            let Some(params) = direct(operation) else { continue };
            let id = if operation.graphql.is_some() { "api.graphql" } else { "api.rest" };
            let call = call(&action_by_id(id), &params).unwrap_or_else(|| panic!("{operation}: {params}"));
            assert!(denies(&denied, &call), "{operation}");
            tried += 1;
        }
    }
    assert!(tried > 3_000, "{tried}");
}

#[test]
fn what_no_rule_can_be_told_of_is_denied_where_some_are() {
    let denied =
        policy(PolicySettings { denied_actions: vec!["issue.list".to_owned()], ..PolicySettings::default() });
    for (id, params) in [
        ("api.rest", json!({"method": "GET", "path": "/not/known/yet"})),
        ("api.rest", json!({"method": "DELETE", "path": "/not/known/yet"})),
        (
            "api.graphql",
            json!({"document": "{ group(fullPath: \"a\") { projects { nodes { issues { nodes { title } } } } } }"}),
        ),
        (
            "api.graphql",
            json!({"document": "mutation { createNote(input: {noteableId: \"gid://gitlab/Issue/1\", body: \"x\"}) { note { project { issues { nodes { title } } } } } }"}),
        ),
    ] {
        let call = call(&action_by_id(id), &params).unwrap_or_else(|| panic!("{params}"));
        assert!(denies(&denied, &call), "{params}");
    }
    assert!(!denied.selects(), "fields of GraphQL could be denied ones");
}

/// Every change with its example, everything it names in this group.
fn changes(group: &str) -> Vec<(Action, Map<String, Value>)> {
    let words = CATALOG.words().unwrap();
    let actions = CATALOG.actions().map(Result::unwrap);
    let changes = actions.filter(|action| action.risk != Risk::Read && action.direct().is_none());
    changes
        .map(|action| {
            let example = Value::Object(example(&action, words)).to_string();
            let params = serde_json::from_str(&example.replace("acme", group)).unwrap();
            (action, params)
        })
        .collect()
}

#[test]
fn nothing_is_changed_outside_the_allowed_paths() {
    let (mut denied, mut within) = (0, 0);
    for (action, params) in changes("other") {
        if let Some(call) = call(&action, &Value::Object(params.clone())) {
            assert!(denies(&BELOW_ACME, &call), "{} {params:?}", action.id);
            denied += 1;
        }
    }
    for (action, params) in changes("acme").into_iter().filter(|(_, params)| params.contains_key("fullPath"))
    {
        if let Some(call) = call(&action, &Value::Object(params.clone())) {
            within += u32::from(!denies(&BELOW_ACME, &call));
        }
    }
    assert!(denied > 1_100, "{denied}");
    // Examples by an id of a thing that may be anywhere are refused.
    assert!(within > 650, "{within}");
}

/// A second project or group is checked as well as the allowed one.
#[test]
fn every_place_of_a_change_has_to_be_allowed() {
    let mut tried = 0;
    for (action, params) in changes("acme") {
        for param in &action.params {
            if !matches!(param.names, Some(Names::Project | Names::Group | Names::Namespace)) {
                continue;
            }
            for outside in [json!("other/widget"), json!(42), json!("gid://gitlab/Project/42")] {
                let mut params = params.clone();
                let value = if param.kind.many { json!([outside]) } else { outside };
                params.insert(param.name.clone(), value);
                let Some(call) = call(&action, &Value::Object(params)) else { continue };
                assert!(denies(&BELOW_ACME, &call), "{} {}", action.id, param.name);
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn a_target_is_where_its_path_says() {
    for (target, is_denied) in [
        ("acme/widget#12", false),
        ("https://gitlab.example/acme/widget/-/issues/12", false),
        ("ACME/Widget#12", false),
        ("other/widget#12", true),
        ("https://gitlab.example/other/widget/-/issues/12", true),
        ("acmeother/widget#12", true),
    ] {
        let call = call(&action_by_id("issue.update"), &json!({"target": target, "title": "x"})).unwrap();
        assert_eq!(denies(&BELOW_ACME, &call), is_denied, "{target}");
    }
}

#[test]
fn a_mutation_is_allowed_where_its_input_says_that_it_works() {
    let lock = |path: &str| {
        format!(
            "mutation($path: ID!) {{ a: issueSetLocked(input: {{projectPath: {path}, iid: \"1\", locked: true}}) {{ errors }} }}"
        )
    };
    for (document, path, is_denied) in [
        (lock("\"acme/widget\""), "", false),
        (lock("$path"), "acme/widget", false),
        (lock("\"other/widget\""), "", true),
        (lock("$path"), "other/widget", true),
        (lock("\"acme/../other\""), "", true),
        ("mutation { destroyNote(input: {id: \"gid://gitlab/Note/1\"}) { errors } }".to_owned(), "", true),
        ("mutation { todosMarkAllDone(input: {}) { errors } }".to_owned(), "", true),
        ("mutation { nothingThatIs(input: {projectPath: \"acme/widget\"}) { errors } }".to_owned(), "", true),
    ] {
        let params = json!({"document": document, "variables": {"path": path}});
        let call = call(&action_by_id("api.graphql"), &params).unwrap();
        assert_eq!(denies(&BELOW_ACME, &call), is_denied, "{document} {path}: {:?}", call.effects().places());
    }
}

#[test]
fn what_only_reads_runs_everywhere() {
    let call = call(&action_by_id("issue.list"), &json!({"fullPath": "other/widget"})).unwrap();
    assert_eq!(BELOW_ACME.decide(call.effects(), Consent::default()), Ruling::Allow);
}

#[test]
fn a_rule_of_paths_denies_reads_there_by_path_and_by_id() {
    let text = "[[rule]]\npaths = [\"acme/secret\"]\ndecision = \"deny\"\nreason = \"not for assistants\"";
    let policy = policy(PolicySettings { file: Some(text.to_owned()), ..PolicySettings::default() });
    for (path, is_denied) in
        [("acme/secret", true), ("acme/secret/x", true), ("42", true), ("acme/widget", false)]
    {
        let call = call(&action_by_id("issue.list"), &json!({"fullPath": path, "scope": "project"})).unwrap();
        assert_eq!(denies(&policy, &call), is_denied, "{path}");
        if let Ruling::Deny(rule) = policy.decide(call.effects(), Consent::default()) {
            assert_eq!(rule, Rule::PolicyFile { number: 1, reason: Some("not for assistants".to_owned()) });
        }
    }
}

/// A path outside `acme`, in any spelling.
fn outside() -> impl Strategy<Value = String> {
    let name = "[a-z]{1,5}".prop_filter("not acme", |name| name != "acme");
    let joined = prop::collection::vec(prop_oneof![3 => name.clone(), 1 => Just("acme".to_owned())], 0..3);
    (name, joined, prop_oneof![Just("%2F"), Just("%2f"), Just("%252F"), Just("/")])
        .prop_map(|(first, rest, slash)| [vec![first], rest].concat().join(slash))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_spelling_of_a_request_changes_anything_outside(
        method in "POST|PUT|PATCH|DELETE|post|Delete",
        root in "projects|groups|Projects|%70rojects|users|runners|namespaces|api/v4/projects|admin",
        place in outside(),
        rest in prop::collection::vec("issues|1|%2e|acme|acme%2Fwidget|-|merge_requests|members", 0..3),
        body in prop_oneof![
            Just(json!(null)),
            Just(json!({"title": "acme/widget"})),
            Just(json!({"project_id": "acme/widget"})),
            Just(json!({"fullPath": "acme/widget"})),
        ],
    ) {
        let path = format!("/{root}/{place}/{}", rest.join("/"));
        if let Some(call) = call(&action_by_id("api.rest"), &json!({"method": method, "path": path, "body": body})) {
            prop_assert!(denies(&BELOW_ACME, &call), "{} {:?}", call.path(), call.effects().places());
        }
    }

    #[test]
    fn a_second_place_in_a_body_is_found_however_deep(
        name in "to_project_id|targetProjectPath|group_ids|namespace_path|project",
        place in outside(),
        depth in 0_usize..4,
    ) {
        prop_assume!(!place.contains('%'));
        let nested = (0..depth).fold(json!({name: [place]}), |inner, _| json!({"input": inner}));
        let request = json!({"method": "POST", "path": "/projects/acme%2Fwidget/issues", "body": nested});
        let call = call(&action_by_id("api.rest"), &request).unwrap();
        prop_assert!(denies(&BELOW_ACME, &call), "{:?}", call.effects().places());
    }
}
