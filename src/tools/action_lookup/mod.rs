//! Which action is meant by what stands as `action`: an id, an alias, a name as another server has it, a REST request
//! or the address of one of GitLab's pages. One that is plainly meant runs, and the reply says what was understood.

pub mod by_path;
pub mod names;
pub mod request_limits;
pub mod resolved;
pub mod suggestions;

use serde_json::{Map, Value, json};

use crate::catalog::{Action, Language, Risk};
use crate::tools::errors::{self, ErrorKind, ToolError};
use crate::tools::local_files;
use crate::tools::state::Tools;
use crate::tools::types::{EXECUTE, ExecuteRequest, NextCall};
use resolved::{ResolvedAction, by_number};

/// The action that is meant, or the error that names those that may be.
pub fn resolve(tools: &Tools, request: &ExecuteRequest) -> Result<ResolvedAction, ToolError> {
    request_limits::check(request)?;
    let given = request.action.trim();
    let mut meant = match tools.catalog.number(given) {
        Some(number) => by_number(&tools.catalog, number, request, Vec::new())?,
        None => match by_path::resolve(tools, request) {
            Some(located) => located?,
            None => resolve_name(tools, given, request)?,
        },
    };
    lift_arguments(&mut meant)?;
    Ok(meant)
}

fn resolve_name(tools: &Tools, given: &str, request: &ExecuteRequest) -> Result<ResolvedAction, ToolError> {
    let language = &tools.catalog.words().map_err(|error| errors::internal(&error))?.language;
    let aliased = tools.catalog.by_alias(given);
    let (numbers, by_verb) = match aliased.is_empty() {
        false => (aliased, false),
        true => {
            let meanings = names::match_name(&tools.catalog, language, given);
            (meanings.actions, meanings.by_verb)
        }
    };
    let number = match numbers.as_slice() {
        [] => return Err(suggestions::unknown_action(tools, given, &request.params)),
        [only] => *only,
        several => return Err(suggestions::ambiguous_alias(tools, given, several, &request.params)?),
    };
    let mut meant = by_number(&tools.catalog, number, request, Vec::new())?;
    let choice = choice_in_name(&meant.action, language, given, &request.params);
    if by_verb && meant.action.risk != Risk::Read && choice.is_none() {
        return Err(likely_write_error(given, &meant));
    }
    let mut note = format!("understood `{given}` as the action `{}`", meant.action.id);
    if let Some((name, value)) = choice {
        note = format!("{note} with `{name}: {value}`");
        meant.request.params.insert(name, json!(value));
    }
    meant.notes.push(note);
    meant.notes.extend(local_files::note_on_name(&language.local, given, &meant.action.id));
    Ok(meant)
}

/// A change that another word stands for is made when it is said by its own.
fn likely_write_error(given: &str, meant: &ResolvedAction) -> ToolError {
    let error = ToolError::new(ErrorKind::UnknownAction, format!("there is no action `{given}`"))
        .hint(format!("`{}` may be meant; `candidates` has what it takes.", meant.action.id))
        .fix(NextCall::execute(&meant.action.id, &meant.request.params));
    suggestions::with_candidates(error, std::slice::from_ref(&meant.action))
}

/// What a name says that the action's id does not, as the value of the one parameter that has it among its choices:
/// `close` of `close_issue` is `state_event: close`. Only verbs: other words of a name may stand for anything.
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

/// Arguments of the tool that stand among the action's parameters, where the action has none of that name. Consent is
/// not lifted: parameters hold what others wrote.
fn lift_arguments(meant: &mut ResolvedAction) -> Result<(), ToolError> {
    let ResolvedAction { action, request, notes } = meant;
    let stray =
        |name: &str, params: &Map<String, Value>| action.param(name).is_none() && params.contains_key(name);
    if stray("confirm", &request.params) {
        let mut params = request.params.clone();
        let confirm = params.remove("confirm");
        let message = format!("`confirm` is no parameter of {}: it stands beside `params`", action.id);
        return Err(ToolError::new(ErrorKind::InvalidParams, message).fix(NextCall::new(
            EXECUTE,
            json!({"action": action.id, "params": params, "confirm": confirm}),
        )));
    }
    for name in ["fields", "view", "dry_run", "offset"] {
        let Some(value) = request.params.get(name).filter(|_| stray(name, &request.params)) else { continue };
        let Ok(Value::Object(mut whole)) = serde_json::to_value(&*request) else { continue };
        whole.insert(name.to_owned(), value.clone());
        // What is no such argument stays, and is refused as a parameter.
        let Ok(mut lifted) = serde_json::from_value::<ExecuteRequest>(Value::Object(whole)) else { continue };
        lifted.params.remove(name);
        notes.push(format!("understood `{name}` as the argument beside `params`"));
        *request = lifted;
    }
    Ok(())
}
