//! A target as the parameters of one action, or why it cannot be that action's.

use serde_json::{Map, Value};
use url::Url;

use super::parse::parse;
use super::spot::{self, Kind, Reference, TARGET, takes};
use crate::call::{Fault, global_id};
use crate::catalog::{Action, Operation, Scope};

/// True if `target` is understood for the action: it works on a path, and calls nothing of its own that.
pub fn takes_target(action: &Action) -> bool {
    action.param(TARGET).is_none() && ["fullPath", "user_id"].iter().any(|name| action.param(name).is_some())
}

/// The parameters that the target says, by the action's names. What else was given tells where a ref with slashes
/// ends.
pub fn filled(
    action: &Action,
    text: &str,
    given: &Map<String, Value>,
    base: &Url,
) -> Result<Vec<(String, String)>, Fault> {
    let spot = parse(text, base)?;
    let mut filled = place_params(action, &spot, given).ok_or_else(|| wrong(action, text, &spot))?;
    filled.extend(thing(action, &spot, given).ok_or_else(|| wrong(action, text, &spot))?);
    if let (Some(note), Some(_)) = (&spot.note, action.param("note_id")) {
        filled.push(("note_id".to_owned(), note.clone()));
    }
    Ok(filled)
}

/// `fullPath`, and `scope` where the target tells which is meant. None: the action works on nothing there.
fn place_params(
    action: &Action,
    spot: &Reference,
    given: &Map<String, Value>,
) -> Option<Vec<(String, String)>> {
    let works = |scope: Scope| {
        let is_there = |operation: &Operation| operation.scope == scope || spot::is_of_either(operation);
        action.choices().any(|operation| is_there(operation) && operation.is_filled_by("fullPath"))
    };
    if spot.path.is_empty() {
        return Some(Vec::new());
    }
    action.param("fullPath")?;
    let mut filled = vec![("fullPath".to_owned(), spot.path.clone())];
    let Some(holder) = spot.holder else { return Some(filled) };
    // Below other paths than a project's and a group's, either may be meant.
    if works(Scope::Project) || works(Scope::Group) {
        works(holder).then_some(())?;
    }
    let rivals = works(Scope::Project) && works(Scope::Group);
    if let Some(selector) = action.selector_of(holder)
        && rivals
        && !given.contains_key(&selector.name)
    {
        filled.push((selector.name.clone(), holder.name().to_owned()));
    }
    Some(filled)
}

/// The parameters that hold the thing. None: the action has no place for it.
fn thing(action: &Action, spot: &Reference, given: &Map<String, Value>) -> Option<Vec<(String, String)>> {
    if spot.kind == Kind::Holder {
        return Some(Vec::new());
    }
    if let Some(addressed) = global_id::addressed(action).filter(|param| spot::is_reference(spot, param)) {
        return Some(vec![(addressed.name.clone(), spot.to_string())]);
    }
    let param = spot::parameter(action, spot.kind)?.to_owned();
    if !matches!(spot.kind, Kind::File | Kind::Directory) {
        return Some(vec![(param, spot.value.clone())]);
    }
    let holds_ref = ["ref", "ref_name", "branch"].into_iter().find(|name| action.param(name).is_some());
    let said = holds_ref.and_then(|name| given.get(name)).and_then(Value::as_str);
    let (at, path) = parted(&spot.value, said);
    let at = holds_ref.map(|name| (name.to_owned(), at.to_owned()));
    Some([(param, path.to_owned())].into_iter().chain(at).collect())
}

/// A ref and a path: where they meet is told by the ref that was given beside, else by the first slash.
fn parted<'a>(value: &'a str, said: Option<&str>) -> (&'a str, &'a str) {
    let by_said = said.and_then(|said| {
        let path = value.strip_prefix(said)?.strip_prefix('/')?;
        Some((value.get(..said.len())?, path))
    });
    by_said.or_else(|| value.split_once('/')).unwrap_or((value, ""))
}

fn wrong(action: &Action, text: &str, spot: &Reference) -> Fault {
    let nouns: Vec<&str> = takes(action).iter().map(|row| row.noun).collect();
    let takes = if nouns.is_empty() { holders(action).to_owned() } else { nouns.join(" or ") };
    Fault::WrongTarget {
        given: text.to_owned(),
        kind: spot.kind,
        is: match (spot.kind, spot.holder) {
            (Kind::Holder, Some(Scope::Group)) => "a group".to_owned(),
            (Kind::Holder, Some(_)) => "a project".to_owned(),
            (kind, Some(Scope::Group)) if nouns.contains(&kind.noun()) => {
                format!("{} of a group", kind.noun())
            }
            (kind, Some(_)) if nouns.contains(&kind.noun()) => format!("{} of a project", kind.noun()),
            (kind, _) => kind.noun().to_owned(),
        },
        takes,
        path: spot.path.clone(),
    }
}

/// Where the action works, in words.
fn holders(action: &Action) -> &'static str {
    let works = |scope: Scope| {
        action.choices().any(|operation| operation.scope == scope && operation.is_filled_by("fullPath"))
    };
    match (works(Scope::Project), works(Scope::Group)) {
        (true, false) => "a project",
        (false, true) => "a group",
        _ if action.param("fullPath").is_none() => "a user",
        _ => "a project or group",
    }
}
