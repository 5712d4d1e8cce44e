//! The routes of the kinds of rows that need no code of their own.

use serde_json::Value;

use super::access::may_see;
use super::access_level::describe;
use super::answer::{Answer, created, ok};
use super::errors::Fault;
use super::kinds::{Kind, Kinds, Verb};
use super::reply::Reply;
use super::request::Request;
use super::route::Route;
use super::row::{Fields, Row, is, mentions, object};
use super::state::World;

/// The routes of the kinds that need no code.
pub fn routes(kinds: &Kinds) -> Vec<Route> {
    let mut routes = Vec::new();
    for (name, kind) in kinds.all() {
        for at in &kind.at {
            for verb in &kind.verbs {
                let (method, one) = verb.http();
                let path = if one { format!("{at}/:key") } else { at.clone() };
                if kind.except.contains(&format!("{method} {path}")) {
                    continue;
                }
                let needs = if method == "GET" { kind.read } else { kind.write.or(kind.read) };
                routes.push(Route::kept(method, path, needs, name.clone(), *verb));
            }
        }
    }
    routes
}

/// Serves a kind that needs no code.
pub fn serve(request: &mut Request<'_>, name: &str, verb: Verb) -> Answer {
    let Some(kind) = request.world.kinds.named(name).cloned() else { return Err(Fault::Nowhere) };
    let pattern = request.pattern.trim_end_matches("/:key").to_owned();
    let shelf = request.shelf_of(&pattern)?;
    if verb == Verb::List {
        return list(request, &kind, name, &shelf);
    }
    if verb == Verb::Create {
        return create(request, &kind, &shelf);
    }
    let scope = kind
        .scope
        .as_ref()
        .and_then(|scope| request.args.nested("filter").text(scope).map(|value| (scope, value)));
    let in_scope = |row: &&Row| scope.as_ref().is_none_or(|(field, value)| row.text(field) == value);
    let rows: Vec<Row> = request.world.rows(&shelf).iter().filter(in_scope).cloned().collect();
    if kind.scope.is_some() && kind.count_matches(&rows, request.param("key")) > 1 {
        return Err(Fault::refused(
            409,
            "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'",
        ));
    }
    let found = kind.find(&rows, request.param("key"));
    let found = found.filter(|row| may_see(request.world, request.user, &shelf, row)).cloned();
    let row = found.ok_or_else(|| Fault::missing(kind.noun_at(&pattern)))?;
    let without_once = |row: Row| {
        let mut row = concealed(row);
        row.retain(|name, _| {
            !kind.once.contains(name) && (kind.alone.is_empty() || kind.alone.contains(name))
        });
        row
    };
    match verb {
        Verb::Update => {
            if let Some(words) = kind.empty.as_ref().filter(|_| request.args.names().next().is_none()) {
                return Err(Fault::refused(400, words));
            }
            let mut given = given(request, &kind, Some(&row))?;
            describe_levels(request.world, &kind, &mut given);
            clash(request, &kind, &shelf, &given, row.num("id"))?;
            let row = request.world.write(&shelf, row.num("id"), given);
            ok(request.show(&without_once(row)))
        }
        Verb::Delete => {
            request.world.remove(&shelf, |other| other.num("id") == row.num("id"));
            let shown = request.show(&without_once(row));
            Ok(kind.deleted(&pattern).map_or_else(Reply::empty, |status| Reply::json(status, shown)))
        }
        _ => ok(request.show(&without_once(row))),
    }
}

fn list(request: &mut Request<'_>, kind: &Kind, name: &str, shelf: &str) -> Answer {
    let fields: Vec<&str> = kind.search.iter().map(String::as_str).collect();
    let words = request.args.text("search");
    let wanted = fields.iter().filter_map(|field| Some((*field, request.args.any_of(field)?)));
    let wanted: Vec<(&str, Vec<String>)> = wanted.collect();
    let state = if kind.states.is_empty() {
        None
    } else {
        ["state", "states", "scope"].iter().find_map(|name| kind.states.get(&request.args.text(name)?))
    };
    let narrowed = |row: &&Row| {
        state.is_none_or(|(field, value)| row.get(field) == Some(value))
            && may_see(request.world, request.user, shelf, row)
            && wanted.iter().all(|(field, wanted)| wanted.iter().any(|wanted| is(row, field, wanted)))
            && words.as_ref().is_none_or(|words| mentions(row, &fields, words))
    };
    let mut rows: Vec<&Row> = request.world.rows(shelf).iter().filter(narrowed).collect();
    if let Some(field) = request.args.text("order_by") {
        rows.sort_by_key(|row| (row.num(&field), row.text(&field)));
    }
    if request.args.text("sort").as_deref() == Some("desc") {
        rows.reverse();
    }
    let shown = rows.into_iter().map(|row| request.show_in_list(name, &concealed(row.clone()))).collect();
    request.page(shown)
}

/// The fields that a request gives a row, or a new one.
fn given(request: &Request<'_>, kind: &Kind, before: Option<&Row>) -> Result<Row, Fault> {
    kind.check(&request.args, before.is_none())?;
    for name in &kind.unseen {
        request.args.without_trace(&[name.as_str()]);
    }
    let mut given = kind.given(&request.args);
    if kind.maskable {
        if before.is_none() && request.args.flag("masked_and_hidden") {
            given.set("masked", true);
            given.set("hidden", true);
        }
        check_masking(before.unwrap_or(&Row::new()), &given)?;
    }
    Ok(given)
}

/// The row without the value of a hidden variable.
fn concealed(mut row: Row) -> Row {
    if row.flag("hidden") {
        row.set("value", Value::Null);
    }
    row
}

/// Refuses a value that cannot be masked, and one that shall be hidden no longer.
fn check_masking(before: &Row, given: &Row) -> Result<(), Fault> {
    let set =
        |name: &str| given.get(name).or_else(|| before.get(name)).and_then(Value::as_bool) == Some(true);
    if before.flag("hidden") && !set("masked") {
        let words = "The visibility setting cannot be changed for masked and hidden variables.";
        return Err(Fault::invalid("base", words));
    }
    let value = if given.contains_key("value") { given.text("value") } else { before.text("value") };
    let is_maskable = value.chars().count() >= 8 && !value.contains(char::is_whitespace);
    if set("masked") && !is_maskable { Err(Fault::invalid("value", "is invalid")) } else { Ok(()) }
}

fn create(request: &mut Request<'_>, kind: &Kind, shelf: &str) -> Answer {
    let mut given = given(request, kind, None)?;
    describe_levels(request.world, kind, &mut given);
    clash(request, kind, shelf, &given, 0)?;
    let row = request.world.add(shelf, given, request.user);
    created(request.show(&concealed(row)))
}

/// Completes the lists of access levels that a request gives.
fn describe_levels(world: &World, kind: &Kind, given: &mut Row) {
    for field in &kind.levels {
        let Some(Value::Array(levels)) = given.get_mut(field) else { continue };
        for (number, level) in levels.iter_mut().enumerate() {
            let mut row = object(describe(world, number, &object(level.take())));
            row.set("group_inheritance_type", 0);
            *level = Value::Object(row);
        }
    }
}

fn clash(request: &Request<'_>, kind: &Kind, shelf: &str, given: &Row, id: u64) -> Result<(), Fault> {
    let Some(field) = &kind.unique else { return Ok(()) };
    let Some(value) = given.get(field) else { return Ok(()) };
    let in_scope = |row: &Row| {
        let Some(scope) = &kind.scope else { return true };
        let of = |row: &Row| row.get(scope).and_then(Value::as_str).unwrap_or("*").to_owned();
        of(row) == of(given)
    };
    let folded = |value: &Value| value.as_str().map(str::to_lowercase);
    let is_same = |other: &Value| other == value || (kind.folds_case && folded(other) == folded(value));
    let same = |row: &Row| row.get(field).is_some_and(is_same) && row.num("id") != id && in_scope(row);
    if !request.world.rows(shelf).iter().any(same) {
        return Ok(());
    }
    Err(Fault::invalid(field, &kind.taken.replace("{value}", value.as_str().unwrap_or_default())))
}
