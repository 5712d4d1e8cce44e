//! The lines of a diff.

use std::fmt::Write as _;

use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

/// Which of the two files of a diff a line's number is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    #[default]
    New,
    Old,
}

/// What a diff says of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineChange {
    Added,
    Removed,
    /// In both files, shown beside what changed.
    Kept,
}

/// A line of a diff. Both files are counted on at each line, whichever has it: GitLab's line codes hold both counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    pub change: LineChange,
    /// Where the old file stands, counted from 1.
    pub old_at: u64,
    /// Where the new file stands.
    pub new_at: u64,
    pub text: String,
}

impl Side {
    /// As the parameter `side` says it.
    pub fn name(self) -> &'static str {
        match self {
            Side::New => "new",
            Side::Old => "old",
        }
    }

    /// The other one.
    pub fn other(self) -> Side {
        match self {
            Side::New => Side::Old,
            Side::Old => Side::New,
        }
    }
}

impl DiffLine {
    /// Its number in the file of that side, which an added line has only in the new and a removed one in the old.
    pub fn number(&self, side: Side) -> Option<u64> {
        match (side, self.change) {
            (Side::New, LineChange::Removed) | (Side::Old, LineChange::Added) => None,
            (Side::New, _) => Some(self.new_at),
            (Side::Old, _) => Some(self.old_at),
        }
    }

    /// As GitLab's interface calls the kind of line; nothing of one that is in both files.
    pub fn kind(&self) -> Option<&'static str> {
        match self.change {
            LineChange::Added => Some("new"),
            LineChange::Removed => Some("old"),
            LineChange::Kept => None,
        }
    }

    /// The line's name in GitLab: the SHA-1 of the path, then where the old and the new file stand.
    /// <https://docs.gitlab.com/api/discussions/#line-code>
    pub fn code(&self, path: &str) -> String {
        let mut code = String::new();
        for byte in digest(&SHA1_FOR_LEGACY_USE_ONLY, path.as_bytes()).as_ref() {
            // Writing to a string cannot fail.
            let _ = write!(code, "{byte:02x}");
        }
        format!("{code}_{}_{}", self.old_at, self.new_at)
    }
}
