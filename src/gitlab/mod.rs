//! One client for every call. The only place that names reqwest.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

/// A text that is never shown.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: String) -> Secret {
        Secret(text)
    }

    /// The text itself, for the request alone.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What proves to GitLab who is asking.
#[derive(Clone, Debug)]
pub enum Token {
    Private(Secret),
    OAuth(Secret),
    Job(Secret),
}

impl Token {
    /// The kind that the text's prefix shows.
    pub fn guess(secret: Secret) -> Token {
        Token::Private(secret)
    }
}

/// What the client needs to know.
#[derive(Clone, Debug)]
pub struct Settings {
    pub base: Url,
    pub token: Option<Token>,
    pub connect_timeout: Duration,
    pub timeout: Duration,
    pub max_body: u64,
    pub retries: u32,
    pub ca_file: Option<PathBuf>,
}
