//! The two forms of an answer, text and structure, hold the same facts.

use std::collections::BTreeSet;

use gitlab_mcp::catalog::{Catalog, Risk, example};
use serde_json::{Value, json};

use crate::catalog::data::actions;
use crate::support::client::{Client, EXECUTE, Reply, execute};

/// Words of the text that are the server's own.
const OWN_WORDS: &str = "gitlab Not shown Note Next Page of in all In every row Nothing found Read rows on pages page to the \
                         end list Whole Resolved Picture Shown first this";

/// The words of a text. A number has its sign and its point.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// The scalars of a value with the name of the field that holds each.
fn scalars<'v>(name: &'v str, value: &'v Value, found: &mut Vec<(&'v str, &'v Value)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| scalars(name, item, found)),
        Value::Object(map) => map.iter().for_each(|(name, value)| scalars(name, value, found)),
        Value::Null => {}
        value => found.push((name, value)),
    }
}

/// The scalars of the structure that the text does not have, each under the name of its field.
fn missing_in_text(reply: &Reply) -> Vec<String> {
    let mut found = Vec::new();
    for part in ["data", "in_every_row"] {
        scalars("", &reply.structured[part], &mut found);
    }
    let known: BTreeSet<&str> = words(&reply.text).collect();
    let is_said = |value: &Value| match value {
        Value::String(text) => words(text).all(|word| known.contains(word)),
        other => words(&other.to_string()).all(|word| known.contains(word)),
    };
    let is_shown =
        |(name, value): &(&str, &Value)| words(name).all(|word| known.contains(word)) && is_said(value);
    found.iter().filter(|scalar| !is_shown(scalar)).map(|(name, value)| format!("{name}: {value}")).collect()
}

/// The words of the text that the structure does not have. Line numbers of diffs and numbers of list items are the text's.
fn missing_in_structure(reply: &Reply) -> Vec<String> {
    // Escapes of JSON would join a word and the letter before it.
    let mut structure = String::new();
    flatten(&reply.structured, &mut structure);
    let known: BTreeSet<&str> = words(&structure).chain(words(OWN_WORDS)).collect();
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    // The noun of an empty list is that of the action, which the structure has.
    let text = match reply.text.split_once('\n') {
        _ if !reply.text.starts_with("Nothing found: no ") => reply.text.as_str(),
        Some((_, rest)) => rest,
        None => "",
    };
    words(text).filter(|word| !known.contains(word) && !is_number(word)).map(str::to_owned).collect()
}

fn flatten(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => out.push_str(text),
        Value::Array(items) => items.iter().for_each(|item| flatten(item, out)),
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            out.push_str(key);
            out.push(' ');
            flatten(value, out);
        }),
        other => out.push_str(&other.to_string()),
    }
    out.push(' ');
}

/// Answers of which the text is the server's own: without content, or a file that is not shown.
const WORDED: [&str; 5] = [
    "branch.exists",
    "job_artifact.download",
    "job_artifact.download_by_ref",
    "repository.download_archive",
    "repository_file.get_blame_metadata",
];

/// Composite actions are not in it: they write texts of their own.
#[test]
fn the_forms_of_every_read_have_the_same_facts() {
    let catalog = Catalog::embedded().unwrap();
    let catalog_words = catalog.words().unwrap();
    let mut client = Client::sandbox();
    let (mut checked, mut failed) = (0, Vec::new());
    let reads = actions().into_iter().filter(|action| action.risk == Risk::Read && action.plan.is_none());
    for action in reads.filter(|action| !WORDED.contains(&action.id.as_str())) {
        let reply = execute(&mut client, &action.id, Value::Object(example(&action, catalog_words)));
        if reply.is_error {
            continue;
        }
        checked += 1;
        let (text, structure) = (missing_in_text(&reply), missing_in_structure(&reply));
        if !text.is_empty() || !structure.is_empty() {
            failed
                .push(format!("{}: not in the text {text:?}, not in the structure {structure:?}", action.id));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(checked > 200, "{checked}");
}

/// The text of a write leaves out what the call sent, what the first line has, and that a new thing was made now; the
/// structure has it.
#[test]
fn the_text_of_a_write_leaves_out_only_what_was_sent_or_said() {
    let mut client = Client::sandbox();
    for (action, params) in [
        ("issue.create", json!({"title": "Squeaks", "labels": "bug", "due_date": "2026-04-01"})),
        ("issue.update", json!({"iid": 3, "title": "Oil lasts", "state_event": "close"})),
        ("label.create", json!({"name": "fresh", "color": "#ff0000"})),
        ("issue_note.create", json!({"iid": 3, "body": "Yes"})),
        ("milestone.create", json!({"title": "v9"})),
        ("branch.create", json!({"branch": "f9", "ref": "main"})),
    ] {
        let mut params = params;
        params["fullPath"] = json!("acme/widget");
        let reply = client.call(EXECUTE, json!({"action": action, "params": params, "confirm": true}));
        assert!(!reply.is_error, "{}", reply.text);
        let sent = params.to_string();
        let missing = missing_in_text(&reply);
        let (first, _) = reply.text.split_once('\n').unwrap();
        for fact in &missing {
            let value = fact.split_once(": ").unwrap().1.trim_matches('"');
            let is_now = fact.starts_with("created_at: ") || fact.starts_with("updated_at: ");
            let is_new = action.ends_with(".create") && is_now;
            assert!(
                is_new || sent.contains(value) || first.contains(value),
                "{action}: {fact}\n{}",
                reply.text
            );
        }
        assert!(!missing.is_empty(), "{action} repeats nothing:\n{}", reply.text);
        assert!(
            missing_in_structure(&reply).iter().all(|word| first.contains(word.as_str())),
            "{}",
            reply.text
        );
    }
}
