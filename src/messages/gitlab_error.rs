//! Errors of GitLab and of the network: their kinds, and what may help.

use super::error::ErrorKind;
use crate::gitlab::{CertificateError, GitlabError, NetworkError, NotFollowed};

/// The kind of an error of GitLab or the network.
pub fn kind_of(error: &GitlabError) -> ErrorKind {
    match error {
        GitlabError::Unauthorized { .. } | GitlabError::Credential(_) => ErrorKind::Unauthorized,
        GitlabError::Forbidden { .. } => ErrorKind::Forbidden,
        GitlabError::NotFound { .. } => ErrorKind::NotFound,
        GitlabError::Conflict { .. } => ErrorKind::Conflict,
        GitlabError::Invalid { answer } if matches!(answer.status, 400 | 422) => ErrorKind::InvalidParams,
        GitlabError::RateLimited { .. } | GitlabError::RateUsedUp { .. } => ErrorKind::RateLimited,
        GitlabError::Network { .. } => ErrorKind::Network,
        GitlabError::Timeout { .. } | GitlabError::NotBegun { .. } => ErrorKind::Timeout,
        GitlabError::TooLarge { .. } | GitlabError::TooMany { .. } => ErrorKind::TooLarge,
        GitlabError::Invalid { .. }
        | GitlabError::Malformed { .. }
        | GitlabError::Server { .. }
        | GitlabError::Redirect { .. }
        | GitlabError::NotGitlab { .. } => ErrorKind::GitlabError,
        GitlabError::Path { .. } | GitlabError::Setup { .. } => ErrorKind::Internal,
    }
}

/// The hint at a remedy; `anonymous` if no token is set.
pub fn hint(error: &GitlabError, anonymous: bool) -> Option<String> {
    let text = match error {
        GitlabError::Unauthorized { .. } | GitlabError::NotFound { .. } if anonymous => {
            "No token is set (GITLAB_TOKEN, or `gitlab-mcp auth login`): only public objects are visible."
        }
        GitlabError::Credential(error) => return Some(error.hint.clone()),
        GitlabError::Unauthorized { remedy: Some(remedy), .. } => return Some(remedy.clone()),
        GitlabError::Unauthorized { expired: true, .. } => {
            "The token is expired or revoked: set a new one in GITLAB_TOKEN."
        }
        GitlabError::Unauthorized { .. } => {
            "Check the token that is set (GITLAB_TOKEN, GITLAB_OAUTH_TOKEN or GITLAB_JOB_TOKEN) and that it belongs to \
             this GitLab. A job token may call few endpoints."
        }
        GitlabError::Forbidden { missing_scope: Some(scopes), .. } if scopes.is_empty() => {
            "The token lacks a scope that GitLab does not name: writes need `api`, reads `read_api`."
        }
        GitlabError::Forbidden { missing_scope: Some(scopes), .. } => {
            return Some(format!("The token lacks a scope: it needs {}.", scopes.join(" or ")));
        }
        GitlabError::Forbidden { answer, .. } if answer.is_page => {
            "The refusal is a web page and not GitLab's API: a proxy or firewall before GitLab sent it."
        }
        GitlabError::Forbidden { .. } => {
            "The token's user may not do this here: it needs a higher role, or a feature is disabled."
        }
        GitlabError::NotFound { answer } if answer.is_page => {
            "The 404 is a web page and not GitLab's API: a proxy before GitLab does not pass encoded slashes (%2F) on \
             (Apache: `AllowEncodedSlashes NoDecode` and `nocanon`), or GITLAB_URL is not the address of GitLab."
        }
        GitlabError::NotFound { answer } if answer.status == 410 => {
            "GitLab had it, and has it no more; what is gone for good is not found again."
        }
        GitlabError::NotFound { .. } => {
            "It does not exist, or the token may not read it: GitLab answers both with 404. Check the path and the number."
        }
        GitlabError::RateLimited { .. } | GitlabError::RateUsedUp { .. } => "Wait before the next call.",
        GitlabError::NotBegun { .. } => {
            "Make fewer concurrent calls (GITLAB_MAX_REQUESTS), or raise GITLAB_TIMEOUT."
        }
        GitlabError::Network { trouble, .. } => connection_hint(*trouble, error.distrust()),
        GitlabError::Timeout { .. } => {
            "GitLab or the network is slow: ask for less, or raise GITLAB_TIMEOUT."
        }
        GitlabError::TooLarge { .. } | GitlabError::TooMany { .. } => {
            "Ask for less: a smaller page, a single file, narrower filters."
        }
        GitlabError::Malformed { .. } => {
            "The connection or a proxy in between cut it off: try again; of a list, ask for a smaller page."
        }
        GitlabError::Invalid { answer } if answer.status == 413 => {
            "The request is too large for GitLab or for a proxy before it (nginx: `client_max_body_size`): send less."
        }
        GitlabError::NotGitlab { .. } | GitlabError::Redirect { reason: NotFollowed::SignIn, .. } => {
            "Check GITLAB_URL, and whether a proxy in front of GitLab requires sign-in (GITLAB_EXTRA_HEADERS)."
        }
        GitlabError::Redirect { .. } => "It may have moved: use its new path.",
        _ => return None,
    };
    Some(text.to_owned())
}

/// The hint for a failed connection.
pub fn connection_hint(trouble: NetworkError, distrust: Option<CertificateError>) -> &'static str {
    match (trouble, distrust) {
        (NetworkError::Name, _) => "Check the host in GITLAB_URL, and that its name resolves here.",
        (NetworkError::Connect, _) => {
            "Check the host and port in GITLAB_URL, that GitLab is up, and the proxy (HTTPS_PROXY, NO_PROXY)."
        }
        (NetworkError::Tls, Some(CertificateError::Issuer)) => {
            "Its certificate is not signed by a trusted authority: set GITLAB_CA_FILE to the authority's certificate."
        }
        (NetworkError::Tls, Some(CertificateError::Name)) => {
            "Its certificate is for another host name: set GITLAB_URL to the name in it."
        }
        (NetworkError::Tls, Some(CertificateError::Date)) => {
            "Its certificate is expired or not valid yet: renew it, or correct this machine's clock."
        }
        (NetworkError::Tls, Some(CertificateError::Client)) => {
            "The server requires a client certificate: set GITLAB_CLIENT_CERT and GITLAB_CLIENT_KEY."
        }
        (NetworkError::Tls, Some(CertificateError::NoTls)) => {
            "The server does not use TLS: check the port in GITLAB_URL, or use http://."
        }
        (NetworkError::Tls, _) => "Check GITLAB_CA_FILE, and the proxies between here and GitLab.",
        (NetworkError::Lost, _) => {
            "Try again; if the error persists, check GitLab and the proxy in front of it."
        }
    }
}
