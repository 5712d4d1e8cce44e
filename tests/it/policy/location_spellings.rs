//! The decision on a call does not depend on how the call is written: every action of the catalog that works on a
//! project, in the spellings of its location, as a raw request and as a document.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use gitlab_mcp::call::{Body, Call, FullPath, HolderKind, Location};
use gitlab_mcp::catalog::{Action, Interface, Method, Risk, Scope, example};
use gitlab_mcp::policy::{Consent, Policy, PolicySettings, Ruling};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::calls::{CATALOG, PROJECTS, build_call};

static POLICIES: LazyLock<Vec<Policy>> = LazyLock::new(|| {
    let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect();
    let file = |text: &str| PolicySettings { file: Some(text.to_owned()), ..PolicySettings::default() };
    let rule =
        |decision: &str, path: &str| format!("[[rule]]\npaths = [\"{path}\"]\ndecision = \"{decision}\"\n");
    [
        PolicySettings { allowed_paths: list(&["acme/widget"]), ..PolicySettings::default() },
        PolicySettings { readable_paths: list(&["acme"]), ..PolicySettings::default() },
        file(&rule("deny", "acme/vault")),
        file(&rule("confirm", "acme/vault")),
        file(&rule("allow", "acme/widget")),
        PolicySettings::default(),
    ]
    .into_iter()
    .map(|settings| Policy::new(settings, &CATALOG).unwrap())
    .collect()
});

/// Every action with one operation on a project, that is not composite.
static ACTIONS: LazyLock<Vec<Action>> = LazyLock::new(|| {
    let actions = CATALOG.actions().map(Result::unwrap);
    let on_a_project = |action: &Action| {
        let mut choices = action.choices();
        let first = choices.next();
        first.is_some_and(|operation| operation.scope == Scope::Project && operation.is_filled_by("fullPath"))
            && choices.next().is_none()
            && action.plan.is_none()
    };
    actions.filter(on_a_project).collect()
});

fn path_of(id: u64) -> &'static str {
    PROJECTS.iter().find(|(known, _)| *known == id).map(|(_, path)| *path).unwrap()
}

/// The call, its ids located as a server locates them.
fn call(action: &Action, params: Map<String, Value>) -> Option<Call> {
    let call = build_call(action, params, 7).ok()??;
    Some(call.located(|location| match location {
        Location::Id { kind: HolderKind::Project, id } if PROJECTS.iter().any(|(known, _)| known == id) => {
            FullPath::parse(path_of(*id)).map(Location::Path)
        }
        _ => None,
    }))
}

/// The parameters of the action's example, on that project. Things are given by their ids, as a raw request gives them:
/// a name is looked up within a project, and says more.
fn params(action: &Action, path: &str) -> Map<String, Value> {
    let mut params = example(action, CATALOG.words().unwrap());
    for param in action.params.iter().filter(|param| param.names.is_some()) {
        if let Some(value) = params.get_mut(&param.name).filter(|value| value.is_string()) {
            *value = json!(7);
        }
    }
    params.insert("fullPath".to_owned(), json!(path));
    params
}

/// Severity of a decision, the strictest highest.
fn strictness(policy: &Policy, call: &Call) -> u8 {
    match policy.decide(call.effects(), Consent::default()) {
        Ruling::Allow => 0,
        Ruling::Preview(_) => 1,
        Ruling::Confirm(_) => 2,
        Ruling::Deny(_) => 3,
    }
}

/// The same request as `api.rest` or `api.graphql` takes it.
fn raw(call: &Call) -> Option<(Action, Map<String, Value>)> {
    let Some(path) = call.path().strip_prefix("/api/v4") else {
        let Body::Json(body) = call.body() else { return None };
        let params = json!({"document": body["query"], "variables": body["variables"]});
        return Some((CATALOG.get("api.graphql").unwrap().unwrap(), params.as_object().cloned()?));
    };
    let body = match call.body() {
        Body::Empty => Value::Null,
        Body::Json(body) => body.clone(),
        _ => return None,
    };
    let query: BTreeMap<&str, &str> =
        call.query().iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let params = json!({"method": call.method().name(), "path": path, "query": query, "body": body});
    Some((CATALOG.get("api.rest").unwrap().unwrap(), params.as_object().cloned()?))
}

fn spelling(number: usize, id: u64) -> String {
    let path = path_of(id);
    match number {
        0 => format!("/{path}"),
        1 => format!("{path}/"),
        2 => path.to_uppercase(),
        3 => path.replace('/', "%2F"),
        4 => path.replace('/', "%2f"),
        5 => id.to_string(),
        6 => format!("/{id}/"),
        7 => format!(" {id} "),
        8 => format!("00{id}"),
        _ => format!("gid://gitlab/Project/{id}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn every_spelling_of_a_location_is_decided_on_alike(
        at in 0..ACTIONS.len(),
        project in 0..PROJECTS.len(),
        policy in 0..POLICIES.len(),
        number in 0_usize..10,
    ) {
        let (action, policy, (id, path)) = (&ACTIONS[at], &POLICIES[policy], PROJECTS[project]);
        let Some(plain) = call(action, params(action, path)) else { return Ok(()) };
        let spelled = spelling(number, id);
        // A spelling that is refused is no way round.
        let Some(other) = call(action, params(action, &spelled)) else { return Ok(()) };
        prop_assert_eq!(
            strictness(policy, &plain), strictness(policy, &other),
            "{} {} {:?}", &action.id, spelled, other.effects()
        );
        prop_assert!(!other.path().contains("%2F%2F") && !other.path().contains("/5%2F"), "{}", other.path());
    }

    #[test]
    fn a_raw_request_is_never_decided_on_more_leniently(
        at in 0..ACTIONS.len(),
        project in 0..PROJECTS.len(),
        policy in 0..POLICIES.len(),
        by_id in any::<bool>(),
    ) {
        let (action, policy, (id, path)) = (&ACTIONS[at], &POLICIES[policy], PROJECTS[project]);
        let Some(plain) = call(action, params(action, path)) else { return Ok(()) };
        let given = if by_id { id.to_string() } else { path.to_owned() };
        let Some(written) = call(action, params(action, &given)) else { return Ok(()) };
        let Some((direct, params)) = raw(&written) else { return Ok(()) };
        let Some(direct) = call(&direct, params) else { return Ok(()) };
        let (expected, found) = (strictness(policy, &plain), strictness(policy, &direct));
        prop_assert!(found >= expected, "{} {:?}\n{:?}", &action.id, plain.effects(), direct.effects());
        // A request to one route is decided on just as the action, but that its method alone makes a POST a write and
        // a DELETE destructive; what a document selects may be anywhere.
        let is_one_route = action.direct() != Some(Interface::Graphql) && direct.path() != "/api/graphql"
            && direct.effects().unlocated().is_empty() && direct.touches().len() == 1 && plain.risk() != Risk::Read && plain.method() != Method::Delete;
        if is_one_route {
            prop_assert_eq!(found, expected, "{} {:?}\n{:?}", &action.id, plain.effects(), direct.effects());
        }
    }
}

#[test]
fn there_are_actions_to_compare() {
    let written =
        ACTIONS.iter().filter(|action| call(action, params(action, "acme/widget")).is_some()).count();
    assert!(written > 900, "{written} of {}", ACTIONS.len());
}

/// A thing named by a URL or a reference under any name is decided on as by its path and number.
#[test]
fn spellings_of_a_target_are_decided_on_as_the_path_and_number() {
    for id in [
        "issue.get",
        "issue.update",
        "issue.delete",
        "issue_note.create",
        "merge_request.get",
        "merge_request.merge",
    ] {
        let action = CATALOG.get(id).unwrap().unwrap();
        let (mark, page) = if id.starts_with("issue") { ("#", "issues") } else { ("!", "merge_requests") };
        for (_, project) in PROJECTS {
            let mut plain = params(&action, project);
            plain.insert("iid".to_owned(), json!(5));
            let expected = call(&action, plain.clone()).unwrap();
            let url = format!("https://gitlab.example/{project}/-/{page}/5");
            let reference = format!("{project}{mark}5");
            for (name, value) in [
                ("url", &url),
                ("web_url", &url),
                ("issue_url", &url),
                ("mergeRequestUrl", &url),
                ("reference", &reference),
                ("fullPath", &url),
                ("fullPath", &reference),
                ("project_id", &reference),
            ] {
                let mut spelled = plain.clone();
                spelled.retain(|name, _| !matches!(name.as_str(), "fullPath" | "iid"));
                spelled.insert(name.to_owned(), json!(value));
                let found = call(&action, spelled).unwrap_or_else(|| panic!("{id} {name}: {value}"));
                assert_eq!(found.path(), expected.path(), "{id} {name}: {value}");
                for policy in POLICIES.iter() {
                    assert_eq!(
                        strictness(policy, &found),
                        strictness(policy, &expected),
                        "{id} {name}: {value}"
                    );
                }
            }
        }
    }
}

/// Two places in one call are an error, and so is another GitLab's URL.
#[test]
fn a_target_beside_another_place_is_refused() {
    let action = CATALOG.get("issue.delete").unwrap().unwrap();
    for given in [
        json!({"fullPath": "acme/widget", "iid": 5, "url": "https://gitlab.example/acme/vault/-/issues/5"}),
        json!({"fullPath": "acme/vault#5", "iid": 6}),
        json!({"fullPath": "acme/vault#5", "url": "https://gitlab.example/acme/widget/-/issues/5"}),
        json!({"url": "https://gitlab.other/acme/widget/-/issues/5"}),
        json!({"fullPath": "https://gitlab.other/acme/widget/-/issues/5"}),
        json!({"url": "https://gitlab.example/acme/vault/-/merge_requests/5"}),
    ] {
        assert_eq!(call(&action, given.as_object().cloned().unwrap()), None, "{given}");
    }
}
