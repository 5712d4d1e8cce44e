//! Evaluation of the finder on written cases: a request and its right actions.

mod baselines;
mod cases;
mod compare;
mod error;
mod figures;
mod fit;
mod operation;
mod ranked;
mod report;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use gitlab_mcp::catalog::{Catalog, Risk};
use gitlab_mcp::search::{Confidence, Ranker, Ranking};

pub use baselines::Baseline;
use baselines::Texts;
pub use cases::{Case, CaseSet};
pub use compare::Comparison;
pub use error::EvalError;
use figures::FigureCounts;
pub use figures::Figures;
pub use fit::fit;
use ranked::{DEPTH, RelevantActions, ranked};
pub use report::{Miss, Report, SetReport, Timing};

/// Number of wrong results listed for a miss.
const SHOWN: usize = 3;

/// Options of an evaluation.
#[derive(Default)]
pub struct Options<'o> {
    /// Files of [`Case`]s, as JSON lines or tab-separated.
    pub cases: Vec<PathBuf>,
    /// Baselines to measure as well.
    pub baselines: Vec<Baseline>,
    /// Measures the size of the response to a request, if set.
    pub answer_bytes: Option<&'o dyn Fn(&str) -> usize>,
}

/// Loads every file of the options.
pub fn load_cases(options: &Options<'_>) -> Result<Vec<CaseSet>, EvalError> {
    let mut sets = Vec::new();
    for path in &options.cases {
        sets.push(CaseSet { name: name(path), cases: cases::from_file(path)? });
    }
    Ok(sets)
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Evaluates every file.
pub fn run(catalog: &Catalog, ranker: &Ranker, options: &Options<'_>) -> Result<Report, EvalError> {
    let serving = RelevantActions::load(catalog)?;
    let texts = if options.baselines.is_empty() { None } else { Some(Texts::load(catalog)?) };
    let mut sets = Vec::new();
    for set in load_cases(options)? {
        let mut report = measure(&set, catalog, ranker, &serving, options)?;
        for baseline in &options.baselines {
            let figures = texts.as_ref().map(|texts| run_baseline(*baseline, texts, &set, &serving));
            report.baselines.extend(figures.map(|figures| (baseline.name().to_owned(), figures)));
        }
        sets.push(report);
    }
    Ok(Report { actions: catalog.len(), sets })
}

/// Loads a run saved as JSON.
pub fn saved(path: &Path) -> Result<Report, EvalError> {
    serde_json::from_str(&cases::load_text(path)?)
        .map_err(|source| EvalError::Saved { path: path.to_owned(), source })
}

fn measure(
    set: &CaseSet,
    catalog: &Catalog,
    ranker: &Ranker,
    serving: &RelevantActions,
    options: &Options<'_>,
) -> Result<SetReport, EvalError> {
    let mut report = SetReport { name: set.name.clone(), ..SetReport::default() };
    let (mut all, mut kinds) = (FigureCounts::default(), BTreeMap::<String, FigureCounts>::new());
    let (mut micros, mut bytes) = (Vec::new(), Vec::new());
    for case in &set.cases {
        let start = Instant::now();
        let ranking = ranked(catalog, ranker, &case.request)?;
        micros.push(start.elapsed().as_micros());
        bytes.extend(options.answer_bytes.map(|size| size(&case.request)));
        note_dangers(case, &ranking, &mut report);
        if case.right.is_empty() {
            continue;
        }
        if !serving.answers(case) {
            report.not_answerable += 1;
            continue;
        }
        let place = ranking.hits.iter().position(|hit| serving.is_right(&hit.action.id, case));
        all.note(place, ranking.confidence);
        kinds.entry(case.kind.clone()).or_default().note(place, ranking.confidence);
        if place != Some(0) {
            report.misses.push(miss(case, &ranking, place));
        }
    }
    report.all = all.figures();
    report.kinds = kinds.into_iter().map(|(kind, count)| (kind, count.figures())).collect();
    report.timing = Timing::new(micros, bytes);
    Ok(report)
}

/// Counts refused out-of-domain requests, and harmless requests with a destructive first result.
fn note_dangers(case: &Case, ranking: &Ranking, report: &mut SetReport) {
    if case.nothing {
        report.nothing += 1;
        report.nothing_said += usize::from(ranking.confidence == Confidence::None);
    }
    if case.harmless {
        report.harmless += 1;
        let harmful = ranking.hits.first().is_some_and(|first| first.action.risk == Risk::Destructive);
        report.harmed.extend(harmful.then(|| case.request.clone()));
    }
}

fn miss(case: &Case, ranking: &Ranking, place: Option<usize>) -> Miss {
    Miss {
        request: case.request.clone(),
        kind: case.kind.clone(),
        wanted: case.right.clone(),
        got: ranking.hits.iter().take(SHOWN).map(|hit| hit.action.id.clone()).collect(),
        place,
        sure: ranking.confidence == Confidence::High,
    }
}

/// The figures of a baseline on the same cases.
fn run_baseline(baseline: Baseline, texts: &Texts, set: &CaseSet, serving: &RelevantActions) -> Figures {
    let mut count = FigureCounts::default();
    for case in set.cases.iter().filter(|case| serving.answers(case)) {
        let ids = texts.rank(baseline, &case.request, DEPTH);
        count.note(ids.iter().position(|id| serving.is_right(id, case)), Confidence::Low);
    }
    count.figures()
}
