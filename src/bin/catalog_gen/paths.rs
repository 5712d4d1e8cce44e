//! GitLab's paths in the catalog's spelling, their scopes, and the parameters of their placeholders.

use gitlab_mcp::catalog::{Names, Piece, Scope, pieces};

/// Converts a path of the OpenAPI document to the spelling of GitLab's documentation: without `/api/v4` and optional
/// parts, placeholders as `:name`.
///
/// Optional parts of Grape are in parentheses (`(-/)search`, `latest(/)(*suffix_path)`); escaped parentheses belong to
/// the path (`Packages\(\)`), and so do those of a call, which since GitLab 19 are not escaped (`Packages()`,
/// `Packages(Id='{package_name}')`).
pub fn documented(raw: &str) -> String {
    let path = raw.strip_prefix("/api/v4").unwrap_or(raw);
    let mut out = String::new();
    let mut depth = 0_usize;
    let mut characters = path.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => out.extend(characters.next()),
            '(' if depth == 0 && is_call(characters.as_str()) => {
                let inside: String = characters.by_ref().take_while(|c| *c != ')').collect();
                out.push_str(&format!("({})", inside.replace('{', ":").replace('}', "")));
            }
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            '{' => out.push(':'),
            '}' => {}
            _ => out.push(c),
        }
    }
    out
}

/// The path with `{}` for each placeholder.
pub fn unnamed(path: &str) -> String {
    let text = |piece| match piece {
        Piece::Text(text) => text,
        Piece::Placeholder { .. } => "{}",
    };
    pieces(path).map(text).collect()
}

/// True if what follows a parenthesis is the arguments of a call: none, or with names.
fn is_call(rest: &str) -> bool {
    rest.split_once(')').is_some_and(|(inside, _)| inside.is_empty() || inside.contains('='))
}

/// Segments that GitLab renamed and still serves, with their new names.
const OLD_SPELLINGS: [(&str, &str); 2] = [("services", "integrations"), ("geo_nodes", "geo_sites")];

/// True if the path has a segment that GitLab has renamed.
pub fn is_old_spelling(path: &str) -> bool {
    path.split('/').any(|segment| OLD_SPELLINGS.iter().any(|(old, _)| *old == segment))
}

fn current_spelling(segment: &str) -> &str {
    OLD_SPELLINGS.iter().find(|(old, _)| *old == segment).map_or(segment, |(_, new)| new)
}

/// Comparable form of a path's segments: no `-`, new names, and placeholders as `{}`.
pub fn segments(path: &str) -> Vec<String> {
    path.split('/')
        .filter(|segment| !segment.is_empty() && *segment != "-")
        .map(|segment| if is_placeholder(segment) { "{}" } else { current_spelling(segment) }.to_owned())
        .collect()
}

/// True if a whole segment is one placeholder.
pub fn is_placeholder(segment: &str) -> bool {
    let mut found = pieces(segment);
    matches!((found.next(), found.next()), (Some(Piece::Placeholder { .. }), None))
}

/// Scope of an operation, from the path's prefix.
pub fn scope(path: &str) -> Scope {
    let segments = segments(path);
    let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["projects", "{}", ..] | ["security", "projects", "{}", ..] => Scope::Project,
        ["groups" | "group", "{}", ..] | ["security", "groups", "{}", ..] => Scope::Group,
        ["users", "{}", ..] => Scope::User,
        ["user", ..] => Scope::Current,
        _ => Scope::Instance,
    }
}

/// Parameter that fills a placeholder, and its reference kind.
#[derive(Debug, PartialEq, Eq)]
pub struct Binding {
    pub param: String,
    pub names: Option<Names>,
}

/// Binds the placeholder that follows the static segment `before`.
///
/// A project or group is named by `fullPath`; an issue, merge request, epic or other numbered object by `iid`. GitLab's
/// `noteable_id`, `eventable_id` and `subscribable_id` are iids below issues and merge requests and ids elsewhere.
pub fn binding(name: &str, before: &str, position: usize) -> Binding {
    let plain = |param: &str| Binding { param: param.to_owned(), names: None };
    let polymorphic = matches!(name, "noteable_id" | "eventable_id" | "subscribable_id");
    match (before, name) {
        ("projects" | "groups" | "group" | "namespaces", "id" | "project_id" | "group") if position <= 2 => {
            plain("fullPath")
        }
        ("issues" | "merge_requests", _) if polymorphic => plain("iid"),
        ("epics", _) if polymorphic => Binding { param: "iid".to_owned(), names: Some(Names::EpicIid) },
        ("commits", _) if polymorphic => plain("sha"),
        _ if polymorphic || name == "id" => plain(&format!("{}_id", singular(before))),
        _ if name == "iid" || name.ends_with("_iid") => plain("iid"),
        _ => plain(name),
    }
}

/// Singular of a path's noun: `branches` to `branch`, `policies` to `policy`.
pub fn singular(noun: &str) -> String {
    let noun = noun.replace('-', "_").to_lowercase();
    let endings = [
        ("ies", "y"),
        ("sses", "ss"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("xes", "x"),
        ("ss", "ss"),
        ("us", "us"),
    ];
    for (plural, one) in endings {
        if let Some(stem) = noun.strip_suffix(plural) {
            return format!("{stem}{one}");
        }
    }
    noun.strip_suffix('s').map_or(noun.clone(), str::to_owned)
}
