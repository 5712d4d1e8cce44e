//! Settings of a surface.

use super::schema::{Override, ParamSchema, SchemaMode};

/// The set of tools that a client is offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Find and execute.
    #[default]
    Dynamic,
    /// A tool for each family of domains.
    Meta,
    /// A tool for each action.
    Individual,
    /// The two tools, and those of one toolset at a time.
    Toolset,
}

impl Kind {
    /// As the setting writes it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Dynamic => "dynamic",
            Kind::Meta => "meta",
            Kind::Individual => "individual",
            Kind::Toolset => "toolset",
        }
    }
}

/// Configuration of the surface.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub kind: Kind,
    /// Detail of the parameters in the tool of a family.
    pub params: ParamSchema,
    /// True if a family has one tool that reads and another that changes.
    pub split: bool,
    /// Arrangement of several actions in a tool's schema.
    pub mode: SchemaMode,
    /// Descriptions in place of the catalog's, the stronger last.
    pub overrides: Vec<Override>,
}
