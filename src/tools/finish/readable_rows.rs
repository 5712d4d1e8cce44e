//! Checks of a reply before it is read: that a list is one, and that its rows may be shown.

use serde_json::Value;

use crate::call::Call;
use crate::catalog::{Action, Method};
use crate::gitlab::{Content, Reply};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::{ExecuteRequest, NextCall};
use crate::tools::state::Tools;

/// Refuses a list without a body: GitLab returns an empty list as `[]`, so the response is not GitLab's.
pub fn check_list(
    action: &Action,
    call: &Call,
    reply: &Reply,
    request: &ExecuteRequest,
) -> Result<(), ToolError> {
    let is_list = call.method() == Method::Get && action.param("per_page").is_some() && reply.status == 200;
    if is_list && reply.content == Content::Empty && request.save_to.is_none() {
        let message = format!("{} returned 200 without a body instead of a list", action.id);
        return Err(ToolError::new(ErrorKind::GitlabError, message)
            .hint("A proxy in between may have dropped the answer: try again.")
            .fix(NextCall::for_request(request)));
    }
    Ok(())
}

/// Filters a list over the whole instance to the rows below the readable paths. Nothing says how many others there were, nor
/// that there were any: a search for words would find out what they hold.
pub fn keep_readable(
    tools: &Tools,
    call: &Call,
    mut reply: Reply,
    notes: &mut Vec<String>,
) -> Result<Reply, ToolError> {
    let readable = tools.policy.readable();
    let Some((readable, field)) =
        readable.and_then(|readable| Some((readable, readable.row_field(call.effects())?)))
    else {
        return Ok(reply);
    };
    match &mut reply.content {
        Content::Empty => {}
        Content::Json(Value::Array(rows)) => readable.keep_rows(rows, field),
        _ => {
            let message = "GitLab's answer is not a list, so GITLAB_READABLE_PATHS cannot be applied";
            return Err(ToolError::new(ErrorKind::Denied, message));
        }
    }
    (reply.page.total, reply.page.total_pages) = (None, None);
    notes.push("rows outside GITLAB_READABLE_PATHS are left out, if there are any".to_owned());
    Ok(reply)
}
