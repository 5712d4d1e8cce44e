//! Resolves GraphQL global ids (`gid://gitlab/Issue/1`) for actions that take a path and an iid: the object's web
//! URL has both.

use serde_json::{Map, json};

use crate::call;
use crate::catalog::{Action, Param, Words};
use crate::gitlab::Content;
use crate::messages::error::{self, ErrorKind, ToolError};
use crate::messages::request::{CheckedCall, ExecuteRequest};
use crate::tools::action_lookup::suggestions;
use crate::tools::own_reads::gate::{OwnReadError, Purpose};
use crate::tools::state::Tools;
use crate::tools::{lookups, own_reads};

/// Prefix of global ids.
const GLOBAL: &str = "gid://";

/// The classes that GraphQL finds by their id alone, each with the action that reads one.
const READS: [(&str, &str); 3] = [
    ("Issue", "graphql.project_issue"),
    ("MergeRequest", "graphql.project_merge_request"),
    ("WorkItem", "work_item.get"),
];

/// The field with the address of the object's page.
const PAGE_URL_FIELD: &str = "webUrl";

/// Replaces a global id by the matching `target`. Returns the request itself if it has no such id.
pub async fn resolve_global_id(
    tools: &Tools,
    action: &Action,
    request: &ExecuteRequest,
    notes: &mut Vec<String>,
) -> Result<ExecuteRequest, ToolError> {
    let words = tools.catalog.words()?;
    let given = request.params.iter().find_map(|(name, value)| {
        let text = value.as_str()?.trim();
        let class = text.strip_prefix(GLOBAL)?.split('/').nth(1)?;
        let (_, read) = READS.iter().find(|(known, _)| *known == class)?;
        stands_for_target(action, name, words).then_some((name, text, *read))
    });
    let Some((name, text, read)) = given else { return Ok(request.clone()) };
    let page = page(tools, read, text).await?;
    let target = call::reference(&page, &tools.base).unwrap_or(page);
    notes.push(format!("understood `{name}`, the global id {text}, as {target}"));
    let mut params = request.params.clone();
    params.shift_remove(name);
    params.insert(call::TARGET.to_owned(), json!(target));
    Ok(ExecuteRequest { params, ..request.clone() })
}

/// True if the action takes a path and an iid where an id was given.
fn stands_for_target(action: &Action, name: &str, words: &Words) -> bool {
    if !call::takes_target(action) {
        return false;
    }
    let is_of_path = |param: &Param| matches!(param.name.as_str(), "fullPath" | "iid");
    name == call::TARGET || call::param_named(action, name, words).is_none_or(is_of_path)
}

/// The address of an object's page, by its global id.
async fn page(tools: &Tools, read: &str, id: &str) -> Result<String, ToolError> {
    let missing = || {
        let message = format!("there is no `{id}` that the token may see");
        ToolError::new(ErrorKind::NotFound, message)
            .hint("Give the path and the number (`fullPath`, `iid`), or the address of its page as `target`.")
    };
    let action = tools.catalog.get(read)?.ok_or_else(missing)?;
    let fields = [PAGE_URL_FIELD.to_owned()];
    let (action, _) = call::select_fields(action, &fields, tools.catalog.types())
        .map_err(|error| error::internal(&error))?;
    let params = Map::from_iter([("id".to_owned(), json!(id))]);
    let checked = suggestions::checked(tools, &action, &params).ok_or_else(missing)?;
    let call = lookups::resolve_call(tools, &checked).await.map_err(|failure| failure.error)?;
    let call = CheckedCall { call: &call, checked: &checked };
    let reply =
        own_reads::send_and_unwrap(tools, call, Purpose::LookUp).await.map_err(|error| match error {
            OwnReadError::Graphql(ToolError { kind: ErrorKind::NotFound, .. }) => missing(),
            error => error.explain(tools, &action),
        })?;
    let Content::Json(found) = reply.content else { return Err(missing()) };
    let page = ["webUrl", "web_url"].iter().find_map(|field| found.get(*field)?.as_str());
    page.map(str::to_owned).ok_or_else(missing)
}
