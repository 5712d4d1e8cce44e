//! Tool surfaces: what is listed, and the settings that change it.

pub mod descriptions;
pub mod listings;
pub mod other_servers;
pub mod tool_names;
pub mod toolset;
