//! Suggestions where a query has no results.

use crate::catalog::{Action, Catalog};

use super::SearchError;

/// What most people start with.
const STARTS: [&str; 3] = ["issue.list", "merge_request.list", "project.list"];

/// The usual starts that are allowed.
pub fn instead(catalog: &Catalog, allow: &dyn Fn(&Action) -> bool) -> Result<Vec<String>, SearchError> {
    let mut ids = Vec::new();
    for number in STARTS.into_iter().filter_map(|id| catalog.number(id)) {
        let action = catalog.action(number)?;
        if allow(&action) {
            ids.push(action.id);
        }
    }
    Ok(ids)
}
