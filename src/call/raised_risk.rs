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

/// The action that creates labels, if a raw request names some: GitLab creates those that it does not know. Those of an action
/// are compared with the existing ones before it is sent.
pub fn created_labels(action: &Action, params: &Map<String, Value>) -> Option<String> {
    let rule = action.label_names.as_ref()?;
    let mut adding = rule.params.iter().filter(|name| !rule.removed.contains(name));
    let names_some =
        |value: &Value| !is_blank(value) && value.as_array().is_none_or(|names| !names.is_empty());
    adding.any(|name| params.get(name).is_some_and(names_some)).then(|| rule.creates.clone())
}

fn is_raised(raise: &Raise, params: &Map<String, Value>) -> bool {
    let mut found = false;
    let (name, rest) = split(&raise.param);
    if let Some(value) = params.get(name) {
        visit_values(value, rest, &mut |value| found |= raises_by(raise, value));
    }
    found
}

fn raises_by(raise: &Raise, value: &Value) -> bool {
    matches(&raise.when, value) || (raise.risk > Risk::Write && may_match(&raise.when, value))
}

/// True for a value of a raw request that GitLab may read as another: null, for which GitLab takes a default that may be
/// any, and a number in a spelling of Ruby's (`Integer("+30")`, `030`, `3_0`).
fn may_match(when: &When, value: &Value) -> bool {
    let is_open = |expected: &Value| {
        (is_blank(value) && !expected.is_boolean()) || (expected.is_number() && !is_plain_number(value))
    };
    match when {
        When::Given | When::AtLeast(_) => false,
        When::Is(Json(expected)) => is_open(expected),
        When::AnyOf(expected) => expected.iter().any(|Json(expected)| is_open(expected)),
    }
}

/// True for a whole number as JSON and people write it.
fn is_plain_number(value: &Value) -> bool {
    let text = plain_text(value);
    text.trim().parse::<i64>().is_ok_and(|number| number.to_string() == text.trim())
}

/// A value with the fields and items first that raise the risk of a call: whoever sees its beginning sees them. `path` is
/// where the parameters have it.
pub fn raised_first(action: &Action, path: &str, value: Value) -> Value {
    let raises = |path: &str, value: &Value| {
        action.raises.iter().any(|raise| {
            let rest = match path {
                "" => Some(raise.param.as_str()),
                path => raise.param.strip_prefix(path).and_then(|rest| rest.strip_prefix('.')),
            };
            let mut found = raise.param == path && raises_by(raise, value);
            if let Some(rest) = rest {
                visit_values(value, rest, &mut |value| found |= raises_by(raise, value));
            }
            found
        })
    };
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Array(items) => {
            let items = items.into_iter().map(|item| raised_first(action, path, item));
            let (first, rest): (Vec<Value>, Vec<Value>) = items.partition(|item| raises(path, item));
            first.into_iter().chain(rest).collect()
        }
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, field)| {
                let field = raised_first(action, &below(&name), field);
                (name, field)
            });
            let (first, rest): (Vec<_>, Vec<_>) =
                fields.partition(|(name, field)| raises(&below(name), field));
            Value::Object(first.into_iter().chain(rest).collect())
        }
        other => other,
    }
}

fn split(path: &str) -> (&str, &str) {
    path.split_once('.').unwrap_or((path, ""))
}

/// Calls `see` with each value at a dotted path; lists are walked. An object that is null has no field set.
pub fn visit_values(value: &Value, path: &str, see: &mut impl FnMut(&Value)) {
    match value {
        value if is_blank(value) => see(value),
        // A list that a change empties.
        Value::Array(items) if items.is_empty() && path.is_empty() => see(value),
        Value::Array(items) => items.iter().for_each(|item| visit_values(item, path, see)),
        Value::Object(fields) if !path.is_empty() => {
            let (name, rest) = split(path);
            if let Some(value) = fields.get(name) {
                visit_values(value, rest, see);
            }
        }
        value if path.is_empty() => see(value),
        _ => {}
    }
}

fn matches(when: &When, value: &Value) -> bool {
    match when {
        When::Given => true,
        When::AtLeast(least) => number(value).is_none_or(|number| number >= *least),
        When::Is(Json(expected)) => is_same(expected, value),
        When::AnyOf(expected) => expected.iter().any(|Json(expected)| is_same(expected, value)),
    }
}

/// Parses a number, also as text. Other text may be the name of a role, which could be any.
fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// True for null and blank text, which Grape passes on as null where the type is no text.
fn is_blank(value: &Value) -> bool {
    value.as_str().map_or(value.is_null(), |text| text.trim().is_empty())
}

/// True if GitLab treats the values as equal: text ignoring case, and booleans in every spelling that Grape coerces. A
/// flag that is null or blank is off.
fn is_same(expected: &Value, given: &Value) -> bool {
    let is_true = |text: &str| matches!(text, "true" | "1" | "t" | "on" | "yes" | "y");
    let is_false = |text: &str| matches!(text, "false" | "0" | "f" | "off" | "no" | "n");
    let given = if is_blank(given) { String::new() } else { plain_text(given).trim().to_lowercase() };
    let expected = plain_text(expected).to_lowercase();
    match expected.as_str() {
        "true" => is_true(&given),
        "false" => given.is_empty() || is_false(&given),
        expected => expected == given,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_flag_that_is_null_or_blank_is_off() {
        let off = When::Is(Json(json!(false)));
        for value in [json!(null), json!(""), json!(" \t\n"), json!(false), json!("Off"), json!(0)] {
            assert!(matches(&off, &value), "{value}");
            assert!(!matches(&When::Is(Json(json!(true))), &value), "{value}");
        }
        assert!(!matches(&off, &json!("on")) && !matches(&off, &json!("elsewhere")));
    }

    #[test]
    fn a_value_that_may_be_read_as_a_dangerous_one_raises_the_risk() {
        let raise =
            |when: When, risk: Risk| Raise { param: "level".to_owned(), when, risk, effects: Vec::new() };
        let levels = || When::AnyOf(vec![Json(json!(0)), Json(json!(30))]);
        let roles = || When::AnyOf(vec![Json(json!("developer"))]);
        let of = |value: &Value| Map::from_iter([("level".to_owned(), value.clone())]);
        for value in
            [json!("+30"), json!("030"), json!("3_0"), json!(30.0), json!("00"), json!(" +0"), json!(null)]
        {
            assert!(is_raised(&raise(levels(), Risk::Grant), &of(&value)), "{value}");
            assert!(!is_raised(&raise(levels(), Risk::Write), &of(&value)), "{value}");
        }
        assert!(is_raised(&raise(roles(), Risk::Grant), &of(&json!(null))));
        for (value, when) in [(json!(40), levels()), (json!("40 "), levels()), (json!("maintainer"), roles())]
        {
            assert!(!is_raised(&raise(when, Risk::Grant), &of(&value)), "{value}");
        }
    }

    #[test]
    fn null_in_place_of_an_object_is_null_in_its_fields() {
        let raise = |when: When| Raise {
            param: "defaults.owner_required".to_owned(),
            when,
            risk: Risk::Grant,
            effects: Vec::new(),
        };
        let of = |defaults: Value| Map::from_iter([("defaults".to_owned(), defaults)]);
        for defaults in
            [json!(null), json!(""), json!({"owner_required": null}), json!([{"owner_required": ""}])]
        {
            assert!(is_raised(&raise(When::Is(Json(json!(false)))), &of(defaults.clone())), "{defaults}");
            assert!(is_raised(&raise(When::Given), &of(defaults.clone())), "{defaults}");
        }
        for defaults in [json!({}), json!({"owner_required": true}), json!({"other": null})] {
            assert!(!is_raised(&raise(When::Is(Json(json!(false)))), &of(defaults.clone())), "{defaults}");
        }
    }
}
