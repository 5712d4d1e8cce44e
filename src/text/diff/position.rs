//! Position of a comment in a diff, in GitLab's format.

use serde_json::{Map, Value, json};

use crate::text::diff::line::{DiffLine, DiffSide};
use crate::text::object_fields;

/// The lines that a comment is on; of one line both ends are the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineSpan<'d> {
    pub first: &'d DiffLine,
    pub last: &'d DiffLine,
}

/// A line that is asked for and not in the diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingLine {
    pub line: u64,
    /// Finds the nearest existing line of the side, or of the other side if it has none.
    pub nearest: Option<(DiffSide, u64)>,
}

/// The lines from one number to another on a side.
pub fn span(lines: &[DiffLine], side: DiffSide, first: u64, last: u64) -> Result<LineSpan<'_>, MissingLine> {
    let at = |number: u64| {
        let found = lines.iter().find(|line| line.number(side) == Some(number));
        found.ok_or_else(|| MissingLine { line: number, nearest: nearest(lines, side, number) })
    };
    Ok(LineSpan { first: at(first)?, last: at(last)? })
}

fn nearest(lines: &[DiffLine], side: DiffSide, wanted: u64) -> Option<(DiffSide, u64)> {
    [side, side.opposite()].into_iter().find_map(|side| {
        let numbers = lines.iter().filter_map(|line| line.number(side));
        numbers.min_by_key(|number| number.abs_diff(wanted)).map(|number| (side, number))
    })
}

impl LineSpan<'_> {
    /// `position` in GitLab's format, between the commits of a diff (`base_sha`, `start_sha`, `head_sha`). An added
    /// line has only a number in the new file, a removed one only in the old, an unchanged one both. The comment is
    /// at the last line, and a range names both ends by their line codes.
    pub fn position(&self, refs: &Map<String, Value>, (old_path, new_path): (&str, &str)) -> Value {
        let mut position = refs.clone();
        position.extend(object_fields(
            json!({"position_type": "text", "old_path": old_path, "new_path": new_path}),
        ));
        position.extend(numbers(self.last));
        if self.first != self.last {
            let path = if new_path.is_empty() { old_path } else { new_path };
            let range = json!({"start": end(self.first, path), "end": end(self.last, path)});
            position.insert("line_range".to_owned(), range);
        }
        Value::Object(position)
    }

    /// Number of lines of the new file; none if an end is not in it.
    pub fn new_lines(&self) -> Option<u64> {
        let (first, last) = (self.first.number(DiffSide::New)?, self.last.number(DiffSide::New)?);
        Some(last.saturating_sub(first) + 1)
    }
}

/// One end of a range, by its line code, which has both numbers. `old_line` and `new_line` are left out: GitLab's REST
/// API turns those of a range into texts, which its own schema of positions refuses (`lib/api/discussions.rb`,
/// `app/validators/json_schemas/position.json`).
fn end(line: &DiffLine, path: &str) -> Value {
    let mut end = object_fields(json!({"line_code": line.code(path)}));
    end.extend(line.kind().map(|kind| ("type".to_owned(), json!(kind))));
    Value::Object(end)
}

fn numbers(line: &DiffLine) -> Map<String, Value> {
    let sides = [("old_line", DiffSide::Old), ("new_line", DiffSide::New)];
    let known =
        sides.into_iter().filter_map(|(name, side)| Some((name.to_owned(), json!(line.number(side)?))));
    known.collect()
}
