//! One call that is several: a list for a parameter of the path, such as `iid: [21, 22]`, runs the action once for each,
//! and a companion's parameter, such as `comment`, adds another action. Both become a batch, so policy, confirmation and
//! the audit see every call.

use serde_json::{Map, Value, json};

use crate::call::TARGET;
use crate::catalog::{Action, Companion, Place};
use crate::tools::action_lookup::resolved::{self, ResolvedAction};
use crate::tools::errors::{self, ErrorKind, ToolError};
use crate::tools::state::Tools;
use crate::tools::types::ExecuteRequest;

/// The composite action that runs several calls.
const BATCH: &str = "api.batch";

/// Maximum number of objects, that of the calls of a batch.
const MOST: usize = 20;

/// Returns the call, or the batch of calls for a list of objects.
pub fn expand(tools: &Tools, resolved: ResolvedAction) -> Result<ResolvedAction, ToolError> {
    let ResolvedAction { action, mut request, notes } = resolved;
    let listed = listed(&action, &request.params);
    let companion = action.companion_given(|name| request.params.get(name)).cloned();
    let mut values = vec![None];
    if let Some((given, name, several)) = listed {
        request.params.shift_remove(&given);
        if let [only] = several.as_slice() {
            request.params.insert(name, only.clone());
        } else if several.is_empty() || several.len() > MOST {
            let message = format!("`{name}` takes up to {MOST} values at once; {} were given", several.len());
            let error = ToolError::new(ErrorKind::InvalidParams, message);
            return Err(error.hint("Nothing was sent. Call it for fewer."));
        } else {
            values = several.into_iter().map(|value| Some((name.clone(), value))).collect();
        }
    }
    if values.len() == 1 && companion.is_none() {
        return Ok(ResolvedAction { action, request, notes });
    }
    let mut calls = Vec::new();
    for value in values {
        let mut params = request.params.clone();
        params.extend(value);
        calls.extend(single_calls(tools, &action, params, companion.as_ref(), &request)?);
    }
    // A companion (such as a comment with a change) is only sent if the change succeeded.
    let params = json!({"calls": calls, "continue_on_error": companion.is_none()});
    let params = params.as_object().cloned().unwrap_or_default();
    let batch = ExecuteRequest { action: BATCH.to_owned(), params, fields: None, ..request };
    let number = tools.catalog.number(BATCH);
    let number =
        number.ok_or_else(|| ToolError::new(ErrorKind::Internal, format!("the catalog has no {BATCH}")))?;
    let withheld = tools.catalog.action(number).ok().and_then(|action| tools.withholds(&action));
    if let Some(rule) = withheld {
        return Err(errors::mapping::denied(BATCH, None, &rule, 0));
    }
    resolved::by_number(&tools.catalog, number, &batch, notes)
}

/// The calls for one object: the action, and its companion before or after it.
fn single_calls(
    tools: &Tools,
    action: &Action,
    mut params: Map<String, Value>,
    companion: Option<&Companion>,
    request: &ExecuteRequest,
) -> Result<Vec<Value>, ToolError> {
    let call = |id: &str, params: Map<String, Value>, fields: Option<&Vec<String>>| {
        let mut call = Map::from_iter([
            ("action".to_owned(), json!(id)),
            ("params".to_owned(), escaped(Value::Object(params))),
        ]);
        call.extend(fields.map(|fields| ("fields".to_owned(), json!(fields))));
        Value::Object(call)
    };
    let Some(companion) = companion else {
        return Ok(vec![call(&action.id, params, request.fields.as_ref())]);
    };
    let given = params.shift_remove(&companion.param).unwrap_or_default();
    let other = tools.catalog.get(&companion.action).map_err(|error| errors::internal(&error))?;
    let is_path = |name: &str| {
        let other = other.as_ref().and_then(|other| other.param(name));
        other.is_some_and(|param| param.place == Place::Path)
    };
    let mut others: Map<String, Value> = params
        .iter()
        .filter(|(name, _)| is_path(name) || name.as_str() == TARGET)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    for (name, from) in &companion.takes {
        others.extend(params.get(from).map(|value| (name.clone(), first_line(value))));
    }
    match (&companion.value, given) {
        (Some(name), value) => drop(others.insert(name.clone(), value)),
        (None, Value::Object(fields)) => others.extend(fields),
        (None, _) => {}
    }
    let own = call(&action.id, params, request.fields.as_ref());
    let other = call(&companion.action, others, None);
    Ok(if companion.first { vec![other, own] } else { vec![own, other] })
}

/// The first line of a text: the title of a commit becomes that of its merge request.
fn first_line(value: &Value) -> Value {
    match value.as_str().and_then(|text| text.lines().next()) {
        Some(line) => json!(line),
        None => value.clone(),
    }
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
