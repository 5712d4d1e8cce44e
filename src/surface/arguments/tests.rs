use super::super::dynamic::{EXECUTE, FIND, Offer};
use super::super::schema::SchemaMode;
use super::*;
use crate::tools::{Detail, EXECUTE_ARGUMENTS, ExecuteRequest, FIND_ARGUMENTS, FindRequest};

fn listed(offer: &Offer) -> Map<String, Value> {
    offer.source(None).finished(SchemaMode::Flat).input_schema
}

fn find(arguments: Value) -> Result<CheckedArguments<FindRequest>, ToolError> {
    check(FIND.name, &FIND_ARGUMENTS.iter().collect::<Vec<_>>(), arguments.as_object().cloned().unwrap())
}

fn execute(arguments: Value) -> Result<CheckedArguments<ExecuteRequest>, ToolError> {
    check(
        EXECUTE.name,
        &EXECUTE_ARGUMENTS.iter().collect::<Vec<_>>(),
        arguments.as_object().cloned().unwrap(),
    )
}

#[test]
fn the_tables_name_what_the_requests_take() {
    let requests = [(&FIND, json!(FindRequest::default())), (&EXECUTE, json!(ExecuteRequest::default()))];
    for (offer, request) in requests {
        let mut known: Vec<&String> = request.as_object().unwrap().keys().collect();
        let mut listed: Vec<&str> = offer.arguments.iter().map(|argument| argument.name).collect();
        known.sort();
        listed.sort();
        assert_eq!(listed, known, "{}", offer.name);
    }
}

#[test]
fn null_is_nothing_and_plain_meanings_are_taken() {
    let checked = find(json!({
        "query": "list issues", "limit": "5", "domain": null, "read_only": "True", "detail": "Schema",
    }));
    let request = checked.unwrap().request;
    assert_eq!((request.limit, request.domain, request.read_only), (Some(5), None, Some(true)));
    assert_eq!(request.detail, Some(Detail::Schema));
    assert_eq!(find(json!({"query": "x", "limit": 5.0})).unwrap().request.limit, Some(5));
    let request = execute(json!({"action": "a.b", "fields": "iid, author.username"})).unwrap().request;
    assert_eq!(request.fields.unwrap(), ["iid", "author.username"]);
}

#[test]
fn params_as_text_are_read_and_noted() {
    let checked = execute(json!({"action": "issue.get", "params": "{\"iid\": 12}"})).unwrap();
    assert_eq!(checked.request.params["iid"], 12);
    assert_eq!(checked.notes, ["`params` came as text and was parsed as JSON."]);
    assert!(execute(json!({"action": "issue.get", "params": ""})).unwrap().request.params.is_empty());
}

#[test]
fn an_error_names_the_argument_and_what_it_takes() {
    let cases = [
        (json!({}), "`query` is missing: The task in words"),
        (json!({"query": 3}), "`query` takes a string, and got 3."),
        (
            json!({"query": "x", "limit": "many"}),
            "`limit` takes a whole number from 1 to 50, and got \"many\".",
        ),
        (json!({"query": "x", "limit": -1}), "`limit` takes a whole number from 1 to 50, and got -1."),
        (
            json!({"query": "x", "detail": "all"}),
            "`detail` takes one of auto, signature, schema, and got \"all\".",
        ),
        (json!({"query": "x", "top": 1}), "`top` is not an argument of gitlab_find_action."),
    ];
    for (arguments, expected) in cases {
        let error = find(arguments).unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidParams);
        assert!(error.message.starts_with(expected), "{}", error.message);
        assert!(
            error.hint.unwrap().starts_with("gitlab_find_action takes {query: a string; limit?: a whole")
        );
    }
}

#[test]
fn every_problem_is_named_at_once() {
    let error = find(json!({"query": 1, "limit": "many"})).unwrap_err();
    assert_eq!(
        error.message,
        "`query` takes a string, and got 1. `limit` takes a whole number from 1 to 50, and got \"many\"."
    );
}

#[test]
fn parameters_beside_params_are_moved_into_them_by_the_fix() {
    let error = execute(json!({"action": "issue.get", "params": {"iid": 1}, "fullPath": "a/b"})).unwrap_err();
    assert_eq!(error.message, "`fullPath` is not an argument of gitlab_execute_action.");
    assert_eq!(
        json!(error.fix.unwrap()),
        json!({
            "tool": "gitlab_execute_action",
            "arguments": {"action": "issue.get", "params": {"iid": 1, "fullPath": "a/b"}},
        })
    );
}

#[test]
fn a_long_value_is_not_repeated_whole() {
    let error = execute(json!({"action": "a.b", "params": ["é".repeat(500)]})).unwrap_err();
    assert!(error.message.chars().count() < 120, "{}", error.message);
}

#[test]
fn schemas_name_one_type_for_each_argument() {
    for offer in [&FIND, &EXECUTE] {
        let schema = Value::Object(listed(offer));
        for (name, argument) in schema["properties"].as_object().unwrap() {
            assert!(argument["type"].is_string(), "{name}: {argument}");
        }
        assert!(jsonschema::validator_for(&schema).is_ok());
    }
    let schema = Value::Object(listed(&FIND));
    assert_eq!(schema["properties"]["detail"]["enum"], json!(["auto", "signature", "schema"]));
    assert_eq!(schema["required"], json!(["query"]));
}
