//! Service accounts of projects and groups, which are users, and their tokens (`ee/lib/api/concerns/service_accounts.rb`).

use super::personal::{TOKENS, end, show_token, succeed};
use crate::filter::sort;
use crate::prelude::*;

/// The paths below that of a project or group.
pub const ROUTES: &[Route] = &[
    get("", list).needs(Level::Maintainer),
    post("", create).needs(Level::Maintainer),
    get("/:user_id", show).needs(Level::Maintainer),
    patch("/:user_id", update).needs(Level::Maintainer),
    delete("/:user_id", remove).needs(Level::Maintainer),
    get("/:user_id/personal_access_tokens", tokens).needs(Level::Maintainer),
    post("/:user_id/personal_access_tokens", new_token)
        .needs(Level::Maintainer)
        .rules(&[Rule::Required("name"), Rule::Required("scopes")]),
    delete("/:user_id/personal_access_tokens/:token_id", revoke).needs(Level::Maintainer),
    post("/:user_id/personal_access_tokens/:token_id/rotate", rotate).needs(Level::Maintainer),
];

/// The field of a user with the place that it is a service account of.
const OF: &str = "_service_account_of";

fn shelf(request: &Request<'_>) -> String {
    request.shelf("service_accounts")
}

fn shown(row: &Row) -> Value {
    json!({
        "id": row.num("id"), "username": row.text("username"), "name": row.text("name"),
        "public_email": "", "email": row.text("email"), "unconfirmed_email": null,
    })
}

fn accounts(request: &Request<'_>) -> Vec<Row> {
    let place = shelf(request);
    request.world.rows("users").iter().filter(|row| row.text(OF) == place).cloned().collect()
}

fn account(request: &Request<'_>) -> Result<Row, Fault> {
    let wanted = request.param("user_id");
    let is_it = |row: &Row| row.num("id").to_string() == wanted;
    accounts(request).into_iter().find(is_it).ok_or(Fault::missing("User"))
}

fn list(request: &mut Request<'_>) -> Answer {
    let mut rows = accounts(request);
    sort(&request.args, &mut rows);
    request.page(rows.iter().map(shown).collect())
}

/// GitLab's refusal of a username that a user or a group has.
fn check_username(request: &Request<'_>, own: u64) -> Result<(), Fault> {
    let Some(name) = request.args.text("username") else { return Ok(()) };
    let is_other = request.world.user_named(&name).is_some_and(|user| user != own);
    if is_other || request.world.place_named("groups", &name).is_some() {
        return Err(Fault::refused(400, "Username has already been taken"));
    }
    Ok(())
}

fn create(request: &mut Request<'_>) -> Answer {
    check_username(request, 0)?;
    let place = request.place.ok_or(Fault::Nowhere)?;
    let id = request.world.next_id("users");
    let made = format!("service_account_{}_{}_{id}", place.noun().to_lowercase(), place.id);
    let username = request.args.text("username").unwrap_or(made);
    let name = request.args.text("name").unwrap_or_else(|| "Service account user".to_owned());
    let email = request.args.text("email").unwrap_or_else(|| format!("{username}@noreply.example.com"));
    let values = json!({"id": id, "username": username, "name": name, "email": email, "bot": true, OF: shelf(request)});
    let row = request.add("users", values);
    created(shown(&row))
}

fn show(request: &mut Request<'_>) -> Answer {
    ok(shown(&account(request)?))
}

fn update(request: &mut Request<'_>) -> Answer {
    let row = account(request)?;
    check_username(request, row.num("id"))?;
    let args = &request.args;
    let given = ["name", "username", "email"].into_iter().filter_map(|name| Some((name, args.text(name)?)));
    let values: Value = given.map(|(name, value)| (name.to_owned(), json!(value))).collect();
    let row = request.write("users", row.num("id"), values);
    ok(shown(&row))
}

fn remove(request: &mut Request<'_>) -> Answer {
    // GitLab moves the work of the account to a ghost user, or deletes it: here an account has none.
    request.args.without_trace(&["hard_delete"]);
    let row = account(request)?;
    request.world.remove(TOKENS, |token| token.num("user_id") == row.num("id"));
    request.delete("users", &row)
}

fn tokens(request: &mut Request<'_>) -> Answer {
    let user = account(request)?.num("id");
    let args = &request.args;
    args.without_trace(&["last_used_before", "last_used_after"]);
    let (revoked, state, search) = (args.text("revoked"), args.text("state"), args.text("search"));
    let bounds = ["created", "expires"].map(|field| {
        let bound = |end: &str| args.text(&format!("{field}_{end}"));
        (format!("{field}_at"), bound("after"), bound("before"))
    });
    let is_shown = |row: &Row| {
        row.num("user_id") == user
            && revoked.as_ref().is_none_or(|revoked| (revoked == "true") == row.flag("revoked"))
            && state.as_ref().is_none_or(|state| (state == "active") == row.flag("active"))
            && search.as_ref().is_none_or(|search| mentions(row, &["name"], search))
            && bounds.iter().all(|(field, after, before)| {
                after.as_ref().is_none_or(|after| row.text(field) > after.as_str())
                    && before.as_ref().is_none_or(|before| row.text(field) < before.as_str())
            })
    };
    let mut rows: Vec<Row> = request.world.rows(TOKENS).iter().filter(|row| is_shown(row)).cloned().collect();
    sort(&request.args, &mut rows);
    request.page(rows.iter().map(|row| show_token(request, row)).collect())
}

fn new_token(request: &mut Request<'_>) -> Answer {
    let user = account(request)?.num("id");
    let args = &request.args;
    let values = json!({
        "name": args.text("name"), "scopes": args.list("scopes"), "user_id": user,
        "description": args.text("description"),
        "expires_at": args.text("expires_at").unwrap_or_else(|| "2027-03-01".to_owned())
    });
    let row = request.add(TOKENS, values);
    created(request.show(&row))
}

fn token(request: &Request<'_>) -> Result<Row, Fault> {
    let user = account(request)?.num("id");
    let found = request.world.find(TOKENS, "id", request.param("token_id")).cloned();
    found.filter(|row| row.num("user_id") == user).ok_or(Fault::missing("Token"))
}

fn revoke(request: &mut Request<'_>) -> Answer {
    let id = token(request)?.num("id");
    end(request, TOKENS, id);
    Ok(Reply::empty())
}

fn rotate(request: &mut Request<'_>) -> Answer {
    let row = token(request)?;
    succeed(request, TOKENS, &row).map(|reply| Reply { status: 201, ..reply })
}
