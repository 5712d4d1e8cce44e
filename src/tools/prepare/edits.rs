//! Edits of long texts: the present text is read, `edits` or `diff` are applied to it, and the call is made with the whole
//! new text. Checks, policy and confirmation see that call.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::call;
use crate::catalog::{Action, Place, Risk, TextEdit};
use crate::gitlab::{Content, Reply};
use crate::messages::edit_error::{DIFF, EDITS, UnfitEdits, edit_error};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::{CheckedCall, ExecuteRequest, NextCall};
use crate::messages::text_change::TextChange;
use crate::search::similarity;
use crate::text::edit::{Edit, EditError, EditedText, apply_edits, in_case_of, parse_hunks, unified_diff};
use crate::text::{LfsPointer, pick_fields};
use crate::tools::compute::compute;
use crate::tools::error_mapping;
use crate::tools::errors::diagnosis;
use crate::tools::own_reads::gate::{OwnReadError, Purpose};
use crate::tools::state::Tools;
use crate::tools::{lookups, own_reads};
use crate::untrusted::shortened;

/// A call with the whole new texts in place of its edits.
#[derive(Debug)]
pub struct EditedCall {
    pub params: Map<String, Value>,
    pub texts: Vec<TextChange>,
}

/// The parameters for a check before the present text is known: in place of the edits what they insert. Errors are those
/// of a call that says both the whole text and edits.
pub fn with_inserted_text(
    action: &Action,
    params: &Map<String, Value>,
) -> Result<Map<String, Value>, ToolError> {
    let Some(edit) = action.edit.as_ref().filter(|edit| edit.within.is_none()) else {
        return Ok(params.clone());
    };
    let Some(given) = given_edits(action, edit, params)? else { return Ok(params.clone()) };
    let inserted = match given {
        (DIFF, _) => String::new(),
        (_, edits) => {
            let items = edits.as_array().map(Vec::as_slice).unwrap_or_default();
            let new = items.iter().filter_map(|item| item.get("new").and_then(Value::as_str));
            new.collect::<Vec<_>>().join("\n")
        }
    };
    let mut params = params.clone();
    put_text(&mut params, &edit.text, json!(inserted));
    Ok(params)
}

/// Takes away from parameters that were found right what [`with_inserted_text`] put there: no corrected call may have it.
pub fn without_inserted_text(action: &Action, given: &Map<String, Value>, right: &mut Map<String, Value>) {
    let Some(edit) = action.edit.as_ref().filter(|edit| edit.within.is_none()) else { return };
    if !matches!(given_edits(action, edit, given), Ok(None)) {
        take_text(right, &edit.text);
    }
}

/// True if what a call sends depends on a text that is read first.
pub fn has_edits(action: &Action, params: &Map<String, Value>) -> bool {
    let is_edited = |params: &Map<String, Value>| [EDITS, DIFF].iter().any(|name| params.contains_key(*name));
    let Some(edit) = &action.edit else { return false };
    match &edit.within {
        None => is_edited(params),
        Some(list) => {
            let items = params.get(list).and_then(Value::as_array).into_iter().flatten();
            items.filter_map(Value::as_object).any(is_edited)
        }
    }
}

/// The name and value of the edits of a call, or of an object in its list.
fn given_edits<'v>(
    action: &Action,
    edit: &TextEdit,
    params: &'v Map<String, Value>,
) -> Result<Option<(&'static str, &'v Value)>, ToolError> {
    let given = |name: &str| params.get(name).filter(|value| !value.is_null());
    let text = edit.text.split('.').next().unwrap_or_default();
    let both = |one: &str, other: &str| {
        let message = format!("{}: `{one}` and `{other}` exclude each other. Nothing was sent", action.id);
        ToolError::new(ErrorKind::InvalidParams, message)
    };
    match (given(EDITS), given(DIFF), given(text)) {
        (None, None, _) => Ok(None),
        (Some(_), Some(_), _) => Err(both(EDITS, DIFF)),
        (Some(_), None, Some(_)) => Err(both(EDITS, text)),
        (None, Some(_), Some(_)) => Err(both(DIFF, text)),
        (Some(edits), None, None) => Ok(Some((EDITS, edits))),
        (None, Some(diff), None) => Ok(Some((DIFF, diff))),
    }
}

/// Sets a text by the path of its parameter.
fn put_text(params: &mut Map<String, Value>, path: &str, text: Value) {
    match path.split_once('.') {
        None => {
            params.insert(path.to_owned(), text);
        }
        Some((first, rest)) => {
            let object = params.entry(first).or_insert_with(|| json!({}));
            if let Value::Object(fields) = object {
                put_text(fields, rest, text);
            }
        }
    }
}

/// Removes what [`put_text`] set.
fn take_text(params: &mut Map<String, Value>, path: &str) {
    params.shift_remove(path.split('.').next().unwrap_or_default());
}

/// Reads the present texts of a call with checked parameters and applies its edits; none if it has no edits.
pub async fn apply(
    tools: &Tools,
    action: &Action,
    given: &Map<String, Value>,
) -> Result<Option<EditedCall>, ToolError> {
    let Some(edit) = &action.edit else { return Ok(None) };
    let mut params = given.clone();
    let mut texts = Vec::new();
    match &edit.within {
        None => {
            if params.contains_key(EDITS) || params.contains_key(DIFF) {
                take_text(&mut params, &edit.text);
            }
            let whole = params.clone();
            texts.extend(edit_one(tools, action, edit, &whole, &mut params).await?);
        }
        Some(list) => {
            let whole = params.clone();
            let items = params.get_mut(list).and_then(Value::as_array_mut);
            for item in items.into_iter().flatten().filter_map(Value::as_object_mut) {
                texts.extend(edit_one(tools, action, edit, &whole, item).await?);
            }
        }
    }
    Ok((!texts.is_empty()).then_some(EditedCall { params, texts }))
}

/// Replaces the edits in an object by the new text.
async fn edit_one(
    tools: &Tools,
    action: &Action,
    edit: &TextEdit,
    whole: &Map<String, Value>,
    object: &mut Map<String, Value>,
) -> Result<Option<TextChange>, ToolError> {
    let Some((name, given)) = given_edits(action, edit, object)? else { return Ok(None) };
    let edits = parse_edits(action, name, given)?;
    if object.get("encoding").and_then(Value::as_str) == Some("base64") {
        let message =
            format!("{}: `{name}` is for text, and `encoding` is base64. Nothing was sent", action.id);
        return Err(ToolError::new(ErrorKind::InvalidParams, message));
    }
    let read = read_params(tools, action, edit, whole, object);
    let file = object.get("file_path").or_else(|| whole.get("file_path")).and_then(Value::as_str);
    let target = file.unwrap_or(&edit.text).to_owned();
    let reply = fetch(tools, action, edit, read.clone()).await;
    let reply = reply.map_err(|error| with_edit_of_found(error, action, edit, &read, whole))?;
    let (old, guard) = present_text(edit, &target, reply)?;
    let unfit = UnfitEdits { param: name, target: &target, text: &old, edits: &edits };
    let apply = || {
        let edited = apply_edits(&old, &edits).map_err(|error| {
            let error = edit_error(action, edit, &unfit, &error, similarity);
            match in_case_of(&old, &edits).filter(|_| name == EDITS && edit.within.is_none()) {
                Some(fitting) => error
                    .hint("The text has it in other capitals; `fix` has those of the text.")
                    .fix(with_edits(action, whole, &fitting)),
                None => error.fix(NextCall::execute(&edit.read, &read)),
            }
        })?;
        let diff = unified_diff(&old, &edited.text);
        Ok::<_, ToolError>((edited, diff))
    };
    let (EditedText { text: new, lines }, diff) = compute(old.len() as u64, apply)?;
    if new == old {
        let message = format!("{}: `{name}` changes nothing in {target}. Nothing was sent", action.id);
        return Err(ToolError::new(ErrorKind::InvalidParams, message));
    }
    object.shift_remove(name);
    put_text(object, &edit.text, json!(new));
    if let Some((name, value)) = &guard {
        object.entry(name.clone()).or_insert_with(|| value.clone());
    }
    Ok(Some(TextChange {
        field: edit.field.clone(),
        name: target,
        new,
        diff,
        lines,
        read: (edit.read.clone(), read),
        guard,
    }))
}

/// A call with other edits.
fn with_edits(action: &Action, params: &Map<String, Value>, edits: &[Edit]) -> NextCall {
    let rows = edits.iter().map(|edit| match &edit.old {
        Some(old) => json!({"old": old, "new": edit.new}),
        None => json!({"new": edit.new}),
    });
    let mut params = params.clone();
    params.insert(EDITS.to_owned(), rows.collect());
    NextCall::execute(&action.id, &params)
}

/// The error of the read before an edit. Where its next call is that read of an object with a similar name, the edit of that
/// object: it fits no text that lacks its parts.
fn with_edit_of_found(
    error: ToolError,
    action: &Action,
    edit: &TextEdit,
    read: &Map<String, Value>,
    given: &Map<String, Value>,
) -> ToolError {
    let next = error.fix.as_ref().map(|fix| &fix.arguments);
    let next = next.filter(|next| next.get("action").and_then(Value::as_str) == Some(&edit.read));
    let Some(Value::Object(found)) = next.and_then(|next| next.get("params")) else { return error };
    let changed = pick_fields(found, |name| read.get(name) != found.get(name));
    let is_same_call = edit.within.is_none() && changed.keys().all(|name| given.contains_key(name));
    if changed.is_empty() || !is_same_call || action.risk != Risk::Write {
        return error;
    }
    let mut params = given.clone();
    params.extend(changed);
    error.fix(NextCall::execute(&action.id, &params))
}

/// The edits of a call; of a diff, its hunks.
fn parse_edits(action: &Action, name: &str, given: &Value) -> Result<Vec<Edit>, ToolError> {
    let invalid = |message: String| {
        ToolError::new(ErrorKind::InvalidParams, format!("{}: {message}. Nothing was sent", action.id))
    };
    if name == DIFF {
        return parse_hunks(given.as_str().unwrap_or_default()).map_err(|error| match error {
            EditError::StrayLine { line } => invalid(format!(
                "`diff`: line {line} belongs to no hunk: its lines begin with a space, `-` or `+`, and are of one text"
            )),
            _ => invalid("`diff` has no hunk, which begins with `@@`".to_owned()),
        });
    }
    let text =
        |item: &Value, name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let edits: Vec<Edit> = given
        .as_array()
        .into_iter()
        .flatten()
        .map(|item| {
            let old = item.get("old").and_then(Value::as_str).map(str::to_owned);
            Edit { old, new: text(item, "new"), hunk: None }
        })
        .collect();
    if edits.is_empty() { Err(invalid("`edits` is empty".to_owned())) } else { Ok(edits) }
}

/// The parameters of the read: those of the path that the call has, and those that the rule names.
fn read_params(
    tools: &Tools,
    action: &Action,
    edit: &TextEdit,
    whole: &Map<String, Value>,
    object: &Map<String, Value>,
) -> Map<String, Value> {
    let read = tools.catalog.get(&edit.read).ok().flatten();
    let is_shared = |name: &String| {
        let own =
            action.param(name).is_some_and(|param| matches!(param.place, Place::Path | Place::Selector));
        let taken = read.as_ref().and_then(|read| read.param(name));
        taken.is_some_and(|taken| own || taken.required || taken.place == Place::Path)
    };
    let mut params = pick_fields(whole, |name| !edit.alone && is_shared(name));
    for (name, from) in &edit.takes {
        let value = from.iter().find_map(|from| object.get(from).or_else(|| whole.get(from)));
        params.extend(value.map(|value| (name.clone(), value.clone())));
    }
    params
}

async fn fetch(
    tools: &Tools,
    action: &Action,
    edit: &TextEdit,
    params: Map<String, Value>,
) -> Result<Map<String, Value>, ToolError> {
    let unreadable = |error: ToolError| {
        let message = format!(
            "{}: the present text is not readable: {}. Nothing was changed",
            action.id, error.message
        );
        ToolError { message, ..error }
    };
    let read = tools.catalog.get(&edit.read)?.ok_or_else(|| {
        ToolError::new(ErrorKind::UnknownAction, format!("there is no action {}", edit.read))
    })?;
    let context = tools.context()?;
    let checked = call::check(read.clone(), params, &context)
        .map_err(|invalid| unreadable(error_mapping::invalid(tools, &invalid, &read)))?;
    let call = match lookups::resolve_call(tools, &checked).await {
        Ok(call) => call,
        Err(failure) => return Err(unreadable(diagnosis::diagnose_lookup(tools, failure).await)),
    };
    let call = CheckedCall { call: &call, checked: &checked };
    let reply = match own_reads::send_and_unwrap(tools, call, Purpose::Target).await {
        Ok(reply) => reply,
        Err(OwnReadError::Gitlab(error)) => {
            let params = checked.params().clone();
            let request = ExecuteRequest { action: read.id.clone(), params, ..Default::default() };
            return Err(unreadable(diagnosis::diagnose_request(tools, &error, call, &request).await));
        }
        Err(error) => return Err(unreadable(error.explain(tools, &read))),
    };
    match reply {
        Reply { content: Content::Json(Value::Object(object)), .. } => Ok(object),
        Reply { content: Content::Text(text), .. } => {
            Ok(Map::from_iter([(edit.field.clone(), Value::String(text))]))
        }
        _ => {
            let message = format!("{} did not answer with an object", edit.read);
            Err(unreadable(ToolError::new(ErrorKind::GitlabError, message)))
        }
    }
}

/// The text in the response of the read, and the field that guards it.
fn present_text(
    edit: &TextEdit,
    target: &str,
    object: Map<String, Value>,
) -> Result<(String, Option<(String, Value)>), ToolError> {
    let no_text = |why: &str| {
        let message = format!("{target} {why}, so it has no edits. Nothing was changed");
        ToolError::new(ErrorKind::InvalidParams, message)
    };
    let is_encoded = object.get("encoding").and_then(Value::as_str) == Some("base64");
    let text = match object.get(&edit.field) {
        Some(Value::String(text)) if is_encoded => {
            let bytes = STANDARD.decode(text.replace(['\n', '\r'], "")).ok();
            bytes
                .and_then(|bytes| String::from_utf8(bytes).ok())
                .ok_or_else(|| no_text("is no UTF-8 text"))?
        }
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) => String::new(),
        _ => return Err(no_text(&format!("is not in the answer of {}", edit.read))),
    };
    if LfsPointer::parse(text.as_bytes()).is_some() {
        return Err(no_text("is a Git LFS pointer, not the file itself"));
    }
    let guard = edit.guard.as_ref().and_then(|name| Some((name.clone(), object.get(name)?.clone())));
    Ok((text, guard.filter(|(_, value)| !value.is_null())))
}

/// The error of a refused change whose text has changed since it was read; any other error as it is.
pub async fn explain_conflict(
    tools: &Tools,
    texts: &[TextChange],
    request: &ExecuteRequest,
    error: ToolError,
) -> ToolError {
    let is_refused = error.details.get("status").and_then(Value::as_u64) == Some(400);
    if !is_refused {
        return error;
    }
    for text in texts {
        let Some((name, before)) = &text.guard else { continue };
        let (read, params) = &text.read;
        let object = lookups::read_json(tools, read, params.clone(), Purpose::Diagnosis).await;
        let Some(object) = object else { continue };
        let now = object.get(name).filter(|now| *now != before);
        if let (Some(Value::String(now)), Some(before)) = (now, before.as_str()) {
            let message = format!(
                "{} has changed since it was read: its `{name}` was {}, and is {}. Nothing was changed",
                text.name,
                shortened(before, 12),
                shortened(now, 12)
            );
            return ToolError::new(ErrorKind::Conflict, message)
                .hint("Call it again: the edits are then applied to the text as it is.")
                .fix(NextCall::for_request(request));
        }
    }
    error
}
