//! Items of composite actions. Each is checked by itself, so that a wrong item does not stop the others. Other
//! spellings of their fields and types are accepted.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::noun::folded;
use super::param_names::field_named;
use super::{Fault, coerce};
use crate::catalog::{self, Action, Base, Param, Risk};
use crate::text::{is_digits, plain_text};

/// Name of the parameter of composite actions that holds their items.
const ITEMS: &str = "items";
/// Names of the parameters whose items have separate results.
const WITH_RESULTS: [&str; 2] = [ITEMS, "files"];
/// Name of the parameter that names items by reference alone.
const TARGETS: &str = "targets";

/// Items with the catalog's names and types, and the fault of each wrong item by its index. A wrong item is kept as
/// given.
#[derive(Debug)]
pub struct Fitted {
    pub value: Value,
    pub faults: BTreeMap<usize, Fault>,
}

/// Makes the fields of one item that were given without `items` an item. Beside the items of a read, they are fields of
/// each item that has none. Fields of the items that the action itself takes stay.
pub fn wrap_single(action: &Action, params: &mut Map<String, Value>, understood: &mut Vec<String>) {
    let Some(items) = list_of_items(action) else { return };
    if params.contains_key(TARGETS) {
        return;
    }
    // A list in place of one value is a list of items, by another name.
    let takes = |name: &str, value: &Value| {
        let field = field_named(items, name).map(|field| field.kind.many);
        field.map_or_else(|| reference(items, name, value).is_some(), |many| many || !value.is_array())
    };
    let given = params.iter().filter(|(name, value)| action.param(name).is_none() && takes(name, value));
    let names: Vec<String> = given.map(|(name, _)| name.clone()).collect();
    let has_items = params.contains_key(&items.name);
    let is_list = params.get(&items.name).is_some_and(Value::is_array);
    if names.is_empty() || (has_items && !(is_list && action.risk == Risk::Read)) {
        return;
    }
    let mut fields = || -> Map<String, Value> {
        names.iter().filter_map(|name| Some((name.clone(), params.shift_remove(name)?))).collect()
    };
    if !has_items {
        let item = fields();
        understood.push(format!("{} as one item of `{}`", names.join(", "), items.name));
        params.insert(items.name.clone(), json!([item]));
        return;
    }
    let fields = fields_respelled(items, &fields());
    if let Some(Value::Array(given)) = params.get_mut(&items.name) {
        understood.push(format!("{} as of each item of `{}`", names.join(", "), items.name));
        for item in given {
            *item = respelled(items, item);
            let Value::Object(own) = item else { continue };
            for (name, value) in &fields {
                own.entry(name).or_insert_with(|| value.clone());
            }
        }
    }
}

/// True if the items of an action are files of a repository, each at a revision of its own.
pub fn are_files(action: &Action) -> bool {
    let has = |items: &Param, name: &str| items.fields.iter().any(|field| field.name == name);
    list_of_items(action).is_some_and(|items| has(items, "path") && has(items, "ref"))
}

/// The parameter of a composite action that holds its items: `items`, or the only list of objects that it requires.
fn list_of_items(action: &Action) -> Option<&Param> {
    let holds_objects =
        |param: &&Param| param.kind.many && param.kind.base == Base::Object && !param.fields.is_empty();
    action.plan.as_ref()?;
    action.param(ITEMS).filter(|param| !param.fields.is_empty()).or_else(|| {
        let mut lists = action.params.iter().filter(|param| param.required).filter(holds_objects);
        lists.next().filter(|_| lists.next().is_none())
    })
}

/// Checks the items of a composite action's parameter. None if the parameter has no items.
pub fn fit(
    action: &Action,
    param: &Param,
    given: &Value,
    understood: &mut Vec<String>,
) -> Result<Option<Fitted>, Fault> {
    let has_fields = param.kind.many && param.kind.base == Base::Object && !param.fields.is_empty();
    let Some(items) = given.as_array().filter(|_| action.plan.is_some() && has_fields) else {
        return Ok(None);
    };
    let mut fitted = Vec::new();
    let mut faults = BTreeMap::new();
    for (place, item) in items.iter().enumerate() {
        let mut notes = Vec::new();
        match coerce::coerce_one(param, respelled(param, item), &mut notes) {
            Ok(item) => {
                fitted.push(item);
                understood.extend(notes);
            }
            Err(fault) if WITH_RESULTS.contains(&param.name.as_str()) => {
                fitted.push(item.clone());
                faults.insert(place, fault);
            }
            Err(fault) => return Err(fault),
        }
    }
    // If all items are wrong, the call is refused.
    if faults.len() == items.len()
        && let Some((_, fault)) = faults.pop_first()
    {
        return Err(fault);
    }
    let mut said = BTreeSet::new();
    understood.retain(|note| said.insert(note.clone()));
    Ok(Some(Fitted { value: Value::Array(fitted), faults }))
}

/// Renames the fields and types of an item to the catalog's names. A bare string is the file or the target.
fn respelled(param: &Param, item: &Value) -> Value {
    let has = |name: &str| param.fields.iter().any(|field| field.name == name);
    match item {
        Value::String(text) if text.trim_start().starts_with('{') => match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => Value::Object(fields_respelled(param, &fields)),
            _ => item.clone(),
        },
        Value::String(text) => match ["target", "path"].into_iter().find(|name| has(name)) {
            Some(name) => json!({ name: text }),
            None => item.clone(),
        },
        Value::Object(fields) => Value::Object(fields_respelled(param, fields)),
        other => other.clone(),
    }
}

fn fields_respelled(param: &Param, fields: &Map<String, Value>) -> Map<String, Value> {
    let mut renamed = Map::new();
    // Exact names first: they win over other spellings.
    let is_exact = |name: &str| param.fields.iter().any(|field| field.name == name);
    let (exact, spelled): (Vec<_>, Vec<_>) = fields.iter().partition(|(name, _)| is_exact(name));
    for (given, value) in exact.into_iter().chain(spelled) {
        if let Some((field, value)) =
            reference(param, given, value).filter(|(field, _)| !renamed.contains_key(*field))
        {
            renamed.insert(field.to_owned(), value);
            continue;
        }
        let name = field_named(param, given).map(|field| field.name.as_str());
        let name = name.filter(|name| *name == given || !renamed.contains_key(*name));
        let name = name.unwrap_or(given);
        let value = if name == catalog::ITEM_TYPE { type_respelled(value) } else { value.clone() };
        renamed.insert(name.to_owned(), value);
    }
    renamed
}

/// The field that takes a reference, and the reference of the number that is given by another name: `iid: 5` is `ref: !5`.
fn reference<'a>(param: &'a Param, given: &str, value: &Value) -> Option<(&'a str, Value)> {
    if field_named(param, given).is_some() {
        return None;
    }
    let given = folded(given);
    let names_it = |others: &[String]| others.iter().any(|other| folded(other) == given);
    let rows = &catalog::kinds().numbered_fields;
    let (name, _, mark) = rows.iter().find(|(_, others, _)| names_it(others))?;
    let number = plain_text(value);
    let number = number.trim_start_matches(mark.as_str());
    let field = param.fields.iter().find(|field| field.name == *name).filter(|_| is_digits(number))?;
    Some((&field.name, json!(format!("{mark}{number}"))))
}

fn type_respelled(value: &Value) -> Value {
    let Some(given) = value.as_str().map(folded) else { return value.clone() };
    let singular = given.strip_suffix('s').unwrap_or(&given);
    let is_meant = |other: &str| [given.as_str(), singular].contains(&folded(other).as_str());
    let row =
        catalog::kinds().item_types.iter().find(|(_, others)| others.iter().any(|other| is_meant(other)));
    row.map_or_else(|| value.clone(), |(name, _)| json!(name))
}
