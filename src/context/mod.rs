//! What MCP clients read beside the tools: resources, prompts and completions.

mod completion;
mod prompts;
mod resources;

pub use completion::{Completed, Completion};
pub use resources::{Entry, RUNS, Read, Root, Roots, action_resource, is_of_workspace};
