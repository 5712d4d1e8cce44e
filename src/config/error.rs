//! Errors of the configuration.

use std::io;
use std::path::PathBuf;

use super::table::settings;
use crate::credentials::LoginFileError;

/// Invalid configuration. No variant contains a token.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{origin}: expected {accepts}, got {given:?}")]
    Value { origin: String, given: String, accepts: String },
    #[error("{origin}: expected {accepts}, got {given:?}; write https://{given}")]
    NoScheme { origin: String, given: String, accepts: String },
    #[error("{origin}: invalid value (not shown); expected {accepts}")]
    Hidden { origin: String, accepts: String },
    #[error("{origin}: unexpanded variable {given:?}; expected {accepts}")]
    Unexpanded { origin: String, given: String, accepts: String },
    #[error("{origin}: {given} is in the home folder, which is not known: set HOME (on Windows USERPROFILE)")]
    NoHome { origin: String, given: String },
    #[error("{origin} is empty; expected {accepts}")]
    Blank { origin: String, accepts: String },
    #[error("{one} and {other} are names of one setting, and their values differ: set only {one}")]
    Contradiction { one: String, other: String },
    #[error("{0} is for the HTTP server, and there is none: add --http (GITLAB_MCP_HTTP), or remove it")]
    NoServer(&'static str),
    #[error(
        "{0} is for GITLAB_MCP_AUTH=oauth, and callers are not identified by OAuth: set that, or remove it"
    )]
    NoOAuth(&'static str),
    #[error(
        "{0} is where other machines reach this server, and with GITLAB_MCP_AUTH=none they would use its token: set token or \
         oauth, or remove it"
    )]
    NoIdentification(&'static str),
    #[error(
        "two [[instance]] tables are of {0}, and a caller who brings a token chooses an instance by its address: leave one"
    )]
    TwoAccounts(String),
    #[error("[[instance]] {0} has the name of the host of another instance: give it another")]
    NamedAsHost(String),
    #[error(
        "{given} is no setting, and reads like a restriction that would not hold; {instead}, or remove it"
    )]
    NoRestriction { given: String, instead: &'static str },
    #[error("{0}: the value is not valid UTF-8")]
    Encoding(String),
    #[error(transparent)]
    SignIns(#[from] LoginFileError),
    #[error("{set} is set and {missing} is not: a certificate needs its key")]
    Alone { set: &'static str, missing: &'static str },
    #[error("{origin}: cannot read {}", .path.display())]
    File { origin: String, path: PathBuf, source: io::Error },
    /// The line is not shown: it may contain the token.
    #[error("line {line} of {} is not TOML: {message}", .file.display())]
    Syntax { file: PathBuf, line: usize, message: String },
    #[error("{}: unknown setting {key}; expected one of {}", .file.display(), names())]
    Unknown { file: PathBuf, key: String },
    #[error("{}: unknown key {key}; expected the tables tools, actions and params", .file.display())]
    NoTable { file: PathBuf, key: String },
    #[error("[[instance]] in {}: {message}", .file.display())]
    Tables { file: PathBuf, message: String },
    #[error("[[instance]] {name}: {key}: expected {accepts}")]
    Instance { name: String, key: &'static str, accepts: String },
    #[error(
        "{place} is plain http to another machine, over which no token is sent: set {https}, or GITLAB_PLAIN_HTTP=true if \
         that GitLab has no https"
    )]
    PlainHttp { place: String, https: String },
    #[error("{given} is no setting, and {meant} would restrict what may be done: write it so, or remove it")]
    Misspelt { given: String, meant: &'static str },
    #[error("two GitLab instances are named {0}: give each [[instance]] a name of its own")]
    TwoInstances(String),
    #[error("{key} in {}: expected a string, a number or a boolean", .file.display())]
    Shape { file: PathBuf, key: String },
    #[error(
        "{0}: a command for a token started this gitlab-mcp, which therefore starts none itself; expected a token in \
         GITLAB_TOKEN or GITLAB_TOKEN_FILE, or a sign-in"
    )]
    Nested(String),
    #[error("{0} is for the sandbox, and a GitLab is used: add --sandbox (GITLAB_URL=sandbox), or remove it")]
    NoSandbox(&'static str),
    #[error("{0} is not set")]
    Missing(&'static str),
    #[error(
        "GITLAB_MCP_HTTP: an address that is not loopback needs GITLAB_MCP_AUTH (--auth): token (each caller brings \
         a GitLab token) or oauth, and GITLAB_MCP_PUBLIC_URL (--public-url), the URL that clients use"
    )]
    NoAuthMode,
    #[error(
        "GITLAB_MCP_AUTH=oauth needs GITLAB_MCP_OAUTH_APPLICATIONS: the ids of the applications to accept tokens of"
    )]
    NoApplications,
    #[error(
        "GITLAB_MCP_HTTP: an address that is not loopback needs GITLAB_MCP_AUTH (--auth) of token or oauth, and \
         GITLAB_MCP_PUBLIC_URL (--public-url)"
    )]
    Exposed,
}

fn names() -> String {
    settings().map(|setting| setting.row().name).collect::<Vec<_>>().join(", ")
}
