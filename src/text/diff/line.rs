//! The lines of a diff.

use std::fmt::Write as _;

use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

/// Side of a diff that a line number counts on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiffSide {
    #[default]
    New,
    Old,
}

/// Change of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineChange {
    Added,
    Removed,
    /// Unchanged context.
    Kept,
}

/// A line of a diff. Both files are counted on at each line, whichever has it: GitLab's line codes hold both counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    pub change: LineChange,
    /// Line number in the old file, from 1.
    pub old_at: u64,
    /// Line number in the new file.
    pub new_at: u64,
    pub text: String,
}

impl DiffSide {
    /// The value of the parameter `side`.
    pub fn name(self) -> &'static str {
        match self {
            DiffSide::New => "new",
            DiffSide::Old => "old",
        }
    }

    /// The other one.
    pub fn opposite(self) -> DiffSide {
        match self {
            DiffSide::New => DiffSide::Old,
            DiffSide::Old => DiffSide::New,
        }
    }
}

impl DiffLine {
    /// Line number on a side: an added line has none in the old file, a removed one none in the new.
    pub fn number(&self, side: DiffSide) -> Option<u64> {
        match (side, self.change) {
            (DiffSide::New, LineChange::Removed) | (DiffSide::Old, LineChange::Added) => None,
            (DiffSide::New, _) => Some(self.new_at),
            (DiffSide::Old, _) => Some(self.old_at),
        }
    }

    /// GitLab's name of the kind of line; none for an unchanged line.
    pub fn kind(&self) -> Option<&'static str> {
        match self.change {
            LineChange::Added => Some("new"),
            LineChange::Removed => Some("old"),
            LineChange::Kept => None,
        }
    }

    /// GitLab's line code: the SHA-1 of the path, then both line numbers.
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
