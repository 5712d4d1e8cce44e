//! One client for every call: the only place that names reqwest and rustls.
//!
//! [`Client::send`] takes a [`Permit`](crate::policy::Permit) and sends nothing else. What it promises:
//!
//! - The token is a header of one request to the configured host, never a default of the client; it follows no
//!   redirect to another host and stands in no error, log line or `Debug`.
//! - A 2xx is a success whatever its body ([`Content`]). A failure says whether the change may have been made
//!   ([`GitlabError::applied`]).
//! - Only what is safe to repeat is repeated (`retry`), within one deadline for all attempts together.
//! - A path arrives as it was encoded, or is not sent (`target`).
//!
//! - No more than [`Settings::in_flight`] requests are under way at a time, none is sent that GitLab has said it
//!   would refuse for its rate (`signs`), and a GitLab that is down is not hammered (`retry`).
//! - A redirect leads nowhere inside, by the address that is connected to (`place`, `guard`, `roads`).
//!
//! Dropping the future of [`Client::send`] stops the request: nothing runs on without it.

mod body;
mod body_sink;
mod client;
mod content_disposition;
mod error;
mod error_body;
mod file_paths;
mod gitlab_url;
mod ip_class;
mod json;
mod pagination;
mod progress;
mod rate_limit;
mod redact;
mod redirect;
mod request;
mod response;
mod retry;
mod settings;
mod ssrf;
mod tls;
mod token;
mod transport;

pub use body_sink::BodySink;
pub use client::Client;
pub use error::{Answer, Applied, CertificateError, GitlabError, NetworkError, NotFollowed};
pub use pagination::Page;
pub use progress::{Event, tell, watched, with_listener};
pub use rate_limit::{Rate, ServerState};
pub use redact::Secret;
pub use response::{Content, Reply, Unread};
pub use settings::{ClientCertificate, ExtraHeader, Settings};
pub use token::Token;

#[cfg(test)]
mod tests;
