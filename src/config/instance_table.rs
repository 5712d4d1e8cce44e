//! A table `[[instance]]` of the settings file.
//!
//! ```toml
//! [[instance]]
//! name = "work"
//! url = "https://git.example.com"
//! token_env = "WORK_GITLAB_TOKEN"
//! read_only = true
//! ```

use std::path::PathBuf;

use serde::Deserialize;

/// Name of the table.
pub(super) const TABLE: &str = "instance";

/// A table `[[instance]]` as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InstanceTable {
    pub name: String,
    pub url: String,
    pub token_env: Option<String>,
    pub token_file: Option<PathBuf>,
    pub token_command: Option<String>,
    #[serde(default)]
    pub paths: Vec<String>,
    #[serde(default)]
    pub read_only: bool,
    pub policy: Option<PathBuf>,
    pub ca_file: Option<PathBuf>,
    #[serde(default)]
    pub insecure_tls: bool,
}
