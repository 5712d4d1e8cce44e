//! Writes of several steps: GitLab may have made the first when it refuses the next, so the call is not to be sent again
//! before somebody has looked.

use serde_json::json;

use crate::call::Checked;
use crate::gitlab::GitlabError;
use crate::messages::error::ToolError;
use crate::messages::request::NextCall;
use crate::text::pick_fields;
use crate::tools::state::Tools;

/// The refusal with the step that may have been made, and the read that shows it.
pub fn tell_part(tools: &Tools, error: &GitlabError, checked: &Checked, refused: ToolError) -> ToolError {
    let Ok(words) = tools.catalog.words() else { return refused };
    let mut rules = words.changes.partial.iter();
    let rule = rules.find(|rule| rule.actions.contains(&checked.action().id));
    let (Some(rule), GitlabError::Invalid { answer }) = (rule, error) else { return refused };
    if !matches!(answer.status, 400 | 422) {
        return refused;
    }
    let Some(read) = tools.catalog.get(&rule.read).ok().flatten() else { return refused };
    let is_needed = |name: &String| read.param(name).is_some_and(|param| param.required);
    let params = pick_fields(checked.params(), is_needed);
    let hint = format!("{}: see what `fix` shows before you send it again.", rule.made);
    refused.detail("applied", json!("part")).hint(hint).fix(NextCall::execute(&rule.read, &params))
}
