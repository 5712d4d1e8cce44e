//! Where a redirect may lead. reqwest follows none; this decides each hop.
//!
//! - A read on the configured host, or its upgrade to https, keeps the token.
//! - A read to any other host (object storage for artifacts, packages, uploads:
//!   <https://docs.gitlab.com/administration/object_storage/>) is followed without credentials, and stays
//!   without them wherever it leads next. Not into the local network, unless GitLab itself is there (`guard`): the
//!   redirect is GitLab's word, and what it fetches is shown to a model.
//! - A write is never followed: after 301 to 303 the method would change, and with 307 or 308 the content would
//!   go where nobody asked for it.
//! - What ends at a sign-in page, GitLab's or that of a proxy before it, is no answer.

use reqwest::StatusCode;
use reqwest::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderMap, LOCATION};
use url::Url;

use super::body::{self, Kind};
use super::error::{Applied, GitlabError, NotFollowed};
use crate::catalog::Risk;
use crate::policy::Permit;

/// How many redirects one request may take.
pub(super) const MAX_HOPS: usize = 5;

/// One request of a chain.
#[derive(Clone)]
pub(super) struct Hop {
    pub url: Url,
    /// True if the token goes with it.
    pub trusted: bool,
    /// True if a redirect led here.
    pub redirected: bool,
}

impl Hop {
    pub(super) fn first(url: Url) -> Hop {
        Hop { url, trusted: true, redirected: false }
    }

    pub(super) fn host(&self) -> String {
        host_of(&self.url)
    }

    /// The next hop, if the answer is a redirect. Whether its address may be reached is for the guard to say.
    pub(super) fn next(
        &self,
        base: &Url,
        permit: &Permit,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Result<Option<Hop>, GitlabError> {
        let call = permit.call();
        let changes = call.risk() != Risk::Read;
        let location = match status.as_u16() {
            301..=303 | 307 | 308 => headers.get(LOCATION),
            _ => None,
        };
        let Some(location) = location else { return Ok(None) };
        // 303 says that the request was carried out and its result is elsewhere (RFC 9110, 15.4.4).
        let applied = if changes && status == StatusCode::SEE_OTHER { Applied::Unknown } else { Applied::No };
        let refuse = |to_host: String, reason| Err(GitlabError::Redirect { to_host, reason, applied });
        let target = std::str::from_utf8(location.as_bytes()).ok().and_then(|text| self.url.join(text).ok());
        let Some(mut target) = target else {
            return refuse("an unreadable address".to_owned(), NotFollowed::Unusable);
        };
        let to_host = host_of(&target);
        let stripped = target.set_username("").and_then(|()| target.set_password(None)).is_ok();
        if !stripped || !matches!(target.scheme(), "http" | "https") {
            return refuse(to_host, NotFollowed::Unusable);
        }
        if !call.method().is_safe() {
            return refuse(to_host, NotFollowed::Write);
        }
        let ours = is_ours(base, &target);
        let is_api = target
            .path()
            .strip_prefix(base.path().trim_end_matches('/'))
            .is_some_and(|path| path.starts_with("/api/"));
        if permit.stays() && ours && is_api {
            return refuse(to_host, NotFollowed::Moved);
        }
        if ours && target.path().ends_with("/users/sign_in") {
            return refuse(to_host, NotFollowed::SignIn);
        }
        Ok(Some(Hop { url: target, trusted: self.trusted && ours, redirected: true }))
    }

    /// True if a success at GitLab's own address is a web page: of a proxy, a captive portal, or GitLab's sign-in. The
    /// API answers no HTML but for files, which it marks or has downloaded under their names.
    pub(super) fn is_no_answer(&self, headers: &HeaderMap, is_file: bool) -> bool {
        let is_download = headers.contains_key(CONTENT_DISPOSITION) || (is_file && is_marked(headers));
        self.trusted && is_html(headers) && !is_download
    }

    /// Refuses a page that a stranger shows instead of a file: a proxy's sign-in form. GitLab has object storage
    /// name its files as attachments.
    pub(super) fn check_answer(&self, status: StatusCode, headers: &HeaderMap) -> Result<(), GitlabError> {
        let page = status.is_success() && is_html(headers) && !headers.contains_key(CONTENT_DISPOSITION);
        if self.redirected && !self.trusted && page {
            return Err(self.refused(NotFollowed::SignIn));
        }
        Ok(())
    }

    /// Why this hop was not taken, which changed nothing.
    pub(super) fn refused(&self, reason: NotFollowed) -> GitlabError {
        GitlabError::Redirect { to_host: self.host(), reason, applied: Applied::No }
    }
}

/// True if the response has one of GitLab's own headers.
pub(super) fn is_marked(headers: &HeaderMap) -> bool {
    ["x-request-id", "x-gitlab-meta"].iter().any(|mark| headers.contains_key(*mark))
}

fn is_html(headers: &HeaderMap) -> bool {
    Kind::of(&body::text(headers, CONTENT_TYPE.as_str()).unwrap_or_default()) == Kind::Html
}

fn host_of(url: &Url) -> String {
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (Some(host), None) => host.to_owned(),
        (None, _) => format!("a {} address", url.scheme()),
    }
}

/// True if a URL is on the configured origin, or on its upgrade to https at the default ports.
fn is_ours(base: &Url, url: &Url) -> bool {
    let upgrade = base.scheme() == "http"
        && url.scheme() == "https"
        && base.host() == url.host()
        && (base.port(), url.port()) == (None, None);
    upgrade || base.origin() == url.origin()
}
