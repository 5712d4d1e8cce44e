//! Agreement to the calls of a composite action before the first of them is made, by one question about those that need
//! it.

use serde_json::{Map, Value};

use crate::catalog::Risk;
use crate::composite::run::{CompositeRun, KnownStep};
use crate::policy::{Rule, Ruling};
use crate::tools::decide::{self, PendingCall};
use crate::tools::prepare::{self, Circumstances, Prepared};
use crate::tools::{ErrorKind, ExecuteRequest, ToolError, action_lookup};

/// A step that does not simply run.
pub enum HeldStep {
    Asked(Box<PendingCall>),
    /// A rule only previews it.
    Previewed,
}

/// Steps of which a person was asked, and agreed.
#[derive(Default)]
pub struct Agreement {
    /// Their numbers, each with the identity of the object that the question showed.
    steps: Vec<(usize, Option<Value>)>,
    /// True if a rule only previews one of the steps.
    pub previews: bool,
}

impl Agreement {
    /// True if the step of this number was agreed to.
    pub fn covers(&self, number: usize) -> bool {
        self.steps.iter().any(|(known, _)| *known == number)
    }

    /// The identity of the object that the question showed for the step of this number.
    pub fn identity(&self, number: usize) -> Option<Value> {
        self.steps.iter().find(|(known, _)| *known == number)?.1.clone()
    }
}

/// Decides on a step before it is made; none if it simply runs, or has to be decided on when it is made.
///
/// # Errors
/// A step that can never be made, or that is denied.
pub async fn hold(run: &CompositeRun<'_>, step: &KnownStep) -> Result<Option<HeldStep>, ToolError> {
    let resolved = action_lookup::resolve(run.tools, &step.request)?;
    // A call with references changes once they are filled in, so it is confirmed by itself then.
    if step.is_open {
        return Ok(None);
    }
    let action = resolved.action.clone();
    let pending = |rule: Rule, prepared: Option<Prepared>, identity: Option<Value>| {
        // Names as the ids that the question shows: an earlier step may give a name to another object.
        let params = prepared.as_ref().map_or_else(|| step.request.params.clone(), Prepared::params_again);
        let action = action.id.clone();
        HeldStep::Asked(Box::new(PendingCall {
            number: step.number,
            action,
            params,
            prepared,
            rule,
            identity,
        }))
    };
    if action.plan.is_some() {
        let asks = run.tools.policy.confirm().asks_about(action.risk);
        return Ok(asks.then(|| pending(Rule::Risk(action.risk), None, None)));
    }
    let circumstances = Circumstances { within: Some(run.id), ..Circumstances::default() };
    if action.risk == Risk::Read {
        return prepare::check(run.tools, resolved, circumstances).await.map(|_| None);
    }
    let request = ExecuteRequest { confirm: run.request.confirm, ..resolved.request.clone() };
    let resolved = action_lookup::resolved::ResolvedAction { request, ..resolved };
    let is_edited = prepare::edits::has_edits(&action, &resolved.request.params);
    let prepared = match step.number {
        1 => prepare::prepare(run.tools, resolved, circumstances).await?,
        _ => prepare::prepare_ahead(run.tools, resolved, circumstances).await?,
    };
    match decide::decide_ahead(run.tools, &prepared) {
        // The text that is sent is known when the steps before it are made: it is asked about by itself then.
        Ruling::Confirm(_) if is_edited && step.number > 1 => Ok(None),
        Ruling::Confirm(rule) => {
            let identity = decide::identity(run.tools, &prepared).await;
            Ok(Some(pending(rule, Some(prepared), identity)))
        }
        Ruling::Deny(rule) => Err(decide::denial(run.tools, &prepared, &rule)),
        Ruling::Preview(_) => Ok(Some(HeldStep::Previewed)),
        Ruling::Allow => Ok(None),
    }
}

/// Asks about the held steps together. `params` are those of the composite action in the call that consents.
///
/// # Errors
/// The question about them, or a decline that holds for one of them.
pub async fn agree(
    run: &CompositeRun<'_>,
    params: Map<String, Value>,
    held: Vec<HeldStep>,
) -> Result<Agreement, ToolError> {
    let mut agreement = Agreement::default();
    let mut pending = Vec::new();
    for step in held {
        match step {
            HeldStep::Asked(call) => pending.push(*call),
            HeldStep::Previewed => agreement.previews = true,
        }
    }
    if pending.is_empty() || run.request.dry_run == Some(true) {
        return Ok(agreement);
    }
    if !run.is_agreed() {
        let request = ExecuteRequest { action: run.id.to_owned(), params, ..run.request.clone() };
        decide::agree_together(run.tools, &request, &pending).await?;
    }
    agreement.steps = pending.into_iter().map(|call| (call.number, call.identity)).collect();
    Ok(agreement)
}

/// Agrees to steps that do not depend on each other: one that cannot be made fails alone, when it is made.
///
/// # Errors
/// Errors of [`agree`].
pub async fn agree_to_items(run: &CompositeRun<'_>, steps: Vec<KnownStep>) -> Result<Agreement, ToolError> {
    let mut held = Vec::new();
    for step in &steps {
        held.extend(hold(run, step).await.ok().flatten());
    }
    agree(run, run.params.clone(), held).await
}

/// True if the call itself is wrong, independent of GitLab's data.
pub fn is_wrong(error: &ToolError) -> bool {
    let is_invalid =
        matches!(error.kind, ErrorKind::InvalidParams | ErrorKind::UnknownAction | ErrorKind::AmbiguousAlias);
    is_invalid || prepare::is_denial(error)
}
