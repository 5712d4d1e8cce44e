//! Epics of groups, and the issues in them.

use crate::filter::narrow;
use crate::prelude::*;

use super::epic_issues::put_into;
use super::issues::common;
use super::rows;
use super::state_event::state_event;

pub const ROUTES: &[Route] = &[
    get("/groups/:id/epics", list).rules(&[Rule::OneOf("state", "opened closed all")]),
    get("/groups/:id/epics/:epic_iid", rows::show),
    post("/groups/:id/epics", create).needs(Level::Reporter).rules(&[Rule::Required("title")]),
    put("/groups/:id/epics/:epic_iid", update)
        .needs(Level::Reporter)
        .rules(&[Rule::OneOf("state_event", "reopen close")]),
    delete("/groups/:id/epics/:epic_iid", rows::remove).needs(Level::Owner),
    get("/groups/:id/epics/:epic_iid/issues", issues),
    post("/groups/:id/epics/:epic_iid/issues/:issue_id", add_issue).needs(Level::Reporter),
    delete("/groups/:id/epics/:epic_iid/issues/:epic_issue_id", remove_issue).needs(Level::Reporter),
    get("/groups/:id/epics/:epic_iid/epics", children),
];

fn list(request: &mut Request<'_>) -> Answer {
    let rows = request.world.rows(&request.shelf("epics")).to_vec();
    let rows = narrow(request.world, request.user, &request.args, rows);
    request.page_of("epics", &rows)
}

fn values(request: &Request<'_>, row: &Row) -> Result<Row, Fault> {
    let set = ["description", "confidential", "color", "parent_id", "start_date", "due_date"];
    let mut values = request.given_of("epics", &set);
    for (given, kept) in [("start_date_fixed", "start_date"), ("due_date_fixed", "due_date")] {
        if let Some(date) = request.args.get(given).cloned() {
            values.set(kept, date.clone());
            values.set(given, date);
        }
        if let Some(fixed) = request.args.maybe(&format!("{kept}_is_fixed")) {
            values.set(&format!("{kept}_is_fixed"), fixed);
        }
    }
    let mut common = common(request, row)?;
    common.retain(|name, _| matches!(name.as_str(), "title" | "labels"));
    values.extend(common);
    Ok(values)
}

fn create(request: &mut Request<'_>) -> Answer {
    let values = values(request, &Row::new())?;
    let row = request.world.add(&request.shelf("epics"), values, request.user);
    created(request.show(&row))
}

fn update(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.found()?;
    let mut values = values(request, &row)?;
    values.extend(state_event(request, &row));
    // GitLab keeps who closed an issue, not who closed an epic.
    values.remove("closed_by");
    let row = request.world.write(&shelf, row.num("id"), values);
    ok(request.show(&row))
}

/// The issues of an epic; the id of an issue's place in one is the issue's own.
fn issues(request: &mut Request<'_>) -> Answer {
    let epic = request.row()?;
    let mut rows = request.across("issues");
    rows.retain(|row| epic.nums("_issues").contains(&row.num("id")));
    let shown = rows.iter().map(|row| {
        let mut shown = object(request.show_in_list("issues", row));
        shown.set("epic_issue_id", row.num("id"));
        shown.set("relative_position", 0);
        Value::Object(shown)
    });
    request.page(shown.collect())
}

fn set_issues(request: &mut Request<'_>, id: u64, held: bool) -> Result<Value, Fault> {
    let (shelf, epic) = request.subject("/groups/:id/epics/:epic_iid")?;
    let (_, issue) = request.world.anywhere("issues", id).ok_or(Fault::missing("Issue"))?;
    put_into(request, id, held.then_some((&shelf, epic.num("id"))));
    let epic = request.world.by_id(&shelf, epic.num("id"));
    Ok(
        json!({"id": id, "epic": request.show(&epic), "issue": request.show_as("issues", "basic", &issue), "relative_position": 0}),
    )
}

fn add_issue(request: &mut Request<'_>) -> Answer {
    let id = request.param("issue_id").parse().unwrap_or_default();
    created(set_issues(request, id, true)?)
}

fn remove_issue(request: &mut Request<'_>) -> Answer {
    let id = request.param("epic_issue_id").parse().unwrap_or_default();
    ok(set_issues(request, id, false)?)
}

fn children(request: &mut Request<'_>) -> Answer {
    let epic = request.row()?;
    let mut rows = request.world.rows(&request.shelf("epics")).to_vec();
    rows.retain(|row| row.num("parent_id") == epic.num("id"));
    request.page_of("epics", &rows)
}
