//! OAuth endpoints of an instance (<https://docs.gitlab.com/api/oauth2/>). They lie outside of the API, so no action
//! reaches them, and their requests carry no permit: they concern the credential itself, never GitLab's content.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use serde::Deserialize;

use super::transport::HttpClients;
use super::{Applied, GitlabError, Secret, body, request};

/// Timeout of one request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum size of a response in bytes.
const MAX_RESPONSE: u64 = 64 * 1024;

/// GitLab's description of an access token (`GET /oauth/token/info`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenDescription {
    /// Uid (client id) of the application that the token was issued to.
    pub application: Option<String>,
    pub scopes: Vec<String>,
    /// Time until the token expires; none if it does not.
    pub expires_in: Option<Duration>,
}

#[derive(Deserialize)]
struct TokenInfoBody {
    #[serde(default)]
    scope: Vec<String>,
    #[serde(default)]
    expires_in: Option<u64>,
    #[serde(default)]
    application: Option<ApplicationBody>,
}

#[derive(Deserialize)]
struct ApplicationBody {
    uid: Option<String>,
}

/// Requests the description of an OAuth access token from the instance; none if the instance rejects the token.
///
/// # Errors
/// No answer, or one that is not GitLab's.
pub async fn describe_token(
    clients: &HttpClients,
    token: &Secret,
) -> Result<Option<TokenDescription>, GitlabError> {
    let url = clients.endpoint("oauth/token/info");
    let host = url.host_str().unwrap_or_default().to_owned();
    let not_gitlab = || GitlabError::NotGitlab { host: host.clone(), title: None, applied: Applied::No };
    let Ok(mut credential) = HeaderValue::try_from(format!("Bearer {}", token.reveal())) else {
        return Ok(None);
    };
    credential.set_sensitive(true);
    let request = clients
        .to_gitlab()?
        .get(url)
        .headers(request::headers_for_proxy(clients.settings())?)
        .header(AUTHORIZATION, credential)
        .timeout(TIMEOUT);
    let sent = request.send().await;
    clients.upstream().record(sent.as_ref().ok().map(|response| response.status().as_u16()));
    let mut response =
        sent.map_err(|error| GitlabError::from_transport(error, host.clone(), TIMEOUT, false))?;
    match response.status() {
        StatusCode::UNAUTHORIZED | StatusCode::BAD_REQUEST | StatusCode::FORBIDDEN => return Ok(None),
        StatusCode::OK => {}
        _ => return Err(not_gitlab()),
    }
    let bytes = body::read_start(&mut response, MAX_RESPONSE).await;
    let described: TokenInfoBody = serde_json::from_slice(&bytes).map_err(|_| not_gitlab())?;
    Ok(Some(TokenDescription {
        application: described.application.and_then(|application| application.uid),
        scopes: described.scope,
        expires_in: described.expires_in.map(Duration::from_secs),
    }))
}
