//! Rules of `catalog/rules.toml` on the answers of actions: states in words, joined reads and filters of rows.

use std::collections::BTreeMap;

use gitlab_mcp::catalog::{Join, Place, RowFilter, StateNote};
use serde::Deserialize;

use crate::rule_target::{Rule, RuleTarget};

/// Meanings of the values of a field, for the actions whose answers have it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateRule {
    actions: Vec<String>,
    field: String,
    values: BTreeMap<String, StateText>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct StateText {
    says: String,
    next: Option<String>,
    takes: BTreeMap<String, String>,
}

impl RuleTarget<'_> {
    /// Sets the states that answers explain. A next action needs parameters that the call or the answer has.
    pub fn set_states(&mut self, rules: &[StateRule]) {
        for StateRule { actions, field, values } in rules {
            let row = format!("states {field}");
            values.values().filter_map(|text| text.next.as_ref()).for_each(|next| self.check_id(&row, next));
            self.each(&row, actions, |action, _| {
                for (value, text) in values {
                    let StateText { says, next, takes } = text.clone();
                    action.states.push(StateNote {
                        field: field.clone(),
                        value: value.clone(),
                        says,
                        next,
                        takes,
                    });
                }
            });
        }
    }

    /// Sets the joined reads. Each is an action that reads, and takes the parameters that it is given.
    pub fn set_joins(&mut self, rules: &[Rule<Join>]) {
        for Rule { actions, set: join } in rules {
            let row = format!("joins {}", join.field);
            self.check_read(&row, &join.action, join.params.keys());
            self.each(&row, actions, |action, _| action.joins.push(join.clone()));
        }
    }

    /// Sets the filters of rows. The parameter is not sent.
    pub fn set_row_filters(&mut self, rules: &[Rule<RowFilter>]) {
        for Rule { actions, set: filter } in rules {
            let row = format!("row_filters {}", filter.param);
            self.each(&row, actions, |action, faults| {
                let is_own = action.param(&filter.param).is_some_and(|param| param.place == Place::Selector);
                if !is_own {
                    faults.push(format!("{row}: {} has no parameter of that name in `selector`", action.id));
                }
                action.row_filters.push(filter.clone());
            });
        }
    }
}
