//! System notes: what was done to an issue or merge request, as far as GitLab keeps no resource event of it.

use time::Date;
use time::format_description::well_known::Iso8601;

use crate::git_object::sha1;
use crate::prelude::*;
use crate::state::World;

/// Adds a system note by the signed-in user.
pub fn add(request: &mut Request<'_>, kind: &str, shelf: &str, row: &Row, body: &str) {
    let notes = format!("{shelf}/{}/notes", row.num("iid"));
    let discussion = sha1(&format!("{notes}{}", request.world.rows(&notes).len()));
    let values = json!({
        "body": body, "system": true, "noteable_id": row.num("id"), "noteable_iid": row.num("iid"),
        "noteable_type": kind, "_discussion": discussion
    });
    request.add(&notes, values);
}

/// The notes on a change; an object that was just created has no `before`.
pub fn of_change(world: &World, kind: &str, before: &Row, after: &Row) -> Vec<String> {
    let noun = if kind == "Issue" { "issue" } else { "merge request" };
    let mut notes = Vec::new();
    notes.extend(people(world, before, after, "assignees", "assigned to", "unassigned"));
    notes.extend(people(
        world,
        before,
        after,
        "reviewers",
        "requested review from",
        "removed review request for",
    ));
    if before.is_empty() {
        return notes;
    }
    let changed = |field: &str| before.get(field) != after.get(field);
    let bare = |row: &Row| row.text("title").trim_start_matches("Draft: ").to_owned();
    if bare(before) != bare(after) {
        notes.push(title_change(&bare(before), &bare(after)));
    }
    if before.flag("draft") != after.flag("draft") {
        let state = if after.flag("draft") { "draft" } else { "ready" };
        notes.push(format!("marked this merge request as **{state}**"));
    }
    if changed("description") {
        notes.push("changed the description".to_owned());
    }
    if before.flag("confidential") != after.flag("confidential") {
        let shown = if after.flag("confidential") { "confidential" } else { "visible to everyone" };
        notes.push(format!("made the {noun} {shown}"));
    }
    if before.flag("discussion_locked") != after.flag("discussion_locked") {
        let verb = if after.flag("discussion_locked") { "locked" } else { "unlocked" };
        notes.push(format!("{verb} the discussion in this {noun}"));
    }
    if changed("due_date") {
        notes.push(match long_date(after.text("due_date")) {
            Some(date) => format!("changed due date to {date}"),
            None => format!("removed due date {}", long_date(before.text("due_date")).unwrap_or_default()),
        });
    }
    notes
}

/// `March 2, 2026`.
fn long_date(date: &str) -> Option<String> {
    let date = Date::parse(date, &Iso8601::DATE).ok()?;
    Some(format!("{} {}, {}", date.month(), date.day(), date.year()))
}

/// The people who came to a list and those who left it.
fn people(world: &World, before: &Row, after: &Row, field: &str, came: &str, left: &str) -> Option<String> {
    let (old, new) = (before.nums(field), after.nums(field));
    let named = |ids: &[u64], others: &[u64], verb: &str| {
        let names = ids.iter().filter(|id| !others.contains(id));
        let names = names.map(|id| format!("@{}", world.by_id("users", *id).text("username")));
        let names: Vec<String> = names.collect();
        (!names.is_empty()).then(|| format!("{verb} {}", names.join(", ").replace(", @", " and @")))
    };
    let parts: Vec<String> =
        [named(&new, &old, came), named(&old, &new, left)].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

/// The change of a title, with the part between what both have at their ends marked.
fn title_change(old: &str, new: &str) -> String {
    let same = |(one, other): &(char, char)| one == other;
    let start: usize =
        old.chars().zip(new.chars()).take_while(same).map(|(letter, _)| letter.len_utf8()).sum();
    let (prefix, old) = old.split_at_checked(start).unwrap_or_default();
    let new = new.strip_prefix(prefix).unwrap_or(new);
    let end: usize =
        old.chars().rev().zip(new.chars().rev()).take_while(same).map(|(letter, _)| letter.len_utf8()).sum();
    let cut = |text: &'_ str, sign: char| {
        let (middle, suffix) = text.split_at_checked(text.len() - end).unwrap_or((text, ""));
        let marked = if middle.is_empty() { String::new() } else { format!("{{{sign}{middle}{sign}}}") };
        format!("**{prefix}{marked}{suffix}**")
    };
    format!("changed title from {} to {}", cut(old, '-'), cut(new, '+'))
}

#[cfg(test)]
mod tests {
    use super::title_change;

    #[test]
    fn the_changed_part_of_a_title_is_marked() {
        assert_eq!(
            title_change("Oil it", "Oil them"),
            "changed title from **Oil {-it-}** to **Oil {+them+}**"
        );
        assert_eq!(title_change("Grün", "Grüne"), "changed title from **Grün** to **Grün{+e+}**");
    }
}
