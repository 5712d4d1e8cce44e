//! Maps errors of checks, policy and GitLab to tool errors: kind, message, accepted values, next call.

use serde_json::{Map, Value, json};

use crate::call::{self, Call, Effects, Fault, FieldsError, Invalid};
use crate::catalog::{self, Action, Names, ObjectKind, Risk, Words, signature};
use crate::gitlab::{Applied, GitlabError};
use crate::messages::error::{self, ErrorKind, ToolError};
use crate::messages::gitlab_error::{hint, kind_of};
use crate::messages::request::{EXECUTE, ExecuteRequest, NextCall};
use crate::policy::Rule;
use crate::text::{error_chain, is_digits, list_first, plain_text};
use crate::tools::action_lookup::suggestions;
use crate::tools::state::Tools;
use crate::tools::state::token_info::TokenStanding;

/// Bytes of a signature in an error; more only by required parameters.
const SIGNATURE: usize = 400;

/// Maximum bytes of a signature in place of the list of the accepted parameters.
const WHOLE_SIGNATURE: usize = 1000;

/// Fields that the answer has not: those that it has where the path ends, and the call with the nearest.
pub fn fields(error: &FieldsError, request: &ExecuteRequest) -> ToolError {
    const SHOWN: usize = 60;
    let (path, step, nearest, accepted) = match error {
        FieldsError::Unknown { path, step, accepted, .. } => {
            let nearest = crate::search::nearest(step, accepted.iter().map(String::as_str));
            (path, step, nearest.map(str::to_owned), accepted.as_slice())
        }
        FieldsError::Leaf { path, step } => (path, step, Some(step.clone()), Default::default()),
        FieldsError::Catalog(error) => return error::internal(error),
    };
    let told = ToolError::new(ErrorKind::InvalidParams, format!("`fields`: {error}"));
    let told = match accepted {
        [] => told,
        names => told.hint(format!("It has {}.", list_first(names.iter().map(String::as_str), SHOWN))),
    };
    let Some(nearest) = nearest else { return told };
    let mended = replace_step(path, step, &nearest, matches!(error, FieldsError::Leaf { .. }));
    let fields = request.fields.iter().flatten();
    let fields = fields.map(|field| if field == path { mended.clone() } else { field.clone() }).collect();
    told.fix(NextCall::for_request(&ExecuteRequest { fields: Some(fields), ..request.clone() }))
}

/// Replaces a step of a path. The path ends there if the step has no fields.
fn replace_step(path: &str, step: &str, nearest: &str, ends: bool) -> String {
    let mut steps = Vec::new();
    for word in path.split('.') {
        let is_it = word.trim_end_matches("[]") == step;
        steps.push(if is_it { nearest } else { word });
        if is_it && ends {
            break;
        }
    }
    steps.join(".")
}

/// The error of a call with invalid parameters: each fault with the accepted values, and the corrected call if the
/// faults determine it. Or the error of a target that another action works on.
pub fn invalid_call(tools: &Tools, invalid: &Invalid, action: &Action) -> ToolError {
    wrong_target(tools, invalid, action).unwrap_or_else(|| self::invalid(tools, invalid, action))
}

pub fn invalid(tools: &Tools, invalid: &Invalid, action: &Action) -> ToolError {
    if let [Fault::IsGraphql { body }] = invalid.faults.as_slice() {
        let error = ToolError::new(ErrorKind::InvalidParams, invalid.to_string());
        return error.fix(NextCall::execute("api.graphql", &as_document(body.as_ref())));
    }
    let mut params = invalid.right.clone();
    let mut hints = Vec::new();
    let mut repaired = true;
    // A catalog whose words cannot be read fails every call before this.
    let words = tools.catalog.words().ok();
    let mut missing = Vec::new();
    for fault in &invalid.faults {
        match repair(fault, action, words) {
            // A value that was given under the right name stays.
            Some((name, value, hint))
                if !(matches!(fault, Fault::Unknown { .. }) && params.contains_key(&name)) =>
            {
                params.insert(name, value);
                hints.push(hint);
            }
            None if matches!(fault, Fault::Missing { .. }) => missing.push(fault.name()),
            _ => repaired = false,
        }
    }
    // A parameter that another fault's correction fills is not missing.
    missing.retain(|name| !params.contains_key(*name));
    // A name that is only alike takes another kind of value: `approved: true` is no number of approvals.
    if repaired && missing.is_empty() && !suggestions::is_callable(tools, action, &params) {
        hints.clear();
        repaired = false;
    }
    let is_shown =
        |fault: &&Fault| !matches!(fault, Fault::Missing { .. }) || missing.contains(&fault.name());
    let faults = invalid.faults.iter().filter(is_shown).cloned().collect();
    let invalid = &Invalid { faults, ..invalid.clone() };
    let error = ToolError::new(ErrorKind::InvalidParams, invalid.to_string());
    let error = if hints.is_empty() { error } else { error.hint(hints.join(" ")) };
    match missing.as_slice() {
        [] if repaired => return error.fix(NextCall::execute(&invalid.action, &params)),
        [only] if repaired => {
            let list = list_of(tools, action, only, &params);
            if let Some(list) = list.or_else(|| search_everywhere(tools, action, only, &params)) {
                return error.fix(list);
            }
        }
        _ => {}
    }
    lead_to_same(tools, invalid, action, error)
}

/// The error with the action that does the same and takes the call; with the candidates if several do, as only the user
/// knows which object is meant.
fn lead_to_same(tools: &Tools, invalid: &Invalid, action: &Action, error: ToolError) -> ToolError {
    let (others, params) = takes_all(tools, invalid, action);
    let hint = |others: &[Action]| format!("{} does the same and takes it.", suggestions::listed(others));
    match others.as_slice() {
        [] => lead_on(tools, invalid, action, error),
        [other] => error.hint(hint(&others)).fix(NextCall::execute(&other.id, &params)),
        several => {
            let query = json!({"query": action.id.replace(['.', '_'], " ")});
            suggestions::with_candidates(error.hint(hint(several)), several).fix(NextCall::find(query))
        }
    }
}

/// The error of faults that no correction mends, with the signature of the action and the call to look at next.
fn lead_on(tools: &Tools, invalid: &Invalid, action: &Action, mut error: ToolError) -> ToolError {
    let is_unknown = invalid.faults.iter().any(|fault| matches!(fault, Fault::Unknown { .. }));
    let bytes = if is_unknown { WHOLE_SIGNATURE } else { SIGNATURE };
    error.details.insert(error::SIGNATURE.to_owned(), json!(signature(action, bytes, "")));
    let mut hints: Vec<String> = error.hint.take().into_iter().collect();
    hints.extend(action.usually.iter().map(|other| format!("`{other}` is usually the easier one.")));
    let another = sets_unknown(tools, invalid, action);
    hints
        .extend(another.iter().map(|(_, other)| format!("`{}` may be wanted: {}.", other.id, other.summary)));
    if !hints.is_empty() {
        error = error.hint(hints.join(" "));
    }
    if let Some((words, other)) = another {
        return suggestions::with_candidates(error, &[other]).fix(NextCall::find(json!({"query": words})));
    }
    error.fix(NextCall::schema_of(&invalid.action))
}

/// The action that the finder has for setting what a write was given and does not take, with the words that find it: an
/// issue is related to another by `issue_link.create`, and not by an update.
fn sets_unknown(tools: &Tools, invalid: &Invalid, action: &Action) -> Option<(String, Action)> {
    let mut unknown = invalid.faults.iter().filter(|fault| matches!(fault, Fault::Unknown { .. }));
    let (Some(only), None) = (unknown.next(), unknown.next()) else { return None };
    if action.risk == Risk::Read {
        return None;
    }
    let words = format!("set {} {}", action.domain(), only.name()).replace(['_', '.'], " ");
    let first = suggestions::likeliest(tools, &words)?;
    let is_other = first.id != action.id && matches!(first.risk, Risk::Write | Risk::Grant);
    (is_other && speaks_of(&first, only.name())).then_some((words, first))
}

/// True if the summary or the id of an action has a word of a parameter's name, in some form: `related_to`, `approved`.
fn speaks_of(action: &Action, name: &str) -> bool {
    const MIN_CHARACTERS: usize = 4;
    const STEM_CHARACTERS: usize = 6;
    let told = format!("{} {}", action.id, action.summary).to_lowercase();
    let mut stems = name.split(['_', '.']).filter(|word| word.len() >= MIN_CHARACTERS);
    stems.any(|word| told.contains(&word.chars().take(STEM_CHARACTERS).collect::<String>().to_lowercase()))
}

/// The call that lists what a missing parameter may name.
fn list_of(tools: &Tools, action: &Action, param: &str, params: &Map<String, Value>) -> Option<NextCall> {
    let (list, params) = call::list_of(action.param(param)?, params)?;
    let list = tools.catalog.get(list).ok().flatten()?;
    suggestions::offer(tools, &list, &params)
}

/// The search for the title of an object in all projects, if only its project is missing.
fn search_everywhere(
    tools: &Tools,
    action: &Action,
    missing: &str,
    params: &Map<String, Value>,
) -> Option<NextCall> {
    let mut titles = action.params.iter().filter(|param| param.names.is_some_and(Names::is_titled));
    let title = titles.find_map(|param| Some((param.names?, params.get(&param.name)?)));
    let (names, title) = title.filter(|_| missing == "fullPath")?;
    let title = title.as_str().filter(|title| !is_digits(title.trim_start_matches(['#', '!', '&'])))?;
    let list =
        catalog::resolver(names)?.reads.iter().find_map(|read| tools.catalog.get(&read.action).ok()?)?;
    let mut params = Map::from_iter([("search".to_owned(), json!(title))]);
    params.extend(list.wider.iter().map(|(name, value)| (name.clone(), json!(value))));
    suggestions::offer(tools, &list, &params)
}

/// The actions with the same effect that take all parameters of a call, also those that the called one does not have: the
/// most common of them. A call that only lacks a parameter means no other action: a requirement needs no title, and an issue
/// without one is none.
fn takes_all(tools: &Tools, invalid: &Invalid, action: &Action) -> (Vec<Action>, Map<String, Value>) {
    let mut params = invalid.right.clone();
    if !invalid.faults.iter().any(|fault| matches!(fault, Fault::Unknown { .. })) {
        return (Vec::new(), params);
    }
    for fault in &invalid.faults {
        match fault {
            Fault::Unknown { given, value, .. } => drop(params.insert(given.clone(), value.clone())),
            // The parameter of a field that is missing was given, and would be lost.
            Fault::Missing { name, .. } if !name.contains('.') => {}
            _ => return (Vec::new(), params),
        }
    }
    let same_verb = action.effects.iter().filter(|id| id.split('.').nth(1) == Some(action.verb()));
    let others = same_verb.filter_map(|id| tools.catalog.get(id).ok().flatten());
    // A deletion of a user deletes projects too, and the deletion of a project is another request.
    let fits = |other: &Action| {
        other.risk <= action.risk.min(Risk::Write)
            && tools.may_run(other)
            && suggestions::is_callable(tools, other, &params)
    };
    let usage = |other: &Action| tools.catalog.number(&other.id).map_or(0, |number| tools.usage(number));
    let fitting: Vec<(u8, Action)> = others.filter(fits).map(|other| (usage(&other), other)).collect();
    let most = fitting.iter().map(|(usage, _)| *usage).max();
    let common =
        fitting.into_iter().filter(|(usage, _)| Some(*usage) == most).map(|(_, other)| other).collect();
    (common, params)
}

/// The target of another kind of thing: the same action on that kind, where there is one, or the action of that kind which
/// lists what is asked for. No call leaves out what the target names, and none destroys something else.
pub fn wrong_target(tools: &Tools, invalid: &Invalid, action: &Action) -> Option<ToolError> {
    let [Fault::WrongTarget { given, kind, .. }] = invalid.faults.as_slice() else { return None };
    let error = ToolError::new(ErrorKind::InvalidParams, invalid.to_string());
    let kind = catalog::kind_of_object(*kind).filter(|_| *kind != ObjectKind::Holder)?;
    let taken = call::takes(action);
    let twin = taken.iter().find_map(|row| {
        let rest = action.id.strip_prefix(row.domain.as_str())?;
        Some(format!("{}{rest}", kind.domain))
    });
    // `pipeline.list` of a merge request is `merge_request.list_pipelines`.
    let list = format!("{}.{}_{}s", kind.domain, action.verb(), action.domain());
    let known = |id: &String| tools.catalog.get(id).ok().flatten();
    let other = twin.iter().chain([&list]).filter(|id| **id != action.id).find_map(known);
    let mut params = invalid.right.clone();
    params.insert(call::TARGET.to_owned(), json!(given));
    Some(match other {
        Some(other) if other.risk <= Risk::Write && other.risk <= action.risk => {
            error.hint(format!("`{}` does.", other.id)).fix(NextCall::execute(&other.id, &params))
        }
        _ => {
            let [verb, object] = [action.verb(), action.domain()].map(|words| words.replace('_', " "));
            error.fix(NextCall::find(json!({"query": format!("{verb} {object} of {}", kind.noun)})))
        }
    })
}

/// Converts the body of a GraphQL request to parameters of api.graphql, with a working document if it has none.
fn as_document(body: Option<&Value>) -> Value {
    let body_field = |name: &str| body.and_then(|body| body.get(name));
    match (body_field("query"), body_field("variables")) {
        (Some(document @ Value::String(_)), Some(variables @ Value::Object(_))) => {
            json!({"document": document, "variables": variables})
        }
        (Some(document @ Value::String(_)), _) => json!({"document": document}),
        _ => json!({"document": "{ currentUser { username } }"}),
    }
}

/// The corrected parameter, with the reason.
fn repair(fault: &Fault, action: &Action, words: Option<&Words>) -> Option<(String, Value, String)> {
    match fault {
        Fault::Unknown { given, value, accepted } => {
            let same_meaning = accepted
                .iter()
                .map(String::as_str)
                .filter(|name| !names_other_event(given, name) && !is_within(given, name))
                .filter(|name| !crate::search::names_other_thing(given, name))
                .filter(|name| {
                    action.param(name).is_none_or(|param| !call::is_of_other_kind(action, param, given))
                });
            let nearest = crate::search::nearest(given, same_meaning)?;
            action.param(nearest)?;
            Some((nearest.to_owned(), value.clone(), format!("Did you mean `{nearest}` by `{given}`?")))
        }
        Fault::NotAChoice { name, given, accepted, items } => {
            let synonyms =
                words.and_then(|words| words.glossary.get(name)?.values.get(&given.to_lowercase()));
            let synonym = synonyms.and_then(|known| known.iter().find(|value| accepted.contains(value)));
            let nearest = match synonym {
                Some(value) => value,
                None => crate::search::nearest(given, accepted.iter().map(String::as_str))?,
            };
            action.param(name)?;
            let mended =
                |item: &Value| if plain_text(item) == *given { json!(nearest) } else { item.clone() };
            let value = match items.as_slice() {
                [] => json!(nearest),
                items => items.iter().map(mended).collect(),
            };
            Some((name.clone(), value, format!("Did you mean `{nearest}` by `{given}`?")))
        }
        Fault::NoDate { name, given, readings, .. } => {
            let [day] = readings.as_slice() else { return None };
            action.param(name)?;
            Some((
                name.clone(),
                json!(day),
                format!("`{day}` is {given} in GitLab's form, relative to today in UTC."),
            ))
        }
        Fault::ScopeNeeded { name, fitting: Some(scope), .. } => {
            Some((name.clone(), json!(scope), format!("`fix` has `{name}`: `{scope}`.")))
        }
        Fault::NotTaken { instead: Some((name, value)), .. } => {
            Some((name.clone(), value.clone(), format!("`fix` has `{name}` in the accepted form.")))
        }
        _ => None,
    }
}

/// True if a name is that of a field within another parameter, and the known one is not: `filter[environment_scope]` is no
/// `environment_scope`.
fn is_within(given: &str, known: &str) -> bool {
    let is_nested = |name: &str| name.trim_end_matches("[]").contains(['[', '.']);
    is_nested(given) && !is_nested(known)
}

/// True if a name bounds the time of an event and the known one bounds none, or that of another event: `merged_after`
/// and `created_after`. A misspelled event (`craeted_after`) is the same.
fn names_other_event(given: &str, known: &str) -> bool {
    const BOUNDS: [&str; 3] = ["_after", "_before", "_at"];
    const ALIKE: f64 = 0.5;
    let event = |bound: &str| Some((given.strip_suffix(bound)?, bound.to_owned()));
    let Some((given, bound)) = BOUNDS.into_iter().find_map(event) else { return false };
    let Some(known) = known.strip_suffix(bound.as_str()) else { return true };
    let likeness = crate::search::similarity(given, known);
    let same_start = given.chars().next() == known.chars().next();
    likeness < ALIKE || (likeness <= ALIKE && !same_start)
}

/// The operation of a raw request that decides its risk: `mutation issueDelete (issue.delete) is destructive`. None
/// for a call of an action, whose id says it.
pub fn decider(call: &Call) -> Option<String> {
    strictest(call.effects())
}

/// The operation with the highest risk among those of a raw request or a text with quick actions: `mutation
/// issueDelete (issue.delete)`. None for the action's own.
pub fn strictest_operation(call: &Call) -> Option<String> {
    let touched = call.strictest().filter(|touched| !touched.ids.iter().any(|id| id == call.action()))?;
    Some(match touched.ids.first() {
        None => format!("{} (not in the catalog)", touched.operation),
        Some(id) if id.starts_with("quick_action.") => {
            format!("{} with the {}", call.action(), touched.operation)
        }
        Some(_) => format!("{} ({})", touched.operation, touched.ids.join(", ")),
    })
}

/// Sentence on the look-ups that were sent before a denial.
pub fn sent(looked_up: usize) -> String {
    match looked_up {
        0 => "Nothing was sent".to_owned(),
        1 => "Nothing was sent but 1 look-up".to_owned(),
        many => format!("Nothing was sent but {many} look-ups"),
    }
}

fn strictest(effects: &Effects) -> Option<String> {
    let touched =
        effects.strictest().filter(|touched| !touched.ids.iter().any(|id| id == effects.action()))?;
    let operation = &touched.operation;
    let risk = match touched.risk {
        Risk::Read => "a read",
        Risk::Write => "a write",
        Risk::Grant => "a grant of access",
        Risk::Destructive => "destructive",
    };
    Some(match touched.ids.as_slice() {
        [] if touched.risk == Risk::Read => format!("{operation} is {risk}"),
        [] => format!("{operation} is not in the catalog and therefore treated as {risk}"),
        ids => format!("{operation} ({}) is {risk}", ids.join(", ")),
    })
}

/// Name of the detail with the scope that the token lacks.
pub const MISSING_SCOPE: &str = "missing_scope";

/// Detail with the tool that runs what the called one refuses.
pub const OTHER_TOOL: &str = "tool";

/// Reason to ask about a call. `unknown` are parameters and values that the catalog does not know; a write with them is
/// asked about as a grant.
pub fn why_asked(rule: &Rule, action: &Action, unknown: &[String]) -> String {
    match rule {
        Rule::Risk(Risk::Grant) if action.risk < Risk::Grant && !unknown.is_empty() => format!(
            "it may give access, or data a way out, by {}, which this catalog does not know",
            unknown.join(" and ")
        ),
        rule => rule.to_string(),
    }
}

/// Policy does not let it run; `looked_up` requests have been sent to find that out.
pub fn denied(
    tools: &Tools,
    action: &str,
    effects: Option<&Effects>,
    rule: &Rule,
    looked_up: usize,
) -> ToolError {
    let why = effects.and_then(strictest).map(|strictest| format!("{strictest}, and ")).unwrap_or_default();
    let message = format!("{action} is denied: {why}{rule}. {}", sent(looked_up));
    match rule {
        Rule::Scope { needs, .. } => ToolError::new(ErrorKind::Forbidden, message)
            .detail(MISSING_SCOPE, json!(needs.replace('`', "")))
            .hint(match tools.client.has_callers_token() {
                true => format!("The token that this client sends lacks it: let it send one with {needs}."),
                false => format!("Give GITLAB_TOKEN a token with {needs}."),
            }),
        Rule::ReadTool => ToolError::new(ErrorKind::Denied, message).detail(OTHER_TOOL, json!(EXECUTE)),
        _ => ToolError::new(ErrorKind::Denied, message),
    }
}

/// True if a 401 is about the user's rights: GitLab answers so where a user may not merge or approve
/// (<https://docs.gitlab.com/api/merge_requests/#merge-a-merge-request>).
fn is_refusal_of_user(error: &GitlabError, token: TokenStanding) -> bool {
    let GitlabError::Unauthorized { answer, expired: false, .. } = error else { return false };
    let says_permission = answer.message.to_lowercase().contains("permission");
    let is_about_token = answer.message.contains("invalid_token");
    !is_about_token
        && token != TokenStanding::Missing
        && (token == TokenStanding::Accepted || says_permission)
}

/// Maps an error of GitLab or of the connection.
pub fn from_gitlab(error: &GitlabError, action: &Action, token: TokenStanding) -> ToolError {
    let is_refused_user = is_refusal_of_user(error, token);
    let kind = if is_refused_user { ErrorKind::Forbidden } else { kind_of(error) };
    let message = match error {
        GitlabError::Unauthorized { answer, .. } if is_refused_user => format!("GitLab forbids it: {answer}"),
        _ => error_chain(error),
    };
    let mut refusal = ToolError::new(kind, message);
    if is_refused_user {
        refusal = refusal.hint(
            "The token is valid; its user may not do this here. GitLab responds with 401 to that on this path.",
        );
    } else if let Some(hint) = hint(error, token == TokenStanding::Missing) {
        refusal = refusal.hint(hint);
    }
    if let GitlabError::RateLimited { retry_after: Some(wait), .. }
    | GitlabError::RateUsedUp { retry_after: wait } = error
    {
        refusal.details.insert("retry_after_seconds".to_owned(), json!(wait.as_secs()));
    }
    for (name, value) in [
        ("status", error.status().map(|status| json!(status))),
        ("request_id", error.request_id().map(|id| json!(id))),
        ("error_code", error.answer().and_then(|answer| answer.code.as_ref()).map(|code| json!(code))),
    ] {
        if let Some(value) = value {
            refusal.details.insert(name.to_owned(), value);
        }
    }
    if error.applied() == Applied::Unknown {
        refusal.details.insert("applied".to_owned(), json!("unknown"));
        refusal = refusal.hint(
            "The change may have been applied although its response was lost. Check before you send it again.",
        );
        refusal = refusal.fix(NextCall::find(
            json!({"query": format!("get {}", action.domain().replace('_', " ")), "read_only": true}),
        ));
    }
    refusal
}

/// A list of which only the first rows were kept, where all of them are needed.
pub fn truncated(action: &Action, kept: usize, received: usize) -> ToolError {
    let message = format!("{} answered with {received} rows, of which {kept} were read", action.id);
    ToolError::new(ErrorKind::TooLarge, message).hint("Ask for less: a smaller page, narrower filters.")
}

/// Suggests how to find out whether a raw request was applied, by the operations in it.
pub fn suggest_check(refused: ToolError, call: &Call) -> ToolError {
    let id = call.strictest().and_then(|touched| touched.ids.last());
    let query = match id.and_then(|id| id.split_once('.')) {
        Some((domain, _)) => format!("get {}", domain.replace('_', " ")),
        None => "call the REST API directly".to_owned(),
    };
    refused.fix(NextCall::find(json!({"query": query, "read_only": id.is_some()})))
}
