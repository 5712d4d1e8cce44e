//! Meanings of an unknown or ambiguous name: the read that it means without doubt, or an error that suggests actions
//! with their signatures, so that no further find is needed.

use serde_json::{Map, Value, json};

use crate::call::Checked;
use crate::catalog::{Action, Risk, Verb, signature};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::{FIND, NextCall};
use crate::search::action_names as names;
use crate::search::{Confidence, Query, similarity};
use crate::text::excerpt;
use crate::tools::action_lookup::resolved::ResolvedAction;
use crate::tools::default_project;
use crate::tools::state::Tools;

/// Maximum number of candidates.
const MAX_CANDIDATES: usize = 3;

/// Bytes of a signature: the first's, and each other's.
const SIGNATURES: [usize; MAX_CANDIDATES] = [700, 320, 320];

/// Maximum size of a name in bytes.
const MAX_NAME_BYTES: usize = 200;

/// The number of the read that an unknown name means without doubt: the name is a misspelling of its id, or the finder
/// is sure of it, and the parameters make a call of it; or of several ids with these words, or of a domain that is asked
/// to be read, it is the only one that they make a call of. Otherwise the error of [`unknown_action`].
pub fn read_by_unknown_name(
    tools: &Tools,
    given: &str,
    params: &Map<String, Value>,
) -> Result<usize, ToolError> {
    let likely = likely_actions(tools, given, &query(given))?;
    let within = within(tools, &likely.actions, given)?;
    let is_misspelt = |first: &Action| likely.nearest.as_ref() == Some(&first.id);
    let is_whole = |first: &Action| is_misspelt(first) && spells_whole(given, &first.id);
    let read = match (within.len(), likely.actions.first()) {
        // A verb or a noun alone may be of anything.
        (_, first) if names::words(given).len() < 2 && !first.is_some_and(is_whole) => None,
        (2.., _) => only_read(tools, &within, params),
        (_, Some(first)) if likely.sure || is_misspelt(first) => {
            only_read(tools, std::slice::from_ref(first), params)
        }
        _ => None,
    };
    match read.map_or_else(|| only_read_of_domain(tools, given, params), |read| Ok(Some(read)))? {
        Some(number) => Ok(number),
        None => Err(unknown_action_error(tools, given, params, &likely)?),
    }
}

/// The error of an unknown action: candidates, and the call of the likeliest if it takes the given parameters;
/// otherwise a find.
pub fn unknown_action(tools: &Tools, given: &str, params: &Map<String, Value>) -> ToolError {
    let likely = likely_actions(tools, given, &query(given));
    let error = likely.and_then(|likely| unknown_action_error(tools, given, params, &likely));
    error.unwrap_or_else(|error| error)
}

/// Similarity from which a name is taken for the misspelt id of an action that changes something.
const ALIKE: f64 = 0.7;

fn unknown_action_error(
    tools: &Tools,
    given: &str,
    params: &Map<String, Value>,
    likely: &Likely,
) -> Result<ToolError, ToolError> {
    let Likely { actions, nearest, sure } = likely;
    let error =
        ToolError::new(ErrorKind::UnknownAction, format!("there is no action `{}`", excerpt(given, 80)));
    let mut within = within(tools, actions, given)?;
    within.sort_by_key(|action| action.risk);
    if within.len() > 1 {
        return Ok(ambiguous(format!("`{given}` may mean {}", listed(&within)), given, &within));
    }
    let language = &tools.catalog.words()?.language;
    let hint = match actions.is_empty() {
        true => format!("{FIND} finds actions by words, ids, REST paths and URLs."),
        false => "`candidates` lists similar actions with their signatures.".to_owned(),
    };
    let error = with_candidates(error.hint(hint), actions);
    // A write needs a misspelt id that is nearest to it; a read may be tried.
    let is_bare = names::words(given).len() < 2;
    let may_run = |action: &&Action| match action.risk {
        // `list` is spelt like `tag.list` and means as little the one as any other.
        _ if is_bare && !spells_whole(given, &action.id) => false,
        Risk::Read => *sure || nearest.as_ref() == Some(&action.id),
        Risk::Write => nearest.as_ref() == Some(&action.id) && similarity(given, &action.id) >= ALIKE,
        Risk::Grant | Risk::Destructive => false,
    };
    // Among several actions with these words, the only one that accepts the given parameters.
    let parts = actions.iter().filter(|action| names::is_part(action, language, given));
    let mut going =
        parts.filter(|action| !is_bare && !params.is_empty() && is_callable(tools, action, params));
    if let (Some(only), None) = (going.next(), going.next())
        && only.risk == Risk::Read
    {
        return Ok(error.fix(NextCall::execute(&only.id, &params)));
    }
    Ok(match actions.iter().filter(may_run).find(|action| is_callable(tools, action, params)) {
        Some(action) => error.fix(NextCall::execute(&action.id, &params)),
        None => error.fix(NextCall::find(json!({"query": query(given)}))),
    })
}

/// The number of the only one among several meanings of a name that reads and takes the given parameters. Otherwise
/// the error: each action with its signature, and the call of the first that takes the given parameters.
pub fn read_by_ambiguous_name(
    tools: &Tools,
    given: &str,
    numbers: &[usize],
    params: &Map<String, Value>,
) -> Result<usize, ToolError> {
    let decoded = numbers.iter().map(|number| tools.catalog.action(*number));
    let mut actions: Vec<Action> = decoded.collect::<Result<_, _>>()?;
    // Reads first. A noun alone asks for nothing to be deleted.
    actions.sort_by_key(|action| action.risk);
    let is_bare = names::words(given).len() < 2;
    if is_bare && actions.first().is_some_and(|first| first.risk != Risk::Destructive) {
        actions.retain(|action| action.risk != Risk::Destructive);
    }
    let message = format!("`{}` may mean {}", excerpt(given, 80), listed(&actions));
    let offered: Vec<Action> =
        actions.into_iter().filter(|action| tools.withholds(action).is_none()).collect();
    let only = only_read(tools, &offered, params).filter(|_| !is_bare);
    if let Some(number) = only {
        return Ok(number);
    }
    let taking = offered.iter().filter(|action| action.risk != Risk::Destructive);
    let first = taking.clone().find(|action| is_callable(tools, action, params));
    let error = ambiguous(message, given, &offered);
    Err(match first {
        Some(action) => error.fix(NextCall::execute(&action.id, &params)),
        None => error,
    })
}

/// The error of a write that was named by a verb of another id: it has to be called by its own. What the finder finds
/// for the name is offered as well: `epic.comment` is no `epic.create`. The action with the other verb is a call only if the
/// finder is sure of it: `environment.start` creates none, and to drop, kick or unset a thing need not delete it.
pub fn write_by_other_verb(tools: &Tools, given: &str, resolved: &ResolvedAction) -> ToolError {
    let params = &resolved.request.params;
    let Likely { actions, sure, .. } = match likely_actions(tools, given, &query(given)) {
        Ok(likely) => likely,
        Err(error) => return error,
    };
    let may_follow = |action: &&Action| {
        matches!(action.risk, Risk::Read | Risk::Write) && is_callable(tools, action, params)
    };
    let is_another = |first: &&Action| sure || first.id != resolved.action.id;
    let fix = match actions.first().filter(is_another).filter(may_follow) {
        Some(first) => NextCall::execute(&first.id, params),
        None => NextCall::find(json!({"query": query(given)})),
    };
    other_action_error(given, actions, resolved, fix)
}

/// The error of a write whose name has the domain of other actions: `repository.archive` archives no project. Reads come
/// first, and only a read is offered as a call.
pub fn write_of_other_domain(tools: &Tools, given: &str, resolved: &ResolvedAction) -> ToolError {
    let params = &resolved.request.params;
    let mut actions = match likely_actions(tools, given, &query(given)) {
        Ok(likely) => likely.actions,
        Err(error) => return error,
    };
    actions.sort_by_key(|action| action.risk);
    let read = actions.first().filter(|first| first.risk == Risk::Read && is_callable(tools, first, params));
    let fix = match read {
        Some(read) => NextCall::execute(&read.id, params),
        None => NextCall::find(json!({"query": query(given)})),
    };
    other_action_error(given, actions, resolved, fix)
}

/// The error of a name that means another action than it says, with that action among the candidates.
fn other_action_error(
    given: &str,
    mut actions: Vec<Action>,
    resolved: &ResolvedAction,
    fix: NextCall,
) -> ToolError {
    if !actions.iter().any(|action| action.id == resolved.action.id) {
        actions.truncate(MAX_CANDIDATES - 1);
        actions.push(resolved.action.clone());
    }
    let error =
        ToolError::new(ErrorKind::UnknownAction, format!("there is no action `{}`", excerpt(given, 80)))
            .hint("`candidates` lists similar actions with their signatures.")
            .fix(fix);
    with_candidates(error, &actions)
}

/// True if a name is about as long as the id: `issuelist` has all letters of one, `list` those of a verb alone.
fn spells_whole(given: &str, id: &str) -> bool {
    given.len() + 2 >= id.len()
}

/// The actions whose ids have every word of a name.
fn within(tools: &Tools, actions: &[Action], given: &str) -> Result<Vec<Action>, ToolError> {
    let language = &tools.catalog.words()?.language;
    Ok(actions.iter().filter(|action| names::is_within(action, language, given)).cloned().collect())
}

/// Ids as a sentence has them: `issue.get` or `epic.get`.
pub fn listed(actions: &[Action]) -> String {
    let ids: Vec<String> = actions.iter().map(|action| format!("`{}`", action.id)).collect();
    ids.join(" or ")
}

fn ambiguous(message: String, given: &str, actions: &[Action]) -> ToolError {
    let error = ToolError::new(ErrorKind::AmbiguousAlias, message)
        .hint("Call one of them by its id; `candidates` has their signatures.")
        .fix(NextCall::find(json!({"query": names::words(given).join(" ")})));
    with_candidates(error, actions)
}

/// The number of the only action for which the parameters are valid, if it is a read. None without parameters, which
/// would fit every action.
fn only_read(tools: &Tools, actions: &[Action], params: &Map<String, Value>) -> Option<usize> {
    let mut callable = actions.iter().filter(|action| is_callable(tools, action, params));
    match (callable.next(), callable.next()) {
        (Some(only), None) if only.risk == Risk::Read && (actions.len() == 1 || !params.is_empty()) => {
            tools.catalog.number(&only.id)
        }
        _ => None,
    }
}

/// The number of the read that `ci_lint.get` means: of all actions of that domain it is the only one that the parameters
/// make a call of, and the verb asks for a read.
fn only_read_of_domain(
    tools: &Tools,
    given: &str,
    params: &Map<String, Value>,
) -> Result<Option<usize>, ToolError> {
    let Some((domain, verb)) = given.split_once('.').filter(|_| !params.is_empty()) else { return Ok(None) };
    let verbs = &tools.catalog.words()?.language.verbs;
    let reads =
        |known: &&Verb| known.mean.first().is_some_and(|mean| ["get", "list"].contains(&mean.as_str()));
    if !verbs.iter().filter(reads).any(|known| known.say.iter().any(|said| said == verb)) {
        return Ok(None);
    }
    let mut actions = Vec::new();
    for id in tools.catalog.ids().filter(|id| id.split_once('.').is_some_and(|(of, _)| of == domain)) {
        let action = tools.catalog.get(id)?;
        actions.extend(action.filter(|action| tools.withholds(action).is_none()));
    }
    Ok(only_read(tools, &actions, params))
}

/// The action that the finder has first for some words.
pub fn likeliest(tools: &Tools, words: &str) -> Option<Action> {
    likely_actions(tools, words, words).ok()?.actions.into_iter().next()
}

/// The finder's query for an unknown name.
fn query(given: &str) -> String {
    let words = names::words(given).join(" ");
    let words = if given.len() > MAX_NAME_BYTES { excerpt(given, 80) } else { words };
    if words.trim().is_empty() { "list projects".to_owned() } else { words }
}

/// The parameters checked for the action, as far as that goes without asking GitLab.
pub fn checked(tools: &Tools, action: &Action, params: &Map<String, Value>) -> Option<Checked> {
    let (context, notes) = (tools.context().ok()?, &mut Vec::new());
    let checked = default_project::check(tools, action, params.clone(), &context, notes).ok()?;
    let known = tools.lookup_cache.lock().ok()?.clone();
    checked.step(&known).is_ok().then_some(checked)
}

/// True if the parameters make a call of the action, as far as is known without a request.
pub fn is_callable(tools: &Tools, action: &Action, params: &Map<String, Value>) -> bool {
    checked(tools, action, params).is_some()
}

/// The call of an action with these parameters, if they make one and policy does not withhold the action.
pub fn offer(tools: &Tools, action: &Action, params: &Map<String, Value>) -> Option<NextCall> {
    let may_run = tools.may_run(action) && is_callable(tools, action, params);
    may_run.then(|| NextCall::execute(&action.id, params))
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

/// Candidates for an unknown name.
#[derive(Default)]
struct Likely {
    /// The likeliest first.
    actions: Vec<Action>,
    /// The id that the name is a misspelling of.
    nearest: Option<String>,
    /// True if the finder is sure of its first result.
    sure: bool,
}

fn likely_actions(tools: &Tools, given: &str, query: &str) -> Result<Likely, ToolError> {
    if given.len() > MAX_NAME_BYTES {
        return Ok(Likely::default());
    }
    let allow = |action: &Action| tools.withholds(action).is_none();
    let asked = Query { words: query, limit: MAX_CANDIDATES, domain: None, allow: &allow, explain: false };
    let ranker = tools.ranker()?;
    let ranking = ranker.rank(&tools.catalog, &asked)?;
    let sure = ranking.confidence == Confidence::High;
    let mut actions: Vec<Action> = match ranking.confidence {
        Confidence::None => Vec::new(),
        _ => ranking.hits.into_iter().map(|hit| hit.action).collect(),
    };
    let language = &tools.catalog.words()?.language;
    // Nonsense must not lead to an action that deletes something.
    let is_bare = names::words(given).len() < 2;
    actions.retain(|action| {
        action.risk != Risk::Destructive || (!is_bare && names::shares_word(action, language, given))
    });
    if is_bare {
        actions.sort_by_key(|action| action.risk);
    }
    // Two ids may be spelt alike and be far from each other.
    let nearest = crate::search::nearest(given, tools.catalog.ids());
    let nearest = nearest.filter(|id| names::is_misspelt(&tools.catalog, language, given, id));
    let near = nearest.map(|id| tools.catalog.get(id)).transpose()?;
    let is_offered = |action: &Action| {
        let is_guess = is_bare && !spells_whole(given, &action.id) && action.risk == Risk::Destructive;
        !is_guess && tools.withholds(action).is_none()
    };
    if let Some(action) = near.flatten().filter(is_offered) {
        actions.retain(|known| known.id != action.id);
        actions.insert(0, action);
        actions.truncate(MAX_CANDIDATES);
    }
    Ok(Likely { actions, nearest: nearest.map(str::to_owned), sure })
}
