//! Grants of OAuth tokens (<https://docs.gitlab.com/api/oauth2/>): the device authorization grant (RFC 8628), refresh
//! (RFC 6749, 6) and revocation (RFC 7009). Like [`describe_token`](super::describe_token), their requests concern the
//! credential itself and carry no permit.

use std::fmt;
use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde::Deserialize;
use url::form_urlencoded;

use super::transport::HttpClients;
use super::{Applied, GitlabError, Secret, body, request};
use crate::untrusted::{Secrets, quote};

/// Timeout of one request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum size of a response in bytes.
const MAX_RESPONSE: u64 = 64 * 1024;

const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// Seconds between two polls if the server names none (RFC 8628, 3.2).
const INTERVAL: u64 = 5;

/// A sign-in that waits for its user.
#[derive(Debug)]
pub struct DeviceAuthorization {
    /// Sent with each poll; its holder receives the tokens.
    pub device_code: Secret,
    /// The code that the user enters.
    pub user_code: String,
    /// The page on which the user enters it.
    pub verification_uri: String,
    /// The page with the code filled in.
    pub verification_uri_complete: Option<String>,
    pub expires_in: Duration,
    /// Time between two polls.
    pub interval: Duration,
}

/// Tokens of a grant.
#[derive(Debug)]
pub struct GrantedTokens {
    pub access_token: Secret,
    /// Single use; none if the application may not refresh.
    pub refresh_token: Option<Secret>,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    AuthorizationPending,
    SlowDown,
    ExpiredToken,
    AccessDenied,
    InvalidGrant,
    InvalidClient,
    InvalidScope,
    Other(String),
}

#[derive(Deserialize)]
struct DeviceBody {
    device_code: String,
    user_code: String,
    verification_uri: String,
    #[serde(default)]
    verification_uri_complete: Option<String>,
    #[serde(default)]
    expires_in: Option<u64>,
    #[serde(default)]
    interval: Option<u64>,
}

#[derive(Deserialize)]
struct TokenBody {
    access_token: String,
    #[serde(default)]
    refresh_token: Option<String>,
    #[serde(default)]
    expires_in: Option<u64>,
    #[serde(default)]
    scope: Option<String>,
}

#[derive(Deserialize)]
struct ErrorBody {
    error: String,
    #[serde(default)]
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
    let begun: DeviceBody = serde_json::from_slice(&bytes).map_err(|_| not_gitlab(clients))?;
    Ok(DeviceAuthorization {
        device_code: Secret::new(begun.device_code),
        user_code: begun.user_code,
        verification_uri: begun.verification_uri,
        verification_uri_complete: begun.verification_uri_complete,
        expires_in: Duration::from_secs(begun.expires_in.unwrap_or(300)),
        interval: Duration::from_secs(begun.interval.unwrap_or(INTERVAL).max(1)),
    })
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
    granted(clients, &post(clients, "oauth/token", &fields, Some(device_code)).await?)
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
    granted(clients, &post(clients, "oauth/token", &fields, Some(refresh_token)).await?)
}

/// Revokes an access or refresh token.
///
/// # Errors
/// No answer, or a refusal.
pub async fn revoke_token(clients: &HttpClients, client_id: &str, token: &Secret) -> Result<(), OAuthError> {
    let fields = [("client_id", client_id), ("token", token.reveal())];
    post(clients, "oauth/revoke", &fields, Some(token)).await.map(drop)
}

fn granted(clients: &HttpClients, body: &[u8]) -> Result<GrantedTokens, OAuthError> {
    let tokens: TokenBody = serde_json::from_slice(body).map_err(|_| not_gitlab(clients))?;
    Ok(GrantedTokens {
        access_token: Secret::new(tokens.access_token),
        refresh_token: tokens.refresh_token.map(Secret::new),
        expires_in: tokens.expires_in.map(Duration::from_secs),
        scope: tokens.scope,
    })
}

/// Error for a response that is not GitLab's.
fn not_gitlab(clients: &HttpClients) -> GitlabError {
    let host = clients.base().host_str().unwrap_or_default().to_owned();
    GitlabError::NotGitlab { host, title: None, applied: Applied::No }
}

/// Posts a form with a secret, which no error shows, and returns the body of a success. Redirects are not followed.
async fn post(
    clients: &HttpClients,
    endpoint: &'static str,
    fields: &[(&str, &str)],
    secret: Option<&Secret>,
) -> Result<Vec<u8>, OAuthError> {
    let url = clients.endpoint(endpoint);
    let host = url.host_str().unwrap_or_default().to_owned();
    let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let request = clients
        .to_gitlab()?
        .post(url)
        .headers(request::headers_for_proxy(clients.settings())?)
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(ACCEPT, "application/json")
        .body(form)
        .timeout(TIMEOUT);
    let sent = request.send().await;
    clients.upstream().record(sent.as_ref().ok().map(|response| response.status().as_u16()));
    let mut response =
        sent.map_err(|error| GitlabError::from_transport(error, host.clone(), TIMEOUT, false))?;
    let status = response.status();
    let bytes = body::read_start(&mut response, MAX_RESPONSE).await;
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
        _ => Err(not_gitlab(clients).into()),
    }
}

fn described(description: &Option<String>) -> String {
    description.as_ref().map(|text| format!(" ({})", quote(text))).unwrap_or_default()
}

impl ErrorCode {
    fn parse(code: &str) -> ErrorCode {
        match code {
            "authorization_pending" => ErrorCode::AuthorizationPending,
            "slow_down" => ErrorCode::SlowDown,
            "expired_token" => ErrorCode::ExpiredToken,
            "access_denied" => ErrorCode::AccessDenied,
            "invalid_grant" => ErrorCode::InvalidGrant,
            "invalid_client" => ErrorCode::InvalidClient,
            "invalid_scope" => ErrorCode::InvalidScope,
            other => ErrorCode::Other(other.to_owned()),
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ErrorCode::AuthorizationPending => "authorization_pending",
            ErrorCode::SlowDown => "slow_down",
            ErrorCode::ExpiredToken => "expired_token",
            ErrorCode::AccessDenied => "access_denied",
            ErrorCode::InvalidGrant => "invalid_grant",
            ErrorCode::InvalidClient => "invalid_client",
            ErrorCode::InvalidScope => "invalid_scope",
            ErrorCode::Other(code) => return f.write_str(&quote(code)),
        })
    }
}
