//! The edge: what a request passes before it reaches MCP, and what it leaves behind (metrics, access log).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use bytes::Bytes;
use rmcp::handler::server::ServerHandler;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Url;

use super::body::{BodyError, MAX_BODY, read_body};
use super::bucket::Bucket;
use super::caller_key::{CallerKey, KeyMaker};
use super::callers::{Caller, Callers};
use super::credentials::{Identity, IdentityError, read_identity};
use super::handler::{CallRecord, HttpHandler};
use super::metrics::{Gauges, Metrics};
use super::oauth::{self, METADATA_PATH, Rejection};
use super::reachability::Reachability;
use super::request_rules::{is_json, malformed_message, repeated_header};
use super::settings::{AuthMode, ListenAddress, Settings};
use crate::server::handler::Handler;
use crate::surface::{self, Surface};
use crate::tools::{CallerCredential, CallerError, CallerProfile, Narrowing, ToolsFactory};

/// Target of the access log.
pub const ACCESS: &str = "access_log";

/// Interval at which idle callers are looked for.
const SWEEP: Duration = Duration::from_secs(30);

/// Path of the MCP endpoint.
const ENDPOINT: &str = "/mcp";

/// Maximum number of verifications of access tokens at a time.
const VERIFICATIONS: usize = 16;

/// Time that a refused client is asked to wait at least.
const PAUSE: Duration = Duration::from_secs(1);

type McpService<H> = StreamableHttpService<H, NeverSessionManager>;

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
    reachability: Arc<Reachability>,
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
            credential: match settings.auth {
                AuthMode::None => CallerCredential::OfServer,
                _ => CallerCredential::Own(None),
            },
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
            reachability: Arc::default(),
            started: now,
            draining: AtomicBool::new(false),
        })
    }

    /// The product's MCP handler.
    pub(super) fn handler(&self) -> HttpHandler {
        HttpHandler {
            front: Arc::clone(&self.front),
            metrics: Arc::clone(&self.metrics),
            factory: Arc::clone(&self.factory),
        }
    }

    /// Makes `/health` answer 503.
    pub(super) fn start_draining(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// The status of the server, in HTTP and in a word.
    fn status(&self) -> (StatusCode, &'static str) {
        match self.draining.load(Ordering::Relaxed) {
            true => (StatusCode::SERVICE_UNAVAILABLE, "draining"),
            false => (StatusCode::OK, "ok"),
        }
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
        let credential = match self.settings.auth {
            AuthMode::None => CallerCredential::OfServer,
            _ => CallerCredential::Own(identity.credential.map(|credential| credential.token.into())),
        };
        let Identity { base, narrowing, .. } = identity;
        let profile = CallerProfile { name: CallerKey::name(key), base, credential, narrowing };
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
    let instances = Arc::new(factory.tools_for(profile)?);
    for (_, tools) in instances.each() {
        surface::reword(tools, surface);
    }
    let surface = Surface::new(surface.clone(), Arc::clone(instances.front()));
    Ok(Caller {
        name,
        handler: Handler::without_session(instances, surface),
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
    Body(BodyError),
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
            Refusal::Identity(_) | Refusal::Narrowing(_) | Refusal::Body(BodyError::Broken) => {
                StatusCode::BAD_REQUEST
            }
            Refusal::Token(Rejection::InvalidToken(_)) => StatusCode::UNAUTHORIZED,
            Refusal::Token(Rejection::InsufficientScope) => StatusCode::FORBIDDEN,
            Refusal::Token(Rejection::Unavailable) | Refusal::NoRandomNumbers => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Refusal::Rate(_) | Refusal::Concurrency(_) => StatusCode::TOO_MANY_REQUESTS,
            Refusal::Body(BodyError::TooLarge) => StatusCode::PAYLOAD_TOO_LARGE,
            Refusal::Body(BodyError::Slow) => StatusCode::REQUEST_TIMEOUT,
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
            Refusal::Body(error) => error.to_string(),
            Refusal::NoRandomNumbers => "the system has no random numbers".to_owned(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Refusal::Method => "method_not_allowed",
            Refusal::Identity(IdentityError::Missing { .. } | IdentityError::OAuthOnly) => "unauthorized",
            Refusal::Identity(IdentityError::UnknownInstance { .. }) => "unknown_instance",
            Refusal::Identity(_) | Refusal::Narrowing(_) | Refusal::Body(BodyError::Broken) => {
                "invalid_request"
            }
            Refusal::Token(Rejection::InvalidToken(_)) => "invalid_token",
            Refusal::Token(Rejection::InsufficientScope) => "insufficient_scope",
            Refusal::Token(Rejection::Unavailable) | Refusal::NoRandomNumbers => "unavailable",
            Refusal::Rate(_) | Refusal::Concurrency(_) => "rate_limited",
            Refusal::Body(BodyError::TooLarge) => "too_large",
            Refusal::Body(BodyError::Slow) => "timeout",
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

/// The routes of the server. With an address of their own for `/health` and `/metrics`, only the status is public.
pub(super) fn router<H: ServerHandler + Clone>(edge: Arc<Edge>, handler: H) -> Router {
    let service = mcp_service(&edge, handler);
    let endpoint = any(move |State(edge): State<Arc<Edge>>, request: Request| {
        let service = service.clone();
        async move { serve_endpoint(edge, service, request).await }
    });
    let mut router = match edge.settings.metrics {
        None => operation_routes(),
        Some(_) => Router::new().route("/health", get(health_status)),
    };
    router = router.route(ENDPOINT, endpoint);
    if let AuthMode::OAuth { .. } = edge.settings.auth {
        router = router
            .route(METADATA_PATH, get(resource_metadata))
            .route(&format!("{METADATA_PATH}{ENDPOINT}"), get(resource_metadata));
    }
    finish(router, edge)
}

/// The routes of the address of GITLAB_MCP_METRICS.
pub(super) fn operation_router(edge: Arc<Edge>) -> Router {
    finish(operation_routes(), edge)
}

fn operation_routes() -> Router<Arc<Edge>> {
    Router::new().route("/health", get(health)).route("/metrics", get(metrics))
}

fn finish(router: Router<Arc<Edge>>, edge: Arc<Edge>) -> Router {
    let observed = Arc::clone(&edge);
    router
        .fallback(|| async { (StatusCode::NOT_FOUND, Json(json!({"error": "not_found"}))) })
        .layer(axum::middleware::from_fn_with_state(observed, observe))
        .with_state(edge)
}

fn mcp_service<H: ServerHandler + Clone>(edge: &Edge, handler: H) -> McpService<H> {
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

async fn serve_endpoint<H: ServerHandler + Clone>(
    edge: Arc<Edge>,
    service: McpService<H>,
    request: Request,
) -> Response {
    match admit(&edge, request).await {
        Ok(Admitted { parts, body, record, _turn }) => {
            let claims_json = is_json(&parts.headers);
            let request = Request::from_parts(parts, Body::from(body.clone()));
            let mut response = service.handle(request).await.map(Body::new).into_response();
            if claims_json && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
                response = malformed_message(&body);
            }
            let needs_scope = record.needs_scope() && matches!(edge.settings.auth, AuthMode::OAuth { .. });
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

/// A request of an identified caller.
struct Admitted {
    parts: Parts,
    body: Bytes,
    record: Arc<CallRecord>,
    /// The caller's turn.
    _turn: OwnedSemaphorePermit,
}

/// Identifies the caller, applies its limits and reads the body.
async fn admit(edge: &Edge, request: Request) -> Result<Admitted, Refusal> {
    if request.method() != Method::POST {
        return Err(Refusal::Method);
    }
    let (mut parts, body) = request.into_parts();
    if let Some(name) = repeated_header(&parts.headers) {
        return Err(Refusal::Identity(IdentityError::Duplicate(name.to_string())));
    }
    let default = edge.factory.default_instance();
    let keys = edge.keys.as_ref().ok_or(Refusal::NoRandomNumbers)?;
    let identity =
        read_identity(&edge.settings.auth, keys, &parts.uri, &parts.headers, default, &edge.instances);
    let caller = edge.caller(keys, identity.map_err(Refusal::Identity)?).await?;
    caller.bucket.take(Instant::now()).map_err(Refusal::Rate)?;
    let turn = Arc::clone(&caller.calls).try_acquire_owned();
    let turn = turn.map_err(|_| Refusal::Concurrency(edge.settings.caller_calls))?;
    let body = read_body(&parts.headers, body).await.map_err(Refusal::Body)?;
    let record = Arc::new(CallRecord::new(caller.name.clone()));
    remove_credentials(&mut parts.headers);
    parts.extensions.insert(Arc::clone(&record));
    parts.extensions.insert(caller);
    Ok(Admitted { parts, body, record, _turn: turn })
}

/// Credentials go no further than the edge.
fn remove_credentials(headers: &mut HeaderMap) {
    for name in ["authorization", "private-token", "job-token", "cookie"] {
        headers.remove(name);
    }
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

/// Version, uptime and instances; 503 while the server drains. An instance that does not answer is no reason for
/// another status: the server would be taken out by a fault that it can report.
async fn health(State(edge): State<Arc<Edge>>) -> Response {
    let probed = edge.reachability.probe(&edge.factory).await;
    let instances = edge.instances.iter();
    let instances: Vec<Value> =
        instances.map(|url| json!({"url": url.as_str(), "reachable": probed.is_reachable(url)})).collect();
    let (code, status) = edge.status();
    let body = json!({
        "status": status,
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_seconds": edge.started.elapsed().as_secs(),
        "instances": instances,
    });
    (code, Json(body)).into_response()
}

/// The status alone, for a public address.
async fn health_status(State(edge): State<Arc<Edge>>) -> Response {
    let (code, status) = edge.status();
    (code, Json(json!({"status": status}))).into_response()
}

async fn metrics(State(edge): State<Arc<Edge>>) -> Response {
    edge.reachability.start(&edge.factory);
    let gauges = Gauges {
        callers: edge.callers.count(),
        uptime: edge.started.elapsed(),
        upstream: edge.factory.upstream(),
        probed: edge.reachability.latest(),
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
