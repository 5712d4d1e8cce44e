//! Every number the ranking rests on, in one table. Changed only with `gitlab-mcp eval` beside it.

use super::fields::PLACES;
use super::profile::Kind;

/// What is known of an action against a request. Each lies between -1 and 1; the score is their weighted sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// BM25 over all places, as a share of what the request could reach.
    Words,
    /// How nearly one of its summary, phrases, aliases or its id is the request.
    Line,
    /// How nearly its id is the request.
    Id,
    /// How nearly one of those texts is what a stretch of the request says, whatever stands around it.
    Near,
    /// How alike the request means what people ask it for with.
    Sense,
    /// How far it is behind the action that is most alike: 0 for that one, down to -1.
    Behind,
    /// The verb asked for against its verb, method and risk.
    Verb,
    /// Its deed against those that all words of the request ask for: 0 for the likeliest, down to -1.
    Deed,
    /// A change, where the request wishes for one and says no verb that is known.
    Change,
    /// A question, which wants nothing changed.
    Question,
    /// Several or one.
    Number,
    /// The object of the request is its object.
    Object,
    /// A noun of its domain is said, wherever that may be.
    Noun,
    /// The words of its id that the request lacks, as a share.
    Missing,
    /// Project, group, instance or the user's own.
    Scope,
    /// A machine's protocol that was not named.
    Machine,
    /// GraphQL's alone: finer than what most requests mean.
    Graphql,
    Deprecated,
}

pub const FEATURES: [(Feature, &str); 18] = [
    (Feature::Words, "words"),
    (Feature::Line, "line"),
    (Feature::Id, "id"),
    (Feature::Near, "near"),
    (Feature::Sense, "sense"),
    (Feature::Behind, "behind"),
    (Feature::Verb, "verb"),
    (Feature::Deed, "deed"),
    (Feature::Change, "change"),
    (Feature::Question, "question"),
    (Feature::Number, "number"),
    (Feature::Object, "object"),
    (Feature::Noun, "noun"),
    (Feature::Missing, "missing"),
    (Feature::Scope, "scope"),
    (Feature::Machine, "machine"),
    (Feature::Graphql, "graphql"),
    (Feature::Deprecated, "deprecated"),
];

/// What a word in a place is worth, and how much a longer text dilutes it.
#[derive(Clone, Copy, Debug)]
pub struct PlaceWeight {
    pub boost: f32,
    pub dilution: f32,
}

#[derive(Clone, Debug)]
pub struct Weights {
    /// In the order of [`PLACES`].
    pub places: [PlaceWeight; PLACES.len()],
    /// BM25's k1: how soon more of the same word stops counting.
    pub saturation: f32,
    /// Those of a request of few words, which says what it means, and of one of many, most of which tell a story; each in
    /// the order of [`FEATURES`]. What is between is weighed by both.
    pub features: [[f32; FEATURES.len()]; 2],
    /// What a word outside the head of the request is worth beside one within.
    pub beside: f32,
    /// What a word that the index does not know takes from the share that can be reached, in idf.
    pub unknown: f32,
    /// What the meanings of a verb are worth as words.
    pub verb_meaning: f32,
    /// How fast a verb's meanings are worth less, from the best on, when texts are compared.
    pub verb_order: f32,
    /// The most that a verb tells as a word, in idf.
    pub verb_idf: f32,
    /// What a word guessed from a misspelt one is worth.
    pub guess: f32,
    /// What the kind of a mentioned thing (`!45`) is worth as a word.
    pub mention: f32,
    /// What words in brackets, and in sentences after the first that ask for nothing, are worth.
    pub background: f32,
    /// What words are worth that people use for anything.
    pub ordinary: f32,
    /// What words are worth that only describe the object.
    pub attribute: f32,
    /// What the winner of a window is worth beside one of the whole request.
    pub window: f32,
    /// From which share of the best score on the winner of the first of several clauses comes first.
    pub leads: f32,
    /// A request is GitLab's where it is so much more alike to an action than to what has nothing to do with GitLab.
    pub apart: f32,
    /// So much less where an action has all its words, and where it has so many words as a story, which is seldom told
    /// of other things.
    pub known: f32,
    pub told: f32,
    pub story: f32,
    /// And so much more where nobody knows any of its words.
    pub strange: f32,
    /// The least score of an answer.
    pub floor: f32,
    /// What it adds to an action's score that it has a parameter, or a value of one, that is named and few have.
    pub param: f32,
    /// The least score of a suggestion.
    pub near: f32,
    /// What it adds to the certainty of the first answer that its verb and its meaning are what was asked for, and that
    /// its score is high.
    pub agreed: f32,
    pub plain: f32,
    /// How far the next answer has to be behind one whose id is what was asked for.
    pub margin: f32,
    /// How certain an answer has to be that is sure.
    pub sure: f32,
    /// Actions whose score is at least this share of the best are counted in the total.
    pub counted: f32,
}

const fn place(boost: f32, dilution: f32) -> PlaceWeight {
    PlaceWeight { boost, dilution }
}

/// Scores so far apart are e times as likely: the features' weights are fitted to that.
pub const TEMPERATURE: f32 = 0.08;

pub const WEIGHTS: Weights = Weights {
    places: [
        place(3.0, 0.4), // id
        place(3.5, 0.3), // object
        place(2.0, 0.5), // summary
        place(2.0, 0.5), // phrases
        place(1.0, 0.5), // aliases
        place(2.0, 0.5), // nouns
        place(1.5, 0.6), // path
        place(0.7, 0.7), // params
        place(0.3, 0.7), // choices
    ],
    saturation: 1.5,
    features: [
        [
            0.248, 0.120, 0.099, 0.230, 0.291, 0.381, 0.094, 0.197, 0.027, -0.036, 0.157, 0.111, 0.022,
            -0.003, 0.063, -0.080, -0.083, -0.024,
        ],
        [
            0.166, 0.029, 0.032, 0.078, 0.481, 0.605, 0.019, 0.225, 0.038, 0.017, 0.030, 0.032, 0.020, 0.003,
            0.031, -0.080, -0.016, -0.024,
        ],
    ],
    beside: 0.7,
    unknown: 2.0,
    verb_meaning: 0.5,
    verb_order: 0.25,
    verb_idf: 2.5,
    guess: 0.8,
    mention: 0.6,
    background: 0.4,
    ordinary: 0.6,
    attribute: 0.6,
    window: 0.8,
    leads: 0.9,
    apart: 0.6,
    known: 0.45,
    told: 0.45,
    story: 10.0,
    strange: 0.45,
    floor: -0.3,
    param: 0.6,
    near: 0.25,
    agreed: 0.1,
    plain: 0.1,
    margin: 0.1,
    sure: 0.95,
    counted: 0.6,
};

/// Few words, and many.
const FEW: f32 = 3.0;
const MANY: f32 = 11.0;

/// How long a request of so many words is: 0 for few, 1 for many.
pub fn length(words: usize) -> f32 {
    ((words as f32 - FEW) / (MANY - FEW)).clamp(0.0, 1.0)
}

impl Weights {
    /// The features' weights for a request of that [`length`].
    pub fn of_length(&self, length: f32) -> [f32; FEATURES.len()] {
        let [few, many] = &self.features;
        let mut weights = *few;
        weights.iter_mut().zip(many).for_each(|(weight, many)| *weight += length * (many - *weight));
        weights
    }
}

/// How well an action's kind (down) answers what was asked for (across): list, get, create, update, delete, act.
const AGREEMENT: [[f32; 6]; 6] = [
    [0.7, 0.5, -0.9, -0.9, -0.9, -0.9],
    [0.5, 0.7, -0.9, -0.9, -0.9, -0.7],
    [-0.9, -0.9, 0.7, -0.4, -0.9, -0.2],
    [-0.9, -0.9, -0.3, 0.7, -0.7, 0.0],
    [-1.0, -1.0, -1.0, -0.8, 0.7, -0.5],
    [-0.8, -0.8, 0.0, 0.0, -0.3, -0.2],
];

/// How well an action's kind answers a request without a verb.
const UNASKED: [f32; 6] = [0.3, 0.25, -0.5, -0.5, -0.7, -0.4];

/// How well an action of a kind answers a request for another.
pub fn agreement(asked: Option<Kind>, kind: Kind) -> f32 {
    let found = match asked {
        Some(asked) => AGREEMENT.get(kind as usize).and_then(|row| row.get(asked as usize)),
        None => UNASKED.get(kind as usize),
    };
    found.copied().unwrap_or_default()
}
