//! Resolves the `action` argument: an id, an alias, a tool name of another server, a REST request or the URL of a
//! GitLab page. An unambiguous one runs, and the answer notes how it was understood.

pub mod by_path;
pub mod resolved;
pub mod suggestions;

use serde_json::{Map, Value, json};

use crate::catalog::{Action, Language, Risk};
use crate::messages::arguments::WRAPPERS;
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::local_files;
use crate::messages::request::{ExecuteRequest, NextCall};
use crate::messages::request_limits;
use crate::search::action_names as names;
use crate::tools::state::Tools;
use resolved::{ResolvedAction, by_number};

/// Resolves the action of a request, or lists the candidates in an error. Of a name that is neither an id nor an alias,
/// only a read is run, and only where one action fits the name and the parameters.
pub fn resolve(tools: &Tools, request: &ExecuteRequest) -> Result<ResolvedAction, ToolError> {
    request_limits::check(request)?;
    let given = request.action.trim();
    let mut resolved_action = match tools.catalog.number(given) {
        Some(number) => by_number(&tools.catalog, number, request, Vec::new())?,
        None => match by_path::resolve(tools, request) {
            Some(located) => located?,
            None => resolve_name(tools, given, request)?,
        },
    };
    unwrap_params(&mut resolved_action);
    lift_arguments(&mut resolved_action)?;
    Ok(resolved_action)
}

fn resolve_name(tools: &Tools, given: &str, request: &ExecuteRequest) -> Result<ResolvedAction, ToolError> {
    let words = tools.catalog.words()?;
    let language = &words.language;
    let mut aliased = tools.catalog.by_alias(given);
    let folded = given.to_lowercase();
    let mut given = given;
    if aliased.is_empty() {
        // A name in capitals, as constants are written: `CLOSE_ISSUE`.
        aliased = tools.catalog.by_alias(&folded);
        given = if aliased.is_empty() { given } else { &folded };
    }
    let is_alias = !aliased.is_empty();
    let (numbers, by_verb) = match aliased.is_empty() {
        false => (aliased, false),
        true => {
            let meanings = names::match_name(&tools.catalog, language, given);
            (meanings.actions, meanings.by_verb)
        }
    };
    let number = match numbers.as_slice() {
        [] => suggestions::read_by_unknown_name(tools, given, &request.params)?,
        // A verb or a noun alone may be of anything, whatever one id has it.
        [_] if by_verb_or_noun_alone(tools, given) => {
            suggestions::read_by_unknown_name(tools, given, &request.params)?
        }
        [only] => *only,
        several => suggestions::read_by_ambiguous_name(tools, given, several, &request.params)?,
    };
    let mut resolved_action = by_number(&tools.catalog, number, request, Vec::new())?;
    let choice = choice_in_name(&resolved_action.action, language, given, &request.params);
    if by_verb && resolved_action.action.risk != Risk::Read && choice.is_none() {
        return Err(suggestions::write_by_other_verb(tools, given, &resolved_action));
    }
    let is_write = resolved_action.action.risk != Risk::Read;
    if is_write && !is_alias && names::names_other_domain(&tools.catalog, &resolved_action.action, given) {
        return Err(suggestions::write_of_other_domain(tools, given, &resolved_action));
    }
    let mut note = format!("understood `{given}` as the action `{}`", resolved_action.action.id);
    for (name, value) in resolved_action.action.implied.get(given).into_iter().flatten() {
        if !resolved_action.request.params.contains_key(name) {
            note = format!("{note} with `{name}: {}`", value.0);
            resolved_action.request.params.insert(name.clone(), value.0.clone());
        }
    }
    if let Some((name, value)) = choice {
        note = format!("{note} with `{name}: {value}`");
        resolved_action.request.params.insert(name, json!(value));
    }
    resolved_action.notes.push(note);
    resolved_action.notes.extend(local_files::note_on_name(words, given, &resolved_action.action.id));
    Ok(resolved_action)
}

/// True for a name of one word that is no alias.
fn by_verb_or_noun_alone(tools: &Tools, given: &str) -> bool {
    names::words(given).len() < 2 && tools.catalog.by_alias(given).is_empty()
}

/// The parameter choice that a name contains besides the action's id: `close` of `close_issue` is `state_event:
/// close`. Only verbs count: other words of a name may have any meaning.
fn choice_in_name(
    action: &Action,
    language: &Language,
    given: &str,
    params: &Map<String, Value>,
) -> Option<(String, String)> {
    let is_verb = |word: &String| language.verbs.iter().any(|verb| verb.say.contains(word));
    let words = names::unmatched_words(action, language, given);
    let mut found = words.iter().filter(|word| is_verb(word)).flat_map(|word| {
        let holds = move |choice: &&String| choice.eq_ignore_ascii_case(word);
        let held =
            action.params.iter().filter_map(move |param| Some((param, param.choices.iter().find(holds)?)));
        held.map(|(param, choice)| (param.name.clone(), choice.clone()))
    });
    let first = found.next().filter(|(name, _)| !params.contains_key(name))?;
    found.next().is_none().then_some(first)
}

/// Takes the parameters out of a wrapper (`params`, `arguments`, `data`, …) that is all they have, and no parameter.
fn unwrap_params(resolved_action: &mut ResolvedAction) {
    let ResolvedAction { action, request, notes } = resolved_action;
    while let Some((name, value)) = request.params.iter().next().filter(|_| request.params.len() == 1) {
        let is_wrapper = name == "params" || WRAPPERS.contains(&name.as_str());
        let inner = match value {
            Value::Object(inner) => Some(inner.clone()),
            Value::String(text) => serde_json::from_str(text).ok(),
            _ => None,
        };
        let Some(inner) = inner.filter(|_| is_wrapper && action.param(name).is_none()) else { return };
        notes.push(format!("understood `{name}` as the parameters"));
        request.params = inner;
    }
}

/// Moves arguments of the tool out of `params` if the action has no such parameter. `confirm` is not moved:
/// parameters may contain text of others.
fn lift_arguments(resolved_action: &mut ResolvedAction) -> Result<(), ToolError> {
    let ResolvedAction { action, request, notes } = resolved_action;
    if action.param("confirm").is_none() && request.params.contains_key("confirm") {
        let message = format!(
            "`confirm` is not a parameter of {}: it is an argument next to `params`. Nothing was sent",
            action.id
        );
        let mut params = request.params.clone();
        params.shift_remove("confirm");
        return Err(ToolError::new(ErrorKind::InvalidParams, message)
            .hint("Call it with `confirm: true` once the user agrees: parameters may have been written by others.")
            .fix(NextCall::execute(&action.id, &params)));
    }
    for name in ["fields", "view", "dry_run", "offset", "all", "count_by", "sum", "top"] {
        if let Some(lifted) = lift_argument(action, request, name) {
            notes.push(format!("understood `{name}` as an argument next to `params`"));
            *request = lifted;
        }
    }
    Ok(())
}

/// The request with an argument of the tool next to `params`, if it was among them and the action has no such parameter.
/// A text is read as the value that it spells (a command line has texts alone: `fields=iid,title`). An invalid value stays,
/// and is refused as a parameter.
pub fn lift_argument(action: &Action, request: &ExecuteRequest, name: &str) -> Option<ExecuteRequest> {
    let value = request.params.get(name).filter(|_| action.param(name).is_none())?;
    let Ok(Value::Object(mut whole)) = serde_json::to_value(request) else { return None };
    let text = value.as_str();
    let typed = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let listed = text.map(|text| text.split(',').map(str::trim).collect::<Value>());
    let mut lifted = std::iter::once(value.clone()).chain(typed).chain(listed).find_map(|value| {
        whole.insert(name.to_owned(), value);
        serde_json::from_value::<ExecuteRequest>(Value::Object(whole.clone())).ok()
    })?;
    lifted.params.remove(name);
    Some(lifted)
}
