//! Fits the reranker's model to cases: feature weights by gradient ascent on a softmax over each query's candidates,
//! and the probability threshold for high confidence. Evaluated by cross-validation.

use std::fmt;

use super::cases::CaseSet;
use super::error::EvalError;
use super::ranked::{RelevantActions, ranked};
use gitlab_mcp::catalog::Catalog;
use gitlab_mcp::search::{FEATURES, Features, Judged, Model, Ranker};

/// Number of folds of the cross-validation.
const FOLDS: u64 = 5;
/// Gradient ascent: number of steps, learning rate, momentum.
const STEPS: usize = 600;
const STRIDE: f32 = 0.02;
const MOMENTUM: f32 = 0.9;
/// L2 regularization towards the current weights, so that a few cases do not move them far.
const HOLD: f32 = 0.01;
/// Required precision of `high` confidence.
const CALIBRATED: f64 = 0.975;

/// Weights for short queries and for long ones.
type Weights = [Features; 2];

/// The fitted model with its cross-validated accuracy.
#[derive(Debug)]
pub struct Fit {
    weights: Weights,
    /// Share of cases whose first result is right: with the current weights, and cross-validated.
    first: [f64; 2],
    /// Ablation: the same without each feature, cross-validated.
    without: Vec<(&'static str, f64)>,
    high: f32,
    /// Share of results with high confidence, and their precision.
    coverage: f64,
    precision: f64,
}

/// A query's candidates: features, and true if right.
struct Query {
    fold: u64,
    worth: f32,
    length: f32,
    rows: Vec<(Features, bool)>,
}

/// Fits a model, starting from its weights.
pub fn fit(catalog: &Catalog, sets: &[CaseSet], model: Model) -> Result<Fit, EvalError> {
    let serving = RelevantActions::load(catalog)?;
    let ranker = Ranker::open_with(catalog, model.clone())?;
    let queries = judge(catalog, &ranker, sets, &serving)?;
    let cross_validated = |without: Option<usize>| {
        let parts = (0..FOLDS).map(|fold| {
            let weights = climb(&queries, &model, |query| query.fold != fold, without);
            first(queries.iter().filter(|query| query.fold == fold), &weights)
        });
        parts.sum::<f64>() / queries.iter().map(|query| f64::from(query.worth)).sum::<f64>()
    };
    let all: f64 = queries.iter().map(|query| f64::from(query.worth)).sum();
    let now = first(queries.iter(), &model.weights) / all;
    let without = FEATURES.iter().enumerate().map(|(at, (_, name))| (*name, cross_validated(Some(at))));
    let (without, cross) = (without.collect(), cross_validated(None));
    let weights = climb(&queries, &model, |_| true, None);
    let fitted = Ranker::open_with(catalog, Model { weights, ..model })?;
    let (high, coverage, precision) = calibrate(catalog, &fitted, sets, &serving)?;
    Ok(Fit { weights, first: [now, cross], without, high, coverage, precision })
}

fn judge(
    catalog: &Catalog,
    ranker: &Ranker,
    sets: &[CaseSet],
    serving: &RelevantActions,
) -> Result<Vec<Query>, EvalError> {
    let mut queries = Vec::new();
    for set in sets {
        let worth = case_weight(set);
        for case in set.cases.iter().filter(|case| serving.answers(case)) {
            let Judged { length, candidates, .. } = ranker.judge(&case.request)?;
            let is_right = |action| catalog.id(action).is_some_and(|id| serving.is_right(id, case));
            let rows: Vec<(Features, bool)> =
                candidates.into_iter().map(|(action, features)| (features, is_right(action))).collect();
            queries.push(Query { fold: fold(&case.request), worth, length, rows });
        }
    }
    Ok(queries)
}

/// Fold of a case, by FNV-1a hash: the same on every machine and in every run.
fn fold(request: &str) -> u64 {
    let hash = request.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 32) % FOLDS
}

/// Total weight of the queries whose best candidate is right.
fn first<'q>(queries: impl Iterator<Item = &'q Query>, weights: &Weights) -> f64 {
    let is_first_right = |query: &&Query| {
        let scored = query.rows.iter().map(|row| (score(&row.0, weights, query.length), row.1));
        scored.max_by(|one, other| one.0.total_cmp(&other.0)).is_some_and(|(_, is_right)| is_right)
    };
    queries.filter(is_first_right).map(|query| f64::from(query.worth)).sum()
}

fn score(features: &Features, [short, long]: &Weights, length: f32) -> f32 {
    let weighted = features.iter().zip(short.iter().zip(long));
    weighted.map(|(feature, (short, long))| feature * (short + length * (long - short))).sum()
}

/// Maximizes the likelihood of the right candidates of these queries; one feature may be left out.
fn climb(
    queries: &[Query],
    model: &Model,
    is_used: impl Fn(&Query) -> bool,
    without: Option<usize>,
) -> Weights {
    let has_right = |query: &&Query| query.rows.iter().any(|(_, is_right)| *is_right);
    let used: Vec<&Query> = queries.iter().filter(|query| is_used(query)).filter(has_right).collect();
    let all: f32 = used.iter().map(|query| query.worth).sum();
    let mut weights = model.weights;
    let mut speed = Weights::default();
    for _ in 0..STEPS {
        let mut slope = Weights::default();
        for query in &used {
            add_slope(&mut slope, query, &weights, model.softmax.temperature);
        }
        let rows = weights.iter_mut().zip(&mut speed).zip(slope).zip(&model.weights);
        for (((weights, speed), slope), start) in rows {
            let cells = weights.iter_mut().zip(speed).zip(slope).zip(start).enumerate();
            for (at, (((weight, speed), slope), start)) in cells {
                *speed = MOMENTUM * *speed + slope / all.max(f32::MIN_POSITIVE) - HOLD * (*weight - start);
                *weight = if without == Some(at) { 0.0 } else { *weight + STRIDE * *speed };
            }
        }
    }
    weights
}

/// Adds the gradient of the log-likelihood of one query.
fn add_slope(slope: &mut Weights, query: &Query, weights: &Weights, temperature: f32) {
    let scores: Vec<f32> =
        query.rows.iter().map(|row| score(&row.0, weights, query.length) / temperature).collect();
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    let odds: Vec<f32> = scores.iter().map(|score| (score - most).exp()).collect();
    let all: f32 = odds.iter().sum();
    let right: f32 = odds.iter().zip(&query.rows).filter(|(_, row)| row.1).map(|(odds, _)| odds).sum();
    for (odds, (features, is_right)) in odds.iter().zip(&query.rows) {
        let wanted = if *is_right { odds / right.max(f32::MIN_POSITIVE) } else { 0.0 };
        let pull = query.worth * (wanted - odds / all) / temperature;
        for (slope, share) in slope.iter_mut().zip([1.0 - query.length, query.length]) {
            slope.iter_mut().zip(features).for_each(|(slope, feature)| *slope += share * pull * feature);
        }
    }
}

/// The lowest probability threshold with the required precision, the share of results above it, and their precision.
fn calibrate(
    catalog: &Catalog,
    ranker: &Ranker,
    sets: &[CaseSet],
    serving: &RelevantActions,
) -> Result<(f32, f64, f64), EvalError> {
    let mut answers: Vec<(f32, f64, bool)> = Vec::new();
    for set in sets {
        let worth = f64::from(case_weight(set));
        for case in set.cases.iter().filter(|case| serving.answers(case)) {
            let ranking = ranked(catalog, ranker, &case.request)?;
            let is_right = ranking.hits.first().is_some_and(|first| serving.is_right(&first.action.id, case));
            if ranking.certainty.is_finite() {
                answers.push((ranking.certainty, worth, is_right));
            }
        }
    }
    answers.sort_by(|one, other| other.0.total_cmp(&one.0));
    let total: f64 = answers.iter().map(|(_, worth, _)| worth).sum();
    let (mut all, mut right) = (0.0, 0.0);
    let mut found = (1.0, 0.0, 1.0);
    for (certainty, worth, is_right) in answers.into_iter().take_while(|answer| answer.0 > 0.0) {
        all += worth;
        right += if is_right { worth } else { 0.0 };
        if right >= CALIBRATED * all {
            found = (certainty, all / total, right / all);
        }
    }
    Ok(found)
}

/// Weight of each case: a large set of one kind does not outweigh a small one of another.
fn case_weight(set: &CaseSet) -> f32 {
    1.0 / (set.cases.len().max(1) as f32).sqrt()
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [now, cross] = self.first.map(|share| share * 100.0);
        writeln!(f, "# First: {now:.1} % with the weights as they are, {cross:.1} % cross-validated.")?;
        for (name, without) in &self.without {
            writeln!(f, "# Without {name}: {:.1} %.", without * 100.0)?;
        }
        let (coverage, precision) = (self.coverage * 100.0, self.precision * 100.0);
        writeln!(f, "# High: {coverage:.1} % of the answers, of which {precision:.1} % are right.\n")?;
        writeln!(f, "[softmax]\nhigh = {:.3}", self.high)?;
        for (table, weights) in ["short", "long"].iter().zip(&self.weights) {
            writeln!(f, "\n[{table}]")?;
            for ((_, name), weight) in FEATURES.iter().zip(weights) {
                writeln!(f, "{name} = {weight:.3}")?;
            }
        }
        Ok(())
    }
}
