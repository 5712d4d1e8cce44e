//! Builds the URL of a call from the instance's root, the encoded path and the query.

use url::Url;

use super::GitlabError;
use crate::call::Call;

/// The URL of a call.
///
/// The URL standard resolves `.` and `..` even if written as `%2e`, and re-encodes some characters. Either would turn a
/// checked path into another endpoint's, so a path that the URL parser changes is refused. `%2F` is kept, which GitLab
/// needs for `acme%2Fwidget`.
pub(super) fn url(base: &Url, call: &Call) -> Result<Url, GitlabError> {
    let mut url = base.clone();
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        let what = "the GitLab URL must begin with https:// or http:// and name a host".to_owned();
        return Err(GitlabError::Setup { what, source: None });
    }
    // reqwest would send either as an `Authorization` header.
    let stripped = url.set_username("").and_then(|()| url.set_password(None));
    let path = path_below(base, call.path());
    url.set_path(&path);
    if stripped.is_err() || !call.path().starts_with('/') || url.path() != path {
        return Err(GitlabError::Path { path: call.path().to_owned() });
    }
    url.set_fragment(None);
    url.set_query(None);
    if !call.query().is_empty() {
        url.query_pairs_mut().extend_pairs(call.query());
    }
    Ok(url)
}

/// The path of an endpoint whose own begins with a slash, below the instance's root.
pub(super) fn path_below(base: &Url, path: &str) -> String {
    format!("{}{path}", base.path().trim_end_matches('/'))
}
