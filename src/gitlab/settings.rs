//! How to reach one GitLab instance.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use super::Token;

/// What a [`Client`](super::Client) is made from.
#[derive(Clone)]
pub struct Settings {
    /// The instance's root with its sub-path, if it has one: `https://example.com/gitlab`, without `/api/v4`.
    /// A user name or password in it is never sent.
    pub base: Url,
    pub token: Option<Token>,
    pub connect_timeout: Duration,
    /// For one call as a whole: every attempt, redirect and pause between them.
    pub timeout: Duration,
    /// The most bytes of an answer's body, after decompression, that are read into memory.
    pub max_body: u64,
    /// How often a request may be repeated after its first attempt.
    pub retries: u32,
    /// A PEM file of certificates to trust beside the platform's.
    pub ca_file: Option<PathBuf>,
}

impl Settings {
    /// No token, 10 s to connect, 60 s in all, 32 MiB, 3 retries.
    pub fn new(base: Url) -> Settings {
        Settings {
            base,
            token: None,
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(60),
            max_body: 32 * 1024 * 1024,
            retries: 3,
            ca_file: None,
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = format!("{}{}", self.base.origin().ascii_serialization(), self.base.path());
        f.debug_struct("Settings")
            .field("base", &base)
            .field("token", &self.token)
            .field("connect_timeout", &self.connect_timeout)
            .field("timeout", &self.timeout)
            .field("max_body", &self.max_body)
            .field("retries", &self.retries)
            .field("ca_file", &self.ca_file)
            .finish()
    }
}
