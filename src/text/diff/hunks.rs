//! Parser of the hunks of one file's diff. Lines are counted by the hunk header, so content is never taken for a
//! header.

use crate::text::diff::line::{DiffLine, LineChange};

/// Header of a hunk: first line and number of lines in both files.
pub struct HunkHeader {
    old: u64,
    new: u64,
    /// Lines of the old file that are still to come.
    pub old_left: u64,
    /// Lines of the new file that are still to come.
    pub new_left: u64,
}

impl HunkHeader {
    /// `@@ -1,3 +1,4 @@ fn main()`; a count that is left out is one.
    pub fn parse(line: &str) -> Option<HunkHeader> {
        let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        let (old, old_left) = range(old)?;
        let (new, new_left) = range(new)?;
        Some(HunkHeader { old, new, old_left, new_left })
    }

    /// True if the hunk has further lines.
    pub fn is_open(&self) -> bool {
        self.old_left > 0 || self.new_left > 0
    }

    /// Returns the next line of the hunk; none for a remark such as `\ No newline at end of file`.
    pub fn take(&mut self, line: &str) -> Option<DiffLine> {
        let (change, old_at, new_at) = self.advance(line)?;
        let text = line.get(1..).unwrap_or_default().to_owned();
        Some(DiffLine { change, old_at, new_at, text })
    }

    /// Counts a line of the hunk: its change, and its numbers in the old and in the new file.
    pub fn advance(&mut self, line: &str) -> Option<(LineChange, u64, u64)> {
        let change = match line.chars().next() {
            Some('+') => LineChange::Added,
            Some('-') => LineChange::Removed,
            Some('\\') => return None,
            // On some ways the blank before an empty line is lost.
            _ => LineChange::Kept,
        };
        let taken = (change, self.old, self.new);
        if change != LineChange::Added {
            self.old = self.old.saturating_add(1);
            self.old_left = self.old_left.saturating_sub(1);
        }
        if change != LineChange::Removed {
            self.new = self.new.saturating_add(1);
            self.new_left = self.new_left.saturating_sub(1);
        }
        Some(taken)
    }
}

fn range(text: &str) -> Option<(u64, u64)> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    Some((start.parse().ok()?, count.parse().ok()?))
}

/// Parses the lines of one file's diff from GitLab: hunks, with or without git's header lines.
pub fn lines(diff: &str) -> Vec<DiffLine> {
    let mut found = Vec::new();
    let mut hunk: Option<HunkHeader> = None;
    for line in diff.lines() {
        match hunk.as_mut().filter(|hunk| hunk.is_open()) {
            Some(open) => found.extend(open.take(line)),
            None => hunk = HunkHeader::parse(line).or(hunk),
        }
    }
    found
}
