//! The fields that a caller asked for.

use serde_json::{Map, Value};

/// Only those paths of the value, or of each item of a list. A path that is nowhere is told, with what there is.
pub fn select(value: &Value, paths: &[String], notes: &mut Vec<String>) -> Value {
    let selected = match value {
        Value::Array(items) => Value::Array(items.iter().map(|item| select_from(item, paths)).collect()),
        one => select_from(one, paths),
    };
    let missing: Vec<&str> =
        paths.iter().filter(|path| !is_anywhere(value, path)).map(String::as_str).collect();
    if !missing.is_empty() {
        notes.push(format!("no field {}; there are {}", missing.join(", "), known(value).join(", ")));
    }
    selected
}

fn select_from(item: &Value, paths: &[String]) -> Value {
    let mut selected = Value::Object(Map::new());
    for path in paths {
        if let Some(found) = pick(item, &steps(path)) {
            merge(&mut selected, found);
        }
    }
    selected
}

/// `pipelines[].status` is walked as `pipelines.status`: a list is walked into by itself.
fn steps(path: &str) -> Vec<&str> {
    path.split('.').map(|step| step.trim_end_matches("[]")).filter(|step| !step.is_empty()).collect()
}

/// The value with only what the steps lead to.
fn pick(value: &Value, steps: &[&str]) -> Option<Value> {
    let Some((first, rest)) = steps.split_first() else { return Some(value.clone()) };
    match value {
        Value::Array(items) => {
            Some(Value::Array(items.iter().filter_map(|item| pick(item, steps)).collect()))
        }
        Value::Object(map) => {
            let inner = pick(map.get(*first)?, rest)?;
            Some(Value::Object(Map::from_iter([((*first).to_owned(), inner)])))
        }
        _ => None,
    }
}

fn merge(into: &mut Value, other: Value) {
    match (into, other) {
        (Value::Object(into), Value::Object(other)) => {
            for (key, value) in other {
                match into.get_mut(&key) {
                    Some(known) => merge(known, value),
                    None => {
                        into.insert(key, value);
                    }
                }
            }
        }
        (Value::Array(into), Value::Array(other)) if into.len() == other.len() => {
            for (known, value) in into.iter_mut().zip(other) {
                merge(known, value);
            }
        }
        (into, other) => *into = other,
    }
}

fn is_anywhere(value: &Value, path: &str) -> bool {
    match value {
        Value::Array(items) => {
            items.is_empty() || items.iter().any(|item| pick(item, &steps(path)).is_some())
        }
        one => pick(one, &steps(path)).is_some(),
    }
}

fn known(value: &Value) -> Vec<String> {
    let first = value.as_array().and_then(|items| items.first()).unwrap_or(value);
    first.as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default()
}
