//! Rows of a GraphQL document: those of the one list that it requests.

use serde_json::Value;

use crate::gitlab::Content;
use crate::messages::error::{ErrorKind, ToolError};
use crate::tools::reply::render;
use crate::tools::response::ActionResponse;
use crate::tools::state::Tools;

/// Maximum number of lists that an error names.
const MAX_LISTS_NAMED: usize = 5;

/// A list of a document, by the fields that lead to it.
struct RelayConnection<'d> {
    place: String,
    object: &'d Value,
}

/// The response with the rows of the document's list in place of its data. Secrets are masked by the document's names
/// before.
pub fn take_rows(tools: &Tools, mut response: ActionResponse) -> Result<ActionResponse, ToolError> {
    let Content::Json(data) = &mut response.reply.content else { return Ok(response) };
    let view = response.request.view;
    let data = render::masked(tools, &response.call, data.take(), (&[], view));
    let mut found = Vec::new();
    find_connections(&data, &mut Vec::new(), &mut found);
    let invalid = |message: String, hint: String| {
        let message = format!("{message}. Nothing was changed");
        Err(ToolError::new(ErrorKind::InvalidParams, message).hint(hint))
    };
    let connection = match found.as_slice() {
        [only] => only,
        [] => {
            return invalid(
                "the document requests no list, whose rows could be counted or read to the end".to_owned(),
                "A list has `nodes` (or `edges` with `node`) and `pageInfo{endCursor hasNextPage}`."
                    .to_owned(),
            );
        }
        several => {
            let named: Vec<String> =
                several.iter().take(MAX_LISTS_NAMED).map(|list| format!("`{}`", list.place)).collect();
            return invalid(
                format!("the document requests {} lists ({})", several.len(), named.join(", ")),
                "Request one by itself.".to_owned(),
            );
        }
    };
    let name = connection.place.rsplit('.').next().unwrap_or_default();
    let has_next = connection.object.get("pageInfo").and_then(|info| info.get("hasNextPage")?.as_bool());
    match has_next {
        None => {
            return invalid(
                format!("`{}` does not say whether it has more rows", connection.place),
                "Request `pageInfo{endCursor hasNextPage}` in addition to its rows.".to_owned(),
            );
        }
        Some(true) if response.reply.page.next_query.is_none() => {
            return invalid(
                format!("the document cannot be repeated for further rows of `{}`", connection.place),
                format!(
                    "Declare `$after: String`, request `{name}(after: $after)` and `pageInfo{{endCursor hasNextPage}}`."
                ),
            );
        }
        Some(_) => {}
    }
    let rows = rows_of(connection.object);
    response.reply.content = Content::Json(Value::Array(rows));
    Ok(response)
}

/// Collects the lists that are not within rows of another one.
fn find_connections<'d>(value: &'d Value, steps: &mut Vec<&'d str>, found: &mut Vec<RelayConnection<'d>>) {
    let Value::Object(fields) = value else { return };
    let is_list = |name: &str| fields.get(name).is_some_and(Value::is_array);
    if !steps.is_empty() && (is_list("nodes") || is_list("edges")) {
        found.push(RelayConnection { place: steps.join("."), object: value });
        return;
    }
    for (key, value) in fields {
        steps.push(key);
        find_connections(value, steps, found);
        steps.pop();
    }
}

fn rows_of(connection: &Value) -> Vec<Value> {
    let list = |name: &str| connection.get(name).and_then(Value::as_array);
    match list("nodes") {
        Some(nodes) => nodes.clone(),
        None => {
            let edges = list("edges").into_iter().flatten();
            edges.filter_map(|edge| edge.get("node").cloned()).collect()
        }
    }
}
