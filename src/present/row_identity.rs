//! Fields that answers show under names of this server's own, and those that name a row whatever fields were asked for.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

use super::common_prefix::{URL, place_of};
use crate::catalog::PRESENTATION;

/// Prefix of the number of names that a cell has no room for.
const MORE: &str = "more_";

/// The paths with GitLab's names: `more_labels` is counted in an answer, and asked for as `labels`.
pub fn own_names<'p>(value: &Value, paths: &'p [String]) -> Cow<'p, [String]> {
    let has = |name: &str| objects(value).any(|row| row.contains_key(name));
    let own =
        |path: &String| path.strip_prefix(MORE).filter(|name| !has(path) && has(name)).map(str::to_owned);
    if paths.iter().all(|path| own(path).is_none()) {
        return Cow::Borrowed(paths);
    }
    paths.iter().map(|path| own(path).unwrap_or_else(|| path.clone())).collect()
}

/// Adds `reference`, `project` and `group` to objects with GitLab's three references, where a path asks for them.
pub fn add_places(value: &mut Value, paths: &[String]) {
    let is_asked = |name: &str| paths.iter().any(|path| path == name);
    let asked = ["reference", "project", "group"].map(|name| (name, is_asked(name)));
    if asked.iter().all(|(_, is_asked)| !is_asked) {
        return;
    }
    let rows: Vec<&mut Map<String, Value>> = match value {
        Value::Array(items) => items.iter_mut().filter_map(Value::as_object_mut).collect(),
        Value::Object(map) => vec![map],
        _ => Vec::new(),
    };
    for row in rows {
        let Some(full) = full_reference(row).map(str::to_owned) else { continue };
        let place = place_of(&full, row);
        let reference = Some(("reference", full));
        for (name, text) in reference.into_iter().chain(place) {
            if is_asked(name) && row.get(name).is_none_or(|known| !known.is_object()) {
                row.insert(name.to_owned(), Value::String(text));
            }
        }
    }
}

/// The paths of a list with the fields that name its rows: the number that people see and, where the rows are of several
/// projects or groups, the place; or a name, unless one is asked for.
pub fn with_names<'p>(value: &Value, paths: &'p [String]) -> Cow<'p, [String]> {
    let Value::Array(items) = value else { return Cow::Borrowed(paths) };
    let rows: Vec<&Map<String, Value>> = items.iter().filter_map(Value::as_object).collect();
    let is_item = |path: &String| path.split('.').next().is_some_and(|step| step.parse::<usize>().is_ok());
    if rows.is_empty() || rows.len() < items.len() || paths.iter().any(is_item) {
        return Cow::Borrowed(paths);
    }
    let is_asked = |name: &str| paths.iter().any(|path| path == name);
    let in_all = |name: &str| {
        rows.iter().all(|row| row.get(name).is_some_and(|value| value.is_string() || value.is_number()))
    };
    let names = PRESENTATION
        .row_names
        .iter()
        .copied()
        .filter(|name| in_all(name) && (*name != "iid" || !are_by_id(&rows)));
    let names: Vec<&str> = names.collect();
    let Some(first) = names.first().copied() else { return Cow::Borrowed(paths) };
    let mut added: Vec<&str> = Vec::new();
    let places: HashSet<(&str, String)> =
        rows.iter().filter_map(|row| place_of(full_reference(row)?, row)).collect();
    if places.len() > 1 && !["reference", "references", URL].into_iter().any(is_asked) {
        let mut kinds: Vec<&str> = places.iter().map(|(kind, _)| *kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        added.extend(kinds.into_iter().filter(|kind| !is_asked(kind)));
    }
    if !is_asked(first) && (first == "iid" || !names.iter().any(|name| is_asked(name))) {
        added.insert(0, first);
    }
    added.into_iter().map(str::to_owned).chain(paths.iter().cloned()).collect()
}

/// True if the pages of the rows are found by their ids, as a pipeline's.
fn are_by_id(rows: &[&Map<String, Value>]) -> bool {
    rows.iter().all(|row| {
        let id = row.get("id").and_then(Value::as_u64);
        let url = row.get(URL).and_then(Value::as_str);
        id.zip(url).is_some_and(|(id, url)| url.ends_with(&format!("/{id}")))
    })
}

fn full_reference(row: &Map<String, Value>) -> Option<&str> {
    row.get("references")?.get("full")?.as_str()
}

/// The value itself, or the objects of a list.
fn objects(value: &Value) -> impl Iterator<Item = &Map<String, Value>> {
    let items = value.as_array().into_iter().flatten();
    items.chain(std::iter::once(value)).filter_map(Value::as_object)
}
