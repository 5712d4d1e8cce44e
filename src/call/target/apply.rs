//! Converts a target to the parameters of an action.

use serde_json::{Map, Value};
use url::Url;

use super::parse::parse;
use super::reference::{self, NOTE, Reference, noun, takes};
use crate::call::param_error::TARGET;
use crate::call::{Fault, global_id, revision};
use crate::catalog::{Action, Names, ObjectKind, Operation, Scope};

/// True if the action accepts `target`: it has a `fullPath` and no parameter of its own with that name.
pub fn takes_target(action: &Action) -> bool {
    action.param(TARGET).is_none() && ["fullPath", "user_id"].iter().any(|name| action.param(name).is_some())
}

/// Returns the parameters of the target. A ref among the given parameters decides where a ref with slashes ends.
pub fn filled(
    action: &Action,
    text: &str,
    given: &Map<String, Value>,
    base: &Url,
) -> Result<Vec<(String, String)>, Fault> {
    let reference = parse(text, base)?;
    let params = place_params(action, &reference, given).zip(object_params(action, &reference, given));
    let (mut filled, object) = params.ok_or_else(|| wrong_kind(action, text, &reference))?;
    filled.extend(object);
    if let (Some(note), Some(_)) = (&reference.note, action.param(NOTE)) {
        filled.push((NOTE.to_owned(), note.clone()));
    }
    Ok(filled)
}

/// Returns the place and the fields of an item for a target that names a file, or a merge request at whose head files are read.
pub fn item_fields(text: &str, base: &Url) -> Option<Vec<(String, String)>> {
    let reference = parse(text, base).ok()?;
    let fields = match reference.kind {
        ObjectKind::MergeRequest => vec![("ref".to_owned(), format!("!{}", reference.value))],
        ObjectKind::File => {
            let (at, path) = split_ref(&reference.value, None);
            vec![("path".to_owned(), path.to_owned()), ("ref".to_owned(), at.to_owned())]
        }
        _ => return None,
    };
    let place = ("fullPath".to_owned(), reference.path);
    Some(std::iter::once(place).chain(fields).collect())
}

/// Returns `fullPath`, and `scope` if the target determines it. None if the action does not work in such a place.
fn place_params(
    action: &Action,
    reference: &Reference,
    given: &Map<String, Value>,
) -> Option<Vec<(String, String)>> {
    let works = |scope: Scope| {
        let is_there = |operation: &Operation| operation.scope == scope || reference::is_of_either(operation);
        action.choices().any(|operation| is_there(operation) && operation.is_filled_by("fullPath"))
    };
    if reference.path.is_empty() {
        return Some(Vec::new());
    }
    action.param("fullPath")?;
    let mut filled = vec![("fullPath".to_owned(), reference.path.clone())];
    let Some(holder) = reference.holder else { return Some(filled) };
    // Otherwise both a project and a group are possible.
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

/// Returns the parameters of the object. None if the action does not accept it.
fn object_params(
    action: &Action,
    reference: &Reference,
    given: &Map<String, Value>,
) -> Option<Vec<(String, String)>> {
    if reference.kind == ObjectKind::Holder {
        return Some(Vec::new());
    }
    if let Some(addressed) =
        global_id::addressed(action).filter(|param| reference::is_reference(reference, param))
    {
        return Some(vec![(addressed.name.clone(), reference.to_string())]);
    }
    if let Some(iid) = pipeline_by_id(action, reference) {
        return Some(vec![iid]);
    }
    let Some(param) = reference::parameter(action, reference.kind).map(str::to_owned) else {
        return of_merge_request(action, reference);
    };
    if !matches!(reference.kind, ObjectKind::File | ObjectKind::Directory) {
        return Some(vec![(param, reference.value.clone())]);
    }
    let holds_ref = ["ref", "ref_name", "branch"].into_iter().find(|name| action.param(name).is_some());
    let said = holds_ref.and_then(|name| given.get(name)).and_then(Value::as_str);
    let (at, path) = split_ref(&reference.value, said);
    let at = holds_ref.map(|name| (name.to_owned(), at.to_owned()));
    Some([(param, path.to_owned())].into_iter().chain(at).collect())
}

/// The id of a pipeline, which its URL has, for an action that takes its iid.
fn pipeline_by_id(action: &Action, reference: &Reference) -> Option<(String, String)> {
    let iid = action.params.iter().find(|param| param.names == Some(Names::PipelineIid))?;
    (reference.kind == ObjectKind::Pipeline).then(|| (iid.name.clone(), format!("id:{}", reference.value)))
}

/// The latest pipeline of a merge request, for an action that works on a pipeline or on a job of one, or its head, for a
/// read of a repository.
fn of_merge_request(action: &Action, reference: &Reference) -> Option<Vec<(String, String)>> {
    let pipeline = action.params.iter().find(|param| param.names.is_some_and(Names::is_pipeline));
    let param = pipeline.map(|param| param.name.as_str()).or_else(|| revision::ref_param(action))?;
    (reference.kind == ObjectKind::MergeRequest)
        .then(|| vec![(param.to_owned(), format!("!{}", reference.value))])
}

/// Splits `ref/path`: after the given ref, else at the first slash.
fn split_ref<'a>(value: &'a str, said: Option<&str>) -> (&'a str, &'a str) {
    let by_said = said.and_then(|said| {
        let path = value.strip_prefix(said)?.strip_prefix('/')?;
        Some((value.get(..said.len())?, path))
    });
    by_said.or_else(|| value.split_once('/')).unwrap_or((value, ""))
}

fn wrong_kind(action: &Action, text: &str, reference: &Reference) -> Fault {
    let nouns: Vec<&str> = takes(action).iter().map(|row| row.noun.as_str()).collect();
    let takes = if nouns.is_empty() { describe_locations(action).to_owned() } else { nouns.join(" or ") };
    Fault::WrongTarget {
        given: text.to_owned(),
        kind: reference.kind,
        is: match (reference.kind, reference.holder) {
            (ObjectKind::Holder, Some(Scope::Group)) => "a group".to_owned(),
            (ObjectKind::Holder, Some(_)) => "a project".to_owned(),
            (kind, Some(Scope::Group)) if nouns.contains(&noun(kind)) => {
                format!("{} of a group", noun(kind))
            }
            (kind, Some(_)) if nouns.contains(&noun(kind)) => format!("{} of a project", noun(kind)),
            (kind, _) => noun(kind).to_owned(),
        },
        takes,
    }
}

/// Describes the places where an action works, for messages.
fn describe_locations(action: &Action) -> &'static str {
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
