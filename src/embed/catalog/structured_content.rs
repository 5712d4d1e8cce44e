//! MCP clients that hand a model the structured content of an answer, from `catalog/structured_content.toml`. Compiled in as constants.

use serde::Deserialize;

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientTable {
    structure_alone: Vec<SeenClient>,
}

/// A client with the version that was seen.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeenClient {
    name: String,
    #[expect(dead_code, reason = "for who reads the file")]
    seen: String,
}

impl ClientTable {
    /// The names of clients that hand over the structure in place of the text, as a Rust expression.
    pub fn to_expression(&self) -> String {
        let names: Vec<&str> = self.structure_alone.iter().map(|client| client.name.as_str()).collect();
        format!("&{names:?}")
    }
}
