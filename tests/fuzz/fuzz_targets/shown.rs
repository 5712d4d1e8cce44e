//! Properties of everything that is shown.

use gitlab_mcp::present::{Presented, marked};
use serde_json::Value;

/// Checks that the text has no invisible characters or characters that reverse their surroundings, and that nothing in
/// it closes the tags.
pub fn sound(shown: &Presented) {
    seen(&shown.text);
    of_value(&shown.data);
    of_value(&Value::Object(shown.same.clone()));
    shown.dropped.iter().chain(&shown.notes).for_each(|text| seen(text));
    let whole = marked(&shown.text);
    let (mark, rest) = whole.split_once('\n').unwrap();
    let end = mark.replacen('<', "</", 1);
    assert_eq!(rest.to_ascii_lowercase().matches(&end).count(), 1, "{whole}");
}

fn of_value(value: &Value) {
    match value {
        Value::String(text) => seen(text),
        Value::Array(items) => items.iter().for_each(of_value),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            seen(name);
            of_value(value);
        }),
        _ => {}
    }
}

fn seen(text: &str) {
    let unseen = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(u32::from(c), 0xad | 0x61c | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xfeff | 0xe0000..=0xe0fff)
    };
    assert!(!text.contains(unseen), "{text:?}");
}
