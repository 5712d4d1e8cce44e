//! Lines of a text are commands if any version of GitLab executes them, in every text that GitLab scans. Both ways in which
//! GitLab has read texts are here, from its source, and nothing that one of them executes may be overlooked.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use gitlab_mcp::call::{Call, Context, LookupCache, QuickActions, check, commands};
use gitlab_mcp::catalog::Risk;
use gitlab_mcp::policy::{Consent, Policy, PolicySettings, Ruling};
use proptest::prelude::*;
use regex::Regex;
use serde_json::{Value, json};

use crate::support::calls::{CATALOG, build_call, context};

/// Fences, HTML and quotations, as `lib/gitlab/quick_actions/extractor.rb` has them up to 16.x, with each form of inline
/// code that it had: none at first, then over whole lines, then anywhere.
const BLOCKS: &str = r"^```.+?\n```$|^<[^>]+?>\n.+?\n</[^>]+?>$|^>>>.+?\n>>>$";
const INLINE_CODE: [&str; 3] = ["", r"|^.*`\n*.+?\n*`$", r"|`\n*.+?\n*`"];

static EXPRESSIONS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let names: Vec<&str> = CATALOG.words().unwrap().quick_actions.keys().map(String::as_str).collect();
    let names = names.join("|");
    INLINE_CODE
        .iter()
        .map(|inline| {
            let (fence, others) = BLOCKS.split_once('|').unwrap();
            let command = format!(r"^/(?P<cmd>{names})(?:[ ](?P<arg>[^\n]*))?(?:\s*\n|$)");
            Regex::new(&format!("(?ims){fence}{inline}|{others}|{command}")).unwrap()
        })
        .collect()
});

fn line_at(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count()
}

/// The lines that one of the regular expressions executes.
fn by_expressions(text: &str) -> BTreeSet<usize> {
    let text = text.replace('\r', "");
    let found = EXPRESSIONS.iter().flat_map(|expression| expression.captures_iter(&text));
    found.filter_map(|found| Some(line_at(&text, found.name("cmd")?.start()))).collect()
}

/// The lines that begin with a command and are in no fenced block at the top level: more than GitLab executes since 17.0,
/// which wants them in a paragraph at the top level (`Banzai::Filter::QuickActionFilter`).
fn by_paragraphs(text: &str) -> BTreeSet<usize> {
    let text = text.replace('\r', "");
    let mut found = BTreeSet::new();
    // The fence that is open: its mark, its length, and its indentation within a list.
    let mut open: Option<(char, usize, usize)> = None;
    let mut in_list = false;
    for (number, line) in text.split('\n').enumerate() {
        let bare = line.trim_start_matches(' ');
        let indent = line.len() - bare.len();
        // A list ends at a line that is not indented, and its fence with it.
        if in_list && indent == 0 && !bare.is_empty() {
            in_list = false;
            open = open.filter(|(_, _, around)| *around == 0);
        }
        let mark = bare.chars().next().filter(|c| matches!(c, '`' | '~'));
        let length = mark.map_or(0, |mark| bare.chars().take_while(|c| *c == mark).count());
        let info = &bare[length..];
        match (open, mark) {
            (Some((fence, least, _)), _) => {
                if mark == Some(fence) && length >= least && indent <= 3 && info.trim().is_empty() {
                    open = None;
                }
            }
            (None, Some(mark)) if length >= 3 && indent <= 3 && (mark == '~' || !info.contains('`')) => {
                open = Some((mark, length, if in_list { indent } else { 0 }));
            }
            _ => {
                in_list |= bare.starts_with("- ") || bare.starts_with("1. ");
                let is_command =
                    EXPRESSIONS[0].captures(line).is_some_and(|found| found.name("cmd").is_some());
                if is_command {
                    found.insert(number);
                }
            }
        }
    }
    found
}

/// A text with its front matter as a fence (`Banzai::Filter::FrontMatterFilter`).
fn with_front_matter(text: &str) -> String {
    let text = text.replace('\r', "");
    let pattern = Regex::new(
        r"(?m)\A(?P<encoding>[^\n]*coding:[^\n]*\n)?(?P<before>\s*)^(?:---|\+\+\+|;;;)[ \t]*(?P<lang>\S*)\n(?P<matter>(?:\n|.)*?)^(?:---|\+\+\+|;;;|\.{3})[ \t]*(?:\n|\z)",
    );
    let made = pattern.unwrap().replace(&text, |found: &regex::Captures<'_>| {
        let first = if found.name("encoding").is_some() { "\n" } else { "" };
        format!("{first}{}```{}:frontmatter\n{}```\n", &found["before"], &found["lang"], &found["matter"])
    });
    made.into_owned()
}

fn seen(text: &str) -> BTreeSet<usize> {
    let bare = text.replace('\r', "");
    commands(text).iter().map(|command| line_at(&bare, command.at)).collect()
}

fn line() -> impl Strategy<Value = String> {
    let fixed = [
        "```",
        "```sh",
        "``` ",
        "```\t",
        "````",
        "  ```",
        "   ```",
        "`` `",
        "~~~",
        "~~~~",
        "`",
        "``",
        "`x`",
        ">>>",
        ">>> ",
        "> x",
        "> ```",
        "- x",
        "- ```",
        "1. x",
        "    x",
        "\t/merge",
        "  /merge",
        "<p>",
        "</p>",
        "<!--",
        "-->",
        "<pre>",
        "---",
        "+++",
        ";;;",
        "...",
        "coding: x",
        "$$",
        "| a |",
        "|---|",
        "[^1]: x",
        ": x",
        "[a]: b",
        "# x",
        "x",
        "/merge",
        "/close x",
        "/MERGE",
        "/merge`",
        "/x ```",
        "/merge ",
        "/etc/passwd",
        "\\",
        "\u{a0}",
        "\u{2028}",
    ];
    let fixed = prop_oneof![
        4 => prop::sample::select(vec!["```", "```sh", "/merge", "x", ""]),
        3 => prop::sample::select(fixed.to_vec()),
    ];
    // A carriage return anywhere.
    (fixed, prop::option::weighted(0.2, any::<prop::sample::Index>())).prop_map(|(line, at)| {
        let ends: Vec<usize> = line.char_indices().map(|(at, _)| at).chain([line.len()]).collect();
        let mut line = line.to_owned();
        if let Some(at) = at {
            line.insert(ends[at.index(ends.len())], '\r');
        }
        line
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn no_line_that_gitlab_executes_is_overlooked(lines in prop::collection::vec(line(), 1..9)) {
        let text = lines.join("\n");
        let seen = seen(&text);
        for (reader, executed) in [
            ("16.x", by_expressions(&text)),
            ("17", by_paragraphs(&text)),
            ("17 with front matter", by_paragraphs(&with_front_matter(&text))),
        ] {
            prop_assert!(executed.is_subset(&seen), "{reader} executes {executed:?}, seen {seen:?} in {text:?}");
        }
    }
}

/// Shapes of texts with the ways in which GitLab has read them, and what counts here.
#[test]
fn a_line_counts_if_one_way_of_gitlab_executes_it() {
    for (text, by_expression, by_paragraph) in [
        ("/merge", true, true),
        ("x\n/merge", true, true),
        ("/mer\rge", true, true),
        ("```\nx\n/merge\n```", false, false),
        ("```\r\nx\r\n/merge\r\n```", false, false),
        ("```sh\n/merge\n```", false, false),
        // The carriage returns go first, so that the fences pair in another way.
        ("`\r``\nA\n```\n/merge\n``` ", true, true),
        ("~\r~~\nA\n~~~\n/merge\n~~~", true, true),
        ("```\nA\n```\n/merge\n``` ", true, true),
        // 16.x knows no blank behind a closing fence; Markdown does.
        ("```\nA\n``` \n/merge\n```", false, true),
        ("```\n/merge\n``` ", true, false),
        // 16.x knows only one kind of fence.
        ("~~~\n/merge\n~~~", true, false),
        ("  ```\n/merge\n  ```", true, false),
        ("````\n/merge\n````", true, false),
        ("```\n/merge", true, false),
        // Other blocks end where a fence in them does not.
        ("~~~\n```\n~~~\n/merge\n```", false, true),
        (">>>\n```\nx\n>>>\n/merge\n```", true, false),
        ("<p>\n```\nx\n</p>\n/merge\n```", true, false),
        // Inline code reaches into a fence.
        ("`\n```\n/x`\n/merge\n```", true, false),
        ("`x`\n```\n`\n/merge\n```", false, false),
        // A fence in a list ends with the list.
        ("- x\n  ```\n/merge\n  ```", true, true),
    ] {
        assert_eq!(!by_expressions(text).is_empty(), by_expression, "16.x: {text:?}");
        assert_eq!(!by_paragraphs(text).is_empty(), by_paragraph, "17: {text:?}");
        assert_eq!(!seen(text).is_empty(), by_expression || by_paragraph, "{text:?}");
    }
    // Some versions render front matter as a fence of its own.
    let text = "---\n```sh\n---\n/merge\n```";
    assert!(!by_paragraphs(&with_front_matter(text)).is_empty() && !seen(text).is_empty());
    // GitLab adds two lines above a text that it shortens, and reads the paragraph of the first line at the third.
    let long = format!("/close\n\n```\n/merge\n```\n{}", "x".repeat(1 << 20));
    assert_eq!(seen(&long), BTreeSet::from([0, 3]));
    assert_eq!(seen("/close\n\n```\n/merge\n```\n"), BTreeSet::from([0]));
}

fn call(id: &str, params: &Value) -> Call {
    let action = CATALOG.get(id).unwrap().unwrap();
    build_call(&action, params.as_object().unwrap().clone(), 7).unwrap().unwrap()
}

fn denies(denied: &str, call: &Call) -> bool {
    let settings = PolicySettings { denied_actions: vec![denied.to_owned()], ..PolicySettings::default() };
    let policy = Policy::new(settings, &CATALOG).unwrap();
    matches!(policy.decide(call.effects(), Consent { confirm: true, dry_run: false }), Ruling::Deny(_))
}

#[test]
fn a_quick_action_in_a_field_that_no_action_describes_counts() {
    for body in [
        json!({"title": "x", "other_text": "/merge"}),
        json!({"title": "x", "other": [{"texts": ["see\n/merge"]}]}),
        json!({"title": "x", "other": {"deep": {"text": "/merge"}}}),
    ] {
        let params = json!({"method": "POST", "path": "/projects/acme%2Fwidget/issues", "body": body});
        let call = call("api.rest", &params);
        assert_eq!(call.risk(), Risk::Destructive, "{body}");
        assert!(denies("merge_request.merge", &call), "{body}");
    }
    let plain =
        json!({"method": "POST", "path": "/projects/acme%2Fwidget/issues", "body": {"other": "merge"}});
    assert_eq!(call("api.rest", &plain).risk(), Risk::Write);
}

#[test]
fn a_quick_action_in_an_unknown_request_is_refused_where_they_are() {
    for (id, params) in [
        ("api.rest", json!({"method": "POST", "path": "/not/known/yet", "body": {"text": "/merge"}})),
        (
            "api.graphql",
            json!({"document": "mutation($t: String) { notKnownYet(input: {text: $t}) { errors } }", "variables": {"t": "/merge"}}),
        ),
    ] {
        let action = CATALOG.get(id).unwrap().unwrap();
        let context = Context { quick_actions: QuickActions::Refuse, ..context() };
        let checked = check(action, params.as_object().unwrap().clone(), &context);
        let refused =
            checked.and_then(|checked| checked.step(&LookupCache::default()).map(drop)).unwrap_err();
        assert!(refused.to_string().contains("/merge"), "{id}: {refused}");
    }
}

/// A file of rows carried commands past the rules that hold for the same text in a description.
#[test]
fn a_quick_action_in_a_file_of_rows_counts() {
    let rows = |file: Value| json!({"fullPath": "acme/widget", "file": file});
    for text in [
        "title,description\nx,\"/move other/proj\"\n",
        "title;description\nx;/move other/proj\n",
        "title\tdescription\nx\t\"One line\n/move other/proj\"\n",
        // Fences of two rows around a third.
        "description,title\n```,x\n/move other/proj,y\n```,z\n",
    ] {
        let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, text);
        for file in [json!(text), json!({"content": text}), json!({"content_base64": encoded})] {
            let call = call("work_item.import_csv", &rows(file.clone()));
            assert!(denies("issue.move", &call), "{file}");
            assert_eq!(call.risk(), Risk::Destructive, "{file}");
        }
    }
    let plain = call("work_item.import_csv", &rows(json!("title,description\nx,see /etc/passwd or a/b\n")));
    assert!(!denies("issue.move", &plain) && plain.risk() == Risk::Write);
    for handling in [QuickActions::Refuse, QuickActions::Escape] {
        let action = CATALOG.get("work_item.import_csv").unwrap().unwrap();
        let context = Context { quick_actions: handling, ..context() };
        let params = rows(json!("title,description\nx,/move other/proj\n"));
        let checked = check(action, params.as_object().unwrap().clone(), &context);
        let refused =
            checked.and_then(|checked| checked.step(&LookupCache::default()).map(drop)).unwrap_err();
        assert!(refused.to_string().contains("/move"), "{refused}");
    }
}

/// GitLab may execute a command on another kind of object than the table has it for.
#[test]
fn a_quick_action_that_is_for_another_kind_of_object_has_all_its_effects() {
    let note = json!({"fullPath": "acme/widget", "iid": 1, "body": "/approve"});
    assert!(denies("merge_request.approve", &call("issue_note.create", &note)));
    assert!(denies("merge_request.approve", &call("merge_request_note.create", &note)));
    let note = json!({"fullPath": "acme/widget", "iid": 1, "body": "/merge"});
    assert_eq!(call("issue_note.create", &note).risk(), Risk::Destructive);
}

#[test]
fn commit_messages_of_all_actions_are_scanned() {
    for (id, params) in [
        ("commit.create", json!({"branch": "main", "commit_message": "x\n\n/merge", "actions": []})),
        ("commit.cherry_pick", json!({"sha": "abc", "branch": "main", "message": "x\n\n/merge"})),
        ("suggestion.apply", json!({"suggestion_id": 1, "commit_message": "/merge"})),
        (
            "submodule.update",
            json!({"submodule": "lib", "branch": "main", "commit_sha": "abc", "commit_message": "/merge"}),
        ),
        ("changelog.commit", json!({"version": "1.0.0", "message": "/merge"})),
        ("graphql.commit_create", json!({"branch": "main", "message": "/merge", "actions": []})),
    ] {
        let action = CATALOG.get(id).unwrap().unwrap();
        let mut params = params.as_object().unwrap().clone();
        if action.param("fullPath").is_some() {
            params.insert("fullPath".to_owned(), json!("acme/widget"));
        }
        assert!(denies("merge_request.merge", &call(id, &Value::Object(params))), "{id}");
    }
}
