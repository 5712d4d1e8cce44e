//! One call that is several: a list for a parameter of the path, such as `iid: [21, 22]`, runs the action once for each,
//! and a companion's parameter, such as `comment`, adds another action. Both become a batch, so policy, confirmation and
//! the audit see every call.

use serde_json::{Map, Value, json};

use crate::call::{self, TARGET};
use crate::catalog::{Action, Companion, Names, Place, Words};
use crate::text::is_digits;
use crate::tools::action_lookup::resolved::{self, ResolvedAction};
use crate::tools::errors::{self, ErrorKind, ToolError};
use crate::tools::state::Tools;
use crate::tools::types::ExecuteRequest;

/// The composite action that runs several calls.
const BATCH: &str = "api.batch";

/// Maximum number of objects, that of the calls of a batch.
const MOST: usize = 20;

/// A companion whose parameter a call has, with the value.
type GivenCompanion = (Companion, Value);

/// An action of the batch with its parameters, and true if it is the one that was called.
type PlannedCall = (String, Map<String, Value>, bool);

/// Returns the call, or the batch of calls for a list of objects.
pub fn expand(tools: &Tools, resolved: ResolvedAction) -> Result<ResolvedAction, ToolError> {
    let ResolvedAction { action, mut request, notes } = resolved;
    let companions = take_companions(tools, &action, &mut request.params)?;
    if !companions.is_empty() {
        let words = tools.catalog.words().map_err(|error| errors::internal(&error))?;
        refuse_excluded(&action, &companions, &request.params, words)?;
        request.params = with_own_names(&action, &companions, &request.params, words);
    }
    let listed = listed(&action, &request.params);
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
    if values.len() == 1 && companions.is_empty() {
        return Ok(ResolvedAction { action, request, notes });
    }
    let mut calls = Vec::new();
    for value in values {
        let mut params = request.params.clone();
        params.extend(value);
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
    let calls: Vec<Value> = calls
        .into_iter()
        .map(|(id, params, is_own)| {
            let mut call = Map::from_iter([
                ("action".to_owned(), json!(id)),
                ("params".to_owned(), escaped(Value::Object(params))),
            ]);
            let fields = request.fields.as_ref().filter(|_| is_own);
            call.extend(fields.map(|fields| ("fields".to_owned(), json!(fields))));
            Value::Object(call)
        })
        .collect();
    // A companion (such as a comment with a change) is only sent if the change succeeded.
    let params = json!({"calls": calls, "continue_on_error": companions.is_empty()});
    let params = params.as_object().cloned().unwrap_or_default();
    let batch = ExecuteRequest { action: BATCH.to_owned(), params, fields: None, ..request };
    by_id(tools, BATCH, &batch, notes)
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
        return Err(errors::mapping::denied(id, None, &rule, 0));
    }
    resolved::by_number(&tools.catalog, number, request, notes)
}

/// The companions whose parameters a call has, under any spelling.
pub fn given_companions(
    tools: &Tools,
    action: &Action,
    params: &Map<String, Value>,
) -> Result<Vec<(String, Companion)>, ToolError> {
    if action.companions.is_empty() {
        return Ok(Vec::new());
    }
    let words = tools.catalog.words().map_err(|error| errors::internal(&error))?;
    Ok(params
        .iter()
        .filter_map(|(given, value)| {
            let param = call::param_named(action, given, words)?;
            let companion = action.companions.iter().find(|companion| companion.param == param.name)?;
            companion.is_asked_by(value).then(|| (given.clone(), companion.clone()))
        })
        .collect())
}

/// Takes the parameters of companions out of a call.
fn take_companions(
    tools: &Tools,
    action: &Action,
    params: &mut Map<String, Value>,
) -> Result<Vec<GivenCompanion>, ToolError> {
    let given = given_companions(tools, action, params)?;
    for (at, (name, companion)) in given.iter().enumerate() {
        let earlier = given.iter().take(at).find(|(_, earlier)| earlier.param == companion.param);
        if let Some((earlier, _)) = earlier {
            let message = format!(
                "{}: `{earlier}` and `{name}` are both the parameter `{}`",
                action.id, companion.param
            );
            let error = ToolError::new(ErrorKind::InvalidParams, message);
            return Err(error.hint(format!("Nothing was sent. Give only `{}`.", companion.param)));
        }
    }
    let taken = given.into_iter().map(|(given, companion)| {
        let value = params.shift_remove(&given).unwrap_or_default();
        (companion, value)
    });
    Ok(taken.collect())
}

/// Refuses a companion together with a parameter that it excludes.
fn refuse_excluded(
    action: &Action,
    companions: &[GivenCompanion],
    params: &Map<String, Value>,
    words: &Words,
) -> Result<(), ToolError> {
    let is_on = |value: &Value| !value.is_null() && !is_false(value);
    for (companion, _) in companions {
        let excluded = params.iter().find_map(|(given, value)| {
            let param = call::param_named(action, given, words)?;
            (companion.excludes.contains(&param.name) && is_on(value)).then_some(given)
        });
        if let Some(given) = excluded {
            let message = format!(
                "{}: `{given}` cannot be combined with `{}`, which calls {} for real",
                action.id, companion.param, companion.action
            );
            let hint = format!(
                "Nothing was sent. Leave out `{given}`, or leave out `{}` and call {} yourself.",
                companion.param, companion.action
            );
            return Err(ToolError::new(ErrorKind::InvalidParams, message).hint(hint));
        }
    }
    Ok(())
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

/// True for `false`, also as text.
fn is_false(value: &Value) -> bool {
    *value == Value::Bool(false) || value.as_str().is_some_and(|text| text.eq_ignore_ascii_case("false"))
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

/// The calls for one object: the action, and its companions before or after it. An update that only has companions is
/// left out.
fn single_calls(
    tools: &Tools,
    action: &Action,
    params: Map<String, Value>,
    companions: &[GivenCompanion],
) -> Result<Vec<PlannedCall>, ToolError> {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    // Each call looks the title up, which the action may change: the action is last.
    let is_last = is_titled(action, &params);
    for (companion, value) in companions {
        let other = tools.catalog.get(&companion.action).map_err(|error| errors::internal(&error))?;
        if companion.instead {
            let mut params = params.clone();
            // A flag only chooses the other action.
            if other.is_some_and(|other| other.param(&companion.param).is_some()) {
                params.insert(companion.param.clone(), value.clone());
            }
            return Ok(vec![(companion.action.clone(), params, true)]);
        }
        let calls = if companion.first || is_last { &mut before } else { &mut after };
        calls.push((
            companion.action.clone(),
            companion_params(other.as_ref(), companion, value, &params),
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

/// The parameters of a companion: those of the path that it shares with the call, those that it takes from it, and its
/// own.
fn companion_params(
    other: Option<&Action>,
    companion: &Companion,
    value: &Value,
    params: &Map<String, Value>,
) -> Map<String, Value> {
    let is_path = |name: &str| {
        other.and_then(|other| other.param(name)).is_some_and(|param| param.place == Place::Path)
    };
    let mut others: Map<String, Value> = params
        .iter()
        .filter(|(name, _)| is_path(name) || name.as_str() == TARGET)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    for (name, from) in &companion.takes {
        others.extend(params.get(from).map(|value| (name.clone(), first_line(value))));
    }
    match (&companion.value, value) {
        (Some(name), value) => drop(others.insert(name.clone(), value.clone())),
        (None, Value::Object(fields)) => others.extend(fields.clone()),
        (None, _) => {}
    }
    others
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
