//! Preparation of a call: from an action with parameters to the one request that GitLab would get. Names, titles and
//! references are looked up on the way.
//!
//! *Architecture Invariant:* nothing here changes anything at GitLab.

pub mod check;
mod denial;
pub mod edits;
mod global_ids;
mod label_names;
mod list_change;
mod only_one;
pub mod pin;
mod present_value;
mod project_name;
pub mod requested_wait;
mod text_mark;
mod thread_names;

use serde_json::{Map, Value, json};

use crate::call::{self, Call, Checked, GLOBAL, ResolvedParams};
use crate::catalog::{Action, Names, Risk};
use crate::messages::error::ToolError;
use crate::messages::request::{CheckedCall, ExecuteRequest};
use crate::messages::text_change::TextChange;
use crate::tools::action_lookup::resolved::ResolvedAction;
use crate::tools::error_mapping;
use crate::tools::errors::{diagnosis, next_call};
use crate::tools::lookups::LookupFailure;
use crate::tools::own_reads::locate;
use crate::tools::state::Tools;
use crate::tools::{instance_version, lookups, token_info};

use crate::messages::log_selection::{self, LogSelection};
pub use check::refuse_withheld;
pub use denial::{is_denial, known_denial};
use only_one::OmittedObject;
use requested_wait::RequestedWait;

/// Circumstances of a call: on its own, or as a step of another action.
#[derive(Clone, Copy, Debug, Default)]
pub struct Circumstances<'a> {
    /// The action whose step it is.
    pub within: Option<&'a str>,
    /// The person has agreed to just this call, by the question of the action whose step it is.
    pub is_agreed: bool,
    /// This program wrote the parameters, so notes on their interpretation are left out.
    pub is_internal: bool,
}

/// A call with checked parameters, before anything is looked up for it.
#[derive(Debug)]
pub struct CheckedRequest {
    /// The action, with the fields that the request selects.
    pub action: Action,
    /// The request as it was given, with its global id resolved.
    pub request: ExecuteRequest,
    pub checked: Checked,
    /// Notes on how the request was understood.
    pub notes: Vec<String>,
    /// Parameters and values that the catalog does not know, and a newer instance may.
    pub unknown: Vec<String>,
    /// Paths of the requested fields in the reply.
    fields: Vec<String>,
    wait: Option<RequestedWait>,
    log: Option<LogSelection>,
    /// The texts that its edits changed.
    texts: Vec<TextChange>,
}

/// A call that is ready to be decided on.
#[derive(Debug)]
pub struct Prepared {
    pub action: Action,
    pub request: ExecuteRequest,
    pub checked: Checked,
    /// The one request that GitLab would get, with paths in place of the ids that a rule needs.
    pub call: Call,
    pub notes: Vec<String>,
    pub unknown: Vec<String>,
    pub fields: Vec<String>,
    pub wait: Option<RequestedWait>,
    pub log: Option<LogSelection>,
    pub texts: Vec<TextChange>,
}

impl Prepared {
    /// The call with the parameters that it was made from.
    pub fn checked_call(&self) -> CheckedCall<'_> {
        CheckedCall { call: &self.call, checked: &self.checked }
    }

    /// The parameters that call it again: its edits in place of the whole text, and the id of what a name is of. A title or
    /// `latest` may be another object's by then.
    pub fn params_again(&self) -> Map<String, Value> {
        let given = if self.texts.is_empty() { self.checked.params() } else { &self.request.params };
        let mut params = given.clone();
        for resolved in self.call.resolved() {
            // A reference (`group/project#12`) is always of the same object.
            let param = self.action.param(&resolved.param);
            let is_reference = param.is_some_and(|param| param.names.is_some_and(Names::is_tracked));
            let text = params.get_mut(&resolved.param).filter(|value| value.is_string() && !is_reference);
            let Some(value) = text else { continue };
            let kind = param.and_then(|param| param.gid.as_deref());
            *value = kind
                .map_or_else(|| json!(resolved.id), |kind| json!(format!("{GLOBAL}{kind}/{}", resolved.id)));
        }
        params
    }

    /// The error, whose corrected call has the edits in place of the whole text.
    pub fn with_given_params(&self, mut error: ToolError) -> ToolError {
        if let Some(Value::Object(arguments)) = error.fix.as_mut().map(|fix| &mut fix.arguments)
            && !self.texts.is_empty()
            && arguments.contains_key("params")
        {
            arguments.insert("params".to_owned(), json!(self.request.params));
        }
        error
    }
}

/// Prepares a call that is about to be sent.
pub async fn prepare(
    tools: &Tools,
    resolved: ResolvedAction,
    circumstances: Circumstances<'_>,
) -> Result<Prepared, ToolError> {
    let request = keep_values(tools, check(tools, resolved, circumstances).await?).await?;
    // Boxed: the future is deeply nested.
    let request = Box::pin(rewrite(tools, request)).await?;
    let request = if circumstances.is_agreed { request } else { pin_to_shown(tools, request).await? };
    let mut prepared = Box::pin(look_up(tools, request, circumstances)).await?;
    prepared.notes.extend(tools.token_info.take_warning());
    Ok(prepared)
}

/// Prepares a call that is sent after others, which may change what its edits and marks rest on: those are left for the
/// time when it is sent.
pub async fn prepare_ahead(
    tools: &Tools,
    resolved: ResolvedAction,
    circumstances: Circumstances<'_>,
) -> Result<Prepared, ToolError> {
    let request = keep_values(tools, check(tools, resolved, circumstances).await?).await?;
    let request = pin_to_shown(tools, request).await?;
    Box::pin(look_up(tools, request, circumstances)).await
}

/// Checks a call, and refuses one that no look-up can save from a denial.
pub async fn check(
    tools: &Tools,
    resolved: ResolvedAction,
    circumstances: Circumstances<'_>,
) -> Result<CheckedRequest, ToolError> {
    let ResolvedAction { action, request, mut notes } = resolved;
    if !circumstances.is_internal {
        notes.extend(deprecation(&action));
    }
    refuse_withheld(tools, &action)?;
    let (action, fields) = select_fields(tools, action, &request)?;
    let request = global_ids::resolve_global_id(tools, &action, &request, &mut notes).await?;
    let mut understood = Vec::new();
    let (checked, unknown) = check::check_for_instance(tools, &action, &request, &mut understood).await?;
    if !circumstances.is_internal {
        notes.extend(understood);
        notes.extend(call::literal_line_ends(&action, checked.params()));
    }
    let is_step = circumstances.within.is_some();
    let wait = requested_wait::parse_wait(&action, checked.params(), is_step, &mut notes)?;
    let log = log_selection::parse_log_selection(&action, checked.params())?;
    if let Some(denied) = denial::deny_beforehand(tools, &checked).await {
        return Err(denied);
    }
    list_change::refuse_unreadable(tools, &checked)?;
    Ok(CheckedRequest { action, request, checked, notes, unknown, fields, wait, log, texts: Vec::new() })
}

/// The parameters of a request with ids in place of names, without a call.
pub async fn resolve_params(
    tools: &Tools,
    action: &Action,
    request: &ExecuteRequest,
) -> Result<Map<String, Value>, ToolError> {
    let checked = check::check_request(tools, action, request).await?;
    let (resolved, _) = look_up_params(tools, &checked, request).await?;
    Ok(resolved.params)
}

/// The checked parameters with ids in place of names, and the number of requests that found them.
pub async fn look_up_params(
    tools: &Tools,
    checked: &Checked,
    request: &ExecuteRequest,
) -> Result<(ResolvedParams, usize), ToolError> {
    match lookups::params(tools, checked).await {
        Ok(resolved) => Ok(resolved),
        Err(failure) => {
            let error = diagnosis::diagnose_lookup(tools, failure).await;
            Err(next_call::complete(tools, error, checked.action(), request))
        }
    }
}

/// Makes the request of a checked call, once the names that it depends on have been looked up.
async fn look_up(
    tools: &Tools,
    mut request: CheckedRequest,
    circumstances: Circumstances<'_>,
) -> Result<Prepared, ToolError> {
    let (looked_up, hint) = Box::pin(find_call(tools, &mut request)).await?;
    let CheckedRequest { action, request, checked, mut notes, unknown, fields, wait, log, texts } = request;
    let call = match looked_up {
        Ok(call) => call,
        Err(failure) => {
            let error = Box::pin(diagnosis::diagnose_lookup(tools, failure)).await;
            let error = next_call::with_options(error, &action, &request);
            return Err(hint.into_iter().fold(error, ToolError::hint));
        }
    };
    instance_version::check_age(tools, &call, &checked).await?;
    for resolved in call.resolved() {
        drop_spelling_note(&mut notes, &request, &resolved.param);
    }
    let located = locate::locate(tools, call.effects()).await;
    let call = locate::apply_paths(call, &located);
    let call = match circumstances.within {
        Some(parent) => call.within(parent),
        None => call,
    };
    if call.risk() != Risk::Read {
        token_info::learn(tools).await;
    }
    Ok(Prepared { action, request, checked, call, notes, unknown, fields, wait, log, texts })
}

/// The call with its names looked up; a project that is named without its group, and the only object that a read may be of,
/// are put in first. Or the failure, with a hint on the objects that there are.
async fn find_call(
    tools: &Tools,
    request: &mut CheckedRequest,
) -> Result<(Result<Call, LookupFailure>, Option<String>), ToolError> {
    let looked_up = lookups::resolve_call(tools, &request.checked).await;
    let looked_up = match &looked_up {
        // A group may have the name as well: no change is made where another place could be meant.
        Err(LookupFailure { unknown_path: Some(unknown), .. }) if request.action.risk == Risk::Read => {
            let found = project_name::find(tools, &unknown.path, request.checked.params()).await?;
            again(tools, request, looked_up, found).await?
        }
        _ => looked_up,
    };
    let Err(LookupFailure { invalid: Some(invalid), .. }) = &looked_up else { return Ok((looked_up, None)) };
    match only_one::find(tools, request.checked.action(), invalid).await {
        Some(OmittedObject::Only(params, note)) => {
            Ok((again(tools, request, looked_up, Some((params, note))).await?, None))
        }
        Some(OmittedObject::Among(names)) => Ok((looked_up, Some(names))),
        None => Ok((looked_up, None)),
    }
}

/// The call with other parameters, if there are some.
async fn again(
    tools: &Tools,
    request: &mut CheckedRequest,
    looked_up: Result<Call, LookupFailure>,
    found: Option<(Map<String, Value>, String)>,
) -> Result<Result<Call, LookupFailure>, ToolError> {
    let Some((params, note)) = found else { return Ok(looked_up) };
    request.notes.push(note);
    request.replace_params(tools, params).await?;
    Ok(lookups::resolve_call(tools, &request.checked).await)
}

/// Replaces what depends on the present state of GitLab in the parameters: threads by their text, names of labels, marks
/// and edits of texts.
async fn rewrite(tools: &Tools, mut request: CheckedRequest) -> Result<CheckedRequest, ToolError> {
    if let Some((params, note)) = thread_names::resolve(tools, &request.checked).await? {
        drop_spelling_note(&mut request.notes, &request.request, thread_names::PARAM);
        request.notes.push(note);
        request.replace_params(tools, params).await?;
    }
    let mut params = None;
    if let Some((named, found)) = label_names::resolve(tools, &request.checked).await? {
        request.notes.extend(found);
        params = named;
    }
    let action = request.checked.action().clone();
    let given = params.as_ref().unwrap_or(request.checked.params());
    if let Some(marked) = text_mark::apply(tools, &action, given).await? {
        params = Some(marked);
    }
    let given = params.as_ref().unwrap_or(request.checked.params());
    if let Some((whole, found)) = Box::pin(list_change::apply(tools, &action, given)).await? {
        request.notes.extend(found);
        params = Some(whole);
    }
    let given = params.as_ref().unwrap_or(request.checked.params());
    if let Some(edited) = edits::apply(tools, &action, given).await? {
        request.notes.extend(edited.texts.iter().map(TextChange::note));
        (params, request.texts) = (Some(edited.params), edited.texts);
    }
    if let Some(params) = params {
        request.replace_params(tools, params).await?;
    }
    Ok(request)
}

/// Adds the parameter that GitLab needs and the call leaves as it is. Rules see it: a role may take consent.
async fn keep_values(tools: &Tools, mut request: CheckedRequest) -> Result<CheckedRequest, ToolError> {
    if let Some((params, note)) = present_value::keep(tools, &request.checked, &request.request).await? {
        request.notes.push(note);
        request.replace_params(tools, params).await?;
    }
    Ok(request)
}

/// Ties a call that will be asked about to the object as the question shows it.
async fn pin_to_shown(tools: &Tools, mut request: CheckedRequest) -> Result<CheckedRequest, ToolError> {
    if let Some(params) = pin::with_shown_state(tools, &request.checked, &request.request).await {
        let notes = request.notes.clone();
        request.replace_params(tools, params).await?;
        request.notes = notes;
    }
    Ok(request)
}

impl CheckedRequest {
    /// Checks other parameters of the same call in place of its own; its notes are those that are new.
    async fn replace_params(&mut self, tools: &Tools, params: Map<String, Value>) -> Result<(), ToolError> {
        let mut understood = Vec::new();
        let request = ExecuteRequest { params, ..self.request.clone() };
        let action = self.checked.action().clone();
        (self.checked, _) = check::check_for_instance(tools, &action, &request, &mut understood).await?;
        for note in understood {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        Ok(())
    }
}

/// Drops the note on the spelling of a parameter whose name was looked up: the answer has the parameter with its id.
fn drop_spelling_note(notes: &mut Vec<String>, request: &ExecuteRequest, param: &str) {
    let is_of = |note: &String, given: &String| *note == format!("understood `{given}` as `{param}`");
    notes.retain(|note| !request.params.keys().any(|given| is_of(note, given)));
}

/// The note on an action that GitLab deprecated.
fn deprecation(action: &Action) -> Option<String> {
    let instead = action.replaced_by.as_ref().map(|other| format!("; use `{other}`")).unwrap_or_default();
    action.deprecated.then(|| format!("`{}` is deprecated{instead}", action.id))
}

/// Applies `fields`: a GraphQL action selects them, of a REST answer they are picked. Returns the action and the
/// paths of the fields in its answer.
fn select_fields(
    tools: &Tools,
    action: Action,
    request: &ExecuteRequest,
) -> Result<(Action, Vec<String>), ToolError> {
    let fields = request.fields.clone().unwrap_or_default();
    // Selected fields may reach any project: where a rule is about reads, they are picked from the usual answer.
    if fields.is_empty() || !tools.policy.selects() {
        return Ok((action, fields));
    }
    call::select_fields(action, &fields, tools.catalog.types())
        .map_err(|error| error_mapping::fields(&error, request))
}
