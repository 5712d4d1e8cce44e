//! A token that is kept in memory and renewed from its source: before it expires, after GitLab rejected it, and if
//! the file that it comes from changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::command::GivenCommand;
use super::issued::{HeldToken, is_expired};
use super::sign_in_renewal::SignedIn;
use super::token_file::{Stamp, TokenFile, stamp};
use crate::gitlab::{CredentialError, IssuedToken, Token, TokenSource};

/// Time for which a source is not asked again after it had nothing, or replaced a rejected token: GitLab also answers
/// 401 where the user may not do something.
const PAUSE: Duration = Duration::from_secs(30);

/// Time for which a source is not asked again after it failed. Short, as its user may mend it at once.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(3);

/// Source of the tokens.
#[derive(Debug)]
pub(super) enum Origin {
    File(TokenFile),
    Command { command: GivenCommand, time_limit: Duration },
    Login(Box<SignedIn>),
}

/// A token source with its current token.
#[derive(Debug)]
pub(super) struct RenewedToken(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    origin: Origin,
    state: Mutex<RenewalState>,
    is_missing: AtomicBool,
}

#[derive(Debug, Default)]
struct RenewalState {
    held: Option<HeldToken>,
    /// State of the file at the last look.
    stamp: Option<Stamp>,
    pause: Option<Pause>,
}

/// A time in which the source is not asked.
#[derive(Debug)]
struct Pause {
    since: Instant,
    /// The failure that began it.
    error: Option<CredentialError>,
}

impl Pause {
    fn lasts(&self) -> bool {
        let limit = if self.error.is_some() { PAUSE_AFTER_FAILURE } else { PAUSE };
        self.since.elapsed() < limit
    }
}

impl RenewedToken {
    /// `known` is a token that was read from the source already. `is_missing` is true if it has none at the start.
    pub fn new(origin: Origin, known: Option<Token>, is_missing: bool) -> RenewedToken {
        let held =
            known.map(|token| HeldToken::new(IssuedToken { token, expires_at: None }, SystemTime::now()));
        let state = RenewalState { held, stamp: origin.stamp(), pause: None };
        RenewedToken(Arc::new(Shared {
            origin,
            state: Mutex::new(state),
            is_missing: AtomicBool::new(is_missing),
        }))
    }

    async fn issue(&self, rejected: Option<&Token>) -> Result<Option<IssuedToken>, CredentialError> {
        let shared = Arc::clone(&self.0);
        let ready = shared.ready(&*shared.state.lock().await, rejected);
        if let Some(ready) = ready {
            return ready;
        }
        let rejected = rejected.cloned();
        // A task of its own, so that a cancelled call loses no refresh token.
        let renewal = tokio::spawn(async move {
            let mut state = shared.state.lock().await;
            match shared.ready(&state, rejected.as_ref()) {
                // Another call has renewed it meanwhile.
                Some(ready) => ready,
                None => shared.renew(&mut state, rejected.as_ref()).await,
            }
        });
        renewal.await.unwrap_or_else(|_| {
            let (what, hint) = ("the token could not be renewed".to_owned(), "Try again.".to_owned());
            Err(CredentialError { what, hint })
        })
    }
}

impl TokenSource for RenewedToken {
    fn current(&self) -> BoxFuture<'_, Result<Option<IssuedToken>, CredentialError>> {
        Box::pin(self.issue(None))
    }

    fn renew<'a>(
        &'a self,
        rejected: &'a Token,
    ) -> BoxFuture<'a, Result<Option<IssuedToken>, CredentialError>> {
        Box::pin(self.issue(Some(rejected)))
    }

    fn remedy(&self) -> String {
        match &self.0.origin {
            Origin::File(file) => {
                format!(
                    "Write a new token to {}: the file is read again when it changes.",
                    file.path.display()
                )
            }
            Origin::Command { command, .. } => command.remedy(),
            Origin::Login(login) => login.remedy(),
        }
    }

    fn is_missing(&self) -> bool {
        self.0.is_missing.load(Ordering::Relaxed)
    }
}

impl Origin {
    /// Name for the log.
    fn name(&self) -> &'static str {
        match self {
            Origin::File(_) => "file",
            Origin::Command { .. } => "command",
            Origin::Login(_) => "sign-in",
        }
    }

    fn stamp(&self) -> Option<Stamp> {
        match self {
            Origin::File(file) => stamp(&file.path),
            Origin::Login(login) => login.file.as_ref().and_then(|file| stamp(file.path())),
            Origin::Command { .. } => None,
        }
    }

    async fn issue(&self, rejected: Option<&Token>) -> Result<Option<IssuedToken>, CredentialError> {
        match self {
            Origin::File(file) => file.load().map(Some),
            Origin::Command { command, time_limit } => command.issue(*time_limit).await.map(Some),
            Origin::Login(login) => login.issue(rejected).await,
        }
    }
}

impl Shared {
    /// The token, where the source need not be asked.
    fn ready(
        &self,
        state: &RenewalState,
        rejected: Option<&Token>,
    ) -> Option<Result<Option<IssuedToken>, CredentialError>> {
        let (now, stamp) = (SystemTime::now(), self.origin.stamp());
        // A file that is gone for a moment is being replaced.
        if stamp.is_some() && stamp != state.stamp {
            return None;
        }
        let held = state.held.as_ref();
        let is_rejected =
            held.zip(rejected).is_some_and(|(held, rejected)| held.issued.token.is_same(rejected));
        if let Some(held) = held.filter(|held| !is_rejected && !held.is_due(now)) {
            return Some(Ok(Some(held.issued.clone())));
        }
        let pause = state.pause.as_ref().filter(|pause| pause.lasts())?;
        match (held.filter(|held| !is_expired(&held.issued, now)), &pause.error) {
            (Some(held), _) => Some(Ok(Some(held.issued.clone()))),
            (None, Some(error)) => Some(Err(error.clone())),
            (None, None) => self.is_missing.load(Ordering::Relaxed).then_some(Ok(None)),
        }
    }

    async fn renew(
        &self,
        state: &mut RenewalState,
        rejected: Option<&Token>,
    ) -> Result<Option<IssuedToken>, CredentialError> {
        let asked = self.origin.issue(rejected).await;
        let (since, now) = (Instant::now(), SystemTime::now());
        // The source may have written the file itself.
        state.stamp = self.origin.stamp().or(state.stamp.take());
        match asked {
            Ok(Some(issued)) => {
                tracing::debug!(source = self.origin.name(), "a token was fetched");
                self.is_missing.store(false, Ordering::Relaxed);
                let held = HeldToken::new(issued.clone(), now);
                let is_final = rejected.is_some() || held.is_due(now);
                state.pause = is_final.then_some(Pause { since, error: None });
                state.held = Some(held);
                Ok(Some(issued))
            }
            Ok(None) => {
                self.is_missing.store(true, Ordering::Relaxed);
                state.pause = Some(Pause { since, error: None });
                state.held = None;
                Ok(None)
            }
            Err(error) => {
                state.pause = Some(Pause { since, error: Some(error.clone()) });
                let good = state.held.as_ref().map(|held| &held.issued);
                match good.filter(|issued| rejected.is_none() && !is_expired(issued, now)) {
                    Some(issued) => {
                        tracing::warn!(%error, "the token could not be renewed; it is used until it expires");
                        Ok(Some(issued.clone()))
                    }
                    None => Err(error),
                }
            }
        }
    }
}
