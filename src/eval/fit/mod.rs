//! The weights of the ranking, set by the cases themselves and judged on requests that they were not fitted to: those
//! of the features by a softmax over the candidates of each request, climbed by its gradient; the others step by step.

mod steps;

use std::fmt;

use super::figures::{Count, Figures};
use super::{CaseSet, EvalError, Serving, ranked};
use crate::catalog::Catalog;
use crate::search::{self, Confidence, FEATURES, Feature, Features, Ranker, TEMPERATURE, WEIGHTS, Weights};

/// Into how many parts the cases are cut; each is judged by a fit to the others.
const FOLDS: u64 = 5;
/// How many steps the gradient is followed, how far in each, and how much of the last step is kept.
const STEPS: usize = 400;
const STRIDE: f32 = 0.02;
const MOMENTUM: f32 = 0.9;
/// How strongly a weight is held at what it was, so that a few cases do not move it far.
const HOLD: f32 = 0.02;
/// Weights that no fit moves: what a machine's protocol weighs.
const RULES: [Feature; 1] = [Feature::Machine];
/// Of the answers called sure, this share has to be right.
const CALIBRATED: f64 = 0.975;

/// What was fitted, and what it is worth on requests it was not fitted to.
#[derive(Debug)]
pub struct Fit {
    /// The weights as they are, and as the cases have them, each for few words and for many.
    pub weights: Vec<(&'static str, [f32; 2], [f32; 2])>,
    /// The other weights that the cases would have otherwise.
    pub moved: Vec<(String, f32, f32)>,
    /// Each set's figures: with the weights as they are, and cross-validated.
    pub sets: Vec<(String, Figures, Figures)>,
    /// What all cases together lose without a feature, cross-validated: its name, and first and MRR without it.
    pub without: Vec<(&'static str, Figures)>,
    /// All cases together, cross-validated.
    pub all: Figures,
    /// The least certainty of a sure answer, as it is and as calibrated.
    pub sure: [f32; 2],
    /// Of the answers called sure, on requests that the limits were not set by.
    pub sure_held_out: Figures,
}

/// The weights of features for few words and for many, or how steep each is.
type Slope = [Features; 2];

/// A request's candidates: the features of each, and whether it is right.
struct Judged {
    fold: u64,
    worth: f32,
    length: f32,
    rows: Vec<(Features, bool)>,
}

/// Fits.
pub fn fit(catalog: &Catalog, sets: &[CaseSet]) -> Result<Fit, EvalError> {
    let serving = Serving::read(catalog)?;
    let ranker = Ranker::open(catalog)?;
    let judged = judge(catalog, &ranker, sets, &serving)?;
    let bench = Bench { catalog, sets, serving: &serving };
    let fitted = steps::climb(&bench, climb(&judged, |_| true, None), &|_| true)?;
    let part = |fold: u64| {
        let weights = climb(&judged, |judged| judged.fold != fold, None);
        steps::climb(&bench, weights, &|other| other != fold)
    };
    let folds: Vec<Weights> = (0..FOLDS).map(part).collect::<Result<_, _>>()?;
    let mut figures = Vec::new();
    for set in sets {
        let now = bench.measure(std::slice::from_ref(set), &[WEIGHTS])?;
        figures.push((set.name.clone(), now, bench.measure(std::slice::from_ref(set), &folds)?));
    }
    let mut without = Vec::new();
    for (feature, name) in FEATURES {
        let folds: Vec<Weights> = (0..FOLDS)
            .zip(&folds)
            .map(|(fold, whole)| {
                let features = climb(&judged, |judged| judged.fold != fold, Some(feature as usize)).features;
                Weights { features, ..whole.clone() }
            })
            .collect();
        without.push((name, bench.measure(sets, &folds)?));
    }
    let (limit, sure_held_out) = bench.calibrate(&fitted)?;
    let names = FEATURES.iter().map(|(_, name)| *name);
    let weights = names.enumerate().map(|(at, name)| (name, both(&WEIGHTS, at), both(&fitted, at)));
    Ok(Fit {
        weights: weights.collect(),
        moved: steps::moved(&WEIGHTS, &fitted),
        sets: figures,
        without,
        all: bench.measure(sets, &folds)?,
        sure: [WEIGHTS.sure, limit],
        sure_held_out,
    })
}

fn judge(
    catalog: &Catalog,
    ranker: &Ranker,
    sets: &[CaseSet],
    serving: &Serving,
) -> Result<Vec<Judged>, EvalError> {
    let mut judged = Vec::new();
    for set in sets {
        let worth = worth(set);
        for case in set.cases.iter().filter(|case| serving.answers(case)) {
            let search::Judged { length, candidates } = ranker.judge(&case.request)?;
            let right = |action| catalog.id(action).is_some_and(|id| serving.is_right(id, case));
            let rows: Vec<(Features, bool)> =
                candidates.into_iter().map(|(action, features)| (features, right(action))).collect();
            if rows.iter().any(|(_, right)| *right) {
                judged.push(Judged { fold: fold(&case.request), worth, length, rows });
            }
        }
    }
    Ok(judged)
}

/// The part of a request: the same on every machine and in every run (FNV-1a).
fn fold(request: &str) -> u64 {
    let hash = request.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 32) % FOLDS
}

/// The weights that make the right answers of these cases most likely; one feature may be left out.
fn climb(judged: &[Judged], is_used: impl Fn(&Judged) -> bool, without: Option<usize>) -> Weights {
    let used: Vec<&Judged> = judged.iter().filter(|judged| is_used(judged)).collect();
    let all: f32 = used.iter().map(|judged| judged.worth).sum();
    let start = WEIGHTS.features;
    let mut weights = start;
    let mut speed = Slope::default();
    for _ in 0..STEPS {
        let mut slope = Slope::default();
        for judged in &used {
            add_slope(&mut slope, judged, &weights);
        }
        let parts = weights.iter_mut().zip(&mut speed).zip(slope).zip(&start);
        for (((weights, speed), slope), start) in parts {
            for (at, ((weight, speed), slope)) in weights.iter_mut().zip(speed).zip(slope).enumerate() {
                let held = start.get(at).map_or(0.0, |start| HOLD * (*weight - start));
                *speed = MOMENTUM * *speed + slope / all.max(1e-6) - held;
                *weight += STRIDE * *speed;
                if without == Some(at) {
                    *weight = 0.0;
                } else if is_rule(at) {
                    *weight = start.get(at).copied().unwrap_or_default();
                }
            }
        }
    }
    Weights { features: weights, ..WEIGHTS }
}

/// The weights of a feature for few words and for many.
fn both(weights: &Weights, at: usize) -> [f32; 2] {
    weights.features.map(|features| features.get(at).copied().unwrap_or_default())
}

fn is_rule(at: usize) -> bool {
    FEATURES.get(at).is_some_and(|(feature, _)| RULES.contains(feature))
}

/// Adds the slope of the likelihood that one of a request's right answers comes first.
fn add_slope(slope: &mut Slope, judged: &Judged, weights: &Slope) {
    let weights = Weights { features: *weights, ..WEIGHTS }.of_length(judged.length);
    let score = |features: &Features| features.iter().zip(&weights).map(|(f, w)| f * w).sum::<f32>();
    let scores: Vec<f32> = judged.rows.iter().map(|(features, _)| score(features) / TEMPERATURE).collect();
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    let odds: Vec<f32> = scores.iter().map(|score| (score - most).exp()).collect();
    let all: f32 = odds.iter().sum();
    let right: f32 = odds.iter().zip(&judged.rows).filter(|(_, row)| row.1).map(|(odds, _)| odds).sum();
    for (odds, (features, is_right)) in odds.iter().zip(&judged.rows) {
        let pull = if *is_right { odds / right.max(f32::MIN_POSITIVE) } else { 0.0 } - odds / all;
        let shares = [1.0 - judged.length, judged.length];
        for (slope, share) in slope.iter_mut().zip(shares) {
            for (slope, feature) in slope.iter_mut().zip(features) {
                *slope += share * judged.worth * pull * feature / TEMPERATURE;
            }
        }
    }
}

/// Measures weights on cases, through the whole pipeline.
struct Bench<'b> {
    catalog: &'b Catalog,
    sets: &'b [CaseSet],
    serving: &'b Serving,
}

impl Bench<'_> {
    /// The figures of sets. Of several weights, each measures the part that it was not fitted to.
    fn measure(&self, sets: &[CaseSet], weights: &[Weights]) -> Result<Figures, EvalError> {
        let mut count = Count::default();
        let alone = weights.len() == 1;
        for (part, weights) in (0..).zip(weights) {
            let ranker = Ranker::open_with(self.catalog, weights.clone())?;
            let all = sets.iter().flat_map(|set| &set.cases).filter(|case| self.serving.answers(case));
            for case in all.filter(|case| alone || fold(&case.request) == part) {
                let ranking = ranked(self.catalog, &ranker, &case.request)?;
                let place = ranking.hits.iter().position(|hit| self.serving.is_right(&hit.action.id, case));
                count.note(place, ranking.confidence);
            }
        }
        Ok(count.figures())
    }

    /// The least certainty at which enough of the sure answers are right, and what it gives on the parts that it was
    /// not set by.
    fn calibrate(&self, weights: &Weights) -> Result<(f32, Figures), EvalError> {
        let all = self.answers(weights)?;
        let mut held_out = Count::default();
        for part in 0..FOLDS {
            let others: Vec<&Sure> = all.iter().filter(|answer| answer.fold != part).collect();
            let limit = limit(&others);
            for answer in all.iter().filter(|answer| answer.fold == part) {
                let sure = if answer.certainty >= limit { Confidence::High } else { Confidence::Low };
                held_out.note(answer.right.then_some(0), sure);
            }
        }
        Ok((limit(&all.iter().collect::<Vec<_>>()), held_out.figures()))
    }

    /// Every answer with how certain it is.
    fn answers(&self, weights: &Weights) -> Result<Vec<Sure>, EvalError> {
        let ranker = Ranker::open_with(self.catalog, weights.clone())?;
        let mut answers = Vec::new();
        for set in self.sets {
            let worth = worth(set);
            for case in set.cases.iter().filter(|case| self.serving.answers(case)) {
                let ranking = ranked(self.catalog, &ranker, &case.request)?;
                let Some(first) = ranking.hits.first() else { continue };
                answers.push(Sure {
                    fold: fold(&case.request),
                    worth: f64::from(worth),
                    certainty: ranking.certainty,
                    right: self.serving.is_right(&first.action.id, case),
                });
            }
        }
        Ok(answers)
    }
}

/// An answer that may be called sure.
struct Sure {
    fold: u64,
    worth: f64,
    certainty: f32,
    right: bool,
}

/// The certainty from which on enough of the answers are right, with as many of them as can be.
fn limit(answers: &[&Sure]) -> f32 {
    let mut answers: Vec<&&Sure> = answers.iter().collect();
    answers.sort_by(|a, b| b.certainty.total_cmp(&a.certainty));
    let (mut all, mut right, mut limit) = (0.0, 0.0, f32::INFINITY);
    for answer in answers {
        all += answer.worth;
        right += if answer.right { answer.worth } else { 0.0 };
        if right >= CALIBRATED * all {
            limit = answer.certainty;
        }
    }
    limit
}

/// What each case of a set is worth: a large set of one kind does not drown a small one of another.
fn worth(set: &CaseSet) -> f32 {
    1.0 / (set.cases.len().max(1) as f32).sqrt()
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "feature     now: few, many   fitted: few, many   without it, cross-validated: first, MRR"
        )?;
        for ((name, now, fitted), (_, without)) in self.weights.iter().zip(&self.without) {
            let (first, rank) = (without.first * 100.0, without.reciprocal_rank);
            let loss = (self.all.first - without.first) * 100.0;
            let [few, many] = fitted;
            let [few_now, many_now] = now;
            writeln!(
                f,
                "{name:<12}{few_now:7.3}{many_now:7.3}  {few:7.3}{many:7.3}   {first:.1} % ({loss:+.1} for it)  {rank:.3}"
            )?;
        }
        for (name, now, fitted) in &self.moved {
            writeln!(f, "{name:<24}{now:6.2}{fitted:8.2}")?;
        }
        writeln!(f, "\nall, cross-validated\n  {}", self.all)?;
        for (name, now, fitted) in &self.sets {
            writeln!(f, "{name}\n  as they are      {now}\n  cross-validated  {fitted}")?;
        }
        let [now, fitted] = self.sure;
        writeln!(f, "\nsure from a certainty of {now:.2} on; calibrated: {fitted:.2}")?;
        let held_out = &self.sure_held_out;
        writeln!(
            f,
            "  of the answers held out, {:.1} % are sure, of which {:.1} % are right",
            held_out.sure * 100.0,
            held_out.sure_and_right * 100.0
        )
    }
}
