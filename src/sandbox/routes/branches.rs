//! Branches and tags, protected ones among them.

use serde_json::{Value, json};

use crate::sandbox::answer::{Answer, created, ok};
use crate::sandbox::args::text_of;
use crate::sandbox::errors::Fault;
use crate::sandbox::level::Level;
use crate::sandbox::reply::Reply;
use crate::sandbox::repo::Tag;
use crate::sandbox::request::Request;
use crate::sandbox::route::{Route, Rule, delete, get, patch, post, put};
use crate::sandbox::row::{Fields, Row, object};

pub const ROUTES: &[Route] = &[
    get("/projects/:id/repository/branches", list),
    get("/projects/:id/repository/branches/:branch", show),
    post("/projects/:id/repository/branches", create)
        .rules(&[Rule::Required("branch"), Rule::Required("ref")]),
    delete("/projects/:id/repository/branches/:branch", remove),
    put("/projects/:id/repository/branches/:branch/protect", protect).needs(Level::Maintainer),
    put("/projects/:id/repository/branches/:branch/unprotect", unprotect).needs(Level::Maintainer),
    delete("/projects/:id/repository/merged_branches", remove_merged),
    post("/projects/:id/protected_branches", new_rule)
        .needs(Level::Maintainer)
        .rules(&[Rule::Required("name")]),
    patch("/projects/:id/protected_branches/:name", change_rule).needs(Level::Maintainer),
    get("/projects/:id/repository/tags", tags).rules(&[
        Rule::OneOf("order_by", &["name", "updated", "version"]),
        Rule::OneOf("sort", &["asc", "desc"]),
    ]),
    get("/projects/:id/repository/tags/:tag_name", tag),
    post("/projects/:id/repository/tags", new_tag)
        .rules(&[Rule::Required("tag_name"), Rule::Required("ref")]),
    delete("/projects/:id/repository/tags/:tag_name", remove_tag),
];

fn is_protected(request: &Request<'_>, branch: &str) -> Option<Row> {
    let rules = request.world.rows(&request.shelf("protected_branches")).iter();
    let covers = |rule: &&Row| match rule.text("name").strip_suffix('*') {
        Some(prefix) => branch.starts_with(prefix),
        None => rule.text("name") == branch,
    };
    rules.into_iter().find(covers).cloned()
}

fn render_branch(request: &Request<'_>, branch: &str) -> Result<Value, Fault> {
    let commit = request.repo()?.head(branch).ok_or(Fault::missing("Branch"))?;
    let main = request.default_branch();
    let merged = branch != main
        && request
            .repo()?
            .head(&main)
            .is_some_and(|head| request.repo().is_ok_and(|repo| repo.ahead(&head.id, &commit.id).is_empty()));
    let protected = is_protected(request, branch);
    let push =
        protected.is_none() && request.at_least(Level::Developer) || request.at_least(Level::Maintainer);
    let web = request.web();
    Ok(json!({
        "name": branch, "commit": commit.json(&web), "merged": merged, "protected": protected.is_some(),
        "developers_can_push": false, "developers_can_merge": protected.is_some(), "can_push": push,
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
    request.repo_mut().branches.insert(name.clone(), commit);
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
    if is_protected(request, &name).is_some() {
        return Err(Fault::refused(405, "Protected branch can't be removed"));
    }
    request.repo_mut().branches.remove(&name);
    Ok(Reply::empty())
}

fn remove_merged(request: &mut Request<'_>) -> Answer {
    let names: Vec<String> = request.repo()?.branches.keys().cloned().collect();
    for name in names {
        let merged =
            render_branch(request, &name)?.get("merged").and_then(Value::as_bool).unwrap_or_default();
        if merged && is_protected(request, &name).is_none() {
            request.repo_mut().branches.remove(&name);
        }
    }
    Ok(Reply::accepted())
}

/// Who may do something with a protected branch: a role, or what `allowed_to_…` lists.
fn access(request: &Request<'_>, role: &str, listed: &str) -> Vec<Value> {
    let listed = request.args.rows(listed);
    let role = request.args.num(role).or_else(|| listed.is_empty().then_some(40));
    let roles = role.into_iter().map(|level| object(json!({ "access_level": level })));
    roles.chain(listed).enumerate().map(|(number, row)| access_level(request, number, &row)).collect()
}

fn access_level(request: &Request<'_>, number: usize, row: &Row) -> Value {
    let id = |name: &str| row.get(name).and_then(text_of).and_then(|id| id.parse::<u64>().ok());
    let user = id("user_id").map(|id| request.world.by_id("users", id).text("name").to_owned());
    let group = id("group_id").map(|id| request.world.by_id("groups", id).text("name").to_owned());
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

fn add_rule(request: &mut Request<'_>, name: &str) -> Row {
    let values = json!({
        "name": name, "push_access_levels": access(request, "push_access_level", "allowed_to_push"),
        "merge_access_levels": access(request, "merge_access_level", "allowed_to_merge"),
        "unprotect_access_levels": access(request, "unprotect_access_level", "allowed_to_unprotect"), "allow_force_push": request.args.flag("allow_force_push"),
        "code_owner_approval_required": request.args.flag("code_owner_approval_required")
    });
    request.add(&request.shelf("protected_branches"), values)
}

fn new_rule(request: &mut Request<'_>) -> Answer {
    let name = request.args.text("name").unwrap_or_default();
    if request.world.find(&request.shelf("protected_branches"), "name", &name).is_some() {
        return Err(Fault::refused(409, &format!("Protected branch '{name}' already exists")));
    }
    let row = add_rule(request, &name);
    created(request.show(&row))
}

fn change_rule(request: &mut Request<'_>) -> Answer {
    let shelf = request.shelf("protected_branches");
    let row = request.row_on(&shelf, "name")?;
    let mut values = Row::new();
    for name in ["allow_force_push", "code_owner_approval_required"] {
        if let Some(on) = request.args.maybe(name) {
            values.set(name, on);
        }
    }
    let lists =
        [("allowed_to_push", "push"), ("allowed_to_merge", "merge"), ("allowed_to_unprotect", "unprotect")];
    for (listed, what) in lists {
        let changes = request.args.rows(listed);
        let field = format!("{what}_access_levels");
        let mut held = row.list(&field).to_vec();
        for change in changes {
            let id = change.get("id").and_then(text_of);
            let same = |level: &Value| level.get("id").and_then(text_of) == id;
            let gone = change.get("_destroy").and_then(text_of).as_deref() == Some("true");
            held.retain(|level| id.is_none() || !same(level));
            if !gone {
                let number =
                    held.iter().filter_map(|level| level.get("id")?.as_u64()).max().unwrap_or_default();
                held.push(access_level(request, usize::try_from(number).unwrap_or_default(), &change));
            }
        }
        values.set(&field, held);
    }
    let row = request.world.write(&shelf, row.num("id"), values);
    ok(request.show(&row))
}

fn protect(request: &mut Request<'_>) -> Answer {
    let name = request.param("branch").to_owned();
    render_branch(request, &name)?;
    if is_protected(request, &name).is_none() {
        add_rule(request, &name);
    }
    ok(render_branch(request, &name)?)
}

fn unprotect(request: &mut Request<'_>) -> Answer {
    let name = request.param("branch").to_owned();
    render_branch(request, &name)?;
    request.world.remove(&request.shelf("protected_branches"), |row| row.text("name") == name);
    ok(render_branch(request, &name)?)
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
        "release": release, "protected": is_tag_protected(request, name), "created_at": tag.date
    }))
}

/// The key by which versions are in order: numbers as numbers, all else as text, and a suffix before the release.
fn version(name: &str) -> Vec<(u64, String)> {
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
        Some("version") => names.sort_by_key(|name| version(name)),
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

/// Creates a tag on the commit of `from`.
pub fn add_tag(request: &mut Request<'_>, name: &str, from: &str) -> Result<(), Fault> {
    let commit = request.repo()?.resolve(from).map(|commit| commit.id.clone());
    let commit = commit.ok_or_else(|| Fault::refused(400, &format!("Target {from} is invalid")))?;
    let tag = Tag { commit, message: request.args.text("message"), date: request.world.now() };
    request.repo_mut().tags.insert(name.to_owned(), tag);
    Ok(())
}

fn new_tag(request: &mut Request<'_>) -> Answer {
    let name = request.args.text("tag_name").unwrap_or_default();
    if request.repo()?.tags.contains_key(&name) {
        return Err(Fault::refused(400, &format!("Tag {name} already exists")));
    }
    let from = request.args.text("ref").unwrap_or_default();
    add_tag(request, &name, &from)?;
    created(show_tag(request, &name)?)
}

fn remove_tag(request: &mut Request<'_>) -> Answer {
    let name = request.param("tag_name").to_owned();
    match request.repo_mut().tags.remove(&name) {
        Some(_) => Ok(Reply::empty()),
        None => Err(Fault::missing("Tag")),
    }
}
