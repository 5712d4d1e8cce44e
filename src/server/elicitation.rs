//! A question to the user in whichever form the client can take: `elicitation/create` while a call waits (MCP
//! 2025-06-18, elicitation), or a result that asks for input and is called again with it (MCP 2026-07-28). A client
//! that can take neither gets the question as the text of an error.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequiredResult, InputResponses, RequestStateCodec, RequestStateError, SealOptions,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::tools::{ErrorKind, TOKEN_LIFETIME, ToolError, random_bytes};

/// Key of the input request in a result that asks for input.
const QUESTION: &str = "confirm";

/// Form of elicitation that a client supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// `elicitation/create` while the call waits.
    Request,
    /// The call returns an input request and is repeated with the answer.
    Result,
}

/// Outcome of an elicitation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Said {
    /// Accepted: the call to make now.
    Yes(Map<String, Value>),
    No,
}

/// Signs the state of a question, because the client stores it. A state is valid only for the same call,
/// once, for as long as a confirmation token.
pub(super) struct Asking {
    codec: RequestStateCodec,
    /// Ids of states already used, kept until their expiry.
    answered: Mutex<BTreeMap<u128, Instant>>,
}

/// The content of a sealed state.
#[derive(Serialize, Deserialize)]
struct State {
    id: u128,
    /// Call to make if the user accepts.
    agreed: Map<String, Value>,
}

impl Asking {
    /// Creates a random key for this process. Returns `None` if the system has no random numbers.
    pub(super) fn new() -> Option<Asking> {
        let key: [u8; 32] = random_bytes()?;
        let codec = RequestStateCodec::try_new(key.to_vec()).ok()?;
        Some(Asking { codec, answered: Mutex::default() })
    }

    /// The question as the result of a call with these arguments; `agreed` is the call that a yes makes.
    pub(super) fn result(
        &self,
        message: String,
        arguments: &Map<String, Value>,
        agreed: &Map<String, Value>,
    ) -> Result<InputRequiredResult, RequestStateError> {
        let bound = Value::Object(arguments.clone()).to_string();
        let options = SealOptions::new().associated_data(bound.as_bytes()).ttl(TOKEN_LIFETIME);
        let id = u128::from_ne_bytes(random_bytes().unwrap_or_default());
        let state = self.codec.seal_json_with(&State { id, agreed: agreed.clone() }, &options)?;
        let request = InputRequest::Elicitation(ElicitRequest::new(form(message)));
        Ok(InputRequiredResult::new(Some(BTreeMap::from([(QUESTION.to_owned(), request)])), Some(state)))
    }

    /// Returns the user's answer to the question about a call with these arguments. None if the state was not sealed
    /// for exactly that call: the user is asked again.
    pub(super) fn outcome_text(
        &self,
        state: Option<&str>,
        responses: Option<&InputResponses>,
        arguments: &Map<String, Value>,
    ) -> Option<Said> {
        let bound = Value::Object(arguments.clone()).to_string();
        let state: State = self.codec.open_json_with(state?, bound.as_bytes()).ok()?;
        let answer = responses?.get(QUESTION)?.clone();
        let answer: ElicitResult = serde_json::from_value(answer).ok()?;
        self.is_first_answer(state.id).then(|| interpret_answer(&answer, state.agreed))
    }

    /// Returns true if the state with this id was not used before.
    fn is_first_answer(&self, id: u128) -> bool {
        let now = Instant::now();
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.retain(|_, expires| *expires > now);
        answered.insert(id, now + TOKEN_LIFETIME).is_none()
    }
}

/// Form of elicitation that the client supports, if any.
pub(super) fn supported_form(context: &RequestContext<RoleServer>) -> Option<Way> {
    let elicitation = context.client_capabilities()?.elicitation?;
    // A client that names no mode supports forms, formerly the only mode.
    let by_form = elicitation.form.is_some() || elicitation.url.is_none();
    let has_sessions = context.protocol_version().is_none_or(|version| version.has_initialize());
    by_form.then_some(if has_sessions { Way::Request } else { Way::Result })
}

/// Sends `elicitation/create` and waits for the answer. Returns `None` if the client fails to answer.
pub(super) async fn ask(
    context: &RequestContext<RoleServer>,
    message: String,
    agreed: Map<String, Value>,
) -> Option<Said> {
    match context.peer.create_elicitation(form(message)).await {
        Ok(answer) => Some(interpret_answer(&answer, agreed)),
        Err(error) => {
            tracing::debug!(%error, "the client did not ask its user");
            None
        }
    }
}

/// Only the action `accept` confirms.
fn interpret_answer(answer: &ElicitResult, agreed: Map<String, Value>) -> Said {
    if matches!(answer.action, ElicitationAction::Accept) { Said::Yes(agreed) } else { Said::No }
}

/// Elicitation form without fields: accepting it confirms the call.
fn form(message: String) -> ElicitRequestParams {
    let requested_schema = ElicitationSchema::new(BTreeMap::new());
    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema }
}

/// Question of a needs_confirmation error, and the call that confirms it.
pub(super) fn question(error: &ToolError) -> Option<(String, Map<String, Value>)> {
    let agreed = error.fix.as_ref()?.arguments.as_object()?.clone();
    if error.kind != ErrorKind::NeedsConfirmation {
        return None;
    }
    let mut message = format!("{}.", error.message);
    for (name, value) in &error.details {
        message.push_str(&format!("\n{name}: {value}"));
    }
    Some((message, agreed))
}

/// Error for a declined confirmation.
pub(super) fn declined() -> ToolError {
    ToolError::new(ErrorKind::Denied, "the user was asked and did not agree. Nothing was changed")
}
