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

/// Filters a list over the whole instance to the rows below the readable paths; returns how many others there were.
pub fn keep_readable(tools: &Tools, call: &Call, mut reply: Reply) -> Result<(Reply, usize), ToolError> {
    let Some(readable) = tools.policy.readable() else { return Ok((reply, 0)) };
    let Some(field) = readable.row_field(call.effects()) else { return Ok((reply, 0)) };
    let left_out = match &mut reply.content {
        Content::Empty => 0,
        Content::Json(Value::Array(rows)) => readable.keep_rows(rows, field),
        _ => {
            let message = "GitLab's answer is not a list, so GITLAB_READABLE_PATHS cannot be applied";
            return Err(ToolError::new(ErrorKind::Denied, message));
        }
    };
    Ok((reply, left_out))
}
