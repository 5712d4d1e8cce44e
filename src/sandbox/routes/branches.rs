//! Branches and tags, protected ones among them.

use serde_json::{Value, json};

use crate::sandbox::answer::{Answer, created, ok};
use crate::sandbox::errors::Fault;
use crate::sandbox::level::Level;
use crate::sandbox::reply::Reply;
use crate::sandbox::repo::Tag;
use crate::sandbox::request::Request;
use crate::sandbox::route::{Route, Rule, delete, get, post, put};
use crate::sandbox::row::{Fields, Row};

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
    put("/projects/:id/protected_branches/:name", change_rule).needs(Level::Maintainer),
    get("/projects/:id/repository/tags", tags),
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

fn shown(request: &Request<'_>, branch: &str) -> Result<Value, Fault> {
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
    let rows = names.map(|name| shown(request, name)).collect::<Result<Vec<_>, _>>()?;
    if request.args.text("pagination").as_deref() == Some("keyset") {
        let name = |row: &Value| row.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        return request.page_after(rows, "page_token", name);
    }
    request.page(rows)
}

fn show(request: &mut Request<'_>) -> Answer {
    ok(shown(request, request.param("branch"))?)
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
    let commit = commit.ok_or_else(|| Fault::refused(400, &format!("Invalid reference name: {from}")))?;
    request.repo_mut().branches.insert(name.clone(), commit);
    created(shown(request, &name)?)
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
        let merged = shown(request, &name)?.get("merged").and_then(Value::as_bool).unwrap_or_default();
        if merged && is_protected(request, &name).is_none() {
            request.repo_mut().branches.remove(&name);
        }
    }
    Ok(Reply::accepted())
}

fn levels(number: u64) -> Value {
    let said = match number {
        0 => "No one",
        30 => "Developers + Maintainers",
        _ => "Maintainers",
    };
    json!([{"id": number, "access_level": number, "access_level_description": said, "user_id": null, "group_id": null}])
}

fn add_rule(request: &mut Request<'_>, name: &str) -> Row {
    let level = |parameter: &str| levels(request.args.num(parameter).unwrap_or(40));
    let values = json!({
        "name": name, "push_access_levels": level("push_access_level"), "merge_access_levels": level("merge_access_level"),
        "unprotect_access_levels": level("unprotect_access_level"), "allow_force_push": request.args.flag("allow_force_push"),
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
    let mut values = json!({});
    if let Some(force) = request.args.maybe("allow_force_push") {
        values = json!({"allow_force_push": force});
    }
    let row = request.write(&shelf, row.num("id"), values);
    ok(request.show(&row))
}

fn protect(request: &mut Request<'_>) -> Answer {
    let name = request.param("branch").to_owned();
    shown(request, &name)?;
    if is_protected(request, &name).is_none() {
        add_rule(request, &name);
    }
    ok(shown(request, &name)?)
}

fn unprotect(request: &mut Request<'_>) -> Answer {
    let name = request.param("branch").to_owned();
    shown(request, &name)?;
    request.world.remove(&request.shelf("protected_branches"), |row| row.text("name") == name);
    ok(shown(request, &name)?)
}

fn show_tag(request: &Request<'_>, name: &str) -> Result<Value, Fault> {
    let repo = request.repo()?;
    let tag = repo.tags.get(name).ok_or(Fault::missing("Tag"))?;
    let commit = repo.resolve(&tag.commit).map(|commit| commit.json(&request.web()));
    let release = request.world.find(&request.shelf("releases"), "tag_name", name);
    let release = release.map(|row| json!({"tag_name": name, "description": row.text("description")}));
    Ok(json!({
        "name": name, "message": tag.message.clone().unwrap_or_default(), "target": tag.commit, "commit": commit,
        "release": release, "protected": name.starts_with('v'), "created_at": tag.date
    }))
}

fn tags(request: &mut Request<'_>) -> Answer {
    let search = request.args.text("search");
    let mut names: Vec<&String> = request.repo()?.tags.keys().collect();
    names.retain(|name| search.as_ref().is_none_or(|search| matches(name, search)));
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
