//! The callers of the server: state of each, created at its first request and freed when it is idle.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::bucket::Bucket;
use super::caller_key::CallerKey;
use crate::server::handler::Handler;
use crate::tools::Instances;

/// Maximum number of callers. Beyond it, the one that was idle longest is freed.
const MAX_CALLERS: usize = 1_000;

/// Idle time after which a caller is freed. A confirmation token, which is lost with it, expires earlier.
const IDLE: Duration = Duration::from_secs(15 * 60);

/// State of one caller.
pub(super) struct Caller {
    pub(super) name: String,
    pub(super) handler: Handler<Instances>,
    /// One find at a time: a find computes, and a flood of one caller's must not delay those of others.
    pub(super) finds: Semaphore,
    /// Concurrent requests.
    pub(super) calls: Arc<Semaphore>,
    pub(super) bucket: Bucket,
}

/// Table of the callers.
#[derive(Default)]
pub(super) struct Callers {
    slots: Mutex<HashMap<CallerKey, Slot>>,
}

struct Slot {
    caller: Arc<Caller>,
    used: Instant,
    /// End of the time for which an OAuth token was verified.
    verified_until: Option<Instant>,
}

impl Callers {
    /// The caller of this key, if its credential needs no verification.
    pub(super) fn get(&self, key: CallerKey, now: Instant) -> Option<Arc<Caller>> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.get_mut(&key)?;
        if slot.verified_until.is_some_and(|until| until <= now) {
            return None;
        }
        slot.used = now;
        Some(Arc::clone(&slot.caller))
    }

    /// Keeps a caller. If another request has created it meanwhile, that one is kept and returned.
    pub(super) fn keep(
        &self,
        key: CallerKey,
        caller: Caller,
        verified_until: Option<Instant>,
        now: Instant,
    ) -> Arc<Caller> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.len() >= MAX_CALLERS && !slots.contains_key(&key) {
            let idle = slots.iter().filter(|(_, slot)| Arc::strong_count(&slot.caller) == 1);
            let oldest = idle.min_by_key(|(_, slot)| slot.used).map(|(key, _)| *key);
            if let Some(oldest) = oldest {
                slots.remove(&oldest);
            }
        }
        let slot = slots.entry(key).or_insert_with(|| Slot {
            caller: Arc::new(caller),
            used: now,
            verified_until: None,
        });
        slot.used = now;
        slot.verified_until = verified_until;
        Arc::clone(&slot.caller)
    }

    /// Frees the callers that are idle.
    pub(super) fn free_idle(&self, now: Instant) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.retain(|_, slot| {
            Arc::strong_count(&slot.caller) > 1 || now.saturating_duration_since(slot.used) < IDLE
        });
        if slots.len() * 4 < slots.capacity() {
            slots.shrink_to_fit();
        }
    }

    /// The number of callers.
    pub(super) fn count(&self) -> usize {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
