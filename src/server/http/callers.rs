//! The callers of the server: state of each, created at its first request and freed when it is idle. A caller is a
//! credential at an instance. Rate, turns and memory are by that alone; below it is a handler for each narrowing that it
//! asks for.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::bucket::Bucket;
use super::caller_key::CallerKey;
use super::oauth::Verified;
use super::pools::Pools;
use super::settings::HttpSettings;
use crate::server::handler::Handler;
use crate::tools::{Declines, Instances, Narrowing, TokenKind};

/// Maximum number of callers. Beyond it, one that is idle is freed: first those whose credential GitLab never accepted,
/// then the one that was idle longest.
const MAX_CALLERS: usize = 1_000;

/// Maximum number of narrowings of a caller that handlers are kept for, and of one that GitLab has not accepted.
const MAX_NARROWINGS_PER_CALLER: usize = 8;
const MAX_NARROWINGS_UNACCEPTED: usize = 2;

/// Idle time after which a caller is freed. A confirmation token, which is lost with it, expires earlier.
const IDLE: Duration = Duration::from_secs(15 * 60);

/// State of one caller.
pub(super) struct Caller {
    pub(super) name: String,
    pub(super) bucket: Bucket,
    /// Concurrent requests.
    pub(super) calls: Arc<Semaphore>,
    pub(super) pools: Pools,
    /// What its user declined, under any narrowing.
    pub(super) declines: Arc<Declines>,
    /// The scopes of an OAuth token that was verified.
    pub(super) scopes: OnceLock<Vec<String>>,
    is_accepted: AtomicBool,
    /// The last one was used last.
    narrowed: Mutex<Vec<Arc<NarrowedHandler>>>,
}

/// Handler of a caller with one narrowing: policy, look-ups, confirmation tokens.
pub(super) struct NarrowedHandler {
    pub(super) narrowing: Narrowing,
    /// How GitLab is given the token; none for the server's own.
    pub(super) token_kind: Option<TokenKind>,
    pub(super) handler: Handler<Instances>,
}

impl NarrowedHandler {
    /// True if GitLab has answered a call with the credential. An answer to a job token is no proof: outside of the
    /// endpoints for jobs, GitLab ignores it and shows what is public (`lib/gitlab/auth/auth_finders.rb`).
    fn has_proof(&self) -> bool {
        self.token_kind != Some(TokenKind::Job) && self.handler.is_accepted()
    }
}

impl Caller {
    pub(super) fn new(name: String, settings: &HttpSettings, now: Instant) -> Caller {
        Caller {
            name,
            bucket: Bucket::new(settings.caller_rate, now),
            calls: Arc::new(Semaphore::new(settings.caller_calls)),
            pools: Pools::of_caller(),
            declines: Arc::default(),
            scopes: OnceLock::new(),
            is_accepted: AtomicBool::default(),
            narrowed: Mutex::default(),
        }
    }

    /// Notes that the credential is known to be good.
    pub(super) fn accept(&self) {
        self.is_accepted.store(true, Ordering::Relaxed);
    }

    /// True if GitLab has ever accepted the credential.
    pub(super) fn is_accepted(&self) -> bool {
        if !self.is_accepted.load(Ordering::Relaxed)
            && self.narrowed().iter().any(|narrowed| narrowed.has_proof())
        {
            self.accept();
        }
        self.is_accepted.load(Ordering::Relaxed)
    }

    /// The handler of a narrowing, which is made if it is not kept.
    pub(super) fn handler<E>(
        &self,
        narrowing: &Narrowing,
        token_kind: Option<TokenKind>,
        make: impl FnOnce() -> Result<Handler<Instances>, E>,
    ) -> Result<Arc<NarrowedHandler>, E> {
        let most = match self.is_accepted() {
            true => MAX_NARROWINGS_PER_CALLER,
            false => MAX_NARROWINGS_UNACCEPTED,
        };
        let mut kept = self.narrowed();
        let same =
            |kept: &Arc<NarrowedHandler>| kept.narrowing == *narrowing && kept.token_kind == token_kind;
        let found = kept.iter().position(same).map(|at| kept.remove(at));
        let handler = match found {
            Some(handler) => handler,
            None => {
                let (narrowing, handler) = (narrowing.clone(), make()?);
                Arc::new(NarrowedHandler { narrowing, token_kind, handler })
            }
        };
        let surplus = (kept.len() + 1).saturating_sub(most);
        kept.drain(..surplus);
        kept.push(Arc::clone(&handler));
        Ok(handler)
    }

    fn narrowed(&self) -> MutexGuard<'_, Vec<Arc<NarrowedHandler>>> {
        self.narrowed.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

    /// Keeps a caller. If there is one of this key, that one is kept and returned.
    pub(super) fn keep(
        &self,
        key: CallerKey,
        caller: Caller,
        verified: Option<Verified>,
        now: Instant,
    ) -> Arc<Caller> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.len() >= MAX_CALLERS && !slots.contains_key(&key) {
            free_one(&mut slots);
        }
        let slot = slots.entry(key).or_insert_with(|| Slot {
            caller: Arc::new(caller),
            used: now,
            verified_until: None,
        });
        slot.used = now;
        slot.verified_until = verified.as_ref().map(|verified| verified.until);
        if let Some(verified) = verified {
            slot.caller.accept();
            // Those of an earlier verification stay: the scopes of a token do not change.
            let _ = slot.caller.scopes.set(verified.scopes);
        }
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

/// Frees an idle caller: of those that GitLab never accepted, else of all, the one that was idle longest.
fn free_one(slots: &mut HashMap<CallerKey, Slot>) {
    let idle = slots.iter().filter(|(_, slot)| Arc::strong_count(&slot.caller) == 1);
    let first = idle.min_by_key(|(_, slot)| (slot.caller.is_accepted(), slot.used)).map(|(key, _)| *key);
    if let Some(first) = first {
        slots.remove(&first);
    }
}

#[cfg(test)]
mod tests {
    use super::super::caller_key::KeyMaker;
    use super::super::settings::{AuthMode, ListenAddress};
    use super::*;

    fn settings() -> HttpSettings {
        HttpSettings {
            listen: ListenAddress::Tcp(([127, 0, 0, 1], 0).into()),
            auth: AuthMode::Token,
            public_url: None,
            tls: None,
            metrics: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            caller_rate: 50,
            caller_calls: 32,
        }
    }

    fn caller() -> Caller {
        Caller::new(String::new(), &settings(), Instant::now())
    }

    /// A key for each token.
    fn keys(count: usize) -> Vec<CallerKey> {
        let (keys, base) =
            (KeyMaker::new().unwrap(), url::Url::parse("https://gitlab.example.com/").unwrap());
        (0..count).map(|number| keys.key(&base, Some(keys.digest(&number.to_string())))).collect()
    }

    /// Its rate, declines and tokens are kept while a call is under way.
    #[test]
    fn a_caller_with_a_call_under_way_is_not_idle() {
        let (callers, start) = (Callers::default(), Instant::now());
        let key = keys(1)[0];
        let under_way = callers.keep(key, caller(), None, start);
        let later = start + IDLE + Duration::from_secs(1);
        callers.free_idle(later);
        assert!(callers.get(key, later).is_some_and(|caller| Arc::ptr_eq(&caller, &under_way)));
        drop(under_way);
        callers.free_idle(later + IDLE + Duration::from_secs(1));
        assert!(callers.get(key, later).is_none());
    }

    #[test]
    fn a_caller_that_calls_again_and_again_is_not_idle() {
        let (callers, start) = (Callers::default(), Instant::now());
        let key = keys(1)[0];
        drop(callers.keep(key, caller(), None, start));
        let mut now = start;
        for call in 1..=3 {
            now += IDLE - Duration::from_secs(1);
            callers.free_idle(now);
            assert!(callers.get(key, now).is_some(), "call {call}");
        }
    }

    #[test]
    fn a_verification_ends() {
        let (callers, start) = (Callers::default(), Instant::now());
        let key = keys(1)[0];
        let until = |seconds| Verified { until: start + Duration::from_secs(seconds), scopes: Vec::new() };
        let first = callers.keep(key, caller(), Some(until(120)), start);
        let at = |seconds| callers.get(key, start + Duration::from_secs(seconds));
        assert!(at(119).is_some_and(|caller| Arc::ptr_eq(&caller, &first)));
        assert!(at(120).is_none() && at(121).is_none());
        let again = callers.keep(key, caller(), Some(until(240)), start);
        assert!(Arc::ptr_eq(&first, &again), "the state of the caller is kept");
        assert!(at(239).is_some() && at(240).is_none());
        let unverified = keys(2)[1];
        callers.keep(unverified, caller(), None, start);
        assert!(callers.get(unverified, start + Duration::from_secs(1_000)).is_some());
    }

    #[test]
    fn callers_that_gitlab_never_accepted_are_freed_first() {
        let (callers, start) = (Callers::default(), Instant::now());
        let keys = keys(MAX_CALLERS + 3);
        let keep = |number: usize| {
            callers.keep(keys[number], caller(), None, start + Duration::from_secs(number as u64))
        };
        keep(0).accept();
        let in_use = keep(1);
        (2..MAX_CALLERS).for_each(|number| drop(keep(number)));
        for number in MAX_CALLERS..keys.len() {
            keep(number);
            assert_eq!(callers.count(), MAX_CALLERS);
        }
        let is_kept = |number: usize| callers.slots.lock().unwrap().contains_key(&keys[number]);
        let freed: Vec<usize> = (0..keys.len()).filter(|number| !is_kept(*number)).collect();
        assert_eq!(freed, [2, 3, 4], "the accepted one and the one in use are kept");
        drop(in_use);
    }

    #[test]
    fn a_key_is_of_the_instance_and_the_token_alone() {
        let keys = KeyMaker::new().unwrap();
        let [one, other] =
            ["https://a.example.com/", "https://b.example.com/"].map(|url| url::Url::parse(url).unwrap());
        let key = |base, token: &str| keys.key(base, Some(keys.digest(token)));
        assert!(key(&one, "a") == key(&one, "a"));
        assert!(key(&one, "a") != key(&other, "a") && key(&one, "a") != key(&one, "b"));
        assert!(key(&one, "a") != keys.key(&one, None));
    }
}
