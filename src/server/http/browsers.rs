//! Requests of browsers: CORS (<https://fetch.spec.whatwg.org/#http-cors-protocol>) for the origins that may call the
//! server, on every response, since a page cannot read a refusal without it.

use axum::body::Body;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::Response;
use url::Url;

/// Methods of the endpoint and of its metadata.
const METHODS: &str = "GET, POST, OPTIONS";

/// Request headers that a page may send if its preflight names none: those of MCP and of the credentials.
const HEADERS: &str = "authorization, content-type, accept, mcp-protocol-version, mcp-session-id, last-event-id, \
                       private-token, job-token";

/// Response headers that a page may read.
const EXPOSED: &str = "mcp-session-id, mcp-protocol-version, www-authenticate, retry-after";

/// Seconds for which a browser may keep a preflight.
const MAX_AGE: &str = "600";

/// The origin of a request, if it is one of the allowed ones.
pub(super) fn allowed_origin(allowed: &[String], headers: &HeaderMap) -> Option<HeaderValue> {
    let given = headers.get(ORIGIN)?;
    let origin = parse_origin(given.to_str().ok()?)?;
    allowed.iter().any(|allowed| parse_origin(allowed).as_ref() == Some(&origin)).then(|| given.clone())
}

/// Scheme, host and port of an origin.
fn parse_origin(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    url.has_host().then(|| url.origin().ascii_serialization())
}

/// The response to the preflight of an allowed origin; none if the request is no preflight.
pub(super) fn preflight(method: &Method, headers: &HeaderMap) -> Option<Response> {
    let is_preflight = method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    if !is_preflight {
        return None;
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let asked = headers.get(ACCESS_CONTROL_REQUEST_HEADERS).cloned();
    let out = response.headers_mut();
    out.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    out.insert(ACCESS_CONTROL_ALLOW_HEADERS, asked.unwrap_or(HeaderValue::from_static(HEADERS)));
    out.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
    Some(response)
}

/// Lets a page of the origin read a response.
pub(super) fn allow_reading(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    headers.append(VARY, HeaderValue::from_static("origin"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_allowed_by_scheme_host_and_port() {
        let allowed = ["http://localhost:6274", "https://tools.example.com"].map(str::to_owned);
        let is_allowed = |origin: &str| {
            let headers = HeaderMap::from_iter([(ORIGIN, HeaderValue::from_str(origin).unwrap())]);
            allowed_origin(&allowed, &headers).is_some()
        };
        for origin in ["http://localhost:6274", "https://tools.example.com", "https://tools.example.com:443"]
        {
            assert!(is_allowed(origin), "{origin}");
        }
        for origin in [
            "null",
            "http://localhost",
            "http://tools.example.com",
            "https://tools.example.com.evil.example",
            "*",
        ] {
            assert!(!is_allowed(origin), "{origin}");
        }
    }
}
