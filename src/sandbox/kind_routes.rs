//! The routes of the kinds of rows that need no code of their own.

use super::access::may_see;
use super::answer::{Answer, created, ok};
use super::errors::Fault;
use super::kinds::{Kind, Kinds, Verb};
use super::reply::Reply;
use super::request::Request;
use super::route::{Route, Run};
use super::row::{Fields, Row, is, mentions};

/// The routes of the kinds that need no code.
pub fn routes(kinds: &Kinds) -> Vec<Route> {
    let mut routes = Vec::new();
    for (name, kind) in kinds.all() {
        for at in &kind.at {
            for verb in &kind.verbs {
                let (method, one) = verb.http();
                let path = if one { format!("{at}/:key") } else { at.clone() };
                let needs = if method == "GET" { kind.read } else { kind.write.or(kind.read) };
                let route = Route::new(method, path, Run::Kept(name.clone(), *verb)).needs_maybe(needs);
                routes.push(route);
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
    let found = kind.find(request.world.rows(&shelf), request.param("key"));
    let found = found.filter(|row| may_see(request.world, request.user, &shelf, row)).cloned();
    let row = found.ok_or_else(|| Fault::missing(kind.noun()))?;
    let without_once = |mut row: Row| {
        row.retain(|name, _| !kind.once.contains(name));
        row
    };
    match verb {
        Verb::Update => {
            kind.check(request.args.all(), false)?;
            let given = kind.given(request.args.all());
            clash(request, &kind, &shelf, &given, row.num("id"))?;
            let row = request.world.write(&shelf, row.num("id"), given);
            ok(request.show(&without_once(row)))
        }
        Verb::Delete => {
            request.world.remove(&shelf, |other| other.num("id") == row.num("id"));
            Ok(Reply::empty())
        }
        _ => ok(request.show(&without_once(row))),
    }
}

fn list(request: &mut Request<'_>, kind: &Kind, name: &str, shelf: &str) -> Answer {
    let fields: Vec<&str> = kind.search.iter().map(String::as_str).collect();
    let words = request.args.text("search");
    let narrowed = |row: &&Row| {
        may_see(request.world, request.user, shelf, row)
            && fields
                .iter()
                .all(|field| request.args.text(field).is_none_or(|wanted| is(row, field, &wanted)))
            && words.as_ref().is_none_or(|words| mentions(row, &fields, words))
    };
    let rows = request.world.rows(shelf).iter().filter(narrowed);
    let shown = rows.map(|row| request.show_in_list(name, row)).collect();
    request.page(shown)
}

fn create(request: &mut Request<'_>, kind: &Kind, shelf: &str) -> Answer {
    kind.check(request.args.all(), true)?;
    let given = kind.given(request.args.all());
    clash(request, kind, shelf, &given, 0)?;
    let row = request.world.add(shelf, given, request.user);
    created(request.show(&row))
}

fn clash(request: &Request<'_>, kind: &Kind, shelf: &str, given: &Row, id: u64) -> Result<(), Fault> {
    let Some(field) = &kind.unique else { return Ok(()) };
    let Some(value) = given.get(field) else { return Ok(()) };
    let taken =
        request.world.rows(shelf).iter().any(|row| row.get(field) == Some(value) && row.num("id") != id);
    if taken { Err(Fault::invalid(field, "has already been taken")) } else { Ok(()) }
}
