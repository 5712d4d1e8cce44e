//! Denials that no look-up can lift: they are made before the first request of a call.

use crate::call::{Checked, Effects, Location};
use crate::messages::error::{ErrorKind, ToolError};
use crate::policy::Rule;
use crate::tools::action_lookup::resolved::ResolvedAction;
use crate::tools::error_mapping;
use crate::tools::own_reads::locate;
use crate::tools::prepare::check::{check_with_project_name, refuse_withheld};
use crate::tools::state::Tools;

/// The denial of a call that no look-up can lift: every operation that it may be is denied. Decided before anything
/// is sent; only where a rule speaks of paths and an id was given, the path behind it is looked up.
pub async fn deny_beforehand(tools: &Tools, checked: &Checked) -> Option<ToolError> {
    let mut prospects = checked.possible_effects();
    let denials = |prospects: &[Effects]| -> Option<Vec<Rule>> {
        prospects.iter().map(|effects| tools.policy.denial(effects)).collect()
    };
    let mut rule = denials(&prospects)?.into_iter().next()?;
    let mut looked_up = 0;
    if rule.is_about_paths() && prospects.iter().any(|effects| !effects.unlocated().is_empty()) {
        for effects in &mut prospects {
            let located = locate::locate(tools, effects).await;
            looked_up += located.requests;
            effects.locate(|location| locate::find_path(&located, location));
        }
        rule = denials(&prospects)?.into_iter().next()?;
    }
    Some(error_mapping::denied(tools, &checked.action().id, prospects.first(), &rule, looked_up))
}

/// The denial of a request that is known beforehand. None for an invalid one: its own check reports that. With `is_open`,
/// values of earlier answers are still missing in its parameters, and may be what decides.
pub async fn known_denial(tools: &Tools, resolved: ResolvedAction, is_open: bool) -> Option<ToolError> {
    let ResolvedAction { action, request, .. } = resolved;
    if let Err(denied) = refuse_withheld(tools, &action) {
        return Some(denied);
    }
    if is_open && !action.raises.is_empty() {
        return None;
    }
    match Box::pin(check_with_project_name(tools, &action, &request, &mut Vec::new())).await {
        Ok(checked) if is_open && names_unknown_place(&checked) => None,
        Ok(checked) => deny_beforehand(tools, &checked).await,
        Err(error) => is_denial(&error).then_some(error),
    }
}

/// True if the call may work at a place that its parameters do not tell.
fn names_unknown_place(checked: &Checked) -> bool {
    let effects = checked.possible_effects();
    effects.iter().flat_map(Effects::places).any(|place| place.location == Location::Unknown)
}

/// True for the error of a check that a rule made, or the scopes of the token.
pub fn is_denial(error: &ToolError) -> bool {
    matches!(error.kind, ErrorKind::Denied | ErrorKind::Forbidden)
}
