//! Checks of parameters: by the catalog, and by a newer instance for what the catalog does not know.

use crate::call::{Checked, Invalid};
use crate::catalog::{Action, Companion};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::ExecuteRequest;
use crate::tools::error_mapping;
use crate::tools::errors::next_call;
use crate::tools::prepare::{edits, global_ids, project_name};
use crate::tools::state::Tools;
use crate::tools::{companions, default_project, instance_version};

/// Checks a request as a run does, with its global ids and the parameters of a newer instance.
pub async fn check_request(
    tools: &Tools,
    action: &Action,
    request: &ExecuteRequest,
) -> Result<Checked, ToolError> {
    let mut notes = Vec::new();
    let request = global_ids::resolve_global_id(tools, action, request, &mut notes).await?;
    let (checked, _) = check_for_instance(tools, action, &request, &mut notes).await?;
    Ok(checked)
}

/// [`check_params`], also accepting parameters and values of an instance that is newer than the catalog; returns their
/// names too.
pub(super) async fn check_for_instance(
    tools: &Tools,
    action: &Action,
    request: &ExecuteRequest,
    notes: &mut Vec<String>,
) -> Result<(Checked, Vec<String>), ToolError> {
    let fitting = instance_version::for_instance(tools, action).await;
    let action = fitting.as_ref().unwrap_or(action);
    let (checked, extension) = match check_by_name(tools, action, request, notes).await? {
        Ok(checked) => return Ok((noted(checked, notes), Vec::new())),
        Err(invalid) => match instance_version::extended(tools, action, &invalid).await {
            None => return Err(invalid_call(tools, &invalid, action, request)),
            Some(extension) => match check_or_fault(tools, &extension.action, request, notes)? {
                Ok(checked) => (checked, extension),
                Err(_) => return Err(invalid_call(tools, &invalid, action, request)),
            },
        },
    };
    notes.extend(extension.notes);
    Ok((noted(checked, notes), extension.unknown))
}

/// [`check_or_fault`], with the path of a project that is named without its group.
async fn check_by_name(
    tools: &Tools,
    action: &Action,
    request: &ExecuteRequest,
    notes: &mut Vec<String>,
) -> Result<Result<Checked, Invalid>, ToolError> {
    let outcome = check_or_fault(tools, action, request, notes)?;
    // Boxed: the future is deeply nested.
    let named = match &outcome {
        Ok(checked) => Box::pin(project_name::resolve(tools, action, checked)).await?,
        Err(invalid) => Box::pin(project_name::resolve_invalid(tools, action, invalid)).await?,
    };
    let Some((params, note)) = named else { return Ok(outcome) };
    notes.push(note);
    check_or_fault(tools, action, &ExecuteRequest { params, ..request.clone() }, notes)
}

/// Adds notes on the interpretation of values.
fn noted(checked: Checked, notes: &mut Vec<String>) -> Checked {
    notes.extend(checked.understood().iter().map(|understood| format!("understood {understood}")));
    if !checked.unsent().is_empty() {
        let names = checked.unsent().join("`, `");
        notes.push(format!("`{names}: null` was not sent: GitLab describes no value that takes it away"));
    }
    checked
}

/// [`check_params`] where a project may be named without its group: its path is looked up first.
pub async fn check_with_project_name(
    tools: &Tools,
    action: &Action,
    request: &ExecuteRequest,
    notes: &mut Vec<String>,
) -> Result<Checked, ToolError> {
    match check_by_name(tools, action, request, notes).await? {
        Ok(checked) => Ok(noted(checked, notes)),
        Err(invalid) => Err(invalid_call(tools, &invalid, action, request)),
    }
}

/// The parameters of a request, checked for an action that may run at all.
pub fn check_params(
    tools: &Tools,
    action: &Action,
    request: &ExecuteRequest,
    notes: &mut Vec<String>,
) -> Result<Checked, ToolError> {
    let checked = check_or_fault(tools, action, request, notes)?;
    let checked = checked.map_err(|invalid| invalid_call(tools, &invalid, action, request))?;
    Ok(noted(checked, notes))
}

/// The error of invalid parameters, whose corrected call has the request's options.
fn invalid_call(tools: &Tools, invalid: &Invalid, action: &Action, request: &ExecuteRequest) -> ToolError {
    next_call::with_options(error_mapping::invalid_call(tools, invalid, action), action, request)
}

fn check_or_fault(
    tools: &Tools,
    action: &Action,
    request: &ExecuteRequest,
    notes: &mut Vec<String>,
) -> Result<Result<Checked, Invalid>, ToolError> {
    refuse_withheld(tools, action)?;
    if let Some((_, companion)) = companions::given_companions(tools, action, &request.params)?.first() {
        return Err(misplaced_companion(action, companion));
    }
    let context = tools.context()?;
    let params = edits::with_inserted_text(action, &request.params)?;
    Ok(default_project::check(tools, action, params, &context, notes).map_err(|mut invalid| {
        edits::without_inserted_text(action, &request.params, &mut invalid.right);
        invalid
    }))
}

/// The error of a companion's parameter in a call that is itself part of a batch. It is not sent, so it must not be
/// dropped in silence.
fn misplaced_companion(action: &Action, companion: &Companion) -> ToolError {
    let message =
        format!("{} takes `{}` only in a call of its own, not within a batch", action.id, companion.param);
    ToolError::new(ErrorKind::InvalidParams, message)
        .hint(format!("Nothing was sent. Make {} a call of the batch.", companion.action))
}

/// Refuses an action of which every call is denied.
pub fn refuse_withheld(tools: &Tools, action: &Action) -> Result<(), ToolError> {
    match tools.withholds(action) {
        Some(rule) => Err(error_mapping::denied(tools, &action.id, None, &rule, 0)),
        None => Ok(()),
    }
}
