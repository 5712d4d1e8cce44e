//! Errors of signing in and out.

use url::Url;

use crate::credentials::{Helper, LoginFileError, SignInError};
use crate::gitlab::CredentialError;

/// Error of a sign-in.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    #[error("the sandbox needs no sign-in; set GITLAB_URL to your GitLab")]
    Sandbox,
    #[error(
        "GITLAB_URL is plain http to another machine, over which nobody signs in: set its https address, or \
         GITLAB_PLAIN_HTTP=true if that GitLab has none"
    )]
    PlainHttp,
    #[error("there is no home directory to keep the sign-in in; set GITLAB_LOGIN_FILE")]
    NoFile,
    #[error(
        "GITLAB_CLIENT_ID is not set. Make an application at {0}-/user_settings/applications (scope api, not \
         confidential, any redirect URI), and give its id: gitlab-mcp auth login --url {0} --client-id ID"
    )]
    NoClientId(Url),
    #[error("{0} named no web page on which to enter the code; set GITLAB_TOKEN to a personal access token")]
    NoPage(Url),
    #[error("{} has no credential for {host}. {}", .helper.name(), .helper.remedy(.host))]
    NoCredential { helper: Helper, host: String },
    #[error("{}. {}", .0.what, .0.hint)]
    Credential(#[from] CredentialError),
    #[error(transparent)]
    SignIn(#[from] SignInError),
}

impl AuthError {
    /// 2 for a setting that is missing, else 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            AuthError::Sandbox | AuthError::PlainHttp | AuthError::NoFile | AuthError::NoClientId(_) => 2,
            AuthError::NoPage(_)
            | AuthError::NoCredential { .. }
            | AuthError::Credential(_)
            | AuthError::SignIn(_) => 1,
        }
    }
}

impl From<LoginFileError> for AuthError {
    fn from(error: LoginFileError) -> AuthError {
        AuthError::SignIn(error.into())
    }
}
