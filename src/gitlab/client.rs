//! The client: a call to a request, its attempts and redirects, an answer to a reply.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode};
use tokio::sync::{Semaphore, SemaphorePermit};
use url::Url;

use super::body::{self, Body, Stopped};
use super::progress::{Event, tell};
use super::rate_limit::RateLimitSnapshot;
use super::redirect::{self, Hop};
use super::retry::{self, Budget, LONGEST_PAUSE, Retries};
use super::transport::HttpClients;
use super::{
    Applied, BodySink, Content, GitlabError, NotFollowed, Page, Reply, ServerState, Settings, Unread,
    body_sink, error_body, file_paths, gitlab_url, request,
};
use crate::call::Call;
use crate::catalog::{Method, Risk};
use crate::policy::Permit;
use crate::untrusted::Secrets;

/// The first pause between attempts.
const PACE: Duration = Duration::from_millis(200);

/// Sends permitted calls to one GitLab instance. Cheap to make: sockets, certificates and TLS wait for the first call.
pub struct Client {
    settings: Settings,
    secrets: Secrets,
    roads: HttpClients,
    turns: Semaphore,
    budget: Budget,
    seen: RateLimitSnapshot,
    pace: Duration,
}

impl Client {
    pub fn new(settings: Settings) -> Client {
        Client {
            roads: HttpClients::new(settings.clone()),
            turns: Semaphore::new(settings.in_flight),
            secrets: settings.secrets(),
            settings,
            budget: Budget::default(),
            seen: RateLimitSnapshot::default(),
            pace: PACE,
        }
    }

    /// Sends one call and reads its answer. Dropping the future stops it.
    pub async fn send(&self, permit: &Permit) -> Result<Reply, GitlabError> {
        self.sent(permit, self.settings.timeout, None).await
    }

    /// The same, with the body of a success read through the sieve: its reply is empty, and has GitLab's own headers.
    /// A body that is too large is no error here.
    pub async fn send_through(
        &self,
        permit: &Permit,
        sieve: &mut (dyn BodySink + '_),
    ) -> Result<Reply, GitlabError> {
        self.sent(permit, self.settings.timeout, Some(sieve)).await
    }

    async fn sent(
        &self,
        permit: &Permit,
        timeout: Duration,
        sieve: Option<&mut (dyn BodySink + '_)>,
    ) -> Result<Reply, GitlabError> {
        let call = permit.call();
        // LookupRequest the system's certificates, once, is not GitLab's time.
        self.roads.open()?;
        let started = Instant::now();
        let result = self.attempts(permit, self.time(started, timeout), sieve).await;
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

    /// The token and the values of extra headers, for redaction.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// What GitLab's last answers said of its clock and its rate limit.
    pub fn signs(&self) -> ServerState {
        self.seen.last()
    }

    /// The proxy that requests to GitLab go through: its scheme, host and port.
    pub fn proxy(&self) -> Option<String> {
        self.roads.proxy(&self.settings.base)
    }

    async fn attempts(
        &self,
        permit: &Permit,
        time: Time,
        mut sieve: Option<&mut (dyn BodySink + '_)>,
    ) -> Result<Reply, GitlabError> {
        let call = permit.call();
        let url = gitlab_url::url(&self.settings.base, call)?;
        let mut retries = Retries::new(&self.settings, self.pace, call.method().is_safe(), &self.budget);
        let mut attempts = 0;
        loop {
            attempts += 1;
            let error = match self.attempt(permit, url.clone(), time, sieve.as_deref_mut()).await {
                Ok(reply) => {
                    self.budget.earn();
                    return Ok(Reply { attempts, ..reply });
                }
                Err(error) => error,
            };
            let Some(pause) = retries.pause(&error, time.left_to_begin()) else {
                // It was answered, if not as wished.
                if error.status().is_some_and(|status| status < 500 && status != 429) {
                    self.budget.earn();
                }
                return Err(error);
            };
            tell(Event::Again { attempt: attempts + 1, pause, status: error.status() });
            tokio::time::sleep(pause).await;
        }
    }

    /// An attempt is worth waiting for only while it has the time to connect.
    fn time(&self, started: Instant, timeout: Duration) -> Time {
        Time { started, all: timeout.min(self.settings.timeout), kept: self.settings.connect_time() }
    }

    /// One request, in its turn, and the redirects it leads to. Between attempts others have theirs.
    async fn attempt(
        &self,
        permit: &Permit,
        url: Url,
        time: Time,
        sieve: Option<&mut (dyn BodySink + '_)>,
    ) -> Result<Reply, GitlabError> {
        let call = permit.call();
        self.wait_for_rate(time).await?;
        let _turn = self.turn(time).await?;
        // Where a change ended while it connects, nobody could say whether it was made.
        if changes(call) && time.left_to_begin().is_zero() {
            return Err(GitlabError::NotBegun { after: time.all });
        }
        let mut hop = Hop::first(url);
        for _ in 0..=redirect::MAX_HOPS {
            let http = self.roads.to(&hop).await?;
            let request = request::write(http, &self.settings, call, &hop, time.left())?;
            let request = request.map_err(|error| self.lost(error, call, &hop, time))?;
            let sent = http.execute(request).await;
            let response = sent.map_err(|error| self.lost(error, call, &hop, time))?;
            let (status, headers) = (response.status(), response.headers());
            match hop.next(&self.settings.base, permit, status, headers)? {
                Some(next) => hop = next,
                None => return self.receive(call, &hop, response, time, sieve).await,
            }
        }
        Err(hop.refused(NotFollowed::TooMany))
    }

    /// Waits until GitLab takes requests again, where that is soon. What it would refuse is not sent.
    async fn wait_for_rate(&self, time: Time) -> Result<(), GitlabError> {
        let Some(pause) = self.seen.pause() else { return Ok(()) };
        if pause > LONGEST_PAUSE || pause >= time.left_to_begin() {
            return Err(GitlabError::RateUsedUp { retry_after: pause });
        }
        tell(Event::RateLimit { pause });
        tokio::time::sleep(pause).await;
        Ok(())
    }

    /// A turn among those that are under way, in the order in which they came.
    async fn turn(&self, time: Time) -> Result<Option<SemaphorePermit<'_>>, GitlabError> {
        let in_flight = self.settings.in_flight;
        if let Ok(turn) = self.turns.try_acquire() {
            return Ok(Some(turn));
        }
        tell(Event::Turn { in_flight });
        match tokio::time::timeout(time.left(), self.turns.acquire()).await {
            // It is never closed; without a turn the call would go all the same.
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
        sieve: Option<&mut (dyn BodySink + '_)>,
    ) -> Result<Reply, GitlabError> {
        let status = response.status();
        hop.check_answer(status, response.headers())?;
        if hop.trusted {
            self.seen.record(response.version(), response.headers());
        }
        // What a stranger says of pages and requests is not GitLab's.
        let headers = if hop.trusted { response.headers().clone() } else { HeaderMap::new() };
        let request_id = body::text(&headers, "x-request-id").filter(|id| is_request_id(id));
        // What was asked for is so already: a subscription, a star.
        if status == StatusCode::NOT_MODIFIED && changes(call) {
            return Ok(Reply { status: status.as_u16(), request_id, ..Reply::default() });
        }
        if !status.is_success() {
            let limit = self.settings.max_body.min(error_body::MAX_BODY);
            let body = body::read_start(&mut response, limit).await;
            let text = String::from_utf8_lossy(&body).into_owned();
            let said = error_body::parse(status, &text, &self.secrets)
                .with_scopes(response.headers(), &self.secrets);
            let again = retry::retry_after(status, response.headers());
            return Err(GitlabError::from_answer(status.as_u16(), said, request_id, again, changes(call)));
        }
        let is_file = call.method() == Method::Get && file_paths::is_file(call.path());
        if hop.is_no_answer(response.headers(), is_file) {
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
        if let Some(into) = sieve {
            reply.headers = gitlab_headers(&headers);
            let came = body_sink::read(&mut response, self.settings.max_body, into).await;
            reply.bytes = came.map_err(|error| self.lost(error, call, hop, time))?;
            return Ok(reply);
        }
        match body::read_body(&mut response, self.settings.max_body).await {
            Ok(bytes) => {
                reply.bytes = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                if call.is_download() {
                    reply.content = body::as_it_is(response.headers(), bytes);
                    return Ok(reply);
                }
                match body::content(status, response.headers(), bytes, is_file) {
                    Body::Whole(content) => reply.content = content,
                    Body::Rows { content, came } => {
                        reply.content = content;
                        reply.rows = Some(came);
                    }
                    Body::TooMany { limit } if changes(call) && tells_by_status(call) => {
                        reply.content = Content::Unread(Unread::TooMany { limit });
                    }
                    // The status is GitLab's if its headers are: the change was made.
                    Body::Malformed
                        if changes(call)
                            && tells_by_status(call)
                            && redirect::is_marked(response.headers()) =>
                    {
                        reply.content = Content::Unread(Unread::Malformed);
                    }
                    Body::Malformed => {
                        let applied = if changes(call) { Applied::Unknown } else { Applied::No };
                        return Err(GitlabError::Malformed { bytes: reply.bytes, applied });
                    }
                    Body::TooMany { limit } => {
                        let applied = if changes(call) { Applied::Unknown } else { Applied::No };
                        return Err(GitlabError::TooMany { limit, applied });
                    }
                }
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
            Err(Stopped::Broken(error)) => return Err(self.lost(error, call, hop, time)),
        }
        Ok(reply)
    }

    fn lost(&self, error: reqwest::Error, call: &Call, hop: &Hop, time: Time) -> GitlabError {
        let after = if error.is_connect() { self.settings.connect_time() } else { time.all };
        GitlabError::from_transport(error, hop.host(), after, changes(call))
    }

    /// The same with another first pause between attempts.
    #[cfg(test)]
    pub(super) fn with_pace(self, pace: Duration) -> Client {
        Client { pace, ..self }
    }

    /// The same with redirects looked at as those of a GitLab elsewhere, where names resolve in another way.
    #[cfg(test)]
    pub(super) fn with_guard(self, gitlab: Url, lookup: super::ssrf::Lookup) -> Client {
        Client { roads: self.roads.with_guard(super::ssrf::Guard::new(gitlab, lookup)), ..self }
    }
}

/// The time of one call.
#[derive(Clone, Copy)]
struct Time {
    started: Instant,
    all: Duration,
    /// What has to be left when a request is begun: the time that a connection may take.
    kept: Duration,
}

impl Time {
    fn left(self) -> Duration {
        self.all.saturating_sub(self.started.elapsed())
    }

    fn left_to_begin(self) -> Duration {
        self.left().saturating_sub(self.kept)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// True if the call is to change something: the catalog knows, where the method does not (a POST that lints).
fn changes(call: &Call) -> bool {
    call.risk() != Risk::Read
}

/// True if the status alone says that the change was made. GraphQL answers 200 to what it refuses.
fn tells_by_status(call: &Call) -> bool {
    !call.path().ends_with("/api/graphql")
}

/// Returns true if a text looks like a request id of GitLab's (a ULID, a UUID).
fn is_request_id(id: &str) -> bool {
    (1..=100).contains(&id.len())
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':'))
}

fn gitlab_headers(headers: &HeaderMap) -> BTreeMap<String, String> {
    let ours = headers.keys().map(|name| name.as_str()).filter(|name| name.starts_with("x-gitlab-"));
    ours.filter_map(|name| Some((name.to_owned(), body::text(headers, name)?))).collect()
}
