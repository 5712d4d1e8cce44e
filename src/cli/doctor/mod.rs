//! `gitlab-mcp doctor`: checks each link between this program and GitLab and suggests a fix for each problem.

mod clients;
mod connection;
mod fetch;
mod report;
mod token;

use std::io::Write;

use super::Failure;
use crate::config::{Config, InstanceConfig};
use crate::tools::{Instances, Tools};
pub use fetch::fetch;
use report::{Finding, FindingState};

/// Runs all checks, prints the findings, and fails with the worst status.
pub async fn run(
    instances: &Instances,
    config: &Config,
    json: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut found = variables(config);
    found.extend(confirmation(config));
    found.extend(clients::findings());
    let is_single = config.others.is_empty();
    for ((name, tools), of) in instances.each().zip(config.instances()) {
        let findings = examine(tools, config, of).await.into_iter();
        let findings = findings.map(|finding| if of.is_plain { finding } else { finding.of_table(name) });
        found.extend(findings.map(|finding| if is_single { finding } else { finding.of_instance(name) }));
    }
    found.push(restrictions(config));
    let report = if json { report::json(&found) } else { report::text(&found) };
    out.write_all(report.as_bytes())?;
    match report::worst(&found) {
        FindingState::Fine | FindingState::Unknown => Ok(()),
        FindingState::Warning => Err(Failure::Diagnosed(1)),
        FindingState::Failure => Err(Failure::Diagnosed(2)),
    }
}

/// Checks one instance.
async fn examine(tools: &Tools, config: &Config, of: &InstanceConfig) -> Vec<Finding> {
    let mut found = Vec::new();
    let version = match fetch(tools, "instance.get_version").await {
        Ok(version) => version,
        Err(denial) => {
            found.push(Finding::warning(
                "policy",
                format!("{denial}, so the connection to GitLab cannot be checked"),
                "Allow instance.get_version, so that the connection and the token can be checked.",
            ));
            found.push(Finding::unknown("address", "not checked"));
            return found;
        }
    };
    found.extend(connection::findings(tools, config, of, &version));
    let is_reached = found.iter().all(|finding| finding.state != FindingState::Failure);
    found.push(token::source(of));
    if is_reached {
        found.extend(connection::encoded_paths(tools).await);
        found.extend(token::findings(tools, config, of).await);
        // Last, as every response updates the rate limit.
        found.extend(connection::limits(tools));
    } else {
        found.push(Finding::unknown("token", "not checked: GitLab cannot be reached"));
    }
    found
}

/// The restrictions in force.
fn restrictions(config: &Config) -> Finding {
    let restrictions = config.restrictions();
    match restrictions.is_empty() {
        true => Finding::passed("restrictions", "none: calls may do what the token may"),
        false => Finding::passed("restrictions", restrictions.join("; ")),
    }
}

/// Warns of variables that are no settings.
fn variables(config: &Config) -> Vec<Finding> {
    let foreign = Config::foreign_variables(crate::config::environment);
    let warnings = foreign.into_iter().chain(config.misspelt.iter().cloned());
    let hint = "Remove the variable, or set the one that was meant.";
    warnings.map(|says| Finding::warning("settings", says, hint)).collect()
}

/// Warns if confirmation is switched off, or left to the model.
fn confirmation(config: &Config) -> Vec<Finding> {
    let warning = |says| Finding::warning("confirmation", says, "Remove the setting named above.");
    config.confirmation_warnings().into_iter().map(warning).collect()
}
