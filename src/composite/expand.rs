//! One call that is several: a list for a parameter of the path, such as `iid: [21, 22]`, runs the action once for each,
//! and a companion's parameter, such as `comment`, adds another action. Both become a batch, so policy, confirmation and
//! the audit see every call.

use serde_json::{Map, Value, json};

use crate::call::{self, TARGET};
use crate::catalog::{self, Action, Names, Place, Words};
use crate::composite::commit_title;
use crate::messages::error::{ErrorKind, ToolError};
use crate::text::{is_digits, pick_fields};
use crate::tools::action_lookup::resolved::{self, ResolvedAction};
use crate::tools::companions::{self, GivenCompanion};
use crate::tools::error_mapping;
use crate::tools::{ExecuteRequest, Tools, action_lookup, prepare};

/// The composite action that runs several calls.
const BATCH: &str = "api.batch";

/// Maximum number of objects, that of the calls of a batch.
const MAX_OBJECTS: usize = 20;

/// An action of the batch with its parameters, and true if it is the one that was called.
type PlannedCall = (String, Map<String, Value>, bool);

/// Returns the call, or the batch of calls for a list of objects.
pub async fn expand(tools: &Tools, resolved: ResolvedAction) -> Result<ResolvedAction, ToolError> {
    let ResolvedAction { action, mut request, mut notes } = resolved;
    let words = tools.catalog.words()?;
    notes.extend(Box::pin(commit_title::resolve(tools, &action, &mut request.params, words)).await?);
    let companions = companions::take_companions(tools, &action, &mut request.params)?;
    if !companions.is_empty() {
        Box::pin(commit_title::require(tools, &action, &request.params, &companions, words)).await?;
        companions::refuse_excluded(&action, &companions, &request.params, words)?;
        request.params = with_own_names(&action, &companions, &request.params, words);
    }
    let values = take_values(&action, &mut request.params)?;
    if values.len() == 1 && companions.is_empty() {
        return Ok(ResolvedAction { action, request, notes });
    }
    let mut objects: Vec<Map<String, Value>> = Vec::new();
    for value in values {
        let params: Map<String, Value> = request.params.clone().into_iter().chain(value).collect();
        refuse_denied(tools, single_calls(tools, &action, params.clone(), &companions)?).await?;
        objects.push(params);
    }
    let mut calls = Vec::new();
    for mut params in objects {
        if !companions.is_empty() {
            resolve_titles(tools, &action, &mut params, &companions).await?;
        }
        for call in single_calls(tools, &action, params, &companions)? {
            // A companion that takes nothing from the list is the same for each object.
            if call.2 || !calls.contains(&call) {
                calls.push(call);
            }
        }
    }
    if let [(id, params, _)] = calls.as_slice() {
        let single = ExecuteRequest { action: id.clone(), params: params.clone(), ..request };
        return by_id(tools, id, &single, notes);
    }
    // A companion (such as a comment with a change) is only sent if the change succeeded.
    let batch = batch_request(calls, companions.is_empty(), request);
    by_id(tools, BATCH, &batch, notes)
}

/// Takes the list of objects out of the parameters: the parameter and the value of each. One alone is put back.
fn take_values(
    action: &Action,
    params: &mut Map<String, Value>,
) -> Result<Vec<Option<(String, Value)>>, ToolError> {
    let Some((given, name, several)) = listed(action, params) else { return Ok(vec![None]) };
    params.shift_remove(&given);
    if let [only] = several.as_slice() {
        params.insert(name, only.clone());
        return Ok(vec![None]);
    }
    if several.is_empty() || several.len() > MAX_OBJECTS {
        let message =
            format!("`{name}` takes up to {MAX_OBJECTS} values at once; {} were given", several.len());
        let error = ToolError::new(ErrorKind::InvalidParams, message);
        return Err(error.hint("Nothing was sent. Call it for fewer."));
    }
    Ok(several.into_iter().map(|value| Some((name.clone(), value))).collect())
}

/// The batch of calls, with the options of the request.
fn batch_request(
    calls: Vec<PlannedCall>,
    continue_on_error: bool,
    request: ExecuteRequest,
) -> ExecuteRequest {
    let call = |(id, params, is_own): PlannedCall| {
        let mut call = Map::from_iter([
            ("action".to_owned(), json!(id)),
            ("params".to_owned(), escaped(Value::Object(params))),
        ]);
        let fields = request.fields.as_ref().filter(|_| is_own);
        call.extend(fields.map(|fields| ("fields".to_owned(), json!(fields))));
        Value::Object(call)
    };
    let params = Map::from_iter([
        ("calls".to_owned(), calls.into_iter().map(call).collect()),
        ("continue_on_error".to_owned(), json!(continue_on_error)),
    ]);
    ExecuteRequest { action: BATCH.to_owned(), params, fields: None, ..request }
}

/// Refuses the whole call where one of its calls is denied, before anything is sent for another one.
async fn refuse_denied(tools: &Tools, calls: Vec<PlannedCall>) -> Result<(), ToolError> {
    for (action, params, _) in calls {
        let request = ExecuteRequest { action, params, ..ExecuteRequest::default() };
        let Ok(resolved) = action_lookup::resolve(tools, &request) else { continue };
        if let Some(denied) = prepare::known_denial(tools, resolved, false).await {
            return Err(denied);
        }
    }
    Ok(())
}

/// The call of another action, which policy may withhold.
fn by_id(
    tools: &Tools,
    id: &str,
    request: &ExecuteRequest,
    notes: Vec<String>,
) -> Result<ResolvedAction, ToolError> {
    let number = tools.catalog.number(id);
    let number =
        number.ok_or_else(|| ToolError::new(ErrorKind::Internal, format!("the catalog has no {id}")))?;
    let withheld = tools.catalog.action(number).ok().and_then(|action| tools.withholds(&action));
    if let Some(rule) = withheld {
        return Err(error_mapping::denied(tools, id, None, &rule, 0));
    }
    resolved::by_number(&tools.catalog, number, request, notes)
}

/// Renames the parameters of the path, and those that companions take, to their own names: companions find them by
/// those.
fn with_own_names(
    action: &Action,
    companions: &[GivenCompanion],
    params: &Map<String, Value>,
    words: &Words,
) -> Map<String, Value> {
    let is_shared = |name: &str| {
        action.param(name).is_some_and(|param| param.place == Place::Path)
            || companions.iter().any(|(companion, _)| companion.takes.values().any(|from| from == name))
    };
    let own = |given: &str| {
        let param = call::param_named(action, given, words).map(|param| param.name.clone());
        param.or_else(|| own_name(action, given)).filter(|name| is_shared(name))
    };
    let mut renamed = Map::new();
    for (given, value) in params {
        let name = own(given).filter(|name| !params.contains_key(name) && !renamed.contains_key(name));
        renamed.insert(name.unwrap_or_else(|| given.clone()), value.clone());
    }
    renamed
}

/// True if a parameter of the path has a title in place of the number.
fn is_titled(action: &Action, params: &Map<String, Value>) -> bool {
    let has_title = |value: &Value| value.as_str().is_some_and(|text| !is_digits(text.trim()));
    action.params.iter().any(|param| {
        param.names.is_some_and(Names::is_titled)
            && param.place == Place::Path
            && params.get(&param.name).is_some_and(has_title)
    })
}

/// Replaces titles by their numbers: the action may change a title that a companion after it needs.
async fn resolve_titles(
    tools: &Tools,
    action: &Action,
    params: &mut Map<String, Value>,
    companions: &[GivenCompanion],
) -> Result<(), ToolError> {
    if !is_titled(action, params) {
        return Ok(());
    }
    let located = pick_fields(params, |name| identifies(action, name));
    let request = ExecuteRequest { action: action.id.clone(), params: located, ..ExecuteRequest::default() };
    let resolved = prepare::resolve_params(tools, action, &request).await;
    let resolved = resolved.map_err(|error| with_params(error, action, params, companions))?;
    // A URL in place of the number names the project too.
    params.retain(|name, _| !identifies(action, name));
    params.extend(resolved.into_iter().filter(|(name, _)| identifies(action, name)));
    Ok(())
}

/// The error, whose corrected call of the action has all parameters of the call.
fn with_params(
    mut error: ToolError,
    action: &Action,
    params: &Map<String, Value>,
    companions: &[GivenCompanion],
) -> ToolError {
    let arguments = error.fix.as_mut().and_then(|fix| fix.arguments.as_object_mut());
    let arguments = arguments.filter(|arguments| arguments.get("action") == Some(&json!(action.id)));
    if let Some(Value::Object(fixed)) = arguments.and_then(|arguments| arguments.get_mut("params")) {
        fixed.extend(pick_fields(params, |name| !identifies(action, name)));
        fixed.extend(companions.iter().map(|(companion, value)| (companion.param.clone(), value.clone())));
    }
    error
}

/// The calls for one object: the action, and its companions before or after it. An update that only has companions is
/// left out.
fn single_calls(
    tools: &Tools,
    action: &Action,
    params: Map<String, Value>,
    companions: &[GivenCompanion],
) -> Result<Vec<PlannedCall>, ToolError> {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (companion, value) in companions {
        let other = tools.catalog.get(&companion.action)?;
        if companion.instead {
            let mut params = params.clone();
            // A flag only chooses the other action.
            if other.is_some_and(|other| other.param(&companion.param).is_some()) {
                params.insert(companion.param.clone(), value.clone());
            }
            return Ok(vec![(companion.action.clone(), params, true)]);
        }
        let calls = if companion.first { &mut before } else { &mut after };
        calls.push((
            companion.action.clone(),
            companions::companion_params(other.as_ref(), companion, value, &params),
            false,
        ));
    }
    let mut calls = before;
    let changes = params.keys().any(|name| !identifies(action, name));
    if changes || companions.is_empty() || action.verb() != "update" {
        calls.push((action.id.clone(), params, true));
    }
    calls.extend(after);
    Ok(calls)
}

/// True for a parameter that identifies the object, and does not change it.
fn identifies(action: &Action, given: &str) -> bool {
    let is_path = action.param(given).is_some_and(|param| param.place == Place::Path);
    is_path || given == TARGET || own_name(action, given).is_some()
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

/// The name of the path's parameter, or of the filter that names one object, that is given: itself, its plural, an `iid` by
/// another name (`issue_iid`, `iids`), or the number in a project of what an id of the path names (`issue_iid` beside
/// `issue_id`).
fn own_name(action: &Action, given: &str) -> Option<String> {
    let names_one =
        |name: &str| catalog::kinds().names_one.iter().any(|row| *row == format!("{}:{name}", action.id));
    let is_path = |name: &str| {
        action.param(name).is_some_and(|param| param.place == Place::Path && !param.kind.many)
            || names_one(name)
    };
    let singular = given.trim_end_matches('s');
    if singular.strip_suffix("_iid").is_some_and(|noun| is_path(&format!("{noun}_id"))) {
        return Some(singular.to_owned());
    }
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
