//! Cases: from a file of lines, or from the summaries of an OpenAPI document.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::EvalError;
use super::operation::normal;

/// A request and the operations that would be right, each in its normal spelling.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub request: String,
    pub wanted: Vec<String>,
}

/// `request<TAB>operation|operation`, a line a case; empty lines and lines that begin with `#` are passed over.
pub fn from_tsv(path: &Path) -> Result<Vec<Case>, EvalError> {
    let mut cases = Vec::new();
    for (number, line) in read(path)?.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (request, wanted) = line
            .split_once('\t')
            .ok_or_else(|| EvalError::Case { path: path.to_owned(), line: number + 1 })?;
        cases.push(Case { request: request.to_owned(), wanted: wanted.split('|').map(normal).collect() });
    }
    Ok(cases)
}

#[derive(Deserialize)]
struct Document {
    paths: BTreeMap<String, BTreeMap<String, Entry>>,
}

/// What stands under a path: operations by their method, and lists that are shared by them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Operation { summary: Option<String> },
    Other(serde::de::IgnoredAny),
}

/// Each operation's summary is a request; every operation that shares it is right.
pub fn from_openapi(path: &Path) -> Result<Vec<Case>, EvalError> {
    let document: Document = serde_saphyr::from_str(&read(path)?)
        .map_err(|source| EvalError::OpenApi { path: path.to_owned(), reason: source.to_string() })?;
    let mut wanted: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, entries) in document.paths {
        for (method, entry) in entries {
            if let Entry::Operation { summary: Some(summary) } = entry {
                wanted
                    .entry(summary.trim().to_owned())
                    .or_default()
                    .push(normal(&format!("{method} {path}")));
            }
        }
    }
    Ok(wanted.into_iter().map(|(request, wanted)| Case { request, wanted }).collect())
}

fn read(path: &Path) -> Result<String, EvalError> {
    fs::read_to_string(path).map_err(|source| EvalError::Read { path: path.to_owned(), source })
}
