//! Backend of a server: the implementation of its tools.

use std::future::Future;
use std::sync::Arc;

use serde_json::Value;

use crate::tools::{
    Answer, AskedCall, ConfirmBy, ErrorKind, ExecuteRequest, FindRequest, Instances, Refusal, Route,
    ToolError, Tools,
};

/// Backend of a server: the [`Instances`], or a test double.
pub trait Backend: Send + Sync + 'static {
    /// Chooses the instance of a find; a test double has none.
    fn route_find(&self, _request: &FindRequest) -> Result<Option<Route>, ToolError> {
        Ok(None)
    }

    /// Runs `gitlab_find_action` on the chosen instance.
    fn find(&self, request: &FindRequest, route: Option<&Route>) -> Result<Answer, ToolError>;

    /// Runs `gitlab_execute_action`. Dropping the future cancels the request to GitLab.
    fn execute(&self, request: &ExecuteRequest) -> impl Future<Output = Result<Answer, ToolError>> + Send;

    /// Runs `gitlab_read_action`.
    fn execute_read(
        &self,
        request: &ExecuteRequest,
    ) -> impl Future<Output = Result<Answer, ToolError>> + Send {
        self.execute(request)
    }

    /// Who confirms where the client can ask a person.
    fn confirm_by(&self) -> ConfirmBy {
        ConfirmBy::default()
    }

    /// Notes that a person did not consent to calls of an instance, and returns their error.
    fn refuse(&self, _instance: Option<&str>, _asked: &[AskedCall], refusal: Refusal) -> ToolError {
        ToolError::new(ErrorKind::Declined, format!("{refusal:?}"))
    }

    /// True if no rule removes a tool of this name.
    fn allows_tool(&self, _tool: &str) -> bool {
        true
    }

    /// Tools behind prompts, completions and lists of resources: those of the instance of that name, else those of the
    /// default; a test double has none.
    fn tools(&self, _instance: Option<&str>) -> Option<&Tools> {
        None
    }

    /// The tools that a resource is read with, and its URI as they know it.
    fn route_resource(&self, _uri: &str) -> Option<Result<(Arc<Tools>, String), ToolError>> {
        None
    }

    /// Removes the credentials of all instances from a text.
    fn redact(&self, _text: &mut String) {}

    /// Removes the credentials of all instances from a value.
    fn redact_value(&self, _value: &mut Value) {}

    /// Sets the client's roots (URIs of its directories).
    fn work_in(&self, _roots: &[String]) {}

    /// Requests worth sending early, started by the first call.
    fn request_early(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// Waits, for a bounded time, for the results of [`Backend::request_early`] that a find on this instance needs.
    fn wait_for_scopes(&self, _route: &Route) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}

impl Backend for Instances {
    fn route_find(&self, request: &FindRequest) -> Result<Option<Route>, ToolError> {
        Instances::route_find(self, request).map(Some)
    }

    fn find(&self, request: &FindRequest, route: Option<&Route>) -> Result<Answer, ToolError> {
        match route {
            Some(route) => self.find_at(route, request),
            None => Instances::find(self, request),
        }
    }

    async fn execute(&self, request: &ExecuteRequest) -> Result<Answer, ToolError> {
        Instances::execute(self, request).await
    }

    async fn execute_read(&self, request: &ExecuteRequest) -> Result<Answer, ToolError> {
        Instances::execute_read(self, request).await
    }

    fn confirm_by(&self) -> ConfirmBy {
        self.front().confirm_by()
    }

    fn refuse(&self, instance: Option<&str>, asked: &[AskedCall], refusal: Refusal) -> ToolError {
        Instances::refuse(self, instance, asked, refusal)
    }

    fn allows_tool(&self, tool: &str) -> bool {
        self.front().offers(tool)
    }

    fn tools(&self, instance: Option<&str>) -> Option<&Tools> {
        Some(self.tools_named(instance))
    }

    fn route_resource(&self, uri: &str) -> Option<Result<(Arc<Tools>, String), ToolError>> {
        Some(Instances::route_resource(self, uri))
    }

    fn redact(&self, text: &mut String) {
        self.redact_text(text);
    }

    fn redact_value(&self, value: &mut Value) {
        Instances::redact_value(self, value);
    }

    fn work_in(&self, roots: &[String]) {
        Instances::work_in(self, roots);
    }

    async fn request_early(&self) {
        self.default_tools().request_token_info().await;
    }

    async fn wait_for_scopes(&self, route: &Route) {
        // The scopes of the others are requested by the first call that changes something there.
        if Arc::ptr_eq(route.tools(), self.default_tools()) {
            route.tools().wait_for_scopes().await;
        }
    }
}
