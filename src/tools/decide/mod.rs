//! Decision on a prepared call: denied, previewed, asked about, or allowed. Consent is bound to just that call, and a
//! decline holds for it.

mod ask;
mod named_ids;
mod refusal;
mod target;
mod together;

use serde_json::Value;

use crate::messages::error::{ErrorKind, ToolError};
use crate::policy::{Consent, Obstacle, Permit, Rule, Ruling};
use crate::tools::error_mapping;
use crate::tools::errors::diagnosis;
use crate::tools::prepare::Prepared;
use crate::tools::state::Tools;

pub use ask::Ask;
pub use refusal::refuse;
pub use together::{PendingCall, agree_together};

/// Decision on a prepared call.
pub enum Decision {
    /// A rule forbids the call.
    Deny(Rule),
    /// A rule shows the request without sending it.
    Preview(Rule),
    /// Somebody has to consent first.
    Ask(Box<Ask>),
    Allow(Permit),
}

/// Decides on a call with its caller's consent: that of the request, or `is_agreed` where a person has agreed to the call
/// by the question of the action whose step it is.
///
/// # Errors
/// A call that a person declined, and one whose object is missing or is no longer as the call names it.
pub async fn decide(tools: &Tools, prepared: &Prepared, is_agreed: bool) -> Result<Decision, ToolError> {
    let unconfirmed = Consent { confirm: false, dry_run: prepared.request.dry_run == Some(true) };
    let rule = match decide_by_rules(tools, prepared, unconfirmed) {
        Ok(decision) => return Ok(decision),
        Err(rule) => rule,
    };
    refusal::refuse_declined(tools, &prepared.call).await?;
    if is_agreed {
        refuse_other_object(tools, prepared).await?;
    }
    let answered = ask::question_unless_consented(tools, prepared, &rule, is_agreed).await;
    match answered {
        Ok(Some(ask)) => Ok(Decision::Ask(Box::new(ask))),
        Ok(None) => {
            let consent = Consent { confirm: true, ..unconfirmed };
            // With consent, no rule asks.
            Ok(decide_by_rules(tools, prepared, consent).unwrap_or_else(Decision::Deny))
        }
        Err(error) => {
            Err(diagnosis::diagnose_error(tools, error, prepared.checked_call(), &prepared.request).await)
        }
    }
}

/// Refuses a call that a person has agreed to by the question of the action whose step it is, if by now its names are those of
/// another object: calls before it may have given them away.
async fn refuse_other_object(tools: &Tools, prepared: &Prepared) -> Result<(), ToolError> {
    let Some(agreed) = &prepared.request.agreed_identity else { return Ok(()) };
    if identity(tools, prepared).await.as_ref() == Some(agreed) {
        return Ok(());
    }
    let message = format!(
        "{}: by now this is another object than the one that was agreed to. It was not sent",
        prepared.action.id
    );
    Err(ToolError::new(ErrorKind::Conflict, message)
        .hint("Call it by itself: it is asked about as it is now."))
}

/// The id that distinguishes the object of a call from another of its name; none if GitLab does not show it.
pub async fn identity(tools: &Tools, prepared: &Prepared) -> Option<Value> {
    target::look_up_target(tools, &prepared.call, &prepared.checked).await.ok()?.identity()
}

/// The decision of the rules.
///
/// # Errors
/// The rule by which the call is asked about.
fn decide_by_rules(tools: &Tools, prepared: &Prepared, consent: Consent) -> Result<Decision, Rule> {
    match tools.policy.permit(prepared.call.clone(), consent) {
        Ok(permit) => Ok(Decision::Allow(permit)),
        Err(Obstacle::Preview(rule)) => Ok(Decision::Preview(rule)),
        Err(Obstacle::Deny(rule)) => Ok(Decision::Deny(rule)),
        Err(Obstacle::Confirm(rule)) => Err(rule),
    }
}

/// What the rules say of a call without consent, where it is sent after others.
pub fn decide_ahead(tools: &Tools, prepared: &Prepared) -> Ruling {
    tools.policy.decide(prepared.call.effects(), Consent::default())
}

/// The error of a denied call.
pub fn denial(tools: &Tools, prepared: &Prepared, rule: &Rule) -> ToolError {
    let Prepared { action, call, .. } = prepared;
    error_mapping::denied(tools, &action.id, Some(call.effects()), rule, call.lookups())
}
