use serde_json::{Map, Value, json};

use super::*;

const GEAR: &str = "@@ -1,6 +1,7 @@
 pub struct Gear {
-    teeth: u32,
+    teeth: u16,
+    oil: bool,
 }
 
 impl Gear {
     fn turn() {}
@@ -20,3 +21,2 @@ impl Gear {
 a
---- not a header
 c
\\ No newline at end of file
";

fn refs() -> Map<String, Value> {
    json!({"base_sha": "b", "start_sha": "s", "head_sha": "h"}).as_object().cloned().unwrap_or_default()
}

fn position(side: DiffSide, first: u64, last: u64) -> Value {
    let lines = lines(GEAR);
    span(&lines, side, first, last).unwrap().position(&refs(), ("old.rs", "new.rs"))
}

#[test]
fn a_line_has_a_number_in_each_file_that_holds_it() {
    let numbered: Vec<(Option<u64>, Option<u64>)> =
        lines(GEAR).iter().map(|line| (line.number(DiffSide::Old), line.number(DiffSide::New))).collect();
    let expected = [
        (Some(1), Some(1)),
        (Some(2), None),
        (None, Some(2)),
        (None, Some(3)),
        (Some(3), Some(4)),
        (Some(4), Some(5)),
        (Some(5), Some(6)),
        (Some(6), Some(7)),
        (Some(20), Some(21)),
        (Some(21), None),
        (Some(22), Some(22)),
    ];
    assert_eq!(numbered, expected);
}

#[test]
fn an_added_line_is_named_by_the_new_file_alone_and_a_removed_one_by_the_old() {
    let added = position(DiffSide::New, 3, 3);
    assert_eq!(
        added,
        json!({"base_sha": "b", "start_sha": "s", "head_sha": "h", "position_type": "text",
               "old_path": "old.rs", "new_path": "new.rs", "new_line": 3})
    );
    let removed = position(DiffSide::Old, 2, 2);
    assert_eq!((&removed["old_line"], removed.get("new_line")), (&json!(2), None));
}

#[test]
fn a_line_of_both_files_is_named_by_both_from_either_side() {
    let by_new = position(DiffSide::New, 7, 7);
    assert_eq!((&by_new["old_line"], &by_new["new_line"]), (&json!(6), &json!(7)));
    assert_eq!(position(DiffSide::Old, 6, 6), by_new);
}

#[test]
fn a_range_names_its_ends_by_the_sha_1_of_the_new_path_and_both_counts() {
    // printf new.rs | sha1sum
    const PATH: &str = "e6d049e7e635307aff069ed13eadd2e56f36bc52";
    let range = position(DiffSide::New, 2, 4);
    assert_eq!((&range["new_line"], &range["old_line"]), (&json!(4), &json!(3)));
    let start = json!({"line_code": format!("{PATH}_3_2"), "type": "new"});
    let end = json!({"line_code": format!("{PATH}_3_4")});
    assert_eq!(range["line_range"], json!({"start": start, "end": end}));
    let removed = position(DiffSide::Old, 1, 2);
    assert_eq!(removed["line_range"]["end"], json!({"line_code": format!("{PATH}_2_2"), "type": "old"}));
}

#[test]
fn a_line_that_is_not_there_is_told_with_the_nearest_that_is() {
    let lines = lines(GEAR);
    let absent = |side, line| span(&lines, side, line, line).unwrap_err().nearest;
    assert_eq!(absent(DiffSide::New, 12), Some((DiffSide::New, 7)));
    assert_eq!(absent(DiffSide::New, 17), Some((DiffSide::New, 21)));
    assert_eq!(absent(DiffSide::Old, 999), Some((DiffSide::Old, 22)));
    let gone = crate::text::diff::lines("@@ -1,2 +0,0 @@\n-a\n-b\n");
    assert_eq!(span(&gone, DiffSide::New, 5, 5).unwrap_err().nearest, Some((DiffSide::Old, 2)));
    assert_eq!(span(&[], DiffSide::New, 5, 5).unwrap_err().nearest, None);
}

#[test]
fn how_many_lines_a_suggestion_replaces_is_counted_in_the_new_file() {
    let lines = lines(GEAR);
    assert_eq!(span(&lines, DiffSide::New, 2, 4).unwrap().new_lines(), Some(3));
    assert_eq!(span(&lines, DiffSide::Old, 1, 2).unwrap().new_lines(), None);
}

#[test]
fn one_file_is_cut_out_of_a_whole_diff_by_its_path() {
    let whole = format!(
        "diff --git a/old.rs b/new.rs\nsimilarity index 90%\nrename from old.rs\nrename to new.rs\n--- a/old.rs\n+++ b/new.rs\n{GEAR}\
         diff --git \"a/caf\\303\\251.md\" \"b/caf\\303\\251.md\"\n--- \"a/caf\\303\\251.md\"\n+++ \"b/caf\\303\\251.md\"\n@@ -1 +1 @@\n-a\n+diff --git a/x b/x\n\
         diff --git a/gone.md b/gone.md\ndeleted file mode 100644\n--- a/gone.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\
         diff --git a/with blank.md b/with blank.md\n--- a/with blank.md\t\n+++ b/with blank.md\t\n@@ -0,0 +1 @@\n+b\n"
    );
    assert_eq!(lines(section(&whole, "new.rs").unwrap()), lines(GEAR));
    assert_eq!(lines(section(&whole, "café.md").unwrap()).len(), 2);
    assert_eq!(lines(section(&whole, "gone.md").unwrap()).len(), 1);
    assert_eq!(lines(section(&whole, "with blank.md").unwrap()).len(), 1);
    assert_eq!(section(&whole, "x"), None, "a line in a hunk is not a header");
}

#[test]
fn a_line_is_shown_with_its_number_in_the_new_file_and_a_removed_one_with_its_old() {
    let shown = numbered(GEAR, 0..GEAR.len());
    let expected = " 1  pub struct Gear {
 2 -    teeth: u32,
 2 +    teeth: u16,
 3 +    oil: bool,
 4  }
 5\u{20}\u{20}
 6  impl Gear {
 7      fn turn() {}
@@ impl Gear {
21  a
21 ---- not a header
22  c
\\ No newline at end of file
";
    assert_eq!(shown, expected);
}

#[test]
fn numbers_agree_with_the_lines_that_comments_are_placed_on() {
    let shown = numbered(GEAR, 0..GEAR.len());
    let rows = shown.lines().filter(|row| row.trim_start().starts_with(|c: char| c.is_ascii_digit()));
    let known = lines(GEAR);
    assert_eq!(rows.clone().count(), known.len());
    for (row, line) in rows.zip(&known) {
        let (number, text) = row.trim_start().split_once(' ').unwrap();
        let side = if text.starts_with('-') { DiffSide::Old } else { DiffSide::New };
        assert_eq!((number.parse().ok(), &text[1..]), (line.number(side), line.text.as_str()), "{row}");
    }
}

#[test]
fn a_part_of_a_diff_has_the_numbers_of_the_whole() {
    let start = GEAR.find("+    oil").unwrap();
    let end = GEAR.find(" impl Gear {\n").unwrap();
    assert_eq!(numbered(GEAR, start..end), "3 +    oil: bool,\n4  }\n5  \n");
    // A part that begins and ends within a line.
    assert_eq!(numbered(GEAR, start + 5..end - 3), "oil: bool,\n4  }");
    let behind = GEAR.find("---- not").unwrap();
    assert_eq!(numbered(GEAR, behind..behind + 8), "21 ---- not");
}

#[test]
fn what_is_no_line_of_a_file_has_no_number() {
    let old_form = "--- a/x\n+++ b/x\n@@ -9 +9 @@\n-a\n+b\n@@ -20 +20 @@\n-c\n+d\n";
    assert_eq!(
        numbered(old_form, 0..old_form.len()),
        "--- a/x\n+++ b/x\n@@\n 9 -a\n 9 +b\n@@\n20 -c\n20 +d\n"
    );
    let cut = "@@ -1,9 +1,9 @@ fn f()\n a\n+b\n… (30 of 900 bytes)";
    assert_eq!(numbered(cut, 0..cut.len()), "@@ fn f()\n1  a\n2 +b\n… (30 of 900 bytes)");
    let short = "@@ -1,9 +1,9 @@\n a\n@@ -30,1 +40,1 @@\n b\n";
    assert_eq!(numbered(short, 0..short.len()), " 1  a\n@@\n40  b\n");
    let large = format!("@@ -1,9 +{},9 @@\n+a\n+b\n", u64::MAX);
    assert!(numbered(&large, 0..large.len()).ends_with(&format!("{} +b\n", u64::MAX)));
    assert!(is_diff(cut) && !is_diff("a\n@@ user\n"));
}

#[test]
fn a_remark_on_the_end_of_a_file_is_no_line() {
    let diff =
        "@@ -1,3 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n";
    let diff = format!(
        "{}@@ -9,2 +9,2 @@\n-x\n\\ No newline at end of file\n y\n+z\n",
        diff.replace("-1,3", "-1,2")
    );
    let found: Vec<(Option<u64>, Option<u64>, String)> = lines(&diff)
        .into_iter()
        .map(|line| (line.number(DiffSide::Old), line.number(DiffSide::New), line.text))
        .collect();
    let expected = [
        (Some(1), Some(1), "a"),
        (Some(2), None, "b"),
        (None, Some(2), "b"),
        (None, Some(3), "c"),
        (Some(9), None, "x"),
        (Some(10), Some(9), "y"),
        (None, Some(10), "z"),
    ];
    assert_eq!(found, expected.map(|(old, new, text)| (old, new, text.to_owned())));
    let shown = numbered(&diff, 0..diff.len());
    let remark = "\\ No newline at end of file\n";
    assert_eq!(
        shown,
        format!(" 1  a\n 2 -b\n{remark} 2 +b\n 3 +c\n{remark}@@\n 9 -x\n{remark} 9  y\n10 +z\n")
    );
}
