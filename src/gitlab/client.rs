//! HTTP client of one GitLab instance: attempts, redirects, and the classification of responses.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode};
use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit};
use url::Url;

use super::body::{self, ReceivedBody, Stopped};
use super::progress::{Event, notify};
use super::rate_limit::RateLimitSnapshot;
use super::redirect::{self, Hop};
use super::retry::{self, Budget, LONGEST_PAUSE, Retries};
use super::transport::HttpClients;
use super::{
    Applied, BodySink, ClientSettings, Content, Credential, CredentialError, GitlabError, IssuedToken,
    NotFollowed, Page, Reply, ServerState, Token, TokenDescription, Unread, body_sink, error_body,
    file_paths, gitlab_url, oauth, request,
};
use crate::call::Call;
use crate::catalog::{Method, Risk};
use crate::policy::Permit;
use crate::untrusted::Secrets;

/// Pause before the first retry.
const PACE: Duration = Duration::from_millis(200);

/// Client of one GitLab instance, which sends permitted calls only. Cheap to create: connections, certificates and TLS
/// are set up by the first call.
pub struct Client {
    settings: ClientSettings,
    secrets: Secrets,
    http_clients: Arc<HttpClients>,
    turns: Semaphore,
    budget: Budget,
    seen: RateLimitSnapshot,
    pace: Duration,
}

impl Client {
    pub fn new(settings: ClientSettings) -> Client {
        let http_clients = Arc::new(HttpClients::new(&settings));
        Client::with_connections(settings, http_clients)
    }

    /// Creates a client on the connections of another one to the same instance: credentials belong to requests, never
    /// to connections.
    pub fn with_connections(settings: ClientSettings, http_clients: Arc<HttpClients>) -> Client {
        Client {
            http_clients,
            turns: Semaphore::new(settings.in_flight),
            secrets: settings.secrets(),
            settings,
            budget: Budget::default(),
            seen: RateLimitSnapshot::default(),
            pace: PACE,
        }
    }

    /// Sends one call and reads its response. Dropping the future cancels the request.
    pub async fn send(&self, permit: &Permit) -> Result<Reply, GitlabError> {
        self.sent(permit, None).await
    }

    /// Like [`Client::send`], but streams the body of a success into `sink`. The reply has no content but carries
    /// GitLab's own headers. A body above the size limit is not an error here.
    pub async fn send_through(
        &self,
        permit: &Permit,
        sink: &mut (dyn BodySink + '_),
    ) -> Result<Reply, GitlabError> {
        self.sent(permit, Some(sink)).await
    }

    async fn sent(
        &self,
        permit: &Permit,
        sink: Option<&mut (dyn BodySink + '_)>,
    ) -> Result<Reply, GitlabError> {
        let call = permit.call();
        // The deadline starts after the system's certificates are loaded, which happens once.
        self.http_clients.open()?;
        let started = Instant::now();
        let time = Time { started, all: self.settings.timeout, kept: self.settings.connect_time() };
        let result = self.attempts(permit, time, sink).await;
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

    /// The current token; none for requests without one.
    ///
    /// # Errors
    /// The source of the token failed.
    pub async fn token(&self) -> Result<Option<Token>, GitlabError> {
        Ok(self.issued_token().await?.map(|issued| issued.token))
    }

    /// The current token and its expiry, if the source of the token knows it.
    ///
    /// # Errors
    /// The source of the token failed.
    pub async fn issued_token(&self) -> Result<Option<IssuedToken>, GitlabError> {
        let Some(credential) = &self.settings.credential else { return Ok(None) };
        let issued = credential.current().await?;
        if let Some(issued) = &issued {
            self.secrets.remember(issued.token.reveal());
        }
        Ok(issued)
    }

    /// True if requests carry no token.
    pub fn is_anonymous(&self) -> bool {
        self.settings.credential.as_ref().is_none_or(Credential::is_missing)
    }

    /// True if the token is that of a caller of a shared server, who can replace it; the settings cannot.
    pub fn has_callers_token(&self) -> bool {
        self.settings.token_remedy.is_some()
    }

    /// Replaces a rejected token. Returns true if there is another one to send.
    async fn replace(&self, rejected: &Token) -> Result<bool, CredentialError> {
        match &self.settings.credential {
            Some(credential) => credential.replace(rejected).await,
            None => Ok(false),
        }
    }

    /// Adds to a 401 what the source of the token advises, or why it could not renew the token.
    fn advise(&self, error: GitlabError, failed: Option<CredentialError>) -> GitlabError {
        let GitlabError::Unauthorized { answer, expired, .. } = error else { return error };
        let expired = expired || failed.is_some();
        let remedy = match failed {
            Some(CredentialError { what, hint }) => {
                Some(format!("The token could not be renewed: {what}. {hint}"))
            }
            None => self
                .settings
                .token_remedy
                .clone()
                .or_else(|| self.settings.credential.as_ref().and_then(Credential::remedy)),
        };
        GitlabError::Unauthorized { answer, expired, remedy }
    }

    /// The token and the values of extra headers, for redaction.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Clock offset, rate limit and HTTP version from the most recent responses.
    pub fn server_state(&self) -> ServerState {
        self.seen.last()
    }

    /// Expiry of the certificate that GitLab presented; none without TLS or before the first request.
    pub fn certificate_expiry(&self) -> Option<SystemTime> {
        self.http_clients.certificate_expiry()
    }

    /// GitLab's description of the current token; none if it is not an OAuth token, or is rejected.
    ///
    /// # Errors
    /// The source of the token failed, or the instance gave no answer.
    pub async fn describe_token(&self) -> Result<Option<TokenDescription>, GitlabError> {
        match self.token().await? {
            Some(Token::OAuth(token)) => oauth::describe_token(&self.http_clients, &token).await,
            _ => Ok(None),
        }
    }

    /// The proxy used for requests to GitLab: scheme, host and port.
    pub fn proxy(&self) -> Option<String> {
        self.http_clients.proxy(&self.settings.base)
    }

    async fn attempts(
        &self,
        permit: &Permit,
        time: Time,
        mut sink: Option<&mut (dyn BodySink + '_)>,
    ) -> Result<Reply, GitlabError> {
        let call = permit.call();
        let url = gitlab_url::url(&self.settings.base, call)?;
        let mut retries = Retries::new(&self.settings, self.pace, call.is_repeatable(), &self.budget);
        let (mut attempts, mut is_renewed) = (0, false);
        loop {
            attempts += 1;
            let token = self.token().await?;
            let mut rejected = false;
            let sent =
                self.attempt(permit, url.clone(), token.as_ref(), time, &mut rejected, sink.as_deref_mut());
            let error = match sent.await {
                Ok(reply) => {
                    self.budget.earn();
                    return Ok(reply);
                }
                Err(error) => error,
            };
            let error = match token.filter(|_| rejected) {
                // A request with a rejected token was not carried out, so that a change may be sent again, too.
                Some(token) if !is_renewed => {
                    is_renewed = true;
                    match self.replace(&token).await {
                        Ok(true) => continue,
                        Ok(false) => self.advise(error, None),
                        Err(failed) => self.advise(error, Some(failed)),
                    }
                }
                Some(_) => self.advise(error, None),
                None => error,
            };
            let Some(pause) = retries.pause(&error, time.left_to_begin()) else {
                // A 4xx other than 429 shows that the server is up.
                if error.status().is_some_and(|status| status < 500 && status != 429) {
                    self.budget.earn();
                }
                return Err(error);
            };
            notify(Event::Retry { attempt: attempts + 1, pause, status: error.status() });
            tokio::time::sleep(pause).await;
        }
    }

    /// Sends one request within the concurrency limit and follows its redirects. The slot is released between attempts.
    /// `rejected` becomes true if GitLab answers a request with the token by 401.
    async fn attempt(
        &self,
        permit: &Permit,
        url: Url,
        token: Option<&Token>,
        time: Time,
        rejected: &mut bool,
        sink: Option<&mut (dyn BodySink + '_)>,
    ) -> Result<Reply, GitlabError> {
        let call = permit.call();
        self.wait_for_rate(time).await?;
        let _turn = self.turn(time).await?;
        // If the deadline passed while connecting, the outcome of a change would be unknown.
        if changes(call) && time.left_to_begin().is_zero() {
            return Err(GitlabError::NotBegun { after: time.all });
        }
        let mut hop = Hop::first(url);
        for _ in 0..=redirect::MAX_HOPS {
            let http = self.http_clients.client_for(&hop).await?;
            let request = request::build(http, &self.settings, token, call, &hop, time.remaining())?;
            let request = request.map_err(|error| self.transport_error(error, call, &hop, time))?;
            if changes(call) {
                notify(Event::SendingChange);
            }
            let sent = http.execute(request).await;
            if hop.trusted {
                let status = sent.as_ref().ok().map(|response| response.status().as_u16());
                self.http_clients.upstream().record(status);
            }
            let response = sent.map_err(|error| self.transport_error(error, call, &hop, time))?;
            let (status, headers) = (response.status(), response.headers());
            *rejected = hop.trusted && status == StatusCode::UNAUTHORIZED;
            match hop.next(&self.settings, permit, status, headers)? {
                Some(next) => hop = next,
                None => return self.receive(call, &hop, response, time, sink).await,
            }
        }
        Err(hop.refused(NotFollowed::TooMany))
    }

    /// Waits for the rate limit to reset, if that is soon. Otherwise fails without sending a request that GitLab would
    /// reject.
    async fn wait_for_rate(&self, time: Time) -> Result<(), GitlabError> {
        let Some(pause) = self.seen.pause() else { return Ok(()) };
        if pause > LONGEST_PAUSE || pause >= time.left_to_begin() {
            return Err(GitlabError::RateUsedUp { retry_after: pause });
        }
        notify(Event::RateLimit { pause });
        tokio::time::sleep(pause).await;
        Ok(())
    }

    /// Acquires one of the `in_flight` slots, first come, first served.
    async fn turn(&self, time: Time) -> Result<Option<SemaphorePermit<'_>>, GitlabError> {
        let in_flight = self.settings.in_flight;
        if let Ok(turn) = self.turns.try_acquire() {
            return Ok(Some(turn));
        }
        notify(Event::Queued { in_flight });
        match tokio::time::timeout(time.remaining(), self.turns.acquire()).await {
            // The semaphore is never closed; if it were, the call would be sent without a slot.
            Ok(turn) => Ok(turn.ok()),
            Err(_) => Err(GitlabError::NotBegun { after: time.all }),
        }
    }

    async fn receive(
        &self,
        call: &Call,
        hop: &Hop,
        mut response: Response,
        time: Time,
        sink: Option<&mut (dyn BodySink + '_)>,
    ) -> Result<Reply, GitlabError> {
        let status = response.status();
        hop.check_answer(status, response.headers())?;
        if hop.trusted {
            self.seen.record(response.version(), response.headers());
        }
        // Pagination and request ids are read from GitLab's own responses only.
        let headers = if hop.trusted { response.headers().clone() } else { HeaderMap::new() };
        let request_id = body::text(&headers, "x-request-id").filter(|id| is_request_id(id));
        // 304: the requested state was already set (a subscription, a star).
        if status == StatusCode::NOT_MODIFIED && changes(call) {
            return Ok(Reply { status: status.as_u16(), request_id, ..Reply::default() });
        }
        if !status.is_success() {
            return Err(self.refusal(call, response, request_id).await);
        }
        if hop.is_web_page(response.headers(), is_file(call)) {
            let body = body::read_start(&mut response, error_body::MAX_BODY).await;
            let title = error_body::page_title(&String::from_utf8_lossy(&body), &self.secrets);
            let applied = if changes(call) { Applied::Unknown } else { Applied::No };
            return Err(GitlabError::NotGitlab { host: hop.host(), title, applied });
        }
        let mut reply = Reply { status: status.as_u16(), request_id, ..Reply::default() };
        reply.page = Page::parse(&headers, &hop.url, call.query());
        if call.method() == Method::Head {
            reply.headers = gitlab_headers(&headers);
            return Ok(reply);
        }
        if let Some(into) = sink {
            reply.headers = gitlab_headers(&headers);
            let came = body_sink::stream_into(&mut response, self.settings.max_body, into).await;
            reply.bytes = came.map_err(|error| self.transport_error(error, call, hop, time))?;
            return Ok(reply);
        }
        self.read_content(call, hop, response, time, &mut reply).await?;
        Ok(reply)
    }

    /// Reads the body of a success into the reply. A write whose status shows that it was made is no error, whatever
    /// became of its body.
    async fn read_content(
        &self,
        call: &Call,
        hop: &Hop,
        mut response: Response,
        time: Time,
        reply: &mut Reply,
    ) -> Result<(), GitlabError> {
        // A 2xx status proves that the change was made, but GraphQL responds 200 to rejected requests too.
        let is_proven = changes(call) && !call.is_graphql();
        let applied = if changes(call) { Applied::Unknown } else { Applied::No };
        let limit = self.settings.max_body;
        let bytes = match body::read_body(&mut response, limit).await {
            Ok(bytes) => bytes,
            // The success status arrived before the body was lost: the change was made.
            Err(Stopped::TooLarge { .. }) if is_proven => {
                reply.content = Content::Unread(Unread::TooLarge { limit });
                return Ok(());
            }
            Err(Stopped::Broken(_)) if is_proven => {
                reply.content = Content::Unread(Unread::Lost);
                return Ok(());
            }
            Err(Stopped::TooLarge { size }) => return Err(GitlabError::TooLarge { limit, size, applied }),
            Err(Stopped::Broken(error)) => return Err(self.transport_error(error, call, hop, time)),
        };
        reply.bytes = body::size(&bytes);
        if call.is_download() {
            reply.content = body::binary_content(response.headers(), bytes);
            return Ok(());
        }
        let (status, is_file) = (response.status(), is_file(call));
        match body::content(status, response.headers(), bytes, is_file) {
            ReceivedBody::Whole(content)
                if changes(call) && !redirect::is_marked(response.headers()) && is_of_no_change(&content) =>
            {
                return Err(GitlabError::NotGitlab { host: hop.host(), title: None, applied });
            }
            ReceivedBody::Whole(content) => reply.content = content,
            ReceivedBody::Rows { content, came } => (reply.content, reply.rows) = (content, Some(came)),
            ReceivedBody::TooMany { limit } if is_proven => {
                reply.content = Content::Unread(Unread::TooMany { limit });
            }
            // Marked headers show that the success status is from GitLab: the change was made.
            ReceivedBody::Malformed if is_proven && redirect::is_marked(response.headers()) => {
                reply.content = Content::Unread(Unread::Malformed);
            }
            ReceivedBody::Malformed => return Err(GitlabError::Malformed { bytes: reply.bytes, applied }),
            ReceivedBody::TooMany { limit } => return Err(GitlabError::TooMany { limit, applied }),
        }
        Ok(())
    }

    /// The error of a status that is no success.
    async fn refusal(&self, call: &Call, mut response: Response, request_id: Option<String>) -> GitlabError {
        let status = response.status();
        let limit = self.settings.max_body.min(error_body::MAX_BODY);
        let body = body::read_start(&mut response, limit).await;
        let text = String::from_utf8_lossy(&body).into_owned();
        let said = error_body::parse(status, &text, &self.secrets);
        let said = said.with_scopes(response.headers(), &self.secrets);
        let again = retry::retry_after(status, response.headers());
        GitlabError::from_answer(status.as_u16(), said, request_id, again, changes(call))
    }

    fn transport_error(&self, error: reqwest::Error, call: &Call, hop: &Hop, time: Time) -> GitlabError {
        let after = if error.is_connect() { self.settings.connect_time() } else { time.all };
        GitlabError::from_transport(error, hop.host(), after, changes(call))
    }

    /// Replaces the pause before the first retry.
    #[cfg(test)]
    pub(super) fn with_pace(self, pace: Duration) -> Client {
        Client { pace, ..self }
    }

    /// Checks redirects as if GitLab were at `gitlab`, with a replaced DNS lookup.
    #[cfg(test)]
    pub(super) fn with_guard(self, gitlab: Url, lookup: super::ssrf::DnsLookup) -> Client {
        let clients = HttpClients::new(&self.settings).with_guard(super::ssrf::Guard::new(gitlab, lookup));
        Client { http_clients: Arc::new(clients), ..self }
    }
}

/// Deadline of one call.
#[derive(Clone, Copy)]
struct Time {
    started: Instant,
    all: Duration,
    /// Minimum time left for starting a request: the connect timeout.
    kept: Duration,
}

impl Time {
    fn remaining(self) -> Duration {
        self.all.saturating_sub(self.started.elapsed())
    }

    fn left_to_begin(self) -> Duration {
        self.remaining().saturating_sub(self.kept)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// True if the call changes something. By the catalog's risk, not the method: some POST requests only read (lint).
fn changes(call: &Call) -> bool {
    call.risk() != Risk::Read
}

/// True if the answer to a call is the content of a file, which may be anything.
fn is_file(call: &Call) -> bool {
    call.method() == Method::Get && file_paths::is_file(call.path())
}

/// True for an answer that GitLab gives to no change: a text, `null`, an object that has an error alone. Without GitLab's
/// headers it is of something before GitLab.
fn is_of_no_change(content: &Content) -> bool {
    match content {
        Content::Text(_) | Content::Json(Value::Null) => true,
        Content::Json(Value::Object(fields)) => {
            fields.contains_key("error") && fields.keys().all(|name| name.starts_with("error"))
        }
        _ => false,
    }
}

/// Returns true if a text looks like one of GitLab's request ids (ULID or UUID).
fn is_request_id(id: &str) -> bool {
    (1..=100).contains(&id.len())
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':'))
}

fn gitlab_headers(headers: &HeaderMap) -> BTreeMap<String, String> {
    let ours = headers.keys().map(|name| name.as_str()).filter(|name| name.starts_with("x-gitlab-"));
    ours.filter_map(|name| Some((name.to_owned(), body::text(headers, name)?))).collect()
}
