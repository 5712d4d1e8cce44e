//! Companions of a call: other actions that a parameter such as `comment` adds to it.

use serde_json::{Map, Value, json};

use crate::call::{self, TARGET};
use crate::catalog::{Action, Base, Companion, Place, Words};
use crate::messages::error::{ErrorKind, ToolError};
use crate::text::pick_fields;
use crate::tools::state::Tools;

/// A companion whose parameter a call has, with the value.
pub type GivenCompanion = (Companion, Value);

/// The companions whose parameters a call has, under any spelling.
pub fn given_companions(
    tools: &Tools,
    action: &Action,
    params: &Map<String, Value>,
) -> Result<Vec<(String, Companion)>, ToolError> {
    if action.companions.is_empty() {
        return Ok(Vec::new());
    }
    let words = tools.catalog.words()?;
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
pub fn take_companions(
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
    for (name, companion) in &given {
        let is_flag = action.param(&companion.param).is_some_and(|param| param.kind.base == Base::Boolean);
        let is_truth = |value: &Value| {
            value.is_boolean() || value.as_str().is_some_and(|text| text.eq_ignore_ascii_case("true"))
        };
        if is_flag && !params.get(name).is_some_and(is_truth) {
            let message = format!("{}: `{name}` is true or false. Nothing was sent", action.id);
            return Err(ToolError::new(ErrorKind::InvalidParams, message));
        }
    }
    let taken = given.into_iter().map(|(given, companion)| {
        let value = params.shift_remove(&given).unwrap_or_default();
        (companion, value)
    });
    Ok(taken.collect())
}

/// Refuses a companion together with a parameter that it excludes.
pub fn refuse_excluded(
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

/// True for `false`, also as text.
fn is_false(value: &Value) -> bool {
    *value == Value::Bool(false) || value.as_str().is_some_and(|text| text.eq_ignore_ascii_case("false"))
}

/// The parameters of a companion: those of the path that it shares with the call, those that it takes from it, and its
/// own.
pub fn companion_params(
    other: Option<&Action>,
    companion: &Companion,
    value: &Value,
    params: &Map<String, Value>,
) -> Map<String, Value> {
    let is_path = |name: &str| {
        other.and_then(|other| other.param(name)).is_some_and(|param| param.place == Place::Path)
    };
    let mut others = pick_fields(params, |name| is_path(name) || name == TARGET);
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
