//! Proves that no write gets through a policy of reads: on generated requests and documents, whose effects are known
//! from how they were made.

use std::sync::LazyLock;

use gitlab_mcp::call::{Body, Call};
use gitlab_mcp::catalog::{Method, Operation, Piece, Risk, pieces};
use gitlab_mcp::policy::{Consent, Policy, PolicySettings, Rule, Ruling};
use proptest::prelude::*;
use serde_json::{Value, json};
use url::Url;

use crate::support::calls::{CATALOG, build_call};

static BASE: LazyLock<Url> = LazyLock::new(|| Url::parse("https://gitlab.example/sub").unwrap());

static READ_ONLY: LazyLock<Policy> =
    LazyLock::new(|| policy(PolicySettings { read_only: true, ..PolicySettings::default() }));
static OPEN: LazyLock<Policy> = LazyLock::new(|| policy(PolicySettings::default()));

fn policy(settings: PolicySettings) -> Policy {
    Policy::new(settings, &CATALOG).unwrap()
}

/// The call that these parameters make, if they are valid.
fn call(id: &str, params: &Value) -> Option<Call> {
    build_call(&CATALOG.get(id).unwrap().unwrap(), params.as_object().unwrap().clone(), 7).ok()?
}

/// The call, if a policy of reads lets it through with any consent.
fn let_through(id: &str, params: &Value) -> Option<Call> {
    let call = call(id, params)?;
    for confirm in [false, true] {
        for dry_run in [false, true] {
            let decision = READ_ONLY.decide(call.effects(), Consent { confirm, dry_run });
            if decision == Ruling::Allow {
                return Some(call);
            }
        }
    }
    None
}

/// A document, with its properties from how it was made.
#[derive(Clone, Debug)]
struct Made {
    text: String,
    mutates: bool,
    /// Number of its operations.
    operations: usize,
}

/// Separators that may be between two tokens, and hide text that a pattern would look for.
fn gap() -> BoxedStrategy<String> {
    prop_oneof![
        4 => Just(" ".to_owned()),
        1 => "[ \t,\r\n]{1,4}",
        1 => Just("# query { a } \"mutation\" {\n".to_owned()),
        1 => Just("#mutation\r".to_owned()),
        1 => Just("#}}\r\n".to_owned()),
        1 => Just("\u{feff}".to_owned()),
    ]
    .boxed()
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("\"mutation { a }\"".to_owned()),
        Just("\"query \\\" } mutation \\u007b\"".to_owned()),
        Just("\"\"\"mutation {\n \\\"\"\" } # \" query\"\"\"".to_owned()),
        Just("\"# mutation\"".to_owned()),
        Just("\"\"".to_owned()),
    ]
}

/// A field's name; words of GraphQL's are names too.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("project".to_owned()),
        Just("query".to_owned()),
        Just("mutation".to_owned()),
        Just("fragment".to_owned()),
        Just("currentUser".to_owned()),
        Just("issueDelete".to_owned()),
        Just("updateIssue".to_owned()),
        Just("__typename".to_owned()),
        "[a-z][A-Za-z]{0,6}",
    ]
}

fn field() -> BoxedStrategy<String> {
    let alias = proptest::option::of(name());
    let argument = proptest::option::of((name(), text()));
    let directive = proptest::option::of(Just("@include(if: true)".to_owned()));
    (alias, name(), argument, directive, gap())
        .prop_map(|(alias, name, argument, directive, gap)| {
            let alias = alias.map(|alias| format!("{alias}{gap}:")).unwrap_or_default();
            let argument = argument.map(|(name, text)| format!("({name}:{gap}{text})")).unwrap_or_default();
            format!("{alias}{name}{gap}{argument}{}", directive.unwrap_or_default())
        })
        .boxed()
}

/// Content of braces: fields, inline fragments, and spreads of the fragments F and G.
fn selection() -> BoxedStrategy<String> {
    let leaf = prop_oneof![4 => field(), 1 => Just("...F".to_owned()), 1 => Just("...G".to_owned())];
    let nested = leaf.prop_recursive(4, 24, 3, |inner| {
        let many = proptest::collection::vec(inner, 1..3);
        prop_oneof![
            (field(), gap(), many.clone())
                .prop_map(|(field, gap, inner)| { format!("{field}{gap}{{{}}}", inner.join(&gap)) }),
            (proptest::option::of(Just(" on Mutation")), gap(), many).prop_map(|(on, gap, inner)| {
                format!("...{}{gap}{{{}}}", on.unwrap_or_default(), inner.join(&gap))
            }),
        ]
    });
    (proptest::collection::vec(nested, 1..4), gap()).prop_map(|(parts, gap)| parts.join(&gap)).boxed()
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Shorthand,
    Query,
    Mutation,
}

fn operation() -> impl Strategy<Value = (Kind, String)> {
    let kind = prop_oneof![Just(Kind::Shorthand), Just(Kind::Query), Just(Kind::Mutation)];
    (kind, proptest::option::of(name()), gap(), selection()).prop_map(|(kind, name, gap, selection)| {
        let name = name.map(|name| format!("{gap}{name}")).unwrap_or_default();
        let head = match kind {
            Kind::Shorthand => String::new(),
            Kind::Query => format!("query{name}"),
            Kind::Mutation => format!("mutation{name}"),
        };
        (kind, format!("{head}{gap}{{{selection}{gap}}}"))
    })
}

fn document() -> impl Strategy<Value = Made> {
    let operations = prop_oneof![
        5 => proptest::collection::vec(operation(), 1..2),
        1 => proptest::collection::vec(operation(), 2..4),
    ];
    let fragment = |name: &'static str| {
        (prop_oneof![Just("Mutation"), Just("Query"), Just("query")], field(), gap())
            .prop_map(move |(on, field, gap)| format!("fragment {name} on {on}{gap}{{{gap}{field}}}"))
    };
    (proptest::option::of(Just("\u{feff}")), operations, fragment("F"), fragment("G"), gap(), any::<bool>())
        .prop_map(|(mark, operations, f, g, gap, first)| {
            let mutates = operations.iter().any(|(kind, _)| matches!(kind, Kind::Mutation));
            let count = operations.len();
            let operations = operations.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(&gap);
            let fragments = format!("{f}{gap}{g}");
            let parts = if first { [fragments, operations] } else { [operations, fragments] };
            let text = format!("{}{gap}{}", mark.unwrap_or_default(), parts.join(&gap));
            Made { text, mutates, operations: count }
        })
}

fn sent(call: &Call) -> String {
    let Body::Json(body) = call.body() else { panic!("no document is sent") };
    body["query"].as_str().unwrap().to_owned()
}

/// The word that an operation of the text that is sent begins with: it has no comments, and strings on one line.
fn operation_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut depth, mut in_string, mut escaped, mut head) = (0, false, false, String::new());
    for c in text.chars() {
        if in_string {
            (in_string, escaped) = (escaped || c != '"', c == '\\' && !escaped);
            continue;
        }
        match c {
            '"' => in_string = true,
            '{' if depth == 0 => {
                words.push(head.split_whitespace().next().unwrap_or("query").to_owned());
                (depth, head) = (1, String::new());
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            c if depth == 0 => head.push(c),
            _ => {}
        }
    }
    words
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_document_that_mutates_is_let_through(made in document()) {
        if let Some(call) = let_through("api.graphql", &json!({"document": made.text})) {
            prop_assert!(!made.mutates, "{:?}", made.text);
            prop_assert_eq!(made.operations, 1);
            prop_assert_eq!(call.risk(), Risk::Read);
            // The sent document is the one that was checked.
            let words = operation_words(&sent(&call));
            prop_assert!(words.iter().all(|word| word.starts_with("query") || word == "fragment"), "{:?}", words);
        }
    }

    #[test]
    fn every_document_of_one_operation_is_understood(made in document()) {
        prop_assume!(made.operations == 1);
        // The parser refuses some commas in uncommon places.
        let call = call("api.graphql", &json!({"document": made.text.replace(',', " ")}));
        let call = call.ok_or_else(|| TestCaseError::fail(format!("not understood: {:?}", made.text)))?;
        prop_assert!(made.mutates == call.operation().starts_with("mutation"), "{:?}", made.text);
        prop_assert!(made.mutates == (call.risk() > Risk::Read), "{:?}", made.text);
        let allowed = OPEN.decide(call.effects(), Consent::default()) == Ruling::Allow;
        prop_assert!(!allowed || call.risk() < Risk::Destructive);
    }

    #[test]
    fn no_request_but_a_read_is_let_through(
        method in "GET|HEAD|POST|PUT|PATCH|DELETE|get|post|Delete|TRACE| GET|GET POST",
        path in path(),
        body in proptest::option::of(Just(json!({"_method": "DELETE", "title": "x"}))),
        query in proptest::option::of(Just(json!({"search": "x"}))),
    ) {
        let mut params = json!({"method": method, "path": path});
        for (name, value) in [("body", body), ("query", query)] {
            if let Some(value) = value {
                params[name] = value;
            }
        }
        if let Some(call) = let_through("api.rest", &params) {
            prop_assert!(matches!(call.method(), Method::Get | Method::Head), "{params}");
            prop_assert!(call.path().starts_with("/api/v4/"), "{}", call.path());
            prop_assert!(!call.path().contains("//") && !call.path().contains("/.."), "{}", call.path());
            prop_assert_ne!(call.path(), "/api/v4/graphql");
            prop_assert_eq!(call.body(), &Body::Empty);
            // A URL reads the path as it was written.
            let url = BASE.join(&format!("/sub{}", call.path())).unwrap();
            prop_assert_eq!(url.path(), format!("/sub{}", call.path()));
            prop_assert_eq!(url.host_str(), Some("gitlab.example"));
        }
    }
}

#[test]
fn every_operation_is_known_when_it_is_called_directly() {
    let mut known = 0;
    for action in CATALOG.actions().map(Result::unwrap) {
        for operation in action.operations.iter().filter(|operation| operation.any.is_none()) {
            let Some(params) = direct(operation) else { continue };
            let id = if operation.graphql.is_some() { "api.graphql" } else { "api.rest" };
            let call = call(id, &params).unwrap_or_else(|| panic!("{operation}: {params}"));
            let is_known = call.touches().iter().any(|touched| touched.ids.contains(&action.id));
            assert!(is_known, "{operation}: {:?}", call.touches());
            assert!(call.risk() >= action.risk, "{operation}");
            known += 1;
        }
    }
    assert!(known > 3_000, "{known}");
}

/// A direct call of an operation, for any effect; none if it is not below `/api/v4`.
pub fn direct(operation: &Operation) -> Option<Value> {
    if let Some(graphql) = &operation.graphql {
        let fields = graphql.field.replace('.', " { ");
        let closing = " }".repeat(graphql.field.matches('.').count() + 1);
        return Some(json!({"document": format!("{} {{ {fields}{closing}", graphql.kind.name())}));
    }
    // A glob within a segment is of package managers, and is not looked for across slashes.
    let many = operation.path.contains("/*");
    let path: String = pieces(&operation.path)
        .map(|piece| match piece {
            Piece::Text(text) => text.to_owned(),
            Piece::Placeholder { glob, .. } => if glob && many { "a/b" } else { "c%2Fd" }.to_owned(),
        })
        .collect();
    let is_below = !path.starts_with("/api/");
    is_below.then(|| json!({"method": operation.method.name(), "path": path}))
}

#[test]
fn other_spellings_of_a_path_are_the_same_operation() {
    for (method, path, id) in [
        ("GET", "/projects/1/issues.json", "issue.list"),
        ("GET", "/groups/1/-/search", "search.run"),
        ("GET", "/projects/acme%2Fwidget/%69ssues/1", "issue.get"),
        ("HEAD", "/projects/1/issues/1", "issue.get"),
        ("DELETE", "/projects/1/-/issues/1.json", "issue.delete"),
        ("DELETE", "/projects/1/issues/1/", "issue.delete"),
    ] {
        let call = call("api.rest", &json!({"method": method, "path": path})).unwrap();
        let ids: Vec<&String> = call.touches().iter().flat_map(|touched| &touched.ids).collect();
        assert!(ids.iter().any(|known| *known == id), "{method} {path}: {ids:?}");
    }
}

/// What is said to Duo is a question, unless it clears the conversation.
#[test]
fn a_conversation_is_read_and_not_cleared() {
    let asks = |params: Value| let_through("duo_chat.ask", &params).is_some();
    assert!(asks(json!({"content": "What is /clear for?"})));
    assert!(!asks(json!({"content": "/clear"})) && !asks(json!({"content": "/reset"})));
    assert!(!asks(json!({"content": "Hello", "with_clean_history": true})));
}

#[test]
fn the_strictest_of_a_document_decides() {
    let text = "mutation { a: updateIssue(input: {}) { errors } ...F } \
        fragment F on Mutation { b: destroyNote(input: {}) { errors } }";
    let call = call("api.graphql", &json!({"document": text})).unwrap();
    assert_eq!(call.strictest().unwrap().operation, "mutation destroyNote");
    assert_eq!(
        OPEN.decide(call.effects(), Consent::default()),
        Ruling::Confirm(Rule::Risk(Risk::Destructive))
    );
    let safe = policy(PolicySettings { safe_mode: true, ..PolicySettings::default() });
    assert_eq!(
        safe.decide(call.effects(), Consent { confirm: true, dry_run: false }),
        Ruling::Preview(Rule::SafeMode)
    );
}

/// Paths of the catalog, filled; and some that no client should send.
fn path() -> impl Strategy<Value = String> {
    let known: Vec<String> = CATALOG
        .actions()
        .flat_map(|action| action.unwrap().operations)
        .filter(|operation| operation.graphql.is_none())
        .map(|operation| operation.path.replace([':', '*'], ""))
        .collect();
    let piece = prop_oneof![
        Just("projects".to_owned()),
        Just("..".to_owned()),
        Just("%2e%2E".to_owned()),
        Just("%252e".to_owned()),
        Just("graphql".to_owned()),
        Just("a%2Fb".to_owned()),
        Just("https:".to_owned()),
        Just(String::new()),
        "[ -~]{0,6}",
        "\\PC{0,3}",
    ];
    prop_oneof![
        proptest::sample::select(known),
        (any::<bool>(), proptest::collection::vec(piece, 0..5)).prop_map(|(rooted, pieces)| {
            format!("{}{}", if rooted { "/api/v4/" } else { "" }, pieces.join("/"))
        }),
    ]
}
