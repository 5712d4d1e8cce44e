//! Parts that every answer of execute has: the action, its operation, the resolved names, the notes.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::present;
use crate::tools::lookups;
use crate::untrusted::shortened;

/// Limits of notes: their number, and the characters of each.
const MOST_NOTES: usize = 30;
const LONGEST_NOTE: usize = 1_000;

/// The beginning of every answer: action, operation, resolved ids.
pub fn head(call: &Call) -> Map<String, Value> {
    let mut head = Map::from_iter([
        ("action".to_owned(), json!(call.action())),
        ("operation".to_owned(), json!(call.operation())),
    ]);
    let resolved = lookups::resolved_names(call);
    if !resolved.is_empty() {
        head.insert("resolved".to_owned(), present::cleaned_value(Value::Object(resolved)));
        head.insert("lookups".to_owned(), json!(call.lookups()));
    }
    head
}

/// The names of a call with their ids, to read.
pub fn add_resolved(text: &mut String, call: &Call) {
    for (param, texts) in lookups::resolved_names(call) {
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
        notes.iter().take(MOST_NOTES).map(|note| shortened(&present::line(note), LONGEST_NOTE)).collect();
    let more = notes.len().saturating_sub(MOST_NOTES);
    if more > 0 {
        texts.push(format!("{more} more notes are left out"));
    }
    structured.insert("notes".to_owned(), json!(texts));
    for note in &texts {
        let _ = writeln!(text, "Note: {note}.");
    }
}
