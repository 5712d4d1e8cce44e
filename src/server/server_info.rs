//! Server info and capabilities, and a surface's tools in the protocol's types.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    Implementation, MetaObject, PromptsCapability, ResourcesCapability, ServerCapabilities, ServerConfig,
    Tool, ToolAnnotations,
};
use serde_json::{Map, Value, json};

use crate::surface::{Annotations, Surface, SurfaceKind, ToolSpec};
use crate::tools::{Capabilities, EXECUTE, FIND, READ};

/// Key of `_meta` by which Claude Code loads a tool without a search for it
/// (<https://docs.claude.com/en/docs/claude-code/mcp>).
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// Cache lifetime of lists that do not change while the server runs (MCP 2026-07-28, caching).
pub(super) const FRESH_FOR_MS: u64 = 3_600_000;

/// Converts a tool to the protocol's type.
pub(super) fn tool(spec: ToolSpec) -> Tool {
    let is_loaded = [FIND, EXECUTE, READ].contains(&spec.name.as_str());
    let mut tool =
        Tool::new_with_raw(spec.name, Some(Cow::Owned(spec.description)), Arc::new(spec.input_schema))
            .with_annotations(annotations(spec.annotations));
    tool.title = spec.title;
    tool.output_schema = spec.output_schema.map(Arc::new);
    // Clients that load tools only when they are needed load these at once: a search for one costs a turn of the model.
    tool.meta = is_loaded.then(|| MetaObject(Map::from_iter([(ALWAYS_LOAD.to_owned(), json!(true))])));
    tool
}

/// Tool as sent to a client.
pub fn sent(spec: ToolSpec) -> Value {
    json!(tool(spec))
}

/// Server info and capabilities. `listChanged` of tools only with TOOL_SURFACE=toolset.
pub(super) fn server_config(surface: &Surface, beside: Option<Capabilities>) -> ServerConfig {
    let implementation = Implementation::new("gitlab-mcp", env!("CARGO_PKG_VERSION"))
        .with_title("GitLab")
        .with_description(env!("CARGO_PKG_DESCRIPTION"));
    let mut capabilities = ServerCapabilities::builder().enable_tools().build();
    if let (SurfaceKind::Toolset, Some(tools)) = (surface.kind(), capabilities.tools.as_mut()) {
        tools.list_changed = Some(true);
    }
    capabilities.resources = beside.map(|_| ResourcesCapability::default());
    if beside == Some(Capabilities::Full) {
        capabilities.prompts = Some(PromptsCapability::default());
        capabilities.completions = Some(Map::new());
    }
    ServerConfig::new(capabilities).with_server_info(implementation).with_instructions(surface.instructions())
}

fn annotations(said: Annotations) -> ToolAnnotations {
    let mut annotations = ToolAnnotations::new().read_only(said.read_only).open_world(said.open_world);
    annotations.destructive_hint = said.destructive;
    annotations.idempotent_hint = said.idempotent;
    annotations
}
