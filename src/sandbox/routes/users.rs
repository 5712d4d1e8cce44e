//! Users: their data, their status and events, and an administrator's actions on them.

use crate::prelude::*;

pub const ROUTES: &[Route] = &[
    get("/user", current).needs(Level::User),
    get("/user/status", own_status).needs(Level::User),
    put("/user/status", set_status),
    patch("/user/status", set_status),
    get("/user_counts", counts).needs(Level::User),
    get("/users", list),
    get("/users/:user_id", show),
    get("/users/:user_id/status", status),
    get("/users/:user_id/(projects|contributed_projects)", projects),
    get("/users/:user_id/starred_projects", starred),
    get("/users/:user_id/keys", keys),
    get("/users/:user_id/memberships", memberships).needs(Level::Admin),
    post("/users/:user_id/(block|unblock)", set_state).needs(Level::Admin),
];

fn render_user(request: &Request<'_>, row: &Row) -> Value {
    let mut shown = request.world.show(row);
    let own = request.user == Some(row.num("id"));
    // Who is not an administrator sees private fields of their own account alone, and some not even there.
    if !is_admin(request.world, request.user)
        && let Some(kind) = request.world.kinds.named("users")
    {
        shown.retain(|name, _| {
            own && !matches!(name.as_str(), "is_admin" | "note" | "namespace_id")
                || !kind.view("private").contains(name)
        });
    }
    Value::Object(shown)
}

/// The user in the path, by id or, where GitLab takes it, by name.
fn user(request: &Request<'_>) -> Result<Row, Fault> {
    let wanted = request.param("user_id");
    let world = &request.world;
    let found = world.find("users", "id", wanted).or_else(|| {
        // The lists of a user and the status take a name too.
        let named =
            ["/status", "projects", "/keys", "/events"].iter().any(|end| request.pattern.ends_with(end));
        named.then(|| world.find("users", "username", wanted)).flatten()
    });
    found.cloned().ok_or(Fault::missing("User"))
}

fn current(request: &mut Request<'_>) -> Answer {
    let row = request.world.by_id("users", request.me()?);
    ok(render_user(request, &row))
}

fn list(request: &mut Request<'_>) -> Answer {
    let args = &request.args;
    if request.user.is_none() && !args.has("username") {
        return Err(Fault::refused(403, "403 Forbidden - Not authorized to access /api/v4/users"));
    }
    let (name, words) = (args.text("username"), args.text("search"));
    let (active, blocked) = (args.flag("active"), args.flag("blocked"));
    let rows = request.world.rows("users").iter().filter(|row| {
        name.as_ref().is_none_or(|name| row.text("username").eq_ignore_ascii_case(name))
            && words.as_ref().is_none_or(|words| {
                mentions(row, &["username", "name"], words) || row.text("email").eq_ignore_ascii_case(words)
            })
            && (!active || row.text("state") == "active")
            && (!blocked || row.text("state") == "blocked")
    });
    let mut rows: Vec<Row> = rows.cloned().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.num("id")));
    let admin = is_admin(request.world, request.user);
    let shown =
        |row: &Row| if admin { render_user(request, row) } else { request.world.basic_user(row.num("id")) };
    request.page(rows.iter().map(shown).collect())
}

fn show(request: &mut Request<'_>) -> Answer {
    let row = user(request)?;
    ok(render_user(request, &row))
}

fn status_of(request: &Request<'_>, user: u64) -> Value {
    let rows = request.world.rows(&format!("users/{user}/status"));
    let nothing = object(
        json!({"emoji": null, "message": null, "availability": "not_set", "message_html": "", "clear_status_at": null}),
    );
    request.show(rows.last().unwrap_or(&nothing))
}

fn status(request: &mut Request<'_>) -> Answer {
    let user = user(request)?.num("id");
    ok(status_of(request, user))
}

fn own_status(request: &mut Request<'_>) -> Answer {
    ok(status_of(request, request.me()?))
}

fn set_status(request: &mut Request<'_>) -> Answer {
    let shelf = format!("users/{}/status", request.me()?);
    let message = request.args.text("message").unwrap_or_default();
    let emoji = request.args.text("emoji").unwrap_or_else(|| "speech_balloon".to_owned());
    let availability = request.args.text("availability").unwrap_or_else(|| "not_set".to_owned());
    let values =
        json!({"emoji": emoji, "message": message, "message_html": message, "availability": availability});
    request.world.remove(&shelf, |_| true);
    let row = request.add(&shelf, values);
    ok(request.show(&row))
}

fn counts(request: &mut Request<'_>) -> Answer {
    let me = request.me()?;
    let open = |kind: &str, field: &str| {
        let mine = |row: &&Row| row.text("state") == "opened" && row.nums(field).contains(&me);
        request.across(kind).iter().filter(mine).count()
    };
    let todos = request.world.rows("todos").iter();
    let todos = todos.filter(|row| row.num("_user") == me && row.text("state") == "pending").count();
    ok(json!({
        "merge_requests": open("merge_requests", "assignees"), "assigned_issues": open("issues", "assignees"),
        "assigned_merge_requests": open("merge_requests", "assignees"),
        "review_requested_merge_requests": open("merge_requests", "reviewers"), "todos": todos
    }))
}

fn projects(request: &mut Request<'_>) -> Answer {
    let user = user(request)?.num("id");
    let mut rows = request.projects();
    rows.retain(|row| row.num("creator_id") == user);
    super::projects::narrowed(request, rows)
}

fn starred(request: &mut Request<'_>) -> Answer {
    let user = user(request)?.num("id");
    let mut rows = request.projects();
    rows.retain(|row| row.nums("_stars").contains(&user));
    super::projects::narrowed(request, rows)
}

fn keys(request: &mut Request<'_>) -> Answer {
    let user = user(request)?.num("id");
    let rows = request.world.rows("user/keys").iter().filter(|row| row.num("_user") == user);
    let rows: Vec<Row> = rows.cloned().collect();
    request.page_of("keys", &rows)
}

fn memberships(request: &mut Request<'_>) -> Answer {
    let user = user(request)?.num("id");
    let mut shown = Vec::new();
    for (shelf, row) in request.world.all("members").filter(|(_, row)| row.num("id") == user) {
        let Some(place) = Place::of(shelf) else { continue };
        let kind = if place.kind == "projects" { "Project" } else { "Namespace" };
        let name = request.world.row_of(place).text("name").to_owned();
        shown.push(json!({"source_id": place.id, "source_name": name, "source_type": kind, "access_level": row.num("access_level")}));
    }
    request.page(shown)
}

fn set_state(request: &mut Request<'_>) -> Answer {
    let row = user(request)?;
    let to = if request.path_end() == "block" { "blocked" } else { "active" };
    request.write("users", row.num("id"), json!({"state": to}));
    created(true)
}
