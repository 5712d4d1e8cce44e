//! How a call can fail, and whether what it asked for may have been done all the same.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use reqwest::StatusCode;

use super::error_body;
use super::ssrf::Inside;
use crate::untrusted::quote;

/// A call that did not succeed. No message holds the token or a query; every source is kept.
#[derive(Debug, thiserror::Error)]
pub enum GitlabError {
    /// 401.
    #[error("GitLab did not accept the credentials: {answer}")]
    Unauthorized {
        answer: Answer,
        /// GitLab said that the token is expired or revoked: another is needed, not another try.
        expired: bool,
    },
    /// 403.
    #[error("GitLab forbids it: {answer}")]
    Forbidden {
        answer: Answer,
        /// Set where the token's scopes do not suffice (RFC 6750, `insufficient_scope`): the scopes of which
        /// one would do, as far as GitLab names them.
        missing_scope: Option<Vec<String>>,
    },
    /// 404 and 410. GitLab also says 404 of what the token may not see.
    #[error("not found: {answer}")]
    NotFound { answer: Answer },
    /// 409, 412 and 423; 400 with an `error_code`.
    #[error("conflict: {answer}")]
    Conflict { answer: Answer },
    /// 400, 422 and every other 4xx.
    #[error("GitLab refused the request: {answer}")]
    Invalid { answer: Answer },
    /// 429, after what waiting was reasonable.
    #[error("rate limited: {answer}")]
    RateLimited { answer: Answer, retry_after: Option<Duration> },
    /// Not sent: GitLab has said that it takes no more for so long, which is too long to wait.
    #[error("GitLab's rate limit is used up for another {} s; nothing was sent", retry_after.as_secs().max(1))]
    RateUsedUp { retry_after: Duration },
    /// Not sent: requests before it, and pauses, took the time.
    #[error("there was no time to send it within {} s; nothing was sent", after.as_secs_f32())]
    NotBegun { after: Duration },
    /// 5xx, and what HTTP has no such meaning for.
    #[error("GitLab failed: {answer}")]
    Server { answer: Answer, retry_after: Option<Duration> },
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
        /// Where the answer announced it.
        size: Option<u64>,
        applied: Applied,
    },
    /// JSON of more values than are kept in memory.
    #[error("the answer has more than {limit} values")]
    TooMany { limit: usize, applied: Applied },
    /// A body of JSON that ends early or is none.
    #[error(
        "the answer of {bytes} bytes is no JSON that can be read: it is cut off, garbled or nested too deeply"
    )]
    Malformed { bytes: u64, applied: Applied },
    #[error("GitLab redirected to {to_host}, which was not followed: {reason}")]
    Redirect { to_host: String, reason: NotFollowed, applied: Applied },
    /// A page of HTML without anything that marks an answer of GitLab's: a sign-in page, a captive portal, another
    /// site at this address.
    #[error("what answers at {host} is not GitLab: it sent a page of HTML{}", titled(title))]
    NotGitlab { host: String, title: Option<String>, applied: Applied },
    /// The path would have become another on its way; nothing was sent.
    #[error("the path {path} cannot be sent as it stands")]
    Path { path: String },
    /// The client could not be made, or the request not be written; nothing was sent.
    #[error("{what}")]
    Setup {
        what: String,
        #[source]
        source: Option<Box<dyn Error + Send + Sync>>,
    },
}

/// What GitLab said with a status that is not a success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// GitLab's error body as one readable line, or the reason that HTTP has for the status.
    pub message: String,
    pub request_id: Option<String>,
    /// GitLab's own word for the reason (`error_code`): `conflict`, `empty`.
    pub code: Option<String>,
    /// True if a web page came: of a proxy or firewall before GitLab, or GitLab's own error page.
    pub is_page: bool,
    pub applied: Applied,
}

/// True if a call that failed may have changed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Applied {
    /// It changed nothing: it was not sent, was refused, or only reads.
    No,
    /// It may have been done: its answer was lost, or came from something that gave up waiting.
    Unknown,
}

/// What went wrong between here and GitLab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NetworkError {
    /// The host's name does not resolve.
    Name,
    /// The host, or a proxy before it, did not take the connection.
    Connect,
    /// The TLS handshake failed, most often because the certificate is not trusted.
    Tls,
    /// The connection broke after the request was, or may have been, sent.
    Lost,
}

/// Why a certificate was not believed, or that there was none to believe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CertificateError {
    /// No authority that is known here vouches for it.
    Issuer,
    /// It is for another name.
    Name,
    /// It has run out, or does not hold yet: by this machine's clock.
    Date,
    /// The other side wants a certificate of the client's, or not the one that it got.
    Client,
    /// What answers does not speak TLS.
    NoTls,
    /// Anything else.
    Other,
}

/// Why a redirect was not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotFollowed {
    /// Writes are not sent on.
    Write,
    /// It leads to this machine, its network, or a cloud's metadata service.
    Internal,
    /// It leads to a page for signing in.
    SignIn,
    /// It is not an http or https URL.
    Unusable,
    /// One redirect too many.
    TooMany,
    /// GitLab has it at another path of its API, and the permit is for this one.
    Moved,
}

impl GitlabError {
    /// True if the change that was asked for may have been made.
    pub fn applied(&self) -> Applied {
        match self {
            GitlabError::Network { applied, .. }
            | GitlabError::Timeout { applied, .. }
            | GitlabError::TooLarge { applied, .. }
            | GitlabError::TooMany { applied, .. }
            | GitlabError::Malformed { applied, .. }
            | GitlabError::NotGitlab { applied, .. }
            | GitlabError::Redirect { applied, .. } => *applied,
            GitlabError::Path { .. }
            | GitlabError::Setup { .. }
            | GitlabError::RateUsedUp { .. }
            | GitlabError::NotBegun { .. } => Applied::No,
            _ => self.answer().map_or(Applied::No, |answer| answer.applied),
        }
    }

    /// What GitLab said, where it said something.
    pub fn answer(&self) -> Option<&Answer> {
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

    /// The error that a status and a body read as text mean. `changes` is whether the call was to change
    /// something.
    pub(super) fn from_answer(
        status: u16,
        said: error_body::Refusal,
        request_id: Option<String>,
        retry_after: Option<Duration>,
        changes: bool,
    ) -> GitlabError {
        // A gateway that gave up waiting, or a fault halfway: only the one who asks again can tell.
        // 501 says that GitLab has no such function.
        let applied = if changes && status >= 500 && status != 501 { Applied::Unknown } else { Applied::No };
        let error_body::Refusal { message, expired, missing_scope, code, is_page } = said;
        let has_code = code.is_some();
        let answer = Answer { status, message, request_id, code, is_page, applied };
        match status {
            // A cherry-pick or revert that the current state does not allow.
            400 if has_code => GitlabError::Conflict { answer },
            401 => GitlabError::Unauthorized { answer, expired },
            403 => GitlabError::Forbidden { answer, missing_scope },
            404 | 410 => GitlabError::NotFound { answer },
            409 | 412 | 423 => GitlabError::Conflict { answer },
            429 => GitlabError::RateLimited { answer, retry_after },
            400..=499 => GitlabError::Invalid { answer },
            _ => GitlabError::Server { answer, retry_after },
        }
    }

    /// Why no secure connection came about, where that is what failed.
    pub fn distrust(&self) -> Option<CertificateError> {
        let GitlabError::Network { trouble: NetworkError::Tls, source, .. } = self else { return None };
        Some(cause::<rustls::Error>(source.as_ref()).map_or(CertificateError::Other, distrust))
    }

    /// The error of a request that got no answer, or not the whole of one. Before the connection stands nothing
    /// was sent.
    pub(super) fn from_transport(
        error: reqwest::Error,
        host: String,
        after: Duration,
        changes: bool,
    ) -> GitlabError {
        if cause::<Inside>(&error).is_some() {
            let (reason, applied) = (NotFollowed::Internal, Applied::No);
            return GitlabError::Redirect { to_host: host, reason, applied };
        }
        let secure = cause::<rustls::Error>(&error).map(distrust);
        // In TLS 1.3 a server refuses a client's certificate only after the client has begun to speak; it does
        // not read what was said.
        let untrusted = error.is_connect() || secure == Some(CertificateError::Client);
        let sent = !untrusted && !error.is_builder();
        let applied = if changes && sent { Applied::Unknown } else { Applied::No };
        let error = error.without_url();
        if error.is_builder() {
            let what = "the request could not be written".to_owned();
            return GitlabError::Setup { what, source: Some(Box::new(error)) };
        }
        if error.is_timeout() {
            return GitlabError::Timeout { host, after, applied, source: Box::new(error) };
        }
        let trouble = match () {
            () if error.is_dns() => NetworkError::Name,
            () if untrusted && secure.is_some() => NetworkError::Tls,
            () if error.is_connect() => NetworkError::Connect,
            () => NetworkError::Lost,
        };
        GitlabError::Network { host, trouble, applied, source: Box::new(error) }
    }
}

/// The first error of that type among the causes; `io::Error` hides what it wraps from `source`.
fn cause<'e, E: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e E> {
    let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    error
        .downcast_ref::<E>()
        .or_else(|| wrapped.and_then(|inner| cause(inner)))
        .or_else(|| error.source().and_then(|source| cause(source)))
}

fn distrust(error: &rustls::Error) -> CertificateError {
    use rustls::{AlertDescription as Alert, CertificateError as Bad, Error};
    match error {
        Error::InvalidCertificate(bad) => match bad {
            Bad::UnknownIssuer => CertificateError::Issuer,
            Bad::NotValidForName | Bad::NotValidForNameContext { .. } => CertificateError::Name,
            Bad::Expired | Bad::ExpiredContext { .. } | Bad::NotValidYet | Bad::NotValidYetContext { .. } => {
                CertificateError::Date
            }
            // webpki says so of an authority's certificate that a server shows as its own.
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

fn titled(title: &Option<String>) -> String {
    title.as_ref().map(|title| format!(" ({})", quote(title))).unwrap_or_default()
}

fn announced(size: Option<u64>) -> String {
    size.map(|size| format!(": {size} bytes")).unwrap_or_default()
}

impl fmt::Display for Answer {
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

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NetworkError::Name => "the host's name does not resolve",
            NetworkError::Connect => "could not connect",
            NetworkError::Tls => {
                "no secure connection: the certificate or the TLS handshake was not accepted"
            }
            NetworkError::Lost => "the connection broke before the whole answer came",
        })
    }
}

impl fmt::Display for NotFollowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotFollowed::Write => "a write is not sent on; check the configured URL",
            NotFollowed::Internal => "the address is internal",
            NotFollowed::SignIn => "it asks for signing in",
            NotFollowed::Unusable => "it is not an http or https URL",
            NotFollowed::TooMany => "too many redirects",
            NotFollowed::Moved => {
                "the redirect leads to another path, which the policy has not checked; use that path"
            }
        })
    }
}
