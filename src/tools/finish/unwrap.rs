//! The data of a reply, by GraphQL or by REST.

use serde_json::Value;

use crate::call::Call;
use crate::catalog::{Interface, Risk};
use crate::gitlab::{Content, Reply};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::graphql_reply;
use crate::messages::graphql_reply::document;
use crate::messages::request::{CheckedCall, ExecuteRequest};
use crate::text::{excerpt, plain_text};
use crate::tools::errors::diagnosis;
use crate::tools::finish::finishing::Finishing;
use crate::untrusted::quote;

/// Unwraps the data of a reply. From here on the request has the parameters as they were checked.
pub async fn unwrap_reply(finishing: &mut Finishing<'_>) -> Result<(), ToolError> {
    let Finishing { tools, checked, response, .. } = finishing;
    let (action, call, notes) = (&response.action, &response.call, &mut response.notes);
    let reply = std::mem::take(&mut response.reply);
    let unwrapped = match (graphql_reply::operation(action, call), action.direct()) {
        (Some(graphql), _) => graphql_reply::unwrap_reply(reply, action, graphql, notes),
        (None, Some(Interface::Graphql)) => document::unwrap_reply(reply, call, notes),
        (None, _) => check_body(reply, call),
    };
    response.reply = match unwrapped {
        Ok(reply) => reply,
        Err(error) => {
            let call = CheckedCall { call, checked };
            return Err(diagnosis::diagnose_error(tools, error, call, &response.request).await);
        }
    };
    let (id, params) = (response.action.id.clone(), checked.params().clone());
    response.request = ExecuteRequest { action: id, params, ..response.request.clone() };
    Ok(())
}

/// Refuses a change to which GitLab answers 201 and `{"status": "error", "message": …}`
/// (<https://docs.gitlab.com/api/invitations/>).
fn check_body(reply: Reply, call: &Call) -> Result<Reply, ToolError> {
    let Content::Json(Value::Object(body)) = &reply.content else { return Ok(reply) };
    let is_error = call.risk() != Risk::Read && body.get("status").and_then(Value::as_str) == Some("error");
    let Some(message) = body.get("message").filter(|_| is_error && body.len() <= 3) else { return Ok(reply) };
    let said = match message {
        Value::Object(parts) => {
            let said = parts.iter().map(|(name, why)| format!("{name}: {}", plain_text(why)));
            said.collect::<Vec<_>>().join("; ")
        }
        other => plain_text(other),
    };
    let said = format!("GitLab answered {} and refused: {}", reply.status, quote(&excerpt(&said, 500)));
    Err(ToolError::new(ErrorKind::InvalidParams, said)
        .hint("Changes that the message does not name may have been applied."))
}
