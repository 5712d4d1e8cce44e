//! How to reach one GitLab instance.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use super::{Secret, Token};
use crate::untrusted::Secrets;

/// What a [`Client`](super::Client) is made from.
#[derive(Clone)]
pub struct Settings {
    /// The instance's root with its sub-path, if it has one: `https://example.com/gitlab`, without `/api/v4`.
    /// A user name or password in it is never sent.
    pub base: Url,
    pub token: Option<Token>,
    pub connect_timeout: Duration,
    /// For one call as a whole: its turn, every attempt, redirect and pause between them.
    pub timeout: Duration,
    /// The most bytes of an answer's body, after decompression, that are read into memory.
    pub max_body: u64,
    /// How often a request may be repeated after its first attempt.
    pub retries: u32,
    /// How many requests are under way at a time; the others wait for their turn, in order.
    pub in_flight: usize,
    /// A PEM file of certificates to trust beside the platform's.
    pub ca_file: Option<PathBuf>,
    /// With what this client proves to GitLab, or to a proxy before it, who it is.
    pub client_certificate: Option<ClientCertificate>,
    /// True if GitLab's certificate is believed unseen. Those of other hosts never are.
    pub insecure_tls: bool,
    /// Headers for a proxy in front of GitLab, with every request to it and to no other host.
    pub extra_headers: Vec<ExtraHeader>,
}

/// A certificate with its chain, and its key, each a PEM file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// A header whose value is a secret.
#[derive(Clone, Debug)]
pub struct ExtraHeader {
    pub name: String,
    pub value: Secret,
}

impl Settings {
    /// No token, 10 s to connect, 60 s in all, 32 MiB, 3 retries, 16 at a time.
    pub fn new(base: Url) -> Settings {
        Settings {
            base,
            token: None,
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(60),
            max_body: 32 * 1024 * 1024,
            retries: 3,
            in_flight: 16,
            ca_file: None,
            client_certificate: None,
            insecure_tls: false,
            extra_headers: Vec::new(),
        }
    }

    /// How long a connection may take: at most half of all there is. A change is begun only while that much is left,
    /// so that what never connected is known for that, and not for a request whose answer was lost.
    pub(super) fn connect_time(&self) -> Duration {
        self.connect_timeout.min(self.timeout / 2)
    }

    /// The token and the values of extra headers, for redaction.
    pub(super) fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::new(self.token.iter().map(Token::reveal));
        for header in &self.extra_headers {
            secrets.add_header(&header.name, header.value.reveal());
        }
        secrets
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
            .field("in_flight", &self.in_flight)
            .field("ca_file", &self.ca_file)
            .field("client_certificate", &self.client_certificate)
            .field("insecure_tls", &self.insecure_tls)
            .field("extra_headers", &self.extra_headers)
            .finish()
    }
}
