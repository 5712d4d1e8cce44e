//! Entries of the lists that say who may do something with a protected branch or environment.

use serde_json::{Value, json};

use super::args::text_of;
use super::row::{Fields, Row};
use super::state::World;

/// The entry of this number in a list of access levels, from `access_level`, `user_id` or `group_id`.
pub fn describe(world: &World, number: usize, row: &Row) -> Value {
    let id = |name: &str| row.get(name).and_then(text_of).and_then(|id| id.parse::<u64>().ok());
    let user = id("user_id").map(|id| world.by_id("users", id).text("name").to_owned());
    let group = id("group_id").map(|id| world.by_id("groups", id).text("name").to_owned());
    let level = if user.is_some() || group.is_some() { Some(40) } else { id("access_level") };
    let role = match level {
        Some(0) => "No one",
        Some(30) => "Developers + Maintainers",
        _ => "Maintainers",
    };
    json!({
        "id": number + 1, "access_level": level, "access_level_description": user.or(group).unwrap_or_else(|| role.to_owned()),
        "user_id": id("user_id"), "group_id": id("group_id")
    })
}
