//! Descriptions that override the catalog's, written by the operator of the server: in find results, lists of
//! actions and schemas.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{Action, Words};

/// Descriptions by the object that they describe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wording {
    /// By family of domains.
    pub families: BTreeMap<String, String>,
    /// By action id.
    pub actions: BTreeMap<String, String>,
    /// By action id and parameter.
    pub params: BTreeMap<(String, String), String>,
}

impl Wording {
    /// The action with its overridden descriptions.
    pub fn reword(&self, mut action: Action) -> Action {
        if let Some(text) = self.actions.get(&action.id) {
            action.summary.clone_from(text);
        }
        for param in &mut action.params {
            if let Some(text) = self.params.get(&(action.id.clone(), param.name.clone())) {
                param.note = Some(text.clone());
                // Nothing is appended to it.
                param.scopes.clear();
            }
        }
        action
    }

    /// The overridden descriptions of the families that these actions belong to, a line each.
    pub fn family_notes<'a>(&self, words: &Words, ids: impl Iterator<Item = &'a str>) -> Vec<String> {
        let families: BTreeSet<&str> = ids.map(|id| words.family(id)).collect();
        let text = |family: &str| {
            let title = words.families.get(family).map_or(family, String::as_str);
            Some(format!("{title}: {}", self.families.get(family)?))
        };
        families.into_iter().filter_map(text).collect()
    }
}
