//! The weights that are no factors of features, such as the boost of a place: each is tried a step up and a step
//! down, and kept where more requests are answered by it.

use super::{Bench, worth};
use crate::eval::{EvalError, ranked};
use crate::search::{PLACES, Ranker, Weights};

/// How far a step goes.
const STEP: f32 = 1.25;
/// How often every weight is tried.
const ROUNDS: usize = 2;
/// The least gain for which a weight is moved, in the mean of one over the place of the right answer.
const GAIN: f64 = 0.000_5;

/// One weight: what it is called, and where it is.
type Knob = (&'static str, fn(&mut Weights) -> &mut f32);

const KNOBS: [Knob; 13] = [
    ("saturation", |weights| &mut weights.saturation),
    ("beside", |weights| &mut weights.beside),
    ("unknown", |weights| &mut weights.unknown),
    ("verb_meaning", |weights| &mut weights.verb_meaning),
    ("verb_order", |weights| &mut weights.verb_order),
    ("verb_idf", |weights| &mut weights.verb_idf),
    ("guess", |weights| &mut weights.guess),
    ("mention", |weights| &mut weights.mention),
    ("background", |weights| &mut weights.background),
    ("ordinary", |weights| &mut weights.ordinary),
    ("attribute", |weights| &mut weights.attribute),
    ("window", |weights| &mut weights.window),
    ("leads", |weights| &mut weights.leads),
];

/// A weight by its number: the boosts of the places, how their texts dilute, then the [`KNOBS`].
fn at(weights: &mut Weights, number: usize) -> Option<&mut f32> {
    let places = PLACES.len();
    match number {
        _ if number < places => weights.places.get_mut(number).map(|place| &mut place.boost),
        _ if number < 2 * places => weights.places.get_mut(number - places).map(|place| &mut place.dilution),
        _ => KNOBS.get(number - 2 * places).map(|(_, of)| of(weights)),
    }
}

/// What the weight with that number is called.
fn name(number: usize) -> String {
    let place = |at: usize| PLACES.get(at).map_or("", |(_, name)| name);
    let places = PLACES.len();
    match number {
        _ if number < places => format!("boost of {}", place(number)),
        _ if number < 2 * places => format!("dilution of {}", place(number - places)),
        _ => KNOBS.get(number - 2 * places).map_or("", |(name, _)| name).to_owned(),
    }
}

/// How many there are.
fn count() -> usize {
    2 * PLACES.len() + KNOBS.len()
}

/// The weights after every step that answers more of the requests whose part is used.
pub fn climb(bench: &Bench<'_>, start: Weights, is_used: &dyn Fn(u64) -> bool) -> Result<Weights, EvalError> {
    let mut weights = start;
    let mut best = answered(bench, &weights, is_used)?;
    for _ in 0..ROUNDS {
        for number in 0..count() {
            for factor in [STEP, 1.0 / STEP] {
                let mut tried = weights.clone();
                at(&mut tried, number).into_iter().for_each(|weight| *weight *= factor);
                let found = answered(bench, &tried, is_used)?;
                if found > best + GAIN {
                    (weights, best) = (tried, found);
                    break;
                }
            }
        }
    }
    Ok(weights)
}

/// The weights that moved: their names, and what they were and are.
pub fn moved(before: &Weights, after: &Weights) -> Vec<(String, f32, f32)> {
    let value = |weights: &Weights, number: usize| at(&mut weights.clone(), number).map(|weight| *weight);
    let pairs =
        (0..count()).filter_map(|number| Some((name(number), value(before, number)?, value(after, number)?)));
    pairs.filter(|(_, before, after)| before != after).collect()
}

/// The mean of one over the place of the right answer, each set's cases by their worth.
fn answered(bench: &Bench<'_>, weights: &Weights, is_used: &dyn Fn(u64) -> bool) -> Result<f64, EvalError> {
    let ranker = Ranker::open_with(bench.catalog, weights.clone())?;
    let (mut sum, mut all) = (0.0, 0.0);
    for set in bench.sets {
        let worth = f64::from(worth(set));
        let cases = set.cases.iter().filter(|case| bench.serving.answers(case));
        for case in cases.filter(|case| is_used(super::fold(&case.request))) {
            let ranking = ranked(bench.catalog, &ranker, &case.request)?;
            let place = ranking.hits.iter().position(|hit| bench.serving.is_right(&hit.action.id, case));
            sum += place.map_or(0.0, |place| worth / (place + 1) as f64);
            all += worth;
        }
    }
    Ok(sum / all.max(f64::MIN_POSITIVE))
}
