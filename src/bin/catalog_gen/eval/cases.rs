//! Parser of case files.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::error::EvalError;
use super::operation::normal;

/// A request with its right actions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Case {
    pub request: String,
    /// Kind of request, from the file or from its form.
    pub kind: String,
    /// Operations in their normal spelling, or ids of actions; any of them.
    pub right: Vec<String>,
    /// Out-of-domain: no action is right, and the finder must say so.
    pub nothing: bool,
    /// A destructive action must not be ranked first.
    pub harmless: bool,
}

/// A case as a line of JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    request: String,
    kind: Option<String>,
    #[serde(default)]
    right: Vec<String>,
    #[serde(default)]
    nothing: bool,
    #[serde(default)]
    harmless: bool,
}

/// Parses the cases of a file: JSON lines if its extension is `.jsonl`, otherwise `request<TAB>operation|operation`.
/// Empty lines and lines that begin with `#` are ignored.
pub fn from_file(path: &Path) -> Result<Vec<Case>, EvalError> {
    let is_json = path.extension().is_some_and(|extension| extension == "jsonl");
    let parse = if is_json { from_json } else { from_tabs };
    let text = load_text(path)?;
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim_end_matches('\r')));
    lines
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|(number, line)| {
            parse(line).map_err(|reason| EvalError::Case { path: path.to_owned(), line: number, reason })
        })
        .collect()
}

fn from_tabs(line: &str) -> Result<Case, String> {
    let (request, right) = line
        .split_once('\t')
        .ok_or("a case is a request, a tab, and the right operations separated by `|`")?;
    Ok(case(request, right.split('|')))
}

fn from_json(line: &str) -> Result<Case, String> {
    let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if line.right.is_empty() && !line.nothing && !line.harmless {
        return Err("a case needs one of `right`, `nothing` or `harmless`".to_owned());
    }
    let case = case(&line.request, line.right.iter().map(String::as_str));
    Ok(Case { kind: line.kind.unwrap_or(case.kind), nothing: line.nothing, harmless: line.harmless, ..case })
}

fn case<'r>(request: &str, right: impl Iterator<Item = &'r str>) -> Case {
    let right = right.map(str::trim).filter(|right| !right.is_empty());
    Case {
        request: request.to_owned(),
        kind: kind(request).to_owned(),
        right: right.map(normal).collect(),
        ..Case::default()
    }
}

/// Kind of request by its form, if the file has none.
fn kind(request: &str) -> &'static str {
    let words = request.split_whitespace().count();
    let address = request.contains("://") || (words <= 2 && request.contains('/'));
    match words {
        _ if address => "address",
        1 if request.contains(['.', '_']) => "id",
        ..=3 => "terse",
        4..=9 => "plain",
        _ => "chatty",
    }
}

pub fn load_text(path: &Path) -> Result<String, EvalError> {
    fs::read_to_string(path).map_err(|source| EvalError::Read { path: path.to_owned(), source })
}

/// The cases of one file.
pub struct CaseSet {
    /// The file's name without its extension.
    pub name: String,
    pub cases: Vec<Case>,
}
