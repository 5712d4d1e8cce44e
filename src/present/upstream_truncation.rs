//! Parts of an answer that GitLab itself left out, as its fields report.

use serde_json::{Map, Value};

use crate::text::list_first;

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
        let named = list_first(partial.files.iter().map(|name| format!("{name:?}")), MAX_FILES_NAMED);
        let count = partial.files.len();
        let files = if count == 1 { "1 file is".to_owned() } else { format!("{count} files are") };
        let note =
            format!("GitLab left out the diffs of large or binary files: {files} not whole here ({named})");
        partial.notes.insert(0, note);
    }
    partial
}

/// True unless the fields that were asked for have no diff.
pub fn is_asked(fields: &[String]) -> bool {
    let is_of_diff = |step: &str| ["diff", "diffs", "changes"].contains(&step.trim_end_matches("[]"));
    fields.is_empty() || fields.iter().any(|path| path.split('.').any(is_of_diff))
}

/// True for a file of a diff whose lines GitLab left out: by its flags, or (before 18.4 without one) because nothing
/// else than its content can have changed.
pub fn is_left_out(file: &Value) -> bool {
    let is_true = |name: &str| file.get(name).and_then(Value::as_bool) == Some(true);
    let mode = |name: &str| file.get(name).and_then(Value::as_str);
    if is_true("collapsed") || is_true("too_large") {
        return true;
    }
    let is_changed = mode("b_mode").is_some() && mode("a_mode") == mode("b_mode");
    let is_empty = file.get("diff").and_then(Value::as_str) == Some("");
    is_empty && is_changed && !["new_file", "deleted_file", "renamed_file"].into_iter().any(is_true)
}

fn diffs(items: &[Value], partial: &mut Partial) {
    let cut = items.iter().filter(|item| item.get("diff").is_some() && is_left_out(item));
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
    fn a_diff_that_is_left_out_without_a_flag_is_told_from_a_file_without_changed_lines() {
        let file = |flag: &str, b_mode: &str, diff: &str| json!({"new_path": "big.txt", "diff": diff, "a_mode": "100644", "b_mode": b_mode, flag: true});
        assert!(is_left_out(&file("x", "100644", "")));
        assert!(!is_left_out(&file("x", "100644", "@@ -1 +1 @@")));
        assert!(!is_left_out(&file("x", "100755", "")), "only its mode has changed");
        for flag in ["new_file", "deleted_file", "renamed_file"] {
            assert!(!is_left_out(&file(flag, "100644", "")), "{flag}: an empty file");
        }
        assert_eq!(partial(&json!([file("x", "100644", "")])).files, ["big.txt"]);
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
