//! Closing and reopening of issues, merge requests and epics.

use crate::prelude::*;

use super::duplicates::{DUPLICATE, with_duplicate_of};

/// The fields that closing something sets.
pub fn close(request: &mut Request<'_>) -> Row {
    let now = request.world.now();
    object(json!({"state": "closed", "closed_at": now, "closed_by": request.user}))
}

/// The fields that reopening something sets; an issue is no duplicate any more.
pub fn reopen(row: &Row) -> Row {
    let mut fields = object(json!({"state": "opened", "closed_at": null, "closed_by": null}));
    if row.get("_links").is_some_and(|links| links.get(DUPLICATE).is_some()) {
        fields.set("_links", with_duplicate_of(row, Value::Null));
    }
    fields
}

/// The fields that the parameter `state_event` sets.
pub fn state_event(request: &mut Request<'_>, row: &Row) -> Row {
    match request.args.text("state_event").as_deref() {
        Some("close") => close(request),
        Some(_) => reopen(row),
        None => Row::new(),
    }
}
