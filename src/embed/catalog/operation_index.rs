//! Index from GitLab's operations to actions, for requests that were not built from an action (direct REST and GraphQL
//! calls). The build script writes it and includes this file by path; `Catalog` in the program reads it.

use std::num::TryFromIntError;

use serde::{Deserialize, Serialize};

use super::action::Action;
use super::effects::Risk;
use super::operation::{Method, Piece, pieces};

/// The operations and their actions.
#[derive(Debug, Serialize, Deserialize)]
pub struct OperationIndex<'a> {
    #[serde(borrow)]
    actions: Vec<Owner<'a>>,
    #[serde(borrow)]
    rest: Vec<IndexedRoute<'a>>,
    /// Operation type and field path, `mutation workItemCreate` or `query project.branchRules`; sorted.
    graphql: Vec<(String, u16)>,
}

/// The properties of an action that policy decisions need.
#[derive(Debug, Serialize, Deserialize)]
struct Owner<'a> {
    id: &'a str,
    /// Id of the action that it duplicates.
    twin: Option<&'a str>,
    risk: Risk,
}

#[derive(Debug, Serialize, Deserialize)]
struct IndexedRoute<'a> {
    method: Method,
    path: &'a str,
    action: u16,
}

/// An operation that a request executes, with its actions and risk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Name as in GitLab's documentation: `DELETE /projects/:id`, `mutation issueDelete`.
    pub operation: String,
    /// Id of its action, and of the action that one duplicates; empty if the catalog has no such operation.
    pub ids: Vec<String>,
    /// Ids of further actions whose effect it has: a rule on one of them applies to it too.
    pub effects: Vec<String>,
    pub risk: Risk,
}

impl Touched {
    /// An operation of an action.
    pub fn by(action: &Action, operation: String) -> Touched {
        let ids = [Some(&action.id), action.twin.as_ref()].into_iter().flatten().cloned().collect();
        Touched { operation, ids, effects: action.effects.clone(), risk: action.risk }
    }

    /// An operation of the action with that id.
    pub fn new(operation: String, id: &str, risk: Risk) -> Touched {
        Touched { operation, ids: vec![id.to_owned()], effects: Vec::new(), risk }
    }

    /// An operation that the catalog does not have.
    pub fn unknown(operation: String, risk: Risk) -> Touched {
        Touched { operation, ids: Vec::new(), effects: Vec::new(), risk }
    }

    /// Ids of all actions whose effect it has, its own first.
    pub fn all_ids(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().chain(&self.effects).map(String::as_str)
    }
}

impl<'a> OperationIndex<'a> {
    /// Builds the index of all actions, in order of their ids.
    pub fn new(actions: &'a [Action]) -> Result<OperationIndex<'a>, TryFromIntError> {
        let mut surface = OperationIndex { actions: Vec::new(), rest: Vec::new(), graphql: Vec::new() };
        for (number, action) in actions.iter().enumerate() {
            let number = u16::try_from(number)?;
            surface.actions.push(Owner { id: &action.id, twin: action.twin.as_deref(), risk: action.risk });
            for operation in action.operations.iter().filter(|operation| operation.any.is_none()) {
                match &operation.graphql {
                    Some(_) => surface.graphql.push((operation.to_string(), number)),
                    None => {
                        let (method, path) = (operation.method, operation.path.as_str());
                        surface.rest.push(IndexedRoute { method, path, action: number });
                    }
                }
            }
        }
        surface.graphql.sort();
        Ok(surface)
    }

    /// The operations that a REST request may execute, best match first: those of its method whose path pattern matches
    /// the decoded segments. GitLab runs the first route that it defines, an order that is not known here, so all are
    /// returned.
    pub fn rest(&self, method: Method, segments: &[String]) -> Vec<Touched> {
        let bare = without_dashes(segments);
        let plain = without_format(&bare);
        let serves = |route: &&IndexedRoute<'_>| {
            let pattern: Vec<&str> = words(route.path).collect();
            fills(&pattern, &bare) || plain.as_ref().is_some_and(|plain| fills(&pattern, plain))
        };
        let same = |route: &&IndexedRoute<'_>| route.method == method && !route.path.starts_with("/api/");
        let mut found: Vec<&IndexedRoute<'_>> = self.rest.iter().filter(same).filter(serves).collect();
        found.sort_by_key(|route| route.path.matches([':', '*']).count());
        found
            .into_iter()
            .filter_map(|route| self.served(format!("{} {}", method.name(), route.path), route.action))
            .collect()
    }

    /// Every REST operation of a method: its path as in GitLab's documentation, and its action's id.
    pub fn paths(&self, method: Method) -> impl Iterator<Item = (&str, &str)> {
        let same = self.rest.iter().filter(move |route| route.method == method);
        same.filter_map(|route| Some((route.path, self.actions.get(usize::from(route.action))?.id)))
    }

    /// The mutation of a root field.
    pub fn mutation(&self, field: &str) -> Vec<Touched> {
        self.graphql(&format!("mutation {field}"))
    }

    /// The query of a field, by the field names from the root: `project.branchRules`.
    pub fn query(&self, fields: &str) -> Vec<Touched> {
        self.graphql(&format!("query {fields}"))
    }

    /// Depth of the longest query path.
    pub fn depth(&self) -> usize {
        self.graphql.iter().map(|(known, _)| known.split('.').count()).max().unwrap_or_default()
    }

    fn graphql(&self, name: &str) -> Vec<Touched> {
        let start = self.graphql.partition_point(|(known, _)| known.as_str() < name);
        let same = self.graphql.iter().skip(start).take_while(|(known, _)| known == name);
        same.filter_map(|(known, action)| self.served(known.clone(), *action)).collect()
    }

    fn served(&self, operation: String, action: u16) -> Option<Touched> {
        let owner = self.actions.get(usize::from(action))?;
        let ids = [Some(owner.id), owner.twin].into_iter().flatten().map(str::to_owned).collect();
        Some(Touched { operation, ids, effects: Vec::new(), risk: owner.risk })
    }
}

fn words(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|word| !word.is_empty() && *word != "-")
}

/// Removes `-` segments. GitLab accepts many paths with and without `-`; the catalog has one of the two.
fn without_dashes(segments: &[String]) -> Vec<&str> {
    segments.iter().map(String::as_str).filter(|segment| *segment != "-").collect()
}

/// Removes a format suffix: GitLab also accepts `issues.json`.
fn without_format<'s>(segments: &[&'s str]) -> Option<Vec<&'s str>> {
    let (last, before) = segments.split_last()?;
    let (plain, _) = last.rsplit_once('.').filter(|(plain, _)| !plain.is_empty())?;
    Some(before.iter().copied().chain([plain]).collect())
}

/// True if segments match a path pattern: literals exactly, a placeholder any text, and a glob one or more segments.
fn fills(pattern: &[&str], segments: &[&str]) -> bool {
    let is_glob = |word: &&&str| word.starts_with('*');
    let (mut at, mut next) = (0, 0);
    // Position after the last glob: the literals that follow it, and the segments it has not consumed. Only the last
    // glob needs backtracking: an earlier one that consumed more would leave less to the last.
    let mut glob: Option<(usize, usize)> = None;
    while let Some(segment) = segments.get(next) {
        let word = pattern.get(at);
        if word.as_ref().is_some_and(is_glob) {
            (at, next) = (at + 1, next + 1);
            glob = Some((at, next));
        } else if word.is_some_and(|word| fills_one(&pieces(word).collect::<Vec<_>>(), segment)) {
            (at, next) = (at + 1, next + 1);
        } else if let Some((behind, taken)) = glob {
            (at, next) = (behind, taken + 1);
            glob = Some((behind, next));
        } else {
            return false;
        }
    }
    at == pattern.len()
}

/// Matches one segment, which may have several placeholders: `:file_name.tgz`.
fn fills_one(pattern: &[Piece<'_>], text: &str) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((Piece::Text(word), rest)) => text.strip_prefix(word).is_some_and(|left| fills_one(rest, left)),
        Some((Piece::Placeholder { .. }, [])) => !text.is_empty(),
        Some((Piece::Placeholder { .. }, rest)) => text
            .char_indices()
            .skip(1)
            .any(|(at, _)| text.get(at..).is_some_and(|left| fills_one(rest, left))),
    }
}
