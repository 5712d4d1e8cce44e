//! A value as Markdown: a list of things as a table, one thing as its fields, a text in a fence.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Columns of a table, first things first; what is not named here follows as it came.
const FIRST: [&str; 16] = [
    "iid",
    "id",
    "path_with_namespace",
    "full_path",
    "name",
    "title",
    "username",
    "key",
    "state",
    "status",
    "ref",
    "author",
    "labels",
    "updated_at",
    "created_at",
    "web_url",
];

/// A table wider than this is no table to read.
const COLUMNS: usize = 9;

/// A cell longer than this says more than a row needs.
const CELL: usize = 160;

/// The value to read.
pub fn render(value: &Value) -> String {
    match value {
        Value::Array(items) if items.is_empty() => "Nothing found.".to_owned(),
        Value::Array(items) if items.iter().all(Value::is_object) => table(items),
        Value::Array(items) => items.iter().fold(String::new(), |mut out, item| {
            let _ = writeln!(out, "- {}", inline(item));
            out
        }),
        Value::Object(map) => fields(map),
        Value::String(text) => fenced(text),
        other => other.to_string(),
    }
}

/// A text between fences longer than any run of backticks within it, so that it cannot end them.
pub fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}")
}

fn fields(map: &Map<String, Value>) -> String {
    let mut out = String::new();
    for (key, value) in map {
        match value {
            Value::String(text) if text.contains('\n') => {
                let _ = writeln!(out, "{key}:\n{}", fenced(text));
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                let _ = writeln!(out, "{key}:\n{}", render(value));
            }
            other => {
                let _ = writeln!(out, "{key}: {}", inline(other));
            }
        }
    }
    out
}

fn table(items: &[Value]) -> String {
    let columns = columns(items);
    let mut out = format!("| {} |\n|{}\n", columns.join(" | "), " --- |".repeat(columns.len()));
    for item in items {
        let cells: Vec<String> =
            columns.iter().map(|column| item.get(column.as_str()).map(cell).unwrap_or_default()).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}

/// The keys of all rows: the ones a reader looks for first, then those that came first.
fn columns(items: &[Value]) -> Vec<String> {
    let mut keys: Vec<&String> = Vec::new();
    for key in items.iter().filter_map(Value::as_object).flat_map(Map::keys) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let rank = |key: &String| FIRST.iter().position(|first| first == key).unwrap_or(FIRST.len());
    // One name for a thing is enough where there is an iid.
    let has_iid = keys.iter().any(|key| *key == "iid");
    keys.retain(|key| !(has_iid && *key == "id"));
    keys.sort_by_key(|key| rank(key));
    keys.into_iter().take(COLUMNS).cloned().collect()
}

/// A value in one line that cannot break its table.
fn cell(value: &Value) -> String {
    let mut text = inline(value).replace('|', "\\|");
    if let Some((end, _)) = text.char_indices().nth(CELL) {
        text.truncate(end);
        text.push('…');
    }
    text
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Value::Array(items) => items.iter().map(inline).collect::<Vec<_>>().join(", "),
        Value::Object(map) => {
            map.iter().map(|(key, value)| format!("{key}={}", inline(value))).collect::<Vec<_>>().join(" ")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
