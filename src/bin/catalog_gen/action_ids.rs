//! Patterns of action ids in rules, such as `issue.*`.

use std::collections::BTreeSet;

use gitlab_mcp::catalog::Action;

/// The ids of all actions.
pub struct Ids(BTreeSet<String>);

impl Ids {
    pub fn new(actions: &[Action]) -> Ids {
        Ids(actions.iter().map(|action| action.id.clone()).collect())
    }

    /// The ids that a pattern matches; a fault if there are none.
    pub fn expand(&self, pattern: &str, row: &str, faults: &mut Vec<String>) -> BTreeSet<String> {
        let named: BTreeSet<String> =
            self.0.iter().filter(|id| fits(pattern, id.as_str())).cloned().collect();
        if named.is_empty() {
            let near = nearest(pattern, self.0.iter().map(String::as_str));
            let near = near.map(|near| format!("; the nearest is {near}")).unwrap_or_default();
            faults.push(format!("{row}: there is no action {pattern}{near}"));
        }
        named
    }
}

/// Matches a text against a pattern in which `*` is any text.
pub fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(left) = text.strip_prefix(first) else { return false };
    let ends = left.char_indices().map(|(at, _)| at).chain([left.len()]);
    ends.filter_map(|at| left.get(at..)).any(|left| fits(rest, left))
}

pub fn nearest<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |known: &str| (strsim::jaro_winkler(text, known) * 1_000_000.0) as u32;
    known.max_by_key(|known| likeness(known))
}
