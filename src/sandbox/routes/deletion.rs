//! Deletion of projects and groups, which GitLab schedules since 18.0.

use crate::prelude::*;

/// Schedules the deletion of a project or group. True if it is deleted at once: it was scheduled before, and the call has
/// `permanently_remove` and its full path.
pub fn is_final(request: &mut Request<'_>, row: &Row, full_path: &str) -> Result<bool, Fault> {
    let place = request.place.ok_or(Fault::Nowhere)?;
    let noun = place.noun();
    let scheduled = !row.blank("marked_for_deletion_on");
    let given = request.args.text("full_path");
    if request.args.flag("permanently_remove") {
        if !scheduled {
            return Err(Fault::refused(400, &format!("{noun} must be marked for deletion first.")));
        }
        if given.as_deref() != Some(full_path) {
            let noun = noun.to_lowercase();
            let told = format!("`full_path` is incorrect. You must enter the complete path for the {noun}.");
            return Err(Fault::refused(400, &told));
        }
        return Ok(true);
    }
    if scheduled {
        return Err(Fault::refused(400, &format!("{noun} has been already marked for deletion")));
    }
    let today = request.world.today();
    let mut values = json!({ "marked_for_deletion_on": today });
    if row.contains_key("marked_for_deletion_at") {
        values = json!({"marked_for_deletion_on": today, "marked_for_deletion_at": today});
    }
    request.write(place.kind, place.id, values);
    Ok(false)
}

/// Takes a scheduled deletion back.
pub fn unschedule(request: &mut Request<'_>) -> Result<Row, Fault> {
    let place = request.place.ok_or(Fault::Nowhere)?;
    let mut values = Row::new();
    for field in ["marked_for_deletion_on", "marked_for_deletion_at"] {
        if request.place_row()?.contains_key(field) {
            values.set(field, Value::Null);
        }
    }
    Ok(request.world.write(place.kind, place.id, values))
}
