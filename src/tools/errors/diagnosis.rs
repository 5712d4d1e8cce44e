//! The diagnosis of a failed call: the only step in which an error leads to further requests. The diagnosis names the
//! missing object, suggests the next call, and says whether a write was applied.

use crate::gitlab::{Applied, GitlabError};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::{CheckedCall, ExecuteRequest};
use crate::tools::error_mapping;
use crate::tools::errors::{
    already_there, commit_conflict, inherited_member, lost_write, missing_file, near_paths, next_call,
    not_found, partial_write, present_state,
};
use crate::tools::instance_version;
use crate::tools::lookups::{self, LookupFailure};
use crate::tools::state::Tools;

/// Diagnoses a look-up that failed before the call was sent.
pub async fn diagnose_lookup(tools: &Tools, failure: LookupFailure) -> ToolError {
    let LookupFailure { error, unknown_path, .. } = failure;
    match unknown_path {
        Some(unknown) => near_paths::suggest(tools, error, &unknown).await,
        None => error,
    }
}

/// Diagnoses a call that was sent and got no success.
pub async fn diagnose_request(
    tools: &Tools,
    error: &GitlabError,
    call: CheckedCall<'_>,
    request: &ExecuteRequest,
) -> ToolError {
    if let GitlabError::NotFound { .. } = error {
        lookups::forget(tools, call.checked);
    }
    let refused = error_mapping::from_gitlab(error, call.checked.action(), tools.token_standing());
    let refused = next_call::with_cause(tools, error, call.checked, refused);
    match error.applied() {
        Applied::Unknown => lost_write::verify_write(tools, call, refused).await,
        Applied::No if not_found::is_of_place(error) => {
            let found = not_found::diagnose_not_found(tools, call, request, refused).await;
            let found = instance_version::explain_missing(tools, error, call.checked, found).await;
            let found = inherited_member::name_origin(tools, call.checked, found).await;
            let found = next_call::suggest_next(tools, error, call, request, found);
            present_state::name_state(tools, found).await
        }
        Applied::No => {
            let refused = partial_write::tell_part(tools, error, call.checked, refused);
            if commit_conflict::is_unnamed(call.checked, &refused) {
                return commit_conflict::name_files(tools, call.checked, refused).await;
            }
            if commit_conflict::is_missing(&refused)
                && let Some(found) =
                    missing_file::diagnose_change(tools, call.checked, request, &refused).await
            {
                return found;
            }
            let refused = already_there::show_existing(tools, call.checked, refused).await;
            let refused = next_call::suggest_next(tools, error, call, request, refused);
            present_state::name_state(tools, refused).await
        }
    }
}

/// Diagnoses a reply whose body is an error, as those of GraphQL are.
pub async fn diagnose_error(
    tools: &Tools,
    error: ToolError,
    call: CheckedCall<'_>,
    request: &ExecuteRequest,
) -> ToolError {
    if error.kind != ErrorKind::NotFound {
        return already_there::show_existing(tools, call.checked, error).await;
    }
    lookups::forget(tools, call.checked);
    not_found::diagnose_not_found(tools, call, request, error).await
}
