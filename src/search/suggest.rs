//! What to ask instead, where nothing in the catalog is meant.

use crate::catalog::Catalog;

/// How alike an id must be to be suggested, from 0 to 1.
const ALIKE: f64 = 0.75;
const MOST: usize = 3;

/// Where nothing is alike: what most people start with.
const STARTS: [&str; 3] = ["issue.list", "merge_request.list", "project.list"];

/// Ids that look like the request, or the usual starts.
pub fn instead(request: &str, catalog: &Catalog) -> Vec<String> {
    let request = request.trim().to_lowercase();
    let mut alike: Vec<(f64, &str)> = catalog
        .ids()
        .map(|id| (strsim::jaro_winkler(&request, id), id))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let ids = alike
        .into_iter()
        .map(|(_, id)| id)
        .chain(STARTS.into_iter().filter(|id| catalog.number(id).is_some()));
    ids.take(MOST).map(str::to_owned).collect()
}
