//! Projects.

use crate::archive::tar_gz;
use crate::filter::sort;
use crate::prelude::*;
use crate::repo::Repo;

/// Rule of the parameter `visibility`.
pub const VISIBILITY: Rule = Rule::OneOf("visibility", "private internal public");
const ORDER: Rule =
    Rule::OneOf("order_by", "id name path created_at updated_at last_activity_at similarity star_count");

/// Parameters of an update, as GitLab lists them if none is given.
const CHANGES: &str = "default_branch description name path topics visibility";

pub const ROUTES: &[Route] = &[
    get("/projects", list).rules(&[VISIBILITY, ORDER]),
    post("/projects", create).rules(&[Rule::AnyOf("name path"), VISIBILITY]),
    get("/projects/:id", show),
    put("/projects/:id", update).needs(Level::Maintainer).rules(&[Rule::AnyParameter(CHANGES), VISIBILITY]),
    put("/projects/:id/transfer", transfer).needs(Level::Owner).rules(&[Rule::Required("namespace")]),
    delete("/projects/:id", remove).needs(Level::Owner),
    post("/projects/:id/restore", restore).needs(Level::Owner),
    post("/projects/:id/fork", fork).needs(Level::User),
    get("/projects/:id/forks", forks),
    post("/projects/:id/(star|unstar)", set_star).needs(Level::User),
    get("/projects/:id/starrers", starrers),
    post("/projects/:id/(archive|unarchive)", set_archived).needs(Level::Owner),
    get("/projects/:id/languages", languages),
    get("/projects/:id/users", users),
    get("/projects/:id/groups", ancestors),
    get("/projects/:id/statistics", statistics).needs(Level::Reporter),
    post("/projects/:id/export", export).needs(Level::Maintainer),
    get("/projects/:id/export", export_status).needs(Level::Maintainer),
    get("/(projects|groups)/:id/badges/render", render_badge).needs(Level::Maintainer),
    get("/projects/:id/export/download", download_export).needs(Level::Maintainer),
];

/// Views of a project.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    /// A row of a list.
    Row,
    /// The response to a write, without the permissions of the user.
    Written,
    /// A single project.
    Asked,
}

/// A project, with its computed fields.
fn render_project(request: &Request<'_>, row: &Row, view: View) -> Value {
    let id = row.num("id");
    let mut shown = request.world.show(row);
    let issues = request.world.rows(&format!("projects/{id}/issues")).iter();
    shown.set("open_issues_count", issues.filter(|row| row.text("state") == "opened").count());
    shown.set("empty_repo", request.world.repos.get(&id).is_none_or(|repo| repo.branches.is_empty()));
    if request.args.flag("statistics") {
        shown.set("statistics", sizes(request, id));
    }
    let level = level(request.world, request.user, Some(Place::project(id)));
    if view == View::Written {
        shown.remove("permissions");
    } else if level >= Level::Guest {
        let number =
            [10, 15, 20, 25, 30, 40, 50].into_iter().find(|number| Level::of(*number) == level).unwrap_or(50);
        let access = json!({"access_level": number, "notification_level": 3});
        shown.set("permissions", json!({"project_access": null, "group_access": access}));
    }
    if request.args.flag("license") && view == View::Asked {
        let branch = row.text("default_branch");
        let repo = request.world.repos.get(&id);
        let file =
            repo.and_then(|repo| repo.head(branch)?.tree.keys().find(|path| path.starts_with("LICENSE")));
        let url = file.map(|file| format!("{}/-/blob/{branch}/{file}", row.text("web_url")));
        shown.set("license_url", url);
        let other =
            json!({"key": "other", "name": "Other", "nickname": null, "html_url": null, "source_url": null});
        shown.set("license", file.map_or(Value::Null, |_| other));
    }
    Value::Object(shown)
}

fn sizes(request: &Request<'_>, id: u64) -> Value {
    let repo = request.world.repos.get(&id);
    let head = repo.and_then(|repo| repo.head("main"));
    let size: usize = head.map(|head| head.tree.values().map(|bytes| bytes.len()).sum()).unwrap_or_default();
    let commits = repo.zip(head).map(|(repo, head)| repo.log(&head.id).len()).unwrap_or_default();
    json!({
        "commit_count": commits, "storage_size": size, "repository_size": size, "wiki_size": 0, "lfs_objects_size": 0,
        "job_artifacts_size": 0, "pipeline_artifacts_size": 0, "packages_size": 0, "snippets_size": 0, "uploads_size": 0,
        "container_registry_size": 0
    })
}

/// A page of projects.
pub fn page(request: &Request<'_>, rows: &[Row]) -> Answer {
    let simply = request.args.flag("simple") || request.user.is_none();
    // Read here, as a page may have no row.
    request.args.flag("statistics");
    // The projects of a group and forks are shown without the permissions of the user.
    let view = if request.place.is_some() { View::Written } else { View::Row };
    let shown = rows.iter().map(|row| {
        let shown = object(render_project(request, row, view));
        if simply { request.show_as("projects", "simple", &shown) } else { Value::Object(shown) }
    });
    request.page_either(shown.collect())
}

fn list(request: &mut Request<'_>) -> Answer {
    let rows = request.projects();
    narrowed(request, rows)
}

/// Projects as the parameters of a list ask for them.
pub fn narrowed(request: &mut Request<'_>, mut rows: Vec<Row>) -> Answer {
    let (args, user) = (&request.args, request.user);
    let least = [("owned", Level::Owner), ("membership", Level::Guest)].into_iter();
    let least = least.filter(|(name, _)| args.flag(name)).map(|(_, level)| level);
    let least = least.chain(args.num("min_access_level").map(Level::of)).max().unwrap_or(Level::Anyone);
    let topics = args.list("topic");
    let (words, visibility) = (args.text("search"), args.text("visibility"));
    let fields: &[&str] = match args.flag("search_namespaces") {
        true => &["name", "path", "description", "path_with_namespace"],
        false => &["name", "path", "description"],
    };
    let (archived, active) = (args.maybe("archived"), args.maybe("active"));
    let starred = args.flag("starred");
    let (since, until) = (args.text("last_activity_after"), args.text("last_activity_before"));
    let enabled = ["issues_enabled", "merge_requests_enabled"];
    let enabled: Vec<&str> =
        enabled.into_iter().filter(|field| args.flag(&format!("with_{field}"))).collect();
    let is_active = |row: &Row| !row.flag("archived") && row.blank("marked_for_deletion_on");
    rows.retain(|row| {
        level(request.world, user, Some(Place::project(row.num("id")))) >= least
            && words.as_ref().is_none_or(|words| mentions(row, fields, words))
            && visibility.as_ref().is_none_or(|wanted| row.text("visibility") == wanted)
            && archived.is_none_or(|wanted| row.flag("archived") == wanted)
            && active.is_none_or(|wanted| is_active(row) == wanted)
            && since.as_ref().is_none_or(|since| row.text("last_activity_at") > since.as_str())
            && until.as_ref().is_none_or(|until| row.text("last_activity_at") < until.as_str())
            && enabled.iter().all(|field| row.flag(field))
            && (!starred || user.is_some_and(|user| row.nums("_stars").contains(&user)))
            && topics.iter().all(|topic| row.texts("topics").contains(topic))
    });
    sort(&request.args, &mut rows);
    page(request, &rows)
}

fn show(request: &mut Request<'_>) -> Answer {
    let row = request.place_row()?;
    ok(render_project(request, &row, View::Asked))
}

/// Adds a project in a group, or in the user's own namespace where there is none.
fn add(request: &mut Request<'_>, group: u64, name: &str, path: &str, mut values: Row) -> Result<Row, Fault> {
    let me = request.me()?;
    let namespace = object(request.world.namespace(group, me));
    let full = format!("{}/{path}", namespace.text("full_path"));
    if request.world.find("projects", "path_with_namespace", &full).is_some() {
        let taken = ["has already been taken"];
        return Err(Fault::Refused(
            400,
            json!({"project_namespace.name": taken, "name": taken, "path": taken}),
        ));
    }
    values.extend(object(json!({
        "name": name, "path": path, "path_with_namespace": full, "creator_id": me, "_namespace": group,
        "name_with_namespace": format!("{} / {name}", namespace.text("name")), "namespace": namespace,
    })));
    let row = request.world.add("projects", values, Some(me));
    if group == 0 {
        request.add(&format!("projects/{}/members", row.num("id")), json!({"id": me, "access_level": 50}));
    }
    Ok(row)
}

/// The group that a parameter names, which the user may put a project in.
fn target_group(request: &Request<'_>, parameter: &str, missing: &'static str) -> Result<u64, Fault> {
    let Some(wanted) = request.args.text(parameter) else { return Ok(0) };
    let world = &request.world;
    let Some(group) = world.place_named("groups", &wanted) else {
        let own = world.by_id("users", request.me()?);
        let mine = own.text("username") == wanted || own.num("namespace_id").to_string() == wanted;
        return if mine { Ok(0) } else { Err(Fault::missing(missing)) };
    };
    if level(world, request.user, Some(Place::group(group.num("id")))) < Level::Developer {
        return Err(Fault::Forbidden);
    }
    Ok(group.num("id"))
}

fn create(request: &mut Request<'_>) -> Answer {
    let args = &request.args;
    let name = args
        .text("name")
        .or_else(|| args.text("path"))
        .ok_or_else(|| Fault::invalid("name", "can't be blank"))?;
    let path = args.text("path").unwrap_or_else(|| name.to_lowercase().replace(' ', "-"));
    let group = target_group(request, "namespace_id", "Namespace").map_err(|fault| match fault {
        Fault::Forbidden => Fault::invalid("namespace", "is not valid"),
        other => other,
    })?;
    let given = request.given("projects");
    let readme = request.args.flag("initialize_with_readme");
    let row = add(request, group, &name, &path, given)?;
    let mut repo = Repo::default();
    if readme {
        let now = request.world.now();
        let author = crate::repo_author::author(request.world, request.me()?);
        let text = format!("# {name}\n");
        let tree = [("README.md".to_owned(), text.into_bytes().into())].into();
        repo.commit(row.text("default_branch"), Vec::new(), tree, "Initial commit", author, &now);
    }
    request.world.repos.insert(row.num("id"), repo.into());
    created(render_project(request, &row, View::Written))
}

fn update(request: &mut Request<'_>) -> Answer {
    let mut given = request.given("projects");
    let fixed = ["path_with_namespace", "namespace", "name_with_namespace", "archived"];
    given.retain(|name, _| !fixed.contains(&name.as_str()));
    let before = request.place_row()?;
    if let Some(path) = request.args.text("path").filter(|path| path != before.text("path")) {
        let old = before.text("path_with_namespace");
        let full = old.rsplit_once('/').map_or_else(|| path.clone(), |(above, _)| format!("{above}/{path}"));
        given.extend(moved(request, &before, &full)?);
        given.set("path", path);
    }
    if let Some(name) = request.args.text("name") {
        let full = before.text("name_with_namespace");
        let above = full.rsplit_once(" / ").map(|(above, _)| above).unwrap_or_default();
        given.set("name_with_namespace", format!("{above} / {name}"));
    }
    if given.get("name").is_some_and(|name| name.as_str() == Some("")) {
        return Err(Fault::invalid("name", "can't be blank"));
    }
    let row = request.world.write("projects", request.place_id(), given);
    ok(render_project(request, &row, View::Written))
}

/// A project in another namespace. GitLab answers with the project as it was: since 19.4 a worker transfers it.
fn transfer(request: &mut Request<'_>) -> Answer {
    let before = request.place_row()?;
    let group = target_group(request, "namespace", "Namespace")?;
    let namespace = object(request.world.namespace(group, request.me()?));
    let refused = |reason: &str| {
        let message = format!("400 Failed to transfer project {{:new_namespace=>[\"{reason}\"]}}");
        Fault::refused(400, &message)
    };
    if group == before.num("_namespace") {
        return Err(refused("Project is already in this namespace."));
    }
    let full = format!("{}/{}", namespace.text("full_path"), before.text("path"));
    let taken = "Project with same name or path in target namespace already exists";
    let mut values = moved(request, &before, &full).map_err(|_| refused(taken))?;
    values.set("_namespace", group);
    values.set("name_with_namespace", format!("{} / {}", namespace.text("name"), before.text("name")));
    values.set("namespace", Value::Object(namespace));
    let answer = render_project(request, &before, View::Written);
    let id = before.num("id");
    request.world.write("projects", id, values);
    if group == 0 {
        let owner = json!({"id": request.me()?, "access_level": 50});
        request.add(&format!("projects/{id}/members"), owner);
    }
    ok(answer)
}

/// The fields of a project that another full path changes.
fn moved(request: &Request<'_>, before: &Row, full: &str) -> Result<Row, Fault> {
    let old = before.text("path_with_namespace");
    if request.world.find("projects", "path_with_namespace", full).is_some() {
        return Err(Fault::Refused(400, json!({"path": ["has already been taken"]})));
    }
    let mut values = Row::new();
    for field in
        ["web_url", "http_url_to_repo", "ssh_url_to_repo", "readme_url", "container_registry_image_prefix"]
    {
        values.set(field, before.text(field).replace(old, full));
    }
    let mut was = before.texts("_was");
    was.push(old.to_owned());
    values.set("_was", super::reach::names(&was));
    values.set("path_with_namespace", full);
    Ok(values)
}

/// Takes a project out of the world.
pub fn forget(request: &mut Request<'_>, id: u64) {
    request.world.remove("projects", |row| row.num("id") == id);
    request.world.repos.remove(&id);
}

/// A deletion is scheduled; one that is can be made at once.
fn remove(request: &mut Request<'_>) -> Answer {
    let row = request.place_row()?;
    if super::deletion::is_final(request, &row, row.text("path_with_namespace"))? {
        forget(request, row.num("id"));
    }
    Ok(Reply::accepted())
}

fn restore(request: &mut Request<'_>) -> Answer {
    let row = super::deletion::unschedule(request)?;
    created(render_project(request, &row, View::Written))
}

/// A badge that is not kept. The sandbox fills in no placeholders.
fn render_badge(request: &mut Request<'_>) -> Answer {
    let given = request.given("badges");
    let url = |name: &str| given.text(name).to_owned();
    let (link, image) = (url("link_url"), url("image_url"));
    ok(json!({"link_url": link, "image_url": image, "rendered_link_url": link, "rendered_image_url": image}))
}

/// An export is done as soon as it is asked for.
fn export(request: &mut Request<'_>) -> Answer {
    request.write("projects", request.place_id(), json!({"_exported": true}));
    Ok(Reply::accepted())
}

fn export_status(request: &mut Request<'_>) -> Answer {
    let row = request.place_row()?;
    let mut shown = object(request.show_as("projects", "identity", &row));
    let done = row.flag("_exported");
    shown.set("export_status", if done { "finished" } else { "none" });
    if done {
        let (url, web) = (&request.world.url, row.text("web_url"));
        let api = format!("{url}/api/v4/projects/{}/export/download", row.num("id"));
        shown.set("_links", json!({"api_url": api, "web_url": format!("{web}/download_export")}));
    }
    ok(shown)
}

fn download_export(request: &mut Request<'_>) -> Answer {
    let row = request.place_row()?;
    if !row.flag("_exported") {
        return Err(Fault::refused(404, "404 Not found or has expired"));
    }
    let name = format!("attachment; filename=\"{}_export.tar.gz\"", row.text("path"));
    let files = [("VERSION".to_owned(), b"0.2.4".as_slice().into())].into();
    Ok(Reply::bytes("application/gzip", tar_gz(&files, "./")?).with("content-disposition", name))
}

fn fork(request: &mut Request<'_>) -> Answer {
    let row = request.place_row()?;
    let given = ["namespace_path", "namespace"].into_iter().find(|name| request.args.has(name));
    let key = given.unwrap_or("namespace_id");
    let group = target_group(request, key, "Target Namespace")?;
    let name = request.args.text("name").unwrap_or_else(|| row.text("name").to_owned());
    let path = request.args.text("path").unwrap_or_else(|| row.text("path").to_owned());
    let origin = request.show_as("projects", "simple", &row);
    let description = request.args.text("description").unwrap_or_else(|| row.text("description").to_owned());
    let visibility = request.args.text("visibility").unwrap_or_else(|| row.text("visibility").to_owned());
    let values = object(json!({
        "description": description, "visibility": visibility, "forked_from_project": origin,
        "import_status": "finished"
    }));
    let made = add(request, group, &name, &path, values).map_err(|fault| match fault {
        Fault::Refused(400, taken) => Fault::Refused(409, taken),
        other => other,
    })?;
    let repo = request.repo()?.clone();
    request.world.repos.insert(made.num("id"), repo.into());
    let forks = row.num("forks_count") + 1;
    request.write("projects", row.num("id"), json!({"forks_count": forks}));
    created(render_project(request, &made, View::Written))
}

fn forks(request: &mut Request<'_>) -> Answer {
    let id = request.place_id();
    let all = request.world.rows("projects").iter();
    let of = |row: &&Row| {
        row.get("forked_from_project").and_then(|origin| origin.get("id")).and_then(Value::as_u64) == Some(id)
    };
    let rows: Vec<Row> = all.filter(of).cloned().collect();
    page(request, &rows)
}

fn set_star(request: &mut Request<'_>) -> Answer {
    let on = request.path_end() == "star";
    let (me, row) = (request.me()?, request.place_row()?);
    let mut stars = row.nums("_stars");
    if stars.contains(&me) == on {
        return Ok(Reply::unchanged());
    }
    stars.retain(|user| *user != me);
    if on {
        stars.push(me);
    }
    let row = request.write("projects", row.num("id"), json!({"star_count": stars.len(), "_stars": stars}));
    created(render_project(request, &row, View::Written))
}

fn starrers(request: &mut Request<'_>) -> Answer {
    let stars = request.place_row()?.nums("_stars");
    let shown = stars.iter().map(
        |user| json!({"starred_since": "2026-01-05T08:00:00.000Z", "user": request.world.basic_user(*user)}),
    );
    request.page(shown.collect())
}

fn set_archived(request: &mut Request<'_>) -> Answer {
    let archived = request.path_end() == "archive";
    let row = request.write("projects", request.place_id(), json!({"archived": archived}));
    created(render_project(request, &row, View::Written))
}

/// Languages by file extension.
const LANGUAGES: &[(&str, &str)] = &[(".rs", "Rust"), (".py", "Python"), (".html", "HTML"), (".sh", "Shell")];

fn languages(request: &mut Request<'_>) -> Answer {
    let repo = request.repo()?;
    let Some(head) = repo.head(&request.default_branch()) else { return ok(json!({})) };
    let size = |ending: &str| -> usize {
        head.tree.iter().filter(|(path, _)| path.ends_with(ending)).map(|(_, bytes)| bytes.len()).sum()
    };
    let total: usize = LANGUAGES.iter().map(|(ending, _)| size(ending)).sum();
    let share = |ending: &str| (size(ending) * 10_000 / total.max(1)) as f64 / 100.0;
    let found = LANGUAGES.iter().filter(|(ending, _)| size(ending) > 0);
    ok(found.map(|(ending, name)| ((*name).to_owned(), json!(share(ending)))).collect::<Row>())
}

fn users(request: &mut Request<'_>) -> Answer {
    let words = request.args.text("search");
    let place = request.place;
    let rows = request.world.rows("users").iter().filter(|row| {
        let member =
            level(request.world, Some(row.num("id")), place) >= Level::Guest && !row.flag("is_admin");
        member && words.as_ref().is_none_or(|words| mentions(row, &["name", "username"], words))
    });
    request.page(rows.map(|row| request.world.basic_user(row.num("id"))).collect())
}

fn ancestors(request: &mut Request<'_>) -> Answer {
    let groups = request.groups_above().into_iter().map(|place| request.world.row_of(place));
    request.page(groups.map(|row| request.show_as("groups", "basic", &row)).collect())
}

fn statistics(_: &mut Request<'_>) -> Answer {
    ok(
        json!({"fetches": {"total": 3, "days": [{"count": 2, "date": "2026-03-01"}, {"count": 1, "date": "2026-02-28"}]}}),
    )
}
