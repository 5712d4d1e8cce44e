//! Branches and tags.

use crate::prelude::*;
use crate::repo::Tag;

use super::branch_rights::{can_create_tag, can_push, rules_of};

pub const ROUTES: &[Route] = &[
    get("/branches", list),
    get("/branches/:branch", show),
    post("/branches", create).rules(&[Rule::Required("branch"), Rule::Required("ref")]),
    delete("/branches/:branch", remove),
    delete("/merged_branches", remove_merged),
    get("/tags", tags)
        .rules(&[Rule::OneOf("order_by", "name updated version"), Rule::OneOf("sort", "asc desc")]),
    get("/tags/:tag_name", tag),
    post("/tags", new_tag).rules(&[Rule::Required("tag_name"), Rule::Required("ref")]),
    delete("/tags/:tag_name", remove_tag),
];

/// A branch with what the user may do to it.
pub fn render_branch(request: &Request<'_>, branch: &str) -> Result<Value, Fault> {
    let commit = request.repo()?.head(branch).ok_or(Fault::missing("Branch"))?;
    let main = request.default_branch();
    let merged = branch != main
        && request
            .repo()?
            .head(&main)
            .is_some_and(|head| request.repo().is_ok_and(|repo| repo.ahead(&head.id, &commit.id).is_empty()));
    let rules = rules_of(request, branch);
    let developers = |right: &str| {
        let levels = rules.iter().flat_map(|rule| rule.list(right));
        levels.into_iter().any(|level| level.get("access_level").and_then(Value::as_u64) == Some(30))
    };
    let web = request.web();
    Ok(json!({
        "name": branch, "commit": commit.json(&web), "merged": merged, "protected": !rules.is_empty(),
        "developers_can_push": developers("push_access_levels"),
        "developers_can_merge": developers("merge_access_levels"), "can_push": can_push(request, branch),
        "default": branch == main, "web_url": format!("{web}/-/tree/{branch}")
    }))
}

/// GitLab's `search`, in which `^` and `$` mark the beginning and the end.
fn matches(name: &str, search: &str) -> bool {
    match (search.strip_prefix('^'), search.strip_suffix('$')) {
        (Some(rest), _) => name.starts_with(rest),
        (_, Some(rest)) => name.ends_with(rest),
        _ => name.to_lowercase().contains(&search.to_lowercase()),
    }
}

fn list(request: &mut Request<'_>) -> Answer {
    let search = request.args.text("search");
    let names = request
        .repo()?
        .branches
        .keys()
        .filter(|name| search.as_ref().is_none_or(|search| matches(name, search)));
    let rows = names.map(|name| render_branch(request, name)).collect::<Result<Vec<_>, _>>()?;
    if request.args.text("pagination").as_deref() == Some("keyset") {
        let name = |row: &Value| row.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        return request.page_after(rows, "page_token", name);
    }
    request.page(rows)
}

fn show(request: &mut Request<'_>) -> Answer {
    ok(render_branch(request, request.param("branch"))?)
}

fn create(request: &mut Request<'_>) -> Answer {
    let name = request.args.text("branch").unwrap_or_default();
    if request.repo()?.branches.contains_key(&name) {
        return Err(Fault::refused(400, "Branch already exists"));
    }
    if name.is_empty() || name.contains(' ') || name.contains("..") {
        return Err(Fault::refused(400, "Branch name is invalid"));
    }
    let from = request.args.text("ref").unwrap_or_default();
    let commit = request.repo()?.resolve(&from).map(|commit| commit.id.clone());
    let invalid = || format!("Failed to create branch '{name}': invalid reference name '{from}'");
    let commit = commit.ok_or_else(|| Fault::refused(400, &invalid()))?;
    request.repo_mut().branches.insert(name.clone(), commit.clone());
    super::pushes::record_ref(request, "branch", &name, None, Some(&commit));
    created(render_branch(request, &name)?)
}

fn remove(request: &mut Request<'_>) -> Answer {
    let name = request.param("branch").to_owned();
    if !request.repo()?.branches.contains_key(&name) {
        return Err(Fault::missing("Branch"));
    }
    if name == request.default_branch() {
        return Err(Fault::refused(405, "Cannot remove HEAD branch"));
    }
    if !rules_of(request, &name).is_empty() {
        return Err(Fault::refused(405, "Protected branch can't be removed"));
    }
    let last = request.repo_mut().branches.remove(&name);
    super::pushes::record_ref(request, "branch", &name, last.as_deref(), None);
    Ok(Reply::empty())
}

/// GitLab deletes the branches that are merged into the default branch, except protected ones, in the background.
fn remove_merged(request: &mut Request<'_>) -> Answer {
    let names: Vec<String> = request.repo()?.branches.keys().cloned().collect();
    for name in names {
        let shown = render_branch(request, &name)?;
        let is = |field: &str| shown.get(field).and_then(Value::as_bool).unwrap_or_default();
        if is("merged") && !is("protected") {
            let last = request.repo_mut().branches.remove(&name);
            super::pushes::record_ref(request, "branch", &name, last.as_deref(), None);
        }
    }
    Ok(Reply::accepted())
}

fn is_tag_protected(request: &Request<'_>, tag: &str) -> bool {
    let rules = request.world.rows(&request.shelf("protected_tags")).iter();
    rules.into_iter().any(|rule| match rule.text("name").strip_suffix('*') {
        Some(prefix) => tag.starts_with(prefix),
        None => rule.text("name") == tag,
    })
}

fn show_tag(request: &Request<'_>, name: &str) -> Result<Value, Fault> {
    let repo = request.repo()?;
    let tag = repo.tags.get(name).ok_or(Fault::missing("Tag"))?;
    let commit = repo.resolve(&tag.commit).map(|commit| commit.json(&request.web()));
    let release = request.world.find(&request.shelf("releases"), "tag_name", name);
    let release = release.map(|row| json!({"tag_name": name, "description": row.text("description")}));
    Ok(json!({
        "name": name, "message": tag.message.clone().unwrap_or_default(), "target": tag.commit, "commit": commit,
        "release": release, "protected": is_tag_protected(request, name), "created_at": tag.message.as_ref().map(|_| &tag.date)
    }))
}

/// The key by which versions are in order: numbers as numbers, all else as text, and a suffix before the release.
pub fn version_order(name: &str) -> Vec<(u64, String)> {
    let parts = name.trim_start_matches('v').split(['.', '-']);
    let part = |part: &str| {
        part.parse().map_or_else(|_| (0, part.to_owned()), |number: u64| (number + 1, String::new()))
    };
    parts.map(part).chain([(1, String::new())]).collect()
}

fn tags(request: &mut Request<'_>) -> Answer {
    let search = request.args.text("search");
    let mut names: Vec<&String> = request.repo()?.tags.keys().collect();
    names.retain(|name| search.as_ref().is_none_or(|search| matches(name, search)));
    let repo = request.repo()?;
    let date = |name: &&String| repo.tags.get(*name).map(|tag| tag.date.clone()).unwrap_or_default();
    match request.args.text("order_by").as_deref() {
        Some("name") => names.sort(),
        Some("version") => names.sort_by_key(|name| version_order(name)),
        _ => names.sort_by_key(date),
    }
    if request.args.text("sort").as_deref() != Some("asc") {
        names.reverse();
    }
    let rows = names.into_iter().map(|name| show_tag(request, name)).collect::<Result<Vec<_>, _>>()?;
    request.page(rows)
}

fn tag(request: &mut Request<'_>) -> Answer {
    ok(show_tag(request, request.param("tag_name"))?)
}

/// Refuses with a status to create a tag that is protected from the user.
pub fn check_tag_right(request: &Request<'_>, name: &str, status: u16) -> Result<(), Fault> {
    let refusal = || Fault::refused(status, "You are not allowed to create this tag as it is protected.");
    can_create_tag(request, name).then_some(()).ok_or_else(refusal)
}

/// Creates a tag on the commit of `from`, annotated if the parameter for its message is given.
pub fn add_tag(request: &mut Request<'_>, name: &str, from: &str, message: &str) -> Result<(), Fault> {
    let commit = request.repo()?.resolve(from).map(|commit| commit.id.clone());
    let commit = commit.ok_or_else(|| Fault::refused(400, &format!("Target {from} is invalid")))?;
    super::pushes::record_ref(request, "tag", name, None, Some(&commit));
    let tag = Tag { commit, message: request.args.text(message), date: request.world.now() };
    request.repo_mut().tags.insert(name.to_owned(), tag);
    Ok(())
}

fn new_tag(request: &mut Request<'_>) -> Answer {
    let name = request.args.text("tag_name").unwrap_or_default();
    if request.repo()?.tags.contains_key(&name) {
        return Err(Fault::refused(400, &format!("Tag {name} already exists")));
    }
    let from = request.args.text("ref").unwrap_or_default();
    check_tag_right(request, &name, 400)?;
    add_tag(request, &name, &from, "message")?;
    created(show_tag(request, &name)?)
}

fn remove_tag(request: &mut Request<'_>) -> Answer {
    let name = request.param("tag_name").to_owned();
    let last = request.repo_mut().tags.remove(&name).ok_or(Fault::missing("Tag"))?;
    super::pushes::record_ref(request, "tag", &name, Some(&last.commit), None);
    Ok(Reply::empty())
}
