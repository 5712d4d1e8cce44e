//! Requests with places to fill in: `/projects/{id}/issues/{$iid}?scope={$scope|=all}`.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// A request, filled in.
#[derive(Debug)]
pub struct Filled {
    /// The path below `/api/v4`, encoded.
    pub path: String,
    /// The query as pairs.
    pub query: Vec<(String, String)>,
}

/// Fills in a request; nothing where a part of the path is not known. A part of the query that is not known is
/// left out.
pub fn request(template: &str, known: &dyn Fn(&str) -> Option<String>) -> Option<Filled> {
    let (path, query) = template.split_once('?').unwrap_or((template, ""));
    let encoded = |name: &str| Some(utf8_percent_encode(&known(name)?, NON_ALPHANUMERIC).to_string());
    let path = text(path, &encoded)?;
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        Some((name.to_owned(), text(value, known)?))
    };
    Some(Filled { path, query: query.split('&').filter_map(pair).collect() })
}

/// Fills in a text; nothing where a part is not known.
pub fn text(template: &str, known: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        filled.push_str(before);
        filled.push_str(&name.split('|').find_map(known)?);
        rest = after;
    }
    filled.push_str(rest);
    Some(filled)
}

/// `camelCase` as `snake_case`.
pub fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
