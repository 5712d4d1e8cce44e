//! MCP handler of an HTTP request: hands it to the handler of its caller, and records tool calls.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use axum::http::header::USER_AGENT;
use axum::http::request::Parts;
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, DiscoverResult, GetPromptRequestParams, GetPromptResponse, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};

use super::callers::NarrowedTools;
use super::metrics::{CallLabels, Metrics};
use super::request_rules::TakesJsonAlone;
use crate::server::handler::{ClientName, FindTurns};
use crate::tools::{EXECUTE, READ, ToolsFactory};

/// Header that the client fills with the action of an execute (MCP 2026-07-28, transports, `x-mcp-header`): gateways
/// and logs see `Mcp-Param-Action`.
const ACTION_HEADER: &str = "Action";

/// The tools whose argument is an action.
const ACTION_TOOLS: [&str; 2] = [EXECUTE, READ];

/// The tool call of an HTTP request, for the access log and the status of the response.
#[derive(Debug)]
pub(super) struct CallRecord {
    /// The name of the caller.
    caller: String,
    labels: OnceLock<CallLabels>,
    needs_scope: OnceLock<()>,
}

impl CallRecord {
    pub(super) fn new(caller: String) -> CallRecord {
        CallRecord { caller, labels: OnceLock::new(), needs_scope: OnceLock::new() }
    }

    pub(super) fn caller(&self) -> &str {
        &self.caller
    }

    /// The labels of the tool call; none if the request was none.
    pub(super) fn labels(&self) -> Option<&CallLabels> {
        self.labels.get()
    }

    /// True if the call failed for a scope that the token lacks.
    pub(super) fn needs_scope(&self) -> bool {
        self.needs_scope.get().is_some()
    }
}

/// MCP handler of HTTP requests.
#[derive(Clone)]
pub(super) struct HttpHandler {
    /// The tools without a credential, by which tools and instructions are described.
    pub(super) front: Arc<NarrowedTools>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) factory: Arc<ToolsFactory>,
}

/// The tools of the caller that the edge has identified.
fn caller(context: &RequestContext<RoleServer>) -> Result<Arc<NarrowedTools>, ErrorData> {
    let found = part::<Arc<NarrowedTools>>(context);
    found.ok_or_else(|| ErrorData::internal_error("the request has no caller", None))
}

/// Data that the edge attached to the HTTP request.
fn part<T: Clone + Send + Sync + 'static>(context: &RequestContext<RoleServer>) -> Option<T> {
    context.extensions.get::<Parts>()?.extensions.get::<T>().cloned()
}

/// Takes the name of the client from `User-Agent`, such as `claude-code/2.1.197 (cli)`.
fn name_client(context: &mut RequestContext<RoleServer>) {
    let agent = context.extensions.get::<Parts>().and_then(|parts| parts.headers.get(USER_AGENT));
    let name = agent.and_then(|agent| agent.to_str().ok()?.split(['/', ' ']).next().map(str::to_owned));
    context.extensions.insert(ClientName(name.unwrap_or_default()));
}

impl ServerHandler for HttpHandler {
    fn get_info(&self) -> ServerConfig {
        self.front.handler.get_info()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tool = ACTION_TOOLS.contains(&name).then(|| self.front.handler.tool(name))??;
        Some(with_action_header(tool))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        // Its headers may leave less than the server has, and the instructions say what there is.
        match caller(&context) {
            Ok(caller) => caller.handler.initialize(request, context).await,
            Err(_) => self.front.handler.initialize(request, context).await,
        }
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        caller(&context)?.handler.discover(context).await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        mut context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        name_client(&mut context);
        let mut listed = caller(&context)?.handler.list_tools(request, context).await?;
        listed.tools = listed.tools.into_iter().map(with_action_header).collect();
        Ok(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (caller, started) = (caller(&context)?, Instant::now());
        let record = part::<Arc<CallRecord>>(&context);
        let tool = self.front.handler.tool(&request.name).map_or("unknown", |_| request.name.as_ref());
        let mut labels = CallLabels {
            tool: tool.to_owned(),
            action: self.action_label(request.arguments.as_ref()),
            outcome: "ok".to_owned(),
        };
        name_client(&mut context);
        if part::<TakesJsonAlone>(&context).is_some() {
            context.meta.remove("progressToken");
        }
        if let Some(turns) = part::<FindTurns>(&context) {
            context.extensions.insert(turns);
        }
        let response = caller.handler.call_tool(request, context).await;
        let error = match &response {
            Ok(CallToolResponse::Complete(result)) if result.is_error == Some(true) => {
                result.structured_content.as_ref().and_then(|content| content.get("error"))
            }
            Ok(CallToolResponse::Complete(_)) => None,
            Ok(_) => {
                labels.outcome = "input_required".to_owned();
                None
            }
            Err(_) => {
                labels.outcome = "protocol_error".to_owned();
                None
            }
        };
        if let Some(error) = error {
            labels.outcome = error.get("kind").and_then(Value::as_str).unwrap_or("error").to_owned();
            if error.get("missing_scope").is_some() {
                let _ = record.as_ref().map(|record| record.needs_scope.set(()));
            }
        }
        self.metrics.record_call(labels.clone(), started.elapsed());
        // A request has one tool call.
        let _ = record.map(|record| record.labels.set(labels));
        response
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        caller(&context)?.handler.complete(request, context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        caller(&context)?.handler.list_prompts(request, context).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        caller(&context)?.handler.get_prompt(request, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        caller(&context)?.handler.list_resources(request, context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        caller(&context)?.handler.list_resource_templates(request, context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        caller(&context)?.handler.read_resource(request, context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        caller(&context)?.handler.on_custom_request(request, context).await
    }
}

impl HttpHandler {
    /// The action of a call as a label: an id of the catalog, or `unknown`.
    fn action_label(&self, arguments: Option<&Map<String, Value>>) -> String {
        match arguments.and_then(|arguments| arguments.get("action")).and_then(Value::as_str) {
            None => String::new(),
            Some(id) if self.factory.is_action(id) => id.to_owned(),
            Some(_) => "unknown".to_owned(),
        }
    }
}

/// The tool with the annotation of its parameter `action`, if it has one.
fn with_action_header(mut tool: Tool) -> Tool {
    if !ACTION_TOOLS.contains(&tool.name.as_ref()) {
        return tool;
    }
    let mut schema = (*tool.input_schema).clone();
    if let Some(Value::Object(action)) = schema.get_mut("properties").and_then(|all| all.get_mut("action")) {
        action.insert("x-mcp-header".to_owned(), json!(ACTION_HEADER));
    }
    tool.input_schema = Arc::new(schema);
    tool
}
