//! What a session has learnt of GitLab and keeps: the answers to questions that calls asked.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::catalog::Scope;

/// Something to ask GitLab before a call can be written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// Is this path a project or a group?
    KindOf { full_path: String },
    /// Which id has this epic?
    EpicId { group: String, iid: u64 },
}

impl Question {
    /// The reads that answer it, to be tried in order, each an action's id and its parameters.
    pub fn reads(&self) -> Vec<(&'static str, Map<String, Value>)> {
        let params = |value: Value| value.as_object().cloned().unwrap_or_default();
        match self {
            Question::KindOf { full_path } => vec![
                ("project.get", params(json!({"fullPath": full_path}))),
                ("group.get", params(json!({"fullPath": full_path, "with_projects": false}))),
            ],
            Question::EpicId { group, iid } => {
                vec![("epic.get", params(json!({"fullPath": group, "iid": iid})))]
            }
        }
    }
}

/// The answers that this session remembers.
#[derive(Clone, Debug, Default)]
pub struct Known {
    kinds: BTreeMap<String, Scope>,
    epic_ids: BTreeMap<(String, u64), u64>,
}

/// How many answers are kept; the rest is asked again.
const KEPT: usize = 1_000;

impl Known {
    /// Remembers what the read of that action answered. False where the answer does not tell.
    pub fn learn(&mut self, question: &Question, read: &str, answer: &Value) -> bool {
        match question {
            Question::KindOf { full_path } => {
                let kind = if read == "project.get" { Scope::Project } else { Scope::Group };
                bound(&mut self.kinds).insert(full_path.clone(), kind);
                true
            }
            Question::EpicId { group, iid } => match answer.get("id").and_then(Value::as_u64) {
                Some(id) => {
                    bound(&mut self.epic_ids).insert((group.clone(), *iid), id);
                    true
                }
                None => false,
            },
        }
    }

    /// Forgets what a path names, because GitLab says there is no such thing.
    pub fn forget(&mut self, full_path: &str) {
        self.kinds.remove(full_path);
        self.epic_ids.retain(|(group, _), _| group != full_path);
    }

    pub(super) fn kind_of(&self, full_path: &str) -> Option<Scope> {
        self.kinds.get(full_path).copied()
    }

    pub(super) fn epic_id(&self, group: &str, iid: u64) -> Option<u64> {
        self.epic_ids.get(&(group.to_owned(), iid)).copied()
    }
}

fn bound<K: Ord, V>(answers: &mut BTreeMap<K, V>) -> &mut BTreeMap<K, V> {
    if answers.len() >= KEPT {
        answers.clear();
    }
    answers
}
