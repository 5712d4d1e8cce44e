//! Cache of look-ups of a session.

use std::collections::BTreeMap;

use super::{FullPath, Lookup, LookupAnswer};
use crate::catalog::Scope;

/// Answers of look-ups, kept for the session.
#[derive(Clone, Debug, Default)]
pub struct LookupCache {
    answers: BTreeMap<Lookup, LookupAnswer>,
}

/// Maximum number of cached answers.
const KEPT: usize = 1_000;

impl LookupCache {
    /// Caches an answer.
    pub fn learn(&mut self, question: Lookup, answer: LookupAnswer) {
        if self.answers.len() >= KEPT {
            self.answers.clear();
        }
        self.answers.insert(question, answer);
    }

    /// Removes an answer after GitLab responded that the object does not exist.
    pub fn forget(&mut self, question: &Lookup) {
        self.answers.remove(question);
    }

    /// True if the answer is cached.
    pub fn answers(&self, question: &Lookup) -> bool {
        self.answers.contains_key(question)
    }

    pub(super) fn kind_of(&self, full_path: &str) -> Option<Scope> {
        match self.answers.get(&Lookup::KindOf { full_path: full_path.to_owned() })? {
            LookupAnswer::Kind(scope) => Some(*scope),
            _ => None,
        }
    }

    pub(super) fn path(&self, question: &Lookup) -> Option<&FullPath> {
        match self.answers.get(question)? {
            LookupAnswer::Path(path) => Some(path),
            _ => None,
        }
    }

    pub(super) fn id(&self, question: &Lookup) -> Option<u64> {
        match self.answers.get(question)? {
            LookupAnswer::Id(id) => Some(*id),
            _ => None,
        }
    }
}
