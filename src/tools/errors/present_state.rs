//! The state of the object that a refused change conflicts with, such as the `detailed_merge_status` of a merge request.

use serde_json::{Value, json};

use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::EXECUTE;
use crate::tools::errors::already_there::EXISTING;
use crate::tools::lookups;
use crate::tools::own_reads::gate::Purpose;
use crate::tools::state::Tools;

/// The error of a conflict with what the object's state means, as the read shows it that is the error's next call.
pub async fn name_state(tools: &Tools, refused: ToolError) -> ToolError {
    // A creation conflicts with an object because it exists; its state is no reason.
    if refused.details.contains_key(EXISTING) {
        return refused;
    }
    let next = refused.fix.as_ref().filter(|fix| refused.kind == ErrorKind::Conflict && fix.tool == EXECUTE);
    let Some(next) = next.map(|fix| &fix.arguments) else { return refused };
    let id = next.get("action").and_then(Value::as_str).unwrap_or_default();
    let Some(read) = tools.catalog.get(id).ok().flatten().filter(|read| !read.states.is_empty()) else {
        return refused;
    };
    let params = next.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
    let object = lookups::read_json(tools, id, params, Purpose::Diagnosis).await;
    let Some(object) = object else { return refused };
    let is_state =
        |field: &str, value: &str| object.get(field).and_then(Value::as_str).is_some_and(|now| now == value);
    let Some(state) = read.states.iter().find(|state| is_state(&state.field, &state.value)) else {
        return refused;
    };
    let message = format!("{}. `{}` is {}: {}", refused.message, state.field, state.value, state.says);
    let mut refused = ToolError { message, ..refused };
    refused.details.insert(state.field.clone(), json!(state.value));
    refused
}
