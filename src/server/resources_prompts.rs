//! Resources, prompts and completions in the protocol's types; their content comes from [`crate::tools`].

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, CompleteRequestParams, CompleteResult, CompletionInfo, GetPromptRequestParams,
    GetPromptResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    PaginatedRequestParams, Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams,
    ReadResourceResult, Reference, Resource, ResourceContents, ResourceTemplate, Role,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

use super::server_info::{FRESH_FOR_MS, sent};
use crate::context::{CompletionTarget, ResourceContent, ResourceEntry, Root, Roots, is_of_workspace};
use crate::surface::SurfaceResource;
use crate::tools::{ErrorKind, INSTANCE, ToolError, Tools};

/// Timeout of a roots/list request.
const PATIENCE: Duration = Duration::from_secs(5);

/// Rejects cursors: every list is one page.
pub(super) fn one_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        Some(cursor) => Err(ErrorData::invalid_params(format!("invalid cursor: {cursor}"), None)),
        None => Ok(()),
    }
}

/// Lists the resources of the tools and of the surface.
pub(super) fn resources(tools: &Tools, own: Option<ResourceEntry>) -> ListResourcesResult {
    let resources = tools.resources().into_iter().chain(own).map(|entry| {
        let ResourceEntry { uri, name, title, what, mime } = entry;
        Resource::new(uri, name).with_title(title).with_description(what).with_mime_type(mime)
    });
    ListResourcesResult::with_all_items(resources.collect())
        .with_ttl_ms(FRESH_FOR_MS)
        .with_cache_scope(CacheScope::Public)
}

/// The templates of resources, private to a client: the readable objects of GitLab depend on the token.
pub(super) fn templates(tools: &Tools) -> ListResourceTemplatesResult {
    let several = !tools.instances().is_empty();
    let templates = tools.templates().into_iter().map(|entry| {
        let ResourceEntry { uri, name, title, what, mime } = entry;
        // Objects of GitLab are those of one instance.
        let uri = if several && mime != "application/json" { with_instance(&uri) } else { uri };
        ResourceTemplate::new(uri, name).with_title(title).with_description(what).with_mime_type(mime)
    });
    ListResourceTemplatesResult::with_all_items(templates.collect()).with_cache_scope(CacheScope::Private)
}

/// A URI template with the query variable `instance` (RFC 6570).
fn with_instance(template: &str) -> String {
    match template.strip_suffix('}').filter(|start| start.contains("{?")) {
        Some(start) => format!("{start},{INSTANCE}}}"),
        None => format!("{template}{{?{INSTANCE}}}"),
    }
}

/// The template without that variable, as the tools of one instance know it.
fn without_instance(template: &str) -> String {
    let bare = template.strip_suffix(&format!("{{?{INSTANCE}}}")).map(str::to_owned);
    let cut = || template.strip_suffix(&format!(",{INSTANCE}}}")).map(|start| format!("{start}}}"));
    bare.or_else(cut).unwrap_or_else(|| template.to_owned())
}

/// Requests the client's roots if the resource depends on them.
pub(super) async fn roots_for(
    request: &ReadResourceRequestParams,
    context: &RequestContext<RoleServer>,
) -> Roots {
    match is_of_workspace(&request.uri) {
        true => roots(context).await,
        false => Roots::Unknown(""),
    }
}

/// Reads a resource by the URI that the tools of its instance know; an error names the one that was requested.
pub(super) async fn read_resource(
    tools: &Tools,
    requested: &str,
    uri: &str,
    roots: Roots,
) -> Result<ResourceContent, ErrorData> {
    let read = tools.read_resource(uri, &roots).await;
    read.map_err(|error| {
        let mut refusal = refused(&error);
        // MCP 2026-07-28, resources, error handling: the data names the resource.
        if let Some(Value::Object(data)) = &mut refusal.data {
            data.insert("uri".to_owned(), Value::from(requested));
        }
        refusal
    })
}

/// Converts a resource to the protocol's type.
pub(super) fn read_result(read: ResourceContent, uri: String) -> ReadResourceResult {
    let contents = match read.file {
        Some(file) => {
            ResourceContents::blob(STANDARD.encode(&file.bytes), uri).with_mime_type(file.media_type)
        }
        None => ResourceContents::text(read.text, uri).with_mime_type(read.mime),
    };
    let result = ReadResourceResult::new(vec![contents]);
    match read.is_constant {
        true => result.with_ttl_ms(FRESH_FOR_MS).with_cache_scope(CacheScope::Public),
        false => result.with_ttl_ms(0).with_cache_scope(CacheScope::Private),
    }
}

/// Converts a resource of the surface; a tool as in tools/list.
pub(super) fn surface_resource(resource: SurfaceResource, uri: String) -> ReadResourceResult {
    let read = match resource {
        SurfaceResource::Text(read) => read,
        SurfaceResource::Tool(spec) => ResourceContent {
            text: format!("{:#}\n", sent(*spec)),
            mime: "application/json",
            file: None,
            is_constant: false,
        },
    };
    read_result(read, uri)
}

/// Fetches the client's roots. MCP 2026-07-28 has retired them: no request is sent.
#[expect(deprecated, reason = "clients of the older era have it")]
async fn roots(context: &RequestContext<RoleServer>) -> Roots {
    if context.protocol_version().is_some_and(|version| !version.has_initialize()) {
        return Roots::Unknown(
            "This version of the protocol has no roots. `--project` (GITLAB_PROJECT) names the project.",
        );
    }
    if context.client_capabilities().is_none_or(|client| client.roots.is_none()) {
        return Roots::Unknown(
            "The client does not support roots. `--project` (GITLAB_PROJECT) names the project.",
        );
    }
    match tokio::time::timeout(PATIENCE, context.peer.list_roots()).await {
        Ok(Ok(listed)) => Roots::Given(
            listed.roots.into_iter().map(|root| Root { uri: root.uri, name: root.name }).collect(),
        ),
        Ok(Err(_)) | Err(_) => Roots::Unknown("The client did not answer roots/list."),
    }
}

pub(super) fn prompts(tools: &Tools) -> ListPromptsResult {
    let prompts = tools.prompts().iter().map(|prompt| {
        let arguments = prompt.arguments.iter().map(|argument| {
            PromptArgument::new(argument.name)
                .with_description(argument.what)
                .with_required(tools.requires(argument))
        });
        Prompt::new(prompt.name, Some(prompt.what), Some(arguments.collect())).with_title(prompt.title)
    });
    ListPromptsResult::with_all_items(prompts.collect())
        .with_ttl_ms(FRESH_FOR_MS)
        .with_cache_scope(CacheScope::Private)
}

pub(super) fn prompt(tools: &Tools, request: GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    let given = request.arguments.unwrap_or_default();
    let asked = tools.prompt(&request.name, given).map_err(|error| refused(&error))?;
    let message = PromptMessage::new_text(Role::User, asked.text);
    Ok(GetPromptResult::new(vec![message]).with_description(asked.what))
}

pub(super) async fn complete(
    tools: &Tools,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let template = match &request.r#ref {
        Reference::Resource(template) => without_instance(&template.uri),
        _ => String::new(),
    };
    let completed = match &request.r#ref {
        Reference::Prompt(prompt) => CompletionTarget::Prompt(&prompt.name),
        Reference::Resource(_) => CompletionTarget::Template(&template),
        _ => return Err(ErrorData::invalid_params("`ref`: expected a prompt or a resource template", None)),
    };
    if request.argument.name == INSTANCE && !tools.instances().is_empty() {
        return Ok(CompleteResult::new(instance_names(tools, &request.argument.value)));
    }
    let given = request.context.and_then(|context| context.arguments).unwrap_or_default();
    let completion = tools
        .complete(completed, &request.argument.name, &request.argument.value, &given)
        .await
        .map_err(|error| refused(&error))?;
    let mut info = CompletionInfo::default();
    info.values = completion.values;
    info.total = completion.total.and_then(|total| u32::try_from(total).ok());
    info.has_more = Some(completion.has_more);
    Ok(CompleteResult::new(info))
}

/// The names of the configured instances that begin like a text.
fn instance_names(tools: &Tools, typed: &str) -> CompletionInfo {
    let mut info = CompletionInfo::default();
    let begins = |name: &&str| name.to_lowercase().starts_with(&typed.trim().to_lowercase());
    let names = tools.instances().iter().map(|instance| instance.name.as_str()).filter(begins);
    info.values = names.map(str::to_owned).collect();
    info.has_more = Some(false);
    info
}

/// An error as JSON-RPC has it, with all that it carries. What is not found has a code of its own before
/// 2026-07-28, which rmcp sees to.
pub(super) fn refused(error: &ToolError) -> ErrorData {
    let data = error.structured().remove("error").unwrap_or(Value::Null);
    let message = match &error.hint {
        Some(hint) => format!("{}. {hint}", error.message.trim_end_matches('.')),
        None => error.message.clone(),
    };
    match error.kind {
        ErrorKind::NotFound => ErrorData::resource_not_found(message, Some(data)),
        // The same will not do another time.
        ErrorKind::InvalidParams
        | ErrorKind::AmbiguousAlias
        | ErrorKind::UnknownAction
        | ErrorKind::Denied => ErrorData::invalid_params(message, Some(data)),
        _ => ErrorData::internal_error(message, Some(data)),
    }
}
