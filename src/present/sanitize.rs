//! Text that strangers wrote, without the characters that hide, reorder or imitate: control characters, zero-width
//! and bidirectional marks, tag characters, variation selectors.

use serde_json::Value;

use super::diffs;
pub use crate::untrusted::cleaned;
use crate::untrusted::{defuse, is_invisible, joiners};

/// The text in one line, so that nothing in it can begin another, and without marks.
pub fn line(text: &str) -> String {
    defuse(&cleaned(text).replace(['\n', '\t'], " ")).into_owned()
}

/// Returns true if cleaning would not change a text.
pub fn is_clean(text: &str) -> bool {
    text.chars().all(|c| matches!(c, '\n' | '\t') || !is_invisible(c))
}

/// Every text in a value, keys included. Keys that come to the same keep the first.
pub fn cleaned_value(value: Value) -> Value {
    match value {
        Value::String(text) if is_clean(&text) => Value::String(text),
        Value::String(text) => Value::String(cleaned(&text)),
        Value::Array(items) => items.into_iter().map(cleaned_value).collect(),
        Value::Object(map) => {
            let key = |key: String| if key.chars().any(is_invisible) { line(&key) } else { key };
            let field = |(name, value): (String, Value)| match value {
                Value::String(text) if diffs::is_field(&name, &text) => {
                    (name, Value::String(diffs::cleaned(&text)))
                }
                value => (key(name), cleaned_value(value)),
            };
            map.into_iter().map(field).collect()
        }
        other => other,
    }
}

/// Number of invisible characters of a text that are neither color codes nor line ends: writing the cleaned text back
/// loses them. A NUL and a form feed are among them.
pub fn hidden(text: &str) -> usize {
    let is_usual = |c: char| matches!(c, '\t' | '\n' | '\r' | '\u{1b}' | '\u{7}');
    text.chars().filter(|c| is_invisible(*c) && !is_usual(*c)).count() - joiners(text)
}

/// The same for every text in a value.
pub fn hidden_in(value: &Value) -> usize {
    match value {
        Value::String(text) => hidden(text),
        Value::Array(items) => items.iter().map(hidden_in).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| hidden(key) + hidden_in(value)).sum(),
        _ => 0,
    }
}
