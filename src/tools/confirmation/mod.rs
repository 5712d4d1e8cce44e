//! Confirmation of calls: the error that shows what a call would hit, and the consent that is bound to just that
//! call.

pub mod pin;
pub mod token;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::call::{self, Body, Call, Checked};
use crate::catalog::{Action, Interface, Locates, Piece, pieces};
use crate::gitlab::{Content, GitlabError};
use crate::policy::{Consent, Decision, Rule};
use crate::tools::errors::{self, ErrorKind, ToolError, mapping};
use crate::tools::own_reads::gate::{OwnReadError, Purpose};
use crate::tools::reply::graphql;
use crate::tools::state::Tools;
use crate::tools::types::{CheckedCall, ExecuteRequest, NextCall};
use crate::tools::{lookups, own_reads};
use crate::untrusted::foreign_line;

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
    let wants_token = tools.policy.confirm().wants_token();
    if request.confirm == Some(true) && !wants_token {
        return None;
    }
    let mut rows = Vec::new();
    for ask in asked {
        rows.push(Value::Object(call_row(tools, ask).await));
    }
    let rows = Value::Array(rows);
    let subject = json!([tools.base.as_str(), plan, params, rows]).to_string();
    let rejected = match (request.confirm, &request.confirmation_token) {
        (Some(true), Some(token)) => match redeem(tools, token, &subject) {
            Ok(()) => return None,
            Err(error) => Some(error),
        },
        _ => None,
    };
    let named: Vec<String> = asked.iter().map(|ask| format!("{} ({})", ask.number, ask.action)).collect();
    let rules: Vec<String> = asked.iter().map(|ask| ask.rule.to_string()).collect();
    let same = rules.first().filter(|first| rules.iter().all(|rule| rule == *first));
    let why = same.cloned().unwrap_or_else(|| rules.join("; "));
    let message = format!("{plan} needs confirmation for {}: {why}. Nothing was changed", named.join(", "));
    let token = wants_token.then(|| tools.tokens.as_ref()?.issue(&subject)).flatten();
    let fix =
        consenting_call(&ExecuteRequest { params: params.clone(), ..request.clone() }, plan, token.clone());
    let hint = match token {
        None => "Call it again with `confirm: true` once the user agrees to all of these.",
        Some(_) => {
            "Call it again as in `fix` once the user agrees to all of these: its `confirmation_token` is good for \
             these calls, once, within five minutes, while what they hit stays as it is."
        }
    };
    let mut error =
        ToolError::new(ErrorKind::NeedsConfirmation, with_rejection(message, rejected)).hint(hint).fix(fix);
    error.details.insert("would_hit".to_owned(), rows);
    Some(error)
}

fn redeem(tools: &Tools, token: &str, subject: &str) -> Result<(), TokenError> {
    tools.tokens.as_ref().map_or(Err(TokenError::Mismatch), |tokens| tokens.redeem(token, subject))
}

fn with_rejection(message: String, rejected: Option<TokenError>) -> String {
    match rejected {
        Some(error) => format!("{message}; {error}"),
        None => message,
    }
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

/// A row of the question about several calls: the request and the objects it affects.
async fn call_row(tools: &Tools, ask: &PendingCall) -> Map<String, Value> {
    let mut row =
        Map::from_iter([("call".to_owned(), json!(ask.number)), ("action".to_owned(), json!(ask.action))]);
    let Some((call, checked)) = &ask.known else {
        row.insert("params".to_owned(), json!(json!(ask.params).to_string()));
        return row;
    };
    row.insert("request".to_owned(), json!(format!("{} {}", call.method().name(), call.path())));
    match look_up_target(tools, call, checked).await {
        Ok(target) => {
            row.extend(target.rows);
            row.extend(target.unseen.map(|why| ("not_looked_up".to_owned(), json!(why))));
        }
        Err(error) => {
            row.insert("not_looked_up".to_owned(), json!(error.message));
        }
    }
    row
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
/// the question of the composite action that the call is a step of.
pub async fn decide(
    tools: &Tools,
    request: &ExecuteRequest,
    call: CheckedCall<'_>,
    agreed: bool,
) -> Result<ConfirmationDecision, ToolError> {
    let CheckedCall { call, checked } = call;
    let confirm = agreed || request.confirm == Some(true);
    let consent = Consent { confirm, dry_run: request.dry_run == Some(true) };
    if agreed || !tools.policy.confirm().wants_token() {
        let decision = tools.policy.decide(call.effects(), consent);
        return Ok(ConfirmationDecision { decision, consent, rejected: None });
    }
    let unconfirmed = Consent { confirm: false, ..consent };
    let decision = tools.policy.decide(call.effects(), unconfirmed);
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
    let CheckedCall { call, checked } = call;
    let target = look_up_target(tools, call, checked).await?;
    if let Some(changed) = pin::refuse_changed(tools, checked, request, &target.rows).await {
        return Ok(changed);
    }
    let what = mapping::strictest_operation(call).unwrap_or_else(|| call.action().to_owned());
    let message = format!(
        "{what} needs confirmation: {why}. It would send {} {}. Nothing was changed",
        call.method().name(),
        call.path()
    );
    let wants_token = tools.policy.confirm().wants_token();
    let token =
        wants_token.then(|| tools.tokens.as_ref()?.issue(&subject(tools, call, &target.rows))).flatten();
    let whole = ExecuteRequest { params: checked.params().clone(), ..request.clone() };
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
    let mut error = ToolError::new(ErrorKind::NeedsConfirmation, with_rejection(message, rejected))
        .hint(hint)
        .fix(consenting_call(&whole, call.action(), token));
    let is_seen = !target.rows.is_empty();
    if is_seen {
        error.details.insert("would_hit".to_owned(), Value::Object(target.rows));
    }
    let unseen =
        target.unseen.or_else(|| (!is_seen).then(|| "the affected object cannot be read first".to_owned()));
    error.details.extend(unseen.map(|why| ("not_looked_up".to_owned(), json!(why))));
    Ok(error)
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
