//! The server as an OAuth 2.1 resource server (MCP 2025-11-25, authorization; RFC 9728): its metadata, and the
//! verification of access tokens by the instance that issued them.
//!
//! GitLab's tokens name no audience. The nearest is the application that a token was issued to: only tokens of the
//! configured applications are accepted.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use url::Url;

use super::credentials::RequestCredential;
use crate::tools::{HttpClients, describe_token};

/// Path of the metadata document; that of the endpoint is appended to it as well (RFC 9728, 3.1).
pub(super) const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

/// Time for which a verification is trusted: a revoked token is refused by GitLab itself before that.
const TRUSTED_FOR: Duration = Duration::from_secs(120);

/// Scopes that give this server something to do.
pub(super) const SCOPES: [&str; 2] = ["api", "read_api"];

/// Why an access token is not accepted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rejection {
    /// The instance does not accept it, or it is of another application.
    InvalidToken(&'static str),
    /// The token has none of the scopes of the API.
    InsufficientScope,
    /// The instance did not answer.
    Unavailable,
}

/// A verified access token.
#[derive(Debug)]
pub(super) struct Verified {
    /// End of the time for which the verification is trusted.
    pub(super) until: Instant,
    pub(super) scopes: Vec<String>,
}

/// The resource's metadata document (RFC 9728, 2).
pub(super) fn metadata(resource: &str, instances: &[Url]) -> Value {
    let servers: Vec<&str> = instances.iter().map(|url| url.as_str().trim_end_matches('/')).collect();
    json!({
        "resource": resource,
        "resource_name": "gitlab-mcp",
        "authorization_servers": servers,
        "scopes_supported": SCOPES,
        "bearer_methods_supported": ["header"],
    })
}

/// A challenge for `WWW-Authenticate` (RFC 6750, 3, and RFC 9728, 5.1). `error` is a code of RFC 6750, 3.1.
pub(super) fn challenge(metadata_url: Option<&str>, error: Option<(&str, &str)>, scope: &str) -> String {
    let mut parts = Vec::new();
    if let Some((code, description)) = error {
        parts.push(format!("error=\"{code}\", error_description=\"{description}\""));
    }
    if let Some(url) = metadata_url {
        parts.push(format!("resource_metadata=\"{url}\", scope=\"{scope}\""));
    }
    match parts.is_empty() {
        true => "Bearer".to_owned(),
        false => format!("Bearer {}", parts.join(", ")),
    }
}

/// Verifies an access token with the instance that should have issued it.
pub(super) async fn verify(
    clients: &HttpClients,
    credential: &RequestCredential,
    applications: &[String],
    now: Instant,
) -> Result<Verified, Rejection> {
    let described = match describe_token(clients, &credential.secret).await {
        Ok(Some(described)) => described,
        Ok(None) => return Err(Rejection::InvalidToken("GitLab does not accept the token")),
        Err(error) => {
            tracing::warn!(%error, "an access token cannot be verified");
            return Err(Rejection::Unavailable);
        }
    };
    if !described.application.is_some_and(|uid| applications.contains(&uid)) {
        return Err(Rejection::InvalidToken(
            "the token is of an application that this server does not admit",
        ));
    }
    if !described.scopes.iter().any(|scope| SCOPES.contains(&scope.as_str())) {
        return Err(Rejection::InsufficientScope);
    }
    let trusted_for = described.expires_in.map_or(TRUSTED_FOR, |left| left.min(TRUSTED_FOR));
    Ok(Verified { until: now + trusted_for, scopes: described.scopes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_those_of_rfc_6750_and_9728() {
        assert_eq!(challenge(None, None, "api"), "Bearer");
        assert_eq!(
            challenge(Some("https://mcp.example.com/x"), Some(("invalid_token", "no")), "api"),
            "Bearer error=\"invalid_token\", error_description=\"no\", \
             resource_metadata=\"https://mcp.example.com/x\", scope=\"api\""
        );
    }
}
