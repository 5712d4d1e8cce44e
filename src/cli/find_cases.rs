//! `find --cases FILE`: measures the finder on requests with their right actions, one a line.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::Failure;
use crate::tools::{FindRequest, Tools};

/// Number of results that are looked at.
const RESULTS: u32 = 5;

/// The action of a line for which none fits.
const NOTHING: &str = "-";

/// A request and the ids of the actions that are right for it; none where no action fits.
struct FindCase {
    line: usize,
    query: String,
    right: Vec<String>,
}

/// Results of one request.
struct CaseOutcome {
    /// Place of the first right action, from 0.
    place: Option<usize>,
    is_sure: bool,
    found: Vec<String>,
}

/// Finds each request of a file and writes how often the right action came first, in five, and when the finder was sure.
pub fn measure(tools: &Tools, file: &Path, as_json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let text = fs::read_to_string(file).map_err(|error| Failure::Loaded(file.to_owned(), error))?;
    let lines =
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let cases = lines.map(|(at, line)| parse_case(tools, at + 1, line)).collect::<Result<Vec<_>, _>>()?;
    if cases.is_empty() {
        return Err(Failure::Cases("the file has no case: a line is REQUEST, a tab and ACTION".to_owned()));
    }
    let outcomes: Vec<CaseOutcome> = cases.iter().map(|case| find(tools, case)).collect();
    let report = report(&cases, &outcomes);
    if as_json {
        writeln!(out, "{report:#}")?;
        return Ok(());
    }
    for name in ["requests", "first", "in_five", "sure", "right_if_sure"] {
        let unit = if name == "requests" { "" } else { " %" };
        writeln!(out, "{:<15} {}{unit}", name.replace('_', " "), report.get(name).unwrap_or(&Value::Null))?;
    }
    for miss in report.get("misses").and_then(Value::as_array).into_iter().flatten() {
        let word = |name: &str| miss.get(name).map(Value::to_string).unwrap_or_default();
        writeln!(
            out,
            "line {}: {} expected {}, found {}",
            word("line"),
            word("query"),
            word("right"),
            word("found")
        )?;
    }
    Ok(())
}

/// Parses `REQUEST`, a tab and the right actions with commas between them: ids, other names of theirs, or
/// `METHOD /path`.
fn parse_case(tools: &Tools, line: usize, text: &str) -> Result<FindCase, Failure> {
    let fault = |message: String| Failure::Cases(format!("line {line}: {message}"));
    let Some((query, right)) = text.split_once('\t') else {
        return Err(fault("expected REQUEST, a tab and ACTION".to_owned()));
    };
    let names = right.split([',', '\t']).map(str::trim).filter(|name| !name.is_empty() && *name != NOTHING);
    let right = names
        .map(|name| resolve(tools, name).ok_or_else(|| fault(format!("there is no action `{name}`"))))
        .collect::<Result<_, _>>()?;
    Ok(FindCase { line, query: query.trim().to_owned(), right })
}

/// The id of an action by any name that a find takes as exact.
fn resolve(tools: &Tools, name: &str) -> Option<String> {
    let request = FindRequest { query: name.to_owned(), limit: Some(1), ..FindRequest::default() };
    let found = tools.find(&request).ok()?.structured;
    let is_exact = name.contains(['.', '/', '_']) && found.get("confidence")?.as_str()? == "high";
    let id = found.get("results")?.get(0)?.get("action")?.as_str()?.to_owned();
    is_exact.then_some(id)
}

fn find(tools: &Tools, case: &FindCase) -> CaseOutcome {
    let request = FindRequest { query: case.query.clone(), limit: Some(RESULTS), ..FindRequest::default() };
    let Ok(answer) = tools.find(&request) else {
        return CaseOutcome { place: None, is_sure: false, found: Vec::new() };
    };
    let results = answer.structured.get("results").and_then(Value::as_array).into_iter().flatten();
    let found: Vec<String> =
        results.filter_map(|result| Some(result.get("action")?.as_str()?.to_owned())).collect();
    let is_sure = answer.structured.get("confidence").and_then(Value::as_str) == Some("high");
    let place = found.iter().position(|id| case.right.contains(id));
    CaseOutcome { place, is_sure, found }
}

fn report(cases: &[FindCase], outcomes: &[CaseOutcome]) -> Value {
    let is_right = |case: &FindCase, outcome: &CaseOutcome, within: usize| match case.right.is_empty() {
        true => outcome.found.is_empty(),
        false => outcome.place.is_some_and(|place| place < within),
    };
    let pairs = || cases.iter().zip(outcomes);
    let count = |within: usize| pairs().filter(|(case, outcome)| is_right(case, outcome, within)).count();
    let sure = pairs().filter(|(_, outcome)| outcome.is_sure);
    let (mut all_sure, mut sure_right) = (0, 0);
    for (case, outcome) in sure {
        all_sure += 1;
        sure_right += usize::from(is_right(case, outcome, 1));
    }
    let misses: Vec<Value> = pairs()
        .filter(|(case, outcome)| !is_right(case, outcome, 1))
        .map(|(case, outcome)| {
            json!({"line": case.line, "query": case.query, "right": case.right.join(", "), "found": outcome.found.join(", ")})
        })
        .collect();
    json!({
        "requests": cases.len(), "first": percent(count(1), cases.len()), "in_five": percent(count(5), cases.len()),
        "sure": percent(all_sure, cases.len()), "right_if_sure": percent(sure_right, all_sure), "misses": misses,
    })
}

/// A share in percent, to one decimal.
fn percent(part: usize, whole: usize) -> Value {
    let whole = u32::try_from(whole).unwrap_or(u32::MAX);
    let part = u32::try_from(part).unwrap_or(u32::MAX);
    match whole {
        0 => Value::Null,
        whole => json!((f64::from(part) * 1000.0 / f64::from(whole)).round() / 10.0),
    }
}
