//! The epic of an issue.

use crate::prelude::*;

/// Puts an issue into an epic instead of the one that it is in, or only takes it out of that.
pub fn put_into(request: &mut Request<'_>, issue: u64, epic: Option<(&str, u64)>) {
    let holders = request.world.all("epics").filter(|(_, row)| row.nums("_issues").contains(&issue));
    let holders: Vec<(String, Row)> = holders.map(|(shelf, row)| (shelf.to_owned(), row.clone())).collect();
    for (shelf, row) in holders {
        let left: Vec<u64> = row.nums("_issues").into_iter().filter(|other| *other != issue).collect();
        request.write(&shelf, row.num("id"), json!({"_issues": left}));
    }
    let epic = epic.map(|(shelf, id)| {
        let mut issues = request.world.by_id(shelf, id).nums("_issues");
        issues.push(issue);
        request.write(shelf, id, json!({"_issues": issues}))
    });
    request.world.set_epic(issue, epic.as_ref());
}

/// Puts an issue into the epic of its groups that `epic_id` or `epic_iid` names, or, with 0 or null, out of its epic.
pub fn assign(request: &mut Request<'_>, shelf: &str, issue: Row) -> Result<Row, Fault> {
    let keys = [("epic_id", "id"), ("epic_iid", "iid")].into_iter();
    let given: Vec<_> = keys.filter(|(name, _)| request.args.has(name)).collect();
    let (name, key) = match given.as_slice() {
        [] => return Ok(issue),
        [one] => *one,
        _ => return Err(Fault::Bad("epic_id, epic_iid are mutually exclusive".to_owned())),
    };
    let id = issue.num("id");
    match request.args.text(name).filter(|wanted| wanted != "0") {
        None => put_into(request, id, None),
        Some(wanted) => {
            let mut shelves =
                request.groups_above().into_iter().map(|group| format!("groups/{}/epics", group.id));
            let epic = |shelf: String| Some((request.world.find(&shelf, key, &wanted)?.num("id"), shelf));
            let (epic, shelf) = shelves.find_map(epic).ok_or(Fault::missing(""))?;
            put_into(request, id, Some((&shelf, epic)));
        }
    };
    Ok(request.world.by_id(shelf, id))
}
