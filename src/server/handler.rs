//! The protocol's requests, each answered by the tools or refused.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Once};

use futures_util::FutureExt;
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, ConstString, ContentBlock, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

use super::Backend;
use super::arguments::{Checked, check};
use super::asking::{self, Asking, Said, Way};
use super::offer::{EXECUTE, FIND, Offer, server_config};
use super::progress::progress;
use super::roots::Roots;
use crate::tools::{Answer, ErrorKind, ToolError, watched};

/// How many actions are executed at a time; the rest wait their turn. A find is over before it could wait.
const CALLS_IN_FLIGHT: usize = 64;

/// How long a client may keep what does not change while the server runs (MCP 2026-07-28, caching).
const FRESH_FOR_MS: u64 = 3_600_000;

/// Answers one client.
pub(super) struct Handler<B> {
    backend: Arc<B>,
    tools: Vec<Tool>,
    turns: Semaphore,
    /// Without it the question is an error's text.
    asking: Option<Asking>,
    roots: Roots,
    used: Once,
}

type Outcome = Result<Answer, ToolError>;

impl<B: Backend> Handler<B> {
    pub(super) fn new(backend: Arc<B>) -> Handler<B> {
        let offered = [&FIND, &EXECUTE].into_iter().filter(|offer| backend.offers(offer.name));
        Handler {
            tools: offered.map(Offer::tool).collect(),
            turns: Semaphore::new(CALLS_IN_FLIGHT),
            asking: Asking::new().ok(),
            roots: Roots::default(),
            used: Once::new(),
            backend,
        }
    }

    /// A call, and the question before it where there is one.
    async fn converse(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name;
        if name == EXECUTE.name
            && let Some(roots) = self.roots.asked(context).await
        {
            self.backend.work_in(&roots);
        }
        let arguments = request.arguments.unwrap_or_default();
        let (state, responses) = (request.request_state.as_deref(), request.input_responses.as_ref());
        match self.asking.as_ref().and_then(|asking| asking.said(state, responses, &arguments)) {
            Some(said) => self.follow(&name, said).await,
            None => {
                let outcome = self.call(&name, arguments.clone()).await?;
                self.ask(&name, arguments, outcome, context).await
            }
        }
    }

    /// Has the user asked where an outcome is a question, and the client can.
    async fn ask(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        outcome: Outcome,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let question = outcome.as_ref().err().and_then(asking::question);
        let (Some((message, agreed)), Some(way)) = (question, asking::way(context)) else {
            return Ok(result(outcome).into());
        };
        match way {
            Way::Request => match asking::ask(context, message, agreed).await {
                Some(said) => self.follow(name, said).await,
                None => Ok(result(outcome).into()),
            },
            Way::Result => {
                let asked =
                    self.asking.as_ref().and_then(|asking| asking.result(message, &arguments, &agreed).ok());
                Ok(asked.map_or_else(|| result(outcome).into(), CallToolResponse::from))
            }
        }
    }

    async fn follow(&self, name: &str, said: Said) -> Result<CallToolResponse, ErrorData> {
        let outcome = match said {
            Said::Yes(agreed) => self.call(name, agreed).await?,
            Said::No => Err(asking::declined()),
        };
        Ok(result(outcome).into())
    }

    /// Has the backend prepare itself beside the first call, which does not wait for it.
    fn prepare(&self) {
        self.used.call_once(|| {
            let backend = Arc::clone(&self.backend);
            tokio::spawn(async move { backend.prepare().await });
        });
    }

    /// One call. A panic is an answer too, or the client would wait for ever.
    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Outcome, ErrorData> {
        if !self.backend.offers(tool) {
            return Err(unknown_tool(tool));
        }
        let outcome = match tool {
            name if name == FIND.name => AssertUnwindSafe(self.find(arguments)).catch_unwind().await,
            name if name == EXECUTE.name => AssertUnwindSafe(self.execute(arguments)).catch_unwind().await,
            unknown => return Err(unknown_tool(unknown)),
        };
        Ok(outcome.unwrap_or_else(|_| Err(fault(tool))))
    }

    async fn find(&self, arguments: Map<String, Value>) -> Outcome {
        let Checked { request, notes } = check(FIND.name, FIND.arguments, arguments)?;
        self.backend.find(&request).map(|answer| with_notes(answer, notes))
    }

    async fn execute(&self, arguments: Map<String, Value>) -> Outcome {
        let Checked { request, notes } = check(EXECUTE.name, EXECUTE.arguments, arguments)?;
        // The semaphore is never closed; without a turn the call would run all the same.
        let _turn = self.turns.acquire().await.ok();
        self.backend.execute(&request).await.map(|answer| with_notes(answer, notes))
    }
}

impl<B: Backend> ServerHandler for Handler<B> {
    fn get_info(&self) -> ServerConfig {
        server_config()
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut result = DiscoverResult::from_server_info(versions, server_config());
        result.ttl_ms = FRESH_FOR_MS;
        result.cache_scope = CacheScope::Public;
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        match request.and_then(|request| request.cursor) {
            Some(cursor) => {
                Err(ErrorData::invalid_params(format!("no page begins at cursor {cursor}"), None))
            }
            None => Ok(ListToolsResult::with_all_items(self.tools.clone())
                .with_ttl_ms(FRESH_FOR_MS)
                .with_cache_scope(CacheScope::Public)),
        }
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.prepare();
        let (told, progress) = progress(&context);
        tokio::select! {
            response = watched(told, self.converse(request, &context)) => response,
            () = progress => Err(ErrorData::internal_error("progress ended before its call", None)),
            // Dropping the call drops its request to GitLab. Nothing is sent for a cancelled request.
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        }
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        self.roots.changed().await;
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        not_offered::<CompleteRequestMethod, _>()
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        not_offered::<ListPromptsRequestMethod, _>()
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        not_offered::<ListResourcesRequestMethod, _>()
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        not_offered::<ListResourceTemplatesRequestMethod, _>()
    }

    /// What rmcp does not know lands here, and so does a `tools/call` whose params are not of its shape.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(match request.method.as_str() {
            "tools/call" => ErrorData::invalid_params(
                "the params of tools/call are {\"name\": string, \"arguments\"?: object}",
                None,
            ),
            _ => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None),
        })
    }
}

/// rmcp answers an empty success for what was never advertised; this is what the protocol asks for.
fn not_offered<M: ConstString, T>() -> Result<T, ErrorData> {
    Err(ErrorData::method_not_found::<M>())
}

/// An error of a tool is a result that the model reads (MCP 2025-11-25, tools, error handling).
fn result(outcome: Outcome) -> CallToolResult {
    let (mut result, structured) = match outcome {
        Ok(answer) => (CallToolResult::success(vec![ContentBlock::text(answer.text)]), answer.structured),
        Err(error) => (CallToolResult::error(vec![ContentBlock::text(error.text())]), error.structured()),
    };
    result.structured_content = Some(Value::Object(structured));
    result
}

fn unknown_tool(name: &str) -> ErrorData {
    ErrorData::invalid_params(
        format!("unknown tool: {name}"),
        Some(json!({"tools": [FIND.name, EXECUTE.name]})),
    )
}

fn fault(tool: &str) -> ToolError {
    ToolError::new(ErrorKind::Internal, format!("{tool} failed at this call by a fault of the server's own."))
        .hint("Its log has the details. A write may have been applied: look before you try again.")
}

fn with_notes(mut answer: Answer, notes: Vec<String>) -> Answer {
    if notes.is_empty() {
        return answer;
    }
    answer.text.push_str(&format!("\n\n{}", notes.join("\n")));
    let listed = answer.structured.entry("notes").or_insert_with(|| json!([]));
    if let Value::Array(listed) = listed {
        listed.extend(notes.into_iter().map(Value::String));
    }
    answer
}
