//! Rules of a request that rmcp leaves open: headers that are given twice, and bodies that are no message.

use std::time::Duration;

use axum::Json;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::server::batch::messages_of;
use crate::server::broken_text::text_fault;
use crate::server::outline::Outline;

/// Headers that may be given once. A proxy may read the first of two where this server reads the last.
const SINGLE: [HeaderName; 3] = [HOST, ORIGIN, CONTENT_TYPE];

/// Prefix of the protocol's own headers, which may be given once too.
const OF_MCP: &str = "mcp-";

/// JSON-RPC 2.0, 5.1.
const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;

/// Code of this server's own; JSON-RPC leaves -32000 to -32099 to servers.
const RATE_LIMITED: i32 = -32_029;

/// Returns a header that is given more than once and may not be.
pub(super) fn repeated_header(headers: &HeaderMap) -> Option<&HeaderName> {
    headers.keys().find(|name| {
        (SINGLE.contains(name) || name.as_str().starts_with(OF_MCP))
            && headers.get_all(*name).iter().count() > 1
    })
}

/// Media types of the endpoint's responses.
const RESPONSE_TYPES: &str = "application/json, text/event-stream";

/// A client that takes JSON and no event stream: it is told no progress, which would make a stream of its response.
#[derive(Clone, Copy)]
pub(super) struct TakesJsonAlone;

/// Accepts every client that takes JSON, or says nothing on what it takes: the responses are JSON. rmcp wants both types
/// of the specification, which `*/*` and `application/json` of simple clients do not name.
pub(super) fn widen_accept(headers: &mut HeaderMap) -> Option<TakesJsonAlone> {
    let accept = headers.get(ACCEPT).map(|value| value.to_str().unwrap_or_default().to_owned());
    let types: Option<Vec<&str>> = accept
        .as_deref()
        .map(|value| value.split(',').filter_map(|one| one.split(';').next()).map(str::trim).collect());
    let takes =
        |kinds: &[&str]| types.as_ref().is_none_or(|types| types.iter().any(|one| kinds.contains(one)));
    if !takes(&["*/*", "application/*", "application/json"]) {
        return None;
    }
    headers.insert(ACCEPT, HeaderValue::from_static(RESPONSE_TYPES));
    (!takes(&["*/*", "text/*", "text/event-stream"])).then_some(TakesJsonAlone)
}

/// Returns true if the headers announce a body of JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let essence = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()?.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

/// Header that names the version of MCP from 2025-06-18 on. A request without it is of 2025-03-26, the only version that has
/// batches (MCP 2025-11-25, transports, protocol version header).
const VERSION: &str = "mcp-protocol-version";
const BATCH_VERSION: &str = "2025-03-26";

/// The messages of a body that is a batch, in a version that has them.
pub(super) fn batch(headers: &HeaderMap, body: &[u8]) -> Option<Vec<Bytes>> {
    let has_batches = headers.get(VERSION).is_none_or(|version| version == BATCH_VERSION);
    let messages = if has_batches && is_json(headers) { messages_of(body) } else { None };
    Some(messages?.into_iter().map(Bytes::from).collect())
}

/// The response to a message of a batch that the caller has no share of the rate left for; none to a notification.
pub(super) fn rate_error(message: &[u8], pause: Duration) -> Option<Value> {
    let mut outline = Outline::default();
    outline.feed(message);
    let seconds = pause.as_secs().max(1);
    let text = format!("too many requests of this caller: send it again in {seconds} s");
    let error = json!({"code": RATE_LIMITED, "message": text});
    (!outline.id().is_null()).then(|| json!({"jsonrpc": "2.0", "id": outline.id(), "error": error}))
}

/// The response to a body that is no message of MCP, which rmcp answers with 415 (Unsupported Media Type).
pub(super) fn malformed_message(body: &[u8]) -> Response {
    let mut outline = Outline::default();
    let (code, message) = match (text_fault(body), serde_json::from_slice::<IgnoredAny>(body)) {
        (Some(fault), _) => {
            outline.feed(body);
            (PARSE_ERROR, fault)
        }
        (None, Err(error)) => (PARSE_ERROR, format!("the body is not JSON: {error}")),
        (None, Ok(_)) if messages_of(body).is_some() => {
            let message = "batches are of MCP 2025-03-26 alone: send each message by itself";
            (INVALID_REQUEST, message.to_owned())
        }
        (None, Ok(_)) => {
            outline.feed(body);
            (INVALID_REQUEST, "the body is not one JSON-RPC message of MCP".to_owned())
        }
    };
    let error = json!({"jsonrpc": "2.0", "id": outline.id(), "error": {"code": code, "message": message}});
    (StatusCode::BAD_REQUEST, Json(error)).into_response()
}
