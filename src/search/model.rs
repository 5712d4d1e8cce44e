//! The reranker's model: feature weights and all other parameters of the ranking, from `catalog/learned/ranker.toml`.
//! `cargo dev eval --fit` updates the fitted ones.

use std::collections::BTreeMap;

use gitlab_mcp_embed::search::fields::PLACES;
use serde::Deserialize;

static MODEL: &str = include_str!("../../catalog/learned/ranker.toml");

/// A feature of an action against a query, between -1 and 1. The score is the weighted sum of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Cosine of the query's and the action's embedding.
    Meaning,
    /// BM25 over all fields, as a share of the best action's.
    Words,
    /// Agreement of its best short text (id, summary, phrases, aliases) with a part of the query.
    Text,
    /// Agreement of its verb and kind with the requested verb.
    Verb,
    /// Agreement of its scopes with the requested scope: project, group, instance, current user.
    Scope,
    /// Usage prior from curation.
    Usage,
}

/// Every feature with its name in `ranker.toml`.
pub const FEATURES: [(Feature, &str); 6] = [
    (Feature::Meaning, "meaning"),
    (Feature::Words, "words"),
    (Feature::Text, "text"),
    (Feature::Verb, "verb"),
    (Feature::Scope, "scope"),
    (Feature::Usage, "usage"),
];

/// The features of one action, in the order of [`FEATURES`].
pub type Features = [f32; FEATURES.len()];

/// All parameters of the ranking.
#[derive(Clone, Debug)]
pub struct Model {
    pub softmax: Softmax,
    /// Weights for short queries and for long ones; interpolated in between.
    pub weights: [Features; 2],
    /// Weights of the fields, in the order of [`PLACES`].
    pub fields: [f32; PLACES.len()],
    pub concepts: ConceptWeights,
    pub clauses: ClauseWeights,
    pub limits: Limits,
}

/// Calibration: from scores to probabilities.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Softmax {
    /// Softmax temperature: a score difference at which one action is e times as likely as the other.
    pub temperature: f32,
    /// Minimum probability of the first hit for high confidence.
    pub high: f32,
}

/// Weights of a query concept's words, relative to a concept in the query's head.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConceptWeights {
    /// In the object's fields, for a concept outside the head.
    pub beside: f32,
    /// An unknown concept, in idf.
    pub unknown: f32,
    /// The id verbs that a verb may mean.
    pub verb_meaning: f32,
    /// Decay from the best of those to the next, when texts are compared.
    pub verb_order: f32,
    /// Maximum weight of a verb, in idf.
    pub verb_idf: f32,
    /// A corrected word.
    pub corrected: f32,
    /// The noun of an entity: `!45`.
    pub entity: f32,
    /// Words in brackets, and in later sentences without a request.
    pub background: f32,
    /// Common words unrelated to GitLab.
    pub ordinary: f32,
    /// Words that only describe the object: `with labels`.
    pub attribute: f32,
}

/// Merging the results of clauses.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClauseWeights {
    /// Weight of a clause's best action relative to the whole query's.
    pub worth: f32,
    /// Minimum share of the best score for the first clause's best action to be ranked first.
    pub leads: f32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Number of candidates by BM25, and by the embedding.
    pub by_words: usize,
    pub by_meaning: usize,
    /// Minimum margin of the best action's cosine over the best out-of-domain topic's, for a query without a GitLab
    /// verb or noun.
    pub margin: f32,
    /// Bonus of an action with a rare parameter or parameter value that the query names.
    pub param: f32,
    /// Minimum share of the best score for a result to count in the total.
    pub counted: f32,
    /// Maximum number of words of a short query, and minimum of a long one.
    pub short: f32,
    pub long: f32,
}

/// Error of loading the model.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("ranker.toml: {0}")]
    Toml(#[from] toml::de::Error),
    #[error("ranker.toml: {table} lacks {name}")]
    Missing { table: &'static str, name: &'static str },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelFile {
    softmax: Softmax,
    short: BTreeMap<String, f32>,
    long: BTreeMap<String, f32>,
    fields: BTreeMap<String, f32>,
    concepts: ConceptWeights,
    clauses: ClauseWeights,
    limits: Limits,
}

impl Model {
    /// The embedded model.
    pub fn embedded() -> Result<Model, ModelError> {
        Model::parse(MODEL)
    }

    /// Parses `ranker.toml`.
    pub fn parse(text: &str) -> Result<Model, ModelError> {
        let ModelFile { softmax, short, long, fields, concepts, clauses, limits } = toml::from_str(text)?;
        let features = FEATURES.map(|(_, name)| name);
        Ok(Model {
            softmax,
            weights: [row("short", &short, features)?, row("long", &long, features)?],
            fields: row("fields", &fields, PLACES.map(|(_, name)| name))?,
            concepts,
            clauses,
            limits,
        })
    }

    /// Relative length of a query: from 0 for short to 1 for long.
    pub fn length(&self, words: usize) -> f32 {
        let Limits { short, long, .. } = self.limits;
        ((words as f32 - short) / (long - short)).clamp(0.0, 1.0)
    }

    /// Feature weights for a query of that [`Model::length`].
    pub fn weights_of(&self, length: f32) -> Features {
        let [short, long] = &self.weights;
        let mut weights = *short;
        weights.iter_mut().zip(long).for_each(|(weight, long)| *weight += length * (long - *weight));
        weights
    }
}

fn row<const N: usize>(
    table: &'static str,
    values: &BTreeMap<String, f32>,
    names: [&'static str; N],
) -> Result<[f32; N], ModelError> {
    let mut row = [0.0; N];
    for (value, name) in row.iter_mut().zip(names) {
        *value = *values.get(name).ok_or(ModelError::Missing { table, name })?;
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::{FEATURES, MODEL, Model, ModelError};

    #[test]
    fn a_feature_without_a_weight_is_an_error() {
        let text = MODEL.replacen("meaning =", "meaningless =", 1);
        assert!(matches!(Model::parse(&text), Err(ModelError::Missing { name: "meaning", .. })));
    }

    #[test]
    fn weights_lie_between_those_of_short_and_long_queries() {
        let model = Model::embedded().unwrap();
        let [short, long] = model.weights;
        let [of_short, of_long] = [1, 40].map(|words| model.weights_of(model.length(words)));
        let middle = model.weights_of(0.5);
        for at in 0..FEATURES.len() {
            assert!((of_short[at] - short[at]).abs() < 1e-6 && (of_long[at] - long[at]).abs() < 1e-6);
            assert!((middle[at] - (short[at] + long[at]) / 2.0).abs() < 1e-6);
        }
    }
}
