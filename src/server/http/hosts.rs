//! `Host` and `Origin` of a request. A web page can have a browser send requests here under a name that leads to this
//! machine (DNS rebinding); its name in `Host`, or its `Origin`, gives it away.

use std::net::IpAddr;

use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri};
use url::Url;

use super::settings::HttpSettings;

/// Names of this machine.
const LOCAL_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Hosts that the server is called by: loopback, the host of the public URL, and those of the settings.
pub(super) fn own_hosts(settings: &HttpSettings) -> Vec<String> {
    let mut hosts = LOCAL_HOSTS.map(str::to_owned).to_vec();
    hosts.extend(settings.public_url.as_ref().and_then(Url::host_str).map(str::to_owned));
    hosts.extend(settings.allowed_hosts.iter().cloned());
    hosts
}

/// True if the request has one host at most, and it is a host with a port at most (RFC 9112, 3.2). A target with an
/// authority has to agree with `Host`: a proxy may go by either.
pub(super) fn is_host_clear(uri: &Uri, headers: &HeaderMap) -> bool {
    let mut given = headers.get_all(HOST).iter();
    let (first, second) = (given.next(), given.next());
    let host = match first.map(|value| value.to_str().ok().and_then(parse_host)) {
        Some(Some(host)) => Some(host),
        Some(None) => return false,
        None => None,
    };
    let agrees = match (uri.authority(), &host) {
        (Some(target), Some(host)) => target == host,
        _ => true,
    };
    second.is_none() && agrees
}

/// True if operational data may be shown in the answer: the request names the server by one of its hosts or by an IP
/// address, as Prometheus and Kubernetes do, and is not of a web page. A page that has the browser look up its own name
/// cannot send an address.
pub(super) fn is_of_operator(hosts: &[String], headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|value| value.to_str().ok()).and_then(parse_host);
    let is_known = host.is_some_and(|host| {
        let name = host.host().trim_start_matches('[').trim_end_matches(']');
        let is_own = |own: &String| own.eq_ignore_ascii_case(name) || own.eq_ignore_ascii_case(host.as_str());
        name.parse::<IpAddr>().is_ok() || hosts.iter().any(is_own)
    });
    is_known && !is_of_page(headers)
}

/// True if a web page of another origin has sent the request, or may have.
pub(super) fn is_of_page(headers: &HeaderMap) -> bool {
    headers.contains_key(ORIGIN)
}

/// A host with an optional port, and nothing else.
fn parse_host(text: &str) -> Option<Authority> {
    let authority: Authority = text.parse().ok()?;
    let port = authority.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
    let is_whole = authority.as_str() == format!("{}{port}", authority.host());
    (is_whole && !authority.host().is_empty()).then_some(authority)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(given: &[(axum::http::HeaderName, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn a_host_is_a_host_and_a_port() {
        let is_clear =
            |uri: &str, host: &str| is_host_clear(&uri.parse().unwrap(), &headers(&[(HOST, host)]));
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:80", "[::1]", "[::1]:8080", "mcp.example.com"]
        {
            assert!(is_clear("/mcp", host), "{host}");
        }
        for host in [
            "evil@localhost",
            "evil:x@localhost",
            "@localhost",
            "localhost@",
            "localhost:",
            "localhost:x",
            "localhost:99999",
            "localhost:080",
            "localhost, evil.example",
            "localhost/evil",
            "localhost evil",
            "http://localhost",
            "",
            ":8080",
        ] {
            assert!(!is_clear("/mcp", host), "{host}");
        }
        assert!(is_clear("http://localhost/mcp", "localhost"));
        assert!(!is_clear("http://evil.example/mcp", "localhost"));
        assert!(!is_clear("http://localhost:1/mcp", "localhost"));
        let two = headers(&[(HOST, "localhost"), (HOST, "localhost")]);
        assert!(!is_host_clear(&"/mcp".parse().unwrap(), &two));
    }

    #[test]
    fn operational_data_are_for_known_hosts_and_addresses_alone() {
        let hosts = ["localhost", "mcp.example.com", "probe.example.com:9090"].map(str::to_owned);
        let shows = |host: &str| is_of_operator(&hosts, &headers(&[(HOST, host)]));
        for host in
            ["localhost:1", "MCP.example.com", "probe.example.com:9090", "10.1.2.3:9090", "[fd00::1]:9090"]
        {
            assert!(shows(host), "{host}");
        }
        for host in [
            "evil.example",
            "10.1.2.3.evil.example",
            "probe.example.com",
            "evil@localhost",
            "mcp.example.com.evil",
        ] {
            assert!(!shows(host), "{host}");
        }
        assert!(!is_of_operator(&hosts, &HeaderMap::new()), "no host");
        let of_page = headers(&[(HOST, "localhost"), (ORIGIN, "http://localhost")]);
        assert!(!is_of_operator(&hosts, &of_page));
    }
}
