//! Why the program ends with something else than 0.

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::catalog::CatalogError;
use crate::config::ConfigError;
use crate::sandbox::SandboxError;
use crate::server::ServerError;
use crate::tools::{PolicyError, SetupError};

/// What went wrong, by whom it concerns.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Also `--help` and `--version`, which are none.
    #[error(transparent)]
    Usage(clap::Error),
    #[error("there is no flag {flag}: {instead}")]
    ForeignFlag { flag: &'static str, instead: &'static str },
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("--params is not a JSON object")]
    Params(#[source] serde_json::Error),
    #[error("the parameters in {} cannot be read", .0.display())]
    ParamsFile(PathBuf, #[source] io::Error),
    #[error("{} is there already, and is left as it is; nothing was written", .0.display())]
    Exists(PathBuf),
    #[error("{} cannot be written", .0.display())]
    Written(PathBuf, #[source] io::Error),
    #[error("the list of tools does not end")]
    Pages,
    /// Already written, as the answer that it is.
    #[error("the answer is an error")]
    Answered,
    /// Likewise, of a doctor's findings; with the exit code.
    #[error("something is amiss")]
    Diagnosed(u8),
    #[error("there is no action {0}; `gitlab-mcp find` takes words, ids and aliases")]
    NoSuchAction(String),
    #[error("{alias} may mean {}", .actions.join(" or "))]
    Ambiguous { alias: String, actions: Vec<&'static str> },
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    #[error(transparent)]
    Tools(#[from] SetupError),
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error("the sandbox could not be started")]
    Sandbox(#[from] SandboxError),
    #[error("an address of this machine's own cannot be read")]
    Address(#[source] url::ParseError),
    #[error("the runtime could not be started")]
    Runtime(#[source] io::Error),
    #[error("the answer could not be written")]
    Output(#[from] io::Error),
}

impl Failure {
    /// 0 for help, 1 for an error that is the answer, 2 for what the caller got wrong, 3 for the rest. A doctor has
    /// 1 for a warning and 2 for what does not work.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(error) if !error.use_stderr() => 0,
            Failure::Answered | Failure::NoSuchAction(_) | Failure::Ambiguous { .. } => 1,
            Failure::Diagnosed(code) => *code,
            Failure::Usage(_) | Failure::Config(_) | Failure::Params(_) | Failure::ParamsFile(..) => 2,
            Failure::Exists(_) | Failure::Written(..) | Failure::ForeignFlag { .. } => 2,
            // A policy names what is not there, or cannot be read.
            Failure::Tools(SetupError::Policy(error)) if !matches!(error, PolicyError::Catalog(_)) => 2,
            _ => 3,
        }
    }

    /// Says it in a line on `log`, or, where it is help, whole on `out`.
    pub fn report(&self, out: &mut dyn Write, log: &mut dyn Write) -> io::Result<()> {
        match self {
            Failure::Answered | Failure::Diagnosed(_) => Ok(()),
            Failure::Usage(error) if !error.use_stderr() => write!(out, "{}", error.render()),
            Failure::Usage(error) => write!(log, "{}", error.render()),
            error => writeln!(log, "gitlab-mcp: {}", chain(error)),
        }
    }
}

/// An error with its sources, the nearest first.
fn chain(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        message.push_str(&format!(": {error}"));
        source = error.source();
    }
    message
}
