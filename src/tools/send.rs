//! Sending of a permitted call, with the one retry without the fields that an instance does not know.

use crate::call::Call;
use crate::catalog::Action;
use crate::gitlab::{BodySink, Reply};
use crate::messages::error::ToolError;
use crate::messages::graphql_reply;
use crate::messages::request::CheckedCall;
use crate::policy::Permit;
use crate::tools::audit::AuditEntry;
use crate::tools::errors::diagnosis;
use crate::tools::file_transfer;
use crate::tools::prepare::{Prepared, edits, pin};
use crate::tools::state::Tools;

/// Number of fields that a note names.
const MAX_NAMED: usize = 5;

/// A call that GitLab answered.
#[derive(Debug)]
pub struct SentCall {
    /// The call as it was sent.
    pub call: Call,
    pub reply: Reply,
    /// Note on the fields that were left out.
    pub note: Option<String>,
}

/// Sends a permitted call. With a sink the body of the response is not held in memory.
pub async fn send(
    tools: &Tools,
    prepared: &Prepared,
    permit: Permit,
    sink: Option<&mut (dyn BodySink + '_)>,
    entry: &mut AuditEntry<'_>,
) -> Result<SentCall, ToolError> {
    let permit = file_transfer::prepare(tools, &prepared.request, permit)?;
    let reply = match send_once(tools, prepared, &permit, sink, entry).await {
        Ok(reply) => reply,
        Err(error) => {
            let error = edits::explain_conflict(tools, &prepared.texts, &prepared.request, error).await;
            return Err(pin::explain_refusal(tools, &prepared.checked, &prepared.request, error).await);
        }
    };
    match without_unknown_fields(&prepared.action, &permit, &reply) {
        Some((permit, note)) => {
            let reply = send_once(tools, prepared, &permit, None, entry).await?;
            Ok(SentCall { call: permit.call().clone(), reply, note: Some(note) })
        }
        None => Ok(SentCall { call: permit.call().clone(), reply, note: None }),
    }
}

async fn send_once(
    tools: &Tools,
    prepared: &Prepared,
    permit: &Permit,
    sink: Option<&mut (dyn BodySink + '_)>,
    entry: &mut AuditEntry<'_>,
) -> Result<Reply, ToolError> {
    let sent = match sink {
        Some(sink) => tools.client.send_through(permit, sink).await,
        None => tools.client.send(permit).await,
    };
    entry.set_response(&sent);
    match sent {
        Ok(mut reply) => {
            tools.token_info.accept();
            if prepared.action.param("page").is_some() {
                reply.assume_next_page(permit.call().query());
            }
            Ok(reply)
        }
        Err(error) => {
            let call = CheckedCall { call: permit.call(), checked: &prepared.checked };
            Err(diagnosis::diagnose_request(tools, &error, call, &prepared.request).await)
        }
    }
}

/// The permit of a GraphQL operation again, without the fields for which the instance refused its document, and the note
/// on them. Of a document that is refused nothing is executed, a mutation neither (GraphQL specification, 6.1).
fn without_unknown_fields(action: &Action, permit: &Permit, reply: &Reply) -> Option<(Permit, String)> {
    graphql_reply::operation(action, permit.call())?;
    let unknown = graphql_reply::unknown_fields(reply);
    if unknown.is_empty() {
        return None;
    }
    let permit = permit.without_fields(&unknown)?;
    let mut names: Vec<String> =
        unknown.iter().take(MAX_NAMED).map(|field| format!("`{}`", field.name)).collect();
    let more = unknown.len().saturating_sub(MAX_NAMED);
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    let note = format!("left out {}: this instance's GitLab does not know it", names.join(", "));
    Some((permit, note))
}
