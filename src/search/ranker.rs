//! The opened index, encoder and model.

use gitlab_mcp_embed::search::profile::Profiles;
use gitlab_mcp_encoder::Encoder;

use super::bm25::LexicalIndex;
use super::embedded::{EMBEDDINGS, ENCODER, PROFILES};
use super::embedding::Embeddings;
use super::error::SearchError;
use super::lexicon::Lexicon;
use super::model::Model;
use crate::catalog::Catalog;

/// The finder, opened once and shared.
pub struct Ranker {
    pub(super) index: LexicalIndex,
    pub(super) profiles: Profiles<'static>,
    pub(super) encoder: Encoder<'static>,
    pub(super) embeddings: Embeddings<'static>,
    pub(super) lexicon: Lexicon,
    pub(super) model: Model,
}

impl std::fmt::Debug for Ranker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ranker").field("actions", &self.index.len()).finish_non_exhaustive()
    }
}

impl Ranker {
    /// Opens the embedded index and encoder.
    pub fn open(catalog: &Catalog) -> Result<Ranker, SearchError> {
        Ranker::open_with(catalog, Model::embedded()?)
    }

    /// Opens them with another model, for evaluation.
    pub fn open_with(catalog: &Catalog, model: Model) -> Result<Ranker, SearchError> {
        let profiles: Profiles<'static> = postcard::from_bytes(PROFILES).map_err(SearchError::Embedded)?;
        let lexicon = Lexicon::new(catalog.words()?, &profiles);
        let (encoder, embeddings) = (Encoder::new(ENCODER)?, Embeddings::new(EMBEDDINGS));
        Ok(Ranker { index: LexicalIndex::open()?, profiles, encoder, embeddings, lexicon, model })
    }
}
