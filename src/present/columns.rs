//! Presents a list of objects: the fields that distinguish each row, and once the fields that all rows share. A rule on
//! names chooses the columns, the same for every kind of object; the size budget limits their number.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::common_prefix::{self, URL};
use super::markdown;
use super::masking::snake;
use crate::catalog::PRESENTATION;
use crate::text;

/// Minimum number of rows for which giving their shared fields once is shorter, and the bytes of shared values from which
/// it is for two rows.
const MIN_ROWS_THAT_SHARE: usize = 3;
const MIN_BYTES_SHARED_BY_TWO: usize = 24;

/// A row of more than this is read on its own, not in a list.
const MAX_ROW_FIELDS: usize = 12;

/// A text longer than this is read on its own.
const MAX_CELL_BYTES: usize = 200;

/// Maximum length in bytes of a name in a list of names. GitLab's longest titles have 255 characters.
const LONGEST_NAME: usize = 1_020;

/// Size budget of a list: bytes of a table for each row, bytes of JSON for each row, and the minimum number of rows it
/// is computed for.
const TABLE: usize = 165;
const JSON: usize = 320;
const USUAL: usize = 20;

/// The part of a list's cost that one column of names (labels) may be: a quarter.
const NAMES: usize = 4;

/// Information on a list apart from its rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnRows {
    /// Fields with the same value in every row, and the pattern of their URLs.
    pub same: Map<String, Value>,
    pub notes: Vec<String>,
}

/// The rows with the fields that a list needs; adds the others to `dropped`. A list of parts (notes, diffs,
/// variables) has no page of its own to look at and keeps its fields.
/// `shows` are columns that are never left out.
pub fn rows(items: Vec<Value>, shows: &[String], dropped: &mut Vec<String>) -> (Value, ColumnRows) {
    let mut said = ColumnRows::default();
    if items.is_empty() || !items.iter().all(Value::is_object) {
        return (Value::Array(items), said);
    }
    let mut objects: Vec<Map<String, Value>> = items.into_iter().map(text::object_fields).collect();
    let are_things = objects.iter().all(|row| row.keys().any(|key| snake(key) == URL));
    if are_things {
        common_prefix::locate(&mut objects);
    }
    if objects.len() > 1 {
        let whole = (objects.len() < MIN_ROWS_THAT_SHARE).then(|| objects.clone());
        common_prefix::share(&mut objects, &mut said.same);
        share(&mut objects, &mut said.same, |key| !are_things || is_wanted(key));
        let shared = || said.same.values().map(|value| markdown::cell(value).len()).sum::<usize>();
        if let Some(whole) = whole.filter(|_| shared() < MIN_BYTES_SHARED_BY_TWO) {
            (objects, said.same) = (whole, Map::new());
        }
    }
    if are_things {
        objects.iter_mut().for_each(cut_identity);
        let chosen = chosen(&mut objects, shows, &mut said);
        for row in &mut objects {
            let mut map = std::mem::take(row);
            *row = chosen.iter().filter_map(|name| Some((name.clone(), map.shift_remove(name)?))).collect();
            dropped.extend(map.into_iter().map(|(key, _)| key));
        }
    }
    (Value::Array(objects.into_iter().map(Value::Object).collect()), said)
}

/// Moves the fields that all rows share out of the rows. A row keeps one field at least.
fn share(rows: &mut [Map<String, Value>], same: &mut Map<String, Value>, is_said: impl Fn(&str) -> bool) {
    let Some(first) = rows.first() else { return };
    let fewest = rows.iter().map(Map::len).min().unwrap_or_default();
    let is_shared = |key: &str, value: &Value| {
        is_said(key)
            && !is_identity(key)
            && is_short(value)
            && rows.iter().all(|row| row.get(key) == Some(value))
    };
    let shared = first.iter().filter(|(key, value)| is_shared(key, value)).take(fewest.saturating_sub(1));
    let shared: Map<String, Value> = shared.map(|(key, value)| (key.clone(), value.clone())).collect();
    rows.iter_mut().for_each(|row| row.retain(|key, _| !shared.contains_key(key)));
    same.extend(shared);
}

/// Chooses the columns of all rows: wanted, short in every row, and within the budget of a list. Names that take too
/// much of it are cut, with a note.
fn chosen(rows: &mut [Map<String, Value>], shows: &[String], said: &mut ColumnRows) -> Vec<String> {
    let count = rows.len().max(USUAL);
    let in_url = said.same.values().filter_map(Value::as_str).any(|pattern| pattern.contains("{id}"));
    let (mut table, mut json) = (TABLE * count, JSON * count);
    let mut chosen: Vec<String> = Vec::new();
    let mut candidates = candidates(rows, in_url);
    candidates.retain(|name| !shows.contains(name));
    // The columns that the action is for follow those that identify the rows.
    let telling = candidates.iter().rposition(|name| is_identity(name));
    let at = telling.map_or(0, |last| last + 1);
    let shown = shows.iter().filter(|name| rows.iter().any(|row| row.contains_key(*name)));
    candidates.splice(at..at, shown.cloned());
    for name in candidates {
        if shows.contains(&name) {
            chosen.push(name);
            continue;
        }
        if chosen.len() >= MAX_ROW_FIELDS {
            break;
        }
        let is_telling = is_identity(&name);
        let mut more = None;
        if cost(rows, &name).0 > TABLE * count / NAMES && cut_names(rows, &name, TABLE * count / NAMES) {
            said.notes.push(format!("`more_{name}` counts the {name} of a row that are not shown"));
            more = Some(format!("more_{name}"));
        }
        let (in_table, in_json) = cost(rows, &name);
        if is_telling || (in_table <= table && in_json <= json) {
            table = table.saturating_sub(in_table);
            json = json.saturating_sub(in_json);
            chosen.push(name);
            chosen.extend(more);
        }
    }
    chosen
}

/// The wanted columns in their order, and all others where a row is short enough to be shown whole. `in_url` is
/// whether the URLs are made from ids.
fn candidates(rows: &[Map<String, Value>], in_url: bool) -> Vec<String> {
    let mut seen = HashSet::new();
    let keys: Vec<&String> =
        rows.iter().flat_map(Map::keys).filter(|key| seen.insert(key.as_str())).collect();
    let mut by_name: HashMap<String, &String> = HashMap::new();
    for key in &keys {
        by_name.entry(snake(key)).or_insert(key);
    }
    let has = |name: &str| by_name.contains_key(name);
    // One number for a thing is enough where people see that one.
    let is_spare = |key: &str| key == "id" && !in_url && (has("iid") || has("short_id"));
    let is_column = |key: &str, value: &Value| {
        is_short(value) || are_names(value) || (value.is_string() && is_identity(key))
    };
    let are_short = |key: &str| rows.iter().filter_map(|row| row.get(key)).all(|value| is_column(key, value));
    let is_whole = keys.len() <= MAX_ROW_FIELDS && keys.iter().all(|key| are_short(key));
    let wanted = PRESENTATION.columns.iter().filter_map(|name| by_name.get(*name).copied());
    let others = keys.iter().copied().filter(|key| is_whole && !is_wanted(key));
    let candidates = wanted.filter(|key| is_whole || !is_spare(key)).chain(others);
    candidates.filter(|key| are_short(key)).cloned().collect()
}

/// True for a field that identifies a row. One long title must not take the titles from all rows.
fn is_identity(key: &str) -> bool {
    PRESENTATION.row_identity.contains(&snake(key).as_str())
}

fn is_wanted(key: &str) -> bool {
    PRESENTATION.columns.contains(&snake(key).as_str())
}

fn is_short(value: &Value) -> bool {
    text::fits(value, MAX_CELL_BYTES) && !value.as_str().is_some_and(|text| text.trim().contains('\n'))
}

fn are_names(value: &Value) -> bool {
    let is_name = |item: &Value| item.as_str().is_some_and(|name| name.len() <= LONGEST_NAME);
    value.as_array().is_some_and(|items| items.iter().all(is_name))
}

/// Brings the texts that identify a row to one line of at most the longest name.
fn cut_identity(row: &mut Map<String, Value>) {
    for (key, value) in row.iter_mut() {
        if let Value::String(name) = value
            && is_identity(key)
            && (name.len() > LONGEST_NAME || name.trim().contains('\n'))
        {
            let line = name.split_whitespace().collect::<Vec<_>>().join(" ");
            let end = line.floor_char_boundary(LONGEST_NAME);
            *name =
                if end < line.len() { format!("{}…", line.get(..end).unwrap_or_default()) } else { line };
        }
    }
}

/// The bytes of a column in a table and in JSON.
fn cost(rows: &[Map<String, Value>], name: &str) -> (usize, usize) {
    rows.iter().fold((0, 0), |(table, json), row| match row.get(name) {
        Some(value) => {
            let cell = markdown::cell(value).len() + "|".len();
            (table + cell, json + value.to_string().len() + name.len() + "\"\":,".len())
        }
        None => (table + "|".len(), json),
    })
}

/// Cuts lists of names to each row's share of the bytes. False if the column is not a list of names.
fn cut_names(rows: &mut [Map<String, Value>], name: &str, bytes: usize) -> bool {
    if !rows.iter().filter_map(|row| row.get(name)).all(are_names) {
        return false;
    }
    let each = bytes / rows.len().max(1);
    for row in rows {
        let Some(Value::Array(names)) = row.get_mut(name) else { continue };
        let mut used = 0;
        let fitting = names.iter().filter_map(Value::as_str).take_while(|name| {
            used += name.len() + ", ".len();
            used <= each
        });
        let shown = fitting.count().max(1);
        let more = names.len().saturating_sub(shown);
        names.truncate(shown);
        if more > 0 {
            row.insert(format!("more_{name}"), json!(more));
        }
    }
    true
}
