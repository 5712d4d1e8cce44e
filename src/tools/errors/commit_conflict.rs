//! A commit that creates a file that exists, or changes one that does not: GitLab's message has no name ("A file with this
//! name already exists"), so the files are looked up.

use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use crate::call::Checked;
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::NextCall;
use crate::text::{object_fields, plain_text};
use crate::tools::errors::not_found;
use crate::tools::lookups;
use crate::tools::own_reads::gate::{Purpose, ReadError};
use crate::tools::state::Tools;
use crate::untrusted::quote;

/// Maximum number of files that are looked up.
const MAX_FILES: usize = 10;

/// GitLab's words: `lib/gitlab/git/…` and Gitaly's `UserCommitFiles`.
const EXISTS: &str = "A file with this name already exists";
const LACKS: &str = "A file with this name doesn't exist";

/// True if GitLab refused one of the files of a commit without naming it.
pub fn is_unnamed(checked: &Checked, refused: &ToolError) -> bool {
    refused.kind == ErrorKind::InvalidParams
        && checked.params().get("actions").is_some_and(Value::is_array)
        && [EXISTS, LACKS].iter().any(|message| refused.message.contains(message))
}

/// True if GitLab refused a change of a file that is not there, as it refuses one of a commit.
pub fn is_missing(refused: &ToolError) -> bool {
    refused.kind == ErrorKind::InvalidParams && refused.message.contains(LACKS)
}

/// The error with the files that stand in the way, and the call without the fault where the other change does the same.
pub async fn name_files(tools: &Tools, checked: &Checked, refused: ToolError) -> ToolError {
    let exists = refused.message.contains(EXISTS);
    let (wrong, right) = if exists { ("create", "update") } else { ("update", "create") };
    let params = checked.params();
    let changes = params.get("actions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_suspect = |change: &&Value| match change.get("action").map(plain_text).as_deref() {
        Some("create") => exists,
        Some(_) => !exists,
        None => false,
    };
    let paths: Vec<String> = changes
        .iter()
        .filter(is_suspect)
        .filter_map(|change| file_of(change, exists))
        .take(MAX_FILES)
        .collect();
    let at = params.get("start_branch").or_else(|| params.get("branch")).cloned().unwrap_or_default();
    let found = join_all(paths.iter().map(|path| {
        let read = json!({"fullPath": params.get("fullPath"), "file_path": path, "ref": at});
        lookups::read_once(tools, "repository_file.get", object_fields(read), Purpose::Diagnosis)
    }));
    let found = found.await;
    let named = paths.iter().zip(&found).filter(|(_, found)| match found {
        Ok(_) => exists,
        Err(ReadError::Gitlab(error)) => !exists && not_found::is_of_place(error),
        Err(ReadError::NotSent(_)) => false,
    });
    let named: Vec<&String> = named.map(|(path, _)| path).collect();
    if named.is_empty() {
        return refused;
    }
    let list: Vec<String> = named.iter().map(|path| quote(path)).collect();
    let verb = if exists { "exists" } else { "does not exist" };
    let place = quote(&plain_text(&at));
    let refused = refused.detail("files", json!(named));
    let hint = format!(
        "{} {verb} on {place}: its action is {right}, not {wrong}. Nothing was committed.",
        list.join(", ")
    );
    let refused = refused.hint(hint);
    let first = named.first().map_or("", |path| path);
    let read = json!({"fullPath": params.get("fullPath"), "file_path": first, "ref": at});
    let next = if exists {
        NextCall::execute("repository_file.get", &read)
    } else {
        list_folder(params, first, &at)
    };
    refused.fix(next)
}

/// The path of a change, or the path that it moves from.
fn file_of(change: &Value, exists: bool) -> Option<String> {
    let previous = change.get("previous_path").filter(|_| !exists);
    previous.or_else(|| change.get("file_path")).map(plain_text)
}

/// The call that lists the folder of a file that does not exist.
fn list_folder(params: &Map<String, Value>, path: &str, at: &Value) -> NextCall {
    let folder = path.rsplit_once('/').map(|(folder, _)| folder);
    let mut list = json!({"fullPath": params.get("fullPath"), "ref": at});
    if let (Some(folder), Value::Object(list)) = (folder, &mut list) {
        list.insert("path".to_owned(), json!(folder));
    }
    NextCall::execute("repository.list_tree", &list)
}
