//! Compares a run with a saved one: changed figures and requests.

use std::collections::BTreeMap;
use std::fmt;

use super::report::{Report, SetReport, format_rank};

/// Tolerance of a comparison: one percentage point.
const POINT: f64 = 0.01;

/// Differences between two runs.
#[derive(Debug)]
pub struct Comparison {
    sets: Vec<SetComparison>,
}

#[derive(Debug)]
struct SetComparison {
    name: String,
    moved: Vec<Moved>,
    better: Vec<String>,
    worse: Vec<String>,
}

/// A figure in both runs.
#[derive(Debug)]
struct Moved {
    name: &'static str,
    before: f64,
    now: f64,
}

impl Comparison {
    /// Compares the sets with the same name.
    pub fn new(before: &Report, now: &Report) -> Comparison {
        let pairs = now.sets.iter().filter_map(|set| {
            let saved = before.sets.iter().find(|saved| saved.name == set.name)?;
            Some((saved, set))
        });
        Comparison { sets: pairs.map(|(before, now)| SetComparison::new(before, now)).collect() }
    }

    /// The figures that fell by more than a point, one per line.
    pub fn falls(&self) -> Vec<String> {
        let fell = self.sets.iter().flat_map(|set| set.moved.iter().map(move |moved| (set, moved)));
        fell.filter(|(_, moved)| moved.before - moved.now > POINT)
            .map(|(set, moved)| format!("{}: {moved}", set.name))
            .collect()
    }
}

impl SetComparison {
    fn new(before: &SetReport, now: &SetReport) -> SetComparison {
        let (better, worse) = requests(before, now);
        SetComparison { name: now.name.clone(), moved: moved(before, now), better, worse }
    }
}

fn moved(before: &SetReport, now: &SetReport) -> Vec<Moved> {
    let (old, new) = (figures(before), figures(now));
    let pairs = old
        .into_iter()
        .zip(new)
        .filter_map(|((name, before), (_, now))| Some(Moved { name, before: before?, now: now? }));
    pairs.collect()
}

/// Compared figures of a set; none if it has no such requests.
fn figures(set: &SetReport) -> [(&'static str, Option<f64>); 6] {
    let all = Some(&set.all).filter(|all| all.requests > 0);
    let share = |part: usize, of: usize| (of > 0).then(|| part as f64 / of as f64);
    [
        ("first", all.map(|all| all.first)),
        ("in five", all.map(|all| all.in_five)),
        ("MRR", all.map(|all| all.reciprocal_rank)),
        ("right of the sure", all.map(|all| all.sure_and_right)),
        ("out of domain refused", share(set.nothing_said, set.nothing)),
        ("harmless", share(set.harmless.saturating_sub(set.harmed.len()), set.harmless)),
    ]
}

/// Requests whose right action moved up, and those whose moved down; only for a run saved with its misses.
fn requests(before: &SetReport, now: &SetReport) -> (Vec<String>, Vec<String>) {
    let (mut better, mut worse) = (Vec::new(), Vec::new());
    if before.misses.is_empty() {
        return (better, worse);
    }
    let places = |set: &SetReport| -> BTreeMap<String, Option<usize>> {
        set.misses.iter().map(|miss| (miss.request.clone(), miss.place)).collect()
    };
    let (old, new) = (places(before), places(now));
    // A request that is not a miss was ranked first.
    let was = |places: &BTreeMap<String, Option<usize>>, request: &str| {
        places.get(request).copied().unwrap_or(Some(0))
    };
    let requests: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for request in requests {
        let (before, after) = (was(&old, request), was(&new, request));
        let line = format!("{} -> {}  {request}", format_rank(before), format_rank(after));
        let rank = |place: Option<usize>| place.unwrap_or(usize::MAX);
        match rank(after).cmp(&rank(before)) {
            std::cmp::Ordering::Less => better.push(line),
            std::cmp::Ordering::Greater => worse.push(line),
            std::cmp::Ordering::Equal => {}
        }
    }
    (better, worse)
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Moved { name, before, now } = self;
        write!(f, "{name} {:.1} -> {:.1} ({:+.1})", before * 100.0, now * 100.0, (now - before) * 100.0)
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for set in &self.sets {
            let moved: Vec<String> = set.moved.iter().map(Moved::to_string).collect();
            writeln!(f, "{} against the saved run: {}", set.name, moved.join("  "))?;
            for (what, requests) in [("better", &set.better), ("worse", &set.worse)] {
                if !requests.is_empty() {
                    writeln!(f, "  {} {what}", requests.len())?;
                }
                requests.iter().try_for_each(|request| writeln!(f, "    {request}"))?;
            }
        }
        Ok(())
    }
}
