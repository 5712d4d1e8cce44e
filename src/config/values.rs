//! Parsers of setting values. `None` for an invalid value: the setting describes what it accepts.

use std::fs;
use std::path::PathBuf;

use url::Url;

use super::instance::Instance;
use crate::credentials::Helper;
use crate::gitlab::{ExtraHeader, Secret};
use crate::server::http::ListenAddress;

/// Headers that the client sets itself (credentials, host, body), and hop-by-hop headers.
const OWN_HEADERS: [&str; 17] = [
    "authorization",
    "private-token",
    "job-token",
    "deploy-token",
    "host",
    "content-length",
    "content-type",
    "content-encoding",
    "accept-encoding",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "upgrade",
];

/// Value of a number that counts.
pub(super) fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Value of a number of requests in a second.
pub(super) fn rate(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

pub(super) fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// Splits a list at commas and line ends. One of commas alone names nothing, and is no list: `$A,$B` without either would
/// lift a restriction.
pub(super) fn list(text: &str) -> Option<Vec<String>> {
    let items = text.split([',', '\n']).map(str::trim).filter(|item| !item.is_empty());
    let items: Vec<String> = items.map(str::to_owned).collect();
    (!items.is_empty()).then_some(items)
}

/// Parses an IP address with a port, or `unix:PATH`.
pub(super) fn listen_address(text: &str) -> Option<ListenAddress> {
    match text.strip_prefix("unix:") {
        Some("") => None,
        Some(path) => Some(ListenAddress::Unix(PathBuf::from(path))),
        None => {
            let of_localhost = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
            of_localhost.as_deref().unwrap_or(text).parse().ok().map(ListenAddress::Tcp)
        }
    }
}

/// Mode of authentication, before the settings that belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AuthKind {
    None,
    Token,
    OAuth,
}

/// Parses the root URL of an instance or of this server.
pub(super) fn root_url(text: &str) -> Option<Url> {
    match instance(text)? {
        Instance::At(url) => Some(url),
        Instance::Sandbox => None,
    }
}

pub(super) fn root_urls(text: &str) -> Option<Vec<Url>> {
    list(text)?.iter().map(|url| root_url(url)).collect()
}

/// Parses origins: a scheme and a host, with or without a port.
pub(super) fn origins(text: &str) -> Option<Vec<String>> {
    let origins = list(text)?;
    let is_origin = |origin: &String| {
        let origin = origin.strip_suffix(":*").unwrap_or(origin);
        Url::parse(origin).is_ok_and(|url| url.has_host() && url.path() == "/" && url.query().is_none())
    };
    origins.iter().all(is_origin).then_some(origins)
}

/// Parses `Name: value; Name: value`. Headers that the client sets itself are rejected.
pub(super) fn headers(text: &str) -> Option<Vec<ExtraHeader>> {
    text.split(';').map(str::trim).filter(|pair| !pair.is_empty()).map(header).collect()
}

fn header(pair: &str) -> Option<ExtraHeader> {
    let (name, value) = pair.split_once(':')?;
    let (name, value) = (name.trim(), value.trim());
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_name = !name.is_empty() && name.bytes().all(is_token);
    let is_value = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    let is_ours = OWN_HEADERS.iter().any(|own| own.eq_ignore_ascii_case(name));
    let header = ExtraHeader { name: name.to_owned(), value: Secret::new(value.to_owned()) };
    (is_name && is_value && !is_ours).then_some(header)
}

pub(super) fn path(text: &str) -> Option<PathBuf> {
    Some(PathBuf::from(text))
}

/// Parses the path of a readable file.
pub(super) fn readable(text: &str) -> Option<PathBuf> {
    let path = PathBuf::from(text);
    let file = fs::File::open(&path).ok()?;
    file.metadata().ok()?.is_file().then_some(path)
}

/// Resolves the path of a directory to an absolute one.
pub(super) fn directory(text: &str) -> Option<PathBuf> {
    fs::canonicalize(text).ok().filter(|path| path.is_dir())
}

/// Parses `group/project`, ignoring surrounding slashes.
pub(super) fn full_path(text: &str) -> Option<String> {
    let path = text.trim_matches('/');
    let plain = !path.is_empty() && !path.contains("://") && !path.contains(char::is_whitespace);
    plain.then(|| path.to_owned())
}

/// Parses a host name, in lower case. `git@` and the port of a remote's URL are left out.
pub(super) fn ssh_host(text: &str) -> Option<String> {
    let host = text.trim().trim_start_matches("ssh://").trim_start_matches("git@");
    let host = host.split(':').next().unwrap_or(host).trim_end_matches('/').to_ascii_lowercase();
    let is_name = !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
    is_name.then_some(host)
}

/// Parses the root URL of an instance. A trailing `/api/v4` is accepted and removed.
pub(super) fn instance(text: &str) -> Option<Instance> {
    if text.eq_ignore_ascii_case("sandbox") {
        return Some(Instance::Sandbox);
    }
    let mut url = Url::parse(text).ok()?;
    let plain = matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    let path = url.path().trim_end_matches('/');
    let root = format!("{}/", path.strip_suffix("/api/v4").unwrap_or(path).trim_end_matches('/'));
    url.set_path(&root);
    plain.then_some(Instance::At(url))
}

/// Parses a key that is too long to be guessed: 32 characters of any base64 or hexadecimal text are at least 128 bits.
pub(super) fn confirm_key(text: &str) -> Option<Secret> {
    let is_key = (32..=1024).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    is_key.then(|| Secret::new(text.to_owned()))
}

/// Parses the names of programs with credentials.
pub(super) fn helpers(text: &str) -> Option<Vec<Helper>> {
    if text.eq_ignore_ascii_case("none") {
        return Some(Vec::new());
    }
    list(text)?.iter().map(|name| Helper::parse(name)).collect()
}
