//! Parameters that the rows of `catalog/rules.toml` name by dotted paths.

use gitlab_mcp::catalog::{Action, Param};
use serde::Deserialize;

use crate::action_ids::{Ids, nearest};

/// Parameters that look like what a rule is for and are not, with the reason. Tests read the lists.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedParams {
    reason: String,
    /// `action:param` with the action a pattern.
    pub params: Vec<String>,
}

impl ListedParams {
    /// Reports a list without a reason.
    pub fn check_reason(&self, row: &str, faults: &mut Vec<String>) {
        if self.reason.trim().is_empty() {
            faults.push(format!("{row}: {} have no reason", self.params.join(", ")));
        }
    }

    /// Reports entries without a match.
    pub fn check(&self, row: &str, actions: &[Action], faults: &mut Vec<String>) {
        self.check_reason(row, faults);
        let ids = Ids::new(actions);
        for entry in &self.params {
            matches(entry, &format!("{row} {entry}"), &ids, actions, faults);
        }
    }
}

/// Visits every parameter and every field of one, with its dotted path.
pub fn walk(params: &mut [Param], within: &str, visit: &mut impl FnMut(&str, &mut Param)) {
    for param in params {
        let path = if within.is_empty() { param.name.clone() } else { format!("{within}.{}", param.name) };
        visit(&path, param);
        walk(&mut param.fields, &path, visit);
    }
}

/// The dotted paths of parameters and of their fields.
pub fn dotted_paths(params: &[Param], within: &str) -> Vec<String> {
    let nested = params.iter().flat_map(|param| {
        let path = if within.is_empty() { param.name.clone() } else { format!("{within}.{}", param.name) };
        let fields = dotted_paths(&param.fields, &path);
        std::iter::once(path).chain(fields)
    });
    nested.collect()
}

/// The parameter at a dotted path.
pub fn find_param<'a>(params: &'a [Param], path: &str) -> Option<&'a Param> {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let param = params.iter().find(|param| param.name == name)?;
    rest.map_or(Some(param), |rest| find_param(&param.fields, rest))
}

/// Message on a parameter that the action does not have, with the nearest name.
pub fn no_param(action: &Action, path: &str) -> String {
    let names = action.params.iter().map(|param| param.name.as_str());
    let near = nearest(path, names).map(|near| format!("; the nearest is {near}")).unwrap_or_default();
    format!("{} has no parameter {path}{near}", action.id)
}

/// Resolves `action:param` to numbers of actions and the parameter's path. The action may be a pattern. A missing
/// parameter of an exact id is a fault, and so is a pattern that matches no action with it.
pub fn matches(
    entry: &str,
    row: &str,
    ids: &Ids,
    actions: &[Action],
    faults: &mut Vec<String>,
) -> Vec<(usize, String)> {
    let Some((pattern, path)) = entry.split_once(':') else {
        faults.push(format!("{row}: wants `action:param`"));
        return Vec::new();
    };
    let named = ids.expand(pattern, row, faults);
    let found: Vec<(usize, String)> = actions
        .iter()
        .enumerate()
        .filter(|(_, action)| named.contains(&action.id) && find_param(&action.params, path).is_some())
        .map(|(number, _)| (number, path.to_owned()))
        .collect();
    if found.is_empty() && !named.is_empty() {
        match actions.iter().find(|action| action.id == pattern) {
            Some(action) => faults.push(format!("{row}: {}", no_param(action, path))),
            None => faults.push(format!("{row}: no action of {pattern} has the parameter {path}")),
        }
    }
    found
}
