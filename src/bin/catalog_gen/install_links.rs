//! One-click installation links of clients, made from the configuration that the pages show.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::error::GeneratorError;

/// Page with the configuration of every client.
const PAGE: &str = "docs/guides/clients.md";

/// The links as Markdown, by the name in their comment.
pub fn links(root: &Path) -> Result<Vec<(&'static str, String)>, GeneratorError> {
    let path = root.join(PAGE);
    let Ok(page) = std::fs::read_to_string(&path) else { return Ok(Vec::new()) };
    let link = |heading, render: fn(&Value) -> Option<String>| {
        let malformed = || GeneratorError::Malformed {
            path: PAGE.to_owned(),
            reason: format!("no configuration in JSON below {heading:?}"),
        };
        configuration(&page, heading).as_ref().and_then(render).ok_or_else(malformed)
    };
    Ok(vec![("link.vscode", link("## VS Code", vscode)?), ("link.cursor", link("## Cursor", cursor)?)])
}

/// The first JSON block below a heading.
fn configuration(page: &str, heading: &str) -> Option<Value> {
    let section = page.split_once(&format!("\n{heading}\n"))?.1;
    let block = section.split_once("```json\n")?.1.split_once("```")?.0;
    serde_json::from_str(block).ok()
}

fn vscode(configuration: &Value) -> Option<String> {
    let server = configuration.pointer("/servers/gitlab")?;
    let inputs = configuration.get("inputs")?;
    let (server, inputs) = (percent_encode(&server.to_string()), percent_encode(&inputs.to_string()));
    Some(format!(
        "[Install in VS Code](https://insiders.vscode.dev/redirect/mcp/install?name=gitlab&config={server}&inputs={inputs})"
    ))
}

fn cursor(configuration: &Value) -> Option<String> {
    let server = configuration.pointer("/mcpServers/gitlab")?;
    let server = percent_encode(&STANDARD.encode(server.to_string()));
    Some(format!("[Install in Cursor](https://cursor.com/en/install-mcp?name=gitlab&config={server})"))
}

fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}
