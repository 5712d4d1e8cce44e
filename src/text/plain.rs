//! Plain text of values, for messages and comparisons.

use std::borrow::Borrow;

use serde_json::{Map, Value};

/// A string without its quotes; any other value as JSON.
pub fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The fields of an object; none of any other value.
pub fn object_fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The fields of an object with these names.
pub fn pick_fields(fields: &Map<String, Value>, is_wanted: impl Fn(&String) -> bool) -> Map<String, Value> {
    let wanted = fields.iter().filter(|(name, _)| is_wanted(name));
    wanted.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The first items in a sentence, and the number of the others: `a, b and 3 more`.
pub fn list_first<S: Borrow<str>>(items: impl ExactSizeIterator<Item = S>, max: usize) -> String {
    let more = items.len().saturating_sub(max);
    let shown = items.take(max).collect::<Vec<S>>().join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// A text with its first letter in upper case.
pub fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The first characters of a text.
pub fn excerpt(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

/// True if a text consists of one or more ASCII digits.
pub fn is_digits(text: &str) -> bool {
    !text.is_empty() && is_number(text)
}

/// True if a text consists of ASCII digits. True for the empty text.
pub fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_string_has_no_quotes_and_an_excerpt_counts_characters() {
        assert_eq!((plain_text(&json!("a")), plain_text(&json!([1]))), ("a".to_owned(), "[1]".to_owned()));
        assert_eq!(excerpt("äöü", 2), "äö");
        assert!(is_digits("12") && !is_digits("") && is_number(""));
        assert_eq!(list_first(["a", "b", "c"].into_iter(), 2), "a, b and 1 more");
        assert_eq!(list_first(["a", "b"].into_iter(), 2), "a, b");
        assert!(is_number("12") && !is_number("1a") && !is_number("\u{661}"));
    }
}
