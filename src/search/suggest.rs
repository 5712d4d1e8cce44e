//! What to ask instead, where a request says nothing of GitLab.

use crate::catalog::{Action, Catalog};

use super::SearchError;

const MOST: usize = 3;

/// Where no word of the request leads anywhere: what most people start with.
const STARTS: [&str; 3] = ["issue.list", "merge_request.list", "project.list"];

/// The ids of what the request's words came nearest to, or the usual starts; only what is allowed.
pub fn instead(
    near: Vec<String>,
    catalog: &Catalog,
    allow: &dyn Fn(&Action) -> bool,
) -> Result<Vec<String>, SearchError> {
    let mut ids = near;
    ids.truncate(MOST);
    if ids.is_empty() {
        for number in STARTS.into_iter().filter_map(|id| catalog.number(id)) {
            let action = catalog.action(number)?;
            if allow(&action) {
                ids.push(action.id);
            }
        }
    }
    Ok(ids)
}
