//! The way of one call: prepare, decide, send, finish.
//!
//! *Architecture Invariant:* every call goes this way, alone, in a batch, in a review and for each of several iids. No other
//! module sends what a caller asked for.

use crate::gitlab::BodySink;
use crate::messages::error::ToolError;
use crate::tools::action_lookup::resolved::ResolvedAction;
use crate::tools::audit::AuditEntry;
use crate::tools::decide::{self, Decision};
use crate::tools::errors::next_call;
use crate::tools::prepare::{self, Circumstances};
use crate::tools::preview::preview;
use crate::tools::response::Outcome;
use crate::tools::state::Tools;
use crate::tools::{finish, send};

/// Runs an action that is not made of others; an error gets its next call. With a sink the body of the response is not
/// held in memory.
pub async fn run_action(
    tools: &Tools,
    resolved: ResolvedAction,
    circumstances: Circumstances<'_>,
    sink: Option<&mut (dyn BodySink + '_)>,
    entry: &mut AuditEntry<'_>,
) -> Result<Outcome, ToolError> {
    let (action, request) = (resolved.action.clone(), resolved.request.clone());
    // Boxed: the future is deeply nested.
    let outcome = Box::pin(run(tools, resolved, circumstances, sink, entry)).await;
    outcome.map_err(|error| next_call::complete(tools, error, &action, &request))
}

async fn run(
    tools: &Tools,
    resolved: ResolvedAction,
    circumstances: Circumstances<'_>,
    sink: Option<&mut (dyn BodySink + '_)>,
    entry: &mut AuditEntry<'_>,
) -> Result<Outcome, ToolError> {
    let prepared = prepare::prepare(tools, resolved, circumstances).await?;
    entry.set_call(&prepared.call, &prepared.checked);
    match decide::decide(tools, &prepared, circumstances.is_agreed).await? {
        Decision::Deny(rule) => Err(decide::denial(tools, &prepared, &rule)),
        Decision::Preview(rule) => Ok(Outcome::Answer(preview(tools, &prepared, &rule))),
        Decision::Ask(question) => Err(question.into_error()),
        Decision::Allow(permit) => {
            entry.allowed(&prepared.call);
            let sent = send::send(tools, &prepared, permit, sink, entry).await?;
            finish::finish(tools, prepared, sent, circumstances).await
        }
    }
}
