//! Tool surfaces: the listed tools, and the settings that change them.

pub mod descriptions;
pub mod listings;
pub mod other_servers;
pub mod read_tool;
pub mod settings_in_force;
pub mod structured_content;
mod tool_names;
pub mod toolset;
