//! The client: a call to a request, its attempts and redirects, an answer to a reply.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Request, Response, multipart, redirect as follow};

use super::body::{self, Stopped};
use super::redirect::{self, Hop};
use super::retry::{self, Retries};
use super::{
    Applied, Content, GitlabError, NotFollowed, Page, Reply, Settings, Unread, refusal, target, tls,
};
use crate::call::{Body, Call, Part};
use crate::catalog::{Method, Risk};

const USER_AGENT: &str = concat!("gitlab-mcp/", env!("CARGO_PKG_VERSION"));

/// A little under the 65 s after which GitLab's nginx closes an idle connection: a write on a connection that
/// is just being closed is lost, and nobody knows whether before or after it was read.
const IDLE: Duration = Duration::from_secs(50);

/// The first pause between attempts.
const PACE: Duration = Duration::from_millis(200);

/// Sends calls to one GitLab instance. Cheap to make: sockets, certificates and TLS wait for the first call.
pub struct Client {
    settings: Settings,
    http: OnceLock<reqwest::Client>,
    pace: Duration,
}

impl Client {
    pub fn new(settings: Settings) -> Client {
        Client { settings, http: OnceLock::new(), pace: PACE }
    }

    /// The proxy of the environment that requests to GitLab go through: its scheme, host and port, and never who
    /// signs in there.
    pub fn proxy(&self) -> Option<String> {
        if redirect::is_loopback(&self.settings.base) {
            return None;
        }
        let proxy = Matcher::from_system().intercept(&self.settings.base.as_str().parse().ok()?)?;
        let (scheme, host) = (proxy.uri().scheme_str().unwrap_or("http"), proxy.uri().host()?);
        Some(match proxy.uri().port_u16() {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}"),
        })
    }

    /// Sends one call and reads its answer. Dropping the future stops it.
    pub async fn send(&self, call: &Call) -> Result<Reply, GitlabError> {
        let started = Instant::now();
        let result = self.attempts(call, started).await;
        let status = match &result {
            Ok(reply) => Some(reply.status),
            Err(error) => error.status(),
        };
        tracing::debug!(
            method = call.method().name(),
            operation = call.operation(),
            status,
            ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            bytes = result.as_ref().map_or(0, |reply| reply.bytes),
            "sent"
        );
        result
    }

    async fn attempts(&self, call: &Call, started: Instant) -> Result<Reply, GitlabError> {
        let url = target::url(&self.settings.base, call)?;
        let http = self.http()?;
        let left = || self.settings.timeout.saturating_sub(started.elapsed());
        let mut retries = Retries::new(&self.settings, self.pace, call.method().is_safe());
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.attempt(http, call, Hop::first(url.clone()), left).await {
                Ok(reply) => return Ok(Reply { attempts, ..reply }),
                Err(error) => match retries.pause(&error, left()) {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => return Err(error),
                },
            }
        }
    }

    /// One request and the redirects it leads to.
    async fn attempt(
        &self,
        http: &reqwest::Client,
        call: &Call,
        first: Hop,
        left: impl Fn() -> Duration,
    ) -> Result<Reply, GitlabError> {
        let mut hop = first;
        for _ in 0..=redirect::MAX_HOPS {
            let request = self.request(http, call, &hop, left())?;
            let sent = http.execute(request).await;
            let response = sent.map_err(|error| self.lost(error, call, &hop))?;
            let (status, headers) = (response.status(), response.headers());
            match hop.next(&self.settings.base, call.method(), status, headers, changes(call))? {
                Some(next) => hop = next,
                None => return self.receive(call, &hop, response).await,
            }
        }
        let (to_host, reason) = (hop.host(), NotFollowed::TooMany);
        Err(GitlabError::Redirect { to_host, reason, applied: Applied::No })
    }

    fn request(
        &self,
        http: &reqwest::Client,
        call: &Call,
        hop: &Hop,
        left: Duration,
    ) -> Result<Request, GitlabError> {
        let mut request = http.request(method(call.method()), hop.url.clone()).timeout(left);
        if hop.trusted
            && let Some(token) = &self.settings.token
        {
            let (name, value) = token.header();
            let mut value = HeaderValue::try_from(value).map_err(|_| {
                // Without its source, which may quote the value.
                let what = "the token holds characters that no header can carry".to_owned();
                GitlabError::Setup { what, source: None }
            })?;
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        if !hop.redirected {
            request = match call.body() {
                Body::Empty => request,
                Body::Json(value) => request.json(value),
                Body::Multipart(parts) => request.multipart(form(parts)),
                Body::Raw(bytes) => {
                    request.header(CONTENT_TYPE, "application/octet-stream").body(bytes.clone())
                }
            };
        }
        request.build().map_err(|error| self.lost(error, call, hop))
    }

    async fn receive(&self, call: &Call, hop: &Hop, mut response: Response) -> Result<Reply, GitlabError> {
        let status = response.status();
        hop.check_answer(status, response.headers())?;
        // What a stranger says of pages and requests is not GitLab's.
        let headers = if hop.trusted { response.headers().clone() } else { HeaderMap::new() };
        let request_id = body::text(&headers, "x-request-id");
        if !status.is_success() {
            let limit = self.settings.max_body.min(refusal::MAX_BODY);
            let body = body::read_start(&mut response, limit).await;
            let text = String::from_utf8_lossy(&body).into_owned();
            let text = self.settings.token.iter().fold(text, |text, token| token.redact(text));
            let said = refusal::read(status, &text).with_scopes(response.headers());
            let again = retry::retry_after(status, response.headers());
            return Err(GitlabError::from_answer(status.as_u16(), said, request_id, again, changes(call)));
        }
        let mut reply = Reply { status: status.as_u16(), request_id, ..Reply::default() };
        reply.page = Page::read(&headers, &hop.url, call.query());
        if call.method() == Method::Head {
            reply.headers = gitlab_headers(&headers);
            return Ok(reply);
        }
        match body::read(&mut response, self.settings.max_body).await {
            Ok(bytes) => {
                reply.bytes = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                reply.content = body::content(status, response.headers(), bytes);
            }
            // The change was made: GitLab says so before it says the rest.
            Err(stopped) if changes(call) && tells_by_status(call) => {
                reply.content = Content::Unread(match stopped {
                    Stopped::TooLarge { size } => Unread::TooLarge { limit: self.settings.max_body, size },
                    Stopped::Broken(_) => Unread::Lost,
                });
            }
            Err(Stopped::TooLarge { size }) => {
                let applied = if changes(call) { Applied::Unknown } else { Applied::No };
                return Err(GitlabError::TooLarge { limit: self.settings.max_body, size, applied });
            }
            Err(Stopped::Broken(error)) => return Err(self.lost(error, call, hop)),
        }
        Ok(reply)
    }

    fn lost(&self, error: reqwest::Error, call: &Call, hop: &Hop) -> GitlabError {
        let Settings { connect_timeout, timeout, .. } = self.settings;
        let after = if error.is_connect() { connect_timeout } else { timeout };
        GitlabError::from_transport(error, &hop.host(), after, changes(call))
    }

    /// The one reqwest client, made when it is first needed. One that could not be made is tried again next
    /// time: a CA file may be put right meanwhile.
    fn http(&self) -> Result<&reqwest::Client, GitlabError> {
        if let Some(http) = self.http.get() {
            return Ok(http);
        }
        let made = self.make()?;
        Ok(self.http.get_or_init(|| made))
    }

    fn make(&self) -> Result<reqwest::Client, GitlabError> {
        let builder = reqwest::Client::builder()
            .user_agent(USER_AGENT)
            .connect_timeout(self.settings.connect_timeout)
            .pool_idle_timeout(IDLE)
            .redirect(follow::Policy::none())
            .referer(false)
            .gzip(true)
            .tls_backend_preconfigured(tls::config(&self.settings)?);
        // The proxies of the environment are reqwest's to find; none of them can reach this machine.
        let loopback = redirect::is_loopback(&self.settings.base);
        let builder = if loopback { builder.no_proxy() } else { builder };
        builder.build().map_err(|error| {
            let what = "the HTTP client could not be made".to_owned();
            GitlabError::Setup { what, source: Some(Box::new(error)) }
        })
    }

    /// The same with another first pause between attempts.
    #[cfg(test)]
    pub(super) fn with_pace(self, pace: Duration) -> Client {
        Client { pace, ..self }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Whether the call is to change something: the catalog knows, where the method does not (a POST that lints).
fn changes(call: &Call) -> bool {
    call.risk() != Risk::Read
}

/// Whether the status alone says that the change was made. GraphQL answers 200 to what it refuses.
fn tells_by_status(call: &Call) -> bool {
    !call.path().ends_with("/api/graphql")
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

/// A form in which each file has the media type of its name: GitLab looks at it for images.
fn form(parts: &[Part]) -> multipart::Form {
    parts.iter().fold(multipart::Form::new(), |form, part| match part {
        Part::Text { name, value } => form.text(name.clone(), value.clone()),
        Part::File { name, filename, bytes } => {
            let mut headers = HeaderMap::new();
            let kind = mime_guess::from_path(filename).first_or_octet_stream();
            if let Ok(kind) = HeaderValue::try_from(kind.as_ref()) {
                headers.insert(reqwest::header::CONTENT_TYPE, kind);
            }
            let file = multipart::Part::bytes(bytes.clone()).file_name(filename.clone()).headers(headers);
            form.part(name.clone(), file)
        }
    })
}

fn gitlab_headers(headers: &HeaderMap) -> BTreeMap<String, String> {
    let ours = headers.keys().map(|name| name.as_str()).filter(|name| name.starts_with("x-gitlab-"));
    ours.filter_map(|name| Some((name.to_owned(), body::text(headers, name)?))).collect()
}
