//! The reranker's model: the weights of its features and every other number that ranking rests on, from
//! `catalog/learned/ranker.toml`. `cargo dev eval --fit` writes what a fit sets.

use std::collections::BTreeMap;

use gitlab_mcp_embed::search::fields::PLACES;
use serde::Deserialize;

static MODEL: &str = include_str!("../../catalog/learned/ranker.toml");

/// A feature of an action against a query, between -1 and 1. The score is the weighted sum of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The cosine of the query's embedding and the action's.
    Meaning,
    /// BM25 over all fields, as a share of the best action's.
    Words,
    /// Agreement of the nearest of its short texts (id, summary, phrases, aliases) with a stretch of the query.
    Text,
    /// Agreement of its verb, and of what it does, with the verb asked for.
    Verb,
    /// Agreement of its scopes with the scope asked for: project, group, instance, the user's own.
    Scope,
    /// How commonly it is wanted: a prior from curation.
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

/// All numbers of the ranking.
#[derive(Clone, Debug)]
pub struct Model {
    pub softmax: Softmax,
    /// The weights for a query of few words, and for one of many; what is between is weighed by both.
    pub weights: [Features; 2],
    /// What a word in each field is worth, in the order of [`PLACES`].
    pub fields: [f32; PLACES.len()],
    pub concepts: ConceptWeights,
    pub clauses: ClauseWeights,
    pub limits: Limits,
}

/// From scores to probabilities.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Softmax {
    /// Scores so far apart are e times as likely.
    pub temperature: f32,
    /// The least probability of a first answer of high confidence.
    pub high: f32,
}

/// What a concept of the query is worth as a word, beside one in the head of the query.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConceptWeights {
    /// In the fields that name the object, where the concept stands outside the head.
    pub beside: f32,
    /// A concept that nothing is known of, in idf.
    pub unknown: f32,
    /// The verbs of ids that a verb may mean.
    pub verb_meaning: f32,
    /// How fast those are worth less, from the best on, when texts are compared.
    pub verb_order: f32,
    /// The most that a verb is worth, in idf.
    pub verb_idf: f32,
    /// A corrected word.
    pub corrected: f32,
    /// A fuzzy match of an unknown word.
    pub fuzzy: f32,
    /// The noun of an entity: `!45`.
    pub entity: f32,
    /// Words in brackets, and in sentences after the first that ask for nothing.
    pub background: f32,
    /// Words that people use for anything.
    pub ordinary: f32,
    /// Words that only describe the object: `with labels`.
    pub attribute: f32,
}

/// How the clauses of a query join.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClauseWeights {
    /// What the best action of a clause is worth beside one of the whole query.
    pub worth: f32,
    /// From which share of the best score on the best action of the first clause comes first.
    pub leads: f32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Candidates by BM25, and by the embedding.
    pub by_words: usize,
    pub by_meaning: usize,
    /// The least margin of the best action's cosine over the best out-of-domain topic's, for a query without a verb or
    /// noun of GitLab's.
    pub margin: f32,
    /// What an action's score gains that has a parameter, or a value of one, that the query names and few have.
    pub param: f32,
    /// Results that score less than this share of the best do not count in the total.
    pub counted: f32,
    /// Up to so many words a query is short, from so many on it is long.
    pub short: f32,
    pub long: f32,
}

/// Why the model cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("ranker.toml: {0}")]
    Toml(#[from] toml::de::Error),
    #[error("ranker.toml: {table} lacks {name}")]
    Missing { table: &'static str, name: &'static str },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    softmax: Softmax,
    short: BTreeMap<String, f32>,
    long: BTreeMap<String, f32>,
    fields: BTreeMap<String, f32>,
    concepts: ConceptWeights,
    clauses: ClauseWeights,
    limits: Limits,
}

impl Model {
    /// The model in the binary.
    pub fn embedded() -> Result<Model, ModelError> {
        Model::parse(MODEL)
    }

    /// Reads `ranker.toml`.
    pub fn parse(text: &str) -> Result<Model, ModelError> {
        let File { softmax, short, long, fields, concepts, clauses, limits } = toml::from_str(text)?;
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

    /// From 0 for a query of few words to 1 for one of many.
    pub fn length(&self, words: usize) -> f32 {
        let Limits { short, long, .. } = self.limits;
        ((words as f32 - short) / (long - short)).clamp(0.0, 1.0)
    }

    /// The features' weights for a query of that [`Model::length`].
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
