//! Refusals of requests that do not reach MCP, and their responses.

use std::time::Duration;

use axum::Json;
use axum::http::header::{ALLOW, HeaderName, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::body::BodyError;
use super::credentials::IdentityError;
use super::heads::HeadFault;
use super::oauth::{self, Rejection};
use crate::tools::CallerError;

/// Path of the MCP endpoint.
pub(super) const ENDPOINT: &str = "/mcp";

/// Time that a refused client is asked to wait at least.
const PAUSE: Duration = Duration::from_secs(1);

/// A request that does not reach MCP.
#[derive(Debug)]
pub(super) enum HttpRefusal {
    Method,
    Identity(IdentityError),
    Token(Rejection),
    /// The tools of the caller cannot be made.
    Tools(CallerError),
    Rate(Duration),
    Concurrency(usize),
    Body(BodyError),
    Head(HeadFault),
    /// `Host` is not one host, or not that of the target.
    Host,
    /// Operational data for another host, or for a web page.
    Operation,
    NoRandomNumbers,
}

impl HttpRefusal {
    /// Status, code and message of each refusal.
    fn row(&self) -> (StatusCode, &'static str, String) {
        use StatusCode as Status;
        match self {
            HttpRefusal::Method => {
                let message = format!("{ENDPOINT} accepts POST only: the server keeps no sessions");
                (Status::METHOD_NOT_ALLOWED, "method_not_allowed", message)
            }
            HttpRefusal::Identity(error) => {
                let (status, code) = match error {
                    IdentityError::Missing { .. } | IdentityError::OAuthOnly => {
                        (Status::UNAUTHORIZED, "unauthorized")
                    }
                    IdentityError::UnknownInstance { .. } => (Status::FORBIDDEN, "unknown_instance"),
                    _ => (Status::BAD_REQUEST, "invalid_request"),
                };
                (status, code, error.to_string())
            }
            HttpRefusal::Token(Rejection::InvalidToken(why)) => {
                (Status::UNAUTHORIZED, "invalid_token", (*why).to_owned())
            }
            HttpRefusal::Token(Rejection::InsufficientScope) => {
                let message = "the token has neither the scope api nor read_api".to_owned();
                (Status::FORBIDDEN, "insufficient_scope", message)
            }
            HttpRefusal::Token(Rejection::Unavailable) => {
                let message = "GitLab does not answer: the token cannot be verified".to_owned();
                (Status::SERVICE_UNAVAILABLE, "unavailable", message)
            }
            HttpRefusal::Tools(error) => {
                let cause = std::error::Error::source(error).map(ToString::to_string);
                (Status::BAD_REQUEST, "invalid_request", cause.unwrap_or(error.to_string()))
            }
            HttpRefusal::Rate(_) => {
                (Status::TOO_MANY_REQUESTS, "rate_limited", "too many requests of this caller".to_owned())
            }
            HttpRefusal::Concurrency(most) => {
                let message = format!("more than {most} concurrent requests of this caller");
                (Status::TOO_MANY_REQUESTS, "rate_limited", message)
            }
            HttpRefusal::Body(error) => {
                let (status, code) = match error {
                    BodyError::Broken => (Status::BAD_REQUEST, "invalid_request"),
                    BodyError::TooLarge | BodyError::TooManyValues => {
                        (Status::PAYLOAD_TOO_LARGE, "too_large")
                    }
                    BodyError::NoMemory => (Status::SERVICE_UNAVAILABLE, "unavailable"),
                    BodyError::Slow => (Status::REQUEST_TIMEOUT, "timeout"),
                };
                (status, code, error.to_string())
            }
            HttpRefusal::Head(fault) => {
                let (status, code) = match fault {
                    HeadFault::TooLarge => (Status::REQUEST_HEADER_FIELDS_TOO_LARGE, "too_large"),
                    _ => (Status::BAD_REQUEST, "invalid_request"),
                };
                (status, code, fault.to_string())
            }
            HttpRefusal::Host => {
                let message = "Host: expected one host with an optional port, as in the target".to_owned();
                (Status::BAD_REQUEST, "invalid_request", message)
            }
            HttpRefusal::Operation => {
                let message = "only for a Host of this server (GITLAB_MCP_ALLOWED_HOSTS) or an IP address, and for no Origin";
                (Status::FORBIDDEN, "forbidden", message.to_owned())
            }
            HttpRefusal::NoRandomNumbers => {
                (Status::SERVICE_UNAVAILABLE, "unavailable", "the system has no random numbers".to_owned())
            }
        }
    }

    /// The response; `metadata` is the URL of the protected resource's metadata, where OAuth is served.
    pub(super) fn respond(self, metadata: Option<&str>) -> Response {
        let (status, code, message) = self.row();
        let body = json!({"error": code, "message": message});
        let mut response = (status, Json(body)).into_response();
        let headers = response.headers_mut();
        let mut set = |name: HeaderName, value: String| {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(name, value);
            }
        };
        match &self {
            HttpRefusal::Method => set(ALLOW, "POST".to_owned()),
            HttpRefusal::Rate(pause) => set(RETRY_AFTER, pause.max(&PAUSE).as_secs().to_string()),
            HttpRefusal::Concurrency(_)
            | HttpRefusal::Token(Rejection::Unavailable)
            | HttpRefusal::Body(BodyError::NoMemory) => {
                set(RETRY_AFTER, PAUSE.as_secs().to_string());
            }
            HttpRefusal::Token(Rejection::InvalidToken(why)) => {
                set(WWW_AUTHENTICATE, oauth::challenge(metadata, Some((code, why)), "api"));
            }
            HttpRefusal::Token(Rejection::InsufficientScope) => set(WWW_AUTHENTICATE, step_up(metadata)),
            _ if status == StatusCode::UNAUTHORIZED => {
                set(WWW_AUTHENTICATE, oauth::challenge(metadata, None, "api"));
            }
            _ => {}
        }
        response
    }
}

/// The challenge for a token that needs the scope `api` (RFC 6750, 3.1; MCP 2025-11-25, authorization, scope challenge).
pub(super) fn step_up(metadata: Option<&str>) -> String {
    let error = ("insufficient_scope", "the call needs the scope api");
    oauth::challenge(metadata, Some(error), "api")
}
