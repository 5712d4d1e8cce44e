//! A section of a job log, or the lines that match a pattern (`section`, `grep`). `tail` and `head` are read by
//! `messages::log_selection`; `text::window` cuts what is longer than the answer may be.

use std::time::Instant;

use serde_json::json;

use crate::gitlab::Content;
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::{ExecuteRequest, NextCall};
use crate::present;
use crate::text::{self, GrepMatches, Pattern, SEARCH_TIME, SearchTimeout};
use crate::tools::finish::finishing::Finishing;
use crate::tools::response::ActionResponse;

/// Reduces the reply to the requested part. Runs on a blocking thread, because a search may take long.
pub async fn select_log(finishing: &mut Finishing<'_>) -> Result<(), ToolError> {
    let Some(wanted) = &finishing.log else { return Ok(()) };
    let ActionResponse { request, reply, notes, .. } = &mut finishing.response;
    let log = match &reply.content {
        Content::Text(text) => text.clone(),
        Content::Binary { bytes, content_type, .. } => match present::text_of(bytes, content_type) {
            Some((text, _)) => text,
            None => return Ok(()),
        },
        _ => return Ok(()),
    };
    let (section, pattern) = (wanted.section.clone(), wanted.grep.clone());
    let context = wanted.context;
    let work = move || select_part(&log, section.as_deref(), pattern.as_ref(), context);
    let part = tokio::task::spawn_blocking(work).await;
    let part = part.map_err(|_| ToolError::new(ErrorKind::Internal, "the log could not be searched"))?;
    let text = match part {
        LogPart::Text(text) => text,
        LogPart::Found { found, lines: all } => {
            let lines = if found.matches == 1 { "line matches" } else { "lines match" };
            notes.push(format!("{} {lines} `grep`, of {all}", found.matches));
            if found.long > 0 {
                notes.push(format!(
                    "{} long lines were searched only at their beginning (16 KiB)",
                    found.long
                ));
            }
            found.text
        }
        LogPart::NoSection { sections } => {
            return Err(no_section(sections, wanted.section.as_deref().unwrap_or_default(), request));
        }
        LogPart::Timeout(timeout) => return Err(too_slow(timeout, request)),
    };
    if let Some(name) = &wanted.section {
        notes.push(format!("only the section {name}, whose lines are counted by themselves"));
    }
    reply.content = Content::Text(text);
    Ok(())
}

/// A part of a log, or why there is none.
enum LogPart {
    Text(String),
    Found { found: GrepMatches, lines: usize },
    NoSection { sections: Vec<String> },
    Timeout(SearchTimeout),
}

fn select_part(log: &str, section: Option<&str>, pattern: Option<&Pattern>, context: usize) -> LogPart {
    let text = match section {
        Some(name) => match present::section(log, name) {
            Some(text) => text,
            None => {
                let sections = present::sections(log).into_iter().map(|section| section.name).collect();
                return LogPart::NoSection { sections };
            }
        },
        None => present::plain_log(log),
    };
    let Some(pattern) = pattern else { return LogPart::Text(text) };
    // Matches beyond the budget are cut like any text, with the calls that go on.
    match text::grep(&text, pattern, context, 1, usize::MAX, Instant::now() + SEARCH_TIME) {
        Ok(found) => LogPart::Found { found, lines: text.lines().count() },
        Err(timeout) => LogPart::Timeout(timeout),
    }
}

fn too_slow(timeout: SearchTimeout, request: &ExecuteRequest) -> ToolError {
    let mut params = request.params.clone();
    params.remove("grep");
    ToolError::new(ErrorKind::Timeout, timeout.to_string())
        .hint("Use a simpler pattern, or search a part of the log (`section`).")
        .fix(NextCall::execute(&request.action, &params))
}

fn no_section(mut names: Vec<String>, name: &str, request: &ExecuteRequest) -> ToolError {
    names.dedup();
    let plain: Vec<&str> = names.iter().map(String::as_str).filter(|name| present::is_plain(name)).collect();
    let nearest = crate::search::nearest(name, plain.iter().copied());
    let mut params = request.params.clone();
    match nearest {
        Some(nearest) => params.insert("section".to_owned(), json!(nearest)),
        None => params.remove("section"),
    };
    let there =
        if plain.is_empty() { "it has none".to_owned() } else { format!("there are {}", plain.join(", ")) };
    ToolError::new(ErrorKind::NotFound, format!("the log has no section {name:?}; {there}"))
        .fix(NextCall::execute(&request.action, &params))
}
