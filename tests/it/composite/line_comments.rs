//! Comments on lines of a merge request and whole reviews, over stdio on the sandbox, which checks lines as GitLab
//! does.

use serde_json::{Value, json};

use crate::support::client::{Client, execute, follow, refused, succeed};
use crate::support::scripted_gitlab::{Answer, Gitlab, answer, raw};

const GEAR: &str = "src/widget/gear.rs";
/// printf src/widget/gear.rs | sha1sum
const GEAR_SHA: &str = "fee30fba7c15fe0019e606253e6dd4d1847030cd";
/// printf src/widget/wheel.rs | sha1sum
const WHEEL_SHA: &str = "43ee2855edf5875933e06aaaaff522a9b13e92ef";

/// A merge request that changes one file: its lines before and after, and perhaps its new path.
fn merge_request(client: &mut Client, before: &str, after: &str, moved: Option<&str>) -> u64 {
    let commit = |client: &mut Client, branch: &str, start: &str, action: Value| {
        let params = json!({"fullPath": "acme/widget", "branch": branch, "start_branch": start,
                            "commit_message": "Turn", "actions": [action]});
        succeed(client, "commit.create", params);
    };
    let written = json!({"action": "update", "file_path": GEAR, "content": before});
    commit(client, "base-of-lines", "main", written);
    let changed = match moved {
        Some(path) => json!({"action": "move", "previous_path": GEAR, "file_path": path, "content": after}),
        None => json!({"action": "update", "file_path": GEAR, "content": after}),
    };
    commit(client, "lines", "base-of-lines", changed);
    let params = json!({"fullPath": "acme/widget", "title": "Lines", "source_branch": "lines", "target_branch": "base-of-lines"});
    succeed(client, "merge_request.create", params)["data"]["iid"].as_u64().unwrap()
}

fn numbered(lines: std::ops::RangeInclusive<u32>) -> Vec<String> {
    lines.map(|line| format!("line {line}")).collect()
}

/// Forty lines of which the tenth goes, and after the twentieth two come.
fn ten_gone_two_new() -> (String, String) {
    let before = numbered(1..=40);
    let mut after = before.clone();
    after.remove(9);
    after.splice(19..19, ["new a".to_owned(), "new b".to_owned()]);
    (before.join("\n") + "\n", after.join("\n") + "\n")
}

fn commented(client: &mut Client, iid: u64, place: Value) -> Value {
    let mut params = json!({"fullPath": "acme/widget", "iid": iid, "body": "Why?"});
    params.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
    succeed(client, "merge_request.comment_on_line", params)["data"].clone()
}

/// The position of the newest thread, as GitLab keeps it.
fn kept(client: &mut Client, iid: u64) -> Value {
    let listed = client.call(
        "gitlab_execute_action",
        json!({"action": "merge_request_discussion.list", "view": "full",
               "params": {"fullPath": "acme/widget", "iid": iid, "per_page": 100}}),
    );
    let threads = listed.structured["data"].as_array().unwrap().clone();
    threads.last().unwrap()["notes"][0]["position"].clone()
}

fn threads(client: &mut Client, iid: u64) -> usize {
    let params = json!({"fullPath": "acme/widget", "iid": iid, "per_page": 100});
    succeed(client, "merge_request_discussion.list", params)["data"].as_array().unwrap().len()
}

#[test]
fn an_added_a_removed_and_a_kept_line_are_commented_on_by_their_numbers() {
    let mut client = Client::sandbox();
    let (before, after) = ten_gone_two_new();
    let iid = merge_request(&mut client, &before, &after, None);
    // place, the line's text, old_line, new_line
    let cases = [
        (json!({"file": GEAR, "line": 21}), "new b", Value::Null, json!(21)),
        (json!({"file": GEAR, "line": 10, "side": "old"}), "line 10", json!(10), Value::Null),
        (json!({"file": GEAR, "line": 22}), "line 21", json!(21), json!(22)),
        (json!({"file": GEAR, "line": 8, "side": "old"}), "line 8", json!(8), json!(8)),
        (json!({"file": format!("./{GEAR}"), "line": 10}), "line 11", json!(11), json!(10)),
    ];
    for (place, text, old, new) in cases {
        let data = commented(&mut client, iid, place.clone());
        assert_eq!(
            (&data["line"], &data["old_line"], &data["new_line"]),
            (&json!(text), &old, &new),
            "{place}"
        );
        let position = kept(&mut client, iid);
        assert_eq!(position.get("old_line").unwrap_or(&Value::Null), &old, "{place}");
        assert_eq!(position.get("new_line").unwrap_or(&Value::Null), &new, "{place}");
        assert!(position.get("line_range").is_none(), "{position}");
    }
}

#[test]
fn a_line_is_commented_on_by_its_text() {
    let mut client = Client::sandbox();
    let before = "fn main() {\n    let teeth = 8;\n    turn();\n    stop();\n}\n";
    let after = "fn main() {\n    let teeth = 16;\n    turn();\n    oil(teeth);\n    turn(); // again\n}\n";
    let iid = merge_request(&mut client, before, after, None);
    // place, the line's text, old_line, new_line
    let cases = [
        (
            json!({"file": GEAR, "line_text": "  let teeth = 16;  "}),
            "    let teeth = 16;",
            Value::Null,
            json!(2),
        ),
        (json!({"file": GEAR, "line_text": "oil("}), "    oil(teeth);", Value::Null, json!(4)),
        // A whole unchanged line before a part of an added one.
        (json!({"file": GEAR, "line_text": "turn();"}), "    turn();", json!(3), json!(3)),
        // An added line before a removed one, unless `side` says which.
        (json!({"file": GEAR, "line_text": "teeth ="}), "    let teeth = 16;", Value::Null, json!(2)),
        (
            json!({"file": GEAR, "line_text": "teeth =", "side": "old"}),
            "    let teeth = 8;",
            json!(2),
            Value::Null,
        ),
        (json!({"file": GEAR, "line_text": "stop();"}), "    stop();", json!(4), Value::Null),
        // In all changed files.
        (json!({"line_text": "// again"}), "    turn(); // again", Value::Null, json!(5)),
    ];
    for (place, text, old, new) in cases {
        let data = commented(&mut client, iid, place.clone());
        assert_eq!((&data["line"], &data["file"]), (&json!(text), &json!(GEAR)), "{place}");
        let position = kept(&mut client, iid);
        assert_eq!(position.get("old_line").unwrap_or(&Value::Null), &old, "{place}");
        assert_eq!(position.get("new_line").unwrap_or(&Value::Null), &new, "{place}");
    }
}

#[test]
fn a_line_is_commented_on_by_its_permalink() {
    let mut client = Client::sandbox();
    let (before, after) = ten_gone_two_new();
    let iid = merge_request(&mut client, &before, &after, None);
    let project = succeed(&mut client, "project.get", json!({"fullPath": "acme/widget"}));
    let page = format!("{}/-", project["data"]["web_url"].as_str().unwrap());
    let get = json!({"action": "merge_request.get", "params": {"fullPath": "acme/widget", "iid": iid}, "fields": ["sha"]});
    let head =
        client.call("gitlab_execute_action", get).structured["data"]["sha"].as_str().unwrap().to_owned();
    // permalink, the line's text, old_line, new_line
    let cases = [
        (format!("{page}/blob/{head}/{GEAR}#L21"), "new b", Value::Null, json!(21)),
        // The same line of another commit has another number there.
        (format!("{page}/blob/base-of-lines/{GEAR}#L21"), "line 21", json!(21), json!(22)),
        (format!("{page}/commit/{head}#{GEAR_SHA}_21_20"), "new a", Value::Null, json!(20)),
        (format!("{page}/commit/{head}#{GEAR_SHA}_10_10"), "line 10", json!(10), Value::Null),
        (format!("{page}/merge_requests/{iid}/diffs#{GEAR_SHA}_21_22"), "line 21", json!(21), json!(22)),
    ];
    for (link, text, old, new) in cases {
        let data = commented(&mut client, iid, json!({"line_text": link}));
        assert_eq!(
            (&data["line"], &data["old_line"], &data["new_line"], &data["file"]),
            (&json!(text), &old, &new, &json!(GEAR)),
            "{link}"
        );
    }
    let range = format!("{page}/blob/{head}/{GEAR}#L20-21");
    commented(&mut client, iid, json!({"file": range}));
    assert!(kept(&mut client, iid)["line_range"].is_object());
    let count = threads(&mut client, iid);
    for (link, says) in [
        ("https://gitlab.com/acme/widget/-/blob/main/a#L1".to_owned(), "not of this GitLab"),
        (format!("{page}/blob/main/{GEAR}"), "expected the address of a line"),
        (format!("{page}/blob/base-of-lines/{GEAR}#L400"), "is blank or missing"),
        (format!("{page}/commit/{head}#{WHEEL_SHA}_1_1"), "names no line"),
    ] {
        let params = json!({"fullPath": "acme/widget", "iid": iid, "line_text": link, "body": "Why?"});
        let error = refused(&execute(&mut client, "merge_request.comment_on_line", params), "invalid_params");
        assert!(error["message"].as_str().unwrap().contains(says), "{error}");
    }
    assert_eq!(threads(&mut client, iid), count);
    let comments = json!([{"line_text": format!("{page}/blob/{head}/{GEAR}#L20"), "body": "How?"}]);
    let review = json!({"fullPath": "acme/widget", "iid": iid, "comments": comments});
    let posted = succeed(&mut client, "merge_request.review", review);
    assert_eq!(
        (&posted["data"][0]["status"], &posted["data"][0]["on"]),
        (&json!("posted"), &json!(format!("{GEAR}:20")))
    );
}

/// The error of a comment that is not posted, and the line that the call in its `fix` posts on.
fn mended(client: &mut Client, iid: u64, place: Value) -> (Value, Value) {
    let count = threads(client, iid);
    let mut params = json!({"fullPath": "acme/widget", "iid": iid, "body": "Why?"});
    params.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
    let reply = execute(client, "merge_request.comment_on_line", params);
    let error = refused(&reply, "invalid_params");
    assert_eq!(threads(client, iid), count, "nothing was posted");
    let fix = error["fix"].clone();
    assert!(fix["arguments"]["params"].get("line_text").is_none(), "{fix}");
    let done = follow(client, &fix);
    assert!(!done.is_error, "{}", done.text);
    (error, done.structured["data"].clone())
}

#[test]
fn a_text_of_several_lines_of_a_diff_is_told_with_them_and_nothing_is_posted() {
    let mut client = Client::sandbox();
    let before = "a\nb\nc\n";
    let after = "a\nturn(1);\nb\nturn(2);\nc\n";
    let iid = merge_request(&mut client, before, after, None);
    let (error, done) = mended(&mut client, iid, json!({"file": GEAR, "line_text": "turn("}));
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("matches 2 lines of the diff: src/widget/gear.rs:2, src/widget/gear.rs:4"),
        "{message}"
    );
    let listed: Vec<(&Value, &Value)> =
        error["matches"].as_array().unwrap().iter().map(|row| (&row["line"], &row["text"])).collect();
    assert_eq!(listed, [(&json!(2), &json!("turn(1);")), (&json!(4), &json!("turn(2);"))]);
    assert_eq!((&done["line"], &done["new_line"]), (&json!("turn(1);"), &json!(2)));
}

#[test]
fn a_text_that_is_nowhere_in_a_diff_is_told_with_the_most_similar_line() {
    let mut client = Client::sandbox();
    let (before, after) = ("a\n", "a\nlet speed = wheel.turn(16);\n");
    let iid = merge_request(&mut client, before, after, None);
    let (error, done) = mended(&mut client, iid, json!({"line_text": "let speed = wheel.turn(61);"}));
    assert_eq!(error["similar"][0]["text"], "let speed = wheel.turn(16);");
    assert!(error["message"].as_str().unwrap().contains("src/widget/gear.rs:2"), "{error}");
    assert_eq!(done["new_line"], 2);
    let at = |place: Value| {
        let mut params = json!({"fullPath": "acme/widget", "iid": iid, "body": "Why?"});
        params.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
        params
    };
    let nothing = execute(&mut client, "merge_request.comment_on_line", at(json!({"line_text": "zyx (%)"})));
    let error = refused(&nothing, "invalid_params");
    assert_eq!(error["fix"]["arguments"]["action"], "merge_request.list_diffs", "{error}");
    for (place, expected) in [
        (json!({"file": GEAR, "line_text": "a", "line": 1}), "`line_text` cannot be combined with `line`"),
        (json!({"line_text": "a", "line_start": 1, "line_end": 2}), "cannot be combined with `line_start`"),
        (json!({"file": GEAR}), "`line_text`"),
        (json!({}), "`line_text`"),
    ] {
        let reply = execute(&mut client, "merge_request.comment_on_line", at(place));
        let error = refused(&reply, "invalid_params");
        assert!(error["message"].as_str().unwrap().contains(expected), "{error}");
    }
}

#[test]
fn a_text_is_searched_in_files_whose_diff_gitlab_does_not_send_at_first() {
    let mut client = Client::sandbox();
    let long = commented(&mut client, 7, json!({"file": "data/huge.csv", "line": 1_999}));
    let text = long["line"].as_str().unwrap().to_owned();
    let found = commented(&mut client, 7, json!({"file": "data/huge.csv", "line_text": text}));
    assert_eq!((&found["file"], &found["new_line"]), (&json!("data/huge.csv"), &json!(1_999)));
}

#[test]
fn a_text_that_cannot_be_searched_in_every_file_is_told_with_the_line_that_was_found() {
    let gitlab = Gitlab::with_project();
    let refs = json!({"base_sha": "b".repeat(40), "start_sha": "b".repeat(40), "head_sha": "c".repeat(40)});
    gitlab.json("/merge_requests/5", &json!({"id": 50, "iid": 5, "diff_refs": refs}));
    let diff = |path: &str, too_large: bool| {
        let diff = if too_large { "" } else { "@@ -0,0 +1,1 @@\n+turn();\n" };
        json!({"old_path": path, "new_path": path, "too_large": too_large, "diff": diff})
    };
    gitlab.json("/merge_requests/5/diffs", &json!([diff("a.rs", false), diff("big.rs", true)]));
    gitlab.answer("GET", "/merge_requests/5/raw_diffs", answer(500, json!({"message": "500"})));
    let mut client = gitlab.client(&[]);
    let params = json!({"fullPath": "acme/widget", "iid": 5, "body": "?", "line_text": "turn();"});
    let error = refused(&execute(&mut client, "merge_request.comment_on_line", params), "invalid_params");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("matches a.rs:1") && message.contains("big.rs not searched"), "{message}");
    let params = &error["fix"]["arguments"]["params"];
    assert_eq!((&params["file"], &params["line"]), (&json!("a.rs"), &json!(1)));
    assert!(gitlab.received().iter().all(|request| request.method == "GET"));
}

#[test]
fn the_number_that_a_diff_shows_before_a_line_is_the_one_to_comment_on() {
    let mut client = Client::sandbox();
    let (before, after) = ten_gone_two_new();
    let iid = merge_request(&mut client, &before, &after, None);
    let params = json!({"fullPath": "acme/widget", "iid": iid});
    let expected = "```
 7  line 7
 8  line 8
 9  line 9
10 -line 10
10  line 11
11  line 12
12  line 13
@@
17  line 18
18  line 19
19  line 20
20 +new a
21 +new b
22  line 21
23  line 22
24  line 23
```
";
    let fetched = json!({"targets": [format!("acme/widget!{iid}")], "diffs": true});
    let compared = json!({"fullPath": "acme/widget", "from": "base-of-lines", "to": "lines"});
    for (action, params) in [
        ("merge_request.list_diffs", params.clone()),
        ("merge_request.get_changes", params),
        ("commit.diff", json!({"fullPath": "acme/widget", "sha": "lines"})),
        ("repository.compare", compared),
        ("resource.fetch", fetched),
    ] {
        let reply = execute(&mut client, action, params);
        assert!(!reply.is_error && reply.text.contains(expected), "{action}: {}", reply.text);
        let gitlabs = "@@ -7,7 +7,6 @@\\n line 7\\n line 8\\n line 9\\n-line 10\\n line 11\\n";
        assert!(reply.structured.to_string().contains(gitlabs), "{action}: {}", reply.structured);
    }
    let part = client.call(
        "gitlab_execute_action",
        json!({"action": "merge_request.get_changes", "params": {"fullPath": "acme/widget", "iid": iid},
               "fields": ["changes.0.diff"], "lines": "5-7"}),
    );
    assert!(part.text.contains("```\n10 -line 10\n10  line 11\n11  line 12\n```\n"), "{}", part.text);
    assert_eq!(part.structured["data"], "-line 10\n line 11\n line 12\n");
    for (row, side) in [("10 -line 10", "old"), ("21 +new b", "new"), ("22  line 21", "new")] {
        let (number, text) = row.split_at(2);
        let line: u64 = number.parse().unwrap();
        let data = commented(&mut client, iid, json!({"file": GEAR, "line": line, "side": side}));
        assert_eq!(data["line"], text[2..], "{row}");
    }
}

#[test]
fn a_range_has_the_codes_of_both_ends() {
    let mut client = Client::sandbox();
    let (before, after) = ten_gone_two_new();
    let iid = merge_request(&mut client, &before, &after, None);
    commented(&mut client, iid, json!({"file": GEAR, "line_start": 19, "line_end": 22}));
    let position = kept(&mut client, iid);
    assert_eq!((&position["old_line"], &position["new_line"]), (&json!(21), &json!(22)));
    let start = json!({"line_code": format!("{GEAR_SHA}_20_19")});
    let end = json!({"line_code": format!("{GEAR_SHA}_21_22")});
    assert_eq!(position["line_range"], json!({"start": start, "end": end}));
    commented(&mut client, iid, json!({"file": GEAR, "line_start": 20, "line_end": 21}));
    let range = kept(&mut client, iid)["line_range"].clone();
    assert_eq!(range["start"], json!({"line_code": format!("{GEAR_SHA}_21_20"), "type": "new"}));
}

#[test]
fn a_renamed_file_is_named_by_either_path() {
    let mut client = Client::sandbox();
    let (before, after) = ten_gone_two_new();
    let wheel = "src/widget/wheel.rs";
    let iid = merge_request(&mut client, &before, &after, Some(wheel));
    for file in [wheel, GEAR] {
        commented(&mut client, iid, json!({"file": file, "line_start": 20, "line_end": 21}));
        let position = kept(&mut client, iid);
        assert_eq!((&position["old_path"], &position["new_path"]), (&json!(GEAR), &json!(wheel)));
        assert_eq!(position["line_range"]["end"]["line_code"], format!("{WHEEL_SHA}_21_21"));
    }
}

#[test]
fn a_line_that_is_not_in_the_diff_is_told_with_the_nearest_and_nothing_is_posted() {
    let mut client = Client::sandbox();
    let (before, after) = ten_gone_two_new();
    let iid = merge_request(&mut client, &before, &after, None);
    let at = |place: Value| {
        let mut params = json!({"fullPath": "acme/widget", "iid": iid, "body": "Why?"});
        params.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
        params
    };
    let count = threads(&mut client, iid);
    let reply = execute(&mut client, "merge_request.comment_on_line", at(json!({"file": GEAR, "line": 39})));
    assert!(reply.is_error, "{}", reply.text);
    let error = &reply.structured["error"];
    assert!(error["message"].as_str().unwrap().contains("line 39"), "{error}");
    assert_eq!(error["nearest"], json!({"line": 24, "side": "new", "text": "line 23"}));
    let near =
        execute(&mut client, "merge_request.comment_on_line", at(json!({"file": "gear.rs", "line": 21})));
    assert_eq!(near.structured["error"]["fix"]["arguments"]["params"]["file"], GEAR);
    let nowhere =
        execute(&mut client, "merge_request.comment_on_line", at(json!({"file": "LICENSE", "line": 1})));
    assert_eq!(nowhere.structured["error"]["kind"], "invalid_params");
    assert_eq!(threads(&mut client, iid), count, "nothing was posted");
    let fix = error["fix"].clone();
    let mended = client.call(fix["tool"].as_str().unwrap(), fix["arguments"].clone());
    assert!(!mended.is_error, "{}", mended.text);
    assert_eq!(mended.structured["data"]["line"], "line 23");
}

#[test]
fn a_file_whose_diff_is_folded_or_too_large_is_read_from_the_whole_diff() {
    let mut client = Client::sandbox();
    for (file, line) in [("data/long.csv", 321), ("data/huge.csv", 1_999)] {
        let data = commented(&mut client, 7, json!({"file": file, "line": line}));
        assert!(data["line"].as_str().unwrap().starts_with(&format!("{line},")), "{data}");
    }
}

#[test]
fn a_suggestion_replaces_just_the_lines_that_it_is_on() {
    let mut client = Client::sandbox();
    let (before, after) = ten_gone_two_new();
    let iid = merge_request(&mut client, &before, &after, None);
    let place = json!({"file": GEAR, "line_start": 20, "line_end": 21, "suggestion": "one line"});
    let id = commented(&mut client, iid, place)["note_id"].clone();
    let params = json!({"fullPath": "acme/widget", "iid": iid, "note_id": id});
    let note = succeed(&mut client, "merge_request_note.get", params);
    assert_eq!(note["data"]["body"], "Why?\n\n```suggestion:-1+0\none line\n```");
    let params = json!({"fullPath": "acme/widget", "iid": iid, "body": "Why?", "file": GEAR, "line": 10,
                        "side": "old", "suggestion": "back"});
    let refused = execute(&mut client, "merge_request.comment_on_line", params);
    assert!(refused.is_error && refused.text.contains("removed"), "{}", refused.text);
}

#[test]
fn a_suggestion_keeps_the_indentation_of_the_line_and_needs_no_body() {
    let mut client = Client::sandbox();
    let (before, _) = ten_gone_two_new();
    let after = format!("{before}        deep();\n\tturn();\n");
    let iid = merge_request(&mut client, &before, &after, None);
    for (text, suggested, stored) in [
        ("        deep();", "deeper();\nmore();\n", "        deeper();\n        more();\n"),
        ("turn();", "twice();", "\ttwice();\n"),
        // Who gives an indentation means it.
        ("        deep();", "    deeper();", "    deeper();\n"),
        ("        deep();", "", ""),
    ] {
        let params = json!({"fullPath": "acme/widget", "iid": iid, "file": GEAR, "line_text": text, "suggestion": suggested});
        let reply = execute(&mut client, "merge_request.comment_on_line", params);
        assert!(!reply.is_error && reply.text.contains(stored.trim_end()), "{}", reply.text);
        let note =
            json!({"fullPath": "acme/widget", "iid": iid, "note_id": reply.structured["data"]["note_id"]});
        let note = succeed(&mut client, "merge_request_note.get", note);
        assert_eq!(note["data"]["body"], format!("```suggestion:-0+0\n{stored}```"));
    }
    let params = json!({"fullPath": "acme/widget", "iid": iid, "file": GEAR, "line_text": "turn();"});
    let refused = execute(&mut client, "merge_request.comment_on_line", params.clone());
    assert!(refused.is_error && refused.text.contains("suggestion"), "{}", refused.text);
    // So in a review.
    let mut comment = json!({"file": GEAR, "line_text": "turn();"});
    let review = |comment: &Value| json!({"fullPath": "acme/widget", "iid": iid, "comments": [comment]});
    let refused = execute(&mut client, "merge_request.review", review(&comment));
    assert!(refused.is_error && refused.text.contains("`body` is empty"), "{}", refused.text);
    comment["suggestion"] = json!("thrice();");
    succeed(&mut client, "merge_request.review", review(&comment));
    let notes =
        succeed(&mut client, "merge_request_note.list", json!({"fullPath": "acme/widget", "iid": iid}));
    assert!(notes["data"].to_string().contains("\\tthrice();"), "{notes}");
}

#[test]
fn a_review_posts_its_comments_and_its_verdict_once() {
    let mut client = Client::sandbox();
    let review = json!({
        "fullPath": "acme/widget", "iid": 5, "verdict": "approve", "body": "Well oiled.",
        "comments": [
            {"file": GEAR, "line": 6, "body": "Which oil?"},
            {"file": "docs/CHANGELOG.md", "line": 3, "body": "Quiet, or silent?"},
            {"file": GEAR, "line": 6, "body": "Which oil?"},
        ],
    });
    let before = threads(&mut client, 5);
    let done = succeed(&mut client, "merge_request.review", review.clone());
    let status: Vec<&str> =
        done["data"].as_array().unwrap().iter().map(|row| row["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["posted", "posted", "already_there", "posted", "given"], "{done}");
    assert!(done["data"][0]["note_id"].is_u64(), "{done}");
    // Three comments, and the system note of the approval.
    assert_eq!(threads(&mut client, 5), before + 4);
    let approvals =
        succeed(&mut client, "merge_request.get_approvals", json!({"fullPath": "acme/widget", "iid": 5}));
    assert!(approvals.to_string().contains("\"sandbox\""), "{approvals}");
    // A client that did not see the answer may ask again.
    let mut again = review;
    again["verdict"] = json!("comment");
    let again = succeed(&mut client, "merge_request.review", again);
    assert!(again["data"].as_array().unwrap().iter().all(|row| row["status"] == "already_there"), "{again}");
    assert_eq!(threads(&mut client, 5), before + 4);
}

#[test]
fn the_same_remark_is_posted_at_every_place_that_it_is_for() {
    let mut client = Client::sandbox();
    let mut review = |comments: Value| {
        let params = json!({"fullPath": "acme/widget", "iid": 5, "comments": comments});
        succeed(&mut client, "merge_request.review", params)["data"].clone()
    };
    let first = json!({"file": GEAR, "line": 6, "body": "Which oil?"});
    review(json!([first]));
    let elsewhere = json!({"file": "docs/CHANGELOG.md", "line": 3, "body": "Which oil?"});
    let done = review(json!([first, elsewhere, {"body": "Which oil?"}]));
    let statuses: Vec<&Value> = done.as_array().unwrap().iter().map(|row| &row["status"]).collect();
    assert_eq!(statuses, ["already_there", "posted", "posted"], "{done}");
}

#[test]
fn a_review_with_one_bad_comment_posts_nothing_and_its_fix_posts_all() {
    let mut client = Client::sandbox();
    let before = threads(&mut client, 5);
    let review = json!({
        "fullPath": "acme/widget", "iid": 5, "verdict": "request_changes",
        "comments": [{"file": GEAR, "line": 6, "body": "Which oil?"}, {"file": GEAR, "line": 900, "body": "And here?"}],
    });
    let reply = execute(&mut client, "merge_request.review", review);
    let error = &reply.structured["error"];
    assert!(reply.is_error, "{}", reply.text);
    assert_eq!(
        (error["comments"].as_array().unwrap().len(), &error["comments"][0]["comment"]),
        (1, &json!(2))
    );
    assert_eq!(threads(&mut client, 5), before);
    let drafts = succeed(&mut client, "draft_note.list", json!({"fullPath": "acme/widget", "iid": 5}));
    assert_eq!(drafts["data"], json!([]), "no draft is left behind");
    let fix = error["fix"].clone();
    let mended = client.call(fix["tool"].as_str().unwrap(), fix["arguments"].clone());
    assert!(!mended.is_error, "{}", mended.text);
    assert_eq!(threads(&mut client, 5), before + 2);
    let reviewers =
        succeed(&mut client, "merge_request.list_reviewers", json!({"fullPath": "acme/widget", "iid": 5}));
    assert!(reviewers.to_string().contains("requested_changes"), "{reviewers}");
}

#[test]
fn a_review_finds_its_lines_by_their_text() {
    let mut client = Client::sandbox();
    let (before, after) = ten_gone_two_new();
    let iid = merge_request(&mut client, &before, &after, None);
    let review = |texts: [&str; 2]| {
        let comments: Vec<Value> =
            texts.iter().map(|text| json!({"file": GEAR, "line_text": text, "body": text})).collect();
        json!({"fullPath": "acme/widget", "iid": iid, "comments": comments})
    };
    let count = threads(&mut client, iid);
    let reply = execute(&mut client, "merge_request.review", review(["new b", "new"]));
    let error = refused(&reply, "invalid_params");
    let row = &error["comments"][0];
    assert_eq!(row["comment"], 2, "{error}");
    let matches: Vec<&Value> = row["matches"].as_array().unwrap().iter().map(|row| &row["line"]).collect();
    assert_eq!(matches, [&json!(20), &json!(21)], "{error}");
    assert_eq!(threads(&mut client, iid), count, "nothing was posted");
    let fixed = follow(&mut client, &error["fix"]);
    let places: Vec<&Value> =
        fixed.structured["data"].as_array().unwrap().iter().map(|row| &row["on"]).collect();
    assert_eq!(places, [&json!(format!("{GEAR}:21")), &json!(format!("{GEAR}:20"))], "{}", fixed.text);
    let done = succeed(&mut client, "merge_request.review", review(["line 10", "line 21"]));
    let places: Vec<&Value> = done["data"].as_array().unwrap().iter().map(|row| &row["on"]).collect();
    assert_eq!(places, [&json!(format!("{GEAR}:10 (old)")), &json!(format!("{GEAR}:22"))], "{done}");
    assert_eq!(threads(&mut client, iid), count + 4);
}

#[test]
fn drafts_that_were_there_before_stay_drafts() {
    let mut client = Client::sandbox();
    let draft = json!({"fullPath": "acme/widget", "iid": 5, "note": "Not yet."});
    succeed(&mut client, "draft_note.create", draft);
    let comments = json!([{"body": "Now."}, {"body": "And soon."}]);
    let review = json!({"fullPath": "acme/widget", "iid": 5, "comments": comments});
    let done = succeed(&mut client, "merge_request.review", review);
    assert!([0, 1].iter().all(|at| done["data"][at]["status"] == "posted"), "{done}");
    let drafts = succeed(&mut client, "draft_note.list", json!({"fullPath": "acme/widget", "iid": 5}));
    assert_eq!(drafts["data"].as_array().unwrap().len(), 1, "{drafts}");
}

#[test]
fn what_only_reads_may_posts_nothing() {
    let mut client = Client::sandbox_with(&[("GITLAB_READ_ONLY", "true")]);
    let review =
        json!({"fullPath": "acme/widget", "iid": 5, "comments": [{"body": "Now."}], "verdict": "approve"});
    for (action, params) in [
        ("merge_request.review", review),
        (
            "merge_request.comment_on_line",
            json!({"fullPath": "acme/widget", "iid": 5, "file": GEAR, "line": 6, "body": "?"}),
        ),
    ] {
        let reply = execute(&mut client, action, params);
        assert_eq!(reply.structured["error"]["kind"], "denied", "{}", reply.text);
    }
}

#[test]
fn a_dry_run_shows_each_request_and_posts_nothing() {
    let mut client = Client::sandbox();
    let before = threads(&mut client, 5);
    let params =
        json!({"fullPath": "acme/widget", "iid": 5, "comments": [{"file": GEAR, "line": 6, "body": "?"}]});
    let arguments = json!({"action": "merge_request.review", "params": params, "dry_run": true});
    let reply = client.call("gitlab_execute_action", arguments);
    assert_eq!(reply.structured["data"][0]["status"], "preview", "{}", reply.text);
    assert!(reply.text.contains("\"new_line\":6"), "{}", reply.text);
    assert_eq!(threads(&mut client, 5), before);
}

/// The merge request `!5` of a GitLab at that commit, without files or threads, where drafts are refused with that
/// status or published.
fn reviewed(head: &str, draft: Answer) -> Gitlab {
    let gitlab = Gitlab::with_project();
    let refs = json!({"base_sha": "b".repeat(40), "start_sha": "b".repeat(40), "head_sha": head});
    gitlab.json("/merge_requests/5", &json!({"id": 50, "iid": 5, "sha": head, "diff_refs": refs}));
    gitlab.json("/merge_requests/5/diffs", &json!([]));
    let note = |id: u64, body: &str| json!({"id": format!("t{id}"), "notes": [{"id": id, "body": body}]});
    gitlab.says(
        "GET /api/v4/projects/acme%2Fwidget/merge_requests/5/discussions",
        [answer(200, json!([])), answer(200, json!([note(1, "First."), note(2, "Second.")]))],
    );
    gitlab.json("/merge_requests/5/draft_notes", &json!([]));
    gitlab.says(
        "POST /api/v4/projects/acme%2Fwidget/merge_requests/5/draft_notes",
        [answer(201, json!({"id": 1, "note": "First."})), draft],
    );
    let published = [raw(204, "text/plain", "")];
    gitlab.says("POST /api/v4/projects/acme%2Fwidget/merge_requests/5/draft_notes/bulk_publish", published);
    gitlab.answer("POST", "/merge_requests/5/notes", answer(202, json!({"commands_changes": {}})));
    gitlab.answer("POST", "/merge_requests/5/approve", answer(201, json!({"iid": 5})));
    gitlab
}

fn review(verdict: &str) -> Value {
    json!({"fullPath": "acme/widget", "iid": 5, "verdict": verdict,
           "comments": [{"body": "First."}, {"body": "Second."}]})
}

#[test]
fn an_approval_is_of_the_reviewed_commit_and_not_of_what_was_pushed_since() {
    let reviewed_commit = "a".repeat(40);
    let gitlab = reviewed(&reviewed_commit, answer(201, json!({"id": 2, "note": "Second."})));
    let mut client = gitlab.client(&[]);
    let done = succeed(&mut client, "merge_request.review", review("approve"));
    assert_eq!(done["data"][2]["status"], "given", "{done}");
    let approve = |gitlab: &Gitlab| -> Vec<Value> {
        let requests = gitlab.received().into_iter().filter(|request| request.path.ends_with("/approve"));
        requests.map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
    };
    assert_eq!(approve(&gitlab), [json!({"sha": reviewed_commit})]);

    // A push between the read of the diff and the approval: GitLab compares the commits.
    let gitlab = reviewed(&reviewed_commit, answer(201, json!({"id": 2, "note": "Second."})));
    let moved = answer(409, json!({"message": "SHA does not match HEAD of source branch"}));
    gitlab.says("POST /api/v4/projects/acme%2Fwidget/merge_requests/5/approve", [moved]);
    let reply = execute(&mut gitlab.client(&[]), "merge_request.review", review("approve"));
    let rows = &reply.structured["data"];
    assert_eq!(
        (&rows[1]["status"], &rows[2]["status"]),
        (&json!("posted"), &json!("error")),
        "{}",
        reply.text
    );
    assert_eq!(
        approve(&gitlab),
        [json!({"sha": reviewed_commit})],
        "it is not sent again with another commit"
    );
}

#[test]
fn no_verdict_is_submitted_where_a_comment_was_not_posted() {
    let refusal = || answer(400, json!({"message": "400 Bad request - Note is too long"}));
    for verdict in ["approve", "request_changes"] {
        let gitlab = reviewed(&"a".repeat(40), refusal());
        let reply = execute(&mut gitlab.client(&[]), "merge_request.review", review(verdict));
        let rows = reply.structured["data"].as_array().unwrap();
        let statuses: Vec<&str> = rows.iter().map(|row| row["status"].as_str().unwrap()).collect();
        assert_eq!(statuses, ["posted", "error", "error"], "{}", reply.text);
        let message = rows[2]["error"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("`{verdict}` was not submitted")), "{message}");
        let sent: Vec<String> = gitlab.received().into_iter().map(|request| request.path).collect();
        let verdicts = sent.iter().filter(|path| path.ends_with("/approve") || path.ends_with("/5/notes"));
        assert_eq!(verdicts.count(), 0, "{sent:?}");
    }
    // The same review with all its comments has a verdict.
    let gitlab = reviewed(&"a".repeat(40), answer(201, json!({"id": 2, "note": "Second."})));
    let done = succeed(&mut gitlab.client(&[]), "merge_request.review", review("request_changes"));
    assert_eq!(done["data"][2]["status"], "given", "{done}");
}

/// A client that did not see the answer asks again, and the threads of a long discussion come by the hundred.
#[test]
fn a_review_that_is_repeated_after_a_hundred_threads_posts_nothing_twice() {
    let gitlab = reviewed(&"a".repeat(40), answer(201, json!({"id": 2, "note": "Second."})));
    let thread = |id: u64, body: &str| json!({"id": format!("t{id}"), "notes": [{"id": id, "body": body}]});
    let others: Vec<Value> = (1..=100).map(|id| thread(id, "Of others.")).collect();
    let pages = [others, vec![thread(101, "First."), thread(102, "Second.")]];
    gitlab.says(
        "GET /api/v4/projects/acme%2Fwidget/merge_requests/5/discussions",
        pages.map(|page| answer(200, page)),
    );
    let done = succeed(&mut gitlab.client(&[]), "merge_request.review", review("comment"));
    assert!(done["data"].as_array().unwrap().iter().all(|row| row["status"] == "already_there"), "{done}");
    assert!(gitlab.received().iter().all(|request| request.method == "GET"), "{:?}", gitlab.seen());
}

/// The merge request `!5` of a GitLab with these pages of changed files, which takes any comment.
fn with_diffs(pages: Vec<Value>) -> Gitlab {
    let gitlab = Gitlab::with_project();
    let refs = json!({"base_sha": "b".repeat(40), "start_sha": "b".repeat(40), "head_sha": "c".repeat(40)});
    gitlab.json("/merge_requests/5", &json!({"id": 50, "iid": 5, "diff_refs": refs}));
    let pages = pages.into_iter().map(|page| answer(200, page));
    gitlab.says("GET /api/v4/projects/acme%2Fwidget/merge_requests/5/diffs", pages);
    gitlab.answer(
        "POST",
        "/merge_requests/5/discussions",
        answer(201, json!({"id": "t1", "notes": [{"id": 1}]})),
    );
    gitlab
}

/// A file whose only change is a new line.
fn new_line(old: &str, new: &str, line: &str) -> Value {
    json!({"old_path": old, "new_path": new, "diff": format!("@@ -0,0 +1,1 @@\n+{line}\n")})
}

fn comment(place: Value) -> Value {
    let mut params = json!({"fullPath": "acme/widget", "iid": 5, "body": "Why?"});
    params.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
    params
}

/// The position of the comment that was sent.
fn sent_position(gitlab: &Gitlab) -> Value {
    let request = gitlab.last("/discussions");
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    body["position"].clone()
}

#[test]
fn files_beyond_the_first_hundred_can_be_commented_on_and_are_searched() {
    let first: Vec<Value> = (0..100)
        .map(|number| {
            new_line(&format!("f{number}.rs"), &format!("f{number}.rs"), &format!("line {number};"))
        })
        .collect();
    let second =
        vec![new_line("last.rs", "last.rs", "line 7;"), new_line("other.rs", "other.rs", "only here;")];
    let gitlab = || with_diffs(vec![json!(first), json!(second)]);

    let by_number = gitlab();
    succeed(
        &mut by_number.client(&[]),
        "merge_request.comment_on_line",
        comment(json!({"file": "last.rs", "line": 1})),
    );
    assert_eq!(sent_position(&by_number)["new_path"], "last.rs");

    // A review reads on until it has the files of all its comments.
    let review = gitlab();
    let comments =
        json!([{"file": "f1.rs", "line": 1, "body": "Why?"}, {"file": "last.rs", "line": 1, "body": "And?"}]);
    let params = json!({"fullPath": "acme/widget", "iid": 5, "comments": comments});
    let arguments = json!({"action": "merge_request.review", "params": params, "dry_run": true});
    let shown = review.client(&[]).call("gitlab_execute_action", arguments);
    assert_eq!(shown.structured["data"][1]["status"], "preview", "{}", shown.text);

    let by_text = gitlab();
    succeed(
        &mut by_text.client(&[]),
        "merge_request.comment_on_line",
        comment(json!({"line_text": "only here;"})),
    );
    assert_eq!(sent_position(&by_text)["new_path"], "other.rs");

    let twice = gitlab();
    let place = comment(json!({"line_text": "line 7;"}));
    let reply = execute(&mut twice.client(&[]), "merge_request.comment_on_line", place);
    let message = refused(&reply, "invalid_params")["message"].to_string();
    assert!(message.contains("f7.rs") && message.contains("last.rs"), "{message}");
    assert!(twice.received().iter().all(|request| request.method == "GET"));
}

#[test]
fn a_path_that_a_rename_gave_up_is_that_of_the_new_file_there() {
    let renamed = new_line("a.rs", "b.rs", "moved;");
    let put_there = new_line("a.rs", "a.rs", "new;");
    let gitlab = with_diffs(vec![json!([renamed, put_there])]);
    let place = comment(json!({"file": "a.rs", "line": 1}));
    succeed(&mut gitlab.client(&[]), "merge_request.comment_on_line", place);
    let position = sent_position(&gitlab);
    assert_eq!(
        (&position["old_path"], &position["new_path"]),
        (&json!("a.rs"), &json!("a.rs")),
        "{position}"
    );
}

/// A comment of a review is written line by line, and submitted with the others.
#[test]
fn a_comment_on_a_line_can_be_a_draft() {
    let mut client = Client::sandbox();
    let request = json!({"fullPath": "acme/widget", "iid": 5});
    let comment = json!({"fullPath": "acme/widget", "iid": 5, "file": "src/widget/gear.rs", "line": 6, "body": "Zero?", "draft": true});
    let reply = execute(&mut client, "merge_request.comment_on_line", comment);
    assert!(reply.text.starts_with("Drafted on src/widget/gear.rs:6"), "{}", reply.text);
    let drafts = execute(&mut client, "draft_note.list", request.clone());
    let draft = &drafts.structured["data"][0];
    assert_eq!(draft["note"], "Zero?", "{}", drafts.text);
    assert_eq!(draft["id"], reply.structured["data"]["draft_note_id"], "{}", reply.structured);
    let threads = execute(&mut client, "merge_request_discussion.list", request.clone());
    assert!(!threads.text.contains("Zero?"), "{}", threads.text);
    let published = execute(&mut client, "draft_note.publish_all", request.clone());
    assert!(!published.is_error, "{}", published.text);
    let threads = execute(&mut client, "merge_request_discussion.list", request);
    assert!(threads.text.contains("Zero?"), "{}", threads.text);
}
