//! Resolves the URL of a git remote to a project of this GitLab. Such a URL may hold a token, so it is shown
//! without credentials.

mod config;
#[cfg(test)]
mod tests;

use url::Url;

pub use config::{branch, upstream};

/// GitLab.com takes SSH at this host too, where only the port of HTTPS is open.
/// <https://docs.gitlab.com/user/gitlab_com/#alternative-ssh-port>
const ALTERNATIVES: [(&str, &str); 1] = [("altssh.gitlab.com", "gitlab.com")];

/// Reasons why a URL is not a project of this GitLab.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemoteError {
    #[error(
        "{shown} is not the URL of a git remote; accepted are https://host/group/project.git, ssh://git@host/group/project.git or git@host:group/project.git"
    )]
    Unread { shown: String },
    #[error("{shown} is of {host}, and this server works with {configured}")]
    OtherHost { shown: String, host: String, configured: String, is_ssh: bool },
    #[error("{shown} is not below {base}, the URL of this GitLab")]
    OtherRoot { shown: String, base: String },
}

/// An address that was taken apart.
struct RemoteUrl {
    scheme: Scheme,
    /// Host in lower case, with the port if given.
    host: String,
    port: Option<u16>,
    path: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Web,
    /// SSH and git, whose ports differ from that of GitLab's API.
    Git,
}

/// The full paths that the remote's address may mean, the likeliest first. Where GitLab is below a relative root,
/// an address of SSH may or may not have that in it. `ssh_host` is the host that GitLab takes SSH at, if that has
/// another name than the web address.
pub fn paths(given: &str, base: &Url, ssh_host: Option<&str>) -> Result<Vec<String>, RemoteError> {
    let shown = redacted(given);
    let address = parse_url(given.trim()).ok_or_else(|| RemoteError::Unread { shown: shown.clone() })?;
    let host = base.host_str().unwrap_or_default().to_ascii_lowercase();
    let meant = ALTERNATIVES.iter().find(|(other, _)| *other == address.host);
    let is_ssh_host = address.scheme == Scheme::Git && ssh_host == Some(address.host.as_str());
    let is_host = is_ssh_host || meant.map_or(address.host.as_str(), |(_, usual)| usual) == host;
    let is_port = address.scheme == Scheme::Git || address.port == base.port_or_known_default();
    if !is_host || !is_port {
        let port = |port: Option<u16>| port.map(|port| format!(":{port}")).unwrap_or_default();
        let written = if is_host { port(address.port) } else { String::new() };
        let configured = format!(
            "{host}{}",
            port(base.port().or(address.port.filter(|_| is_host).and(base.port_or_known_default())))
        );
        let (host, is_ssh) = (format!("{}{written}", address.host), address.scheme == Scheme::Git);
        return Err(RemoteError::OtherHost { shown, host, configured, is_ssh });
    }
    let root = base.path().trim_matches('/');
    let below = strip_root(&address.path, root);
    let candidates = match (address.scheme, below) {
        _ if root.is_empty() => vec![address.path.as_str()],
        (Scheme::Web, Some(below)) => vec![below],
        (Scheme::Web, None) => return Err(RemoteError::OtherRoot { shown, base: base.to_string() }),
        (Scheme::Git, Some(below)) => vec![address.path.as_str(), below],
        (Scheme::Git, None) => vec![address.path.as_str()],
    };
    let mut paths: Vec<String> = candidates.into_iter().filter_map(project).collect();
    paths.dedup();
    if paths.is_empty() { Err(RemoteError::Unread { shown }) } else { Ok(paths) }
}

/// The part of a path below a root.
fn strip_root<'p>(path: &'p str, root: &str) -> Option<&'p str> {
    path.strip_prefix(root)?.strip_prefix('/')
}

/// The project's full path: without the rest of a page's path, and without `.git`. A project is below a namespace.
fn project(path: &str) -> Option<String> {
    let path = path.split("/-/").next().unwrap_or(path).trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    let is_name =
        |name: &str| !name.is_empty() && name != "." && name != ".." && !name.contains(char::is_whitespace);
    (path.contains('/') && path.split('/').all(is_name)).then(|| path.to_owned())
}

fn parse_url(text: &str) -> Option<RemoteUrl> {
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return None;
    }
    match text.split_once("://") {
        Some((scheme, rest)) => by_scheme(scheme, text, rest),
        None => parse_scp(text),
    }
}

fn by_scheme(scheme: &str, text: &str, rest: &str) -> Option<RemoteUrl> {
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => Scheme::Web,
        "ssh" | "git" | "git+ssh" | "ssh+git" => Scheme::Git,
        _ => return None,
    };
    // `url` knows the rules of hosts for the schemes of the web alone.
    let url = match scheme {
        Scheme::Web => Url::parse(text).ok()?,
        Scheme::Git => Url::parse(&format!("http://{rest}")).ok()?,
    };
    let host = url.host_str().filter(|host| !host.is_empty())?.to_ascii_lowercase();
    let port = if scheme == Scheme::Web { url.port_or_known_default() } else { url.port() };
    let path =
        percent_encoding::percent_decode_str(url.path()).decode_utf8().ok()?.trim_matches('/').to_owned();
    Some(RemoteUrl { scheme, host, port, path })
}

/// `git@host:group/project.git`, as scp writes it: there is no slash before the first colon.
fn parse_scp(text: &str) -> Option<RemoteUrl> {
    let start = text.find('@').filter(|at| text.get(..*at).is_some_and(|user| !user.contains(['/', ':'])));
    let rest = text.get(start.map_or(0, |at| at + 1)..)?;
    let (host, path) = match rest.strip_prefix('[') {
        // A host in brackets may be one of IPv6, or hold a port.
        Some(inner) => inner.split_once("]:")?,
        None => rest.split_once(':')?,
    };
    let (host, port) = match host.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port.parse().ok()?)),
        _ => (host, None),
    };
    // One letter is a drive of Windows.
    let is_host = host.len() > 1 && !host.contains(['/', '\\', '@']);
    let path = path.trim_start_matches('~').trim_matches('/').to_owned();
    is_host.then(|| RemoteUrl { scheme: Scheme::Git, host: host.to_ascii_lowercase(), port, path })
}

/// The URL without user, password and query, which may hold tokens.
pub fn redacted(given: &str) -> String {
    const MAX_SHOWN_CHARACTERS: usize = 200;
    let text: String = given.trim().chars().filter(|c| !c.is_control()).take(MAX_SHOWN_CHARACTERS).collect();
    let text = text.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), text),
    };
    // A password may hold any character: the user part ends at the last `@`.
    match rest.rsplit_once('@') {
        None | Some(("git", _)) => format!("{scheme}{rest}"),
        Some((_, rest)) => format!("{scheme}***@{rest}"),
    }
}
