//! Diagnoses a missing file: is the ref or the path missing, and which names are similar.

use serde_json::{Map, Value, json};

use crate::call::Checked;
use crate::gitlab::Content;
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::{ExecuteRequest, NextCall};
use crate::search::{self, has_name_like, innermost_folder, similar_paths};
use crate::tools::own_reads::gate::{Purpose, ReadError};
use crate::tools::state::Tools;
use crate::tools::{lookups, workspace};
use crate::untrusted::{quote, quoted_name};

/// Rows of a list of branches, and entries of a page of a tree.
const ROWS: u64 = 100;

/// Maximum number of pages of a tree.
const PAGES: u64 = 3;

/// The path of the operations on one file.
const FILE: &str = "/repository/files/:file_path";

/// The error of a change of a file that is not there, where one of a similar name is. None if there is none.
pub async fn diagnose_change(
    tools: &Tools,
    checked: &Checked,
    request: &ExecuteRequest,
    refused: &ToolError,
) -> Option<ToolError> {
    let found = diagnose(tools, checked, request, refused).await?;
    let path = checked.params().get("file_path")?.as_str()?;
    let nearest = found.details.get(SIMILAR)?.get(0)?.as_str()?;
    has_name_like(path, nearest).then_some(found)
}

/// The files with similar names, in the details of an error.
const SIMILAR: &str = "near";

/// The error of a read of one file with the part that is missing, and the same call with the nearest ref or path. None
/// if the call reads no file, or the repository cannot be read either.
pub async fn diagnose(
    tools: &Tools,
    checked: &Checked,
    request: &ExecuteRequest,
    refused: &ToolError,
) -> Option<ToolError> {
    let is_of_file = checked.action().operations.iter().any(|operation| operation.path.contains(FILE));
    let params = checked.params();
    let text = |name: &str| params.get(name).and_then(Value::as_str);
    let (project, path) = (text("fullPath")?, text("file_path").filter(|_| is_of_file)?);
    let at = text("ref").or_else(|| text("branch"));
    let with = |name: &str, value: &str| {
        let mut params = params.clone();
        params.insert(name.to_owned(), json!(value));
        NextCall::for_request(&ExecuteRequest {
            action: checked.action().id.clone(),
            params,
            ..request.clone()
        })
    };
    let is_read = checked.action().risk == crate::catalog::Risk::Read;
    match tree(tools, project, at).await {
        Ok(RepositoryTree { folders, .. })
            if folders.iter().any(|folder| folder == path.trim_matches('/')) =>
        {
            let message = format!("{}. {} is a folder", refused.message, quoted_name(path));
            let error = ToolError { message, kind: ErrorKind::NotFound, ..refused.clone() };
            Some(error.hint("`fix` lists it.").fix(listing(project, at, Some(path.trim_matches('/')))))
        }
        Ok(RepositoryTree { files, folders }) => {
            let near = similar_paths(path, &files);
            let error = no_file(refused.clone(), path, at, &near);
            let same = near.first().filter(|first| is_read && has_name_like(path, first));
            Some(match same {
                Some(first) => error.fix(with("file_path", first)),
                None => error.fix(listing(project, at, innermost_folder(path, &folders))),
            })
        }
        Err(ReadError::Gitlab(error)) if error.status() == Some(404) => {
            let at = at.filter(|at| *at != workspace::DEFAULT_REF)?;
            let within = Map::from_iter([("fullPath".to_owned(), json!(project))]);
            let branches = names(&rows(tools, "branch.list", within).await.ok()?);
            if branches.is_empty() {
                return Some(empty_repository(refused.clone(), project));
            }
            let (error, nearest) = no_ref(refused.clone(), project, at, &branches);
            Some(match nearest.filter(|_| is_read) {
                Some(nearest) => error.fix(with("ref", &nearest)),
                None => error,
            })
        }
        Err(_) => None,
    }
}

/// Files and folders of a repository, up to the page limit.
struct RepositoryTree {
    files: Vec<String>,
    folders: Vec<String>,
}

async fn tree(tools: &Tools, project: &str, at: Option<&str>) -> Result<RepositoryTree, ReadError> {
    let mut found = RepositoryTree { files: Vec::new(), folders: Vec::new() };
    for page in 1..=PAGES {
        let mut params = Map::from_iter([
            ("fullPath".to_owned(), json!(project)),
            ("recursive".to_owned(), json!(true)),
            ("page".to_owned(), json!(page)),
        ]);
        params.extend(at.map(|at| ("ref".to_owned(), json!(at))));
        let rows = match rows(tools, "repository.list_tree", params).await {
            Err(error) if page == 1 => return Err(error),
            rows => rows.unwrap_or_default(),
        };
        for row in &rows {
            let text = |name: &str| row.get(name).and_then(Value::as_str);
            let kind = if text("type") == Some("tree") { &mut found.folders } else { &mut found.files };
            kind.extend(text("path").map(str::to_owned));
        }
        if rows.len() < ROWS as usize {
            break;
        }
    }
    Ok(found)
}

async fn rows(tools: &Tools, action: &str, mut params: Map<String, Value>) -> Result<Vec<Value>, ReadError> {
    params.insert("per_page".to_owned(), json!(ROWS));
    let (_, reply) = lookups::read_once(tools, action, params, Purpose::Diagnosis).await?;
    Ok(match reply.content {
        Content::Json(Value::Array(rows)) => rows,
        _ => Vec::new(),
    })
}

/// The names of branches.
fn names(rows: &[Value]) -> Vec<String> {
    let name = |row: &Value| row.get("name").and_then(Value::as_str).map(str::to_owned);
    rows.iter().filter_map(name).collect()
}

/// The error of a missing ref, with the list of branches as its fix; and the branch with the most similar name.
fn no_ref(refused: ToolError, project: &str, at: &str, branches: &[String]) -> (ToolError, Option<String>) {
    let nearest = search::nearest(at, branches.iter().map(String::as_str)).map(str::to_owned);
    let hint = match &nearest {
        Some(nearest) => format!("Did you mean the branch {}?", quoted_name(nearest)),
        None => "Give a branch, a tag or a commit; without `ref` it is the default branch.".to_owned(),
    };
    let message = format!("{}. {project} has no branch, tag or commit `{at}`", refused.message);
    let error = ToolError { message, kind: ErrorKind::NotFound, ..refused }.hint(hint);
    let list = NextCall::execute("branch.list", &json!({"fullPath": project}));
    (error.fix(list), nearest)
}

/// The error of a read of a repository without any commit, which GitLab answers with 404.
pub fn empty_repository(refused: ToolError, project: &str) -> ToolError {
    let message =
        format!("the repository of {} is empty: it has no branch and no commit yet", quote(project));
    ToolError { message, fix: None, ..refused }.hint("`commit.create` makes its first commit.")
}

/// The error of a file that is not there at a ref that is.
fn no_file(refused: ToolError, path: &str, at: Option<&str>, near: &[String]) -> ToolError {
    let place = match at.filter(|at| *at != workspace::DEFAULT_REF) {
        Some(at) => format!("at {}", quoted_name(at)),
        None => "at the default branch".to_owned(),
    };
    let message = format!("{}. There is no file {} {place}", refused.message, quoted_name(path));
    let named: Vec<String> = near.iter().map(|path| quoted_name(path)).collect();
    let hint = match named.is_empty() {
        true => "`fix` lists the existing files.".to_owned(),
        false => format!("There is {}.", named.join(", ")),
    };
    let mut error = ToolError { message, ..refused }.hint(hint);
    if !near.is_empty() {
        error.details.insert(SIMILAR.to_owned(), json!(near));
    }
    error
}

/// The call that lists a folder of the repository.
fn listing(project: &str, at: Option<&str>, folder: Option<&str>) -> NextCall {
    let mut params = Map::from_iter([("fullPath".to_owned(), json!(project))]);
    params.extend(folder.map(|folder| ("path".to_owned(), json!(folder))));
    let at = at.filter(|at| *at != workspace::DEFAULT_REF);
    params.extend(at.map(|at| ("ref".to_owned(), json!(at))));
    NextCall::execute("repository.list_tree", &params)
}
