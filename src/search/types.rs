//! A query and its answer.

use super::model::Features;
use crate::catalog::Action;

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
    /// True if it has a verb or noun of GitLab's, so that it is never without results.
    pub is_of_gitlab: bool,
    /// The actions that could be meant, each by its number, with its features.
    pub candidates: Vec<(usize, Features)>,
}
