//! Windows of long texts: the requested start, and the calls for the text before and after.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::{EXECUTE, ExecuteRequest, NextCall};
use crate::present;
use crate::text::{Cut, Position, excerpt};

/// Start of the window that the request asks for.
pub fn window_start(request: &ExecuteRequest) -> Result<Option<Position>, ToolError> {
    let Some(lines) = &request.lines else {
        return Ok(request.offset.map(|at| Position::Byte(usize::try_from(at).unwrap_or(usize::MAX))));
    };
    let error = |message: String| {
        let without = ExecuteRequest { lines: None, ..request.clone() };
        ToolError::new(ErrorKind::InvalidParams, message)
            .hint("`lines` takes \"120-180\", \"120-\" to the end, or \"-50\" for the last fifty.")
            .fix(NextCall::for_request(&without))
    };
    if request.offset.is_some() {
        return Err(error("`lines` and `offset` exclude each other: give one".to_owned()));
    }
    let excerpt: String = excerpt(lines, 40);
    Position::lines(lines)
        .map(Some)
        .ok_or_else(|| error(format!("`lines` is {excerpt:?}, which is not a range of lines")))
}

/// The name of the text in the answer.
pub fn text_name(cut: &Cut) -> &str {
    cut.path.as_deref().unwrap_or("text")
}

/// Adds the shown range of a text, and the calls for the text before and after.
pub fn add_cut(text: &mut String, cut: &Cut, calls: &[(String, Value)]) {
    let (first, last) = cut.window.lines;
    let path = Some(text_name(cut)).filter(|name| present::is_plain(name)).unwrap_or("a text");
    let _ = writeln!(
        text,
        "Shown of {path}: lines {first}-{last} of {}, {} of {} bytes.",
        cut.window.total_lines,
        cut.window.bytes.len(),
        cut.window.total_bytes
    );
    for (which, call) in calls {
        let label = if which == "next" { "Next" } else { "Before" };
        let _ = writeln!(text, "{label}: {call}");
    }
}

/// The calls that go on where a text was cut, and that go back. They are the call itself, so only a read has them.
pub fn continuations(request: &ExecuteRequest, cut: &Cut) -> Vec<(String, Value)> {
    let places = [("next", cut.window.next), ("before", cut.window.before)];
    let calls = places.into_iter().filter_map(|(which, place)| {
        let (name, at) = place?.offset_argument()?;
        let mut arguments = Map::from_iter([
            ("action".to_owned(), json!(request.action)),
            ("params".to_owned(), Value::Object(request.params.clone())),
            (name.to_owned(), at),
        ]);
        if let Some(path) = &cut.path {
            arguments.insert("fields".to_owned(), json!([path]));
        }
        if let Some(view) = request.view {
            arguments.insert("view".to_owned(), json!(view));
        }
        Some((which.to_owned(), json!(NextCall::new(EXECUTE, Value::Object(arguments)))))
    });
    calls.collect()
}
