//! HTTP client for GitLab: the only module that uses reqwest.
//!
//! [`Client::send`] takes a [`Permit`](crate::policy::Permit) and sends nothing else. Invariants:
//!
//! - The token is a header of single requests to the configured host, never a default of the client. It follows no
//!   redirect to another host and appears in no error, log line or `Debug` output.
//! - A 2xx is a success whatever its body ([`Content`]). An error states whether the change may have been made
//!   ([`GitlabError::applied`]).
//! - A 401 is answered by renewing the token once, if its source can: the request was refused, so that it may be sent
//!   again.
//! - Only requests that are safe to repeat are retried (`retry`), within one deadline for all attempts together.
//! - A path is sent exactly as it was encoded, or not at all (`gitlab_url`).
//! - At most [`Settings::in_flight`] requests run concurrently. None is sent while the rate limit is used up
//!   (`rate_limit`), and a retry budget protects a GitLab that is down (`retry`).
//! - Redirects to internal addresses are refused, by the address that is actually connected to (`ip_class`, `ssrf`,
//!   `transport`).
//!
//! Dropping the future of [`Client::send`] cancels the request. There are no background tasks.

mod body;
mod body_sink;
mod certificate_expiry;
mod client;
mod content_disposition;
mod credential;
mod derived_key;
mod error;
mod error_body;
mod file_paths;
mod gitlab_url;
mod ip_class;
mod json;
mod oauth;
mod oauth_grants;
mod pagination;
mod progress;
mod proxy;
mod rate_limit;
mod reachability;
mod redirect;
mod request;
mod response;
mod retry;
mod secret;
mod settings;
mod ssrf;
mod tls;
mod token;
mod transport;
mod upload;
mod upstream;

pub use body_sink::BodySink;
pub use client::Client;
pub use credential::{Credential, CredentialError, IssuedToken, TokenSource};
pub use derived_key::derive_key;
pub use error::{Applied, CertificateError, ErrorAnswer, GitlabError, NetworkError, NotFollowed};
pub use oauth::{TokenDescription, describe_token};
pub use oauth_grants::{
    DeviceAuthorization, ErrorCode, GrantedTokens, OAuthError, authorize_device, redeem_device_code,
    refresh_tokens, revoke_token,
};
pub use pagination::Page;
pub use progress::{Event, notify, watched, with_listener};
pub use rate_limit::{Rate, ServerState};
pub use reachability::is_reachable;
pub use response::{Content, Reply, Unread};
pub use secret::Secret;
pub use settings::{ClientCertificate, ClientSettings, ExtraHeader};
pub use token::{Token, TokenKind};
pub use transport::HttpClients;
pub use upstream::{UpstreamCounts, UpstreamState};

#[cfg(test)]
mod tests;
