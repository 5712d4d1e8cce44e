//! Features of the candidates for a query or clause, and their weighted sum.

use std::cmp::Ordering;

use gitlab_mcp_embed::search::profile::{Profile, Profiles, WordId};
use gitlab_mcp_encoder::Encoder;

use super::agreement;
use super::bm25::LexicalIndex;
use super::embedding::{Embeddings, Similarities};
use super::error::SearchError;
use super::model::{FEATURES, Feature, Features, Model};
use super::request::{Concept, ParsedRequest};
use super::segment::Segment;

/// A candidate with its score and features.
#[derive(Clone, Copy, Debug)]
pub struct Scored {
    pub action: usize,
    pub score: f32,
    pub features: Features,
    /// Its probability among the candidates.
    pub probability: f32,
}

impl Scored {
    /// Replaces the score.
    pub fn with(self, score: f32) -> Scored {
        Scored { score, ..self }
    }
}

/// The candidates of a query or clause, best first, and the out-of-domain margin.
pub struct Candidates {
    pub scored: Vec<Scored>,
    pub margin: f32,
}

/// Factor by the number of query concepts that a text agrees with: a single word says little.
const AGREED: [f32; 5] = [0.0, 0.0, 0.6, 0.9, 1.0];

/// The data for scoring a query.
pub struct Scorer<'a> {
    pub profiles: &'a Profiles<'a>,
    pub encoder: &'a Encoder<'a>,
    pub embeddings: &'a Embeddings<'a>,
    pub index: &'a LexicalIndex,
    pub model: &'a Model,
    pub request: &'a ParsedRequest,
}

/// Lexical and semantic signals of a segment.
pub struct Signals {
    similarities: Similarities,
    /// BM25 scores of the best actions.
    lexical: Vec<(usize, f32)>,
    /// For each word of the vocabulary, its position in `words` plus one; 0 if the segment does not have it.
    positions: Vec<u8>,
    /// The concept that has a word, and what it is worth.
    words: Vec<(usize, f32)>,
    /// Maximum contribution of each concept of the segment, in idf.
    masses: Vec<(usize, f32)>,
    weights: Features,
}

impl Scorer<'_> {
    /// Computes the signals of the whole query and of each clause. The encoder runs once for all of them.
    pub fn signals(
        &self,
        whole: &Segment,
        clauses: &[Segment],
    ) -> Result<(Signals, Vec<Signals>), SearchError> {
        let segments = std::iter::once(whole).chain(clauses);
        let tokens: Vec<Vec<String>> = segments.map(|segment| self.request.tokens(segment)).collect();
        let mut encoded = tokens.iter().map(Vec::len).zip(self.encoder.encode(&tokens));
        let mut next = |segment| {
            let (length, vector) = encoded.next().unwrap_or_default();
            self.signals_of(segment, length, &vector)
        };
        Ok((next(whole)?, clauses.iter().map(next).collect::<Result<_, _>>()?))
    }

    /// Ranks the candidates for a segment, best first; ties in the order of their ids.
    pub fn rank(&self, segment: &Segment, signals: &Signals) -> Candidates {
        let mut actions = signals.similarities.nearest(self.model.limits.by_meaning);
        actions.extend(signals.lexical.iter().map(|(action, _)| *action));
        actions.sort_unstable();
        actions.dedup();
        let mut scored = self.of_actions(segment, signals, &actions);
        sort(&mut scored);
        self.set_probabilities(&mut scored);
        Candidates { scored, margin: signals.similarities.margin() }
    }

    /// Scores given actions for a segment, even if they are not among its candidates.
    pub fn of_actions(&self, segment: &Segment, signals: &Signals, actions: &[usize]) -> Vec<Scored> {
        actions.iter().filter_map(|action| self.scored(*action, segment, signals)).collect()
    }

    fn set_probabilities(&self, scored: &mut [Scored]) {
        let best = scored.first().map_or(0.0, |best| best.score);
        let odds = |one: &Scored| ((one.score - best) / self.model.softmax.temperature).exp();
        let all: f32 = scored.iter().map(odds).sum();
        scored.iter_mut().for_each(|one| one.probability = odds(one) / all.max(f32::MIN_POSITIVE));
    }

    fn signals_of(&self, segment: &Segment, length: usize, vector: &[f32]) -> Result<Signals, SearchError> {
        let vocabulary = &self.profiles.vocabulary;
        let mut signals = Signals {
            similarities: self.embeddings.compare(vector),
            lexical: self.index.search(self.request, segment, vocabulary, self.model)?,
            positions: vec![0; vocabulary.word_count()],
            words: Vec::new(),
            masses: Vec::new(),
            weights: self.model.weights_of(self.model.length(length)),
        };
        for at in &segment.concepts {
            let Some(concept) = self.request.concepts.get(*at) else { continue };
            signals.masses.push((*at, self.mass(concept)));
            for meaning in &concept.meanings {
                for word in &meaning.words {
                    signals.note(*word, *at, meaning.likeness);
                }
            }
        }
        Ok(signals)
    }

    /// Maximum contribution of a concept, in idf.
    fn mass(&self, concept: &Concept) -> f32 {
        let of = |words: &[WordId]| words.iter().map(|word| self.idf(*word)).sum::<f32>();
        let masses = concept.meanings.iter().map(|meaning| of(&meaning.words) * meaning.weight);
        masses.reduce(f32::max).unwrap_or(self.model.concepts.unknown)
    }

    fn scored(&self, action: usize, segment: &Segment, signals: &Signals) -> Option<Scored> {
        let profile = self.profiles.actions.get(action)?;
        let mut features = Features::default();
        for (value, (feature, _)) in features.iter_mut().zip(FEATURES) {
            *value = self.feature(feature, action, profile, segment, signals);
        }
        let score = features.iter().zip(&signals.weights).map(|(value, weight)| value * weight).sum();
        Some(Scored { action, score, features, probability: 0.0 })
    }

    fn feature(
        &self,
        feature: Feature,
        action: usize,
        profile: &Profile,
        segment: &Segment,
        signals: &Signals,
    ) -> f32 {
        let asked = segment.asked.as_ref();
        match feature {
            Feature::Meaning => signals.similarities.cosine(action),
            Feature::Words => signals.lexical_share(action),
            Feature::Text => self.text(action, signals),
            Feature::Verb => agreement::verb(asked, &segment.states, profile),
            Feature::Scope => agreement::scope(self.request.scopes, profile),
            Feature::Usage => profile.usage(),
        }
    }

    fn idf(&self, word: WordId) -> f32 {
        self.profiles.vocabulary.idf(word)
    }

    /// Agreement of an action's best short text with the part of the segment that it covers: the harmonic mean of both
    /// shares by idf, increasing with the number of concepts that agree.
    fn text(&self, action: usize, signals: &Signals) -> f32 {
        let texts = self.profiles.lines.get(action).copied().unwrap_or_default();
        texts.iter().map(|text| self.text_agreement(text, signals)).fold(0.0, f32::max)
    }

    fn text_agreement(&self, text: impl Iterator<Item = WordId>, signals: &Signals) -> f32 {
        let (mut all, mut covered, mut concepts) = (0.0, 0.0, 0_u64);
        for word in text {
            let idf = self.idf(word);
            all += idf;
            if let Some((concept, weight)) = signals.word(word) {
                covered += idf * weight;
                concepts |= 1 << concept.min(63);
            }
        }
        let agreed = concepts.count_ones() as usize;
        let worth = AGREED.get(agreed).or(AGREED.last()).copied().unwrap_or_default();
        if worth == 0.0 {
            return 0.0;
        }
        let stretch = concepts.trailing_zeros() as usize..=63 - concepts.leading_zeros() as usize;
        let within = signals.masses.iter().filter(|(at, _)| stretch.contains(at));
        let (mut of_stretch, mut of_text) = (0.0, 0.0);
        for (at, mass) in within {
            of_stretch += mass;
            of_text += if concepts & (1 << (*at).min(63)) != 0 { *mass } else { 0.0 };
        }
        worth * harmonic(covered / f32::max(all, 1.0), of_text / f32::max(of_stretch, 1.0))
    }
}

impl Signals {
    fn note(&mut self, word: WordId, concept: usize, weight: f32) {
        let Some(position) = self.positions.get_mut(usize::from(word)) else { return };
        match usize::from(*position).checked_sub(1).and_then(|at| self.words.get_mut(at)) {
            Some(known) if known.1 >= weight => {}
            Some(known) => *known = (concept, weight),
            None => {
                if let Ok(next) = u8::try_from(self.words.len() + 1) {
                    *position = next;
                    self.words.push((concept, weight));
                }
            }
        }
    }

    /// The concept that has a word, and what it is worth.
    fn word(&self, word: WordId) -> Option<(usize, f32)> {
        let position = usize::from(*self.positions.get(usize::from(word))?);
        self.words.get(position.checked_sub(1)?).copied()
    }

    /// BM25 score of an action as a share of the best.
    fn lexical_share(&self, action: usize) -> f32 {
        let best = self.lexical.first().map_or(0.0, |(_, score)| *score);
        let score = self.lexical.iter().find(|(known, _)| *known == action).map_or(0.0, |(_, score)| *score);
        if best > 0.0 { score / best } else { 0.0 }
    }
}

/// Sorts candidates best first; ties in the order of their ids.
pub fn sort(scored: &mut [Scored]) {
    scored.sort_unstable_by(better);
}

fn better(one: &Scored, other: &Scored) -> Ordering {
    other.score.total_cmp(&one.score).then(one.action.cmp(&other.action))
}

fn harmonic(one: f32, other: f32) -> f32 {
    if one + other > 0.0 { 2.0 * one * other / (one + other) } else { 0.0 }
}
