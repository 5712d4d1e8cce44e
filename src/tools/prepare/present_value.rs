//! Values that the object of a change has before it: the text that a mark is set on, a parameter that is kept.

use serde_json::{Map, Value};

use crate::call::Checked;
use crate::catalog::{Action, Place};
use crate::gitlab::Content;
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::{CheckedCall, ExecuteRequest};
use crate::text::pick_fields;
use crate::tools::errors::diagnosis;
use crate::tools::lookups;
use crate::tools::own_reads::gate::{Purpose, ReadError};
use crate::tools::state::Tools;

/// The parameters with the present value of the one that GitLab needs and the call leaves out, and a note; none if it has it, or if the
/// action has no such parameter, or if the call changes nothing else. An object that cannot be read has the error of the change.
pub async fn keep(
    tools: &Tools,
    checked: &Checked,
    request: &ExecuteRequest,
) -> Result<Option<(Map<String, Value>, String)>, ToolError> {
    let (action, params) = (checked.action(), checked.params());
    let Some(kept) = action.kept.as_ref().filter(|kept| !params.contains_key(&kept.param)) else {
        return Ok(None);
    };
    let is_given = |names: &Vec<String>| names.iter().any(|name| params.contains_key(name));
    if !action.one_of.iter().filter(|names| names.contains(&kept.param)).all(is_given) {
        return Ok(None);
    }
    let value = match read_field(tools, action, &kept.read, params, &kept.field).await {
        Ok(value) => value,
        Err(ReadError::NotSent(error)) => return Err(error),
        Err(ReadError::Gitlab(error)) => {
            let call = lookups::resolve_call(tools, checked).await.map_err(|failure| failure.error)?;
            let call = CheckedCall { call: &call, checked };
            return Err(diagnosis::diagnose_request(tools, &error, call, request).await);
        }
    };
    let missing = || {
        let message = format!("{}: `{}` is missing. Nothing was sent", action.id, kept.param);
        ToolError::new(ErrorKind::InvalidParams, message)
    };
    let mut params = params.clone();
    params.insert(kept.param.clone(), value.ok_or_else(missing)?);
    Ok(Some((params, format!("`{}` stays as it was", kept.param))))
}

/// As `read_field`, with the error of the read as the error of the call.
pub async fn read_or_explain(
    tools: &Tools,
    action: &Action,
    read: &str,
    params: &Map<String, Value>,
    field: &str,
) -> Result<Option<Value>, ToolError> {
    let value = read_field(tools, action, read, params, field).await;
    value.map_err(|error| lookups::explain(tools, read, error))
}

/// A field of the object that a call changes, by the read that takes the parameters of its path; none if it has no such
/// field.
pub async fn read_field(
    tools: &Tools,
    action: &Action,
    read: &str,
    params: &Map<String, Value>,
    field: &str,
) -> Result<Option<Value>, ReadError> {
    let is_path = |name: &String| action.param(name).is_some_and(|param| param.place == Place::Path);
    let of_path = pick_fields(params, is_path);
    let (_, reply) = lookups::read_once(tools, read, of_path, Purpose::Target).await?;
    let Content::Json(mut object) = reply.content else { return Ok(None) };
    Ok(object.get_mut(field).map(Value::take).filter(|value| !value.is_null()))
}
