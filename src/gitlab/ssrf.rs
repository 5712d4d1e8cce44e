//! SSRF guard: refuses connections to internal addresses that GitLab redirects to.
//!
//! The check runs in the DNS resolver of the HTTP client, so that the address that was checked is the address that is
//! connected to (no DNS rebinding). A reused connection was checked when it was opened.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use super::ip_class::IpClass;

/// DNS lookup: the system's, or a test's.
pub(super) type DnsLookup =
    Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// Check of redirect targets, by GitLab's own network class.
#[derive(Clone)]
pub(super) struct Guard {
    gitlab: Url,
    lookup: DnsLookup,
}

/// Error: every address of a name is internal. It has its own type so that it is recognized among the causes of an
/// error.
#[derive(Debug, thiserror::Error)]
#[error("the name resolves to an internal address")]
pub(super) struct InternalAddress;

impl Guard {
    pub(super) fn new(gitlab: Url, lookup: DnsLookup) -> Guard {
        Guard { gitlab, lookup }
    }

    /// True if this URL may be requested, judged by its host without DNS. Resolved addresses are checked on connecting;
    /// behind a proxy, which resolves names itself, this is the only check.
    pub(super) async fn admits(&self, url: &Url) -> bool {
        match IpClass::of_url(url) {
            IpClass::Public => true,
            place => place.is_reachable_from(self.gitlab_class().await),
        }
    }

    /// Network class of GitLab: of the first address its name resolves to, or of the name itself if it does not
    /// resolve.
    async fn gitlab_class(&self) -> IpClass {
        let by_name = IpClass::of_url(&self.gitlab);
        let Some(Host::Domain(name)) = self.gitlab.host() else { return by_name };
        let found = (self.lookup)(name.to_owned()).await.unwrap_or_default();
        found.first().map_or(by_name, |address| IpClass::classify(address.ip()))
    }

    /// Resolves a name to the addresses that may be connected to.
    async fn addresses(self, name: String) -> Result<Vec<SocketAddr>, Box<dyn Error + Send + Sync>> {
        let mut found = (self.lookup)(name).await?;
        if found.iter().any(|address| IpClass::classify(address.ip()) != IpClass::Public) {
            let gitlab = self.gitlab_class().await;
            found.retain(|address| IpClass::classify(address.ip()).is_reachable_from(gitlab));
            if found.is_empty() {
                return Err(Box::new(InternalAddress));
            }
        }
        Ok(found)
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let (guard, name) = (self.clone(), name.as_str().to_owned());
        Box::pin(async move {
            let found = guard.addresses(name).await?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// The system's DNS lookup.
pub(super) fn system() -> DnsLookup {
    Arc::new(|name| {
        Box::pin(async move {
            // reqwest replaces port zero by the URL's port.
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.collect())
        })
    })
}
