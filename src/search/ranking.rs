//! The steps of one search, from the query to the results.

use crate::catalog::{Action, Catalog, Param, without_state};

use super::error::SearchError;
use super::features::{Scored, Scorer, Signals, sort};
use super::model::{FEATURES, Model};
use super::ranker::Ranker;
use super::request::{ParsedRequest, Reader};
use super::segment::Segment;
use super::types::{Confidence, Hit, Judged, Query, Ranking};
use super::{params, routes, suggest};

/// Score of the first clause's best action relative to the whole query's best.
const FIRST: f32 = 1.001;

/// Maximum score of a later clause's best action relative to the whole query's best.
const NEXT: f32 = 0.97;

/// Maximum number of clauses ranked separately.
const MAX_CLAUSES: usize = 12;

/// Maximum number of tokens of the query and its clauses together: the time of a search is that of encoding them.
const MAX_TOKENS: usize = 128;

/// Prefixes of other servers' tool names.
const PREFIXES: [&str; 3] = ["mcp_", "gitlab_", "gl_"];

pub fn rank(ranker: &Ranker, catalog: &Catalog, query: &Query<'_>) -> Result<Ranking, SearchError> {
    let mut exact = exact(catalog, query.words)?;
    if exact.is_empty() {
        // A reference alone requests the object itself, not an action on it.
        let noun = reader(ranker).reference(without_state(query.words));
        exact.extend(noun.and_then(|noun| catalog.number(&format!("{}.get", noun.replace(' ', "_")))));
    }
    if !exact.is_empty() {
        return rank_exact_matches(&exact, ranker, catalog, query);
    }
    let request = reader(ranker).analyze(query.words);
    let scorer = scorer(ranker, &request);
    let (whole, mut clauses) = (request.whole(&ranker.lexicon), request.intents(&ranker.lexicon));
    clauses.truncate(MAX_CLAUSES);
    let mut left = MAX_TOKENS.saturating_sub(request.tokens(&whole).len());
    clauses.retain(|clause| {
        let length = request.tokens(clause).len();
        let fits = length <= left;
        left = left.saturating_sub(length);
        fits
    });
    let (signals, of_clauses) = scorer.signals(&whole, &clauses)?;
    let candidates = scorer.rank(&whole, &signals);
    let mut scored = candidates.scored;
    let winners = join_clauses(&mut scored, &scorer, clauses.iter().zip(&of_clauses));
    let is_command = request.concepts.first().is_some_and(|first| first.verb.is_some());
    let params = params::find(query.words, is_command)?;
    let is_in_domain = !request.concepts.is_empty() && candidates.margin >= ranker.model.limits.margin;
    let is_meant = is_in_domain || request.names_gitlab(&ranker.lexicon) || !params.is_empty();
    if !params.is_empty() {
        raise_params(
            &mut scored,
            &params,
            scorer.of_actions(&whole, &signals, &params),
            ranker.model.limits.param,
        );
    }
    if let Some(domain) = query.domain {
        keep_domain(&mut scored, |action| is_of(catalog, action, domain));
    }
    let mut results = Results::new(catalog, query, &ranker.model);
    (results.winners, results.margin) = (winners, candidates.margin);
    if is_meant {
        for one in &scored {
            if !results.take(one)? {
                break;
            }
        }
    }
    results.ranking(ranker, &request, &whole)
}

/// Keeps only the actions of a domain and renormalizes their probabilities: one of them is taken to match.
fn keep_domain(scored: &mut Vec<Scored>, is_of: impl Fn(usize) -> bool) {
    scored.retain(|one| is_of(one.action));
    let all: f32 = scored.iter().map(|one| one.probability).sum();
    scored.iter_mut().for_each(|one| one.probability /= all.max(f32::MIN_POSITIVE));
}

fn is_of(catalog: &Catalog, action: usize, domain: &str) -> bool {
    // Parts of a thing are in its domain too: `commit_comment.create` in that of commits.
    let is_part =
        |of: &str| of.strip_prefix(domain).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
    catalog.id(action).and_then(|id| id.split_once('.')).is_some_and(|(of, _)| is_part(of))
}

/// The candidates of the whole query with their features.
pub fn judge(ranker: &Ranker, words: &str) -> Result<Judged, SearchError> {
    let request = reader(ranker).analyze(words);
    let scorer = scorer(ranker, &request);
    let whole = request.whole(&ranker.lexicon);
    let (signals, _) = scorer.signals(&whole, &[])?;
    let found = scorer.rank(&whole, &signals);
    let candidates = found.scored.into_iter().map(|one| (one.action, one.features)).collect();
    let length = ranker.model.length(request.tokens(&whole).len());
    Ok(Judged {
        length,
        margin: found.margin,
        is_of_gitlab: request.names_gitlab(&ranker.lexicon),
        candidates,
    })
}

fn reader(ranker: &Ranker) -> Reader<'_> {
    let Ranker { lexicon, profiles, encoder, model, .. } = ranker;
    Reader { lexicon, vocabulary: &profiles.vocabulary, weights: &model.concepts, common: encoder.pieces() }
}

fn scorer<'a>(ranker: &'a Ranker, request: &'a ParsedRequest) -> Scorer<'a> {
    let Ranker { index, profiles, encoder, embeddings, model, .. } = ranker;
    Scorer { profiles, encoder, embeddings, index, model, request }
}

/// The actions that the request matches exactly.
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

fn rank_exact_matches(
    numbers: &[usize],
    ranker: &Ranker,
    catalog: &Catalog,
    query: &Query<'_>,
) -> Result<Ranking, SearchError> {
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
    let suggestions = if total == 0 { suggest::suggest(ranker, catalog, query)? } else { Vec::new() };
    Ok(Ranking { confidence, certainty, total, hits, withheld, suggestions, steps: Vec::new() })
}

/// Raises the best actions of the clauses, so that each of several intents is among the results. The first clause's
/// action may be ranked first if it is an imperative: introductory text may not. Returns these actions in the order of
/// the clauses.
fn join_clauses<'c>(
    scored: &mut Vec<Scored>,
    scorer: &Scorer<'_>,
    clauses: impl Iterator<Item = (&'c Segment, &'c Signals)>,
) -> Vec<usize> {
    let mut winners = Vec::new();
    let best = scored.first().map_or(0.0, |best| best.score);
    let weights = &scorer.model.clauses;
    for (at, (clause, signals)) in clauses.enumerate() {
        let Some(winner) = scorer.rank(clause, signals).scored.first().copied() else { continue };
        if winner.score >= best * weights.worth {
            winners.push(winner.action);
        }
        let leads = at == 0 && scorer.request.is_order(clause) && winner.score > best * weights.leads;
        // A single word easily matches a whole short text.
        let most = best * if clause.concepts.len() > 1 { NEXT } else { weights.worth };
        let score =
            if leads { winner.score.max(best * FIRST) } else { (winner.score * weights.worth).min(most) };
        match scored.iter_mut().find(|known| known.action == winner.action) {
            Some(known) => known.score = known.score.max(score),
            None => scored.push(winner.with(score)),
        }
    }
    sort(scored);
    winners
}

/// Raises the actions with a named parameter or value above those without.
fn raise_params(scored: &mut Vec<Scored>, params: &[usize], having: Vec<Scored>, worth: f32) {
    scored.retain(|one| !params.contains(&one.action));
    scored.extend(having.into_iter().map(|one| one.with(one.score.max(0.0) + worth)));
    sort(scored);
}

/// The results so far.
struct Results<'f> {
    catalog: &'f Catalog,
    query: &'f Query<'f>,
    model: &'f Model,
    best: f32,
    total: usize,
    hits: Vec<(Scored, Action)>,
    withheld: Vec<String>,
    /// Best actions of the clauses, in order.
    winners: Vec<usize>,
    /// Margin of the best action's cosine over the best out-of-domain topic's.
    margin: f32,
}

impl<'f> Results<'f> {
    fn new(catalog: &'f Catalog, query: &'f Query<'f>, model: &'f Model) -> Results<'f> {
        let (hits, withheld, winners) = (Vec::new(), Vec::new(), Vec::new());
        Results { catalog, query, model, best: 0.0, total: 0, hits, withheld, winners, margin: 0.0 }
    }

    /// Adds an action if it is allowed; false once the results are complete.
    fn take(&mut self, scored: &Scored) -> Result<bool, SearchError> {
        let counts = self.total == 0 || scored.score >= self.best * self.model.limits.counted;
        if !counts && self.hits.len() >= self.query.limit {
            return Ok(false);
        }
        let action = self.catalog.action(scored.action)?;
        if !(self.query.allow)(&action) {
            // An action with a low score would not have been a hit either.
            if self.hits.len() < self.query.limit && counts {
                self.withheld.push(action.id);
            }
            return Ok(true);
        }
        if self.total == 0 {
            self.best = scored.score;
        }
        self.total += usize::from(counts);
        if self.hits.len() < self.query.limit {
            self.hits.push((*scored, action));
        }
        Ok(true)
    }

    fn ranking(
        mut self,
        ranker: &Ranker,
        request: &ParsedRequest,
        whole: &Segment,
    ) -> Result<Ranking, SearchError> {
        if self.hits.is_empty() {
            let suggestions = suggest::suggest(ranker, self.catalog, self.query)?;
            return Ok(Ranking { withheld: self.withheld, suggestions, ..Ranking::default() });
        }
        let is_corrected = request.concepts.iter().any(|concept| concept.guessed);
        let is_vague = whole.object.is_none() || routes::is_address(self.query.words);
        let probability = self.hits.first().map_or(0.0, |(first, _)| first.probability);
        let certainty = if is_corrected || is_vague || self.winners.len() > 1 { 0.0 } else { probability };
        let is_high = certainty >= self.model.softmax.high;
        if !is_high {
            lead_with_list(&mut self.hits, self.query.words);
        }
        let confidence = if is_high { Confidence::High } else { Confidence::Low };
        let steps = self.steps()?;
        let (model, margin, is_explained) = (self.model, self.margin, self.query.explain);
        let explained = |scored: &Scored| {
            if is_explained { explain(scored, request, whole, margin, model) } else { Vec::new() }
        };
        let hits = self.hits.into_iter().map(|(scored, action)| Hit {
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

    /// The best actions of the clauses that may run, in their order, whether or not they are among the results; none if there
    /// is one, or another action comes first that may do all of it.
    fn steps(&self) -> Result<Vec<String>, SearchError> {
        let mut steps: Vec<String> = Vec::new();
        for winner in &self.winners {
            let action = self.catalog.action(*winner)?;
            let is_asked = self.query.domain.is_none_or(|domain| is_of(self.catalog, *winner, domain));
            if is_asked && (self.query.allow)(&action) && !steps.contains(&action.id) {
                steps.push(action.id);
            }
        }
        let leads = self.hits.first().is_some_and(|(_, first)| steps.contains(&first.id));
        Ok(if steps.len() < 2 || !leads { Vec::new() } else { steps })
    }
}

/// Puts the list of a domain before the read of one of its objects, where that needs an id that only an answer tells and
/// the request has fewer ids than it takes: a thread has no title, so "the discussion in issue 5" begins with the list.
fn lead_with_list(hits: &mut [(Scored, Action)], words: &str) {
    let Some((_, first)) = hits.first() else { return };
    let ids: Vec<&Param> = first.params.iter().filter(|param| param.required && is_id(param)).collect();
    let is_untold = ids.iter().any(|id| id.name != "iid" && id.names.is_none());
    if first.verb() != "get" || !is_untold || ids_in(words) >= ids.len() {
        return;
    }
    let list = hits.iter().position(|(_, action)| {
        let mut required = action.params.iter().filter(|param| param.required);
        action.domain() == first.domain()
            && action.verb() == "list"
            && required.all(|param| first.params.iter().any(|own| own.name == param.name))
    });
    if let Some(upto) = list.and_then(|at| hits.get_mut(..=at)) {
        upto.rotate_right(1);
    }
}

fn is_id(param: &Param) -> bool {
    param.name == "iid" || param.name.ends_with("_id")
}

/// The number of words that may be an id: a number, a reference like `#5`, or the hexadecimal id of a thread.
fn ids_in(words: &str) -> usize {
    let is_id = |word: &str| {
        let word = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let number = word.rsplit(['#', '!', '&', '%']).next().unwrap_or_default();
        let is_hash = word.len() >= 8 && word.chars().all(|c| c.is_ascii_hexdigit());
        is_hash || (!number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
    };
    words.split_whitespace().filter(|word| is_id(word)).count()
}

/// Explains the interpretation of the request, and each feature with its contribution.
fn explain(
    scored: &Scored,
    request: &ParsedRequest,
    whole: &Segment,
    margin: f32,
    model: &Model,
) -> Vec<String> {
    let labels: Vec<&str> = request.concepts.iter().map(|concept| concept.label.as_str()).collect();
    let tokens = request.tokens(whole);
    let weights = model.weights_of(model.length(tokens.len()));
    let mut lines =
        vec![format!("understood: {}", labels.join(" · ")), format!("encoded: {}", tokens.join(" "))];
    let object = whole.object.and_then(|at| request.concepts.get(at));
    // A word that is a verb as well (`list` of a board) may stand for the verb.
    let told = object.filter(|object| object.verb.is_none());
    lines.extend(told.map(|object| format!("object: {}", object.label)));
    lines.push(format!("probability: {:.3}", scored.probability));
    lines.push(format!("margin over out-of-domain topics: {margin:.3}"));
    for (((_, name), value), weight) in FEATURES.iter().zip(&scored.features).zip(weights) {
        if *value != 0.0 {
            lines.push(format!("{name}: {value:.2} × {weight:.2} = {:+.3}", value * weight));
        }
    }
    lines
}
