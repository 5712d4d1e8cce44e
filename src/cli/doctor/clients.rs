//! Which MCP clients of the machine have this server, with which settings, and whether they start this program.

use super::report::Finding;
use crate::cli::setup::{Binary, Installed, Known, Machine, Survey, System, TOKEN, survey};
use crate::config;

const CHECK: &str = "client";

/// A finding for each client on the machine; none without a home folder.
pub fn findings() -> Vec<Finding> {
    let machine = Machine::new(System::CURRENT, config::environment, config::search_path());
    let (Some(machine), Ok(executable)) = (machine, config::executable()) else { return Vec::new() };
    survey(&machine, &executable).iter().map(finding).collect()
}

fn finding(survey: &Survey) -> Finding {
    let (label, id, file) = (survey.client.label(), survey.client.id(), survey.file.display());
    match &survey.installed {
        Installed::No => Finding::unknown(
            CHECK,
            format!("{label} does not have this server: gitlab-mcp setup --client {id}"),
        ),
        Installed::Unknown(why) => Finding::warning(
            CHECK,
            format!("{label}: {file} cannot be read: {why}"),
            "Correct the file: the client cannot read it either.",
        ),
        Installed::Yes { server, binary } => {
            let has = format!("{label} has it as {:?} in {file}", server.name);
            let settings = settings(server);
            let withheld = server.withheld_settings(survey.client);
            match binary {
                Binary::This | Binary::Through(_) if !withheld.is_empty() => Finding::warning(
                    CHECK,
                    format!("{has}, {settings}; {label} does not pass on {}, set here", withheld.join(", ")),
                    format!(
                        "If the server is to have it, add env_vars = {} to [mcp_servers.{}] in {file}.",
                        serde_json::json!(withheld),
                        server.name
                    ),
                ),
                Binary::This => Finding::passed(CHECK, format!("{has}, this program, {settings}")),
                Binary::Through(command) => {
                    Finding::passed(CHECK, format!("{has}, through {command}, {settings}"))
                }
                Binary::Other(path) => Finding::warning(
                    CHECK,
                    format!("{has}, another program ({}), {settings}", path.display()),
                    format!("Run `gitlab-mcp setup --undo --client {id}`, then the same without --undo."),
                ),
                Binary::Missing(command) => Finding::warning(
                    CHECK,
                    format!("{has}, but {command} is not on this machine"),
                    format!("Run `gitlab-mcp setup --undo --client {id}`, then the same without --undo."),
                ),
            }
        }
    }
}

/// The settings by name, with the address of GitLab; no other value, as any may be a secret.
fn settings(server: &Known) -> String {
    let passed = server.passed_variables().into_iter().map(|name| format!("{name} by reference"));
    let names: Vec<String> = server
        .settings
        .iter()
        .map(|(name, value)| match name.as_str() {
            "GITLAB_URL" => format!("{name}={}", value.split('@').next_back().unwrap_or_default()),
            TOKEN if value.contains('$') || value.contains('{') => format!("{name} by reference"),
            TOKEN => format!("{name} in the file"),
            _ => name.clone(),
        })
        .chain(passed)
        .collect();
    match names.is_empty() {
        true => "no settings".to_owned(),
        false => names.join(", "),
    }
}
