//! Refusal of calls to which a person did not consent.

use std::time::Duration;

use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::call::Call;
use crate::catalog::{Action, Param};
use crate::messages::declines::{CallDigest, DECLINE_LIFETIME};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::question::{AskedCall, Refusal};
use crate::messages::request::{ExecuteRequest, NextCall};
use crate::tools::own_reads::locate;
use crate::tools::state::Tools;

/// The digest of a call, for which the ids of its project or group are looked up.
pub async fn digest_call(tools: &Tools, call: &Call) -> CallDigest {
    let located = locate::locate_ids(tools, call.effects()).await;
    let ids = call.touches().iter().flat_map(|touched| &touched.ids);
    let actions: Vec<Action> = ids.filter_map(|id| tools.catalog.get(id).ok().flatten()).collect();
    let is_state =
        |name: &str| actions.iter().any(|action| action.pin.as_ref().is_some_and(|pin| pin.param == name));
    let is_read = |param: &Param, name: &str| param.name == name || param.wire.as_deref() == Some(name);
    // GitLab ignores a parameter that it does not have. A document is not a parameter of the operations in it.
    let keeps_all = actions.is_empty() || call.is_graphql();
    let counted = |name: &str| {
        let is_known = actions.iter().any(|action| action.params.iter().any(|param| is_read(param, name)));
        (keeps_all || is_known) && !is_state(name)
    };
    CallDigest::of_call(&tools.base, call, counted, |location| locate::find_path(&located, location))
}

/// The digest of a call as it would be sent, to an object in this state.
pub fn exact_digest(tools: &Tools, call: &Call, state: &Map<String, Value>) -> CallDigest {
    CallDigest::of_request(&tools.base, call, state)
}

/// Refuses calls that are no longer those that a person has agreed to: a name may be another object's by then, and a text
/// another.
pub fn refuse_another(request: &ExecuteRequest, calls: &[CallDigest]) -> Result<(), ToolError> {
    if request.agreed.is_empty() || calls.iter().all(|call| request.agreed.contains(call)) {
        return Ok(());
    }
    let message = "what this call would do has changed while the question was open. Nothing was sent";
    let again = ExecuteRequest { confirm: None, confirmation_token: None, ..request.clone() };
    Err(ToolError::new(ErrorKind::Conflict, message)
        .hint("Call it again: the user is asked about what it would do now.")
        .fix(NextCall::for_request(&again)))
}

/// Refuses a call that a person declined.
pub async fn refuse_declined(tools: &Tools, call: &Call) -> Result<(), ToolError> {
    if tools.declines.is_empty() {
        return Ok(());
    }
    refuse_digest(tools, call.action(), &digest_call(tools, call).await)
}

/// Refuses the call of a digest, if a person declined it.
pub fn refuse_digest(tools: &Tools, name: &str, digest: &CallDigest) -> Result<(), ToolError> {
    match tools.declines.remaining(digest) {
        Some(left) => Err(declined_error(name, left)),
        None => Ok(()),
    }
}

/// The error of a call that a person declined.
fn declined_error(name: &str, left: Duration) -> ToolError {
    let until = OffsetDateTime::now_utc() + left;
    let until = until.replace_nanosecond(0).unwrap_or(until).format(&Rfc3339).unwrap_or_default();
    let message = format!("the user declined this call: {name}. That holds until {until}. Nothing was sent");
    ToolError::new(ErrorKind::Declined, message)
        .hint(
            "Tell the user, who has not seen the question if the client declines by itself, and ask what to do instead. No \
             consent and no other spelling of the call is taken meanwhile.",
        )
}

/// The error for calls that a person did not consent to. A decline holds for each of them for some time.
pub fn refuse(tools: &Tools, asked: &[AskedCall], refusal: Refusal) -> ToolError {
    let names: Vec<String> = asked.iter().map(AskedCall::name).collect();
    let name = names.join(", ");
    let error = match refusal {
        Refusal::Declined => {
            asked.iter().for_each(|call| tools.declines.add(call.digest.clone()));
            declined_error(&name, DECLINE_LIFETIME)
        }
        Refusal::Unanswered => {
            let message = format!("the question about {name} was closed without an answer. Nothing was sent");
            ToolError::new(ErrorKind::Unanswered, message).hint(
                "Nobody may be there to answer: ask the user before you call it again. A program without a person sets \
                 GITLAB_CONFIRM_BY=model.",
            )
        }
    };
    asked.iter().for_each(|call| tools.auditor.refused(call, error.kind));
    error
}
