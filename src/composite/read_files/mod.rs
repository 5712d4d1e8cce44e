//! `repository.read_files`: windows of up to twenty files, read concurrently. Files are streamed, and only the
//! window is kept. A binary is reported as one, and a missing file with similar names.

mod file;
mod missing;
mod render;
mod window;

use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use crate::call;
use crate::composite::byte_budget;
use crate::composite::item_results::ItemResults;
use crate::composite::read_files::window::{FileWindow, WindowReader, WindowRequest};
use crate::composite::run::{self, CompositeRun};
use crate::present;
use crate::text::{LfsPointer, Pattern, SearchTimeout};
use crate::tools::response::Outcome;
use crate::tools::{Answer, ErrorKind, NextCall, ToolError, workspace};
use file::{FileContent, LINES, RequestedFile, at};

/// Maximum number of files.
const MAX_FILES: usize = 20;

/// Default number of context lines of a match.
const CONTEXT: u64 = 2;

/// Maximum number of attempts to fit the text into one answer.
const FITTINGS: usize = 6;

/// The note of a truncated answer.
const AROUND_A_PLACE: &str = "lines around a place: `grep` with `context`, or `line_start` and `line_end`";

/// Reads the files concurrently, each with the lines that are asked for.
pub async fn run(run: &CompositeRun<'_>) -> Result<Answer, ToolError> {
    let given = run.bounded_list("files", MAX_FILES, "files")?;
    let grep = grep(run)?;
    let project = run.params.get("fullPath").cloned();
    let files: Vec<RequestedFile> = given
        .iter()
        .enumerate()
        .map(|(place, file)| match run.item_error(place) {
            Some(error) => RequestedFile::unread(project.clone(), file, error),
            None => parse_file(run, file, project.as_ref(), grep.as_ref()),
        })
        .collect();
    if let (true, Some(Err(error))) =
        (files.iter().all(|file| file.wanted.is_err()), files.first().map(|file| &file.wanted))
    {
        return Err(error.clone());
    }
    let mut read: Vec<Result<FileContent, ToolError>> =
        join_all(files.iter().map(|file| read_file(run, file))).await;
    let default_branch = default_branch(run, &files, &read).await;
    let action = run.tools.catalog.get(run.id).ok().flatten();
    let hint = action.and_then(|action| workspace::copy_note(run.tools, &action, &run.params));
    // Headings and notes count as well, and are known once the text is written.
    let most = run.tools.max_bytes;
    let mut budget = most;
    for _ in 0..FITTINGS {
        fit(&mut read, budget);
        let answer =
            workspace::with_note(hint.clone(), answer(run, &files, &read, default_branch.as_deref()));
        let beyond = answer.text.len().saturating_sub(most);
        if beyond == 0 || budget == 0 {
            return Ok(answer);
        }
        budget = budget.saturating_sub(beyond);
    }
    fit(&mut read, 0);
    Ok(workspace::with_note(hint, answer(run, &files, &read, default_branch.as_deref())))
}

/// The files in both forms, with the call for the rest of those that are truncated.
fn answer(
    run: &CompositeRun<'_>,
    files: &[RequestedFile],
    read: &[Result<FileContent, ToolError>],
    default_branch: Option<&str>,
) -> Answer {
    let mut items = ItemResults::default();
    let mut next = Vec::new();
    for (file, read) in files.iter().zip(read) {
        next.extend(render::render_file(run, file, read, default_branch, &mut items));
    }
    let (rows, mut text) = items.parts();
    let mut beside = Map::new();
    let mut notes = Vec::new();
    if !next.is_empty() {
        let mut params = run.params.clone();
        params.insert("files".to_owned(), Value::Array(next));
        let call = json!(NextCall::execute(run.id, &params));
        text.push_str(&format!("Next: {call}\n"));
        beside.insert("page".to_owned(), json!({"next": call}));
        if run.text("grep").is_none() {
            notes.push(AROUND_A_PLACE.to_owned());
        }
    }
    run.answer(rows, text, beside, &notes)
}

/// The name of the default branch, if a file is read at it: from the header of a reply, else from the project.
async fn default_branch(
    run: &CompositeRun<'_>,
    files: &[RequestedFile],
    read: &[Result<FileContent, ToolError>],
) -> Option<String> {
    let without_ref = files.iter().zip(read).filter(|(file, _)| file.at.is_none());
    let mut names = without_ref.filter_map(|(_, read)| match read {
        Ok(FileContent::FileWindow(_, headers)) => headers.get("x-gitlab-ref"),
        _ => None,
    });
    let name = names.find(|name| !name.is_empty() && *name != workspace::DEFAULT_REF);
    if name.is_some() || files.iter().all(|file| file.at.is_some()) {
        return name.map(|name| present::line(name));
    }
    let project = run.params.get("fullPath").cloned()?;
    let params = Map::from_iter([("fullPath".to_owned(), project)]);
    // Without it the answer only lacks the name.
    let project = run.read_json("project.get", params).await.ok()?;
    project.get("default_branch")?.as_str().map(present::line)
}

fn grep(run: &CompositeRun<'_>) -> Result<Option<(Pattern, usize)>, ToolError> {
    let Some(text) = run.text("grep").filter(|text| !text.is_empty()) else { return Ok(None) };
    let expression =
        Pattern::new(text).map_err(|error| run.invalid(format!("`grep` was not run: {error}")))?;
    let context = run.params.get("context").and_then(Value::as_u64).unwrap_or(CONTEXT);
    Ok(Some((expression, usize::try_from(context.min(LINES)).unwrap_or_default())))
}

/// Reads a window of one file as an item of another composite action: by `path`, `ref` and lines, as in `files`.
pub async fn window(run: &CompositeRun<'_>, project: &Value, item: &Value) -> Result<Outcome, ToolError> {
    let file = parse_file(run, item, Some(project), None);
    let mut read = [read_file(run, &file).await];
    fit(&mut read, run.tools.max_bytes);
    let [read] = read;
    let mut items = ItemResults::default();
    render::render_file(run, &file, &Ok(read?), None, &mut items);
    let (rows, text) = items.parts();
    let mut structured = rows.get(0).and_then(Value::as_object).cloned().unwrap_or_default();
    // The other composite action reports these itself.
    structured.retain(|name, _| !matches!(name.as_str(), "kind" | "path" | "ref" | "status"));
    Ok(Outcome::Answer(Answer::new(structured, text)))
}

fn parse_file(
    run: &CompositeRun<'_>,
    file: &Value,
    project: Option<&Value>,
    grep: Option<&(Pattern, usize)>,
) -> RequestedFile {
    let text = |name: &str| file.get(name).and_then(Value::as_str).map(str::to_owned);
    let path = text("path").unwrap_or_default();
    let at = text("ref").map(|name| call::merge_request_head(&name).unwrap_or(name));
    let wanted = parse_window(run, file, grep);
    RequestedFile { project: project.cloned(), path: path.trim_start_matches('/').to_owned(), at, wanted }
}

/// The lines of a file that an item asks for.
fn parse_window(
    run: &CompositeRun<'_>,
    file: &Value,
    grep: Option<&(Pattern, usize)>,
) -> Result<WindowRequest, ToolError> {
    let number = |name: &str| match file.get(name).map(|value| (value.as_u64(), value)) {
        None => Ok(None),
        Some((Some(number), _)) if number > 0 => Ok(Some(number)),
        Some((_, given)) => Err(run.invalid(format!("`{name}` is a number from 1; {given} was given"))),
    };
    let (first, last) = (number("line_start")?.unwrap_or(1), number("line_end")?.unwrap_or(u64::MAX));
    if last < first {
        return Err(run.invalid(format!("`line_end` {last} is before `line_start` {first}")));
    }
    let lines = number("max_lines")?.unwrap_or(LINES);
    Ok(WindowRequest { first, last, lines, bytes: run.tools.max_bytes, grep: grep.cloned() })
}

/// Truncates the large windows, so that all together fit into one answer.
fn fit(read: &mut [Result<FileContent, ToolError>], budget: usize) {
    let size = |read: &Result<FileContent, ToolError>| match read {
        Ok(FileContent::FileWindow(seen, _)) => seen.size(),
        Ok(_) => 0,
        Err(error) => error.text().len(),
    };
    let sizes: Vec<usize> = read.iter().map(size).collect();
    let share = byte_budget::share(&sizes, budget.saturating_sub(byte_budget::AROUND * sizes.len()));
    for read in read.iter_mut().flatten() {
        if let FileContent::FileWindow(seen, _) = read {
            seen.shrink(share);
        }
    }
}

async fn read_file(run: &CompositeRun<'_>, file: &RequestedFile) -> Result<FileContent, ToolError> {
    let mut window = WindowReader::new(file.wanted.clone()?);
    let params = at(file, json!({"file_path": file.path}));
    let (seen, headers) = match run.step_streaming("repository_file.get_raw", params, &mut window).await {
        Ok(Outcome::Response(response)) => (window.seen(), response.reply.headers),
        Ok(Outcome::Answer(answer)) => return Ok(FileContent::Said(answer)),
        Err(error) if error.kind == ErrorKind::NotFound => return missing::missing(run, file, error).await,
        Err(error) => return Err(error),
    };
    let raw = |more: Value| {
        let mut params = at(file, json!({"file_path": file.path}));
        params.extend(run::params(more));
        json!(NextCall::execute("repository_file.get_raw", &params))
    };
    if seen.timed_out {
        let error = ToolError::new(ErrorKind::Timeout, SearchTimeout.to_string());
        return Err(error.hint("Use a simpler pattern, or `line_start` and `line_end`."));
    }
    if seen.bytes == 0 {
        return Ok(FileContent::Other("empty", Map::new(), "The file is empty.".to_owned()));
    }
    if let Some(pointer) = pointer(&seen) {
        let whole = raw(json!({"lfs": true}));
        let details = "A Git LFS pointer; the content is stored separately.".to_owned();
        return Ok(FileContent::Other(
            "lfs_pointer",
            with_size(&seen, [("lfs", pointer), ("whole", whole)]),
            details,
        ));
    }
    if seen.binary {
        let details = format!("A binary of {} bytes; not shown.", seen.bytes);
        return Ok(FileContent::Other("binary", with_size(&seen, [("whole", raw(json!({})))]), details));
    }
    if let Some(target) = missing::link(run, file, &seen).await {
        let details = format!("A symbolic link to {}.", json!(target));
        return Ok(FileContent::Other(
            "symlink",
            with_size(&seen, [("link_target", json!(target))]),
            details,
        ));
    }
    Ok(FileContent::FileWindow(Box::new(seen), headers))
}

fn with_size<const N: usize>(seen: &FileWindow, more: [(&str, Value); N]) -> Map<String, Value> {
    let size = [("size".to_owned(), json!(seen.bytes))].into_iter();
    size.chain(more.map(|(name, value)| (name.to_owned(), value))).collect()
}

/// Object id and size in a Git LFS pointer file.
fn pointer(seen: &FileWindow) -> Option<Value> {
    let pointer = LfsPointer::parse(&seen.head).filter(|_| seen.bytes <= LfsPointer::MAX_BYTES as u64)?;
    Some(json!({"oid": pointer.oid, "size": pointer.size}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gitlab::BodySink;

    fn seen(file: &[u8]) -> FileWindow {
        let wanted = WindowRequest { first: 1, last: u64::MAX, lines: LINES, bytes: 1_000, grep: None };
        let mut window = WindowReader::new(wanted);
        window.begin();
        window.take(file);
        window.end(true);
        window.seen()
    }

    #[test]
    fn a_file_in_a_window_is_a_pointer_only_as_a_whole() {
        let head = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n";
        assert_eq!(pointer(&seen(head)), Some(json!({"oid": "sha256:4d7a2146", "size": 12345})));
        assert_eq!(
            pointer(&seen(&[head.as_slice(), &[b'x'; 2_000]].concat())),
            None,
            "no pointer is so long"
        );
    }
}
