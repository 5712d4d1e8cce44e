//! `gitlab_execute_action`: one action checked, decided on, sent and presented.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::meaning::Meant;
use super::{
    Answer, EXECUTE, ErrorKind, ExecuteRequest, ToolError, Tools, View, document, graphql, meaning, paging,
    past_end, refusal, repair, resolve, whereabouts,
};
use crate::call::{self, Body, Call, Checked, Part};
use crate::catalog::{Action, Interface};
use crate::gitlab::{self, Applied, GitlabError, Reply, Unread};
use crate::policy::{Consent, Decision, Rule};
use crate::present::{self, Content, Options, Presented};

/// Executes.
pub async fn execute(tools: &Tools, request: &ExecuteRequest) -> Result<Answer, ToolError> {
    let Meant { action, request, notes } = meaning::of(tools, request)?;
    let known = action.clone();
    let answer = run(tools, action, &request, notes).await;
    answer.map_err(|error| repair::complete(tools, error, &known, &request))
}

async fn run(
    tools: &Tools,
    action: Action,
    request: &ExecuteRequest,
    mut notes: Vec<String>,
) -> Result<Answer, ToolError> {
    let (action, fields) = asking(tools, action, request)?;
    if !tools.policy.offers(&action) {
        return Err(refusal::denied(&action.id, None, Rule::ReadOnly));
    }
    let params = with_default_project(tools, &action, request.params.clone(), &mut notes);
    let context = tools.context().map_err(|error| refusal::internal(&error))?;
    let checked = call::check(action.clone(), params, &context).map_err(|invalid| {
        refusal::wrong_target(tools, &invalid, &action).unwrap_or_else(|| refusal::invalid(&invalid, &action))
    })?;
    notes.extend(checked.understood().iter().map(|understood| format!("understood {understood}")));
    let call = resolve::call(tools, &checked).await?;
    let consent = Consent { confirm: request.confirm == Some(true), dry_run: request.dry_run == Some(true) };
    match tools.policy.decide(&call, consent) {
        Decision::Deny(rule) => Err(refusal::denied(&action.id, Some(&call), rule)),
        Decision::Preview(rule) => {
            notes.extend(refusal::decider(&call));
            Ok(preview(&call, rule, &notes))
        }
        Decision::Confirm => Err(refusal::needs_confirmation(&call, checked.params())),
        Decision::Allow => {
            let reply = send(tools, &call, &checked, request).await?;
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
            let answer = answer(tools, (&canonical, &fields), &action, &call, reply, notes);
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
    if fields.is_empty() {
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
) -> Result<Reply, ToolError> {
    let error = match tools.client.send(call).await {
        Ok(reply) => return Ok(reply),
        Err(error) => error,
    };
    if let GitlabError::NotFound { .. } = &error {
        resolve::forget(tools, checked);
    }
    let refused = refusal::from_gitlab(&error, checked.action(), tools.anonymous);
    let refused = repair::told(tools, &error, checked, refused);
    Err(match error.applied() {
        Applied::Unknown if checked.action().direct().is_some() => refusal::look(refused, call),
        Applied::Unknown => refused,
        Applied::No if whereabouts::is_of_place(&error) => {
            let found = whereabouts::looked_into(tools, (call, checked), request, refused).await;
            repair::after(tools, &error, (call, checked), request, found)
        }
        Applied::No => repair::after(tools, &error, (call, checked), request, refused),
    })
}

/// The request that would be sent.
fn preview(call: &Call, rule: Rule, notes: &[String]) -> Answer {
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
        Body::Raw(bytes) => {
            request.insert("bytes".to_owned(), json!(bytes.len()));
        }
    }
    let mut structured = head(call);
    structured.insert("preview".to_owned(), json!(true));
    structured.insert("reason".to_owned(), json!(rule.explained()));
    structured.insert("request".to_owned(), Value::Object(request.clone()));
    let mut text = format!("Not sent: {}. It would be:\n", rule.explained());
    let _ = writeln!(text, "{}", Value::Object(request));
    add_resolved(&mut text, call);
    add_notes(&mut structured, &mut text, notes);
    Answer { structured, text }
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text { name, value } => json!({"name": name, "value": value}),
        Part::File { name, filename, bytes } => {
            json!({"name": name, "filename": filename, "bytes": bytes.len()})
        }
    }
}

fn head(call: &Call) -> Map<String, Value> {
    let mut head = Map::from_iter([
        ("action".to_owned(), json!(call.action())),
        ("operation".to_owned(), json!(call.operation())),
    ]);
    let resolved = resolve::told(call);
    if !resolved.is_empty() {
        head.insert("resolved".to_owned(), Value::Object(resolved));
        head.insert("lookups".to_owned(), json!(call.lookups()));
    }
    head
}

fn answer(
    tools: &Tools,
    (request, fields): (&ExecuteRequest, &[String]),
    action: &Action,
    call: &Call,
    reply: Reply,
    mut notes: Vec<String>,
) -> Answer {
    let is_document = action.direct() == Some(Interface::Graphql);
    let options = Options {
        fields,
        // A document has already said what is wanted of everything.
        full: request.view == Some(View::Full) || is_document,
        budget: tools.max_bytes,
        offset: usize::try_from(request.offset.unwrap_or(0)).unwrap_or(usize::MAX),
    };
    let page = reply.page.clone();
    let is_list = matches!(&reply.content, gitlab::Content::Json(Value::Array(_)));
    let shown = present::present(content(reply, &mut notes), &options);
    notes.extend(shown.notes.iter().cloned());
    let page = if is_list || is_document { paging::page(request, action, &page, shown.rows) } else { None };
    assemble(request, call, shown, page, &notes)
}

/// What came, apart from the client that brought it.
fn content(reply: Reply, notes: &mut Vec<String>) -> Content {
    match reply.content {
        gitlab::Content::Empty if !reply.headers.is_empty() => Content::Json(json!(reply.headers)),
        gitlab::Content::Empty => Content::Empty,
        gitlab::Content::Json(value) => Content::Json(value),
        gitlab::Content::Text(text) => Content::Text(text),
        gitlab::Content::Binary { bytes, content_type, filename } => {
            Content::Binary { bytes: bytes.len(), content_type, filename }
        }
        gitlab::Content::Unread(why) => {
            notes.push(match why {
                Unread::TooLarge { limit, .. } => {
                    format!("done; the answer is over {limit} bytes and was not read")
                }
                Unread::Lost => "done; the connection broke before the answer was read".to_owned(),
            });
            Content::Empty
        }
    }
}

fn assemble(
    request: &ExecuteRequest,
    call: &Call,
    shown: Presented,
    page: Option<Value>,
    notes: &[String],
) -> Answer {
    let mut structured = head(call);
    let mut text = shown.text.clone();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let mut omitted = present::omitted(&shown);
    for cut in &shown.cut {
        let next = continuation(request, cut);
        let name = cut.path.clone().unwrap_or_else(|| "text".to_owned());
        let _ = writeln!(text, "{name} has {} bytes; it continues with: {next}", cut.total_bytes);
        if let Some(said) = omitted.get_mut(&name).and_then(Value::as_object_mut) {
            said.insert("next".to_owned(), next);
        }
    }
    if !shown.dropped.is_empty() {
        let (named, more) = shown.left_out();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = writeln!(
            text,
            "Not shown: {}{more}. `fields` picks any, `view: \"full\"` shows all.",
            named.join(", ")
        );
    }
    structured.insert("data".to_owned(), shown.data);
    if let Some(page) = page {
        text.push_str(&page_line(&page));
        structured.insert("page".to_owned(), page);
    }
    if !omitted.is_empty() {
        structured.insert("omitted".to_owned(), Value::Object(omitted));
    }
    add_resolved(&mut text, call);
    add_notes(&mut structured, &mut text, notes);
    Answer { structured, text }
}

/// The call that goes on where a text was cut.
fn continuation(request: &ExecuteRequest, cut: &present::Cut) -> Value {
    let mut arguments = Map::from_iter([
        ("action".to_owned(), json!(request.action)),
        ("params".to_owned(), Value::Object(request.params.clone())),
        ("offset".to_owned(), json!(cut.next_offset)),
    ]);
    if let Some(path) = &cut.path {
        arguments.insert("fields".to_owned(), json!([path]));
    }
    json!({"tool": EXECUTE, "arguments": arguments})
}

fn page_line(page: &Value) -> String {
    let number = |name: &str| page.get(name).and_then(Value::as_u64);
    let mut line = String::new();
    if let (Some(shown), Some(came)) = (number("shown"), number("came")) {
        let _ = write!(line, "Shown: the first {shown} of {came} on this page. ");
    }
    if let Some(at) = number("page") {
        let _ = write!(line, "Page {at}");
        let _ = number("total_pages").map_or(Ok(()), |pages| write!(line, " of {pages}"));
        let _ = number("total").map_or(Ok(()), |total| write!(line, ", {total} in all"));
        line.push_str(". ");
    }
    match page.get("next").filter(|next| !next.is_null()) {
        Some(next) => format!("{line}Next: {next}\n"),
        None => format!("{}\n", line.trim_end()),
    }
}

fn add_resolved(text: &mut String, call: &Call) {
    for (param, said) in resolve::told(call) {
        let _ = writeln!(text, "Resolved: {param}: {}.", said.as_str().unwrap_or_default());
    }
}

fn add_notes(structured: &mut Map<String, Value>, text: &mut String, notes: &[String]) {
    if notes.is_empty() {
        return;
    }
    structured.insert("notes".to_owned(), json!(notes));
    for note in notes {
        let _ = writeln!(text, "Note: {note}.");
    }
}
