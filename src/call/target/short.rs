//! Short references, as GitLab writes them in texts: `group/project#12`, `group&7`, `@alice`.

use super::reference::Reference;
use crate::catalog::{self, ObjectKind, Scope, TRACKED_MARKS};

/// Marks between the path and the object of a reference.
const MARKS: [(char, ObjectKind, Option<Scope>); 7] = [
    ('#', ObjectKind::Issue, Some(Scope::Project)),
    ('!', ObjectKind::MergeRequest, Some(Scope::Project)),
    ('&', ObjectKind::Epic, Some(Scope::Group)),
    ('$', ObjectKind::Snippet, Some(Scope::Project)),
    ('@', ObjectKind::Commit, Some(Scope::Project)),
    ('%', ObjectKind::Milestone, None),
    ('~', ObjectKind::Label, None),
];

/// Mark of the objects of a domain, such as `#` for issues and work items.
pub fn mark_of(domain: &str) -> Option<char> {
    catalog::kind_named(domain)?.sigil.filter(|sigil| TRACKED_MARKS.contains(sigil))
}

/// Beginning of an escape of a percent sign or slash: a path that was encoded twice is no reference to a milestone.
const ENCODED: [&str; 3] = ["%25", "%2f", "%2F"];

/// Parses a short reference. None if the text is not one.
pub fn parse(text: &str) -> Option<Reference> {
    let is_encoded =
        ENCODED.iter().any(|escape| text.split(escape).nth(1).is_some_and(|rest| !rest.is_empty()));
    if is_encoded && !text.starts_with('%') {
        return None;
    }
    let Some((path, kind, holder, value)) = split(text) else {
        let path = text.trim_matches('/');
        return is_path(path).then(|| new_reference(path, None, ObjectKind::Holder, String::new()));
    };
    let path = path.trim_matches('/');
    if !path.is_empty() && !is_path(path) {
        return None;
    }
    match kind {
        ObjectKind::Commit if path.is_empty() => {
            is_path(value).then(|| new_reference("", None, ObjectKind::User, value.to_owned()))
        }
        ObjectKind::Commit => is_sha(value).then(|| new_reference(path, holder, kind, value.to_owned())),
        ObjectKind::Milestone | ObjectKind::Label => {
            let name = unquoted(value)?;
            // `%12` is a number, `%v1` a title: the mark is kept for the look-up.
            let value = if kind == ObjectKind::Milestone { format!("%{value}") } else { name.to_owned() };
            Some(new_reference(path, holder, kind, value))
        }
        _ => {
            let value = catalog::without_state(value);
            is_number(value).then(|| new_reference(path, holder, kind, value.to_owned()))
        }
    }
}

fn split(text: &str) -> Option<(&str, ObjectKind, Option<Scope>, &str)> {
    let (at, mark) = text.char_indices().find(|(_, c)| MARKS.iter().any(|(mark, ..)| mark == c))?;
    let (_, kind, holder) = MARKS.iter().find(|(known, ..)| *known == mark)?;
    Some((text.get(..at)?, *kind, *holder, text.get(at + mark.len_utf8()..)?))
}

fn new_reference(path: &str, holder: Option<Scope>, kind: ObjectKind, value: String) -> Reference {
    Reference { path: path.to_owned(), holder, kind, value, note: None }
}

/// Removes quotes from a name. None if the name is empty.
fn unquoted(text: &str) -> Option<&str> {
    let bare = text.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(text);
    (!bare.trim().is_empty()).then_some(bare)
}

/// True if all segments are valid names at GitLab.
fn is_path(text: &str) -> bool {
    let is_segment = |segment: &str| {
        !segment.is_empty()
            && segment.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+'))
            && segment.chars().any(|c| c != '.')
    };
    text.split('/').all(is_segment)
}

/// True for a number that can be an iid or an id.
pub fn is_number(text: &str) -> bool {
    (1..=18).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_sha(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
