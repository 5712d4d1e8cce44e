//! The fields that a caller asked for.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

/// Maximum number of the existing fields that are kept for a missing one.
const MAX_KNOWN: usize = 200;

/// A path that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub path: String,
    /// The first missing step, and the fields that exist there.
    pub step: String,
    pub known: Vec<String>,
}

/// Only those paths of the value, or of each item of a list; with those that are nowhere.
pub fn select(value: &Value, paths: &[String]) -> (Value, Vec<Missing>) {
    let all: Vec<Vec<&str>> = paths.iter().map(|path| steps(path)).collect();
    let wanted: Vec<&[&str]> = all
        .iter()
        .enumerate()
        .filter(|(at, _)| !is_covered(&all, *at))
        .map(|(_, path)| path.as_slice())
        .collect();
    let selected = match value {
        Value::Array(_) if wanted.iter().any(|path| item_number(path).is_some()) => {
            let found = wanted.first().and_then(|path| pick(value, path));
            found.unwrap_or_else(|| Value::Object(Map::new()))
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| select_from(item, &wanted)).collect()),
        one => select_from(one, &wanted),
    };
    let missing =
        paths.iter().filter(|path| !is_anywhere(value, &steps(path))).map(|path| missing(value, path));
    (selected, missing.collect())
}

/// End of a path that leads nowhere: the first step that no object has.
fn missing(value: &Value, path: &str) -> Missing {
    let mut level = vec![value];
    let mut last = "";
    for step in steps(path) {
        last = step;
        let objects = || level.iter().flat_map(|value| within(value));
        let next: Vec<&Value> = objects().filter_map(|map| map.get(step)).collect();
        if next.is_empty() {
            let mut seen = HashSet::new();
            // Only these are named, and each missing field keeps its own.
            let keys = objects().flat_map(Map::keys).filter(|key| *key != step && is_plain(key));
            let known = keys.filter(|key| seen.insert(key.as_str())).take(MAX_KNOWN).cloned().collect();
            return Missing { path: path.to_owned(), step: step.to_owned(), known };
        }
        level = next;
    }
    Missing { path: path.to_owned(), step: last.to_owned(), known: Vec::new() }
}

/// The values at a path below a row; none if no object has the next step of the path. Lists are walked, and null has no
/// value. A connection of GraphQL is its `nodes`.
pub fn values_at<'v>(row: &'v Value, path: &str) -> Option<Vec<&'v Value>> {
    let steps: Vec<&str> = steps(path);
    let mut found = Vec::new();
    collect_values(row, &steps, &mut found).then_some(found)
}

/// Adds the values at the end of the steps; returns false if no object has the next step.
fn collect_values<'v>(value: &'v Value, steps: &[&str], found: &mut Vec<&'v Value>) -> bool {
    match (value, steps.split_first()) {
        (Value::Null, _) => true,
        (Value::Array(items), _) => {
            let leads = items.iter().filter(|item| collect_values(item, steps, found)).count();
            leads > 0 || items.is_empty()
        }
        (Value::Object(map), None) if map.get("nodes").is_some_and(Value::is_array) => {
            map.get("nodes").is_some_and(|nodes| collect_values(nodes, steps, found))
        }
        (value, None) => {
            found.push(value);
            true
        }
        (Value::Object(map), Some((first, rest))) => match (map.get(*first), map.get("nodes")) {
            (Some(inner), _) => collect_values(inner, rest, found),
            (None, Some(nodes)) => collect_values(nodes, steps, found),
            (None, None) => *first == "nodes" && collect_values(value, rest, found),
        },
        _ => false,
    }
}

/// The end of a path that leads nowhere in these rows.
pub fn missing_in(rows: &Value, path: &str) -> Missing {
    missing(rows, path)
}

/// The objects of a value: itself, or those of a list in it.
fn within(value: &Value) -> Vec<&Map<String, Value>> {
    match value {
        Value::Object(map) => vec![map],
        Value::Array(items) => items.iter().flat_map(within).collect(),
        _ => Vec::new(),
    }
}

/// Returns true if a path adds nothing to the others: an equal one precedes it, or one of its beginnings is among them.
fn is_covered(all: &[Vec<&str>], at: usize) -> bool {
    let Some(path) = all.get(at) else { return false };
    all.iter()
        .enumerate()
        .any(|(other_at, other)| path.starts_with(other) && (other.len() < path.len() || other_at < at))
}

fn select_from(item: &Value, paths: &[&[&str]]) -> Value {
    let mut selected = Value::Object(Map::new());
    for path in paths {
        if let Some(found) = pick(item, path) {
            merge(&mut selected, found);
        }
    }
    selected
}

/// The value to read: a field that was asked for by a path is headed by its path, and not by the object it is in.
pub fn headed_by_paths<'v>(value: Cow<'v, Value>, paths: &[String]) -> Cow<'v, Value> {
    if paths.iter().all(|path| steps(path).len() < 2) {
        return value;
    }
    let paths: Vec<Vec<&str>> = paths.iter().map(|path| steps(path)).collect();
    let below: Vec<&[&str]> = paths.iter().map(Vec::as_slice).collect();
    Cow::Owned(with_headings(value.into_owned(), &below))
}

fn with_headings(value: Value, paths: &[&[&str]]) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(|item| with_headings(item, paths)).collect(),
        Value::Object(map) => {
            let mut headed = Map::new();
            lift(map, "", paths, &mut headed);
            Value::Object(headed)
        }
        other => other,
    }
}

/// Moves the fields at the ends of the paths from nested objects to the top, by their paths.
fn lift(map: Map<String, Value>, prefix: &str, paths: &[&[&str]], headed: &mut Map<String, Value>) {
    for (key, value) in map {
        let below: Vec<&[&str]> = paths
            .iter()
            .filter_map(|path| path.split_first())
            .filter(|(first, _)| **first == key)
            .map(|(_, rest)| rest)
            .collect();
        let is_whole = below.is_empty() || below.iter().any(|rest| rest.is_empty());
        let heading = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
        match value {
            Value::Object(inner) if !is_whole && !inner.is_empty() => lift(inner, &heading, &below, headed),
            Value::Array(_) if !is_whole => drop(headed.insert(heading, with_headings(value, &below))),
            value => drop(headed.insert(heading, value)),
        }
    }
}

/// `pipelines[].status` is walked as `pipelines.status`: a list is walked into by itself.
fn steps(path: &str) -> Vec<&str> {
    path.split('.').map(|step| step.trim_end_matches("[]")).filter(|step| !step.is_empty()).collect()
}

/// The number of an item, counted from 0, that a path begins with: `3.diff`.
fn item_number(steps: &[&str]) -> Option<usize> {
    steps.first()?.parse().ok()
}

/// Reduces a value to the path.
fn pick(value: &Value, steps: &[&str]) -> Option<Value> {
    let Some((first, rest)) = steps.split_first() else { return Some(value.clone()) };
    match value {
        Value::Array(items) if item_number(steps).is_some() => pick(items.get(item_number(steps)?)?, rest),
        Value::Array(items) => {
            let found: Vec<Value> = items.iter().filter_map(|item| pick(item, steps)).collect();
            (items.is_empty() || !found.is_empty()).then_some(Value::Array(found))
        }
        Value::Object(map) => {
            let inner = pick(map.get(*first)?, rest)?;
            Some(Value::Object(Map::from_iter([((*first).to_owned(), inner)])))
        }
        _ => None,
    }
}

fn merge(into: &mut Value, other: Value) {
    match (into, other) {
        (Value::Object(into), Value::Object(other)) => {
            for (key, value) in other {
                match into.get_mut(&key) {
                    Some(known) => merge(known, value),
                    None => {
                        into.insert(key, value);
                    }
                }
            }
        }
        (Value::Array(into), Value::Array(other)) if into.len() == other.len() => {
            for (known, value) in into.iter_mut().zip(other) {
                merge(known, value);
            }
        }
        (into, other) => *into = other,
    }
}

/// True if a value, or any item of a list, has the path.
fn is_anywhere(value: &Value, steps: &[&str]) -> bool {
    let has = |value: &Value| pick(value, steps).is_some();
    match value {
        Value::Array(items) if item_number(steps).is_none() => items.is_empty() || items.iter().any(has),
        one => has(one),
    }
}

/// True if a name is one that GitLab would give a field: what else a stranger may have written is not repeated
/// where this server speaks.
pub fn is_plain(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    name.len() <= 100 && !name.is_empty() && name.chars().all(is_plain)
}
