//! Errors of a call, and whether its change may have been applied.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use reqwest::StatusCode;

use super::CredentialError;
use super::error_body;
use super::ssrf::InternalAddress;
use crate::untrusted::quote;

/// A failed call. No message contains the token or a query; the source is always kept.
#[derive(Debug, thiserror::Error)]
pub enum GitlabError {
    /// 401.
    #[error("GitLab did not accept the credentials: {answer}")]
    Unauthorized {
        answer: ErrorAnswer,
        /// True if the token is expired or revoked according to the response or to its source: a retry is useless.
        expired: bool,
        /// Advice by the source of the token, if it is known.
        remedy: Option<String>,
    },
    /// Not sent: the source of the token failed.
    #[error("no token: {0}; nothing was sent")]
    Credential(#[from] CredentialError),
    /// 403.
    #[error("GitLab forbids it: {answer}")]
    Forbidden {
        answer: ErrorAnswer,
        /// Set if the token lacks a scope (RFC 6750, `insufficient_scope`): the scopes of which one would suffice, as
        /// far as the response names them.
        missing_scope: Option<Vec<String>>,
    },
    /// 404 and 410. GitLab also responds 404 for objects that the token may not see.
    #[error("not found: {answer}")]
    NotFound { answer: ErrorAnswer },
    /// 409, 412 and 423; 400 with an `error_code`.
    #[error("conflict: {answer}")]
    Conflict { answer: ErrorAnswer },
    /// 400, 422 and every other 4xx.
    #[error("GitLab refused the request: {answer}")]
    Invalid { answer: ErrorAnswer },
    /// 429, after the retries.
    #[error("rate limited: {answer}")]
    RateLimited { answer: ErrorAnswer, retry_after: Option<Duration> },
    /// Not sent: the rate limit resets too late to wait for.
    #[error("GitLab's rate limit is used up for another {} s; nothing was sent", retry_after.as_secs().max(1))]
    RateUsedUp { retry_after: Duration },
    /// Not sent: queueing and pauses used up the timeout.
    #[error("timed out after {} s before the request could be sent; nothing was sent", after.as_secs_f32())]
    NotBegun { after: Duration },
    /// 5xx, and any other status without a variant of its own.
    #[error("GitLab failed: {answer}")]
    Server { answer: ErrorAnswer, retry_after: Option<Duration> },
    #[error("{trouble} ({host})")]
    Network {
        host: String,
        trouble: NetworkError,
        applied: Applied,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    #[error("no answer from {host} within {} s", after.as_secs_f32())]
    Timeout {
        host: String,
        after: Duration,
        applied: Applied,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    #[error("the answer is larger than the limit of {limit} bytes{}", announced(*size))]
    TooLarge {
        limit: u64,
        /// From `Content-Length`, if present.
        size: Option<u64>,
        applied: Applied,
    },
    /// JSON of more values than are kept in memory.
    #[error("the answer has more than {limit} values")]
    TooMany { limit: usize, applied: Applied },
    /// A JSON body that is cut off or invalid.
    #[error("the response of {bytes} bytes is not valid JSON: it is cut off, garbled or nested too deeply")]
    Malformed { bytes: u64, applied: Applied },
    #[error("GitLab redirected to {to_host}, which was not followed: {reason}")]
    Redirect { to_host: String, reason: NotFollowed, applied: Applied },
    /// An answer that GitLab does not give: an HTML page without any of its response headers (a sign-in page, a captive
    /// portal, another site at this address), or an answer to a change that GitLab does not give to one.
    #[error("{host} did not respond as GitLab: it sent {}", described(title))]
    NotGitlab { host: String, title: Option<String>, applied: Applied },
    /// The URL parser would have changed the path. Nothing was sent.
    #[error("the path {path} cannot be sent unchanged")]
    Path { path: String },
    /// The client or the request could not be built. Nothing was sent.
    #[error("{what}")]
    Setup {
        what: String,
        #[source]
        source: Option<Box<dyn Error + Send + Sync>>,
    },
}

/// An error response from GitLab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorAnswer {
    pub status: u16,
    /// The error body as one readable line, or the status' reason phrase.
    pub message: String,
    pub request_id: Option<String>,
    /// GitLab's error code (`error_code`): `conflict`, `empty`.
    pub code: Option<String>,
    /// True if the body is a web page: from a proxy or firewall in front of GitLab, or GitLab's own error page.
    pub is_page: bool,
    pub applied: Applied,
}

/// Effect of a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Applied {
    /// Nothing changed: the call was not sent, was refused, or only reads.
    No,
    /// The change may have been made: the response was lost, or came from a gateway that stopped waiting.
    Unknown,
}

/// Kind of a network failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum NetworkError {
    #[error("the host name does not resolve")]
    Name,
    /// The host, or a proxy in front of it, did not accept the connection.
    #[error("could not connect")]
    Connect,
    /// Most often because the certificate is not trusted.
    #[error("no secure connection: the certificate or the TLS handshake was not accepted")]
    Tls,
    /// The connection broke after the request was, or may have been, sent.
    #[error("the connection broke before the whole response arrived")]
    Lost,
}

/// Reason why a TLS connection was not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CertificateError {
    /// No trusted authority issued it.
    Issuer,
    /// The certificate is for another name.
    Name,
    /// The certificate has expired or is not valid yet, by this machine's clock.
    Date,
    /// The server requires a client certificate, or rejected the one it got.
    Client,
    /// The server does not speak TLS.
    NoTls,
    /// Any other reason.
    Other,
}

/// Reason why a redirect was not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum NotFollowed {
    #[error("writes are not redirected; check the configured URL")]
    Write,
    /// The target is this machine, its network, or a cloud metadata service.
    #[error("the address is internal")]
    Internal,
    #[error("it leads to a sign-in page")]
    SignIn,
    #[error("it is not an http or https URL")]
    Unusable,
    #[error("too many redirects")]
    TooMany,
    /// The target is the instance over https; the configured URL is http.
    #[error("it is this GitLab over https: set GITLAB_URL to that address")]
    Https,
    /// The target is another path of GitLab's API, for which the permit does not hold.
    #[error("the redirect leads to another path, which the policy has not checked; use that path")]
    Moved,
}

impl GitlabError {
    /// Effect of the failed call.
    pub fn applied(&self) -> Applied {
        match self {
            GitlabError::Network { applied, .. }
            | GitlabError::Timeout { applied, .. }
            | GitlabError::TooLarge { applied, .. }
            | GitlabError::TooMany { applied, .. }
            | GitlabError::Malformed { applied, .. }
            | GitlabError::NotGitlab { applied, .. }
            | GitlabError::Redirect { applied, .. } => *applied,
            _ => self.answer().map_or(Applied::No, |answer| answer.applied),
        }
    }

    /// The error response, if there was one.
    pub fn answer(&self) -> Option<&ErrorAnswer> {
        match self {
            GitlabError::Unauthorized { answer, .. }
            | GitlabError::Forbidden { answer, .. }
            | GitlabError::NotFound { answer }
            | GitlabError::Conflict { answer }
            | GitlabError::Invalid { answer }
            | GitlabError::RateLimited { answer, .. }
            | GitlabError::Server { answer, .. } => Some(answer),
            _ => None,
        }
    }

    pub fn status(&self) -> Option<u16> {
        self.answer().map(|answer| answer.status)
    }

    pub fn request_id(&self) -> Option<&str> {
        self.answer()?.request_id.as_deref()
    }

    /// Maps an error response. `changes` is true if the call was to change something.
    pub(super) fn from_answer(
        status: u16,
        said: error_body::RefusalBody,
        request_id: Option<String>,
        retry_after: Option<Duration>,
        changes: bool,
    ) -> GitlabError {
        // After a timeout, of a gateway or of a request that a proxy had passed on, and after a server fault the change may
        // have been made. 501 means that GitLab does not have the function.
        let is_lost = status == 408 || (status >= 500 && status != 501);
        let applied = if changes && is_lost { Applied::Unknown } else { Applied::No };
        let error_body::RefusalBody { message, expired, missing_scope, code, is_page } = said;
        let has_code = code.is_some();
        let answer = ErrorAnswer { status, message, request_id, code, is_page, applied };
        match status {
            // A cherry-pick or revert that the current state does not allow.
            400 if has_code => GitlabError::Conflict { answer },
            401 => GitlabError::Unauthorized { answer, expired, remedy: None },
            403 => GitlabError::Forbidden { answer, missing_scope },
            404 | 410 => GitlabError::NotFound { answer },
            409 | 412 | 423 => GitlabError::Conflict { answer },
            429 => GitlabError::RateLimited { answer, retry_after },
            408 => GitlabError::Server { answer, retry_after },
            400..=499 => GitlabError::Invalid { answer },
            _ => GitlabError::Server { answer, retry_after },
        }
    }

    /// Certificate problem behind a TLS failure; `None` for other errors.
    pub fn distrust(&self) -> Option<CertificateError> {
        let GitlabError::Network { trouble: NetworkError::Tls, source, .. } = self else { return None };
        Some(find_cause::<rustls::Error>(source.as_ref()).map_or(CertificateError::Other, distrust))
    }

    /// Maps a transport error: no response, or only a part of one. Before the connection is established nothing was
    /// sent.
    pub(super) fn from_transport(
        error: reqwest::Error,
        host: String,
        after: Duration,
        changes: bool,
    ) -> GitlabError {
        if find_cause::<InternalAddress>(&error).is_some() {
            let (reason, applied) = (NotFollowed::Internal, Applied::No);
            return GitlabError::Redirect { to_host: host, reason, applied };
        }
        let secure = find_cause::<rustls::Error>(&error).map(distrust);
        // In TLS 1.3 a server rejects a client certificate only after the client has begun to send, and discards the
        // data.
        let untrusted = error.is_connect() || secure == Some(CertificateError::Client);
        let sent = !untrusted && !error.is_builder();
        let applied = if changes && sent { Applied::Unknown } else { Applied::No };
        let error = error.without_url();
        if error.is_builder() {
            let what = "the request could not be written".to_owned();
            return GitlabError::Setup { what, source: Some(Box::new(error)) };
        }
        if error.is_timeout() {
            return GitlabError::Timeout { host, after, applied, source: Box::new(RootCause::new(error)) };
        }
        let trouble = match () {
            () if error.is_dns() => NetworkError::Name,
            () if untrusted && secure.is_some() => NetworkError::Tls,
            () if error.is_connect() => NetworkError::Connect,
            () => NetworkError::Lost,
        };
        GitlabError::Network { host, trouble, applied, source: Box::new(RootCause::new(error)) }
    }
}

/// An error of the HTTP client. It is shown by its root cause alone: the levels above it repeat that a request failed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct RootCause {
    message: String,
    error: reqwest::Error,
}

impl RootCause {
    fn new(error: reqwest::Error) -> RootCause {
        let mut root: &dyn Error = &error;
        while let Some(cause) = root.source() {
            root = cause;
        }
        let message = match find_cause::<rustls::Error>(&error) {
            Some(rustls::Error::InvalidCertificate(rustls::CertificateError::Other(other)))
                if other.to_string().contains("CaUsedAsEndEntity") =>
            {
                "its certificate is that of an authority, not of a server".to_owned()
            }
            _ => root.to_string(),
        };
        RootCause { message, error }
    }
}

/// Finds the first error of a type among the causes. `io::Error` does not return its wrapped error from `source`.
fn find_cause<'e, E: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e E> {
    let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    if let Some(root) = error.downcast_ref::<RootCause>() {
        return find_cause(&root.error);
    }
    error
        .downcast_ref::<E>()
        .or_else(|| wrapped.and_then(|inner| find_cause(inner)))
        .or_else(|| error.source().and_then(|source| find_cause(source)))
}

fn distrust(error: &rustls::Error) -> CertificateError {
    use rustls::{AlertDescription as Alert, CertificateError as Bad, Error};
    match error {
        Error::InvalidCertificate(bad) => match bad {
            // An authority of the same name with another key.
            Bad::UnknownIssuer | Bad::BadSignature => CertificateError::Issuer,
            Bad::NotValidForName | Bad::NotValidForNameContext { .. } => CertificateError::Name,
            Bad::Expired | Bad::ExpiredContext { .. } | Bad::NotValidYet | Bad::NotValidYetContext { .. } => {
                CertificateError::Date
            }
            // webpki reports this for a CA certificate that a server presents as its own.
            Bad::Other(_) => CertificateError::Issuer,
            _ => CertificateError::Other,
        },
        Error::AlertReceived(
            Alert::CertificateRequired
            | Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::DecryptError
            | Alert::UnknownCA
            | Alert::CertificateUnknown
            | Alert::AccessDenied
            | Alert::CertificateRevoked
            | Alert::CertificateExpired,
        ) => CertificateError::Client,
        Error::InvalidMessage(_) => CertificateError::NoTls,
        _ => CertificateError::Other,
    }
}

fn described(title: &Option<String>) -> String {
    match title {
        Some(title) => format!("an HTML page ({})", quote(title)),
        None => "an HTML page or something else that is none of its answers".to_owned(),
    }
}

fn announced(size: Option<u64>) -> String {
    size.map(|size| format!(": {size} bytes")).unwrap_or_default()
}

impl fmt::Display for ErrorAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.status.to_string();
        let reason = StatusCode::from_u16(self.status).ok().and_then(|status| status.canonical_reason());
        let reason = reason.unwrap_or("no message");
        let said = self.message.strip_prefix(&status).map_or(self.message.as_str(), str::trim_start);
        match () {
            () if said == reason => write!(f, "{status} {reason}"),
            // GitLab's own messages often begin with the status: "404 Project Not Found".
            () if self.message.starts_with(&status) => f.write_str(&quote(&self.message)),
            () => write!(f, "{status} {}", quote(&self.message)),
        }
    }
}
