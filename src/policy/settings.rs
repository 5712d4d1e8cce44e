//! Settings of a policy.

use super::confirm::Confirm;
use crate::catalog::Risk;

/// Settings of a policy, as written in the configuration.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Allows only actions that change nothing.
    pub read_only: bool,
    /// The setting that says so, if it is another than GITLAB_READ_ONLY.
    pub read_only_setting: Option<String>,
    /// The same for the calls of one tool: what a denial says.
    pub reads_by_tool: bool,
    /// Changes are shown instead of sent.
    pub safe_mode: bool,
    pub confirm: Confirm,
    /// `issue.delete`, `issue.*`, `*.delete`, `manage_issue:delete`.
    pub denied_actions: Vec<String>,
    /// Regular expression on names of tools and actions.
    pub denied_tools: Option<String>,
    /// Naming of the tools for families of domains, if there are such tools: a tool that is removed denies its actions.
    pub family_tool: Option<FamilyTool>,
    /// Enabled toolsets; with `domains` empty too, the whole catalog.
    pub toolsets: Vec<String>,
    pub domains: Vec<String>,
    /// Toolsets that a caller of a shared server restricts itself to; empty means no further restriction.
    pub narrowed_toolsets: Vec<String>,
    /// Projects and groups below which changes are allowed; empty means everywhere.
    pub allowed_paths: Vec<String>,
    /// Projects and groups below which reads are allowed; empty means everywhere.
    pub readable_paths: Vec<String>,
    /// Text of the policy file.
    pub file: Option<String>,
}

/// Name of the tool for a family's actions of a risk.
pub type FamilyTool = fn(&str, Risk) -> String;
