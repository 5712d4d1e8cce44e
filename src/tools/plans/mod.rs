//! Composite actions: plans over the catalog's own actions, found and executed like any other. Every step of a plan is
//! an ordinary action on the ordinary way (meaning, check, look-ups, policy, sending, presentation), so that whatever
//! holds for that action holds for the step; nothing here talks to GitLab by itself.
//!
//! To add one:
//!
//! 1. In `catalog/curation/composite.toml` say `[plan."domain.verb"]`: the `path` and `scope` that it works on (as a
//!    path of GitLab's would say it, `bind` as everywhere; no other operation has the same path; nothing is sent
//!    there), the ids of the actions that it `needs` (without one of them it is withheld) and of those it `picks` from
//!    (withheld when none may run). In `[action."domain.verb"]` its words, risk, example and `params`, each with `in`
//!    (`path` where it fills a placeholder, else `selector`), `type` and `note`; the `fields` of objects are declared
//!    as parameters of their own. Run the generator.
//! 2. Write `src/tools/plans/verb.rs` with `pub async fn run(run: &Run<'_>) -> Result<Answer, ToolError>`, and add it
//!    to [`PLANS`]. The parameters in [`Run::params`] are checked by then; a default is for the plan to apply.
//! 3. A step that the plan itself reads: [`Run::read`]. A step whose answer is shown: [`Run::step`], then
//!    [`share::presented`], which keeps several together within the bytes of one answer; [`items::Items`] puts them
//!    in their order into both forms. What else a plan answers: [`Run::answer`].
//!
//! Steps side by side are `futures_util::future::join_all`: the client itself sends only so many at a time. A plan has
//! [`MOST_STEPS`] steps and [`TIME`]; a step beyond that fails with what it was, and the others stand.

mod batch;
mod comment_on_line;
mod create;
mod diagnose;
mod fetch;
pub mod items;
mod mr_diff;
mod read_files;
mod reference;
mod resolve_project;
mod review;
pub mod share;
#[cfg(test)]
mod tests;
mod things;
mod update;
mod window;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::audit::Entry;
use super::execute::{self, Manner, Outcome};
use super::meaning::{self, Meant};
use super::{Answer, ErrorKind, ExecuteRequest, ToolError, Tools, answer};
use crate::call::Fault;
use crate::catalog::Action;
use crate::gitlab::{Content, Sieve};
use crate::policy::Rule;

/// The steps of one plan, those that only look something up included.
const MOST_STEPS: usize = 120;

/// In which the steps of one plan are begun; each has the time of any request for itself.
const TIME: Duration = Duration::from_secs(120);

type Plan = for<'a> fn(&'a Run<'a>) -> BoxFuture<'a, Result<Answer, ToolError>>;

/// Every plan of the catalog by its id.
const PLANS: [(&str, Plan); 9] = [
    ("api.batch", |run| Box::pin(batch::run(run))),
    ("merge_request.comment_on_line", |run| Box::pin(comment_on_line::run(run))),
    ("merge_request.review", |run| Box::pin(review::run(run))),
    ("pipeline.diagnose", |run| Box::pin(diagnose::run(run))),
    ("project.resolve", |run| Box::pin(resolve_project::run(run))),
    ("repository.read_files", |run| Box::pin(read_files::run(run))),
    ("resource.create", |run| Box::pin(create::run(run))),
    ("resource.fetch", |run| Box::pin(fetch::run(run))),
    ("resource.update", |run| Box::pin(update::run(run))),
];

/// The rule that keeps a plan from being of any use here: one on an action that it needs, or on all that it picks
/// from.
pub fn withheld(tools: &Tools, action: &Action) -> Option<Rule> {
    let plan = action.plan.as_ref()?;
    let rule = |id: &String| {
        let part = tools.catalog.get(id).ok().flatten();
        part.and_then(|part| tools.policy.withholds(&part))
    };
    let picks: Option<Vec<Rule>> = plan.picks.iter().map(rule).collect();
    plan.needs.iter().find_map(rule).or_else(|| picks?.pop())
}

/// Runs a plan.
pub async fn run(tools: &Tools, meant: Meant, entry: &mut Entry<'_>) -> Result<Answer, ToolError> {
    let bounds = Bounds { begun: AtomicUsize::new(0), until: Instant::now() + TIME };
    planned(tools, meant, &bounds, &[], entry).await
}

/// The same within the bounds of a plan that it may be a step of.
async fn planned(
    tools: &Tools,
    meant: Meant,
    bounds: &Bounds,
    above: &[&str],
    entry: &mut Entry<'_>,
) -> Result<Answer, ToolError> {
    let Meant { action, request, mut notes } = meant;
    let plan = PLANS.iter().find(|(id, _)| *id == action.id).map(|(_, plan)| plan);
    let Some(plan) = plan else {
        return Err(ToolError::new(ErrorKind::Internal, format!("nothing runs {}", action.id)));
    };
    plain(&action, &request)?;
    let checked = execute::checked(tools, &action, &request, &mut notes)?;
    entry.planned();
    let params = checked.params().clone();
    let faults = checked.item_faults();
    let above = [above, &[action.id.as_str()]].concat();
    let run = Run { tools, id: &action.id, above: &above, params, faults, request: &request, bounds, notes };
    plan(&run).await
}

/// What a plan cannot do: its steps have each its own text, and none is saved.
fn plain(action: &Action, request: &ExecuteRequest) -> Result<(), ToolError> {
    let given = [
        ("fields", request.fields.is_some()),
        ("offset", request.offset.is_some()),
        ("lines", request.lines.is_some()),
        ("save_to", request.save_to.is_some()),
    ];
    let Some((name, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
    let message = format!("`{name}` is of a single answer, and {} has several", action.id);
    let arguments = json!({"action": action.id, "params": request.params});
    Err(ToolError::new(ErrorKind::InvalidParams, message)
        .hint("Leave it out here; the calls that the answer offers take it.")
        .fix(super::EXECUTE, arguments))
}

/// How much a plan may do, with the plans that are its steps.
#[derive(Debug)]
struct Bounds {
    begun: AtomicUsize,
    until: Instant,
}

impl Bounds {
    /// Counts a step that begins, while it may.
    fn begin(&self, what: &str) -> Result<(), ToolError> {
        if self.begun.fetch_add(1, Ordering::Relaxed) >= MOST_STEPS {
            let message = format!("{what} was not begun: one call makes at most {MOST_STEPS} requests");
            return Err(ToolError::new(ErrorKind::TooLarge, message).hint("Ask for less at a time."));
        }
        if Instant::now() >= self.until {
            let message = format!("{what} was not begun: {} seconds had gone", TIME.as_secs());
            return Err(ToolError::new(ErrorKind::Timeout, message).hint("Ask for less at a time."));
        }
        Ok(())
    }
}

/// One run of a plan.
pub struct Run<'a> {
    pub tools: &'a Tools,
    /// The id of the plan.
    pub id: &'a str,
    /// Its parameters by the catalog's names, of the catalog's types, none that is required missing.
    pub params: Map<String, Value>,
    /// The faults of its `items`, by their places.
    faults: &'a BTreeMap<usize, Fault>,
    /// What was asked, with `dry_run`, `confirm` and `view`.
    pub request: &'a ExecuteRequest,
    /// The ids of the plans that it runs within, its own the last.
    above: &'a [&'a str],
    bounds: &'a Bounds,
    notes: Vec<String>,
}

impl Run<'_> {
    /// Runs an action as a step: what came, or the preview of it where that was asked for.
    pub async fn step(&self, action: &str, params: Map<String, Value>) -> Result<Outcome, ToolError> {
        self.step_with(self.like(action, params), Manner { ours: true, ..Manner::default() }).await
    }

    /// The same, with the consent that the question of the composite action got.
    pub async fn step_agreed(
        &self,
        action: &str,
        params: Map<String, Value>,
        agreed: bool,
    ) -> Result<Outcome, ToolError> {
        let manner = Manner { agreed, ours: true, ..Manner::default() };
        self.step_with(self.like(action, params), manner).await
    }

    /// The same by a whole request; `agreed`, where the plan has asked the user about just this step.
    pub async fn step_as(&self, request: ExecuteRequest, agreed: bool) -> Result<Outcome, ToolError> {
        self.step_with(request, Manner { agreed, ..Manner::default() }).await
    }

    /// An action as a step, with the body of its reply read through the sieve.
    pub async fn through(
        &self,
        action: &str,
        params: Map<String, Value>,
        sieve: &mut dyn Sieve,
    ) -> Result<Outcome, ToolError> {
        let manner = Manner { ours: true, sieve: Some(sieve), ..Manner::default() };
        self.step_with(self.like(action, params), manner).await
    }

    async fn step_with(&self, request: ExecuteRequest, manner: Manner<'_>) -> Result<Outcome, ToolError> {
        let meant = meaning::of(self.tools, &request)?;
        self.bounds.begin(&meant.action.id)?;
        let mut entry = self.tools.auditor.begin();
        entry.within(self.id);
        entry.named(&meant.action);
        let result = match meant.action.plan {
            Some(_) => self.inner(meant, &mut entry).await.map(Outcome::Said),
            None => {
                let manner = Manner { plan: Some(self.id.to_owned()), ..manner };
                execute::outcome(self.tools, meant, manner, &mut entry).await
            }
        };
        let is_preview =
            matches!(&result, Ok(Outcome::Said(said)) if said.structured.contains_key("preview"));
        entry.ended(is_preview, result.as_ref().err());
        result
    }

    /// A plan as a step. None is within itself.
    fn inner<'s>(
        &'s self,
        meant: Meant,
        entry: &'s mut Entry<'_>,
    ) -> BoxFuture<'s, Result<Answer, ToolError>> {
        Box::pin(async move {
            if self.above.contains(&meant.action.id.as_str()) {
                let message = format!("{} cannot stand within itself", meant.action.id);
                return Err(ToolError::new(ErrorKind::InvalidParams, message));
            }
            planned(self.tools, meant, self.bounds, self.above, entry).await
        })
    }

    /// The JSON that an action which only reads answers with, as it came; it is asked for a dry run too.
    pub async fn read(&self, action: &str, params: Map<String, Value>) -> Result<Value, ToolError> {
        let request = ExecuteRequest { action: action.to_owned(), params, ..ExecuteRequest::default() };
        match self.step_with(request, Manner { ours: true, ..Manner::default() }).await? {
            Outcome::Came(came) => {
                if let (Some(all), Content::Json(Value::Array(rows))) = (came.reply.rows, &came.reply.content)
                {
                    return Err(came.truncated(rows.len(), all));
                }
                Ok(match came.reply.content {
                    Content::Json(value) => value,
                    Content::Text(text) => json!(text),
                    _ => Value::Null,
                })
            }
            Outcome::Said(_) => {
                Err(ToolError::new(ErrorKind::Denied, format!("{action} is shown here and not sent")))
            }
        }
    }

    /// The request of a step that is asked like the plan was.
    pub fn like(&self, action: &str, params: Map<String, Value>) -> ExecuteRequest {
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

    /// Whether a parameter is true; `otherwise`, where it was not given.
    pub fn flag(&self, name: &str, otherwise: bool) -> bool {
        self.params.get(name).and_then(Value::as_bool).unwrap_or(otherwise)
    }

    /// A parameter's text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.params.get(name).and_then(Value::as_str)
    }

    /// The items of a list.
    pub fn list(&self, name: &str) -> &[Value] {
        self.params.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// The error of an item that is wrong in itself, by its place among `items`.
    pub fn item_error(&self, place: usize) -> Option<ToolError> {
        self.faults.get(&place).map(|fault| ToolError::new(ErrorKind::InvalidParams, fault.to_string()))
    }

    /// The parameters that are wrong in a way that only the plan can tell.
    pub fn invalid(&self, message: impl Into<String>) -> ToolError {
        let message = format!("{} cannot be called like this: {}", self.id, message.into());
        ToolError::new(ErrorKind::InvalidParams, message)
            .fix(super::FIND, json!({"query": self.id, "limit": 1, "detail": "schema"}))
    }

    /// What the plan answers: its data, the same to read, and what else belongs beside the data.
    pub fn answer(
        &self,
        data: Value,
        mut text: String,
        beside: Map<String, Value>,
        notes: &[String],
    ) -> Answer {
        let mut structured = Map::from_iter([("action".to_owned(), json!(self.id))]);
        structured.insert("data".to_owned(), data);
        structured.extend(beside);
        let notes: Vec<String> = self.notes.iter().chain(notes).cloned().collect();
        answer::add_notes(&mut structured, &mut text, &notes);
        Answer { structured, text }
    }
}

/// An error as it stands among the outcomes of a plan's items.
pub fn failed(error: &ToolError) -> Value {
    error.structured().remove("error").unwrap_or_default()
}

/// JSON's object as parameters; nothing of another value.
pub fn params(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
