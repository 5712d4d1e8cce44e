//! Tokenizer of the encoder's input, shared with its training.

use gitlab_mcp_embed::search::profile::Profiles;
use gitlab_mcp_encoder::Encoder;

use super::embedded::{ENCODER, PROFILES};
use super::error::SearchError;
use super::lexicon::Lexicon;
use super::request;
use crate::catalog::Catalog;

/// Query analysis shared with the encoder's training. It uses no learned data, so that a training does not depend on a
/// previous one.
pub struct Tokenizer {
    profiles: Profiles<'static>,
    lexicon: Lexicon,
}

impl Tokenizer {
    /// Loads the vocabulary of the catalog and the language file.
    pub fn open(catalog: &Catalog) -> Result<Tokenizer, SearchError> {
        let profiles: Profiles<'static> = postcard::from_bytes(PROFILES).map_err(SearchError::Embedded)?;
        Ok(Tokenizer { lexicon: Lexicon::new(catalog.words()?, &profiles), profiles })
    }

    /// The encoder's input for a text: lower-case words, and placeholders of entities.
    pub fn encoder_tokens(&self, text: &str) -> Vec<String> {
        request::QueryWords { lexicon: &self.lexicon, vocabulary: &self.profiles.vocabulary }
            .encoder_tokens(text)
    }

    /// Normalized mean of the embeddings of texts: the vector of an action added after the last training.
    pub fn vector(&self, texts: &[String]) -> Result<Vec<f32>, SearchError> {
        let tokens: Vec<Vec<String>> = texts.iter().map(|text| self.encoder_tokens(text)).collect();
        Ok(Encoder::new(ENCODER)?.encode_mean(&tokens))
    }
}
