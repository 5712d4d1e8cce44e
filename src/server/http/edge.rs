//! The edge: what a request passes before it reaches MCP, and what it leaves behind (metrics, access log).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use url::Url;

use super::bucket::Bucket;
use super::caller_key::{CallerKey, KeyMaker};
use super::callers::{Caller, Callers};
use super::credentials::{Identity, IdentityError, read_identity};
use super::handler::{CallRecord, HttpHandler};
use super::metrics::{Gauges, Metrics};
use super::oauth::{self, METADATA_PATH, Rejection};
use super::settings::{AuthMode, ListenAddress, Settings};
use crate::server::handler::Handler;
use crate::surface::{self, Surface};
use crate::tools::{CallerError, CallerProfile, Narrowing, ToolsFactory};

/// Target of the access log.
pub const ACCESS: &str = "access_log";

/// Interval at which idle callers are looked for.
const SWEEP: Duration = Duration::from_secs(30);

/// Path of the MCP endpoint.
const ENDPOINT: &str = "/mcp";

/// Maximum size of a request body in bytes: a file of 4 MiB in base64, and its call.
const MAX_BODY: usize = 6 * 1024 * 1024;

/// Time within which a body has to arrive.
const BODY_TIME: Duration = Duration::from_secs(30);

/// Maximum number of verifications of access tokens at a time.
const VERIFICATIONS: usize = 16;

/// Time that a refused client is asked to wait at least.
const PAUSE: Duration = Duration::from_secs(1);

type McpService = StreamableHttpService<HttpHandler, NeverSessionManager>;

/// State of the HTTP server.
pub(super) struct Edge {
    factory: Arc<ToolsFactory>,
    surface: surface::Settings,
    settings: Settings,
    /// All instances, the default one included.
    instances: Vec<Url>,
    keys: Option<KeyMaker>,
    callers: Callers,
    /// The caller without a credential, by which tools and instructions are described.
    front: Arc<Caller>,
    metrics: Arc<Metrics>,
    verifications: Semaphore,
    started: Instant,
    draining: AtomicBool,
}

impl Edge {
    /// # Errors
    /// A policy that cannot be used.
    pub(super) fn new(
        factory: Arc<ToolsFactory>,
        surface: surface::Settings,
        settings: Settings,
    ) -> Result<Edge, CallerError> {
        let now = Instant::now();
        let profile = CallerProfile {
            name: "front".to_owned(),
            base: factory.default_instance().clone(),
            token: None,
            narrowing: Narrowing::default(),
        };
        let front = Arc::new(new_caller(&factory, &surface, &settings, profile, now)?);
        Ok(Edge {
            instances: factory.instances().cloned().collect(),
            factory,
            surface,
            settings,
            keys: KeyMaker::new(),
            callers: Callers::default(),
            front,
            metrics: Arc::default(),
            verifications: Semaphore::new(VERIFICATIONS),
            started: now,
            draining: AtomicBool::new(false),
        })
    }

    /// Makes `/health` answer 503.
    pub(super) fn start_draining(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// The URL of the protected resource (RFC 9728): the endpoint as clients write it.
    fn resource(&self) -> String {
        let base = self.settings.public_url.as_ref().map(|url| url.as_str().trim_end_matches('/').to_owned());
        let base = base.unwrap_or_else(|| match &self.settings.listen {
            ListenAddress::Tcp(address) => format!("http://{address}"),
            ListenAddress::Unix(_) => "http://localhost".to_owned(),
        });
        format!("{base}{ENDPOINT}")
    }

    fn metadata_url(&self) -> Option<String> {
        let AuthMode::OAuth { .. } = self.settings.auth else { return None };
        let resource = Url::parse(&self.resource()).ok()?;
        let mut url = resource.clone();
        url.set_path(&format!("{METADATA_PATH}{}", resource.path()));
        Some(url.to_string())
    }

    /// The caller of an identity, verified where its credential has to be.
    async fn caller(&self, keys: &KeyMaker, identity: Identity) -> Result<Arc<Caller>, Refusal> {
        let digest = identity.credential.as_ref().map(|credential| credential.digest);
        let (key, now) = (keys.key(&identity.base, digest, &identity.narrowing), Instant::now());
        if let Some(caller) = self.callers.get(key, now) {
            return Ok(caller);
        }
        let verified = self.verify(&identity, now).await?;
        let token = match self.settings.auth {
            AuthMode::None => self.factory.own_token(),
            _ => identity.credential.map(|credential| credential.token),
        };
        let Identity { base, narrowing, .. } = identity;
        let profile = CallerProfile { name: CallerKey::name(key), base, token, narrowing };
        let caller = new_caller(&self.factory, &self.surface, &self.settings, profile, now);
        let caller = caller.map_err(Refusal::Narrowing)?;
        if let Some(verified) = &verified {
            caller.handler.learn_scopes(&verified.scopes);
        }
        Ok(self.callers.keep(key, caller, verified.map(|verified| verified.until), now))
    }

    async fn verify(&self, identity: &Identity, now: Instant) -> Result<Option<oauth::Verified>, Refusal> {
        let (AuthMode::OAuth { applications }, Some(credential)) =
            (&self.settings.auth, &identity.credential)
        else {
            return Ok(None);
        };
        let clients =
            self.factory.connections(&identity.base).ok_or(Refusal::Token(Rejection::Unavailable))?;
        // The semaphore is never closed.
        let _turn = self.verifications.acquire().await.ok();
        oauth::verify(clients, credential, applications, now).await.map(Some).map_err(Refusal::Token)
    }
}

fn new_caller(
    factory: &ToolsFactory,
    surface: &surface::Settings,
    settings: &Settings,
    profile: CallerProfile,
    now: Instant,
) -> Result<Caller, CallerError> {
    let name = profile.name.clone();
    let tools = Arc::new(factory.tools_for(profile)?);
    let surface = Surface::new(surface.clone(), Arc::clone(&tools));
    Ok(Caller {
        name,
        handler: Handler::without_session(tools, surface),
        finds: Semaphore::new(1),
        calls: Arc::new(Semaphore::new(settings.caller_calls)),
        bucket: Bucket::new(settings.caller_rate, now),
    })
}

/// A request that does not reach MCP.
#[derive(Debug)]
enum Refusal {
    Method,
    Identity(IdentityError),
    Token(Rejection),
    Narrowing(CallerError),
    Rate(Duration),
    Concurrency(usize),
    TooLarge,
    SlowBody,
    BrokenBody,
    NoRandomNumbers,
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Refusal::Method => StatusCode::METHOD_NOT_ALLOWED,
            Refusal::Identity(IdentityError::Missing { .. } | IdentityError::OAuthOnly) => {
                StatusCode::UNAUTHORIZED
            }
            Refusal::Identity(IdentityError::UnknownInstance { .. }) => StatusCode::FORBIDDEN,
            Refusal::Identity(_) | Refusal::Narrowing(_) | Refusal::BrokenBody => StatusCode::BAD_REQUEST,
            Refusal::Token(Rejection::InvalidToken(_)) => StatusCode::UNAUTHORIZED,
            Refusal::Token(Rejection::InsufficientScope) => StatusCode::FORBIDDEN,
            Refusal::Token(Rejection::Unavailable) | Refusal::NoRandomNumbers => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Refusal::Rate(_) | Refusal::Concurrency(_) => StatusCode::TOO_MANY_REQUESTS,
            Refusal::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Refusal::SlowBody => StatusCode::REQUEST_TIMEOUT,
        }
    }

    fn message(&self) -> String {
        match self {
            Refusal::Method => format!("{ENDPOINT} accepts POST only: the server keeps no sessions"),
            Refusal::Identity(error) => error.to_string(),
            Refusal::Token(Rejection::InvalidToken(why)) => (*why).to_owned(),
            Refusal::Token(Rejection::InsufficientScope) => {
                "the token has neither the scope api nor read_api".to_owned()
            }
            Refusal::Token(Rejection::Unavailable) => {
                "GitLab does not answer: the token cannot be verified".to_owned()
            }
            Refusal::Narrowing(error) => match std::error::Error::source(error) {
                Some(source) => source.to_string(),
                None => error.to_string(),
            },
            Refusal::Rate(_) => "too many requests of this caller".to_owned(),
            Refusal::Concurrency(most) => format!("more than {most} concurrent requests of this caller"),
            Refusal::TooLarge => format!("the body is larger than {MAX_BODY} bytes"),
            Refusal::SlowBody => format!("the body did not arrive within {} seconds", BODY_TIME.as_secs()),
            Refusal::BrokenBody => "the body ended early".to_owned(),
            Refusal::NoRandomNumbers => "the system has no random numbers".to_owned(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Refusal::Method => "method_not_allowed",
            Refusal::Identity(IdentityError::Missing { .. } | IdentityError::OAuthOnly) => "unauthorized",
            Refusal::Identity(IdentityError::UnknownInstance { .. }) => "unknown_instance",
            Refusal::Identity(_) | Refusal::Narrowing(_) | Refusal::BrokenBody => "invalid_request",
            Refusal::Token(Rejection::InvalidToken(_)) => "invalid_token",
            Refusal::Token(Rejection::InsufficientScope) => "insufficient_scope",
            Refusal::Token(Rejection::Unavailable) | Refusal::NoRandomNumbers => "unavailable",
            Refusal::Rate(_) | Refusal::Concurrency(_) => "rate_limited",
            Refusal::TooLarge => "too_large",
            Refusal::SlowBody => "timeout",
        }
    }

    fn into_response(self, edge: &Edge) -> Response {
        let (status, code) = (self.status(), self.code());
        let body = json!({"error": code, "message": self.message()});
        let mut response = (status, Json(body)).into_response();
        let headers = response.headers_mut();
        let mut set = |name: HeaderName, value: String| {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(name, value);
            }
        };
        match &self {
            Refusal::Method => set(ALLOW, "POST".to_owned()),
            Refusal::Rate(pause) => set(RETRY_AFTER, pause.max(&PAUSE).as_secs().to_string()),
            Refusal::Concurrency(_) | Refusal::Token(Rejection::Unavailable) => {
                set(RETRY_AFTER, PAUSE.as_secs().to_string());
            }
            Refusal::Token(Rejection::InvalidToken(why)) => {
                let metadata = edge.metadata_url();
                set(WWW_AUTHENTICATE, oauth::challenge(metadata.as_deref(), Some((code, why)), "api"));
            }
            Refusal::Token(Rejection::InsufficientScope) => set(WWW_AUTHENTICATE, step_up(edge)),
            _ if status == StatusCode::UNAUTHORIZED => {
                set(WWW_AUTHENTICATE, oauth::challenge(edge.metadata_url().as_deref(), None, "api"));
            }
            _ => {}
        }
        response
    }
}

/// The challenge for a token that needs the scope `api` (RFC 6750, 3.1; MCP 2025-11-25, authorization, scope challenge).
fn step_up(edge: &Edge) -> String {
    let error = ("insufficient_scope", "the call needs the scope api");
    oauth::challenge(edge.metadata_url().as_deref(), Some(error), "api")
}

/// The routes of the server.
pub(super) fn router(edge: Arc<Edge>) -> Router {
    let service = mcp_service(&edge);
    let endpoint = any(move |State(edge): State<Arc<Edge>>, request: Request| {
        let service = service.clone();
        async move { serve_endpoint(edge, service, request).await }
    });
    let mut router =
        Router::new().route(ENDPOINT, endpoint).route("/health", get(health)).route("/metrics", get(metrics));
    if let AuthMode::OAuth { .. } = edge.settings.auth {
        router = router
            .route(METADATA_PATH, get(resource_metadata))
            .route(&format!("{METADATA_PATH}{ENDPOINT}"), get(resource_metadata));
    }
    let observed = Arc::clone(&edge);
    router
        .fallback(|| async { (StatusCode::NOT_FOUND, Json(json!({"error": "not_found"}))) })
        .layer(axum::middleware::from_fn_with_state(observed, observe))
        .with_state(edge)
}

fn mcp_service(edge: &Edge) -> McpService {
    let settings = &edge.settings;
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
    hosts.extend(settings.public_url.as_ref().and_then(Url::host_str).map(str::to_owned));
    hosts.extend(settings.allowed_hosts.iter().cloned());
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_allowed_hosts(hosts)
        .with_allowed_origins(allowed_origins(settings))
        .with_max_request_body_bytes(MAX_BODY)
        .enforce_origin_validation();
    let handler = HttpHandler {
        front: Arc::clone(&edge.front),
        metrics: Arc::clone(&edge.metrics),
        factory: Arc::clone(&edge.factory),
    };
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(NeverSessionManager::default()), config)
}

/// The configured origins, and those of the server itself: a page that another server of this machine serves has
/// another port.
fn allowed_origins(settings: &Settings) -> Vec<String> {
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    let own = match &settings.listen {
        ListenAddress::Tcp(address) if address.ip().is_loopback() => ["localhost", "127.0.0.1", "[::1]"]
            .map(|host| format!("{scheme}://{host}:{}", address.port()))
            .to_vec(),
        _ => Vec::new(),
    };
    let public = settings.public_url.iter().filter_map(|url| {
        let (host, port) = (url.host_str()?, url.port_or_known_default()?);
        Some(format!("{}://{host}:{port}", url.scheme()))
    });
    own.into_iter().chain(public).chain(settings.allowed_origins.iter().cloned()).collect()
}

async fn serve_endpoint(edge: Arc<Edge>, service: McpService, request: Request) -> Response {
    match admit(&edge, request).await {
        Ok((request, record, _turn)) => {
            let response = service.handle(request).await.map(Body::new);
            let needs_scope = record.needs_scope() && matches!(edge.settings.auth, AuthMode::OAuth { .. });
            let mut response = response.into_response();
            if needs_scope {
                *response.status_mut() = StatusCode::FORBIDDEN;
                if let Ok(challenge) = HeaderValue::try_from(step_up(&edge)) {
                    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
                }
            }
            response.extensions_mut().insert(record);
            response
        }
        Err(refusal) => refusal.into_response(&edge),
    }
}

/// Identifies the caller, applies its limits and reads the body. The permit is the caller's turn.
async fn admit(
    edge: &Edge,
    request: Request,
) -> Result<(Request, Arc<CallRecord>, tokio::sync::OwnedSemaphorePermit), Refusal> {
    if request.method() != Method::POST {
        return Err(Refusal::Method);
    }
    let (mut parts, body) = request.into_parts();
    let default = edge.factory.default_instance();
    let keys = edge.keys.as_ref().ok_or(Refusal::NoRandomNumbers)?;
    let identity =
        read_identity(&edge.settings.auth, keys, &parts.uri, &parts.headers, default, &edge.instances);
    let caller = edge.caller(keys, identity.map_err(Refusal::Identity)?).await?;
    caller.bucket.take(Instant::now()).map_err(Refusal::Rate)?;
    let turn = Arc::clone(&caller.calls).try_acquire_owned();
    let turn = turn.map_err(|_| Refusal::Concurrency(edge.settings.caller_calls))?;
    let body = read_body(&parts.headers, body).await?;
    let record = Arc::new(CallRecord::new(caller.name.clone()));
    remove_credentials(&mut parts.headers);
    parts.extensions.insert(Arc::clone(&record));
    parts.extensions.insert(caller);
    Ok((Request::from_parts(parts, body), record, turn))
}

/// Credentials go no further than the edge.
fn remove_credentials(headers: &mut HeaderMap) {
    for name in ["authorization", "private-token", "job-token", "cookie"] {
        headers.remove(name);
    }
}

async fn read_body(headers: &HeaderMap, body: Body) -> Result<Body, Refusal> {
    let announced =
        headers.get("content-length").and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > MAX_BODY) {
        return Err(Refusal::TooLarge);
    }
    match tokio::time::timeout(BODY_TIME, axum::body::to_bytes(body, MAX_BODY)).await {
        Ok(Ok(bytes)) => Ok(Body::from(bytes)),
        Ok(Err(error)) if is_length_error(&error) => Err(Refusal::TooLarge),
        Ok(Err(_)) => Err(Refusal::BrokenBody),
        Err(_) => Err(Refusal::SlowBody),
    }
}

/// True if the limit of [`axum::body::to_bytes`] was exceeded.
fn is_length_error(error: &axum::Error) -> bool {
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = source {
        if error.to_string().contains("length limit exceeded") {
            return true;
        }
        source = error.source();
    }
    false
}

/// Adds the security headers, counts the response and writes the access log: no header, no query, no value of a call.
async fn observe(State(edge): State<Arc<Edge>>, request: Request, next: axum::middleware::Next) -> Response {
    let (method, started) = (request.method().clone(), Instant::now());
    let path = known_path(request.uri().path());
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let status = response.status().as_u16();
    edge.metrics.record_response(status);
    let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let record = response.extensions_mut().remove::<Arc<CallRecord>>();
    let labels = record.as_ref().and_then(|record| record.labels());
    let (tool, action, outcome) = labels.map_or(("", "", ""), |labels| {
        (labels.tool.as_str(), labels.action.as_str(), labels.outcome.as_str())
    });
    let method = if is_known(&method) { method.as_str() } else { "OTHER" };
    let caller = record.as_ref().map_or("", |record| record.caller());
    match path {
        // Probes would fill the log.
        "/health" | "/metrics" => tracing::debug!(target: ACCESS, method, path, status, ms),
        _ if labels.is_some() => {
            tracing::info!(target: ACCESS, method, path, status, ms, caller, tool, action, outcome);
        }
        _ => tracing::info!(target: ACCESS, method, path, status, ms, caller),
    }
    response
}

/// The path, if it is one of the server's: another may contain anything.
fn known_path(path: &str) -> &'static str {
    match path {
        ENDPOINT => ENDPOINT,
        "/health" => "/health",
        "/metrics" => "/metrics",
        _ if path.starts_with(METADATA_PATH) => METADATA_PATH,
        _ => "(other)",
    }
}

fn is_known(method: &Method) -> bool {
    [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::HEAD, Method::OPTIONS, Method::PATCH]
        .contains(method)
}

/// Version, uptime and instances; 503 while the server drains.
async fn health(State(edge): State<Arc<Edge>>) -> Response {
    let draining = edge.draining.load(Ordering::Relaxed);
    let instances: Vec<Value> = edge
        .factory
        .upstream()
        .iter()
        .map(|(url, counts)| json!({"url": url.as_str(), "reachable": counts.reachable}))
        .collect();
    let body = json!({
        "status": if draining { "draining" } else { "ok" },
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_seconds": edge.started.elapsed().as_secs(),
        "instances": instances,
    });
    let status = if draining { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    (status, Json(body)).into_response()
}

async fn metrics(State(edge): State<Arc<Edge>>) -> Response {
    let gauges = Gauges {
        callers: edge.callers.count(),
        uptime: edge.started.elapsed(),
        upstream: edge.factory.upstream(),
    };
    let text = edge.metrics.render(&gauges);
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

async fn resource_metadata(State(edge): State<Arc<Edge>>) -> Json<Value> {
    Json(oauth::metadata(&edge.resource(), &edge.instances))
}

/// Frees idle callers from time to time.
pub(super) async fn sweep(edge: Arc<Edge>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        edge.callers.free_idle(Instant::now());
    }
}
