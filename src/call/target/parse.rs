//! Parses a target: the URL of a page, or a short reference.

use url::Url;

use super::reference::Reference;
use super::{page, short};
use crate::call::Fault;

/// Parses a URL or a short reference.
pub fn parse(text: &str, base: &Url) -> Result<Reference, Fault> {
    let text = text.trim();
    match page::address(text, base).or_else(|| page::without_host(text, base)) {
        Some(url) => page::parse(&url, base).map_err(|reason| match reason {
            page::Stray::Host(given) => {
                Fault::OtherHost { given, configured: page::host(base).unwrap_or_default() }
            }
            page::Stray::Root => unreadable(text, format!("what this GitLab has is below {base}")),
            page::Stray::Api => {
                unreadable(text, "for an address of the API, give the URL of the page, or path and number")
            }
            page::Stray::Nothing => unreadable(text, "the URL names nothing of GitLab's"),
        }),
        None => short::parse(text).ok_or_else(|| {
            let forms = "a URL, group/project, group/project#12, group/project!45, group&7 or @user";
            unreadable(text, format!("it may be {forms}"))
        }),
    }
}

fn unreadable(text: &str, reason: impl Into<String>) -> Fault {
    Fault::NoTarget { given: text.to_owned(), reason: reason.into() }
}
