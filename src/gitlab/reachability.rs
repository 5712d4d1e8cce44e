//! Reachability of an instance. The probe carries no credential and no permit: it asks for nothing of GitLab's content,
//! and its response is not read.

use std::time::Duration;

use super::GitlabError;
use super::transport::HttpClients;

/// Endpoint of the probe. Without a token every GitLab answers it with 401, whatever its version and address lists.
const PATH: &str = "api/v4/version";

/// Returns true if the instance answers within `limit`: with any status but those of a server or proxy whose GitLab is
/// down (5xx).
///
/// # Errors
/// An HTTP client that cannot be built.
pub async fn is_reachable(clients: &HttpClients, limit: Duration) -> Result<bool, GitlabError> {
    let answered = clients.to_gitlab()?.get(clients.endpoint(PATH)).timeout(limit).send().await;
    Ok(answered.is_ok_and(|response| !response.status().is_server_error()))
}
