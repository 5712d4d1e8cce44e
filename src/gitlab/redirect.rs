//! Redirect policy. reqwest follows no redirects; this module decides each hop.
//!
//! - A read below the root of the configured instance, or on its upgrade to https, keeps the token.
//! - A read to any other host, or to another root on the same one (object storage for artifacts, packages, uploads:
//!   <https://docs.gitlab.com/administration/object_storage/>) is followed without credentials, and stays without them
//!   on all further hops. Internal addresses are refused unless GitLab itself is in that network (`ssrf`): the redirect
//!   target is chosen by the server, and the response is shown to a model.
//! - A write is never followed: after 301 to 303 the method would change, and after 307 or 308 the body would be sent
//!   to another host.
//! - A response that is a sign-in page, GitLab's or a proxy's, is an error.

use percent_encoding::percent_decode_str;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderMap, LOCATION};
use url::Url;

use super::ClientSettings;
use super::body::{self, BodyKind};
use super::error::{Applied, GitlabError, NotFollowed};
use crate::catalog::Risk;
use crate::policy::Permit;

/// Maximum number of redirects of one request.
pub(super) const MAX_HOPS: usize = 5;

/// Maximum number of layers of percent-encoding in the path of a redirect that carries the token.
const MAX_ENCODING_LAYERS: usize = 4;

/// One request in a chain of redirects.
#[derive(Clone)]
pub(super) struct Hop {
    pub url: Url,
    /// True if the request carries the token.
    pub trusted: bool,
    /// True if this is not the first request of the chain.
    pub redirected: bool,
}

impl Hop {
    pub(super) fn first(url: Url) -> Hop {
        Hop { url, trusted: true, redirected: false }
    }

    pub(super) fn host(&self) -> String {
        host_of(&self.url)
    }

    /// The next hop, if the response is a redirect. The caller checks its address with the SSRF guard.
    pub(super) fn next(
        &self,
        settings: &ClientSettings,
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
        // 303 means that the request was carried out and its result is elsewhere (RFC 9110, 15.4.4).
        let applied = if changes && status == StatusCode::SEE_OTHER { Applied::Unknown } else { Applied::No };
        let refuse = |to_host: String, reason| Err(GitlabError::Redirect { to_host, reason, applied });
        let target = std::str::from_utf8(location.as_bytes()).ok().and_then(|text| self.url.join(text).ok());
        let Some(mut target) = target else {
            return refuse("an unreadable address".to_owned(), NotFollowed::Unusable);
        };
        remove_format(&self.url, &mut target);
        let to_host = host_of(&target);
        let stripped = target.set_username("").and_then(|()| target.set_password(None)).is_ok();
        if !stripped || !matches!(target.scheme(), "http" | "https") {
            return refuse(to_host, NotFollowed::Unusable);
        }
        let (base, ours) = (&settings.base, is_ours(settings, &target));
        if is_https_of(base, &target) && (!shares_origin(base, &target) || !call.is_repeatable()) {
            return refuse(to_host, NotFollowed::Https);
        }
        if !call.is_repeatable() {
            return refuse(to_host, NotFollowed::Write);
        }
        let is_api = target
            .path()
            .strip_prefix(base.path().trim_end_matches('/'))
            .is_some_and(|path| path.starts_with("/api/"));
        if permit.forbids_redirect() && ours && is_api {
            return refuse(to_host, NotFollowed::Moved);
        }
        if ours && target.path().ends_with("/users/sign_in") {
            return refuse(to_host, NotFollowed::SignIn);
        }
        Ok(Some(Hop { url: target, trusted: self.trusted && ours, redirected: true }))
    }

    /// True if a success from GitLab's own address is a web page: from a proxy, a captive portal, or GitLab's sign-in.
    /// The API returns HTML only for files, which carry GitLab's headers or `Content-Disposition`.
    pub(super) fn is_web_page(&self, headers: &HeaderMap, is_file: bool) -> bool {
        let is_download = headers.contains_key(CONTENT_DISPOSITION) || (is_file && is_marked(headers));
        self.trusted && is_html(headers) && !is_download
    }

    /// Refuses an HTML page from another host, such as a proxy's sign-in form. GitLab has object storage serve its
    /// files as attachments.
    pub(super) fn check_answer(&self, status: StatusCode, headers: &HeaderMap) -> Result<(), GitlabError> {
        let page = status.is_success() && is_html(headers) && !headers.contains_key(CONTENT_DISPOSITION);
        if self.redirected && !self.trusted && page {
            return Err(self.refused(NotFollowed::SignIn));
        }
        Ok(())
    }

    /// Error for a hop that is not followed. Nothing was changed by it.
    pub(super) fn refused(&self, reason: NotFollowed) -> GitlabError {
        GitlabError::Redirect { to_host: self.host(), reason, applied: Applied::No }
    }
}

/// Removes the end that GitLab adds to the id of a moved project: of `acme/old.name` it takes `.name` for a format, and
/// redirects to `/projects/76.name` (lib/api/helpers.rb, redirect!).
fn remove_format(from: &Url, target: &mut Url) {
    let is_moved = |segment: &str, given: &str| {
        let (id, format) = segment.split_once('.')?;
        let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        (is_id && given.ends_with(&format!(".{format}"))).then(|| id.to_owned())
    };
    let (Some(new), Some(old)) = (target.path_segments(), from.path_segments()) else { return };
    let old: Vec<&str> = old.collect();
    let mended: Vec<String> = new
        .enumerate()
        .map(|(at, segment)| {
            let id = old.get(at).and_then(|given| is_moved(segment, given));
            id.unwrap_or_else(|| segment.to_owned())
        })
        .collect();
    let path = format!("/{}", mended.join("/"));
    if path != target.path() {
        target.set_path(&path);
    }
}

/// True if the response has one of GitLab's own headers.
pub(super) fn is_marked(headers: &HeaderMap) -> bool {
    ["x-request-id", "x-gitlab-meta"].iter().any(|mark| headers.contains_key(*mark))
}

fn is_html(headers: &HeaderMap) -> bool {
    BodyKind::classify(&body::text(headers, CONTENT_TYPE.as_str()).unwrap_or_default()) == BodyKind::Html
}

fn host_of(url: &Url) -> String {
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (Some(host), None) => host.to_owned(),
        (None, _) => format!("a {} address", url.scheme()),
    }
}

/// True if a URL is below the root of the configured instance, and not below that of another one that is nested in it.
fn is_ours(settings: &ClientSettings, url: &Url) -> bool {
    let base = &settings.base;
    let root = base.path().trim_end_matches('/');
    let is_below = url.path().strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
    // Another reading of the path must not lead out of the root.
    let Some(segments) = lenient_segments(url.path()) else { return false };
    let nested = settings
        .other_roots
        .iter()
        .filter(|other| other.path().trim_end_matches('/').len() > root.len() && shares_origin(other, url));
    let is_of_another = |other: &Url| {
        lenient_segments(other.path()).is_some_and(|other_root| segments.starts_with(&other_root))
    };
    is_below && shares_origin(base, url) && !nested.into_iter().any(is_of_another)
}

/// True if a URL is the instance over https, and the instance is configured over http.
fn is_https_of(base: &Url, url: &Url) -> bool {
    base.scheme() == "http"
        && url.scheme() == "https"
        && base.host() == url.host()
        && url.path().starts_with(base.path().trim_end_matches('/'))
}

/// True if a URL is on the origin of the root, or on its upgrade to https at the default ports.
fn shares_origin(root: &Url, url: &Url) -> bool {
    let upgrade = root.scheme() == "http"
        && url.scheme() == "https"
        && root.host() == url.host()
        && (root.port(), url.port()) == (None, None);
    upgrade || root.origin() == url.origin()
}

/// The segments of a path as a proxy could read it that decodes, merges slashes (nginx's `merge_slashes`), drops path
/// parameters (RFC 3986, 3.3) and ignores case. None if a segment leads out of the path, or after too many layers.
fn lenient_segments(path: &str) -> Option<Vec<String>> {
    let mut path = path.to_owned();
    for _ in 0..=MAX_ENCODING_LAYERS {
        let decoded = percent_decode_str(&path).decode_utf8_lossy().into_owned();
        if decoded != path {
            path = decoded;
            continue;
        }
        let bare = |segment: &str| segment.split(';').next().unwrap_or_default().to_lowercase();
        let segments = path.split(['/', '\\']).map(bare).filter(|segment| !segment.is_empty());
        let segments: Vec<String> = segments.collect();
        return (!segments.iter().any(|segment| matches!(segment.as_str(), "." | ".."))).then_some(segments);
    }
    None
}
