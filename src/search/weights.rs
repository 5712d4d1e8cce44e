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
    /// How alike it means what one of those texts means.
    Sense,
    /// How alike it means what all of them mean together.
    Gist,
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
    /// Destructive, though nothing destructive was asked for.
    Unasked,
}

pub const FEATURES: [(Feature, &str); 19] = [
    (Feature::Words, "words"),
    (Feature::Line, "line"),
    (Feature::Id, "id"),
    (Feature::Near, "near"),
    (Feature::Sense, "sense"),
    (Feature::Gist, "gist"),
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
    (Feature::Unasked, "unasked"),
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
    /// In the order of [`FEATURES`].
    pub features: [f32; FEATURES.len()],
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
    /// The least share of the request that is GitLab's for anything to be meant, and of how many concepts a request
    /// is for which that holds; of a longer one, a smaller share is about GitLab.
    pub meant: f32,
    pub short: f32,
    /// The least score of an answer.
    pub floor: f32,
    /// The least score of what destroys, to stand first; and how near to one of its texts a request says it, whatever
    /// its verb.
    pub harm: f32,
    pub said: f32,
    /// How far the verb asked for may be from its own for it to stand first: `show deleted branches` deletes none.
    pub against: f32,
    /// What the likeness of its text is worth beside an answer's lead, and the least sum of both that is sure.
    pub alike: f32,
    pub sure: f32,
    /// What an answer is less sure for that does another deed than the likeliest.
    pub misdeed: f32,
    /// Of more concepts than these, a request is less sure to be understood.
    pub long: f32,
    /// Actions whose score is at least this share of the best are counted in the total.
    pub counted: f32,
}

const fn place(boost: f32, dilution: f32) -> PlaceWeight {
    PlaceWeight { boost, dilution }
}

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
        0.78, 0.11, 0.07, 0.15, 0.47, 0.51, 0.11, 0.25, 0.18, -0.30, 0.11, 0.07, 0.05, -0.02, 0.07, -0.08,
        -0.13, -0.05, -0.10,
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
    meant: 0.5,
    short: 4.0,
    floor: 0.25,
    harm: 0.9,
    said: 0.5,
    against: 0.9,
    alike: 0.4,
    sure: 0.63,
    misdeed: 0.3,
    long: 7.0,
    counted: 0.6,
};

impl Weights {
    pub fn feature(&self, feature: Feature) -> f32 {
        self.features.get(feature as usize).copied().unwrap_or_default()
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
