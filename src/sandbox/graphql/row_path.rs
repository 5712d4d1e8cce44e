//! Values at a path in a row: `author.username`.

use serde_json::Value;

use super::super::args::text_of;
use super::super::row::Row;

/// Value at a path in a row, as text.
pub fn text_at(row: &Row, path: &str) -> Option<String> {
    text_of(&row_walk(row, &path.split('.').collect::<Vec<_>>()))
}

/// Value at a path in a row.
pub fn row_walk(row: &Row, path: &[&str]) -> Value {
    let Some((first, rest)) = path.split_first() else { return Value::Null };
    row.get(*first).map(|value| walk(value, rest)).unwrap_or_default()
}

/// Value at a path: in an object by name, in a list by number or in each of its elements.
pub fn walk(value: &Value, path: &[&str]) -> Value {
    let Some((first, rest)) = path.split_first() else { return value.clone() };
    match (value, first.parse::<usize>()) {
        (Value::Array(values), Ok(at)) => values.get(at).map(|value| walk(value, rest)).unwrap_or_default(),
        (Value::Array(values), Err(_)) => values.iter().map(|value| walk(value, path)).collect(),
        _ => value.get(first).map(|value| walk(value, rest)).unwrap_or_default(),
    }
}
