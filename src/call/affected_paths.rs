//! Locations that a call affects: the projects, groups and namespaces that its parameters name, by the catalog's
//! table of such parameters (`locates`, from `catalog/rules.toml`). One function serves the parameters of an action,
//! the segments, query and body of a raw request, and the input of a mutation.

use serde_json::{Map, Value};

use super::effects::{DerivedPlace, Role, TouchedPlace};
use super::global_id;
use super::location::GLOBAL;
use super::location::{FullPath, HolderKind, Location};
use crate::catalog::{
    Action, Landing, LandingChoice, LandingPlace, Locates, Names, Operation, Param, Place as Part, Scope,
    TRACKED_MARKS, locates_by_name,
};
use crate::text::plain_text;

/// Collects the places that a call of an operation touches, in the order of its parameters.
pub fn places(action: &Action, operation: &Operation, params: &Map<String, Value>) -> Vec<TouchedPlace> {
    collect_places(action, operation, params, true)
}

/// Collects the places of a raw request. Its names are sent unresolved: none is looked up in the call's own project.
pub fn raw_places(action: &Action, operation: &Operation, params: &Map<String, Value>) -> Vec<TouchedPlace> {
    collect_places(action, operation, params, false)
}

fn collect_places(
    action: &Action,
    operation: &Operation,
    params: &Map<String, Value>,
    looks_up_names: bool,
) -> Vec<TouchedPlace> {
    let own_kind = match operation.scope {
        Scope::Project => HolderKind::Project,
        Scope::Group => HolderKind::Group,
        _ => HolderKind::Either,
    };
    let is_sent_as_path =
        !looks_up_names && action.param("fullPath").is_some_and(|param| param.locates == Some(Locates::Path));
    let own = params
        .get("fullPath")
        .map(|value| if is_sent_as_path { path_alone(value) } else { holder(value, own_kind) });
    let lookup_places = own.clone().filter(|_| looks_up_names).map(|own| LookupPlaces::new(own, own_kind));
    let mut found = Vec::new();
    for (name, value) in params {
        let param = action.param(name);
        let role = param.map_or(Role::Named, |param| role(param, operation));
        if name == "fullPath" {
            found.extend(own.clone().map(|location| TouchedPlace::new(name, location).with_role(role)));
            continue;
        }
        // A parameter that is only used for look-ups is not a place of the call.
        if role != Role::Reads || param.is_some_and(|param| param.locates.is_some()) {
            collect(param, name, value, lookup_places.as_ref(), role, &mut found);
        }
    }
    let is_absent = |path: &String| !is_given(params, path);
    let is_chosen = |by: &LandingChoice| match by.is.as_str() {
        // GitLab takes one of several values that a raw request has.
        "*" => params.get(&by.param).is_some_and(has_any_value),
        choice => params.get(&by.param).is_some_and(|value| has_choice(value, choice)),
    };
    let lands = action
        .lands
        .iter()
        .filter(|landing| landing.absent.iter().all(is_absent) && landing.by.as_ref().is_none_or(is_chosen));
    let own = place_of(params);
    found.extend(lands.map(|landing| landing_path(landing, own.as_ref(), params)));
    found
}

/// The project or group that the parameters of a call name as theirs.
pub fn place_of(params: &Map<String, Value>) -> Option<Location> {
    let named = ["fullPath", "projectPath"].iter().find_map(|name| params.get(*name));
    named.map(|value| holder(value, HolderKind::Either))
}

/// The places in which the names in a call are looked up.
struct LookupPlaces {
    own: Location,
    /// That of epics: the group of a project.
    group: Location,
}

impl LookupPlaces {
    fn new(own: Location, kind: HolderKind) -> LookupPlaces {
        let group = match (kind, own.path()) {
            (HolderKind::Project, path) => {
                path.and_then(FullPath::parent).map_or(Location::Unknown, Location::Path)
            }
            _ => own.clone(),
        };
        LookupPlaces { own, group }
    }

    /// The place of what a parameter names without a path: `#12`, `&7`, a title.
    fn find(&self, names: Option<Names>, text: &str) -> Location {
        let is_epic = matches!(names, Some(Names::Epic | Names::EpicIid)) || text.starts_with('&');
        if is_epic { self.group.clone() } else { self.own.clone() }
    }
}

/// True if a value, or one of several that a raw request has, is this choice.
fn has_choice(value: &Value, choice: &str) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| has_choice(item, choice)),
        value => plain_text(value).trim().eq_ignore_ascii_case(choice),
    }
}

/// True if a parameter at a dotted path has a value that GitLab would use: null, false, an empty text or list are none.
fn is_given(params: &Map<String, Value>, path: &str) -> bool {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    params.get(name).is_some_and(|value| has_value(value, rest))
}

fn has_value(value: &Value, rest: &str) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => rest.is_empty() && !text.trim().is_empty(),
        // Every item needs a destination.
        Value::Array(items) => !items.is_empty() && items.iter().all(|item| has_value(item, rest)),
        Value::Object(fields) if rest.is_empty() => !fields.is_empty(),
        Value::Object(fields) => is_given(fields, rest),
        Value::Bool(true) | Value::Number(_) => rest.is_empty(),
    }
}

fn has_any_value(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_any_value),
        value => has_value(value, ""),
    }
}

fn landing_path(landing: &Landing, own: Option<&Location>, params: &Map<String, Value>) -> TouchedPlace {
    let by = landing.by.as_ref();
    let param = by.map(|by| &by.param).or(landing.absent.first()).cloned();
    let param = param.unwrap_or_else(|| GROUP_OF_PROJECT.to_owned());
    let location = match landing.place {
        LandingPlace::ParentGroup => return TouchedPlace::derived(param, DerivedPlace::ParentGroup, own),
        LandingPlace::Renamed => {
            let name = by.and_then(|by| params.get(&by.param)?.as_str()).map(str::to_owned);
            return TouchedPlace::derived(param, DerivedPlace::Renamed(name), own);
        }
        LandingPlace::OwnNamespace => Location::OwnNamespace,
        LandingPlace::TopLevel => Location::TopLevel,
        LandingPlace::Instance => Location::Instance,
    };
    TouchedPlace::new(param, location)
}

/// Name of a place that is the group of the project that a call names.
pub const GROUP_OF_PROJECT: &str = "the project's group";

/// Collects the places in fields that no action describes, by the field names alone.
pub fn undescribed_places(fields: &Map<String, Value>) -> Vec<TouchedPlace> {
    let mut found = Vec::new();
    for (name, value) in fields {
        collect(None, name, value, None, Role::Named, &mut found);
    }
    found
}

/// True if the action has a parameter, or a default, for its location.
pub fn can_be_placed(action: &Action) -> bool {
    let locates = |param: &Param| param.locates.is_some() && param.place != Part::Selector;
    !action.lands.is_empty()
        || action.params.iter().any(|param| locates(param) || param.fields.iter().any(locates))
}

/// Returns the role of the place that a parameter names. A parameter that is not sent is only used for look-ups.
/// If the path of a REST operation has placeholders, other parameters never are its location.
fn role(param: &Param, operation: &Operation) -> Role {
    let in_scope = param.is_of_scope(operation.scope);
    if operation.is_filled_by(&param.name) {
        return Role::Works;
    }
    if param.place == Part::Selector || !in_scope {
        return Role::Reads;
    }
    let is_in_path = operation.graphql.is_none() && operation.placeholders().next().is_some();
    if is_in_path { Role::Named } else { Role::Works }
}

fn collect(
    param: Option<&Param>,
    path: &str,
    value: &Value,
    lookup: Option<&LookupPlaces>,
    role: Role,
    found: &mut Vec<TouchedPlace>,
) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(param, path, item, lookup, role, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                let field = param.and_then(|param| param.fields.iter().find(|field| field.name == *name));
                // A field that the operation does not have places nothing.
                let role = if field.is_none() && role == Role::Works { Role::Named } else { role };
                collect(field, &format!("{path}.{name}"), value, lookup, role, found);
            }
        }
        Value::String(_) | Value::Number(_) => {
            let location = match param {
                Some(param) => {
                    let referenced = |text: &str| referenced(param, text, lookup);
                    param.locates.and_then(|locates| location(locates, value, &referenced))
                }
                None => undescribed(path, value),
            };
            found.extend(location.map(|location| TouchedPlace::new(path, location).with_role(role)));
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// Returns the location that a value names. `referenced` is that of an object by its reference or name.
fn location(locates: Locates, value: &Value, referenced: &dyn Fn(&str) -> Location) -> Option<Location> {
    match locates {
        Locates::Path => Some(path_alone(value)),
        Locates::Project => Some(holder(value, HolderKind::Project)),
        Locates::Group => Some(holder(value, HolderKind::Group)),
        Locates::Namespace => Some(holder(value, HolderKind::Namespace)),
        Locates::Holder => Some(holder(value, HolderKind::Either)),
        Locates::Foreign => foreign(value, referenced),
        // Each step of a composite action has a location of its own.
        Locates::Address => None,
    }
}

/// Parses the path or id of a project, group or namespace.
fn holder(value: &Value, kind: HolderKind) -> Location {
    Location::parse(&plain_text(value), kind).unwrap_or(Location::Unknown)
}

/// Parses the path of a project, group or namespace. A number is a path that no rule can name.
fn path_alone(value: &Value) -> Location {
    match holder(value, HolderKind::Either) {
        Location::Path(path) => Location::Path(path),
        _ => Location::Unknown,
    }
}

/// Returns the location of an object in any project or group. That of a bare id is unknown.
fn foreign(value: &Value, referenced: &dyn Fn(&str) -> Location) -> Option<Location> {
    let text = plain_text(value);
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    if text.starts_with(GLOBAL) {
        return Some(Location::parse(text, HolderKind::Either).unwrap_or(Location::Unknown));
    }
    Some(if is_number_like(text) { Location::Unknown } else { referenced(text) })
}

/// The word before the number of an alert (`group/project^alert#3`): `AlertManagement::Alert.reference_prefix`.
const ALERT_MARK: &str = "^alert";

/// Returns the location of an object by its reference (`group/project#12`, `#12`), or of one whose name is looked up.
fn referenced(param: &Param, text: &str, lookup: Option<&LookupPlaces>) -> Location {
    let marks = if param.names.is_some() { global_id::marks(param) } else { &TRACKED_MARKS };
    let path = global_id::numbered(text, marks).map(|(path, ..)| path);
    match path.map(|path| path.strip_suffix(ALERT_MARK).unwrap_or(path)) {
        None if param.names.is_none() => Location::Unknown,
        None | Some("") => lookup.map_or(Location::Unknown, |lookup| lookup.find(param.names, text)),
        Some(path) => holder(&Value::from(path), HolderKind::Either),
    }
}

/// Returns the location in a field that no action describes: by a global id, or by a field name such as `project_id`.
fn undescribed(path: &str, value: &Value) -> Option<Location> {
    // The last word of `links.0.project_id` and of `not[group_id]`.
    let name = path.rsplit(['.', '[', ']']).find(|word| !word.is_empty()).unwrap_or(path);
    if let Some(kind) = locates_by_name(name) {
        return location(kind, value, &|_| Location::Unknown);
    }
    plain_text(value).trim().starts_with(GLOBAL).then(|| foreign(value, &|_| Location::Unknown)).flatten()
}

/// True if GitLab could read a text as a number or a list of numbers: `5`, `5.0`, `+5`, `0_5`, `5e0`, `5,6`.
fn is_number_like(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '_' | '.' | ',' | ' ' | 'e' | 'E');
    text.chars().any(|c| c.is_ascii_digit()) && text.chars().all(is_part)
}
