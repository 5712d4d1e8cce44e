//! Resolves an action from a location: a REST request (`GET /projects/acme%2Fwidget/issues`), an operation as find
//! names it (`mutation workItemCreate`), or the URL of a page, with the parameters that these contain.

use serde_json::{Map, Value, json};

use crate::call::{self, Fault, Routed, WebPage};
use crate::catalog::{self, Action, Method, ObjectKind, Operation, Risk, Scope};
use crate::files::git_remote;
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::{ExecuteRequest, NextCall};
use crate::search::{Confidence, Hit, Query};
use crate::text::{excerpt, plain_text};
use crate::tools::action_lookup::resolved::{ResolvedAction, by_number};
use crate::tools::action_lookup::suggestions;
use crate::tools::state::Tools;

/// Resolves the action at a location; none if `action` is no location.
pub fn resolve(tools: &Tools, request: &ExecuteRequest) -> Option<Result<ResolvedAction, ToolError>> {
    let given = request.action.trim();
    if let Some(("query" | "mutation", field)) = given.split_once(' ') {
        return resolve_graphql(tools, given, field.trim(), request);
    }
    let (method, path) = call::split_request_line(given);
    let is_api = path.contains("/api/");
    if !is_api && let Some(page) = call::page(path, &tools.base) {
        return Some(
            page.map_err(|fault| foreign_url_error(given, &fault))
                .and_then(|page| resolve_page(tools, page, path, request)),
        );
    }
    let is_path =
        method.is_some() || path.starts_with('/') || path.contains("://") || path.starts_with("api/");
    if !is_path && !path.contains('/') {
        return None;
    }
    let routed = routes(tools, method, path);
    match routed {
        // A name may have a slash for a dot.
        Ok(routed) if routed.is_empty() && !is_path => None,
        Err(_) if !is_path => None,
        Ok(routed) if routed.is_empty() && method.is_none() => {
            Some(Err(no_read_error(tools, given, path, request)))
        }
        Ok(routed) => Some(choose_route(tools, given, routed, request)),
        Err(reason) => Some(Err(unreadable_path_error(given, &reason))),
    }
}

/// Routes that match a path; without a method, the reads.
fn routes(tools: &Tools, method: Option<Method>, path: &str) -> Result<Vec<Routed>, String> {
    let surface = tools.catalog.operations().map_err(|error| error.to_string())?;
    let mut routed = call::routed(method.unwrap_or(Method::Get), path, surface, &tools.base)?;
    let mut seen: Vec<(String, Vec<(String, String)>)> = Vec::new();
    routed.retain(|one| {
        let key = (one.action.clone(), one.values.clone());
        let is_new = !seen.contains(&key);
        seen.push(key);
        is_new
    });
    Ok(routed)
}

fn resolve_graphql(
    tools: &Tools,
    given: &str,
    field: &str,
    request: &ExecuteRequest,
) -> Option<Result<ResolvedAction, ToolError>> {
    let surface = match tools.catalog.operations() {
        Ok(surface) => surface,
        Err(error) => return Some(Err(error.into())),
    };
    let touched = if given.starts_with("mutation") { surface.mutation(field) } else { surface.query(field) };
    let id = touched.first()?.ids.first()?;
    let number = tools.catalog.number(id)?;
    Some(by_number(
        &tools.catalog,
        number,
        request,
        vec![format!("understood `{given}` as the action `{id}`")],
    ))
}

/// Chooses the action of the matching routes.
fn choose_route(
    tools: &Tools,
    given: &str,
    routed: Vec<Routed>,
    request: &ExecuteRequest,
) -> Result<ResolvedAction, ToolError> {
    match routed.as_slice() {
        [] => Err(suggestions::unknown_action(tools, given, &request.params)),
        [only] => fill_route(tools, given, only, request),
        [first, rest @ ..] if rest.iter().all(|other| other.action == first.action) => {
            let reason = "the end of a name in it is ambiguous";
            Err(unreadable_path_error(given, reason))
        }
        several => {
            let mut numbers: Vec<usize> =
                several.iter().filter_map(|one| tools.catalog.number(&one.action)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            let number = suggestions::read_by_ambiguous_name(tools, given, &numbers, &request.params)?;
            match several.iter().find(|one| tools.catalog.number(&one.action) == Some(number)) {
                Some(routed) => fill_route(tools, given, routed, request),
                None => Err(suggestions::unknown_action(tools, given, &request.params)),
            }
        }
    }
}

/// The error of a path that only writes have: a write needs its method.
fn no_read_error(tools: &Tools, given: &str, path: &str, request: &ExecuteRequest) -> ToolError {
    const CHANGING: [Method; 4] = [Method::Post, Method::Put, Method::Patch, Method::Delete];
    let routed =
        CHANGING.into_iter().filter_map(|method| routes(tools, Some(method), path).ok()).flatten().next();
    let resolved_action = routed.as_ref().and_then(|routed| fill_route(tools, given, routed, request).ok());
    let (Some(routed), Some(resolved_action)) = (routed, resolved_action) else {
        return suggestions::unknown_action(tools, given, &request.params);
    };
    let message = format!(
        "`{given}` reads nothing; {} {} is `{}`",
        routed.method.name(),
        routed.path,
        resolved_action.action.id
    );
    let error = ToolError::new(ErrorKind::UnknownAction, message)
        .hint("Give the method with the path, or call the action by its id.");
    let error = suggestions::with_candidates(error, std::slice::from_ref(&resolved_action.action));
    match resolved_action.action.risk {
        Risk::Grant | Risk::Destructive => error.fix(NextCall::schema_of(&resolved_action.action.id)),
        _ => error.fix(NextCall::execute(&resolved_action.action.id, &resolved_action.request.params)),
    }
}

/// Resolves a route to a call, with the values by the action's parameter names.
fn fill_route(
    tools: &Tools,
    given: &str,
    routed: &Routed,
    request: &ExecuteRequest,
) -> Result<ResolvedAction, ToolError> {
    let number = tools.catalog.number(&routed.action);
    let Some(number) = number else { return Err(suggestions::unknown_action(tools, given, &request.params)) };
    let mut resolved_action = by_number(&tools.catalog, number, request, Vec::new())?;
    let is_it = |operation: &&Operation| operation.method == routed.method && operation.path == routed.path;
    let operation = resolved_action.action.operations.iter().find(is_it).cloned();
    let mut located: Map<String, Value> = Map::new();
    for (placeholder, value) in &routed.values {
        let name =
            operation.as_ref().map_or(placeholder.as_str(), |operation| operation.filled_by(placeholder));
        located.insert(name.to_owned(), json!(value));
    }
    located.extend(query_params(&routed.query));
    if let Some(operation) = &operation
        && let Some(selector) = resolved_action.action.selector_of(operation.scope)
    {
        located.insert(selector.name.clone(), json!(operation.scope.name()));
    }
    merge_params(given, &mut resolved_action, located)?;
    Ok(resolved_action)
}

/// A query as parameters: a name that repeats, or has brackets, is a list.
fn query_params(pairs: &[(String, String)]) -> Map<String, Value> {
    let mut query: Map<String, Value> = Map::new();
    for (name, value) in pairs {
        let bare = name.strip_suffix("[]");
        match query.get_mut(bare.unwrap_or(name)) {
            Some(Value::Array(values)) => values.push(json!(value)),
            Some(one) => *one = json!([one.clone(), value]),
            None => {
                let value = if bare.is_some() { json!([value]) } else { json!(value) };
                query.insert(bare.unwrap_or(name).to_owned(), value);
            }
        }
    }
    query
}

/// Adds the parameters of a location to the given ones, which must not differ.
fn merge_params(
    given: &str,
    resolved_action: &mut ResolvedAction,
    located: Map<String, Value>,
) -> Result<(), ToolError> {
    let params = &mut resolved_action.request.params;
    let differs = located.iter().find(|(name, value)| {
        params
            .get(name.as_str())
            .is_some_and(|given_value| !given_value.is_null() && plain_text(given_value) != plain_text(value))
    });
    if let Some((name, value)) = differs {
        let given_value = params.get(name.as_str()).map(plain_text).unwrap_or_default();
        let message = format!("`{name}` is {given_value}, but `{given}` says {}", plain_text(value));
        let mut right = params.clone();
        right.extend(located);
        return Err(ToolError::new(ErrorKind::InvalidParams, message)
            .hint("`fix` uses the value in the path.")
            .fix(NextCall::execute(&resolved_action.action.id, &right)));
    }
    let written: Vec<String> =
        located.iter().map(|(name, value)| format!("{name}: {}", plain_text(value))).collect();
    let with = if written.is_empty() { String::new() } else { format!(" with {}", written.join(", ")) };
    resolved_action
        .notes
        .push(format!("understood `{given}` as the action `{}`{with}", resolved_action.action.id));
    params.extend(located);
    Ok(())
}

/// Resolves the URL of a page to the action that reads its object.
fn resolve_page(
    tools: &Tools,
    page: WebPage,
    url: &str,
    request: &ExecuteRequest,
) -> Result<ResolvedAction, ToolError> {
    let id = match page.kind {
        ObjectKind::Holder if page.is_bare && (page.holder == Some(Scope::Group) || page.is_short) => {
            Some("group.get".to_owned())
        }
        ObjectKind::Holder if page.is_bare => Some("project.get".to_owned()),
        ObjectKind::Holder => list_action(tools, url)?,
        kind => catalog::kind_of_object(kind).map(|row| format!("{}.get", row.domain)),
    };
    let number = id.and_then(|id| tools.catalog.number(&id));
    let Some(number) = number else { return Err(suggestions::unknown_action(tools, url, &request.params)) };
    let mut resolved_action = by_number(&tools.catalog, number, request, Vec::new())?;
    let asked = url.split_once('?').map_or("", |(_, query)| query);
    let asked = asked.split_once('#').map_or(asked, |(query, _)| query);
    let pairs: Vec<(String, String)> = url::form_urlencoded::parse(asked.as_bytes()).into_owned().collect();
    let (known, strange): (Map<_, _>, Map<_, _>) = query_params(&pairs)
        .into_iter()
        .partition(|(name, value)| accepts_param(&resolved_action.action, name, value));
    let mut located = Map::from_iter([(call::TARGET.to_owned(), json!(url))]);
    located.extend(known);
    merge_params(url, &mut resolved_action, located)?;
    resolved_action
        .notes
        .extend(strange.keys().map(|name| format!("`{name}` of the URL is not a parameter of the action")));
    Ok(resolved_action)
}

/// A page's filters are not the interface's; those that are called and valued alike are taken.
fn accepts_param(action: &Action, name: &str, value: &Value) -> bool {
    action.param(name).is_some_and(|param| {
        param.choices.is_empty()
            || value.as_str().is_some_and(|value| param.choices.iter().any(|choice| choice == value))
    })
}

/// The action that lists the objects of a page.
fn list_action(tools: &Tools, url: &str) -> Result<Option<String>, ToolError> {
    let allow = |_: &Action| true;
    let asked = Query { words: url, limit: 1, domain: None, allow: &allow, explain: false };
    let ranker = tools.ranker()?;
    let ranking = ranker.rank(&tools.catalog, &asked)?;
    let is_exact = ranking.confidence == Confidence::High && ranking.total == 1;
    // A page with a form for something new only shows the form.
    let reads = |hit: &Hit| is_exact && hit.action.risk == Risk::Read;
    Ok(ranking.hits.into_iter().next().filter(reads).map(|hit| hit.action.id))
}

/// The address is another GitLab's, or nothing of this one's.
fn foreign_url_error(given: &str, fault: &Fault) -> ToolError {
    ToolError::new(ErrorKind::InvalidParams, format!("`action` is a URL that cannot be called: {fault}"))
        .hint("Set GITLAB_URL to that GitLab, or name the object by its path.")
        .fix(NextCall::find(json!({"query": git_remote::redacted(given)})))
}

fn unreadable_path_error(given: &str, reason: &str) -> ToolError {
    let short: String = excerpt(given, 200);
    ToolError::new(ErrorKind::InvalidParams, format!("`{short}` cannot be read as a request: {reason}"))
        .hint("In a path a name's own slashes are %2F: `/projects/group%2Fproject/issues`.")
        .fix(NextCall::find(json!({"query": short})))
}
