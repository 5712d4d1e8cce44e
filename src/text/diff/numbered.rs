//! A diff with the line numbers that comments refer to.

use std::fmt::Write as _;
use std::ops::Range;

use crate::text::diff::hunks::HunkHeader;
use crate::text::diff::line::LineChange;

/// True if a text is a diff: it has a hunk header.
pub fn is_diff(text: &str) -> bool {
    text.lines().any(|line| HunkHeader::parse(line).is_some())
}

/// A part of a diff with a number before each line: the one in the new file, or of a removed line the one in the old
/// file. A hunk header is reduced to `@@` and the section that git names, since the numbers say the rest.
pub fn numbered(diff: &str, part: Range<usize>) -> String {
    let mut rows: Vec<(Option<u64>, &str)> = Vec::new();
    let mut hunk: Option<HunkHeader> = None;
    let mut end = 0;
    for line in diff.split_inclusive('\n') {
        let start = end;
        end += line.len();
        if start >= part.end {
            break;
        }
        let bare = line.trim_end_matches('\n');
        let row = number(&mut hunk, bare);
        if end <= part.start {
            continue;
        }
        let shown = bare.get(..part.end - start).unwrap_or(bare);
        match row {
            // The end of a line whose beginning is in an earlier part.
            _ if start < part.start => rows.push((None, bare.get(part.start - start..).unwrap_or_default())),
            DiffRow::Section("@@") if rows.is_empty() => {}
            DiffRow::Section(section) => rows.push((None, section)),
            DiffRow::Line(number) => rows.push((Some(number), shown)),
            DiffRow::Other => rows.push((None, shown)),
        }
    }
    render(&rows, diff.get(part).is_some_and(|part| part.ends_with('\n')))
}

/// Kind of a row of a diff.
enum DiffRow<'d> {
    /// A hunk header without its numbers.
    Section(&'d str),
    /// A line of the file.
    Line(u64),
    /// A line without a number: git's header of a file, a remark, or the sign that the text is cut.
    Other,
}

fn number<'d>(hunk: &mut Option<HunkHeader>, line: &'d str) -> DiffRow<'d> {
    // No line of a file begins with `@`: a hunk that is shorter than in its header ends here.
    if let Some(header) = HunkHeader::parse(line) {
        *hunk = Some(header);
        let section = line.get(1..).and_then(|rest| rest.find(" @@")).and_then(|at| line.get(at + 2..));
        return DiffRow::Section(section.unwrap_or("@@").trim_end());
    }
    let is_content = line.is_empty() || line.starts_with([' ', '+', '-']);
    let Some(open) = hunk.as_mut().filter(|hunk| is_content && hunk.is_open()) else { return DiffRow::Other };
    match open.advance(line) {
        Some((LineChange::Removed, old, _)) => DiffRow::Line(old),
        Some((_, _, new)) => DiffRow::Line(new),
        None => DiffRow::Other,
    }
}

fn render(rows: &[(Option<u64>, &str)], ends_line: bool) -> String {
    let largest = rows.iter().filter_map(|(number, _)| *number).max().unwrap_or_default();
    let width = largest.to_string().len();
    let mut out = String::new();
    for (number, line) in rows {
        // Writing to a string cannot fail.
        let _ = match number {
            Some(number) => writeln!(out, "{number:>width$} {line}"),
            None => writeln!(out, "{line}"),
        };
    }
    if !ends_line && out.ends_with('\n') {
        out.pop();
    }
    out
}
