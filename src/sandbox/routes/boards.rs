//! Boards and their lists, each of which shows the issues of a label.

use crate::prelude::*;

use super::rows;

const NEW: &[Rule] = &[Rule::Required("label_id"), Rule::Integer("label_id")];
const CHANGE: &[Rule] = &[Rule::Required("position"), Rule::Integer("position")];

pub const ROUTES: &[Route] = &[
    get("/(projects|groups)/:id/boards", list).needs(Level::User),
    get("/(projects|groups)/:id/boards/:board_id", show).needs(Level::User),
    get("/(projects|groups)/:id/boards/:board_id/lists", rows::list),
    post("/(projects|groups)/:id/boards/:board_id/lists", add).needs(Level::Reporter).rules(NEW),
    get("/(projects|groups)/:id/boards/:board_id/lists/:list_id", rows::show),
    put("/(projects|groups)/:id/boards/:board_id/lists/:list_id", change)
        .needs(Level::Reporter)
        .rules(CHANGE),
    delete("/(projects|groups)/:id/boards/:board_id/lists/:list_id", rows::remove).needs(Level::Reporter),
];

/// A board with its project or group, and its lists.
fn render_board(request: &Request<'_>, row: &Row) -> Value {
    let mut shown = request.world.show(row);
    let place = request.place.map(|place| request.world.row_of(place)).unwrap_or_default();
    let (field, kind, view) = match request.place {
        Some(place) if place.kind == "groups" => ("group", "groups", "board"),
        _ => ("project", "projects", "simple"),
    };
    shown.set(field, request.show_as(kind, view, &place));
    let lists = request.world.rows(&request.shelf(&format!("boards/{}/lists", row.num("id")))).iter();
    shown.set("lists", lists.map(|list| request.show(list)).collect::<Vec<_>>());
    Value::Object(shown)
}

fn list(request: &mut Request<'_>) -> Answer {
    let rows = request.world.rows(&request.shelf("boards"));
    request.page(rows.iter().map(|row| render_board(request, row)).collect())
}

fn show(request: &mut Request<'_>) -> Answer {
    ok(render_board(request, &request.row()?))
}

fn add(request: &mut Request<'_>) -> Answer {
    let shelf = request.path_shelf()?;
    let id = request.args.num("label_id").unwrap_or_default();
    let label = request.world.anywhere("labels", id).map(|(_, label)| label);
    let label = label.ok_or_else(|| Fault::Bad("Label not found!".to_owned()))?;
    let label = request.show_as("labels", "details", &label);
    let position = request.world.rows(&shelf).len();
    let row = request.add(&shelf, json!({"label": label, "position": position}));
    created(request.show(&row))
}

fn change(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.found()?;
    let position = request.args.num("position");
    let row = request.write(&shelf, row.num("id"), json!({ "position": position }));
    ok(request.show(&row))
}
