//! One client for every call: the only place that names reqwest and rustls.
//!
//! [`Client::send`] takes a [`Call`](crate::call::Call) and sends nothing else. What it promises:
//!
//! - The token is a header of one request to the configured host, never a default of the client; it follows no
//!   redirect to another host and stands in no error, log line or `Debug`.
//! - A 2xx is a success whatever its body ([`Content`]). A failure says whether the change may have been made
//!   ([`GitlabError::applied`]).
//! - Only what is safe to repeat is repeated (`retry`), within one deadline for all attempts together.
//! - A path arrives as it was encoded, or is not sent (`target`).
//!
//! Dropping the future of [`Client::send`] stops the request: nothing runs on without it.

mod body;
mod client;
mod disposition;
mod error;
mod page;
mod redirect;
mod refusal;
mod reply;
mod retry;
mod secret;
mod settings;
mod target;
mod tls;
mod token;

pub use client::Client;
pub use error::{Answer, Applied, GitlabError, Trouble};
pub use page::Page;
pub use redirect::NotFollowed;
pub use reply::{Content, Reply, Unread};
pub use secret::Secret;
pub use settings::Settings;
pub use token::Token;

#[cfg(test)]
mod tests;
