//! Encoding of values in the path of a URL. A value can never reach another endpoint than the operation's own:
//! everything but unreserved characters is encoded. Dot segments, control characters and backslashes are refused,
//! also below further layers of encoding, as a proxy on the way may decode once more.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;

use super::Fault;

/// RFC 3986, 2.3: all but unreserved characters.
pub const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Maximum layers of encoding.
pub const ENCODINGS: usize = 4;

/// Encodes a value as one segment: `acme/widget` as `acme%2Fwidget`.
pub fn segment(value: &str) -> Result<String, String> {
    if value.is_empty() {
        return Err("an empty segment".to_owned());
    }
    let mut text = value.to_owned();
    for _ in 0..=ENCODINGS {
        refuse_unsafe(&text)?;
        // A value that does not decode to UTF-8 is sent unchanged.
        let Ok(next) = percent_decode_str(&text).decode_utf8().map(|next| next.into_owned()) else { break };
        if next == text {
            break;
        }
        text = next;
    }
    Ok(utf8_percent_encode(value, RESERVED).to_string())
}

/// Encodes a value as a path of several segments: its slashes stay.
pub fn glob(value: &str) -> Result<String, String> {
    let segments: Result<Vec<String>, String> = value.split('/').map(segment).collect();
    Ok(segments?.join("/"))
}

/// Refuses values that a proxy or GitLab may read as another path.
pub fn refuse_unsafe(text: &str) -> Result<(), String> {
    if text.contains(char::is_control) {
        return Err("it holds a control character".to_owned());
    }
    if text.contains('\\') {
        return Err("it holds a backslash, which some read as a slash".to_owned());
    }
    match text.split('/').find(|part| matches!(*part, "." | "..")) {
        Some(part) => Err(format!("`{part}` would lead elsewhere")),
        None => Ok(()),
    }
}

/// Refuses names of fields that Rack reads in another way within brackets: in a query or form, `{"a": {"b]": 1}}` is
/// `a[b]]=1`, which Rack 2 reads as `a[b]`, `{"a": {"": 1}}` is the list `a[]=1`, and a line end ends its patterns. In
/// JSON, which Rack does not read, `a[]` is another name than `a`, which GitLab does not know.
pub fn refuse_unclear_names(param: &str, value: &Value) -> Result<(), Fault> {
    let Some(name) = unclear_name(value) else { return Ok(()) };
    let reason = format!(
        "`{}` is no name of a field: it is empty, or has brackets or control characters. Write a list as \
         `\"name\": [...]` and fields as `\"name\": {{...}}`",
        name.escape_debug()
    );
    Err(Fault::not_taken(param, reason))
}

fn unclear_name(value: &Value) -> Option<&str> {
    let is_unclear =
        |name: &str| name.is_empty() || name.contains(['[', ']']) || name.contains(char::is_control);
    match value {
        Value::Array(items) => items.iter().find_map(unclear_name),
        Value::Object(fields) => fields.iter().find_map(|(name, value)| match is_unclear(name) {
            true => Some(name.as_str()),
            false => unclear_name(value),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_lead_elsewhere_is_refused() {
        for value in
            ["", ".", "..", "a/../b", "a\\b", "a\nb", "a\0", "%2e%2e", "a%252f..%252fb", "a%5cb", "./a"]
        {
            assert!(segment(value).is_err(), "{value:?}: {:?}", segment(value));
        }
        assert_eq!(segment("docs/100% sure.md").unwrap(), "docs%2F100%25%20sure.md");
        assert_eq!(segment("v1..2").unwrap(), "v1..2");
        assert_eq!(segment("...").unwrap(), "...");
        assert_eq!(glob("a/b c").unwrap(), "a/b%20c");
        assert!(glob("a//b").is_err() && glob("a/../b").is_err());
    }
}
