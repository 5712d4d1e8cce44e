//! Finds a line of a diff by its text, so that no caller has to count lines.

use std::cmp::Reverse;

use serde_json::{Map, Value, json};

use crate::composite::run::params;
use crate::search::similarity;
use crate::text::diff::{DiffLine, DiffSide, LineChange};
use crate::text::list_first;
use crate::untrusted::{bare_name, shortened};

/// Maximum number of matching lines that an error lists.
const MAX_MATCHES: usize = 10;

/// Maximum number of similar lines that an error lists, and the least similarity of one.
const MAX_SIMILAR: usize = 3;
const LEAST_SIMILARITY: f64 = 0.3;

/// Least similarity of a line that is suggested instead.
const ALIKE: f64 = 0.6;

/// Maximum number of lines that are compared, and of characters of each.
const MAX_COMPARED: usize = 20_000;
const LONGEST_COMPARED: usize = 300;

/// Maximum number of characters of a line in an error.
const LONGEST_SHOWN: usize = 200;

/// A line that is named by its text or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineText {
    /// The changed file; none for all of them.
    pub file: Option<String>,
    /// The side of the line; none for the new one, then the old one.
    pub side: Option<DiffSide>,
    pub text: String,
}

/// A line of a changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundLine {
    pub file: String,
    pub side: DiffSide,
    pub number: u64,
    /// The text as answers show it.
    pub text: String,
}

/// The reason why a text names no line.
#[derive(Debug, PartialEq, Eq)]
pub enum NotOneLine {
    /// Lines that match equally well.
    Several(Vec<FoundLine>),
    /// No line matches; the most similar ones, and true if `fix` may take the first.
    Nowhere { similar: Vec<FoundLine>, is_alike: bool },
}

impl LineText {
    /// The line that `line_text` names, with `file` and `side`; none without it.
    pub fn from_params(given: &Map<String, Value>) -> Result<Option<LineText>, String> {
        let Some(text) = given.get("line_text").and_then(Value::as_str) else { return Ok(None) };
        let text = text.trim();
        if text.is_empty() {
            return Err("`line_text` is empty".to_owned());
        }
        if text.contains('\n') {
            return Err(
                "`line_text` is the text of one line; several lines take `line_start` and `line_end`"
                    .to_owned(),
            );
        }
        let is_given = |name: &&str| given.get(*name).is_some_and(|value| !value.is_null());
        if let Some(name) = ["line", "line_start", "line_end"].into_iter().find(is_given) {
            return Err(format!("`line_text` cannot be combined with `{name}`"));
        }
        let side = match given.get("side").and_then(Value::as_str) {
            Some("old") => Some(DiffSide::Old),
            Some(_) => Some(DiffSide::New),
            None => None,
        };
        Ok(Some(LineText { file: file_path(given), side, text: text.to_owned() }))
    }

    /// The parameters with another file.
    pub fn moved(&self, file: &str) -> Map<String, Value> {
        let mut said = params(json!({"file": file, "line_text": self.text}));
        said.extend(self.side.map(|side| ("side".to_owned(), json!(side.name()))));
        said
    }

    /// Finds the only line of the files with this text. `shown` renders a line as in answers: masked text must not be
    /// found by guessing.
    pub fn find(
        &self,
        files: &[(&str, &[DiffLine])],
        shown: &dyn Fn(&str) -> String,
    ) -> Result<FoundLine, NotOneLine> {
        let lines: Vec<Line<'_>> = files
            .iter()
            .flat_map(|(file, lines)| lines.iter().map(move |line| (*file, line)))
            .map(|(file, line)| Line { file, line, text: shown(&line.text) })
            .collect();
        let mut found = best(&lines, &self.text, self.side);
        if found.is_empty() {
            // The line as a diff shows it.
            let (text, side) = without_gutter(&self.text);
            if !text.is_empty() {
                found = best(&lines, text, self.side.or(side));
            }
        }
        match found.len() {
            0 => Err(self.nowhere(&lines)),
            1 => found.pop().ok_or(NotOneLine::Several(Vec::new())),
            _ => Err(NotOneLine::Several(found)),
        }
    }

    fn nowhere(&self, lines: &[Line<'_>]) -> NotOneLine {
        let wanted = shortened(&self.text, LONGEST_COMPARED);
        let mut similar: Vec<(f64, FoundLine)> = Vec::new();
        let mut possible: Vec<(usize, &Line<'_>)> =
            lines.iter().filter_map(|line| Some((order(line.line.change, self.side)?, line))).collect();
        // Equally similar lines stay in the order of the search.
        possible.sort_by_key(|(order, _)| *order);
        for (_, line) in possible.into_iter().take(MAX_COMPARED) {
            let likeness = similarity(&wanted, &shortened(line.text.trim(), LONGEST_COMPARED));
            let is_among = similar.len() < MAX_SIMILAR || similar.iter().any(|(least, _)| likeness > *least);
            if likeness < LEAST_SIMILARITY || !is_among {
                continue;
            }
            let at = similar.partition_point(|(other, _)| *other >= likeness);
            similar.insert(at, (likeness, line.to_found_line(self.side)));
            similar.truncate(MAX_SIMILAR);
        }
        let is_alike = similar.first().is_some_and(|(likeness, _)| *likeness >= ALIKE);
        NotOneLine::Nowhere { similar: similar.into_iter().map(|(_, line)| line).collect(), is_alike }
    }
}

impl FoundLine {
    /// Renders `src/main.rs:10`, with the side if it is the old one.
    pub fn label(&self) -> String {
        let side = if self.side == DiffSide::Old { " (old)" } else { "" };
        format!("{}:{}{side}", bare_name(&self.file), self.number)
    }

    /// The parameters that name it by its number.
    pub fn params(&self) -> Map<String, Value> {
        let mut said = params(json!({"file": self.file, "line": self.number}));
        if self.side == DiffSide::Old {
            said.insert("side".to_owned(), json!("old"));
        }
        said
    }

    fn row(&self) -> Value {
        let text = shortened(self.text.trim(), LONGEST_SHOWN);
        json!({"on": self.label(), "file": self.file, "line": self.number, "side": self.side.name(), "text": text})
    }
}

/// The path that the parameter `file` names.
pub fn file_path(given: &Map<String, Value>) -> Option<String> {
    let file = given.get("file").and_then(Value::as_str).map(str::trim).filter(|file| !file.is_empty())?;
    Some(file.trim_start_matches("./").trim_start_matches('/').to_owned())
}

/// The first lines, as an error lists them.
pub fn rows(lines: &[FoundLine]) -> Value {
    lines.iter().take(MAX_MATCHES).map(FoundLine::row).collect()
}

/// The first lines by file and number, and the number of further ones.
pub fn labels(lines: &[FoundLine]) -> String {
    list_first(lines.iter().map(FoundLine::label), MAX_MATCHES)
}

/// A line of a diff with its text as answers show it.
struct Line<'d> {
    file: &'d str,
    line: &'d DiffLine,
    text: String,
}

impl Line<'_> {
    fn to_found_line(&self, side: Option<DiffSide>) -> FoundLine {
        let side = match self.line.change {
            LineChange::Added => DiffSide::New,
            LineChange::Removed => DiffSide::Old,
            LineChange::Kept => side.unwrap_or_default(),
        };
        let number = if side == DiffSide::Old { self.line.old_at } else { self.line.new_at };
        FoundLine { file: self.file.to_owned(), side, number, text: self.text.clone() }
    }
}

/// The lines that match best: whole lines before parts, and of either in the order of [`order`].
fn best(lines: &[Line<'_>], text: &str, side: Option<DiffSide>) -> Vec<FoundLine> {
    let rank = |line: &Line<'_>| {
        let order = order(line.line.change, side)?;
        let is_whole = line.text.trim() == text;
        (is_whole || line.text.contains(text)).then_some((Reverse(is_whole), order))
    };
    let Some(first) = lines.iter().filter_map(rank).min() else { return Vec::new() };
    lines.iter().filter(|line| rank(line) == Some(first)).map(|line| line.to_found_line(side)).collect()
}

/// Place of a kind of line in the search; none if it is not on the side.
fn order(change: LineChange, side: Option<DiffSide>) -> Option<usize> {
    let searched: &[LineChange] = match side {
        None => &[LineChange::Added, LineChange::Kept, LineChange::Removed],
        Some(DiffSide::New) => &[LineChange::Added, LineChange::Kept],
        Some(DiffSide::Old) => &[LineChange::Removed, LineChange::Kept],
    };
    searched.iter().position(|searched| *searched == change)
}

/// Splits a line of a diff such as `42 +let x = 1;` into its text and the side of its sign.
fn without_gutter(text: &str) -> (&str, Option<DiffSide>) {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    match rest.chars().next() {
        Some('+') => (rest.get(1..).unwrap_or_default().trim(), Some(DiffSide::New)),
        Some('-') => (rest.get(1..).unwrap_or_default().trim(), Some(DiffSide::Old)),
        _ => (rest, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::diff::lines;

    const GEAR: &str = "@@ -1,6 +1,8 @@
 pub struct Gear {
-    teeth: u32,
+    teeth: u16,
+    oil: bool,
+    // oil: bool, or not
 }
 
-fn turn() {}
+fn spin() {}
 fn turned() {}
";

    fn text(text: &str, side: Option<DiffSide>) -> LineText {
        LineText { file: None, side, text: text.to_owned() }
    }

    fn find(wanted: &LineText, diffs: &[(&str, &str)]) -> Result<(String, DiffSide, u64), NotOneLine> {
        let files: Vec<(&str, Vec<DiffLine>)> =
            diffs.iter().map(|(file, diff)| (*file, lines(diff))).collect();
        let files: Vec<(&str, &[DiffLine])> =
            files.iter().map(|(file, lines)| (*file, lines.as_slice())).collect();
        wanted.find(&files, &str::to_owned).map(|line| (line.file, line.side, line.number))
    }

    fn in_gear(wanted: &str, side: Option<DiffSide>) -> Option<(DiffSide, u64)> {
        find(&text(wanted, side), &[("gear.rs", GEAR)]).ok().map(|(_, side, number)| (side, number))
    }

    #[test]
    fn a_line_is_found_by_its_text_or_a_part_of_it() {
        assert_eq!(in_gear("teeth: u16,", None), Some((DiffSide::New, 2)));
        assert_eq!(in_gear("spin", None), Some((DiffSide::New, 7)));
        assert_eq!(in_gear("u32", None), Some((DiffSide::Old, 2)));
        assert_eq!(in_gear("struct", None), Some((DiffSide::New, 1)));
        assert_eq!(in_gear("teeth", Some(DiffSide::Old)), Some((DiffSide::Old, 2)));
        assert_eq!(in_gear("turned", Some(DiffSide::Old)), Some((DiffSide::Old, 6)));
        assert_eq!(in_gear("spin", Some(DiffSide::Old)), None);
        assert_eq!(in_gear("u32", Some(DiffSide::New)), None);
    }

    #[test]
    fn a_whole_line_wins_over_a_part_and_an_added_line_over_others() {
        assert_eq!(in_gear("oil: bool,", None), Some((DiffSide::New, 3)));
        // Whole, though removed, before a part of an unchanged line.
        assert_eq!(in_gear("fn turn() {}", None), Some((DiffSide::Old, 5)));
        // A part of an unchanged line before a part of a removed one.
        assert_eq!(in_gear("fn turn", None), Some((DiffSide::New, 8)));
        // A part of an added line before a part of an unchanged one.
        assert_eq!(in_gear("()", None), Some((DiffSide::New, 7)));
    }

    #[test]
    fn a_line_as_a_diff_shows_it_is_found() {
        assert_eq!(in_gear("3 +    oil: bool,", None), Some((DiffSide::New, 3)));
        assert_eq!(in_gear("-    teeth: u32,", None), Some((DiffSide::Old, 2)));
        assert_eq!(in_gear("-    oil: bool,", None), None);
    }

    #[test]
    fn several_equal_matches_are_all_told() {
        let several = find(&text("oil", None), &[("gear.rs", GEAR)]).unwrap_err();
        let NotOneLine::Several(found) = several else { panic!("{several:?}") };
        assert_eq!(labels(&found), "gear.rs:3, gear.rs:4");
        let both = find(&text("oil: bool,", None), &[("a.rs", GEAR), ("b.rs", GEAR)]).unwrap_err();
        let NotOneLine::Several(found) = both else { panic!("{both:?}") };
        assert_eq!(labels(&found), "a.rs:3, b.rs:3");
        let many: Vec<FoundLine> = (1..=12).map(|number| FoundLine { number, ..found[0].clone() }).collect();
        assert!(labels(&many).ends_with("a.rs:10 and 2 more"), "{}", labels(&many));
    }

    #[test]
    fn where_nothing_matches_the_most_similar_lines_are_told() {
        let none = find(&text("teeth: u61,", None), &[("gear.rs", GEAR)]).unwrap_err();
        let NotOneLine::Nowhere { similar, is_alike } = none else { panic!("{none:?}") };
        assert_eq!((labels(&similar[..1]), is_alike), ("gear.rs:2".to_owned(), true));
        let none = find(&text("xyzzy", None), &[("gear.rs", GEAR)]).unwrap_err();
        assert_eq!(none, NotOneLine::Nowhere { similar: Vec::new(), is_alike: false });
    }

    #[test]
    fn what_is_masked_is_not_found() {
        let diff = "@@ -0,0 +1,1 @@\n+key = glpat-0123456789abcdefXYZ_\n";
        let files = [("a", lines(diff))];
        let files: Vec<(&str, &[DiffLine])> = files.iter().map(|(file, lines)| (*file, &lines[..])).collect();
        let shown = |text: &str| crate::untrusted::mask_tokens(text).into_owned();
        assert!(text("glpat-0", None).find(&files, &shown).is_err());
        assert!(text("key = (not shown: 26 characters)", None).find(&files, &shown).is_ok());
    }

    #[test]
    fn a_text_goes_with_no_number() {
        let given = |value: Value| LineText::from_params(value.as_object().unwrap());
        assert_eq!(given(json!({"line": 1})), Ok(None));
        for name in ["line", "line_start", "line_end"] {
            let error = given(json!({"line_text": "a", name: 1})).unwrap_err();
            assert_eq!(error, format!("`line_text` cannot be combined with `{name}`"));
        }
        assert!(given(json!({"line_text": " \n"})).unwrap_err().contains("empty"));
        assert!(given(json!({"line_text": "a\nb"})).unwrap_err().contains("one line"));
        let said = given(json!({"line_text": "\t a b \n", "file": "./x", "side": "new"})).unwrap().unwrap();
        assert_eq!(
            said,
            LineText { file: Some("x".to_owned()), side: Some(DiffSide::New), text: "a b".to_owned() }
        );
    }
}
