//! Access control: tokens, visibility and roles.

use super::errors::Fault;
use super::level::Level;
use super::row::{Fields, Row};
use super::state::{Place, World};

/// Returns the user that a token belongs to, and the token's row; none without a token.
pub fn sign_in(world: &World, token: Option<&str>) -> Result<Option<(u64, Row)>, Fault> {
    let Some(token) = token else { return Ok(None) };
    let kinds = ["personal_access_tokens", "access_tokens"];
    let row = kinds.iter().flat_map(|kind| world.all(kind)).map(|(_, row)| row);
    let row = row.into_iter().find(|row| row.text("_token") == token).ok_or(Fault::Unauthorized)?;
    if row.flag("revoked") {
        return Err(Fault::Revoked);
    }
    let expires = row.text("expires_at");
    if !expires.is_empty() && expires <= world.today().as_str() {
        return Err(Fault::Expired);
    }
    let user = row.num("user_id");
    match world.by_id("users", user).text("state") {
        "active" => Ok(Some((user, row.clone()))),
        _ => Err(Fault::refused(403, "403 Forbidden - Your account has been blocked.")),
    }
}

/// True if a token's scopes let it do this.
pub fn check_scope(token: &Row, writes: bool, path: &str) -> Result<(), Fault> {
    let has = |scope: &str| token.list("scopes").iter().any(|held| held == scope);
    let own = path == "/user" || path.starts_with("/personal_access_tokens/self");
    if has("api") || (!writes && (has("read_api") || (own && has("read_user")))) {
        return Ok(());
    }
    Err(Fault::Scope(if writes { "api" } else { "api read_api" }))
}

/// True if a user administers the instance.
pub fn is_admin(world: &World, user: Option<u64>) -> bool {
    user.is_some_and(|user| world.by_id("users", user).flag("is_admin"))
}

/// The access a user has to a place; to the instance where there is none.
pub fn level(world: &World, user: Option<u64>, place: Option<Place>) -> Level {
    let Some(id) = user else { return Level::Anyone };
    if is_admin(world, user) {
        return Level::Admin;
    }
    let mut best = Level::User;
    let mut next = place;
    while let Some(place) = next {
        best = best.max(member(world, id, place)).max(shared(world, id, place));
        next = parent(world, place);
    }
    best
}

/// The project's group, or the group above a group.
pub fn parent(world: &World, place: Place) -> Option<Place> {
    let row = world.row_of(place);
    let id = if place.kind == "projects" { row.num("_namespace") } else { row.num("parent_id") };
    (id > 0 && !world.by_id("groups", id).is_empty()).then(|| Place::group(id))
}

fn member(world: &World, user: u64, place: Place) -> Level {
    Level::of(world.by_id(&place.shelf("members"), user).num("access_level"))
}

fn shared(world: &World, user: u64, place: Place) -> Level {
    let row = world.row_of(place);
    let through = |share: &Row| {
        let most = Level::of(share.num("group_access_level"));
        member(world, user, Place::group(share.num("group_id"))).min(most)
    };
    let shares = row.list("shared_with_groups").iter().filter_map(|share| share.as_object());
    shares.map(through).max().unwrap_or(Level::User)
}

/// True if a user may know that a row on this shelf exists.
pub fn may_see(world: &World, user: Option<u64>, shelf: &str, row: &Row) -> bool {
    let kind = shelf.rsplit('/').next().unwrap_or_default();
    let visible = |place: Option<Place>| match row.text("visibility") {
        "public" => true,
        "internal" => user.is_some(),
        _ => {
            let least = if place.is_some() { Level::Guest } else { Level::Admin };
            level(world, user, place) >= least
        }
    };
    let mine = || {
        let mut people = row.nums("assignees");
        people.push(row.num("author"));
        user.is_some_and(|user| people.contains(&user))
    };
    match kind {
        "projects" => visible(Some(Place::project(row.num("id")))),
        "groups" => visible(Some(Place::group(row.num("id")))),
        "snippets" if Place::of(shelf).is_none() => visible(None) || mine(),
        "issues" if row.flag("confidential") => {
            level(world, user, Place::of(shelf)) >= Level::Reporter || mine()
        }
        _ if row.contains_key("_user") => user == Some(row.num("_user")),
        _ => true,
    }
}
