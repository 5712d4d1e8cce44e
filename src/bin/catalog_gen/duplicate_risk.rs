//! Risks of actions that do the same, and of their parameters.

use std::collections::BTreeMap;

use gitlab_mcp::catalog::{Action, Raise, Risk, split_words};

use crate::rule_params::dotted_paths;

/// Raises the risk of a mutation to that of the action with the same effect.
pub fn share_risks(actions: &mut [Action]) {
    let risks: BTreeMap<String, Risk> =
        actions.iter().map(|action| (action.id.clone(), action.risk)).collect();
    for action in actions.iter_mut().filter(|action| action.risk != Risk::Read) {
        let stands = action.twin.as_ref().and_then(|twin| risks.get(twin));
        action.risk = stands.map_or(action.risk, |risk| action.risk.max(*risk));
    }
}

/// Gives each of two actions that do the same the raises of the other, by the parameters of the same name.
pub fn share_raises(actions: &mut [Action]) {
    let number = |id: &str| actions.iter().position(|action| action.id == id);
    let pairs: Vec<(usize, usize)> = actions
        .iter()
        .enumerate()
        .filter_map(|(twin, action)| Some((twin, number(action.twin.as_deref()?)?)))
        .collect();
    for (from, to) in pairs.iter().flat_map(|&(twin, stands)| [(twin, stands), (stands, twin)]) {
        let (Some(other), Some(action)) = (actions.get(from), actions.get(to)) else { continue };
        let missing = missing_raises(other, action);
        if let Some(action) = actions.get_mut(to) {
            action.raises.extend(missing);
        }
    }
}

/// The raises of another action whose parameters the action has and does not raise by.
fn missing_raises(other: &Action, action: &Action) -> Vec<Raise> {
    let paths = dotted_paths(&action.params, "");
    let has = |wanted: &Raise| {
        action.raises.iter().any(|raise| {
            raise.param == wanted.param
                && raise.risk >= wanted.risk
                && wanted.effects.iter().all(|effect| raise.effects.contains(effect))
        })
    };
    other
        .raises
        .iter()
        .filter_map(|raise| {
            let param = paths.iter().find(|path| split_words(path) == split_words(&raise.param))?.clone();
            Some(Raise { param, risk: raise.risk.max(action.risk), ..raise.clone() })
        })
        .filter(|raise| action.risk != Risk::Read && !has(raise))
        .filter(|raise| raise.risk > action.risk || !raise.effects.is_empty())
        .collect()
}
