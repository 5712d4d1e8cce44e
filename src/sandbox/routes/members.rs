//! Members of projects and groups, and those who ask to be or are asked.

use serde_json::{Value, json};

use crate::sandbox::answer::{Answer, created, ok};
use crate::sandbox::errors::Fault;
use crate::sandbox::level::Level;
use crate::sandbox::reply::Reply;
use crate::sandbox::request::Request;
use crate::sandbox::route::{Route, Rule, delete, get, post, put};
use crate::sandbox::row::{Fields, Row, mentions, object};
use crate::sandbox::state::Place;

const NEW: &[Rule] = &[Rule::AnyOf(&["user_id", "username"]), Rule::Required("access_level"), ACCESS];
const CHANGED: &[Rule] = &[Rule::Required("access_level"), ACCESS];
const INVITED: &[Rule] = &[Rule::Required("access_level"), ACCESS];
const ACCESS: Rule = Rule::OneOf("access_level", &["0", "5", "10", "15", "20", "25", "30", "40", "50"]);

pub const ROUTES: &[Route] = &[
    get("/(projects|groups)/:id/members", list),
    get("/(projects|groups)/:id/members/all", list_all),
    get("/(projects|groups)/:id/members/:user_id", show),
    get("/(projects|groups)/:id/members/all/:user_id", show_any),
    post("/projects/:id/members", add).needs(Level::Maintainer).rules(NEW),
    post("/groups/:id/members", add).needs(Level::Owner).rules(NEW),
    put("/projects/:id/members/:user_id", update).needs(Level::Maintainer).rules(CHANGED),
    put("/groups/:id/members/:user_id", update).needs(Level::Owner).rules(CHANGED),
    delete("/projects/:id/members/:user_id", remove).needs(Level::Maintainer),
    delete("/groups/:id/members/:user_id", remove).needs(Level::Owner),
    post("/(projects|groups)/:id/access_requests", ask).needs(Level::User),
    put("/projects/:id/access_requests/:user_id/approve", approve).needs(Level::Maintainer),
    put("/groups/:id/access_requests/:user_id/approve", approve).needs(Level::Owner),
    delete("/projects/:id/access_requests/:user_id", deny).needs(Level::Maintainer),
    delete("/groups/:id/access_requests/:user_id", deny).needs(Level::Owner),
    post("/projects/:id/invitations", invite).needs(Level::Maintainer).rules(INVITED),
    post("/groups/:id/invitations", invite).needs(Level::Owner).rules(INVITED),
    delete("/projects/:id/invitations/:email", uninvite).needs(Level::Maintainer),
    delete("/groups/:id/invitations/:email", uninvite).needs(Level::Owner),
];

/// A member: the user and, over that, the membership.
fn render_member(request: &Request<'_>, row: &Row) -> Value {
    let mut shown = object(request.world.basic_user(row.num("id")));
    shown.extend(request.world.show(row));
    Value::Object(shown)
}

fn page(request: &Request<'_>, rows: &[Row]) -> Answer {
    let query = request.args.text("query");
    let users = request.args.nums("user_ids");
    let shown = rows.iter().map(|row| render_member(request, row));
    let wanted = |row: &Value| {
        let id = row.get("id").and_then(Value::as_u64).unwrap_or_default();
        (users.is_empty() || users.contains(&id))
            && query.as_ref().is_none_or(|words| mentions(&object(row.clone()), &["name", "username"], words))
    };
    request.page(shown.filter(wanted).collect())
}

/// Members of the place and of every group above it, the nearest membership winning.
fn inherited(request: &Request<'_>) -> Vec<Row> {
    let mut all: Vec<Row> = Vec::new();
    let places: Vec<Place> = request.place.into_iter().chain(request.groups_above()).collect();
    for place in places {
        for row in request.world.rows(&format!("{}/{}/members", place.kind, place.id)) {
            if all.iter().all(|known| known.num("id") != row.num("id")) {
                all.push(row.clone());
            }
        }
    }
    all
}

fn list(request: &mut Request<'_>) -> Answer {
    let rows = request.world.rows(&request.shelf("members")).to_vec();
    page(request, &rows)
}

fn list_all(request: &mut Request<'_>) -> Answer {
    let rows = inherited(request);
    page(request, &rows)
}

fn show(request: &mut Request<'_>) -> Answer {
    let row = request.row_on(&request.shelf("members"), "user_id").map_err(|_| Fault::missing(""))?;
    ok(render_member(request, &row))
}

fn show_any(request: &mut Request<'_>) -> Answer {
    let wanted = request.param("user_id").to_owned();
    let row = inherited(request).into_iter().find(|row| row.num("id").to_string() == wanted);
    ok(render_member(request, &row.ok_or(Fault::missing(""))?))
}

fn add(request: &mut Request<'_>) -> Answer {
    let named = request.args.text("username").and_then(|name| request.world.user_named(&name));
    let user = request.args.num("user_id").or(named).unwrap_or_default();
    if request.world.by_id("users", user).is_empty() {
        return Err(Fault::missing("User"));
    }
    let shelf = request.shelf("members");
    if !request.world.by_id(&shelf, user).is_empty() {
        return Err(Fault::refused(409, "Member already exists"));
    }
    let values = json!({"id": user, "access_level": request.args.num("access_level"), "expires_at": request.args.text("expires_at")});
    let row = request.add(&shelf, values);
    created(render_member(request, &row))
}

fn update(request: &mut Request<'_>) -> Answer {
    let shelf = request.shelf("members");
    let row = request.row_on(&shelf, "user_id")?;
    let mut values = json!({"access_level": request.args.num("access_level")});
    if request.args.has("expires_at") {
        values = json!({"access_level": request.args.num("access_level"), "expires_at": request.args.text("expires_at")});
    }
    let row = request.write(&shelf, row.num("id"), values);
    ok(render_member(request, &row))
}

fn remove(request: &mut Request<'_>) -> Answer {
    let shelf = request.shelf("members");
    let id = request.row_on(&shelf, "user_id")?.num("id");
    request.world.remove(&shelf, |row| row.num("id") == id);
    Ok(Reply::empty())
}

fn ask(request: &mut Request<'_>) -> Answer {
    let mut values = object(request.world.basic_user(request.me()?));
    let now = request.world.now();
    values.set("requested_at", now);
    let row = request.add(&request.shelf("access_requests"), Value::Object(values));
    created(request.show(&row))
}

fn approve(request: &mut Request<'_>) -> Answer {
    let user: u64 = request.param("user_id").parse().unwrap_or_default();
    let requests = request.shelf("access_requests");
    if request.world.remove(&requests, |row| row.num("id") == user) == 0 {
        return Err(Fault::missing(""));
    }
    let access = request.args.num("access_level").unwrap_or(30);
    let row = request.add(&request.shelf("members"), json!({"id": user, "access_level": access}));
    created(render_member(request, &row))
}

fn deny(request: &mut Request<'_>) -> Answer {
    let user: u64 = request.param("user_id").parse().unwrap_or_default();
    match request.world.remove(&request.shelf("access_requests"), |row| row.num("id") == user) {
        0 => Err(Fault::missing("")),
        _ => Ok(Reply::empty()),
    }
}

fn invite(request: &mut Request<'_>) -> Answer {
    let shelf = request.shelf("invitations");
    for email in request.args.list("email") {
        request.add(
            &shelf,
            json!({"_email": email, "invite_email": email, "access_level": request.args.num("access_level")}),
        );
    }
    created(json!({"status": "success"}))
}

fn uninvite(request: &mut Request<'_>) -> Answer {
    let email = request.param("email").to_owned();
    match request.world.remove(&request.shelf("invitations"), |row| row.text("invite_email") == email) {
        0 => Err(Fault::missing("")),
        _ => Ok(Reply::empty()),
    }
}
