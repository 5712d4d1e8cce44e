//! The edge: HTTP in, HTTP out. The only file here that names axum.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body as HttpBody, Bytes};
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request as HttpRequest, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use url::form_urlencoded;

use super::args::{Args, Upload};
use super::errors::Fault;
use super::git_object::sha1;
use super::reply::{Body, Reply};
use super::request::Incoming;
use super::site::Site;

/// A body larger than this is refused.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Serves in the background until `stopped` resolves or its sender is dropped.
pub fn serve(listener: TcpListener, site: Arc<Site>, stopped: oneshot::Receiver<()>) {
    // axum's own limit is for forms, 2 MB.
    let app = Router::new().fallback(handle).layer(DefaultBodyLimit::max(MAX_BYTES)).with_state(site);
    tokio::spawn(async move {
        let until = async move {
            // An error means that the sandbox was dropped, which is how it is stopped.
            let _ = stopped.await;
        };
        if let Err(error) = axum::serve(listener, app).with_graceful_shutdown(until).await {
            tracing::warn!(%error, "the sandbox stopped serving");
        }
    });
}

async fn handle(State(site): State<Arc<Site>>, request: HttpRequest) -> Response {
    let head = request.method() == axum::http::Method::HEAD;
    let reply = match read_request(request).await {
        Ok(incoming) => site.answer(incoming),
        Err(fault) => fault.reply(),
    };
    respond(reply, head)
}

async fn read_request(request: HttpRequest) -> Result<Incoming, Fault> {
    let (parts, body) = request.into_parts();
    let query: Vec<(String, String)> =
        form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
    let mut incoming = Incoming {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        token: token(&parts.headers),
        ..Incoming::default()
    };
    for (name, value) in &query {
        incoming.args.add(name, value);
    }
    incoming.query = query;
    let content_type = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_owned();
    if content_type.starts_with("multipart/form-data") {
        let request = HttpRequest::from_parts(parts, body);
        read_multipart(request, &mut incoming).await?;
        return Ok(incoming);
    }
    let bytes = axum::body::to_bytes(body, MAX_BYTES)
        .await
        .map_err(|error| Fault::Refused(413, Value::from(error.to_string())))?;
    read_body(&content_type, &bytes, &mut incoming.args)?;
    Ok(incoming)
}

fn read_body(content_type: &str, bytes: &Bytes, args: &mut Args) -> Result<(), Fault> {
    if bytes.is_empty() {
        return Ok(());
    }
    if content_type.starts_with("application/json") {
        return match serde_json::from_slice(bytes) {
            Ok(Value::Object(body)) => {
                args.extend(body);
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(_) => Err(Fault::Bad("Problem while parsing request body".to_owned())),
        };
    }
    for (name, value) in form_urlencoded::parse(bytes) {
        args.add(&name, &value);
    }
    Ok(())
}

async fn read_multipart(request: HttpRequest, incoming: &mut Incoming) -> Result<(), Fault> {
    let malformed = || Fault::Bad("Invalid multipart body".to_owned());
    let mut form = Multipart::from_request(request, &()).await.map_err(|_| malformed())?;
    while let Some(part) = form.next_field().await.map_err(|_| malformed())? {
        let field = part.name().unwrap_or_default().to_owned();
        let name = part.file_name().map(str::to_owned);
        let bytes = part.bytes().await.map_err(|_| malformed())?;
        match name {
            Some(name) => {
                incoming.args.add(&field, &name);
                incoming.files.push(Upload { field, name, bytes: bytes.to_vec() });
            }
            None => incoming.args.add(&field, &String::from_utf8_lossy(&bytes)),
        }
    }
    Ok(())
}

/// The token, from any of the headers GitLab reads.
fn token(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    text("private-token").or_else(|| text("job-token")).or_else(|| {
        let value = text("authorization")?;
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
    })
}

/// Number of requests a minute that a user is allowed, as the headers have it. The sandbox counts none.
const RATE: u64 = 2_000;

/// The headers of every answer.
fn common(headers: &mut HeaderMap) {
    static ANSWERS: AtomicU64 = AtomicU64::new(0);
    let number = ANSWERS.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let reset = (now / 60 + 1) * 60;
    let values = [
        ("x-request-id", format!("01SANDBOX{number:017}")),
        ("x-runtime", "0.004000".to_owned()),
        ("cache-control", "max-age=0, private, must-revalidate".to_owned()),
        ("vary", "Origin".to_owned()),
        ("ratelimit-name", "throttle_authenticated_api".to_owned()),
        ("ratelimit-limit", RATE.to_string()),
        ("ratelimit-observed", "1".to_owned()),
        ("ratelimit-remaining", (RATE - 1).to_string()),
        ("ratelimit-reset", reset.to_string()),
    ];
    for (name, value) in values {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
}

fn respond(reply: Reply, head: bool) -> Response {
    let etag = match &reply.body {
        Body::Json(value) if reply.status == 200 => format!("W/\"{}\"", sha1(&value.to_string())),
        _ => String::new(),
    };
    let (content_type, body) = match reply.body {
        Body::Empty => (None, Vec::new()),
        Body::Json(value) => (Some("application/json"), value.to_string().into_bytes()),
        Body::Bytes(content_type, bytes) => (Some(content_type), bytes),
    };
    let length = body.len();
    let mut response = Response::new(if head { HttpBody::empty() } else { HttpBody::from(body) });
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Some(content_type) = content_type {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    if head {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    common(headers);
    if let Ok(etag) = HeaderValue::from_str(&etag)
        && !etag.is_empty()
    {
        headers.insert(header::ETAG, etag);
    }
    for (name, value) in reply.headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(&value)) {
            headers.insert(name, value);
        }
    }
    response
}
