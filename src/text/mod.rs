//! Text algorithms without any input or output: diffs, edits, windows, search, truncation, plain text of values.

pub mod diff;
pub mod edit;
mod error_chain;
mod grep;
mod lfs;
mod plain;
mod truncate;
mod window;

pub use error_chain::error_chain;
pub use grep::{GrepMatches, Pattern, PatternError, SEARCH_TIME, SearchTimeout, grep};
pub use lfs::LfsPointer;
pub use plain::{
    capitalize, excerpt, is_digits, is_number, list_first, object_fields, pick_fields, plain_text,
};
pub use truncate::{Cut, Limited, MAX_CUT, fit, fits, keep_possible, share, size_within, within};
pub use window::{Position, Window, lines_within, window};
