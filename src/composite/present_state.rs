//! The present state of what a call on trial would change: whether a merge request could be merged, whether a branch is
//! merged. It follows a `dry_run` of the actions that have a rule for it in `catalog/rules.toml`.

use crate::text::pick_fields;
use crate::tools::{Answer, ExecuteRequest, Tools};

/// Field of the structured form.
const NOW: &str = "now";

/// The read that shows the state; none if the action has no rule.
pub fn state_request(tools: &Tools, request: &ExecuteRequest, action: &str) -> Option<ExecuteRequest> {
    let words = tools.catalog().words().ok()?;
    let rule = words.changes.trials.iter().find(|rule| rule.actions.iter().any(|id| id == action))?;
    let read = tools.catalog().get(&rule.read).ok()??;
    let params = pick_fields(&request.params, |name| read.param(name).is_some());
    let fields = (!rule.fields.is_empty()).then(|| rule.fields.clone());
    Some(ExecuteRequest { action: rule.read.clone(), params, fields, ..ExecuteRequest::default() })
}

/// Adds the state to the preview of a call.
pub fn add_state(preview: &mut Answer, state: &Answer) {
    if let Some(data) = state.structured.get("data") {
        preview.structured.insert(NOW.to_owned(), data.clone());
        preview.text = format!("{}Now:\n{}", preview.text, state.text);
    }
}
