//! Server state from response headers: clock offset, HTTP version and rate limit
//! (<https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers>).

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use reqwest::Version;
use reqwest::header::{DATE, HeaderMap};

/// Names of the rate limits that apply to the whole API. `RateLimit-Name` names the limit that a response reports;
/// every other limit applies to some paths only and is noticed by its 429.
const OF_THE_API: [&str; 2] = ["throttle_authenticated_api", "throttle_unauthenticated_api"];

/// Maximum wait that is represented: a year.
pub(super) const FAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// Maximum time until a rate limit resets. GitLab's periods are minutes and hours; a longer value is ignored, so that a
/// bad header cannot block the rest of a session.
const LONGEST_PERIOD: Duration = Duration::from_secs(24 * 3600);

/// Server state by the most recent responses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerState {
    /// Seconds by which GitLab's clock is ahead of this machine's, with an error of up to two.
    pub clock_ahead: Option<i64>,
    pub rate: Option<Rate>,
    /// True if requests go over HTTP/2.
    pub http2: bool,
}

/// The API-wide rate limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Requests allowed within a period.
    pub limit: Option<u64>,
    pub remaining: u64,
    /// Time at which the period ends.
    pub resets: Option<Instant>,
}

/// Server state of one session.
#[derive(Debug, Default)]
pub(super) struct RateLimitSnapshot(Mutex<ServerState>);

impl RateLimitSnapshot {
    /// Records the headers of a response from GitLab itself.
    pub(super) fn record(&self, version: Version, headers: &HeaderMap) {
        let mut state = self.lock();
        let date = date(headers);
        state.http2 = version == Version::HTTP_2;
        state.clock_ahead = date.map(|date| seconds_between(SystemTime::now(), date)).or(state.clock_ahead);
        if let Some(rate) = rate(headers, date.unwrap_or_else(SystemTime::now)) {
            state.rate = Some(rate);
        }
    }

    pub(super) fn last(&self) -> ServerState {
        self.lock().clone()
    }

    /// Time until the rate limit resets; `None` if requests are allowed.
    pub(super) fn pause(&self) -> Option<Duration> {
        let state = self.lock();
        let rate = state.rate.as_ref().filter(|rate| rate.remaining == 0)?;
        Some(rate.resets?.saturating_duration_since(Instant::now())).filter(|pause| !pause.is_zero())
    }

    fn lock(&self) -> MutexGuard<'_, ServerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn rate(headers: &HeaderMap, now: SystemTime) -> Option<Rate> {
    let name = text(headers, "ratelimit-name");
    if name.is_some_and(|name| !OF_THE_API.contains(&name)) {
        return None;
    }
    let remaining = number(headers, "ratelimit-remaining")?;
    let resets = reset(headers, now).filter(|left| *left <= LONGEST_PERIOD);
    let resets = resets.and_then(|left| Instant::now().checked_add(left));
    Some(Rate { limit: number(headers, "ratelimit-limit"), remaining, resets })
}

/// Time until `RateLimit-Reset`, which is Unix time by GitLab's clock.
pub(super) fn reset(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let since_epoch = seconds(text(headers, "ratelimit-reset")?)?;
    let then = UNIX_EPOCH.checked_add(since_epoch);
    Some(then.map_or(FAR, |then| then.duration_since(now).unwrap_or(Duration::ZERO).min(FAR)))
}

/// Parses whole seconds. A number out of range becomes the maximum.
pub(super) fn seconds(text: &str) -> Option<Duration> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| Duration::from_secs(text.parse().unwrap_or(u64::MAX)))
}

/// GitLab's clock, from the `Date` header.
pub(super) fn date(headers: &HeaderMap) -> Option<SystemTime> {
    httpdate::parse_http_date(text(headers, DATE.as_str())?).ok()
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    text(headers, name)?.parse().ok()
}

pub(super) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// Seconds from `now` to `then`; negative if `then` is earlier.
fn seconds_between(now: SystemTime, then: SystemTime) -> i64 {
    let whole = |span: Duration| i64::try_from(span.as_secs()).unwrap_or(i64::MAX);
    then.duration_since(now).map_or_else(|before| -whole(before.duration()), whole)
}
