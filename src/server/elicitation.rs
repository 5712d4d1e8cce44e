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

/// The name of the question among those that a result asks.
const QUESTION: &str = "confirm";

/// How a client's user can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The server asks while the call waits.
    Request,
    /// The call ends with the question, and is made again with the answer.
    Result,
}

/// What the user said.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Said {
    /// The call to make now.
    Yes(Map<String, Value>),
    No,
}

/// Seals what a question was about, as the state goes through the client's hands. A state is good for the same call,
/// once, for as long as a confirmation token.
pub(super) struct Asking {
    codec: RequestStateCodec,
    /// The states that were answered, until they would have expired.
    answered: Mutex<BTreeMap<u128, Instant>>,
}

/// The content of a sealed state.
#[derive(Serialize, Deserialize)]
struct State {
    id: u128,
    /// The call that a yes makes.
    agreed: Map<String, Value>,
}

impl Asking {
    /// With a random key of this process. None where the system has no random numbers.
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

    /// What the user said to the question that a call with these arguments asked. Nothing where the state is not
    /// one that was given for just that call: it is asked again.
    pub(super) fn said(
        &self,
        state: Option<&str>,
        responses: Option<&InputResponses>,
        arguments: &Map<String, Value>,
    ) -> Option<Said> {
        let bound = Value::Object(arguments.clone()).to_string();
        let state: State = self.codec.open_json_with(state?, bound.as_bytes()).ok()?;
        let answer = responses?.get(QUESTION)?.clone();
        let answer: ElicitResult = serde_json::from_value(answer).ok()?;
        self.is_first_answer(state.id).then(|| meaning(&answer, state.agreed))
    }

    /// Whether the state with that id has not been answered before.
    fn is_first_answer(&self, id: u128) -> bool {
        let now = Instant::now();
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.retain(|_, expires| *expires > now);
        answered.insert(id, now + TOKEN_LIFETIME).is_none()
    }
}

/// How the user of this client can be asked, if at all.
pub(super) fn way(context: &RequestContext<RoleServer>) -> Option<Way> {
    let elicitation = context.client_capabilities()?.elicitation?;
    // One that names no mode means the form, which was the only one.
    let by_form = elicitation.form.is_some() || elicitation.url.is_none();
    let has_sessions = context.protocol_version().is_none_or(|version| version.has_initialize());
    by_form.then_some(if has_sessions { Way::Request } else { Way::Result })
}

/// Asks while the call waits; nothing where the client fails to.
pub(super) async fn ask(
    context: &RequestContext<RoleServer>,
    message: String,
    agreed: Map<String, Value>,
) -> Option<Said> {
    match context.peer.create_elicitation(form(message)).await {
        Ok(answer) => Some(meaning(&answer, agreed)),
        Err(error) => {
            tracing::debug!(%error, "the client did not ask its user");
            None
        }
    }
}

/// Only an acceptance is a yes.
fn meaning(answer: &ElicitResult, agreed: Map<String, Value>) -> Said {
    if matches!(answer.action, ElicitationAction::Accept) { Said::Yes(agreed) } else { Said::No }
}

/// A form without fields: to accept it is to agree.
fn form(message: String) -> ElicitRequestParams {
    let requested_schema = ElicitationSchema::new(BTreeMap::new());
    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema }
}

/// The question that an error asks, and the call that agrees.
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

/// The user was asked and did not agree.
pub(super) fn declined() -> ToolError {
    ToolError::new(ErrorKind::Denied, "the user was asked and did not agree. Nothing was changed")
}
