//! The steps of one search, from the query to the answer.

use crate::catalog::{Action, Catalog};

use super::evidence::Evidence;
use super::request::{Reader, Request};
use super::score::{Scored, Scorer, sort};
use super::segment::Segment;
use super::weights::{FEATURES, Feature, Weights};
use super::{Confidence, Hit, Judged, Query, Ranker, Ranking, SearchError, params, routes, suggest};

/// The first of several intents comes so far before what the whole request says.
const FIRST: f32 = 1.001;

/// And what is asked for later comes at most so near.
const NEXT: f32 = 0.97;

/// The share of an id's words from which on all of them are said, and nothing else is.
const WHOLE: f32 = 0.99;

/// The score from which on a request is plain; at twice as much it is fully so.
const PLAIN: f32 = 0.5;

/// Prefixes of other servers' tool names.
const PREFIXES: [&str; 3] = ["mcp_", "gitlab_", "gl_"];

pub fn rank(ranker: &Ranker, catalog: &Catalog, query: &Query<'_>) -> Result<Ranking, SearchError> {
    let exact = exact(catalog, query.words)?;
    if !exact.is_empty() {
        return exactly(&exact, catalog, query);
    }
    let request = read(ranker, query.words);
    let evidence = ranker.index.evidence(&request, &ranker.profiles.vocabulary, &ranker.weights)?;
    let scorer = scorer(ranker, &request, &evidence);
    let whole = request.whole(&ranker.lexicon);
    let mut scored = scorer.rank(&whole);
    let is_meant = request.names_gitlab(&ranker.lexicon) || scorer.is_meant(&whole, &scored);
    let winners = join_windows(&mut scored, &scorer, ranker);
    let is_request = request.concepts.first().is_some_and(|first| first.verb.is_some());
    let params = params::find(query.words, is_request)?;
    raise_params(&mut scored, &params, (&scorer, &whole));
    let is_meant = is_meant || !params.is_empty();
    if let Some(domain) = query.domain {
        keep_domain(&mut scored, |action| is_of(catalog, action, domain));
    }
    let mut found = Found::new(catalog, query, &ranker.weights);
    found.winners = winners;
    for one in &scored {
        if !found.take(one)? {
            break;
        }
    }
    found.ranking(ranker, &request, &whole, is_meant)
}

/// Leaves the actions of a domain alone, one of which is meant.
fn keep_domain(scored: &mut Vec<Scored>, is_of: impl Fn(usize) -> bool) {
    scored.retain(|one| is_of(one.action));
    let all: f32 = scored.iter().map(|one| one.chance).sum();
    scored.iter_mut().for_each(|one| one.chance /= all.max(f32::MIN_POSITIVE));
}

fn is_of(catalog: &Catalog, action: usize, domain: &str) -> bool {
    catalog.id(action).and_then(|id| id.split_once('.')).is_some_and(|(of, _)| of == domain)
}

/// The candidates of the whole request with their features.
pub fn judge(ranker: &Ranker, words: &str) -> Result<Judged, SearchError> {
    let request = read(ranker, words);
    let evidence = ranker.index.evidence(&request, &ranker.profiles.vocabulary, &ranker.weights)?;
    let scorer = scorer(ranker, &request, &evidence);
    let whole = request.whole(&ranker.lexicon);
    let scored = scorer.rank(&whole);
    let candidates = scored.into_iter().map(|one| (one.action, one.features)).collect();
    Ok(Judged { length: request.length(&whole), candidates })
}

/// The stems of a text, as senses are learnt by them.
pub fn stems(ranker: &Ranker, text: &str) -> Vec<String> {
    reader(ranker).stems(text)
}

fn read(ranker: &Ranker, words: &str) -> Request {
    reader(ranker).read(words)
}

fn reader(ranker: &Ranker) -> Reader<'_> {
    let Ranker { lexicon, profiles, senses, units, deeds, weights, .. } = ranker;
    Reader { lexicon, vocabulary: &profiles.vocabulary, senses, units, deeds, weights }
}

fn scorer<'a>(ranker: &'a Ranker, request: &'a Request, evidence: &'a [Evidence]) -> Scorer<'a> {
    let Ranker { index, profiles, senses, deeds, lexicon, weights, .. } = ranker;
    Scorer { profiles, senses, deeds, lexicon, weights, index, request, evidence }
}

/// The actions that the request names outright.
fn exact(catalog: &Catalog, words: &str) -> Result<Vec<usize>, SearchError> {
    let name = words.trim().trim_matches('`').to_lowercase();
    if let Some(number) = catalog.number(&name) {
        return Ok(vec![number]);
    }
    let name = name.replace('-', "_");
    let bare = PREFIXES.iter().fold(name.as_str(), |name, prefix| name.strip_prefix(prefix).unwrap_or(name));
    for alias in [words.trim(), name.as_str(), bare] {
        let found = catalog.by_alias(alias);
        if !found.is_empty() {
            return Ok(found);
        }
    }
    routes::find(words)
}

fn exactly(numbers: &[usize], catalog: &Catalog, query: &Query<'_>) -> Result<Ranking, SearchError> {
    let (mut hits, mut withheld) = (Vec::new(), Vec::new());
    let mut total = 0;
    for number in numbers {
        let action = catalog.action(*number)?;
        if query.domain.is_some_and(|domain| action.domain() != domain) {
            continue;
        }
        if !(query.allow)(&action) {
            withheld.push(action.id);
            continue;
        }
        total += 1;
        let explain = if query.explain {
            vec!["named outright: id, alias, path or URL".to_owned()]
        } else {
            Vec::new()
        };
        if hits.len() < query.limit {
            hits.push(Hit { number: *number, action, score: 1.0, explain });
        }
    }
    let confidence = if total == 0 { Confidence::None } else { Confidence::High };
    let certainty = if total == 0 { 0.0 } else { f32::INFINITY };
    Ok(Ranking { confidence, certainty, total, hits, withheld, suggestions: Vec::new(), steps: Vec::new() })
}

/// Lets the winners of clauses and windows rise, so that each of several intents surfaces. What is ordered first may
/// win: a story that comes before its wish may not. Others, whose words may belong together with those around them,
/// only come near the best.
/// Answers with the winners of the clauses, in order.
fn join_windows(scored: &mut Vec<Scored>, scorer: &Scorer<'_>, ranker: &Ranker) -> Vec<usize> {
    let mut winners = Vec::new();
    let best = scored.first().map_or(0.0, |best| best.score);
    let weight = ranker.weights.window;
    for (at, intent) in scorer.request.intents(&ranker.lexicon).iter().enumerate() {
        let winner = scorer.rank(intent).first().copied();
        winners.extend(winner.filter(|winner| winner.score >= best * weight).map(|winner| winner.action));
        // What is asked for first is done first.
        let leads = at == 0
            && scorer.request.is_order(intent)
            && winner.is_some_and(|winner| winner.score > best * ranker.weights.leads);
        // One word is soon the whole of some text.
        let most = best * if intent.concepts.len() > 1 { NEXT } else { weight };
        raise(scored, winner.as_ref(), |score| {
            if leads { score.max(best * FIRST) } else { (score * weight).min(most) }
        });
    }
    for window in scorer.request.windows(&ranker.lexicon) {
        raise(scored, scorer.best(&window).as_ref(), |score| (score * weight).min(best * weight));
    }
    sort(scored);
    winners
}

/// Lets the actions that have a named parameter, or value, rise above those that have none.
fn raise_params(scored: &mut Vec<Scored>, params: &[usize], (scorer, whole): (&Scorer<'_>, &Segment)) {
    if params.is_empty() {
        return;
    }
    for action in params {
        let known = scored.iter().position(|one| one.action == *action);
        let found = known.map(|at| scored.swap_remove(at)).or_else(|| scorer.of_action(whole, *action));
        scored.extend(found.map(|found| found.with(found.score.max(0.0) + scorer.weights.param)));
    }
    sort(scored);
}

fn raise(scored: &mut Vec<Scored>, winner: Option<&Scored>, worth: impl Fn(f32) -> f32) {
    let Some(winner) = winner else { return };
    let score = worth(winner.score);
    match scored.iter_mut().find(|known| known.action == winner.action) {
        Some(known) if known.score < score => *known = winner.with(score),
        Some(_) => {}
        None => scored.push(winner.with(score)),
    }
}

/// The hits so far.
struct Found<'f> {
    catalog: &'f Catalog,
    query: &'f Query<'f>,
    counted: f32,
    floor: f32,
    best: f32,
    total: usize,
    hits: Vec<(Scored, Action)>,
    withheld: Vec<String>,
    /// The actions that the clauses ask for, in order.
    winners: Vec<usize>,
}

impl<'f> Found<'f> {
    fn new(catalog: &'f Catalog, query: &'f Query<'f>, weights: &Weights) -> Found<'f> {
        Found {
            catalog,
            query,
            counted: weights.counted,
            floor: weights.floor,
            best: 0.0,
            total: 0,
            hits: Vec::new(),
            withheld: Vec::new(),
            winners: Vec::new(),
        }
    }

    /// Takes an action if it is allowed; false once there is nothing more to take.
    fn take(&mut self, scored: &Scored) -> Result<bool, SearchError> {
        let counts = self.total == 0 || scored.score >= self.best * self.counted;
        let weak = scored.score < self.floor;
        if weak || (!counts && self.hits.len() >= self.query.limit) {
            return Ok(false);
        }
        let action = self.catalog.action(scored.action)?;
        if !(self.query.allow)(&action) {
            // What is not near the best would not have been meant either.
            if self.hits.len() < self.query.limit && counts {
                self.withheld.push(action.id);
            }
            return Ok(true);
        }
        if self.total == 0 {
            self.best = scored.score;
        }
        self.total += 1;
        if self.hits.len() < self.query.limit {
            self.hits.push((*scored, action));
        }
        Ok(true)
    }

    fn ranking(
        mut self,
        ranker: &Ranker,
        request: &Request,
        whole: &Segment,
        is_meant: bool,
    ) -> Result<Ranking, SearchError> {
        let weights = &ranker.weights;
        let guessed = request.concepts.iter().any(|concept| concept.guessed);
        let doubtful = whole.object.is_none() || request.doubt || routes::is_address(self.query.words);
        let is_near = |(scored, _): &&(Scored, Action)| scored.score >= weights.near;
        let near = self.hits.iter().filter(is_near).map(|(_, action)| action.id.clone()).collect();
        if !is_meant {
            self.hits.clear();
        }
        let several = request.intents(&ranker.lexicon).len() > 1;
        let certainty = if doubtful || guessed || several { 0.0 } else { self.certainty(weights) };
        let confidence = self.confidence(certainty, weights.sure);
        if confidence == Confidence::None {
            let suggestions = suggest::instead(near, self.catalog, self.query.allow)?;
            let withheld = self.withheld;
            return Ok(Ranking {
                confidence,
                certainty: 0.0,
                total: 0,
                hits: Vec::new(),
                withheld,
                suggestions,
                steps: Vec::new(),
            });
        }
        let steps = self.steps();
        let explained = |scored: &Scored| {
            if self.query.explain { explain(scored, request, whole, ranker) } else { Vec::new() }
        };
        let hits = self.hits.into_iter().take(self.query.limit).map(|(scored, action)| Hit {
            number: scored.action,
            score: scored.score,
            explain: explained(&scored),
            action,
        });
        Ok(Ranking {
            confidence,
            certainty,
            total: self.total,
            hits: hits.collect(),
            withheld: self.withheld,
            suggestions: Vec::new(),
            steps,
        })
    }

    /// The hits that the clauses ask for, in their order, where there are several and no other action, which may do the
    /// whole, comes first.
    fn steps(&self) -> Vec<String> {
        let mut steps: Vec<&Action> = Vec::new();
        for winner in &self.winners {
            let hit = self.hits.iter().find(|(scored, _)| scored.action == *winner);
            steps.extend(
                hit.map(|(_, action)| action).filter(|one| steps.iter().all(|known| known.id != one.id)),
            );
        }
        let leads = self.hits.first().is_some_and(|(_, first)| steps.iter().any(|step| step.id == first.id));
        if steps.len() < 2 || !leads {
            return Vec::new();
        }
        steps.into_iter().map(|step| step.id.clone()).collect()
    }

    /// How sure the first answer is: its chance, more where meaning and verb agree and where its score is high; all
    /// there is where the request is its id in words and nothing comes near.
    fn certainty(&self, weights: &Weights) -> f32 {
        let mut hits = self.hits.iter().map(|(scored, _)| scored);
        let Some(first) = hits.next() else { return 0.0 };
        let margin = first.score - hits.next().map_or(0.0, |second| second.score);
        if first.feature(Feature::Id) >= WHOLE && margin >= weights.margin {
            return 1.0;
        }
        let agrees =
            first.feature(Feature::Behind) > -weights.margin / 2.0 && first.feature(Feature::Verb) > 0.5;
        let agreement = if agrees { weights.agreed } else { 0.0 };
        let plain = ((first.score - PLAIN) / PLAIN).clamp(0.0, 1.0);
        first.chance + agreement + weights.plain * plain
    }

    fn confidence(&self, certainty: f32, sure: f32) -> Confidence {
        match self.hits.is_empty() {
            true => Confidence::None,
            false if certainty >= sure => Confidence::High,
            false => Confidence::Low,
        }
    }
}

/// What was understood, and each feature with what it adds.
fn explain(scored: &Scored, request: &Request, whole: &Segment, ranker: &Ranker) -> Vec<String> {
    let labels: Vec<&str> = request.concepts.iter().map(|concept| concept.label.as_str()).collect();
    let mut lines = vec![format!("understood: {}", labels.join(" · "))];
    lines.push(match &whole.asked {
        Some(asked) => format!("asked for: {}", words(&asked.verbs, ranker)),
        None => "asked for: nothing in particular".to_owned(),
    });
    let object = whole.object.and_then(|at| request.concepts.get(at));
    let weights = ranker.weights.of_length(request.length(whole));
    lines.push(format!("chance: {:.3}", scored.chance));
    lines.extend(object.map(|object| format!("object: {}", object.label)));
    for (((_, name), value), weight) in FEATURES.iter().zip(&scored.features).zip(weights) {
        if *value != 0.0 {
            lines.push(format!("{name}: {value:.2} × {weight:.2} = {:+.3}", value * weight));
        }
    }
    lines
}

fn words(ids: &[u16], ranker: &Ranker) -> String {
    let known = ranker.profiles.vocabulary.words();
    let words: Vec<&str> = ids.iter().filter_map(|id| known.get(usize::from(*id)).copied()).collect();
    words.join(", ")
}
