//! The shapes in which a client sees the one catalog: the two tools, a tool for each family of domains, a tool for
//! each action, or toolsets taken up one after the other. From the catalog and what the policy offers of it to the
//! tools of a surface, and from a call of one back to a request that [`crate::tools`] finds or executes: nothing is
//! checked, allowed or rendered here.

mod arguments;
mod calls;
mod dynamic;
mod entry;
mod individual;
mod meta;
mod names;
mod resources;
mod rule_names;
mod schema;
mod settings;
mod state;
#[cfg(test)]
mod tests;
mod tool_definition;
mod toolset;
mod unknown;
mod wording;

pub use arguments::CheckedArguments;
pub use calls::{ToolRequest, parse_execute, parse_find};
pub use dynamic::execute_schema;
pub use resources::SurfaceResource;
pub use rule_names::TOOL_NAMES;
pub use schema::{Level, Override, ParamSchema, SchemaMode};
pub use settings::{StructuredContent, SurfaceKind, SurfaceSettings};
pub use state::{PageError, Surface, ToolPage};
pub use tool_definition::{Annotations, ToolSpec};
pub use toolset::{ACTIVATE, Activation};
pub use wording::reword;
