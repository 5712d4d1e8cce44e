//! The results of a request, and whether they are right.

use std::collections::{BTreeMap, BTreeSet};

use gitlab_mcp::catalog::{Catalog, Risk};
use gitlab_mcp::search::{Query, Ranker, Ranking, SearchError};

use super::cases::Case;
use super::error::EvalError;
use super::operation;

/// Depth of the evaluated results.
pub const DEPTH: usize = 10;

pub fn ranked(catalog: &Catalog, ranker: &Ranker, request: &str) -> Result<Ranking, SearchError> {
    ranker.rank(
        catalog,
        &Query { words: request, limit: DEPTH, domain: None, allow: &|_| true, explain: false },
    )
}

/// Ids of the actions with an operation; for a duplicate, also the action it duplicates. A composite action counts for
/// the operations of the writes that it always makes: `merge_request.comment_on_line` creates a discussion.
pub struct RelevantActions(BTreeMap<String, BTreeSet<String>>);

impl RelevantActions {
    pub fn load(catalog: &Catalog) -> Result<RelevantActions, EvalError> {
        let mut serving: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for action in catalog.actions() {
            let action = action?;
            for operation in
                action.operations.iter().flat_map(|operation| operation::names(&operation.to_string()))
            {
                let ids = serving.entry(operation).or_default();
                ids.insert(action.id.clone());
                ids.extend(action.twin.clone());
            }
            for part in action.plan.iter().flat_map(|plan| &plan.needs) {
                let Some(part) = catalog.get(part)?.filter(|part| part.risk != Risk::Read) else { continue };
                for operation in part.operations.iter().flat_map(|it| operation::names(&it.to_string())) {
                    serving.entry(operation).or_default().insert(action.id.clone());
                }
            }
            serving.entry(action.id.clone()).or_default().insert(action.id);
        }
        Ok(RelevantActions(serving))
    }

    /// True if the catalog has any of the right actions.
    pub fn answers(&self, case: &Case) -> bool {
        case.right.iter().any(|right| self.0.contains_key(right))
    }

    /// True if the action is right, by one of its operations or its id.
    pub fn is_right(&self, id: &str, case: &Case) -> bool {
        case.right.iter().any(|right| self.0.get(right).is_some_and(|ids| ids.contains(id)))
    }
}
