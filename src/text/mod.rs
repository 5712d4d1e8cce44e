//! Text algorithms without any input or output: diffs, plain text of values.

pub mod diff;
mod plain;

pub use plain::{excerpt, is_number, plain_text};
