//! Entries of the lists that say who may do something with a protected branch, tag or environment.

use serde_json::{Value, json};

use super::args::text_of;
use super::row::{Fields, Row};
use super::state::World;

/// The entry of this number in a list of access levels, from `access_level`, `user_id`, `group_id` or
/// `deploy_key_id`.
pub fn describe(world: &World, number: usize, row: &Row) -> Value {
    let id = |name: &str| row.get(name).and_then(text_of).and_then(|id| id.parse::<u64>().ok());
    let user = id("user_id").map(|id| world.by_id("users", id).text("name").to_owned());
    let group = id("group_id").map(|id| world.by_id("groups", id).text("name").to_owned());
    let key = id("deploy_key_id").and_then(|id| world.anywhere("deploy_keys", id));
    let name = user.or(group).or(key.map(|(_, key)| key.text("title").to_owned()));
    let level = if name.is_some() { Some(40) } else { id("access_level") };
    let role = match level {
        Some(0) => "No one",
        Some(30) => "Developers + Maintainers",
        Some(60) => "Instance admins",
        _ => "Maintainers",
    };
    json!({
        "id": number + 1, "access_level": level, "access_level_description": name.unwrap_or_else(|| role.to_owned()),
        "deploy_key_id": id("deploy_key_id"), "user_id": id("user_id"), "group_id": id("group_id")
    })
}
