//! Detection of symbolic links, directories and submodules by the repository tree.

use serde_json::{Map, Value, json};

use crate::composite::read_files::file::{FileContent, LINES, RequestedFile, at};
use crate::composite::read_files::window::FileWindow;
use crate::composite::run::{CompositeRun, params};
use crate::present;
use crate::tools::{NextCall, ToolError};

/// The action that reads windows of files.
const READ_FILES: &str = "repository.read_files";

/// The action that reads one file, and each step of this plan.
const RAW: &str = "repository_file.get_raw";

/// Maximum length of a text that may be the target of a symbolic link.
const LINK: u64 = 1_024;

/// Target of a symbolic link. GitLab returns the target as the file's text; the tree, which shows that it is a link, is
/// fetched only if the text may be a path.
pub async fn link(run: &CompositeRun<'_>, file: &RequestedFile, seen: &FileWindow) -> Option<String> {
    if seen.bytes > LINK || seen.lines != 1 || seen.ends_in_newline {
        return None;
    }
    let entry = entry(run, file).await.ok()??;
    let is_link = entry.get("mode").and_then(Value::as_str) == Some("120000");
    is_link.then(|| present::line(&String::from_utf8_lossy(&seen.head)))
}

/// The tree entry of the file.
async fn entry(run: &CompositeRun<'_>, file: &RequestedFile) -> Result<Option<Value>, ToolError> {
    let entries = tree(run, file).await?;
    Ok(entries.into_iter().find(|entry| path_of(entry) == file.path))
}

/// Entries of the file's directory.
async fn tree(run: &CompositeRun<'_>, file: &RequestedFile) -> Result<Vec<Value>, ToolError> {
    let directory = file.path.rsplit_once('/').map(|(directory, _)| directory);
    let mut params = at(file, json!({"per_page": 100}));
    params.extend(directory.map(|directory| ("path".to_owned(), json!(directory))));
    match run.read_json("repository.list_tree", params).await? {
        Value::Array(entries) => Ok(entries),
        _ => Ok(Vec::new()),
    }
}

fn path_of(entry: &Value) -> &str {
    entry.get("path").and_then(Value::as_str).unwrap_or_default()
}

/// The directory or submodule at the path; otherwise the error of the step, with the window in its fix.
pub async fn missing(
    run: &CompositeRun<'_>,
    file: &RequestedFile,
    refused: ToolError,
) -> Result<FileContent, ToolError> {
    let beside = tree(run, file).await.unwrap_or_default();
    if let Some(entry) = beside.iter().find(|entry| path_of(entry) == file.path) {
        let kind = entry.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind == "commit" {
            let details =
                Map::from_iter([("commit".to_owned(), entry.get("id").cloned().unwrap_or_default())]);
            let commit = details.get("commit").and_then(Value::as_str).map(present::line).unwrap_or_default();
            let text =
                format!("A submodule: another repository (.gitmodules says which) at commit {commit}.");
            return Ok(FileContent::Other("submodule", details, text));
        }
        if kind == "tree" {
            let list = at(file, json!({"path": file.path}));
            let list = json!(NextCall::execute("repository.list_tree", &list));
            let details = Map::from_iter([("list".to_owned(), list)]);
            return Ok(FileContent::Other("directory", details, "A directory.".to_owned()));
        }
    }
    Err(with_window(run, file, refused))
}

/// Adds the window to the error's fix, if that reads another file or ref.
fn with_window(run: &CompositeRun<'_>, file: &RequestedFile, error: ToolError) -> ToolError {
    let Some(NextCall { arguments, .. }) = &error.fix else { return error };
    let text = |name: &str| arguments.get("params")?.get(name)?.as_str().map(str::to_owned);
    let is_of_file = arguments.get("action").and_then(Value::as_str) == Some(RAW);
    let (Some(path), true) = (text("file_path"), is_of_file) else { return error };
    let at = text("ref").filter(|at| Some(at) != file.at.as_ref());
    let again = match at {
        Some(at) => call_for_window(run, file, "ref", &at),
        None => call_for_window(run, file, "path", &path),
    };
    error.fix(again)
}

/// The call for the same window with another path or ref.
fn call_for_window(run: &CompositeRun<'_>, file: &RequestedFile, name: &str, value: &str) -> NextCall {
    let wanted = file.wanted.as_ref().ok();
    let first = wanted.map(|wanted| wanted.first).filter(|first| *first > 1);
    let last = wanted.map(|wanted| wanted.last).filter(|last| *last < u64::MAX);
    let lines = wanted.map(|wanted| wanted.lines).filter(|lines| *lines != LINES);
    let mut again = params(json!({"path": file.path}));
    let more = [
        ("ref", file.at.as_ref().map(|at| json!(at))),
        ("line_start", first.map(|number| json!(number))),
        ("line_end", last.map(|number| json!(number))),
        ("max_lines", lines.map(|number| json!(number))),
    ];
    again.extend(more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    again.insert(name.to_owned(), json!(value));
    let mut call = params(json!({"fullPath": file.project, "files": [again]}));
    for name in ["grep", "context", "include_metadata"] {
        let given = run.params.get(name).filter(|_| run.id == READ_FILES);
        call.extend(given.map(|value| (name.to_owned(), value.clone())));
    }
    NextCall::execute(READ_FILES, &call)
}
