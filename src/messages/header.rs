//! Parts that every answer of execute has: the action, its operation, the resolved names, the notes.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::call::{Call, Resolved};
use crate::present;
use crate::untrusted::shortened;

/// Limits of notes: their number, and the characters of each.
const MAX_NOTES: usize = 30;
const LONGEST_NOTE: usize = 1_000;

/// The beginning of every answer: action, operation, resolved ids.
pub fn head(call: &Call) -> Map<String, Value> {
    let mut head = Map::from_iter([
        ("action".to_owned(), json!(call.action())),
        ("operation".to_owned(), json!(call.operation())),
    ]);
    add_resolved_names(&mut head, call.resolved(), call.lookups());
    head
}

/// Adds names with their ids to the data, and the number of requests that found them.
pub fn add_resolved_names(structured: &mut Map<String, Value>, names: &[Resolved], requests: usize) {
    let resolved = resolved_names(names);
    if !resolved.is_empty() {
        structured.insert("resolved".to_owned(), present::cleaned_value(Value::Object(resolved)));
        structured.insert("lookups".to_owned(), json!(requests));
    }
}

/// Names with their ids, by parameter: `alice -> 42`.
fn resolved_names(names: &[Resolved]) -> Map<String, Value> {
    let mut told: Map<String, Value> = Map::new();
    for resolved in names {
        let one = format!("{} -> {}", resolved.name, resolved.id);
        let said = told.get(&resolved.param).and_then(Value::as_str);
        let all = said.map_or_else(|| one.clone(), |said| format!("{said}, {one}"));
        told.insert(resolved.param.clone(), json!(all));
    }
    told
}

/// Names with their ids, to read.
pub fn add_resolved(text: &mut String, names: &[Resolved]) {
    for (param, texts) in resolved_names(names) {
        let _ = writeln!(text, "Resolved: {param}: {}.", present::line(texts.as_str().unwrap_or_default()));
    }
}

/// The notes in both forms.
pub fn add_notes(structured: &mut Map<String, Value>, text: &mut String, notes: &[String]) {
    if notes.is_empty() {
        return;
    }
    // Some notes repeat text from GitLab.
    let mut texts: Vec<String> =
        notes.iter().take(MAX_NOTES).map(|note| shortened(&present::line(note), LONGEST_NOTE)).collect();
    let more = notes.len().saturating_sub(MAX_NOTES);
    if more > 0 {
        texts.push(format!("{more} more notes are left out"));
    }
    structured.insert("notes".to_owned(), json!(texts));
    for note in &texts {
        text.push_str(&note_line(note));
    }
}

/// The line of a note in an answer's text.
pub fn note_line(note: &str) -> String {
    format!("Note: {note}.\n")
}
