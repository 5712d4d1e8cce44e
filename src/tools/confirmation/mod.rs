//! Confirmation of calls: the question that shows what a call would hit, the consent that is bound to just that call,
//! and the decline that holds for it.

pub mod declines;
pub mod pin;
pub mod question;
mod sentence;
pub mod token;

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::call::{self, Body, Call, Checked};
use crate::catalog::{Action, Interface, Locates, Piece, pieces};
use crate::gitlab::{Content, GitlabError};
use crate::policy::{Consent, Decision, Rule};
use crate::tools::audit::target::AuditTarget;
use crate::tools::errors::{self, ErrorKind, ToolError, mapping};
use crate::tools::own_reads::gate::{OwnReadError, Purpose};
use crate::tools::own_reads::locate;
use crate::tools::reply::graphql;
use crate::tools::state::Tools;
use crate::tools::types::{CheckedCall, ExecuteRequest, NextCall};
use crate::tools::{lookups, own_reads};
use crate::untrusted::foreign_line;

use declines::CallDigest;
use question::{AskedCall, Question, QuestionedCall, Refusal};
use sentence::{HitObject, Sentence};
use token::TokenError;

/// The subject that a confirmation token is bound to: the instance, the call with its body and locations, and the
/// current state of what it would hit.
fn subject(tools: &Tools, call: &Call, hit: &Map<String, Value>) -> String {
    let body = match call.body() {
        Body::Json(body) => body.to_string(),
        other => format!("{other:?}"),
    };
    let places: Vec<String> =
        call.effects().places().iter().map(|place| format!("{}={}", place.param, place.location)).collect();
    json!([
        tools.base.as_str(),
        call.action(),
        call.method().name(),
        call.path(),
        call.query(),
        body,
        places,
        hit,
    ])
    .to_string()
}

/// A call among several that are confirmed together.
pub struct PendingCall {
    /// Its number among them, from 1.
    pub number: usize,
    pub action: String,
    /// The parameters as they were given.
    pub params: Map<String, Value>,
    /// The call, if it is known beforehand.
    pub known: Option<(Call, Checked)>,
    /// The rule by which it is asked about.
    pub rule: Rule,
}

/// The one question about several calls of a composite action; none where the request consents to them all. Its
/// token is bound to every call and to what they hit as it is.
pub async fn confirm_together(
    tools: &Tools,
    plan: &str,
    request: &ExecuteRequest,
    params: &Map<String, Value>,
    asked: &[PendingCall],
) -> Option<ToolError> {
    for ask in asked.iter().filter(|_| !tools.declines.is_empty()) {
        let left = tools.declines.remaining(&ask.digest(tools).await);
        if let Some(left) = left {
            return Some(declined(&format!("call {} ({})", ask.number, ask.action), left));
        }
    }
    let wants_token = tools.policy.confirm().wants_token();
    if request.confirm == Some(true) && !wants_token {
        return None;
    }
    let rules: Vec<String> = asked.iter().map(|ask| ask.rule.to_string()).collect();
    let same = rules.first().filter(|first| rules.iter().all(|rule| rule == *first));
    let why = same.cloned().unwrap_or_else(|| rules.join("; "));
    let mut question = Question { calls: Vec::new(), why, plan: Some(plan.to_owned()), instance: None };
    for ask in asked {
        question.calls.push(ask.questioned(tools, plan).await);
    }
    let subject = json!([tools.base.as_str(), plan, params, question.rows()]).to_string();
    let rejected = match (request.confirm, &request.confirmation_token) {
        (Some(true), Some(token)) => match redeem(tools, token, &subject) {
            Ok(()) => return None,
            Err(error) => Some(error),
        },
        _ => None,
    };
    let token = wants_token.then(|| tools.tokens.as_ref()?.issue(&subject)).flatten();
    let hint = match token {
        None => "Call it again with `confirm: true` once the user agrees to all of these.",
        Some(_) => {
            "Call it again as in `fix` once the user agrees to all of these: its `confirmation_token` is good for \
             these calls, once, within five minutes, while what they hit stays as it is."
        }
    };
    let whole = ExecuteRequest { params: params.clone(), ..request.clone() };
    let error = with_rejection(question_error(question), rejected);
    Some(error.hint(hint).fix(consenting_call(&whole, plan, token)))
}

fn redeem(tools: &Tools, token: &str, subject: &str) -> Result<(), TokenError> {
    tools.tokens.as_ref().map_or(Err(TokenError::Mismatch), |tokens| tokens.redeem(token, subject))
}

/// The error that a model reads, without the call that consents.
fn question_error(question: Question) -> ToolError {
    let why = &question.why;
    let (message, would_hit, unseen) = match (question.calls.as_slice(), &question.plan) {
        ([call], None) => {
            let request = call.request.as_deref().unwrap_or(&call.params);
            let message = format!(
                "{} needs confirmation: {why}. It would send {request}. Nothing was changed",
                call.name
            );
            let hit = (!call.hit.is_empty()).then(|| Value::Object(call.hit.clone()));
            (message, hit, call.unseen.clone())
        }
        (calls, plan) => {
            let named: Vec<String> =
                calls.iter().map(|call| format!("{} ({})", call.number, call.asked.action)).collect();
            let plan = plan.as_deref().unwrap_or_default();
            let message =
                format!("{plan} needs confirmation for {}: {why}. Nothing was changed", named.join(", "));
            (message, Some(question.rows()), None)
        }
    };
    let mut error = ToolError::new(ErrorKind::NeedsConfirmation, message);
    error.details.extend(would_hit.map(|hit| ("would_hit".to_owned(), hit)));
    error.details.extend(unseen.map(|why| ("not_looked_up".to_owned(), json!(why))));
    error.question = Some(Box::new(question));
    error
}

fn with_rejection(mut error: ToolError, rejected: Option<TokenError>) -> ToolError {
    if let Some(rejected) = rejected {
        error.message = format!("{}; {rejected}", error.message);
    }
    error
}

/// The whole request again, consenting.
fn consenting_call(request: &ExecuteRequest, action: &str, token: Option<String>) -> NextCall {
    NextCall::for_request(&ExecuteRequest {
        action: action.to_owned(),
        confirm: Some(true),
        confirmation_token: token,
        ..request.clone()
    })
}

impl PendingCall {
    async fn digest(&self, tools: &Tools) -> CallDigest {
        match &self.known {
            Some((call, _)) => call_digest(tools, call).await,
            None => CallDigest::of_params(&tools.base, &self.action, &self.params),
        }
    }

    /// The call as one of a question about several.
    async fn questioned(&self, tools: &Tools, plan: &str) -> QuestionedCall {
        let mut questioned = match &self.known {
            Some((call, checked)) => {
                let target = look_up_target(tools, call, checked)
                    .await
                    .unwrap_or_else(|error| TargetObject { rows: Map::new(), unseen: Some(error.message) });
                questioned(tools, CheckedCall { call, checked }, target).await
            }
            None => {
                let action = tools.catalog.get(&self.action).ok().flatten();
                let sentence = action.map(|action| Sentence::for_action(&action, &self.params));
                let sentence = sentence.unwrap_or_default();
                QuestionedCall {
                    number: self.number,
                    name: self.action.clone(),
                    request: None,
                    params: json!(self.params).to_string(),
                    hit: Map::new(),
                    unseen: None,
                    asked: AskedCall {
                        action: self.action.clone(),
                        what: sentence.what.clone(),
                        plan: None,
                        digest: self.digest(tools).await,
                        target: AuditTarget::default(),
                    },
                    sentence,
                }
            }
        };
        questioned.number = self.number;
        questioned.asked.plan = Some(plan.to_owned());
        questioned
    }
}

/// The call of a question, with the object that it would hit.
async fn questioned(tools: &Tools, call: CheckedCall<'_>, target: TargetObject) -> QuestionedCall {
    let CheckedCall { call: request, checked } = call;
    let TargetObject { rows: hit, unseen } = target;
    let is_raw = checked.action().direct().is_some();
    let strictest = request.strictest().and_then(|touched| touched.ids.first()).filter(|_| is_raw);
    let named = strictest.and_then(|id| tools.catalog.get(id).ok().flatten());
    let sentence = Sentence::new(call, named.as_ref(), HitObject { fields: &hit, base: &tools.base });
    QuestionedCall {
        number: 1,
        name: mapping::strictest_operation(request).unwrap_or_else(|| request.action().to_owned()),
        request: Some(format!("{} {}", request.method().name(), request.path())),
        params: String::new(),
        hit,
        unseen,
        asked: AskedCall {
            action: request.action().to_owned(),
            what: sentence.what.clone(),
            plan: None,
            digest: call_digest(tools, request).await,
            target: AuditTarget::new(request, checked),
        },
        sentence,
    }
}

/// The digest of a call, for which the ids of its project or group are looked up.
async fn call_digest(tools: &Tools, call: &Call) -> CallDigest {
    let located = locate::locate_ids(tools, call.effects()).await;
    let ids = call.touches().iter().flat_map(|touched| &touched.ids);
    let actions = ids.filter_map(|id| tools.catalog.get(id).ok().flatten());
    let state: Vec<String> = actions.filter_map(|action| Some(action.pin?.param)).collect();
    CallDigest::of_call(&tools.base, call, &state, |location| locate::find_path(&located, location))
}

/// The error of a call that a person declined.
fn declined(name: &str, left: Duration) -> ToolError {
    let until = OffsetDateTime::now_utc() + left;
    let until = until.replace_nanosecond(0).unwrap_or(until).format(&Rfc3339).unwrap_or_default();
    let message = format!("the user declined this call: {name}. That holds until {until}. Nothing was sent");
    ToolError::new(ErrorKind::Declined, message)
        .hint("Tell the user, and ask what to do instead. No consent and no other spelling of the call is taken meanwhile.")
}

/// The error for calls that a person did not consent to. A decline holds for each of them for some time.
pub fn refuse(tools: &Tools, asked: &[AskedCall], refusal: Refusal) -> ToolError {
    let names: Vec<String> = asked.iter().map(AskedCall::name).collect();
    let name = names.join(", ");
    let error = match refusal {
        Refusal::Declined => {
            asked.iter().for_each(|call| tools.declines.add(call.digest.clone()));
            declined(&name, declines::DECLINE_LIFETIME)
        }
        Refusal::Unanswered => {
            let message = format!("the question about {name} was closed without an answer. Nothing was sent");
            ToolError::new(ErrorKind::Unanswered, message).hint(
                "Nobody may be there to answer: ask the user before you call it again. A program without a person sets \
                 GITLAB_CONFIRM_BY=model.",
            )
        }
    };
    asked.iter().for_each(|call| tools.auditor.refused(call, error.kind));
    error
}

/// The decision of policy on a call with its caller's consent.
#[derive(Debug)]
pub struct ConfirmationDecision {
    pub decision: Decision,
    /// The caller's consent.
    pub consent: Consent,
    /// The reason why the given token is rejected.
    pub rejected: Option<TokenError>,
}

/// Decides on a call with its caller's consent: given by this request, or `agreed` to already by
/// the question of the composite action that the call is a step of. A call that a person declined is an error.
pub async fn decide(
    tools: &Tools,
    request: &ExecuteRequest,
    call: CheckedCall<'_>,
    agreed: bool,
) -> Result<ConfirmationDecision, ToolError> {
    let CheckedCall { call, checked } = call;
    let confirm = agreed || request.confirm == Some(true);
    let consent = Consent { confirm, dry_run: request.dry_run == Some(true) };
    let unconfirmed = Consent { confirm: false, ..consent };
    let decision = tools.policy.decide(call.effects(), unconfirmed);
    if matches!(decision, Decision::Confirm(_)) && !tools.declines.is_empty() {
        let left = tools.declines.remaining(&call_digest(tools, call).await);
        if let Some(left) = left {
            return Err(declined(call.action(), left));
        }
    }
    if agreed || !tools.policy.confirm().wants_token() {
        let decision = tools.policy.decide(call.effects(), consent);
        return Ok(ConfirmationDecision { decision, consent, rejected: None });
    }
    let (Decision::Confirm(_), Some(token), true) = (&decision, &request.confirmation_token, consent.confirm)
    else {
        return Ok(ConfirmationDecision { decision, consent: unconfirmed, rejected: None });
    };
    let target = look_up_target(tools, call, checked).await?;
    Ok(match redeem(tools, token, &subject(tools, call, &target.rows)) {
        Ok(()) => {
            let decision = tools.policy.decide(call.effects(), consent);
            ConfirmationDecision { decision, consent, rejected: None }
        }
        Err(error) => ConfirmationDecision { decision, consent: unconfirmed, rejected: Some(error) },
    })
}

/// The question before a call is sent: the objects it affects, and the call that consents.
pub async fn confirmation_error(
    tools: &Tools,
    request: &ExecuteRequest,
    call: CheckedCall<'_>,
    why: &str,
    rejected: Option<TokenError>,
) -> Result<ToolError, ToolError> {
    let mut target = look_up_target(tools, call.call, call.checked).await?;
    if let Some(changed) = pin::refuse_changed(tools, call.checked, request, &target.rows).await {
        return Ok(changed);
    }
    if target.rows.is_empty() && target.unseen.is_none() {
        target.unseen = Some("the affected object cannot be read first".to_owned());
    }
    let wants_token = tools.policy.confirm().wants_token();
    let subject = subject(tools, call.call, &target.rows);
    let token = wants_token.then(|| tools.tokens.as_ref()?.issue(&subject)).flatten();
    let hint = match (&token, target.rows.is_empty()) {
        (None, _) => {
            "Call it again with `confirm: true` once the user agrees; `dry_run: true` shows the request."
        }
        (Some(_), true) => {
            "Call it again as in `fix` once the user agrees: its `confirmation_token` is good for this call, \
             once, within five minutes."
        }
        (Some(_), false) => {
            "Call it again as in `fix` once the user agrees: its `confirmation_token` is good for this call, \
             once, within five minutes, while what it hits stays as it is."
        }
    };
    let calls = vec![questioned(tools, call, target).await];
    let question = Question { calls, why: why.to_owned(), plan: None, instance: None };
    let whole = ExecuteRequest { params: call.checked.params().clone(), ..request.clone() };
    let error = with_rejection(question_error(question), rejected);
    Ok(error.hint(hint).fix(consenting_call(&whole, call.call.action(), token)))
}

/// The object that a call would hit, as far as GitLab shows it.
#[derive(Debug, Default)]
struct TargetObject {
    rows: Map<String, Value>,
    /// The reason why the target is unknown.
    unseen: Option<String>,
}

/// Reads the target object, or the project or group that contains it. A missing target is an error at once; any
/// other failure only leaves the question without the target.
async fn look_up_target(tools: &Tools, call: &Call, checked: &Checked) -> Result<TargetObject, ToolError> {
    let mut target = TargetObject::default();
    for look in target_reads(tools, call, checked) {
        match read_target(tools, &look.action, look.params).await {
            Ok(Some(rows)) => return Ok(TargetObject { rows, unseen: None }),
            Ok(None) => {}
            Err(error) if error.kind == ErrorKind::NotFound && look.is_thing_itself => return Err(error),
            Err(error) => target.unseen = Some(error.message),
        }
    }
    Ok(target)
}

/// A read that may show the objects that a call affects.
struct TargetRead {
    action: String,
    params: Map<String, Value>,
    /// True if it reads the target itself, so that a 404 is conclusive.
    is_thing_itself: bool,
}

/// The reads that may show it, the nearest first: the path of a raw request; the same thing by the same parameters;
/// the project or group.
fn target_reads(tools: &Tools, call: &Call, checked: &Checked) -> Vec<TargetRead> {
    let action = checked.action();
    if action.direct() == Some(Interface::Rest) {
        let path = checked.params().get("path").cloned().unwrap_or_default();
        let params = json!({"method": "GET", "path": path}).as_object().cloned().unwrap_or_default();
        return vec![TargetRead { action: "api.rest".to_owned(), params, is_thing_itself: false }];
    }
    let mut looks = Vec::new();
    let id = format!("{}.get", action.domain());
    if let Some(pin) = &action.pin {
        let params = pin::read_params(tools, pin, checked.params());
        // Where the object of another domain is missing, GitLab says what that means for the call.
        looks.push(TargetRead { action: pin.read.clone(), params, is_thing_itself: pin.read == id });
    }
    if let Some(get) = tools.catalog.get(&id).ok().flatten() {
        let is_thing_itself = is_above(&get, call, action);
        // An action that moves a project into a group has parameters for both.
        let moved = action.params.iter().find(|param| {
            param.name != "fullPath"
                && param.locates == Some(Locates::Project)
                && action.domain() == "project"
        });
        let params = match moved.and_then(|param| checked.params().get(&param.name)) {
            Some(project) if !is_thing_itself => Map::from_iter([("fullPath".to_owned(), project.clone())]),
            _ => checked.params().clone(),
        };
        looks.push(TargetRead { action: id, params, is_thing_itself });
    }
    if let Some(path) = checked.params().get("fullPath") {
        let of = Map::from_iter([("fullPath".to_owned(), path.clone())]);
        looks.extend(["project.get", "group.get"].map(|id| TargetRead {
            action: id.to_owned(),
            params: of.clone(),
            is_thing_itself: false,
        }));
    }
    looks
}

/// True if the read's path is a prefix of the call's path, so that it reads the target or its parent.
fn is_above(get: &Action, call: &Call, action: &Action) -> bool {
    let shape = |path: &str| -> Vec<String> {
        let parts = pieces(path).map(|piece| match piece {
            Piece::Text(text) => text.to_owned(),
            Piece::Placeholder { .. } => ":".to_owned(),
        });
        parts.collect::<String>().split('/').map(str::to_owned).collect()
    };
    let called = action.operations.iter().find(|operation| operation.to_string() == call.operation());
    let Some(called) = called.filter(|operation| operation.graphql.is_none()) else { return true };
    let path = shape(&called.path);
    get.operations.iter().any(|read| read.graphql.is_some() || path.starts_with(&shape(&read.path)))
}

/// Reads a summary of the object; none if there is no such read, or if it needs more parameters.
fn read_target<'t>(
    tools: &'t Tools,
    id: &'t str,
    params: Map<String, Value>,
) -> BoxFuture<'t, Result<Option<Map<String, Value>>, ToolError>> {
    Box::pin(async move {
        let Some(action) = tools.catalog.get(id).map_err(|error| errors::internal(&error))? else {
            return Ok(None);
        };
        let taken = params.into_iter().filter(|(name, _)| action.param(name).is_some()).collect();
        let context = tools.context().map_err(|error| errors::internal(&error))?;
        let Ok(checked) = call::check(action.clone(), taken, &context) else { return Ok(None) };
        let Ok(look) = lookups::call(tools, &checked).await else { return Ok(None) };
        let reply = match own_reads::send(tools, look.clone(), Purpose::Target).await {
            Err(OwnReadError::Gitlab(GitlabError::NotFound { .. })) if action.direct().is_some() => {
                return Ok(None);
            }
            Err(OwnReadError::Denied { action, rule }) => return Err(OwnReadError::denial(&action, &rule)),
            Err(OwnReadError::Gitlab(error)) => {
                return Err(mapping::from_gitlab(&error, &action, tools.token_standing()));
            }
            Ok(reply) => reply,
        };
        let reply = match graphql::operation(&action, &look) {
            Some(asked) => graphql::unwrap_reply(reply, &action, asked, &mut Vec::new())?,
            None => reply,
        };
        Ok(match reply.content {
            Content::Json(Value::Object(thing)) => Some(summarize(&action, &thing)),
            _ => None,
        })
    })
}

/// Fields that identify an object and its contents for a person, in GitLab's two spellings.
const SUMMARY_FIELDS: [&str; 28] = [
    "path_with_namespace",
    "full_path",
    "reference",
    "iid",
    "title",
    "name",
    "key",
    "tag_name",
    "username",
    "state",
    "status",
    "visibility",
    "archived",
    "default",
    "protected",
    "merged",
    "environment_scope",
    "sha",
    "last_commit_id",
    "open_issues_count",
    "user_notes_count",
    "forks_count",
    "star_count",
    "projects",
    "last_activity_at",
    "updated_at",
    "created_at",
    "web_url",
];

/// The summary fields of a thing; of a list its length.
fn summarize(action: &Action, thing: &Map<String, Value>) -> Map<String, Value> {
    let folded = |name: &str| name.replace('_', "").to_lowercase();
    let mut told = Map::from_iter([("kind".to_owned(), json!(action.domain()))]);
    for name in SUMMARY_FIELDS {
        let Some((_, value)) = thing.iter().find(|(given, _)| folded(given) == folded(name)) else {
            continue;
        };
        let said = match value {
            Value::Null | Value::Object(_) => continue,
            Value::Array(items) => json!(items.len()),
            Value::String(text) => json!(foreign_line(text)),
            scalar => scalar.clone(),
        };
        told.insert(name.to_owned(), said);
    }
    told
}
