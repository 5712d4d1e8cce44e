//! Parser of resource URIs: `gitlab://project/acme/widget/issue/12`.
//!
//! The path of a project or group ends by the first rule that applies:
//!
//! 1. Its slashes are encoded, as in a filled `{fullPath}` of a template: `gitlab://project/acme%2Fwidget/issue/12`.
//! 2. A `-` follows, as in the URLs of GitLab's pages; no project or group has this name: `…/acme/widget/-/issue/12`.
//! 3. The rest parses as an object of a project or group, the shortest path first: `…/acme/widget/issue/12`.
//!
//! A segment that is empty, a parent directory (`..`) or contains invisible characters is refused, so that a URI is
//! unambiguous.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use crate::context::resources::uri_templates::{
    Namespace, RESOURCE_KINDS, ResourceKind, UriPart, VariableForm,
};
use crate::guides::is_full_path;
use crate::present;
use crate::text::{self, is_number};
use crate::tools::{ErrorKind, ToolError};

/// Scheme of every URI.
const SCHEME: &str = "gitlab";

/// Maximum length of a URI in bytes.
const MAX_URI_BYTES: usize = 4_000;

/// A parsed URI.
#[derive(Debug)]
pub enum ResourceUri {
    Roots,
    /// The list of actions, optionally of one domain.
    Actions {
        domain: Option<String>,
        page: usize,
    },
    Action(String),
    Guide(String),
    ResourceKind(ObjectRead),
}

/// An object of GitLab, with the parameters of the action that reads it.
#[derive(Debug)]
pub struct ObjectRead {
    pub thing: &'static ResourceKind,
    pub params: Map<String, Value>,
    pub lines: Option<String>,
}

type Pairs = Vec<(String, String)>;

/// Parses a URI.
///
/// `invalid_params` if it is malformed, `not_found` if it names no resource.
pub fn parse(uri: &str) -> Result<ResourceUri, ToolError> {
    if uri.len() > MAX_URI_BYTES {
        return Err(invalid_uri(uri, &format!("is longer than {MAX_URI_BYTES} bytes")));
    }
    let split = uri.split_once("://").filter(|(scheme, _)| scheme.eq_ignore_ascii_case(SCHEME));
    let Some((_, rest)) = split else { return Err(unknown(uri)) };
    if rest.contains('#') {
        return Err(invalid_uri(uri, "has a fragment; `#` is written %23"));
    }
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = path.strip_suffix('/').unwrap_or(path);
    let segments: Vec<String> = path.split('/').map(|part| decoded(uri, part)).collect::<Result<_, _>>()?;
    let pairs = pairs(uri, query)?;
    let words: Vec<&str> = segments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["workspace", "roots"] => plain(uri, pairs, ResourceUri::Roots),
        ["tools"] => actions(uri, pairs),
        ["tools", id] => plain(uri, pairs, ResourceUri::Action((*id).to_owned())),
        ["guides", name] => plain(uri, pairs, ResourceUri::Guide((*name).to_owned())),
        [kind, rest @ ..] if !rest.is_empty() => parse_object(uri, kind, rest, pairs),
        _ => Err(unknown(uri)),
    }
}

fn actions(uri: &str, pairs: Pairs) -> Result<ResourceUri, ToolError> {
    let (mut domain, mut page) = (None, 1);
    for (name, value) in pairs {
        match name.as_str() {
            "domain" if !value.is_empty() => domain = Some(value),
            "domain" => {}
            "page" => page = value.parse().map_err(|_| invalid_uri(uri, "has an invalid page number"))?,
            other => return Err(unknown_query(uri, other, "domain and page")),
        }
    }
    Ok(ResourceUri::Actions { domain, page })
}

/// Rejects a query.
fn plain(uri: &str, pairs: Pairs, address: ResourceUri) -> Result<ResourceUri, ToolError> {
    match pairs.first() {
        Some((name, _)) => Err(unknown_query(uri, name, "nothing there")),
        None => Ok(address),
    }
}

fn parse_object(uri: &str, kind: &str, rest: &[&str], pairs: Pairs) -> Result<ResourceUri, ToolError> {
    let of_kind = || RESOURCE_KINDS.iter().filter(|thing| thing.holder.first_segment() == kind);
    let Some(holder) = of_kind().next().map(|thing| thing.holder) else { return Err(unknown(uri)) };
    let (path, rest) = match holder {
        Namespace::Nothing(_) => (None, rest),
        _ => {
            let (path, rest) = split_namespace(holder, rest);
            if !is_full_path(&path) {
                return Err(invalid_uri(uri, "has no path of a project or group"));
            }
            (Some(path), rest)
        }
    };
    let found = of_kind().find_map(|thing| Some((thing, match_words(thing, rest)?)));
    let Some((thing, values)) = found else { return Err(unknown(uri)) };
    let mut params = Map::new();
    params.extend(path.map(|path| ("fullPath".to_owned(), json!(path))));
    params.extend(values);
    let mut lines = None;
    for (name, value) in pairs {
        match name.as_str() {
            name if !thing.query.contains(&name) => {
                let takes = Some(thing.query.join(" and ")).filter(|takes| !takes.is_empty());
                return Err(unknown_query(uri, name, takes.as_deref().unwrap_or("nothing there")));
            }
            "lines" => lines = Some(value),
            name => {
                params.insert(name.to_owned(), json!(value));
            }
        }
    }
    Ok(ResourceUri::ResourceKind(ObjectRead { thing, params, lines }))
}

/// Splits the path of a project or group from the rest.
fn split_namespace<'s, 'r>(holder: Namespace, words: &'r [&'s str]) -> (String, &'r [&'s str]) {
    if let Some((first, rest)) = words.split_first().filter(|(first, _)| first.contains('/')) {
        return ((*first).to_owned(), rest.strip_prefix(&["-"]).unwrap_or(rest));
    }
    let split = |at: usize, gap: usize| {
        let (path, rest) = (words.get(..at).unwrap_or(words), words.get(at + gap..).unwrap_or_default());
        (path.join("/"), rest)
    };
    if let Some(at) = words.iter().position(|word| *word == "-") {
        return split(at, 1);
    }
    let is_number = words.first().is_some_and(|first| is_number(first));
    let least = if is_number { 1 } else { holder.min_segments() };
    let reads = |at: &usize| {
        let rest = words.get(*at..).unwrap_or_default();
        let inside = RESOURCE_KINDS.iter().filter(|thing| thing.holder == holder && !thing.parts.is_empty());
        inside.into_iter().any(|thing| match_words(thing, rest).is_some())
    };
    split((least..words.len()).find(reads).unwrap_or(words.len()), 0)
}

/// The values of an object's variables, if its parts match.
fn match_words(thing: &ResourceKind, words: &[&str]) -> Option<Vec<(String, Value)>> {
    let mut words = words;
    let mut values = Vec::new();
    for part in &thing.parts {
        let (first, after) = words.split_first()?;
        let (value, left) = match part {
            UriPart::Word(word) => {
                (*first == *word).then_some(())?;
                words = after;
                continue;
            }
            UriPart::Value(value) => match value.form {
                VariableForm::Number => {
                    let is_number = first.len() <= 18 && is_number(first);
                    is_number.then_some(())?;
                    ((value, (*first).to_owned()), after)
                }
                VariableForm::Segment => ((value, (*first).to_owned()), after),
                VariableForm::Rest => ((value, words.join("/")), Default::default()),
            },
        };
        let (variable, text) = value;
        values.push((variable.param.to_owned(), json!(format!("{}{text}", variable.mark))));
        words = left;
    }
    words.is_empty().then_some(values)
}

/// Percent-decodes a segment of the path.
fn decoded(uri: &str, part: &str) -> Result<String, ToolError> {
    let text = unescaped(part).ok_or_else(|| invalid_uri(uri, "has an invalid percent-encoding"))?;
    if text.contains('\\') || present::line(&text) != text {
        return Err(invalid_uri(uri, "contains characters that no name has"));
    }
    if text.split('/').any(|piece| matches!(piece, "" | "." | "..")) {
        return Err(invalid_uri(uri, "has a part that is empty, `.` or `..`"));
    }
    Ok(text)
}

fn pairs(uri: &str, query: &str) -> Result<Pairs, ToolError> {
    let wrong = || invalid_uri(uri, "has a query that is not `name=value`");
    let parts = query.split('&').filter(|part| !part.is_empty());
    let read = parts.map(|part| {
        let (name, value) = part.split_once('=').ok_or_else(wrong)?;
        let value =
            unescaped(value).filter(|value| !value.chars().any(char::is_control)).ok_or_else(wrong)?;
        Ok((name.to_owned(), value))
    });
    read.collect()
}

/// Percent-decodes a text. `None` if an escape is invalid or the result is not UTF-8.
fn unescaped(text: &str) -> Option<String> {
    let mut escapes = text.split('%').skip(1);
    let is_escape =
        |after: &str| after.len() >= 2 && after.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    escapes.all(is_escape).then_some(())?;
    percent_decode_str(text).decode_utf8().ok().map(|text| text.into_owned())
}

/// The error of an unknown URI.
pub fn unknown(uri: &str) -> ToolError {
    ToolError::new(ErrorKind::NotFound, format!("there is no resource {}", shown_uri(uri))).hint(
        "resources/list and resources/templates/list have what there is: gitlab://tools, \
         gitlab://project/group/project/issue/12 and the like.",
    )
}

fn invalid_uri(uri: &str, why: &str) -> ToolError {
    ToolError::new(ErrorKind::InvalidParams, format!("the address {} {why}", shown_uri(uri)))
}

fn unknown_query(uri: &str, name: &str, takes: &str) -> ToolError {
    let name = text::excerpt(name, 40);
    invalid_uri(uri, &format!("asks for `{name}`, and takes {takes}"))
}

/// An excerpt of a URI on one line.
fn shown_uri(uri: &str) -> String {
    const SHOWN: usize = 120;
    let line = present::line(uri);
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests;
