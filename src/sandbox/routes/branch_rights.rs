//! Rights to push to a branch, to merge into it and to create a tag, by the rules that protect it.

use crate::prelude::*;

/// The rules that protect a branch.
pub fn rules_of(request: &Request<'_>, branch: &str) -> Vec<Row> {
    rules_on(request, "protected_branches", branch)
}

/// The rules on a shelf that protect the branch or tag of this name.
fn rules_on(request: &Request<'_>, shelf: &str, branch: &str) -> Vec<Row> {
    let rules = request.world.rows(&request.shelf(shelf)).iter();
    let covers = |rule: &&Row| match rule.text("name").strip_suffix('*') {
        Some(prefix) => branch.starts_with(prefix),
        None => rule.text("name") == branch,
    };
    rules.filter(covers).cloned().collect()
}

/// True if the user is among those whom an access level of a protected branch allows.
fn is_allowed(request: &Request<'_>, allowed: &Value) -> bool {
    let id = |name: &str| allowed.get(name).and_then(Value::as_u64);
    if let Some(user) = id("user_id") {
        return request.user == Some(user);
    }
    if let Some(group) = id("group_id") {
        return level(request.world, request.user, Some(Place::group(group))) >= Level::Guest;
    }
    if id("deploy_key_id").is_some() {
        return false;
    }
    id("access_level").is_some_and(|number| number > 0 && request.at_least(Level::of(number)))
}

/// True if the user has one of these rights to a branch or tag; without a rule, every developer has.
fn has_right(request: &Request<'_>, rules: &[Row], rights: &[&str]) -> bool {
    let allows = |rule: &Row| {
        rights.iter().any(|right| rule.list(right).iter().any(|allowed| is_allowed(request, allowed)))
    };
    if rules.is_empty() { request.at_least(Level::Developer) } else { rules.iter().any(allows) }
}

/// True if the user may push to a branch.
pub fn can_push(request: &Request<'_>, branch: &str) -> bool {
    has_right(request, &rules_of(request, branch), &["push_access_levels"])
}

/// True if the user may merge into a branch, which whoever may push may too.
pub fn can_merge(request: &Request<'_>, branch: &str) -> bool {
    has_right(request, &rules_of(request, branch), &["push_access_levels", "merge_access_levels"])
}

/// True if the user may create a tag.
pub fn can_create_tag(request: &Request<'_>, tag: &str) -> bool {
    has_right(request, &rules_on(request, "protected_tags", tag), &["create_access_levels"])
}
