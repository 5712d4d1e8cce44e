//! Rules of `catalog/rules.toml` on the answers of actions: states in words, joined reads and filters of rows.

use std::collections::BTreeMap;

use gitlab_mcp::catalog::{Action, Join, Place, RowFilter, StateNote};
use serde::Deserialize;

use crate::action_ids::Ids;

/// Meanings of the values of a field, for the actions whose answers have it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateRule {
    actions: Vec<String>,
    field: String,
    values: BTreeMap<String, StateText>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateText {
    #[serde(default)]
    says: String,
    next: Option<String>,
    #[serde(default)]
    takes: BTreeMap<String, String>,
}

/// A read that is joined to actions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JoinRule {
    actions: Vec<String>,
    join: Join,
}

/// A filter of the rows of actions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowFilterRule {
    actions: Vec<String>,
    filter: RowFilter,
}

/// Sets the states that answers explain. A next action needs parameters that the call or the answer has.
pub fn set_states(rules: &[StateRule], actions: &mut [Action], faults: &mut Vec<String>) {
    let ids = Ids::new(actions);
    for rule in rules {
        let row = format!("states {}", rule.field);
        for next in rule.values.values().filter_map(|text| text.next.as_ref()) {
            ids.expand(next, &row, faults);
        }
        let notes: Vec<StateNote> = rule
            .values
            .iter()
            .map(|(value, text)| StateNote {
                field: rule.field.clone(),
                value: value.clone(),
                says: text.says.clone(),
                next: text.next.clone(),
                takes: text.takes.clone(),
            })
            .collect();
        for pattern in &rule.actions {
            let named = ids.expand(pattern, &row, faults);
            for action in actions.iter_mut().filter(|action| named.contains(&action.id)) {
                action.states.extend(notes.iter().cloned());
            }
        }
    }
}

/// Sets the joined reads. Each is an action that reads, and takes the parameters that it is given.
pub fn set_joins(rules: &[JoinRule], actions: &mut [Action], faults: &mut Vec<String>) {
    let ids = Ids::new(actions);
    for JoinRule { actions: patterns, join } in rules {
        let row = format!("joins {}", join.field);
        ids.expand(&join.action, &row, faults);
        let read = actions.iter().find(|action| action.id == join.action);
        let takes = |name: &&String| read.is_some_and(|read| read.param(name).is_some());
        faults.extend(
            join.params
                .keys()
                .filter(|name| !takes(name))
                .map(|name| format!("{row}: no parameter {name} of {}", join.action)),
        );
        for pattern in patterns {
            let named = ids.expand(pattern, &row, faults);
            for action in actions.iter_mut().filter(|action| named.contains(&action.id)) {
                action.joins.push(join.clone());
            }
        }
    }
}

/// Sets the filters of rows. The parameter is not sent.
pub fn set_row_filters(rules: &[RowFilterRule], actions: &mut [Action], faults: &mut Vec<String>) {
    let ids = Ids::new(actions);
    for RowFilterRule { actions: patterns, filter } in rules {
        let row = format!("row_filters {}", filter.param);
        for pattern in patterns {
            let named = ids.expand(pattern, &row, faults);
            for action in actions.iter_mut().filter(|action| named.contains(&action.id)) {
                let is_own = action.param(&filter.param).is_some_and(|param| param.place == Place::Selector);
                if !is_own {
                    faults.push(format!("{row}: {} has no parameter of that name in `selector`", action.id));
                }
                action.row_filters.push(filter.clone());
            }
        }
    }
}
