//! Handler of MCP requests: each is dispatched to the tools or rejected.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Once};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::FutureExt;
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, ConstString, ContentBlock, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, GetPromptRequestMethod, GetPromptRequestParams, GetPromptResponse,
    ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod,
    ListResourceTemplatesResult, ListResourcesRequestMethod, ListResourcesResult, ListToolsResult,
    MetaObject, PaginatedRequestParams, ReadResourceRequestMethod, ReadResourceRequestParams,
    ReadResourceResponse, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use serde_json::{Map, Value, json};
use tokio::sync::{Semaphore, watch};

use super::backend::Backend;
use super::elicitation::{self, Mechanism, OpenQuestion, QuestionSeal, UserAnswer};
use super::output::Queue;
use super::progress::progress;
use super::request_parts::{ClientName, FindTurns};
use super::resources_prompts;
use super::roots::ClientRoots;
use super::running_calls::RunningCalls;
use super::server_info::{FRESH_FOR_MS, server_config, tool};
use super::shortened_structure;
use super::worker::Worker;
use crate::surface::{CheckedArguments, PageError, Surface, SurfaceKind, ToolRequest};
use crate::tools::{
    Answer, Attachment, Capabilities, ConfirmBy, EXECUTE, ErrorKind, Event, ExecuteRequest, FIND, INSTANCE,
    Instances, Route, ToolError, Tools, watched,
};

/// Maximum number of concurrent executions. Finds of a session are not limited: they are fast.
const CALLS_IN_FLIGHT: usize = 64;

/// Field of the `_meta` of a list of tools: which toolset is active.
const ACTIVE_TOOLSET: &str = "activeToolset";

/// MCP handler of one client session.
pub(super) struct Handler<B> {
    /// First field: dropped before the data that its calls use.
    worker: Worker,
    backend: Arc<B>,
    surface: Surface,
    /// Notifies subscribers of a changed tool list.
    changed: watch::Sender<()>,
    turns: Arc<Semaphore>,
    /// Queue of responses to be written.
    queue: Arc<Queue>,
    /// Calls of the session without an answer; empty without a session.
    calls: Arc<RunningCalls>,
    /// Without it, the question of a result is returned as an error text.
    seal: Option<QuestionSeal>,
    /// True if the client can answer a request of the server.
    has_session: bool,
    roots: ClientRoots,
    used: Once,
}

type ToolOutcome = Result<Answer, ToolError>;

/// The calls that a tool executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AllowedKinds {
    All,
    Reads,
}

impl<B: Backend> Handler<B> {
    pub(super) fn new(backend: Arc<B>, surface: Surface, queue: Arc<Queue>) -> Handler<B> {
        Handler {
            worker: Worker::default(),
            surface,
            changed: watch::Sender::default(),
            turns: Arc::new(Semaphore::new(CALLS_IN_FLIGHT)),
            queue,
            calls: Arc::default(),
            seal: QuestionSeal::new(),
            has_session: true,
            roots: ClientRoots::default(),
            used: Once::new(),
            backend,
        }
    }

    /// The handler, which notes the changes of these calls.
    pub(super) fn noting(self, calls: Arc<RunningCalls>) -> Handler<B> {
        Handler { calls, ..self }
    }

    /// A handler of requests that belong to no session. Calls run on the current runtime.
    pub(super) fn without_session(backend: Arc<B>, surface: Surface) -> Handler<B> {
        let handler = Handler::new(backend, surface, Arc::default());
        Handler { worker: Worker::of_current_runtime(), has_session: false, ..handler }
    }

    /// The tool of this name, as in the list of tools.
    pub(super) fn tool(&self, name: &str) -> Option<Tool> {
        let page =
            self.surface.page(None, &|offered| offered == name && self.backend.allows_tool(offered)).ok()?;
        page.tools.into_iter().next().map(tool)
    }

    /// A call, and the question before it where there is one.
    async fn converse(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name;
        if name != FIND
            && let Some(roots) = self.roots.request_roots(context).await
        {
            self.backend.work_in(&roots);
        }
        let arguments = request.arguments.unwrap_or_default();
        let (state, responses) = (request.request_state.as_deref(), request.input_responses.as_ref());
        match self.seal.as_ref().and_then(|seal| seal.open(state, responses, &name, &arguments)) {
            Some((question, answer)) => Ok(self.follow(question, answer).await),
            None => {
                let outcome = self.call(&name, arguments.clone(), context).await?;
                Ok(self.respond(&name, arguments, outcome, context).await)
            }
        }
    }

    /// True if the client that asks gets structured content.
    fn gives_structure(&self, context: &RequestContext<RoleServer>) -> bool {
        let in_request = context.meta.client_info().map(|client| client.name);
        let by_agent = || context.extensions.get::<ClientName>().map(|client| client.0.clone());
        let by_handshake = || context.client_info().map(|client| client.name);
        let named = in_request.or_else(by_agent).or_else(by_handshake);
        self.surface.gives_structure(named.as_deref())
    }

    /// The response to a call of this action as the client gets it. An error keeps its structure, which is as long as its
    /// text.
    fn for_client(
        &self,
        response: CallToolResponse,
        asked: Option<&str>,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let CallToolResponse::Complete(mut result) = response else { return response };
        let is_success = result.is_error != Some(true);
        match result.structured_content.take() {
            Some(Value::Object(structured)) if !is_success || self.gives_structure(context) => {
                let shortened = shortened_structure::shortened(structured, asked);
                result.structured_content = Some(Value::Object(shortened));
            }
            _ => {}
        }
        CallToolResponse::Complete(result)
    }

    /// Mechanism by which the client can ask its user, if any.
    fn mechanism(&self, context: &RequestContext<RoleServer>) -> Option<Mechanism> {
        elicitation::mechanism(context, self.has_session)
            .filter(|mechanism| *mechanism == Mechanism::Request || self.seal.is_some())
    }

    /// The response to an outcome. The user is asked about one that is a question, if the client can.
    async fn respond(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        outcome: ToolOutcome,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let asked = outcome.as_ref().err().and_then(elicitation::question);
        let (Some((text, question)), Some(mechanism)) = (asked, self.mechanism(context)) else {
            return self.result(outcome).into();
        };
        let response = match mechanism {
            Mechanism::Request => match elicitation::ask(context, text).await {
                Some(answer) => Some(self.follow(question, answer).await),
                None => None,
            },
            Mechanism::Result => {
                let sealed =
                    self.seal.as_ref().map(|seal| seal.input_required(text, tool, &arguments, question));
                sealed.and_then(Result::ok).map(CallToolResponse::from)
            }
        };
        let by = self.backend.confirm_by();
        response.unwrap_or_else(|| {
            self.result(outcome.map_err(|error| elicitation::unanswered_in_time(error, by))).into()
        })
    }

    /// Runs the call that the user answered about. Whichever tool was called, it is executing an action, from its
    /// arguments anew: what the server found out for the question may have changed since.
    async fn follow(&self, question: OpenQuestion, answer: UserAnswer) -> CallToolResponse {
        let outcome = match answer {
            UserAnswer::Accepted => match self.surface.parse_call(EXECUTE, question.consenting_arguments) {
                Some(Ok(ToolRequest::Execute(mut checked))) => {
                    checked.request.agreed = question.asked.into_iter().map(|call| call.exact).collect();
                    self.execute(EXECUTE, *checked, AllowedKinds::All).await
                }
                Some(Err(error)) => Err(error),
                _ => Err(fault(EXECUTE)),
            },
            UserAnswer::Refused(refusal) => {
                let instance = question.consenting_arguments.get(INSTANCE).and_then(Value::as_str);
                Err(self.backend.refuse(instance, &question.asked, refusal))
            }
        };
        self.result(outcome).into()
    }

    /// An error of a tool is a result that the model reads (MCP 2025-11-25, tools, error handling).
    fn result(&self, outcome: ToolOutcome) -> CallToolResult {
        result(self.surface.rewrite_answer(outcome))
    }

    /// Starts [`Backend::request_early`] in the background, with the first call.
    fn request_early(&self) {
        self.used.call_once(|| {
            let backend = Arc::clone(&self.backend);
            self.worker.run_detached(async move { backend.request_early().await });
        });
    }

    /// Runs one tool call.
    async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<ToolOutcome, ErrorData> {
        let offers = |tool: &str| self.backend.allows_tool(tool);
        if !(offers(tool) && self.surface.has(tool)) {
            return Err(unknown_tool(self.surface.unknown_tool(tool, &arguments, &offers)));
        }
        let read = self.surface.parse_call(tool, arguments);
        let request =
            read.ok_or_else(|| unknown_tool(self.surface.unknown_tool(tool, &Map::new(), &offers)))?;
        Ok(match request {
            Ok(ToolRequest::Find(CheckedArguments { request, notes })) => {
                let turns = context.extensions.get::<FindTurns>().cloned().unwrap_or_default();
                let find = async {
                    let route = self.backend.route_find(&request)?;
                    if let Some(route) = &route {
                        self.backend.wait_for_scopes(route).await;
                    }
                    let find = async || {
                        let _turns = turns.take().await;
                        self.backend.find(&request, route.as_ref())
                    };
                    let mut answer = find().await?;
                    let tools = route.as_ref().map(Route::tools).filter(|tools| tools.needs_version(&answer));
                    if let Some(tools) = tools.map(Arc::clone) {
                        let _ = self.worker.run(async move { tools.learn_version().await }).await;
                        answer = find().await?;
                    }
                    Ok(with_notes(answer, notes))
                };
                self.catch_panic(tool, find).await
            }
            Ok(ToolRequest::Execute(mut checked)) => {
                // The model's consent does not replace the answer of a person who can be asked.
                if self.mechanism(context).is_some() && self.backend.confirm_by() == ConfirmBy::Person {
                    (checked.request.confirm, checked.request.confirmation_token) = (None, None);
                }
                self.execute(tool, *checked, AllowedKinds::All).await
            }
            Ok(ToolRequest::Read(checked)) => self.execute(tool, *checked, AllowedKinds::Reads).await,
            Ok(ToolRequest::Activate(checked)) => {
                let outcome = self.surface.activate(&checked.request);
                if outcome.is_ok() {
                    self.list_changed(context).await;
                }
                outcome
            }
            Err(error) => Err(error),
        })
    }

    /// A panic is an answer too, or the client would wait for ever.
    async fn catch_panic(&self, tool: &str, outcome: impl Future<Output = ToolOutcome>) -> ToolOutcome {
        AssertUnwindSafe(outcome).catch_unwind().await.unwrap_or_else(|_| Err(fault(tool)))
    }

    async fn execute(
        &self,
        tool: &str,
        CheckedArguments { request, notes }: CheckedArguments<ExecuteRequest>,
        kinds: AllowedKinds,
    ) -> ToolOutcome {
        // No further call starts while the client does not read its responses.
        self.queue.wait_for_room().await;
        let (backend, turns) = (Arc::clone(&self.backend), Arc::clone(&self.turns));
        let outcome = self.worker.run(async move {
            // The semaphore is never closed, so `acquire` cannot fail.
            let _turn = turns.acquire().await.ok();
            match kinds {
                AllowedKinds::All => backend.execute(&request).await,
                AllowedKinds::Reads => backend.execute_read(&request).await,
            }
        });
        let outcome = outcome.await.unwrap_or_else(|_| Err(fault(tool)));
        outcome.map(|answer| with_notes(answer, notes))
    }

    /// Sends notifications/tools/list_changed: to the session or, without sessions, to the subscribers (MCP 2026-07-28,
    /// subscriptions).
    async fn list_changed(&self, context: &RequestContext<RoleServer>) {
        self.changed.send_replace(());
        let has_sessions = context.protocol_version().is_none_or(|version| version.has_initialize());
        if !has_sessions {
            return;
        }
        if let Err(error) = context.peer.notify_tool_list_changed().await {
            tracing::debug!(%error, "cannot send notifications/tools/list_changed");
        }
    }
}

impl<B: Backend> Handler<B> {
    /// The tools, for a method other than those of tools. Without them, the error that the protocol requires; rmcp
    /// answers an empty success to methods that were never advertised.
    fn require_tools<M: ConstString>(&self) -> Result<&Tools, ErrorData> {
        self.backend.tools(None).ok_or_else(ErrorData::method_not_found::<M>)
    }

    /// The same of a method that is only there in full.
    fn full<M: ConstString>(&self) -> Result<&Tools, ErrorData> {
        let tools = self.require_tools::<M>()?;
        let is_full = tools.capabilities() == Capabilities::Full;
        is_full.then_some(tools).ok_or_else(ErrorData::method_not_found::<M>)
    }
}

impl Handler<Instances> {
    /// Sets the scopes of the caller's token, if they are known before its first call.
    pub(super) fn set_scopes(&self, scopes: &[String]) {
        self.backend.set_scopes(scopes);
    }

    /// True if GitLab has accepted the caller's credential.
    pub(super) fn is_accepted(&self) -> bool {
        self.backend.is_accepted()
    }
}

impl<B: Backend> ServerHandler for Handler<B> {
    fn get_info(&self) -> ServerConfig {
        server_config(&self.surface, self.backend.tools(None).map(Tools::capabilities))
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut result = DiscoverResult::from_server_info(versions, self.get_info());
        result.ttl_ms = FRESH_FOR_MS;
        result.cache_scope = CacheScope::Public;
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let page = self.surface.page(cursor.as_deref(), &|name| self.backend.allows_tool(name));
        let page = page.map_err(|error| match error {
            PageError::Cursor(_) => ErrorData::invalid_params(error.to_string(), None),
            PageError::Catalog(_) => ErrorData::internal_error(error.to_string(), None),
        })?;
        let gives_structure = self.gives_structure(&context);
        let mut tools: Vec<Tool> = page.tools.into_iter().map(tool).collect();
        for tool in tools.iter_mut().filter(|_| !gives_structure) {
            tool.output_schema = None;
        }
        let mut list = ListToolsResult::with_all_items(tools);
        list.next_cursor = page.next;
        list.meta = self.surface.active_toolset().map(|name| {
            let mut meta = MetaObject::default();
            meta.0.insert(ACTIVE_TOOLSET.to_owned(), json!(name));
            meta
        });
        // The toolset that a session activates is private to the session.
        Ok(match self.surface.kind() {
            SurfaceKind::Toolset => list.with_ttl_ms(0).with_cache_scope(CacheScope::Private),
            // Another client may get another list.
            _ if self.surface.tells_clients_apart() => {
                list.with_ttl_ms(FRESH_FOR_MS).with_cache_scope(CacheScope::Private)
            }
            _ => list.with_ttl_ms(FRESH_FOR_MS).with_cache_scope(CacheScope::Public),
        })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.request_early();
        let asked = request.arguments.as_ref().and_then(|arguments| arguments.get("action"));
        let asked = asked.and_then(Value::as_str).map(str::to_owned);
        let (told, progress) = progress(&context);
        let (calls, id) = (Arc::clone(&self.calls), context.id.clone());
        let listener = move |event| {
            if event == Event::SendingChange {
                calls.note_change(&id);
            }
            told(event);
        };
        tokio::select! {
            response = watched(listener, self.converse(request, &context)) => {
                response.map(|response| self.for_client(response, asked.as_deref(), &context))
            }
            () = progress => Err(ErrorData::internal_error("progress ended before its call", None)),
            // Dropping the call drops its request to GitLab. Nothing is sent for a cancelled request.
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        }
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let changes = self.surface.kind() == SurfaceKind::Toolset;
        changes.then(|| SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changed.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                Ok(()) = changes.changed() => {
                    if context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        self.roots.changed().await;
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.full::<CompleteRequestMethod>()?;
        let backend = Arc::clone(&self.backend);
        let completed = self.worker.run(async move {
            let given = request.context.as_ref().and_then(|context| context.arguments.as_ref());
            let instance = given.and_then(|given| given.get(INSTANCE)).map(String::as_str);
            let tools = backend.tools(instance);
            let tools = tools.ok_or_else(ErrorData::method_not_found::<CompleteRequestMethod>)?;
            resources_prompts::complete(tools, request).await
        });
        guarded(&context, completed.map(|done| done.unwrap_or_else(|_| Err(own_fault())))).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let tools = self.full::<ListPromptsRequestMethod>()?;
        resources_prompts::one_page(request).map(|()| resources_prompts::prompts(tools))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let tools = self.full::<GetPromptRequestMethod>()?;
        let prompt = async { resources_prompts::prompt(tools, request) };
        guarded(&context, prompt).await.map(GetPromptResponse::from)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let tools = self.require_tools::<ListResourcesRequestMethod>()?;
        let own = self.surface.toolsets_resource();
        resources_prompts::one_page(request).map(|()| resources_prompts::resources(tools, own))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let tools = self.require_tools::<ListResourceTemplatesRequestMethod>()?;
        resources_prompts::one_page(request).map(|()| resources_prompts::templates(tools))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.require_tools::<ReadResourceRequestMethod>()?;
        let offers = |tool: &str| self.backend.allows_tool(tool);
        let own = self.surface.resource(&request.uri, &offers);
        if let Some(resource) = own.map_err(|error| resources_prompts::refused(&error))? {
            return Ok(resources_prompts::surface_resource(resource, request.uri).into());
        }
        let uri = request.uri.clone();
        let (backend, turns) = (Arc::clone(&self.backend), Arc::clone(&self.turns));
        let read = async {
            let roots = resources_prompts::roots_for(&request, &context).await;
            let read = self.worker.run(async move {
                let _turn = turns.acquire().await.ok();
                let route = backend
                    .route_resource(&request.uri)
                    .ok_or_else(ErrorData::method_not_found::<ReadResourceRequestMethod>)?;
                let (tools, uri) = route.map_err(|error| resources_prompts::refused(&error))?;
                let read = resources_prompts::read_resource(&tools, &request.uri, &uri, roots).await;
                match read {
                    Ok(mut read) => {
                        backend.redact(&mut read.text);
                        Ok(read)
                    }
                    Err(error) => Err(redact_error(&*backend, error)),
                }
            });
            let read = read.await.unwrap_or_else(|_| Err(own_fault()))?;
            Ok(resources_prompts::read_result(self.surface.told_resource(&uri, read), uri))
        };
        guarded(&context, read).await.map(ReadResourceResponse::from)
    }

    /// Handles requests that rmcp does not know, including a `tools/call` whose params have the wrong shape.
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

/// Runs the answer to a request, unless it is cancelled. A panic becomes an error.
async fn guarded<T>(
    context: &RequestContext<RoleServer>,
    answer: impl Future<Output = Result<T, ErrorData>>,
) -> Result<T, ErrorData> {
    tokio::select! {
        answered = AssertUnwindSafe(answer).catch_unwind() => {
            answered.unwrap_or_else(|_| Err(own_fault()))
        }
        // Nothing is sent for a cancelled request.
        () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
    }
}

/// An error without the credentials of any instance.
fn redact_error(backend: &impl Backend, error: ErrorData) -> ErrorData {
    let (mut message, mut data) = (error.message.into_owned(), error.data);
    backend.redact(&mut message);
    if let Some(data) = &mut data {
        backend.redact_value(data);
    }
    ErrorData::new(error.code, message, data)
}

fn own_fault() -> ErrorData {
    ErrorData::internal_error("internal error of the server", None)
}

fn result(outcome: ToolOutcome) -> CallToolResult {
    let (mut result, structured) = match outcome {
        Ok(Answer { structured, mut text, file }) => {
            text.truncate(text.trim_end_matches('\n').len());
            (CallToolResult::success(contents(text, file)), structured)
        }
        Err(error) => (CallToolResult::error(vec![ContentBlock::text(error.text())]), error.structured()),
    };
    result.structured_content = Some(Value::Object(structured));
    result
}

/// The text, and the picture as image content (MCP 2025-11-25, tools, image content).
fn contents(text: String, file: Option<Attachment>) -> Vec<ContentBlock> {
    let image = file.filter(|file| file.is_picture);
    let image = image.map(|file| ContentBlock::image(STANDARD.encode(&file.bytes), file.media_type));
    std::iter::once(ContentBlock::text(text)).chain(image).collect()
}

/// An unknown tool is a protocol error (MCP 2025-11-25, tools, error handling), with the listed tools, the nearest of
/// them, and the call that does what was wanted.
fn unknown_tool(error: ToolError) -> ErrorData {
    let ToolError { message, fix, mut details, .. } = error;
    details.extend(fix.map(|call| ("call".to_owned(), json!(call))));
    ErrorData::invalid_params(message, Some(Value::Object(details)))
}

fn fault(tool: &str) -> ToolError {
    ToolError::new(ErrorKind::Internal, format!("{tool} failed: internal error of this server."))
        .hint("The server's log has the details. A write may have been applied: check before you retry.")
}

fn with_notes(mut answer: Answer, mut notes: Vec<String>) -> Answer {
    const MAX_NOTES: usize = 20;
    const MAX_NOTE_BYTES: usize = 500;
    if notes.is_empty() {
        return answer;
    }
    notes.truncate(MAX_NOTES);
    for note in notes.iter_mut().filter(|note| note.len() > MAX_NOTE_BYTES) {
        *note = format!("{}…", note.chars().take(MAX_NOTE_BYTES).collect::<String>());
    }
    answer.text.push_str(&format!("\n\n{}", notes.join("\n")));
    let listed = answer.structured.entry("notes").or_insert_with(|| json!([]));
    if let Value::Array(listed) = listed {
        listed.extend(notes.into_iter().map(Value::String));
    }
    answer
}
