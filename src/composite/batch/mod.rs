//! `api.batch`: up to twenty calls in order; later ones can refer to the answers of earlier ones. Errors that can be
//! found beforehand are reported before the first call is sent, and the calls that need confirmation are confirmed
//! together.

mod references;

use serde_json::{Map, Value, json};

use crate::catalog::Risk;
use crate::composite::agreement::{self, Agreement, HeldStep, is_wrong};
use crate::composite::byte_budget;
use crate::composite::item_results::ItemResults;
use crate::composite::run::{CompositeRun, KnownStep};
use crate::gitlab::Content;
use crate::present;
use crate::tools::reply::render;
use crate::tools::response::Outcome;
use crate::tools::{Answer, ErrorKind, ExecuteRequest, NextCall, ToolError, View, action_lookup, prepare};
use references::{MissingReason, MissingValue};

/// Maximum number of calls.
const MAX_CALLS: usize = 20;

/// Maximum number of fields that are named if a reference has no value.
const MAX_FIELDS_NAMED: usize = 30;

/// A call of the batch, as given.
struct BatchCall<'a> {
    /// Number, from 1.
    number: usize,
    action: &'a str,
    params: Map<String, Value>,
    fields: Option<Vec<String>>,
    view: Option<View>,
    refers: bool,
    references: usize,
}

/// Result of a call; `None` if it was not run, because an earlier call failed.
type CallResult = Option<Result<Outcome, ToolError>>;

/// The calls, unless those after a failed one run too.
pub fn known_steps(run: &CompositeRun<'_>) -> Vec<KnownStep> {
    if run.flag("continue_on_error", false) {
        return Vec::new();
    }
    let calls = run.list("calls").iter().take(MAX_CALLS).enumerate().map(parse_call);
    calls.map(|call| call.known_step()).collect()
}

/// Runs the calls.
pub async fn run(run: &CompositeRun<'_>) -> Result<Answer, ToolError> {
    let given = run.bounded_list("calls", MAX_CALLS, "calls")?;
    let calls: Vec<BatchCall<'_>> = given.iter().enumerate().map(parse_call).collect();
    let goes_on = run.flag("continue_on_error", false);
    let agreement = check_ahead(run, &calls, goes_on).await?;
    let mut done: Vec<CallResult> = Vec::new();
    let mut stopped = None;
    // A previewed call is not done, and the other calls may depend on it.
    let mut is_previewed = agreement.previews && !goes_on;
    for call in &calls {
        if stopped.is_some() {
            done.push(None);
            continue;
        }
        let outcome = run_call(run, &calls, call, &done, &agreement, is_previewed).await;
        is_previewed |= !goes_on && outcome.as_ref().is_ok_and(is_preview_outcome);
        if outcome.is_err() && !goes_on {
            stopped = Some(call.number);
        }
        done.push(Some(outcome));
    }
    Ok(render_batch(run, &calls, done, stopped))
}

fn parse_call((at, call): (usize, &Value)) -> BatchCall<'_> {
    let params = call.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
    let field = |name: &str| call.get(name).cloned().unwrap_or_default();
    let references = references::referenced_calls(&Value::Object(params.clone())).len();
    BatchCall {
        references,
        number: at + 1,
        action: call.get("action").and_then(Value::as_str).unwrap_or_default(),
        refers: references > 0,
        params,
        fields: serde_json::from_value(field("fields")).ok(),
        view: serde_json::from_value(field("view")).ok(),
    }
}

impl BatchCall<'_> {
    fn known_step(&self) -> KnownStep {
        let step = KnownStep::new("call", self.number, self.action, self.params.clone());
        KnownStep { is_open: self.refers, ..step }
    }

    /// The request of the call. Consent is given for the batch only.
    fn request(&self, run: &CompositeRun<'_>, params: Map<String, Value>) -> ExecuteRequest {
        ExecuteRequest {
            action: self.action.to_owned(),
            params,
            fields: self.fields.clone(),
            view: self.view.or(run.request.view),
            dry_run: run.request.dry_run,
            ..ExecuteRequest::default()
        }
    }
}

/// Checks that are made before anything is sent: calls that can never be made are errors, unless
/// `continue_on_error` is set, and confirmation is asked for all calls at once.
async fn check_ahead(
    run: &CompositeRun<'_>,
    calls: &[BatchCall<'_>],
    goes_on: bool,
) -> Result<Agreement, ToolError> {
    let mut held = Vec::new();
    for call in calls {
        match check_call(run, call).await {
            Ok(step) => held.extend(step),
            Err(error) if goes_on || !is_wrong(&error) => {}
            Err(error) => return Err(call_error(call.number, error)),
        }
    }
    agreement::agree(run, with_asked_params(run, &held), held).await
}

/// The parameters of the batch, with those of its calls as they are asked about.
fn with_asked_params(run: &CompositeRun<'_>, held: &[HeldStep]) -> Map<String, Value> {
    let mut params = run.params.clone();
    let Some(Value::Array(calls)) = params.get_mut("calls") else { return params };
    for step in held {
        let HeldStep::Asked(asked) = step else { continue };
        if let Some(Value::Object(call)) = calls.get_mut(asked.number - 1) {
            call.insert("params".to_owned(), json!(asked.params));
        }
    }
    params
}

/// Decides on a call before the first is sent.
async fn check_call(run: &CompositeRun<'_>, call: &BatchCall<'_>) -> Result<Option<HeldStep>, ToolError> {
    if let Some(number) = later_reference(call) {
        let message = format!("`${number}` is not an earlier call: a call can only refer to those before it");
        return Err(run.invalid(message));
    }
    if call.references > references::MAX_REFERENCES {
        let (given, most) = (call.references, references::MAX_REFERENCES);
        return Err(run.invalid(format!("the call has {given} references; the limit is {most}")));
    }
    if action_lookup::resolve(run.tools, &call.request(run, call.params.clone()))?.action.id == run.id {
        return Err(run.invalid("batches cannot be nested"));
    }
    let step = KnownStep { request: call.request(run, call.params.clone()), ..call.known_step() };
    agreement::hold(run, &step).await
}

/// A referenced number that is not an earlier call.
fn later_reference(call: &BatchCall<'_>) -> Option<usize> {
    let to = references::referenced_calls(&Value::Object(call.params.clone()));
    to.into_iter().find(|to| *to == 0 || *to >= call.number)
}

async fn run_call(
    run: &CompositeRun<'_>,
    calls: &[BatchCall<'_>],
    call: &BatchCall<'_>,
    done: &[CallResult],
    agreement: &Agreement,
    dry_run: bool,
) -> Result<Outcome, ToolError> {
    let agreed = agreement.covers(call.number) && !dry_run;
    let reads = run.tools.catalog().get(call.action).ok().flatten().is_some_and(|one| one.risk == Risk::Read);
    let dry_run = (dry_run && !reads) || run.request.dry_run == Some(true);
    let whole: Vec<Option<Value>> = if call.refers {
        done.iter().zip(calls).map(|(done, earlier)| referable(run, earlier, done)).collect()
    } else {
        Vec::new()
    };
    let shown: Vec<Option<Answer>> = done
        .iter()
        .take(if call.refers { MAX_CALLS } else { 0 })
        .map(|done| presented_data(run, done))
        .collect();
    let answered = |number: usize| {
        let at = number.checked_sub(1)?;
        let presented = shown.get(at)?.as_ref().and_then(|answer| answer.structured.get("data"));
        let whole = whole.get(at).and_then(Option::as_ref);
        let forms: Vec<&Value> = whole.into_iter().chain(presented).collect();
        (!forms.is_empty()).then_some(forms)
    };
    let params = match references::fill_references(&call.params, call.number, &answered) {
        Ok(params) => params,
        Err(missing) => {
            if dry_run && missing.why == MissingReason::NoAnswer {
                return Ok(Outcome::Answer(unfilled_preview(call)));
            }
            return Err(missing_value_error(run, call, &missing, done, &answered));
        }
    };
    let request = ExecuteRequest {
        confirm: agreed.then_some(true),
        dry_run: dry_run.then_some(true),
        agreed_identity: agreement.identity(call.number),
        ..call.request(run, params)
    };
    run.step_as(request, agreed).await
}

fn is_preview_outcome(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Answer(answer) if answer.is_preview())
}

/// Every field of an answer, with secrets masked unless the call asked for them.
fn referable(run: &CompositeRun<'_>, earlier: &BatchCall<'_>, done: &CallResult) -> Option<Value> {
    let Some(Ok(Outcome::Response(came))) = done else { return None };
    let Content::Json(data) = &came.reply.content else { return None };
    let fields = earlier.fields.as_deref().unwrap_or_default();
    Some(render::referable(run.tools, &came.call, data, (fields, earlier.view.or(run.request.view))))
}

/// The rendered answer that references may use: complete, because only referenced values are used.
fn presented_data(run: &CompositeRun<'_>, done: &CallResult) -> Option<Answer> {
    match done {
        Some(Ok(Outcome::Response(came))) => Some(came.as_ref().clone().answer(run.tools, usize::MAX)),
        Some(Ok(Outcome::Answer(answer))) => Some(answer.clone()),
        _ => None,
    }
}

/// In a dry run: a call with a reference to a call that is not sent.
fn unfilled_preview(call: &BatchCall<'_>) -> Answer {
    let mut structured = Map::from_iter([("preview".to_owned(), json!(true))]);
    structured.insert("params".to_owned(), Value::Object(call.params.clone()));
    let text = format!("Not sent; with values of the answers before it: {}\n", json!(call.params));
    Answer::new(structured, text)
}

/// Converts the error of one call to the batch's error.
fn call_error(number: usize, error: ToolError) -> ToolError {
    // A denial says itself what was sent.
    let sent = if prepare::is_denial(&error) { "" } else { ". Nothing was sent" };
    ToolError { message: format!("call {number}: {}{sent}", error.message), ..error }
}

fn missing_value_error<'v>(
    run: &CompositeRun<'_>,
    call: &BatchCall<'_>,
    missing: &MissingValue,
    done: &[CallResult],
    answered: &impl Fn(usize) -> Option<Vec<&'v Value>>,
) -> ToolError {
    let MissingValue { reference, call: to, why } = missing;
    let action = run.list("calls").get(to.wrapping_sub(1)).and_then(|call| call.get("action"));
    let action = action.and_then(Value::as_str).unwrap_or_default();
    let (reason, suggestion) = match why {
        MissingReason::NotBefore => ("a call refers to those before it".to_owned(), None),
        MissingReason::NoAnswer => {
            let failed = matches!(done.get(to.wrapping_sub(1)), Some(Some(Err(_))));
            (format!("call {to} {}", if failed { "failed" } else { "answered with no data" }), None)
        }
        MissingReason::NoField { step, fields } => {
            let plain = fields.iter().map(String::as_str).filter(|name| present::is_plain(name));
            let nearest = crate::search::nearest(step, plain.clone());
            let suggestion = nearest.map(|nearest| reference.replacen(step.as_str(), nearest, 1));
            let named: Vec<&str> = plain.take(MAX_FIELDS_NAMED).collect();
            (format!("there is no `{step}` among {}", named.join(", ")), suggestion)
        }
        MissingReason::List { rows } => {
            let kept = match done.get(to.wrapping_sub(1)) {
                Some(Some(Ok(Outcome::Response(came)))) => came.reply.rows,
                _ => None,
            };
            let kept = kept.map(|came| format!(", the first of {came} that came")).unwrap_or_default();
            (format!("there is a list of {rows}{kept}; a row of it is `${to}[0]`"), None)
        }
        MissingReason::TooLarge => (
            format!("references would put more than {} bytes into the call", references::MAX_FILLED_BYTES),
            None,
        ),
        MissingReason::Leaf { step } => (format!("`{step}` must be a field of an object"), None),
    };
    let message =
        format!("call {}: `{reference}` has no value in the answer of {action}: {reason}", call.number);
    let error = ToolError::new(ErrorKind::InvalidParams, message);
    let error = match &suggestion {
        Some(suggestion) => {
            error.hint(format!("Did you mean `{suggestion}`? Write a literal dollar sign as `$$`."))
        }
        None => error.hint("Write a literal dollar sign as `$$`."),
    };
    // The earlier calls have run: the fix repeats only this one, with its references filled in.
    let mended = suggestion.and_then(|suggestion| {
        let params = json!(call.params).to_string().replace(reference.as_str(), &suggestion);
        references::fill_references(&serde_json::from_str(&params).ok()?, call.number, answered).ok()
    });
    match mended {
        Some(params) => error.fix(NextCall::execute(call.action, &params)),
        None => error.fix(NextCall::schema_of(call.action)),
    }
}

fn render_batch(
    run: &CompositeRun<'_>,
    calls: &[BatchCall<'_>],
    done: Vec<CallResult>,
    stopped: Option<usize>,
) -> Answer {
    let made: Vec<Result<Outcome, ToolError>> = done.into_iter().flatten().collect();
    let mut answers = byte_budget::render_within_budget(run.tools, made).into_iter();
    let mut items = ItemResults::default();
    let mut previews = false;
    for call in calls {
        let says = Map::from_iter([
            ("call".to_owned(), json!(call.number)),
            ("action".to_owned(), json!(call.action)),
        ]);
        match answers.next() {
            Some(answer) => {
                previews |= answer.as_ref().is_ok_and(Answer::is_preview);
                items.add_call("call", says, &call.params, &answer);
            }
            None => items.put("call", says, "skipped", Map::new(), ""),
        }
    }
    let note = stopped.map(|number| {
        let left = calls.len() - number;
        format!("stopped at call {number}, which failed; {left} after it were not run (`continue_on_error` runs them)")
    });
    let preview = previews.then(|| "previewed calls were not sent".to_owned());
    items.answer(run, &note.into_iter().chain(preview).collect::<Vec<_>>())
}
