//! One run of a composite action and its steps.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::call::{Fault, Resolved, ResolvedParams};
use crate::catalog::Action;
use crate::gitlab::{BodySink, Content};
pub use crate::text::object_fields as params;
use crate::tools::action_lookup::resolved::ResolvedAction;
use crate::tools::audit::AuditEntry;
use crate::tools::header;
use crate::tools::prepare::{self, Circumstances, check};
use crate::tools::response::Outcome;
use crate::tools::run::run_action;
use crate::tools::{Answer, Argument, ErrorKind, ExecuteRequest, NextCall, ToolError, Tools, action_lookup};

/// Maximum number of steps of one plan, look-ups included.
pub const MAX_STEPS: usize = 120;

/// Time within which steps may be started; each has the normal timeout of a request.
pub const TIME: Duration = Duration::from_secs(120);

/// The code that runs a composite action.
pub type RunComposite = for<'a> fn(&'a CompositeRun<'a>) -> BoxFuture<'a, Result<Answer, ToolError>>;

/// A composite action of the catalog.
#[derive(Debug)]
pub struct Composite {
    pub id: &'static str,
    /// The steps that its parameters tell without an answer of GitLab. One that is denied refuses the whole call before
    /// anything is sent. Empty where a failed step stops no other one.
    pub known_steps: fn(&CompositeRun<'_>) -> Vec<KnownStep>,
    pub run: RunComposite,
}

/// The composite actions of the catalog.
pub type Actions = &'static [Composite];

/// A step that a composite action is going to run.
pub struct KnownStep {
    /// Its number among the calls, from 1.
    pub number: usize,
    /// Its name within the call, for an error: `call 2`.
    pub name: String,
    pub request: ExecuteRequest,
    /// True if values of earlier answers are still missing in its parameters.
    pub is_open: bool,
}

impl KnownStep {
    /// A step that is named by what it is and its number.
    pub fn new(noun: &str, number: usize, action: &str, params: Map<String, Value>) -> KnownStep {
        let request = ExecuteRequest { action: action.to_owned(), params, ..ExecuteRequest::default() };
        KnownStep { number, name: format!("{noun} {number}"), request, is_open: false }
    }
}

/// Runs a composite action.
pub async fn run(
    actions: Actions,
    tools: &Tools,
    resolved: ResolvedAction,
    entry: &mut AuditEntry<'_>,
) -> Result<Answer, ToolError> {
    let bounds = RunBounds { actions, begun: AtomicUsize::new(0), until: Instant::now() + TIME };
    run_within(tools, resolved, Enclosing { bounds: &bounds, above: &[], is_agreed: false }, entry).await
}

/// Surroundings of a composite action: the enclosing ones, and their bounds.
#[derive(Clone, Copy)]
struct Enclosing<'a> {
    bounds: &'a RunBounds,
    /// Ids of the enclosing composite actions.
    above: &'a [&'a str],
    /// A person has agreed to it by the question of an enclosing one.
    is_agreed: bool,
}

async fn run_within(
    tools: &Tools,
    resolved: ResolvedAction,
    enclosing: Enclosing<'_>,
    entry: &mut AuditEntry<'_>,
) -> Result<Answer, ToolError> {
    let ResolvedAction { action, request, mut notes } = resolved;
    let Some(composite) = enclosing.bounds.find_composite(&action.id) else {
        return Err(ToolError::new(ErrorKind::Internal, format!("nothing runs {}", action.id)));
    };
    reject_arguments_of_one_answer(&action, &request)?;
    let checked = check::check_with_project_name(tools, &action, &request, &mut notes).await?;
    entry.planned();
    let above = [enclosing.above, &[action.id.as_str()]].concat();
    let mut run = CompositeRun {
        tools,
        id: &action.id,
        enclosing: Enclosing { above: &above, ..enclosing },
        params: checked.params().clone(),
        resolved: Vec::new(),
        lookups: 0,
        faults: checked.item_faults(),
        request: &request,
        notes,
    };
    if let Some(denied) = find_denial(&run, composite).await {
        return Err(denied);
    }
    let (ResolvedParams { params, resolved }, lookups) =
        prepare::look_up_params(tools, &checked, &request).await?;
    (run.params, run.resolved, run.lookups) = (params, resolved, lookups);
    (composite.run)(&run).await
}

/// The denial of the first known step that has one. Look-ups are only made for the path behind an id.
async fn find_denial(run: &CompositeRun<'_>, composite: &Composite) -> Option<ToolError> {
    for step in (composite.known_steps)(run) {
        if let Some(error) = find_step_denial(run, &step).await {
            return Some(ToolError { message: format!("{}: {}", step.name, error.message), ..error });
        }
    }
    None
}

fn find_step_denial<'s>(run: &'s CompositeRun<'_>, step: &'s KnownStep) -> BoxFuture<'s, Option<ToolError>> {
    Box::pin(async move {
        let resolved = action_lookup::resolve(run.tools, &step.request).ok()?;
        let is_above = run.enclosing.above.contains(&resolved.action.id.as_str());
        let inner = run.enclosing.bounds.find_composite(&resolved.action.id);
        let Some(inner) = inner.filter(|_| !is_above) else {
            return prepare::known_denial(run.tools, resolved, step.is_open).await;
        };
        let ResolvedAction { action, request, .. } = resolved;
        if let Err(denied) = prepare::refuse_withheld(run.tools, &action) {
            return Some(denied);
        }
        let checked = check::check_params(run.tools, &action, &request, &mut Vec::new()).ok()?;
        let above = [run.enclosing.above, &[inner.id]].concat();
        let inner_run = CompositeRun {
            id: inner.id,
            enclosing: Enclosing { above: &above, ..run.enclosing },
            params: checked.params().clone(),
            faults: checked.item_faults(),
            resolved: Vec::new(),
            notes: Vec::new(),
            ..*run
        };
        find_denial(&inner_run, inner).await
    })
}

/// Rejects arguments on one answer: a composite action has several.
fn reject_arguments_of_one_answer(action: &Action, request: &ExecuteRequest) -> Result<(), ToolError> {
    let Some(name) = request.first_given(Argument::needs_one_answer) else { return Ok(()) };
    let message = format!("`{name}` applies to a single answer, and {} has several", action.id);
    let again = NextCall::execute(&action.id, &request.params);
    Err(ToolError::new(ErrorKind::InvalidParams, message)
        .hint("Leave it out; the calls in the answer take it.")
        .fix(again))
}

/// Bounds of a composite action, shared with its composite steps.
#[derive(Debug)]
pub struct RunBounds {
    /// The composite actions that may be steps.
    pub actions: Actions,
    pub begun: AtomicUsize,
    pub until: Instant,
}

impl RunBounds {
    fn find_composite(&self, id: &str) -> Option<&'static Composite> {
        self.actions.iter().find(|composite| composite.id == id)
    }

    /// Counts a new step, if the limits allow it.
    pub fn begin(&self, what: &str) -> Result<(), ToolError> {
        if self.begun.fetch_add(1, Ordering::Relaxed) >= MAX_STEPS {
            let message = format!("{what} was not started: one call makes at most {MAX_STEPS} requests");
            return Err(ToolError::new(ErrorKind::TooLarge, message).hint("Ask for less at a time."));
        }
        if Instant::now() >= self.until {
            let message =
                format!("{what} was not started: the limit of {} seconds was reached", TIME.as_secs());
            return Err(ToolError::new(ErrorKind::Timeout, message).hint("Ask for less at a time."));
        }
        Ok(())
    }
}

/// One run of a composite action.
pub struct CompositeRun<'a> {
    pub tools: &'a Tools,
    /// The id of the plan.
    pub id: &'a str,
    /// The checked parameters, by the catalog's names and types, with ids in place of names.
    pub params: Map<String, Value>,
    resolved: Vec<Resolved>,
    /// Number of requests that found the ids.
    lookups: usize,
    /// Errors of its `items`, by position.
    faults: &'a BTreeMap<usize, Fault>,
    /// The request, with `dry_run`, `confirm` and `view`.
    pub request: &'a ExecuteRequest,
    /// Its surroundings; its own id is the last of those above its steps.
    enclosing: Enclosing<'a>,
    notes: Vec<String>,
}

impl CompositeRun<'_> {
    /// True if a person has agreed to the whole run, by the question of an enclosing composite action.
    pub fn is_agreed(&self) -> bool {
        self.enclosing.is_agreed
    }

    /// Runs an action as a step; with `dry_run`, the outcome is a preview.
    pub async fn step(&self, action: &str, params: Map<String, Value>) -> Result<Outcome, ToolError> {
        self.step_agreed(action, params, false).await
    }

    /// Runs an action as a step, with the consent to the composite action.
    pub async fn step_agreed(
        &self,
        action: &str,
        params: Map<String, Value>,
        is_agreed: bool,
    ) -> Result<Outcome, ToolError> {
        let circumstances = Circumstances { is_agreed, is_internal: true, within: Some(self.id) };
        self.run_step(self.step_request(action, params), circumstances, None).await
    }

    /// Runs a whole request as a step; `is_agreed` if the user consented to just this step.
    pub async fn step_as(&self, request: ExecuteRequest, is_agreed: bool) -> Result<Outcome, ToolError> {
        let circumstances = Circumstances { is_agreed, within: Some(self.id), ..Circumstances::default() };
        self.run_step(request, circumstances, None).await
    }

    /// Runs an action as a step and streams its response body into a sink.
    pub async fn step_streaming(
        &self,
        action: &str,
        params: Map<String, Value>,
        sink: &mut dyn BodySink,
    ) -> Result<Outcome, ToolError> {
        let circumstances = Circumstances { is_internal: true, within: Some(self.id), is_agreed: false };
        self.run_step(self.step_request(action, params), circumstances, Some(sink)).await
    }

    async fn run_step(
        &self,
        request: ExecuteRequest,
        circumstances: Circumstances<'_>,
        sink: Option<&mut (dyn BodySink + '_)>,
    ) -> Result<Outcome, ToolError> {
        let resolved = action_lookup::resolve(self.tools, &request)?;
        self.enclosing.bounds.begin(&resolved.action.id)?;
        let mut entry = self.tools.auditor.begin();
        entry.within(self.id);
        entry.set_action(&resolved.action, &resolved.request.params);
        let outcome = match resolved.action.plan {
            Some(_) => {
                let is_agreed = circumstances.is_agreed;
                self.run_composite_step(resolved, is_agreed, &mut entry).await.map(Outcome::Answer)
            }
            None => run_action(self.tools, resolved, circumstances, sink, &mut entry).await,
        };
        let previews = matches!(&outcome, Ok(Outcome::Answer(answer)) if answer.is_preview());
        entry.ended(previews, outcome.as_ref().err());
        outcome
    }

    /// Runs a composite action as a step. None may contain itself.
    fn run_composite_step<'s>(
        &'s self,
        resolved: ResolvedAction,
        is_agreed: bool,
        entry: &'s mut AuditEntry<'_>,
    ) -> BoxFuture<'s, Result<Answer, ToolError>> {
        Box::pin(async move {
            if self.enclosing.above.contains(&resolved.action.id.as_str()) {
                let message = format!("{} cannot be a step of itself", resolved.action.id);
                return Err(ToolError::new(ErrorKind::InvalidParams, message));
            }
            let is_agreed = is_agreed || self.enclosing.is_agreed;
            run_within(self.tools, resolved, Enclosing { is_agreed, ..self.enclosing }, entry).await
        })
    }

    /// The unrendered data of a read-only action; read even in a dry run.
    pub async fn read_json(&self, action: &str, params: Map<String, Value>) -> Result<Value, ToolError> {
        let request = ExecuteRequest { action: action.to_owned(), params, ..ExecuteRequest::default() };
        let circumstances = Circumstances { is_internal: true, within: Some(self.id), is_agreed: false };
        match self.run_step(request, circumstances, None).await? {
            Outcome::Response(response) => {
                if let (Some(all), Content::Json(Value::Array(rows))) =
                    (response.reply.rows, &response.reply.content)
                {
                    return Err(response.truncated(rows.len(), all));
                }
                Ok(match response.reply.content {
                    Content::Json(value) => value,
                    Content::Text(text) => json!(text),
                    _ => Value::Null,
                })
            }
            Outcome::Answer(_) => {
                Err(ToolError::new(ErrorKind::Denied, format!("{action} is only previewed here")))
            }
        }
    }

    /// The request of a step with the options of the plan.
    pub fn step_request(&self, action: &str, params: Map<String, Value>) -> ExecuteRequest {
        ExecuteRequest {
            action: action.to_owned(),
            params,
            confirm: self.request.confirm,
            confirmation_token: self.request.confirmation_token.clone(),
            view: self.request.view,
            dry_run: self.request.dry_run,
            ..ExecuteRequest::default()
        }
    }

    /// The value of a boolean parameter; `otherwise` if it is not given.
    pub fn flag(&self, name: &str, otherwise: bool) -> bool {
        self.params.get(name).and_then(Value::as_bool).unwrap_or(otherwise)
    }

    /// A parameter's text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.params.get(name).and_then(Value::as_str)
    }

    /// The parameters of a step on the merge request of the call.
    pub fn of_merge_request(&self, details: Value) -> Map<String, Value> {
        let names = ["fullPath", "iid"].into_iter();
        let of = names.filter_map(|name| Some((name.to_owned(), self.params.get(name)?.clone())));
        of.chain(params(details)).collect()
    }

    /// The items of a list.
    pub fn list(&self, name: &str) -> &[Value] {
        self.params.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// The items of a list that has at least one, and at most so many of this noun.
    pub fn bounded_list(&self, name: &str, max: usize, noun: &str) -> Result<&[Value], ToolError> {
        match self.list(name) {
            items if (1..=max).contains(&items.len()) => Ok(items),
            items => {
                let given = items.len();
                Err(self.invalid(format!("`{name}` is 1 to {max} {noun}; {given} were given")))
            }
        }
    }

    /// The error of an invalid item, by its position in the list.
    pub fn item_error(&self, place: usize) -> Option<ToolError> {
        self.faults.get(&place).map(|fault| ToolError::new(ErrorKind::InvalidParams, fault.to_string()))
    }

    /// Errors in parameters that only the plan can detect.
    pub fn invalid(&self, message: impl Into<String>) -> ToolError {
        let message = format!("{}: {}", self.id, message.into());
        ToolError::new(ErrorKind::InvalidParams, message).fix(NextCall::schema_of(self.id))
    }

    /// The answer: data, text, further fields and notes.
    pub fn answer(
        &self,
        data: Value,
        mut text: String,
        beside: Map<String, Value>,
        notes: &[String],
    ) -> Answer {
        let mut structured = Map::from_iter([("action".to_owned(), json!(self.id))]);
        header::add_resolved_names(&mut structured, &self.resolved, self.lookups);
        structured.insert("data".to_owned(), data);
        structured.extend(beside);
        header::add_resolved(&mut text, &self.resolved);
        let notes: Vec<String> = self.notes.iter().chain(notes).cloned().collect();
        header::add_notes(&mut structured, &mut text, &notes);
        Answer::new(structured, text)
    }
}

/// An error as an outcome of an item.
pub fn failed(error: &ToolError) -> Value {
    error.structured().remove("error").unwrap_or_default()
}
