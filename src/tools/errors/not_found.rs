//! Diagnoses a 404 or a moved path: checks the project, then the parent, then the object, and suggests the list of
//! what exists. Containment is derived from GitLab's URL paths.

use serde_json::{Map, Value, json};

use crate::call::{Call, Checked, Routed, folded};
use crate::catalog::{Action, Method, Operation, PRESENTATION, Piece, Risk, Scope, pieces};
use crate::gitlab::{Content, GitlabError, NotFollowed, Reply};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::{CheckedCall, ExecuteRequest, NextCall};
use crate::search::nearest;
use crate::text::{is_number, plain_text};
use crate::tools::action_lookup::suggestions;
use crate::tools::error_mapping;
use crate::tools::errors::{missing_file, near_paths};
use crate::tools::lookups::{self, UnknownPath};
use crate::tools::own_reads;
use crate::tools::own_reads::gate::{OwnReadError, Purpose};
use crate::tools::state::Tools;
use crate::untrusted::{quote, shortened};

/// Maximum number of parents that are checked.
const MAX_ASKED: usize = 3;

/// A read of an object on the path to that of the call.
struct PathStep {
    action: Action,
    params: Map<String, Value>,
    /// The parameter of the call that holds it, and its value.
    name: String,
    value: String,
    /// The read that lists such things.
    list: Option<(Action, Map<String, Value>)>,
}

impl PathStep {
    /// The kind of the place that the step reads, if it is one.
    fn holder(&self) -> Option<Scope> {
        match self.action.id.as_str() {
            "project.get" => Some(Scope::Project),
            "group.get" => Some(Scope::Group),
            _ => None,
        }
    }
}

/// Result of the check of one step.
enum StepResult {
    /// The object exists; with its data.
    There(Option<Value>),
    Missing,
    /// The check failed.
    Unknown,
}

/// True if the error may be caused by a missing or moved object.
pub fn is_of_place(error: &GitlabError) -> bool {
    match error {
        GitlabError::NotFound { .. } => true,
        // GitLab responds that only GET is allowed at the former path of a moved project.
        GitlabError::Invalid { answer } => answer.status == 405,
        GitlabError::Redirect { reason, .. } => *reason == NotFollowed::Write,
        _ => false,
    }
}

/// The error with the diagnosis: the missing part and the list of the existing ones, or its new path.
pub async fn diagnose_not_found(
    tools: &Tools,
    call: CheckedCall<'_>,
    request: &ExecuteRequest,
    refused: ToolError,
) -> ToolError {
    let CheckedCall { call, checked } = call;
    let is_missing = refused.kind == ErrorKind::NotFound;
    let Some(operation) = operation(checked, call) else {
        return match is_missing {
            true => encoded_path_error(tools, call, checked, refused),
            false => refused,
        };
    };
    if is_missing && let Some(told) = missing_file::diagnose(tools, checked, request, &refused).await {
        return told;
    }
    // A deletion is never offered for another name.
    let is_deletion = checked.action().risk == Risk::Destructive;
    let steps = steps(tools, call, operation, checked.params());
    let mut seen: Option<&PathStep> = None;
    for step in steps.iter().take(MAX_ASKED) {
        let is_called = call.method() == Method::Get && step.action.id == checked.action().id;
        let found = if is_called { StepResult::Missing } else { check_step(tools, step).await };
        match found {
            StepResult::There(shown) => {
                if let Some(path) = moved_path(step, shown.as_ref()) {
                    return moved_error(refused, step, &path, checked.params(), request);
                }
                // The object exists, so the error has another reason, which its message gives.
                if !is_missing {
                    return refused;
                }
                if operation.path.contains("/repository/") && is_empty_repository(shown.as_ref()) {
                    return missing_file::empty_repository(refused, &step.value);
                }
                seen = Some(step);
            }
            StepResult::Missing if is_missing && step.name == "fullPath" => {
                return unknown_place_error(tools, refused, step, checked).await;
            }
            StepResult::Missing if is_missing => {
                let rows = listed_rows(tools, step).await;
                if let Some(name) = same_name(&rows, step).filter(|_| !is_deletion) {
                    let error = missing_part_error(tools, refused, seen, step, checked, None);
                    return renamed_error(error, step, &name, checked.params(), request);
                }
                let nearest = near_name(&rows, step);
                return missing_part_error(tools, refused, seen, step, checked, nearest);
            }
            StepResult::Missing | StepResult::Unknown => return refused,
        }
    }
    match seen {
        Some(step) => missing_object_error(refused, step, checked),
        None => refused,
    }
}

/// The error of a raw request whose path has the slashes of a project's path: the same request by the action that it is of.
fn encoded_path_error(tools: &Tools, call: &Call, checked: &Checked, refused: ToolError) -> ToolError {
    let path = checked.params().get("path").and_then(Value::as_str).unwrap_or_default();
    let routed = tools.catalog.operations().ok().and_then(|surface| {
        let routed = crate::call::routed(call.method(), path, surface, &tools.base).ok()?;
        let split =
            |one: &Routed| one.values.iter().any(|(_, value)| path.contains(value) && value.contains('/'));
        routed.into_iter().find(split)
    });
    let Some(routed) = routed else { return error_mapping::suggest_check(refused, call) };
    let refused = refused.hint("The path of a project or group is one segment here: its slashes are `%2F`.");
    match call.method() {
        Method::Get => {
            let none = Map::new();
            refused.fix(NextCall::execute(&format!("GET {path}"), &none))
        }
        _ => refused.fix(NextCall::find(json!({"query": routed.action, "limit": 1}))),
    }
}

/// The error of a project or group that cannot be seen, with paths like it.
async fn unknown_place_error(
    tools: &Tools,
    refused: ToolError,
    step: &PathStep,
    checked: &Checked,
) -> ToolError {
    let message = format!("{}. `fullPath` {} cannot be seen", refused.message, step.value);
    let unknown = UnknownPath {
        path: step.value.clone(),
        holder: step.holder(),
        action: checked.action().clone(),
        params: checked.params().clone(),
    };
    near_paths::suggest(tools, ToolError { message, ..refused }, &unknown).await
}

/// The read of the object that a refused write conflicts with.
pub fn state_read(tools: &Tools, call: CheckedCall<'_>) -> Option<NextCall> {
    let CheckedCall { call, checked } = call;
    let operation = operation(checked, call)?;
    let mut words: Vec<&str> = operation.path.split('/').collect();
    while words.len() > 2 {
        let read = read_at(tools, operation, &words.join("/"), checked.params());
        if let Some((action, params)) =
            read.filter(|(action, params)| suggestions::is_callable(tools, action, params))
        {
            return Some(NextCall::execute(&action.id, &params));
        }
        words.pop();
    }
    None
}

fn operation<'a>(checked: &'a Checked, call: &Call) -> Option<&'a Operation> {
    let operations = &checked.action().operations;
    operations.iter().find(|operation| operation.any.is_none() && operation.to_string() == call.operation())
}

/// The objects that the path goes through, the outermost first. For GraphQL only the project or group is known.
fn steps(tools: &Tools, call: &Call, operation: &Operation, params: &Map<String, Value>) -> Vec<PathStep> {
    let path = match (&operation.graphql, operation.scope) {
        (None, _) => operation.path.as_str(),
        (Some(_), Scope::Project) => "/projects/:fullPath",
        (Some(_), Scope::Group) => "/groups/:fullPath",
        (Some(_), _) => return Vec::new(),
    };
    let words: Vec<&str> = path.split('/').collect();
    let is_called = |at: usize| call.method() == Method::Get && at + 1 == words.len();
    let mut steps = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Some(placeholder) = word.strip_prefix(':') else { continue };
        let name = operation.filled_by(placeholder);
        let (Some(value), Some(held)) = (params.get(name), words.get(..=at)) else { continue };
        let read = read_at(tools, operation, &held.join("/"), params);
        let before = held.get(..at).map(|before| before.join("/")).unwrap_or_default();
        let list = read_at(tools, operation, &before, params);
        let Some((action, within)) = read.filter(|_| !is_called(at) || list.is_some()) else { continue };
        let value = plain_text(value);
        steps.push(PathStep { action, params: within, name: name.to_owned(), value, list });
    }
    steps
}

/// The read at a path, its placeholders filled as those of the operation are.
pub fn read_at(
    tools: &Tools,
    operation: &Operation,
    path: &str,
    params: &Map<String, Value>,
) -> Option<(Action, Map<String, Value>)> {
    let surface = tools.catalog.operations().ok()?;
    let (known, id) = surface.paths(Method::Get).find(|(known, _)| shape(known) == shape(path))?;
    let action = tools.catalog.get(id).ok()??;
    let read = action.operations.iter().find(|read| read.method == Method::Get && read.path == known)?;
    let mut filled = Map::new();
    for (theirs, ours) in placeholders(known).zip(placeholders(path)) {
        filled.insert(read.filled_by(theirs).to_owned(), params.get(operation.filled_by(ours))?.clone());
    }
    if let Some(selector) = action.selector_of(read.scope) {
        filled.insert(selector.name.clone(), json!(read.scope.name()));
    }
    tools.withholds(&action).is_none().then_some((action, filled))
}

fn placeholders(path: &str) -> impl Iterator<Item = &str> {
    pieces(path).filter_map(|piece| match piece {
        Piece::Placeholder { name, .. } => Some(name),
        Piece::Text(_) => None,
    })
}

/// A path without the names of its placeholders, which differ between those that hold the same.
fn shape(path: &str) -> Vec<&str> {
    path.split('/').map(|word| if word.starts_with(':') { ":" } else { word }).collect()
}

async fn check_step(tools: &Tools, step: &PathStep) -> StepResult {
    let Some(checked) = suggestions::checked(tools, &step.action, &step.params) else {
        return StepResult::Unknown;
    };
    let Ok(call) = lookups::resolve_call(tools, &checked).await else { return StepResult::Unknown };
    let call = CheckedCall { call: &call, checked: &checked };
    match own_reads::send_and_unwrap(tools, call, Purpose::Diagnosis).await {
        Ok(Reply { content: Content::Json(shown), .. }) => StepResult::There(Some(shown)),
        Ok(_) => StepResult::There(None),
        Err(OwnReadError::Gitlab(GitlabError::NotFound { .. })) => StepResult::Missing,
        Err(_) => StepResult::Unknown,
    }
}

/// True if a project that was read has no commit.
fn is_empty_repository(project: Option<&Value>) -> bool {
    project.and_then(|project| project.get("empty_repo")) == Some(&json!(true))
}

/// Returns the current full path of a project or group, if it differs from the given one.
fn moved_path(step: &PathStep, shown: Option<&Value>) -> Option<String> {
    let now =
        ["path_with_namespace", "full_path"].into_iter().find_map(|field| shown?.get(field)?.as_str())?;
    let given = step.value.trim_matches('/');
    // A path of GitLab's has no other characters; whatever has them is no address.
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '-' | '_' | '.');
    let is_path = step.name == "fullPath" && !is_number(given) && now.chars().all(is_plain);
    (is_path && !given.eq_ignore_ascii_case(now)).then(|| now.to_owned())
}

fn moved_error(
    refused: ToolError,
    step: &PathStep,
    path: &str,
    params: &Map<String, Value>,
    request: &ExecuteRequest,
) -> ToolError {
    let message = format!("{}. `{}` has moved: it is `{path}` now", refused.message, step.value);
    // Resolved parameters: the old path may have come from a target.
    let mut params = params.clone();
    params.insert(step.name.clone(), json!(path));
    let mended = ExecuteRequest { params, ..request.clone() };
    ToolError { message, ..refused }
        .hint("Nothing was changed; only reads follow a redirect.")
        .fix(NextCall::for_request(&mended))
}

/// Rows of the list that are compared with a missing name.
const ROWS: u64 = 100;

/// Maximum number of characters of a name in a hint.
const MAX_NAME_CHARACTERS: usize = 80;

/// The objects of the list in which a missing one would be; none for a number, or if the list cannot be read.
async fn listed_rows(tools: &Tools, step: &PathStep) -> Vec<Value> {
    let Some((list, within)) = step.list.as_ref().filter(|_| !is_number(&step.value)) else {
        return Vec::new();
    };
    let mut params = within.clone();
    if list.param("per_page").is_some() {
        params.insert("per_page".to_owned(), json!(ROWS));
    }
    match lookups::read_json(tools, &list.id, params, Purpose::Diagnosis).await {
        Some(Value::Array(rows)) => rows,
        _ => Vec::new(),
    }
}

/// The most similar name of a listed object.
fn near_name(rows: &[Value], step: &PathStep) -> Option<String> {
    let names = rows
        .iter()
        .flat_map(|row| PRESENTATION.sibling_names.iter().filter_map(|field| row.get(*field)?.as_str()));
    nearest(&step.value, names.filter(|name| *name != step.value)).map(str::to_owned)
}

/// Error of a missing part of the path, with the list of existing objects, or the call with the name of one.
fn missing_part_error(
    tools: &Tools,
    refused: ToolError,
    seen: Option<&PathStep>,
    step: &PathStep,
    checked: &Checked,
    nearest: Option<String>,
) -> ToolError {
    let holder = seen.map(|seen| format!("`{}` {} can be seen; ", seen.name, seen.value)).unwrap_or_default();
    let within = if seen.is_some() { " in it" } else { "" };
    let message =
        format!("{}. {holder}`{}` {}{within} cannot be seen", refused.message, step.name, step.value);
    let mut refused = ToolError { message, ..refused };
    if let Some(nearest) = nearest {
        refused = refused.hint(format!("Did you mean {}?", quote(&shortened(&nearest, MAX_NAME_CHARACTERS))));
        let mut params = checked.params().clone();
        params.insert(step.name.clone(), json!(nearest));
        let action = checked.action();
        if action.risk == Risk::Read && suggestions::is_callable(tools, action, &params) {
            return refused.fix(NextCall::execute(&action.id, &params));
        }
    }
    let Some((action, params)) = &step.list else { return refused };
    if suggestions::is_callable(tools, action, params) {
        return refused.fix(NextCall::execute(&action.id, &params));
    }
    refused
}

/// The name of the only listed object whose name or title differs from the given one in case, blanks and dashes alone.
fn same_name(rows: &[Value], step: &PathStep) -> Option<String> {
    let text = |row: &Value, field: &str| row.get(field).and_then(Value::as_str).map(str::to_owned);
    let is_same = |other: Option<String>| other.is_some_and(|other| folded(&other) == folded(&step.value));
    let names = rows.iter().filter_map(|row| {
        let name = text(row, &step.name).or_else(|| text(row, "name"))?;
        let titles = ["name", "title"].map(|field| text(row, field));
        (is_same(Some(name.clone())) || titles.into_iter().any(is_same)).then_some(name)
    });
    let mut names = names.filter(|_| !folded(&step.value).is_empty());
    names.next().filter(|name| names.next().is_none() && *name != step.value)
}

/// The error with the same call for the object that is there by a similar name.
fn renamed_error(
    refused: ToolError,
    step: &PathStep,
    name: &str,
    params: &Map<String, Value>,
    request: &ExecuteRequest,
) -> ToolError {
    let mut params = params.clone();
    params.insert(step.name.clone(), json!(name));
    let mended = ExecuteRequest { params, ..request.clone() };
    refused.hint(format!("There is {}: `fix` has that.", quote(name))).fix(NextCall::for_request(&mended))
}

/// The error if every parent exists.
fn missing_object_error(refused: ToolError, step: &PathStep, checked: &Checked) -> ToolError {
    let action = checked.action();
    let revisions = &crate::catalog::kinds().revisions;
    let asked: Vec<(&String, &Value)> = checked
        .params()
        .iter()
        .filter(|(name, _)| {
            revisions.domains.iter().any(|domain| domain == action.domain()) && name.as_str() != step.name
        })
        .filter(|(name, _)| revisions.params.contains(name) || name.as_str() == PATH)
        .collect();
    let part = match asked.as_slice() {
        [] => "the requested part of it".to_owned(),
        [(name, value)] => format!("`{name}` {} in it", plain_text(value)),
        several => {
            let named: Vec<String> =
                several.iter().map(|(name, value)| format!("`{name}` {}", plain_text(value))).collect();
            format!("one of {} in it", named.join(" and "))
        }
    };
    let message =
        format!("{}. `{}` {} can be seen; {part} cannot be seen", refused.message, step.name, step.value);
    let refused = ToolError { message, ..refused };
    let within = json!({"fullPath": checked.params().get("fullPath")});
    match asked.as_slice() {
        [] => refused.fix(NextCall::execute(&step.action.id, &step.params)),
        [(name, _)] if name.as_str() == PATH => {
            refused.fix(NextCall::execute("repository.list_tree", &within))
        }
        _ => refused.fix(NextCall::execute("branch.list", &within)),
    }
}

/// The parameter of a repository's read with a file or folder.
const PATH: &str = "path";
