//! Credential of the requests to one instance: a fixed token, or a source of tokens that are renewed while the program
//! runs.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::future::BoxFuture;

use super::Token;

/// Credential of requests to one instance.
#[derive(Clone, Debug)]
pub enum Credential {
    /// A token that does not change.
    Fixed(Token),
    /// Tokens from a source that can issue a new one.
    Renewed(Arc<dyn TokenSource>),
}

/// A token with its expiry, if it is known.
#[derive(Clone, Debug)]
pub struct IssuedToken {
    pub token: Token,
    pub expires_at: Option<SystemTime>,
}

/// A source of tokens: a file, a command, a sign-in. Its `Debug` must show no token.
pub trait TokenSource: fmt::Debug + Send + Sync {
    /// Returns the current token, renewed if it is about to expire; none if the source has none.
    fn current(&self) -> BoxFuture<'_, Result<Option<IssuedToken>, CredentialError>>;

    /// Replaces a token that GitLab rejected. Returns the same one if the source has no other.
    fn renew<'a>(
        &'a self,
        rejected: &'a Token,
    ) -> BoxFuture<'a, Result<Option<IssuedToken>, CredentialError>>;

    /// Advice for a user whose token GitLab rejects.
    fn remedy(&self) -> String;

    /// True if the source was asked and has no token.
    fn is_missing(&self) -> bool;
}

/// Failure of a token source. Neither text contains a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct CredentialError {
    pub what: String,
    pub hint: String,
}

impl Credential {
    /// The current token.
    pub(super) async fn current(&self) -> Result<Option<IssuedToken>, CredentialError> {
        match self {
            Credential::Fixed(token) => Ok(Some(IssuedToken { token: token.clone(), expires_at: None })),
            Credential::Renewed(source) => source.current().await,
        }
    }

    /// Tries to replace a rejected token. Returns true if another one is current now.
    pub(super) async fn replace(&self, rejected: &Token) -> Result<bool, CredentialError> {
        let Credential::Renewed(source) = self else { return Ok(false) };
        let renewed = source.renew(rejected).await?;
        Ok(renewed.is_some_and(|issued| !issued.token.is_same(rejected)))
    }

    /// Advice for a user whose token GitLab rejects; none if all that is known is that it is fixed.
    pub(super) fn remedy(&self) -> Option<String> {
        match self {
            Credential::Fixed(_) => None,
            Credential::Renewed(source) => Some(source.remedy()),
        }
    }

    /// True if there is no token after all.
    pub fn is_missing(&self) -> bool {
        matches!(self, Credential::Renewed(source) if source.is_missing())
    }

    /// The token, if it does not change.
    pub fn fixed(&self) -> Option<&Token> {
        match self {
            Credential::Fixed(token) => Some(token),
            Credential::Renewed(_) => None,
        }
    }
}

impl From<Token> for Credential {
    fn from(token: Token) -> Credential {
        Credential::Fixed(token)
    }
}
