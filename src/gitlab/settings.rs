//! Connection settings of one GitLab instance.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use super::{Credential, Secret};
use crate::untrusted::Secrets;

/// Settings of a [`Client`](super::Client).
#[derive(Clone)]
pub struct ClientSettings {
    /// The instance's root with its sub-path, if it has one: `https://example.com/gitlab`, without `/api/v4`.
    /// A user name or password in it is never sent.
    pub base: Url,
    /// The roots of other configured instances: a redirect below one of them does not carry this instance's token.
    pub other_roots: Vec<Url>,
    /// None for requests without a token.
    pub credential: Option<Credential>,
    /// Advice where the token is rejected, if it is not this server's own.
    pub token_remedy: Option<String>,
    pub connect_timeout: Duration,
    /// Timeout of a call as a whole: queueing, every attempt, redirects and pauses.
    pub timeout: Duration,
    /// Maximum size of a response body in memory, in bytes after decompression.
    pub max_body: u64,
    /// Maximum number of retries after the first attempt.
    pub retries: u32,
    /// Maximum number of concurrent requests; others are queued in order.
    pub in_flight: usize,
    /// PEM file of certificates to trust in addition to the platform's.
    pub ca_file: Option<PathBuf>,
    /// Client certificate for GitLab or a proxy in front of it (mutual TLS).
    pub client_certificate: Option<ClientCertificate>,
    /// True if GitLab's TLS certificate is not verified. Certificates of other hosts always are.
    pub insecure_tls: bool,
    /// The environment's `NO_PROXY`: entries whose forms reqwest does not know are matched here.
    pub no_proxy: String,
    /// Headers for a proxy in front of GitLab, sent with every request to GitLab and to no other host.
    pub extra_headers: Vec<ExtraHeader>,
}

/// PEM files of a certificate chain and its key.
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

impl ClientSettings {
    /// Without a token: 10 s to connect, 30 s for a request, 64 MiB, 3 retries, 16 concurrent requests.
    pub fn new(base: Url) -> ClientSettings {
        ClientSettings {
            base,
            other_roots: Vec::new(),
            credential: None,
            token_remedy: None,
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(30),
            max_body: 64 * 1024 * 1024,
            retries: 3,
            in_flight: 16,
            ca_file: None,
            client_certificate: None,
            insecure_tls: false,
            no_proxy: String::new(),
            extra_headers: Vec::new(),
        }
    }

    /// Connect timeout: at most half of the call's timeout. A change is sent only if at least this much time is left,
    /// so that a failure to connect is reported as such and not as a lost response.
    pub(super) fn connect_time(&self) -> Duration {
        self.connect_timeout.min(self.timeout / 2)
    }

    /// The token and the values of extra headers, for redaction. Tokens that are renewed are added as they come.
    pub(super) fn secrets(&self) -> Secrets {
        let mut secrets = match &self.credential {
            Some(Credential::Fixed(token)) => Secrets::new([token.reveal()]),
            Some(Credential::Renewed(_)) => Secrets::growing(),
            None => Secrets::default(),
        };
        for header in &self.extra_headers {
            secrets.add_header(&header.name, header.value.reveal());
        }
        secrets
    }
}

impl fmt::Debug for ClientSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = format!("{}{}", self.base.origin().ascii_serialization(), self.base.path());
        f.debug_struct("Settings")
            .field("base", &base)
            .field("credential", &self.credential)
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
