//! Names of the tools of all surfaces, for rules on tools: a rule has the same effect on each surface.

use super::entry::Side;
use super::names;
use super::toolset::ACTIVATE;
use crate::catalog::Action;
use crate::tools::{EXECUTE, FIND, READ, ToolNames};

/// The tools of every surface.
pub const TOOL_NAMES: ToolNames =
    ToolNames { general: &[FIND, EXECUTE, READ, ACTIVATE], of_action: tools_of_action };

/// The tools that run an action: its own, and those of its family on the surface `meta`, whole and split.
fn tools_of_action(family: &str, action: &Action) -> Vec<String> {
    let family_tools = [false, true].map(|split| Side::new(split, action.risk).tool(family));
    family_tools.into_iter().chain([names::of_action(&action.id)]).collect()
}
