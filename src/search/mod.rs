//! Words to ranked actions. A request goes through the steps in this order:
//!
//! 1. [`routes`] and the catalog: an exact id, alias, REST path or page of GitLab ends the search.
//! 2. [`mentions`]: what the request names is taken out; its kind stays as a hint.
//! 3. [`normalise`], [`guess`]: words to stems, misspelt ones to the nearest known.
//! 4. [`lexicon`], [`request`], [`segment`]: phrases, synonyms, the verb, the object, where; clauses and windows.
//! 5. [`evidence`]: BM25F over the places of the index.
//! 6. [`score`], [`intent`], [`senses`], [`units`], [`direction`], [`meant`], [`deeds`]: the features of the best by
//!    evidence and meaning, weighed by [`weights`].
//! 7. [`params`]: actions that have a parameter or a value that is named.
//! 8. [`ranking`]: windows joined, order by score, confidence.
//!
//! The only place that names tantivy, strsim and wide. Depends on the catalog alone.

mod deeds;
mod direction;
mod directory;
mod evidence;
mod fields;
mod guess;
mod intent;
mod lexicon;
mod meant;
mod mentions;
mod nearest;
mod normalise;
mod packed;
mod params;
mod profile;
mod ranking;
mod request;
mod routes;
mod said;
mod score;
mod segment;
mod senses;
mod suggest;
mod top;
mod units;
mod weights;

#[cfg(test)]
mod tests;

use crate::catalog::{Action, Catalog, CatalogError};

use deeds::Deeds;
use evidence::InvertedIndex;
pub use fields::PLACES;
use lexicon::Lexicon;
pub use nearest::nearest;
use profile::Profiles;
pub use score::Features;
use senses::Senses;
use units::Units;
pub use weights::{FEATURES, Feature, PlaceWeight, TEMPERATURE, WEIGHTS, Weights};

static PROFILES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/search_profiles.bin"));
static DEEDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/search_deeds.bin"));
static SENSES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/search_senses.bin"));

/// Why a search could not be made. None of them is the request's fault.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error("the embedded index cannot be read")]
    Embedded(#[source] postcard::Error),
    #[error("the embedded index is empty")]
    Empty,
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
    /// What the confidence goes by: how likely the best is the one meant, of all that could be. 0 where the request
    /// leaves room for doubt.
    pub certainty: f32,
    /// How many actions the request could mean, those beyond the limit among them.
    pub total: usize,
    /// Best first.
    pub hits: Vec<Hit>,
    /// The ids of what would have stood among the hits, were it allowed.
    pub withheld: Vec<String>,
    /// The ids of the actions that it takes, in order, where it takes several.
    pub steps: Vec<String>,
    /// Where nothing matched: what could be asked instead.
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
    /// The actions that could be meant, each by its number, with its features.
    pub candidates: Vec<(usize, Features)>,
}

/// The finder, opened once and shared.
pub struct Ranker {
    index: InvertedIndex,
    profiles: Profiles<'static>,
    senses: Senses<'static>,
    units: Units,
    deeds: Deeds<'static>,
    lexicon: Lexicon,
    weights: Weights,
}

impl std::fmt::Debug for Ranker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ranker").field("actions", &self.index.len()).finish_non_exhaustive()
    }
}

impl Ranker {
    /// Opens the embedded index.
    pub fn open(catalog: &Catalog) -> Result<Ranker, SearchError> {
        Ranker::open_with(catalog, WEIGHTS)
    }

    /// The same with other weights, to measure them.
    pub fn open_with(catalog: &Catalog, weights: Weights) -> Result<Ranker, SearchError> {
        let profiles: Profiles<'static> = postcard::from_bytes(PROFILES).map_err(SearchError::Embedded)?;
        let senses: Senses<'static> = postcard::from_bytes(SENSES).map_err(SearchError::Embedded)?;
        let deeds: Deeds<'static> = postcard::from_bytes(DEEDS).map_err(SearchError::Embedded)?;
        let lexicon = Lexicon::new(catalog.words()?, &profiles);
        let (index, units) = (InvertedIndex::open(&profiles)?, Units::new(&senses));
        Ok(Ranker { index, profiles, senses, units, deeds, lexicon, weights })
    }

    /// What is known of the actions that a request could mean, whether or not it names one outright. What a fit of the
    /// weights goes by.
    pub fn judge(&self, words: &str) -> Result<Judged, SearchError> {
        ranking::judge(self, words)
    }

    /// The stems of a text in order, and the kinds of what it names: what the senses and deeds are learnt by.
    pub fn stems(&self, text: &str) -> Vec<String> {
        ranking::stems(self, text)
    }

    /// The actions that a query could mean, best first. The same query gives the same answer, always.
    pub fn rank(&self, catalog: &Catalog, query: &Query<'_>) -> Result<Ranking, SearchError> {
        ranking::rank(self, catalog, query)
    }
}
