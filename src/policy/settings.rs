//! Settings of a policy.

use super::confirm::Confirm;
use crate::catalog::Action;

/// Settings of a policy, as written in the configuration.
#[derive(Clone, Debug, Default)]
pub struct PolicySettings {
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
    /// The tools of every surface, so that an expression has the same effect on each.
    pub tool_names: Option<ToolNames>,
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

/// Names of tools, of every surface.
#[derive(Clone, Copy, Debug)]
pub struct ToolNames {
    /// The tools that are not of certain actions, such as the one that finds.
    pub general: &'static [&'static str],
    /// The tools of an action, whose family is given: removing one of them denies the action.
    pub of_action: fn(&str, &Action) -> Vec<String>,
}
