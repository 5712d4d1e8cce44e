//! A value as Markdown, with nothing left out: a list of short rows as a table, any other list thing by thing, one
//! thing as its fields, a text in a fence.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// A table wider than this is no table to read.
const COLUMNS: usize = 12;

/// A cell longer than this makes no row.
const CELL: usize = 240;

/// What a thing in a list is headed by.
const HEADINGS: [&str; 8] = ["iid", "new_path", "name", "title", "username", "key", "short_id", "id"];

/// The value to read.
pub fn render(value: &Value) -> String {
    match value {
        Value::Array(items) if items.is_empty() => "Nothing found.".to_owned(),
        Value::Array(items) => list(items),
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

fn list(items: &[Value]) -> String {
    let rows: Option<Vec<&Map<String, Value>>> = items.iter().map(Value::as_object).collect();
    match rows {
        Some(rows) if fits_table(&rows) => table(&rows),
        Some(rows) => rows.iter().enumerate().fold(String::new(), |mut out, (place, row)| {
            let _ = writeln!(out, "{}\n{}", heading(place, row), fields(row));
            out
        }),
        None => items.iter().fold(String::new(), |mut out, item| {
            let _ = writeln!(out, "- {}", inline(item));
            out
        }),
    }
}

fn heading(place: usize, row: &Map<String, Value>) -> String {
    let name = HEADINGS.iter().find_map(|key| row.get(*key)).map(inline).unwrap_or_default();
    format!("{}. {name}", place + 1)
}

fn fields(map: &Map<String, Value>) -> String {
    let mut out = String::new();
    for (key, value) in map {
        let _ = match value {
            Value::String(text) if text.contains('\n') => writeln!(out, "{key}:\n{}", fenced(text)),
            Value::Array(items) if items.iter().any(Value::is_object) => {
                writeln!(out, "{key}:\n{}", list(items))
            }
            Value::Object(inner) if !is_flat(value) => writeln!(out, "{key}:\n{}", fields(inner)),
            other => writeln!(out, "{key}: {}", inline(other)),
        };
    }
    out
}

fn fits_table(rows: &[&Map<String, Value>]) -> bool {
    columns(rows).len() <= COLUMNS && rows.iter().all(|row| row.values().all(is_flat))
}

/// Whether a value can stand in a line without loss.
fn is_flat(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() <= CELL && !text.trim().contains('\n'),
        Value::Array(items) => {
            items.iter().all(|item| !item.is_object() && is_flat(item)) && inline(value).len() <= CELL
        }
        Value::Object(map) => {
            map.values().all(|inner| !inner.is_object() && is_flat(inner)) && inline(value).len() <= CELL
        }
        _ => true,
    }
}

fn table(rows: &[&Map<String, Value>]) -> String {
    let columns = columns(rows);
    let mut out = format!("| {} |\n|{}\n", columns.join(" | "), " --- |".repeat(columns.len()));
    for row in rows {
        let cells: Vec<String> =
            columns.iter().map(|column| row.get(*column).map(cell).unwrap_or_default()).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}

/// The keys of all rows, in the order in which they came.
fn columns<'a>(rows: &[&'a Map<String, Value>]) -> Vec<&'a str> {
    let mut columns: Vec<&str> = Vec::new();
    for key in rows.iter().flat_map(|row| row.keys()) {
        if !columns.contains(&key.as_str()) {
            columns.push(key);
        }
    }
    columns
}

/// A value in one line that cannot break its table.
fn cell(value: &Value) -> String {
    inline(value).replace('|', "\\|")
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
