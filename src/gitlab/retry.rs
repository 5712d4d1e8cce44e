//! When a request is sent again.
//!
//! - 429, any method: the request was refused. GitLab says when to come back in `Retry-After` (RFC 9110, 10.2.3)
//!   or `RateLimit-Reset` (<https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/>).
//! - No connection, any method: nothing was sent. A name that does not resolve (the system's resolver has tried
//!   it more than once) and a TLS handshake that failed would fail again, and are not repeated.
//! - 502, 503, 504 and a connection that broke: GET and HEAD alone. Whether a write was done, nobody knows.
//! - A timeout: never; the time is for all attempts together.
//!
//! Every pause is drawn by lot around a doubling one, so that clients that failed together do not come back
//! together; and a session's retries are counted (`Budget`), so that a GitLab that is down is asked once a call.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};

use super::{GitlabError, NetworkError, Settings, rate_limit};

/// The longest pause that is waited out; a longer one is reported instead.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(20);

/// The retries left to one call.
pub(super) struct Retries<'a> {
    backoff: ExponentialBackoff,
    repeatable: bool,
    budget: &'a Budget,
}

impl Retries<'_> {
    /// `repeatable` is whether the request may be sent again after GitLab may have seen it; `pace` the first
    /// pause, which doubles.
    pub(super) fn new<'a>(
        settings: &Settings,
        pace: Duration,
        repeatable: bool,
        budget: &'a Budget,
    ) -> Retries<'a> {
        let backoff = ExponentialBuilder::new()
            .with_jitter()
            .with_min_delay(pace)
            .with_max_delay(Duration::from_secs(5))
            .with_max_times(usize::try_from(settings.retries).unwrap_or(usize::MAX));
        Retries { backoff: backoff.build(), repeatable, budget }
    }

    /// How long to wait before the next attempt; `None` where this error is the answer.
    pub(super) fn pause(&mut self, error: &GitlabError, left: Duration) -> Option<Duration> {
        let asked = match error {
            GitlabError::RateLimited { retry_after, .. } => *retry_after,
            GitlabError::Server { answer, retry_after }
                if self.repeatable && matches!(answer.status, 502..=504) =>
            {
                *retry_after
            }
            GitlabError::Network { trouble, .. } => match trouble {
                NetworkError::Connect => None,
                NetworkError::Lost if self.repeatable => None,
                NetworkError::Lost | NetworkError::Name | NetworkError::Tls => return None,
            },
            _ => return None,
        };
        // Never before the time that GitLab asks for, and each client a little later than that by its own lot.
        let pause = asked.unwrap_or_default() + self.backoff.next()?;
        let is_short = pause <= LONGEST_PAUSE && pause < left;
        (is_short && self.budget.spend()).then_some(pause)
    }
}

/// The retries of a session: ten at first, and one more for every ten calls that GitLab answers. While it answers
/// they never run out; when it does not, ten are soon made, and after that every call is one request.
#[derive(Debug)]
pub(super) struct Budget(AtomicU32);

impl Budget {
    /// What a retry costs, in answers.
    const COST: u32 = 10;
    const MOST: u32 = 10 * Budget::COST;

    /// Takes one, if any is left.
    fn spend(&self) -> bool {
        let spent =
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(Budget::COST));
        if spent.is_err() {
            tracing::debug!("not retried: the session's retry budget is used up");
        }
        spent.is_ok()
    }

    /// Counts a call that was answered.
    pub(super) fn earn(&self) {
        // An update that always has a value cannot fail.
        let _ = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some((left + 1).min(Budget::MOST)));
    }
}

impl Default for Budget {
    fn default() -> Budget {
        Budget(AtomicU32::new(Budget::MOST))
    }
}

/// When GitLab asks to be asked again, from now: `Retry-After` in seconds or as a date, else, where the rate is
/// what it refused, `RateLimit-Reset` as Unix time. Both are measured by GitLab's clock where it gives its
/// `Date`.
pub(super) fn retry_after(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let now = rate_limit::date(headers).unwrap_or_else(SystemTime::now);
    let until = |then: SystemTime| then.duration_since(now).unwrap_or(Duration::ZERO);
    let asked =
        rate_limit::text(headers, RETRY_AFTER.as_str()).and_then(|value| match rate_limit::seconds(value) {
            Some(seconds) => Some(seconds),
            None => httpdate::parse_http_date(value).ok().map(until),
        });
    let asked = asked.map(|asked| asked.min(rate_limit::FAR));
    asked.or_else(|| {
        let limited = status == StatusCode::TOO_MANY_REQUESTS;
        limited.then(|| rate_limit::reset(headers, now)).flatten()
    })
}
