//! Errors of the start.

/// Why a sandbox could not start.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// No port on loopback could be had.
    #[error("cannot listen on loopback")]
    Listen(#[source] std::io::Error),
    /// The file of a sandbox that is kept cannot be used.
    #[error("the sandbox's file {} cannot be used: {why}", .path.display())]
    Journal {
        /// The file.
        path: std::path::PathBuf,
        /// The fault, with the number of the line if it is in one.
        why: String,
    },
    /// The embedded descriptions of the kinds of rows cannot be read.
    #[error("the sandbox's kinds in {file} cannot be read")]
    Kinds {
        /// The embedded file.
        file: &'static str,
        /// The parse error.
        #[source]
        source: serde_json::Error,
    },
    /// The embedded world cannot be read.
    #[error("the sandbox's world in {file} cannot be read")]
    Seed {
        /// The embedded file.
        file: &'static str,
        /// The parse error.
        #[source]
        source: serde_json::Error,
    },
    /// The documentation of GitLab's operations cannot be read.
    #[error("the documentation of GitLab's operations cannot be read")]
    Documentation(#[source] crate::documentation::Unreadable),
    /// The embedded GraphQL schema is not valid.
    #[error("the sandbox's GraphQL schema is not valid: {0}")]
    Schema(String),
    /// The embedded world names something that is not in it.
    #[error("the sandbox's world names {0}, which is not in it")]
    Unknown(String),
}
