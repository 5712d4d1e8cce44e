//! Values by which GitLab takes away what a parameter of an update holds, for `null` and the words that say the same.

use serde_json::{Map, Value, json};

use super::param_names::param_named;
use crate::catalog::{self, Action, Base, Names, Param, Place, Risk, Words};
use crate::text::plain_text;

/// The word by which GitLab takes away the object that a parameter names, and the word for `null` in a text.
const NONE: &str = "none";
const NULL: &str = "null";

/// True if `null` takes away the field of an object, such as the milestone in a widget of a work item.
pub fn is_by_null(object: &str, field: &str) -> bool {
    cleared_field(&format!("{object}.{field}")).is_some()
}

/// The value of a field of an object (`weightWidget.weight`) for `null`, `none` or `"null"`; none if GitLab has none for it.
pub fn field_value(param: &Param, value: &Value) -> Option<Value> {
    cleared_field(&param.name).filter(|_| is_nothing(param, value))
}

fn cleared_field(name: &str) -> Option<Value> {
    let kinds = catalog::kinds();
    let listed = |names: &[String]| names.iter().any(|known| known == name);
    if listed(&kinds.cleared_by_null) {
        return Some(Value::Null);
    }
    listed(&kinds.cleared_by_empty_list).then(|| json!([]))
}

/// True for `null`, and for the words for it where they can be no text of one's own.
fn is_nothing(param: &Param, value: &Value) -> bool {
    let word = |text: &str| [NONE, NULL].iter().any(|known| text.trim().eq_ignore_ascii_case(known));
    let is_text =
        param.kind.base == Base::String && param.names.is_none() && !catalog::is_called_a_date(&param.name);
    match value {
        Value::Null => true,
        Value::String(text) => !is_text && word(text),
        _ => false,
    }
}

/// True if `null` is the value by which GitLab clears a parameter of this action.
pub fn is_cleared_by_null(action: &Action, param: &Param) -> bool {
    cleared(action, param) == Some(Value::Null)
}

/// The value by which GitLab clears a parameter of an update; none if it has no such value.
fn cleared(action: &Action, param: &Param) -> Option<Value> {
    if let Some(value) = cleared_field(&format!("{}:{}", action.id, param.name)) {
        return Some(value);
    }
    if param.required || param.place != Place::Body || param.gid.is_some() {
        return None;
    }
    if catalog::kinds().cleared_by_empty.contains(&param.name) {
        return Some(match param.kind.base {
            _ if param.kind.many => json!([]),
            // Grape reads an empty text as no time, and the type here has none.
            Base::DateTime => Value::Null,
            _ => json!(""),
        });
    }
    let takes_none = |names: Names| {
        let words = catalog::resolver(names).map(|resolver| resolver.words.as_slice()).unwrap_or_default();
        words.iter().any(|word| word == NONE)
    };
    (!param.kind.many && param.names.is_some_and(takes_none)).then(|| json!(NONE))
}

/// Replaces each `null` of an update by the value that takes the parameter away. Returns the names of those that have
/// none, which are not sent; in a read or a creation `null` is the same as nothing.
pub fn clear_nulls(
    action: &Action,
    params: &mut Map<String, Value>,
    words: &Words,
    understood: &mut Vec<String>,
) -> Vec<String> {
    if action.risk == Risk::Read || !action.verb().starts_with("update") {
        return Vec::new();
    }
    let mut unsent = Vec::new();
    for (given, value) in params.iter_mut() {
        let param = param_named(action, given, words);
        let is_nothing = param.is_some_and(|param| !param.kind.many && is_nothing(param, value));
        if !value.is_null() && !is_nothing {
            continue;
        }
        match param.and_then(|param| cleared(action, param)) {
            // The word that the parameter itself takes.
            Some(empty) if *value == empty => {}
            Some(empty) => {
                understood.push(format!("`{given}: {}` as {empty}, which takes it away", plain_text(value)));
                *value = empty;
            }
            None if value.is_null() => unsent.push(given.clone()),
            None => {}
        }
    }
    unsent
}
