//! The command by which a client starts this program.

use std::path::{Path, PathBuf};

use super::machine::Machine;

/// Program and arguments. A package runner's cache is not a place that lasts, so there the runner is named.
pub fn launch_command(machine: &Machine, executable: &Path) -> (String, Vec<String>) {
    let has_part = |name: &str| executable.iter().any(|part| part == name);
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    if has_part("_npx") {
        return ("npx".to_owned(), words(&["-y", "gitlab-mcp"]));
    }
    if has_part("archive-v0") || (has_part("uv") && has_part("builds-v0")) {
        return ("uvx".to_owned(), words(&["--from", "gitlab-mcp-server", "gitlab-mcp"]));
    }
    (
        on_search_path(machine, executable).unwrap_or_else(|| executable.to_owned()).display().to_string(),
        Vec::new(),
    )
}

/// The name by which the shell finds this program: it stays where an upgrade moves the file that it links to.
fn on_search_path(machine: &Machine, executable: &Path) -> Option<PathBuf> {
    let real = executable.canonicalize().ok()?;
    let name = executable.file_name()?;
    let mut names = machine.search_path().iter().filter(|folder| folder.is_absolute());
    names.find_map(|folder| {
        let path = folder.join(name);
        (path.canonicalize().ok()? == real).then_some(path)
    })
}
