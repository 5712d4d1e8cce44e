//! Queries and their results.

use super::model::Features;
use crate::catalog::Action;

/// A search request.
pub struct Query<'q> {
    /// Words, an id, a REST path or a URL of GitLab.
    pub words: &'q str,
    pub limit: usize,
    /// Only actions of this domain.
    pub domain: Option<&'q str>,
    /// Only actions for which this holds.
    pub allow: &'q dyn Fn(&Action) -> bool,
    /// Explain the ranking, one line per step.
    pub explain: bool,
}

/// Confidence in the first hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confidence {
    High,
    Low,
    /// The request matches nothing in the catalog.
    #[default]
    None,
}

/// Result of a query.
#[derive(Debug, Default)]
pub struct Ranking {
    pub confidence: Confidence,
    /// Probability of the first hit, which determines the confidence; 0 if a word was corrected, the query names no
    /// object, or has several intents.
    pub certainty: f32,
    /// Number of matching actions, including those beyond the limit.
    pub total: usize,
    /// Best first.
    pub hits: Vec<Hit>,
    /// Ids of actions that would be among the hits but are not allowed.
    pub withheld: Vec<String>,
    /// Ids of the actions needed, in order, if the request needs several.
    pub steps: Vec<String>,
    /// Ids of actions to suggest if there are no hits.
    pub suggestions: Vec<String>,
}

/// A matching action.
#[derive(Debug)]
pub struct Hit {
    /// The action's number in the catalog.
    pub number: usize,
    pub action: Action,
    /// Score: about 1 for a good match; comparable only within one ranking.
    pub score: f32,
    /// Explanation, one line per step, if requested.
    pub explain: Vec<String>,
}

/// Features of a request's candidates, for fitting the model.
#[derive(Debug)]
pub struct Judged {
    /// Relative length: from 0 for a short request to 1 for a long one.
    pub length: f32,
    /// Margin of the best action's cosine over the best out-of-domain topic's.
    pub margin: f32,
    /// True if it has a GitLab verb or noun, so that it always has results.
    pub is_of_gitlab: bool,
    /// The candidates: action number and features.
    pub candidates: Vec<(usize, Features)>,
}
