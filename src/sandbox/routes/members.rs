//! Members of projects and groups, those who ask to be or are asked, and the groups that these are shared with.

use crate::access::parent;
use crate::prelude::*;

use super::rows;

const GIVEN: &[Rule] = &[Rule::Required("access_level"), ACCESS];
const ACCESS: Rule = Rule::OneOf("access_level", "0 5 10 15 20 25 30 40 50");

pub const ROUTES: &[Route] = &[
    get("/members", list),
    get("/members/all", list_all),
    get("/members/:user_id", show),
    get("/members/all/:user_id", show_any),
    post("/members", add).needs_manager().rules(&[
        Rule::AnyOf("user_id username"),
        Rule::Required("access_level"),
        ACCESS,
    ]),
    put("/members/:user_id", update).needs_manager().rules(GIVEN),
    delete("/members/:user_id", rows::remove).needs_manager(),
    post("/access_requests", ask).needs(Level::User),
    put("/access_requests/:user_id/approve", approve).needs_manager(),
    delete("/access_requests/:user_id", rows::remove).needs_manager(),
    post("/invitations", invite).needs_manager().rules(GIVEN),
    put("/invitations/:email", rows::update).needs_manager().rules(&[ACCESS]),
    delete("/invitations/:email", rows::remove).needs_manager(),
    post("/share", share)
        .needs_manager()
        .rules(&[Rule::Required("group_id"), Rule::Required("group_access")]),
    delete("/share/:group_id", unshare).needs_manager(),
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
    for row in request.shelves("members").iter().flat_map(|shelf| request.world.rows(shelf)) {
        if all.iter().all(|known| known.num("id") != row.num("id")) {
            all.push(row.clone());
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
    let row = request.row_on(&request.shelf("members"), "user_id")?;
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
    // A role below the inherited one would have no effect (app/models/member.rb, higher_access_level_than_group).
    let group = request.place.and_then(|place| parent(request.world, place));
    let inherited = level(request.world, Some(user), group);
    let given = request.args.num("access_level").map_or(Level::User, Level::of);
    if inherited > Level::User && inherited < Level::Admin && given < inherited {
        let group =
            group.map(|group| request.world.row_of(group).text("name").to_owned()).unwrap_or_default();
        let text = format!(
            "should be greater than or equal to {inherited:?} inherited membership from group {group}"
        );
        return Err(Fault::invalid("access_level", &text));
    }
    let values = json!({"id": user, "access_level": request.args.num("access_level"), "expires_at": request.args.text("expires_at")});
    let row = request.add(&shelf, values);
    created(render_member(request, &row))
}

fn update(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.found()?;
    let given = request.given_of("members", &["access_level", "expires_at"]);
    let row = request.world.write(&shelf, row.num("id"), given);
    ok(render_member(request, &row))
}

fn ask(request: &mut Request<'_>) -> Answer {
    let me = request.me()?;
    if level(request.world, Some(me), request.place) > Level::User {
        return Err(Fault::Forbidden);
    }
    if !request.world.by_id(&request.shelf("access_requests"), me).is_empty() {
        return Err(Fault::invalid("user_id", "already exists in source"));
    }
    let mut values = object(request.world.basic_user(me));
    let now = request.world.now();
    values.set("requested_at", now);
    let row = request.add(&request.shelf("access_requests"), Value::Object(values));
    created(request.show(&row))
}

fn approve(request: &mut Request<'_>) -> Answer {
    let (requests, asked) = request.found()?;
    request.delete(&requests, &asked)?;
    let access = request.args.num("access_level").unwrap_or(30);
    let row = request.add(&request.shelf("members"), json!({"id": asked.num("id"), "access_level": access}));
    created(render_member(request, &row))
}

fn invite(request: &mut Request<'_>) -> Answer {
    let shelf = request.shelf("invitations");
    let (access, expires) = (request.args.num("access_level"), request.args.text("expires_at"));
    let (emails, users) = (request.args.list("email"), request.args.nums("user_id"));
    if emails.is_empty() && users.is_empty() {
        return Err(Fault::refused(400, "Must provide either email or user_id as a parameter"));
    }
    let members = request.shelf("members");
    for user in users {
        request.add(&members, json!({"id": user, "access_level": access, "expires_at": expires}));
    }
    for email in emails {
        request.add(
            &shelf,
            json!({"_email": email, "invite_email": email, "access_level": access, "expires_at": expires}),
        );
    }
    created(json!({"status": "success"}))
}

/// Shares the project or group with another group.
fn share(request: &mut Request<'_>) -> Answer {
    let group = request.args.num("group_id").unwrap_or_default();
    let other = request.world.by_id("groups", group);
    if other.is_empty() {
        return Err(Fault::missing("Group"));
    }
    let (access, expires) = (request.args.num("group_access"), request.args.text("expires_at"));
    let mut shares = request.place_row()?.list("shared_with_groups").to_vec();
    shares.push(json!({
        "group_id": group, "group_name": other.text("name"), "group_full_path": other.text("full_path"),
        "group_access_level": access, "expires_at": expires
    }));
    let row = set_shares(request, shares)?;
    if request.pattern.starts_with("/groups") {
        return created(request.show(&row));
    }
    created(
        json!({"id": group, "project_id": row.num("id"), "group_id": group, "group_access": access, "expires_at": expires}),
    )
}

fn unshare(request: &mut Request<'_>) -> Answer {
    let group = request.param("group_id").parse::<u64>().ok();
    let mut shares = request.place_row()?.list("shared_with_groups").to_vec();
    let before = shares.len();
    shares.retain(|share| share.get("group_id").and_then(Value::as_u64) != group);
    if shares.len() == before {
        return Err(Fault::missing("Group Link"));
    }
    set_shares(request, shares)?;
    Ok(Reply::empty())
}

fn set_shares(request: &mut Request<'_>, shares: Vec<Value>) -> Result<Row, Fault> {
    let place = request.place.ok_or(Fault::Nowhere)?;
    Ok(request.write(place.kind, place.id, json!({"shared_with_groups": shares})))
}
