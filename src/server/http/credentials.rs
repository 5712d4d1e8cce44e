//! Reads the identity of a request from its headers: the credential, the instance, and the limits asked for. Exactly
//! one credential is accepted, in a header: never in the query, where proxies would log it.

use axum::http::{HeaderMap, HeaderName, Uri};
use url::Url;

use super::caller_key::{CredentialDigest, KeyMaker};
use super::settings::AuthMode;
use crate::tools::{Confirm, ConfirmBy, Narrowing, Secret, Token, contains_restriction};

/// Maximum length of a token in bytes.
const MAX_TOKEN: usize = 2_048;

/// Names of query parameters in which clients send credentials to other servers.
const QUERY_CREDENTIALS: [&str; 6] =
    ["access_token", "private_token", "job_token", "oauth_token", "personal_access_token", "token"];

/// Headers that name the instance.
const INSTANCE_HEADERS: [&str; 2] = ["gitlab-url", "x-gitlab-api-url"];

const READ_ONLY: &str = "x-mcp-readonly";
const TOOLSETS: &str = "x-mcp-toolsets";
const CONFIRM: &str = "x-mcp-confirm";
const CONFIRM_BY: &str = "x-mcp-confirm-by";

/// The beginning of those headers, in every spelling that a proxy may turn into it.
const NARROWING: [&str; 4] = ["x-mcp-", "x-gitlab-", "gitlab-", "mcp-"];

/// Their further names that would narrow.
const NARROWING_WORDS: [&str; 9] =
    ["access", "domain", "features", "group", "policy", "project", "quick-actions", "scope", "scopes"];

/// Maximum number of toolsets in a header.
const MAX_TOOLSETS: usize = 64;

/// Who sent a request, and the limits it asked for.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) base: Url,
    pub(super) credential: Option<RequestCredential>,
    pub(super) narrowing: Narrowing,
}

/// Credential of a request.
#[derive(Clone, Debug)]
pub(super) struct RequestCredential {
    pub(super) token: Token,
    /// The token alone, for its verification.
    pub(super) secret: Secret,
    pub(super) digest: CredentialDigest,
    sent_as: CredentialHeader,
}

/// Header of a credential, by what it may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CredentialHeader {
    Bearer,
    Private,
    Job,
}

impl CredentialHeader {
    const ALL: [CredentialHeader; 3] =
        [CredentialHeader::Bearer, CredentialHeader::Private, CredentialHeader::Job];

    fn name(self) -> &'static str {
        match self {
            CredentialHeader::Bearer => "authorization",
            CredentialHeader::Private => "private-token",
            CredentialHeader::Job => "job-token",
        }
    }
}

/// A request whose headers do not identify a caller.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum IdentityError {
    #[error("no credential: send your GitLab token as `Authorization: Bearer TOKEN`{}", others(.bearer_only))]
    Missing { bearer_only: bool },
    #[error("the query has a credential ({0}): send it in a header, where no proxy logs it")]
    InQuery(&'static str),
    #[error("more than one credential ({0}): send exactly one")]
    Several(String),
    #[error("the header {0} is given more than once")]
    Duplicate(String),
    #[error("Authorization: expected `Bearer TOKEN`")]
    NotBearer,
    #[error("{0}: expected a token of visible ASCII characters, {MAX_TOKEN} at most")]
    NotAToken(String),
    #[error("this server uses its own token (--auth none): send no credential")]
    Unexpected,
    #[error("this server accepts OAuth access tokens only: send `Authorization: Bearer TOKEN`")]
    OAuthOnly,
    #[error("unknown GitLab instance in {header}; expected one of {}", .known.join(", "))]
    UnknownInstance { header: String, known: Vec<String> },
    #[error(
        "{0} is no header of this server: X-MCP-Readonly, X-MCP-Toolsets, X-MCP-Confirm and X-MCP-Confirm-By restrict a request"
    )]
    NoRestriction(String),
    #[error(
        "the query restricts nothing ({0:?}): the headers X-MCP-Readonly, X-MCP-Toolsets, X-MCP-Confirm and X-MCP-Confirm-By do"
    )]
    RestrictionInQuery(String),
    #[error("{0} is no header of this server: GITLAB-URL chooses the GitLab of a request")]
    NoInstance(String),
    #[error("{header}: expected {accepts}, got {given:?}")]
    Invalid { header: &'static str, accepts: &'static str, given: String },
}

fn others(bearer_only: &bool) -> &'static str {
    if *bearer_only { "" } else { ", `PRIVATE-TOKEN: TOKEN` or `JOB-TOKEN: TOKEN`" }
}

/// Reads the identity of a request.
pub(super) fn read_identity(
    auth: &AuthMode,
    keys: &KeyMaker,
    uri: &Uri,
    headers: &HeaderMap,
    default: &Url,
    known: &[Url],
) -> Result<Identity, IdentityError> {
    if let Some(name) = query_credential(uri) {
        return Err(IdentityError::InQuery(name));
    }
    if let Some(name) = query_restriction(uri) {
        return Err(IdentityError::RestrictionInQuery(name));
    }
    let credential = match (auth, read_credential(keys, headers)?) {
        (AuthMode::None, None) => None,
        (AuthMode::None, Some(_)) => return Err(IdentityError::Unexpected),
        (AuthMode::Token, None) => return Err(IdentityError::Missing { bearer_only: false }),
        (AuthMode::OAuth { .. }, None) => return Err(IdentityError::Missing { bearer_only: true }),
        (AuthMode::Token, credential) => credential,
        (AuthMode::OAuth { .. }, Some(credential)) if credential.sent_as == CredentialHeader::Bearer => {
            Some(RequestCredential { token: Token::OAuth(credential.secret.clone()), ..credential })
        }
        (AuthMode::OAuth { .. }, Some(_)) => return Err(IdentityError::OAuthOnly),
    };
    let base = read_instance(headers, default, known)?;
    Ok(Identity { base, credential, narrowing: read_narrowing(headers)? })
}

/// Name of a query parameter that holds a credential.
fn query_credential(uri: &Uri) -> Option<&'static str> {
    let query = uri.query()?;
    url::form_urlencoded::parse(query.as_bytes()).find_map(|(name, _)| {
        let name = name.to_ascii_lowercase().replace('-', "_");
        QUERY_CREDENTIALS.into_iter().find(|known| *known == name)
    })
}

/// Name of a query parameter that reads like a restriction, as other servers have it (`?readonly=true`, `?toolsets=issues`).
fn query_restriction(uri: &Uri) -> Option<String> {
    const SHOWN: usize = 60;
    let query = url::form_urlencoded::parse(uri.query()?.as_bytes());
    let restricting = |name: &str| {
        let name = name.to_ascii_lowercase().replace('_', "-");
        NARROWING_WORDS.contains(&name.as_str()) || contains_restriction(&name)
    };
    let (name, _) = query.into_iter().find(|(name, _)| restricting(name))?;
    Some(name.chars().take(SHOWN).collect())
}

fn read_credential(keys: &KeyMaker, headers: &HeaderMap) -> Result<Option<RequestCredential>, IdentityError> {
    let mut given = Vec::new();
    for header in CredentialHeader::ALL {
        if let Some(value) = single(headers, header.name())? {
            given.push((header, value));
        }
    }
    let (sent_as, value) = match given.as_slice() {
        [] => return Ok(None),
        [one] => *one,
        several => {
            let names: Vec<&str> = several.iter().map(|(header, _)| header.name()).collect();
            return Err(IdentityError::Several(names.join(", ")));
        }
    };
    let text = match sent_as {
        CredentialHeader::Bearer => {
            let (scheme, token) = value.split_once(' ').ok_or(IdentityError::NotBearer)?;
            if !scheme.eq_ignore_ascii_case("bearer") {
                return Err(IdentityError::NotBearer);
            }
            token.trim()
        }
        CredentialHeader::Private | CredentialHeader::Job => value.trim(),
    };
    let is_token =
        !text.is_empty() && text.len() <= MAX_TOKEN && text.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_token {
        return Err(IdentityError::NotAToken(sent_as.name().to_owned()));
    }
    let secret = Secret::new(text.to_owned());
    let token = match sent_as {
        CredentialHeader::Private => Token::Private(secret.clone()),
        CredentialHeader::Job => Token::Job(secret.clone()),
        // GitLab takes personal access tokens as bearer tokens too, and those can be asked for their scopes.
        CredentialHeader::Bearer => match Token::guess(secret.clone()) {
            Token::Private(secret) if !text.contains("glpat-") => Token::OAuth(secret),
            token => token,
        },
    };
    Ok(Some(RequestCredential { token, digest: keys.digest(text), secret, sent_as }))
}

/// The value of a header that may be given once.
fn single<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<Option<&'a str>, IdentityError> {
    let mut values = headers.get_all(HeaderName::from_static(name)).iter();
    let Some(first) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(IdentityError::Duplicate(name.to_owned()));
    }
    // A value that is not ASCII is no value of any of these headers.
    first.to_str().map(Some).map_err(|_| IdentityError::NotAToken(name.to_owned()))
}

fn read_instance(headers: &HeaderMap, default: &Url, known: &[Url]) -> Result<Url, IdentityError> {
    check_instance_names(headers)?;
    let mut named: Option<(&'static str, &str)> = None;
    for header in INSTANCE_HEADERS {
        if let Some(value) = single(headers, header)? {
            if named.is_some() {
                return Err(IdentityError::Duplicate(INSTANCE_HEADERS.join(", ")));
            }
            named = Some((header, value));
        }
    }
    let Some((header, value)) = named else { return Ok(default.clone()) };
    let wanted = Url::parse(value.trim()).ok().map(|url| root_of(&url));
    let found = known.iter().find(|url| wanted.as_ref().is_some_and(|wanted| *wanted == root_of(url)));
    found.cloned().ok_or_else(|| IdentityError::UnknownInstance {
        header: header.to_owned(),
        known: known.iter().map(|url| url.as_str().trim_end_matches('/').to_owned()).collect(),
    })
}

/// Origin and path of an instance, without `/api/v4`; a URL with credentials, a query or a fragment equals no instance.
fn root_of(url: &Url) -> (String, String, bool) {
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/api/v4").unwrap_or(path);
    let is_plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    (url.origin().ascii_serialization(), path.to_owned(), is_plain)
}

/// The error of a header that reads like one that chooses an instance, and is none: a token would go to another GitLab.
fn check_instance_names(headers: &HeaderMap) -> Result<(), IdentityError> {
    let chooses = |name: &&str| {
        let name = name.replace('_', "-");
        let has = |word: &str| name.split('-').any(|part| part == word);
        let is_ours = has("gitlab") || name.starts_with("x-mcp-");
        is_ours && ["url", "host", "instance", "hostname"].into_iter().any(has)
    };
    let names = headers.keys().map(HeaderName::as_str).filter(|name| !INSTANCE_HEADERS.contains(name));
    names.into_iter().find(chooses).map_or(Ok(()), |name| Err(IdentityError::NoInstance(name.to_owned())))
}

/// The error of a header that reads like one that narrows, and is none: it would not hold.
fn check_narrowing_names(headers: &HeaderMap) -> Result<(), IdentityError> {
    const KNOWN: [&str; 4] = [READ_ONLY, TOOLSETS, CONFIRM, CONFIRM_BY];
    let names = headers.keys().map(HeaderName::as_str).filter(|name| !KNOWN.contains(name));
    let rest = |name: &str| {
        let name = name.replace('_', "-");
        NARROWING.iter().find_map(|beginning| name.strip_prefix(beginning).map(str::to_owned))
    };
    // `Mcp-Param-…` repeats an argument of the call (MCP, Streamable HTTP).
    let is_one = |rest: String| {
        let reads = NARROWING_WORDS.contains(&rest.as_str()) || contains_restriction(&rest);
        reads && !rest.starts_with("param-")
    };
    let mut unknown = names.filter(|name| rest(name).is_some_and(is_one));
    unknown.next().map_or(Ok(()), |name| Err(IdentityError::NoRestriction(name.to_owned())))
}

fn read_narrowing(headers: &HeaderMap) -> Result<Narrowing, IdentityError> {
    check_narrowing_names(headers)?;
    let read_only = match single(headers, READ_ONLY)? {
        None => false,
        Some(value) => match value.trim().to_ascii_lowercase().as_str() {
            "true" | "1" => true,
            "false" | "0" => false,
            _ => return Err(invalid(READ_ONLY, "true or false", value)),
        },
    };
    let toolsets = match single(headers, TOOLSETS)? {
        None => Vec::new(),
        Some(value) => {
            let names = value.split(',').map(str::trim).filter(|name| !name.is_empty());
            let mut names: Vec<String> = names.map(str::to_ascii_lowercase).collect();
            names.sort();
            names.dedup();
            if names.is_empty() || names.len() > MAX_TOOLSETS {
                return Err(invalid(TOOLSETS, "names of toolsets, separated by commas", value));
            }
            names
        }
    };
    let accepts = "write, grant, destructive and token, separated by commas";
    let confirm = match single(headers, CONFIRM)? {
        None => None,
        // `never` would be less than the server's own setting, which is the lower bound.
        Some(value) => {
            let confirm = Confirm::parse(value).filter(|confirm| confirm.asks());
            Some(confirm.ok_or_else(|| invalid(CONFIRM, accepts, value))?)
        }
    };
    let by = match single(headers, CONFIRM_BY)?.map(str::trim) {
        None => ConfirmBy::Model,
        Some(value) if value.eq_ignore_ascii_case("person") => ConfirmBy::Person,
        Some(value) => return Err(invalid(CONFIRM_BY, "person", value)),
    };
    let confirm = confirm.or((by == ConfirmBy::Person).then_some(Confirm::NEVER));
    // The word of a person is asked for by its own header: the others say nothing about it.
    let confirm = confirm.map(|mut confirm| {
        confirm.by = by;
        confirm
    });
    Ok(Narrowing { read_only, toolsets, confirm })
}

fn invalid(header: &'static str, accepts: &'static str, given: &str) -> IdentityError {
    IdentityError::Invalid { header, accepts, given: given.chars().take(100).collect() }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn identity(auth: &AuthMode, uri: &str, given: &[(&str, &str)]) -> Result<Identity, IdentityError> {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            let name: HeaderName = name.parse().unwrap();
            headers.append(name, HeaderValue::from_str(value).unwrap());
        }
        let known =
            ["https://gitlab.com/", "https://git.example.com/sub"].map(|url| Url::parse(url).unwrap());
        let keys = KeyMaker::new().unwrap();
        read_identity(auth, &keys, &uri.parse().unwrap(), &headers, &known[0], &known)
    }

    fn refusal(auth: &AuthMode, uri: &str, given: &[(&str, &str)]) -> IdentityError {
        identity(auth, uri, given).unwrap_err()
    }

    #[test]
    fn exactly_one_credential_in_a_header_is_accepted() {
        let token = &AuthMode::Token;
        assert_eq!(refusal(token, "/mcp", &[]), IdentityError::Missing { bearer_only: false });
        assert_eq!(
            refusal(token, "/mcp", &[("authorization", "Bearer a"), ("private-token", "a")]),
            IdentityError::Several("authorization, private-token".to_owned())
        );
        assert_eq!(
            refusal(token, "/mcp", &[("private-token", "a"), ("private-token", "a")]),
            IdentityError::Duplicate("private-token".to_owned())
        );
        for query in ["access_token=x", "private-token=x", "a=1&TOKEN=x", "job%5Ftoken=x"] {
            let refused = refusal(token, &format!("/mcp?{query}"), &[("private-token", "a")]);
            assert!(matches!(refused, IdentityError::InQuery(_)), "{query}: {refused}");
        }
        for query in
            ["readonly=true", "read_only=1", "a=1&X-MCP-Readonly=true", "toolsets=issues", "safe%5Fmode"]
        {
            let refused = refusal(token, &format!("/mcp?{query}"), &[("private-token", "a")]);
            assert!(matches!(refused, IdentityError::RestrictionInQuery(_)), "{query}: {refused}");
        }
        assert!(identity(token, "/mcp?session=1&utm_source=x", &[("private-token", "a")]).is_ok());
        for header in ["a", "Basic YTpi", "Bearer", "bearer\u{9}a"] {
            let refused = identity(token, "/mcp", &[("authorization", header)]);
            assert!(refused.is_err(), "{header}");
        }
        assert_eq!(refusal(&AuthMode::None, "/mcp", &[("job-token", "a")]), IdentityError::Unexpected);
        let oauth = AuthMode::OAuth { applications: vec!["app".to_owned()] };
        assert_eq!(refusal(&oauth, "/mcp", &[("private-token", "a")]), IdentityError::OAuthOnly);
    }

    #[test]
    fn the_kind_of_a_token_follows_its_header_and_prefix() {
        let kind = |header: &str, value: &str| {
            identity(&AuthMode::Token, "/mcp", &[(header, value)]).unwrap().credential.unwrap().token
        };
        assert!(matches!(kind("authorization", "Bearer glpat-abc"), Token::Private(_)));
        assert!(matches!(kind("authorization", "bearer eyJhbGciOi"), Token::OAuth(_)));
        assert!(matches!(kind("authorization", "Bearer glcbt-64_abc"), Token::Job(_)));
        assert!(matches!(kind("private-token", "anything"), Token::Private(_)));
        assert!(matches!(kind("job-token", "anything"), Token::Job(_)));
    }

    #[test]
    fn only_configured_instances_can_be_named() {
        let base = |value: &str| {
            let given = [("private-token", "a"), ("gitlab-url", value)];
            identity(&AuthMode::Token, "/mcp", &given).map(|identity| identity.base.to_string())
        };
        assert_eq!(base("https://git.example.com/sub/api/v4/").unwrap(), "https://git.example.com/sub");
        assert_eq!(base("HTTPS://GITLAB.COM:443").unwrap(), "https://gitlab.com/");
        for foreign in [
            "https://gitlab.com.evil.example",
            "http://gitlab.com",
            "https://git.example.com",
            "gitlab.com",
            "https://user@gitlab.com",
            "https://gitlab.com/?x",
            "https://gitlab.com/#x",
            "https://gitlab.com:8443",
            "",
        ] {
            assert!(matches!(base(foreign), Err(IdentityError::UnknownInstance { .. })), "{foreign}");
        }
        let both = [
            ("private-token", "a"),
            ("gitlab-url", "https://gitlab.com"),
            ("x-gitlab-api-url", "https://gitlab.com"),
        ];
        assert!(matches!(refusal(&AuthMode::Token, "/mcp", &both), IdentityError::Duplicate(_)));
    }

    #[test]
    fn limits_can_be_asked_for_and_never_lifted() {
        let ask = |header: &str, value: &str| {
            identity(&AuthMode::None, "/mcp", &[(header, value)]).map(|identity| identity.narrowing)
        };
        assert!(ask("x-mcp-readonly", "TRUE").unwrap().read_only);
        assert_eq!(ask("x-mcp-toolsets", "wiki, Issues,wiki").unwrap().toolsets, ["issues", "wiki"]);
        assert!(ask("x-mcp-confirm", "write").unwrap().confirm.unwrap().asks());
        for (header, value) in [
            ("x-mcp-readonly", "maybe"),
            ("x-mcp-toolsets", ","),
            ("x-mcp-confirm", "never"),
            ("x-mcp-confirm", "x"),
            ("x-mcp-confirm-by", "model"),
        ] {
            assert!(matches!(ask(header, value), Err(IdentityError::Invalid { .. })), "{header}: {value}");
        }
    }

    /// `X-MCP-Read-Only: true` was ignored.
    #[test]
    fn a_misspelt_limit_is_refused() {
        let ask = |header: &str| identity(&AuthMode::None, "/mcp", &[(header, "true")]);
        for header in [
            "x-mcp-read-only",
            "x_mcp_readonly",
            "x-mcp-toolset",
            "x-mcp-tools",
            "x-mcp-exclude-tools",
            "x-mcp-confirmation",
            "x-mcp-lockdown",
            "x-mcp-readonlymode",
            "x-mcp-safemode",
            "x-mcp-dryrun",
            "x-mcp-confirmby",
            "x-mcp-tool-sets",
            "x-mcp-domain",
            "x-mcp-project",
            "x-mcp-group",
            "x-mcp-visible-paths",
            "x-mcp-limit",
            "x-mcp-blocklist",
            "x-mcp-skip",
            "x-mcp-features",
            "x-mcp-preview",
            "x-mcp-ask",
            "x-mcp-access",
            "x-mcp-ro",
            "x-mcp-delete",
        ] {
            assert!(matches!(ask(header), Err(IdentityError::NoRestriction(_))), "{header}");
        }
        let others = [
            "x-gitlab-url",
            "gitlab_url",
            "x-mcp-gitlab-url",
            "x-mcp-instance",
            "gitlab-instance",
            "x-gitlab-host",
        ];
        for header in others {
            assert!(matches!(ask(header), Err(IdentityError::NoInstance(_))), "{header}");
        }
        for header in [
            "x-gitlab-readonly",
            "gitlab_read_only",
            "mcp-readonly",
            "x-mcp-policy",
            "x-mcp-quick-actions",
            "x-mcp-scope",
        ] {
            assert!(matches!(ask(header), Err(IdentityError::NoRestriction(_))), "{header}");
        }
        for header in [
            "x-mcp-client",
            "x-mcp-proxy-auth",
            "x-read-only",
            "mcp-protocol-version",
            "mcp-session-id",
            "mcp-method",
            "mcp-name",
        ] {
            assert!(ask(header).is_ok(), "{header}");
        }
    }
}
