//! Search: a query in words to ranked actions. The steps, in this order:
//!
//! 1. [`routes`] and the catalog: an exact id, alias, REST path, GraphQL field or page of GitLab ends the search.
//! 2. [`entities`]: quotes, names, references, numbers, dates and URLs are masked by typed placeholders.
//! 3. [`normalise`], [`spelling`], [`lexicon`], [`request`], [`segment`]: tokens, stems, corrections, synonyms; the verb,
//!    the object, the scope; clauses.
//! 4. Candidates: the best by [`bm25`], and the nearest by the encoder and [`embedding`].
//! 5. [`features`], [`agreement`]: a few features of each candidate, and their sum weighted by [`model`].
//! 6. [`ranking`]: the clauses' best actions joined, [`params`], order by score, probability, confidence.
//!
//! The only place that names tantivy, strsim and the encoder. Depends on the catalog alone.

mod agreement;
mod bm25;
mod directory;
mod embedding;
mod entities;
mod features;
mod lexicon;
mod model;
mod nearest;
mod params;
mod ranking;
mod request;
mod routes;
mod segment;
mod spelling;
mod suggest;
mod top;

#[cfg(test)]
mod tests;

use crate::catalog::{Action, Catalog, CatalogError};

use bm25::LexicalIndex;
use embedding::Embeddings;
use gitlab_mcp_embed::search::{fields, normalise, packed, profile};
use gitlab_mcp_encoder::{Encoder, EncoderError};
use lexicon::Lexicon;
pub use model::{FEATURES, Feature, Features, Model, ModelError};
pub use nearest::nearest;
use profile::Profiles;

static PROFILES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/search_profiles.bin"));
static EMBEDDINGS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/search_embeddings.bin"));
static ENCODER: &[u8] = include_bytes!("../../catalog/learned/encoder.bin");

/// Why a search could not be made. None of them is the request's fault.
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

/// What is looked for.
pub struct Query<'q> {
    /// Words, an id, a REST path or a URL of GitLab.
    pub words: &'q str,
    pub limit: usize,
    /// Only actions of this domain.
    pub domain: Option<&'q str>,
    /// Only actions for which this holds.
    pub allow: &'q dyn Fn(&Action) -> bool,
    /// Say why, a line for each step.
    pub explain: bool,
}

/// How sure the ranking is of its first answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    High,
    Low,
    /// Nothing in the catalog is meant.
    None,
}

/// The answer to a query.
#[derive(Debug)]
pub struct Ranking {
    pub confidence: Confidence,
    /// What the confidence goes by: the probability of the first hit; 0 where a word was corrected, the query names no
    /// object, or asks for several things.
    pub certainty: f32,
    /// How many actions the request could mean, those beyond the limit among them.
    pub total: usize,
    /// Best first.
    pub hits: Vec<Hit>,
    /// The ids of what would have stood among the hits, were it allowed.
    pub withheld: Vec<String>,
    /// The ids of the actions that it takes, in order, where it takes several.
    pub steps: Vec<String>,
    /// Ids of actions to suggest if there are no hits.
    pub suggestions: Vec<String>,
}

/// An action that could serve the request.
#[derive(Debug)]
pub struct Hit {
    /// The action's number in the catalog.
    pub number: usize,
    pub action: Action,
    /// About 1 for a good answer; more is better, and only comparable within one ranking.
    pub score: f32,
    /// A line for each step, where that was asked for.
    pub explain: Vec<String>,
}

/// What the weights judge a request by.
#[derive(Debug)]
pub struct Judged {
    /// From 0 for a request of few words to 1 for one of many.
    pub length: f32,
    /// The margin of the best action's cosine over the best out-of-domain topic's.
    pub margin: f32,
    /// Whether it has a verb or noun of GitLab's, so that it is never without results.
    pub is_of_gitlab: bool,
    /// The actions that could be meant, each by its number, with its features.
    pub candidates: Vec<(usize, Features)>,
}

/// The finder, opened once and shared.
pub struct Ranker {
    index: LexicalIndex,
    profiles: Profiles<'static>,
    encoder: Encoder<'static>,
    embeddings: Embeddings<'static>,
    lexicon: Lexicon,
    model: Model,
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

    /// The same with another model, to measure it.
    pub fn open_with(catalog: &Catalog, model: Model) -> Result<Ranker, SearchError> {
        let profiles: Profiles<'static> = postcard::from_bytes(PROFILES).map_err(SearchError::Embedded)?;
        let lexicon = Lexicon::new(catalog.words()?, &profiles);
        let (encoder, embeddings) = (Encoder::new(ENCODER)?, Embeddings::new(EMBEDDINGS));
        Ok(Ranker { index: LexicalIndex::open()?, profiles, encoder, embeddings, lexicon, model })
    }

    /// The features of the actions that a query could mean, whether or not it names one exactly: what a fit of the
    /// model goes by.
    pub fn judge(&self, words: &str) -> Result<Judged, SearchError> {
        ranking::judge(self, words)
    }

    /// The actions that a query could mean, best first. The same query gives the same answer, always.
    pub fn rank(&self, catalog: &Catalog, query: &Query<'_>) -> Result<Ranking, SearchError> {
        ranking::rank(self, catalog, query)
    }
}

/// The analysis that the encoder's training shares with queries. Opens without anything that is learned, so that a training
/// never needs the one before.
pub struct Tokenizer {
    profiles: Profiles<'static>,
    lexicon: Lexicon,
}

impl Tokenizer {
    /// Opens the words of the catalog and the language file.
    pub fn open(catalog: &Catalog) -> Result<Tokenizer, SearchError> {
        let profiles: Profiles<'static> = postcard::from_bytes(PROFILES).map_err(SearchError::Embedded)?;
        Ok(Tokenizer { lexicon: Lexicon::new(catalog.words()?, &profiles), profiles })
    }

    /// The encoder's input for a text: lower-case words, and placeholders of entities.
    pub fn encoder_tokens(&self, text: &str) -> Vec<String> {
        request::Words { lexicon: &self.lexicon, vocabulary: &self.profiles.vocabulary }.encoder_tokens(text)
    }

    /// The mean direction of texts: the vector of an action that was added after the last training.
    pub fn vector(&self, texts: &[String]) -> Result<Vec<f32>, SearchError> {
        let tokens: Vec<Vec<String>> = texts.iter().map(|text| self.encoder_tokens(text)).collect();
        Ok(Encoder::new(ENCODER)?.encode_mean(&tokens))
    }
}
