//! Rows of `catalog/rules.toml` that set something on the actions that they name.

use gitlab_mcp::catalog::Action;
use serde::Deserialize;

use crate::action_ids::Ids;

/// A row: patterns of action ids, and what is set on the actions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule<T> {
    pub actions: Vec<String>,
    /// Each table of the file has its own word for it.
    #[serde(alias = "change", alias = "edit", alias = "filter", alias = "join", alias = "kept")]
    #[serde(alias = "labels", alias = "pin", alias = "presumed", alias = "wait")]
    pub set: T,
}

/// The actions that rows are applied to, and the faults of the rows.
pub struct RuleTarget<'a> {
    ids: Ids,
    actions: &'a mut [Action],
    faults: &'a mut Vec<String>,
}

impl<'a> RuleTarget<'a> {
    pub fn new(actions: &'a mut [Action], faults: &'a mut Vec<String>) -> RuleTarget<'a> {
        RuleTarget { ids: Ids::new(actions), actions, faults }
    }

    /// Reports a pattern that matches no action.
    pub fn check_id(&mut self, row: &str, pattern: &str) {
        self.ids.expand(pattern, row, self.faults);
    }

    /// Reports a read that is no action, and parameters that it does not have.
    pub fn check_read<'n>(&mut self, row: &str, read: &str, params: impl Iterator<Item = &'n String>) {
        self.check_id(row, read);
        let Some(read) = self.actions.iter().find(|action| action.id == read) else { return };
        let unknown = params.filter(|name| read.param(name).is_none());
        self.faults.extend(unknown.map(|name| format!("{row}: no parameter {name} of {}", read.id)));
    }

    /// Applies a row to each action that its patterns match.
    pub fn each(
        &mut self,
        row: &str,
        patterns: &[String],
        mut set: impl FnMut(&mut Action, &mut Vec<String>),
    ) {
        for pattern in patterns {
            let named = self.ids.expand(pattern, row, self.faults);
            for action in self.actions.iter_mut().filter(|action| named.contains(&action.id)) {
                set(action, self.faults);
            }
        }
    }
}
