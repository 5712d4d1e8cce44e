//! Example calls of an action that can be executed unchanged.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use gitlab_mcp_embed::catalog::language::Words;
use gitlab_mcp_embed::catalog::model::{Action, Base, Json, Operation, Param, Place, ROLES, Scope};
use gitlab_mcp_embed::catalog::names::Names;

use super::date_names::is_called_a_day;

/// Parameters that suffice for the action's preferred operation: the action's own example first, then references by
/// name, then the glossary's values, then the first choice or a value of the type. An update changes something.
pub fn example(action: &Action, words: &Words) -> Map<String, Value> {
    let Some(operation) = action.choices().next() else { return Map::new() };
    let wanted = action.params.iter().filter(|param| is_needed(action, operation, param));
    let filled = |param: &Param| {
        let group = operation.scope == Scope::Group && param.name == "fullPath";
        let own = action.example.get(&param.name);
        let value = match own {
            None if group => json!(words.examples.group),
            own => value(param, own, words),
        };
        (param.name.clone(), value)
    };
    let mut params: Map<String, Value> = wanted.map(filled).collect();
    // Names of most kinds are found only within a project or group.
    let is_local = |param: &Param| params.contains_key(&param.name) && takes_local_names(param);
    if let Some(place) = action.param("fullPath").filter(|place| !params.contains_key(&place.name))
        && action.params.iter().any(is_local)
    {
        params.extend([filled(place)]);
    }
    if let Some(param) = changed(action, operation, &params, words) {
        params.extend([filled(param)]);
    }
    if let Some(selector) = action.selector_of(operation.scope)
        && needs_scope(action, operation)
        && !action.example.contains_key(&selector.name)
    {
        params.insert(selector.name.clone(), json!(operation.scope.name()));
    }
    params
}

/// True if a name for the parameter is found only within a project or group.
fn takes_local_names(param: &Param) -> bool {
    param.names.is_some_and(|names| !names.is_global() && !names.is_tracked())
}

/// The parameter that an update sets in its example, if the example would change nothing without it.
fn changed<'a>(
    action: &'a Action,
    operation: &Operation,
    params: &Map<String, Value>,
    words: &Words,
) -> Option<&'a Param> {
    let is_update = action.id.split_once('.').is_some_and(|(_, verb)| verb.starts_with("update"));
    // Ids and paths in a GraphQL input tell the object apart and change nothing.
    let changes = |param: &&Param| {
        let is_taken = param.is_of_scope(operation.scope);
        let is_object = param.name == "id" || param.name.ends_with("Id") || param.name.ends_with("_id");
        is_taken && !matches!(param.place, Place::Path | Place::Selector) && param.name != "iid" && !is_object
    };
    let optional = || action.params.iter().filter(|param| !param.required).filter(changes);
    if !is_update || action.params.iter().filter(changes).any(|param| params.contains_key(&param.name)) {
        return None;
    }
    let preferred = words.examples.changes.iter();
    preferred
        .filter_map(|name| optional().find(|param| param.name == *name))
        .next()
        .or_else(|| optional().find(|param| param.kind.base != Base::Object && !param.undocumented))
}

fn is_needed(action: &Action, operation: &Operation, param: &Param) -> bool {
    let taken = param.is_of_scope(operation.scope);
    taken && (param.required || action.example.contains_key(&param.name))
}

/// Names the scope if several operations take the same parameters: that saves a look-up.
fn needs_scope(action: &Action, operation: &Operation) -> bool {
    let filled = |operation: &Operation| -> BTreeSet<String> {
        operation.placeholders().map(|(name, _)| operation.filled_by(name).to_owned()).collect()
    };
    let alike = action.choices().filter(|other| filled(other) == filled(operation)).count() > 1;
    let by_path = action.choices().filter(|other| other.is_filled_by("fullPath")).count() > 1;
    alike || (by_path && operation.is_filled_by("fullPath"))
}

fn value(param: &Param, own: Option<&Json>, words: &Words) -> Value {
    if let Some(reference) = reference(param, words).filter(|_| own.is_none()) {
        return if param.kind.many { json!([reference]) } else { reference };
    }
    let glossary = words.glossary.get(&param.name).and_then(|entry| entry.example.as_deref());
    [own, glossary, param.default.as_ref()]
        .into_iter()
        .flatten()
        .map(|Json(example)| as_text(param, example))
        .find(|example| fits(param, example))
        .unwrap_or_else(|| example_value(param, words))
}

/// Example reference of a parameter that takes a name.
fn reference(param: &Param, words: &Words) -> Option<Value> {
    let kind = match param.names? {
        // The global id of an issue's work item is named by the issue.
        Names::WorkItem | Names::Issuable => Names::Issue,
        kind => kind,
    };
    let Json(example) = words.examples.references.get(&kind)?;
    fits_one(param, example).then(|| example.clone())
}

/// GitLab's document calls many ids strings; a number written for the name is one all the same.
fn as_text(param: &Param, example: &Value) -> Value {
    match example {
        Value::Number(number) if param.kind.base == Base::String => json!(number.to_string()),
        Value::Number(number) if param.kind.base == Base::Role => {
            let role = ROLES.iter().find(|(_, level)| number.as_i64() == Some(*level));
            role.map_or_else(|| example.clone(), |(name, _)| json!(name))
        }
        other => other.clone(),
    }
}

/// True if the glossary's example value has this parameter's type.
fn fits(param: &Param, value: &Value) -> bool {
    match value {
        Value::Array(items) => param.kind.many && items.iter().all(|item| fits_one(param, item)),
        one => !param.kind.many && fits_one(param, one),
    }
}

fn fits_one(param: &Param, value: &Value) -> bool {
    let of_type = match param.kind.base {
        Base::String if is_called_a_day(&param.name) => value.as_str().is_some_and(is_day),
        Base::String => value.is_string(),
        // A glossary's `from` may be a branch, and its `date` a time.
        Base::Date => value.as_str().is_some_and(is_day),
        Base::DateTime => value.as_str().is_some_and(is_dated),
        Base::Integer => value.is_i64(),
        Base::Role => ROLES.iter().any(|(name, _)| value == *name),
        Base::Number => value.is_number(),
        Base::Boolean => value.is_boolean(),
        Base::IntegerOrString => value.is_string() || value.is_i64(),
        Base::Object => value.as_object().is_some_and(|object| fits_fields(param, object)),
        Base::File => value.is_object(),
        Base::Any => true,
    };
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let is_choice = |choice: &String| param.choice_name(choice) == text;
    of_type && (param.choices.is_empty() || param.choices.iter().any(is_choice))
}

fn is_day(text: &str) -> bool {
    text.len() == 10 && is_dated(text)
}

fn is_dated(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// True if an object has only fields of the parameter, and all required ones.
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
        (Some(choice), _) => json!(param.choice_name(choice)),
        (None, Base::Role) => json!("developer"),
        (None, Base::Integer | Base::Number | Base::IntegerOrString) => json!(1),
        (None, Base::Boolean) => json!(true),
        (None, Base::Date) => json!("2026-01-31"),
        (None, Base::DateTime) => json!("2026-01-31T09:00:00Z"),
        (None, Base::File) => json!({"filename": "notes.txt", "content": "hello"}),
        (None, Base::Object) => {
            let required = param.fields.iter().filter(|field| field.required);
            Value::Object(required.map(|field| (field.name.clone(), value(field, None, words))).collect())
        }
        (None, Base::String) if is_called_a_day(&param.name) => json!("2026-01-31"),
        (None, Base::String | Base::Any) => json!("example"),
    };
    if param.kind.many { json!([one]) } else { one }
}
