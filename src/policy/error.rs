//! Errors of a policy's settings and file.

use crate::catalog::CatalogError;

/// Error in a policy's settings or file. The server does not start with an invalid policy.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// `nearest` is filled in by the caller, as the policy cannot search for names.
    #[error("{origin}: `{pattern}` matches no action{}", nearest_name(.nearest))]
    NoAction { origin: &'static str, pattern: String, nearest: Option<String> },
    /// `nearest` as above.
    #[error("GITLAB_DENIED_TOOLS_REGEX: `{pattern}` matches no tool and no action{}", nearest_name(.nearest))]
    NoTool { pattern: String, nearest: Option<String> },
    /// The settings of toolsets and domains, and the rules that deny what these offer.
    #[error("no action is left of {offered}{}", .denials.iter().map(|rule| format!("; {rule}")).collect::<String>())]
    NothingLeft { offered: String, denials: Vec<String> },
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

fn nearest_name(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; the nearest is `{name}`")).unwrap_or_default()
}
