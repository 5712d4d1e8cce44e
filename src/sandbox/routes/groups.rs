//! Groups and namespaces.

use crate::filter::sort;
use crate::prelude::*;

use super::projects::VISIBILITY;
use super::rows;

pub const ROUTES: &[Route] = &[
    get("/groups", list),
    post("/groups", create).rules(&[
        Rule::Required("name"),
        Rule::Required("path"),
        VISIBILITY,
        Rule::Integer("parent_id"),
    ]),
    get("/groups/:id", show),
    put("/groups/:id", rows::update)
        .needs(Level::Owner)
        .rules(&[Rule::AnyParameter("name path description visibility parent_id"), VISIBILITY]),
    delete("/groups/:id", remove).needs(Level::Owner),
    post("/groups/:id/restore", restore).needs(Level::Owner),
    get("/groups/:id/subgroups", subgroups),
    get("/groups/:id/descendant_groups", descendants),
    get("/groups/:id/projects", projects),
    get("/namespaces", namespaces).needs(Level::User),
    get("/namespaces/:namespace_id", namespace).needs(Level::User),
    get("/namespaces/:namespace_id/exists", namespace_exists).needs(Level::User),
];

fn visible(request: &Request<'_>, wanted: impl Fn(&Row) -> bool) -> Vec<Row> {
    let words = request.args.text("search");
    let rows = request.world.rows("groups").iter().filter(|row| {
        wanted(row)
            && may_see(request.world, request.user, "groups", row)
            && words.as_ref().is_none_or(|words| mentions(row, &["name", "path", "full_path"], words))
    });
    rows.cloned().collect()
}

fn page(request: &Request<'_>, mut rows: Vec<Row>) -> Answer {
    if request.args.peek("order_by").is_some() || request.args.has("sort") {
        sort(&request.args, &mut rows);
    } else {
        rows.sort_by_key(|row| row.text("name").to_lowercase());
    }
    request.page_either(rows.iter().map(|row| request.show_in_list("groups", row)).collect())
}

fn list(request: &mut Request<'_>) -> Answer {
    let least = request.args.num("min_access_level").map_or(Level::Anyone, Level::of);
    let least = if request.args.flag("owned") { Level::Owner } else { least };
    let top = request.args.flag("top_level_only");
    let rows = visible(request, |row| {
        let place = Place::group(row.num("id"));
        level(request.world, request.user, Some(place)) >= least && (!top || row.blank("parent_id"))
    });
    page(request, rows)
}

fn show(request: &mut Request<'_>) -> Answer {
    let row = request.place_row()?;
    let mut shown = request.world.show(&row);
    if request.args.maybe("with_projects") != Some(false) {
        let projects = request.projects();
        let own: Vec<Value> = projects
            .iter()
            .filter(|project| project.num("_namespace") == row.num("id"))
            .map(|project| request.show_in_list("projects", project))
            .collect();
        shown.set("projects", own);
        shown.set("shared_projects", json!([]));
    }
    ok(shown)
}

fn create(request: &mut Request<'_>) -> Answer {
    let name = request.args.text("name").ok_or_else(|| Fault::invalid("name", "can't be blank"))?;
    let path = request.args.text("path").ok_or_else(|| Fault::invalid("path", "can't be blank"))?;
    let above = request.args.num("parent_id").map(Place::group);
    let mut full_path = path.clone();
    let mut full_name = name.clone();
    if let Some(above) = above {
        let row = request.world.row_of(above);
        if row.is_empty() {
            return Err(Fault::missing("Group"));
        }
        if level(request.world, request.user, Some(above)) < Level::Maintainer {
            return Err(Fault::Forbidden);
        }
        full_path = format!("{}/{path}", row.text("full_path"));
        full_name = format!("{} / {name}", row.text("full_name"));
    }
    if request.world.find("groups", "full_path", &full_path).is_some() {
        return Err(Fault::Refused(
            400,
            Value::from("Failed to save group {:path=>[\"has already been taken\"]}"),
        ));
    }
    let mut values = request.given("groups");
    values.extend(object(
        json!({"full_path": full_path, "full_name": full_name, "parent_id": above.map(|above| above.id)}),
    ));
    let row = request.world.add("groups", values, request.user);
    let me = request.me()?;
    request.add(&format!("groups/{}/members", row.num("id")), json!({"id": me, "access_level": 50}));
    created(request.show(&row))
}

fn restore(request: &mut Request<'_>) -> Answer {
    let row = super::deletion::unschedule(request)?;
    created(request.show(&row))
}

fn remove(request: &mut Request<'_>) -> Answer {
    let row = request.place_row()?;
    if !super::deletion::is_final(request, &row, row.text("full_path"))? {
        return Ok(Reply::accepted());
    }
    let doomed = format!("{}/", request.full_path());
    let id = request.place_id();
    for project in request.projects() {
        super::projects::forget(request, project.num("id"));
    }
    request.world.remove("groups", |row| row.num("id") == id || row.text("full_path").starts_with(&doomed));
    Ok(Reply::accepted())
}

fn subgroups(request: &mut Request<'_>) -> Answer {
    let id = request.place_id();
    let rows = visible(request, |row| row.num("parent_id") == id);
    page(request, rows)
}

fn descendants(request: &mut Request<'_>) -> Answer {
    let prefix = format!("{}/", request.full_path());
    let rows = visible(request, |row| row.text("full_path").starts_with(&prefix));
    page(request, rows)
}

fn projects(request: &mut Request<'_>) -> Answer {
    let id = request.place_id();
    let mut rows = request.projects();
    if !request.args.flag("include_subgroups") {
        rows.retain(|row| row.num("_namespace") == id);
    }
    super::projects::narrowed(request, rows)
}

/// All namespaces the user may see: their own and those of groups.
fn all_namespaces(request: &Request<'_>) -> Vec<Value> {
    let groups = visible(request, |_| true);
    let mut all: Vec<Value> = groups.iter().map(|row| request.world.namespace(row.num("id"), 0)).collect();
    all.extend(request.user.map(|user| request.world.namespace(0, user)));
    all
}

fn namespaces(request: &mut Request<'_>) -> Answer {
    request.page(all_namespaces(request))
}

fn namespace(request: &mut Request<'_>) -> Answer {
    let wanted = request.param("namespace_id");
    let rows = all_namespaces(request).into_iter().map(object);
    let found = rows.into_iter().find(|row| is(row, "id", wanted) || is(row, "full_path", wanted));
    ok(found.ok_or(Fault::missing("Namespace"))?)
}

fn namespace_exists(request: &mut Request<'_>) -> Answer {
    let wanted = request.param("namespace_id");
    let taken = all_namespaces(request).into_iter().map(object).any(|row| is(&row, "full_path", wanted));
    let suggests = if taken { vec![format!("{wanted}1")] } else { Vec::new() };
    ok(json!({"exists": taken, "suggests": suggests}))
}
