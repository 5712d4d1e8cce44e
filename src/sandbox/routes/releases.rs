//! Releases and, across a group, what was released: packages and images. The links of a release need no code.

use serde_json::{Value, json};

use crate::sandbox::answer::{Answer, created, ok};
use crate::sandbox::errors::Fault;
use crate::sandbox::request::Request;
use crate::sandbox::route::{Route, Rule, delete, get, post, put};
use crate::sandbox::row::{Fields, Row};

const ONE: &str = "/projects/:id/releases/:tag_name";

pub const ROUTES: &[Route] = &[
    get("/projects/:id/releases", list),
    get("/projects/:id/releases/permalink/latest", latest),
    get(ONE, show),
    post("/projects/:id/releases", create).rules(&[Rule::Required("tag_name")]),
    put(ONE, update),
    delete(ONE, remove),
    get("/groups/:id/releases", list_across),
    get("/groups/:id/packages", packages),
    get("/groups/:id/registry/repositories", images),
];

fn shown(request: &Request<'_>, row: &Row) -> Value {
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
    rows.sort_by(|one, other| other.text("released_at").cmp(one.text("released_at")));
    request.page(rows.iter().map(|row| shown(request, row)).collect())
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
    ok(shown(request, &row.ok_or(Fault::missing(""))?))
}

fn show(request: &mut Request<'_>) -> Answer {
    let row = request.row(ONE)?;
    ok(shown(request, &row))
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
    let mut values = kind.given(request.args.all());
    values.retain(|name, _| matches!(name.as_str(), "tag_name" | "name" | "description" | "released_at"));
    let row = request.world.add(&shelf, values, request.user);
    let links = request.args.nested("assets").rows("links");
    for link in links {
        request.add(&format!("{shelf}/{tag}/assets/links"), Value::Object(link));
    }
    created(shown(request, &row))
}

fn update(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.subject(ONE)?;
    let kind = request.world.kinds.named("releases").cloned().ok_or(Fault::Nowhere)?;
    let mut values = kind.given(request.args.all());
    values.retain(|name, _| matches!(name.as_str(), "name" | "description" | "released_at"));
    let row = request.world.write(&shelf, row.num("id"), values);
    ok(shown(request, &row))
}

fn remove(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.subject(ONE)?;
    let answer = ok(shown(request, &row));
    request.world.remove(&shelf, |other| other.num("id") == row.num("id"));
    answer
}
