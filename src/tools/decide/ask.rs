//! Consent to a call: given by its request, or asked for by a question that shows what the call would hit.

use serde_json::{Map, Value, json};

use crate::call::{Body, Call};
use crate::catalog::{Action, DoneState};
use crate::messages::audit_target::AuditTarget;
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::question::{AskedCall, Question, QuestionedCall};
use crate::messages::request::{CheckedCall, ExecuteRequest, NextCall};
use crate::messages::sentence::{HitObject, Sentence};
use crate::messages::token::TokenError;
use crate::policy::Rule;
use crate::tools::decide::target::{TargetObject, look_up_target};
use crate::tools::decide::{named_ids, refusal};
use crate::tools::error_mapping;
use crate::tools::prepare::{Prepared, pin};
use crate::tools::state::Tools;

/// A question with the call that consents. A person reads a sentence of it, a model an error.
pub struct Ask {
    pub question: Question,
    /// The reason why the token of the request was rejected.
    pub rejected: Option<TokenError>,
    pub hint: &'static str,
    /// The whole request again, consenting.
    pub call: NextCall,
    /// Notes on how the request was understood.
    pub notes: Vec<String>,
}

impl Ask {
    /// The question as the error that a model reads.
    pub fn into_error(self) -> ToolError {
        let Ask { question, rejected, hint, call, notes } = self;
        let mut error = ToolError::new(ErrorKind::NeedsConfirmation, question.statement());
        if let Some(rejected) = rejected {
            error.message = format!("{}; {rejected}", error.message);
        }
        error.details.extend(question.details());
        error.question = Some(Box::new(question));
        error.hint(hint).fix(call).with_notes(&notes)
    }
}

/// The question about a call; none if its caller has consented.
///
/// # Errors
/// An object that is missing, or no longer as the call names it.
pub async fn question_unless_consented(
    tools: &Tools,
    prepared: &Prepared,
    rule: &Rule,
    is_agreed: bool,
) -> Result<Option<Ask>, ToolError> {
    let Prepared { request, call, checked, .. } = prepared;
    let (is_confirmed, wants_token) = (request.confirm == Some(true), tools.policy.confirm().wants_token());
    if is_agreed {
        return Ok(None);
    }
    // No person has seen an object that the model consents to.
    if is_confirmed && !wants_token && request.agreed.is_empty() {
        return Ok(None);
    }
    let mut target = look_up_target(tools, call, checked).await?;
    if is_confirmed && !wants_token {
        refusal::refuse_another(request, &[refusal::exact_digest(tools, call, &target.state)])?;
        return Ok(None);
    }
    let rejected = match &request.confirmation_token {
        Some(token) if is_confirmed => match redeem(tools, token, &subject(tools, call, &target)) {
            Ok(()) => return Ok(None),
            Err(error) => Some(error),
        },
        _ => None,
    };
    if let Some(changed) = pin::changed_object_error(tools, checked, request, &target.summary).await {
        return Err(prepared.with_given_params(changed.with_notes(&prepared.notes)));
    }
    if target.summary.is_empty() && target.unseen.is_none() {
        target.unseen = Some("the affected object cannot be read first".to_owned());
    }
    let mut notes = prepared.notes.clone();
    notes.extend(done_note(tools, &prepared.action, &target.summary));
    let token = wants_token.then(|| tools.tokens.as_ref()?.issue(&subject(tools, call, &target))).flatten();
    let hint = match (&token, target.summary.is_empty()) {
        (None, _) => {
            "Call it again with `confirm: true` once the user agrees; `dry_run: true` shows the request."
        }
        (Some(_), true) => {
            "Call it again as in `fix` once the user agrees: its `confirmation_token` is good for this call, \
             once, within five minutes."
        }
        (Some(_), false) => {
            "Call it again as in `fix` once the user agrees: its `confirmation_token` is good for this call, \
             once, within five minutes, while what it hits stays as it is."
        }
    };
    let why = error_mapping::why_asked(rule, &prepared.action, &prepared.unknown);
    let calls = vec![describe_call(tools, prepared.checked_call(), target).await];
    let question = Question { calls, why, plan: None, instance: None };
    let again = ExecuteRequest { params: prepared.params_again(), ..request.clone() };
    let call = consenting_call(&again, call.action(), token);
    Ok(Some(Ask { question, rejected, hint, call, notes }))
}

/// The note on an object that is as the change would make it.
fn done_note(tools: &Tools, action: &Action, hit: &Map<String, Value>) -> Option<String> {
    let states = &tools.catalog.words().ok()?.changes.done;
    let is_it =
        |state: &&DoneState| state.actions.contains(&action.id) && hit.get(&state.field) == Some(&state.is.0);
    let state = states.iter().find(is_it)?;
    Some(format!("`{}` is {} already: nothing is left to do", state.field, state.is.0))
}

/// The subject that a confirmation token is bound to: the instance, the call with its body and locations, and the
/// current state of what it would hit.
fn subject(tools: &Tools, call: &Call, hit: &TargetObject) -> String {
    let body = match call.body() {
        Body::Json(body) => body.to_string(),
        other => format!("{other:?}"),
    };
    let places: Vec<String> =
        call.effects().places().iter().map(|place| format!("{}={}", place.param, place.location)).collect();
    json!([
        tools.base.as_str(),
        call.action(),
        call.method().name(),
        call.path(),
        call.query(),
        body,
        places,
        hit.summary,
        hit.state,
    ])
    .to_string()
}

pub(super) fn redeem(tools: &Tools, token: &str, subject: &str) -> Result<(), TokenError> {
    tools.tokens.as_ref().map_or(Err(TokenError::Mismatch), |tokens| tokens.redeem(token, subject))
}

/// The whole request again, consenting.
pub(super) fn consenting_call(request: &ExecuteRequest, action: &str, token: Option<String>) -> NextCall {
    NextCall::whole(&ExecuteRequest {
        action: action.to_owned(),
        confirm: Some(true),
        confirmation_token: token,
        ..request.clone()
    })
}

/// The call of a question, with the object that it would hit.
pub(super) async fn describe_call(
    tools: &Tools,
    call: CheckedCall<'_>,
    target: TargetObject,
) -> QuestionedCall {
    let CheckedCall { call: request, checked } = call;
    let TargetObject { summary: hit, state, unseen } = target;
    let is_raw = checked.action().direct().is_some();
    let strictest = request.strictest().and_then(|touched| touched.ids.first()).filter(|_| is_raw);
    let named = strictest.and_then(|id| tools.catalog.get(id).ok().flatten());
    let mut sentence = Sentence::new(call, named.as_ref(), HitObject { fields: &hit, base: &tools.base });
    sentence.add(named_ids::facts(tools, checked, named.as_ref().unwrap_or_else(|| checked.action())).await);
    QuestionedCall {
        number: 1,
        name: error_mapping::strictest_operation(request).unwrap_or_else(|| request.action().to_owned()),
        request: Some(format!("{} {}", request.method().name(), request.path())),
        params: String::new(),
        hit,
        unseen,
        asked: AskedCall {
            action: request.action().to_owned(),
            what: sentence.what.clone(),
            plan: None,
            digest: refusal::digest_call(tools, request).await,
            exact: refusal::exact_digest(tools, request, &state),
            target: AuditTarget::new(request, checked),
        },
        sentence,
    }
}
