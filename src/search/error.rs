//! Errors of a search.

use gitlab_mcp_encoder::EncoderError;

use super::model::ModelError;
use crate::catalog::CatalogError;

/// Internal error of a search; never caused by the request.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error("the embedded index cannot be read")]
    Embedded(#[source] postcard::Error),
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("the index cannot be searched")]
    Index(#[from] tantivy::TantivyError),
    #[error("the index cannot be read")]
    Read(#[from] std::io::Error),
    #[error("the catalog cannot be read")]
    Catalog(#[from] CatalogError),
}
