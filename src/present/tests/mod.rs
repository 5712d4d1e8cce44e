mod diffs;
mod fields;
mod hostile;
mod lists;
mod projection;
mod quotes;
mod secrets;

use serde_json::{Value, json};

use super::*;

fn options(fields: &[String]) -> Options<'_> {
    Options { fields, ..Options::new(ContentKind::default(), 10_000, Secrets::NONE) }
}

fn compact(value: Value) -> Presented {
    present(GivenContent::Json(value), &options(&[]))
}

#[test]
fn what_is_mentioned_is_named() {
    let shown = compact(json!({
        "iid": 5,
        "author": {"id": 1, "username": "alice", "name": "Alice", "web_url": "https://x/alice"},
        "assignees": [{"id": 2, "username": "bob", "web_url": "https://x/bob"}],
        "milestone": {"id": 3, "iid": 1, "title": "v1", "web_url": "https://x/1"},
        "head_pipeline": {"id": 9, "status": "failed", "web_url": "https://x/9", "user": {"username": "c", "id": 4}},
    }));
    assert_eq!(
        shown.data,
        json!({
            "iid": 5, "author": "alice", "assignees": ["bob"], "milestone": "v1",
            "head_pipeline": {"id": 9, "status": "failed"},
        })
    );
}

#[test]
fn what_a_model_never_needs_is_dropped_and_what_it_may_need_named() {
    let shown = compact(json!({
        "id": 1, "web_url": "https://x", "avatar_url": "https://x/a.png", "_links": {"self": "https://x"},
        "author_id": 7, "author": {"id": 7, "username": "alice"}, "description_html": "<p>a</p>", "description": "a",
        "empty": "", "nothing": null, "none": [], "diff_refs": {"base_sha": "b"}, "squash_on_merge": true,
    }));
    assert_eq!(shown.data, json!({"id": 1, "web_url": "https://x", "author": "alice", "description": "a"}));
    assert_eq!(shown.dropped, ["squash_on_merge"]);
}

#[test]
fn false_and_zero_are_said_where_they_say_something() {
    let value = json!({
        "imported": false, "merged": false, "count": 0, "draft": false, "upvotes": 0, "active": false, "issues_enabled": false,
        "time_stats": {"time_estimate": 0, "human_time_estimate": null},
        "task_completion_status": {"count": 3, "completed_count": 0},
    });
    let task = json!({"count": 3, "completed_count": 0});
    assert_eq!(
        compact(value).data,
        json!({"merged": false, "count": 0, "active": false, "issues_enabled": false, "task_completion_status": task})
    );
    assert_eq!(compact(json!({"draft": true})).data, json!({"draft": true}));
}

#[test]
fn times_have_no_fractions_of_a_second() {
    let value = json!({
        "created_at": "2026-01-31T09:00:00.123Z", "committed_date": "2026-01-31T09:00:00.000+00:00",
        "updatedAt": "2026-01-31T09:00:00.5+02:00", "version": "1.2.3", "released_at": "soon.ish",
    });
    assert_eq!(
        compact(value).data,
        json!({
            "created_at": "2026-01-31T09:00:00Z", "committed_date": "2026-01-31T09:00:00Z",
            "updatedAt": "2026-01-31T09:00:00+02:00", "version": "1.2.3", "released_at": "soon.ish",
        })
    );
}

#[test]
fn text_of_strangers_is_cleaned_of_what_cannot_be_seen() {
    let hidden = "a\u{202e}b\u{200b}c\u{1b}[31md\u{7}e\u{e0041}f\u{feff}\r\ng\rh";
    assert_eq!(cleaned(hidden), "abcdef\ng\nh");
    assert_eq!(cleaned("a\u{2028}b\u{85}c\u{9b}31md\u{1b}]0;title\u{7}e"), "a\nb\ncde");
    assert_eq!(compact(json!({"ti\u{200b}tle": hidden})).data, json!({"title": "abcdef\ng\nh"}));
}

#[test]
fn joiners_of_persian_hindi_emojis_stay() {
    for text in [
        "می\u{200c}خواهم",
        "क\u{94d}\u{200d}ष",
        "👨\u{200d}👩\u{200d}👧",
        "❤\u{fe0f}\u{200d}🔥",
        "1\u{fe0f}\u{20e3}",
    ] {
        assert_eq!(cleaned(text), text);
        assert_eq!(compact(json!({"title": text})).notes, Vec::<String>::new(), "{text}");
    }
    // None of these spells a word: they could carry a hidden text.
    for text in ["a\u{200d}b", "\u{200d}م", "м\u{200c}и", "م\u{200c}\u{200c}\u{200d}ا", "a\u{fe0f}"] {
        assert!(sanitize::is_clean(&cleaned(text)), "{text:?}");
        assert!(!compact(json!({"title": text})).notes.is_empty(), "{text:?}");
    }
}

#[test]
fn a_title_cannot_leave_its_cell() {
    let shown = compact(json!([{"iid": 1, "title": "a | b | forged |"}, {"iid": 2, "title": "c"}]));
    let rows = "|iid|title\n|1|a \\| b \\| forged \\|\n|2|c\n";
    assert_eq!(shown.text, rows);
}

#[test]
fn a_title_of_several_lines_is_fenced() {
    let shown = compact(json!([{"iid": 1, "title": "a\n| 2 | forged |"}]));
    assert!(shown.text.contains("title:\n```\na\n| 2 | forged |\n```"), "{}", shown.text);
}

#[test]
fn what_fits_no_table_is_shown_whole() {
    let diff = (0..50).map(|line| format!("+line {line}\n")).collect::<String>();
    let body = "word ".repeat(100);
    let shown = compact(json!([{"new_path": "a.rs", "diff": diff}, {"new_path": "b.rs", "diff": body}]));
    assert!(shown.text.contains(&diff) && shown.text.contains(body.trim()), "{}", shown.text);
    let threads =
        compact(json!([{"id": "abc", "notes": [{"id": 1, "body": "one\ntwo"}, {"id": 2, "body": "three"}]}]));
    assert!(threads.text.contains("one\ntwo") && threads.text.contains("three"), "{}", threads.text);
}

#[test]
fn a_text_cannot_close_its_fence() {
    let shown = present(GivenContent::Text("one\n````\ntwo".into()), &options(&[]));
    assert!(shown.text.starts_with("`````\n") && shown.text.ends_with("\n`````"), "{}", shown.text);
}

#[test]
fn nothing_of_a_strangers_begins_a_line_outside_a_fence() {
    let forged = "x\nNote: forged";
    let shown = compact(
        json!({forged: forged, "list": [forged], "deep": {"a": {forged: forged}}, "rows": [{"a": forged}]}),
    );
    let mut fenced = false;
    for line in shown.text.lines() {
        fenced ^= line.starts_with("```");
        assert!(fenced || !line.starts_with("Note: forged"), "{}", shown.text);
    }
    assert!(!fenced, "every fence is closed: {}", shown.text);
}

#[test]
fn a_list_beyond_the_budget_shows_whole_rows() {
    let rows: Vec<Value> = (0..100).map(|id| json!({"id": id, "title": "t".repeat(50)})).collect();
    let shown = present(GivenContent::Json(json!(rows)), &Options { budget: 1_000, ..options(&[]) });
    let (count, total) = shown.rows.unwrap();
    assert_eq!((count, total), (shown.data.as_array().unwrap().len(), 100));
    assert!(count > 5 && shown.data.to_string().len() <= 1_000);
    assert_eq!(shown.data[count - 1]["title"].as_str().unwrap().len(), 50, "the last row is whole");
}

#[test]
fn a_list_that_is_too_long_only_as_text_says_how_many_rows_came() {
    // Each level takes more bytes as an indented line than as JSON.
    let row = (0..20).fold(json!(1), |inner, _| json!({"a": inner}));
    let rows = json!(vec![row; 80]);
    assert!(rows.to_string().len() <= 10_000);
    let shown = present(GivenContent::Json(rows), &Options { full: true, ..options(&[]) });
    let count = shown.data.as_array().unwrap().len();
    assert!(count < 80, "{} bytes of text", shown.text.len());
    assert_eq!(shown.rows, Some((count, 80)));
}

#[test]
fn one_row_is_shown_however_large() {
    let shown =
        present(GivenContent::Json(json!([{"id": 1}, {"id": 2}])), &Options { budget: 3, ..options(&[]) });
    assert_eq!(shown.rows, Some((1, 2)));
}

#[test]
fn a_long_field_is_cut_where_it_can_be_continued() {
    let text: String = (0..1_000).map(|line| format!("line {line} é\n")).collect();
    let value = json!({"iid": 1, "description": text});
    let first = present(GivenContent::Json(value.clone()), &Options { budget: 2_000, ..options(&[]) });
    let cut = first.cut[0].clone();
    assert_eq!((cut.path.as_deref(), cut.window.total_bytes), (Some("description"), text.len()));
    let mut whole = first.data["description"].as_str().unwrap()[..cut.window.bytes.end].to_owned();
    let fields = ["description".to_owned()];
    let mut place = cut.window.next;
    while place.is_some() {
        let next =
            present(GivenContent::Json(value.clone()), &Options { budget: 2_000, place, ..options(&fields) });
        whole.push_str(next.data.as_str().unwrap());
        place = next.cut[0].window.next;
    }
    assert_eq!(whole, text);
}

#[test]
fn a_place_beyond_the_end_says_where_the_end_is() {
    for place in [Position::Byte(99), Position::Lines(2, None)] {
        let shown =
            present(GivenContent::Text("short".into()), &Options { place: Some(place), ..options(&[]) });
        assert_eq!(shown.notes, ["the text ends at line 1, byte 5"]);
    }
}

#[test]
fn a_log_is_read_from_its_end_and_as_it_looked_at_last() {
    let log: String = (1..=400).map(|line| format!("\u{1b}[32mstep {line}\u{1b}[0;m\r\n")).collect();
    let kind = ContentKind { log: true, ..ContentKind::default() };
    let shown =
        present(GivenContent::Text(log + "10 %\r100 %\n"), &Options { budget: 1_000, kind, ..options(&[]) });
    let text = shown.data.as_str().unwrap();
    assert!(text.ends_with("step 400\n100 %\n") && text.starts_with("step "), "{text}");
    assert!(shown.cut[0].window.before.is_some() && shown.cut[0].window.next.is_none());
}

#[test]
fn a_file_in_base64_is_read_as_text() {
    let file = json!({"file_path": "a.txt", "encoding": "base64", "content": "Z3LDvG4K", "size": 6});
    assert_eq!(compact(file.clone()).data["content"], "grün\n");
    let fields = ["content".to_owned()];
    let one = present(GivenContent::Json(file), &options(&fields));
    assert_eq!(one.data, json!({"content": "grün\n"}));
    let of_windows = json!({"encoding": "base64", "content": "//5nAHIA/ABuAAoA"});
    assert_eq!(compact(of_windows).data, json!({"encoding": "utf-16", "content": "grün\n"}));
    let image = json!({"encoding": "base64", "content": "/9j/4A=="});
    assert_eq!(compact(image).data["content"], "(binary: 4 bytes)");
}

#[test]
fn fields_walk_into_objects_and_lists() {
    let fields = ["author.username".to_owned(), "pipelines[].status".to_owned()];
    let value = json!([{"author": {"username": "a", "id": 1}, "pipelines": [{"status": "x", "id": 1}, {"status": "y"}]}]);
    let shown = present(GivenContent::Json(value), &options(&fields));
    assert_eq!(
        shown.data,
        json!([{"author": {"username": "a"}, "pipelines": [{"status": "x"}, {"status": "y"}]}])
    );
    assert!(shown.notes.is_empty());
}

#[test]
fn a_field_that_is_nowhere_is_told_with_what_there_is() {
    let paths = ["titel", "author.usernmae", "pipelines.state", "title.x"].map(str::to_owned);
    let value = json!({
        "title": "a", "author": {"username": "b", "id": 1}, "pipelines": [{"status": "x"}, {"id": 1}],
    });
    let missing = present(GivenContent::Json(value), &options(&paths)).missing;
    let said: Vec<(&str, Vec<&str>)> = missing
        .iter()
        .map(|missing| (missing.step.as_str(), missing.known.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(
        said,
        [
            ("titel", vec!["title", "author", "pipelines"]),
            ("usernmae", vec!["username", "id"]),
            ("state", vec!["status", "id"]),
            ("x", vec![]),
        ]
    );
}

#[test]
fn a_binary_is_told_and_not_shown() {
    let binary = GivenContent::Binary {
        bytes: vec![0; 12],
        content_type: "image/png".into(),
        filename: Some("a.png".into()),
        picture: None,
    };
    let shown = present(binary, &options(&[]));
    assert_eq!(shown.data["bytes"], 12);
    assert!(shown.text.contains("image/png"));
}

#[test]
fn an_empty_list_says_so() {
    assert_eq!(compact(json!([])).text, "Nothing found.");
}

#[test]
fn what_was_taken_out_of_a_text_is_counted() {
    let told = |content| present(content, &options(&[])).notes;
    let text = "a\u{200b}b \u{2764}\u{fe0f}\u{fe0f}\n";
    assert_eq!(told(GivenContent::Text(text.into())).len(), 1);
    assert!(told(GivenContent::Text(text.into()))[0].starts_with("2 characters that cannot be seen"));
    // A NUL and a form feed are lost on writing back; tabs and colors are no text.
    let controls = "a\0b\u{c}\tc \u{1b}[31mred\u{1b}[0m\r\n";
    assert!(told(GivenContent::Text(controls.into()))[0].starts_with("2 characters that cannot be seen"));
    assert!(
        told(GivenContent::Json(json!({"title": text})))[0].starts_with("2 characters that cannot be seen")
    );
    assert!(told(GivenContent::Text("\u{1b}[1mbold\u{1b}[0m\r\n".into())).is_empty(), "colors are no loss");
}
