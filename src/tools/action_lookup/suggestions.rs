//! Errors that suggest actions for an unknown or ambiguous name, with their signatures, so that no further find is
//! needed.

use serde_json::{Map, Value, json};

use crate::call::Checked;
use crate::catalog::{Action, Risk, signature};
use crate::search::{Confidence, Query};
use crate::text::excerpt;
use crate::tools::action_lookup::names;
use crate::tools::default_project;
use crate::tools::errors::{self, ErrorKind, ToolError};
use crate::tools::state::Tools;
use crate::tools::types::{FIND, NextCall};

/// Maximum number of candidates.
const MOST: usize = 3;

/// Bytes of a signature: the first's, and each other's.
const SIGNATURES: [usize; MOST] = [700, 320, 320];

/// Maximum size of a name in bytes.
const LONGEST: usize = 200;

/// The error of an unknown action: candidates, and the call of the likeliest if it takes the given parameters;
/// otherwise a find.
pub fn unknown_action(tools: &Tools, given: &str, params: &Map<String, Value>) -> ToolError {
    let short: String = excerpt(given, 80);
    let error = ToolError::new(ErrorKind::UnknownAction, format!("there is no action `{short}`"));
    let words = names::words(given).join(" ");
    let words = if given.len() > LONGEST { short } else { words };
    let query = if words.trim().is_empty() { "list projects".to_owned() } else { words };
    let (actions, nearest, sure) = match likely_actions(tools, given, &query) {
        Ok(likely) => likely,
        Err(error) => return error,
    };
    let language = match tools.catalog.words() {
        Ok(words) => &words.language,
        Err(error) => return errors::internal(&error),
    };
    let within: Vec<Action> =
        actions.iter().filter(|action| names::is_within(action, language, given)).cloned().collect();
    if within.len() > 1 {
        return ambiguous_name(tools, given, &within, params);
    }
    let hint = match actions.is_empty() {
        true => format!("{FIND} finds actions by words, ids, REST paths and URLs."),
        false => "`candidates` lists similar actions with their signatures.".to_owned(),
    };
    let error = with_candidates(error.hint(hint), &actions);
    // A write needs a misspelt id that is nearest to it; a read may be tried.
    let may_run = |action: &&Action| match action.risk {
        Risk::Read => sure || nearest.as_ref() == Some(&action.id),
        Risk::Write => nearest.as_ref() == Some(&action.id),
        Risk::Grant | Risk::Destructive => false,
    };
    // Among several actions with these words, the only one that accepts the given parameters.
    let parts = actions.iter().filter(|action| names::is_part(action, language, given));
    let mut going = parts.filter(|action| !params.is_empty() && is_callable(tools, action, params));
    if let (Some(only), None) = (going.next(), going.next())
        && only.risk == Risk::Read
    {
        return error.fix(NextCall::execute(&only.id, &params));
    }
    match actions.iter().filter(may_run).find(|action| is_callable(tools, action, params)) {
        Some(action) => error.fix(NextCall::execute(&action.id, &params)),
        None => error.fix(NextCall::find(json!({"query": query}))),
    }
}

/// Several actions have the words of a name: a change among them is not offered.
fn ambiguous_name(tools: &Tools, given: &str, actions: &[Action], params: &Map<String, Value>) -> ToolError {
    let ids: Vec<String> = actions.iter().map(|action| format!("`{}`", action.id)).collect();
    let message = format!("`{given}` may mean {}", ids.join(" or "));
    let error = ToolError::new(ErrorKind::AmbiguousAlias, message)
        .hint("Call one of them by its id; `candidates` has their signatures.");
    let error = with_candidates(error, actions);
    let reads = actions.iter().filter(|action| action.risk == Risk::Read);
    let mut going = reads.filter(|action| is_callable(tools, action, params));
    match (going.next(), going.next()) {
        (Some(only), None) => error.fix(NextCall::execute(&only.id, &params)),
        _ => error.fix(NextCall::find(json!({"query": names::words(given).join(" ")}))),
    }
}

/// The error of an ambiguous alias: each action with its signature, and the call of the first that takes the given
/// parameters.
pub fn ambiguous_alias(
    tools: &Tools,
    given: &str,
    numbers: &[usize],
    params: &Map<String, Value>,
) -> Result<ToolError, ToolError> {
    let decoded = numbers.iter().map(|number| tools.catalog.action(*number));
    let actions: Vec<Action> = decoded.collect::<Result<_, _>>().map_err(|error| errors::internal(&error))?;
    let short: String = excerpt(given, 80);
    let ids: Vec<String> = actions.iter().map(|action| format!("`{}`", action.id)).collect();
    let message = format!("`{short}` may mean {}", ids.join(" or "));
    let offered: Vec<Action> =
        actions.into_iter().filter(|action| tools.withholds(action).is_none()).collect();
    let error = ToolError::new(ErrorKind::AmbiguousAlias, message)
        .hint("Call one of them by its id; `candidates` has their signatures.");
    let error = with_candidates(error, &offered);
    let taking = offered.iter().filter(|action| action.risk != Risk::Destructive);
    let first = taking.clone().find(|action| is_callable(tools, action, params));
    Ok(match first {
        Some(action) => error.fix(NextCall::execute(&action.id, &params)),
        None => error.fix(NextCall::find(json!({"query": names::words(given).join(" ")}))),
    })
}

/// The parameters checked for the action, as far as that goes without asking GitLab.
pub fn checked(tools: &Tools, action: &Action, params: &Map<String, Value>) -> Option<Checked> {
    let (context, notes) = (tools.context().ok()?, &mut Vec::new());
    let checked = default_project::check(tools, action, params.clone(), &context, notes).ok()?;
    let known = tools.known.lock().ok()?.clone();
    checked.step(&known).is_ok().then_some(checked)
}

/// True if the parameters make a call of the action, as far as is known without a request.
pub fn is_callable(tools: &Tools, action: &Action, params: &Map<String, Value>) -> bool {
    checked(tools, action, params).is_some()
}

/// The error with actions to choose from.
pub fn with_candidates(mut error: ToolError, actions: &[Action]) -> ToolError {
    let shown = actions.iter().zip(SIGNATURES).map(|(action, bytes)| {
        json!({
            "action": action.id,
            "risk": action.risk.name(),
            "summary": action.summary,
            "signature": signature(action, bytes, ""),
        })
    });
    let shown: Vec<Value> = shown.collect();
    if !shown.is_empty() {
        error.details.insert("candidates".to_owned(), Value::Array(shown));
    }
    error
}

/// The likeliest actions, the id that is all but spelt like what was given, and whether the finder is sure of its
/// first.
fn likely_actions(
    tools: &Tools,
    given: &str,
    query: &str,
) -> Result<(Vec<Action>, Option<String>, bool), ToolError> {
    if given.len() > LONGEST {
        return Ok((Vec::new(), None, false));
    }
    let allow = |action: &Action| tools.withholds(action).is_none();
    let asked = Query { words: query, limit: MOST, domain: None, allow: &allow, explain: false };
    let ranker = tools.ranker().map_err(|error| errors::internal(&error))?;
    let ranking = ranker.rank(&tools.catalog, &asked).map_err(|error| errors::internal(&error))?;
    let sure = ranking.confidence == Confidence::High;
    let mut actions: Vec<Action> = match ranking.confidence {
        Confidence::None => Vec::new(),
        _ => ranking.hits.into_iter().map(|hit| hit.action).collect(),
    };
    let language = &tools.catalog.words().map_err(|error| errors::internal(&error))?.language;
    // Nonsense must not lead to an action that deletes something.
    actions.retain(|action| action.risk != Risk::Destructive || names::shares_word(action, language, given));
    // Two ids may be spelt alike and be far from each other.
    let nearest = crate::search::nearest(given, tools.catalog.ids());
    let nearest = nearest.filter(|id| names::is_misspelt(&tools.catalog, language, given, id));
    let near =
        nearest.map(|id| tools.catalog.get(id)).transpose().map_err(|error| errors::internal(&error))?;
    if let Some(action) = near.flatten().filter(|action| tools.withholds(action).is_none()) {
        actions.retain(|known| known.id != action.id);
        actions.insert(0, action);
        actions.truncate(MOST);
    }
    Ok((actions, nearest.map(str::to_owned), sure))
}
