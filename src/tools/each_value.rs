//! One call for several objects: a list for a parameter of the path, such as `iid: [21, 22]`, runs the action once for
//! each, as a batch. Policy, confirmation and the audit see every call.

use serde_json::{Map, Value, json};

use crate::catalog::{Action, Place};
use crate::tools::action_lookup::resolved::{self, ResolvedAction};
use crate::tools::errors::{self, ErrorKind, ToolError};
use crate::tools::state::Tools;
use crate::tools::types::ExecuteRequest;

/// The composite action that runs several calls.
const BATCH: &str = "api.batch";

/// Maximum number of objects, that of the calls of a batch.
const MOST: usize = 20;

/// The same call, or the batch if a parameter of the path has a list of several values.
pub fn expand(tools: &Tools, resolved: ResolvedAction) -> Result<ResolvedAction, ToolError> {
    let ResolvedAction { action, mut request, notes } = resolved;
    let Some((given, name, values)) = listed(&action, &request.params) else {
        return Ok(ResolvedAction { action, request, notes });
    };
    if let [only] = values.as_slice() {
        request.params.shift_remove(&given);
        request.params.insert(name, only.clone());
        return Ok(ResolvedAction { action, request, notes });
    }
    if values.is_empty() || values.len() > MOST {
        let message = format!("`{name}` takes up to {MOST} values at once; {} were given", values.len());
        return Err(
            ToolError::new(ErrorKind::InvalidParams, message).hint("Nothing was sent. Call it for fewer.")
        );
    }
    let mut others = request.params.clone();
    others.shift_remove(&given);
    let others = escaped(Value::Object(others));
    let calls = values.iter().map(|value| {
        let mut params = others.clone();
        if let Value::Object(params) = &mut params {
            params.insert(name.clone(), escaped(value.clone()));
        }
        let mut call = json!({"action": action.id, "params": params});
        if let (Value::Object(call), Some(fields)) = (&mut call, &request.fields) {
            call.insert("fields".to_owned(), json!(fields));
        }
        call
    });
    let calls: Vec<Value> = calls.collect();
    let params = json!({"calls": calls, "continue_on_error": true}).as_object().cloned().unwrap_or_default();
    let batch = ExecuteRequest { action: BATCH.to_owned(), params, fields: None, ..request };
    let number = tools
        .catalog
        .number(BATCH)
        .ok_or_else(|| ToolError::new(ErrorKind::Internal, format!("the catalog has no {BATCH}")))?;
    if let Some(rule) = tools.catalog.action(number).ok().and_then(|action| tools.withholds(&action)) {
        return Err(errors::mapping::denied(BATCH, None, &rule, 0));
    }
    resolved::by_number(&tools.catalog, number, &batch, notes)
}

/// The parameter of the path that has a list: as given, by its own name, and the values. None if two have one.
fn listed(action: &Action, params: &Map<String, Value>) -> Option<(String, String, Vec<Value>)> {
    if action.plan.is_some() || action.direct().is_some() {
        return None;
    }
    let mut found = params.iter().filter_map(|(given, value)| {
        let values = value.as_array().filter(|values| values.iter().all(is_name))?;
        let name = own_name(action, given)?;
        Some((given.clone(), name, values.clone()))
    });
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// The name of the path's parameter that is given: itself, its plural, or an `iid` by another name (`issue_iid`, `iids`).
fn own_name(action: &Action, given: &str) -> Option<String> {
    let is_path =
        |name: &str| action.param(name).is_some_and(|param| param.place == Place::Path && !param.kind.many);
    let iid = given.trim_end_matches('s').ends_with("iid").then_some("iid");
    let candidates = [Some(given), given.strip_suffix('s'), iid];
    candidates.into_iter().flatten().find(|name| is_path(name)).map(str::to_owned)
}

fn is_name(value: &Value) -> bool {
    value.is_string() || value.is_number()
}

/// The value as a batch takes it literally: there a dollar begins a reference.
fn escaped(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace('$', "$$")),
        Value::Array(values) => values.into_iter().map(escaped).collect(),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (name, escaped(value))).collect())
        }
        other => other,
    }
}
