//! MCP clients that hand a model the structured content of an answer, from `catalog/structured_content.toml`.

/// Names of clients that hand a model the structure of an answer in place of its text.
pub const STRUCTURE_ALONE: &[&str] = include!(concat!(env!("OUT_DIR"), "/structured_content.rs"));
