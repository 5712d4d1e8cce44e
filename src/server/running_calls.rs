//! The calls of a session that have no answer yet. One that never gets it is logged: its change may have been made.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use rmcp::model::{CallToolRequestParams, RequestId};
use serde_json::Value;

/// The calls by the ids of their requests.
#[derive(Debug, Default)]
pub(super) struct RunningCalls(Mutex<HashMap<RequestId, RunningCall>>);

/// A call without an answer.
#[derive(Debug)]
pub(super) struct RunningCall {
    /// The action, else the tool.
    name: String,
    has_sent_change: bool,
}

impl RunningCalls {
    pub(super) fn begin(&self, id: &RequestId, call: &CallToolRequestParams) {
        let action = call.arguments.as_ref().and_then(|arguments| arguments.get("action"));
        let name = action.and_then(Value::as_str).unwrap_or(&call.name).to_owned();
        self.with(|calls| calls.insert(id.clone(), RunningCall { name, has_sent_change: false }));
    }

    /// Notes that a call has sent a request which changes something.
    pub(super) fn note_change(&self, id: &RequestId) {
        self.with(|calls| calls.get_mut(id).into_iter().for_each(|call| call.has_sent_change = true));
    }

    /// Ends a call that is answered or cancelled.
    pub(super) fn end(&self, id: &RequestId) -> Option<RunningCall> {
        self.with(|calls| calls.remove(id))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.with(|calls| calls.is_empty())
    }

    /// Logs the calls that the session leaves without an answer.
    pub(super) fn report_unanswered(&self) {
        self.with(std::mem::take).values().for_each(RunningCall::report_unanswered);
    }

    fn with<T>(&self, work: impl FnOnce(&mut HashMap<RequestId, RunningCall>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl RunningCall {
    pub(super) fn report_unanswered(&self) {
        match self.has_sent_change {
            true => tracing::error!("{self}"),
            false => tracing::warn!("{self}"),
        }
    }
}

impl fmt::Display for RunningCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match self.has_sent_change {
            true => "its change was sent, and may have been made",
            false => "it had changed nothing",
        };
        write!(f, "the client did not get the answer to {:?}: {outcome}", self.name)
    }
}
