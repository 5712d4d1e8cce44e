//! The compact view: what a person reads of a reply. Rules on shapes, whatever the action.

use serde_json::{Map, Value};

use super::rows;

/// Keys that no reader misses: links beside the one URL, pictures, ids of what is named, forms of what is said
/// elsewhere.
const NOISE: [&str; 28] = [
    "_links",
    "references",
    "reference",
    "avatar_url",
    "avatar_path",
    "links",
    "task_completion_status",
    "time_stats",
    "has_tasks",
    "container_expiration_policy",
    "blocking_discussions_resolved",
    "squash_on_merge",
    "discussion_locked",
    "moved_to_id",
    "service_desk_reply_to",
    "imported",
    "imported_from",
    "is_custom_color",
    "text_color",
    "commit_path",
    "noteable_id",
    "project_id",
    "source_project_id",
    "target_project_id",
    "detailed_status",
    "before_sha",
    "first_contribution",
    "prepared_at",
];

/// Keys that say less than another, where that stands beside them.
const SAID_BETTER: [(&str, &str); 6] = [
    ("assignee", "assignees"),
    ("reviewer", "reviewers"),
    ("pipeline", "head_pipeline"),
    ("work_in_progress", "draft"),
    ("merge_status", "detailed_merge_status"),
    ("merged_by", "merge_user"),
];

/// What is kept of a thing that is mentioned, by a key that tells which kind of thing it is: of a pipeline or a job
/// how it went, of a commit what it says.
const MENTIONED: [(&str, &[&str]); 2] = [
    ("status", &["id", "name", "ref", "status", "failure_reason", "web_url"]),
    ("short_id", &["short_id", "title", "author_name", "committed_date"]),
];

/// The one URL that is kept.
const URL: &str = "web_url";

/// What stands for an object in a sentence, by what it is told from.
const NAMES: [&str; 8] =
    ["username", "full_path", "fullPath", "path_with_namespace", "title", "name", "short_id", "iid"];

/// The value as a person reads it; the names of what is gone are added to `dropped`.
pub fn compact(value: Value, dropped: &mut Vec<String>) -> Value {
    let compacted = match value {
        Value::Array(items) => {
            let items = items.into_iter().map(|item| top(item, dropped)).collect();
            Value::Array(rows::rows(items, dropped))
        }
        other => top(other, dropped),
    };
    // What somebody might miss first.
    dropped.sort_by_key(|name| (NOISE.contains(&name.as_str()), name.clone()));
    dropped.dedup();
    compacted
}

fn top(value: Value, dropped: &mut Vec<String>) -> Value {
    match value {
        Value::Object(map) => Value::Object(object(map, dropped)),
        other => other,
    }
}

fn object(map: Map<String, Value>, dropped: &mut Vec<String>) -> Map<String, Value> {
    let keys: Vec<String> = map.keys().cloned().collect();
    let mut kept = Map::new();
    for (key, value) in map {
        if is_empty(&value) {
            continue;
        }
        if is_noise(&key, &keys) {
            dropped.push(key);
            continue;
        }
        kept.insert(key, nested(value, dropped));
    }
    kept
}

/// Nothing that could be missed: null, an empty text, list or object.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn is_noise(key: &str, siblings: &[String]) -> bool {
    let has = |name: &str| siblings.iter().any(|sibling| sibling == name);
    let other_url = (key.ends_with("_url") || key.ends_with("_path_url")) && key != URL && has(URL);
    let said_better = SAID_BETTER.iter().any(|(less, more)| *less == key && has(more));
    // `author_id` beside `author`.
    let said_by_object = key.strip_suffix("_id").is_some_and(has);
    let html = key.ends_with("_html") && key.strip_suffix("_html").is_some_and(has);
    NOISE.contains(&key) || other_url || said_better || said_by_object || html
}

/// A value below the top: an object that has a name is its name, a list of such a list of names.
fn nested(value: Value, dropped: &mut Vec<String>) -> Value {
    match value {
        Value::Object(map) if mentioned_as(&map).is_some() => mention(map),
        Value::Object(map) => named(&map).unwrap_or_else(|| Value::Object(object(map, dropped))),
        Value::Array(items) => Value::Array(items.into_iter().map(|item| nested(item, dropped)).collect()),
        other => other,
    }
}

/// The keys that are kept of a mentioned thing, where it is of a kind that has them.
fn mentioned_as(map: &Map<String, Value>) -> Option<&'static [&'static str]> {
    let of_kind = MENTIONED.iter().find(|(kind, _)| map.contains_key(*kind) && map.contains_key(URL));
    of_kind.map(|(_, kept)| *kept)
}

fn mention(map: Map<String, Value>) -> Value {
    let kept = mentioned_as(&map).unwrap_or_default();
    Value::Object(
        map.into_iter().filter(|(key, value)| kept.contains(&key.as_str()) && !is_empty(value)).collect(),
    )
}

/// The name of an object that is a thing of its own (it has an id or a URL) and no more than mentioned here.
fn named(map: &Map<String, Value>) -> Option<Value> {
    let is_thing = map.contains_key("id") || map.contains_key(URL);
    // A note, a job or a commit is read for what it says, not for a name.
    let is_read = ["body", "status", "notes", "message", "diff"].iter().any(|key| map.contains_key(*key));
    let name = NAMES.iter().find_map(|name| map.get(*name)).filter(|name| !name.is_null());
    if is_thing && !is_read { name.cloned() } else { None }
}
