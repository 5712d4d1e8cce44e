//! Tokens of a sign-in that is kept in the file, renewed by its refresh token; without a sign-in, those of glab and git.

use std::time::{Duration, SystemTime};

use url::Url;

use super::git_helpers::{self, Helper};
use super::issued::{MARGIN, expiry};
use super::login_file::{KeptSignIn, LockedLoginFile, LoginFile, LoginFileError, SignIn};
use crate::gitlab::{
    CredentialError, ErrorCode, HttpClients, IssuedToken, OAuthError, Token, refresh_tokens,
};

/// The sign-in to one instance.
#[derive(Debug)]
pub(super) struct SignedIn {
    /// None if the user has no home directory.
    pub file: Option<LoginFile>,
    /// Programs that GITLAB_CREDENTIALS names, asked while the user is not signed in.
    pub helpers: Vec<Helper>,
    pub base: Url,
    pub clients: HttpClients,
    /// Time limit of programs.
    pub time_limit: Duration,
}

impl SignedIn {
    /// The current token, renewed if it is about to expire or is the rejected one. None if the user is not signed in and
    /// no program has a token.
    pub async fn issue(&self, rejected: Option<&Token>) -> Result<Option<IssuedToken>, CredentialError> {
        let ask = |helpers| git_helpers::ask(helpers, &self.base, self.time_limit);
        let sign_in = self.sign_in().map_err(|error| unusable(&error))?;
        let (file, kept) = match (&self.file, sign_in) {
            (Some(file), Some(SignIn::Kept(kept))) => (file, kept),
            (_, Some(SignIn::Helper(helper))) => return ask(&[helper]).await,
            _ => return ask(&self.helpers).await,
        };
        if is_good(&kept, rejected) {
            return Ok(Some(issued(&kept)));
        }
        let locked = file.lock().await.map_err(|error| unusable(&error))?;
        // Another process may have renewed it while this one waited: a refresh token is good only once.
        match locked.find(&self.base).map_err(|error| unusable(&error))? {
            Some(SignIn::Kept(kept)) if is_good(&kept, rejected) => Ok(Some(issued(&kept))),
            Some(SignIn::Kept(kept)) => self.renew(&locked, kept).await.map(Some),
            Some(SignIn::Helper(_)) | None => Ok(None),
        }
    }

    /// The sign-in that the file has now.
    fn sign_in(&self) -> Result<Option<SignIn>, LoginFileError> {
        self.file.as_ref().map_or(Ok(None), |file| file.find(&self.base))
    }

    async fn renew(
        &self,
        locked: &LockedLoginFile<'_>,
        kept: KeptSignIn,
    ) -> Result<IssuedToken, CredentialError> {
        let ended = || CredentialError {
            what: format!("the sign-in to {} has ended", self.base),
            hint: self.remedy(),
        };
        let Some(refresh_token) = &kept.refresh_token else { return Err(ended()) };
        let granted = match refresh_tokens(&self.clients, &kept.client_id, refresh_token).await {
            Ok(granted) => granted,
            Err(OAuthError::Refused { code: ErrorCode::InvalidGrant, .. }) => return Err(ended()),
            Err(error) => {
                return Err(CredentialError {
                    what: format!("the sign-in to {} could not be renewed: {error}", self.base),
                    hint: "Try again; `gitlab-mcp doctor` checks the connection.".to_owned(),
                });
            }
        };
        let renewed = KeptSignIn {
            client_id: kept.client_id,
            access_token: granted.access_token,
            refresh_token: granted.refresh_token.or(kept.refresh_token),
            expires_at: granted.expires_in.and_then(|left| expiry(SystemTime::now(), left)),
            scope: granted.scope.or(kept.scope),
        };
        let issued = issued(&renewed);
        // The tokens work without the file, but only until this process ends.
        if let Err(error) = locked.keep(&self.base, &SignIn::Kept(renewed)) {
            tracing::error!(%error, "the renewed sign-in is lost when this process ends");
        }
        Ok(issued)
    }

    pub fn remedy(&self) -> String {
        let helper = match self.sign_in() {
            Ok(Some(SignIn::Helper(helper))) => Some(helper),
            Ok(None) => self.helpers.first().copied(),
            // Whatever is wrong with the file, a new sign-in mends it.
            Ok(Some(SignIn::Kept(_))) | Err(_) => None,
        };
        if let Some(helper) = helper {
            return helper.remedy(&git_helpers::host(&self.base));
        }
        format!("Run `gitlab-mcp auth login --url {}`.", self.base.as_str().trim_end_matches('/'))
    }
}

/// True if the token is neither rejected nor about to expire.
fn is_good(kept: &KeptSignIn, rejected: Option<&Token>) -> bool {
    let now = SystemTime::now();
    let is_due = kept.expires_at.is_some_and(|end| end.duration_since(now).unwrap_or_default() <= MARGIN);
    let is_rejected = rejected.is_some_and(|token| token.is_same(&Token::OAuth(kept.access_token.clone())));
    !is_due && !is_rejected
}

fn issued(kept: &KeptSignIn) -> IssuedToken {
    IssuedToken { token: Token::OAuth(kept.access_token.clone()), expires_at: kept.expires_at }
}

fn unusable(error: &LoginFileError) -> CredentialError {
    let source = std::error::Error::source(error).map(|source| format!(": {source}")).unwrap_or_default();
    CredentialError {
        what: format!("{error}{source}"),
        hint: "Check the file, or sign in again with `gitlab-mcp auth login`.".to_owned(),
    }
}
