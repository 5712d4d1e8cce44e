//! What to ask instead, where nothing in the catalog is meant.

use crate::catalog::Catalog;

/// How alike an id must be to be suggested, from 0 to 1.
const ALIKE: f64 = 0.75;
const MOST: usize = 3;

/// Where nothing is alike: what most people start with.
const STARTS: [&str; 3] = ["issue.list", "merge_request.list", "project.list"];

/// A longer request is no id misspelt.
const LONGEST: usize = 40;

/// What came nearest, ids that look like the request, or the usual starts.
pub fn instead(request: &str, near: Vec<String>, catalog: &Catalog) -> Vec<String> {
    let request = request.trim().to_lowercase();
    let mut alike: Vec<(f64, &str)> = catalog
        .ids()
        .filter(|_| request.len() <= LONGEST)
        .map(|id| (strsim::jaro_winkler(&request, id), id))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let starts = STARTS.into_iter().filter(|id| near.is_empty() && catalog.number(id).is_some());
    let alike = alike.into_iter().map(|(_, id)| id);
    let mut ids: Vec<String> = Vec::new();
    for id in alike.chain(near.iter().map(String::as_str)).chain(starts) {
        if ids.len() < MOST && !ids.iter().any(|known| known == id) {
            ids.push(id.to_owned());
        }
    }
    ids
}
