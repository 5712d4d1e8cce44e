//! Forms in which callers write parameters, as the parameters of the action: names in brackets as GitLab's documentation
//! writes them, negated names, and `null` for what is to be taken away.

use serde_json::{Map, Value, json};

use super::noun::folded;
use super::param_names::param_named;
use super::{Fault, encoded};
use crate::catalog::{self, Action, Base, Names, Param, Place, Risk, Words};

/// The parameter that holds negated filters (<https://docs.gitlab.com/api/issues/#list-issues>).
const NOT: &str = "not";

/// Moves `not[labels]`, `not.labels` and `not_labels` into the parameter that holds them, unless it has another value for
/// the name. Says in `understood` which.
pub fn nest(
    action: &Action,
    params: Map<String, Value>,
    words: &Words,
    understood: &mut Vec<String>,
) -> Map<String, Value> {
    let mut nested = Map::new();
    let mut moved = Vec::new();
    for (given, value) in params {
        match parts(action, &given, words) {
            Some((outer, inner)) if !value.is_null() => moved.push((given, outer, inner, value)),
            _ => drop(nested.insert(given, value)),
        }
    }
    for (given, outer, inner, value) in moved {
        let held = nested.entry(outer.clone()).or_insert_with(|| json!({}));
        if held.is_null() {
            *held = json!({});
        }
        if let Some(Ok(Value::Object(object))) = held.as_str().map(serde_json::from_str) {
            *held = Value::Object(object);
        }
        match held.as_object_mut().filter(|held| !held.contains_key(&inner)) {
            Some(held) => {
                understood.push(format!("`{given}` as `{outer}.{inner}`"));
                held.insert(inner, value);
            }
            None => drop(nested.insert(given, value)),
        }
    }
    nested
}

/// Joins what other servers take in two, the type and the number (`noteable_type` and `noteable_iid`), into the reference
/// that the parameter of the global id takes: `#21`, `!5`.
pub fn join_reference(
    action: &Action,
    params: &mut Map<String, Value>,
    words: &Words,
    understood: &mut Vec<String>,
) {
    for param in action.params.iter().filter(|param| param.gid.is_some() && !params.contains_key(&param.name))
    {
        let stem = folded(&param.name);
        let Some(stem) = stem.strip_suffix("id").filter(|stem| !stem.is_empty()) else { continue };
        let given = |ending: &str| {
            let is_it = |name: &&String| {
                folded(name).strip_prefix(stem) == Some(ending) && param_named(action, name, words).is_none()
            };
            params.keys().find(is_it).cloned()
        };
        let (Some(kind), Some(number)) = (given("type"), given("iid")) else { continue };
        let word = params.get(&kind).and_then(Value::as_str).map(folded).unwrap_or_default();
        let row = catalog::kinds().kinds.iter().find(|row| folded(&row.name) == word);
        let reference = |row: &catalog::KindRow| match params.get(&number)? {
            Value::String(text) => Some(format!("{}{text}", row.sigil?)),
            Value::Number(number) => Some(format!("{}{number}", row.sigil?)),
            _ => None,
        };
        let Some(reference) = row.and_then(reference) else { continue };
        understood.push(format!("`{kind}` and `{number}` as `{}: {reference}`", param.name));
        params.shift_remove(&kind);
        params.shift_remove(&number);
        params.insert(param.name.clone(), json!(reference));
        return;
    }
}

/// The parameter and its field that a name is of.
fn parts(action: &Action, given: &str, words: &Words) -> Option<(String, String)> {
    if action.param(given).is_some() {
        return None;
    }
    let bare = given.strip_suffix("[]").unwrap_or(given);
    let in_brackets = || bare.strip_suffix(']')?.split_once('[');
    let negated = || Some((NOT, bare.strip_prefix(NOT)?.strip_prefix('_')?));
    let is_object = |param: &&Param| param.kind.base == Base::Object && !param.kind.many;
    let Some((outer, inner)) = in_brackets().or_else(|| bare.split_once('.')).or_else(negated) else {
        // The field of the only object that has it: `environment_scope` of `filter`.
        let has = |param: &&Param| param.fields.iter().any(|field| field.name == bare) && param.name != NOT;
        let mut holders = action.params.iter().filter(is_object).filter(has);
        let only = holders
            .next()
            .filter(|_| holders.next().is_none() && param_named(action, given, words).is_none())?;
        return Some((only.name.clone(), bare.to_owned()));
    };
    let param = action.param(outer).filter(is_object)?;
    let field = param.fields.iter().find(|field| field.name == inner)?;
    Some((param.name.clone(), field.name.clone()))
}

/// The value by which GitLab clears a parameter of an update; none if it has no such value.
pub fn cleared(param: &Param) -> Option<Value> {
    if param.required || param.place != Place::Body || param.gid.is_some() {
        return None;
    }
    if catalog::kinds().cleared_by_empty.contains(&param.name) {
        return Some(if param.kind.many { json!([]) } else { json!("") });
    }
    let takes_none = |names: Names| {
        let words = catalog::resolver(names).map(|resolver| resolver.words.as_slice()).unwrap_or_default();
        words.iter().any(|word| word == NONE)
    };
    (!param.kind.many && param.names.is_some_and(takes_none)).then(|| json!(NONE))
}

/// The word that takes away what a parameter names.
const NONE: &str = "none";

/// Replaces each `null` of an update by the value that takes the parameter away. Returns the names of those that have
/// none, which are not sent; in a read or a creation `null` is the same as nothing.
pub fn clear_nulls(
    action: &Action,
    params: &mut Map<String, Value>,
    words: &Words,
    understood: &mut Vec<String>,
) -> Vec<String> {
    let is_update = action.risk != Risk::Read && action.verb().starts_with("update");
    let mut unsent = Vec::new();
    for (given, value) in params.iter_mut().filter(|(_, value)| value.is_null() && is_update) {
        match param_named(action, given, words).and_then(cleared) {
            Some(empty) => {
                understood.push(format!("`{given}: null` as {empty}, which takes it away"));
                *value = empty;
            }
            None => unsent.push(given.clone()),
        }
    }
    unsent
}

/// The fault of a content that is said to be Base64 and is not: GitLab would store what it can decode of it. Base64 is
/// read as GitLab reads it, with line ends.
pub fn not_base64(action: &Action, params: &Map<String, Value>) -> Option<Fault> {
    let is_wrong = |fields: &Map<String, Value>| {
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let is_encoded = text("encoding").is_some_and(|encoding| encoding.eq_ignore_ascii_case("base64"));
        is_encoded && text("content").is_some_and(|content| encoded::decode(content).is_none())
    };
    let fault = |name: String| Fault::WrongType {
        name,
        given: "what is not Base64".to_owned(),
        expected: "Base64, as `encoding` says".to_owned(),
    };
    if is_wrong(params) {
        return Some(fault("content".to_owned()));
    }
    let lists =
        action.params.iter().filter_map(|param| Some((&param.name, params.get(&param.name)?.as_array()?)));
    lists.into_iter().find_map(|(name, items)| {
        let at = items.iter().position(|item| item.as_object().is_some_and(is_wrong))?;
        Some(fault(format!("{name}[{at}].content")))
    })
}
