//! `surface` command: the tools as a client receives them, and the size of each part.

use std::io::Write;
use std::sync::Arc;

use serde_json::{Value, json};

use super::Failure;
use crate::server;
use crate::surface::{PageError, Surface, SurfaceSettings};
use crate::tools::Tools;

/// Approximate number of bytes of this text in one model token.
const BYTES_PER_TOKEN: usize = 4;

/// Number of the largest tools listed.
const TOOLS_LISTED: usize = 10;

/// Parts of a tool definition, by field name.
const PARTS: [(&str, &[&str]); 4] = [
    ("names and titles", &["name", "title"]),
    ("descriptions", &["description"]),
    ("schemas", &["inputSchema", "outputSchema"]),
    ("annotations", &["annotations"]),
];

/// Everything a client receives before its first call.
#[derive(Debug)]
pub(super) struct SentTools {
    instructions: String,
    tools: Vec<Value>,
}

impl SentTools {
    /// Collects all pages of a surface.
    pub(super) fn new(surface: &Surface, tools: &Tools) -> Result<SentTools, Failure> {
        let mut sent = SentTools { instructions: surface.instructions(), tools: Vec::new() };
        let mut cursor: Option<String> = None;
        loop {
            let page = surface.page(cursor.as_deref(), &|name| tools.offers(name));
            let page = page.map_err(|error| match error {
                PageError::Catalog(error) => Failure::Catalog(error),
                PageError::Cursor(_) => Failure::Pages,
            })?;
            sent.tools.extend(page.tools.into_iter().map(server::sent));
            cursor = page.next;
            if cursor.is_none() {
                return Ok(sent);
            }
        }
    }

    /// Renders everything as JSON.
    pub(super) fn write(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let whole = json!({"instructions": self.instructions, "tools": self.tools});
        Ok(writeln!(out, "{whole:#}")?)
    }

    /// Size of each part in bytes, before and after overrides.
    pub(super) fn write_costs(&self, before: &SentTools, out: &mut dyn Write) -> Result<(), Failure> {
        writeln!(out, "{:44}{:>10}{:>10}", "", "before", "after")?;
        let mut line = |name: &str, count: &dyn Fn(&SentTools) -> usize| {
            writeln!(out, "{name:44}{:>10}{:>10}", count(before), count(self))
        };
        line("tools", &|sent| sent.tools.len())?;
        line("instructions", &|sent| sent.instructions.len())?;
        for (name, fields) in PARTS {
            line(name, &|sent| sent.tools.iter().map(|tool| fields_of(tool, fields)).sum())?;
        }
        line("bytes in all", &SentTools::bytes)?;
        line("tokens, about", &|sent| sent.bytes() / BYTES_PER_TOKEN)?;
        writeln!(out, "\nThe largest tools:")?;
        for (name, bytes) in self.largest(before) {
            writeln!(out, "{name:44}{:>10}{bytes:>10}", before.bytes_of(name).unwrap_or_default())?;
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.instructions.len() + self.tools.iter().map(bytes).sum::<usize>()
    }

    fn bytes_of(&self, name: &str) -> Option<usize> {
        self.tools.iter().find(|tool| called(tool) == name).map(bytes)
    }

    /// The largest tools of both versions, with their current size.
    fn largest<'a>(&'a self, before: &'a SentTools) -> Vec<(&'a str, usize)> {
        let mut names: Vec<(&str, usize)> =
            before.tools.iter().chain(&self.tools).map(|tool| (called(tool), bytes(tool))).collect();
        names.sort_by(|(a, one), (b, other)| other.cmp(one).then(a.cmp(b)));
        let mut largest: Vec<(&str, usize)> = Vec::new();
        for (name, _) in names {
            if largest.len() < TOOLS_LISTED && !largest.iter().any(|(known, _)| *known == name) {
                largest.push((name, self.bytes_of(name).unwrap_or_default()));
            }
        }
        largest
    }
}

/// The same surface without overrides, in the same form of schemas.
pub(super) fn plain(settings: &SurfaceSettings, tools: Tools) -> (Surface, Arc<Tools>) {
    let SurfaceSettings { kind, params, split, mode, read_tool, .. } = *settings;
    let tools = Arc::new(tools);
    (
        Surface::new(
            SurfaceSettings { kind, params, split, mode, read_tool, ..SurfaceSettings::default() },
            Arc::clone(&tools),
        ),
        tools,
    )
}

fn bytes(tool: &Value) -> usize {
    tool.to_string().len()
}

fn called(tool: &Value) -> &str {
    tool.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn fields_of(tool: &Value, fields: &[&str]) -> usize {
    fields.iter().filter_map(|field| tool.get(*field)).map(bytes).sum()
}
