//! Renders a file window in both forms, with the next lines to request.

use serde_json::{Map, Value, json};

use crate::composite::item_results::ItemResults;
use crate::composite::read_files::file::{FileContent, LINES, ReplyHeaders, RequestedFile};
use crate::composite::read_files::window::FileWindow;
use crate::composite::run::{CompositeRun, params};
use crate::present::{self, ContentKind, GivenContent, Options};
use crate::tools::ToolError;
use crate::untrusted::Secrets;

/// Adds a file to the results, and returns the next window.
pub fn render_file(
    run: &CompositeRun<'_>,
    file: &RequestedFile,
    read: &Result<FileContent, ToolError>,
    default_branch: Option<&str>,
    items: &mut ItemResults,
) -> Option<Value> {
    let mut attributes = Map::from_iter([("path".to_owned(), json!(file.path))]);
    attributes.extend(file.at.as_deref().or(default_branch).map(|at| ("ref".to_owned(), json!(at))));
    let (seen, headers) = match read {
        Ok(FileContent::FileWindow(seen, headers)) => (seen, headers),
        Ok(FileContent::Other(kind, details, text)) => {
            attributes.insert("kind".to_owned(), json!(kind));
            let calls = ["whole", "list"].iter().filter_map(|name| details.get(*name));
            let text = calls.fold(text.clone(), |text, call| format!("{text}\nNext: {call}"));
            items.put("file", attributes, "ok", details.clone(), &text);
            return None;
        }
        Ok(FileContent::Said(answer)) => {
            items.add("file", attributes, &Ok(answer.clone()));
            return None;
        }
        Err(error) => {
            items.add("file", attributes, &Err(error.clone()));
            return None;
        }
    };
    attributes.insert("kind".to_owned(), json!("text"));
    let next = following(file, seen);
    let (details, text) = render_window(run, file, seen, headers);
    items.put("file", attributes, "ok", details, &text);
    next
}

/// The lines after the shown window; for a search, the lines not searched yet.
fn range(file: &RequestedFile, seen: &FileWindow) -> Option<(u64, u64)> {
    let wanted = file.wanted.as_ref().ok()?;
    let after = seen.kept.last().map(|(number, _)| number + 1);
    let is_more = |next: &u64| wanted.grep.is_none() && *next <= seen.lines;
    let first = seen.left.or(after.filter(is_more))?;
    let most = match &wanted.grep {
        Some(_) => wanted.last,
        None => first.saturating_add(wanted.lines - 1),
    };
    Some((first, if seen.whole { most.min(seen.lines) } else { most }))
}

/// The remaining request of a file, for the next call.
fn following(file: &RequestedFile, seen: &FileWindow) -> Option<Value> {
    let wanted = file.wanted.as_ref().ok()?;
    let mut next = params(json!({"path": file.path, "line_start": seen.left?}));
    let more = [
        ("ref", file.at.as_ref().map(|at| json!(at))),
        ("line_end", (wanted.last < u64::MAX).then(|| json!(wanted.last))),
        ("max_lines", (wanted.lines != LINES).then(|| json!(wanted.lines))),
    ];
    next.extend(more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    Some(Value::Object(next))
}

fn render_window(
    run: &CompositeRun<'_>,
    file: &RequestedFile,
    seen: &FileWindow,
    headers: &ReplyHeaders,
) -> (Map<String, Value>, String) {
    let (text, mut notes) = window(file, seen, run.tools.client.secrets());
    let returned = seen.kept.len();
    let ends = |at: Option<&(u64, Vec<u8>)>| at.map(|(number, _)| *number);
    let (first, last) = (ends(seen.kept.first()), ends(seen.kept.last()));
    let mut details = params(json!({
        "size": seen.bytes, "total_lines": seen.lines, "lines_returned": returned,
        "first_line": first, "last_line": last, "truncated": seen.left.is_some(), "data": text.0,
    }));
    if file.grep().is_some() {
        details.insert("matches".to_owned(), json!(seen.matches));
    }
    if !seen.whole {
        notes.push(format!(
            "only the first {} bytes were read: lines and matches beyond are not counted",
            seen.bytes
        ));
    }
    if seen.long > 0 {
        notes.push(format!("{} lines are cut because of their length", seen.long));
    }
    let metadata = metadata(headers);
    if run.flag("include_metadata", true) && !metadata.is_empty() {
        details.insert("metadata".to_owned(), Value::Object(metadata.clone()));
    }
    let mut out = if returned == 0 { String::new() } else { present::marked(&text.1) };
    out.push_str(&line(seen, (first, last), file));
    if let Some((start, end)) = range(file, seen) {
        details.insert("next".to_owned(), json!({"line_start": start, "line_end": end}));
        out.push_str(&format!("Next: lines {start}-{end}.\n"));
    }
    if run.flag("include_metadata", true) && !metadata.is_empty() {
        let pairs: Vec<String> = metadata.iter().map(|(name, value)| format!("{name} {value}")).collect();
        out.push_str(&format!("Metadata: {}.\n", pairs.join(", ")));
    }
    if !notes.is_empty() {
        details.insert("notes".to_owned(), json!(notes));
        notes.iter().for_each(|note| out.push_str(&format!("Note: {note}.\n")));
    }
    (details, out)
}

/// The position of the window in words.
fn line(seen: &FileWindow, window: (Option<u64>, Option<u64>), file: &RequestedFile) -> String {
    let of = if seen.whole { seen.lines.to_string() } else { format!("more than {}", seen.lines) };
    let found = file.grep().map(|_| format!("Lines that match: {}. ", seen.matches)).unwrap_or_default();
    let cut = if seen.left.is_some() { "; truncated" } else { "" };
    match window {
        (Some(first), Some(last)) => {
            format!("{found}Shown: lines {first}-{last} of {of}, {} bytes in all{cut}.\n", seen.bytes)
        }
        _ => format!("{found}Nothing shown of {of} lines, {} bytes{cut}.\n", seen.bytes),
    }
}

/// The window as data and as text; matches have line numbers.
fn window(file: &RequestedFile, seen: &FileWindow, secrets: &Secrets) -> ((String, String), Vec<String>) {
    let mut bytes = Vec::new();
    let mut before = None;
    for (number, line) in &seen.kept {
        if file.grep().is_some() {
            if before.is_some_and(|before| before + 1 != *number) {
                bytes.extend_from_slice(b"--\n");
            }
            bytes.extend_from_slice(format!("{number}: ").as_bytes());
            before = Some(*number);
        }
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    let (text, stray) = present::text_of(&bytes, "text/plain")
        .unwrap_or_else(|| (String::from_utf8_lossy(&bytes).into_owned(), None));
    let kind = ContentKind::default();
    let budget = bytes.len().saturating_mul(4).max(1_000);
    let options = Options::new(kind, budget, secrets);
    let shown = present::present(GivenContent::Text(text), &options);
    let data = shown.data.as_str().unwrap_or_default().to_owned();
    let masked = (!shown.masked.hidden.is_empty()).then(|| {
        "a token in it is masked; repository_file.get_raw with `view: \"full\"` shows it".to_owned()
    });
    ((data, shown.text), stray.into_iter().chain(shown.notes).chain(masked).collect())
}

/// Metadata of the file from response headers.
fn metadata(headers: &ReplyHeaders) -> Map<String, Value> {
    const TOLD: [&str; 5] = ["blob_id", "commit_id", "last_commit_id", "content_sha256", "execute_filemode"];
    let header = |name: &str| headers.get(&format!("x-gitlab-{}", name.replace('_', "-")));
    let details = |name: &&str| {
        let text = header(name).filter(|text| !text.is_empty())?;
        let value = text.parse::<bool>().map_or_else(|_| json!(present::line(text)), |truth| json!(truth));
        Some(((*name).to_owned(), value))
    };
    TOLD.iter().filter_map(details).collect()
}
