//! Example calls of an action that can be executed unchanged.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::Names;
use super::Words;
use super::{Action, Base, Json, Operation, Param};

/// Parameters that suffice for the action's preferred operation: its own example first, then the glossary's,
/// then the first choice or a value of the type.
pub fn example(action: &Action, words: &Words) -> Map<String, Value> {
    let Some(operation) = action.choices().next() else { return Map::new() };
    let wanted = action.params.iter().filter(|param| is_needed(action, operation, param));
    let mut params: Map<String, Value> = wanted
        .map(|param| (param.name.clone(), value(param, action.example.get(&param.name), words)))
        .collect();
    if needs_scope(action, operation) {
        params.insert("scope".to_owned(), json!(operation.scope.name()));
    }
    params
}

fn is_needed(action: &Action, operation: &Operation, param: &Param) -> bool {
    let taken = param.scopes.is_empty() || param.scopes.contains(&operation.scope);
    taken && (param.required || action.example.contains_key(&param.name))
}

/// Names the scope if several operations take the same parameters: that saves a look-up.
fn needs_scope(action: &Action, operation: &Operation) -> bool {
    let filled = |operation: &Operation| -> BTreeSet<String> {
        operation.placeholders().map(|(name, _)| operation.filled_by(name).to_owned()).collect()
    };
    let alike = action.choices().filter(|other| filled(other) == filled(operation)).count() > 1;
    let by_path = action.choices().filter(|other| other.is_filled_by("fullPath")).count() > 1;
    let selects = action
        .param("scope")
        .is_some_and(|scope| scope.choices.iter().any(|word| word == operation.scope.name()));
    selects && (alike || (by_path && operation.is_filled_by("fullPath")))
}

fn value(param: &Param, own: Option<&Json>, words: &Words) -> Value {
    if let Some(reference) = reference(param).filter(|_| own.is_none()) {
        return if param.kind.many { json!([reference]) } else { json!(reference) };
    }
    let glossary = words.glossary.get(&param.name).and_then(|entry| entry.example.as_deref());
    [own, glossary, param.default.as_ref()]
        .into_iter()
        .flatten()
        .map(|Json(example)| as_text(param, example))
        .find(|example| fits(param, example))
        .unwrap_or_else(|| example_value(param, words))
}

/// Example reference for a parameter that is a global id in GraphQL.
fn reference(param: &Param) -> Option<&'static str> {
    param.gid.as_ref()?;
    match param.names? {
        Names::Issue | Names::WorkItem | Names::Issuable => Some("acme/widget#1"),
        Names::MergeRequest => Some("acme/widget!1"),
        Names::Epic => Some("acme&1"),
        _ => None,
    }
}

/// GitLab's document calls many ids strings; a number written for the name is one all the same.
fn as_text(param: &Param, example: &Value) -> Value {
    match example {
        Value::Number(number) if param.kind.base == Base::String => json!(number.to_string()),
        other => other.clone(),
    }
}

/// Whether the glossary's example value has this parameter's type.
fn fits(param: &Param, value: &Value) -> bool {
    match value {
        Value::Array(items) => param.kind.many && items.iter().all(|item| fits_one(param, item)),
        one => !param.kind.many && fits_one(param, one),
    }
}

fn fits_one(param: &Param, value: &Value) -> bool {
    let of_type = match param.kind.base {
        Base::String => value.is_string(),
        // A glossary's `from` may be a branch, and its `date` a time.
        Base::Date => value.as_str().is_some_and(|text| text.len() == 10 && is_dated(text)),
        Base::DateTime => value.as_str().is_some_and(is_dated),
        Base::Integer => value.is_i64(),
        Base::Number => value.is_number(),
        Base::Boolean => value.is_boolean(),
        Base::IntegerOrString => value.is_string() || value.is_i64(),
        Base::Object => value.as_object().is_some_and(|object| fits_fields(param, object)),
        Base::File => value.is_object(),
        Base::Any => true,
    };
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    of_type && (param.choices.is_empty() || param.choices.contains(&text))
}

fn is_dated(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether an object has only fields of the parameter, and all required ones.
fn fits_fields(param: &Param, object: &Map<String, Value>) -> bool {
    let field = |name: &str| param.fields.iter().find(|field| field.name == name);
    let fitting = object.iter().all(|(name, value)| field(name).is_some_and(|field| fits(field, value)));
    let complete = param.fields.iter().all(|field| !field.required || object.contains_key(&field.name));
    param.fields.is_empty() || (fitting && complete)
}

fn example_value(param: &Param, words: &Words) -> Value {
    let one = match (param.choices.first(), param.kind.base) {
        (Some(choice), Base::Integer) => {
            choice.parse::<i64>().map_or_else(|_| json!(choice), |number| json!(number))
        }
        (Some(choice), _) => json!(choice),
        (None, Base::Integer | Base::Number | Base::IntegerOrString) => json!(1),
        (None, Base::Boolean) => json!(true),
        (None, Base::Date) => json!("2026-01-31"),
        (None, Base::DateTime) => json!("2026-01-31T09:00:00Z"),
        (None, Base::File) => json!({"filename": "notes.txt", "content": "hello"}),
        (None, Base::Object) => {
            let required = param.fields.iter().filter(|field| field.required);
            Value::Object(required.map(|field| (field.name.clone(), value(field, None, words))).collect())
        }
        (None, Base::String | Base::Any) => json!("example"),
    };
    if param.kind.many { json!([one]) } else { one }
}
