//! `target`: a URL of a page or a reference such as `group/project#12`, converted to the parameters of an action.

mod apply;
mod other_end;
mod page;
mod page_filters;
mod parse;
mod reference;
mod short;
#[cfg(test)]
mod tests;

pub use apply::{filled, item_fields, takes_target};
pub use other_end::divide_references;
pub use page_filters::page_filters;
use parse::parse;
use reference::NOTE;
pub use reference::{noun, takes};
pub use short::mark_of;
use url::Url;

use super::noun::folded;
use super::{Fault, HolderKind, Location};
use crate::catalog::{self, Action, Base, ObjectKind, Param, Place, Scope};

/// Maximum bytes of a target under another name.
const MAX_TARGET_BYTES: usize = 2_000;

/// True if a parameter name is another spelling of `target`.
pub fn is_spelling(name: &str) -> bool {
    catalog::kinds().target_spellings.contains(&folded(name))
}

/// True if a text is short enough for a target.
pub fn is_sane(text: &str) -> bool {
    text.len() <= MAX_TARGET_BYTES
}

/// True if a text in place of a path is a URL, or the reference of an object.
pub fn is_thing(text: &str, base: &Url) -> bool {
    // `-` is the name of no project or group (`lib/gitlab/path_regex.rb`).
    let is_page = text.contains("/-/");
    if !is_sane(text) || (!is_page && Location::parse(text, HolderKind::Either).is_some()) {
        return false;
    }
    let is_web = ["http://", "https://"].iter().any(|scheme| {
        text.trim().get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    });
    is_web
        || parse(text, base)
            .is_ok_and(|reference| reference.kind != ObjectKind::Holder && !reference.path.is_empty())
}

/// True if a text in place of the object in an action's path is a URL or a full reference of such an object. A number
/// has neither, so that one of any other object is a target of the wrong kind.
pub fn is_object_of(action: &Action, param: &Param, text: &str, base: &Url) -> bool {
    if param.place != Place::Path || !is_sane(text) {
        return false;
    }
    let is_number = param.kind.base == Base::Integer;
    let is_url = is_web_url(text);
    match parse(text, base) {
        Ok(reference) if is_url => {
            let is_own = reference::parameter(action, reference.kind) == Some(param.name.as_str());
            let is_note = reference.note.is_some() && param.name == NOTE;
            is_number || is_own || is_note
        }
        Ok(reference) => is_number && !reference.path.is_empty() && reference.kind != ObjectKind::Holder,
        Err(_) => is_url && is_number,
    }
}

/// Returns the short reference for a URL: `group/project#12`.
pub fn reference(text: &str, base: &Url) -> Option<String> {
    parse(text, base).ok().map(|reference| reference.to_string())
}

/// True if a text is a web URL of any host.
pub fn is_web_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        ["http", "https"].iter().any(|web| scheme.trim().eq_ignore_ascii_case(web))
    })
}

/// True if a text is a URL below the root of this instance. The scheme may be missing.
pub fn is_url_of(text: &str, base: &Url) -> bool {
    let Some(url) = page::address(text.trim(), base) else { return false };
    let below = url.path().strip_prefix(base.path().trim_end_matches('/'));
    page::host(&url) == page::host(base) && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The full path of the project or group of a URL or a short reference.
pub fn path_of(text: &str, base: &Url) -> Option<String> {
    parse(text, base).ok().map(|reference| reference.path).filter(|path| !path.is_empty())
}

/// The kind of object on a page, which determines the action that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebPage {
    pub kind: ObjectKind,
    /// Project or group, if the URL determines it.
    pub holder: Option<Scope>,
    /// True for the page of the project or group itself.
    pub is_bare: bool,
    /// True if the path has one segment, so that it cannot be a project.
    pub is_short: bool,
}

/// Parses the URL of a page. None if the text is not a URL; a fault if it is of another host.
pub fn page(text: &str, base: &Url) -> Option<Result<WebPage, Fault>> {
    page::address(text.trim(), base)?;
    Some(parse_page(text, base))
}

/// Parses a URL or a short reference.
pub fn parse_page(text: &str, base: &Url) -> Result<WebPage, Fault> {
    let below = page::address(text.trim(), base).is_some_and(|url| url.path().contains("/-/"));
    parse(text, base).map(|reference| WebPage {
        kind: reference.kind,
        holder: reference.holder,
        is_bare: reference.kind == ObjectKind::Holder && !below,
        is_short: !reference.path.contains('/'),
    })
}
