//! From a method and a path to a handler, and everything that is decided before the handler runs.

use std::borrow::Cow;
use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

use super::access::{self, Level};
use super::args::Args;
use super::errors::Fault;
use super::kinds::{Kinds, Verb};
use super::reply::{Answer, Reply};
use super::request::{Incoming, Request};
use super::row::{Fields, is};
use super::state::{Place, World};
use super::{kinds, routes};

/// Requirement on a parameter. All rules of a route are checked, and all failures are reported at once.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// The parameter must be there.
    Required(&'static str),
    /// One of these must be there.
    AnyOf(&'static [&'static str]),
    /// The parameter must have one of these values.
    OneOf(&'static str, &'static [&'static str]),
    /// The parameter must be a number.
    Integer(&'static str),
}

/// Rules of every route.
const PAGING: &[Rule] = &[Rule::Integer("page"), Rule::Integer("per_page")];

/// Implementation of a route.
#[derive(Debug, Clone)]
pub enum Run {
    /// By this function.
    Do(fn(&mut Request<'_>) -> Answer),
    /// As rows of a kind that needs no code.
    Kept(String, Verb),
}

/// One method of one path.
#[derive(Debug, Clone)]
pub struct Route {
    method: &'static str,
    path: Cow<'static, str>,
    needs: Option<Level>,
    rules: &'static [Rule],
    run: Run,
}

type Handler = fn(&mut Request<'_>) -> Answer;

/// A `GET` route.
pub const fn get(path: &'static str, run: Handler) -> Route {
    Route::at("GET", path, run)
}
/// A `POST` route.
pub const fn post(path: &'static str, run: Handler) -> Route {
    Route::at("POST", path, run)
}
/// A `PUT` route.
pub const fn put(path: &'static str, run: Handler) -> Route {
    Route::at("PUT", path, run)
}
/// A `DELETE` route.
pub const fn delete(path: &'static str, run: Handler) -> Route {
    Route::at("DELETE", path, run)
}

impl Route {
    const fn at(method: &'static str, path: &'static str, run: Handler) -> Self {
        Self { method, path: Cow::Borrowed(path), needs: None, rules: &[], run: Run::Do(run) }
    }

    /// A route whose path was put together.
    pub fn new(method: &'static str, path: String, run: Run) -> Self {
        Self { method, path: Cow::Owned(path), needs: None, rules: &[], run }
    }

    /// Sets the least access needed. By default, anyone may read; a signed-in user may write and, in a project or
    /// group, a developer.
    pub const fn needs(mut self, level: Level) -> Self {
        self.needs = Some(level);
        self
    }

    /// The same, where it is known only later.
    pub fn needs_maybe(mut self, level: Option<Level>) -> Self {
        self.needs = level;
        self
    }

    /// Sets the rules for its parameters.
    pub const fn rules(mut self, rules: &'static [Rule]) -> Self {
        self.rules = rules;
        self
    }

    fn level(&self) -> Level {
        let placed = self.path.starts_with("/projects/:id/") || self.path.starts_with("/groups/:id/");
        match (self.needs, self.method) {
            (Some(level), _) => level,
            (None, "GET") => Level::Anyone,
            (None, _) if placed => Level::Developer,
            (None, _) => Level::User,
        }
    }

    /// Values of the placeholders, and for each part of the path whether it is literal; none if the path does not
    /// match.
    fn matches(&self, parts: &[String]) -> Option<(Vec<bool>, BTreeMap<String, String>)> {
        let pattern: Vec<&str> = self.path.trim_start_matches('/').split('/').collect();
        let mut params = BTreeMap::new();
        let mut literal = Vec::new();
        if pattern.len() != parts.len() {
            return None;
        }
        for (wanted, part) in pattern.iter().zip(parts) {
            match wanted.strip_prefix(':') {
                Some(name) => {
                    params.insert(name.to_owned(), part.clone());
                    literal.push(false);
                }
                None if wanted == part => literal.push(true),
                None => return None,
            }
        }
        Some((literal, params))
    }
}

/// All routes.
#[derive(Debug)]
pub struct Routes(Vec<Route>);

impl Routes {
    /// The routes with code, then those of the kinds that need none.
    pub fn new(kinds: &Kinds) -> Self {
        let mut all = routes::all();
        all.extend(kinds.routes());
        Self(all)
    }

    fn find(&self, method: &str, parts: &[String]) -> Option<(&Route, BTreeMap<String, String>)> {
        let method = match method {
            "HEAD" => "GET",
            "PATCH" => "PUT",
            other => other,
        };
        let mut best: Option<(Vec<bool>, &Route, BTreeMap<String, String>)> = None;
        for route in self.0.iter().filter(|route| route.method == method) {
            if let Some((literal, params)) = route.matches(parts)
                && best.as_ref().is_none_or(|(most, _, _)| literal > *most)
            {
                best = Some((literal, route, params));
            }
        }
        best.map(|(_, route, params)| (route, params))
    }
}

/// Answers a request.
pub fn answer(world: &mut World, routes: &Routes, incoming: Incoming) -> Reply {
    try_answer(world, routes, incoming).unwrap_or_else(Fault::reply)
}

fn try_answer(world: &mut World, routes: &Routes, incoming: Incoming) -> Answer {
    let parts = parts(&incoming)?;
    let signed_in = access::sign_in(world, incoming.token.as_deref())?;
    let Some((route, params)) = routes.find(&incoming.method, &parts) else {
        return Err(unrouted(&incoming.method, &parts));
    };
    let writes = !matches!(incoming.method.as_str(), "GET" | "HEAD");
    let user = signed_in.as_ref().map(|(user, _)| *user);
    if let Some((_, token)) = &signed_in {
        access::check_scope(token, writes, &route.path)?;
    }
    let needs = route.level();
    if user.is_none() && needs > Level::Anyone {
        return Err(Fault::Unauthorized);
    }
    check(route.rules, &incoming.args)?;
    let place = place(world, user, route, &params, &incoming)?;
    if access::level(world, user, place) < needs {
        return Err(Fault::Forbidden);
    }
    let archived = place.is_some_and(|place| world.row_of(place).flag("archived"));
    if writes && archived && needs > Level::User && needs < Level::Owner {
        return Err(Fault::Forbidden);
    }
    let mut request = Request {
        world,
        raw_path: incoming.path,
        query: incoming.query,
        args: incoming.args,
        files: incoming.files,
        params,
        pattern: route.path.clone().into_owned(),
        place,
        user,
        token: signed_in.map(|(_, token)| token),
    };
    match &route.run {
        Run::Do(run) => run(&mut request),
        Run::Kept(kind, verb) => kinds::serve(&mut request, kind, *verb),
    }
}

/// The path's segments below `/api/v4`, each decoded on its own so that an encoded slash stays inside one.
fn parts(incoming: &Incoming) -> Result<Vec<String>, Fault> {
    let path = incoming.path.trim_end_matches('/');
    let rest = path.strip_prefix("/api/v4/").ok_or(Fault::Nowhere)?;
    let decode = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
    let mut parts: Vec<String> = rest.split('/').map(decode).collect();
    // GitLab takes `/groups/:id/-/search` and the like with and without the dash.
    if parts.get(2).is_some_and(|part| part == "-") {
        parts.remove(2);
    }
    Ok(parts)
}

/// Fault for a path that has no route: not held by the sandbox if GitLab has its first word, else not found.
fn unrouted(method: &str, parts: &[String]) -> Fault {
    let noun = parts.first().map(String::as_str).unwrap_or_default();
    if !routes::NOUNS.contains(&noun) {
        return Fault::Nowhere;
    }
    let shown = |(index, part): (usize, &String)| {
        let id = index == 1 && matches!(noun, "projects" | "groups" | "users" | "runners");
        let number = index > 1 && part.bytes().all(|byte| byte.is_ascii_digit());
        if id || number { ":id".to_owned() } else { part.clone() }
    };
    let path: Vec<String> = parts.iter().enumerate().map(shown).collect();
    Fault::NotHeld(format!("{method} /{}", path.join("/")))
}

/// The project or group that the path begins with, if this user may see it.
fn place(
    world: &World,
    user: Option<u64>,
    route: &Route,
    params: &BTreeMap<String, String>,
    incoming: &Incoming,
) -> Result<Option<Place>, Fault> {
    let kind = match route.path.as_ref() {
        path if path.starts_with("/projects/:id") => "projects",
        path if path.starts_with("/groups/:id") => "groups",
        _ => return Ok(None),
    };
    let wanted = params.get("id").map(String::as_str).unwrap_or_default();
    let path = if kind == "projects" { "path_with_namespace" } else { "full_path" };
    let known = |row: &&super::row::Row| is(row, "id", wanted) || row.text(path).eq_ignore_ascii_case(wanted);
    let found = world.rows(kind).iter().find(known).filter(|row| access::may_see(world, user, kind, row));
    if let Some(row) = found {
        return Ok(Some(Place { kind, id: row.num("id") }));
    }
    let moved = |row: &&super::row::Row| row.texts("_was").iter().any(|was| was == wanted);
    if let Some(row) =
        world.rows(kind).iter().find(moved).filter(|row| access::may_see(world, user, kind, row))
    {
        if incoming.method != "GET" && incoming.method != "HEAD" {
            return Err(Fault::refused(405, "Non GET methods are not allowed for moved projects"));
        }
        return Err(Fault::Moved(new_location(world, row.num("id"), incoming)));
    }
    Err(Fault::missing(Place { kind, id: 0 }.noun()))
}

fn new_location(world: &World, id: u64, incoming: &Incoming) -> String {
    let rest = incoming.path.trim_start_matches("/api/v4/projects/");
    let rest = rest.split_once('/').map(|(_, rest)| format!("/{rest}")).unwrap_or_default();
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&incoming.query).finish();
    let query = if query.is_empty() { query } else { format!("?{query}") };
    format!("{}/api/v4/projects/{id}{rest}{query}", world.url)
}

fn check(rules: &[Rule], args: &Args) -> Result<(), Fault> {
    let problems: Vec<String> = PAGING.iter().chain(rules).filter_map(|rule| rule.problem(args)).collect();
    if problems.is_empty() { Ok(()) } else { Err(Fault::Bad(problems.join(", "))) }
}

impl Rule {
    fn problem(self, args: &Args) -> Option<String> {
        match self {
            Self::Required(name) => (!args.has(name)).then(|| format!("{name} is missing")),
            Self::AnyOf(names) => (!names.iter().any(|name| args.has(name))).then(|| {
                format!("{} are missing, at least one parameter must be provided", names.join(", "))
            }),
            Self::OneOf(name, choices) => args
                .text(name)
                .filter(|given| !choices.contains(&given.as_str()))
                .map(|_| format!("{name} does not have a valid value")),
            Self::Integer(name) => args
                .text(name)
                .filter(|given| given.parse::<i64>().is_err())
                .map(|_| format!("{name} is invalid")),
        }
    }
}
