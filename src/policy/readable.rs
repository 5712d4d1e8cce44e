//! Readable paths (`GITLAB_READABLE_PATHS`): calls elsewhere are denied, and lists over the whole instance are filtered
//! to the rows below these paths.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::allowed::{has_place, works_somewhere};
use super::error::PolicyError;
use super::path_pattern::{self, PathPattern};
use super::rule::Rule;
use crate::call::{Effects, FullPath, TouchedPlace};
use crate::catalog::{Action, Catalog, TRACKED_MARKS};

/// The readable paths, and the actions that work without a path.
#[derive(Debug)]
pub struct Readable {
    paths: Vec<PathPattern>,
    /// Actions without a place that return no data of a project or group.
    open: BTreeSet<String>,
    /// Actions whose rows can be filtered, with the field that holds a row's path.
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
        // Other places do not count: GitLab may ignore their parameters.
        if !works_somewhere(effects) {
            let is_known = |id: &String| self.open.contains(id) || self.rows.contains_key(id);
            let is_open = effects.touches().iter().all(|touched| touched.ids.iter().any(is_known));
            return (!is_open).then(|| self.rule(None));
        }
        None
    }

    /// The rule that denies every call of an action: it has no place, and its response cannot be filtered.
    pub(super) fn withholds(&self, action: &Action) -> Option<Rule> {
        let is_known = self.open.contains(&action.id) || self.rows.contains_key(&action.id);
        (!has_place(action) && !is_known).then(|| self.rule(None))
    }

    /// The field with each row's path, if the rows of the response have to be filtered.
    pub fn row_field(&self, effects: &Effects) -> Option<&str> {
        if works_somewhere(effects) {
            return None;
        }
        let mut ids = effects.touches().iter().flat_map(|touched| &touched.ids);
        ids.find_map(|id| self.rows.get(id)).map(String::as_str)
    }

    /// Removes the rows outside the readable paths, and those without a path. Returns the number of removed rows.
    pub fn keep_rows(&self, rows: &mut Vec<Value>, field: &str) {
        rows.retain(|row| self.is_readable_row(row, field));
    }

    fn is_readable_row(&self, row: &Value, field: &str) -> bool {
        let value = field.split('.').try_fold(row, |value, step| value.get(step));
        let Some(text) = value.and_then(Value::as_str) else { return false };
        let path = text.split(TRACKED_MARKS).next().unwrap_or(text);
        FullPath::parse(path).is_some_and(|path| self.paths.iter().any(|pattern| pattern.covers(&path)))
    }

    fn rule(&self, place: Option<&TouchedPlace>) -> Rule {
        // The caller may not learn the path behind an id.
        let place = place.map(|place| place.param.clone());
        Rule::Unreadable { place, readable: path_pattern::texts(&self.paths) }
    }
}
