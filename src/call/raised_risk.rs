//! Risk and effects that the parameters of one call add to those of its action (`risk.raise` in
//! `catalog/rules.toml`).

use serde_json::{Map, Value};

use crate::catalog::{Action, Json, Raise, Risk, When};
use crate::text::plain_text;

/// Risk of a call of the action with these parameters.
pub fn call_risk(action: &Action, params: &Map<String, Value>) -> Risk {
    let raised = action.raises.iter().filter(|raise| is_raised(raise, params)).map(|raise| raise.risk);
    raised.fold(action.risk, Risk::max)
}

/// Ids of actions whose effects a call has by the values of its parameters.
pub fn added_effects<'a>(
    action: &'a Action,
    params: &Map<String, Value>,
) -> impl Iterator<Item = &'a String> {
    action.raises.iter().filter(|raise| is_raised(raise, params)).flat_map(|raise| &raise.effects)
}

fn is_raised(raise: &Raise, params: &Map<String, Value>) -> bool {
    let mut found = false;
    let (name, rest) = split(&raise.param);
    if let Some(value) = params.get(name) {
        walk(value, rest, &mut |value| found |= matches(&raise.when, value));
    }
    found
}

fn split(path: &str) -> (&str, &str) {
    path.split_once('.').unwrap_or((path, ""))
}

/// Calls `see` with each value at a dotted path; lists are walked.
fn walk(value: &Value, path: &str, see: &mut impl FnMut(&Value)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| walk(item, path, see)),
        Value::Object(fields) if !path.is_empty() => {
            let (name, rest) = split(path);
            if let Some(value) = fields.get(name) {
                walk(value, rest, see);
            }
        }
        value if path.is_empty() => see(value),
        _ => {}
    }
}

fn matches(when: &When, value: &Value) -> bool {
    match when {
        When::Given => !value.is_null(),
        When::AtLeast(least) => number(value).is_none_or(|number| number >= *least),
        When::Is(Json(expected)) => is_same(expected, value),
        When::AnyOf(expected) => expected.iter().any(|Json(expected)| is_same(expected, value)),
    }
}

/// Parses a number, also as text. Other text may be the name of a role, which could be any.
fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// True if GitLab treats the values as equal: text ignoring case, and booleans in every spelling that Grape coerces.
fn is_same(expected: &Value, given: &Value) -> bool {
    let is_true = |text: &str| matches!(text, "true" | "1" | "t" | "on" | "yes" | "y");
    let is_false = |text: &str| matches!(text, "false" | "0" | "f" | "off" | "no" | "n");
    let (expected, given) = (plain_text(expected).to_lowercase(), plain_text(given).trim().to_lowercase());
    match expected.as_str() {
        "true" => is_true(&given),
        "false" => is_false(&given),
        expected => expected == given,
    }
}
