//! Dispatch of an execute: a composite action, a whole list, or a single request.

use crate::tools::action_lookup;
use crate::tools::audit::AuditEntry;
use crate::tools::each_value;
use crate::tools::errors::ToolError;
use crate::tools::execute::{self, Outcome, RunOptions};
use crate::tools::reply::continuation;
use crate::tools::state::Tools;
use crate::tools::types::{Answer, ExecuteRequest};
use crate::tools::whole_list;

/// Executes.
pub async fn execute(
    tools: &Tools,
    request: &ExecuteRequest,
    entry: &mut AuditEntry<'_>,
) -> Result<Answer, ToolError> {
    let resolved_action = each_value::expand(tools, action_lookup::resolve(tools, request)?).await?;
    continuation::window_start(&resolved_action.request)?;
    entry.set_action(&resolved_action.action);
    if resolved_action.action.plan.is_some() {
        return tools.composites.run(tools, resolved_action, entry).await;
    }
    if let Some(options) = whole_list::options(tools, &resolved_action)? {
        return whole_list::execute(tools, resolved_action, options, entry).await;
    }
    match execute::run_action(tools, resolved_action, RunOptions::default(), entry).await? {
        Outcome::Response(response) => Ok(response.answer(tools, tools.max_bytes)),
        Outcome::Answer(answer) => Ok(answer),
    }
}
