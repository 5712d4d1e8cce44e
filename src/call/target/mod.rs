//! `target`: whatever a person would paste, a page's URL or a reference such as `group/project#12`, as the
//! parameters that an action takes.

mod apply;
mod page;
mod parse;
mod short;
mod spot;
#[cfg(test)]
mod tests;

pub use apply::{filled, takes_target};
use parse::parse;
pub use short::mark_of;
pub use spot::{Kind, TARGET, takes};
use url::Url;

use super::{Fault, HolderKind, Location};
use crate::catalog::Scope;

/// Other names of the parameter, as folded.
const SPELLINGS: [&str; 19] = [
    "url",
    "weburl",
    "link",
    "reference",
    "issueurl",
    "mergerequesturl",
    "mrurl",
    "prurl",
    "epicurl",
    "workitemurl",
    "projecturl",
    "groupurl",
    "pipelineurl",
    "joburl",
    "commiturl",
    "fileurl",
    "milestoneurl",
    "snippeturl",
    "gitlaburl",
];

/// Bytes of a target under another name.
const LONGEST: usize = 2_000;

/// True if a parameter's name is another one for `target`.
pub fn is_spelling(name: &str) -> bool {
    let folded: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    SPELLINGS.contains(&folded.as_str())
}

/// True if a text may be a target by its length.
pub fn is_sane(text: &str) -> bool {
    text.len() <= LONGEST
}

/// True if a text that should be a path is a URL, or the reference of a thing below one.
pub fn is_thing(text: &str, base: &Url) -> bool {
    if !is_sane(text) || Location::parse(text, HolderKind::Either).is_some() {
        return false;
    }
    let is_web = ["http://", "https://"].iter().any(|scheme| {
        text.trim().get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    });
    is_web || parse(text, base).is_ok_and(|spot| spot.kind != Kind::Holder && !spot.path.is_empty())
}

/// The short reference of the page at an address: `group/project#12`.
pub fn reference(text: &str, base: &Url) -> Option<String> {
    parse(text, base).ok().map(|spot| spot.to_string())
}

/// What one of GitLab's pages shows, as far as it says which action reads that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    pub kind: Kind,
    /// True if what it is in is a project or a group, where the address tells.
    pub holder: Option<Scope>,
    /// True if it is the page of the project or group itself, and none below it.
    pub is_bare: bool,
    /// True if the path is one word, which no project's is.
    pub is_short: bool,
}

/// The page at an address; none where the text is no address. The fault tells of another GitLab's.
pub fn page(text: &str, base: &Url) -> Option<Result<Page, Fault>> {
    page::address(text.trim(), base)?;
    Some(pointed(text, base))
}

/// What an address or a reference leads to.
pub fn pointed(text: &str, base: &Url) -> Result<Page, Fault> {
    let below = page::address(text.trim(), base).is_some_and(|url| url.path().contains("/-/"));
    parse(text, base).map(|spot| Page {
        kind: spot.kind,
        holder: spot.holder,
        is_bare: spot.kind == Kind::Holder && !below,
        is_short: !spot.path.contains('/'),
    })
}
