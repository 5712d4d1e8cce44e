//! The way to a host that GitLab redirected to: looked at when it is connected to, so that the address that was
//! looked at is the one that answers, whatever the name resolves to a moment later. A connection that is used
//! again was looked at when it was made.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use super::ip_class::IpClass;

/// How a name is resolved; the system's way, or a test's.
pub(super) type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// Lets through what GitLab may lead to.
#[derive(Clone)]
pub(super) struct Guard {
    gitlab: Url,
    lookup: Lookup,
}

/// Every address of a name is inside. A type of its own, to be known again among the causes of an error.
#[derive(Debug)]
pub(super) struct Inside;

impl Guard {
    pub(super) fn new(gitlab: Url, lookup: Lookup) -> Guard {
        Guard { gitlab, lookup }
    }

    /// True if this URL may be asked, as far as it says itself. What its name resolves to is looked at when it is
    /// connected to; behind a proxy, which resolves it, this is all there is.
    pub(super) async fn admits(&self, url: &Url) -> bool {
        match IpClass::of_url(url) {
            IpClass::Public => true,
            place => place.may_be_led_to_by(self.gitlab_place().await),
        }
    }

    /// Where GitLab is: where its name resolves to first, or what the name says of itself where it does not resolve
    /// here.
    async fn gitlab_place(&self) -> IpClass {
        let said = IpClass::of_url(&self.gitlab);
        let Some(Host::Domain(name)) = self.gitlab.host() else { return said };
        let found = (self.lookup)(name.to_owned()).await.unwrap_or_default();
        found.first().map_or(said, |address| IpClass::classify(address.ip()))
    }

    /// Those addresses of a name that may be connected to.
    async fn addresses(self, name: String) -> Result<Vec<SocketAddr>, Box<dyn Error + Send + Sync>> {
        let mut found = (self.lookup)(name).await?;
        if found.iter().any(|address| IpClass::classify(address.ip()) != IpClass::Public) {
            let gitlab = self.gitlab_place().await;
            found.retain(|address| IpClass::classify(address.ip()).may_be_led_to_by(gitlab));
            if found.is_empty() {
                return Err(Box::new(Inside));
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

/// As the system resolves names.
pub(super) fn system() -> Lookup {
    Arc::new(|name| {
        Box::pin(async move {
            // The port is the URL's; reqwest puts it in the place of a zero.
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.collect())
        })
    })
}

impl fmt::Display for Inside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name resolves to an internal address")
    }
}

impl Error for Inside {}
