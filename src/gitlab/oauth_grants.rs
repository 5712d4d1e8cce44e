//! Grants of OAuth tokens (<https://docs.gitlab.com/api/oauth2/>): the device authorization grant (RFC 8628), refresh
//! (RFC 6749, 6) and revocation (RFC 7009). Like [`describe_token`](super::describe_token), their requests concern the
//! credential itself and carry no permit.

use std::fmt;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Method, StatusCode};
use serde::de::{DeserializeOwned, IntoDeserializer, value};
use serde::{Deserialize, Deserializer, Serialize};
use url::form_urlencoded;

use super::transport::HttpClients;
use super::{GitlabError, Secret, oauth};
use crate::untrusted::{Secrets, quote};

const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// Seconds until a sign-in expires, and between two polls, if the server names none (RFC 8628, 3.2).
const LIFETIME: u64 = 300;
const INTERVAL: u64 = 5;

/// A sign-in that waits for its user.
#[derive(Debug, Deserialize)]
pub struct DeviceAuthorization {
    /// Sent with each poll; its holder receives the tokens.
    pub device_code: Secret,
    /// The code that the user enters.
    pub user_code: String,
    /// The page on which the user enters it.
    pub verification_uri: String,
    /// The page with the code filled in.
    pub verification_uri_complete: Option<String>,
    #[serde(default = "from_secs::<LIFETIME>", deserialize_with = "seconds_or::<LIFETIME, _>")]
    pub expires_in: Duration,
    /// Time between two polls.
    #[serde(default = "from_secs::<INTERVAL>", deserialize_with = "seconds_or::<INTERVAL, _>")]
    pub interval: Duration,
}

const fn from_secs<const SECONDS: u64>() -> Duration {
    Duration::from_secs(SECONDS)
}

/// Parses a number of seconds, at least 1.
fn seconds_or<'de, const DEFAULT: u64, D: Deserializer<'de>>(value: D) -> Result<Duration, D::Error> {
    Ok(Duration::from_secs(Option::<u64>::deserialize(value)?.unwrap_or(DEFAULT).max(1)))
}

/// Tokens of a grant.
#[derive(Debug, Deserialize)]
pub struct GrantedTokens {
    pub access_token: Secret,
    /// Single use; none if the application may not refresh.
    pub refresh_token: Option<Secret>,
    #[serde(default, deserialize_with = "oauth::seconds")]
    pub expires_in: Option<Duration>,
    pub scope: Option<String>,
}

/// Error of a request to an OAuth endpoint.
#[derive(Debug, thiserror::Error)]
pub enum OAuthError {
    /// An error response of RFC 6749, 5.2 or RFC 8628, 3.5.
    #[error("GitLab refused the sign-in: {code}{}", described(.description))]
    Refused { code: ErrorCode, description: Option<String> },
    #[error("this GitLab has no {0}")]
    NoEndpoint(&'static str),
    #[error(transparent)]
    Gitlab(#[from] GitlabError),
}

/// Code of an error response.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    AuthorizationPending,
    SlowDown,
    ExpiredToken,
    AccessDenied,
    InvalidGrant,
    InvalidClient,
    InvalidScope,
    #[serde(skip)]
    Other(String),
}

#[derive(Deserialize)]
struct ErrorBody {
    error: String,
    error_description: Option<String>,
}

/// Begins a sign-in on another device.
///
/// # Errors
/// No answer, an unknown application, or an instance without the device grant (before GitLab 17.2).
pub async fn authorize_device(
    clients: &HttpClients,
    client_id: &str,
    scope: &str,
) -> Result<DeviceAuthorization, OAuthError> {
    let fields = [("client_id", client_id), ("scope", scope)];
    let bytes = post(clients, "oauth/authorize_device", &fields, None).await?;
    parse(clients, &bytes)
}

/// Polls for the tokens of a sign-in.
///
/// # Errors
/// [`ErrorCode::AuthorizationPending`] and [`ErrorCode::SlowDown`] until the user has decided.
pub async fn redeem_device_code(
    clients: &HttpClients,
    client_id: &str,
    device_code: &Secret,
) -> Result<GrantedTokens, OAuthError> {
    let fields =
        [("grant_type", DEVICE_GRANT), ("client_id", client_id), ("device_code", device_code.reveal())];
    parse(clients, &post(clients, "oauth/token", &fields, Some(device_code)).await?)
}

/// Exchanges a refresh token, which is good once, for new tokens.
///
/// # Errors
/// [`ErrorCode::InvalidGrant`] for a refresh token that was used or revoked.
pub async fn refresh_tokens(
    clients: &HttpClients,
    client_id: &str,
    refresh_token: &Secret,
) -> Result<GrantedTokens, OAuthError> {
    let fields = [
        ("grant_type", "refresh_token"),
        ("client_id", client_id),
        ("refresh_token", refresh_token.reveal()),
    ];
    parse(clients, &post(clients, "oauth/token", &fields, Some(refresh_token)).await?)
}

/// Revokes an access or refresh token.
///
/// # Errors
/// No answer, or a refusal.
pub async fn revoke_token(clients: &HttpClients, client_id: &str, token: &Secret) -> Result<(), OAuthError> {
    let fields = [("client_id", client_id), ("token", token.reveal())];
    post(clients, "oauth/revoke", &fields, Some(token)).await.map(drop)
}

fn parse<T: DeserializeOwned>(clients: &HttpClients, body: &[u8]) -> Result<T, OAuthError> {
    serde_json::from_slice(body).map_err(|_| oauth::not_gitlab(clients).into())
}

/// Posts a form with a secret, which no error shows, and returns the body of a success.
async fn post(
    clients: &HttpClients,
    endpoint: &'static str,
    fields: &[(&str, &str)],
    secret: Option<&Secret>,
) -> Result<Vec<u8>, OAuthError> {
    let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let request = oauth::build_request(clients, Method::POST, endpoint)?
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(ACCEPT, "application/json")
        .body(form);
    let mut response = oauth::send(clients, request).await?;
    let (status, bytes) = (response.status(), oauth::read_start(&mut response).await);
    if status.is_success() {
        return Ok(bytes);
    }
    match serde_json::from_slice::<ErrorBody>(&bytes) {
        Ok(refused) if status.is_client_error() => {
            let secrets = Secrets::new(secret.map(Secret::reveal));
            let shown = |text: &str| secrets.redact(text).into_owned();
            Err(OAuthError::Refused {
                code: ErrorCode::parse(&shown(&refused.error)),
                description: refused.error_description.as_deref().map(shown),
            })
        }
        _ if status == StatusCode::NOT_FOUND => Err(OAuthError::NoEndpoint(endpoint)),
        _ => Err(oauth::not_gitlab(clients).into()),
    }
}

fn described(description: &Option<String>) -> String {
    description.as_ref().map(|text| format!(" ({})", quote(text))).unwrap_or_default()
}

impl ErrorCode {
    fn parse(code: &str) -> ErrorCode {
        let known: Result<ErrorCode, value::Error> = ErrorCode::deserialize(code.into_deserializer());
        known.unwrap_or_else(|_| ErrorCode::Other(code.to_owned()))
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorCode::Other(code) => f.write_str(&quote(code)),
            known => known.serialize(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6749, 5.2, and RFC 8628, 3.5.
    #[test]
    fn each_refusal_of_a_grant_is_known_by_its_code() {
        for (code, expected) in [
            ("authorization_pending", ErrorCode::AuthorizationPending),
            ("slow_down", ErrorCode::SlowDown),
            ("expired_token", ErrorCode::ExpiredToken),
            ("access_denied", ErrorCode::AccessDenied),
            ("invalid_grant", ErrorCode::InvalidGrant),
            ("invalid_client", ErrorCode::InvalidClient),
            ("invalid_scope", ErrorCode::InvalidScope),
            ("server_is_odd", ErrorCode::Other("server_is_odd".to_owned())),
        ] {
            assert_eq!(ErrorCode::parse(code), expected);
        }
    }
}
