//! What GitLab's answers say beside the answer: its clock, and how many requests it still takes
//! (<https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers>).

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use reqwest::Version;
use reqwest::header::{DATE, HeaderMap};

/// The limits that hold for the whole API. GitLab names, in `RateLimit-Name`, the one that an answer is about; any
/// other holds for a part of the paths, and is found out by its 429.
const OF_THE_API: [&str; 2] = ["throttle_authenticated_api", "throttle_unauthenticated_api"];

/// The longest wait that is told apart from others: a year.
pub(super) const FAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// The longest wait for a whole rate limit that is believed. GitLab's periods are minutes and hours; whatever says more
/// must not keep a session from every further request.
const LONGEST_PERIOD: Duration = Duration::from_secs(24 * 3600);

/// What was last said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerState {
    /// How far GitLab's clock is ahead of this machine's, in seconds; to within two.
    pub clock_ahead: Option<i64>,
    pub rate: Option<Rate>,
    /// True if requests go over HTTP/2.
    pub http2: bool,
}

/// How many requests GitLab still takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How many it takes within its period.
    pub limit: Option<u64>,
    pub remaining: u64,
    /// When it takes the whole number again.
    pub resets: Option<Instant>,
}

/// The signs of one session.
#[derive(Debug, Default)]
pub(super) struct RateLimitSnapshot(Mutex<ServerState>);

impl RateLimitSnapshot {
    /// Reads an answer of GitLab's own.
    pub(super) fn record(&self, version: Version, headers: &HeaderMap) {
        let mut signs = self.signs();
        let date = date(headers);
        signs.http2 = version == Version::HTTP_2;
        signs.clock_ahead = date.map(|date| seconds_between(SystemTime::now(), date)).or(signs.clock_ahead);
        if let Some(rate) = rate(headers, date.unwrap_or_else(SystemTime::now)) {
            signs.rate = Some(rate);
        }
    }

    pub(super) fn last(&self) -> ServerState {
        self.signs().clone()
    }

    /// How long nothing will be taken; nothing where more may be sent.
    pub(super) fn pause(&self) -> Option<Duration> {
        let signs = self.signs();
        let rate = signs.rate.as_ref().filter(|rate| rate.remaining == 0)?;
        Some(rate.resets?.saturating_duration_since(Instant::now())).filter(|pause| !pause.is_zero())
    }

    fn signs(&self) -> MutexGuard<'_, ServerState> {
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

/// How long until `RateLimit-Reset`, which is Unix time by GitLab's clock.
pub(super) fn reset(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let since_epoch = seconds(text(headers, "ratelimit-reset")?)?;
    let then = UNIX_EPOCH.checked_add(since_epoch);
    Some(then.map_or(FAR, |then| then.duration_since(now).unwrap_or(Duration::ZERO).min(FAR)))
}

/// Seconds in digits; a number that is too large for any counts as the most there are.
pub(super) fn seconds(text: &str) -> Option<Duration> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| Duration::from_secs(text.parse().unwrap_or(u64::MAX)))
}

/// GitLab's clock, as the answer has it.
pub(super) fn date(headers: &HeaderMap) -> Option<SystemTime> {
    httpdate::parse_http_date(text(headers, DATE.as_str())?).ok()
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    text(headers, name)?.parse().ok()
}

pub(super) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// Negative where `then` is before `now`.
fn seconds_between(now: SystemTime, then: SystemTime) -> i64 {
    let whole = |span: Duration| i64::try_from(span.as_secs()).unwrap_or(i64::MAX);
    then.duration_since(now).map_or_else(|before| -whole(before.duration()), whole)
}
