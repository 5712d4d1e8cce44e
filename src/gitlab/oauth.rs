//! OAuth endpoints of an instance (<https://docs.gitlab.com/api/oauth2/>). They lie outside of the API, so no action
//! reaches them, and their requests carry no permit: they concern the credential itself, never GitLab's content.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::{Deserialize, Deserializer};

use super::transport::HttpClients;
use super::{Applied, GitlabError, Secret, body, request};

/// Timeout of one request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum size of a response in bytes.
const MAX_RESPONSE: u64 = 64 * 1024;

/// GitLab's description of an access token (`GET /oauth/token/info`).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TokenDescription {
    /// Uid (client id) of the application that the token was issued to.
    #[serde(default, deserialize_with = "uid")]
    pub application: Option<String>,
    #[serde(default, rename = "scope")]
    pub scopes: Vec<String>,
    /// Time until the token expires; none if it does not.
    #[serde(default, deserialize_with = "seconds")]
    pub expires_in: Option<Duration>,
}

fn uid<'de, D: Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    struct ApplicationBody {
        uid: Option<String>,
    }
    Ok(Option::<ApplicationBody>::deserialize(value)?.and_then(|application| application.uid))
}

/// Parses a number of seconds.
pub(super) fn seconds<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Duration>, D::Error> {
    Ok(Option::<u64>::deserialize(value)?.map(Duration::from_secs))
}

/// Requests the description of an OAuth access token from the instance; none if the instance rejects the token.
///
/// # Errors
/// No answer, or one that is not GitLab's.
pub async fn describe_token(
    clients: &HttpClients,
    token: &Secret,
) -> Result<Option<TokenDescription>, GitlabError> {
    let Ok(mut credential) = HeaderValue::try_from(format!("Bearer {}", token.reveal())) else {
        return Ok(None);
    };
    credential.set_sensitive(true);
    let request = build_request(clients, Method::GET, "oauth/token/info")?.header(AUTHORIZATION, credential);
    let mut response = send(clients, request).await?;
    match response.status() {
        StatusCode::UNAUTHORIZED | StatusCode::BAD_REQUEST | StatusCode::FORBIDDEN => return Ok(None),
        StatusCode::OK => {}
        _ => return Err(not_gitlab(clients)),
    }
    let bytes = read_start(&mut response).await;
    serde_json::from_slice(&bytes).map(Some).map_err(|_| not_gitlab(clients))
}

/// Builds a request to an endpoint of the instance.
pub(super) fn build_request(
    clients: &HttpClients,
    method: Method,
    endpoint: &str,
) -> Result<RequestBuilder, GitlabError> {
    let request = clients.to_gitlab()?.request(method, clients.endpoint(endpoint)).timeout(TIMEOUT);
    Ok(request.headers(request::headers_for_proxy(clients.settings())?))
}

/// Sends a request and records its outcome. Redirects are not followed.
pub(super) async fn send(clients: &HttpClients, request: RequestBuilder) -> Result<Response, GitlabError> {
    let sent = request.send().await;
    clients.upstream().record(sent.as_ref().ok().map(|response| response.status().as_u16()));
    sent.map_err(|error| GitlabError::from_transport(error, host(clients), TIMEOUT, false))
}

/// Reads the start of a response.
pub(super) async fn read_start(response: &mut Response) -> Vec<u8> {
    body::read_start(response, MAX_RESPONSE).await
}

/// Error for a response that is not GitLab's.
pub(super) fn not_gitlab(clients: &HttpClients) -> GitlabError {
    GitlabError::NotGitlab { host: host(clients), title: None, applied: Applied::No }
}

fn host(clients: &HttpClients) -> String {
    clients.base().host_str().unwrap_or_default().to_owned()
}
