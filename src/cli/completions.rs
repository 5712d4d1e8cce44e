//! Shell completions: a script per shell that asks this program what may follow, and the answers.

use std::io::Write;

use clap::Command;
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::Shells;
use clap_complete::{CompleteEnv, Shell};

use super::Failure;
use crate::catalog::Catalog;
use crate::config;

/// Variable in which the script of a shell names the shell that asks.
const VARIABLE: &str = "GITLAB_MCP_COMPLETE";

const PROGRAM: &str = "gitlab-mcp";

/// Answers a shell that asks what may follow in this grammar; false if this process is none that a shell asks.
pub(super) fn answer_shell(grammar: fn() -> Command) -> Result<bool, Failure> {
    // A shell asks from any folder: no candidate is looked for relative to it.
    CompleteEnv::with_factory(grammar)
        .var(VARIABLE)
        .try_complete(config::process_arguments(), None)
        .map_err(Failure::Usage)
}

/// Writes the script of a shell. It calls `gitlab-mcp` of the `PATH`.
pub(super) fn write_script(shell: Shell, out: &mut dyn Write) -> Result<(), Failure> {
    let shells = Shells::builtins();
    let completer = shells.completer(&shell.to_string()).ok_or(Failure::NoScript(shell))?;
    Ok(completer.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, out)?)
}

/// The ids of the catalog.
pub(super) fn action_ids() -> Vec<CompletionCandidate> {
    let Ok(catalog) = Catalog::embedded() else { return Vec::new() };
    catalog.ids().map(CompletionCandidate::new).collect()
}
