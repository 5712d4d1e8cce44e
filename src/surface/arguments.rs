//! The arguments of a tool call, checked against one table that also writes the input schema. Lenient if the meaning is
//! plain (`null`, `"5"`, JSON as text), and otherwise an error that names the accepted values.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::call::{list_in_text, render_value};
use crate::tools::{
    Argument, ErrorKind, FIND, FORMER_NAMES, NextCall, OTHER_NAMES, Takes, ToolError, WRAPPERS,
};

/// The request that the arguments make, with notes on values that were interpreted.
#[derive(Debug)]
pub struct CheckedArguments<T> {
    pub request: T,
    pub notes: Vec<String>,
}

/// Parses the arguments of a call to the tool of that name. `null` is the same as a missing argument.
pub fn check<T: DeserializeOwned>(
    tool: &str,
    table: &[&Argument],
    given: Map<String, Value>,
) -> Result<CheckedArguments<T>, ToolError> {
    let is_known = |name: &str| table.iter().any(|argument| argument.name == name);
    let mut notes = Vec::new();
    let given = by_own_names(table, unwrapped(tool, table, given), &mut notes);
    let (given, unknown): (Map<_, _>, Map<_, _>) = given
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| match FORMER_NAMES.iter().find(|(former, _)| *former == name) {
            Some((_, current)) if !is_known(&name) && is_known(current) => ((*current).to_owned(), value),
            _ => (name, value),
        })
        .partition(|(name, _)| table.iter().any(|argument| argument.name == name));
    if !unknown.is_empty() {
        return Err(unknown_arguments(tool, table, given, unknown));
    }
    let mut read = Map::new();
    let mut problems = Vec::new();
    let mut wrong = Vec::new();
    for argument in table {
        match given.get(argument.name).map(|value| (value, parse(argument.takes, value))) {
            Some((value, Some(meant))) => {
                notes.extend(note(argument, value, &meant));
                read.insert(argument.name.to_owned(), meant);
            }
            Some((value, None)) => {
                problems.push(refusal(argument, value));
                wrong.push(*argument);
            }
            None if argument.required => {
                problems.push(absence(argument));
                wrong.push(*argument);
            }
            None => {}
        }
    }
    if !problems.is_empty() {
        let error = invalid(tool, table, problems.join(" "));
        let (tool, arguments) = next_call(tool, &wrong, read);
        return Err(error.fix(NextCall::new(tool, arguments)));
    }
    serde_json::from_value(Value::Object(read))
        .map(|request| CheckedArguments { request, notes })
        .map_err(|error| invalid(tool, table, error.to_string()))
}

/// The arguments of a call that came as a call: `{"tool": "gitlab_execute_action", "arguments": {…}}`, as answers and
/// documentation write it, or under a wrapper alone.
fn unwrapped(tool: &str, table: &[&Argument], given: Map<String, Value>) -> Map<String, Value> {
    let required = table.iter().find(|argument| argument.required).map_or("", |argument| argument.name);
    let others = OTHER_NAMES.iter().find(|(name, _)| *name == required).map_or(&[][..], |(_, others)| others);
    let names_it = |inner: &Map<String, Value>| {
        inner.contains_key(required) || others.iter().any(|other| inner.contains_key(*other))
    };
    match only_wrapped(&given) {
        Some(inner) if names_it(&inner) => unwrapped_call(tool, table, inner),
        _ => unwrapped_call(tool, table, given),
    }
}

/// The object that stands alone under a wrapper or under `params`.
fn only_wrapped(given: &Map<String, Value>) -> Option<Map<String, Value>> {
    let (name, value) = given.iter().next().filter(|_| given.len() == 1)?;
    match object(value)? {
        Value::Object(inner) if name == "params" || WRAPPERS.contains(&name.as_str()) => Some(inner),
        _ => None,
    }
}

fn unwrapped_call(tool: &str, table: &[&Argument], mut given: Map<String, Value>) -> Map<String, Value> {
    let names_it = |name: &str| given.get(name).and_then(Value::as_str).is_some_and(|named| named == tool);
    let Some(by) = ["tool", "name", "tool_name"].into_iter().find(|name| names_it(name)) else {
        return given;
    };
    let is_own = |name: &str| table.iter().any(|argument| argument.name == name);
    let inner = WRAPPERS.iter().find_map(|wrapper| object(given.get(*wrapper)?));
    let is_alone = given.keys().all(|name| name == by || WRAPPERS.contains(&name.as_str()));
    match inner {
        Some(Value::Object(inner)) if is_alone && !is_own(by) => inner,
        _ => {
            given.shift_remove(by);
            given
        }
    }
}

/// Arguments under the names of the table. Another name counts if it can mean one argument alone, and that one is not
/// given.
fn by_own_names(
    table: &[&Argument],
    mut given: Map<String, Value>,
    notes: &mut Vec<String>,
) -> Map<String, Value> {
    for (name, others) in OTHER_NAMES {
        let Some(argument) = table.iter().find(|argument| argument.name == name) else { continue };
        let is_own = |other: &str| table.iter().any(|argument| argument.name == other);
        let fits = |other: &&&str| {
            !is_own(other) && given.get(**other).is_some_and(|value| parse(argument.takes, value).is_some())
        };
        let meant: Vec<&str> = others.iter().filter(fits).copied().collect();
        if given.get(name).is_some_and(|value| !value.is_null()) {
            continue;
        }
        if let [other] = meant.as_slice()
            && let Some(value) = given.shift_remove(*other)
        {
            notes.push(format!("understood `{other}` as `{name}`"));
            given.insert(name.to_owned(), value);
        }
    }
    given
}

/// The schema of each argument, by its name.
pub fn properties(table: &[&Argument]) -> Map<String, Value> {
    table.iter().map(|argument| (argument.name.to_owned(), schema(argument))).collect()
}

/// The schema of an argument. One type each, though `null` is taken for whatever is optional: a list of types is legal,
/// but some clients map schemas onto dialects that have none and refuse the tool.
pub fn schema(argument: &Argument) -> Value {
    let mut schema = type_schema(argument.takes);
    schema.insert("description".to_owned(), json!(argument.what));
    Value::Object(schema)
}

/// The same without the description, for tools that describe the argument elsewhere.
pub fn bare_schema(argument: &Argument) -> Value {
    Value::Object(type_schema(argument.takes))
}

fn refusal(argument: &Argument, value: &Value) -> String {
    format!("`{}` takes {}, and got {}.", argument.name, describe(argument.takes), render_value(value))
}

fn absence(argument: &Argument) -> String {
    format!("`{}` is missing: {}", argument.name, argument.what)
}

fn note(argument: &Argument, given: &Value, read: &Value) -> Option<String> {
    (given.is_string() && read.is_object())
        .then(|| format!("`{}` came as text and was parsed as JSON.", argument.name))
}

fn parse(takes: Takes, value: &Value) -> Option<Value> {
    match takes {
        Takes::Text => value.is_string().then(|| value.clone()),
        Takes::Request => text_of(value).map(Value::String),
        Takes::Number(..) => number(value).map(Value::from),
        Takes::Flag => flag(value).map(Value::Bool),
        Takes::Choice(choices) => {
            let word = value.as_str()?.to_ascii_lowercase();
            choices.contains(&word.as_str()).then(|| Value::String(word))
        }
        Takes::Object => object(value),
        Takes::Texts => texts(value),
    }
}

fn type_schema(takes: Takes) -> Map<String, Value> {
    let schema = match takes {
        Takes::Text | Takes::Request => json!({"type": "string"}),
        Takes::Number(least, None) => json!({"type": "integer", "minimum": least}),
        Takes::Number(least, Some(most)) => {
            json!({"type": "integer", "minimum": least, "maximum": most})
        }
        Takes::Flag => json!({"type": "boolean"}),
        Takes::Choice(choices) => json!({"type": "string", "enum": choices}),
        Takes::Object => json!({"type": "object"}),
        Takes::Texts => json!({"type": "array", "items": {"type": "string"}}),
    };
    schema.as_object().cloned().unwrap_or_default()
}

fn describe(takes: Takes) -> String {
    match takes {
        Takes::Text | Takes::Request => "a string".to_owned(),
        Takes::Number(least, None) => format!("a whole number from {least}"),
        Takes::Number(least, Some(most)) => format!("a whole number from {least} to {most}"),
        Takes::Flag => "true or false".to_owned(),
        Takes::Choice(choices) => format!("one of {}", choices.join(", ")),
        Takes::Object => "a JSON object".to_owned(),
        Takes::Texts => "a list of strings".to_owned(),
    }
}

/// A text, or the texts of a list as clauses of one.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) if !items.is_empty() => {
            let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            Some(texts?.join("; "))
        }
        _ => None,
    }
}

fn number(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        // `5.0` is five.
        Value::Number(number) => {
            number.as_u64().or_else(|| number.to_string().strip_suffix(".0")?.parse().ok())
        }
        _ => None,
    }
}

fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => text.trim().to_ascii_lowercase().parse().ok(),
        _ => None,
    }
}

fn object(value: &Value) -> Option<Value> {
    match value {
        Value::Object(_) => Some(value.clone()),
        Value::String(text) if text.trim().is_empty() => Some(json!({})),
        Value::String(text) => serde_json::from_str(text).ok().filter(Value::is_object),
        _ => None,
    }
}

fn texts(value: &Value) -> Option<Value> {
    match value {
        Value::Array(items) => items.iter().all(Value::is_string).then(|| value.clone()),
        Value::String(text) => {
            if let Some(items) = list_in_text(text) {
                return texts(&Value::Array(items.ok()?));
            }
            Some(text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().into())
        }
        _ => None,
    }
}

/// The error for unknown arguments. Its call has them in `params`, if the tool has such an argument.
fn unknown_arguments(
    tool: &str,
    table: &[&Argument],
    mut accepted: Map<String, Value>,
    unknown: Map<String, Value>,
) -> ToolError {
    let names: Vec<String> = unknown.keys().map(|name| format!("`{name}`")).collect();
    let plural = if names.len() == 1 { "is not an argument" } else { "are not arguments" };
    let message = format!("{} {plural} of {tool}.", names.join(", "));
    let error = invalid(tool, table, message);
    let Some(nest) = table.iter().find(|argument| matches!(argument.takes, Takes::Object)) else {
        return error;
    };
    let mut nested = accepted.remove(nest.name).as_ref().and_then(object).unwrap_or_else(|| json!({}));
    if let Value::Object(fields) = &mut nested {
        fields.extend(unknown);
    }
    accepted.insert(nest.name.to_owned(), nested);
    error.fix(NextCall::new(tool, Value::Object(accepted)))
}

fn invalid(tool: &str, table: &[&Argument], message: String) -> ToolError {
    ToolError::new(ErrorKind::InvalidParams, message).hint(takes(tool, table))
}

/// The call to make next. Wrong arguments that only concern the presentation are dropped; if another one is wrong, it
/// is neither dropped nor guessed: the call looks the action up.
fn next_call<'t>(tool: &'t str, wrong: &[&Argument], read: Map<String, Value>) -> (&'t str, Value) {
    let is_of_showing =
        |argument: &&Argument| !argument.required && !matches!(argument.takes, Takes::Object | Takes::Flag);
    if wrong.iter().all(is_of_showing) {
        return (tool, Value::Object(read));
    }
    match read.get("action").and_then(Value::as_str) {
        Some(action) => (FIND, json!({"query": action, "limit": 1, "detail": "schema"})),
        None => (FIND, json!({"query": "list projects"})),
    }
}

/// All that a tool takes, in a line.
pub fn takes(tool: &str, table: &[&Argument]) -> String {
    let arguments: Vec<String> = table
        .iter()
        .map(|argument| {
            let mark = if argument.required { "" } else { "?" };
            format!("{}{mark}: {}", argument.name, describe(argument.takes))
        })
        .collect();
    format!("{tool} takes {{{}}}.", arguments.join("; "))
}

#[cfg(test)]
mod tests;
