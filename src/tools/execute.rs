//! `gitlab_execute_action`: one action checked, decided on, sent and presented.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::audit::Entry;
use super::meaning::Meant;
use super::{
    Answer, ErrorKind, ExecuteRequest, ToolError, Tools, answer, confirm, document, graphql, local, lost,
    meaning, past_end, refusal, repair, resolve, stretch, token, whereabouts,
};
use crate::call::{self, Body, Call, Checked, Part};
use crate::catalog::{Action, Interface, Risk};
use crate::gitlab::{Applied, GitlabError, Reply};
use crate::policy::{Decision, Rule};

/// Executes.
pub async fn execute(
    tools: &Tools,
    request: &ExecuteRequest,
    entry: &mut Entry<'_>,
) -> Result<Answer, ToolError> {
    let Meant { action, request, notes } = meaning::of(tools, request)?;
    stretch::place(&request)?;
    entry.named(&action);
    let known = action.clone();
    let answer = run(tools, action, &request, notes, entry).await;
    answer.map_err(|error| repair::complete(tools, error, &known, &request))
}

async fn run(
    tools: &Tools,
    action: Action,
    request: &ExecuteRequest,
    mut notes: Vec<String>,
    entry: &mut Entry<'_>,
) -> Result<Answer, ToolError> {
    let (action, fields) = asking(tools, action, request)?;
    if let Some(rule) = tools.policy.withholds(&action) {
        return Err(refusal::denied(&action.id, None, &rule));
    }
    let params = with_default_project(tools, &action, request.params.clone(), &mut notes);
    let context = tools.context().map_err(|error| refusal::internal(&error))?;
    let checked = call::check(action.clone(), params, &context).map_err(|invalid| {
        refusal::wrong_target(tools, &invalid, &action).unwrap_or_else(|| refusal::invalid(&invalid, &action))
    })?;
    notes.extend(checked.understood().iter().map(|understood| format!("understood {understood}")));
    let call = resolve::call(tools, &checked).await?;
    entry.called(&call, &checked);
    if call.risk() != Risk::Read {
        token::learn(tools).await;
    }
    notes.extend(tools.limits.news());
    match confirm::decide(tools, request, &call, &checked).await? {
        Decision::Deny(rule) => Err(refusal::denied(&action.id, Some(&call), &rule)),
        Decision::Preview(rule) => {
            notes.extend(refusal::decider(&call));
            Ok(preview(&call, &rule, &notes))
        }
        Decision::Confirm(rule) => Err(confirm::question(tools, &call, &checked, &rule).await?),
        Decision::Allow => {
            let call = local::prepared(tools, request, call)?;
            let reply = send(tools, &call, &checked, request, entry).await?;
            if let Some(path) = &request.save_to {
                return local::saved(tools, (request, path), &call, reply, notes);
            }
            let read = match (graphql::of(&action, &call), action.direct()) {
                (Some(graphql), _) => graphql::read(reply, &action, graphql, &mut notes),
                (None, Some(Interface::Graphql)) => document::read(reply, &call, &mut notes),
                (None, _) => Ok(reply),
            };
            let reply = match read {
                Err(error) if error.kind == ErrorKind::NotFound => {
                    return Err(whereabouts::looked_into(tools, (&call, &checked), request, error).await);
                }
                read => read?,
            };
            let canonical = ExecuteRequest {
                action: action.id.clone(),
                params: checked.params().clone(),
                ..request.clone()
            };
            let past_end = past_end::of(&reply, &canonical, &action);
            let answer = answer::answer(tools, (&canonical, &fields), &action, &call, reply, notes);
            Ok(past_end.into_iter().fold(answer, |answer, past_end| past_end.told(answer)))
        }
    }
}

/// The action with the fields that are wanted of it, and the paths by which its answers have them: GraphQL is
/// asked for them, of REST's answers they are picked.
fn asking(
    tools: &Tools,
    action: Action,
    request: &ExecuteRequest,
) -> Result<(Action, Vec<String>), ToolError> {
    let fields = request.fields.clone().unwrap_or_default();
    if fields.is_empty() || !tools.policy.selects() {
        return Ok((action, fields));
    }
    call::asking(action, &fields, tools.catalog.types()).map_err(|error| refusal::fields(&error, request))
}

/// A call that names no project works on the configured one, where it cannot work without.
pub fn with_default_project(
    tools: &Tools,
    action: &Action,
    mut params: Map<String, Value>,
    notes: &mut Vec<String>,
) -> Map<String, Value> {
    let words = tools.catalog.words().ok();
    let aliases = words
        .and_then(|words| words.glossary.get("fullPath"))
        .map(|entry| entry.aliases.as_slice())
        .unwrap_or_default();
    let is_named = params.iter().any(|(name, value)| match name.as_str() {
        call::TARGET => value.as_str().is_some_and(|text| !text.starts_with(['#', '!', '&', '%', '~', '$'])),
        name => name == "fullPath" || aliases.iter().any(|alias| alias == name),
    });
    let is_needed = action.choices().all(|operation| operation.is_filled_by("fullPath"));
    if let (Some(project), true, false) = (&tools.project, is_needed, is_named) {
        notes.push(format!("`fullPath` is {project}, the configured project"));
        params.insert("fullPath".to_owned(), json!(project));
    }
    params
}

async fn send(
    tools: &Tools,
    call: &Call,
    checked: &Checked,
    request: &ExecuteRequest,
    entry: &mut Entry<'_>,
) -> Result<Reply, ToolError> {
    let sent = tools.client.send(call).await;
    entry.answered(&sent);
    let error = match sent {
        Ok(reply) => return Ok(reply),
        Err(error) => error,
    };
    if let GitlabError::NotFound { .. } = &error {
        resolve::forget(tools, checked);
    }
    let refused = refusal::from_gitlab(&error, checked.action(), tools.anonymous);
    let refused = repair::told(tools, &error, checked, refused);
    Err(match error.applied() {
        Applied::Unknown => lost::look(tools, call, checked, refused).await,
        Applied::No if whereabouts::is_of_place(&error) => {
            let found = whereabouts::looked_into(tools, (call, checked), request, refused).await;
            repair::after(tools, &error, (call, checked), request, found)
        }
        Applied::No => repair::after(tools, &error, (call, checked), request, refused),
    })
}

/// The request that would be sent.
fn preview(call: &Call, rule: &Rule, notes: &[String]) -> Answer {
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
            request.insert("parts".to_owned(), parts.iter().map(part).collect());
        }
        Body::Local(path) => {
            request.insert("file".to_owned(), json!(path));
        }
        Body::Raw(bytes) => {
            request.insert("bytes".to_owned(), json!(bytes.len()));
        }
    }
    let mut structured = answer::head(call);
    structured.insert("preview".to_owned(), json!(true));
    structured.insert("reason".to_owned(), json!(rule.to_string()));
    structured.insert("request".to_owned(), Value::Object(request.clone()));
    let mut text = format!("Not sent: {}. It would be:\n", rule);
    let _ = writeln!(text, "{}", Value::Object(request));
    answer::add_resolved(&mut text, call);
    answer::add_notes(&mut structured, &mut text, notes);
    Answer { structured, text }
}

fn part(part: &Part) -> Value {
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
