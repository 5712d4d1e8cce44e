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

use super::callers::NarrowedHandler;
use super::metrics::{CallLabels, Metrics};
use super::request_rules::TakesJsonAlone;
use crate::server::request_parts::{ClientName, FindTurns};
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
    /// Describes tools and instructions to whom no caller is known: without a credential, or with the server's own.
    pub(super) front: Arc<NarrowedHandler>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) factory: Arc<ToolsFactory>,
}

/// The handler of the caller that the edge has identified.
fn caller(context: &RequestContext<RoleServer>) -> Result<Arc<NarrowedHandler>, ErrorData> {
    let found = part::<Arc<NarrowedHandler>>(context);
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

/// Methods that the handler of the caller answers.
macro_rules! forward {
    ($($method:ident($request:ty) -> $response:ty;)+) => {$(
        async fn $method(
            &self,
            request: $request,
            context: RequestContext<RoleServer>,
        ) -> Result<$response, ErrorData> {
            caller(&context)?.handler.$method(request, context).await
        }
    )+};
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
        let (tool, action) = (tool.to_owned(), self.action_label(request.arguments.as_ref()));
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
            _ => None,
        };
        let outcome = match (&response, error) {
            (_, Some(error)) => error.get("kind").and_then(Value::as_str).unwrap_or("error"),
            (Ok(CallToolResponse::Complete(_)), None) => "ok",
            (Ok(_), None) => "input_required",
            (Err(_), None) => "protocol_error",
        };
        if error.is_some_and(|error| error.get("missing_scope").is_some()) {
            let _ = record.as_ref().map(|record| record.needs_scope.set(()));
        }
        let labels = CallLabels { tool, action, outcome: outcome.to_owned() };
        self.metrics.record_call(labels.clone(), started.elapsed());
        // A request has one tool call.
        let _ = record.map(|record| record.labels.set(labels));
        response
    }

    forward! {
        complete(CompleteRequestParams) -> CompleteResult;
        list_prompts(Option<PaginatedRequestParams>) -> ListPromptsResult;
        get_prompt(GetPromptRequestParams) -> GetPromptResponse;
        list_resources(Option<PaginatedRequestParams>) -> ListResourcesResult;
        list_resource_templates(Option<PaginatedRequestParams>) -> ListResourceTemplatesResult;
        read_resource(ReadResourceRequestParams) -> ReadResourceResponse;
        on_custom_request(CustomRequest) -> CustomResult;
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
