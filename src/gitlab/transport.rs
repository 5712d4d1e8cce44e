//! HTTP clients: one for GitLab, separate ones for redirect targets, so that they share neither a client certificate
//! nor connections. Each has its own connection pool and is built on first use.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use reqwest::redirect as follow;
use url::Url;

use super::certificate_expiry::CertificateExpiry;
use super::proxy::Proxies;
use super::redirect::Hop;
use super::ssrf::{self, Guard};
use super::tls::{self, Peer};
use super::upstream::UpstreamState;
use super::{ClientSettings, GitlabError, NotFollowed, gitlab_url};

const USER_AGENT: &str = concat!("gitlab-mcp/", env!("CARGO_PKG_VERSION"));

/// Idle timeout of pooled connections, a little under the 65 s after which GitLab's nginx closes them: a write on a
/// connection that is just being closed is lost, and whether the server read it is unknown.
const IDLE: Duration = Duration::from_secs(50);

/// The HTTP clients of one instance. Its [`Client`](super::Client)s may share them: they hold no token.
pub struct HttpClients {
    /// Settings without the token.
    settings: ClientSettings,
    guard: Guard,
    to_gitlab: OnceLock<reqwest::Client>,
    /// For redirect targets that are connected to directly, with checked addresses.
    direct: OnceLock<reqwest::Client>,
    /// For redirect targets behind a proxy, which resolves the address.
    proxied: OnceLock<reqwest::Client>,
    proxies: Proxies,
    upstream: UpstreamState,
    certificate: Arc<CertificateExpiry>,
}

impl HttpClients {
    pub fn new(settings: &ClientSettings) -> HttpClients {
        let settings = ClientSettings { credential: None, ..settings.clone() };
        HttpClients {
            guard: Guard::new(settings.base.clone(), ssrf::system()),
            proxies: Proxies::new(&settings.no_proxy),
            settings,
            to_gitlab: OnceLock::new(),
            direct: OnceLock::new(),
            proxied: OnceLock::new(),
            upstream: UpstreamState::default(),
            certificate: Arc::default(),
        }
    }

    /// The settings, without a credential.
    pub(super) fn settings(&self) -> &ClientSettings {
        &self.settings
    }

    /// The root URL of the instance.
    pub(super) fn base(&self) -> &Url {
        &self.settings.base
    }

    /// The URL of an endpoint that no call names, by its path below the instance's root.
    pub(super) fn endpoint(&self, path: &str) -> Url {
        let mut url = self.base().clone();
        url.set_path(&gitlab_url::path_below(self.base(), &format!("/{path}")));
        url
    }

    /// The client for GitLab itself.
    pub(super) fn to_gitlab(&self) -> Result<&reqwest::Client, GitlabError> {
        build_client(&self.to_gitlab, || self.for_gitlab())
    }

    /// Expiry of the certificate that GitLab presented last.
    pub(super) fn certificate_expiry(&self) -> Option<SystemTime> {
        self.certificate.last()
    }

    /// Outcomes of the requests sent through these clients.
    pub fn upstream(&self) -> &UpstreamState {
        &self.upstream
    }

    /// Builds the client for GitLab, which takes some milliseconds the first time.
    pub(super) fn open(&self) -> Result<(), GitlabError> {
        self.to_gitlab().map(drop)
    }

    /// The client for this hop, or the error if the hop is refused. A client that could not be built is tried again
    /// next time: a broken CA file may have been fixed.
    pub(super) async fn client_for(&self, hop: &Hop) -> Result<&reqwest::Client, GitlabError> {
        if hop.trusted {
            return self.to_gitlab();
        }
        if !self.guard.admits(&hop.url).await {
            return Err(hop.refused(NotFollowed::Internal));
        }
        match self.proxy(&hop.url) {
            Some(_) => build_client(&self.proxied, || self.build(Peer::Other, |builder| builder)),
            None => build_client(&self.direct, || {
                let guard = Arc::new(self.guard.clone());
                self.build(Peer::Other, |builder| builder.no_proxy().dns_resolver(guard))
            }),
        }
    }

    /// The proxy used for this URL: scheme, host and port.
    pub(super) fn proxy(&self, url: &Url) -> Option<String> {
        self.proxies.choose(url)
    }

    fn for_gitlab(&self) -> Result<reqwest::Client, GitlabError> {
        // reqwest finds the environment's proxies itself.
        let is_direct = self.proxies.is_unproxied(&self.settings.base);
        self.build(Peer::Gitlab, |builder| if is_direct { builder.no_proxy() } else { builder })
    }

    fn build(
        &self,
        peer: Peer,
        with: impl FnOnce(reqwest::ClientBuilder) -> reqwest::ClientBuilder,
    ) -> Result<reqwest::Client, GitlabError> {
        let builder = reqwest::Client::builder()
            .user_agent(USER_AGENT)
            .connect_timeout(self.settings.connect_time())
            .pool_idle_timeout(IDLE)
            .redirect(follow::Policy::none())
            .referer(false)
            .gzip(true)
            .tls_backend_preconfigured(tls::config(&self.settings, peer, &self.certificate)?);
        with(builder).build().map_err(|error| {
            let what = "the HTTP client could not be built".to_owned();
            GitlabError::Setup { what, source: Some(Box::new(error)) }
        })
    }

    /// Replaces the SSRF guard.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_below_the_root_of_its_instance() {
        for (base, expected) in [
            ("https://a.example/", "https://a.example/oauth/token"),
            ("https://a.example:8443/gitlab/", "https://a.example:8443/gitlab/oauth/token"),
            ("https://a.example/gitlab", "https://a.example/gitlab/oauth/token"),
        ] {
            let clients = HttpClients::new(&ClientSettings::new(Url::parse(base).unwrap()));
            assert_eq!(clients.endpoint("oauth/token").as_str(), expected);
        }
    }
}
