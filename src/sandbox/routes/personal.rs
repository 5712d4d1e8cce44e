//! The signed-in user's own objects: to-do items, events, tokens.

use crate::filter::sort;
use crate::prelude::*;

pub const ROUTES: &[Route] = &[
    get("/todos", todos).needs(Level::User).rules(&[Rule::OneOf("state", "pending done")]),
    post("/todos/mark_as_done", all_done),
    post("/todos/:todo_id/mark_as_done", done),
    get("/events", own_events).needs(Level::User),
    get("/users/:user_id/events", user_events),
    get("/projects/:id/events", project_events),
    get("/personal_access_tokens", tokens).needs(Level::User),
    get("/personal_access_tokens/(self|:token_id)", token).needs(Level::User),
    delete("/personal_access_tokens/(self|:token_id)", revoke),
    post("/personal_access_tokens/(self|:token_id)/rotate", rotate),
    post("/users/:user_id/personal_access_tokens", new_token)
        .needs(Level::Admin)
        .rules(&[Rule::Required("name"), Rule::Required("scopes")]),
    post("/(projects|groups)/:id/access_tokens/:token_id/rotate", rotate_other).needs(Level::Maintainer),
];

/// A to-do item with the thing to be done about.
pub fn show_todo(request: &Request<'_>, row: &Row) -> Value {
    let mut shown = request.world.show(row);
    let project = request.world.row_of(Place::project(row.num("_project")));
    shown.set("project", request.show_as("projects", "identity", &project));
    let target =
        row.text("_target").rsplit_once('/').and_then(|(shelf, iid)| request.world.find(shelf, "iid", iid));
    if let Some(target) = target {
        shown.set("target_url", target.text("web_url"));
        shown.set("target", request.show(target));
    }
    Value::Object(shown)
}

fn own_todos(request: &Request<'_>) -> Result<Vec<Row>, Fault> {
    let me = request.me()?;
    Ok(request.world.rows("todos").iter().filter(|row| row.num("_user") == me).cloned().collect())
}

fn todos(request: &mut Request<'_>) -> Answer {
    let args = &request.args;
    let state = args.text("state").unwrap_or_else(|| "pending".to_owned());
    let (action, kind) = (args.text("action"), args.text("type"));
    let (author, project) = (args.num("author_id"), args.num("project_id"));
    let mut rows = own_todos(request)?;
    rows.retain(|row| {
        row.text("state") == state
            && action.as_ref().is_none_or(|action| row.text("action_name") == action)
            && kind.as_ref().is_none_or(|kind| row.text("target_type") == kind)
            && author.is_none_or(|author| row.num("author") == author)
            && project.is_none_or(|project| row.num("_project") == project)
    });
    rows.sort_by_key(|row| std::cmp::Reverse(row.num("id")));
    request.page(rows.iter().map(|row| show_todo(request, row)).collect())
}

fn done(request: &mut Request<'_>) -> Answer {
    let wanted = request.param("todo_id").to_owned();
    let row = own_todos(request)?
        .into_iter()
        .find(|row| row.num("id").to_string() == wanted)
        .ok_or(Fault::missing(""))?;
    let row = request.write("todos", row.num("id"), json!({"state": "done"}));
    created(show_todo(request, &row))
}

fn all_done(request: &mut Request<'_>) -> Answer {
    for row in own_todos(request)? {
        request.write("todos", row.num("id"), json!({"state": "done"}));
    }
    Ok(Reply::empty())
}

/// Events the user may know of, newest first.
fn events(request: &mut Request<'_>, wanted: impl Fn(&Row) -> bool) -> Answer {
    let args = &request.args;
    let (action, kind) = (args.text("action"), args.text("target_type"));
    let (before, after) = (args.text("before"), args.text("after"));
    args.without_trace(&["scope"]);
    let seen = |shelf: &str| {
        let project = Place::of(shelf).map(|place| request.world.row_of(place)).unwrap_or_default();
        may_see(request.world, request.user, "projects", &project)
    };
    let said = |row: &Row, kind: &str| row.text("target_type").to_lowercase() == kind.replace('_', "");
    let rows = request.world.all("events").filter(|(shelf, row)| {
        seen(shelf)
            && wanted(row)
            && action.as_ref().is_none_or(|action| row.text("action_name").starts_with(action.as_str()))
            && kind.as_ref().is_none_or(|kind| said(row, kind))
            && before.as_ref().is_none_or(|before| row.text("created_at") < before.as_str())
            && after.as_ref().is_none_or(|after| row.text("created_at") > after.as_str())
    });
    let mut rows: Vec<Row> = rows.map(|(_, row)| row.clone()).collect();
    sort(&request.args, &mut rows);
    request.page_of("events", &rows)
}

fn own_events(request: &mut Request<'_>) -> Answer {
    let me = request.me()?;
    events(request, |row| row.num("author_id") == me)
}

fn user_events(request: &mut Request<'_>) -> Answer {
    let wanted = request.param("user_id").to_owned();
    let user = wanted.parse().ok().or_else(|| request.world.user_named(&wanted)).unwrap_or_default();
    if request.world.by_id("users", user).is_empty() {
        return Err(Fault::missing("User"));
    }
    events(request, |row| row.num("author_id") == user)
}

fn project_events(request: &mut Request<'_>) -> Answer {
    let project = request.place_id();
    events(request, |row| row.num("project_id") == project)
}

pub const TOKENS: &str = "personal_access_tokens";

pub fn show_token(request: &Request<'_>, row: &Row) -> Value {
    request.show_in_list(TOKENS, row)
}

fn tokens(request: &mut Request<'_>) -> Answer {
    let me = request.me()?;
    let admin = is_admin(request.world, request.user);
    let rows = request.world.rows(TOKENS).iter().filter(|row| admin || row.num("user_id") == me);
    request.page(rows.map(|row| show_token(request, row)).collect())
}

/// The token in the path, or the one of the request.
fn find_token(request: &Request<'_>) -> Result<Row, Fault> {
    if !request.params.contains_key("token_id") {
        return request.token.clone().ok_or(Fault::Unauthorized);
    }
    let row = request.world.find(TOKENS, "id", request.param("token_id")).cloned();
    let allowed =
        |row: &Row| is_admin(request.world, request.user) || Some(row.num("user_id")) == request.user;
    // Only who administers the instance learns that a token is not there (lib/api/personal_access_tokens.rb).
    let unknown =
        if is_admin(request.world, request.user) { Fault::missing("") } else { Fault::Unauthorized };
    row.filter(allowed).ok_or(unknown)
}

fn token(request: &mut Request<'_>) -> Answer {
    let row = find_token(request)?;
    ok(show_token(request, &row))
}

pub fn end(request: &mut Request<'_>, shelf: &str, id: u64) -> Row {
    request.write(shelf, id, json!({"revoked": true, "active": false}))
}

fn revoke(request: &mut Request<'_>) -> Answer {
    let id = find_token(request)?.num("id");
    end(request, TOKENS, id);
    Ok(Reply::empty())
}

/// Ends a token and gives its successor, secret and all.
pub fn succeed(request: &mut Request<'_>, shelf: &str, old: &Row) -> Answer {
    end(request, shelf, old.num("id"));
    let expires = request.args.text("expires_at").unwrap_or_else(|| "2026-03-09".to_owned());
    let values = json!({
        "name": old.text("name"), "scopes": old.get("scopes"), "user_id": old.num("user_id"), "expires_at": expires,
        "description": old.get("description")
    });
    let row = request.add(shelf, values);
    ok(request.show(&row))
}

fn rotate(request: &mut Request<'_>) -> Answer {
    let row = find_token(request)?;
    succeed(request, TOKENS, &row)
}

fn rotate_other(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.found()?;
    succeed(request, &shelf, &row)
}

fn new_token(request: &mut Request<'_>) -> Answer {
    let user: u64 = request.param("user_id").parse().unwrap_or_default();
    if request.world.by_id("users", user).is_empty() {
        return Err(Fault::missing("User"));
    }
    let values = json!({
        "name": request.args.text("name"), "scopes": request.args.list("scopes"), "user_id": user,
        "expires_at": request.args.text("expires_at").unwrap_or_else(|| "2026-04-01".to_owned())
    });
    let row = request.add(TOKENS, values);
    created(request.show(&row))
}
