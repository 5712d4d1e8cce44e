//! Errors of an evaluation.

use std::path::PathBuf;

use gitlab_mcp::catalog::CatalogError;
use gitlab_mcp::search::SearchError;

/// Error of an evaluation.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    #[error("{path} cannot be read")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path}:{line}: {reason}")]
    Case { path: PathBuf, line: usize, reason: String },
    #[error("{path} is no saved run")]
    Saved { path: PathBuf, source: serde_json::Error },
    #[error("fell by more than a point: {}", .0.join("; "))]
    Fell(Vec<String>),
    #[error("the catalog cannot be read")]
    Catalog(#[from] CatalogError),
    #[error("a request could not be searched")]
    Search(#[from] SearchError),
}
