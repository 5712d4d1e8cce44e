//! The ways out: one HTTP client for GitLab itself, and apart from it, so that neither a certificate nor a
//! connection is shared, those for the hosts that it redirects to. Each keeps its connections and is made when it
//! is first needed.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::redirect as follow;
use url::Url;

use super::ip_class::is_loopback;
use super::redirect::Hop;
use super::ssrf::{self, Guard};
use super::tls::{self, Whom};
use super::{GitlabError, NotFollowed, Settings};

const USER_AGENT: &str = concat!("gitlab-mcp/", env!("CARGO_PKG_VERSION"));

/// A little under the 65 s after which GitLab's nginx closes an idle connection: a write on a connection that
/// is just being closed is lost, and nobody knows whether before or after it was read.
const IDLE: Duration = Duration::from_secs(50);

/// All of them.
pub(super) struct HttpClients {
    settings: Settings,
    guard: Guard,
    to_gitlab: OnceLock<reqwest::Client>,
    /// To a stranger whose address is looked at before it is connected to.
    direct: OnceLock<reqwest::Client>,
    /// To a stranger whom a proxy connects to, by an address that it alone knows.
    proxied: OnceLock<reqwest::Client>,
    proxies: OnceLock<Matcher>,
}

impl HttpClients {
    pub(super) fn new(settings: Settings) -> HttpClients {
        HttpClients {
            guard: Guard::new(settings.base.clone(), ssrf::system()),
            settings,
            to_gitlab: OnceLock::new(),
            direct: OnceLock::new(),
            proxied: OnceLock::new(),
            proxies: OnceLock::new(),
        }
    }

    /// Makes the client for GitLab, which takes some milliseconds the first time.
    pub(super) fn open(&self) -> Result<(), GitlabError> {
        build_client(&self.to_gitlab, || self.for_gitlab()).map(drop)
    }

    /// The client for this hop, or why nothing is sent there. One that could not be made is tried again next time:
    /// a CA file may be put right meanwhile.
    pub(super) async fn to(&self, hop: &Hop) -> Result<&reqwest::Client, GitlabError> {
        if hop.trusted {
            return build_client(&self.to_gitlab, || self.for_gitlab());
        }
        if !self.guard.admits(&hop.url).await {
            return Err(hop.refused(NotFollowed::Internal));
        }
        match self.proxy(&hop.url) {
            Some(_) => build_client(&self.proxied, || self.build(Whom::Stranger, |builder| builder)),
            None => build_client(&self.direct, || {
                let guard = Arc::new(self.guard.clone());
                self.build(Whom::Stranger, |builder| builder.no_proxy().dns_resolver(guard))
            }),
        }
    }

    /// The proxy of the environment, or of the system, that a request to this URL goes through: its scheme, host
    /// and port.
    pub(super) fn proxy(&self, url: &Url) -> Option<String> {
        if is_loopback(url) {
            return None;
        }
        let proxies = self.proxies.get_or_init(Matcher::from_system);
        let proxy = proxies.intercept(&url.as_str().parse().ok()?)?;
        // Who signs in there stands apart from this.
        let (scheme, host) = (proxy.uri().scheme_str().unwrap_or("http"), proxy.uri().host()?);
        Some(match proxy.uri().port_u16() {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}"),
        })
    }

    fn for_gitlab(&self) -> Result<reqwest::Client, GitlabError> {
        // The proxies of the environment are reqwest's to find; none of them can reach this machine.
        let is_here = is_loopback(&self.settings.base);
        self.build(Whom::Gitlab, |builder| if is_here { builder.no_proxy() } else { builder })
    }

    fn build(
        &self,
        whom: Whom,
        with: impl FnOnce(reqwest::ClientBuilder) -> reqwest::ClientBuilder,
    ) -> Result<reqwest::Client, GitlabError> {
        let builder = reqwest::Client::builder()
            .user_agent(USER_AGENT)
            .connect_timeout(self.settings.connect_time())
            .pool_idle_timeout(IDLE)
            .redirect(follow::Policy::none())
            .referer(false)
            .gzip(true)
            .tls_backend_preconfigured(tls::config(&self.settings, whom)?);
        with(builder).build().map_err(|error| {
            let what = "the HTTP client could not be made".to_owned();
            GitlabError::Setup { what, source: Some(Box::new(error)) }
        })
    }

    /// The same with another guard.
    #[cfg(test)]
    pub(super) fn with_guard(self, guard: Guard) -> HttpClients {
        HttpClients { guard, ..self }
    }
}

fn build_client(
    slot: &OnceLock<reqwest::Client>,
    make: impl FnOnce() -> Result<reqwest::Client, GitlabError>,
) -> Result<&reqwest::Client, GitlabError> {
    match slot.get() {
        Some(client) => Ok(client),
        None => {
            let client = make()?;
            Ok(slot.get_or_init(|| client))
        }
    }
}

impl fmt::Debug for HttpClients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClients").field("settings", &self.settings).finish_non_exhaustive()
    }
}
