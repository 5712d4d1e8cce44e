use serde_json::json;

use super::*;

/// A diff of so many short lines, from line 1.
fn long(lines: usize) -> String {
    format!("@@ -0,0 +1,{lines} @@\n{}", "+x\n".repeat(lines))
}

#[test]
fn the_text_has_numbers_and_the_data_has_gitlabs_diff() {
    let diff = "@@ -40,3 +40,3 @@ fn main() {\n-    let y;\n     context\n+    let x = 1;\n }\n";
    let shown = compact(json!([{"new_path": "a.rs", "diff": diff}, {"new_path": "b.rs", "diff": ""}]));
    assert_eq!(shown.data[0]["diff"], diff);
    let expected = "```\n@@ fn main() {\n40 -    let y;\n40      context\n41 +    let x = 1;\n42  }\n```\n";
    assert!(shown.text.contains(expected), "{}", shown.text);
    for value in [json!({"changes": [{"diff": diff}]}), json!({"diff": diff, "new_path": "a.rs"})] {
        let shown = compact(value);
        assert!(shown.text.contains(expected), "{}", shown.text);
    }
}

#[test]
fn a_field_of_another_name_or_form_has_no_numbers() {
    let diff = "@@ -1 +1 @@\n-a\n+b\n";
    for (field, text) in [("description", diff), ("diff", "two\nlines\n")] {
        let shown = compact(json!({"iid": 1, field: text}));
        assert!(shown.text.contains(&format!("```\n{text}```")), "{}", shown.text);
    }
}

#[test]
fn no_character_in_a_line_shifts_the_numbers_behind_it() {
    for hidden in ["\r", "\u{2028}", "\u{85}", "\u{1b}[31m", "\u{202e}", "\u{1b}]0;title"] {
        let diff = format!("@@ -1,1 +1,3 @@\n+a{hidden}+b\r\n+c\n d\n");
        let shown = compact(json!({"new_path": "a", "diff": diff}));
        assert!(shown.text.contains("\n2 +c\n3  d\n"), "{hidden:?}: {}", shown.text);
        assert!(!shown.text.contains(hidden) && !shown.data.to_string().contains(hidden), "{hidden:?}");
    }
}

#[test]
fn a_token_in_a_numbered_line_is_masked() {
    let diff = "@@ -1,1 +1,2 @@\n+key = glpat-0123456789abcdefXYZ_\n b\n";
    let shown = compact(json!({"new_path": "a", "diff": diff}));
    assert!(shown.text.contains("1 +key = (not shown: 26 characters)\n2  b\n"), "{}", shown.text);
    assert!(!shown.data.to_string().contains("glpat-"), "{}", shown.data);
}

#[test]
fn a_fence_in_a_diff_does_not_end_the_fence_around_it() {
    let shown = compact(json!({"new_path": "a", "diff": "@@ -0,0 +1,2 @@\n+````\n+b\n"}));
    assert!(shown.text.contains("`````\n1 +````\n2 +b\n`````\n"), "{}", shown.text);
}

#[test]
fn numbers_are_within_the_budget_and_every_file_has_its_share() {
    let budget = 10_000;
    let changes: Vec<Value> =
        (0..3).map(|n| json!({"new_path": format!("f{n}"), "diff": long(3_000)})).collect();
    let shown = present(
        GivenContent::Json(json!({"iid": 1, "changes": changes})),
        &Options { budget, ..options(&[]) },
    );
    assert!(shown.text.len() <= budget * 5 / 4 + 1_000, "{}", shown.text.len());
    let numbered: Vec<usize> =
        shown.text.split("new_path: ").skip(1).map(|file| file.matches(" +x").count()).collect();
    assert_eq!(numbered.len(), 3, "{}", shown.text);
    assert!(numbered.iter().all(|lines| *lines > 200 && *lines == numbered[0]), "{numbered:?}");
    assert!(shown.notes.iter().all(|note| !note.contains("the text is cut")), "{:?}", shown.notes);
}

#[test]
fn a_diff_that_is_read_in_parts_has_the_numbers_of_the_whole() {
    let value = json!({"iid": 1, "changes": [{"diff": "@@ -1 +1 @@\n+a\n"}, {"diff": long(3_000)}]});
    let fields = ["changes.1.diff".to_owned()];
    let mut place = Some(Position::Beginning);
    let (mut data, mut numbers) = (String::new(), Vec::new());
    while place.is_some() {
        let shown =
            present(GivenContent::Json(value.clone()), &Options { budget: 2_000, place, ..options(&fields) });
        assert!(shown.text.len() <= 3_500 + "```\n\n```".len(), "{}", shown.text.len());
        data.push_str(shown.data.as_str().unwrap());
        let rows = shown.text.lines().filter_map(|row| row.trim_start().strip_suffix(" +x"));
        numbers.extend(rows.map(|number| number.parse::<usize>().unwrap()));
        place = shown.cut.first().and_then(|cut| cut.window.next);
    }
    assert_eq!(data, long(3_000));
    assert_eq!(numbers, (1..=3_000).collect::<Vec<usize>>());
    let part = Options { place: Some(Position::Lines(3, Some(4))), ..options(&fields) };
    let shown = present(GivenContent::Json(value), &part);
    assert_eq!((shown.data, shown.text.as_str()), (json!("+x\n+x\n"), "```\n2 +x\n3 +x\n```"));
}
