//! `fields` takes every name that an answer shows, and rows keep what names them.

use super::*;

/// Objects and lists in GitLab's shapes.
fn samples() -> Vec<Value> {
    let issue = |iid: u64, place: &str| {
        json!({
            "id": iid + 900, "iid": iid, "title": format!("t{iid}"), "state": "opened", "labels": ["a", "b"],
            "author": {"id": 1, "username": "ada", "web_url": "https://x/ada"}, "confidential": false,
            "milestone": {"id": 3, "iid": 1, "title": "v1", "web_url": "https://x/1"}, "due_date": "2026-03-01",
            "references": {"short": format!("#{iid}"), "full": format!("{place}#{iid}")},
            "created_at": "2026-02-01T09:00:00.000Z", "updated_at": "2026-02-01T09:00:00.000Z",
            "web_url": format!("https://x/{place}/-/issues/{iid}"),
        })
    };
    let many = |iid: u64| {
        let mut row = issue(iid, "acme/widget");
        row["labels"] = (0..40).map(|n| json!(format!("category::{iid}-{n}"))).collect();
        row
    };
    let commit = |id: &str| {
        json!({
            "id": id, "short_id": &id[..4], "title": "Turn", "message": "Turn", "author_name": "Ada", "committer_name": "Ada",
            "created_at": "2026-02-01T09:00:00Z", "committed_date": "2026-02-01T09:00:00Z", "web_url": format!("https://x/-/commit/{id}"),
        })
    };
    let job = |id: u64| {
        json!({
            "id": id, "name": "unit", "status": "failed", "stage": "test", "allow_failure": false, "tag_list": [],
            "pipeline": {"id": 4, "status": "failed", "ref": "main", "web_url": "https://x/-/pipelines/4"},
            "web_url": format!("https://x/-/jobs/{id}"),
        })
    };
    vec![
        issue(4, "acme/widget"),
        json!([issue(4, "acme/widget"), issue(5, "acme/widget"), issue(6, "acme/widget")]),
        json!([issue(4, "acme/widget"), issue(5, "acme/gear"), issue(6, "acme/gear")]),
        (1..=20).map(many).collect(),
        json!([commit("aaaa1111"), commit("bbbb2222"), commit("cccc3333")]),
        json!([job(1), job(2), job(3)]),
        json!({"name": "v1", "assets": {"count": 2, "links": [{"id": 1, "name": "a", "url": "https://x/a"}]}}),
        json!([{"id": "ab", "notes": [{"id": 1, "body": "one\ntwo", "resolved": false, "author": {"id": 2, "username": "bo"}}]}]),
    ]
}

/// The paths of all fields of a value.
fn paths(value: &Value, before: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| paths(item, before, found)),
        Value::Object(map) => {
            for (key, value) in map {
                let path = if before.is_empty() { key.clone() } else { format!("{before}.{key}") };
                paths(value, &path, found);
                found.push(path);
            }
        }
        _ => {}
    }
}

#[test]
fn every_name_that_is_shown_is_taken() {
    for value in samples() {
        let shown = compact(value.clone());
        let mut names = Vec::new();
        paths(&shown.data, "", &mut names);
        paths(&Value::Object(shown.same.clone()), "", &mut names);
        names.extend(shown.dropped.iter().cloned());
        assert!(names.len() > 4, "{names:?}");
        for name in names {
            let asked = [name.clone()];
            let picked = present(GivenContent::Json(value.clone()), &options(&asked));
            assert_eq!(picked.missing, [], "{name} of {}", shown.data);
        }
    }
}

#[test]
fn rows_keep_their_number_and_their_place() {
    let samples = samples();
    let pick = |at: usize, field: &str| {
        let fields = [field.to_owned()];
        present(GivenContent::Json(samples[at].clone()), &options(&fields)).data[1].clone()
    };
    assert_eq!(pick(1, "state"), json!({"iid": 5, "state": "opened"}), "one project, which the caller named");
    assert_eq!(pick(2, "title"), json!({"iid": 5, "project": "acme/gear", "title": "t5"}));
    assert_eq!(pick(2, "reference"), json!({"iid": 5, "reference": "acme/gear#5"}));
    assert_eq!(pick(4, "author_name"), json!({"title": "Turn", "author_name": "Ada"}));
    assert_eq!(pick(5, "status"), json!({"name": "unit", "status": "failed"}));
    assert_eq!(pick(5, "id"), json!({"id": 2}), "a name that is asked for is enough");
}

#[test]
fn names_that_a_cell_has_no_room_for_are_asked_for_by_their_column() {
    let value = samples().remove(3);
    assert!(compact(value.clone()).data[0]["more_labels"].is_number());
    let fields = ["more_labels".to_owned()];
    let picked = present(GivenContent::Json(value), &options(&fields));
    assert_eq!(picked.data[0]["labels"].as_array().unwrap().len(), 40);
}

#[test]
fn a_value_in_one_line_keeps_its_blanks_and_no_break() {
    let shown = |text: &str| compact(json!({"id": 1, "line": text})).text;
    assert!(shown("4:     return `x`;").contains("\nline: 4:     return `x`;\n"));
    assert!(shown("    \treturn `x`;").contains("\nline:     \treturn `x`;\n"));
    // A line separator makes a text of several lines, which is fenced.
    assert!(shown("`a`\u{2028}Note: b").contains("line:\n```\n`a`\nNote: b\n```\n"));
    assert!(shown("`a`  \n").contains("line: `a`\n"));
    // Padding does not fill an answer.
    assert!(shown(&format!("`a`{}b", " ".repeat(10_000))).len() < 200);
}
