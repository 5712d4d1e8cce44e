//! Settings of the HTTP server.

use std::net::SocketAddr;
use std::path::PathBuf;

use url::Url;

/// Settings of the HTTP server.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    pub listen: ListenAddress,
    pub auth: AuthMode,
    /// The URL that clients use, without the path of the endpoint.
    pub public_url: Option<Url>,
    pub tls: Option<TlsFiles>,
    /// Address of `/metrics` and `/health`, in place of the public one.
    pub metrics: Option<ListenAddress>,
    /// Hosts accepted in `Host`, in addition to loopback and the host of `public_url`.
    pub allowed_hosts: Vec<String>,
    /// Origins accepted in `Origin`, in addition to the server's own; a request without the header is accepted.
    pub allowed_origins: Vec<String>,
    /// Sustained requests per second of one caller; twice as many in a burst.
    pub caller_rate: u32,
    /// Concurrent requests of one caller.
    pub caller_calls: usize,
}

/// Address to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    Tcp(SocketAddr),
    /// Path of a unix socket, which only its owner may open.
    Unix(PathBuf),
}

impl ListenAddress {
    /// True if only this machine can connect.
    pub fn is_local(&self) -> bool {
        match self {
            ListenAddress::Tcp(address) => address.ip().is_loopback(),
            ListenAddress::Unix(_) => true,
        }
    }
}

/// How a caller is identified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthMode {
    /// Every request uses the process's own token.
    None,
    /// Each request brings a token of GitLab.
    Token,
    /// Each request brings an OAuth access token of one of these applications (their uids).
    OAuth { applications: Vec<String> },
}

/// PEM files of the server's certificate chain and key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
}
