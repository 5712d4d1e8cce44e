//! URLs of GitLab's pages, with `/-/` and in the older form without it.

use percent_encoding::percent_decode_str;
use url::Url;

use super::reference::Reference;
use super::short::is_number;
use crate::catalog::{self, ObjectKind, PageValue, Scope};

/// Error of a URL that is not a page of this instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stray {
    /// Another host.
    Host(String),
    /// A path outside the instance's relative URL root.
    Root,
    /// An address of the REST API that shows no page's object.
    Api,
    Nothing,
}

/// Parses a URL. The scheme may be missing before the configured host.
pub fn address(text: &str, base: &Url) -> Option<Url> {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme.as_deref() {
        Some("http" | "https") => Url::parse(text).ok(),
        Some(_) => None,
        None => {
            let host = host(base)?;
            let rest = text.get(host.len()..).filter(|rest| rest.starts_with('/'))?;
            text.get(..host.len()).filter(|start| start.eq_ignore_ascii_case(&host))?;
            Url::parse(&format!("{}://{host}{rest}", base.scheme())).ok()
        }
    }
}

/// The URL of a page whose path is given without the host: `group/project/-/issues/3`. A first segment with a dot may be
/// a host.
pub fn without_host(text: &str, base: &Url) -> Option<Url> {
    let first = text.split('/').next().unwrap_or_default();
    let is_path = text.contains("/-/") && !first.is_empty() && !first.contains(['.', ':']);
    let url = || Url::parse(&format!("{}/{text}", base.as_str().trim_end_matches('/'))).ok();
    is_path.then(url).flatten()
}

/// Returns host and port as written.
pub fn host(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// Parses the URL of a page.
pub fn parse(url: &Url, base: &Url) -> Result<Reference, Stray> {
    if host(url) != host(base) {
        return Err(Stray::Host(host(url).unwrap_or_default()));
    }
    let root = base.path().trim_end_matches('/');
    let path = url.path().strip_prefix(root).ok_or(Stray::Root)?;
    if !path.is_empty() && !path.starts_with('/') {
        return Err(Stray::Root);
    }
    let segments: Vec<String> = path
        .split('/')
        .filter(|segment| !segment.is_empty())
        .map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned())
        .collect();
    if let [api, version, rest @ ..] = segments.as_slice()
        && (api.as_str(), version.as_str()) == ("api", "v4")
    {
        return in_api(rest).ok_or(Stray::Api);
    }
    let (holder, segments) = match segments.split_first() {
        Some((first, rest)) if first == "groups" => (Some(Scope::Group), rest),
        _ => (None, segments.as_slice()),
    };
    let (path, page) = split_at_page(segments, holder);
    let path = path.join("/");
    let path = if page.is_none() { path.strip_suffix(".git").unwrap_or(&path).to_owned() } else { path };
    let shown = page.and_then(shown_object);
    if path.is_empty() && shown.is_none() {
        return Err(Stray::Nothing);
    }
    let (kind, value) = shown.unwrap_or((ObjectKind::Holder, String::new()));
    let by_page = page.map(|_| if kind == ObjectKind::Epic { Scope::Group } else { Scope::Project });
    Ok(Reference {
        holder: if path.is_empty() { None } else { holder.or(by_page) },
        path,
        kind,
        value,
        note: url.fragment().and_then(|anchor| anchor.strip_prefix("note_")).map(str::to_owned),
    })
}

/// The project or group of an address of the REST API below `/api/v4`, with the object that it shows:
/// `projects/acme%2Fwidget/issues/3`, as in `_links.self` of GitLab's answers.
fn in_api(segments: &[String]) -> Option<Reference> {
    let [holder, path, page @ ..] = segments else { return None };
    let holder = match holder.as_str() {
        "projects" => Scope::Project,
        "groups" => Scope::Group,
        _ => return None,
    };
    let (kind, value) = match page {
        [] | [_] => (ObjectKind::Holder, String::new()),
        // A milestone's page has its iid, its address in the API its id.
        page => shown_object(page).filter(|(kind, _)| *kind != ObjectKind::Milestone)?,
    };
    Some(Reference { path: path.clone(), holder: Some(holder), kind, value, note: None })
}

/// Splits a URL's path into the full path and the page: at `-`, or at the first word of a page in an older URL.
fn split_at_page(segments: &[String], holder: Option<Scope>) -> (&[String], Option<&[String]>) {
    if let Some(at) = segments.iter().position(|segment| segment == "-") {
        let (path, page) = segments.split_at(at);
        return (path, page.get(1..));
    }
    // A project has a namespace, so its page is at least the third segment.
    let first = if holder.is_some() { 1 } else { 2 };
    let pages = || catalog::kinds().kinds.iter().flat_map(|row| &row.pages);
    let is_page = |segment: &String| pages().any(|(word, _)| word == segment);
    match segments.iter().skip(first).position(is_page) {
        Some(at) => {
            let (path, page) = segments.split_at(at + first);
            (path, Some(page))
        }
        None => (segments, None),
    }
}

fn shown_object(page: &[String]) -> Option<(ObjectKind, String)> {
    let (word, rest) = page.split_first()?;
    let (kind, value) = catalog::kinds().kinds.iter().find_map(|row| {
        let (_, value) = row.pages.iter().find(|(known, _)| known == word)?;
        Some((row.object?, *value))
    })?;
    // An incident is an issue with a separate page.
    let rest = rest.strip_prefix(&["incident".to_owned()]).unwrap_or(rest);
    let first = rest.first()?;
    match value {
        PageValue::Number if kind == ObjectKind::Milestone => {
            is_number(first).then(|| (kind, format!("%{first}")))
        }
        PageValue::Number => is_number(first).then(|| (kind, first.clone())),
        PageValue::Tree if rest.len() == 1 => Some((ObjectKind::Branch, first.clone())),
        PageValue::Rest | PageValue::Tree => Some((kind, rest.join("/"))),
    }
}
