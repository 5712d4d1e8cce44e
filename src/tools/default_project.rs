//! Default project of a call that names none: the configured one, or the workspace's. Parameters are checked first,
//! because `projectId`, `project-path` and `target` name a project as well as `fullPath` does.

use serde_json::{Map, Value, json};

use crate::call::{self, Checked, Context, Fault, Invalid};
use crate::catalog::{Action, Operation, Param, Place, Scope};
use crate::tools::state::Tools;
use crate::tools::workspace;

/// The parameter that names a project or group.
const FULL_PATH: &str = "fullPath";

/// First characters of a target without a project: `#12`, `!12`.
const SHORT: [char; 6] = ['#', '!', '&', '%', '~', '$'];

/// Checks parameters, with the default project where the action can work in one and none is named. An action that also
/// works without a project does so if its scope says it, if a target names what is in none, or if the parameters are not those
/// of a project.
pub fn check(
    tools: &Tools,
    action: &Action,
    params: Map<String, Value>,
    context: &Context<'_>,
    notes: &mut Vec<String>,
) -> Result<Checked, Invalid> {
    let is_filled = |operation: &Operation| operation.is_filled_by(FULL_PATH);
    let is_needed = action.choices().all(is_filled);
    let is_possible =
        action.choices().any(|operation| operation.scope == Scope::Project && is_filled(operation));
    let default = match (is_needed || is_possible) && !params.contains_key(FULL_PATH) {
        true => workspace::default_project(tools),
        false => None,
    };
    let Some((project, origin)) = default else { return call::check(action.clone(), params, context) };
    let checked = call::check(action.clone(), params.clone(), context);
    let has_target = params.iter().any(|(name, value)| {
        name == call::TARGET || call::is_target_spelling(name) || value.as_str().is_some_and(call::is_web_url)
    });
    let is_named = match &checked {
        Ok(checked) => {
            checked.params().contains_key(FULL_PATH)
                || (!is_needed && is_elsewhere(action, checked.params(), has_target))
        }
        Err(invalid) => {
            is_named_in(invalid) || (!is_needed && is_elsewhere(action, &invalid.right, has_target))
        }
    };
    if is_named {
        return checked;
    }
    let mut in_project = params;
    in_project.insert(FULL_PATH.to_owned(), json!(project));
    let placed = call::check(action.clone(), in_project, context);
    if placed.is_err() && checked.is_ok() {
        return checked;
    }
    let other = action.choices().find(|operation| !is_filled(operation)).filter(|_| !is_needed);
    let selector = other.and_then(|other| Some((action.selector_of(other.scope)?, other.scope)));
    let elsewhere = selector.map(|(selector, scope)| {
        let whole = if is_of_own_by_default(action, scope) { " with `scope: all`" } else { "" };
        let whose = if scope == Scope::Current { "your own" } else { "all" };
        format!("; `{}: {}`{whole} is for {whose}", selector.name, scope.name())
    });
    notes.push(format!("`{FULL_PATH}` is {project}, {origin}{}", elsewhere.unwrap_or_default()));
    placed
}

/// True if a list beyond projects has the caller's own alone unless `scope: all` is given, as GitLab's lists of issues and
/// merge requests (<https://docs.gitlab.com/api/issues/#list-all-issues>).
fn is_of_own_by_default(action: &Action, scope: Scope) -> bool {
    let has_all =
        |param: &Param| param.choices.iter().any(|choice| choice == "all") && param.default.is_none();
    action
        .param("scope")
        .is_some_and(|param| param.is_of_scope(scope) && param.place == Place::Query && has_all(param))
}

/// True if the parameters choose a scope without a project, or had a target that names none.
fn is_elsewhere(action: &Action, params: &Map<String, Value>, has_target: bool) -> bool {
    let chosen = call::selected_scope(action, params);
    let is_without = |scope: Scope| {
        let mut of_scope = action.choices().filter(|operation| operation.scope == scope);
        of_scope.all(|operation| !operation.is_filled_by(FULL_PATH))
    };
    has_target || chosen.is_some_and(is_without)
}

/// True if invalid parameters still name a project.
fn is_named_in(invalid: &Invalid) -> bool {
    let is_wrong = |fault: &Fault| match fault {
        Fault::NoTarget { given, .. } | Fault::OtherHost { given, .. } | Fault::WrongTarget { given, .. } => {
            !given.trim().starts_with(SHORT)
        }
        fault => fault.name() == FULL_PATH && !matches!(fault, Fault::Missing { .. }),
    };
    invalid.right.contains_key(FULL_PATH) || invalid.faults.iter().any(is_wrong)
}
