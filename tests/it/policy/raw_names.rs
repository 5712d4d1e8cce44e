//! Names of raw requests are read as GitLab reads them, so that no key that is added to a request hides another one.

use std::sync::LazyLock;

use gitlab_mcp::call::Call;
use gitlab_mcp::catalog::{
    Action, Base, GraphqlKind, Json, Method, Operation, Param, Piece, Place, When, example, pieces,
};
use gitlab_mcp::policy::{Consent, Policy, PolicySettings, Ruling};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::calls::{CATALOG, build_call};

static POLICIES: LazyLock<Vec<Policy>> = LazyLock::new(|| {
    let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect();
    let file = |text: &str| PolicySettings { file: Some(text.to_owned()), ..PolicySettings::default() };
    [
        PolicySettings { allowed_paths: list(&["acme"]), ..PolicySettings::default() },
        PolicySettings { readable_paths: list(&["acme"]), ..PolicySettings::default() },
        file("[[rule]]\npaths = [\"evil\"]\ndecision = \"deny\"\n"),
        file("[[rule]]\npaths = [\"acme\"]\ndecision = \"allow\"\n"),
        PolicySettings {
            denied_actions: list(&["*.delete", "*.move", "*.merge", "*.assign*"]),
            ..PolicySettings::default()
        },
        PolicySettings::default(),
    ]
    .into_iter()
    .map(|settings| Policy::new(settings, &CATALOG).unwrap())
    .collect()
});

/// Values that no rule objects to.
const HARMLESS: [fn() -> Value; 5] =
    [|| json!("acme/widget"), || json!(false), || json!("x"), || json!(null), || json!([])];

fn direct_call(id: &str, params: &Value) -> Option<Call> {
    build_call(&CATALOG.get(id).unwrap().unwrap(), params.as_object().cloned()?, 7).ok()?
}

/// Severity of the decisions of every policy, the strictest highest.
fn strictness(call: &Call) -> Vec<u8> {
    let of = |policy: &Policy| match policy.decide(call.effects(), Consent::default()) {
        Ruling::Allow => 0,
        Ruling::Preview(_) => 1,
        Ruling::Confirm(_) => 2,
        Ruling::Deny(_) => 3,
    };
    POLICIES.iter().map(of).collect()
}

/// A field of a request by the names on its way, with a value that a rule objects to.
#[derive(Clone, Debug)]
struct Risky {
    names: Vec<String>,
    value: Value,
}

impl Risky {
    /// The field with the objects around it, and another field beside it.
    fn fields(&self, beside: Option<(&str, Value)>) -> Map<String, Value> {
        let (last, around) = self.names.split_last().unwrap();
        let mut inner = json!({last: self.value});
        if let Some((name, value)) = beside {
            inner[name] = value;
        }
        let fields = around.iter().rev().fold(inner, |inner, name| json!({name: inner}));
        fields.as_object().cloned().unwrap()
    }
}

/// The fields of an operation that a rule may object to: places, raised risks and texts with quick actions.
fn risky_fields(action: &Action, operation: &Operation) -> Vec<Risky> {
    let mut found = Vec::new();
    let leading = operation.graphql.iter().flat_map(|graphql| &graphql.variables);
    for (argument, _) in leading.filter(|(_, name)| *name == "fullPath") {
        let names = argument.strip_prefix("input.").map(|argument| vec![argument.to_owned()]);
        found.extend(names.map(|names| Risky { names, value: json!("evil/x") }));
    }
    let sent = action.params.iter().filter(|param| {
        !operation.is_filled_by(&param.name)
            && (param.scopes.is_empty() || param.scopes.contains(&operation.scope))
            && !matches!(param.place, Place::Path | Place::Selector)
    });
    for described in Described::all(sent, None) {
        let names = described.names.clone();
        let values = described.risky_values(action).into_iter();
        found.extend(values.map(|value| Risky { names: names.clone(), value }));
    }
    found
}

/// A parameter or a field of one, by its path in the catalog and by the names that are sent.
struct Described<'a> {
    path: String,
    names: Vec<String>,
    param: &'a Param,
}

impl<'a> Described<'a> {
    fn all(params: impl Iterator<Item = &'a Param>, within: Option<&Described<'_>>) -> Vec<Described<'a>> {
        let mut found = Vec::new();
        for param in params {
            let path = within.map_or_else(String::new, |within| format!("{}.", within.path)) + &param.name;
            let mut names = within.map_or_else(Vec::new, |within| within.names.clone());
            names.push(param.wire.clone().unwrap_or_else(|| param.name.clone()));
            let described = Described { path, names, param };
            let below = Described::all(param.fields.iter(), Some(&described));
            found.push(described);
            found.extend(below);
        }
        found
    }

    /// Values that a rule objects to.
    fn risky_values(&self, action: &Action) -> Vec<Value> {
        let raised = action.raises.iter().filter(|raise| raise.param == self.path);
        let raised = raised.map(|raise| match &raise.when {
            When::Given => json!("x"),
            When::AtLeast(least) => json!(least),
            When::Is(Json(value)) => value.clone(),
            When::AnyOf(values) => values.first().map_or(Value::Null, |Json(value)| value.clone()),
        });
        let place = self.param.locates.map(|_| json!("evil/x"));
        let text = action.scanned.contains(&self.path).then(|| json!("/merge"));
        let landing = action.lands.iter().filter_map(|landing| landing.by.as_ref());
        let landing = landing.filter(|by| by.param == self.path).map(|by| json!(by.is));
        raised.chain(place).chain(text).chain(landing).collect()
    }
}

/// Spellings of a name that could stand for it, or for a field in it.
fn spellings(name: &str) -> Vec<String> {
    let upper = name.to_uppercase();
    let camel = name.split('_').enumerate().map(|(at, word)| match (at, word.get(..1)) {
        (1.., Some(first)) => format!("{}{}", first.to_uppercase(), &word[1..]),
        _ => word.to_owned(),
    });
    let camel = camel.collect::<String>();
    let snake =
        name.chars().flat_map(|c| if c.is_uppercase() { vec!['_', c.to_ascii_lowercase()] } else { vec![c] });
    let snake = snake.collect::<String>();
    let others = [
        format!("{name}[]"),
        format!("{name}[x]"),
        format!("{name}[][x]"),
        format!("[{name}]"),
        format!("{name}]"),
        format!("]{name}"),
        format!("{name}["),
        format!(" {name}"),
        format!("{name} "),
        format!("{name}\n"),
        format!("{name}\0"),
        format!("{name};"),
        format!("&{name}"),
        format!("field.{name}"),
        format!("input.{name}"),
        format!("input[{name}]"),
        name.replace('_', "-"),
        name.replace('i', "\u{131}"),
        "fullPath".to_owned(),
        "field.".to_owned(),
        upper,
        camel,
        snake,
    ];
    others.into_iter().filter(|other| other != name).collect()
}

/// A route of the catalog with its location filled in.
fn path(operation: &Operation) -> String {
    let fill = |name: &str| if operation.filled_by(name) == "fullPath" { "acme%2Fwidget" } else { "1" };
    pieces(&operation.path)
        .map(|piece| match piece {
            Piece::Text(text) => text.to_owned(),
            Piece::Placeholder { name, .. } => fill(name).to_owned(),
        })
        .collect()
}

/// Where a key is added to a REST request.
#[derive(Clone, Copy, Debug)]
enum At {
    Body,
    Query,
    Path,
    /// In the body, where the risky field is in the query.
    BodyAlone,
}

/// A REST request with a risky field, if any, and a key beside it.
fn rest(operation: &Operation, risky: Option<&Risky>, added: Option<(At, &str, Value)>) -> Option<Call> {
    let has_body = !matches!(operation.method, Method::Get | Method::Head);
    let mut path = path(operation);
    let mut fields = risky.map(|risky| risky.fields(None)).unwrap_or_default();
    let mut query = Map::new();
    match added {
        Some((At::Path, name, value)) => {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let pair =
                url::form_urlencoded::Serializer::new(String::new()).append_pair(name, &value).finish();
            path = format!("{path}?{pair}");
        }
        Some((At::Query, name, value)) => drop(query.insert(name.to_owned(), value)),
        Some((At::Body, name, value)) => {
            fields = match risky {
                Some(risky) => risky.fields(Some((name, value))),
                None => Map::from_iter([(name.to_owned(), value)]),
            };
        }
        Some((At::BodyAlone, name, value)) => {
            query = std::mem::take(&mut fields);
            fields = Map::from_iter([(name.to_owned(), value)]);
        }
        None => {}
    }
    let mut params = json!({"method": operation.method.name(), "path": path, "query": query});
    match has_body {
        true => params["body"] = Value::Object(fields),
        // A read has its fields in the query.
        false => {
            for (name, value) in fields {
                if query.contains_key(&name) {
                    return None;
                }
                params["query"][name] = value;
            }
        }
    }
    direct_call("api.rest", &params)
}

/// Compares a request with the same request and a key more. Counts those that are not refused.
#[derive(Default)]
struct Tries {
    all: usize,
    sent: usize,
}

impl Tries {
    fn compare(&mut self, plain: &[u8], added: Option<Call>, what: &dyn Fn() -> String) {
        self.all += 1;
        let Some(call) = added else { return };
        self.sent += 1;
        let found = strictness(&call);
        let is_lenient = plain.iter().zip(&found).any(|(plain, found)| found < plain);
        assert!(!is_lenient, "{}: {plain:?} became {found:?}: {:?}", what(), call.effects());
    }
}

/// The names of the fields that an operation takes itself: naming a destination may be what makes a call allowed.
fn takes(action: &Action, operation: &Operation, name: &str) -> bool {
    let leads =
        operation.graphql.iter().any(|graphql| graphql.variables.contains_key(&format!("input.{name}")));
    let is_sent = |param: &Param| param.name != "fullPath" || param.place == Place::Body;
    leads
        || action
            .params
            .iter()
            .any(|param| param.wire.as_deref().unwrap_or(&param.name) == name && is_sent(param))
}

/// Walks every route of the catalog: with each field that a rule may object to, or without any, and a key more.
#[test]
fn no_key_added_to_a_rest_request_makes_a_decision_more_lenient() {
    let mut tries = Tries::default();
    let mut turn = 0;
    for action in CATALOG.actions().map(Result::unwrap).filter(|action| !action.is_open()) {
        let rest_operations = action.operations.iter().filter(|operation| {
            operation.graphql.is_none() && operation.any.is_none() && !operation.path.starts_with("/api/")
        });
        for operation in rest_operations {
            let risky = risky_fields(&action, operation);
            for risky in risky.iter().map(Some).chain([None]) {
                let Some(plain) = rest(operation, risky, None) else { continue };
                let plain = strictness(&plain);
                let name = risky.map_or("project_id", |risky| risky.names.last().unwrap().as_str());
                let others = spellings(name).into_iter().map(|key| {
                    turn += 1;
                    ([At::Body, At::Query, At::Path, At::BodyAlone][turn % 4], key)
                });
                let is_top = risky.is_some_and(|risky| risky.names.len() == 1);
                let own = [At::Query, At::Path, At::BodyAlone].into_iter().filter(|_| is_top);
                let own = own.map(|at| (at, name.to_owned()));
                for (number, (at, key)) in others.chain(own).enumerate().collect::<Vec<_>>() {
                    // In a query, `a[]` is `a`.
                    let in_query = matches!(at, At::Query | At::Path) || operation.method.is_safe();
                    let bare = if in_query { key.split('[').next().unwrap() } else { key.as_str() };
                    if risky.is_none() && takes(&action, operation, bare) {
                        continue;
                    }
                    let value = HARMLESS[number % HARMLESS.len()]();
                    let call = rest(operation, risky, Some((at, &key, value.clone())));
                    tries.compare(&plain, call, &|| format!("{operation} {risky:?} {at:?} {key:?}: {value}"));
                }
            }
        }
    }
    assert!(tries.all > 40_000 && tries.sent > 20_000, "{} tries, {} sent", tries.all, tries.sent);
}

#[test]
fn no_key_added_to_a_mutation_makes_a_decision_more_lenient() {
    let mut tries = Tries::default();
    let mut turn = 0;
    for action in CATALOG.actions().map(Result::unwrap).filter(|action| !action.is_open()) {
        for operation in &action.operations {
            let Some(graphql) =
                operation.graphql.as_ref().filter(|graphql| graphql.kind == GraphqlKind::Mutation)
            else {
                continue;
            };
            let send = |arguments: &str, input: Value| {
                let document = format!(
                    "mutation($input: I!, $added: A) {{ {}({arguments}) {{ errors }} }}",
                    graphql.field
                );
                let variables = json!({"input": input, "added": "acme/widget"});
                direct_call("api.graphql", &json!({"document": document, "variables": variables}))
            };
            for risky in risky_fields(&action, operation) {
                let plain = strictness(&send("input: $input", json!(risky.fields(None))).unwrap());
                let name = risky.names.last().unwrap();
                for key in spellings(name) {
                    if takes(&action, operation, &key) {
                        continue;
                    }
                    turn += 1;
                    let value = HARMLESS[turn % HARMLESS.len()]();
                    let input = json!(risky.fields(Some((&key, value.clone()))));
                    tries.compare(&plain, send("input: $input", input), &|| {
                        format!("{operation} {risky:?} {key}: {value}")
                    });
                }
                for key in [name.as_str(), "fullPath", "input", "id"] {
                    let arguments =
                        [format!("input: $input, {key}: $added"), format!("{key}: $added, input: $input")];
                    for arguments in arguments {
                        let call = send(&arguments, json!(risky.fields(None)));
                        tries.compare(&plain, call, &|| format!("{operation} {risky:?} {arguments}"));
                    }
                }
            }
        }
    }
    assert!(tries.all > 20_000 && tries.sent > 20_000, "{} tries, {} sent", tries.all, tries.sent);
}

/// Every REST operation with a field that a rule may object to.
static RISKY: LazyLock<Vec<(Operation, Risky)>> = LazyLock::new(|| {
    let mut found = Vec::new();
    for action in CATALOG.actions().map(Result::unwrap).filter(|action| !action.is_open()) {
        for operation in &action.operations {
            if operation.graphql.is_none() && operation.any.is_none() && !operation.path.starts_with("/api/")
            {
                let risky = risky_fields(&action, operation).into_iter();
                found.extend(risky.map(|risky| (operation.clone(), risky)));
            }
        }
    }
    found
});

/// A part of a name: what some reader of names drops, splits at, folds or adds.
fn affix() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[\\[\\]]{1,3}",
        "\\[[a-z]{0,2}\\]",
        "[ \t\n\r\0;&=+%.,:#-]{1,2}",
        "(field|input|params|_method|%5B%5D|%5D)[.\\[]?",
        "\\PC{1,3}",
    ]
}

/// A query as a JSON object, nested or with brackets in its names.
fn query() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        4 => "[ab]",
        1 => "[ab](\\[[ab]?\\]){1,3}",
        1 => "[ab\\[\\]\n]{0,4}",
    ];
    let leaf =
        prop_oneof!["[xyz]".prop_map(Value::from), Just(json!(null)), Just(json!([])), Just(json!({}))];
    let value = leaf.prop_recursive(3, 8, 3, move |inner| {
        let name = prop_oneof![6 => "[ab]", 1 => "[ab\\[\\]\n]{0,4}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(name, inner, 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    prop::collection::btree_map(name, value, 1..4)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

/// All texts of a value, by the names of the fields around them; numbers of items do not count.
fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| leaves(item, path, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                // Rack 3 calls a list within a list so.
                let below = if name == "[]" { path.to_owned() } else { format!("{path}/{name}") };
                leaves(value, &below, found);
            }
        }
        Value::Null => {}
        text => found.push(format!("{path}={text}")),
    }
}

/// Reads a query like `Rack::QueryParser#normalize_params` of Rack 2.2: all fields of a name at one depth are one object,
/// which for [`leaves`] is what Rack makes of them.
fn rack_2(name: &str, value: &str) -> Option<Value> {
    let start = name.trim_start_matches(['[', ']']);
    let end = start.find(['[', ']']).unwrap_or(start.len());
    let (key, rest) = start.split_at(end);
    let after = rest.trim_start_matches(']');
    if key.is_empty() {
        return (name == "[]").then(|| json!([value]));
    }
    Some(match after {
        "" => json!({key: value}),
        "[" => json!({name: value}),
        "[]" => json!({key: [value]}),
        // `^` and `$` of Ruby are at lines, and `.` ends at one.
        after => {
            match after.split('\n').find_map(|line| line.strip_prefix("[]").filter(|rest| !rest.is_empty())) {
                Some(child) => {
                    let only = child.strip_prefix('[').and_then(|child| child.strip_suffix(']'));
                    let only = only.filter(|only| !only.is_empty() && !only.contains(['[', ']']));
                    json!({key: [rack_2(only.unwrap_or(child), value)?]})
                }
                None => json!({key: rack_2(after, value)?}),
            }
        }
    })
}

/// The same of Rack 3.
fn rack_3(name: &str, value: &str, is_first: bool) -> Value {
    let (key, after) = if is_first {
        let start = name.char_indices().skip(1).find(|(_, c)| *c == '[').map_or(name.len(), |(at, _)| at);
        name.split_at(start)
    } else if let Some(after) = name.strip_prefix("[]") {
        ("[]", after)
    } else {
        match name.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
            Some((key, after)) if !key.is_empty() => (key, after),
            _ => (name, ""),
        }
    };
    match after {
        "" if key == "[]" && !is_first => json!([value]),
        "" => json!({key: value}),
        "[" => json!({name: value}),
        "[]" => json!({key: [value]}),
        after => match after.strip_prefix("[]") {
            Some(child) => {
                let only = child.strip_prefix('[').and_then(|child| child.strip_suffix(']'));
                let only = only.filter(|only| !only.is_empty() && !only.contains(['[', ']']));
                json!({key: [rack_3(only.unwrap_or(child), value, false)]})
            }
            None => json!({key: rack_3(after, value, false)}),
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn no_key_of_any_spelling_makes_a_decision_more_lenient(
        number in any::<prop::sample::Index>(),
        before in affix(),
        behind in affix(),
        at in prop_oneof![Just(At::Body), Just(At::Query), Just(At::Path), Just(At::BodyAlone)],
        value in 0..HARMLESS.len(),
    ) {
        let (operation, risky) = &RISKY[number.index(RISKY.len())];
        let key = format!("{before}{}{behind}", risky.names.last().unwrap());
        prop_assume!(key != *risky.names.last().unwrap());
        let plain = rest(operation, Some(risky), None).map(|call| strictness(&call));
        let added = rest(operation, Some(risky), Some((at, &key, HARMLESS[value]())));
        if let (Some(plain), Some(added)) = (plain, added) {
            let found = strictness(&added);
            let is_lenient = plain.iter().zip(&found).any(|(plain, found)| found < plain);
            prop_assert!(!is_lenient, "{} {:?} {:?} {:?}: {:?}", operation, risky, at, key, added.effects());
        }
    }

    /// What Rack reads from the query that is sent is what was given: policy decides on that.
    #[test]
    fn rack_reads_the_fields_of_a_query_that_policy_sees(query in query()) {
        let request = json!({"method": "POST", "path": "/projects/acme%2Fwidget/issues", "query": query});
        let Some(call) = direct_call("api.rest", &request) else { return Ok(()) };
        let mut given = Vec::new();
        for (name, value) in query.as_object().unwrap() {
            let names: Vec<&str> = name.split(['[', ']']).filter(|part| !part.is_empty()).collect();
            leaves(value, &format!("/{}", names.join("/")), &mut given);
        }
        let (mut by_2, mut by_3) = (Vec::new(), Vec::new());
        for (name, value) in call.query() {
            leaves(&rack_2(name, value).unwrap_or_default(), "", &mut by_2);
            leaves(&rack_3(name, value, true), "", &mut by_3);
        }
        // Rack 2 drops the text of a list in a list in a list.
        for read in [by_2, by_3] {
            prop_assert!(read.iter().all(|leaf| given.contains(leaf)), "{:?}: {:?}", call.query(), read);
        }
    }
}

#[test]
fn a_name_that_gitlab_would_read_in_another_way_is_refused() {
    let path = "/projects/acme%2Fwidget/issues";
    for request in [
        json!({"body": {"title": "a", "title[]": "b"}}),
        json!({"body": {"labels[]": ["a"]}}),
        json!({"body": {"a": {"b": [{"c]": 1}]}}}),
        json!({"body": {"a\n": 1}}),
        json!({"query": {"a": {"b]": 1}}}),
        json!({"query": {"a": {"": 1}}}),
        json!({"query": {"a": [{"][b": 1}]}}),
        json!({"query": {"a": {"b\n": {"c": 1}}}}),
        json!({"query": {"a[][b\n][c]": 1}}),
        json!({"query": {"a]": 1}}),
        json!({"query": {"": 1}}),
    ] {
        let mut params = json!({"method": "POST", "path": path});
        params.as_object_mut().unwrap().extend(request.as_object().unwrap().clone());
        assert_eq!(direct_call("api.rest", &params), None, "{request}");
    }
    for request in [
        json!({"body": {"title": "a", "labels": ["b"], "x": {"y": [{"z": 1}]}}}),
        json!({"query": {"a": {"b": [{"c": 1}]}, "d[]": [1], "e[f]": 1}}),
    ] {
        let mut params = json!({"method": "POST", "path": path});
        params.as_object_mut().unwrap().extend(request.as_object().unwrap().clone());
        assert!(direct_call("api.rest", &params).is_some(), "{request}");
    }
}

#[test]
fn a_name_that_is_given_twice_in_a_query_is_refused() {
    for (path, query) in [
        ("/projects?visibility=public&visibility=private", json!({})),
        ("/projects?visibility=public", json!({"visibility": "private"})),
        ("/projects?a[b]=1&a[b]=2", json!({})),
    ] {
        let params = json!({"method": "GET", "path": path, "query": query});
        assert_eq!(direct_call("api.rest", &params), None, "{path} {query}");
    }
    let call =
        direct_call("api.rest", &json!({"method": "GET", "path": "/projects?ids[]=1&ids[]=2"})).unwrap();
    let expected = [("ids[]", "1"), ("ids[]", "2")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(call.query(), expected);
}

/// GitLab takes the value of the body where the query has another.
#[test]
fn a_value_in_the_query_hides_none_in_the_body() {
    let create = |kind: &str, query: Value| {
        let body = json!({"runner_type": kind, "group_id": "acme"});
        let request = json!({"method": "POST", "path": "/user/runners", "query": query, "body": body});
        strictness(&direct_call("api.rest", &request).unwrap())
    };
    let on_the_instance = create("instance_type", json!({}));
    assert_ne!(on_the_instance, create("group_type", json!({})));
    assert_eq!(on_the_instance, create("instance_type", json!({"runner_type": "group_type"})));
}

/// A field that is not sent names no destination.
#[test]
fn a_destination_without_a_value_is_none() {
    let create = |query: Value| {
        let request = json!({"method": "POST", "path": "/projects", "query": query});
        strictness(&direct_call("api.rest", &request).unwrap())
    };
    let missing = create(json!({"name": "x"}));
    assert_eq!(create(json!({"name": "x", "namespace_id": {"b": null}})), missing);
    assert_eq!(create(json!({"name": "x", "namespace_id": {"b": [{}]}})), missing);
    assert_ne!(create(json!({"name": "x", "namespace_id": "acme"})), missing);
}

/// Names below a parameter are put into brackets in a query and in a form with a file. Those of free objects are the
/// caller's.
#[test]
fn a_name_with_brackets_in_a_query_or_form_of_an_action_is_refused() {
    let words = CATALOG.words().unwrap();
    let mut refused = 0;
    for action in CATALOG.actions().map(Result::unwrap).filter(|action| !action.is_open()) {
        let has_file = action.params.iter().any(|param| param.kind.base == Base::File);
        let is_rest = action.choices().all(|operation| operation.graphql.is_none());
        let free = action.params.iter().filter(|param| {
            let is_bracketed = has_file || param.place == Place::Query;
            is_rest && is_bracketed && param.kind.base == Base::Object && param.fields.is_empty()
        });
        for param in free {
            for name in ["a]", "][a", "a\n", ""] {
                let mut params = example(&action, words);
                params.insert(param.name.clone(), json!({"plain": 1}));
                assert!(build_call(&action, params.clone(), 7).is_ok(), "{} {}", action.id, param.name);
                params.insert(param.name.clone(), json!({"plain": {name: 1}}));
                assert!(build_call(&action, params, 7).is_err(), "{} {}: {name:?}", action.id, param.name);
                refused += 1;
            }
        }
    }
    assert!(refused >= 8, "{refused}");
}
