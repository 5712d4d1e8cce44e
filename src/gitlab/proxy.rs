//! The proxy that a request goes through, which the environment or the system names, and the exceptions of `NO_PROXY`.

use std::sync::OnceLock;

use hyper_util::client::proxy::matcher::Matcher;
use url::Url;

use super::ip_class::is_loopback;

/// The proxies of the environment and the system.
pub(super) struct Proxies {
    /// The environment's `NO_PROXY`.
    exceptions: String,
    system: OnceLock<Matcher>,
}

impl Proxies {
    pub(super) fn new(exceptions: &str) -> Proxies {
        Proxies { exceptions: exceptions.to_owned(), system: OnceLock::new() }
    }

    /// True if no proxy may be used for this URL. No proxy can reach this machine's own addresses.
    pub(super) fn is_unproxied(&self, url: &Url) -> bool {
        is_loopback(url) || is_listed(&self.exceptions, url)
    }

    /// The proxy used for this URL: scheme, host and port.
    pub(super) fn choose(&self, url: &Url) -> Option<String> {
        if self.is_unproxied(url) {
            return None;
        }
        let proxy = self.system.get_or_init(Matcher::from_system).intercept(&url.as_str().parse().ok()?)?;
        // The proxy's credentials are kept apart from the URI.
        let (scheme, host) = (proxy.uri().scheme_str().unwrap_or("http"), proxy.uri().host()?);
        Some(match proxy.uri().port_u16() {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}"),
        })
    }
}

/// True if the list has an entry for the URL, also of the forms that reqwest does not match and curl, Go or Python do:
/// `*.domain` and `host:port`.
fn is_listed(list: &str, url: &Url) -> bool {
    let mut entries = list.split([',', ' ']).map(str::trim).filter(|entry| !entry.is_empty());
    entries.any(|entry| entry_covers(&entry.to_ascii_lowercase(), url))
}

/// The host of an entry is a whole name, `.domain` or `*.domain`; with a port it is for that port alone.
fn entry_covers(entry: &str, url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let (pattern, port) = match entry.rsplit_once(':') {
        Some((pattern, port)) if !pattern.ends_with(':') => match port.parse::<u16>() {
            Ok(port) => (pattern, Some(port)),
            Err(_) => (entry, None),
        },
        _ => (entry, None),
    };
    if port.is_some() && port != url.port_or_known_default() {
        return false;
    }
    match pattern.trim_start_matches('*').strip_prefix('.') {
        Some(domain) => host == domain || host.ends_with(&format!(".{domain}")),
        None => host == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_and_ports_of_no_proxy() {
        let url = Url::parse("https://gitlab.corp.example/api/v4/").unwrap();
        for list in
            ["*.corp.example", "*.example", "a, *.corp.example", "GitLab.corp.example:443", ".example:443"]
        {
            assert!(is_listed(list, &url), "{list}");
        }
        for list in
            ["", "*.other.example", "gitlab.corp.example:8443", "*.orp.example", "corp.example:443", ":443"]
        {
            assert!(!is_listed(list, &url), "{list}");
        }
        let with_port = Url::parse("http://127.0.0.1:8080/").unwrap();
        assert!(is_listed("127.0.0.1:8080", &with_port) && !is_listed("127.0.0.1:80", &with_port));
    }
}
