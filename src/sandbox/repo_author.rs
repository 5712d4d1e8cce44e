//! Who makes a commit.

use super::repo::Author;
use super::row::Fields;
use super::state::World;

/// The author of a commit that a user makes.
pub fn author(world: &World, user: u64) -> Author {
    let user = world.by_id("users", user);
    Author { name: user.text("name").to_owned(), email: user.text("commit_email").to_owned() }
}
