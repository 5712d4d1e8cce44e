//! Path of a raw REST request: only below `/api/v4` of the configured instance. It is fully decoded and encoded again,
//! so that policy and GitLab see the same path.

use percent_encoding::percent_decode_str;
use url::{Url, form_urlencoded};

use super::encode::{self, ENCODINGS};

/// Maximum bytes of a path with its query: the default limit of web servers.
const MAX_PATH_BYTES: usize = 8_192;

/// Maximum segments of a path.
const SEGMENTS: usize = 100;

/// API of a path.
#[derive(Debug, PartialEq, Eq)]
pub enum Address {
    /// Decoded segments below `/api/v4`, and the query.
    Rest {
        segments: Vec<String>,
        query: Vec<(String, String)>,
    },
    Graphql,
}

/// Parses a path. The error is a reason for a message.
pub fn parse(given: &str, base: &Url) -> Result<Address, String> {
    let given = given.trim();
    if given.len() > MAX_PATH_BYTES {
        return Err(format!("it has {} bytes; the limit is {MAX_PATH_BYTES}", given.len()));
    }
    let root = base.as_str().trim_end_matches('/');
    let local = given.strip_prefix(root).filter(|rest| rest.starts_with("/api/")).unwrap_or(given);
    let (path, query) = local.split_once('?').unwrap_or((local, ""));
    if path.contains("://") || path.starts_with("//") {
        return Err(format!("the token goes to {root} alone; say the path below /api/v4"));
    }
    if local.contains('#') {
        return Err("a URL fragment (`#`) is never sent; within a name write %23".to_owned());
    }
    if path.trim_matches('/').strip_prefix("api/").is_some_and(is_graphql) {
        return Ok(Address::Graphql);
    }
    let count = below_v4(path)?.count();
    if count > SEGMENTS {
        return Err(format!("it has {count} segments; the limit is {SEGMENTS}"));
    }
    let segments: Vec<String> = below_v4(path)?.map(decoded).collect::<Result<_, _>>()?;
    if matches!(segments.as_slice(), [only] if is_graphql(only)) {
        return Ok(Address::Graphql);
    }
    if segments.is_empty() {
        return Err("it is empty; say such as `/projects`".to_owned());
    }
    let query = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    Ok(Address::Rest { segments, query })
}

/// Encodes segments as a path below `/api/v4`.
pub fn written(segments: &[String]) -> Result<String, String> {
    segments.iter().map(|segment| encode::segment(segment).map(|segment| format!("/{segment}"))).collect()
}

/// Splits a path into the segments below `/api/v4`. The prefix is optional.
fn below_v4(path: &str) -> Result<impl Iterator<Item = &str>, String> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let inside = match path.strip_prefix("api/") {
        None => path,
        Some("v4") => "",
        Some(api) => api.strip_prefix("v4/").ok_or("only paths below /api/v4 are allowed")?,
    };
    Ok(inside.split('/').filter(move |_| !inside.is_empty()))
}

/// True for `graphql`, also with a format (`graphql.json`).
fn is_graphql(segment: &str) -> bool {
    segment.split('.').next() == Some("graphql")
}

/// Decodes a segment. A proxy on the way may decode more than once, so that every layer is checked for segments that
/// lead to another path.
fn decoded(segment: &str) -> Result<String, String> {
    if let Some(at) = segment.match_indices('%').map(|(at, _)| at).find(|at| !is_encoded(segment, *at)) {
        let found: String = segment.get(at..).unwrap_or_default().chars().take(3).collect();
        return Err(format!("`{found}` is no encoding; a percent sign is %25"));
    }
    let once = decode(segment)?;
    let mut text = once.clone();
    for _ in 0..ENCODINGS {
        refuse(&text)?;
        let next = decode(&text)?;
        if next == text {
            return Ok(once);
        }
        text = next;
    }
    Err("it is encoded over and over".to_owned())
}

fn decode(text: &str) -> Result<String, String> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(|text| text.into_owned()).map_err(|_| "what it encodes is not UTF-8".to_owned())
}

fn is_encoded(segment: &str, at: usize) -> bool {
    let digits = segment.get(at + 1..at + 3);
    digits.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

fn refuse(text: &str) -> Result<(), String> {
    encode::refuse_unsafe(text)?;
    match text.split('/').any(str::is_empty) {
        true => Err("it holds an empty segment (`//`)".to_owned()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Url {
        Url::parse("https://gitlab.example/sub/").unwrap()
    }

    fn path(given: &str) -> Result<String, String> {
        match parse(given, &base())? {
            Address::Rest { segments, .. } => written(&segments),
            Address::Graphql => Ok("GraphQL".to_owned()),
        }
    }

    #[test]
    fn a_path_is_below_v4_however_it_is_written() {
        for given in [
            "/projects/acme%2Fwidget/issues",
            "projects/acme%2Fwidget/issues/",
            "/api/v4/projects/acme%2fwidget/issues",
            "api/v4/projects/acme%2Fwidget/%69ssues",
            "https://gitlab.example/sub/api/v4/projects/acme%2Fwidget/issues",
            " /projects/acme%2Fwidget/issues?state=opened ",
        ] {
            assert_eq!(path(given).unwrap(), "/projects/acme%2Fwidget/issues", "{given}");
        }
    }

    #[test]
    fn names_keep_what_belongs_to_them() {
        let given = "/projects/1/repository/files/docs%2F100%25%20r%C3%A9sum%C3%A9%3F.md/raw";
        assert_eq!(path(given).unwrap(), given);
        assert_eq!(path("/groups/a/-/epics").unwrap(), "/groups/a/-/epics");
    }

    #[test]
    fn nothing_leads_elsewhere() {
        for given in [
            "https://evil.example/api/v4/projects",
            "https://gitlab.example.evil/sub/api/v4/projects",
            "https://gitlab.example/api/v4/projects",
            "//evil.example/projects",
            "/projects//issues",
            "/projects/../admin",
            "/projects/%2e%2e/admin",
            "/projects/%252e%252e/admin",
            "/projects/a%2F..%2F..%2Fadmin",
            "/projects/a%5c..%5cadmin",
            "/projects/a\\b",
            "/projects/a%00",
            "/projects/a%0d%0aHost:x",
            "/projects/a\nb",
            "/projects/%zz",
            "/projects/%",
            "/projects/%ff",
            "/projects/%2525252525252e",
            "/projects/1#x",
            "/api/scim/v4/groups",
            "/api/v4/",
            "/api/v4//projects",
            "/../graphql",
            &"/a".repeat(101),
            &format!("/{}", "a".repeat(8_192)),
            "",
            "/",
        ] {
            assert!(path(given).is_err(), "{given}: {:?}", path(given));
        }
    }

    #[test]
    fn graphql_is_told_apart() {
        for given in
            ["/graphql", "graphql", "/api/graphql", "/api/v4/graphql", "/api/graphql.json", "/%67raphql"]
        {
            assert_eq!(path(given).unwrap(), "GraphQL", "{given}");
        }
    }

    #[test]
    fn a_query_behind_a_path_is_read() {
        let Address::Rest { query, .. } =
            parse("/projects?search=a%20b&ids[]=1&next=https://x/", &base()).unwrap()
        else {
            panic!("no REST")
        };
        let said: Vec<String> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(said, ["search=a b", "ids[]=1", "next=https://x/"]);
    }
}
