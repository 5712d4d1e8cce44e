//! Suggests projects and groups with paths similar to an unknown one.

use serde_json::{Value, json};

use crate::catalog::Risk;
use crate::gitlab::Content;
use crate::messages::error::ToolError;
use crate::messages::request::NextCall;
use crate::search::nearest;
use crate::text::is_number;
use crate::tools::action_lookup::suggestions;
use crate::tools::lookups::{self, UnknownPath};
use crate::tools::own_reads::gate::Purpose;
use crate::tools::state::Tools;

/// Rows of each list that is compared.
const ROWS: u64 = 100;

/// Result of the search for similar paths.
struct NearPaths {
    /// The most similar path.
    nearest: Option<String>,
    /// The first list that has rows, as a call.
    list: Option<(&'static str, Value)>,
}

/// Adds a next call to the error of an unknown path: the same call with the most similar path if it only reads,
/// otherwise a list that has rows.
pub async fn suggest(tools: &Tools, error: ToolError, unknown: &UnknownPath) -> ToolError {
    let UnknownPath { path, action, params } = unknown;
    let found = find_near(tools, path).await;
    if let Some(nearest) = found.nearest {
        let error = error.hint(format!("Did you mean `{nearest}`?"));
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

/// Compares the path with projects of the same name, with the content of the group before its last slash, and with
/// groups.
async fn find_near(tools: &Tools, path: &str) -> NearPaths {
    let path = path.trim_matches('/');
    if is_number(path) {
        return NearPaths { nearest: None, list: None };
    }
    let name = path.rsplit('/').next().unwrap_or(path);
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
        let alike = paths.iter().filter(|known| is_alike(path, known)).map(String::as_str);
        if let Some(nearest) = nearest(path, alike) {
            return NearPaths { nearest: Some(nearest.to_owned()), list: Some((id, params)) };
        }
        if !paths.is_empty() && first.is_none() {
            first = Some((id, params));
        }
    }
    NearPaths { nearest: None, list: first }
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

/// The full paths that a list has; none if it cannot be read.
async fn list_paths(tools: &Tools, id: &str, params: &Value) -> Vec<String> {
    let mut params = params.as_object().cloned().unwrap_or_default();
    params.insert("per_page".to_owned(), json!(ROWS));
    // The error that is mended matters more than why this read failed.
    let Ok((_, reply)) = lookups::read_once(tools, id, params, Purpose::Diagnosis).await else {
        return Vec::new();
    };
    let Content::Json(Value::Array(rows)) = reply.content else { return Vec::new() };
    let path = |row: &Value| {
        let path = ["path_with_namespace", "full_path"].iter().find_map(|field| row.get(*field));
        path.and_then(Value::as_str).map(str::to_owned)
    };
    rows.iter().filter_map(path).collect()
}
