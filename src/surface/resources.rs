//! Resources that depend on the surface: its tools by name, its toolsets, and the list of actions in its own words.

use serde_json::{Map, Value, json};

use super::entry::SurfaceEntry;
use super::settings::SurfaceKind;
use super::state::Surface;
use super::tool_definition::ToolSpec;
use super::toolset::{self, TOOLSETS};
use crate::context::{self, RUNS, ResourceContent, action_resource};
use crate::tools::{ToolError, rewrite_call_in};

const JSON: &str = "application/json";

/// A resource that only a surface can answer.
#[derive(Debug)]
pub enum SurfaceResource {
    /// A listed tool, as a client was sent it.
    Tool(Box<ToolSpec>),
    /// Text of its own.
    Text(ResourceContent),
}

impl Surface {
    /// Returns the resource at the URI, if it is one of the surface's own.
    pub fn resource(
        &self,
        uri: &str,
        offers: &dyn Fn(&str) -> bool,
    ) -> Result<Option<SurfaceResource>, ToolError> {
        if uri.trim_end_matches('/') == TOOLSETS && self.kind() == SurfaceKind::Toolset {
            let Some(tools) = self.tools.as_deref() else { return Ok(None) };
            let listing = toolset::listing(tools, self.active().as_deref())?;
            let read = ResourceContent {
                text: format!("{listing:#}\n"),
                mime: JSON,
                file: None,
                is_constant: false,
            };
            return Ok(Some(SurfaceResource::Text(read)));
        }
        let Some(Some(name)) = action_resource(uri) else { return Ok(None) };
        // The tool of an action is the action's own resource.
        let is_it = |entry: &SurfaceEntry| {
            !matches!(entry, SurfaceEntry::Action(_)) && self.name(entry) == name && offers(&name)
        };
        let entry = self.entries()?.into_iter().find(is_it);
        let spec = entry.map(|entry| self.spec(&entry)).transpose()?;
        Ok(spec.map(|spec| SurfaceResource::Tool(Box::new(spec))))
    }

    /// URI and description of the list of toolsets, if there is one.
    pub fn toolsets_resource(&self) -> Option<context::ResourceEntry> {
        (self.kind() == SurfaceKind::Toolset).then(|| context::ResourceEntry {
            uri: TOOLSETS.to_owned(),
            name: "toolsets".to_owned(),
            title: "The toolsets",
            what: "Every toolset with the number of its tools, and which one is active.".to_owned(),
            mime: JSON,
        })
    }

    /// Content of a resource in the list of actions, with calls of this surface's tools.
    pub fn told_resource(&self, uri: &str, mut read: ResourceContent) -> ResourceContent {
        let Some(tools) = self.tools.as_deref() else { return read };
        let own = match self.kind() {
            SurfaceKind::Meta => "The tool of its family runs one by its id",
            SurfaceKind::Individual => "Its own tool runs one, called by its id with _ in place of the dot",
            SurfaceKind::Dynamic | SurfaceKind::Toolset => return read,
        };
        match action_resource(uri) {
            Some(None) => read.text = read.text.replacen(RUNS, own, 1),
            Some(Some(_)) => {
                let whole: Option<Map<String, Value>> = serde_json::from_str(&read.text).ok();
                if let Some(mut whole) = whole {
                    rewrite_call_in(&mut whole, "call", &|tool, call| {
                        self.translate_to_own(tools, tool, call)
                    });
                    read.text = format!("{:#}\n", json!(whole));
                }
            }
            None => {}
        }
        read
    }
}
