//! `version` command: what this program was built from, and the GitLab that its catalog describes.

use std::io::Write;

use serde_json::json;

use super::Failure;

const NUMBER: &str = env!("CARGO_PKG_VERSION");

/// GitLab version of the catalog, such as 19.5.
const GITLAB: &str = env!("CATALOG_GITLAB_VERSION");

/// Short id and date of the commit, where the build knew them.
const COMMIT: Option<&str> = option_env!("GITLAB_MCP_COMMIT");

/// Writes the version, as text or JSON.
pub(super) fn run(as_json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    if as_json {
        let version = json!({"version": NUMBER, "commit": COMMIT, "gitlab": GITLAB});
        return Ok(writeln!(out, "{version}")?);
    }
    writeln!(out, "gitlab-mcp {NUMBER}")?;
    writeln!(out, "commit   {}", COMMIT.unwrap_or("not known to the build"))?;
    Ok(writeln!(out, "catalog  GitLab {GITLAB}")?)
}
