//! Connection checks from the result of one request: address, proxy, certificate, version;
//! then rate limit and clock skew from response headers.

use std::time::{Instant, SystemTime};

use serde_json::{Value, json};
use time::OffsetDateTime;
use url::Url;

use super::report::Finding;
use super::token::{REFUSED_BEFORE, is_refused_before};
use crate::catalog::Version;
use crate::config::{self, Config, Instance, InstanceConfig};
use crate::gitlab::{CertificateError, Content, ErrorAnswer, GitlabError, NetworkError, NotFollowed, Reply};
use crate::text::error_chain;
use crate::tools::{ReadError, Tools, connection_hint};

/// Maximum clock skew in seconds. Tokens and certificates expire by the day; logs are compared by the second.
const CLOCK_APART: u64 = 60;

/// Days before the expiry of a certificate from which `doctor` warns. Certificates that are renewed by themselves are
/// renewed before.
const CERTIFICATE_SOON: u64 = 3;

const SIGN_IN_BEFORE: &str = "A sign-in page is in front of GitLab: ask its administrator for an address that programs may use, or for \
     credentials of the proxy, which GITLAB_EXTRA_HEADERS can carry.";

const REDIRECTED: &str = "Set GITLAB_URL to an address of GitLab that can be reached from here. If the other host is a sign-in page in front of \
     GitLab, ask its administrator for an address that programs may use.";

const USE_HTTPS: &str = "Set GITLAB_URL to the same address with https://.";

const LOST: &str = "If this port takes https alone, set GITLAB_URL to https://; otherwise check GitLab and the proxy in front of it.";

const TIMED_OUT: &str =
    "Check the host and port in GITLAB_URL, and whether a firewall or a proxy blocks the connection.";

const NOT_GITLAB: &str = "Check GITLAB_URL; if a proxy in front of GitLab requires sign-in, GITLAB_EXTRA_HEADERS can carry its credentials.";

/// Checks the address, the proxy, the certificate and the version.
pub(super) fn findings(
    tools: &Tools,
    config: &Config,
    of: &InstanceConfig,
    version: &Result<Reply, GitlabError>,
) -> Vec<Finding> {
    vec![
        address(tools, of, version),
        proxy(tools, version),
        certificate(tools, config, of, version),
        self::version(version, tools.catalog_version()),
    ]
}

/// Checks that a path with an encoded slash arrives: a proxy may refuse or decode it. None if it does, or if there is no
/// project to try it with.
pub(super) async fn encoded_paths(tools: &Tools) -> Option<Finding> {
    let params = |params: Value| params.as_object().cloned().unwrap_or_default();
    let list = params(json!({"per_page": 1, "simple": true, "order_by": "id"}));
    let listed = tools.read_unrendered("project.list", list).await.ok()?;
    let Content::Json(rows) = &listed.content else { return None };
    let path = rows.get(0)?.get("path_with_namespace")?.as_str()?.to_owned();
    let read = tools.read_unrendered("project.get", params(json!({"fullPath": path}))).await;
    let is_missing = matches!(read, Err(ReadError::Gitlab(GitlabError::NotFound { .. })));
    is_missing.then(|| {
        Finding::failure(
            "paths",
            format!("GitLab lists {path}, and a request with its path (%2F) does not reach it"),
            "Have the proxy before GitLab pass encoded slashes on (Apache: AllowEncodedSlashes NoDecode and nocanon).",
        )
    })
}

/// Checks the rate limit and the clock skew.
pub(super) fn limits(tools: &Tools) -> [Finding; 2] {
    [rate(tools), clock(tools)]
}

fn address(tools: &Tools, of: &InstanceConfig, version: &Result<Reply, GitlabError>) -> Finding {
    const CHECK: &str = "address";
    let place = match &of.instance {
        Instance::At(url) => url.to_string(),
        Instance::Sandbox => "the sandbox inside this program".to_owned(),
    };
    let over = if tools.client().server_state().http2 { " over HTTP/2" } else { "" };
    let answers = || Finding::passed(CHECK, format!("{place} answers{over}"));
    let Err(error) = version else { return answers() };
    let mend = match error {
        // A host with an untrusted certificate is reachable; the certificate check reports the problem.
        _ if error.distrust().is_some_and(|distrust| distrust != CertificateError::NoTls) => {
            return Finding::passed(CHECK, format!("{place} accepts connections"));
        }
        GitlabError::NotFound { .. } => {
            return Finding::failure(
                CHECK,
                format!("{place} responds, but has no GitLab API"),
                "Check GITLAB_URL: it must be GitLab's root, with its sub-path if it has one, and without /api/v4.",
            );
        }
        // A host that no setting names is where GitLab's address redirects to.
        GitlabError::Network { host, .. } if is_elsewhere(of, host) => {
            let what =
                format!("{place} redirects to {host}, which cannot be reached: {}", error_chain(error));
            return Finding::failure(CHECK, what, REDIRECTED);
        }
        GitlabError::Network { trouble: NetworkError::Lost, .. } if is_plain(of) => LOST.to_owned(),
        GitlabError::Invalid { answer } if takes_https_alone(answer) => USE_HTTPS.to_owned(),
        GitlabError::Network { trouble, .. } => {
            let proxied = tools.client().proxy().map(|proxy| format!(" Requests go through {proxy}."));
            format!("{}{}", connection_hint(*trouble, error.distrust()), proxied.unwrap_or_default())
        }
        GitlabError::Timeout { .. } => TIMED_OUT.to_owned(),
        GitlabError::Redirect { reason: NotFollowed::SignIn, .. } => SIGN_IN_BEFORE.to_owned(),
        GitlabError::Redirect { to_host, reason: NotFollowed::Https, .. } => {
            format!("Set GITLAB_URL to https://{to_host}.")
        }
        GitlabError::Redirect { to_host, .. } => {
            format!("Set GITLAB_URL to the address GitLab redirects to: {to_host}.")
        }
        GitlabError::NotGitlab { .. } => NOT_GITLAB.to_owned(),
        error if is_refused_before(error) => REFUSED_BEFORE.to_owned(),
        GitlabError::Server { .. } => "GitLab failed: check its status page and try again later.".to_owned(),
        GitlabError::Setup { .. } | GitlabError::Path { .. } => {
            return Finding::unknown(CHECK, format!("{place} was not checked"));
        }
        _ => return answers(),
    };
    Finding::failure(CHECK, error_chain(error), mend)
}

/// True for a host that is not the one of GITLAB_URL.
fn is_elsewhere(of: &InstanceConfig, host: &str) -> bool {
    let Instance::At(url) = &of.instance else { return false };
    url.host_str().is_some_and(|own| host != own && !host.starts_with(&format!("{own}:")))
}

fn is_plain(of: &InstanceConfig) -> bool {
    matches!(&of.instance, Instance::At(url) if url.scheme() == "http")
}

/// True for the answer of nginx and Apache to plain http on a port of theirs that takes https.
fn takes_https_alone(answer: &ErrorAnswer) -> bool {
    let message = answer.message.to_lowercase();
    answer.status == 400 && message.contains("plain http") && message.contains("https")
        || message.contains("speaking plain http to an ssl-enabled")
}

/// The settings of proxies that cannot be used, each with the reason: requests would not tell.
fn unusable_proxies() -> Vec<String> {
    let names = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    let set = names.into_iter().filter_map(|name| {
        let value = config::environment(name)?.into_string().ok()?;
        let value = value.trim().to_owned();
        let address = if value.contains("://") { value.clone() } else { format!("http://{value}") };
        let url = Url::parse(&address).ok().filter(Url::has_host);
        let why = match url.as_ref().map(Url::scheme) {
            _ if value.is_empty() => return None,
            Some("http" | "https") => return None,
            Some(scheme) => format!("{name} is of the kind {scheme}, and a proxy has to be http or https"),
            None => format!("{name} is set and is no address of a proxy"),
        };
        Some(why)
    });
    set.collect()
}

fn proxy(tools: &Tools, version: &Result<Reply, GitlabError>) -> Finding {
    const CHECK: &str = "proxy";
    let unusable = unusable_proxies();
    if !unusable.is_empty() {
        return Finding::failure(
            CHECK,
            unusable.join("; "),
            "Write it as http://host:port, with user:password@ before the host where the proxy wants them.",
        );
    }
    let Some(proxy) = tools.client().proxy() else {
        return Finding::passed(CHECK, "none");
    };
    let is_cut = matches!(
        version,
        Err(GitlabError::Network {
            trouble: NetworkError::Connect | NetworkError::Lost | NetworkError::Name,
            ..
        } | GitlabError::Timeout { .. })
    );
    match is_cut {
        false => Finding::passed(CHECK, format!("{proxy} forwards requests")),
        true => Finding::failure(
            CHECK,
            format!("{proxy}: no connection through this proxy"),
            "Set HTTPS_PROXY (or HTTP_PROXY, ALL_PROXY) to a proxy that works, or name GitLab's host in NO_PROXY.",
        ),
    }
}

fn certificate(
    tools: &Tools,
    config: &Config,
    of: &InstanceConfig,
    version: &Result<Reply, GitlabError>,
) -> Finding {
    const CHECK: &str = "certificate";
    let is_https = matches!(&of.instance, Instance::At(url) if url.scheme() == "https");
    match version {
        Err(GitlabError::Setup { what, .. }) => Finding::failure(
            CHECK,
            what.clone(),
            "Fix the file named by GITLAB_CA_FILE, GITLAB_CLIENT_CERT or GITLAB_CLIENT_KEY.",
        ),
        _ if config.exposes_token(of) => Finding::warning(
            CHECK,
            "none (plain http): anyone on the network path can read the token and all traffic",
            "Set GITLAB_URL to an https address.",
        ),
        _ if !is_https => Finding::passed(CHECK, "not used: plain http on this machine"),
        Err(error @ GitlabError::Network { trouble, .. }) if error.distrust().is_some() => {
            let is_unknown = error.distrust() == Some(CertificateError::Issuer);
            let mend = match &of.ca_file {
                Some(file) if is_unknown => format!(
                    "{} (GITLAB_CA_FILE) has not the authority that signed it: ask the administrator for that one.",
                    file.display()
                ),
                _ => connection_hint(*trouble, error.distrust()).to_owned(),
            };
            Finding::failure(CHECK, error_chain(error), mend)
        }
        Err(GitlabError::Network { .. } | GitlabError::Timeout { .. }) => {
            Finding::unknown(CHECK, "not checked: there is no connection")
        }
        _ if of.insecure_tls => Finding::warning(
            CHECK,
            "not verified (GITLAB_INSECURE_TLS): anyone on the network path can read the token",
            "Set GITLAB_CA_FILE to the certificate of its authority and remove GITLAB_INSECURE_TLS.",
        ),
        _ => validity(CHECK, tools.client().certificate_expiry()),
    }
}

/// Judges the end of a valid certificate.
fn validity(check: &'static str, end: Option<SystemTime>) -> Finding {
    let Some(end) = end else { return Finding::passed(check, "valid") };
    let date = OffsetDateTime::from(end).date();
    let days = end.duration_since(SystemTime::now()).unwrap_or_default().as_secs() / (24 * 3600);
    let says = format!("valid until {date}, for {days} {}", if days == 1 { "day" } else { "days" });
    match days < CERTIFICATE_SOON {
        true => Finding::warning(check, says, "Ask the administrator of this GitLab to renew it."),
        false => Finding::passed(check, says),
    }
}

fn version(version: &Result<Reply, GitlabError>, catalog: Option<Version>) -> Finding {
    const CHECK: &str = "version";
    let version = match version {
        Ok(Reply { content: Content::Json(body), .. }) => body.get("version").and_then(Value::as_str),
        Ok(_) => None,
        Err(error) if is_refused_before(error) => return Finding::unknown(CHECK, "not reported"),
        Err(GitlabError::Unauthorized { .. } | GitlabError::Forbidden { .. }) => {
            return Finding::unknown(CHECK, "GitLab shows it to signed-in users only");
        }
        Err(_) => return Finding::unknown(CHECK, "not reported"),
    };
    let number = version.and_then(|version| version.parse::<Version>().ok());
    match (version, number.zip(catalog)) {
        (Some(version), Some((number, catalog))) if number.major + 1 < catalog.major => Finding::warning(
            CHECK,
            format!("GitLab {version}; the catalog is for {catalog}"),
            "Update GitLab, or expect some actions to be missing or to take other parameters.",
        ),
        (Some(version), Some((number, catalog))) if number > catalog => Finding::passed(
            CHECK,
            format!("GitLab {version}; the catalog is for {catalog}; unknown parameters are passed through"),
        ),
        (Some(version), Some(_)) => Finding::passed(CHECK, format!("GitLab {version}")),
        _ => Finding::failure(
            CHECK,
            "the response has no GitLab version",
            "Check GITLAB_URL: the server there may not be GitLab.",
        ),
    }
}

fn rate(tools: &Tools) -> Finding {
    const CHECK: &str = "rate limit";
    let Some(rate) = tools.client().server_state().rate else {
        return Finding::unknown(CHECK, "GitLab sent no rate-limit headers");
    };
    let of = rate.limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
    let reset = rate.resets.map(|at| at.saturating_duration_since(Instant::now()).as_secs());
    let until = reset.map(|seconds| format!(" for the next {seconds} s")).unwrap_or_default();
    let says = format!("{}{of} requests are left{until}", rate.remaining);
    let is_low = rate.limit.is_some_and(|limit| rate.remaining * 10 < limit) || rate.remaining == 0;
    match is_low {
        false => Finding::passed(CHECK, says),
        true => Finding::warning(
            CHECK,
            says,
            "See what else uses this token or address; lower GITLAB_MAX_REQUESTS.",
        ),
    }
}

fn clock(tools: &Tools) -> Finding {
    const CHECK: &str = "clock";
    match tools.client().server_state().clock_ahead {
        None => Finding::unknown(CHECK, "GitLab sent no Date header"),
        Some(ahead) if ahead.unsigned_abs() > CLOCK_APART => {
            let side = if ahead > 0 { "behind" } else { "ahead of" };
            Finding::warning(
                CHECK,
                format!("this machine's clock is {} s {side} GitLab's", ahead.unsigned_abs()),
                "Set this machine's clock by NTP: certificates and tokens expire by the clock.",
            )
        }
        Some(_) => Finding::passed(CHECK, "this machine's clock agrees with GitLab's"),
    }
}
