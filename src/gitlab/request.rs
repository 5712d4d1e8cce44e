//! Builds the HTTP request of a call: credentials for GitLab's own host only, a body on the first hop only.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Request, RequestBuilder, multipart};

use super::redirect::Hop;
use super::{ClientSettings, GitlabError, Token, body, upload};
use crate::call::{Body, Call, Part};
use crate::catalog::Method;

/// Builds a request with a token. `left` is its timeout.
pub(super) fn build(
    http: &Client,
    settings: &ClientSettings,
    token: Option<&Token>,
    call: &Call,
    hop: &Hop,
    left: Duration,
) -> Result<Result<Request, reqwest::Error>, GitlabError> {
    let mut request = http.request(method(call.method()), hop.url.clone()).timeout(left);
    if hop.trusted {
        request = request.headers(credentials(settings, token)?);
    }
    if !hop.redirected {
        request = with_body(request, call.body());
    }
    Ok(request.build())
}

/// Headers for a proxy in front of GitLab.
pub(super) fn headers_for_proxy(settings: &ClientSettings) -> Result<HeaderMap, GitlabError> {
    credentials(settings, None)
}

/// Headers with the token and those for a proxy in front of GitLab.
fn credentials(settings: &ClientSettings, token: Option<&Token>) -> Result<HeaderMap, GitlabError> {
    let token = token.into_iter().map(|token| {
        let (name, value) = token.header();
        (name.to_owned(), value, "the token")
    });
    let extra = settings.extra_headers.iter().map(|header| {
        (
            header.name.to_ascii_lowercase(),
            header.value.reveal().to_owned(),
            "a header of GITLAB_EXTRA_HEADERS",
        )
    });
    let mut headers = HeaderMap::new();
    // The token is last, so that no extra header replaces it.
    for (name, value, whose) in extra.chain(token) {
        // The source errors are dropped: they may quote the value.
        let unusable = || {
            let what = format!("{whose} contains characters that are not allowed in a header");
            GitlabError::Setup { what, source: None }
        };
        let name = HeaderName::try_from(name).map_err(|_| unusable())?;
        let mut value = HeaderValue::try_from(value).map_err(|_| unusable())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn with_body(request: RequestBuilder, body: &Body) -> RequestBuilder {
    match body {
        Body::Empty => request,
        Body::Json(value) => request.json(value),
        Body::Multipart(parts) => request.multipart(form(parts)),
        // A local file has been loaded into another variant before the call is sent.
        Body::Local(_) => request,
        Body::Raw(bytes) => {
            request.header(CONTENT_TYPE, "application/octet-stream").body(upload::body(bytes))
        }
    }
}

fn method(method: Method) -> reqwest::Method {
    match method {
        Method::Get => reqwest::Method::GET,
        Method::Head => reqwest::Method::HEAD,
        Method::Post => reqwest::Method::POST,
        Method::Put => reqwest::Method::PUT,
        Method::Patch => reqwest::Method::PATCH,
        Method::Delete => reqwest::Method::DELETE,
    }
}

/// Builds a multipart form. Each file has the media type of its name, which GitLab checks for images.
fn form(parts: &[Part]) -> multipart::Form {
    parts.iter().fold(multipart::Form::new(), |form, part| match part {
        Part::Text { name, value } => form.text(name.clone(), value.clone()),
        Part::Local { .. } => form,
        Part::File { name, filename, bytes } => {
            let mut headers = HeaderMap::new();
            let kind = mime_guess::from_path(filename).first_or_octet_stream();
            if let Ok(kind) = HeaderValue::try_from(kind.as_ref()) {
                headers.insert(CONTENT_TYPE, kind);
            }
            let file = multipart::Part::stream_with_length(upload::body(bytes), body::size(bytes));
            let file = file.file_name(filename.clone()).headers(headers);
            form.part(name.clone(), file)
        }
    })
}
