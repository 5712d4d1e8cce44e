//! Selects the operation of an action by the given parameters, and checks that they fit it.

use serde_json::{Map, Value};

use super::coerce::expected;
use super::{Fault, Lookup, LookupCache, name_resolution, target};
use crate::catalog::{self, Action, Operation, Param, Place, Risk, Scope};

/// The operation, or a look-up that is needed to select it.
pub enum ChosenOperation<'a> {
    Operation(&'a Operation),
    Ask(Lookup),
}

/// Selects the operation: by `scope` if given, by the path parameters, and by the kind of `fullPath`.
pub fn operation<'a>(
    action: &'a Action,
    params: &Map<String, Value>,
    known: &LookupCache,
) -> Result<ChosenOperation<'a>, Fault> {
    let scoped = scoped(action, params);
    let fitting: Vec<&Operation> = scoped
        .iter()
        .copied()
        .filter(|operation| is_filled(operation, params) && uses_all(action, operation, params))
        .collect();
    match by_given(action, fitting, params).as_slice() {
        [] => Err(unfilled(action, &scoped, params)),
        [only] => guarded(action, only, params).map(ChosenOperation::Operation),
        several => by_kind(action, several, params, known),
    }
}

/// Returns the possible operations, without a look-up.
pub fn candidates<'a>(action: &'a Action, params: &Map<String, Value>) -> Vec<&'a Operation> {
    let scoped = scoped(action, params);
    let fits = |operation: &&Operation| is_filled(operation, params) && uses_all(action, operation, params);
    let fitting: Vec<&Operation> = scoped.iter().copied().filter(|operation| fits(operation)).collect();
    if fitting.is_empty() { scoped } else { fitting }
}

fn scoped<'a>(action: &'a Action, params: &Map<String, Value>) -> Vec<&'a Operation> {
    let scoped: Vec<&Operation> = match selected(action, params) {
        Some(scope) => action.choices().filter(|operation| operation.scope == scope).collect(),
        None => action.choices().collect(),
    };
    let is_typed =
        |operation: &&Operation| action.params.iter().all(|param| is_of_type(param, operation, params));
    // A global id of a type that none accepts is reported by an error of its own.
    let typed: Vec<&Operation> = scoped.iter().copied().filter(is_typed).collect();
    if typed.is_empty() { scoped } else { typed }
}

/// Scope in the action's selector.
pub fn selected(action: &Action, params: &Map<String, Value>) -> Option<Scope> {
    let word = params.get(&action.selector()?.name)?.as_str()?;
    action.choices().map(|operation| operation.scope).find(|scope| scope.name() == word)
}

fn is_filled(operation: &Operation, params: &Map<String, Value>) -> bool {
    operation.placeholders().all(|(name, _)| params.contains_key(operation.filled_by(name)))
}

/// Narrows operations to those that accept all given parameters and lack none; all of them if none does. A read of the
/// token's own user wins over one of the whole instance.
fn by_given<'a>(
    action: &'a Action,
    fitting: Vec<&'a Operation>,
    params: &Map<String, Value>,
) -> Vec<&'a Operation> {
    if fitting.len() < 2 || selected(action, params).is_some() || params.contains_key("fullPath") {
        return fitting;
    }
    let fits = |operation: &&Operation| unfit(action, operation, params).is_empty();
    let narrowed: Vec<&Operation> = fitting.iter().copied().filter(|operation| fits(operation)).collect();
    let own = narrowed.iter().find(|operation| operation.scope == Scope::Current);
    match own {
        Some(own) if action.risk == Risk::Read => vec![own],
        _ if narrowed.is_empty() => fitting,
        _ => narrowed,
    }
}

/// True unless a given global id is of another type than the operation accepts.
fn is_of_type(param: &Param, operation: &Operation, params: &Map<String, Value>) -> bool {
    let other = operation.graphql.as_ref().and_then(|graphql| graphql.gids.get(&param.name));
    let Some(wanted) = other.or(param.gid.as_ref()) else { return true };
    let text = params.get(&param.name).and_then(Value::as_str);
    let Some(given) = text.and_then(|text| text.trim().strip_prefix("gid://gitlab/")) else { return true };
    given.rsplit_once('/').is_none_or(|(given, _)| given == wanted)
}

/// True if the operation accepts every given path parameter.
fn uses_all(action: &Action, operation: &Operation, params: &Map<String, Value>) -> bool {
    let in_path = |param: &&Param| param.place == Place::Path && params.contains_key(&param.name);
    action.params.iter().filter(in_path).all(|param| param.is_of_scope(operation.scope))
}

/// Fault if no operation fits: the first missing path parameter, or a scope that conflicts with the parameters.
fn unfilled(action: &Action, scoped: &[&Operation], params: &Map<String, Value>) -> Fault {
    let missing = scoped.iter().find_map(|operation| {
        let missing = |name: &str| !params.contains_key(operation.filled_by(name));
        operation
            .placeholders()
            .find(|(name, _)| missing(name))
            .map(|(name, _)| operation.filled_by(name).to_owned())
    });
    match missing.and_then(|name| action.param(&name)) {
        Some(param) => missing_fault(action, param),
        None => needs_scope(action, "what was given fits no single operation", None),
    }
}

/// Missing parameters that the call needs, whichever operation it is.
pub fn missing(action: &Action, params: &Map<String, Value>) -> Vec<Fault> {
    let operations = scoped(action, params);
    // The path of a composite action has optional parts.
    let is_single = action.plan.is_none() && action.direct().is_none();
    let is_needed_by = |param: &Param, operation: &Operation| {
        (is_single && operation.is_filled_by(&param.name))
            || (param.required && action.selector() != Some(param) && param.is_of_scope(operation.scope))
    };
    let is_missing = |param: &&Param| {
        !params.contains_key(&param.name)
            && !operations.is_empty()
            && operations.iter().all(|operation| is_needed_by(param, operation))
    };
    let missing = action.params.iter().filter(is_missing);
    missing.map(|param| missing_fault(action, param)).collect()
}

/// The fault of a missing parameter, with all that may stand in it.
fn missing_fault(action: &Action, param: &Param) -> Fault {
    let is_path = param.place == Place::Path && !param.kind.many;
    let expected = match param.names.filter(|_| is_path) {
        Some(names) if names.is_titled() && target::takes_target(action) => "number, URL or title".to_owned(),
        Some(names) if names.is_titled() => "number or title".to_owned(),
        Some(names) => name_resolution::expected_id(names).unwrap_or_else(|| expected(param)),
        None => expected(param),
    };
    Fault::Missing { name: param.name.clone(), expected }
}

/// The fault of a call that needs a scope; `fitting` is the operation that its parameters fit, where it may be offered.
fn needs_scope(action: &Action, reason: &str, fitting: Option<&Operation>) -> Fault {
    let accepted = action.choices().map(|operation| operation.scope.name().to_owned()).collect();
    let name = action.selector().map_or("scope", |selector| &selector.name).to_owned();
    Fault::ScopeNeeded {
        name,
        reason: reason.to_owned(),
        accepted,
        fitting: fitting.map(|operation| operation.scope.name().to_owned()),
    }
}

/// Refuses a write to the whole instance without an explicit scope: the path may have been forgotten.
fn guarded<'a>(
    action: &Action,
    operation: &'a Operation,
    params: &Map<String, Value>,
) -> Result<&'a Operation, Fault> {
    let alone = action.choices().count() == 1;
    let forgotten = operation.scope == Scope::Instance && selected(action, params).is_none();
    if action.risk != Risk::Read && forgotten && !alone {
        let own = catalog::kinds().own_paths.iter().any(|path| operation.path.starts_with(path));
        return Err(match own {
            true => needs_scope(
                action,
                "without `fullPath` it is one of your own, in no project",
                Some(operation),
            ),
            false => needs_scope(action, "without `fullPath` this would change the whole instance", None),
        });
    }
    Ok(operation)
}

/// Selects by the kind of `fullPath`, which is looked up once: paths of projects and groups look alike.
fn by_kind<'a>(
    action: &'a Action,
    several: &[&'a Operation],
    params: &Map<String, Value>,
    known: &LookupCache,
) -> Result<ChosenOperation<'a>, Fault> {
    let Some(full_path) = params.get("fullPath").and_then(Value::as_str) else {
        return Err(needs_scope(action, "more than one operation fits", None));
    };
    if full_path.chars().all(|c| c.is_ascii_digit()) {
        return Err(needs_scope(action, "a numeric id may be a project's or a group's", None));
    }
    if action.selector().is_some_and(|selector| selector.required) {
        return Err(needs_scope(action, "the other parameters fit more than one", None));
    }
    match known.kind_of(full_path) {
        None => Ok(ChosenOperation::Ask(Lookup::KindOf { full_path: full_path.to_owned() })),
        Some(kind) => several
            .iter()
            .find(|operation| operation.scope == kind)
            .map(|operation| ChosenOperation::Operation(operation))
            .ok_or_else(|| needs_scope(action, "what `fullPath` names is neither", None)),
    }
}

/// Faults of the parameters for the selected operation: missing ones, and ones that it does not accept.
pub fn unfit(action: &Action, operation: &Operation, params: &Map<String, Value>) -> Vec<Fault> {
    let missing = action
        .params
        .iter()
        .filter(|param| param.place != Place::Selector || action.selector() != Some(*param))
        .filter(|param| {
            param.required && param.is_of_scope(operation.scope) && !params.contains_key(&param.name)
        })
        .map(|param| missing_fault(action, param));
    let other_scope = |name: String, param: &Param| Fault::OtherScope {
        name,
        scope: operation.scope.name().to_owned(),
        accepted: param.scopes.iter().map(|scope| scope.name().to_owned()).collect(),
    };
    let foreign = action
        .params
        .iter()
        .filter(|param| params.contains_key(&param.name) && !param.is_of_scope(operation.scope))
        .map(|param| other_scope(param.name.clone(), param));
    let foreign_fields = action.params.iter().flat_map(|param| {
        let given = |field: &&Param| is_given(params.get(&param.name), &field.name);
        let fields = param.fields.iter().filter(given).filter(|field| !field.is_of_scope(operation.scope));
        fields.map(|field| other_scope(format!("{}.{}", param.name, field.name), field))
    });
    let needed = action.one_of.iter().filter(|names| !names.iter().any(|name| params.contains_key(name)));
    let none_of = needed.map(|names| Fault::NoneOf { accepted: names.clone() });
    missing.chain(foreign).chain(foreign_fields).chain(none_of).collect()
}

/// True if an object, or an object in a list, has the field.
fn is_given(value: Option<&Value>, field: &str) -> bool {
    match value {
        Some(Value::Object(fields)) => fields.contains_key(field),
        Some(Value::Array(items)) => items.iter().any(|item| is_given(Some(item), field)),
        _ => false,
    }
}
