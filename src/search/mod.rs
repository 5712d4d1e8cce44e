//! Search: a query in words to ranked actions. The steps, in this order:
//!
//! 1. [`routes`] and the catalog: an exact id, alias, REST path, GraphQL field or page of GitLab ends the search.
//! 2. [`entities`]: quotes, names, references, numbers, dates and URLs are masked by typed placeholders.
//! 3. `normalise` of `gitlab_mcp_embed`, [`spelling`], [`lexicon`], [`request`], [`segment`]: tokens, stems,
//!    corrections, synonyms; the verb, the object, the scope; clauses.
//! 4. Candidates: the best by [`bm25`], and the nearest by the encoder and [`embedding`].
//! 5. [`features`], [`agreement`]: a few features of each candidate, and their sum weighted by [`model`].
//! 6. [`ranking`]: the clauses' best actions joined, [`params`], order by score, probability, confidence.
//!
//! The only place that names tantivy, strsim and the encoder. Depends on the catalog alone.

mod agreement;
mod bm25;
mod directory;
mod embedded;
mod embedding;
mod entities;
mod error;
mod features;
mod lexicon;
mod model;
mod nearest;
mod params;
mod ranker;
mod ranking;
mod request;
mod routes;
mod segment;
mod spelling;
mod suggest;
mod tokenizer;
mod top;
mod types;

#[cfg(test)]
mod tests;

pub use error::SearchError;
pub use model::{FEATURES, Feature, Features, Model, ModelError};
pub use nearest::{nearest, similarity};
pub use ranker::Ranker;
pub use tokenizer::Tokenizer;
pub use types::{Confidence, Hit, Judged, Query, Ranking};

use crate::catalog::Catalog;

impl Ranker {
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
