//! From a method and a path to a handler, and everything that is decided before the handler runs.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

use super::access;
use super::answer::Answer;
use super::args::Args;
use super::documented::{Documented, DocumentedRoute, Newer};
use super::errors::Fault;
use super::kinds::Kinds;
use super::level::Level;
use super::reply::Reply;
use super::request::{Incoming, Request};
use super::route::{Route, Rule, Run};
use super::row::{Fields, Row};
use super::state::{Place, World};
use super::{declared, documented, kind_routes, routes};

/// Rules of every route.
const PAGING: &[Rule] = &[Rule::Integer("page"), Rule::Integer("per_page")];

/// All routes, and those that GitLab has.
#[derive(Debug)]
pub struct Routes {
    routes: Vec<Route>,
    documented: Documented,
}

impl Routes {
    /// The routes of the sandbox, and those that GitLab documents.
    pub fn new(kinds: &Kinds, documented: Documented) -> Self {
        Self { routes: all(kinds), documented }
    }

    fn find(&self, method: &str, parts: &[String]) -> Option<(&Route, BTreeMap<String, String>)> {
        let method = if method == "HEAD" { "GET" } else { method };
        let mut best: Option<(Vec<bool>, &Route, BTreeMap<String, String>)> = None;
        for route in self.routes.iter().filter(|route| route.method == method) {
            if let Some((literal, params)) = route.matches(parts)
                && best.as_ref().is_none_or(|(most, _, _)| literal > *most)
            {
                best = Some((literal, route, params));
            }
        }
        best.map(|(_, route, params)| (route, params))
    }
}

/// The routes with code, then those of the kinds that need none.
pub fn all(kinds: &Kinds) -> Vec<Route> {
    let mut routes = routes::all();
    routes.extend(kind_routes::routes(kinds));
    routes
}

/// Answers a request.
pub fn answer(world: &mut World, routes: &Routes, incoming: Incoming) -> Reply {
    try_answer(world, routes, incoming).unwrap_or_else(Fault::reply)
}

fn try_answer(world: &mut World, routes: &Routes, mut incoming: Incoming) -> Answer {
    let parts = parts(&incoming)?;
    let signed_in = access::sign_in(world, incoming.token.as_deref())?;
    let Some((route, params)) = routes.find(&incoming.method, &parts) else {
        return Err(unrouted(&routes.documented, &incoming.method, &parts)?);
    };
    // Grape leaves out what a version does not declare.
    let documented = routes.documented.route(route.method, &route.path)?;
    match documented.newer() {
        Newer::Operation => return Err(Fault::Nowhere),
        Newer::Params(names) => names.into_iter().for_each(|name| incoming.args.remove(name)),
    }
    let writes = !matches!(incoming.method.as_str(), "GET" | "HEAD");
    let user = signed_in.as_ref().map(|(user, _)| *user);
    if let Some((_, token)) = &signed_in {
        access::check_scope(token, writes, &route.path)?;
    }
    let needs = route.level();
    if user.is_none() && needs > Level::Anyone {
        return Err(Fault::Unauthorized);
    }
    check_numbers(&route.path, &params)?;
    let declared = Declared::check(route, &documented, &incoming.args, &params)?;
    let place = find_place(world, user, route, &params, &incoming)?;
    if access::level(world, user, place) < needs {
        return Err(denial(route));
    }
    if let Some(refusal) = declared.refusal() {
        return Err(refusal);
    }
    let archived = place.is_some_and(|place| world.row_of(place).flag("archived"));
    if writes && archived && needs > Level::User && needs < Level::Owner {
        return Err(Fault::Forbidden);
    }
    // Routes that read the repositories of other projects than their own.
    let looks_further = incoming.args.peek("statistics").is_some() || route.path.ends_with("/search");
    let project = place.filter(|place| place.kind == "projects").map(|place| place.id);
    if looks_further || project.is_some() {
        world.complete(project.filter(|_| !looks_further));
    }
    let before = writes.then(|| world.clone());
    let exists_only = incoming.method == "HEAD" && route.path == "/projects/:id/repository/branches/:branch";
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
    let answer = run_handler(route, &documented, &mut request);
    // A request that fails changes nothing.
    if answer.is_err()
        && let Some(before) = before
    {
        *request.world = before;
    }
    answer.map(|answer| if exists_only { Reply::empty() } else { answer })
}

/// The arguments of a request, as GitLab declares them.
struct Declared {
    rules: Vec<Rule>,
    /// With the parameters of the path, which GitLab declares as any other.
    args: Args,
}

impl Declared {
    /// Checks what is decided before anything is looked at.
    fn check(
        route: &Route,
        documented: &DocumentedRoute,
        given: &Args,
        params: &BTreeMap<String, String>,
    ) -> Result<Self, Fault> {
        let path = documented::normal(&route.path);
        let more = declared::rules(route.method, &path).copied();
        let rules: Vec<Rule> = route.rules.iter().copied().chain(more).collect();
        let mut args = given.clone();
        params.iter().for_each(|(name, value)| args.add(name, value));
        let (any, others): (Vec<Rule>, Vec<Rule>) =
            rules.iter().partition(|rule| matches!(rule, Rule::AnyParameter(_)));
        check(&others, &args)?;
        check(&any, given)?;
        let problems = documented.problems(given);
        if problems.is_empty() { Ok(Self { rules, args }) } else { Err(Fault::Bad(problems.join(", "))) }
    }

    /// The refusal of a model or a service.
    fn refusal(&self) -> Option<Fault> {
        self.rules.iter().find_map(|rule| rule.refusal(&self.args))
    }
}

/// The refusal of a user without the access that a route needs.
fn denial(route: &Route) -> Fault {
    match (route.method, route.path.as_ref()) {
        // lib/api/remote_mirrors.rb
        (_, path) if path.starts_with("/projects/:id/remote_mirrors") => Fault::Unauthorized,
        // lib/api/resource_access_tokens.rb
        ("POST", "/projects/:id/access_tokens") => {
            let text = "User does not have permission to create project access token";
            Fault::refused(400, &format!("400 Bad request - {text}"))
        }
        _ => Fault::Forbidden,
    }
}

/// Runs the handler. A documented parameter that the handler left unread is a fault.
fn run_handler(route: &Route, documented: &DocumentedRoute, request: &mut Request<'_>) -> Answer {
    let answer = match &route.run {
        Run::Do(run) => run(request),
        Run::Kept(kind, verb) => kind_routes::serve(request, kind, *verb),
    }?;
    let files: Vec<&String> = request.files.iter().map(|file| &file.field).collect();
    let unread: Vec<String> =
        request.args.unread().into_iter().filter(|name| !files.contains(&name)).collect();
    if unread.is_empty() {
        return Ok(answer);
    }
    match documented.param(&unread) {
        Some(name) => Err(Fault::NotHeld(format!("the parameter {name} of {} {}", route.method, route.path))),
        None => Ok(answer),
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

/// Fault for a path that has no route: not held by the sandbox, not with this method, or not GitLab's.
fn unrouted(documented: &Documented, method: &str, parts: &[String]) -> Result<Fault, Fault> {
    let methods = documented.methods(parts)?;
    if methods.is_empty() {
        return Ok(Fault::Nowhere);
    }
    let served = if method == "HEAD" && !methods.contains(&"HEAD") { "GET" } else { method };
    if !methods.contains(&served) {
        return Ok(Fault::Method(methods));
    }
    let noun = parts.first().map(String::as_str).unwrap_or_default();
    let shown = |(index, part): (usize, &String)| {
        let id = index == 1 && matches!(noun, "projects" | "groups" | "users" | "runners");
        let number = index > 1 && part.bytes().all(|byte| byte.is_ascii_digit());
        if id || number { ":id".to_owned() } else { part.clone() }
    };
    let path: Vec<String> = parts.iter().enumerate().map(shown).collect();
    Ok(Fault::NotHeld(format!("{method} /{}", path.join("/"))))
}

/// Finds the project or group that the path begins with, if this user may see it.
fn find_place(
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
    let visible = |row: &&Row| access::may_see(world, user, kind, row);
    if let Some(row) = world.place_named(kind, wanted).filter(visible) {
        return Ok(Some(Place { kind, id: row.num("id") }));
    }
    let moved = |row: &&Row| row.texts("_was").iter().any(|was| was == wanted);
    if let Some(row) = world.rows(kind).iter().find(moved).filter(visible) {
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

/// Placeholders that GitLab takes numbers for, separated by spaces.
const NUMBERS: &str = "issue_iid merge_request_iid epic_iid snippet_id note_id job_id pipeline_id milestone_id award_id \
    pipeline_schedule_id environment_id issue_link_id draft_note_id version_id todo_id";

/// Refuses a path with a text where GitLab takes a number.
fn check_numbers(pattern: &str, params: &BTreeMap<String, String>) -> Result<(), Fault> {
    let users = ["/users/:user_id", "/users/:user_id/block", "/users/:user_id/unblock"].contains(&pattern);
    let noted = ["/notes", "/discussions"].iter().any(|part| pattern.contains(part));
    let noteable = ["issue_iid", "merge_request_iid", "snippet_id"];
    for (name, _) in params.iter().filter(|(_, value)| value.parse::<i64>().is_err()) {
        if users && name == "user_id" {
            return Err(Fault::Bad("id is invalid".to_owned()));
        }
        if NUMBERS.split(' ').any(|number| number == name) {
            let shown = if noted && noteable.contains(&name.as_str()) { "noteable_id" } else { name };
            return Err(Fault::Bad(format!("{shown} is invalid")));
        }
    }
    Ok(())
}

fn check(rules: &[Rule], args: &Args) -> Result<(), Fault> {
    let problems: Vec<String> = PAGING.iter().chain(rules).filter_map(|rule| rule.problem(args)).collect();
    if problems.is_empty() { Ok(()) } else { Err(Fault::Bad(problems.join(", "))) }
}
