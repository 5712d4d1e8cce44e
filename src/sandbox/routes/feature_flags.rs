//! Feature flags that are created and changed: their strategies, and the scopes of those, have ids of their own.

use crate::args::text_of;
use crate::prelude::*;

pub const ROUTES: &[Route] = &[post("", create).rules(&[Rule::Required("name")]), put("/:key", update)];

/// An id that no strategy or scope of a flag has.
fn new_id(request: &mut Request<'_>, kind: &str) -> u64 {
    let flags = request.world.all("feature_flags").map(|(_, flag)| flag);
    let strategies = flags.flat_map(|flag| flag.list("strategies")).filter_map(Value::as_object);
    let ids = strategies.flat_map(|strategy| match kind {
        "scopes" => strategy.list("scopes").iter().filter_map(|scope| scope.get("id")?.as_u64()).collect(),
        _ => vec![strategy.num("id")],
    });
    let taken: Vec<u64> = ids.collect();
    loop {
        let id = request.world.next_id(kind);
        if !taken.contains(&id) {
            break id;
        }
    }
}

/// Elements of a list with those of a request: one with an id changes, or with `_destroy` ends, the one that has it; one
/// without is added.
fn merged(
    request: &mut Request<'_>,
    kind: &str,
    held: &[Value],
    given: &[Value],
) -> Result<Vec<Value>, Fault> {
    let mut all: Vec<Row> = held.iter().cloned().map(object).collect();
    for given in given.iter().cloned().map(object) {
        let id = given.get("id").and_then(text_of);
        let at = match &id {
            Some(id) => {
                let is = |row: &Row| row.get("id").and_then(text_of).as_ref() == Some(id);
                all.iter().position(is).map(Some).ok_or(Fault::missing(""))?
            }
            None => None,
        };
        let mut row = match at {
            Some(at) => all.remove(at),
            None if kind == "scopes" => object(json!({"id": new_id(request, kind)})),
            None => object(
                json!({"id": new_id(request, kind), "name": "", "parameters": {}, "scopes": [], "user_list": null}),
            ),
        };
        if given.get("_destroy").and_then(text_of).as_deref() == Some("true") {
            continue;
        }
        for (name, value) in &given {
            match (name.as_str(), value) {
                ("scopes", Value::Array(scopes)) => {
                    let scopes = merged(request, "scopes", row.list("scopes"), scopes)?;
                    row.set("scopes", scopes);
                }
                // As GitLab documents them: a text of JSON.
                ("parameters", Value::String(text)) => {
                    row.set("parameters", serde_json::from_str::<Value>(text).unwrap_or_default());
                }
                ("user_list_id", id) => {
                    let shelf = request.shelf("feature_flags_user_lists");
                    let list = request.world.find(&shelf, "id", &text_of(id).unwrap_or_default());
                    let list = list.ok_or(Fault::missing(""))?;
                    row.set("user_list", request.show_as("feature_flags_user_lists", "basic", list));
                }
                ("name" | "parameters" | "environment_scope", value) => row.set(name, value.clone()),
                _ => {}
            }
        }
        all.insert(at.unwrap_or(all.len()), row);
    }
    Ok(all.into_iter().map(Value::Object).collect())
}

/// The fields that a request gives a flag.
fn values(request: &mut Request<'_>, flag: &Row) -> Result<Row, Fault> {
    let mut values = request.given_of("feature_flags", &["name", "description", "active", "version"]);
    let name = values.text("name");
    let other = request.world.find(&request.shelf("feature_flags"), "name", name);
    if other.is_some_and(|other| other.num("id") != flag.num("id")) {
        return Err(Fault::Refused(400, json!(["Name has already been taken"])));
    }
    if let Some(Value::Array(given)) = request.args.get("strategies").cloned() {
        let strategies = merged(request, "strategies", flag.list("strategies"), &given)?;
        values.set("strategies", strategies);
    }
    Ok(values)
}

fn create(request: &mut Request<'_>) -> Answer {
    let values = values(request, &Row::new())?;
    let row = request.world.add(&request.shelf("feature_flags"), values, request.user);
    created(request.show(&row))
}

fn update(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.found()?;
    let values = values(request, &row)?;
    let row = request.world.write(&shelf, row.num("id"), values);
    ok(request.show(&row))
}
