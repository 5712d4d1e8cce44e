//! The edge: what a request passes before it reaches MCP, and what it leaves behind (metrics, access log).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use bytes::Bytes;
use http_body_util::BodyExt;
use rmcp::handler::server::ServerHandler;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Url;

use super::body::{MAX_BODY, read_body};
use super::browsers;
use super::caller_key::{CallerKey, KeyMaker};
use super::callers::{Caller, Callers, NarrowedHandler};
use super::connections::{HttpConnection, RunningRequest};
use super::credentials::{Identity, IdentityError, read_identity};
use super::handler::{CallRecord, HttpHandler};
use super::heads::HeadCheck;
use super::hosts::{is_host_clear, is_of_operator, is_of_page, own_hosts};
use super::metrics::{Gauges, Metrics};
use super::oauth::{self, METADATA_PATH, Rejection};
use super::page::{ServedInstance, ServerPage};
use super::pools::{BodyMemory, Pools};
use super::reachability::Reachability;
use super::refusal::{ENDPOINT, HttpRefusal, step_up};
use super::request_rules::{
    TakesJsonAlone, batch, is_json, malformed_message, rate_error, repeated_header, widen_accept,
};
use super::settings::{AuthMode, HttpSettings, ListenAddress};
use crate::server::handler::Handler;
use crate::server::request_parts::FindTurns;
use crate::surface::{self, Surface};
use crate::tools::{CallerCredential, CallerError, CallerProfile, Instances, Narrowing, Token, ToolsFactory};

/// Target of the access log.
pub const ACCESS: &str = "access_log";

/// Interval at which idle callers are looked for.
const SWEEP: Duration = Duration::from_secs(30);

/// Maximum number of verifications of access tokens at a time.
const VERIFICATIONS: usize = 16;

type McpService<H> = StreamableHttpService<H, NeverSessionManager>;

/// State of the HTTP server.
pub(super) struct Edge {
    factory: Arc<ToolsFactory>,
    surface: surface::SurfaceSettings,
    settings: HttpSettings,
    /// All instances, the default one included.
    instances: Vec<Url>,
    keys: Option<KeyMaker>,
    callers: Callers,
    /// Shared by the callers whose credential GitLab has not accepted yet: made-up tokens cost no more than one caller.
    unaccepted: Pools,
    /// Shared by all callers.
    pools: Pools,
    /// Hosts that the server is called by.
    hosts: Vec<String>,
    /// Describes tools and instructions to whom no caller is known: without a credential, or with the server's own.
    front: Arc<NarrowedHandler>,
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
        surface: surface::SurfaceSettings,
        settings: HttpSettings,
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
            declines: Arc::default(),
        };
        let handler = new_handler(&factory, &surface, profile)?;
        let front = NarrowedHandler { narrowing: Narrowing::default(), token_kind: None, handler };
        Ok(Edge {
            instances: factory.instances().cloned().collect(),
            hosts: own_hosts(&settings),
            factory,
            surface,
            settings,
            keys: KeyMaker::new(),
            callers: Callers::default(),
            unaccepted: Pools::of_caller(),
            pools: Pools::of_server(),
            front: Arc::new(front),
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
    pub(super) fn resource(&self) -> String {
        let base = self.settings.public_url.as_ref().map(|url| url.as_str().trim_end_matches('/').to_owned());
        let base = base.unwrap_or_else(|| match &self.settings.listen {
            ListenAddress::Tcp(address) if self.settings.tls.is_some() => format!("https://{address}"),
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
    async fn caller(&self, keys: &KeyMaker, identity: &Identity) -> Result<Arc<Caller>, HttpRefusal> {
        let digest = identity.credential.as_ref().map(|credential| credential.digest);
        let (key, now) = (keys.key(&identity.base, digest), Instant::now());
        if let Some(caller) = self.callers.get(key, now) {
            return Ok(caller);
        }
        let verified = self.verify(identity, now).await?;
        let caller = Caller::new(CallerKey::name(key), &self.settings, now);
        if self.settings.auth == AuthMode::None {
            caller.accept();
        }
        Ok(self.callers.keep(key, caller, verified, now))
    }

    /// The handler of a caller with the limits that the request asks for.
    fn handler_of(&self, caller: &Caller, identity: Identity) -> Result<Arc<NarrowedHandler>, HttpRefusal> {
        let Identity { base, credential, narrowing } = identity;
        let token = credential.map(|credential| credential.token);
        let token_kind = token.as_ref().map(Token::kind);
        let made = caller.handler(&narrowing, token_kind, || {
            let credential = match self.settings.auth {
                AuthMode::None => CallerCredential::OfServer,
                _ => CallerCredential::Own(token.map(Into::into)),
            };
            let (name, narrowing) = (caller.name.clone(), narrowing.clone());
            let declines = Arc::clone(&caller.declines);
            let handler = new_handler(
                &self.factory,
                &self.surface,
                CallerProfile { name, base, credential, narrowing, declines },
            )?;
            if let Some(scopes) = caller.scopes.get() {
                handler.set_scopes(scopes);
            }
            Ok(handler)
        });
        made.map_err(HttpRefusal::Tools)
    }

    /// The pools that a request of a caller takes from.
    fn pools_of<'a>(&'a self, caller: &'a Caller) -> Vec<&'a Pools> {
        let shared = (!caller.is_accepted()).then_some(&self.unaccepted);
        std::iter::once(&caller.pools).chain(shared).chain([&self.pools]).collect()
    }

    async fn verify(
        &self,
        identity: &Identity,
        now: Instant,
    ) -> Result<Option<oauth::Verified>, HttpRefusal> {
        let (AuthMode::OAuth { applications }, Some(credential)) =
            (&self.settings.auth, &identity.credential)
        else {
            return Ok(None);
        };
        let clients =
            self.factory.connections(&identity.base).ok_or(HttpRefusal::Token(Rejection::Unavailable))?;
        // The semaphore is never closed.
        let _turn = self.verifications.acquire().await.ok();
        oauth::verify(clients, credential, applications, now).await.map(Some).map_err(HttpRefusal::Token)
    }
}

fn new_handler(
    factory: &ToolsFactory,
    surface: &surface::SurfaceSettings,
    profile: CallerProfile,
) -> Result<Handler<Instances>, CallerError> {
    let instances = Arc::new(factory.tools_for(profile)?);
    for (_, tools) in instances.each() {
        surface::reword(tools, surface);
    }
    let surface = Surface::new(surface.clone(), Arc::clone(instances.front()));
    Ok(Handler::without_session(instances, surface))
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
    router = router.route("/", get(server_page).fallback(not_found));
    // Clients add a slash to the URL that they are given.
    router = router.route(ENDPOINT, endpoint.clone()).route(&format!("{ENDPOINT}/"), endpoint);
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
    router
        .fallback(not_found)
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&edge), screen))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&edge), observe))
        .with_state(edge)
}

/// The response to a path that the server does not have: where the endpoint is.
async fn not_found(State(edge): State<Arc<Edge>>, request: Request) -> Response {
    let transport = match request.uri().path().trim_end_matches('/') {
        "/sse" | "/messages" => "the transport with /sse (MCP 2024-11-05) is not offered; ",
        _ => "",
    };
    let message = format!("{transport}the MCP endpoint is {} (streamable HTTP)", edge.resource());
    (StatusCode::NOT_FOUND, Json(json!({"error": "not_found", "message": message}))).into_response()
}

fn mcp_service<H: ServerHandler + Clone>(edge: &Edge, handler: H) -> McpService<H> {
    let settings = &edge.settings;
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_allowed_hosts(edge.hosts.clone())
        .with_allowed_origins(allowed_origins(settings))
        .with_max_request_body_bytes(MAX_BODY)
        .enforce_origin_validation();
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(NeverSessionManager::default()), config)
}

/// The configured origins, and those of the server itself: a page that another server of this machine serves has
/// another port.
fn allowed_origins(settings: &HttpSettings) -> Vec<String> {
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
        Ok(admitted) => {
            if let Some(messages) = batch(&admitted.parts.headers, &admitted.body) {
                return serve_batch(service, admitted, messages).await;
            }
            let Admitted { parts, body, record, share } = admitted;
            let mut response = serve_message(&service, parts, body).await;
            let needs_scope = record.needs_scope() && matches!(edge.settings.auth, AuthMode::OAuth { .. });
            if needs_scope {
                *response.status_mut() = StatusCode::FORBIDDEN;
                if let Ok(challenge) = HeaderValue::try_from(step_up(edge.metadata_url().as_deref())) {
                    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
                }
            }
            response.extensions_mut().insert(Records(vec![record]));
            response.map(|body| share.until_end_of(body))
        }
        Err(refusal) => refusal.respond(edge.metadata_url().as_deref()),
    }
}

/// The records of the messages of a request.
#[derive(Clone)]
struct Records(Vec<Arc<CallRecord>>);

/// Serves one message.
async fn serve_message<H: ServerHandler + Clone>(
    service: &McpService<H>,
    parts: Parts,
    body: Bytes,
) -> Response {
    let claims_json = is_json(&parts.headers);
    let request = Request::from_parts(parts, Body::from(body.clone()));
    let response = service.handle(request).await.map(Body::new).into_response();
    match claims_json && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        true => malformed_message(&body),
        false => response,
    }
}

/// Serves the messages of a batch one after the other. Each takes from the rate of the caller, and is recorded by itself;
/// none is told progress, as the responses are one array.
async fn serve_batch<H: ServerHandler + Clone>(
    service: McpService<H>,
    admitted: Admitted,
    messages: Vec<Bytes>,
) -> Response {
    let Admitted { mut parts, record, share, body: _ } = admitted;
    parts.headers.remove(CONTENT_LENGTH);
    parts.extensions.insert(TakesJsonAlone);
    let (mut responses, mut records) = (Vec::new(), Vec::new());
    for (message, number) in messages.into_iter().zip(0..) {
        // The edge took the turn of the first.
        let turn = if number == 0 { Ok(()) } else { share.caller.bucket.take(Instant::now()) };
        if let Err(pause) = turn {
            responses.extend(rate_error(&message, pause));
            continue;
        }
        let record = Arc::new(CallRecord::new(record.caller().to_owned()));
        let mut parts = parts.clone();
        parts.extensions.insert(Arc::clone(&record));
        let response = serve_message(&service, parts, message).await;
        if response.status() == StatusCode::NOT_ACCEPTABLE {
            // The client takes no JSON: none of the messages was handled.
            return response;
        }
        let bytes = response.into_body().collect().await.map(http_body_util::Collected::to_bytes);
        responses.extend(serde_json::from_slice::<Value>(&bytes.unwrap_or_default()).ok());
        records.push(record);
    }
    let mut response = match responses.is_empty() {
        true => StatusCode::ACCEPTED.into_response(),
        false => Json(responses).into_response(),
    };
    response.extensions_mut().insert(Records(records));
    response
}

/// A request of an identified caller.
struct Admitted {
    parts: Parts,
    body: Bytes,
    record: Arc<CallRecord>,
    share: Share,
}

/// Shares of the limits of a caller and of the server that a request holds until its response has ended.
struct Share {
    caller: Arc<Caller>,
    _turn: OwnedSemaphorePermit,
    _memory: BodyMemory,
    _running: Option<RunningRequest>,
}

impl Share {
    /// Keeps the share until a streamed body has ended. A whole one is already there.
    fn until_end_of(self, body: Body) -> Body {
        match body.size_hint().exact() {
            Some(_) => body,
            None => Body::new(body.map_frame(move |frame| {
                let _ = &self;
                frame
            })),
        }
    }
}

/// Identifies the caller, applies its limits and reads the body.
async fn admit(edge: &Edge, request: Request) -> Result<Admitted, HttpRefusal> {
    if request.method() != Method::POST {
        return Err(HttpRefusal::Method);
    }
    let (mut parts, body) = request.into_parts();
    if let Some(name) = repeated_header(&parts.headers) {
        return Err(HttpRefusal::Identity(IdentityError::Duplicate(name.to_string())));
    }
    let default = edge.factory.default_instance();
    let keys = edge.keys.as_ref().ok_or(HttpRefusal::NoRandomNumbers)?;
    let identity =
        read_identity(&edge.settings.auth, keys, &parts.uri, &parts.headers, default, &edge.instances);
    let identity = identity.map_err(HttpRefusal::Identity)?;
    let caller = edge.caller(keys, &identity).await?;
    caller.bucket.take(Instant::now()).map_err(HttpRefusal::Rate)?;
    let turn = Arc::clone(&caller.calls).try_acquire_owned();
    let turn = turn.map_err(|_| HttpRefusal::Concurrency(edge.settings.caller_calls))?;
    let connection = parts.extensions.get::<Arc<HttpConnection>>().cloned();
    // A slow body of anybody else leaves the connection to others.
    let mut running = connection.as_ref().filter(|_| caller.is_accepted()).map(|connection| {
        connection.trust();
        connection.begin_request()
    });
    let pools = edge.pools_of(&caller);
    let mut memory = BodyMemory::new(&pools);
    let body = read_body(&parts.headers, body, &mut memory).await.map_err(HttpRefusal::Body)?;
    if running.is_none() {
        running = connection.as_ref().map(HttpConnection::begin_request);
    }
    let finds = pools.iter().map(|pools| Arc::clone(&pools.finds)).collect();
    let record = Arc::new(CallRecord::new(caller.name.clone()));
    remove_credentials(&mut parts.headers);
    if let Some(alone) = widen_accept(&mut parts.headers) {
        parts.extensions.insert(alone);
    }
    parts.extensions.insert(Arc::clone(&record));
    parts.extensions.insert(edge.handler_of(&caller, identity)?);
    parts.extensions.insert(FindTurns(finds));
    let share = Share { caller: Arc::clone(&caller), _turn: turn, _memory: memory, _running: running };
    Ok(Admitted { parts, body, record, share })
}

/// Credentials go no further than the edge.
fn remove_credentials(headers: &mut HeaderMap) {
    for name in ["authorization", "private-token", "job-token", "cookie"] {
        headers.remove(name);
    }
}

/// Refuses a request whose head or host another program could read in another way. Its connection is closed if the end
/// of the request is not known.
async fn screen(State(edge): State<Arc<Edge>>, request: Request, next: axum::middleware::Next) -> Response {
    let check = request.extensions().get::<HeadCheck>().copied();
    let fault = check.and_then(|check| check.fault);
    let origin = browsers::allowed_origin(&allowed_origins(&edge.settings), request.headers());
    let preflight = origin.as_ref().and_then(|_| browsers::preflight(request.method(), request.headers()));
    let mut response = match (fault, preflight) {
        (Some(fault), _) => HttpRefusal::Head(fault).respond(edge.metadata_url().as_deref()),
        (None, _) if !is_host_clear(request.uri(), request.headers()) => {
            HttpRefusal::Host.respond(edge.metadata_url().as_deref())
        }
        (None, Some(preflight)) => preflight,
        (None, None) => next.run(request).await,
    };
    if let Some(origin) = origin {
        browsers::allow_reading(response.headers_mut(), origin);
    }
    if check.is_some_and(|check| check.is_last) {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
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
    let records = response.extensions_mut().remove::<Records>().map(|records| records.0).unwrap_or_default();
    let caller = records.first().map_or("", |record| record.caller());
    let method = if is_known(&method) { method.as_str() } else { "OTHER" };
    let calls: Vec<_> = records.iter().filter_map(|record| record.labels()).collect();
    for labels in &calls {
        let (tool, action, outcome) = (&*labels.tool, &*labels.action, &*labels.outcome);
        tracing::info!(target: ACCESS, method, path, status, ms, caller, tool, action, outcome);
    }
    match path {
        // Probes would fill the log.
        "/health" | "/metrics" => tracing::debug!(target: ACCESS, method, path, status, ms),
        _ if calls.is_empty() => tracing::info!(target: ACCESS, method, path, status, ms, caller),
        _ => {}
    }
    response
}

/// The path, if it is one of the server's: another may contain anything.
fn known_path(path: &str) -> &'static str {
    match path {
        _ if path.trim_end_matches('/') == ENDPOINT => ENDPOINT,
        "/" => "/",
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
/// another status: the server would be taken out by a fault that it can report. Under the name of another host, a probe
/// gets the status alone.
async fn health(State(edge): State<Arc<Edge>>, headers: HeaderMap) -> Response {
    if !is_of_operator(&edge.hosts, &headers) {
        return health_status(State(edge), headers).await;
    }
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

/// The page for a person with a browser. A page of another origin, or under another name, does not learn the instances.
async fn server_page(State(edge): State<Arc<Edge>>, headers: HeaderMap) -> Response {
    // With an address of their own for operational data, the public one shows none.
    let shows_instances = edge.settings.metrics.is_none() && is_of_operator(&edge.hosts, &headers);
    let instances = match shows_instances {
        false => Vec::new(),
        true => {
            let probed = edge.reachability.probe(&edge.factory).await;
            let instance = |url: &Url| ServedInstance {
                url: url.as_str().to_owned(),
                is_reachable: probed.is_reachable(url),
            };
            edge.instances.iter().map(instance).collect()
        }
    };
    ServerPage { endpoint: edge.resource(), auth: &edge.settings.auth, instances }.into_response()
}

/// The status alone, for a public address.
async fn health_status(State(edge): State<Arc<Edge>>, headers: HeaderMap) -> Response {
    if is_of_page(&headers) {
        return HttpRefusal::Operation.respond(edge.metadata_url().as_deref());
    }
    let (code, status) = edge.status();
    (code, Json(json!({"status": status}))).into_response()
}

async fn metrics(State(edge): State<Arc<Edge>>, headers: HeaderMap) -> Response {
    if !is_of_operator(&edge.hosts, &headers) {
        return HttpRefusal::Operation.respond(edge.metadata_url().as_deref());
    }
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
