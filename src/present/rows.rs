//! A list of things: of each what tells it from the others. Which columns those are is a rule on names, the same
//! for every kind of thing.

use serde_json::Value;

/// What a reader looks for in a row, first things first.
const WANTED: [&str; 50] = [
    "iid",
    "id",
    "short_id",
    "path_with_namespace",
    "full_path",
    "tag_name",
    "key",
    "title",
    "name",
    "username",
    "action_name",
    "stage",
    "state",
    "status",
    "failure_reason",
    "access_level",
    "role",
    "target_title",
    "ref",
    "source",
    "visibility",
    "default_branch",
    "source_branch",
    "draft",
    "protected",
    "merged",
    "author",
    "author_name",
    "owner",
    "assignees",
    "reviewers",
    "labels",
    "milestone",
    "environment",
    "version",
    "package_type",
    "commit",
    "due_date",
    "expires_at",
    "last_activity_at",
    "released_at",
    "committed_date",
    "updated_at",
    "finished_at",
    "duration",
    "created_at",
    "description",
    "body",
    "target_branch",
    "access_level_description",
];

/// The one URL of a row.
const URL: &str = "web_url";

/// A row of more than this is read on its own, not in a list.
const MOST: usize = 12;

/// A text longer than this is read on its own.
const LONG: usize = 200;

/// The rows with what a list needs of them. What is gone is added to `dropped`. A list of parts (notes, diffs,
/// variables) has no page of its own to look at and stays whole.
pub fn rows(items: Vec<Value>, dropped: &mut Vec<String>) -> Vec<Value> {
    let are_things = items.iter().all(|item| item.get(URL).is_some());
    let are_short =
        items.iter().filter_map(Value::as_object).all(|row| row.len() <= MOST && row.values().all(is_short));
    if !are_things || are_short {
        return items;
    }
    let columns = columns(&items);
    items.into_iter().map(|item| row(item, &columns, dropped)).collect()
}

/// The columns of all rows: those that are wanted and short in every row, and the URL.
fn columns(items: &[Value]) -> Vec<&'static str> {
    let has = |name: &str| items.iter().any(|item| item.get(name).is_some());
    let are_short = |name: &str| items.iter().filter_map(|item| item.get(name)).all(is_short);
    // One number for a thing is enough where people see that one.
    let is_spare = |name: &str| name == "id" && (has("iid") || has("short_id"));
    let wanted = WANTED.iter().copied().filter(|name| has(name) && are_short(name) && !is_spare(name));
    wanted.take(MOST - 1).chain([URL]).collect()
}

fn is_short(value: &Value) -> bool {
    value.to_string().len() <= LONG && !value.as_str().is_some_and(|text| text.trim().contains('\n'))
}

fn row(item: Value, columns: &[&'static str], dropped: &mut Vec<String>) -> Value {
    let Value::Object(mut map) = item else { return item };
    let kept =
        columns.iter().filter_map(|name| Some(((*name).to_owned(), map.shift_remove(*name)?))).collect();
    dropped.extend(map.into_iter().map(|(key, _)| key));
    Value::Object(kept)
}
