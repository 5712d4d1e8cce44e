//! Values that are written as texts: lists as JSON, and bytes as Base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// A list that is written as a text: JSON, or the same with single quotes as Python prints it. None if the text is no such
/// list; an error if it begins as one and does not end as one.
pub fn list_in_text(text: &str) -> Option<Result<Vec<Value>, ()>> {
    let text = text.trim();
    let inside = text.strip_prefix('[')?.trim_start();
    if let Ok(items) = serde_json::from_str(text) {
        return Some(Ok(items));
    }
    let is_python = inside.starts_with('\'') && !text.contains(['"', '\\']);
    if let Some(items) = is_python.then(|| serde_json::from_str(&text.replace('\'', "\"")).ok()).flatten() {
        return Some(Ok(items));
    }
    // A label may be called `[draft]`.
    inside.starts_with(['"', '\'', '{']).then_some(Err(()))
}

/// Decodes Base64, which may have line ends.
pub fn decode(encoded: &str) -> Option<Vec<u8>> {
    let packed: String = encoded.chars().filter(|c| !c.is_whitespace()).collect();
    STANDARD.decode(packed).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_in_a_text_is_read_and_a_name_in_brackets_is_none() {
        assert_eq!(list_in_text("[\"a\", \"b, c\"]"), Some(Ok(vec![json!("a"), json!("b, c")])));
        assert_eq!(list_in_text("['docs', 'bug']"), Some(Ok(vec![json!("docs"), json!("bug")])));
        assert_eq!(list_in_text(" [1, 2] "), Some(Ok(vec![json!(1), json!(2)])));
        assert_eq!(list_in_text("[]"), Some(Ok(vec![])));
        assert_eq!(list_in_text("[\"docs\", \"bu"), Some(Err(())));
        assert_eq!(list_in_text("[draft], bug"), None);
        assert_eq!(list_in_text("bug"), None);
    }
}
