//! Errors of a policy's settings and file.

use crate::catalog::CatalogError;

/// Error in a policy's settings or file. The server does not start with an invalid policy.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// `nearest` is filled in by the caller, as the policy cannot search for names.
    #[error("{origin}: `{pattern}` matches no action{}", .nearest.as_ref().map(|id| format!("; the nearest is `{id}`")).unwrap_or_default())]
    NoAction { origin: &'static str, pattern: String, nearest: Option<String> },
    #[error("{origin}: unknown name `{name}`; expected one of {accepted}")]
    NoPart { origin: &'static str, name: String, accepted: String },
    #[error("{origin}: expected {accepted}, got `{text}`")]
    NoPath { origin: &'static str, text: String, accepted: &'static str },
    #[error("GITLAB_DENIED_TOOLS_REGEX: `{text}` is not a valid regular expression")]
    Expression { text: String, source: regex_lite::Error },
    #[error("{origin}: invalid policy file")]
    Syntax { origin: String, source: Box<toml::de::Error> },
    #[error("the catalog cannot be read")]
    Catalog(#[from] CatalogError),
}
