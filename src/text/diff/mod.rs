//! The lines of a merge request's diff: which of them can be commented on, and how GitLab names each.

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
