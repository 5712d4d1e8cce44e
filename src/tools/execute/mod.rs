//! `gitlab_execute_action`: checks, decides, sends and renders one action.

mod blame;
pub mod compute;
mod edits;
pub mod file_transfer;
mod global_ids;
pub mod job_log;
mod joined_reads;
mod label_names;
pub mod row_filter;
mod state_wait;
mod text_mark;
mod thread_names;

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::call::{self, Body, Call, Checked, Effects, Invalid, Part};
use crate::catalog::{Action, Companion, GraphqlKind, Interface, Method, Risk};
use crate::gitlab::{BodySink, Content, Reply};
use crate::policy::{Consent, Decision, Permit, Rule};
use crate::present::{self, Options, Picture, PictureError};
use crate::text::{excerpt, plain_text};
use crate::tools::action_lookup::resolved::ResolvedAction;
use crate::tools::audit::AuditEntry;
use crate::tools::confirmation::pin;
use crate::tools::errors::{self, ErrorKind, ToolError, diagnosis, mapping, next_call};
use crate::tools::own_reads::locate;
use crate::tools::reply::empty_list::EmptyList;
use crate::tools::reply::render::DecodedReply;
use crate::tools::reply::{graphql, graphql_document, header, paging, render};
use crate::tools::state::Tools;
use crate::tools::types::{Answer, CheckedCall, ExecuteRequest, NextCall, View};
use crate::tools::{
    action_lookup, companions, confirmation, default_project, instance_version, lookups, token_info,
    workspace,
};
use crate::untrusted::quote;
use compute::{compute, decode_picture};
use edits::TextChange;

/// Options of a run: on its own, or as a step of a composite action.
#[derive(Debug, Default)]
pub struct RunOptions<'a> {
    /// The id of the plan.
    pub plan: Option<String>,
    /// The user has agreed to just this step, by the question of the plan.
    pub agreed: bool,
    /// A plan wrote its parameters, so notes on their interpretation are left out.
    pub ours: bool,
    /// Streaming consumer of the response body, if the body is not to be held in memory.
    pub sieve: Option<&'a mut dyn BodySink>,
}

/// Outcome of an action.
#[derive(Debug)]
pub enum Outcome {
    Response(Box<ActionResponse>),
    /// A finished answer: a preview, or a saved download.
    Answer(Answer),
}

/// A response of GitLab that is not rendered yet.
#[derive(Clone, Debug)]
pub struct ActionResponse {
    pub reply: Reply,
    pub call: Call,
    /// By the action's id and its own parameters.
    pub request: ExecuteRequest,
    pub action: Action,
    pub notes: Vec<String>,
    /// Number of rows outside GITLAB_READABLE_PATHS, which the reply no longer has.
    pub unreadable: usize,
    /// Paths of the requested fields in the reply.
    pub fields: Vec<String>,
    /// Fields whose texts were edited; the answer does not repeat them.
    pub edited: Vec<String>,
    /// The picture that the reply is.
    pub picture: Option<Result<Picture, PictureError>>,
}

impl ActionResponse {
    /// The error of a plan that needs every row of a list of which only the first were kept.
    pub fn truncated(&self, kept: usize, response: usize) -> ToolError {
        mapping::truncated(&self.action, kept, response)
    }

    /// The answer, of which the data has at most so many bytes.
    pub fn answer(self, tools: &Tools, budget: usize) -> Answer {
        let ActionResponse { reply, call, request, fields, edited, action, mut notes, unreadable, picture } =
            self;
        notes.extend(unreadable_note(unreadable));
        let bytes = reply.bytes;
        let past_end = paging::past_end(&reply, &request, &action);
        // Without the words on lists, the answer is complete without a wider call.
        let words = tools.catalog().words().ok();
        let empty = words.and_then(|words| EmptyList::of(&reply, &request, &action, &words.lists));
        let hint = workspace::copy_note(tools, &action, &request.params);
        let reply = DecodedReply { reply, picture };
        let present = || {
            render::render_answer(tools, budget, (&request, &fields, &edited), &action, &call, reply, notes)
        };
        let answer = compute(bytes, present);
        let answer = workspace::with_note(hint, answer);
        let answer = past_end.into_iter().fold(answer, |answer, past_end| past_end.add_to(answer));
        empty.into_iter().fold(answer, |answer, empty| empty.add_to(answer))
    }

    /// Number of bytes of the answer's data, if all rows of the list are shown within so many.
    pub fn shown_bytes(&self, tools: &Tools, budget: usize) -> Option<usize> {
        let (request, fields) = (&self.request, self.fields.as_slice());
        let reply = DecodedReply { reply: self.reply.clone(), picture: self.picture.clone() };
        let measure = || {
            let mut notes = Vec::new();
            render::present_reply(
                tools,
                budget,
                (request, fields),
                (&self.action, &self.call),
                reply,
                &mut notes,
            )
        };
        let shown = compute(self.reply.bytes, measure);
        let bytes = shown.data.to_string().len();
        (shown.rows.is_none() && bytes <= budget).then_some(bytes)
    }
}

/// Runs an action that is not composite; an error gets its next call.
pub async fn run_action(
    tools: &Tools,
    resolved_action: ResolvedAction,
    manner: RunOptions<'_>,
    entry: &mut AuditEntry<'_>,
) -> Result<Outcome, ToolError> {
    let ResolvedAction { action, request, notes } = resolved_action;
    let known = action.clone();
    // Boxed: the future is deeply nested.
    let outcome = Box::pin(run(tools, action, &request, notes, manner, entry)).await;
    outcome.map_err(|error| next_call::complete(tools, error, &known, &request))
}

async fn run(
    tools: &Tools,
    action: Action,
    request: &ExecuteRequest,
    mut notes: Vec<String>,
    manner: RunOptions<'_>,
    entry: &mut AuditEntry<'_>,
) -> Result<Outcome, ToolError> {
    notes.extend(deprecation(&action).filter(|_| !manner.ours));
    let answer_note = action.answer_note.clone().filter(|_| !manner.ours);
    refuse_withheld(tools, &action)?;
    let (action, fields) = with_selection(tools, action, request)?;
    let request = &global_ids::resolve_global_id(tools, &action, request, &mut notes).await?;
    let mut understood = Vec::new();
    let (checked, unknown) = check_for_instance(tools, &action, request, &mut understood).await?;
    notes.extend(understood.into_iter().filter(|_| !manner.ours));
    let wait = state_wait::requested(&action, checked.params(), manner.plan.is_some(), &mut notes)?;
    if let Some(denied) = deny_beforehand(tools, &checked).await {
        return Err(denied);
    }
    let RewrittenCall { checked, texts } = rewrite(tools, checked, request, &mut notes).await?;
    let checked = if manner.agreed { checked } else { pin_to_shown(tools, checked, request).await? };
    let part = job_log::log_selection(&action, checked.params())?;
    let call = match lookups::call(tools, &checked).await {
        Ok(call) => call,
        Err(failure) => {
            let error = diagnosis::diagnose_lookup(tools, failure).await;
            return Err(next_call::with_options(error, &action, request));
        }
    };
    instance_version::check_age(tools, &call, &checked).await?;
    for resolved in call.resolved() {
        drop_spelling_note(&mut notes, request, &resolved.param);
    }
    let located = locate::locate(tools, call.effects()).await;
    let call = locate::apply_paths(call, &located);
    let call = match &manner.plan {
        Some(plan) => call.within(plan),
        None => call,
    };
    entry.set_call(&call, &checked);
    if call.risk() != Risk::Read {
        token_info::learn(tools).await;
    }
    notes.extend(tools.limits.take_warning());
    let asked = CheckedCall { call: &call, checked: &checked };
    let decided = confirmation::decide(tools, request, asked, manner.agreed).await?;
    match decided.decision {
        Decision::Deny(rule) => Err(mapping::denied(&action.id, Some(call.effects()), &rule, call.lookups())),
        Decision::Preview(rule) => {
            notes.extend(mapping::decider(&call));
            Ok(Outcome::Answer(preview(tools, &call, &rule, &texts, &notes)))
        }
        Decision::Confirm(rule) => {
            let why = mapping::why_asked(&rule, &action, &unknown);
            let question = confirmation::confirmation_error(tools, request, asked, &why, decided.rejected);
            let question = match question.await {
                Ok(question) => question.with_notes(&notes),
                Err(error) => return Err(diagnosis::diagnose_reply(tools, error, asked, request).await),
            };
            Err(if texts.is_empty() { question } else { with_params(question, &request.params) })
        }
        Decision::Allow => {
            entry.allowed(&call);
            let permit = tools.policy.permit(call, decided.consent).map_err(|_| {
                ToolError::new(ErrorKind::Internal, "the policy decision changed between two checks")
            })?;
            let permit = file_transfer::prepare(tools, request, permit)?;
            let reply = match send(tools, (&permit, &checked), request, manner.sieve, entry).await {
                Err(error) => {
                    let error = edits::explain_conflict(tools, &texts, request, error).await;
                    return Err(pin::explain_refusal(tools, &checked, request, error).await);
                }
                Ok(reply) => reply,
            };
            let call = permit.call().clone();
            let (call, reply) = match without_unknown_fields(tools, &action, &call, &reply, &mut notes) {
                Some(permit) => {
                    let reply = send(tools, (&permit, &checked), request, None, entry).await?;
                    (permit.call().clone(), reply)
                }
                None => (call, reply),
            };
            check_list(&action, &call, &reply, request)?;
            let (reply, unreadable) = keep_readable(tools, &call, reply)?;
            let is_alone = request.fields.is_none() && request.save_to.is_none() && !manner.ours;
            if let Some(path) = &request.save_to {
                notes.extend(unreadable_note(unreadable));
                return file_transfer::save_download(tools, (request, path), &call, reply, notes)
                    .map(Outcome::Answer);
            }
            let reply = unwrap_reply(tools, (&action, &call, &checked), request, reply, &mut notes).await?;
            let params = checked.params().clone();
            let request = ExecuteRequest { action: action.id.clone(), params, ..request.clone() };
            let reply = match &part {
                Some(part) => job_log::apply_selection(part, &request, reply, &mut notes).await?,
                None => reply,
            };
            let reply = match &wait {
                Some(wait) => wait.poll(tools, &action, &request.params, reply, &mut notes).await,
                None => reply,
            };
            let mut reply = if is_alone {
                joined_reads::add_rows(tools, &action, &request.params, reply, &mut notes).await
            } else {
                reply
            };
            row_filter::keep_rows(&action, &request.params, &mut reply);
            if is_alone && request.view != Some(View::Full) {
                blame::number_lines(&action, &request.params, &mut reply);
            }
            notes.extend(answer_note);
            let edited = texts.into_iter().map(|text| text.field).collect();
            let picture = decode_picture(&reply.content).await;
            Ok(Outcome::Response(Box::new(ActionResponse {
                reply,
                call,
                request,
                action,
                notes,
                unreadable,
                fields,
                edited,
                picture,
            })))
        }
    }
}

/// Drops the note on the spelling of a parameter whose name was looked up: the answer has the parameter with its id.
fn drop_spelling_note(notes: &mut Vec<String>, request: &ExecuteRequest, param: &str) {
    let is_of = |note: &String, given: &String| *note == format!("understood `{given}` as `{param}`");
    notes.retain(|note| !request.params.keys().any(|given| is_of(note, given)));
}

/// A checked call with what its parameters stand for.
struct RewrittenCall {
    checked: Checked,
    /// The texts that its edits changed.
    texts: Vec<TextChange>,
}

/// Replaces what depends on the present state of GitLab in the parameters: threads by their text, names of labels, marks
/// and edits of texts.
async fn rewrite(
    tools: &Tools,
    checked: Checked,
    request: &ExecuteRequest,
    notes: &mut Vec<String>,
) -> Result<RewrittenCall, ToolError> {
    let action = checked.action().clone();
    let checked = match thread_names::resolve(tools, &checked).await? {
        Some((params, note)) => {
            drop_spelling_note(notes, request, thread_names::PARAM);
            notes.push(note);
            recheck(tools, &action, request, params, notes).await?
        }
        None => checked,
    };
    let renamed = label_names::resolve(tools, &checked).await;
    let mut params = None;
    if let Some((named, found)) = renamed {
        notes.extend(found);
        params = named;
    }
    if let Some(marked) =
        text_mark::apply(tools, &action, params.as_ref().unwrap_or(checked.params())).await?
    {
        params = Some(marked);
    }
    let given = params.as_ref().unwrap_or(checked.params());
    let mut texts = Vec::new();
    if let Some(edited) = edits::apply(tools, &action, given).await? {
        notes.extend(edited.texts.iter().map(TextChange::note));
        (params, texts) = (Some(edited.params), edited.texts);
    }
    let checked = match params {
        Some(params) => recheck(tools, &action, request, params, notes).await?,
        None => checked,
    };
    Ok(RewrittenCall { checked, texts })
}

/// Ties a call that will be asked about to the object as the question shows it.
pub async fn pin_to_shown(
    tools: &Tools,
    checked: Checked,
    request: &ExecuteRequest,
) -> Result<Checked, ToolError> {
    match pin::with_shown_state(tools, &checked, request).await {
        Some(params) => {
            let action = checked.action().clone();
            recheck(tools, &action, request, params, &mut Vec::new()).await
        }
        None => Ok(checked),
    }
}

/// Checks a request as a run does, with its global ids and the parameters of a newer instance.
pub async fn check_request(
    tools: &Tools,
    action: &Action,
    request: &ExecuteRequest,
) -> Result<Checked, ToolError> {
    let mut notes = Vec::new();
    let request = global_ids::resolve_global_id(tools, action, request, &mut notes).await?;
    let (checked, _) = check_for_instance(tools, action, &request, &mut notes).await?;
    Ok(checked)
}

/// Checks other parameters of the same call; its notes are those that are new.
async fn recheck(
    tools: &Tools,
    action: &Action,
    request: &ExecuteRequest,
    params: Map<String, Value>,
    notes: &mut Vec<String>,
) -> Result<Checked, ToolError> {
    let mut understood = Vec::new();
    let request = ExecuteRequest { params, ..request.clone() };
    let (checked, _) = check_for_instance(tools, action, &request, &mut understood).await?;
    for note in understood {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok(checked)
}

/// The error, whose corrected call has these parameters: its edits in place of the whole text.
fn with_params(mut error: ToolError, params: &Map<String, Value>) -> ToolError {
    if let Some(Value::Object(arguments)) = error.fix.as_mut().map(|fix| &mut fix.arguments)
        && arguments.contains_key("params")
    {
        arguments.insert("params".to_owned(), json!(params));
    }
    error
}

/// The note on an action that GitLab deprecated.
fn deprecation(action: &Action) -> Option<String> {
    let instead = action.replaced_by.as_ref().map(|other| format!("; use `{other}`")).unwrap_or_default();
    action.deprecated.then(|| format!("`{}` is deprecated{instead}", action.id))
}

/// The denial of a call that no look-up can lift: every operation that it may be is denied. Decided before anything
/// is sent; only where a rule speaks of paths and an id was given, the path behind it is looked up.
pub async fn deny_beforehand(tools: &Tools, checked: &Checked) -> Option<ToolError> {
    let mut prospects = checked.possible_effects();
    let denials = |prospects: &[Effects]| -> Option<Vec<Rule>> {
        prospects.iter().map(|effects| tools.policy.denial(effects)).collect()
    };
    let mut rule = denials(&prospects)?.into_iter().next()?;
    let mut looked_up = 0;
    if rule.is_about_paths() && prospects.iter().any(|effects| !effects.unlocated().is_empty()) {
        for effects in &mut prospects {
            let located = locate::locate(tools, effects).await;
            looked_up += located.requests;
            effects.locate(|location| locate::find_path(&located, location));
        }
        rule = denials(&prospects)?.into_iter().next()?;
    }
    Some(mapping::denied(&checked.action().id, prospects.first(), &rule, looked_up))
}

/// The denial of a request that is known beforehand. None for an invalid one: its own check reports that.
pub async fn known_denial(tools: &Tools, request: &ExecuteRequest) -> Option<ToolError> {
    let ResolvedAction { action, request, .. } = action_lookup::resolve(tools, request).ok()?;
    match check_params(tools, &action, &request, &mut Vec::new()) {
        Ok(checked) => deny_beforehand(tools, &checked).await,
        Err(error) => is_denial(&error).then_some(error),
    }
}

/// True for the error of a check that a rule made, or the scopes of the token.
pub fn is_denial(error: &ToolError) -> bool {
    matches!(error.kind, ErrorKind::Denied | ErrorKind::Forbidden)
}

/// Refuses a list without a body: GitLab returns an empty list as `[]`, so the response is not GitLab's.
fn check_list(
    action: &Action,
    call: &Call,
    reply: &Reply,
    request: &ExecuteRequest,
) -> Result<(), ToolError> {
    let is_list = call.method() == Method::Get && action.param("per_page").is_some() && reply.status == 200;
    if is_list && reply.content == Content::Empty && request.save_to.is_none() {
        let message = format!("{} returned 200 without a body instead of a list", action.id);
        return Err(ToolError::new(ErrorKind::GitlabError, message)
            .hint("A proxy in between may have dropped the answer: try again.")
            .fix(NextCall::for_request(request)));
    }
    Ok(())
}

/// Filters a list over the whole instance to the rows below the readable paths; returns how many others there were.
fn keep_readable(tools: &Tools, call: &Call, mut reply: Reply) -> Result<(Reply, usize), ToolError> {
    let Some(readable) = tools.policy.readable() else { return Ok((reply, 0)) };
    let Some(field) = readable.row_field(call.effects()) else { return Ok((reply, 0)) };
    let left_out = match &mut reply.content {
        Content::Empty => 0,
        Content::Json(Value::Array(rows)) => readable.keep_rows(rows, field),
        _ => {
            let message = "GitLab's answer is not a list, so GITLAB_READABLE_PATHS cannot be applied";
            return Err(ToolError::new(ErrorKind::Denied, message));
        }
    };
    Ok((reply, left_out))
}

/// Note on the number of rows outside the readable paths.
pub fn unreadable_note(rows: usize) -> Option<String> {
    (rows > 0).then(|| format!("{rows} rows outside GITLAB_READABLE_PATHS were left out"))
}

/// [`check_params`], also accepting parameters and values of an instance that is newer than the catalog; returns their
/// names too.
async fn check_for_instance(
    tools: &Tools,
    action: &Action,
    request: &ExecuteRequest,
    notes: &mut Vec<String>,
) -> Result<(Checked, Vec<String>), ToolError> {
    let (checked, extension) = match check_or_fault(tools, action, request, notes)? {
        Ok(checked) => return Ok((noted(checked, notes), Vec::new())),
        Err(invalid) => match instance_version::extended(tools, action, &invalid).await {
            None => return Err(invalid_call(tools, &invalid, action, request)),
            Some(extension) => match check_or_fault(tools, &extension.action, request, notes)? {
                Ok(checked) => (checked, extension),
                Err(_) => return Err(invalid_call(tools, &invalid, action, request)),
            },
        },
    };
    notes.extend(extension.notes);
    Ok((noted(checked, notes), extension.unknown))
}

/// Adds notes on the interpretation of values.
fn noted(checked: Checked, notes: &mut Vec<String>) -> Checked {
    notes.extend(checked.understood().iter().map(|understood| format!("understood {understood}")));
    checked
}

/// The parameters of a request, checked for an action that may run at all.
pub fn check_params(
    tools: &Tools,
    action: &Action,
    request: &ExecuteRequest,
    notes: &mut Vec<String>,
) -> Result<Checked, ToolError> {
    let checked = check_or_fault(tools, action, request, notes)?;
    let checked = checked.map_err(|invalid| invalid_call(tools, &invalid, action, request))?;
    Ok(noted(checked, notes))
}

/// The error of invalid parameters, whose corrected call has the request's options.
fn invalid_call(tools: &Tools, invalid: &Invalid, action: &Action, request: &ExecuteRequest) -> ToolError {
    next_call::with_options(mapping::invalid_call(tools, invalid, action), action, request)
}

/// Refuses an action of which every call is denied.
pub fn refuse_withheld(tools: &Tools, action: &Action) -> Result<(), ToolError> {
    match tools.withholds(action) {
        Some(rule) => Err(mapping::denied(&action.id, None, &rule, 0)),
        None => Ok(()),
    }
}

fn check_or_fault(
    tools: &Tools,
    action: &Action,
    request: &ExecuteRequest,
    notes: &mut Vec<String>,
) -> Result<Result<Checked, Invalid>, ToolError> {
    refuse_withheld(tools, action)?;
    if let Some((_, companion)) = companions::given_companions(tools, action, &request.params)?.first() {
        return Err(misplaced_companion(action, companion));
    }
    let context = tools.context().map_err(|error| errors::internal(&error))?;
    let params = edits::with_inserted_text(action, &request.params)?;
    Ok(default_project::check(tools, action, params, &context, notes))
}

/// The error of a companion's parameter in a call that is itself part of a batch. It is not sent, so it must not be
/// dropped in silence.
fn misplaced_companion(action: &Action, companion: &Companion) -> ToolError {
    let message =
        format!("{} takes `{}` only in a call of its own, not within a batch", action.id, companion.param);
    ToolError::new(ErrorKind::InvalidParams, message)
        .hint(format!("Nothing was sent. Make {} a call of the batch.", companion.action))
}

/// Unwraps the data of a reply, by GraphQL or by REST.
async fn unwrap_reply(
    tools: &Tools,
    (action, call, checked): (&Action, &Call, &Checked),
    request: &ExecuteRequest,
    reply: Reply,
    notes: &mut Vec<String>,
) -> Result<Reply, ToolError> {
    let read = match (graphql::operation(action, call), action.direct()) {
        (Some(graphql), _) => graphql::unwrap_reply(reply, action, graphql, notes),
        (None, Some(Interface::Graphql)) => graphql_document::unwrap_reply(reply, call, notes),
        (None, _) => check_body(reply, call),
    };
    match read {
        Err(error) => {
            Err(diagnosis::diagnose_reply(tools, error, CheckedCall { call, checked }, request).await)
        }
        read => read,
    }
}

/// Refuses a change to which GitLab answers 201 and `{"status": "error", "message": …}`
/// (<https://docs.gitlab.com/api/invitations/>).
fn check_body(reply: Reply, call: &Call) -> Result<Reply, ToolError> {
    let Content::Json(Value::Object(body)) = &reply.content else { return Ok(reply) };
    let is_error = call.risk() != Risk::Read && body.get("status").and_then(Value::as_str) == Some("error");
    let Some(message) = body.get("message").filter(|_| is_error && body.len() <= 3) else { return Ok(reply) };
    let said = match message {
        Value::Object(parts) => {
            let said = parts.iter().map(|(name, why)| format!("{name}: {}", plain_text(why)));
            said.collect::<Vec<_>>().join("; ")
        }
        other => plain_text(other),
    };
    let said = format!("GitLab answered {} and refused: {}", reply.status, quote(&excerpt(&said, 500)));
    Err(ToolError::new(ErrorKind::InvalidParams, said)
        .hint("Changes that the message does not name may have been applied."))
}

/// Applies `fields`: a GraphQL action selects them, of a REST answer they are picked. Returns the action and the
/// paths of the fields in its answer.
fn with_selection(
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
        .map_err(|error| mapping::fields(&error, request))
}

/// The permit of a GraphQL read again, without the fields for which the instance refused it.
fn without_unknown_fields(
    tools: &Tools,
    action: &Action,
    call: &Call,
    reply: &Reply,
    notes: &mut Vec<String>,
) -> Option<Permit> {
    let reads = graphql::operation(action, call).is_some_and(|graphql| graphql.kind == GraphqlKind::Query);
    let unknown = if reads { graphql::unknown_fields(reply) } else { Vec::new() };
    let again = if unknown.is_empty() { None } else { call.without_fields(&unknown) }?;
    let permit = tools.policy.permit(again, Consent::default()).ok()?;
    let names: Vec<String> = unknown.iter().map(|field| format!("`{}`", field.name)).collect();
    notes.push(format!("left out {}: this instance's GitLab does not know it", names.join(", ")));
    Some(permit)
}

async fn send(
    tools: &Tools,
    (permit, checked): (&Permit, &Checked),
    request: &ExecuteRequest,
    sieve: Option<&mut (dyn BodySink + '_)>,
    entry: &mut AuditEntry<'_>,
) -> Result<Reply, ToolError> {
    let sent = match sieve {
        Some(sieve) => tools.client.send_through(permit, sieve).await,
        None => tools.client.send(permit).await,
    };
    entry.set_response(&sent);
    match sent {
        Ok(reply) => {
            tools.limits.accept();
            Ok(reply)
        }
        Err(error) => {
            let call = CheckedCall { call: permit.call(), checked };
            Err(diagnosis::diagnose_request(tools, &error, call, request).await)
        }
    }
}

/// The request that would be sent.
fn preview(tools: &Tools, call: &Call, rule: &Rule, texts: &[TextChange], notes: &[String]) -> Answer {
    let mut request = Map::from_iter([
        ("method".to_owned(), json!(call.method().name())),
        ("path".to_owned(), json!(call.path())),
    ]);
    if !call.query().is_empty() {
        request.insert(
            "query".to_owned(),
            json!(call.query().iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()),
        );
    }
    match call.body() {
        Body::Empty => {}
        Body::Json(body) => {
            request.insert("body".to_owned(), body.clone());
        }
        Body::Multipart(parts) => {
            request.insert("parts".to_owned(), parts.iter().map(part_preview).collect());
        }
        Body::Local(path) => {
            request.insert("file".to_owned(), json!(path));
        }
        Body::Raw(bytes) => {
            request.insert("bytes".to_owned(), json!(bytes.len()));
        }
    }
    let mut request = Value::Object(request);
    texts.iter().for_each(|text| text.shorten_request(&mut request));
    let mut structured = header::head(call);
    structured.insert("preview".to_owned(), json!(true));
    structured.insert("reason".to_owned(), json!(rule.to_string()));
    structured.insert("request".to_owned(), request.clone());
    let mut text = format!("Not sent: {}. It would be:\n", rule);
    let _ = writeln!(text, "{request}");
    if !texts.is_empty() {
        let diffs: String = texts.iter().map(|text| text.diff.as_str()).collect();
        let options = Options::new(present::Kind::default(), tools.max_bytes, tools.client.secrets());
        let shown = present::present(present::Content::Text(diffs), &options);
        structured.insert("diff".to_owned(), shown.data);
        let _ = writeln!(text, "{}", present::marked(&shown.text).trim_end());
    }
    header::add_resolved(&mut text, call.resolved());
    header::add_notes(&mut structured, &mut text, notes);
    Answer::new(structured, text)
}

fn part_preview(part: &Part) -> Value {
    match part {
        Part::Text { name, value } => json!({"name": name, "value": value}),
        Part::File { name, filename, bytes } => {
            json!({"name": name, "filename": filename, "bytes": bytes.len()})
        }
        Part::Local { name, filename, path } => {
            json!({"name": name, "filename": filename, "path": path})
        }
    }
}
