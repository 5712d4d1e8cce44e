//! Errors of the command line and their exit codes.

use std::io::{self, Write};
use std::path::PathBuf;

use super::auth_error::AuthError;
use crate::catalog::CatalogError;
use crate::config::ConfigError;
use crate::documentation::SandboxError;
use crate::server::ServerError;
use crate::server::http::{HealthError, HttpError};
use crate::text::error_chain;
use crate::tools::{PolicyError, SetupError};
use crate::untrusted::one_line;

/// Error of a command.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Usage error; also `--help` and `--version`, which clap reports as errors.
    #[error(transparent)]
    Usage(clap::Error),
    #[error("there is no flag {flag}: {instead}")]
    ForeignFlag { flag: &'static str, instead: &'static str },
    #[error("there is no command {command}: {instead}")]
    ForeignCommand { command: &'static str, instead: &'static str },
    #[error("there is no script for {0}")]
    NoScript(clap_complete::Shell),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("--params is not a JSON object")]
    Params(#[source] serde_json::Error),
    #[error("{0}")]
    Pair(String),
    #[error("the parameters in {} cannot be read", .0.display())]
    ParamsFile(PathBuf, #[source] io::Error),
    #[error("-f {name}: the file {} cannot be read", .file.display())]
    PairFile { name: String, file: PathBuf, source: io::Error },
    #[error(
        "-f {name}: the file {} is not text (UTF-8), which {name} takes. A parameter of type file takes any file: \
         `gitlab-mcp find upload a file` finds the action", .file.display()
    )]
    PairText { name: String, file: PathBuf },
    #[error("--since: {0}")]
    Since(String),
    #[error("the contract suite: {0}")]
    Contract(String),
    #[error("the cases cannot be used: {0}")]
    Cases(String),
    #[error("{} already exists and was not overwritten; nothing was written", .0.display())]
    Exists(PathBuf),
    #[error("{} cannot be read", .0.display())]
    Loaded(PathBuf, #[source] io::Error),
    #[error("{} cannot be written", .0.display())]
    Written(PathBuf, #[source] io::Error),
    #[error("the home folder is not known: set HOME (on Windows USERPROFILE)")]
    NoHome,
    #[error("GITLAB_TOKEN is not set: there is no token to write into the configurations")]
    NoToken,
    #[error("stopped by a signal")]
    Stopped,
    #[error("stopped by a signal before the change was sent: nothing was changed")]
    StoppedUnsent,
    #[error("stopped by a signal; the change was sent, and may have been made. {check}")]
    StoppedChange { check: String },
    #[error("tools/list returned too many pages")]
    Pages,
    /// Error answer of a tool, or what `setup` could not change, already printed.
    #[error("the answer is an error")]
    Answered,
    /// Findings of `doctor`, already printed, with the exit code.
    #[error("doctor found problems")]
    Diagnosed(u8),
    #[error("there is no action {0}; `gitlab-mcp find` takes words, ids and aliases")]
    NoSuchAction(String),
    #[error("{alias} is ambiguous: {}", .actions.join(" or "))]
    Ambiguous { alias: String, actions: Vec<&'static str> },
    #[error(transparent)]
    Auth(#[from] AuthError),
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    #[error(transparent)]
    Tools(#[from] SetupError),
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error(transparent)]
    Health(#[from] HealthError),
    #[error("no GitLab instance is configured")]
    NoInstance,
    #[error(
        "GITLAB_AUDIT_FILE is not set, and no client's configuration on this machine sets it: no audit log is kept in a \
         file. To keep one: gitlab-mcp --audit-file FILE setup --write"
    )]
    NoAuditFile,
    #[error("GITLAB_MCP_HTTP is not set: there is no HTTP server to check")]
    NoHttp,
    #[error("cannot start the sandbox")]
    Sandbox(#[from] SandboxError),
    #[error("cannot parse a loopback address")]
    Address(#[source] url::ParseError),
    #[error("cannot start the async runtime")]
    Runtime(#[source] io::Error),
    #[error("cannot write the answer")]
    Output(#[from] io::Error),
}

impl Failure {
    /// Exit code: 0 for help, 1 for an error answer, 2 for a usage or configuration error, 130 after a signal, 3 otherwise. `doctor`
    /// exits with 1 for a warning and 2 for a failure.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(error) if !error.use_stderr() => 0,
            Failure::Answered | Failure::NoSuchAction(_) | Failure::Ambiguous { .. } | Failure::Health(_) => {
                1
            }
            Failure::Diagnosed(code) => *code,
            // 128 and the number of SIGINT, as shells report it.
            Failure::Stopped | Failure::StoppedUnsent | Failure::StoppedChange { .. } => 130,
            Failure::Auth(error) => error.exit_code(),
            Failure::Usage(_) | Failure::Config(_) | Failure::Params(_) | Failure::ParamsFile(..) => 2,
            Failure::PairFile { .. } | Failure::PairText { .. } => 2,
            Failure::Pair(_) | Failure::Since(_) | Failure::Cases(_) | Failure::Contract(_) => 2,
            Failure::NoHome | Failure::NoToken | Failure::Loaded(..) => 2,
            Failure::Exists(_)
            | Failure::Written(..)
            | Failure::ForeignFlag { .. }
            | Failure::ForeignCommand { .. } => 2,
            Failure::NoHttp | Failure::NoAuditFile => 2,
            // An address or certificate that cannot be used.
            Failure::Http(HttpError::Listen(_) | HttpError::Tls(_)) => 2,
            // The policy is invalid or unreadable.
            Failure::Tools(SetupError::Policy(error)) if !matches!(error, PolicyError::Catalog(_)) => 2,
            _ => 3,
        }
    }

    /// Prints the error in one line to `log`, or help in full to `out`.
    pub fn report(&self, out: &mut dyn Write, log: &mut dyn Write) -> io::Result<()> {
        match self {
            Failure::Answered | Failure::Diagnosed(_) => Ok(()),
            Failure::Usage(error) if !error.use_stderr() => write!(out, "{}", error.render()),
            Failure::Usage(error) => write!(log, "{}", error.render()),
            // GitLab may have written a part of it.
            error => writeln!(log, "gitlab-mcp: {}", one_line(&error_chain(error))),
        }
    }
}
