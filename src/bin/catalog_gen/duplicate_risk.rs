//! Risks of actions that do the same.

use std::collections::BTreeMap;

use gitlab_mcp::catalog::{Action, Risk};

/// Raises the risk of a mutation to that of the action with the same effect.
pub fn share_risks(actions: &mut [Action]) {
    let risks: BTreeMap<String, Risk> =
        actions.iter().map(|action| (action.id.clone(), action.risk)).collect();
    for action in actions.iter_mut().filter(|action| action.risk != Risk::Read) {
        let stands = action.twin.as_ref().and_then(|twin| risks.get(twin));
        action.risk = stands.map_or(action.risk, |risk| action.risk.max(*risk));
    }
}
