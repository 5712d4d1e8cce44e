//! Boards and their lists, each of which shows the issues of a label.

use serde_json::{Value, json};

use crate::sandbox::answer::{Answer, created, ok};
use crate::sandbox::errors::Fault;
use crate::sandbox::level::Level;
use crate::sandbox::reply::Reply;
use crate::sandbox::request::Request;
use crate::sandbox::route::{Route, Rule, delete, get, post, put};
use crate::sandbox::row::{Fields, Row};

const NEW: &[Rule] = &[Rule::Required("label_id"), Rule::Integer("label_id")];
const CHANGE: &[Rule] = &[Rule::Required("position"), Rule::Integer("position")];

pub const ROUTES: &[Route] = &[
    get("/(projects|groups)/:id/boards", list),
    get("/(projects|groups)/:id/boards/:board_id", show),
    get("/(projects|groups)/:id/boards/:board_id/lists", lists),
    post("/(projects|groups)/:id/boards/:board_id/lists", add).needs(Level::Reporter).rules(NEW),
    get("/(projects|groups)/:id/boards/:board_id/lists/:list_id", show_list),
    put("/(projects|groups)/:id/boards/:board_id/lists/:list_id", change)
        .needs(Level::Reporter)
        .rules(CHANGE),
    delete("/(projects|groups)/:id/boards/:board_id/lists/:list_id", remove).needs(Level::Reporter),
];

/// A board with its project or group, and its lists.
fn render_board(request: &Request<'_>, row: &Row) -> Value {
    let mut shown = request.world.show(row);
    let place = request.place.map(|place| request.world.row_of(place)).unwrap_or_default();
    let (field, fields): (_, &[&str]) = match request.place {
        Some(place) if place.kind == "groups" => ("group", &["id", "name", "web_url"]),
        _ => ("project", super::projects::SIMPLE),
    };
    shown.set(field, request.show_fields(&place, fields));
    let lists = request.world.rows(&request.shelf(&format!("boards/{}/lists", row.num("id")))).iter();
    shown.set("lists", lists.map(|list| request.show(list)).collect::<Vec<_>>());
    Value::Object(shown)
}

fn list(request: &mut Request<'_>) -> Answer {
    let rows = request.world.rows(&request.shelf("boards"));
    request.page(rows.iter().map(|row| render_board(request, row)).collect())
}

fn the(request: &Request<'_>) -> Result<Row, Fault> {
    request.row_on(&request.shelf("boards"), "board_id")
}

fn show(request: &mut Request<'_>) -> Answer {
    let row = the(request)?;
    ok(render_board(request, &row))
}

/// The shelf of the lists of the board in the path.
fn shelf(request: &Request<'_>) -> Result<String, Fault> {
    Ok(request.shelf(&format!("boards/{}/lists", the(request)?.num("id"))))
}

fn lists(request: &mut Request<'_>) -> Answer {
    let rows = request.world.rows(&shelf(request)?).to_vec();
    request.page_of("lists", &rows)
}

fn the_list(request: &Request<'_>) -> Result<(String, Row), Fault> {
    let shelf = shelf(request)?;
    let row = request.row_on(&shelf, "list_id")?;
    Ok((shelf, row))
}

fn show_list(request: &mut Request<'_>) -> Answer {
    let (_, row) = the_list(request)?;
    ok(request.show(&row))
}

fn add(request: &mut Request<'_>) -> Answer {
    let shelf = shelf(request)?;
    let id = request.args.num("label_id").unwrap_or_default();
    let label = request.world.anywhere("labels", id).map(|(_, label)| label);
    let label = label.ok_or_else(|| Fault::Bad("Label not found!".to_owned()))?;
    let fields = ["id", "name", "description", "description_html", "text_color", "color", "archived"];
    let label = request.show_fields(&label, &fields);
    let position = request.world.rows(&shelf).len();
    let row = request.add(&shelf, json!({"label": label, "position": position}));
    created(request.show(&row))
}

fn change(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = the_list(request)?;
    let position = request.args.num("position");
    let row = request.write(&shelf, row.num("id"), json!({ "position": position }));
    ok(request.show(&row))
}

fn remove(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = the_list(request)?;
    request.world.remove(&shelf, |other| other.num("id") == row.num("id"));
    Ok(Reply::empty())
}
