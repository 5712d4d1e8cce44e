//! Token bucket: the rate limit of one caller.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A token bucket that holds two seconds of its rate.
#[derive(Debug)]
pub(super) struct Bucket {
    rate: f64,
    level: Mutex<BucketLevel>,
}

#[derive(Debug)]
struct BucketLevel {
    tokens: f64,
    filled: Instant,
}

impl Bucket {
    /// A full bucket that gains `rate` tokens a second.
    pub(super) fn new(rate: u32, now: Instant) -> Bucket {
        let rate = f64::from(rate);
        Bucket { rate, level: Mutex::new(BucketLevel { tokens: rate * 2.0, filled: now }) }
    }

    /// Takes a token, or returns the time until there is one.
    pub(super) fn take(&self, now: Instant) -> Result<(), Duration> {
        let mut level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let gained = now.saturating_duration_since(level.filled).as_secs_f64() * self.rate;
        level.tokens = (level.tokens + gained).min(self.rate * 2.0);
        level.filled = now;
        if level.tokens < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - level.tokens) / self.rate));
        }
        level.tokens -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_two_seconds_is_allowed_then_the_rate() {
        let start = Instant::now();
        let bucket = Bucket::new(2, start);
        assert_eq!((0..4).filter(|_| bucket.take(start).is_ok()).count(), 4);
        assert_eq!(bucket.take(start), Err(Duration::from_millis(500)));
        assert!(bucket.take(start + Duration::from_millis(499)).is_err());
        assert!(bucket.take(start + Duration::from_millis(501)).is_ok());
        // At most two seconds of the rate are kept.
        let later = start + Duration::from_secs(60);
        assert_eq!((0..9).filter(|_| bucket.take(later).is_ok()).count(), 4);
    }
}
