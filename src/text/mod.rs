//! Text algorithms without any input or output: diffs.

pub mod diff;
