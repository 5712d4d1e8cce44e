//! Values in a URL's path. A value can never reach another endpoint than the operation's own: everything but
//! unreserved characters is encoded, and dot segments are refused, because URL parsers resolve them even encoded.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// RFC 3986, 2.3: what may stand as it is.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The value as one segment: `acme/widget` is `acme%2Fwidget`.
pub fn segment(value: &str) -> Result<String, String> {
    refuse_dots(value)?;
    Ok(utf8_percent_encode(value, RESERVED).to_string())
}

/// The value as a path below a glob: its slashes stay.
pub fn glob(value: &str) -> Result<String, String> {
    let segments: Result<Vec<String>, String> = value.split('/').map(segment).collect();
    Ok(segments?.join("/"))
}

fn refuse_dots(segment: &str) -> Result<(), String> {
    match segment {
        "" => Err("an empty segment".to_owned()),
        "." | ".." => Err(format!("`{segment}` would lead elsewhere")),
        _ => Ok(()),
    }
}
