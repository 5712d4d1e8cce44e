//! History of issues and merge requests: the events of their labels, state and milestone, notes on other changes, and the
//! to-do items that they cause.

use crate::prelude::*;

use super::{system_notes, todo_items};

/// Records what else the creation of an object did.
pub fn record_new(request: &mut Request<'_>, shelf: &str, kind: &str, row: &Row) {
    let nothing = Row::new();
    record(request, shelf, kind, &nothing, row);
    todo_items::mention(request, kind, shelf, row, row.text("description"));
}

/// Records a change; an object that was just created has no `before`.
pub fn record(request: &mut Request<'_>, shelf: &str, kind: &str, before: &Row, after: &Row) {
    let under = format!("{shelf}/{}", after.num("iid"));
    let (old, new) = (before.texts("labels"), after.texts("labels"));
    let added = new.iter().filter(|label| !old.contains(label)).map(|label| (label, "add"));
    let removed = old.iter().filter(|label| !new.contains(label)).map(|label| (label, "remove"));
    for (label, action) in added.chain(removed) {
        let found = request.world.label_named(label).map(|row| request.show_as("labels", "event", row));
        let values =
            json!({"resource_type": kind, "resource_id": after.num("id"), "label": found, "action": action});
        request.add(&format!("{under}/resource_label_events"), values);
    }
    if !before.is_empty() && before.text("state") != after.text("state") {
        let state = if after.text("state") == "opened" { "reopened" } else { after.text("state") };
        let values = json!({"resource_type": kind, "resource_id": after.num("id"), "state": state});
        request.add(&format!("{under}/resource_state_events"), values);
        request.event(state, kind, after);
    }
    if before.num("milestone") != after.num("milestone") {
        let action = if after.blank("milestone") { "remove" } else { "add" };
        let values = json!({"resource_type": kind, "resource_id": after.num("id"), "milestone": after.get("milestone"), "action": action});
        request.add(&format!("{under}/resource_milestone_events"), values);
    }
    for note in system_notes::of_change(request.world, kind, before, after) {
        system_notes::add(request, kind, shelf, after, &note);
    }
    todo_items::assign(request, kind, shelf, before, after);
    if !before.is_empty() && before.text("description") != after.text("description") {
        todo_items::mention(request, kind, shelf, after, after.text("description"));
    }
    if after.text("state") != "opened" && before.text("state") == "opened" {
        todo_items::settle(request, shelf, after);
    }
}
