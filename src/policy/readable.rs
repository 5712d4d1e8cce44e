//! The paths below which anything may be read (`GITLAB_READABLE_PATHS`): calls elsewhere are refused, and of lists
//! over the whole instance only the rows below those paths are kept.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::error::PolicyError;
use super::path_pattern::{self, PathPattern};
use super::rule::Rule;
use crate::call::{Effects, FullPath, Place, Role};
use crate::catalog::{Action, Catalog};

/// The readable paths, with the actions that work without one.
#[derive(Debug)]
pub struct Readable {
    paths: Vec<PathPattern>,
    /// Actions without a place that show nothing of a project or group.
    open: BTreeSet<String>,
    /// Actions whose rows say where they are, with the field that does.
    rows: BTreeMap<String, String>,
}

impl Readable {
    pub(super) fn new(paths: Vec<PathPattern>, catalog: &Catalog) -> Result<Option<Readable>, PolicyError> {
        if paths.is_empty() {
            return Ok(None);
        }
        let table = &catalog.words()?.readable;
        Ok(Some(Readable { paths, open: table.open.iter().cloned().collect(), rows: table.rows.clone() }))
    }

    /// The rule that denies a call.
    pub(super) fn deny(&self, effects: &Effects) -> Option<Rule> {
        let outside =
            effects.places().iter().find(|place| !path_pattern::covers(&self.paths, &place.location));
        if let Some(outside) = outside {
            return Some(self.rule(Some(outside)));
        }
        // A further place beside it (a parameter that GitLab may ignore) says nothing of where a call reads.
        if !works_somewhere(effects) {
            let is_known = |id: &String| self.open.contains(id) || self.rows.contains_key(id);
            let is_open = effects.touches().iter().all(|touched| touched.ids.iter().any(is_known));
            return (!is_open).then(|| self.rule(None));
        }
        None
    }

    /// The rule that keeps an action from ever running: it has no place, and its answer cannot be filtered.
    pub(super) fn withholds(&self, action: &Action) -> Option<Rule> {
        let is_known = self.open.contains(&action.id) || self.rows.contains_key(&action.id);
        let is_closed = action.direct().is_none()
            && action.plan.is_none()
            && !crate::call::can_be_placed(action)
            && !is_known;
        is_closed.then(|| self.rule(None))
    }

    /// True if the rows of a call's answer have to be filtered, and the field that says where each is.
    pub fn row_field(&self, effects: &Effects) -> Option<&str> {
        if works_somewhere(effects) {
            return None;
        }
        let mut ids = effects.touches().iter().flat_map(|touched| &touched.ids);
        ids.find_map(|id| self.rows.get(id)).map(String::as_str)
    }

    /// Keeps the rows below the readable paths and gives how many were left out. A row that does not say where it
    /// is is left out.
    pub fn keep_rows(&self, rows: &mut Vec<Value>, field: &str) -> usize {
        let before = rows.len();
        rows.retain(|row| self.is_readable_row(row, field));
        before - rows.len()
    }

    fn is_readable_row(&self, row: &Value, field: &str) -> bool {
        let value = field.split('.').try_fold(row, |value, step| value.get(step));
        let Some(text) = value.and_then(Value::as_str) else { return false };
        let path = text.split(['#', '!', '&']).next().unwrap_or(text);
        FullPath::parse(path).is_some_and(|path| self.paths.iter().any(|pattern| pattern.covers(&path)))
    }

    fn rule(&self, place: Option<&Place>) -> Rule {
        // The path behind an id is not for the caller to know.
        let place = place.map(|place| place.param.clone());
        Rule::Unreadable { place, readable: path_pattern::texts(&self.paths) }
    }
}

/// True if the operation works at a place that the call names.
fn works_somewhere(effects: &Effects) -> bool {
    effects.places().iter().any(|place| place.role == Role::Works)
}
