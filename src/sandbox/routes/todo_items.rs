//! To-do items that others cause: assignments, review requests and mentions.

use crate::prelude::*;

/// Kinds of objects that to-do items are made for.
const KINDS: &[&str] = &["Issue", "MergeRequest"];

/// The object of a to-do item, as the item names it.
pub fn target(shelf: &str, row: &Row) -> String {
    format!("{shelf}/{}", row.num("iid"))
}

/// True if an item is the user's, of that object and not done.
pub fn is_pending(todo: &Row, user: u64, target: &str) -> bool {
    todo.num("_user") == user && todo.text("_target") == target && todo.text("state") == "pending"
}

/// Adds an item to the list of a user who may see the object.
fn add(request: &mut Request<'_>, user: u64, action: &str, kind: &str, shelf: &str, row: &Row, body: &str) {
    let Some(place) = Place::of(shelf).filter(|place| place.kind == "projects" && KINDS.contains(&kind))
    else {
        return;
    };
    let project = request.world.row_of(place);
    let world = &request.world;
    if !may_see(world, Some(user), "projects", &project) || !may_see(world, Some(user), shelf, row) {
        return;
    }
    let values = json!({
        "action_name": action, "target_type": kind, "body": body, "_user": user, "_target": target(shelf, row),
        "_project": place.id
    });
    request.add("todos", values);
}

/// Items for those who were assigned or asked to review since `before`.
pub fn assign(request: &mut Request<'_>, kind: &str, shelf: &str, before: &Row, after: &Row) {
    for (field, action) in [("assignees", "assigned"), ("reviewers", "review_requested")] {
        let old = before.nums(field);
        for user in after.nums(field).into_iter().filter(|user| !old.contains(user)) {
            add(request, user, action, kind, shelf, after, after.text("title"));
        }
    }
}

/// The usernames that a text mentions.
fn mentioned(text: &str) -> Vec<&str> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    let after = text.match_indices('@').filter_map(|(at, _)| {
        let (before, rest) = (text.get(..at)?, text.get(at + 1..)?);
        let name = rest.split(|letter| !is_name(letter)).next()?.trim_end_matches('.');
        // An address is no mention.
        (!before.ends_with(is_name) && !name.is_empty()).then_some(name)
    });
    after.collect()
}

/// Items for those whom a text mentions, unless they have one for the object. A text that begins with the name of
/// somebody addresses them.
pub fn mention(request: &mut Request<'_>, kind: &str, shelf: &str, row: &Row, text: &str) {
    let target = target(shelf, row);
    for name in mentioned(text) {
        let Some(user) = request.world.user_named(name).filter(|user| Some(*user) != request.user) else {
            continue;
        };
        if request.world.rows("todos").iter().any(|todo| is_pending(todo, user, &target)) {
            continue;
        }
        let addressed = text.trim_start().strip_prefix('@').is_some_and(|rest| rest.starts_with(name));
        let action = if addressed { "directly_addressed" } else { "mentioned" };
        add(request, user, action, kind, shelf, row, text);
    }
}

/// Finishes the items of the signed-in user that an object caused, once the user acted on it.
pub fn settle(request: &mut Request<'_>, shelf: &str, row: &Row) {
    let (Some(user), target) = (request.user, target(shelf, row)) else { return };
    let todos = request.world.rows("todos").iter().filter(|todo| is_pending(todo, user, &target));
    for id in todos.map(|todo| todo.num("id")).collect::<Vec<_>>() {
        request.write("todos", id, json!({"state": "done"}));
    }
}
