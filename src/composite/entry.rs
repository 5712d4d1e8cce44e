//! The entry of execute: an action of GitLab's, or one that is made of others. The calls of both go the way of
//! [`run_action`].

use crate::composite::actions::ACTIONS;
use crate::composite::{expand, present_state, run};
use crate::messages::continuation;
use crate::tools::action_lookup;
use crate::tools::audit::AuditEntry;
use crate::tools::error_mapping::OTHER_TOOL;
use crate::tools::prepare::Circumstances;
use crate::tools::response::Outcome;
use crate::tools::run::run_action;
use crate::tools::{
    Answer, ErrorKind, ExecuteRequest, Instances, NextCall, READ, ToolError, Tools, whole_list,
};

impl Tools {
    /// Runs `gitlab_execute_action`.
    ///
    /// # Errors
    /// Whatever kept the call from being made, or made it fail.
    pub async fn execute(&self, request: &ExecuteRequest) -> Result<Answer, ToolError> {
        let mut entry = self.auditor.begin();
        let outcome = execute(self, request, &mut entry).await;
        let previews = outcome.as_ref().is_ok_and(Answer::is_preview);
        entry.ended(previews, outcome.as_ref().err());
        self.filter_output(outcome)
    }
}

impl Instances {
    /// Runs `gitlab_execute_action` on the instance that the request is for.
    ///
    /// # Errors
    /// Errors of [`Tools::execute`], and an instance that is not configured.
    pub async fn execute(&self, request: &ExecuteRequest) -> Result<Answer, ToolError> {
        let (route, request) = self.route_execute(request)?;
        self.finish(route.tools().execute(&request).await, &route)
    }

    /// Runs `gitlab_read_action`: executes what policy calls a read, and refuses everything else.
    ///
    /// # Errors
    /// Errors of [`Instances::execute`], and a call that changes something.
    pub async fn execute_read(&self, request: &ExecuteRequest) -> Result<Answer, ToolError> {
        let (route, asked) = self.route_execute(request)?;
        let Some(reader) = route.reader() else {
            let message = format!("{READ} is not offered (GITLAB_READ_TOOL)");
            let error = ToolError::new(ErrorKind::Denied, message);
            return Err(self.bounded(error.fix(NextCall::for_request(request))));
        };
        let outcome = reader.execute(&asked).await.map_err(|mut error| {
            if error.details.shift_remove(OTHER_TOOL).is_some() {
                error.message = format!("{READ} only reads: {}", error.message);
                error = error.fix(NextCall::for_request(&asked));
            }
            error
        });
        self.finish(outcome, &route)
    }
}

async fn execute(
    tools: &Tools,
    request: &ExecuteRequest,
    entry: &mut AuditEntry<'_>,
) -> Result<Answer, ToolError> {
    let resolved = expand::expand(tools, action_lookup::resolve(tools, request)?).await?;
    continuation::window_start(&resolved.request)?;
    tools.learn_audited_user().await;
    entry.set_action(&resolved.action, &resolved.request.params);
    if resolved.action.plan.is_some() {
        return run::run(ACTIONS, tools, resolved, entry).await;
    }
    if let Some(options) = whole_list::options(tools, &resolved)? {
        return whole_list::execute(tools, resolved, options, entry).await;
    }
    let (action, asked) = (resolved.action.id.clone(), resolved.request.clone());
    match run_action(tools, resolved, Circumstances::default(), None, entry).await? {
        Outcome::Response(response) => Ok(response.answer(tools, tools.max_bytes)),
        Outcome::Answer(mut answer) => {
            if answer.is_preview()
                && let Some(read) = present_state::state_request(tools, &asked, &action)
            {
                // Boxed: the future contains itself. A read that fails or is denied adds nothing.
                let state = Box::pin(execute(tools, &read, &mut tools.auditor.begin())).await;
                state.iter().for_each(|state| present_state::add_state(&mut answer, state));
            }
            Ok(answer)
        }
    }
}
