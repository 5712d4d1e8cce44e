//! MCP resources, prompts and completions.

mod completion;
mod prompts;
mod resources;

pub use completion::{Completion, CompletionTarget};
pub use resources::{RUNS, ResourceContent, ResourceEntry, Root, Roots, action_resource, is_of_workspace};
