//! Edits of a text: replacements of parts that occur once, and unified diffs.

/// A replacement of a part of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// The part to replace; none to add at the end of the text, on a line of its own.
    pub old: Option<String>,
    pub new: String,
    /// For a hunk of a diff, whose parts are whole lines: the number of its first line by the header, if it has one.
    pub hunk: Option<Option<usize>>,
}

/// The reason why edits cannot be applied. Edits are numbered from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditError {
    /// The part to replace is empty.
    Empty { number: usize },
    /// The text does not have the part.
    Missing { number: usize },
    /// The text has the part several times: the numbers of the lines on which it begins.
    Several { number: usize, lines: Vec<usize> },
    /// Two edits change the same characters.
    Overlap { first: usize, second: usize },
    /// The diff has no hunk.
    NoHunk,
    /// A line of the diff that belongs to no hunk, numbered from 1.
    StrayLine { line: usize },
}

/// A text after edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedText {
    pub text: String,
    /// Numbers of the lines of the text before at which the edits begin, in order.
    pub lines: Vec<usize>,
}

/// Maximum number of places of a part that are counted.
const MAX_PLACES: usize = 1_000;

/// Applies edits, each to the text as it is before all of them. Line ends are compared as `\n`; in a text with `\r\n`,
/// inserted lines have them too.
pub fn apply_edits(text: &str, edits: &[Edit]) -> Result<EditedText, EditError> {
    let plain = PlainText::new(text);
    let mut found = Vec::new();
    for (at, edit) in edits.iter().enumerate() {
        let (start, end, new) = plain.locate(edit, at + 1)?;
        found.push((start, end, new, at + 1));
    }
    found.sort_by_key(|(start, end, _, number)| (*start, *end, *number));
    for pair in found.windows(2) {
        if let [(_, end, _, one), (start, _, _, other)] = pair
            && end > start
        {
            return Err(EditError::Overlap { first: (*one).min(*other), second: (*one).max(*other) });
        }
    }
    let mut edited = String::with_capacity(text.len());
    let mut lines = Vec::new();
    let mut done = 0;
    for (start, end, new, _) in found {
        lines.push(plain.line_of(start));
        edited.push_str(text.get(done..plain.original(start)).unwrap_or_default());
        edited.push_str(&if plain.is_crlf { new.replace('\n', "\r\n") } else { new });
        done = plain.original(end);
    }
    edited.push_str(text.get(done..).unwrap_or_default());
    Ok(EditedText { text: edited, lines })
}

/// The edits as they fit a text that has each part once but for the case of its letters: `once a week` in `Once a week`.
/// The replacement of such a part begins with a letter of the same case. None if they do not fit it.
pub fn in_case_of(text: &str, edits: &[Edit]) -> Option<Vec<Edit>> {
    let folded = text.to_ascii_lowercase();
    let fit = |edit: &Edit| {
        let Some(old) = edit.old.as_deref().filter(|old| !text.contains(*old)) else {
            return Some(edit.clone());
        };
        let old_folded = old.to_ascii_lowercase();
        let mut places = folded.match_indices(&old_folded).map(|(at, _)| at);
        let (Some(at), None) = (places.next(), places.next()) else { return None };
        let there = text.get(at..at + old.len())?;
        let is_turned =
            !old.is_empty() && old.get(..1) != there.get(..1) && old.get(..1) == edit.new.get(..1);
        let new =
            if is_turned { format!("{}{}", there.get(..1)?, edit.new.get(1..)?) } else { edit.new.clone() };
        Some(Edit { old: Some(there.to_owned()), new, ..edit.clone() })
    };
    let fitting: Vec<Edit> = edits.iter().map(fit).collect::<Option<_>>()?;
    apply_edits(text, &fitting).is_ok().then_some(fitting)
}

/// Parses a unified diff of one text: an edit for each hunk. The counts of lines in the headers are not used.
pub fn parse_hunks(diff: &str) -> Result<Vec<Edit>, EditError> {
    let diff = diff.replace("\r\n", "\n");
    let mut hunks: Vec<(Option<usize>, Vec<&str>, Vec<&str>)> = Vec::new();
    for (at, line) in diff.trim_end_matches('\n').split('\n').enumerate() {
        if line.starts_with("@@") {
            hunks.push((first_line(line), Vec::new(), Vec::new()));
            continue;
        }
        // Before the first hunk are the names of the file.
        let Some((_, old, new)) = hunks.last_mut() else { continue };
        let rest = line.get(1..).unwrap_or_default();
        match line.chars().next() {
            None | Some(' ') => {
                old.push(rest);
                new.push(rest);
            }
            Some('-') => old.push(rest),
            Some('+') => new.push(rest),
            // "\ No newline at end of file"
            Some('\\') => {}
            Some(_) => return Err(EditError::StrayLine { line: at + 1 }),
        }
    }
    if hunks.is_empty() {
        return Err(EditError::NoHunk);
    }
    let lines = |lines: Vec<&str>| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    Ok(hunks
        .into_iter()
        .map(|(at, old, new)| Edit { old: Some(lines(old)), new: lines(new), hunk: Some(at) })
        .collect())
}

/// The unified diff between two texts, without names of files.
pub fn unified_diff(old: &str, new: &str) -> String {
    let patch = diffy::create_patch(old, new).to_string();
    patch.split_inclusive('\n').skip_while(|line| !line.starts_with("@@")).collect()
}

/// The number of the first line by the header of a hunk: 3 of `@@ -3,4 +3,5 @@`.
fn first_line(header: &str) -> Option<usize> {
    let digits = header.split_once('-')?.1;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end)?.parse().ok()
}

/// A text with `\n` as its only line end.
struct PlainText {
    text: String,
    /// Positions of the line ends that were `\r\n`.
    wide: Vec<usize>,
    /// True if the first line end was `\r\n`.
    is_crlf: bool,
}

impl PlainText {
    fn new(original: &str) -> PlainText {
        let mut text = String::with_capacity(original.len());
        let mut wide = Vec::new();
        let mut lines = original.split("\r\n").peekable();
        while let Some(line) = lines.next() {
            text.push_str(line);
            if lines.peek().is_some() {
                wide.push(text.len());
                text.push('\n');
            }
        }
        let is_crlf = wide.first().is_some_and(|first| text.find('\n') == Some(*first));
        PlainText { text, wide, is_crlf }
    }

    /// The position in the original text.
    fn original(&self, at: usize) -> usize {
        at + self.wide.partition_point(|wide| *wide < at)
    }

    /// The number of the line that a position is on.
    fn line_of(&self, at: usize) -> usize {
        self.text.get(..at).unwrap_or_default().matches('\n').count() + 1
    }

    /// The place of an edit, and the text for it.
    fn locate(&self, edit: &Edit, number: usize) -> Result<(usize, usize, String), EditError> {
        let new = edit.new.replace("\r\n", "\n");
        let Some(old) = &edit.old else { return Ok(self.addition(new)) };
        let old = old.replace("\r\n", "\n");
        let Some(header) = edit.hunk else {
            if old.is_empty() {
                return Err(EditError::Empty { number });
            }
            let at = self.only(&self.places(&old, false), None, number)?;
            return Ok((at, at + old.len(), new));
        };
        if old.is_empty() {
            return self.insertion(new, header.ok_or(EditError::Empty { number })?);
        }
        let places = self.places(&old, true);
        if !places.is_empty() {
            let at = self.only(&places, header, number)?;
            return Ok((at, at + old.len(), new));
        }
        // The last line of the text may have no line end.
        let bare = old.strip_suffix('\n').unwrap_or(&old);
        let at = self.text.strip_suffix(bare).map(str::len).filter(|at| self.begins_line(*at));
        let at = at.filter(|_| !bare.is_empty()).ok_or(EditError::Missing { number })?;
        let start = if new.is_empty() { at.saturating_sub(1) } else { at };
        Ok((start, self.text.len(), new.strip_suffix('\n').unwrap_or(&new).to_owned()))
    }

    /// The end of the text, and what is added there on a line of its own.
    fn addition(&self, new: String) -> (usize, usize, String) {
        let end = self.text.len();
        let is_open = !self.text.is_empty() && !self.text.ends_with('\n');
        let is_closed = new.ends_with('\n');
        (
            end,
            end,
            if is_open { format!("\n{new}") } else { format!("{new}{}", if is_closed { "" } else { "\n" }) },
        )
    }

    /// The place behind so many lines, and the lines for it.
    fn insertion(&self, new: String, lines: usize) -> Result<(usize, usize, String), EditError> {
        let mut ends = self.text.match_indices('\n').map(|(at, _)| at + 1);
        let at = match lines.checked_sub(1) {
            None => Some(0),
            Some(before) => ends.nth(before),
        };
        Ok(match at {
            Some(at) => (at, at, new),
            // Behind a last line without an end.
            None => {
                let end = self.text.len();
                let bare = new.strip_suffix('\n').unwrap_or(&new);
                let is_open = !self.text.is_empty() && !self.text.ends_with('\n');
                (end, end, if is_open { format!("\n{bare}") } else { new })
            }
        })
    }

    /// The places of a part; of whole lines, those at the beginning of a line.
    fn places(&self, part: &str, is_lines: bool) -> Vec<usize> {
        let mut places = Vec::new();
        let mut from = 0;
        while let Some(at) = self.text.get(from..).and_then(|rest| rest.find(part)).map(|at| at + from) {
            if !is_lines || self.begins_line(at) {
                places.push(at);
            }
            if places.len() == MAX_PLACES {
                break;
            }
            // Places may overlap: "aa" is twice in "aaa".
            from = at + self.text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        }
        places
    }

    fn begins_line(&self, at: usize) -> bool {
        at == 0 || self.text.get(..at).is_some_and(|before| before.ends_with('\n'))
    }

    /// The one place; of several, the one at the line of the header.
    fn only(&self, places: &[usize], header: Option<usize>, number: usize) -> Result<usize, EditError> {
        match places {
            [] => Err(EditError::Missing { number }),
            [only] => Ok(*only),
            several => {
                let lines: Vec<usize> = several.iter().map(|at| self.line_of(*at)).collect();
                let named = several.iter().zip(&lines).find(|(_, line)| Some(**line) == header);
                named.map(|(at, _)| *at).ok_or(EditError::Several { number, lines })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str) -> Edit {
        Edit { old: Some(old.to_owned()), new: new.to_owned(), hunk: None }
    }

    fn edited(text: &str, edits: &[(&str, &str)]) -> Result<String, EditError> {
        let edits: Vec<Edit> = edits.iter().map(|(old, new)| edit(old, new)).collect();
        apply_edits(text, &edits).map(|edited| edited.text)
    }

    fn patched(text: &str, diff: &str) -> Result<String, EditError> {
        apply_edits(text, &parse_hunks(diff)?).map(|edited| edited.text)
    }

    #[test]
    fn each_edit_replaces_its_part_of_the_text_as_it_was() {
        assert_eq!(edited("one two three", &[("three", "3"), ("one", "1")]), Ok("1 two 3".to_owned()));
        // The second is not searched for in what the first inserted.
        assert_eq!(edited("a b", &[("a", "b"), ("b", "c")]), Ok("b c".to_owned()));
        assert_eq!(edited("keep drop", &[(" drop", "")]), Ok("keep".to_owned()));
        assert_eq!(edited("ab", &[("a", "x"), ("b", "y")]), Ok("xy".to_owned()));
        let lines = apply_edits("a\nb\nc\n", &[edit("c", "C"), edit("a", "A")]).unwrap().lines;
        assert_eq!(lines, [1, 3]);
    }

    #[test]
    fn without_a_part_the_new_text_is_a_line_at_the_end() {
        let added = |text: &str, lines: &[&str]| {
            let edit = |line: &&str| Edit { new: (*line).to_owned(), ..Edit::default() };
            let edits: Vec<Edit> = lines.iter().map(edit).collect();
            apply_edits(text, &edits).map(|edited| edited.text)
        };
        assert_eq!(added("one", &["two"]), Ok("one\ntwo".to_owned()));
        assert_eq!(added("one\n", &["two", "three"]), Ok("one\ntwo\nthree\n".to_owned()));
        assert_eq!(added("one\r\n", &["two"]), Ok("one\r\ntwo\r\n".to_owned()));
        assert_eq!(added("", &["one"]), Ok("one\n".to_owned()));
    }

    #[test]
    fn a_part_that_is_not_there_once_is_an_error() {
        assert_eq!(edited("one", &[("One", "1")]), Err(EditError::Missing { number: 1 }));
        assert_eq!(edited("one", &[("one", "1"), ("", "2")]), Err(EditError::Empty { number: 2 }));
        assert_eq!(
            edited("x\ny\nx x\n", &[("x", "z")]),
            Err(EditError::Several { number: 1, lines: vec![1, 3, 3] })
        );
        assert_eq!(edited("aaa", &[("aa", "b")]), Err(EditError::Several { number: 1, lines: vec![1, 1] }));
    }

    #[test]
    fn edits_of_the_same_characters_are_an_error() {
        let overlap = Err(EditError::Overlap { first: 1, second: 2 });
        assert_eq!(edited("one two three", &[("two three", "2"), ("one two", "1")]), overlap);
        assert_eq!(edited("one two", &[("one two", "1"), ("two", "2")]), overlap);
        assert_eq!(edited("one two", &[("two", "1"), ("two", "2")]), overlap);
    }

    #[test]
    fn line_ends_stay_as_they_are() {
        assert_eq!(edited("a\r\nb\r\nc\r\n", &[("a\nb", "x\ny")]), Ok("x\r\ny\r\nc\r\n".to_owned()));
        assert_eq!(edited("a\r\nb", &[("\n", "-")]), Ok("a-b".to_owned()));
        assert_eq!(edited("a\nb\n", &[("a\r\nb", "x\r\ny")]), Ok("x\ny\n".to_owned()));
        // The parts of a mixed text that are not replaced keep their line ends.
        assert_eq!(edited("a\nb\r\nc", &[("c", "1\n2")]), Ok("a\nb\r\n1\n2".to_owned()));
        assert_eq!(edited("é\r\né!\r\n", &[("é!", "ü\nö")]), Ok("é\r\nü\r\nö\r\n".to_owned()));
    }

    #[test]
    fn a_diff_is_applied_by_its_lines_and_not_by_its_counts() {
        let text = "one\ntwo\nthree\nfour\n";
        let diff = "--- a/x\n+++ b/x\n@@ -9,1 +9,7 @@ section\n one\n-two\n+2\n three\n";
        assert_eq!(patched(text, diff), Ok("one\n2\nthree\nfour\n".to_owned()));
        assert_eq!(patched(text, "@@\n-one\n@@\n-four\n+4\n+5"), Ok("two\nthree\n4\n5\n".to_owned()));
        // A part of a line is no line.
        assert_eq!(patched("one two\n", "@@\n-two\n+2"), Err(EditError::Missing { number: 1 }));
        assert_eq!(patched("a\r\nb\r\n", "@@ -1 +1 @@\n-a\n+x\n b\n"), Ok("x\r\nb\r\n".to_owned()));
    }

    #[test]
    fn the_header_chooses_among_equal_lines_and_places_insertions() {
        let text = "x\ny\nx\n";
        assert_eq!(patched(text, "@@ -3 +3 @@\n-x\n+z\n"), Ok("x\ny\nz\n".to_owned()));
        assert_eq!(
            patched(text, "@@ -2 +2 @@\n-x\n+z\n"),
            Err(EditError::Several { number: 1, lines: vec![1, 3] })
        );
        assert_eq!(patched(text, "@@ -1,0 +2 @@\n+new\n"), Ok("x\nnew\ny\nx\n".to_owned()));
        assert_eq!(patched("", "@@ -0,0 +1 @@\n+new\n"), Ok("new\n".to_owned()));
        assert_eq!(patched("x", "@@ -1,0 +2 @@\n+new\n"), Ok("x\nnew".to_owned()));
        assert_eq!(patched("x", "@@\n+new\n"), Err(EditError::Empty { number: 1 }));
    }

    #[test]
    fn the_last_line_needs_no_line_end() {
        assert_eq!(
            patched("a\nb", "@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+c\n"),
            Ok("a\nc".to_owned())
        );
        assert_eq!(patched("a\nb", "@@ -1,2 +1 @@\n a\n-b\n"), Ok("a".to_owned()));
        assert_eq!(patched("a\nb", "@@ -2 +1,0 @@\n-b\n"), Ok("a".to_owned()));
    }

    #[test]
    fn what_is_no_diff_is_an_error() {
        assert_eq!(parse_hunks("-a\n+b\n"), Err(EditError::NoHunk));
        assert_eq!(
            parse_hunks("@@ -1 +1 @@\n-a\ndiff --git a/x b/x\n"),
            Err(EditError::StrayLine { line: 3 })
        );
    }

    #[test]
    fn a_diff_that_is_shown_can_be_applied() {
        let (old, new) = ("a\nb\nc\nd\ne\nf\ng\nh\n", "a\nB\nc\nd\ne\nf\ng\nH\nI\n");
        let diff = unified_diff(old, new);
        assert!(diff.starts_with("@@ -1") && !diff.contains("---"), "{diff}");
        assert_eq!(patched(old, &diff), Ok(new.to_owned()));
    }
}
