//! Pages of a list, the GraphQL way: `first`, `after`, `last`, `before`, and cursors that say nothing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::args::text_of;
use super::super::row::{Fields, Row};

/// Maximum and default size of a page.
const MAX_NODES: u64 = 100;

/// The arguments that choose a page.
pub const ARGUMENTS: &[&str] = &["first", "last", "after", "before"];

/// Why there is no such page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The cursor was not given out for this list.
    #[error("Please provide a valid cursor")]
    Cursor,
    /// A number of elements that is none.
    #[error("{0} cannot be negative")]
    Negative(&'static str),
}

/// The page of `rows` that the arguments ask for, as a connection.
pub fn page(rows: Vec<Value>, args: &Row) -> Result<Value, PageError> {
    let count = rows.len();
    let ends = (position(&rows, args, "after")?, position(&rows, args, "before")?);
    let (mut start, mut end) = (ends.0.map_or(0, |at| at + 1), ends.1.unwrap_or(count));
    if let Some(last) = size(args, "last")? {
        start = start.max(end.saturating_sub(last));
    }
    let first = size(args, "first")?.unwrap_or(usize::try_from(MAX_NODES).unwrap_or_default());
    end = end.min(start.saturating_add(first));
    let edges: Vec<Value> = rows
        .into_iter()
        .enumerate()
        .skip(start)
        .take(end.saturating_sub(start))
        .map(|(at, row)| json!({"cursor": cursor(&row, at), "node": row}))
        .collect();
    let of = |edge: Option<&Value>| edge.and_then(|edge| edge.get("cursor")).cloned().unwrap_or_default();
    let nodes: Vec<Value> = edges.iter().filter_map(|edge| edge.get("node").cloned()).collect();
    let info = json!({
        "has_next_page": end < count, "has_previous_page": start > 0,
        "start_cursor": of(edges.first()), "end_cursor": of(edges.last())
    });
    Ok(json!({"count": count, "nodes": nodes, "edges": edges, "page_info": info}))
}

/// Number of elements asked for, at most a page.
fn size(args: &Row, name: &'static str) -> Result<Option<usize>, PageError> {
    match args.get(name).and_then(Value::as_i64) {
        Some(number) if number < 0 => Err(PageError::Negative(name)),
        Some(number) => Ok(usize::try_from(number.unsigned_abs().min(MAX_NODES)).ok()),
        None => Ok(None),
    }
}

/// Position of the element with the given cursor.
fn position(rows: &[Value], args: &Row, name: &str) -> Result<Option<usize>, PageError> {
    let given = args.text(name);
    if given.is_empty() {
        return Ok(None);
    }
    let found = rows.iter().enumerate().position(|(at, row)| cursor(row, at) == given);
    found.map(Some).ok_or(PageError::Cursor)
}

/// Cursor of an element: from its identifying key, or from its position if it has none.
fn cursor(row: &Value, at: usize) -> String {
    let key = ["id", "tag_name", "key", "name"].iter().find_map(|key| row.get(key).and_then(text_of));
    STANDARD.encode(json!({"id": key.unwrap_or_else(|| at.to_string())}).to_string())
}
