//! Comments and threads, found by their words.

use serde_json::json;

use super::names::{WIDGET, with_iid};
use crate::support::client::{Client, execute, follow, refused, succeed};

#[test]
fn a_comment_with_a_thread_is_its_answer() {
    let mut client = Client::sandbox();
    let threads = succeed(&mut client, "merge_request_discussion.list", with_iid(12, &json!({})));
    let thread =
        threads["data"].as_array().unwrap().iter().find(|thread| thread["resolved"] == false).unwrap();
    let before = thread["notes"].as_array().unwrap().len();
    let params = with_iid(12, &json!({"body": "Tested.", "discussion_id": thread["id"]}));
    let reply = execute(&mut client, "merge_request_note.create", params);
    assert!(!reply.is_error, "{}", reply.text);
    let params = with_iid(12, &json!({"discussion_id": thread["id"]}));
    let after = succeed(&mut client, "merge_request_discussion.get", params);
    let notes = after["data"]["notes"].as_array().unwrap();
    assert_eq!((notes.len(), &notes[before]["body"]), (before + 1, &json!("Tested.")), "{after}");
}

#[test]
fn the_only_open_thread_is_answered_and_resolved_without_its_id() {
    let mut client = Client::sandbox();
    let reply =
        execute(&mut client, "merge_request_discussion_note.create", with_iid(12, &json!({"body": "Done."})));
    let thread = "6a9c1750b37d513a43987b574953fceb50b03ce7";
    assert!(reply.text.contains(&format!("\"open\" is the thread {thread}")), "{}", reply.text);
    let params = with_iid(12, &json!({"resolved": true}));
    succeed(&mut client, "merge_request_discussion.resolve", params.clone());
    let error = refused(&execute(&mut client, "merge_request_discussion.resolve", params), "not_found");
    assert!(error["message"].as_str().unwrap().contains("no thread is open"), "{error}");
}

#[test]
fn a_count_of_comments_is_shown_where_it_is_zero() {
    let mut client = Client::sandbox();
    let reply = execute(&mut client, "issue.get", with_iid(9, &json!({})));
    assert!(reply.text.contains("\nuser_notes_count: 0\n"), "{}", reply.text);
    let reply = execute(&mut client, "issue_note.list", with_iid(9, &json!({})));
    assert_eq!(reply.text.trim(), "Nothing found: no issue note.");
}

/// A word within the first comment names no thread, but the call that replies there is one paste away.
#[test]
fn a_word_of_a_thread_leads_to_the_call_with_its_id() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "iid": 12, "discussion_id": "zero", "body": "It stops."});
    let error = refused(&execute(&mut client, "merge_request_discussion_note.create", params), "not_found");
    let replied = follow(&mut client, &error["fix"]);
    assert!(!replied.is_error && replied.text.contains("note"), "{}", replied.text);
    let params = json!({"fullPath": WIDGET, "iid": 12});
    let threads = succeed(&mut client, "merge_request_discussion.list", params).to_string();
    assert!(threads.contains("What happens at zero?") && threads.contains("It stops."), "{threads}");
}

/// The same note came with each of several objects.
#[test]
fn a_note_of_each_object_is_said_once_for_all() {
    let mut client = Client::sandbox();
    let params =
        json!({"fullPath": "acme", "epic": "One shop front", "project_path": WIDGET, "issue_iids": [17, 18]});
    let reply = execute(&mut client, "epic_issue.assign", params);
    assert!(!reply.is_error, "{}", reply.text);
    assert_eq!(reply.text.matches("is deprecated").count(), 1, "{}", reply.text);
    assert_eq!(reply.structured.to_string().matches("is deprecated").count(), 1, "{}", reply.structured);
    // A note that differs stays with its object.
    assert_eq!(reply.text.matches("Resolved: issue_id: acme/widget#17").count(), 1, "{}", reply.text);
}
