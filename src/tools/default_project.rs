//! Default project of a call that names none: the configured one, or the workspace's. Parameters are checked first,
//! because `projectId`, `project-path` and `target` name a project as well as `fullPath` does.

use serde_json::{Map, Value, json};

use crate::call::{self, Checked, Context, Fault, Invalid};
use crate::catalog::Action;
use crate::tools::state::Tools;
use crate::tools::workspace;

/// The parameter that names a project or group.
const FULL_PATH: &str = "fullPath";

/// First characters of a target without a project: `#12`, `!12`.
const SHORT: [char; 6] = ['#', '!', '&', '%', '~', '$'];

/// Checks parameters, with the default project where the action cannot work without one and none is named.
pub fn check(
    tools: &Tools,
    action: &Action,
    params: Map<String, Value>,
    context: &Context<'_>,
    notes: &mut Vec<String>,
) -> Result<Checked, Invalid> {
    let is_needed = action.choices().all(|operation| operation.is_filled_by(FULL_PATH));
    let default =
        if is_needed && !params.contains_key(FULL_PATH) { workspace::default_project(tools) } else { None };
    let Some((project, origin)) = default else { return call::check(action.clone(), params, context) };
    let checked = call::check(action.clone(), params.clone(), context);
    let is_named = match &checked {
        Ok(checked) => checked.params().contains_key(FULL_PATH),
        Err(invalid) => is_named_in(invalid),
    };
    if is_named {
        return checked;
    }
    notes.push(format!("`{FULL_PATH}` is {project}, {origin}"));
    let mut params = params;
    params.insert(FULL_PATH.to_owned(), json!(project));
    call::check(action.clone(), params, context)
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
