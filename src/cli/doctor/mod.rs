//! `gitlab-mcp doctor`: what is between this program and GitLab, link by link, each with how to mend it.

mod connection;
mod report;
mod token;

use std::io::Write;

use serde_json::Map;

use super::Failure;
use crate::config::Config;
use crate::gitlab::{GitlabError, Reply};
use crate::tools::{ErrorKind, ReadError, Tools};

pub(super) use report::{Finding, State};

/// Looks at everything, writes what was found, and fails by the worst of it.
pub async fn run(tools: &Tools, config: &Config, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let found = examine(tools, config).await;
    let report = if json { report::json(&found) } else { report::text(&found) };
    out.write_all(report.as_bytes())?;
    match report::worst(&found) {
        State::Fine | State::Unknown => Ok(()),
        State::Warning => Err(Failure::Diagnosed(1)),
        State::Failure => Err(Failure::Diagnosed(2)),
    }
}

async fn examine(tools: &Tools, config: &Config) -> Vec<Finding> {
    let mut found: Vec<Finding> = confirmation(config).into_iter().collect();
    let version = match asked(tools, "instance.version").await {
        Ok(version) => version,
        Err(denial) => {
            found.push(Finding::warning(
                "policy",
                format!("{denial}, so that the connection to GitLab cannot be examined"),
                "Allow instance.version to have the connection and the token examined.",
            ));
            found.push(Finding::unknown("address", "not asked"));
            return found;
        }
    };
    found.extend(connection::findings(tools, config, &version));
    let is_reached = found.iter().all(|finding| finding.state != State::Failure);
    if is_reached {
        found.extend(token::findings(tools, config).await);
    } else {
        found.push(Finding::unknown("token", "not asked for, as GitLab cannot be reached"));
    }
    // After all answers: each says how many more GitLab takes.
    found.extend(connection::limits(tools));
    found
}

/// Confirmation, where it is switched off.
fn confirmation(config: &Config) -> Option<Finding> {
    let warning = config.confirmation_warnings().into_iter().next();
    let is_off = config.is_unconfirmed();
    let says = warning.or_else(|| {
        is_off.then(|| {
            "confirmation is off (GITLAB_CONFIRM): destructive actions run without a question".to_owned()
        })
    });
    says.map(|says| {
        Finding::warning(
            "confirmation",
            says,
            "Set GITLAB_CONFIRM=ask, or take the setting away that is named.",
        )
    })
}

/// GitLab's answer to a read of its own or the token's state; the outer error is a denial by the policy.
async fn asked(tools: &Tools, action: &str) -> Result<Result<Reply, GitlabError>, String> {
    match tools.read_unrendered(action, Map::new()).await {
        Ok(reply) => Ok(Ok(reply)),
        Err(ReadError::Gitlab(error)) => Ok(Err(error)),
        Err(ReadError::NotSent(error)) if error.kind == ErrorKind::Denied => Err(error.message),
        // An action of the catalog without parameters: only a fault of the program's own ends here.
        Err(ReadError::NotSent(error)) => Ok(Err(GitlabError::Setup { what: error.message, source: None })),
    }
}

/// An error with its causes, each once.
fn said(error: &GitlabError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let words = cause.to_string();
        if !text.contains(&words) {
            text.push_str(&format!(": {words}"));
        }
        source = cause.source();
    }
    text
}
