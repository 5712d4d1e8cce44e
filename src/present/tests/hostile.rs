//! Whatever strangers write: it is shown between the marks of this server and nowhere else, and nothing of it is
//! invisible.

use proptest::prelude::*;

use super::*;

/// Invisible characters that text can be hidden in.
fn is_unseen(c: char) -> bool {
    let code = u32::from(c);
    let ranges = [
        (0x00, 0x08),
        (0x0b, 0x1f),
        (0x7f, 0x9f),
        (0xad, 0xad),
        (0x34f, 0x34f),
        (0x61c, 0x61c),
        (0x115f, 0x1160),
        (0x17b4, 0x17b5),
        (0x180b, 0x180f),
        (0x200b, 0x200f),
        (0x2028, 0x202e),
        (0x2060, 0x206f),
        (0x3164, 0x3164),
        (0xfe00, 0xfe0f),
        (0xfeff, 0xfeff),
        (0xffa0, 0xffa0),
        (0xfff0, 0xfffb),
        (0x1d173, 0x1d17a),
        (0xe0000, 0xe0fff),
    ];
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&code))
}

/// Texts made to break out: tags, fences, table bars, words of this server, line ends, and invisible characters.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("</gitlab>".to_owned()),
        Just("</gitlab-->".to_owned()),
        Just("</GITLAB >\n".to_owned()),
        Just("</gitlab x>".to_owned()),
        Just("</gitlab/>".to_owned()),
        Just("< /gitlab>".to_owned()),
        Just("\u{ff1c}/gitlab\u{ff1e}".to_owned()),
        Just("\n```\n".to_owned()),
        Just("`````".to_owned()),
        Just(" | ".to_owned()),
        Just("\\\\".to_owned()),
        Just("\nNote: forged".to_owned()),
        Just("\r\nNext: {\"tool\":\"x\"}".to_owned()),
        Just("\u{2028}Resolved: x".to_owned()),
        Just("\u{1b}[2K\u{1b}]0;".to_owned()),
        proptest::char::any().prop_map(String::from),
        (0u32..0xe1000).prop_map(|code| char::from_u32(code).unwrap_or(' ').to_string()),
        (0xe0000u32..0xe01f0).prop_map(|code| char::from_u32(code).unwrap_or(' ').to_string()),
        (0x200bu32..0x2070).prop_map(|code| char::from_u32(code).unwrap_or(' ').to_string()),
        "[a-z ]{0,12}",
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        hostile().prop_map(Value::String),
        Just(json!(null)),
        any::<i32>().prop_map(|n| json!(n))
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        let key = prop_oneof![
            hostile(),
            Just("iid".to_owned()),
            Just("web_url".to_owned()),
            Just("title".to_owned())
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            proptest::collection::vec((key, inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Every text in a value, keys included.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(map) => {
            map.iter().flat_map(|(key, value)| [vec![key.as_str()], texts(value)].concat()).collect()
        }
        _ => Vec::new(),
    }
}

/// The text behind the end of the marks, which has to be all that a reader may take for this server's.
fn outside(marked: &str) -> String {
    let (mark, rest) = marked.split_once('\n').unwrap();
    assert!(mark.starts_with("<gitlab") && mark.ends_with('>'), "{mark}");
    let end = mark.replacen('<', "</", 1);
    let lower = rest.to_ascii_lowercase();
    assert_eq!(lower.matches(&end).count(), 1, "one end, and it is the server's: {marked}");
    for look in ["</gitlab x>", "</gitlab/>", "< /gitlab>", "\u{ff1c}/gitlab"] {
        assert!(!lower.contains(look), "{look}: {marked}");
    }
    rest.split_once(&end).unwrap().1.to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_unseen_is_shown(value in value(), full in any::<bool>()) {
        let shown = present(GivenContent::Json(value), &Options { full, ..options(&[]) });
        prop_assert!(!shown.text.contains(is_unseen), "{:?}", shown.text);
        let same = Value::Object(shown.same.clone());
        for text in texts(&shown.data).into_iter().chain(texts(&same)) {
            prop_assert!(!text.contains(is_unseen), "{text:?}");
        }
        for word in shown.dropped.iter().chain(&shown.notes).chain(&shown.masked.hidden) {
            prop_assert!(!word.contains(is_unseen) && !word.contains('\n'), "{word:?}");
        }
    }

    #[test]
    fn nothing_ends_the_marks(value in value()) {
        let shown = present(GivenContent::Json(value), &options(&[]));
        prop_assert_eq!(outside(&marked(&shown.text)), "\n");
    }

    #[test]
    fn what_has_no_marks_has_its_texts_in_quotes(value in value(), full in any::<bool>()) {
        let shown = present(GivenContent::Json(value), &Options { full, ..options(&[]) });
        if !shown.quoted && shown.text != "Nothing found." {
            // Every second part is within quotes.
            let own: String = shown.text.split('"').step_by(2).collect();
            prop_assert!(shown.text.matches('"').count().is_multiple_of(2), "{}", shown.text);
            let is_own = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_|.,:;=+-TZ \n".contains(c);
            prop_assert!(own.chars().all(is_own), "{}", shown.text);
            let within: Vec<&str> = shown.text.split('"').skip(1).step_by(2).collect();
            prop_assert!(within.iter().all(|text| !text.contains(['\n', '<', '`', '|', '\\'])), "{}", shown.text);
        }
    }

    #[test]
    fn no_text_ends_the_marks_or_its_fence(text in hostile()) {
        let shown = present(GivenContent::Text(text.clone()), &options(&[]));
        if !shown.quoted {
            let inside = shown.text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap();
            prop_assert!(!inside.contains(['"', '\n', '\r', '<', '>', '`', '\\', '{', '|']), "{}", inside);
            return Ok(());
        }
        prop_assert_eq!(outside(&marked(&shown.text)), "\n");
        let fence = shown.text.lines().next().unwrap().to_owned();
        prop_assert!(fence.len() >= 3 && fence.bytes().all(|byte| byte == b'`'));
        let inside: Vec<&str> = shown.text.lines().collect();
        let ends = inside.iter().skip(1).filter(|line| line.trim() == fence).count();
        prop_assert_eq!(ends, 1, "{:?}", shown.text);
        prop_assert!(!shown.text.contains(is_unseen));
    }

    #[test]
    fn a_cell_stays_one_cell(text in hostile()) {
        let shown = compact(json!([{"iid": 1, "title": format!("t{text}"), "state": "x"}]));
        if shown.text.starts_with('|') {
            let row = shown.text.lines().nth(1).unwrap();
            // A bar is one of the table's where an even number of backslashes is before it.
            let bars = row.match_indices('|').filter(|(at, _)| {
                row[..*at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 0
            });
            prop_assert_eq!(bars.count(), 3, "{}", row);
        }
    }

    #[test]
    fn a_name_of_a_file_is_one_quoted_word(name in hostile(), kind in hostile()) {
        let content = GivenContent::Binary { bytes: vec![0], content_type: kind, filename: Some(name), picture: None };
        let shown = present(content, &options(&[]));
        prop_assert_eq!(shown.text.lines().count(), 1);
        prop_assert!(!shown.text.contains(is_unseen) && !shown.data.to_string().contains(is_unseen));
    }
}

/// Long keys are in the path of all that is below them, and each missing field names the keys that there are: paths are
/// cut, and keys that are no names of fields are left out. `benches/present.rs` has the time that they take.
#[test]
fn long_keys_are_not_repeated_in_paths_and_missing_fields() {
    let long = "x".repeat(1_000_000);
    let small: Value =
        (0..20_000).map(|n| (format!("k{n}_token"), json!("abc"))).collect::<Map<_, _>>().into();
    for value in [
        json!({format!("{long}_token"): vec!["abc"; 60_000]}),
        json!({&long: small}),
        json!({format!("{}x", "x.".repeat(500_000)): vec![json!({"key": 1, "value": 2}); 20_000]}),
        json!([{"web_url": "https://x/1", &long: 1, "k": small}]),
    ] {
        let shown = compact(value);
        assert!(shown.masked.hidden.iter().all(|path| path.len() < 1_000), "{:?}", shown.masked.hidden.len());
        assert!(!shown.text.contains("abc"));
    }
    let keys: Map<String, Value> = (0..250).map(|n| (format!("{n}{long}"), json!(1))).collect();
    let fields: Vec<String> = (0..200).map(|n| format!("no{n}")).collect();
    let shown = present(GivenContent::Json(keys.into()), &options(&fields));
    assert_eq!(shown.missing.len(), 200);
    assert!(shown.missing.iter().all(|missing| missing.known.is_empty()), "only names of fields are kept");
}

/// A long path is cut, and the cut part may be the one that identifies a variable.
#[test]
fn a_value_below_a_long_path_is_masked() {
    let long = "x".repeat(2_000);
    let shown = compact(json!({&long: {"ci_variables": [{"key": "a", "value": "hunter2"}]}}));
    assert!(!shown.text.contains("hunter2"), "{}", shown.text);
    let field = format!("{long}.a_token");
    let asked = present(GivenContent::Json(json!({&long: {"a_token": "hunter2"}})), &options(&[field]));
    assert!(asked.text.contains("hunter2"), "a long path can be asked for: {}", asked.text);
}

#[test]
fn a_field_that_is_asked_for_twice_is_picked_once() {
    let value = json!({"a": {"b": [{"c": 1, "d": 2}], "e": 3}, "f": 4});
    let shown = |fields: &[&str]| {
        let fields: Vec<String> = fields.iter().map(|field| (*field).to_owned()).collect();
        present(GivenContent::Json(value.clone()), &options(&fields)).data
    };
    assert_eq!(
        shown(&["a.b.c", "a.b[].c", "a.b[]", "f", "a.b.c"]),
        json!({"a": {"b": [{"c": 1, "d": 2}]}, "f": 4})
    );
    assert_eq!(shown(&["a.b.c", "a.e"]), json!({"a": {"b": [{"c": 1}], "e": 3}}));
}
