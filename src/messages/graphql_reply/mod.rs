//! Unwraps replies of GraphQL operations: errors sent with status 200 become errors, and the data is taken out of
//! its enclosing fields.

pub mod document;

use serde_json::{Map, Value, json};

use crate::call::{Call, UnknownField};
use crate::catalog::{Action, Graphql, GraphqlKind};
use crate::gitlab::{Content, Page, Reply};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::NextCall;
use crate::untrusted::{one_line, quote, shortened_at_word};

/// GitLab's message for an object that is missing, or may not be seen.
const HIDDEN: &str = "does not exist or you don't have permission";

/// GraphQL's words for a field that the instance does not know.
const UNKNOWN_FIELD: &str = "doesn't exist on type";

/// GraphQL's words for a type that the instance does not know, in the condition of a fragment.
const UNKNOWN_TYPE: &str = "No such type ";

/// GraphQL's words for an argument that the instance does not know; its name follows in quotes.
const REFUSED_ARGUMENT: &str = "doesn't accept argument";

/// GitLab's words for a fault of its own (`app/controllers/graphql_controller.rb`).
const FAULT: &str = "Internal server error";

/// GraphQL's words for what the instance does not know: a field, a type, an argument, a field of an input.
const UNKNOWN: [&str; 6] = [
    UNKNOWN_FIELD,
    UNKNOWN_TYPE,
    "is not defined by type",
    "isn't a defined input type",
    REFUSED_ARGUMENT,
    "Field is not defined on",
];

/// The GraphQL operation of a call, if it is one.
pub fn operation<'a>(action: &'a Action, call: &Call) -> Option<&'a Graphql> {
    let called = action.operations.iter().find(|operation| operation.to_string() == call.operation())?;
    called.graphql.as_ref()
}

/// Unwraps the response of a GraphQL operation, or maps its errors. Errors next to data become notes.
pub fn unwrap_reply(
    reply: Reply,
    action: &Action,
    graphql: &Graphql,
    notes: &mut Vec<String>,
) -> Result<Reply, ToolError> {
    let mut body = body(reply.content);
    let errors = messages(body.get("errors"));
    let changes = graphql.kind == GraphqlKind::Mutation;
    let refuse = |errors: &[String], body: &Value| {
        failed(errors, body, &action.id, graphql.experiment.as_deref(), changes)
    };
    let data = body.get_mut("data").map(Value::take).filter(|data| !data.is_null());
    let Some(data) = data else {
        return Err(refuse(&errors, &body));
    };
    let found = match value_at(data, &graphql.field) {
        Ok(found) => found,
        Err(step) if errors.is_empty() => return Err(nothing(step, &action.id)),
        Err(_) => return Err(refuse(&errors, &body)),
    };
    notes.extend(errors.iter().map(|error| format!("GitLab says: {error}")));
    let found = match graphql.kind {
        GraphqlKind::Query => found,
        GraphqlKind::Mutation => changed(found, action)?,
    };
    let (found, page) = rows(found, reply.page);
    Ok(Reply {
        content: if found.is_null() { Content::Empty } else { Content::Json(flat(found)) },
        page,
        ..reply
    })
}

/// The reply to a read of this server's own: the data of a GraphQL operation, without the errors next to them; a REST
/// reply as it is.
pub fn unwrap_own_read(reply: Reply, action: &Action, call: &Call) -> Result<Reply, ToolError> {
    match operation(action, call) {
        Some(graphql) => unwrap_reply(reply, action, graphql, &mut Vec::new()),
        None => Ok(reply),
    }
}

/// The body of an answer. GraphQL answers with an object: what came without one is no answer of its.
fn body(content: Content) -> Value {
    match content {
        Content::Json(body) => body,
        _ => Value::Null,
    }
}

/// The fields and types for which a document was refused, if nothing else was wrong with it: the instance does not know
/// them. Nothing of such a document was executed: it has errors of the validation alone, and no data.
pub fn unknown_fields(reply: &Reply) -> Vec<UnknownField> {
    let Content::Json(body) = &reply.content else { return Vec::new() };
    let errors = body.get("errors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let unknown = |error: &Value| {
        let message = error.get("message")?.as_str()?;
        let at = error.get("locations")?.get(0)?;
        let number = |name: &str| usize::try_from(at.get(name)?.as_u64()?).ok();
        let (line, column) = (number("line")?, number("column")?);
        let name = match message.strip_prefix(UNKNOWN_TYPE) {
            Some(rest) => rest.split(|c: char| !c.is_alphanumeric()).next()?,
            None if message.contains(UNKNOWN_FIELD) => message.strip_prefix("Field '")?.split('\'').next()?,
            None => return None,
        };
        Some(UnknownField { name: name.to_owned(), line, column })
    };
    if body.get("data").is_some_and(|data| !data.is_null()) {
        return Vec::new();
    }
    errors.iter().map(unknown).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// Limits of repeated errors: their number, and the characters of each.
const MAX_ERRORS: usize = 10;
const LONGEST_ERROR: usize = 300;

/// A quotation that ends with a whole word: a secret in it is redacted when the answer is complete.
fn quoted(text: &str) -> String {
    quote(&shortened_at_word(&one_line(text), LONGEST_ERROR))
}

/// The quoted texts of a list of errors, GraphQL's own or a payload's.
pub fn messages(errors: Option<&Value>) -> Vec<String> {
    let items = errors.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text = |error: &Value| match error.get("message").unwrap_or(error) {
        Value::String(text) => quoted(text),
        other => quoted(&other.to_string()),
    };
    let mut texts: Vec<String> = items.iter().take(MAX_ERRORS).map(text).collect();
    let more = items.len().saturating_sub(MAX_ERRORS);
    if more > 0 {
        texts.push(format!("and {more} more"));
    }
    texts
}

/// The value at the end of the fields, or the first null.
fn value_at(data: Value, field: &str) -> Result<Value, &str> {
    let below =
        |mut value: Value, step| value.get_mut(step).map(Value::take).filter(|found| !found.is_null());
    field.split('.').try_fold(data, |value, step| below(value, step).ok_or(step))
}

pub fn nothing(step: &str, action: &str) -> ToolError {
    ToolError::new(ErrorKind::NotFound, format!("{action}: GitLab has no `{step}` there that can be seen"))
        .hint("Check the path and the number; GitLab also hides objects that the token may not read.")
}

/// The error of a request without usable data. `changes` is whether it was a mutation.
pub fn failed(
    errors: &[String],
    body: &Value,
    action: &str,
    experiment: Option<&str>,
    changes: bool,
) -> ToolError {
    let said = if errors.is_empty() { "GitLab answered without data".to_owned() } else { errors.join("; ") };
    let unknown = errors.iter().any(|error| UNKNOWN.iter().any(|words| error.contains(words)));
    if unknown {
        let since = match experiment {
            Some(version) => {
                format!("It is an experiment, introduced in GitLab {version}: this instance may be older.")
            }
            None => "This instance's GitLab may be older or newer than this catalog.".to_owned(),
        };
        let refused = refused_arguments(body);
        let since = if refused.is_empty() {
            since
        } else {
            let names: Vec<String> = refused.iter().map(|name| format!("`{name}`")).collect();
            format!("{since} It does not take {}: leave that out.", names.join(", "))
        };
        return ToolError::new(ErrorKind::GitlabError, format!("{action}: {said}")).hint(since);
    }
    if errors.iter().any(|error| error.contains(HIDDEN)) {
        return ToolError::new(ErrorKind::NotFound, format!("{action}: {said}"))
            .hint("Check the path and the ids; GitLab also hides objects that the token may not read.");
    }
    let kind = if is_about_values(body) { ErrorKind::InvalidParams } else { ErrorKind::GitlabError };
    let mut error = ToolError::new(kind, format!("{action}: {said}"));
    let is_lost = errors.is_empty() || errors.iter().any(|error| error.contains(FAULT));
    if changes && (is_lost || is_of_execution(body)) {
        error.details.insert("applied".to_owned(), json!("unknown"));
        return error.hint(
            "The mutation may have been executed: the change may have been made. Check before you send it again.",
        );
    }
    error
}

/// The arguments, and fields of an input, that the instance does not take. Documents have only those that were given, so
/// that one left out would be a filter or a change that the caller asked for.
fn refused_arguments(body: &Value) -> Vec<&str> {
    let errors = body.get("errors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let argument =
        |error| Value::get(error, "message")?.as_str()?.split_once(REFUSED_ARGUMENT)?.1.split('\'').nth(1);
    errors.iter().filter_map(argument).collect()
}

/// Returns true if errors are of the execution: the response has `data`, and an error the path of a field in it.
/// Errors of the validation have no data (GraphQL specification, 7.1), and nothing was executed.
fn is_of_execution(body: &Value) -> bool {
    let errors = body.get("errors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let has_path =
        |error: &Value| error.get("path").and_then(Value::as_array).is_some_and(|path| !path.is_empty());
    body.get("data").is_some() && errors.iter().any(has_path)
}

/// True if GraphQL rejected the value of a variable.
fn is_about_values(body: &Value) -> bool {
    let errors = body.get("errors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    errors.iter().any(|error| {
        let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
        error.pointer("/extensions/problems").is_some() || message.starts_with("Variable ")
    })
}

/// The object that a mutation changed, or its errors.
fn changed(payload: Value, action: &Action) -> Result<Value, ToolError> {
    let errors = messages(payload.get("errors"));
    if !errors.is_empty() {
        // The widgets of a work item are changed one after the other.
        let hint = match payload.as_object().is_some_and(|fields| fields.values().any(Value::is_object)) {
            true => {
                "GitLab refused it. If it was to change several things, read the object: some may be changed."
            }
            false => "GitLab refused it; nothing was changed.",
        };
        return Err(ToolError::new(
            ErrorKind::InvalidParams,
            format!("{}: {}", action.id, errors.join("; ")),
        )
        .hint(hint)
        .fix(NextCall::schema_of(&action.id)));
    }
    let Value::Object(mut fields) = payload else { return Ok(payload) };
    fields.remove("errors");
    let mut named = fields.iter().filter(|(_, value)| !value.is_null());
    Ok(match (named.next(), named.next()) {
        (None, _) => Value::Null,
        (Some((_, only)), None) if only.is_object() => only.clone(),
        _ => Value::Object(fields),
    })
}

/// The rows of a connection, with where each of them and the next page begin.
fn rows(found: Value, page: Page) -> (Value, Page) {
    let mut found = found;
    let Some(nodes) = found.get_mut("nodes").filter(|nodes| nodes.is_array()).map(Value::take) else {
        return (found, page);
    };
    let info = |name: &str| found.get("pageInfo").and_then(|info| info.get(name));
    let more = info("hasNextPage").and_then(Value::as_bool) == Some(true);
    let end = info("endCursor").and_then(Value::as_str).filter(|_| more);
    let next_query = end.map(|cursor| vec![("after".to_owned(), cursor.to_owned())]);
    let edges = found.get("edges").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let cursors = edges.iter().filter_map(|edge| edge.get("cursor")?.as_str()).map(str::to_owned).collect();
    (nodes, Page { next_query, cursors, ..page })
}

/// The value with every connection in it as its list.
fn flat(value: Value) -> Value {
    match value {
        Value::Object(mut fields) => match (fields.remove("nodes"), fields.len()) {
            (Some(Value::Array(nodes)), 0) => Value::Array(nodes.into_iter().map(flat).collect()),
            (Some(nodes), _) => {
                fields.insert("nodes".to_owned(), nodes);
                Value::Object(flat_fields(fields))
            }
            (None, _) => Value::Object(flat_fields(fields)),
        },
        Value::Array(items) => Value::Array(items.into_iter().map(flat).collect()),
        scalar => scalar,
    }
}

fn flat_fields(fields: Map<String, Value>) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (name, flat(value))).collect()
}

#[cfg(test)]
mod tests;
