use super::*;

/// An issue with the fields that GitLab sends, and a few more.
fn issue(iid: u64) -> Value {
    json!({
        "id": iid + 100, "iid": iid, "title": format!("t{iid}"), "state": "opened", "author": "alice",
        "labels": ["bug"], "description": "long ".repeat(100), "created_at": "2026", "updated_at": "2026",
        "upvotes": 0, "downvotes": 2, "user_notes_count": iid, "severity": "UNKNOWN",
        "references": {"short": format!("#{iid}"), "full": format!("acme/widget#{iid}")},
        "web_url": format!("https://x/acme/widget/-/issues/{iid}"),
    })
}

#[test]
fn a_list_keeps_what_tells_its_things_apart_and_names_the_rest() {
    let shown = compact(json!([issue(1), issue(2), issue(3)]));
    assert_eq!(
        shown.data,
        json!([{"iid": 1, "title": "t1"}, {"iid": 2, "title": "t2"}, {"iid": 3, "title": "t3"}])
    );
    assert_eq!(shown.dropped, ["description", "downvotes", "user_notes_count"]);
    assert_eq!(shown.text.lines().count(), 5, "{}", shown.text);
}

#[test]
fn what_is_the_same_in_every_row_is_said_once() {
    let shown = compact(json!([issue(1), issue(2), issue(3)]));
    let same = json!({
        "web_url": "https://x/acme/widget/-/issues/{iid}", "project": "acme/widget", "state": "opened",
        "author": "alice", "labels": ["bug"], "created_at": "2026", "updated_at": "2026",
    });
    assert_eq!(Value::Object(shown.same), same);
    assert!(shown.text.contains("web_url: https://x/acme/widget/-/issues/{iid}; "), "{}", shown.text);
    let mut other = issue(3);
    other["author"] = json!("bob");
    other["references"]["full"] = json!("acme/gear#3");
    other["web_url"] = json!("https://x/acme/gear/-/issues/3");
    let shown = compact(json!([issue(1), issue(2), other]));
    assert_eq!(shown.same["web_url"], "https://x/{project}/-/issues/{iid}");
    assert_eq!((&shown.data[2]["project"], &shown.data[2]["author"]), (&json!("acme/gear"), &json!("bob")));
}

#[test]
fn a_url_that_no_pattern_makes_stays_in_its_row() {
    let row = |id: u64, url: &str| json!({"id": id, "name": "a", "web_url": url});
    let shown = compact(json!([row(1, "https://x/a"), row(2, "https://x/b"), row(3, "https://y/c")]));
    assert_eq!(shown.data[2]["web_url"], "https://y/c");
    // 2 is in 12 and in 2026, and a part of neither.
    let rows = [1, 2, 3].map(|id| row(id, &format!("https://x/2026/12/{id}")));
    assert_eq!(compact(json!(rows)).same["web_url"], "https://x/2026/12/{id}");
}

#[test]
fn one_long_title_takes_the_titles_from_no_row() {
    let row =
        |iid: u64, title: &str| json!({"iid": iid, "title": title, "web_url": format!("https://x/{iid}")});
    let long = "ж".repeat(255);
    let shown = compact(json!([row(1, "a"), row(2, &long), row(3, "two\nlines")]));
    let titles: Vec<&Value> = (0..3).map(|at| &shown.data[at]["title"]).collect();
    assert_eq!(titles, [&json!("a"), &json!(long), &json!("two lines")]);
    assert!(shown.dropped.is_empty(), "{:?}", shown.dropped);
    let shown = compact(json!([row(1, "a"), row(2, &"x".repeat(100_000))]));
    let cut = shown.data[1]["title"].as_str().unwrap();
    assert!(cut.len() < 1_100 && cut.ends_with('…'), "{} bytes", cut.len());
}

#[test]
fn the_url_of_a_commit_is_made_from_its_whole_id() {
    let commit = |id: &str| json!({"id": id, "short_id": id[..4], "title": id, "message": "m\nn", "web_url": format!("https://x/-/commit/{id}")});
    let shown = compact(json!([commit("aaaa11"), commit("bbbb22"), commit("cccc33")]));
    assert_eq!(shown.same["web_url"], "https://x/-/commit/{id}");
    assert_eq!(shown.data[0], json!({"id": "aaaa11", "title": "aaaa11"}));
}

#[test]
fn two_rows_share_only_what_is_long() {
    let row = |id: u64, sha: &str| json!({"id": id, "source": "push", "sha": sha});
    let shown = compact(json!([row(1, "abc"), row(2, "abc")]));
    assert!(shown.same.is_empty(), "{:?}", shown.same);
    assert_eq!(shown.data[1], row(2, "abc"));
    let sha = "1".repeat(40);
    let shown = compact(json!([row(1, &sha), row(2, &sha)]));
    assert_eq!(Value::Object(shown.same), json!({"source": "push", "sha": sha}));
    assert_eq!(shown.data, json!([{"id": 1}, {"id": 2}]));
    // A single row shares with none.
    assert!(compact(json!([row(1, &sha)])).same.is_empty());
}

#[test]
fn what_one_row_lacks_is_not_said_of_every_row() {
    let row = |id: u64, source: Option<&str>| json!({"id": id, "ref": format!("b{id}"), "source": source});
    let shown = compact(json!([row(1, Some("push")), row(2, Some("push")), row(3, None)]));
    assert!(shown.same.is_empty(), "{:?}", shown.same);
    assert_eq!((&shown.data[1]["source"], &shown.data[2]), (&json!("push"), &json!({"id": 3, "ref": "b3"})));
}

#[test]
fn many_labels_are_cut_and_counted() {
    let labelled = |iid: u64| {
        let mut row = issue(iid);
        row["labels"] = (0..12).map(|n| json!(format!("category::{iid}-{n}"))).collect();
        row
    };
    let shown = compact((1..=20).map(labelled).collect());
    let labels = shown.data[0]["labels"].as_array().unwrap().len();
    assert!((1..12).contains(&labels), "{}", shown.data[0]);
    assert_eq!(shown.data[0]["more_labels"], 12 - labels);
    assert!(shown.notes[0].contains("`more_labels` counts the labels"), "{:?}", shown.notes);
    let few = compact((1..=3).map(labelled).collect());
    assert_eq!(few.data[0]["labels"].as_array().unwrap().len(), 12, "three rows have room for all");
}

#[test]
fn a_pipeline_keeps_the_id_that_it_is_named_by() {
    let pipeline = |id: u64| {
        json!({
            "id": id, "iid": id - 300, "status": "success", "ref": format!("b{id}"), "sha": "s".repeat(210),
            "web_url": format!("https://x/-/pipelines/{id}"),
        })
    };
    let shown = compact((301..=304).map(pipeline).collect());
    assert_eq!(shown.data[0], json!({"iid": 1, "id": 301, "ref": "b301"}));
    assert_eq!(shown.same["web_url"], "https://x/-/pipelines/{id}");
}

#[test]
fn a_commit_in_a_list_has_its_title() {
    let commit = |id: &str, message: &str| {
        json!({
            "id": id, "short_id": &id[..4], "title": "Turn left", "message": message, "author_name": "Ada", "parent_ids": ["f"],
            "author_email": "ada@example.org", "committer_name": "Ada", "committer_email": "ada@example.org",
            "authored_date": "2026-02-01T09:00:00Z", "committed_date": "2026-02-01T09:00:00Z",
            "created_at": "2026-02-01T09:00:00Z", "trailers": {"Reviewed-by": "Bo"}, "web_url": format!("https://x/-/commit/{id}"),
        })
    };
    let shown = compact(json!([
        commit("aaaa11", "Turn left"),
        commit("bbbb22", "Turn left\n\nIt squeaks."),
        commit("cccc33", "Turn left\n")
    ]));
    for row in shown.data.as_array().unwrap() {
        assert_eq!(row["title"], "Turn left", "{row}");
    }
}
