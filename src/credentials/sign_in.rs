//! Signing in and out: the device authorization grant (RFC 8628), and the programs that the user agrees to.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;
use url::Url;

use super::git_helpers::{self, Helper};
use super::issued::expiry;
use super::login_file::{KeptSignIn, LoginFile, LoginFileError, SignIn};
use crate::gitlab::{
    CredentialError, DeviceAuthorization, ErrorCode, GitlabError, GrantedTokens, HttpClients, OAuthError,
    Secret, authorize_device, redeem_device_code, revoke_token,
};

/// Seconds that `slow_down` adds to the time between two polls (RFC 8628, 3.5).
const SLOWER: Duration = Duration::from_secs(5);

/// Longest time between two polls while GitLab does not answer.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Error of a sign-in.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    #[error("the sign-in was denied in GitLab")]
    Denied,
    #[error("the sign-in was not approved in time; run the command again")]
    Expired,
    #[error(
        "GitLab does not know the application {0}, or it may not use the device grant: check its id, that it is not \
         confidential, and that it was made on this instance"
    )]
    Application(String),
    #[error(
        "this GitLab has no device sign-in, which came with GitLab 17.2: set GITLAB_TOKEN to a personal access token"
    )]
    NoDeviceGrant,
    #[error(
        "the application does not have the scope {0}: allow it in GitLab, or ask for another with --scope"
    )]
    Scope(String),
    #[error(transparent)]
    OAuth(OAuthError),
    #[error(transparent)]
    File(#[from] LoginFileError),
}

/// Outcome of signing out.
#[derive(Debug)]
pub enum SignOut {
    /// There was no sign-in.
    NotSignedIn,
    /// The tokens are revoked and removed.
    Revoked,
    /// The tokens are removed from the file, but the revocation request failed.
    NotRevoked(OAuthError),
    /// Another program is no longer used; its own sign-in stays.
    HelperUnused(Helper),
}

/// Asks the instance for a code that the user enters there.
///
/// # Errors
/// The instance does not know the application, or has no device grant.
pub async fn begin_sign_in(
    clients: &HttpClients,
    client_id: &str,
    scope: &str,
) -> Result<DeviceAuthorization, SignInError> {
    authorize_device(clients, client_id, scope).await.map_err(|error| match error {
        OAuthError::Refused { code: ErrorCode::InvalidClient, .. } => {
            SignInError::Application(client_id.to_owned())
        }
        OAuthError::Refused { code: ErrorCode::InvalidScope, .. } => SignInError::Scope(scope.to_owned()),
        OAuthError::NoEndpoint(_) => SignInError::NoDeviceGrant,
        error => SignInError::OAuth(error),
    })
}

/// Waits until the user has entered the code, keeps the tokens in the file, and revokes those of an earlier sign-in.
///
/// # Errors
/// The user denied it or did not answer in time, or the file cannot be written.
pub async fn finish_sign_in(
    clients: &HttpClients,
    client_id: &str,
    begun: &DeviceAuthorization,
    file: &LoginFile,
    base: &Url,
) -> Result<(), SignInError> {
    let poll = || redeem_device_code(clients, client_id, &begun.device_code);
    let granted = wait_for_approval(begun.interval, begun.expires_in, poll).await?;
    let kept = KeptSignIn {
        client_id: client_id.to_owned(),
        access_token: granted.access_token,
        refresh_token: granted.refresh_token,
        expires_at: granted.expires_in.and_then(|left| expiry(SystemTime::now(), left)),
        scope: granted.scope,
    };
    replace(clients, file, base, &SignIn::Kept(kept)).await
}

/// Asks a program for its credential for the instance. Returns true if it has one.
///
/// # Errors
/// The program did not end, or answered for another host.
pub async fn try_helper(helper: Helper, base: &Url, time_limit: Duration) -> Result<bool, CredentialError> {
    git_helpers::ask(&[helper], base, time_limit).await.map(|issued| issued.is_some())
}

/// Records that the user agrees to the use of another program's sign-in, and revokes the tokens of an earlier one.
///
/// # Errors
/// The file cannot be written.
pub async fn use_helper(
    helper: Helper,
    clients: &HttpClients,
    file: &LoginFile,
    base: &Url,
) -> Result<(), SignInError> {
    replace(clients, file, base, &SignIn::Helper(helper)).await
}

/// Keeps a sign-in, then revokes the tokens of the one that it replaces.
async fn replace(
    clients: &HttpClients,
    file: &LoginFile,
    base: &Url,
    sign_in: &SignIn,
) -> Result<(), SignInError> {
    let locked = file.lock().await?;
    let replaced = locked.find(base)?;
    locked.keep(base, sign_in)?;
    drop(locked);
    if let Some(SignIn::Kept(old)) = replaced
        && let Err(error) = revoke(clients, &old).await
    {
        tracing::warn!(%error, "the tokens of the earlier sign-in may still be valid: the revocation request failed");
    }
    Ok(())
}

/// Revokes the tokens of the sign-in and removes it from the file.
///
/// # Errors
/// The file cannot be read or written.
pub async fn sign_out(clients: &HttpClients, file: &LoginFile, base: &Url) -> Result<SignOut, SignInError> {
    if file.find(base)?.is_none() {
        return Ok(SignOut::NotSignedIn);
    }
    let locked = file.lock().await?;
    let outcome = match locked.find(base)? {
        None => return Ok(SignOut::NotSignedIn),
        Some(SignIn::Helper(helper)) => SignOut::HelperUnused(helper),
        Some(SignIn::Kept(kept)) => match revoke(clients, &kept).await {
            Ok(()) => SignOut::Revoked,
            Err(error) => SignOut::NotRevoked(error),
        },
    };
    locked.remove(base)?;
    Ok(outcome)
}

/// Revokes the refresh token first: with it, new access tokens could be had.
async fn revoke(clients: &HttpClients, kept: &KeptSignIn) -> Result<(), OAuthError> {
    let tokens: Vec<&Secret> = kept.refresh_token.iter().chain([&kept.access_token]).collect();
    for token in tokens {
        revoke_token(clients, &kept.client_id, token).await?;
    }
    Ok(())
}

/// Polls until the user has decided, at the pace that GitLab asks for.
async fn wait_for_approval<F, P>(
    interval: Duration,
    expires_in: Duration,
    mut poll: F,
) -> Result<GrantedTokens, SignInError>
where
    F: FnMut() -> P,
    P: Future<Output = Result<GrantedTokens, OAuthError>>,
{
    let started = Instant::now();
    let mut pause = interval;
    while started.elapsed() + pause < expires_in {
        tokio::time::sleep(pause).await;
        match poll().await {
            Ok(granted) => return Ok(granted),
            Err(OAuthError::Refused { code: ErrorCode::AuthorizationPending, .. }) => {}
            Err(OAuthError::Refused { code: ErrorCode::SlowDown, .. }) => pause += SLOWER,
            Err(OAuthError::Refused { code: ErrorCode::AccessDenied, .. }) => {
                return Err(SignInError::Denied);
            }
            // GitLab forgets a code that has expired.
            Err(OAuthError::Refused { code: ErrorCode::ExpiredToken | ErrorCode::InvalidGrant, .. }) => {
                return Err(SignInError::Expired);
            }
            Err(OAuthError::Gitlab(GitlabError::Network { .. } | GitlabError::Timeout { .. })) => {
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            Err(error) => return Err(SignInError::OAuth(error)),
        }
    }
    Err(SignInError::Expired)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn refused(code: ErrorCode) -> Result<GrantedTokens, OAuthError> {
        Err(OAuthError::Refused { code, description: None })
    }

    fn granted() -> Result<GrantedTokens, OAuthError> {
        let access_token = Secret::new("access".to_owned());
        Ok(GrantedTokens { access_token, refresh_token: None, expires_in: None, scope: None })
    }

    /// The outcome, and the seconds at which GitLab was polled.
    async fn polled(
        answers: Vec<Result<GrantedTokens, OAuthError>>,
    ) -> (Result<GrantedTokens, SignInError>, Vec<u64>) {
        let started = Instant::now();
        let (answers, times) = (RefCell::new(answers.into_iter()), RefCell::new(Vec::new()));
        let poll = || {
            times.borrow_mut().push(started.elapsed().as_secs());
            let answer =
                answers.borrow_mut().next().unwrap_or_else(|| refused(ErrorCode::AuthorizationPending));
            std::future::ready(answer)
        };
        let outcome = wait_for_approval(Duration::from_secs(5), Duration::from_secs(60), poll).await;
        (outcome, times.into_inner())
    }

    #[tokio::test(start_paused = true)]
    async fn polls_keep_the_pace_that_gitlab_asks_for() {
        let pending = || refused(ErrorCode::AuthorizationPending);
        let (outcome, times) =
            polled(vec![pending(), refused(ErrorCode::SlowDown), pending(), granted()]).await;
        assert!(outcome.is_ok());
        assert_eq!(times, [5, 10, 20, 30]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_sign_in_that_nobody_approves_ends() {
        let (outcome, times) = polled(Vec::new()).await;
        assert!(matches!(outcome, Err(SignInError::Expired)));
        assert_eq!(times.last(), Some(&55), "none after the code has expired");
        let (outcome, _) = polled(vec![refused(ErrorCode::ExpiredToken)]).await;
        assert!(matches!(outcome, Err(SignInError::Expired)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_denial_and_an_unknown_error_end_it_at_once() {
        let (outcome, times) = polled(vec![refused(ErrorCode::AccessDenied), granted()]).await;
        assert!(matches!(outcome, Err(SignInError::Denied)) && times == [5]);
        let (outcome, times) = polled(vec![refused(ErrorCode::Other("odd".to_owned())), granted()]).await;
        assert!(matches!(outcome, Err(SignInError::OAuth(_))) && times == [5]);
    }
}
