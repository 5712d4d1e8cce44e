//! Releases, packages and, across a group, releases and images. The links of a release need no code.

use std::collections::BTreeSet;

use crate::filter::sort_by;
use crate::prelude::*;

const PACKAGES: &[Rule] = &[
    Rule::OneOf(
        "package_type",
        "maven npm conan nuget pypi composer generic golang debian rubygems helm terraform_module rpm ml_model cargo",
    ),
    Rule::OneOf("status", "default hidden processing error pending_destruction deprecated"),
    Rule::OneOf("order_by", "created_at name version type project_path"),
    Rule::OneOf("sort", "asc desc"),
];

pub const ROUTES: &[Route] = &[
    get("/projects/:id/releases", list)
        .rules(&[Rule::OneOf("order_by", "released_at created_at"), Rule::OneOf("sort", "asc desc")]),
    get("/projects/:id/releases/permalink/latest", latest),
    get("/projects/:id/releases/:tag_name", show),
    post("/projects/:id/releases", create).rules(&[Rule::Required("tag_name")]),
    put("/projects/:id/releases/:tag_name", update),
    delete("/projects/:id/releases/:tag_name", remove),
    get("/groups/:id/(releases|registry/repositories)", list_across),
    get("/projects/:id/registry/repositories", repositories),
    get("/(projects|groups)/:id/packages", packages).rules(PACKAGES),
];

fn render_release(request: &Request<'_>, row: &Row) -> Value {
    let tag = row.text("tag_name");
    let mut shown = request.world.show(row);
    if let Some(commit) = request.repo().ok().and_then(|repo| repo.resolve(tag)) {
        shown.set("commit", commit.json(&request.web()));
        shown.set("commit_path", format!("/{}/-/commit/{}", request.full_path(), commit.id));
    }
    let links = request.world.rows(&request.shelf(&format!("releases/{tag}/assets/links"))).iter();
    let links: Vec<Value> = links.map(|link| request.show(link)).collect();
    let web = request.web();
    let source =
        |format: &str| json!({"format": format, "url": format!("{web}/-/archive/{tag}/{tag}.{format}")});
    let sources = [source("zip"), source("tar.gz")];
    shown.set("assets", json!({"count": links.len() + sources.len(), "sources": sources, "links": links}));
    Value::Object(shown)
}

fn list(request: &mut Request<'_>) -> Answer {
    let mut rows = request.world.rows(&request.shelf("releases")).to_vec();
    sort_by(&request.args, "released_at", "desc", &mut rows);
    request.page(rows.iter().map(|row| render_release(request, row)).collect())
}

/// The releases or images of all projects of a group.
fn list_across(request: &mut Request<'_>) -> Answer {
    let rows = request.across(request.pattern.trim_start_matches("/groups/:id/"));
    request.page_of(request.path_end(), &rows)
}

/// The repositories of images of a project, with their tags and the number of these if it is asked for them.
fn repositories(request: &mut Request<'_>) -> Answer {
    let shelf = request.path_shelf()?;
    let (with_tags, with_count) = (request.args.flag("tags"), request.args.flag("tags_count"));
    let shown = request.world.rows(&shelf).iter().map(|row| {
        let mut shown = object(request.show_in_list("repositories", row));
        let tags = request.world.rows(&format!("{shelf}/{}/tags", row.num("id")));
        if with_count {
            shown.set("tags_count", tags.len());
        }
        if with_tags {
            let name = |tag: &Row| json!({"name": tag.text("name"), "path": tag.text("path"), "location": tag.text("location")});
            shown.set("tags", tags.iter().map(name).collect::<Vec<Value>>());
        }
        Value::Object(shown)
    });
    request.page(shown.collect())
}

fn packages(request: &mut Request<'_>) -> Answer {
    let args = &request.args;
    let exact = [("package_type", "package_type"), ("package_version", "version"), ("status", "status")];
    let exact = exact.map(|(name, field)| (field, args.text(name)));
    let (words, versionless) = (args.text("package_name"), args.flag("include_versionless"));
    let any_status = args.has("status");
    let mut rows = Vec::new();
    for project in request.projects() {
        for mut row in request.world.rows(&format!("projects/{}/packages", project.num("id"))).to_vec() {
            if request.place.is_some_and(|place| place.kind == "groups") {
                row.set("project_id", project.num("id"));
                row.set("project_path", project.text("path_with_namespace"));
            }
            rows.push(row);
        }
    }
    rows.retain(|row| {
        exact.iter().all(|(field, wanted)| wanted.as_ref().is_none_or(|wanted| row.text(field) == wanted))
            && words.as_ref().is_none_or(|words| mentions(row, &["name"], words))
            && (versionless || !row.text("version").is_empty())
            && (any_status || matches!(row.text("status"), "default" | "error" | "deprecated"))
    });
    let field = args.text("order_by").unwrap_or_else(|| "created_at".to_owned());
    let field = if field == "type" { "package_type" } else { &field };
    rows.sort_by(|one, other| one.text(field).cmp(other.text(field)));
    if args.text("sort").as_deref() == Some("desc") {
        rows.reverse();
    }
    request.page_of("packages", &rows)
}

fn latest(request: &mut Request<'_>) -> Answer {
    let rows = request.world.rows(&request.shelf("releases")).iter();
    let row = rows.max_by_key(|row| row.text("released_at").to_owned()).cloned();
    let tag = row.ok_or(Fault::missing(""))?.text("tag_name").to_owned();
    let to = format!("{}/api/v4/projects/{}/releases/{tag}", request.world.url, request.place_id());
    let told = format!("This resource has been moved temporarily to {to}.");
    Ok(Reply { status: 302, ..Reply::text(told) }.with("location", to))
}

fn show(request: &mut Request<'_>) -> Answer {
    let row = request.row()?;
    ok(render_release(request, &row))
}

/// The milestones whose titles or ids a release is given; nothing where none are.
fn milestones(request: &Request<'_>) -> Result<Row, Fault> {
    let mut values = Row::new();
    for (parameter, field) in [("milestones", "title"), ("milestone_ids", "id")] {
        if !request.args.has(parameter) {
            continue;
        }
        let shelves = request.shelves("milestones");
        let mut found = Vec::new();
        for wanted in request.args.list(parameter) {
            let row = shelves.iter().find_map(|shelf| request.world.find(shelf, field, &wanted));
            let missing = || Fault::refused(400, &format!("Milestone(s) not found: {wanted}"));
            found.push(request.show(row.ok_or_else(missing)?));
        }
        values.set("milestones", found);
    }
    Ok(values)
}

fn create(request: &mut Request<'_>) -> Answer {
    let tag = request.args.text("tag_name").unwrap_or_default();
    let shelf = request.shelf("releases");
    super::branches::check_tag_right(request, &tag, 403)?;
    if request.world.find(&shelf, "tag_name", &tag).is_some() {
        return Err(Fault::refused(409, "Release already exists"));
    }
    if !request.repo()?.tags.contains_key(&tag) {
        let from = request.args.text("ref").ok_or_else(|| Fault::refused(422, "Ref is not specified"))?;
        super::branches::add_tag(request, &tag, &from, "tag_message")?;
    }
    // The message is for a new tag alone.
    request.args.without_trace(&["tag_message", "ref"]);
    let values = request.given_of("releases", &["tag_name", "name", "description", "released_at"]);
    let row = request.world.add(&shelf, values, request.user);
    let titles = milestones(request)?;
    let row = request.world.write(&shelf, row.num("id"), titles);
    let links = request.args.nested("assets").rows("links");
    let names: BTreeSet<&str> = links.iter().map(|link| link.text("name")).collect();
    if names.len() < links.len() {
        return Err(Fault::refused(400, "Validation failed: Links have duplicate values (name)"));
    }
    for link in links {
        request.add(&format!("{shelf}/{tag}/assets/links"), Value::Object(link));
    }
    created(render_release(request, &row))
}

fn update(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.found()?;
    let mut values = request.given_of("releases", &["name", "description", "released_at"]);
    values.extend(milestones(request)?);
    let row = request.world.write(&shelf, row.num("id"), values);
    ok(render_release(request, &row))
}

fn remove(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.found()?;
    let answer = ok(render_release(request, &row));
    request.world.remove(&shelf, |other| other.num("id") == row.num("id"));
    answer
}
