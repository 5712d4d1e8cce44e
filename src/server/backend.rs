//! Backend of a server: the implementation of its tools.

use std::future::Future;

use crate::tools::{Answer, ExecuteRequest, FindRequest, ToolError, Tools};

/// Backend of a server: the [`Tools`], or a test double.
pub trait Backend: Send + Sync + 'static {
    /// Runs `gitlab_find_action`.
    fn find(&self, request: &FindRequest) -> Result<Answer, ToolError>;

    /// Runs `gitlab_execute_action`. Dropping the future cancels the request to GitLab.
    fn execute(&self, request: &ExecuteRequest) -> impl Future<Output = Result<Answer, ToolError>> + Send;

    /// Returns true if a tool with this name exists.
    fn offers(&self, _tool: &str) -> bool {
        true
    }

    /// Tools behind resources, prompts and completions; a test double has none.
    fn tools(&self) -> Option<&Tools> {
        None
    }

    /// Sets the client's roots (URIs of its directories).
    fn work_in(&self, _roots: &[String]) {}

    /// Requests worth sending early, started by the first call.
    fn prepare(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// True if the answer of a find depends on the version of the instance, which is not known yet.
    fn needs_version(&self, _answer: &Answer) -> bool {
        false
    }

    /// Requests the version of the instance, within the time that a find may wait.
    fn learn_version(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// Waits, for a bounded time, for the results of [`Backend::prepare`] that a find needs.
    fn prepared_to_find(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}

impl Backend for Tools {
    fn find(&self, request: &FindRequest) -> Result<Answer, ToolError> {
        Tools::find(self, request)
    }

    async fn execute(&self, request: &ExecuteRequest) -> Result<Answer, ToolError> {
        Tools::execute(self, request).await
    }

    fn offers(&self, tool: &str) -> bool {
        Tools::offers(self, tool)
    }

    fn tools(&self) -> Option<&Tools> {
        Some(self)
    }

    fn work_in(&self, roots: &[String]) {
        Tools::work_in(self, roots);
    }

    async fn prepare(&self) {
        self.learn_limits().await;
    }

    fn needs_version(&self, answer: &Answer) -> bool {
        Tools::needs_version(self, answer)
    }

    async fn learn_version(&self) {
        Tools::learn_version(self).await;
    }

    async fn prepared_to_find(&self) {
        self.wait_for_scopes().await;
    }
}
