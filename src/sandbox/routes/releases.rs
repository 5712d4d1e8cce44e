//! Releases and, across a group, what was released: packages and images. The links of a release need no code.

use serde_json::{Value, json};

use crate::sandbox::answer::{Answer, created, ok};
use crate::sandbox::errors::Fault;
use crate::sandbox::reply::Reply;
use crate::sandbox::request::Request;
use crate::sandbox::route::{Route, Rule, delete, get, post, put};
use crate::sandbox::row::{Fields, Row};
use crate::sandbox::state::Place;

const ONE: &str = "/projects/:id/releases/:tag_name";

pub const ROUTES: &[Route] = &[
    get("/projects/:id/releases", list).rules(&[
        Rule::OneOf("order_by", &["released_at", "created_at"]),
        Rule::OneOf("sort", &["asc", "desc"]),
    ]),
    get("/projects/:id/releases/permalink/latest", latest),
    get(ONE, show),
    post("/projects/:id/releases", create).rules(&[Rule::Required("tag_name")]),
    put(ONE, update),
    delete(ONE, remove),
    get("/groups/:id/releases", list_across),
    get("/groups/:id/packages", packages),
    get("/groups/:id/registry/repositories", images),
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
    let field = request.args.text("order_by").unwrap_or_else(|| "released_at".to_owned());
    rows.sort_by(|one, other| other.text(&field).cmp(one.text(&field)));
    if request.args.text("sort").as_deref() == Some("asc") {
        rows.reverse();
    }
    request.page(rows.iter().map(|row| render_release(request, row)).collect())
}

fn list_across(request: &mut Request<'_>) -> Answer {
    let rows = request.across("releases");
    request.page_of("releases", &rows)
}

fn packages(request: &mut Request<'_>) -> Answer {
    let rows = request.across("packages");
    request.page_of("packages", &rows)
}

fn images(request: &mut Request<'_>) -> Answer {
    let rows = request.across("registry/repositories");
    request.page_of("repositories", &rows)
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
    let row = request.row(ONE)?;
    ok(render_release(request, &row))
}

/// The milestones whose titles or ids a release is given; nothing where none are.
fn milestones(request: &Request<'_>) -> Result<Row, Fault> {
    let mut values = Row::new();
    for (parameter, field) in [("milestones", "title"), ("milestone_ids", "id")] {
        if !request.args.has(parameter) {
            continue;
        }
        let mut places: Vec<Place> = request.place.into_iter().collect();
        places.extend(request.groups_above());
        let mut found = Vec::new();
        for wanted in request.args.list(parameter) {
            let shelves = places.iter().map(|place| format!("{}/{}/milestones", place.kind, place.id));
            let row = shelves.into_iter().find_map(|shelf| request.world.find(&shelf, field, &wanted));
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
    if request.world.find(&shelf, "tag_name", &tag).is_some() {
        return Err(Fault::refused(409, "Release already exists"));
    }
    if !request.repo()?.tags.contains_key(&tag) {
        let from = request.args.text("ref").ok_or_else(|| Fault::refused(422, "Ref is not specified"))?;
        super::branches::add_tag(request, &tag, &from)?;
    }
    let kind = request.world.kinds.named("releases").cloned().ok_or(Fault::Nowhere)?;
    let values = kind.given_of(&request.args, &["tag_name", "name", "description", "released_at"]);
    let row = request.world.add(&shelf, values, request.user);
    let titles = milestones(request)?;
    let row = request.world.write(&shelf, row.num("id"), titles);
    let links = request.args.nested("assets").rows("links");
    for link in links {
        request.add(&format!("{shelf}/{tag}/assets/links"), Value::Object(link));
    }
    created(render_release(request, &row))
}

fn update(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.subject(ONE)?;
    let kind = request.world.kinds.named("releases").cloned().ok_or(Fault::Nowhere)?;
    let mut values = kind.given_of(&request.args, &["name", "description", "released_at"]);
    values.extend(milestones(request)?);
    let row = request.world.write(&shelf, row.num("id"), values);
    ok(render_release(request, &row))
}

fn remove(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.subject(ONE)?;
    let answer = ok(render_release(request, &row));
    request.world.remove(&shelf, |other| other.num("id") == row.num("id"));
    answer
}
