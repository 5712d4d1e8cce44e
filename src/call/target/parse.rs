//! Parses a target: a page's URL or a short reference.

use url::Url;

use super::spot::Reference;
use super::{page, short};
use crate::call::Fault;

/// What was pasted.
pub fn parse(text: &str, base: &Url) -> Result<Reference, Fault> {
    let text = text.trim();
    match page::address(text, base) {
        Some(url) => page::parse(&url, base).map_err(|reason| match reason {
            page::Stray::Host(given) => {
                Fault::OtherHost { given, configured: page::host(base).unwrap_or_default() }
            }
            page::Stray::Root => unread(text, format!("what this GitLab has is below {base}")),
            page::Stray::Nothing => unread(text, "the URL names nothing of GitLab's".to_owned()),
        }),
        None => short::parse(text).ok_or_else(|| {
            let forms = "a URL, group/project, group/project#12, group/project!45, group&7 or @user";
            unread(text, format!("it may be {forms}"))
        }),
    }
}

fn unread(text: &str, reason: String) -> Fault {
    Fault::NoTarget { given: text.to_owned(), reason }
}
