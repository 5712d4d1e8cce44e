//! Errors of the commands, and their output on standard error.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::eval::EvalError;

/// Environment variable with the folder of GitLab's two files, if no flag is given.
pub const FILES_VARIABLE: &str = "GITLAB_API_FILES";

/// Error of a command. Each names the invalid file, operation or id.
#[derive(Debug, thiserror::Error)]
pub enum GeneratorError {
    #[error(
        "GitLab's file is missing: give {flag}, or set {FILES_VARIABLE} to a folder with openapi.yaml and schema.graphql"
    )]
    NoFile { flag: &'static str },
    #[error("{path}: cannot be read")]
    Read { path: String, source: std::io::Error },
    #[error("{path}: cannot be written")]
    Write { path: String, source: std::io::Error },
    #[error("{path}: {reason}")]
    Malformed { path: String, reason: String },
    #[error("{} faults in the catalog:\n{}", .0.len(), .0.join("\n"))]
    Faults(Vec<String>),
    #[error("cannot tokenize: {0}")]
    Tokens(String),
    #[error("cannot embed the texts of new actions: {0}")]
    Vectors(String),
    #[error("the finder cannot be opened: {0}")]
    Finder(String),
    #[error(transparent)]
    Eval(#[from] EvalError),
    #[error("standard output cannot be written")]
    Output(#[from] std::io::Error),
}

/// Prints an error with its chain of sources to standard error.
pub fn print_error(error: &GeneratorError) {
    let mut text = format!("catalog_gen: {error}\n");
    let mut source = std::error::Error::source(error);
    while let Some(under) = source {
        let _ = writeln!(text, "  because: {under}");
        source = under.source();
    }
    print_message(&text);
}

/// Prints to standard error. A write error is ignored, as it could not be reported.
pub fn print_message(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
