//! Steps that the parameters of a composite action tell, and the denial of one of them before anything is sent.

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use crate::call::{Checked, Location};
use crate::composite::run::{Composite, CompositeRun};
use crate::tools::action_lookup::resolved::ResolvedAction;
use crate::tools::{ExecuteRequest, ToolError, action_lookup, execute};

/// A step that a composite action is going to run.
pub struct KnownStep {
    /// What the step is of the call, for an error: `call 2`.
    pub name: String,
    pub request: ExecuteRequest,
    /// True if values of earlier answers are still missing in its parameters.
    pub is_open: bool,
}

impl KnownStep {
    pub fn new(name: String, action: &str, params: Map<String, Value>) -> KnownStep {
        let request = ExecuteRequest { action: action.to_owned(), params, ..ExecuteRequest::default() };
        KnownStep { name, request, is_open: false }
    }
}

/// The denial of the first known step that has one. Look-ups are only made for the path behind an id.
pub async fn find_denial(run: &CompositeRun<'_>, composite: &Composite) -> Option<ToolError> {
    for step in (composite.known_steps)(run) {
        if let Some(error) = find_step_denial(run, &step).await {
            return Some(ToolError { message: format!("{}: {}", step.name, error.message), ..error });
        }
    }
    None
}

fn find_step_denial<'s>(run: &'s CompositeRun<'_>, step: &'s KnownStep) -> BoxFuture<'s, Option<ToolError>> {
    Box::pin(async move {
        let ResolvedAction { action, request, .. } = action_lookup::resolve(run.tools, &step.request).ok()?;
        if let Err(denied) = execute::refuse_withheld(run.tools, &action) {
            return Some(denied);
        }
        // A value that is still missing may be what decides.
        if step.is_open && !action.raises.is_empty() {
            return None;
        }
        let checked = execute::check_params(run.tools, &action, &request, &mut Vec::new()).ok()?;
        if step.is_open && names_unknown_place(&checked) {
            return None;
        }
        let Some(inner) = run.inner_composite(&action.id) else {
            return execute::deny_beforehand(run.tools, &checked).await;
        };
        let above = [run.above(), &[action.id.as_str()]].concat();
        find_denial(&run.look_into(&above, &checked), inner).await
    })
}

/// True if the call may work at a place that its parameters do not tell.
fn names_unknown_place(checked: &Checked) -> bool {
    let effects = checked.possible_effects();
    effects.iter().flat_map(|effects| effects.places()).any(|place| place.location == Location::Unknown)
}
