//! What a session has learnt of GitLab and keeps: the answers to questions that calls asked.

use std::collections::BTreeMap;

use super::{Answer, Lookup};
use crate::catalog::Scope;

/// The answers that this session remembers.
#[derive(Clone, Debug, Default)]
pub struct LookupCache {
    answers: BTreeMap<Lookup, Answer>,
}

/// How many answers are kept; the rest is asked again.
const KEPT: usize = 1_000;

impl LookupCache {
    /// Remembers an answer.
    pub fn learn(&mut self, question: Lookup, answer: Answer) {
        if self.answers.len() >= KEPT {
            self.answers.clear();
        }
        self.answers.insert(question, answer);
    }

    /// Forgets an answer, because GitLab says there is no such thing.
    pub fn forget(&mut self, question: &Lookup) {
        self.answers.remove(question);
    }

    /// True if the question has been answered.
    pub fn answers(&self, question: &Lookup) -> bool {
        self.answers.contains_key(question)
    }

    pub(super) fn kind_of(&self, full_path: &str) -> Option<Scope> {
        match self.answers.get(&Lookup::KindOf { full_path: full_path.to_owned() })? {
            Answer::Kind(scope) => Some(*scope),
            Answer::Id(_) => None,
        }
    }

    pub(super) fn id(&self, question: &Lookup) -> Option<u64> {
        match self.answers.get(question)? {
            Answer::Id(id) => Some(*id),
            Answer::Kind(_) => None,
        }
    }
}
