//! Requests that are a REST path or the address of one of GitLab's pages, to the actions that serve them.

use super::SearchError;
use super::profile::Route;

static ROUTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/search_routes.bin"));

const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/// A page's address after `/-/`, and the route that reads what it shows. `*` stands for one segment or more.
const PAGES: [(&str, &str); 35] = [
    ("merge_requests", "/projects/:id/merge_requests"),
    ("merge_requests/:iid", "/projects/:id/merge_requests/:iid"),
    ("merge_requests/:iid/diffs", "/projects/:id/merge_requests/:iid/diffs"),
    ("merge_requests/:iid/commits", "/projects/:id/merge_requests/:iid/commits"),
    ("merge_requests/:iid/pipelines", "/projects/:id/merge_requests/:iid/pipelines"),
    ("issues", "/projects/:id/issues"),
    ("issues/:iid", "/projects/:id/issues/:iid"),
    ("work_items/:iid", "/projects/:id/issues/:iid"),
    ("epics", "/groups/:id/epics"),
    ("epics/:iid", "/groups/:id/epics/:iid"),
    ("pipelines", "/projects/:id/pipelines"),
    ("pipelines/:pipeline", "/projects/:id/pipelines/:pipeline"),
    ("pipeline_schedules", "/projects/:id/pipeline_schedules"),
    ("jobs", "/projects/:id/jobs"),
    ("jobs/:job", "/projects/:id/jobs/:job"),
    ("jobs/:job/raw", "/projects/:id/jobs/:job/trace"),
    ("commit/:sha", "/projects/:id/repository/commits/:sha"),
    ("commits/*", "/projects/:id/repository/commits"),
    ("blob/:ref/*", "/projects/:id/repository/files/:file"),
    ("raw/:ref/*", "/projects/:id/repository/files/:file/raw"),
    ("tree/*", "/projects/:id/repository/tree"),
    ("compare/*", "/projects/:id/repository/compare"),
    ("branches", "/projects/:id/repository/branches"),
    ("tags", "/projects/:id/repository/tags"),
    ("tags/*", "/projects/:id/repository/tags/:tag"),
    ("releases", "/projects/:id/releases"),
    ("releases/*", "/projects/:id/releases/:tag"),
    ("milestones", "/projects/:id/milestones"),
    ("milestones/:milestone", "/projects/:id/milestones/:milestone"),
    ("labels", "/projects/:id/labels"),
    ("environments", "/projects/:id/environments"),
    ("environments/:environment", "/projects/:id/environments/:environment"),
    ("snippets/:snippet", "/projects/:id/snippets/:snippet"),
    ("wikis/*", "/projects/:id/wikis/:slug"),
    ("packages", "/projects/:id/packages"),
];

/// The actions that a path or page leads to, nearest first; nothing where the request is neither.
pub fn find(request: &str) -> Result<Vec<usize>, SearchError> {
    let Some((method, path)) = address(request) else { return Ok(Vec::new()) };
    let routes: Vec<Route<'static>> = postcard::from_bytes(ROUTES).map_err(SearchError::Embedded)?;
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let mut found: Vec<(Rank, usize)> = routes
        .iter()
        .filter(|route| method.is_none_or(|method| method == route.method))
        .filter_map(|route| Some((rank(route, &segments)?, usize::from(route.action))))
        .collect();
    found.sort();
    let nearest = found.first().map(|(rank, _)| (rank.spread, rank.placeholders));
    found.retain(|(rank, _)| Some((rank.spread, rank.placeholders)) == nearest);
    let mut actions: Vec<usize> = found.into_iter().map(|(_, action)| action).collect();
    let mut seen = Vec::new();
    actions.retain(|action| {
        !seen.contains(action) && {
            seen.push(*action);
            true
        }
    });
    Ok(actions)
}

/// Whether a request is a path or a URL and nothing else, known or not.
pub fn is_address(request: &str) -> bool {
    address(request).is_some()
}

/// How near a route is: fewer segments taken by one placeholder, then fewer placeholders, then reading first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    spread: usize,
    placeholders: usize,
    method: usize,
}

fn rank(route: &Route<'_>, segments: &[&str]) -> Option<Rank> {
    let pattern: Vec<&str> = route.path.split('/').filter(|segment| !segment.is_empty()).collect();
    let (spread, placeholders) = fit(&pattern, segments)?;
    let method = METHODS.iter().position(|method| *method == route.method)?;
    Some(Rank { spread, placeholders, method })
}

/// How many further segments placeholders take, and how many placeholders a literal of the request fills.
fn fit(pattern: &[&str], segments: &[&str]) -> Option<(usize, usize)> {
    let Some((first, rest)) = pattern.split_first() else {
        return segments.is_empty().then_some((0, 0));
    };
    let (segment, left) = segments.split_first()?;
    if first.starts_with([':', '*']) {
        let spans = first.starts_with('*') || segment.parse::<u64>().is_err();
        return (1..=if spans { segments.len() } else { 1 })
            .filter_map(|taken| {
                let (spread, placeholders) = fit(rest, segments.get(taken..)?)?;
                Some((spread + taken - 1, placeholders + usize::from(!is_placeholder(segment))))
            })
            .min();
    }
    let same = match first.split_once([':', '*']) {
        Some((before, _)) => segment.starts_with(before),
        None => first.eq_ignore_ascii_case(segment),
    };
    if same { fit(rest, left) } else { None }
}

fn is_placeholder(segment: &str) -> bool {
    segment.starts_with([':', '*', '{', '<', '$'])
}

/// The method, where one is given, and the path of a request that is an address and nothing else.
fn address(request: &str) -> Option<(Option<&'static str>, String)> {
    let mut words = request.split_whitespace();
    let first = words.next()?;
    let method = METHODS.iter().find(|method| method.eq_ignore_ascii_case(first)).copied();
    let target = if method.is_some() { words.next()? } else { first };
    if words.next().is_some() {
        return None;
    }
    let target = target.split(['?', '#']).next().unwrap_or(target).trim_end_matches('/');
    if let Some(url) = target.strip_prefix("https://").or_else(|| target.strip_prefix("http://")) {
        let (_, path) = url.split_once('/')?;
        return match path.strip_prefix("api/v4/") {
            Some(path) => Some((method, path.to_owned())),
            None => Some((Some("GET"), page(path)?)),
        };
    }
    let path = target.trim_start_matches('/');
    let path = path.strip_prefix("api/v4/").unwrap_or(path);
    let is_path = target.starts_with('/') || method.is_some() || path.contains('/');
    is_path.then(|| (method, path.to_owned()))
}

/// The route that reads what a page shows.
fn page(path: &str) -> Option<String> {
    let Some((_, page)) = path.split_once("/-/") else {
        return Some(if path.starts_with("groups/") { "groups/:id" } else { "projects/:id" }.to_owned());
    };
    let segments: Vec<&str> = page.split('/').collect();
    let pages = PAGES.iter().map(|(pattern, route)| (pattern.split('/').collect::<Vec<_>>(), route));
    let (_, route) = pages.filter_map(|(pattern, route)| Some((fit(&pattern, &segments)?, route))).min()?;
    let route = if path.starts_with("groups/") {
        route.replace("/projects/", "/groups/")
    } else {
        (*route).to_owned()
    };
    Some(route)
}
