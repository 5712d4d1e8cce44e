//! Verifies a write whose response was lost. The write is not repeated. If the changed object can be read by the
//! parameters of the call, it is read once and shown; otherwise `fix` is the read to make.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::call::Checked;
use crate::catalog::{Action, Place, Risk};
use crate::gitlab::{self, GitlabError};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::graphql_reply;
use crate::messages::request::{CheckedCall, NextCall};
use crate::present::{self, ContentKind, Options};
use crate::tools::error_mapping;
use crate::tools::lookups;
use crate::tools::own_reads::gate::{Purpose, ReadError};
use crate::tools::state::Tools;

/// Timeout of the verifying read; shorter after a timeout, because the caller has waited already.
const PATIENCE: Duration = Duration::from_secs(5);
const AFTER_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum size of the shown object in bytes.
const SHOWN: usize = 2_000;

const UNKNOWN: &str = "The change may have been applied although its response was lost.";

/// The error with the result of the check.
pub async fn verify_write(tools: &Tools, call: CheckedCall<'_>, refused: ToolError) -> ToolError {
    let CheckedCall { call, checked } = call;
    let action = checked.action();
    if action.direct().is_some() {
        return error_mapping::suggest_check(refused, call);
    }
    if let Some((get, params)) = object_read(tools, action, checked.params()) {
        let fix = NextCall::execute(&get.id, &params);
        let patience = if refused.kind == ErrorKind::Timeout { AFTER_TIMEOUT } else { PATIENCE };
        let found = tokio::time::timeout(patience, read_back(tools, &get, params)).await;
        let verified = with_verification(tools, refused, checked, found.unwrap_or(ReadBack::Silence));
        let is_known = verified.details.get("applied") == Some(&json!("yes"));
        return if is_known { ToolError { fix: None, ..verified } } else { verified.fix(fix) };
    }
    match newest_list(tools, action, checked.params()) {
        Some(fix) => refused
            .hint(format!("{UNKNOWN} `fix` lists the newest: check there before you send it again."))
            .fix(fix),
        None => refused,
    }
}

/// The read that shows whether a change was made: of the object, or of the newest ones.
pub fn suggest_read(tools: &Tools, action: &Action, params: &Map<String, Value>) -> Option<NextCall> {
    let of_object = object_read(tools, action, params);
    of_object
        .map(|(get, params)| NextCall::execute(&get.id, &params))
        .or_else(|| newest_list(tools, action, params))
}

/// Result of the verifying read.
enum ReadBack {
    Thing(Value),
    Nothing,
    /// The read failed too.
    Silence,
}

/// Returns the read of the changed object: the `get` of its domain, with parameters of the call.
fn object_read(
    tools: &Tools,
    action: &Action,
    params: &Map<String, Value>,
) -> Option<(Action, Map<String, Value>)> {
    if action.verb() == "create" {
        return None;
    }
    let get = domain_read(tools, action, "get")?;
    let identifying = identifying_params(&get, params);
    let is_enough =
        get.params.iter().filter(|param| param.required).all(|param| identifying.contains_key(&param.name));
    (is_enough && !identifying.is_empty()).then_some((get, identifying))
}

/// The list in which a thing that was created is among the first.
fn newest_list(tools: &Tools, action: &Action, params: &Map<String, Value>) -> Option<NextCall> {
    const FIRST: [(&str, &str); 2] = [("order_by", "created_at"), ("sort", "desc")];
    let list = domain_read(tools, action, "list")?;
    let mut identifying = identifying_params(&list, params);
    if list.params.iter().filter(|param| param.required).any(|param| !identifying.contains_key(&param.name)) {
        return None;
    }
    for (name, value) in FIRST {
        let param = list.param(name);
        if param.is_some_and(|param| param.choices.iter().any(|choice| choice == value)) {
            identifying.insert(name.to_owned(), json!(value));
        }
    }
    if list.param("per_page").is_some() {
        identifying.insert("per_page".to_owned(), json!(5));
    }
    Some(NextCall::execute(&list.id, &identifying))
}

fn domain_read(tools: &Tools, action: &Action, verb: &str) -> Option<Action> {
    let found = tools.catalog.get(&format!("{}.{verb}", action.domain())).ok().flatten()?;
    (found.risk == Risk::Read && found.id != action.id).then_some(found)
}

/// The parameters that identify the object.
fn identifying_params(read: &Action, params: &Map<String, Value>) -> Map<String, Value> {
    let names = read.params.iter().filter(|param| {
        param.required || param.place == Place::Path || matches!(param.name.as_str(), "fullPath" | "iid")
    });
    names.filter_map(|param| Some((param.name.clone(), params.get(&param.name)?.clone()))).collect()
}

async fn read_back(tools: &Tools, get: &Action, params: Map<String, Value>) -> ReadBack {
    let reply = match lookups::read_once(tools, &get.id, params, Purpose::Target).await {
        Ok((call, reply)) => graphql_reply::unwrap_own_read(reply, get, &call),
        // A gateway without a GitLab behind it answers 404 too.
        Err(ReadError::Gitlab(GitlabError::NotFound { answer })) if answer.request_id.is_some() => {
            return ReadBack::Nothing;
        }
        Err(_) => return ReadBack::Silence,
    };
    match reply {
        Ok(gitlab::Reply { content: gitlab::Content::Json(value), .. }) => ReadBack::Thing(value),
        Err(ToolError { kind: ErrorKind::NotFound, .. }) => ReadBack::Nothing,
        _ => ReadBack::Silence,
    }
}

fn with_verification(tools: &Tools, mut refused: ToolError, checked: &Checked, found: ReadBack) -> ToolError {
    let is_deletion = checked.action().verb() == "delete";
    let (applied, hint) = match &found {
        ReadBack::Nothing if is_deletion => (
            "yes",
            "It was read again and is not there: it is deleted, if it was there before. No further call is needed.",
        ),
        ReadBack::Nothing => ("unknown", "It was read again and was not found, at least by this name."),
        ReadBack::Thing(thing) if !is_deletion && is_as_asked(checked, thing) => {
            ("yes", "It was read again and has the requested values. No further call is needed.")
        }
        ReadBack::Thing(_) if is_deletion => {
            ("unknown", "It was read again and still exists; GitLab may delete it later.")
        }
        ReadBack::Thing(_) => (
            "unknown",
            "`now` is its state, read after the response was lost. Compare before you send the call again.",
        ),
        ReadBack::Silence => (
            "unknown",
            "The change may have been made although its answer was lost, and GitLab \
                            could not be asked. Look with `fix` before you send it again.",
        ),
    };
    if let ReadBack::Thing(thing) = found {
        let kind = ContentKind::of([checked.action()], false);
        let options = Options::new(kind, SHOWN, tools.client.secrets());
        refused
            .details
            .insert("now".to_owned(), present::present(present::GivenContent::Json(thing), &options).data);
    }
    refused.details.insert("applied".to_owned(), json!(applied));
    refused.hint(hint)
}

/// True if an update sent values, and the object has each. What another change does is no field of the object, and a state that
/// it depends on (`sha`) was there before.
fn is_as_asked(checked: &Checked, thing: &Value) -> bool {
    let action = checked.action();
    let is_pin = |name: &str| action.pin.as_ref().is_some_and(|pin| pin.param == name);
    if action.verb() != "update" {
        return false;
    }
    let says_which = |name: &str| {
        let operations = &action.operations;
        name == "fullPath" || operations.iter().any(|operation| operation.is_filled_by(name))
    };
    let mut sent = checked.params().iter().filter(|(name, _)| !says_which(name) && !is_pin(name)).peekable();
    sent.peek().is_some() && sent.all(|(name, value)| thing.get(name) == Some(value))
}
