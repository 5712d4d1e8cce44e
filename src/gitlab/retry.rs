//! When a request is sent again.
//!
//! - 429, any method: the request was refused. GitLab says when to come back in `Retry-After` (RFC 9110, 10.2.3)
//!   or `RateLimit-Reset` (<https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/>).
//! - No connection, any method: nothing was sent. A name that does not resolve (the system's resolver has tried
//!   it more than once) and a TLS handshake that failed would fail again, and are not repeated.
//! - 502, 503, 504 and a connection that broke: GET and HEAD alone. Whether a write was done, nobody knows.
//! - A timeout: never; the time is for all attempts together.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

use super::{GitlabError, Settings, Trouble};

/// The longest pause that is waited out; a longer one is reported instead.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

/// The retries left to one call.
pub(super) struct Retries {
    backoff: ExponentialBackoff,
    repeatable: bool,
}

impl Retries {
    /// `repeatable` is whether the request may be sent again after GitLab may have seen it; `pace` the first
    /// pause, which doubles.
    pub(super) fn new(settings: &Settings, pace: Duration, repeatable: bool) -> Retries {
        let backoff = ExponentialBuilder::new()
            .with_jitter()
            .with_min_delay(pace)
            .with_max_delay(Duration::from_secs(5))
            .with_max_times(usize::try_from(settings.retries).unwrap_or(usize::MAX));
        Retries { backoff: backoff.build(), repeatable }
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
                Trouble::Connect => None,
                Trouble::Lost if self.repeatable => None,
                Trouble::Lost | Trouble::Name | Trouble::Tls => return None,
            },
            _ => return None,
        };
        let own = self.backoff.next()?;
        let pause = asked.map_or(own, |asked| asked.max(own));
        (pause <= LONGEST_PAUSE && pause < left).then_some(pause)
    }
}

/// When GitLab asks to be asked again, from now: `Retry-After` in seconds or as a date, else, where the rate is
/// what it refused, `RateLimit-Reset` as Unix time. Both are measured by GitLab's clock where it gives its
/// `Date`.
pub(super) fn retry_after(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let now = text(DATE.as_str())
        .and_then(|date| httpdate::parse_http_date(date).ok())
        .unwrap_or_else(SystemTime::now);
    let until = |then: SystemTime| then.duration_since(now).unwrap_or(Duration::ZERO);
    let asked = text(RETRY_AFTER.as_str()).and_then(|value| match value.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => httpdate::parse_http_date(value).ok().map(until),
    });
    asked.or_else(|| {
        if status != StatusCode::TOO_MANY_REQUESTS {
            return None;
        }
        let reset = text("ratelimit-reset")?.parse().ok()?;
        UNIX_EPOCH.checked_add(Duration::from_secs(reset)).map(until)
    })
}
