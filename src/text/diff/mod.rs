//! Lines of a merge request's diff: which lines can have comments, and GitLab's codes for them.

mod hunks;
mod line;
mod position;
mod split;
#[cfg(test)]
mod tests;

pub use hunks::lines;
pub use line::{DiffLine, Side};
pub use position::{LineSpan, MissingLine, span};
pub use split::section;
