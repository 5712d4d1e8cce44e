//! A question to the user in whichever form the client can take: `elicitation/create` while a call waits (MCP
//! 2025-06-18, elicitation), or a result that asks for input and is called again with it (MCP 2026-07-28). A client
//! that can take neither gets the question as the text of an error.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{
    BooleanSchema, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequiredResult, InputResponses, PrimitiveSchemaDefinition, RequestStateCodec,
    RequestStateError, SealOptions,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::time::{MissedTickBehavior, interval};

use crate::tools::{
    AskedCall, ConfirmBy, ErrorKind, Event, Refusal, TOKEN_LIFETIME, ToolError, notify, random_bytes,
};

/// Key of the input request in a result that asks for input, and the field of the form.
const QUESTION: &str = "confirm";

/// Time for an answer to `elicitation/create`: clients give up on a call after 60 seconds or more (the default of the
/// SDKs), and a question that outlives its call looks like a server that hangs.
const ANSWER_TIME: Duration = Duration::from_secs(45);

/// Time between two progress notifications while a question is open.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

/// Pause between the withdrawal of a question and the answer to its call.
const WITHDRAWAL_PAUSE: Duration = Duration::from_millis(100);

/// Mechanism of elicitation that a client supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mechanism {
    /// `elicitation/create` while the call waits.
    Request,
    /// The call returns an input request and is repeated with the answer.
    Result,
}

/// A question to the user, with what follows from the answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OpenQuestion {
    /// Arguments of the call to make if the user accepts.
    pub(super) consenting_arguments: Map<String, Value>,
    /// The calls that are asked about.
    pub(super) asked: Vec<AskedCall>,
}

/// The user's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UserAnswer {
    Accepted,
    Refused(Refusal),
}

/// Signs open questions, because the client stores them. A question can be answered only for the same call, once, for
/// as long as a confirmation token is valid.
pub(super) struct QuestionSeal {
    codec: RequestStateCodec,
    /// The time of a question counts from here: a system clock that is set back would make answered ones open again.
    started: Instant,
    /// Ids of questions already answered, kept until their expiry.
    answered: Mutex<BTreeMap<u128, Instant>>,
}

/// The content of a sealed state.
#[derive(Serialize, Deserialize)]
struct QuestionState {
    id: u128,
    /// Time of the question since the start.
    asked_after: Duration,
    question: OpenQuestion,
}

impl QuestionSeal {
    /// Creates a random key for this process. Returns `None` if the system has no random numbers.
    pub(super) fn new() -> Option<QuestionSeal> {
        let key: [u8; 32] = random_bytes()?;
        let codec = RequestStateCodec::try_new(key.to_vec()).ok()?;
        Some(QuestionSeal { codec, started: Instant::now(), answered: Mutex::default() })
    }

    /// The question as the result of a call with these arguments.
    pub(super) fn input_required(
        &self,
        text: String,
        tool: &str,
        arguments: &Map<String, Value>,
        question: OpenQuestion,
    ) -> Result<InputRequiredResult, RequestStateError> {
        let bound = json!([tool, arguments]).to_string();
        let options = SealOptions::new().associated_data(bound.as_bytes());
        let id = u128::from_ne_bytes(random_bytes().unwrap_or_default());
        let state = QuestionState { id, asked_after: self.started.elapsed(), question };
        let state = self.codec.seal_json_with(&state, &options)?;
        let request = InputRequest::Elicitation(ElicitRequest::new(form(text)));
        Ok(InputRequiredResult::new(Some(BTreeMap::from([(QUESTION.to_owned(), request)])), Some(state)))
    }

    /// Returns the question about a call of this tool with these arguments, and the user's answer. None if the state was not sealed
    /// for exactly that call, has expired, or was used: the user is asked again.
    pub(super) fn open(
        &self,
        state: Option<&str>,
        responses: Option<&InputResponses>,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Option<(OpenQuestion, UserAnswer)> {
        let bound = json!([tool, arguments]).to_string();
        let state: QuestionState = self.codec.open_json_with(state?, bound.as_bytes()).ok()?;
        if self.started.elapsed() > state.asked_after + TOKEN_LIFETIME {
            return None;
        }
        let answer = responses?.get(QUESTION)?.clone();
        let answer: ElicitResult = serde_json::from_value(answer).ok()?;
        self.is_first_answer(state.id).then(|| (state.question, interpret_answer(&answer)))
    }

    /// Returns true if the state with this id was not used before.
    fn is_first_answer(&self, id: u128) -> bool {
        let now = Instant::now();
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.retain(|_, expires| *expires > now);
        answered.insert(id, now + TOKEN_LIFETIME).is_none()
    }
}

/// Mechanism that the client supports, if any. `has_session` is false over HTTP: no answer to a request of the server
/// would reach the call that waits for it.
pub(super) fn mechanism(context: &RequestContext<RoleServer>, has_session: bool) -> Option<Mechanism> {
    let elicitation = context.client_capabilities()?.elicitation?;
    // A client that names no mode supports forms, formerly the only mode.
    let by_form = elicitation.form.is_some() || elicitation.url.is_none();
    let has_handshake = context.protocol_version().is_none_or(|version| version.has_initialize());
    match (by_form, has_handshake) {
        (false, _) => None,
        (true, false) => Some(Mechanism::Result),
        (true, true) => has_session.then_some(Mechanism::Request),
    }
}

/// Sends `elicitation/create` and waits for the answer, with progress meanwhile. Returns `None` if none comes in time.
pub(super) async fn ask(context: &RequestContext<RoleServer>, text: String) -> Option<UserAnswer> {
    let started = tokio::time::Instant::now();
    let mut progress = interval(PROGRESS_INTERVAL);
    progress.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let answer = context.peer.create_elicitation_with_timeout(form(text), Some(ANSWER_TIME));
    tokio::pin!(answer);
    loop {
        tokio::select! {
            answer = &mut answer => return match answer {
                Ok(answer) => Some(interpret_answer(&answer)),
                Err(error) => {
                    tracing::debug!(%error, "the client did not ask its user");
                    // The question is withdrawn. Clients that poll for one message at a time lose an answer that comes in the
                    // same read.
                    tokio::time::sleep(WITHDRAWAL_PAUSE).await;
                    None
                }
            },
            _ = progress.tick() => notify(Event::Asking { elapsed: started.elapsed() }),
        }
    }
}

/// Only an accepted form whose field is true confirms. One without the field is of a program that fills in nothing.
fn interpret_answer(answer: &ElicitResult) -> UserAnswer {
    let field = answer.content.as_ref().and_then(|content| content.get(QUESTION)).and_then(Value::as_bool);
    match (&answer.action, field) {
        (ElicitationAction::Accept, Some(true)) => UserAnswer::Accepted,
        (ElicitationAction::Decline, _) | (ElicitationAction::Accept, Some(false)) => {
            UserAnswer::Refused(Refusal::Declined)
        }
        _ => UserAnswer::Refused(Refusal::Unanswered),
    }
}

/// Form with one required field, so that a program that accepts everything without reading it confirms nothing.
fn form(message: String) -> ElicitRequestParams {
    let field =
        BooleanSchema::new().title("Confirm").description("Yes to send it to GitLab, no to decline it.");
    let fields = BTreeMap::from([(QUESTION.to_owned(), PrimitiveSchemaDefinition::Boolean(field))]);
    let requested_schema = ElicitationSchema::new(fields).with_required(vec![QUESTION.to_owned()]);
    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema }
}

/// The question of a needs_confirmation error for a person, and what follows from the answer.
pub(super) fn question(error: &ToolError) -> Option<(String, OpenQuestion)> {
    let question = error.question.as_ref().filter(|_| error.kind == ErrorKind::NeedsConfirmation)?;
    let consenting_arguments = error.fix.as_ref()?.arguments.as_object()?.clone();
    Some((question.text(), OpenQuestion { consenting_arguments, asked: question.asked() }))
}

/// The error of a question that got no answer in time. Where the person decides, no consent is offered to the model.
pub(super) fn unanswered_in_time(mut error: ToolError, by: ConfirmBy) -> ToolError {
    if by == ConfirmBy::Model {
        return error;
    }
    if let Some(Value::Object(arguments)) = error.fix.as_mut().map(|fix| &mut fix.arguments) {
        arguments.retain(|name, _| !["confirm", "confirmation_token"].contains(&name.as_str()));
    }
    error.hint(format!(
        "The client was asked to show the question to its user, and no answer came within {} seconds. Ask the user to \
         answer it, then call it again: `confirm` does not replace the answer. A program without a person sets \
         GITLAB_CONFIRM_BY=model.",
        ANSWER_TIME.as_secs()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer that comes hours later is to something that nobody remembers, whatever the system's clock says by then.
    #[test]
    fn a_question_can_be_answered_as_long_as_a_confirmation_token_is_valid() {
        let mut seal = QuestionSeal::new().unwrap();
        let yes = InputResponses::from([(QUESTION.to_owned(), json!({"action": "accept", "content": {}}))]);
        let mut asked_before = |time: Duration| {
            let question = OpenQuestion { consenting_arguments: Map::new(), asked: Vec::new() };
            let asked = seal.input_required("Delete it?".to_owned(), "tool", &Map::new(), question).unwrap();
            seal.started = seal.started.checked_sub(time).unwrap();
            seal.open(asked.request_state.as_deref(), Some(&yes), "tool", &Map::new()).is_some()
        };
        assert!(asked_before(TOKEN_LIFETIME - Duration::from_secs(60)));
        assert!(!asked_before(TOKEN_LIFETIME + Duration::from_secs(1)));
    }
}
