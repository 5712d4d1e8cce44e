//! Differences between two trees, as GitLab sends them.

use std::collections::BTreeMap;
use std::sync::Arc;

use diffy::DiffOptions;
use serde_json::{Value, json};

/// The files of a commit, by path.
pub type Tree = BTreeMap<String, Arc<[u8]>>;

/// A diff longer than this is collapsed; GitLab's own limit is ten times as far off.
const COLLAPSED: usize = 10_000;
/// A diff longer than this is too large to be sent at all.
const TOO_LARGE: usize = 30_000;

/// One changed file.
#[derive(Debug)]
pub struct Change {
    /// The path before the change.
    pub old_path: String,
    /// The path after the change.
    pub new_path: String,
    /// True if it was not there before.
    pub new_file: bool,
    /// True if it is gone.
    pub deleted_file: bool,
    /// The hunks, empty for binary files and pure renames.
    pub hunks: String,
}

impl Change {
    /// The change as the diff endpoints send it; one that is too long has no text.
    pub fn json(&self) -> Value {
        let length = self.hunks.len();
        let shown = if length > COLLAPSED { "" } else { self.hunks.as_str() };
        json!({
            "diff": shown,
            "collapsed": length > COLLAPSED && length <= TOO_LARGE,
            "too_large": length > TOO_LARGE,
            "new_path": self.new_path,
            "old_path": self.old_path,
            "a_mode": if self.new_file { "0" } else { "100644" },
            "b_mode": if self.deleted_file { "0" } else { "100644" },
            "new_file": self.new_file,
            "renamed_file": self.old_path != self.new_path,
            "deleted_file": self.deleted_file,
            "generated_file": false
        })
    }

    /// As `git diff` prints it.
    pub fn raw(&self) -> String {
        let (old, new) = (&self.old_path, &self.new_path);
        let from = if self.new_file { "/dev/null".to_owned() } else { format!("a/{old}") };
        let to = if self.deleted_file { "/dev/null".to_owned() } else { format!("b/{new}") };
        format!("diff --git a/{old} b/{new}\n--- {from}\n+++ {to}\n{}", self.hunks)
    }

    /// Number of lines added and number of lines removed.
    pub fn counts(&self) -> (usize, usize) {
        let count = |sign: char| self.hunks.lines().filter(|line| line.starts_with(sign)).count();
        (count('+'), count('-'))
    }
}

/// Changes from one tree to another, by path.
pub fn between(old: &Tree, new: &Tree) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut renamed = Vec::new();
    for (path, bytes) in new {
        let before = old.get(path);
        if before == Some(bytes) {
            continue;
        }
        let gone = |(old_path, old_bytes): &(&String, &Arc<[u8]>)| {
            *old_bytes == bytes && !new.contains_key(*old_path) && !bytes.is_empty()
        };
        let origin = if before.is_none() { old.iter().find(gone) } else { None };
        let origin =
            origin.or_else(|| old.iter().find(|origin| before.is_none() && is_moved(*origin, bytes, new)));
        if let Some((old_path, _)) = origin {
            renamed.push(old_path.clone());
        }
        changes.push(Change {
            old_path: origin.map_or(path, |(old_path, _)| old_path).clone(),
            new_path: path.clone(),
            new_file: before.is_none() && origin.is_none(),
            deleted_file: false,
            hunks: hunks(before.or(origin.map(|(_, bytes)| bytes)).map_or(&[], |bytes| bytes), bytes),
        });
    }
    for (path, bytes) in old.iter().filter(|(path, _)| !new.contains_key(*path) && !renamed.contains(path)) {
        changes.push(Change {
            old_path: path.clone(),
            new_path: path.clone(),
            new_file: false,
            deleted_file: true,
            hunks: hunks(bytes, &[]),
        });
    }
    changes.sort_by(|one, other| one.new_path.cmp(&other.new_path));
    changes
}

/// True if at least half of a removed file is in the new one, as git detects renames.
fn is_moved((path, was): (&String, &Arc<[u8]>), now: &[u8], new: &Tree) -> bool {
    let (Ok(was), Ok(now)) = (std::str::from_utf8(was), std::str::from_utf8(now)) else { return false };
    let mut left: Vec<&str> = was.lines().collect();
    let most = left.len().max(now.lines().count());
    let same = now.lines().filter(|line| match left.iter().position(|other| other == line) {
        Some(at) => {
            left.swap_remove(at);
            true
        }
        None => false,
    });
    let same = same.count();
    !new.contains_key(path) && same > 0 && same * 2 >= most
}

/// Positions in both files at the line with these numbers, as GitLab's line codes give them: the line is added if it
/// has no old number, removed if it has no new one, and else in both files, whether it is shown or folded.
pub fn line_at(old: &[u8], new: &[u8], numbers: (Option<u64>, Option<u64>)) -> Option<(u64, u64)> {
    let (old, new) = (std::str::from_utf8(old).ok()?, std::str::from_utf8(new).ok()?);
    let whole = DiffOptions::new().set_context_len(usize::MAX / 4).create_patch(old, new).to_string();
    let mut at = (1, 1);
    for line in whole.lines().skip(3) {
        let (is_old, is_new) = match line.chars().next() {
            Some('+') => (false, true),
            Some('-') => (true, false),
            Some('\\') => continue,
            _ => (true, true),
        };
        if numbers == (is_old.then_some(at.0), is_new.then_some(at.1)) {
            return Some(at);
        }
        at = (at.0 + u64::from(is_old), at.1 + u64::from(is_new));
    }
    None
}

/// The numbers of the old lines that the lines of the new text are, from 0; none for a line that was added.
pub fn aligned(old: &str, new: &str) -> Vec<Option<usize>> {
    if old == new {
        return new.lines().enumerate().map(|(number, _)| Some(number)).collect();
    }
    let whole = DiffOptions::new().set_context_len(usize::MAX / 4).create_patch(old, new).to_string();
    let (mut next, mut lines) = (0, Vec::new());
    for line in whole.lines().skip(3) {
        match line.chars().next() {
            Some('+') => lines.push(None),
            Some('\\') => {}
            Some('-') => next += 1,
            _ => {
                lines.push(Some(next));
                next += 1;
            }
        }
    }
    lines
}

fn hunks(old: &[u8], new: &[u8]) -> String {
    let (Ok(old), Ok(new)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else {
        return String::new();
    };
    let patch = DiffOptions::new().set_context_len(3).create_patch(old, new).to_string();
    // GitLab leaves out the two lines that name the files.
    patch.split_inclusive('\n').skip(2).collect()
}
