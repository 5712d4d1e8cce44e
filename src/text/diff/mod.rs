//! Lines of a diff: their numbers, which of them can have comments, and GitLab's codes for them.

mod hunks;
mod line;
mod numbered;
mod position;
mod split;
#[cfg(test)]
mod tests;

pub use hunks::lines;
pub use line::{DiffLine, DiffSide, LineChange};
pub use numbered::{is_diff, numbered};
pub use position::{LineSpan, MissingLine, span};
pub use split::section;
