//! The state of a thread: GitLab gives it with each of its notes.

use serde_json::{Map, Value, json};

/// Moves the state from the notes of a thread to the thread. A thread is resolved if all of its notes are that can be.
pub fn lift_thread_state(thread: &mut Map<String, Value>) {
    let Some(Value::Array(notes)) = thread.get_mut("notes") else { return };
    let is = |note: &Value, field: &str| note.get(field) == Some(&Value::Bool(true));
    let mut resolvable = notes.iter().filter(|note| is(note, "resolvable")).peekable();
    if resolvable.peek().is_none() {
        return;
    }
    let resolved = resolvable.all(|note| is(note, "resolved"));
    for note in notes.iter_mut().filter_map(Value::as_object_mut) {
        note.shift_remove("resolvable");
        note.shift_remove("resolved");
    }
    let at = thread.keys().position(|key| key == "notes").unwrap_or_default();
    thread.shift_insert(at, "resolved".to_owned(), json!(resolved));
}
