//! Entries of `NO_PROXY` that reqwest does not match and curl, Go or Python do: `*.domain` and `host:port`.

use url::Url;

/// True if the list has an entry for the URL.
pub(super) fn is_listed(list: &str, url: &Url) -> bool {
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
