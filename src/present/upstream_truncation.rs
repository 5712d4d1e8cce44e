//! Parts of an answer that GitLab itself left out, as its fields report.

use serde_json::{Map, Value};

/// Maximum number of files that are named.
const MAX_FILES_NAMED: usize = 5;

/// Incomplete parts of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partial {
    /// The files whose diffs GitLab did not send.
    pub files: Vec<String>,
    /// In words, each without its full stop.
    pub notes: Vec<String>,
}

/// Finds the parts that GitLab reports as left out. <https://docs.gitlab.com/administration/diff_limits/>
pub fn partial(value: &Value) -> Partial {
    let mut partial = Partial::default();
    match value {
        Value::Array(items) => diffs(items, &mut partial),
        Value::Object(map) => {
            for list in ["changes", "diffs"] {
                if let Some(Value::Array(items)) = map.get(list) {
                    diffs(items, &mut partial);
                }
            }
            whole(map, &mut partial.notes);
        }
        _ => {}
    }
    if !partial.files.is_empty() {
        let named: Vec<String> =
            partial.files.iter().take(MAX_FILES_NAMED).map(|name| format!("{name:?}")).collect();
        let more = partial.files.len().saturating_sub(MAX_FILES_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let count = partial.files.len();
        let files = if count == 1 { "1 file is".to_owned() } else { format!("{count} files are") };
        partial.notes.insert(
            0,
            format!(
                "GitLab left out the diffs of large files: {files} not whole here ({}{more})",
                named.join(", ")
            ),
        );
    }
    partial
}

fn diffs(items: &[Value], partial: &mut Partial) {
    let is_true = |item: &Value, name: &str| item.get(name).and_then(Value::as_bool) == Some(true);
    let cut = items.iter().filter(|item| item.get("diff").is_some());
    let cut = cut.filter(|item| is_true(item, "collapsed") || is_true(item, "too_large"));
    let path = |item: &Value| item.get("new_path").or(item.get("old_path"))?.as_str().map(str::to_owned);
    partial.files.extend(cut.map(|item| path(item).unwrap_or_else(|| "a file".to_owned())));
}

fn whole(map: &Map<String, Value>, notes: &mut Vec<String>) {
    if map.get("overflow").and_then(Value::as_bool) == Some(true) {
        notes.push("GitLab left files out of this diff, because there are too many".to_owned());
    }
    if map.get("compare_timeout").and_then(Value::as_bool) == Some(true) {
        notes.push("GitLab gave up on this comparison before it was whole".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_gitlab_cut_is_said_in_words() {
        let diff = |path: &str, flag: &str| json!({"new_path": path, "diff": "", flag: true});
        let said = partial(&json!([diff("a", "collapsed"), diff("b", "too_large"), diff("c", "new_file")]));
        assert_eq!(said.files, ["a", "b"]);
        assert!(said.notes[0].contains("2 files are not whole here (\"a\", \"b\")"), "{:?}", said.notes);
        let said = partial(&json!({"overflow": true, "changes": [diff("a", "too_large")]}));
        assert_eq!((said.files.len(), said.notes.len()), (1, 2));
        let said = partial(&json!({"changes_count": "1000+", "compare_timeout": true}));
        assert_eq!(said.notes.len(), 1, "the count is explained where it is shown");
    }

    #[test]
    fn what_is_whole_says_nothing() {
        let whole =
            json!({"overflow": false, "changes_count": "3", "diffs": [{"new_path": "a", "diff": "+"}]});
        assert_eq!(partial(&whole), Partial::default());
        assert_eq!(
            partial(&json!([{"collapsed": true, "name": "a thing that is no diff"}])),
            Partial::default()
        );
    }
}
