//! Errors of edits that do not fit a text: which one, and where it could be meant.

use serde_json::{Value, json};

use super::error::{ErrorKind, ToolError};
use crate::catalog::{Action, TextEdit};
use crate::text::edit::{Edit, EditError};
use crate::text::list_first;
use crate::untrusted::{mask_tokens, one_line, shortened};

/// The parameter that has the edits as old and new parts.
pub const EDITS: &str = "edits";

/// The parameter that has the edits as a unified diff.
pub const DIFF: &str = "diff";

/// Maximum number of places that an error lists.
const MAX_PLACES: usize = 10;

/// Maximum number of lines that are compared, and of characters of each that is compared or shown.
const MAX_COMPARED: usize = 20_000;
const LONGEST_LINE: usize = 200;

/// Least similarity of a line that an error shows.
const LEAST_SIMILARITY: f64 = 0.3;

/// A text with the edits that do not fit it.
#[derive(Clone, Copy, Debug)]
pub struct UnfitEdits<'a> {
    /// The parameter that has the edits.
    pub param: &'a str,
    /// The file or parameter that has the text.
    pub target: &'a str,
    pub text: &'a str,
    pub edits: &'a [Edit],
}

/// Likeness of two lines, from 0 to 1.
type Similarity = fn(&str, &str) -> f64;

/// The error of edits that do not fit the text: which one, and the places.
pub fn edit_error(
    action: &Action,
    edit: &TextEdit,
    edited: &UnfitEdits<'_>,
    error: &EditError,
    similarity: Similarity,
) -> ToolError {
    let UnfitEdits { param: name, target, text, edits } = *edited;
    let part = |number: &usize| match name {
        DIFF => format!("hunk {number} of `diff`"),
        _ => format!("`old` of edit {number}"),
    };
    let invalid = |message: String| {
        let message = format!("{}: {message}. Nothing was changed", action.id);
        ToolError::new(ErrorKind::InvalidParams, message)
    };
    match error {
        EditError::Several { number, lines } => {
            let places = Places::new(text, lines);
            let found = format!("occurs {} times in {target}, on {}", lines.len(), places.named);
            invalid(format!("{} {found}", part(number)))
                .hint("Extend it by the text around it, until it occurs once.")
                .detail("places", json!(places.rows))
        }
        EditError::Missing { number } => {
            let old =
                edits.get(number.saturating_sub(1)).and_then(|edit| edit.old.as_deref()).unwrap_or_default();
            let error = invalid(format!("{} does not occur in {target}", part(number)));
            let mut error = error.hint(format!(
                "It is compared with the text as it is now, with every space; `fix` shows it{}.",
                if edits.len() > 1 { ", before any of the edits" } else { "" }
            ));
            if let Some(line) = most_similar(text, old, similarity) {
                error.details.insert("most_similar".to_owned(), json!([describe_line(text, line)]));
            }
            error
        }
        EditError::Overlap { first, second } => {
            invalid(format!("{} and {} change the same characters of {target}", part(first), part(second)))
                .hint("Make them one edit.")
        }
        EditError::Empty { number } if text.is_empty() => {
            invalid(format!("{} is empty, and so is {target}", part(number)))
                .hint(format!("Set the whole text by `{}`.", edit.text))
        }
        EditError::Empty { number } if name == DIFF => {
            invalid(format!("{} only inserts, and its header has no line number", part(number)))
                .hint("Add a line of context, or the number: `@@ -3,0 +4 @@`.")
        }
        EditError::Empty { number } => invalid(format!("{} is empty", part(number))).hint(
            "To insert, repeat the text before it in `old` and `new`; to add at the end, leave out `old`.",
        ),
        EditError::NoHunk | EditError::StrayLine { .. } => invalid(format!("`{name}` is no diff")),
    }
}

/// The lines on which a text occurs.
struct Places {
    named: String,
    rows: Vec<Value>,
}

impl Places {
    fn new(text: &str, lines: &[usize]) -> Self {
        let mut lines = lines.to_vec();
        lines.dedup();
        let noun = if lines.len() == 1 { "line" } else { "lines" };
        let rows = lines.iter().take(MAX_PLACES).map(|line| describe_line(text, *line)).collect();
        let named = format!("{noun} {}", list_first(lines.iter().map(usize::to_string), MAX_PLACES));
        Self { named, rows }
    }
}

/// A line of the text as an error shows it.
fn describe_line(text: &str, line: usize) -> Value {
    let content = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    let shown = shortened(&mask_tokens(&one_line(content)), LONGEST_LINE);
    json!({"line": line, "text": format!("{line}: {shown}")})
}

/// The number of the line that is most similar to the first line of a part that is not blank.
fn most_similar(text: &str, part: &str, similarity: Similarity) -> Option<usize> {
    let wanted = part.lines().map(str::trim).find(|line| !line.is_empty())?;
    let wanted = shortened(wanted, LONGEST_LINE);
    let likeness = |line: &str| {
        let line = shortened(line.trim(), LONGEST_LINE);
        if line.contains(&wanted) { 1.0 } else { similarity(&wanted, &line) }
    };
    let mut best: Option<(f64, usize)> = None;
    for (at, line) in text.lines().take(MAX_COMPARED).enumerate() {
        let likeness = likeness(line);
        if likeness >= LEAST_SIMILARITY && best.is_none_or(|(least, _)| likeness > least) {
            best = Some((likeness, at + 1));
        }
    }
    best.map(|(_, line)| line)
}
