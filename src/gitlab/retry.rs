//! Retry policy.
//!
//! - 429, any method: the request was refused. The wait is in `Retry-After` (RFC 9110, 10.2.3) or `RateLimit-Reset`
//!   (<https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/>).
//! - No connection, any method: nothing was sent. A name that does not resolve (the system's resolver has tried it more
//!   than once) and a failed TLS handshake would fail again and are not retried.
//! - 502, 503, 504, 520 to 527 (those of a content network in front of GitLab, as GitLab.com has one) and a
//!   connection that broke: GET and HEAD only. A write may have been applied.
//! - A timeout: never; it covers all attempts together.
//!
//! Pauses are exponential backoff with jitter, so that clients that failed together do not return together. A session
//! has a retry budget (`Budget`), so that a GitLab that is down gets one request per call.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};

use super::{ClientSettings, GitlabError, NetworkError, rate_limit};

/// Maximum pause before a retry. A longer one is reported as an error instead.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(20);

/// Retry state of one call.
pub(super) struct Retries<'a> {
    backoff: ExponentialBackoff,
    repeatable: bool,
    budget: &'a Budget,
}

impl Retries<'_> {
    /// `repeatable` is true if the request may be sent again after GitLab may have seen it. `pace` is the first pause,
    /// which doubles with each retry.
    pub(super) fn new<'a>(
        settings: &ClientSettings,
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

    /// Pause before the next attempt; `None` if the error is final.
    pub(super) fn pause(&mut self, error: &GitlabError, left: Duration) -> Option<Duration> {
        let asked = match error {
            GitlabError::RateLimited { retry_after, .. } => *retry_after,
            GitlabError::Server { answer, retry_after }
                if self.repeatable && matches!(answer.status, 502..=504 | 520..=527) =>
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
        // The backoff is added to the requested wait: never earlier than GitLab asks for, and with jitter between
        // clients.
        let pause = asked.unwrap_or_default() + self.backoff.next()?;
        let is_short = pause <= LONGEST_PAUSE && pause < left;
        (is_short && self.budget.take_retry()).then_some(pause)
    }
}

/// Retry budget of a session: ten retries at first, and one more for every ten calls that GitLab responds to. While
/// GitLab responds the budget does not run out; when it is down, ten retries are soon spent and every further call is
/// one request.
#[derive(Debug)]
pub(super) struct Budget(AtomicU32);

impl Budget {
    /// Cost of a retry, in calls that got a response.
    const COST: u32 = 10;
    const MAX_CREDIT: u32 = 10 * Budget::COST;

    /// Takes one retry, if any is left.
    fn take_retry(&self) -> bool {
        let spent =
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(Budget::COST));
        if spent.is_err() {
            tracing::debug!("not retried: the session's retry budget is used up");
        }
        spent.is_ok()
    }

    /// Counts a call that got a response.
    pub(super) fn earn(&self) {
        // An update that always has a value cannot fail.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            Some((left + 1).min(Budget::MAX_CREDIT))
        });
    }
}

impl Default for Budget {
    fn default() -> Budget {
        Budget(AtomicU32::new(Budget::MAX_CREDIT))
    }
}

/// Wait requested by a response: `Retry-After` in seconds or as a date, else, for a 429, `RateLimit-Reset` as Unix
/// time. Both are relative to the response's `Date`, if present, rather than this machine's clock.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_retries_are_free_and_each_further_one_costs_ten_answered_calls() {
        let budget = Budget::default();
        assert_eq!((0..20).filter(|_| budget.take_retry()).count(), 10);
        (0..9).for_each(|_| budget.earn());
        assert!(!budget.take_retry());
        budget.earn();
        assert!(budget.take_retry() && !budget.take_retry());
        (0..1_000).for_each(|_| budget.earn());
        assert_eq!((0..20).filter(|_| budget.take_retry()).count(), 10);
    }
}
