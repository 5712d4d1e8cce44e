//! Suggested next call of an error: the same call if the cause is outside it, otherwise a discovery call. Adds
//! facts that GitLab's message does not have.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::call::Checked;
use crate::catalog::{Action, Operation, Place, Risk};
use crate::gitlab::{GitlabError, NetworkError};
use crate::messages::edit_error::{DIFF, EDITS};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::{CheckedCall, EXECUTE, ExecuteRequest, NextCall};
use crate::text::pick_fields;
use crate::tools::action_lookup::suggestions;
use crate::tools::errors::{near_paths, not_found};
use crate::tools::state::Tools;

/// The error with a call to make next that can be made.
pub fn complete(tools: &Tools, error: ToolError, action: &Action, request: &ExecuteRequest) -> ToolError {
    let error = with_options(error, action, request);
    match &error.fix {
        Some(fix) if error.kind == ErrorKind::InvalidParams && !makes_a_call(tools, fix) => {
            suggest_schema(error, action)
        }
        Some(_) => error,
        // The call may have been applied: repeating it is no remedy.
        None if error.details.get("applied").is_some() => error,
        None => suggest_by_kind(tools, error, action, request),
    }
}

/// The error, whose corrected call has the options of the request too: its fields, its lines. One that was made of the whole
/// request has those that it is to have.
pub fn with_options(mut error: ToolError, action: &Action, request: &ExecuteRequest) -> ToolError {
    let options = NextCall::for_request(request).arguments;
    if let (Some(fix), Value::Object(options)) = (error.fix.as_mut(), options)
        && fix.tool == EXECUTE
        && !fix.is_whole
        && let Value::Object(arguments) = &mut fix.arguments
        && arguments.get("action").and_then(Value::as_str) == Some(action.id.as_str())
    {
        for (name, value) in options {
            arguments.entry(name).or_insert(value);
        }
    }
    error
}

/// True if the fix is a valid call, as far as is known without a request.
fn makes_a_call(tools: &Tools, fix: &NextCall) -> bool {
    let argument = |name: &str| fix.arguments.get(name);
    if fix.tool != EXECUTE {
        return true;
    }
    let action =
        argument("action").and_then(Value::as_str).and_then(|id| tools.catalog.get(id).ok().flatten());
    let params = argument("params").and_then(Value::as_object).cloned().unwrap_or_default();
    // Edits stand for a text that is read first.
    let is_edit = [EDITS, DIFF].iter().any(|name| params.contains_key(*name));
    action.is_some_and(|action| {
        (is_edit && action.edit.is_some()) || suggestions::is_callable(tools, &action, &params)
    })
}

fn suggest_by_kind(tools: &Tools, error: ToolError, action: &Action, request: &ExecuteRequest) -> ToolError {
    match error.kind {
        // No call mends a token or a role.
        ErrorKind::Unauthorized | ErrorKind::Forbidden => error,
        ErrorKind::RateLimited | ErrorKind::Network | ErrorKind::Timeout => {
            error.fix(NextCall::for_request(request))
        }
        ErrorKind::GitlabError if is_passing(&error) => error.fix(NextCall::for_request(request)),
        ErrorKind::GitlabError => error.fix(NextCall::find(json!({"query": action.summary, "limit": 3}))),
        ErrorKind::NotFound => suggest_project_list(tools, error, action, request),
        ErrorKind::InvalidParams => suggest_schema(error, action),
        ErrorKind::Conflict => suggest_look(error, action),
        ErrorKind::TooLarge => suggest_fewer_rows(error, action, request),
        _ => error,
    }
}

/// True for a server error that a retry may overcome; not for 501.
fn is_passing(error: &ToolError) -> bool {
    let status = error.details.get("status").and_then(Value::as_u64);
    status.is_some_and(|status| status >= 500 && status != 501)
}

fn suggest_schema(error: ToolError, action: &Action) -> ToolError {
    error.fix(NextCall::schema_of(&action.id))
}

fn suggest_look(error: ToolError, action: &Action) -> ToolError {
    let query = format!("get {}", action.domain().replace('_', " "));
    error.fix(NextCall::find(json!({"query": query, "read_only": true})))
}

/// Suggests the projects with the last segment of an unknown path as their name.
fn suggest_project_list(
    tools: &Tools,
    error: ToolError,
    action: &Action,
    request: &ExecuteRequest,
) -> ToolError {
    let path = request.params.get("fullPath").and_then(Value::as_str);
    let list = tools.catalog.get("project.list").ok().flatten();
    let (Some(path), Some(list)) = (path, list) else { return suggest_look(error, action) };
    let params = Map::from_iter([("search".to_owned(), json!(near_paths::last_segment(path)))]);
    if suggestions::is_callable(tools, &list, &params) {
        return error.fix(NextCall::execute(&list.id, &params));
    }
    suggest_look(error, action)
}

/// Suggests the same call with fewer rows, if it has pages.
fn suggest_fewer_rows(error: ToolError, action: &Action, request: &ExecuteRequest) -> ToolError {
    const GITLABS_OWN: u64 = 20;
    if action.param("per_page").is_none() {
        return suggest_schema(error, action);
    }
    let rows = request.params.get("per_page").and_then(Value::as_u64).unwrap_or(GITLABS_OWN);
    let mut params = request.params.clone();
    params.insert("per_page".to_owned(), json!((rows / 4).max(1)));
    error.fix(NextCall::for_request(&ExecuteRequest { params, ..request.clone() }))
}

/// Adds the cause as far as it is known: the parameters that GitLab's message is about, or the proxy.
pub fn with_cause(tools: &Tools, error: &GitlabError, checked: &Checked, refused: ToolError) -> ToolError {
    let meanings = tools.catalog.words().map(|words| words.changes.refusals.as_slice()).unwrap_or_default();
    let means = meanings.iter().find(|meaning| {
        error.status() == Some(meaning.status)
            && meaning.actions.contains(&checked.action().id)
            && error.answer().is_none_or(|answer| answer.message.contains(&meaning.message))
    });
    if let Some(meaning) = means {
        let refused = refused.hint(meaning.hint.clone());
        let other = meaning.instead.as_ref().and_then(|other| same_by(tools, other, checked));
        return match other.or_else(|| same_with(tools, &meaning.with, checked)) {
            Some(call) => refused.fix(call),
            None => refused,
        };
    }
    match error {
        GitlabError::Invalid { answer } if matches!(answer.status, 400 | 422) => {
            with_params_named(refused, &answer.message, checked)
        }
        GitlabError::Invalid { answer } if answer.status == 407 => {
            with_proxy(tools, refused, ErrorKind::Network)
        }
        GitlabError::Network { trouble: NetworkError::Connect | NetworkError::Name, .. } => {
            let kind = refused.kind;
            with_proxy(tools, refused, kind)
        }
        _ => refused,
    }
}

/// The call of another action with the parameters of a refused one; none if it does not take each of them.
fn same_by(tools: &Tools, other: &str, checked: &Checked) -> Option<NextCall> {
    let other = tools.catalog.get(other).ok().flatten()?;
    let takes_all = checked.params().keys().all(|name| other.param(name).is_some());
    suggestions::offer(tools, &other, checked.params()).filter(|_| takes_all)
}

/// A refused call with the parameters that it lacks; none if it lacks none.
fn same_with(tools: &Tools, with: &BTreeMap<String, String>, checked: &Checked) -> Option<NextCall> {
    let mut params = checked.params().clone();
    for (name, value) in with {
        params.entry(name).or_insert_with(|| json!(value));
    }
    let is_more = params.len() > checked.params().len();
    (is_more && suggestions::is_callable(tools, checked.action(), &params))
        .then(|| NextCall::execute(&checked.action().id, &params))
}

/// The call to make where GitLab did nothing: the read of what a change is refused for; the same, where something
/// between here and GitLab sent it elsewhere.
pub fn suggest_next(
    tools: &Tools,
    error: &GitlabError,
    call: CheckedCall<'_>,
    request: &ExecuteRequest,
    refused: ToolError,
) -> ToolError {
    if refused.fix.is_some() {
        return refused;
    }
    if matches!(error, GitlabError::Redirect { .. } | GitlabError::Malformed { .. }) {
        return refused.fix(NextCall::for_request(request));
    }
    let is_of_state = match error {
        GitlabError::Conflict { .. } => true,
        // GitLab's status for a merge that is currently not possible. A fault of a parameter names the parameter.
        GitlabError::Invalid { answer } => {
            let is_act = answer.status == 422 && acts_on_object(call);
            (matches!(answer.status, 405 | 406) || is_act) && !refused.details.contains_key("params")
        }
        _ => false,
    };
    if let GitlabError::Conflict { answer } = error
        && answer.message.to_lowercase().contains(SEVERAL)
        && let Some(list) = list_of_kind(tools, call)
    {
        return refused.hint("Several fit: `fix` lists them, so that the call can name one.").fix(list);
    }
    if !is_of_state || call.checked.action().risk == Risk::Read {
        return refused;
    }
    let is_state = |status: u16| matches!(status, 405 | 406);
    let refused = match error.status().is_some_and(is_state) {
        true => ToolError { kind: ErrorKind::Conflict, ..refused },
        false => refused,
    };
    match not_found::state_read(tools, call) {
        Some(read) => refused
            .hint("It conflicts with the current state: read that with `fix`, then call again.")
            .fix(read),
        None => refused,
    }
}

/// A word of GitLab's message where several objects have the name (409 of lib/api/ci/variables.rb).
const SEVERAL: &str = "multiple";

/// The list of the kind of object that a call is about, in the same place.
fn list_of_kind(tools: &Tools, call: CheckedCall<'_>) -> Option<NextCall> {
    let list = format!("{}.list", call.checked.action().domain());
    let list = tools.catalog.get(&list).ok().flatten()?;
    let is_shared = |name: &String| list.param(name).is_some_and(|param| param.place != Place::Query);
    let params = pick_fields(call.checked.params(), is_shared);
    suggestions::offer(tools, &list, &params)
}

/// True if a call does something to an object that is there: its path ends in a verb behind the object's id, such as
/// `/merge_requests/:merge_request_iid/merge`.
fn acts_on_object(call: CheckedCall<'_>) -> bool {
    let operation = call.call.operation();
    let mut words = operation.rsplit('/');
    let last = words.next().is_some_and(|word| !word.starts_with(':'));
    let makes =
        ["create", "add", "upload", "set"].iter().any(|verb| call.checked.action().verb().starts_with(verb));
    last && !makes && words.next().is_some_and(|word| word.starts_with(':'))
}

/// Notes the proxy as a possible cause.
fn with_proxy(tools: &Tools, refused: ToolError, kind: ErrorKind) -> ToolError {
    let Some(proxy) = tools.client.proxy() else { return refused };
    let message = format!("{}; requests go through the proxy {proxy}", refused.message);
    ToolError { kind, message, ..refused }.hint(
        "Check the proxy: its address, user and password in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY; NO_PROXY goes around it.",
    )
}

/// Replaces GitLab's names of refused fields by the given parameters.
fn with_params_named(mut refused: ToolError, gitlab_message: &str, checked: &Checked) -> ToolError {
    let named = named_params(gitlab_message, checked.action());
    if named.is_empty() {
        return refused;
    }
    let ours = |(theirs, ours): &(String, String)| {
        if theirs == ours { format!("`{ours}`") } else { format!("`{ours}` (GitLab's `{theirs}`)") }
    };
    let written: Vec<String> = named.iter().map(ours).collect();
    refused.message = format!("{}; it is about {}", refused.message, written.join(", "));
    let names: Vec<String> = named.into_iter().map(|(_, ours)| ours).collect();
    refused.details.insert("params".to_owned(), json!(names));
    refused
}

/// The fields that begin the parts of GitLab's message, each with the parameter that it is.
fn named_params(gitlab_message: &str, action: &Action) -> Vec<(String, String)> {
    let mut named: Vec<(String, String)> = Vec::new();
    for part in gitlab_message.split([';', ',']) {
        let first = part.split_whitespace().find(|word| word.parse::<u16>().is_err()).unwrap_or_default();
        let theirs = first.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        if let Some(ours) = parameter(action, theirs)
            && !named.iter().any(|(_, known)| *known == ours)
        {
            named.push((theirs.to_owned(), ours));
        }
    }
    named
}

fn parameter(action: &Action, theirs: &str) -> Option<String> {
    let theirs = theirs.split(['.', '[']).next().filter(|name| !name.is_empty())?;
    let bound = |operation: &Operation| operation.bind.get(theirs).cloned();
    let wired = action.params.iter().find(|param| param.wire.as_deref() == Some(theirs));
    let own = || action.param(theirs).map(|param| param.name.clone());
    let of = |ending: &str| action.param(&format!("{theirs}{ending}")).map(|param| param.name.clone());
    let wired = wired.map(|param| param.name.clone());
    wired
        .or_else(|| action.operations.iter().find_map(bound))
        .or_else(own)
        // Rails names the object whose id a parameter holds.
        .or_else(|| of("_id"))
        .or_else(|| of("_ids"))
}
