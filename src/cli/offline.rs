//! Commands that work offline: catalog, sub-agents, shell completions.

use std::io::Write;

use super::{Arguments, Failure, Offline};

/// Runs an offline command.
pub fn run(command: Offline, out: &mut dyn Write) -> Result<(), Failure> {
    match command {
        Offline::Catalog { view } => super::catalog::run(view, out),
        Offline::Agents { out: folder, client } => super::agents::run(client, &folder, out),
        Offline::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::grammar(), "gitlab-mcp", &mut script);
            Ok(out.write_all(&script)?)
        }
    }
}
