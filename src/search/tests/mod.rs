//! Tests of the search, one file per step. They rely on stable actions.

mod clauses;
mod embedding;
mod entities;
mod exact;
mod intent;
mod normalise;
mod params;
mod ranking;
mod typos;
mod words;

use crate::catalog::{Action, Catalog, Risk};

use super::{Confidence, Query, Ranker, Ranking};

/// The ranking of a request, ten deep.
fn find(words: &str) -> Ranking {
    find_with(words, &|_| true)
}

fn find_with(words: &str, allow: &dyn Fn(&Action) -> bool) -> Ranking {
    let catalog = Catalog::embedded().unwrap();
    let ranker = Ranker::open(&catalog).unwrap();
    ranker.rank(&catalog, &Query { words, limit: 10, domain: None, allow, explain: true }).unwrap()
}

fn ids(ranking: &Ranking) -> Vec<&str> {
    ranking.hits.iter().map(|hit| hit.action.id.as_str()).collect()
}

/// The id of the first hit.
fn first(words: &str) -> String {
    find(words).hits.first().map(|hit| hit.action.id.clone()).unwrap_or_default()
}
