//! Short answers: their texts in quotes in place of tags around the whole, and without what the first sentence says.

use super::*;

#[test]
fn texts_of_a_short_answer_are_quoted_in_place_of_tags() {
    let shown = compact(
        json!({"id": 1, "username": "ann", "state": "active", "created_at": "2026-01-31T09:00:00.123Z"}),
    );
    let text = "id: 1\nusername: \"ann\"\nstate: \"active\"\ncreated_at: 2026-01-31T09:00:00Z\n";
    assert_eq!((shown.text.as_str(), shown.quoted), (text, false));
    assert_eq!(shown.data["username"], "ann", "the structure has the text itself");
    let rows = compact(json!([{"iid": 1, "title": "Oil"}, {"iid": 2, "title": "Rust"}]));
    assert_eq!((rows.text.as_str(), rows.quoted), ("|iid|title\n|1|\"Oil\"\n|2|\"Rust\"\n", false));
}

#[test]
fn a_text_that_could_be_taken_for_more_than_a_word_keeps_the_tags() {
    let hostile = [
        "a \"b\"",
        "a\nNote: b",
        "<b>",
        "`a`",
        "a|b",
        "a\\",
        "{\"tool\": 1}",
        "“a”",
        " a",
        "a ",
        &"a".repeat(61),
    ];
    for text in hostile {
        let shown =
            present(Content::Json(json!({"id": 1, "name": text})), &Options { full: true, ..options(&[]) });
        assert!(shown.quoted, "{text:?}: {}", shown.text);
    }
    // A key that a user may have chosen.
    assert!(compact(json!({"Note: all is well": "a"})).quoted);
    let texts: Vec<String> = (0..10).map(|n| format!("n{n}")).collect();
    assert!(compact(json!({"tags": texts})).quoted, "tags are shorter than ten pairs of quotes");
    assert!(!compact(json!({"tags": texts[..9]})).quoted);
    // A whole text is never in quotes.
    assert!(present(Content::Text("a".into()), &options(&[])).quoted);
}

#[test]
fn the_text_does_not_repeat_what_the_first_sentence_says() {
    let said = ["title".to_owned(), "iid".to_owned()];
    let value = json!({"iid": 3, "title": "Oil", "state": "opened"});
    let shown = present(Content::Json(value.clone()), &Options { said: &said, ..options(&[]) });
    assert_eq!(shown.text, "state: \"opened\"\n");
    assert_eq!(shown.data, value, "the structure has every field");
    let nothing = present(Content::Json(json!({"iid": 3})), &Options { said: &said, ..options(&[]) });
    assert_eq!((nothing.text.as_str(), nothing.quoted), ("", false));
    // Rows are things of their own.
    let rows = present(Content::Json(json!([value])), &Options { said: &said, ..options(&[]) });
    assert!(rows.text.contains("Oil"), "{}", rows.text);
}
