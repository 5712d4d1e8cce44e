//! How well the finder does on written cases: a request, and the operations that would be right.

mod cases;
mod operation;
mod report;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;

use crate::catalog::{Catalog, CatalogError};
use crate::search::{Query, Ranker, SearchError};

pub use cases::Case;
pub use report::{Miss, Report, SetReport};

/// How many answers are looked at.
const DEPTH: usize = 10;
/// How many wrong answers a miss shows.
const SHOWN: usize = 3;

/// Why an evaluation could not be made.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    #[error("{path} cannot be read")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path}:{line}: a case is a request, a tab, and operations separated by `|`")]
    Case { path: PathBuf, line: usize },
    #[error("{path} is no OpenAPI document: {reason}")]
    OpenApi { path: PathBuf, reason: String },
    #[error("there is nothing to measure: name a file of cases or an OpenAPI document")]
    Nothing,
    #[error("the catalog cannot be read")]
    Catalog(#[from] CatalogError),
    #[error("a request could not be searched")]
    Search(#[from] SearchError),
}

/// What to measure, and with what.
#[derive(Default)]
pub struct Options<'o> {
    /// Files of cases: a request, a tab, and operations separated by `|`.
    pub cases: Vec<PathBuf>,
    /// OpenAPI documents, whose operations' summaries are requests.
    pub openapi: Vec<PathBuf>,
    /// The size of the answer to a request, where it is to be measured.
    pub answer_bytes: Option<&'o dyn Fn(&str) -> usize>,
}

/// Measures every file.
pub fn run(catalog: &Catalog, ranker: &Ranker, options: &Options<'_>) -> Result<Report, EvalError> {
    let mut sets = Vec::new();
    for path in &options.cases {
        sets.push(measure(path, &cases::from_tsv(path)?, catalog, ranker, options)?);
    }
    for path in &options.openapi {
        sets.push(measure(path, &cases::from_openapi(path)?, catalog, ranker, options)?);
    }
    if sets.is_empty() { Err(EvalError::Nothing) } else { Ok(Report { actions: catalog.len(), sets }) }
}

fn measure(
    path: &std::path::Path,
    cases: &[Case],
    catalog: &Catalog,
    ranker: &Ranker,
    options: &Options<'_>,
) -> Result<SetReport, EvalError> {
    let mut set = SetReport::new(path.display().to_string());
    let serving = Serving::read(catalog)?;
    for case in cases {
        if !serving.answers(case) {
            set.not_answerable += 1;
            continue;
        }
        let query =
            Query { words: &case.request, limit: DEPTH, domain: None, allow: &|_| true, explain: false };
        let start = Instant::now();
        let ranking = ranker.rank(catalog, &query)?;
        set.micros.push(start.elapsed().as_micros());
        let place = ranking.hits.iter().position(|hit| serving.is_right(&hit.action.id, case));
        let miss = || Miss {
            request: case.request.clone(),
            wanted: case.wanted.clone(),
            got: ranking.hits.iter().take(SHOWN).map(|hit| hit.action.id.clone()).collect(),
            place,
        };
        set.note(place, ranking.confidence, miss);
        set.bytes.extend(options.answer_bytes.map(|size| size(&case.request)));
    }
    set.finish();
    Ok(set)
}

/// The ids of the actions that serve an operation; for a twin, the action that stands for it.
struct Serving(BTreeMap<String, BTreeSet<String>>);

impl Serving {
    fn read(catalog: &Catalog) -> Result<Serving, EvalError> {
        let mut serving: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for action in catalog.actions() {
            let action = action?;
            let id = action.twin.unwrap_or(action.id);
            for operation in &action.operations {
                serving.entry(operation::normal(&operation.to_string())).or_default().insert(id.clone());
            }
        }
        Ok(Serving(serving))
    }

    /// Whether the catalog has any of the case's operations.
    fn answers(&self, case: &Case) -> bool {
        case.wanted.iter().any(|wanted| self.0.contains_key(wanted))
    }

    /// Whether one of the action's operations, second spellings among them, is one of the case's.
    fn is_right(&self, id: &str, case: &Case) -> bool {
        case.wanted.iter().any(|wanted| self.0.get(wanted).is_some_and(|ids| ids.contains(id)))
    }
}
