//! Threads named by their text: the first comment of a thread, or its beginning, in place of the thread's id. People quote
//! a thread, and its id is not on the page.

use serde_json::{Map, Value, json};

use crate::call::Checked;
use crate::catalog::Action;
use crate::gitlab::Content;
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::NextCall;
use crate::text::list_first;
use crate::tools::errors::not_found;
use crate::tools::lookups;
use crate::tools::own_reads::gate::Purpose;
use crate::tools::state::Tools;
use crate::untrusted::{quote, shortened};

/// The parameter with the id of a thread.
pub const PARAM: &str = "discussion_id";

/// Maximum number of pages of threads, of a hundred each, that are searched.
const MAX_PAGES: u64 = 5;

/// Maximum number of threads that an error names, and of characters of each.
const MAX_THREADS_NAMED: usize = 5;
const MAX_THREAD_CHARACTERS: usize = 80;

/// A thread by its first comment.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Thread {
    id: String,
    text: String,
    /// True for a thread, not a single comment, that is not resolved.
    is_open: bool,
}

/// The word for the only open thread.
const OPEN: &str = "open";

/// The parameters with the thread's id in place of its text, and a note; none if they have no such text.
pub async fn resolve(
    tools: &Tools,
    checked: &Checked,
) -> Result<Option<(Map<String, Value>, String)>, ToolError> {
    let params = checked.params();
    let Some(given) = params.get(PARAM).and_then(Value::as_str).filter(|given| is_text(given)) else {
        return Ok(None);
    };
    let operations = &checked.action().operations;
    let list = operations.iter().find_map(|operation| {
        let (before, _) = operation.path.split_once(&format!("/:{PARAM}"))?;
        not_found::read_at(tools, operation, before, params)
    });
    let Some((list, within)) = list else { return Ok(None) };
    let threads = fetch(tools, &list, &within).await?;
    match selected(&threads, given).as_slice() {
        [only] => {
            let note = format!(
                "`{PARAM}`: {} is the thread {}",
                quote(&shortened(given, MAX_THREAD_CHARACTERS)),
                only.id
            );
            let mut params = params.clone();
            params.insert(PARAM.to_owned(), json!(only.id));
            Ok(Some((params, note)))
        }
        found => {
            let error = unclear(given, found, &threads);
            let next = match containing(&threads, given).as_slice() {
                [only] if found.is_empty() => {
                    let mut params = params.clone();
                    params.insert(PARAM.to_owned(), json!(only.id));
                    NextCall::execute(&checked.action().id, &params)
                }
                _ => NextCall::execute(&list.id, &within),
            };
            Err(error.fix(next))
        }
    }
}

/// True for a text: an id of GitLab's has hexadecimal digits alone.
fn is_text(given: &str) -> bool {
    let given = given.trim();
    !given.is_empty() && !given.starts_with("gid://") && !given.chars().all(|c| c.is_ascii_hexdigit())
}

async fn fetch(tools: &Tools, list: &Action, within: &Map<String, Value>) -> Result<Vec<Thread>, ToolError> {
    let mut threads = Vec::new();
    let mut params = within.clone();
    params.insert("per_page".to_owned(), json!(100));
    for page in 1..=MAX_PAGES {
        params.insert("page".to_owned(), json!(page));
        let read = lookups::read_once(tools, &list.id, params.clone(), Purpose::LookUp).await;
        let (_, reply) = read.map_err(|error| lookups::explain(tools, &list.id, error))?;
        let Content::Json(Value::Array(rows)) = &reply.content else { break };
        threads.extend(rows.iter().filter_map(thread));
        if reply.page.next_page.is_none() && reply.page.next_query.is_none() {
            break;
        }
    }
    Ok(threads)
}

/// The thread of a row, if a person began it.
fn thread(row: &Value) -> Option<Thread> {
    let id = row.get("id")?.as_str()?.to_owned();
    let first = row.get("notes")?.get(0)?;
    let is_system = first.get("system").and_then(Value::as_bool) == Some(true);
    let text = first.get("body").and_then(Value::as_str).filter(|_| !is_system)?.to_owned();
    let is = |field: &str| first.get(field).and_then(Value::as_bool) == Some(true);
    let is_single = row.get("individual_note").and_then(Value::as_bool) == Some(true);
    let is_open = !is_single && (!is("resolvable") || !is("resolved"));
    Some(Thread { id, text, is_open })
}

/// The only open thread for the word `open`, else the threads that begin with the text.
fn selected(threads: &[Thread], given: &str) -> Vec<Thread> {
    let mut open = threads.iter().filter(|thread| thread.is_open);
    match (open.next(), open.next()) {
        (Some(only), None) if given.eq_ignore_ascii_case(OPEN) => vec![only.clone()],
        (Some(_), Some(_)) if given.eq_ignore_ascii_case(OPEN) => {
            threads.iter().filter(|thread| thread.is_open).cloned().collect()
        }
        _ => matching(threads, given),
    }
}

/// The threads whose first comment is the text; if there are none, those whose first comment begins with it.
fn matching(threads: &[Thread], given: &str) -> Vec<Thread> {
    let given = folded(given.trim_end_matches(['…', '.']));
    let exact = |text: &str| folded(text.trim_end_matches(['…', '.'])) == given;
    let begins = |text: &str| !given.is_empty() && folded(text).starts_with(&given);
    let by = |is_it: &dyn Fn(&str) -> bool| -> Vec<Thread> {
        threads.iter().filter(|thread| is_it(&thread.text)).cloned().collect()
    };
    let found = by(&exact);
    if found.is_empty() { by(&begins) } else { found }
}

/// The threads whose first comment has the text in it: a guess, which the caller makes.
fn containing(threads: &[Thread], given: &str) -> Vec<Thread> {
    let given = folded(given);
    threads.iter().filter(|thread| folded(&thread.text).contains(&given)).cloned().collect()
}

/// A text in lower case, with single spaces.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Error of a text that no thread begins with, or several do; with the ids of those that it may be.
fn unclear(given: &str, found: &[Thread], threads: &[Thread]) -> ToolError {
    let is_word = given.eq_ignore_ascii_case(OPEN);
    let given = quote(&shortened(given, MAX_THREAD_CHARACTERS));
    let (kind, message, named) = match found.len() {
        0 if is_word => (ErrorKind::NotFound, format!("`{PARAM}`: no thread is open"), threads),
        0 => (ErrorKind::NotFound, format!("`{PARAM}`: no thread begins with {given}"), threads),
        count if is_word => (ErrorKind::InvalidParams, format!("`{PARAM}`: {count} threads are open"), found),
        count => (ErrorKind::InvalidParams, format!("`{PARAM}`: {count} threads begin with {given}"), found),
    };
    let row =
        |thread: &Thread| format!("{} {}", thread.id, quote(&shortened(&thread.text, MAX_THREAD_CHARACTERS)));
    let error = ToolError::new(kind, format!("{message}. Nothing was changed"));
    match named {
        [] => error.hint("There are no threads yet."),
        threads => error.hint(format!(
            "Give the id of a thread: {}.",
            list_first(threads.iter().map(row), MAX_THREADS_NAMED)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads() -> Vec<Thread> {
        let thread = |(id, text): (&str, &str)| Thread {
            id: id.to_owned(),
            text: text.to_owned(),
            is_open: matches!(id, "b2"),
        };
        [
            ("a1", "Looks good"),
            ("b2", "Looks good, but\nwhat happens at zero?"),
            ("c3", "Rename it."),
            ("d4", "Rename it."),
        ]
        .map(thread)
        .to_vec()
    }

    fn ids(given: &str) -> Vec<String> {
        matching(&threads(), given).into_iter().map(|thread| thread.id).collect()
    }

    #[test]
    fn a_thread_is_named_by_its_whole_text_or_by_its_beginning() {
        assert_eq!(ids("looks good"), ["a1"], "the whole text wins over a beginning");
        assert_eq!(ids("Looks good, but what…"), ["b2"], "a break is a space");
        assert_eq!(ids("Rename it"), ["c3", "d4"]);
        assert!(ids("zero").is_empty(), "words in the middle name no thread");
        assert!(ids("…").is_empty());
    }

    #[test]
    fn the_word_open_names_the_only_open_thread() {
        let ids = |threads: &[Thread]| -> Vec<String> {
            selected(threads, "open").into_iter().map(|thread| thread.id).collect()
        };
        let mut threads = threads();
        assert_eq!(ids(&threads), ["b2"]);
        if let Some(first) = threads.first_mut() {
            first.is_open = true;
        }
        assert_eq!(ids(&threads), ["a1", "b2"], "of several none is chosen");
        threads.iter_mut().for_each(|thread| thread.is_open = false);
        assert!(ids(&threads).is_empty());
    }

    #[test]
    fn an_id_is_no_text() {
        assert!(!is_text("6a9c1750b37d513a43987b574953fceb50b03ce7"));
        assert!(!is_text("gid://gitlab/Discussion/6a9c1750b37d513a43987b574953fceb50b03ce7"));
        assert!(is_text("Rename it."));
    }
}
