//! Resources, prompts, completions and the workspace.

pub mod read;
pub mod workspace;
