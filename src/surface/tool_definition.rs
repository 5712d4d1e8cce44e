//! A tool as clients see it, apart from the protocol that carries it.

use serde_json::{Map, Value};

use crate::catalog::Risk;

/// A tool of a surface. [`crate::server`] makes the protocol's own of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// `^[a-zA-Z0-9_-]{1,64}$`, which every client takes.
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    pub input_schema: Map<String, Value>,
    pub output_schema: Option<Map<String, Value>>,
    pub annotations: Annotations,
}

/// Hints on a tool's effects (MCP 2025-11-25, tools, annotations).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    pub read_only: bool,
    /// None if the tool only reads.
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: bool,
}

impl Annotations {
    /// Annotations of a tool that only reads, with the same result each time.
    pub const READS: Annotations =
        Annotations { read_only: true, destructive: None, idempotent: Some(true), open_world: false };

    /// Annotations of a tool whose actions have these risks.
    pub fn new(risks: impl Iterator<Item = Risk>) -> Annotations {
        let most = risks.max().unwrap_or(Risk::Read);
        let read_only = most == Risk::Read;
        let destructive = (!read_only).then_some(most == Risk::Destructive);
        Annotations { read_only, destructive, idempotent: None, open_world: true }
    }
}

impl ToolSpec {
    /// About how many bytes it is on the wire: its words and schemas.
    pub fn bytes(&self) -> usize {
        let length = |schema: &Map<String, Value>| Value::Object(schema.clone()).to_string().len();
        self.name.len()
            + self.description.len()
            + length(&self.input_schema)
            + self.output_schema.as_ref().map_or(0, length)
    }
}
