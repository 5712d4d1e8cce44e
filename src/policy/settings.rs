//! Settings of a policy.

use super::confirm::Confirm;
use crate::catalog::Risk;

/// What the configuration allows, as it is written.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Only actions that change nothing.
    pub read_only: bool,
    /// Whatever is not a read is shown, not sent.
    pub safe_mode: bool,
    pub confirm: Confirm,
    /// `issue.delete`, `issue.*`, `*.delete`, `manage_issue:delete`.
    pub denied_actions: Vec<String>,
    /// A regular expression on the names of tools and actions.
    pub denied_tools: Option<String>,
    /// What the tools are called that stand for families of domains, where there are such: a dropped one denies its
    /// actions.
    pub family_tool: Option<FamilyTool>,
    /// The parts of the catalog that are offered; all of it, where none is named.
    pub toolsets: Vec<String>,
    pub domains: Vec<String>,
    /// Projects and groups below which changes are allowed; everywhere, where there are none.
    pub allowed_paths: Vec<String>,
    /// Projects and groups below which anything may be read; everywhere, where there are none.
    pub readable_paths: Vec<String>,
    /// The text of a policy's file.
    pub file: Option<String>,
}

/// The name of the tool for the actions of a family that have this risk.
pub type FamilyTool = fn(&str, Risk) -> String;
