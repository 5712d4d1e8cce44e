//! The file name in a `Content-Disposition` header (RFC 6266).

use percent_encoding::percent_decode_str;

/// Parses the file name: `filename*` before `filename`, reduced to its last path component and without control
/// characters. It is a name to display and propose, never a path.
pub(super) fn filename(header: &str) -> Option<String> {
    let params = params(header);
    let value =
        |wanted: &str| params.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let extended = value("filename*").and_then(decode_extended);
    let name = extended.or_else(|| value("filename").map(str::to_owned))?;
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last.chars().filter(|c| !c.is_control()).collect();
    let clean = clean.trim();
    (!clean.is_empty() && clean != "." && clean != "..").then(|| clean.to_owned())
}

/// Decodes an extended value: `UTF-8''a%20b.zip` (RFC 8187).
fn decode_extended(value: &str) -> Option<String> {
    let mut parts = value.splitn(3, '\'');
    let charset = parts.next()?;
    let text = parts.nth(1)?;
    let utf8 = charset.eq_ignore_ascii_case("utf-8");
    utf8.then(|| percent_decode_str(text).decode_utf8().ok()).flatten().map(|text| text.into_owned())
}

/// Parameters after the first `;`: names in lower case, values unquoted.
fn params(header: &str) -> Vec<(String, String)> {
    let pieces = split_outside_quotes(header, ';').into_iter().skip(1);
    let params = pieces.filter_map(|piece| piece.split_once('='));
    params.map(|(name, value)| (name.trim().to_ascii_lowercase(), unquote(value.trim()))).collect()
}

/// Splits a header value at each separator outside of quotes (RFC 9110, 5.6.4).
pub(super) fn split_outside_quotes(text: &str, separator: char) -> Vec<&str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |c: char| {
        let splits = c == separator && !quoted;
        if c == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && c == '\\' && !escaped;
        splits
    })
    .collect()
}

/// Unquotes a quoted string; a token is returned unchanged.
pub(super) fn unquote(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return value.to_owned();
    };
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        text.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    text
}
