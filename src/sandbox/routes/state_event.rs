//! Closing and reopening of issues, merge requests and epics.

use crate::sandbox::prelude::*;

/// The fields that closing something sets.
pub fn close(request: &mut Request<'_>) -> Row {
    let now = request.world.now();
    object(json!({"state": "closed", "closed_at": now, "closed_by": request.user}))
}

/// The fields that reopening something sets.
pub fn reopen() -> Row {
    object(json!({"state": "opened", "closed_at": null, "closed_by": null}))
}

/// The fields that the parameter `state_event` sets.
pub fn state_event(request: &mut Request<'_>) -> Row {
    match request.args.text("state_event").as_deref() {
        Some("close") => close(request),
        Some(_) => reopen(),
        None => Row::new(),
    }
}
