//! Plain text of values, for messages and comparisons.

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
        assert!(is_number("12") && !is_number("1a") && !is_number("\u{661}"));
    }
}
