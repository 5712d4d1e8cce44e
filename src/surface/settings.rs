//! Settings of a surface.

use super::schema::{Override, ParamSchema, SchemaMode};
use crate::catalog::STRUCTURE_ALONE;

/// The set of tools that a client is offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SurfaceKind {
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

impl SurfaceKind {
    /// As the setting writes it.
    pub fn name(self) -> &'static str {
        match self {
            SurfaceKind::Dynamic => "dynamic",
            SurfaceKind::Meta => "meta",
            SurfaceKind::Individual => "individual",
            SurfaceKind::Toolset => "toolset",
        }
    }
}

/// Which clients get an answer as structured content as well as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StructuredContent {
    /// All but those that would show a model the structure in place of the text.
    #[default]
    Auto,
    Always,
    Never,
}

impl StructuredContent {
    /// True if a client of this name gets the structure, and the output schemas that promise it.
    pub fn is_given_to(self, client: Option<&str>) -> bool {
        match self {
            StructuredContent::Auto => client.is_none_or(|name| !STRUCTURE_ALONE.contains(&name)),
            StructuredContent::Always => true,
            StructuredContent::Never => false,
        }
    }
}

/// Configuration of the surface.
#[derive(Clone, Debug, Default)]
pub struct SurfaceSettings {
    pub kind: SurfaceKind,
    /// Detail of the parameters in the tool of a family.
    pub params: ParamSchema,
    /// True if a family has one tool that reads and another that changes.
    pub split: bool,
    /// Arrangement of several actions in a tool's schema.
    pub mode: SchemaMode,
    /// True if reads have a tool of their own, next to find and execute.
    pub read_tool: bool,
    pub structured: StructuredContent,
    /// Descriptions in place of the catalog's, the stronger last.
    pub overrides: Vec<Override>,
}

impl SurfaceSettings {
    /// True if the tool that only reads is listed: where find and execute are the tools.
    pub fn has_read_tool(&self) -> bool {
        self.read_tool && matches!(self.kind, SurfaceKind::Dynamic | SurfaceKind::Toolset)
    }
}
