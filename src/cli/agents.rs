//! `agents` command: writes sub-agent definition files. Each sub-agent starts a server restricted to its toolsets.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{AgentClient, Failure};
use crate::catalog::{Agent, Catalog};
use crate::tools::{EXECUTE, FIND};

/// Writes a file for each sub-agent; writes nothing if any of them exists.
pub(super) fn run(client: AgentClient, folder: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    let catalog = Catalog::embedded()?;
    let files: Vec<(PathBuf, String)> = catalog
        .words()?
        .agents
        .iter()
        .map(|(name, agent)| {
            let name = format!("gitlab-{}", name.replace('_', "-"));
            (folder.join(format!("{name}{}", client.ending())), definition(client, &name, agent))
        })
        .collect();
    if let Some((path, _)) = files.iter().find(|(path, _)| path.exists()) {
        return Err(Failure::Exists(path.clone()));
    }
    fs::create_dir_all(folder).map_err(|error| Failure::Written(folder.to_owned(), error))?;
    for (path, text) in files {
        let written = OpenOptions::new().write(true).create_new(true).open(&path);
        written
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|error| Failure::Written(path.clone(), error))?;
        writeln!(out, "{}", path.display())?;
    }
    Ok(())
}

impl AgentClient {
    fn ending(self) -> &'static str {
        match self {
            AgentClient::ClaudeCode => ".md",
            AgentClient::Copilot => ".agent.md",
        }
    }
}

/// Renders the front matter (the server and its two tools) and the instructions. An agent without a tool list gets
/// every tool of its client. YAML strings are quoted as JSON, a subset of YAML.
fn definition(client: AgentClient, name: &str, agent: &Agent) -> String {
    let what = &agent.what;
    let toolsets = json!(agent.toolsets.join(","));
    let note = if agent.note.is_empty() { String::new() } else { format!("{}\n\n", agent.note) };
    let server = match client {
        AgentClient::ClaudeCode => format!(
            "tools: mcp__{name}__{FIND}, mcp__{name}__{EXECUTE}\nmcpServers:\n  - {name}:\n      type: stdio\n      command: gitlab-mcp\n      env:\n        GITLAB_TOOLSETS: {toolsets}\n"
        ),
        AgentClient::Copilot => format!(
            "tools: [\"{name}/{FIND}\", \"{name}/{EXECUTE}\"]\nmcp-servers:\n  {name}:\n    type: local\n    command: gitlab-mcp\n    args: []\n    tools: [\"{FIND}\", \"{EXECUTE}\"]\n    env:\n      GITLAB_TOOLSETS: {toolsets}\n"
        ),
    };
    let description = json!(format!("{what}. For anything of that on GitLab, and nothing else."));
    format!(
        "---\nname: {name}\ndescription: {description}\n{server}---\n\n{what}.\n\n{note}\
         Work through the tools of the MCP server {name}: gitlab_find_action turns what is wanted into an action, \
         gitlab_execute_action runs it. The server offers this part of GitLab alone; where a find says that \
         something was left out, say so and leave it to who asked. Ask before anything is destroyed.\n"
    )
}
