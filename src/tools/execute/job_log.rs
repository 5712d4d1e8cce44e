//! Selects a part of a job log: a section, the matches of a pattern, the last lines. The selecting parameters are
//! not sent to GitLab; `lines` and `offset` apply within the part.

use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::catalog::{Action, Place as ParamPlace};
use crate::gitlab::{Content, Reply};
use crate::present;
use crate::text::{self, GrepMatches, Pattern, PatternError, Place, SEARCH_TIME, SearchTimeout};
use crate::tools::errors::{ErrorKind, ToolError};
use crate::tools::types::{ExecuteRequest, NextCall};

/// Maximum number of context lines around a match.
const MOST_CONTEXT: u64 = 100;

/// The requested part of a log.
pub struct LogSelection<'a> {
    section: Option<&'a str>,
    grep: Option<Pattern>,
    context: usize,
}

/// Parses the selecting parameters; none if the action has no such parameters.
pub fn log_selection<'a>(
    action: &Action,
    params: &'a Map<String, Value>,
) -> Result<Option<LogSelection<'a>>, ToolError> {
    if action.param("section").is_none_or(|param| param.place != ParamPlace::Selector) {
        return Ok(None);
    }
    let text = |name: &str| params.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let grep = text("grep").map(|pattern| {
        Pattern::new(pattern).map_err(|error| {
            let mut mended = params.clone();
            let (message, hint) = match error {
                PatternError::Syntax => {
                    mended.insert("grep".to_owned(), json!(Pattern::escape(pattern)));
                    let message = format!(
                        "`grep` is {pattern:?}, which is not a valid regular expression. Nothing was sent"
                    );
                    (message, "`fix` searches for this text literally.")
                }
                error => {
                    mended.remove("grep");
                    (format!("`grep` was not run: {error}. Nothing was sent"), "Use a simpler pattern.")
                }
            };
            ToolError::new(ErrorKind::InvalidParams, message)
                .hint(hint)
                .fix(NextCall::execute(&action.id, &mended))
        })
    });
    let context = params.get("context").and_then(Value::as_u64).unwrap_or_default().min(MOST_CONTEXT);
    let grep = grep.transpose()?;
    let wanted = LogSelection {
        section: text("section"),
        grep,
        context: usize::try_from(context).unwrap_or_default(),
    };
    Ok(Some(wanted).filter(|wanted| wanted.section.is_some() || wanted.grep.is_some()))
}

/// Reduces the reply to the requested part. Runs on a blocking thread, because a search may take long.
pub async fn apply_selection(
    wanted: &LogSelection<'_>,
    request: &ExecuteRequest,
    reply: Reply,
    notes: &mut Vec<String>,
) -> Result<Reply, ToolError> {
    let log = match &reply.content {
        Content::Text(text) => text.clone(),
        Content::Binary { bytes, content_type, .. } => match present::text_of(bytes, content_type) {
            Some((text, _)) => text,
            None => return Ok(reply),
        },
        _ => return Ok(reply),
    };
    let (section, pattern) = (wanted.section.map(str::to_owned), wanted.grep.clone());
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
            return Err(no_section(sections, wanted.section.unwrap_or_default(), request));
        }
        LogPart::Timeout(timeout) => return Err(too_slow(timeout, request)),
    };
    if let Some(name) = wanted.section {
        notes.push(format!("only the section {name}, whose lines are counted by themselves"));
    }
    Ok(Reply { content: Content::Text(text), ..reply })
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

/// Default start of a log window: at the last lines with `tail`, at the beginning with a pattern.
pub fn window_start(params: &Map<String, Value>) -> Option<Place> {
    let tail = params.get("tail").and_then(Value::as_u64).and_then(|lines| usize::try_from(lines).ok());
    match tail {
        Some(lines) => Some(Place::Last(lines.max(1))),
        None => params.contains_key("grep").then_some(Place::Beginning),
    }
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
