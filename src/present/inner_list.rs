//! The list in an answer that is one object: the files of a comparison.

use serde_json::{Map, Value};

/// The rows of the one list in an object that has the fields: the list that the first step of a path names, or the only
/// one whose rows have it. In the first case each row is below the name of the list, as the paths have it. None if there
/// is no such list, or if the object itself has the field.
pub fn rows_with(object: &Map<String, Value>, paths: &[String]) -> Option<Vec<Value>> {
    let mut steps =
        paths.iter().map(|path| path.split('.').next().unwrap_or_default().trim_end_matches("[]"));
    let first = steps.next()?;
    if let Some(rows) = object.get(first).and_then(records) {
        let is_below = |path: &String| path.contains('.');
        let is_named = steps.all(|step| step == first) && paths.iter().all(is_below);
        let below = |row: &Value| Value::Object(Map::from_iter([(first.to_owned(), row.clone())]));
        return is_named.then(|| rows.iter().map(below).collect());
    }
    if object.contains_key(first) {
        return None;
    }
    let has_field = |rows: &&[Value]| rows.iter().any(|row| row.get(first).is_some());
    let mut lists = object.values().filter_map(records).filter(has_field);
    lists.next().filter(|_| lists.next().is_none()).map(<[Value]>::to_vec)
}

/// The rows of a list of objects.
fn records(value: &Value) -> Option<&[Value]> {
    value.as_array().filter(|rows| rows.iter().all(Value::is_object)).map(Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(object: Value, path: &str) -> Option<Value> {
        rows_with(object.as_object().unwrap(), &[path.to_owned()]).map(Value::Array)
    }

    #[test]
    fn the_list_is_the_named_one_or_the_only_one_with_the_field() {
        let comparison = json!({
            "commits": [{"id": "a1", "title": "One"}],
            "diffs": [{"new_path": "a.rs"}, {"new_path": "b.rs"}],
            "web_url": "https://gitlab.example.com",
        });
        assert_eq!(found(comparison.clone(), "new_path"), Some(comparison["diffs"].clone()));
        assert_eq!(found(comparison.clone(), "diffs.new_path"), {
            Some(json!([{"diffs": {"new_path": "a.rs"}}, {"diffs": {"new_path": "b.rs"}}]))
        });
        assert_eq!(found(comparison.clone(), "diffs"), None, "a row has no single value");
        assert_eq!(found(comparison, "author"), None);
    }

    #[test]
    fn a_field_of_the_object_is_of_no_list() {
        let issue = json!({"state": "opened", "assignees": [{"state": "active"}], "labels": ["bug"]});
        assert_eq!(found(issue.clone(), "state"), None);
        assert_eq!(found(issue.clone(), "labels"), None);
        assert_eq!(found(issue, "assignees.state"), Some(json!([{"assignees": {"state": "active"}}])));
        let two = json!({"added": [{"path": "a"}], "removed": [{"path": "b"}]});
        assert_eq!(found(two, "path"), None, "either list is possible");
    }
}
