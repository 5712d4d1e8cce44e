//! Route look-up: requests that are a REST path, a GraphQL field or the address of a GitLab page, to their actions.

use std::collections::HashSet;
use std::io::Read;

use flate2::read::DeflateDecoder;
use gitlab_mcp_embed::search::profile::ProfileRoute;
use gitlab_mcp_embed::search::profile::route::{FIELD, GROUP, INSTANCE, PROJECT};

use super::error::SearchError;

static ROUTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/search_routes.bin"));

const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/// First segments of pages that do not belong to a project.
const ROOTS: [&str; 7] = ["-", "admin", "dashboard", "explore", "groups", "search", "users"];

/// First segments of project pages without `/-/`.
const OLD_PAGES: [&str; 6] = ["issues", "merge_requests", "container_registry", "blob", "tree", "commit"];

/// Options of `curl` that set the method, and those that imply POST.
const CURL_METHOD: [&str; 2] = ["-X", "--request"];
const CURL_BODY: [&str; 7] =
    ["-d", "--data", "--data-raw", "--data-urlencode", "--data-binary", "-F", "--form"];

/// Words that may precede a GraphQL field.
const GRAPHQL: [&str; 3] = ["graphql", "query", "mutation"];

/// The actions for a path or page, best match first; empty if the request is neither.
pub fn find(request: &str) -> Result<Vec<usize>, SearchError> {
    let target = field(request).or_else(|| call(request)).or_else(|| address(request));
    let Some((method, path)) = target else { return Ok(Vec::new()) };
    let mut bytes = Vec::new();
    DeflateDecoder::new(ROUTES).read_to_end(&mut bytes)?;
    let routes: Vec<ProfileRoute<'_>> = postcard::from_bytes(&bytes).map_err(SearchError::Embedded)?;
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let mut found: Vec<(RouteRank, usize)> = routes
        .iter()
        .filter(|route| method.map_or(METHODS.contains(&route.method), |method| method == route.method))
        .filter_map(|route| Some((rank(route, &segments)?, usize::from(route.action))))
        .collect();
    found.sort();
    let nearest = found.first().map(|(rank, _)| (rank.spread, rank.placeholders));
    found.retain(|(rank, _)| Some((rank.spread, rank.placeholders)) == nearest);
    let mut seen = HashSet::new();
    Ok(found.into_iter().map(|(_, action)| action).filter(|action| seen.insert(*action)).collect())
}

/// True if a request is only a path or a URL, known or not.
pub fn is_address(request: &str) -> bool {
    address(request).is_some()
}

/// Sort key of a route: fewer segments consumed by one placeholder, then fewer placeholders, then reads first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RouteRank {
    spread: usize,
    placeholders: usize,
    method: usize,
}

fn rank(route: &ProfileRoute<'_>, segments: &[&str]) -> Option<RouteRank> {
    let (spread, placeholders) = fit(route.path.trim_start_matches('/'), segments)?;
    let method = METHODS.iter().position(|method| *method == route.method).unwrap_or(METHODS.len());
    Some(RouteRank { spread, placeholders, method })
}

/// Extra segments consumed by placeholders, and the number of placeholders filled by literals of the request; `None` if
/// the pattern does not match.
fn fit(pattern: &str, segments: &[&str]) -> Option<(usize, usize)> {
    if pattern.is_empty() {
        return segments.is_empty().then_some((0, 0));
    }
    let (first, rest) = pattern.split_once('/').unwrap_or((pattern, ""));
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

/// Parses a request that is one address: a path or URL of the REST API with or without an HTTP method, or the URL of a
/// page. A verb before a noun or a page is not a method: `delete branch`, `close https://…/-/issues/4`.
fn address(request: &str) -> Option<(Option<&'static str>, String)> {
    let words: Vec<&str> = request.split_whitespace().collect();
    let (verb, target) = match words.as_slice() {
        [target] => (None, *target),
        [verb, target] => (Some(*verb), *target),
        _ => return None,
    };
    let method = |verb: &str| METHODS.iter().find(|method| method.eq_ignore_ascii_case(verb)).copied();
    let method = match verb {
        Some(verb) => Some(method(verb)?),
        None => None,
    };
    if let Some(path) = url_path(target) {
        return match path.strip_prefix("api/v4/") {
            Some(path) => Some((method, path.to_owned())),
            None => method.is_none().then(|| page(path)),
        };
    }
    let path = without_query(target).trim_start_matches('/');
    let path = path.strip_prefix("api/v4/").unwrap_or(path);
    let is_exact = verb == method || target.starts_with('/') || target.starts_with("api/");
    (is_exact && target.contains('/')).then(|| (method, path.to_owned()))
}

/// The path of a URL.
fn url_path(target: &str) -> Option<&str> {
    let url = target.strip_prefix("https://").or_else(|| target.strip_prefix("http://"))?;
    Some(without_query(url.split_once('/')?.1))
}

fn without_query(target: &str) -> &str {
    target.split(['?', '#']).next().unwrap_or(target).trim_end_matches('/')
}

/// Finds a REST API call anywhere in a request, such as a `curl` command or a line of a script: its method and path.
fn call(request: &str) -> Option<(Option<&'static str>, String)> {
    let words: Vec<&str> = request
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'', '`', ',', ';', '(', ')']))
        .collect();
    let (at, path) = words.iter().enumerate().find_map(|(at, word)| {
        let (_, path) = word.split_once("/api/v4/")?;
        Some((at, without_query(path)))
    })?;
    let named = |word: &&str| METHODS.iter().find(|method| method.eq_ignore_ascii_case(word)).copied();
    let said = words.windows(2).find_map(|pair| match pair {
        [flag, method] if CURL_METHOD.contains(flag) => named(method),
        _ => None,
    });
    let before = at.checked_sub(1).and_then(|before| words.get(before)).and_then(named);
    let sends = || words.iter().any(|word| CURL_BODY.contains(word)).then_some("POST");
    let is_curl = words.contains(&"curl");
    let method = said.or(before).or_else(|| sends().filter(|_| is_curl)).or(is_curl.then_some("GET"));
    Some((method, path.to_owned()))
}

/// Parses a GraphQL field: `mutation mergeRequestSetDraft`, `project.mergeRequests`.
fn field(request: &str) -> Option<(Option<&'static str>, String)> {
    let words = request.split(|c: char| c.is_whitespace() || "{}()".contains(c));
    let mut words = words.filter(|word| !word.is_empty()).peekable();
    let mut announced = false;
    while words.next_if(|word| GRAPHQL.contains(&word.to_lowercase().as_str())).is_some() {
        announced = true;
    }
    let name = words.next()?;
    let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.')
        && name.starts_with(|c: char| c.is_ascii_lowercase());
    let is_camel = name.bytes().any(|b| b.is_ascii_uppercase());
    (words.next().is_none() && is_name && (announced || is_camel)).then(|| (Some(FIELD), name.to_owned()))
}

/// Parses a page's path: its section of `catalog/pages.toml`, and its key there.
fn page(path: &str) -> (Option<&'static str>, String) {
    let found = |part: &'static str, page: &str| (Some(part), page.to_owned());
    if let Some((owner, page)) = path.split_once("/-/") {
        return found(if owner.starts_with("groups/") { GROUP } else { PROJECT }, page);
    }
    let segments: Vec<&str> = path.split('/').collect();
    if segments.first().is_some_and(|root| ROOTS.contains(root)) {
        return found(INSTANCE, path);
    }
    // Page format before `/-/`; a project's path has at least two segments.
    let old = segments.iter().skip(2).position(|segment| OLD_PAGES.contains(segment));
    match old.and_then(|at| segments.get(at + 2..)) {
        Some(page) => found(PROJECT, &page.join("/")),
        None if segments.len() == 1 => found("GET", "groups/:id"),
        None => found("GET", "projects/:id"),
    }
}
