//! Suggests projects and groups with paths similar to an unknown one.

use serde_json::{Value, json};

use crate::catalog::{Risk, Scope};
use crate::messages::error::ToolError;
use crate::messages::request::NextCall;
use crate::search::nearest;
use crate::text::is_number;
use crate::tools::action_lookup::suggestions;
use crate::tools::lookups::{self, UnknownPath};
use crate::tools::own_reads::gate::Purpose;
use crate::tools::state::Tools;
use crate::untrusted::quoted_name;

/// Rows of each list that is compared.
const ROWS: u64 = 100;

/// Result of the search for similar paths.
struct NearPaths {
    /// The most similar path.
    nearest: Option<String>,
    /// The project or group that has this very path, with its number: it exists, and a request with the path does not reach it.
    very: Option<(Scope, u64)>,
    /// The first list that has rows, as a call.
    list: Option<(&'static str, Value)>,
}

/// Adds a next call to the error of an unknown path: the same call with the most similar path if it only reads,
/// otherwise a list that has rows.
pub async fn suggest(tools: &Tools, error: ToolError, unknown: &UnknownPath) -> ToolError {
    let UnknownPath { path, action, params, .. } = unknown;
    let found = find_near(tools, path).await;
    match (found.very, unknown.holder) {
        (Some((Scope::Project, _)), Some(Scope::Group)) => {
            return name_other_kind(tools, error, unknown, Scope::Project);
        }
        (Some((Scope::Group, _)), Some(Scope::Project)) => {
            return name_other_kind(tools, error, unknown, Scope::Group);
        }
        (Some((Scope::Project, id)), _) => return name_proxy(tools, error, unknown, id),
        _ => {}
    }
    if let Some(nearest) = found.nearest {
        let error = error.hint(format!("Did you mean {}?", quoted_name(&nearest)));
        let mut right = params.clone();
        right.insert("fullPath".to_owned(), json!(nearest));
        if action.risk == Risk::Read && suggestions::is_callable(tools, action, &right) {
            return error.fix(NextCall::execute(&action.id, &right));
        }
        let read = if found.list.as_ref().is_some_and(|(id, _)| *id == "group.list") {
            "group.get"
        } else {
            "project.get"
        };
        return error.fix(NextCall::execute(read, &json!({"fullPath": nearest})));
    }
    match found.list {
        Some((id, params)) => error.fix(NextCall::execute(id, &params)),
        None => error.fix(NextCall::execute("project.list", &json!({"membership": true}))),
    }
}

/// The error of a path that GitLab lists and does not find: something between changes the encoded slash of the request.
/// The call with the number in place of the path has no slash.
fn name_proxy(tools: &Tools, error: ToolError, unknown: &UnknownPath, id: u64) -> ToolError {
    let UnknownPath { path, action, params, .. } = unknown;
    let message = format!(
        "{}, but GitLab lists it as project {id}: a proxy before GitLab does not pass encoded slashes (%2F) on",
        error.message
    );
    let error = ToolError { message, ..error }.hint(
        "Have it pass %2F (Apache: `AllowEncodedSlashes NoDecode` and `nocanon`; nginx: `proxy_pass` without a path).",
    );
    let mut numbered = params.clone();
    numbered.insert("fullPath".to_owned(), json!(id));
    if let Some(selector) = action.selector_of(Scope::Project) {
        numbered.entry(selector.name.clone()).or_insert_with(|| json!(Scope::Project.name()));
    }
    match suggestions::is_callable(tools, action, &numbered) {
        true => error.fix(NextCall::execute(&action.id, &numbered)),
        false => error.fix(NextCall::execute("project.list", &json!({"search": last_segment(path)}))),
    }
}

/// The error of a project's path where the call needs a group, or a group's where it needs a project. A read is offered at the
/// place that is meant; a change is not made at another place than the named one.
fn name_other_kind(tools: &Tools, error: ToolError, unknown: &UnknownPath, is: Scope) -> ToolError {
    let UnknownPath { path, action, params, .. } = unknown;
    let (kind, needed) = match is {
        Scope::Project => ("project", "group"),
        _ => ("group", "project"),
    };
    let message = format!("`fullPath`: {path} is a {kind}, and {} needs a {needed}", action.id);
    let error = ToolError { message, ..error };
    let group = path.rsplit_once('/').map(|(group, _)| group).filter(|_| is == Scope::Project);
    let reads = action.risk == Risk::Read;
    let mut right = params.clone();
    if let Some(selector) = action.selector_of(is).filter(|_| reads) {
        right.insert(selector.name.clone(), json!(is.name()));
        let error = error.hint(format!("`{}` is {}.", selector.name, is.name()));
        return error.fix(NextCall::execute(&action.id, &right));
    }
    match group {
        Some(group) => {
            right.insert("fullPath".to_owned(), json!(group));
            let error = error.hint(format!("Its group is {group}."));
            match reads && suggestions::is_callable(tools, action, &right) {
                true => error.fix(NextCall::execute(&action.id, &right)),
                false => error.fix(NextCall::execute("group.get", &json!({"fullPath": group}))),
            }
        }
        None => error
            .hint("Name one of its projects.")
            .fix(NextCall::execute("project.list", &json!({"fullPath": path, "scope": "group"}))),
    }
}

/// The last segment of a path: the name of a project that is elsewhere.
pub fn last_segment(path: &str) -> &str {
    path.trim_matches('/').rsplit('/').next().unwrap_or(path)
}

/// Compares the path with projects of the same name, with the content of the group before its last slash, and with
/// groups.
async fn find_near(tools: &Tools, path: &str) -> NearPaths {
    let path = path.trim_matches('/');
    if is_number(path) {
        return NearPaths { nearest: None, very: None, list: None };
    }
    let name = last_segment(path);
    let mut lists = vec![("project.list", json!({"search": name}))];
    if let Some((group, _)) = path.rsplit_once('/') {
        lists.push(("project.list", json!({"fullPath": group, "scope": "group"})));
        lists.push(("group.list", json!({"search": name})));
    } else {
        lists.insert(0, ("group.list", json!({"search": name})));
        lists.push(("group.list", json!({"top_level_only": true})));
    }
    let mut first = None;
    for (id, params) in lists {
        let paths = list_paths(tools, id, &params).await;
        let very = paths.iter().find(|(known, _)| known.eq_ignore_ascii_case(path));
        if let Some((_, Some(number))) = very {
            let kind = if id == "project.list" { Scope::Project } else { Scope::Group };
            return NearPaths { nearest: None, very: Some((kind, *number)), list: None };
        }
        let alike = paths.iter().map(|(known, _)| known.as_str()).filter(|known| is_alike(path, known));
        if let Some(nearest) = nearest(path, alike) {
            return NearPaths { nearest: Some(nearest.to_owned()), very: None, list: Some((id, params)) };
        }
        if !paths.is_empty() && first.is_none() {
            first = Some((id, params));
        }
    }
    NearPaths { nearest: None, very: None, list: first }
}

/// Compares the paths segment by segment: a project of the same name in another group is another project. A path
/// that GitLab has just called unknown is not alike.
fn is_alike(path: &str, known: &str) -> bool {
    let (given, segments): (Vec<&str>, Vec<&str>) = (path.split('/').collect(), known.split('/').collect());
    let mut pairs = given.iter().zip(&segments);
    path != known
        && (given.len() != segments.len()
            || pairs.all(|(one, other)| nearest(one, [*other].into_iter()).is_some()))
}

/// The full paths that a list has, each with its number; none if it cannot be read.
async fn list_paths(tools: &Tools, id: &str, params: &Value) -> Vec<(String, Option<u64>)> {
    let mut params = params.as_object().cloned().unwrap_or_default();
    params.insert("per_page".to_owned(), json!(ROWS));
    // The error that is mended matters more than why this read failed.
    let rows = lookups::read_json(tools, id, params, Purpose::Diagnosis).await;
    let Some(Value::Array(rows)) = rows else { return Vec::new() };
    let path = |row: &Value| {
        let path = ["path_with_namespace", "full_path"].iter().find_map(|field| row.get(*field));
        Some((path.and_then(Value::as_str)?.to_owned(), row.get("id").and_then(Value::as_u64)))
    };
    rows.iter().filter_map(path).collect()
}
