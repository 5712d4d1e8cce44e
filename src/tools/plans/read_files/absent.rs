//! What only the tree of a repository tells: where a link leads, that a path is a directory or a submodule, and what is
//! called nearly like a file that is not there.

use serde_json::{Map, Value, json};

use super::super::super::{EXECUTE, ToolError};
use super::super::Run;
use super::super::window::Seen;
use super::{File, Read, at};
use crate::present;

/// How many near names are told.
const NEAR: usize = 5;

/// How many pages of a tree are looked through for near names.
const PAGES: u64 = 3;

/// The longest path that a symbolic link is taken to hold.
const LINK: u64 = 1_024;

/// Where a symbolic link leads. GitLab sends its target as if that were its text; only the tree tells, which is asked
/// where the text may be a path.
pub async fn link(run: &Run<'_>, file: &File, seen: &Seen) -> Option<String> {
    if seen.bytes > LINK || seen.lines != 1 || seen.ends_in_newline {
        return None;
    }
    let entry = entry(run, file).await.ok()??;
    let is_link = entry.get("mode").and_then(Value::as_str) == Some("120000");
    is_link.then(|| present::line(&String::from_utf8_lossy(&seen.head)))
}

/// The entry of the tree that is called as the file is.
async fn entry(run: &Run<'_>, file: &File) -> Result<Option<Value>, ToolError> {
    let entries = tree(run, file, 1, false).await?;
    Ok(entries.into_iter().find(|entry| path_of(entry) == file.path))
}

/// What is beside the file in its directory; or, of the whole repository, a page of all there is.
async fn tree(run: &Run<'_>, file: &File, page: u64, whole: bool) -> Result<Vec<Value>, ToolError> {
    let directory = file.path.rsplit_once('/').map(|(directory, _)| directory).filter(|_| !whole);
    let mut params = at(file, json!({"per_page": 100, "page": page, "recursive": whole}));
    params.extend(directory.map(|directory| ("path".to_owned(), json!(directory))));
    match run.read("repository.list_tree", params).await? {
        Value::Array(entries) => Ok(entries),
        _ => Ok(Vec::new()),
    }
}

fn path_of(entry: &Value) -> &str {
    entry.get("path").and_then(Value::as_str).unwrap_or_default()
}

/// Where GitLab has no such file: a directory or a submodule, or what is called nearly so.
pub async fn missing(run: &Run<'_>, file: &File, error: ToolError) -> Result<Read, ToolError> {
    let beside = tree(run, file, 1, false).await.unwrap_or_default();
    if let Some(entry) = beside.iter().find(|entry| path_of(entry) == file.path) {
        let kind = entry.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind == "commit" {
            let said = Map::from_iter([("commit".to_owned(), entry.get("id").cloned().unwrap_or_default())]);
            return Ok(Read::Other(
                "submodule",
                said,
                "Another repository at a commit of it (.gitmodules says which).".to_owned(),
            ));
        }
        if kind == "tree" {
            let list = at(file, json!({"path": file.path}));
            let list =
                json!({"tool": EXECUTE, "arguments": {"action": "repository.list_tree", "params": list}});
            let said = Map::from_iter([("list".to_owned(), list)]);
            return Ok(Read::Other("directory", said, "A directory.".to_owned()));
        }
    }
    let mut paths: Vec<String> = beside.iter().map(|entry| path_of(entry).to_owned()).collect();
    for page in 1..=PAGES {
        let more = tree(run, file, page, true).await.unwrap_or_default();
        let is_last = more.len() < 100;
        let files = more.iter().filter(|entry| entry.get("type").and_then(Value::as_str) == Some("blob"));
        paths.extend(files.map(|entry| path_of(entry).to_owned()));
        if is_last {
            break;
        }
    }
    let near = near(&file.path, &paths);
    if near.is_empty() {
        return Err(error);
    }
    let hint = format!(
        "There is {}.",
        near.iter().map(|path| json!(path).to_string()).collect::<Vec<_>>().join(", ")
    );
    let mut error = error.hint(hint);
    if let Some(first) = near.first() {
        let again = at(file, json!({"file_path": first}));
        error = error.fix(EXECUTE, json!({"action": "repository_file.raw", "params": again}));
    }
    error.details.insert("near".to_owned(), json!(near));
    Err(error)
}

/// The paths that may have been meant: those with the same name elsewhere, then those that are spelt alike.
fn near(wanted: &str, paths: &[String]) -> Vec<String> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let same = paths.iter().filter(|path| name(path) == name(wanted));
    let mut near: Vec<String> = Vec::new();
    for path in same {
        if near.len() < NEAR && !near.contains(path) {
            near.push(path.clone());
        }
    }
    while near.len() < NEAR {
        let left = || paths.iter().filter(|path| !near.contains(path)).map(String::as_str);
        let by_path = crate::search::nearest(wanted, left());
        let by_name = || {
            let nearest = name(wanted);
            let names: Vec<String> = left().map(name).collect();
            let found = crate::search::nearest(&nearest, names.iter().map(String::as_str))?.to_owned();
            left().find(|path| name(path) == found)
        };
        let Some(path) = by_path.or_else(by_name).map(str::to_owned) else { break };
        near.push(path);
    }
    near
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_the_same_elsewhere_and_those_spelt_alike() {
        let paths = ["src/gear.rs", "docs/gear.md", "README.md", "src/gears/main.rs"].map(str::to_owned);
        assert_eq!(near("lib/Gear.rs", &paths).first().map(String::as_str), Some("src/gear.rs"));
        assert_eq!(near("READM.md", &paths).first().map(String::as_str), Some("README.md"));
        assert!(near("nothing-like-it", &paths).is_empty());
    }
}
