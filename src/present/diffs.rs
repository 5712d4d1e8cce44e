//! Diffs in an answer: the text half numbers their lines, so that a comment can name a line without counting. The data
//! keeps GitLab's own text.

use serde_json::Value;

use crate::text::{self, Position, Window, diff};
use crate::untrusted;

/// The field in which every one of GitLab's answers has a file's diff.
const FIELD: &str = "diff";

/// Maximum number of attempts to fit a numbered part of a diff.
const TRIES: usize = 4;

/// True if a field, by its name or path, is a diff with lines.
pub fn is_field(path: &str, text: &str) -> bool {
    path.rsplit('.').next() == Some(FIELD) && diff::is_diff(text)
}

/// True if a value has a diff anywhere.
pub fn any(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(any),
        Value::Object(map) => map.iter().any(|(key, value)| match value {
            Value::String(text) => is_field(key, text),
            value => any(value),
        }),
        _ => false,
    }
}

/// The diff with its line numbers.
pub fn numbered(text: &str) -> String {
    diff::numbered(text, 0..text.len())
}

/// The part of a diff at that place, with its line numbers; the part has at most `budget` bytes and
/// the numbered text `most`.
pub fn window(text: &str, place: Position, budget: usize, most: usize) -> (Window, String) {
    let mut bytes = budget;
    let mut window = text::window(text, place, bytes);
    let mut numbered = diff::numbered(text, window.bytes.clone());
    for _ in 0..TRIES {
        if numbered.len() <= most {
            break;
        }
        bytes = bytes.min(window.bytes.len()).saturating_mul(most) / numbered.len();
        window = text::window(text, place, bytes);
        numbered = diff::numbered(text, window.bytes.clone());
    }
    (window, numbered)
}

/// The diff without characters that cannot be seen. Every line stays one line, whatever it holds: a line break that
/// git does not count would shift the numbers of the lines after it.
pub fn cleaned(text: &str) -> String {
    let line = |line: &str| untrusted::cleaned(line.strip_suffix('\r').unwrap_or(line)).replace('\n', " ");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}
