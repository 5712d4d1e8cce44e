//! Options of a request that read a whole list.

use serde_json::{Value, json};

use crate::call;
use crate::catalog::{Action, GraphqlKind, Interface, Method, Operation, Risk, RowFilter};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::{EXECUTE, ExecuteRequest, NextCall};
use crate::present::aggregate::Aggregation;
use crate::text::pick_fields;
use crate::tools::action_lookup::resolved::ResolvedAction;
use crate::tools::action_lookup::suggestions;
use crate::tools::finish::row_filter;
use crate::tools::state::Tools;

/// Options of a request that read a whole list, checked.
#[derive(Clone, Debug)]
pub struct ListOptions {
    /// None if the answer has the rows.
    pub(super) aggregation: Option<Aggregation>,
    /// The request as it was made.
    pub(super) asked: ExecuteRequest,
}

/// Parses the options of a request; none if it has none. An error if they conflict with each other or the action.
pub fn options(tools: &Tools, resolved_action: &ResolvedAction) -> Result<Option<ListOptions>, ToolError> {
    let mut asked = resolved_action.request.clone();
    if asked.all.is_none() && asked.save_to.is_none() && filters_rows(tools, resolved_action) {
        // Most pages of a filtered list have few rows.
        asked.all = Some(true);
    }
    let request = &asked;
    let ExecuteRequest { count_by, sum, top, .. } = request;
    let Some(option) = first_option(request) else { return Ok(None) };
    let invalid = |message: String, mended: ExecuteRequest| {
        let message = format!("{message}. Nothing was sent");
        Err(ToolError::new(ErrorKind::InvalidParams, message).fix(NextCall::for_request(&mended)))
    };
    if request.save_to.is_some() || request.offset.is_some() || request.lines.is_some() {
        let mended = ExecuteRequest { save_to: None, offset: None, lines: None, ..request.clone() };
        return invalid(format!("`{option}` excludes `save_to`, `offset` and `lines`"), mended);
    }
    if top.is_some() && count_by.is_none() {
        let mended = ExecuteRequest { top: None, ..request.clone() };
        return invalid("`top` keeps the largest groups of `count_by`, which is missing".to_owned(), mended);
    }
    if *top == Some(0) {
        let mended = ExecuteRequest { top: None, ..request.clone() };
        return invalid("`top`: expected a whole number from 1, got 0".to_owned(), mended);
    }
    for (name, path) in [("count_by", count_by), ("sum", sum)] {
        if path
            .as_ref()
            .is_some_and(|path| path.split('.').all(|step| step.trim_matches(['[', ']', ' ']).is_empty()))
        {
            return invalid(
                format!("`{name}`: expected a field such as author.username, got an empty text"),
                without_options(request),
            );
        }
    }
    let may_count = (count_by.is_some() || sum.is_some()) && may_have_list(&resolved_action.action);
    if !may_count && !is_list(tools, &resolved_action.action, request) {
        return Err(not_a_list(tools, &resolved_action.action, request, option));
    }
    let aggregation = (count_by.is_some() || sum.is_some()).then(|| Aggregation {
        count_by: count_by.clone(),
        sum: sum.clone(),
        top: top.map(|top| usize::try_from(top).unwrap_or(usize::MAX)),
    });
    Ok(Some(ListOptions { aggregation, asked: request.clone() }))
}

/// True if this server filters the rows of the request.
fn filters_rows(tools: &Tools, resolved_action: &ResolvedAction) -> bool {
    let ResolvedAction { action, request, .. } = resolved_action;
    given_filters(tools, action, request).next().is_some()
}

/// The filters of rows that a request has, each with the value.
fn given_filters<'a>(
    tools: &'a Tools,
    action: &'a Action,
    request: &'a ExecuteRequest,
) -> impl Iterator<Item = (&'a RowFilter, &'a Value)> {
    let given = |filter: &'a RowFilter| {
        let is_filter = |name: &String| tools.find_param(&action.id, name).as_deref() == Some(&filter.param);
        request.params.iter().find(|(name, value)| is_filter(name) && row_filter::is_active(filter, value))
    };
    action.row_filters.iter().filter_map(move |filter| Some((filter, given(filter)?.1)))
}

/// GitLab's filters that keep the rows which this server's filters want, with their values.
pub(super) fn sent_filters(tools: &Tools, action: &Action, request: &ExecuteRequest) -> Vec<(String, Value)> {
    let filters = given_filters(tools, action, request);
    let sent = filters.filter_map(|(filter, value)| Some((filter.sends.clone()?, value.clone())));
    sent.filter(|(name, _)| !request.params.contains_key(name)).collect()
}

/// Returns the first option of a request.
pub(super) fn first_option(request: &ExecuteRequest) -> Option<&'static str> {
    let given = [
        ("count_by", request.count_by.is_some()),
        ("sum", request.sum.is_some()),
        ("top", request.top.is_some()),
        ("all", request.all == Some(true)),
    ];
    given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
}

/// Removes the options: the request for a single answer.
pub(super) fn without_options(request: &ExecuteRequest) -> ExecuteRequest {
    ExecuteRequest { all: None, count_by: None, sum: None, top: None, ..request.clone() }
}

/// True if the request is a read that returns a list, as far as the catalog knows.
fn is_list(tools: &Tools, action: &Action, request: &ExecuteRequest) -> bool {
    let method = request.params.get("method").and_then(Value::as_str);
    match action.direct() {
        Some(Interface::Graphql) => is_query(tools, action, request),
        Some(_) => may_list(action) && method.is_none_or(|method| method.eq_ignore_ascii_case("GET")),
        None => may_list(action),
    }
}

/// True if a GraphQL document only reads, or is invalid: then its check says why.
fn is_query(tools: &Tools, action: &Action, request: &ExecuteRequest) -> bool {
    let Ok(context) = tools.context() else { return false };
    match call::check(action.clone(), request.params.clone(), &context) {
        Ok(checked) => checked.possible_effects().iter().all(|effects| effects.risk() == Risk::Read),
        Err(_) => true,
    }
}

/// True if the answer of an action may have a list, which is known when it is there.
fn may_have_list(action: &Action) -> bool {
    action.risk == Risk::Read && action.direct().is_none() && action.plan.is_none()
}

/// True if the action can be a read that returns a list.
pub fn may_list(action: &Action) -> bool {
    match action.direct() {
        Some(interface) => interface == Interface::Rest,
        None => {
            action.risk == Risk::Read
                && action.choices().any(|operation| is_list_operation(action, operation))
        }
    }
}

fn is_list_operation(action: &Action, operation: &Operation) -> bool {
    match &operation.graphql {
        Some(graphql) => graphql.kind == GraphqlKind::Query && graphql.selection.starts_with("nodes{"),
        None => {
            let verb = action.verb();
            let is_named_so = ["list", "search"].iter().any(|name| verb.starts_with(name));
            operation.method == Method::Get && (action.param("per_page").is_some() || is_named_so)
        }
    }
}

/// Error of an action that does not return a list. Its fix calls the list of the domain, or omits the options.
fn not_a_list(tools: &Tools, action: &Action, request: &ExecuteRequest, option: &str) -> ToolError {
    let why = match action.risk {
        Risk::Read => "does not return a list",
        _ => "does not only read",
    };
    let message = format!("`{option}` is for lists; {} {why}. Nothing was sent", action.id);
    let error = ToolError::new(ErrorKind::InvalidParams, message)
        .hint("Accepted are reads that return a list, such as issue.list or commit.list.");
    let list = tools.catalog.get(&format!("{}.list", action.domain())).ok().flatten();
    let list =
        list.filter(|list| list.id != action.id && tools.may_run(list) && is_list(tools, list, request));
    if let Some(list) = list {
        let params = pick_fields(&request.params, |name| list.param(name).is_some());
        if suggestions::is_callable(tools, &list, &params) {
            return error.fix(NextCall::for_request(&ExecuteRequest {
                action: list.id,
                params,
                ..request.clone()
            }));
        }
    }
    match action.risk {
        Risk::Read => error.fix(NextCall::for_request(&without_options(request))),
        _ => {
            let query = format!("list {}", action.domain().replace('_', " "));
            error.fix(NextCall::find(json!({"query": query, "read_only": true})))
        }
    }
}

/// Adds the options of the request to an error's corrected call.
pub(super) fn with_options(mut error: ToolError, asked: &ExecuteRequest) -> ToolError {
    let options = json!({
        "fields": asked.fields, "all": asked.all, "count_by": asked.count_by, "sum": asked.sum, "top": asked.top,
    });
    let fix = error.fix.as_mut().filter(|fix| fix.tool == EXECUTE);
    if let (Some(fix), Value::Object(options)) = (fix, options)
        && let Value::Object(arguments) = &mut fix.arguments
        && arguments.get("action").and_then(Value::as_str) == Some(asked.action.as_str())
    {
        arguments.shift_remove("fields");
        arguments.extend(options.into_iter().filter(|(_, value)| !value.is_null()));
    }
    error
}
