//! MCP handler of fixed answers behind the product's HTTP edge: the tools, prompts and resources by which the MCP
//! conformance suite tests a server (`test_simple_text`, …), as `fixtures.json` defines them. It takes the flags of
//! `gitlab-mcp serve`.

// Sampling, roots and subscriptions are deprecated in MCP 2026-07-28, and part of the suite.
#![allow(deprecated)]

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use gitlab_mcp::cli::Arguments;
use gitlab_mcp::config::{self, Config};
use gitlab_mcp::server::http::serve_handler;
use gitlab_mcp::tools::{ToolsFactory, random_bytes};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, CompleteRequestParams, CompleteResult,
    CreateMessageResult, ElicitResult, GetPromptRequestParams, GetPromptResponse, Implementation,
    InputRequest, InputRequests, InputRequiredResult, InputResponses, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListRootsResult, ListToolsResult, LoggingLevel,
    LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam, Prompt,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, RequestStateCodec, Resource,
    ResourceContents, ResourceTemplate, ServerCapabilities, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, Tool, UnsubscribeRequestParams,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// Pause between two notifications.
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixtures {
    tools: Vec<Fixture<Tool>>,
    prompts: Vec<Fixture<Prompt>>,
    resources: Vec<Contents<Resource>>,
    template: Contents<ResourceTemplate>,
    completion: Value,
}

/// A tool or prompt.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixture<T> {
    /// The entry in the list.
    definition: T,
    /// The result, in which `{NAME}` is replaced by an argument and `{responses}` for the input of the client.
    result: Value,
    /// Capability that the client has to have.
    needs: Option<ClientCapabilities>,
    /// Messages to log before the result.
    #[serde(default)]
    logs: Vec<String>,
    /// Steps of progress before the result, of 100.
    #[serde(default)]
    progress: Vec<f64>,
    /// Input to ask the client for before the result, round by round.
    #[serde(default)]
    asks: Vec<InputRequests>,
    /// True if the state of the rounds is sealed and has to come back.
    #[serde(default)]
    seals: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents<T> {
    definition: T,
    contents: Value,
}

/// Next step of a call.
enum Step {
    Ask(InputRequiredResult),
    /// The result, as the fixture has it.
    Finish(Value),
}

#[derive(Clone)]
struct FixtureServer {
    fixtures: Arc<Fixtures>,
    codec: Arc<RequestStateCodec>,
}

impl FixtureServer {
    fn tool(&self, name: &str) -> Option<&Fixture<Tool>> {
        self.fixtures.tools.iter().find(|tool| tool.definition.name == name)
    }

    /// Decides on the next step by the state and the responses that came with the request.
    fn next_step<T>(
        &self,
        fixture: &Fixture<T>,
        arguments: Option<&Map<String, Value>>,
        given: (Option<&InputResponses>, Option<&str>),
        context: &RequestContext<RoleServer>,
    ) -> Result<Step, ErrorData> {
        let capabilities = context.client_capabilities().unwrap_or_default();
        if let Some(needed) = &fixture.needs
            && needed.sampling.is_some()
            && capabilities.sampling.is_none()
        {
            return Err(ErrorData::missing_required_client_capability(needed.clone()));
        }
        let (responses, state) = given;
        let sealed = state.map(|state| self.codec.open_json::<usize>(state)).transpose();
        let sealed = sealed.map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let round = sealed.unwrap_or_default();
        let is_answered = |requests: &InputRequests| {
            responses.is_some_and(|responses| are_answered(requests, responses))
                && (sealed.is_some() || !fixture.seals)
        };
        let round = match fixture.asks.get(round) {
            Some(requests) if is_answered(requests) => round + 1,
            _ => round,
        };
        let Some(requests) = fixture.asks.get(round) else {
            let mut values: BTreeMap<&str, String> = BTreeMap::new();
            for (name, value) in arguments.into_iter().flatten() {
                values.insert(name, value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            }
            values.insert("responses", json!(responses).to_string());
            return Ok(Step::Finish(fill(&fixture.result, &values)));
        };
        let requests = requests.iter().filter(|(_, request)| can_answer(&capabilities, request));
        let requests = requests.map(|(key, request)| (key.clone(), request.clone())).collect();
        let state = fixture.seals.then(|| self.codec.seal_json(&round)).transpose().map_err(internal)?;
        Ok(Step::Ask(InputRequiredResult::new(Some(requests), state)))
    }

    async fn notify<T>(&self, fixture: &Fixture<T>, context: &RequestContext<RoleServer>) {
        // From 2026-07-28 on, a client gets the log messages that its request asks for.
        let is_logged = context.meta.log_level().is_some()
            || context.protocol_version().is_none_or(|version| version.has_initialize());
        for message in fixture.logs.iter().filter(|_| is_logged) {
            let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(message));
            // A client that has gone needs no notification.
            let _ = context.peer.notify_logging_message(message).await;
            tokio::time::sleep(PAUSE).await;
        }
        let Some(token) = context.meta.get_progress_token() else { return };
        for step in &fixture.progress {
            let progress = ProgressNotificationParam::new(token.clone(), *step).with_total(100.0);
            let _ = context.peer.notify_progress(progress).await;
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// True if the client declares that it can answer the request.
fn can_answer(capabilities: &ClientCapabilities, request: &InputRequest) -> bool {
    match request {
        InputRequest::Elicitation(_) => capabilities.elicitation.is_some(),
        InputRequest::CreateMessage(_) => capabilities.sampling.is_some(),
        InputRequest::ListRoots(_) => capabilities.roots.is_some(),
        _ => false,
    }
}

/// True if each request has a response of its form.
fn are_answered(requests: &InputRequests, responses: &InputResponses) -> bool {
    requests.iter().all(|(key, request)| {
        let Some(response) = responses.get(key).cloned() else { return false };
        match request {
            InputRequest::Elicitation(_) => serde_json::from_value::<ElicitResult>(response).is_ok(),
            InputRequest::CreateMessage(_) => serde_json::from_value::<CreateMessageResult>(response).is_ok(),
            InputRequest::ListRoots(_) => serde_json::from_value::<ListRootsResult>(response).is_ok(),
            _ => false,
        }
    })
}

/// Replaces `{NAME}` in all texts of a value.
fn fill(value: &Value, values: &BTreeMap<&str, String>) -> Value {
    match value {
        Value::String(text) => {
            let filled = values
                .iter()
                .fold(text.clone(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value));
            Value::String(filled)
        }
        Value::Array(items) => items.iter().map(|item| fill(item, values)).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(key, field)| (key.clone(), fill(field, values))).collect())
        }
        other => other.clone(),
    }
}

/// A list result with its entries under a key, which clients may cache.
fn list<T: DeserializeOwned>(key: &str, entries: Value) -> Result<T, ErrorData> {
    let mut result = json!({"ttlMs": 3_600_000, "cacheScope": "public"});
    if let Some(fields) = result.as_object_mut() {
        fields.insert(key.to_owned(), entries);
    }
    complete(result)
}

/// A result of a fixture, which is complete.
fn complete<T: DeserializeOwned>(mut result: Value) -> Result<T, ErrorData> {
    if let Some(fields) = result.as_object_mut() {
        fields.insert("resultType".to_owned(), json!("complete"));
    }
    parse(result)
}

fn parse<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(internal)
}

fn internal(error: impl Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

impl ServerHandler for FixtureServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_completions()
            .enable_logging()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("fixtures", "1"))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        Some(self.tool(name)?.definition.clone())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        list("tools", self.fixtures.tools.iter().map(|tool| json!(tool.definition)).collect())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let unknown = || ErrorData::invalid_params(format!("unknown tool {}", request.name), None);
        let tool = self.tool(&request.name).ok_or_else(unknown)?;
        self.notify(tool, &context).await;
        let given = (request.input_responses.as_ref(), request.request_state.as_deref());
        match self.next_step(tool, request.arguments.as_ref(), given, &context)? {
            Step::Ask(asked) => Ok(CallToolResponse::InputRequired(asked)),
            Step::Finish(result) => Ok(CallToolResponse::Complete(complete(result)?)),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        list("prompts", self.fixtures.prompts.iter().map(|prompt| json!(prompt.definition)).collect())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let unknown = || ErrorData::invalid_params(format!("unknown prompt {}", request.name), None);
        let mut prompts = self.fixtures.prompts.iter();
        let prompt = prompts.find(|prompt| prompt.definition.name == request.name).ok_or_else(unknown)?;
        let given = (request.input_responses.as_ref(), request.request_state.as_deref());
        match self.next_step(prompt, request.arguments.as_ref(), given, &context)? {
            Step::Ask(asked) => Ok(GetPromptResponse::InputRequired(asked)),
            Step::Finish(result) => Ok(GetPromptResponse::Complete(complete(result)?)),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        list("resources", self.fixtures.resources.iter().map(|resource| json!(resource.definition)).collect())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        list("resourceTemplates", json!([self.fixtures.template.definition]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (uri, template) = (request.uri.as_str(), &self.fixtures.template);
        let mut resources = self.fixtures.resources.iter();
        let contents = match resources.find(|resource| resource.definition.uri == uri) {
            Some(resource) => resource.contents.clone(),
            None => {
                let id = template.definition.uri_template.split_once("{id}").and_then(|(before, after)| {
                    uri.strip_prefix(before)?.strip_suffix(after).filter(|id| !id.is_empty())
                });
                let unknown = || ErrorData::resource_not_found("unknown resource", Some(json!({"uri": uri})));
                fill(&template.contents, &BTreeMap::from([("id", id.ok_or_else(unknown)?.to_owned())]))
            }
        };
        let contents: ResourceContents = parse(contents)?;
        let result: ReadResourceResult = list("contents", json!([contents]))?;
        Ok(ReadResourceResponse::Complete(result))
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        complete(self.fixtures.completion.clone())
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(false).init();
    let arguments = Arguments::parse_process()?;
    let config = Config::resolve(&arguments.settings.0, config::environment)?;
    let (Some(settings), Some(http)) = (config.all_settings(None), config.http.clone()) else {
        return Err("--url URL and --http ADDRESS are needed".into());
    };
    let factory = ToolsFactory::new(settings)?;
    let fixtures = serde_json::from_str(include_str!("fixtures.json"))?;
    let key: [u8; 32] = random_bytes().ok_or("no random numbers")?;
    let codec = RequestStateCodec::try_new(key.to_vec())?;
    let handler = FixtureServer { fixtures: Arc::new(fixtures), codec: Arc::new(codec) };
    Ok(serve_handler(factory, http, handler).await?)
}
