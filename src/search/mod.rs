//! Search: ranks actions for a query in words. The steps, in order:
//!
//! 1. `routes` and the catalog: an exact id, alias, REST path, GraphQL field or GitLab page ends the search.
//! 2. `entities`: quotes, names, references, numbers, dates and URLs are masked by typed placeholders.
//! 3. `normalise` of `gitlab_mcp_embed`, `spelling`, `lexicon`, `request`, `segment`: tokens, stems,
//!    spelling corrections, synonyms, and the clauses of a long request.
//! 4. Candidates: the best by `bm25`, and the nearest by the encoder and `embedding`.
//! 5. `features`, `agreement`: features of each candidate, and their sum weighted by `model`.
//! 6. `ranking`: merging of the clauses' best actions, `params`, order by score, probability, confidence.
//!
//! The program names tantivy, strsim and the encoder here alone; the build and the maintainers' program do too.

pub mod action_names;
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
mod similar_paths;
mod spelling;
mod suggest;
mod tokenizer;
mod top;
mod types;

#[cfg(test)]
mod tests;

pub use error::SearchError;
#[cfg(feature = "dev")]
pub use gitlab_mcp_embed::search::indexing::{Vectors, read_vectors};
pub use model::{FEATURES, Feature, Features, Model, ModelError};
pub use nearest::{is_negation, is_one_slip, names_other_thing, nearest, similarity};
pub use ranker::Ranker;
pub use similar_paths::{has_name_like, innermost_folder, similar_paths};
pub use tokenizer::Tokenizer;
pub use types::{Confidence, Hit, Judged, Query, Ranking};

use crate::catalog::Catalog;

impl Ranker {
    /// Computes the features of a query's candidates, whether or not it matches one exactly. Used to fit the model.
    pub fn judge(&self, words: &str) -> Result<Judged, SearchError> {
        ranking::judge(self, words)
    }

    /// How commonly an action is wanted (`catalog/usage.toml`): 0 by machines alone, up to 4 every day.
    pub fn usage(&self, action: usize) -> u8 {
        self.profiles.actions.get(action).map_or(0, |profile| profile.usage)
    }

    /// Ranks the actions for a query, best first. Deterministic.
    pub fn rank(&self, catalog: &Catalog, query: &Query<'_>) -> Result<Ranking, SearchError> {
        ranking::rank(self, catalog, query)
    }
}
