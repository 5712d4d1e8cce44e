//! From evidence to a score: the features of an action against a request or a window of it, and their sum.

use std::cmp::Ordering;

use super::deeds::Deeds;
use super::evidence::{Evidence, InvertedIndex};
use super::intent;
use super::lexicon::Lexicon;
use super::meant::Meant;
use super::profile::{DomainProfile, Kind, Profile, Profiles, WordId};
use super::request::{Concept, Request};
use super::said::{Matched, Said};
use super::segment::Segment;
use super::senses::Senses;
use super::top::top;
use super::weights::{FEATURES, Feature, TEMPERATURE, Weights};

/// The features of one action, in the order of [`FEATURES`].
pub type Features = [f32; FEATURES.len()];

/// An action's number with its score and what it is made of.
#[derive(Clone, Copy, Debug)]
pub struct Scored {
    pub action: usize,
    pub score: f32,
    pub features: Features,
    /// How likely it is the one meant, of all that could be.
    pub chance: f32,
}

impl Scored {
    pub fn feature(&self, feature: Feature) -> f32 {
        self.features.get(feature as usize).copied().unwrap_or_default()
    }

    /// The same with another score.
    pub fn with(self, score: f32) -> Scored {
        Scored { score, ..self }
    }
}

/// How many actions are looked at closely: those that the words speak for most, and those that are most alike.
#[derive(Clone, Copy)]
struct Reach {
    words: usize,
    alike: usize,
}

/// For a request, or a clause of it.
const WIDE: Reach = Reach { words: 40, alike: 24 };
/// For a window, of which the best alone is wanted.
const NARROW: Reach = Reach { words: 32, alike: 0 };

/// How much less alike than the best an action is that is as far behind as can be.
const FAR: f32 = 0.5;

/// An action that may be meant.
#[derive(Clone, Copy)]
struct Candidate {
    action: usize,
    /// Its evidence, as a share of what could be.
    words: f32,
    /// How alike it is, and by how much less than the best.
    alike: f32,
    behind: f32,
}

/// What a text that comes near is worth by how many concepts of the request agree: one word says little.
const AGREED: [f32; 5] = [0.0, 0.0, 0.6, 0.9, 1.0];

/// All that scoring one request needs.
pub struct Scorer<'a> {
    pub profiles: &'a Profiles<'a>,
    pub senses: &'a Senses<'a>,
    pub deeds: &'a Deeds<'a>,
    pub lexicon: &'a Lexicon,
    pub weights: &'a Weights,
    pub index: &'a InvertedIndex,
    pub request: &'a Request,
    pub evidence: &'a [Evidence],
}

impl Scorer<'_> {
    /// The actions that answer a segment, best first; equal ones in the order of their ids.
    pub fn rank(&self, segment: &Segment) -> Vec<Scored> {
        let mut scored = self.scored_of(segment, WIDE);
        sort(&mut scored);
        scored
    }

    /// Whether a request is GitLab's: more alike to one of its actions than to what has nothing to do with GitLab.
    pub fn is_meant(&self, segment: &Segment, scored: &[Scored]) -> bool {
        let most = |feature: Feature| scored.iter().map(|one| one.feature(feature)).fold(0.0, f32::max);
        let Weights { apart, known, told, story, strange, .. } = self.weights;
        let length = self.request.heard_in(segment).count() as f32 / story;
        let alike = most(Feature::Sense) - self.meant(segment).foreign();
        let for_it = alike + known * most(Feature::Words) + told * length.min(1.0);
        for_it - strange * self.request.strangeness() >= *apart
    }

    /// The score of one action for a segment.
    pub fn of_action(&self, segment: &Segment, action: usize) -> Option<Scored> {
        let said = self.said(segment);
        let most = said.meant.nearest(1).first().map_or(0.0, |best| said.meant.alike(*best));
        let alike = said.meant.alike(action);
        let words = self.share(action, segment, &said);
        let candidate = Candidate { action, words, alike, behind: most - alike };
        Some(self.scored(candidate, self.profiles.actions.get(action)?, segment, &said))
    }

    /// What a segment says for one action, as a share.
    fn share(&self, action: usize, segment: &Segment, said: &Said<'_>) -> f32 {
        let evidence = segment.concepts.iter().filter_map(|at| self.evidence.get(*at));
        let found =
            evidence.filter_map(|evidence| evidence.actions.iter().find(|(number, _)| *number == action));
        found.map(|(_, score)| score).sum::<f32>() / said.mass.max(1.0)
    }

    /// The action that answers a window best.
    pub fn best(&self, window: &Segment) -> Option<Scored> {
        self.scored_of(window, NARROW).into_iter().min_by(best_first)
    }

    fn scored_of(&self, segment: &Segment, reach: Reach) -> Vec<Scored> {
        let said = self.said(segment);
        let mut scored: Vec<Scored> = Vec::new();
        for candidate in self.candidates(segment, &said, reach) {
            let Some(profile) = self.profiles.actions.get(candidate.action) else { continue };
            scored.push(self.scored(candidate, profile, segment, &said));
        }
        share_chances(&mut scored);
        scored
    }

    /// The actions with the most evidence, and those that are most alike.
    fn candidates(&self, segment: &Segment, said: &Said<'_>, reach: Reach) -> Vec<Candidate> {
        let mut sums = vec![0.0_f32; self.index.len()];
        let mut mass = 0.0;
        for evidence in segment.concepts.iter().filter_map(|at| self.evidence.get(*at)) {
            mass += evidence.mass;
            for (action, score) in &evidence.actions {
                if let Some(sum) = sums.get_mut(*action) {
                    *sum += score;
                }
            }
        }
        let mut actions = top(reach.words, sums.iter().copied());
        if reach.alike > 0 {
            actions.extend(said.meant.nearest(reach.alike));
            actions.sort_unstable();
            actions.dedup();
        }
        let alike: Vec<f32> = actions.iter().map(|action| said.meant.alike(*action)).collect();
        let most = alike.iter().copied().fold(f32::MIN, f32::max);
        let candidate = |(action, alike): (usize, f32)| Candidate {
            action,
            words: sums.get(action).map_or(0.0, |sum| sum / mass.max(f32::MIN_POSITIVE)),
            alike,
            behind: most - alike,
        };
        actions.into_iter().zip(alike).map(candidate).collect()
    }

    fn said(&self, segment: &Segment) -> Said<'_> {
        let mut said = Said {
            positions: vec![0; self.profiles.vocabulary.len()],
            words: Vec::new(),
            mass: 0.0,
            meant: self.meant(segment),
            deeds: self.asked(segment),
            weights: self.weights.of_length(self.request.length(segment)),
        };
        for at in &segment.concepts {
            let Some(concept) = self.request.concepts.get(*at) else { continue };
            said.mass += self.evidence.get(*at).map_or(0.0, |evidence| evidence.mass);
            for meaning in &concept.meanings {
                for word in &meaning.words {
                    said.note(*word, *at, meaning.likeness);
                }
            }
        }
        said
    }

    /// What the words of a segment mean.
    fn meant(&self, segment: &Segment) -> Meant<'_> {
        Meant::new(self.senses, self.request.heard_in(segment))
    }

    /// What the words of a segment ask for, of each deed.
    fn asked(&self, segment: &Segment) -> Vec<f32> {
        let telling = self.request.telling.iter().copied();
        self.deeds.asked(telling.filter(|telling| segment.range.contains(&telling.at)))
    }

    fn scored(&self, candidate: Candidate, profile: &Profile, segment: &Segment, said: &Said<'_>) -> Scored {
        let mut features = Features::default();
        let (line, near) = self.texts(candidate.action, segment, said);
        let texts = Texts { candidate, line, near };
        for (feature, _) in FEATURES {
            if let Some(value) = features.get_mut(feature as usize) {
                *value = self.feature(feature, profile, &texts, segment, said);
            }
        }
        forgive(&mut features);
        let score = features.iter().zip(&said.weights).map(|(value, weight)| value * weight).sum();
        Scored { action: candidate.action, score, features, chance: 0.0 }
    }

    fn feature(
        &self,
        feature: Feature,
        profile: &Profile,
        texts: &Texts,
        segment: &Segment,
        said: &Said<'_>,
    ) -> f32 {
        let asked = segment.asked.as_ref();
        let holds = |yes: bool| f32::from(u8::from(yes));
        match feature {
            Feature::Words => texts.candidate.words,
            Feature::Line => texts.line,
            Feature::Id => self.likeness(&self.matched(self.id(profile).into_iter(), said), segment, said),
            Feature::Near => texts.near,
            Feature::Sense => texts.candidate.alike,
            Feature::Behind => (-texts.candidate.behind / FAR).max(-1.0),
            Feature::Change => intent::change(asked.is_none() && self.request.wish, profile),
            Feature::Noun => self.noun(profile, said),
            Feature::Verb => intent::verb(asked, &segment.states, profile),
            // The words together speak of the part.
            Feature::Deed if segment.part.is_some() => 0.0,
            Feature::Deed => intent::deed(asked, &said.deeds, profile),
            Feature::Question => {
                holds(self.request.question && !matches!(profile.kind, Kind::List | Kind::Get))
            }
            Feature::Number => intent::number(asked, self.many(segment), profile),
            Feature::Object => self.object(profile, segment),
            Feature::Missing => self.missing(profile, said),
            Feature::Scope => intent::scope(self.request.scopes, profile),
            Feature::Graphql => holds(profile.graphql),
            Feature::Machine => holds(profile.machine && !self.is_named(profile, said)),
            Feature::Deprecated => holds(profile.deprecated),
        }
    }

    /// The words of an action's id.
    fn id(&self, profile: &Profile) -> Vec<WordId> {
        let domain = self.profiles.domains.get(usize::from(profile.domain));
        let name = domain.map(|domain| domain.name.as_slice()).unwrap_or_default();
        [name, &[profile.verb], &profile.verb_rest].concat()
    }

    /// How nearly the nearest of an action's lines is the request, and a stretch of it.
    fn texts(&self, action: usize, segment: &Segment, said: &Said<'_>) -> (f32, f32) {
        let (mut nearest, mut near) = (0.0, 0.0);
        let lines = self.profiles.lines.get(action).copied().unwrap_or_default();
        for found in lines.iter().map(|line| self.matched(line, said)) {
            if found.concepts != 0 {
                nearest = f32::max(nearest, self.likeness(&found, segment, said));
                near = f32::max(near, self.nearness(&found, segment));
            }
        }
        (nearest, near)
    }

    /// The harmonic mean of the share of the line that was said and of the share of the request it says.
    fn likeness(&self, found: &Matched, segment: &Segment, said: &Said<'_>) -> f32 {
        let of_request = self.mass(segment, |at| found.has(at));
        harmonic(found.share, of_request / said.mass.max(1.0))
    }

    /// The same of the line and the stretch of the request between its first word and its last; more, the more of the
    /// request's words agree.
    fn nearness(&self, found: &Matched, segment: &Segment) -> f32 {
        let agreed = found.concepts.count_ones() as usize;
        let worth = AGREED.get(agreed).or(AGREED.last()).copied().unwrap_or_default();
        if worth == 0.0 {
            return 0.0;
        }
        let first = found.concepts.trailing_zeros() as usize;
        let last = 63 - found.concepts.leading_zeros() as usize;
        let within = |at: usize| (first..=last).contains(&at);
        let of_request = self.mass(segment, |at| within(at) && found.has(at));
        worth * harmonic(found.share, of_request / self.mass(segment, within).max(1.0))
    }

    fn matched(&self, line: impl Iterator<Item = WordId>, said: &Said<'_>) -> Matched {
        let (mut all, mut matched, mut concepts) = (0.0, 0.0, 0);
        for word in line {
            let idf = self.idf(word);
            all += idf;
            if let Some((concept, weight)) = said.of(word) {
                matched += idf * weight;
                concepts |= 1 << concept.min(63);
            }
        }
        Matched { share: matched / f32::max(all, 1.0), concepts }
    }

    /// What the chosen concepts of a segment could say together.
    fn mass(&self, segment: &Segment, is_chosen: impl Fn(usize) -> bool) -> f32 {
        let chosen = segment.concepts.iter().filter(|at| is_chosen(**at));
        chosen.filter_map(|at| self.evidence.get(*at)).map(|evidence| evidence.mass).sum()
    }

    /// How much of the best said noun of the action's domain is said.
    fn noun(&self, profile: &Profile, said: &Said<'_>) -> f32 {
        let Some(domain) = self.profiles.domains.get(usize::from(profile.domain)) else { return 0.0 };
        let share = |noun: &Vec<WordId>| {
            let all: f32 = noun.iter().map(|word| self.idf(*word)).sum();
            let given: f32 = noun.iter().filter_map(|word| Some(self.idf(*word) * said.of(*word)?.1)).sum();
            given / all.max(1.0)
        };
        domain.nouns.iter().chain([&domain.name]).map(share).fold(0.0, f32::max).powi(2)
    }

    fn idf(&self, word: WordId) -> f32 {
        self.profiles.vocabulary.idf(word)
    }

    fn many(&self, segment: &Segment) -> Option<bool> {
        segment.object.and_then(|at| self.request.concepts.get(at)).and_then(|object| object.many)
    }

    /// Whether the request's object is the action's: its own noun, or another part of it; negative where its noun
    /// is only said beside the object, as labels are in `create an issue with labels`.
    fn object(&self, profile: &Profile, segment: &Segment) -> f32 {
        let Some(object) = segment.object.and_then(|at| self.request.concepts.get(at)) else { return 0.0 };
        let Some(domain) = self.profiles.domains.get(usize::from(profile.domain)) else { return 0.0 };
        let worth = object.meanings.iter().map(|meaning| {
            let words = &meaning.words;
            let part = |word| domain.name.contains(word) || profile.verb_rest.contains(word);
            let fit = if self.is_own_noun(words, profile, domain) {
                1.0
            } else if words.iter().all(part) {
                0.4
            } else {
                0.0
            };
            meaning.likeness * fit
        });
        let worth = worth.fold(0.0, f32::max);
        if self.is_of_part(profile, domain, segment) {
            return -1.0;
        }
        if worth > 0.0 { worth } else { -self.beside(profile, domain, segment) }
    }

    /// Whether the action's own noun is what is only put on the object.
    fn is_of_part(&self, profile: &Profile, domain: &DomainProfile, segment: &Segment) -> bool {
        let part = segment.part.and_then(|at| self.request.concepts.get(at));
        let is_own = |part: &Concept| {
            part.meanings.iter().any(|meaning| self.is_own_noun(&meaning.words, profile, domain))
        };
        part.is_some_and(is_own)
    }

    fn is_own_noun(&self, words: &[WordId], profile: &Profile, domain: &DomainProfile) -> bool {
        let ends = |noun: &[WordId]| words.last().is_some() && noun.last() == words.last();
        let own = profile.verb_rest.last().filter(|word| self.lexicon.is_noun_word(**word));
        let named = match own {
            Some(own) => words.last() == Some(own),
            None => ends(&domain.name) || domain.nouns.iter().any(|noun| ends(noun)),
        };
        let verb = words.first() == Some(&profile.verb) && !self.lexicon.is_generic(profile.verb);
        named || verb || ends(&profile.path_noun)
    }

    /// Whether the action's noun is said outside the head of the request.
    fn beside(&self, profile: &Profile, domain: &DomainProfile, segment: &Segment) -> f32 {
        let others =
            segment.concepts.iter().filter_map(|at| self.request.concepts.get(*at)).filter(|c| !c.head);
        let worth = others.flat_map(|concept| &concept.meanings).map(|meaning| {
            if self.is_own_noun(&meaning.words, profile, domain) { meaning.likeness } else { 0.0 }
        });
        worth.fold(0.0, f32::max)
    }

    /// The share of the id's words, the verb's own aside, that the request does not have.
    fn missing(&self, profile: &Profile, said: &Said<'_>) -> f32 {
        let Some(domain) = self.profiles.domains.get(usize::from(profile.domain)) else { return 0.0 };
        let covered =
            domain.nouns.iter().any(|noun| !noun.is_empty() && noun.iter().all(|w| said.of(*w).is_some()));
        let verb = Some(profile.verb).filter(|verb| !self.lexicon.is_generic(*verb));
        let (mut all, mut lacking) = (0.0, 0.0);
        for (words, given) in
            [(domain.name.as_slice(), covered), (&profile.verb_rest, false), (verb.as_slice(), false)]
        {
            for word in words {
                let idf = self.idf(*word);
                all += idf;
                lacking +=
                    if given { 0.0 } else { idf * (1.0 - said.of(*word).map_or(0.0, |(_, weight)| weight)) };
            }
        }
        lacking / f32::max(all, 1.0)
    }

    /// Whether the request says every word of the domain's name that is not every action's.
    fn is_named(&self, profile: &Profile, said: &Said<'_>) -> bool {
        let domain = self.profiles.domains.get(usize::from(profile.domain));
        domain.and_then(|domain| domain.name.first()).is_some_and(|name| said.of(*name).is_some())
    }
}

/// Best first; equal ones in the order of their ids.
pub fn sort(scored: &mut Vec<Scored>) {
    // They are large: each is moved once.
    let mut order: Vec<&Scored> = scored.iter().collect();
    order.sort_unstable_by(|one, other| best_first(one, other));
    *scored = order.into_iter().copied().collect();
}

fn best_first(one: &Scored, other: &Scored) -> Ordering {
    other.score.total_cmp(&one.score).then(one.action.cmp(&other.action))
}

fn share_chances(scored: &mut [Scored]) {
    let best = best(scored);
    let odds = |one: &Scored| ((one.score - best) / TEMPERATURE).exp();
    let all: f32 = scored.iter().map(odds).sum();
    scored.iter_mut().for_each(|one| one.chance = odds(one) / all.max(f32::MIN_POSITIVE));
}

fn best(scored: &[Scored]) -> f32 {
    scored.iter().map(|one| one.score).fold(0.0, f32::max)
}

/// The nearer one of an action's own texts comes to the request, the less the words lacking from its id count.
fn forgive(features: &mut Features) {
    let line = features.get(Feature::Line as usize).copied().unwrap_or_default();
    if let Some(missing) = features.get_mut(Feature::Missing as usize) {
        *missing *= 1.0 - line.powi(4);
    }
}

/// What is known of a candidate, and how near the nearest of its texts comes to all of a segment and to a stretch of it.
struct Texts {
    candidate: Candidate,
    line: f32,
    near: f32,
}

fn harmonic(one: f32, other: f32) -> f32 {
    if one + other > 0.0 { 2.0 * one * other / (one + other) } else { 0.0 }
}
