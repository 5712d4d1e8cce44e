//! Calls that are tied to the object as it was shown when they were confirmed: by a parameter with the value that a field
//! of the object had, GitLab refuses the call once the object has changed (`[[pins]]` of `catalog/rules.toml`).

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use crate::call::Checked;
use crate::catalog::{Interface, Operation, Place, StatePin};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::{ExecuteRequest, NextCall};
use crate::policy::{Consent, Ruling};
use crate::text::{object_fields, pick_fields};
use crate::tools::lookups;
use crate::tools::own_reads::gate::Purpose;
use crate::tools::state::Tools;
use crate::untrusted::foreign_line;

/// Maximum number of commits that are named if the object has changed.
const MAX_COMMITS_NAMED: usize = 10;

/// The parameters of a call that will be asked about, with the state of the object that the question shows. None if the
/// call has a state of its own, or is not asked about.
pub async fn with_shown_state(
    tools: &Tools,
    checked: &Checked,
    request: &ExecuteRequest,
) -> Option<Map<String, Value>> {
    if checked.action().direct() == Some(Interface::Rest) {
        return with_raw_state(tools, checked, request).await;
    }
    let pin = checked.action().pin.as_ref()?;
    if checked.params().contains_key(&pin.param) || !is_asked_about(tools, checked, request) {
        return None;
    }
    let value = present_value(tools, checked, pin, Purpose::Target).await?;
    let mut params = checked.params().clone();
    params.insert(pin.param.clone(), json!(value));
    Some(params)
}

/// The same of a raw request to an operation whose object is at the beginning of its path.
async fn with_raw_state(
    tools: &Tools,
    checked: &Checked,
    request: &ExecuteRequest,
) -> Option<Map<String, Value>> {
    let effects = checked.possible_effects();
    let mut ids = effects.first()?.strictest()?.ids.iter();
    let pin = ids.find_map(|id| tools.catalog.get(id).ok().flatten()?.pin)?;
    if !pin.takes.is_empty() {
        return None;
    }
    let (params, path) = (checked.params(), checked.params().get("path")?.as_str()?);
    let is_in = |place: &str| params.get(place).is_some_and(|place| place.get(&pin.param).is_some());
    let is_given = is_in("body") || is_in("query") || path.contains(&format!("{}=", pin.param));
    if is_given || !is_asked_about(tools, checked, request) {
        return None;
    }
    let read = tools.catalog.get(&pin.read).ok().flatten()?;
    let read_params = params_of_path(read.operations.first()?, path)?;
    let object = lookups::read_json(tools, &pin.read, read_params, Purpose::Target).await?;
    let state = object.get(&pin.field)?.as_str()?.to_owned();
    let mut params = params.clone();
    let body = params.entry("body").or_insert_with(|| json!({}));
    body.as_object_mut()?.insert(pin.param.clone(), json!(state));
    Some(params)
}

/// The parameters of an operation by a path that begins like its own; none if it begins otherwise.
fn params_of_path(operation: &Operation, path: &str) -> Option<Map<String, Value>> {
    let path = path.split('?').next().unwrap_or(path).trim_start_matches('/');
    let mut segments = path.strip_prefix("api/v4/").unwrap_or(path).split('/');
    let mut params = Map::new();
    for piece in operation.path.trim_matches('/').split('/') {
        let segment = percent_decode_str(segments.next()?).decode_utf8().ok()?;
        match piece.strip_prefix(':') {
            Some(name) => {
                let param = operation.bind.get(name).map_or(name, String::as_str);
                params.insert(param.to_owned(), json!(segment));
            }
            None if piece == segment => {}
            None => return None,
        }
    }
    Some(params)
}

/// A request with a token may have lost its state: with the one that the object has now, the token decides.
fn is_asked_about(tools: &Tools, checked: &Checked, request: &ExecuteRequest) -> bool {
    if request.confirm == Some(true) && !tools.policy.confirm().wants_token() {
        return false;
    }
    let unconfirmed = Consent { confirm: false, dry_run: request.dry_run == Some(true) };
    let decide = |effects| tools.policy.decide(effects, unconfirmed);
    checked.possible_effects().iter().any(|effects| matches!(decide(effects), Ruling::Confirm(_)))
}

/// Parameters of the read that shows the object: those of its path that the call has, and those that it `takes`.
pub fn read_params(
    tools: &Tools,
    read: &str,
    takes: &BTreeMap<String, Vec<String>>,
    params: &Map<String, Value>,
) -> Map<String, Value> {
    let read = tools.catalog.get(read).ok().flatten();
    let mut taken = pick_fields(params, |name| {
        read.as_ref().and_then(|read| read.param(name)).is_some_and(|param| param.place == Place::Path)
    });
    taken.extend(takes.iter().filter_map(|(name, from)| {
        let value = from.iter().find_map(|from| params.get(from))?;
        Some((name.clone(), value.clone()))
    }));
    taken
}

/// The value that the field of the object has now; none if GitLab does not show it.
async fn present_value(tools: &Tools, checked: &Checked, pin: &StatePin, purpose: Purpose) -> Option<String> {
    let params = read_params(tools, &pin.read, &pin.takes, checked.params());
    let object = lookups::read_json(tools, &pin.read, params, purpose).await?;
    object.get(&pin.field)?.as_str().map(str::to_owned)
}

/// The error of a call that GitLab would refuse, because the object that was read is not in the state that the call
/// names.
pub async fn changed_object_error(
    tools: &Tools,
    checked: &Checked,
    request: &ExecuteRequest,
    object: &Map<String, Value>,
) -> Option<ToolError> {
    let pin = checked.action().pin.as_ref()?;
    let given = checked.params().get(&pin.param)?.as_str()?;
    let now = object.get(&pin.field)?.as_str().filter(|now| *now != given)?;
    let change = PinnedChange { pin, given, now };
    Some(change.error(tools, checked, request).await)
}

/// The error of a refused call with what has changed since the object was shown, or with the state that GitLab requires;
/// any other error as it is.
pub async fn explain_refusal(
    tools: &Tools,
    checked: &Checked,
    request: &ExecuteRequest,
    error: ToolError,
) -> ToolError {
    let Some(pin) = &checked.action().pin else { return error };
    if !matches!(error.details.get("status").and_then(Value::as_u64), Some(400 | 409)) {
        return error;
    }
    let given = checked.params().get(&pin.param).and_then(Value::as_str);
    if given.is_none() && !names_param(&error, pin) {
        return error;
    }
    let Some(now) = present_value(tools, checked, pin, Purpose::Diagnosis).await else { return error };
    match given {
        Some(given) if given != now => {
            PinnedChange { pin, given, now: &now }.error(tools, checked, request).await
        }
        Some(_) => error,
        None => error
            .hint(format!("`{}` is required here. `fix` has the one that the object has now.", pin.param))
            .fix(unconfirmed_call(checked, request, pin, &now)),
    }
}

/// A group can require the state of a merge (`require_sha_for_merge`, GitLab 19.0): "SHA must be provided when merging".
fn names_param(error: &ToolError, pin: &StatePin) -> bool {
    let mut words = error.message.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.any(|word| word.eq_ignore_ascii_case(&pin.param))
}

/// The call with the state that the object has now.
fn unconfirmed_call(checked: &Checked, request: &ExecuteRequest, pin: &StatePin, now: &str) -> NextCall {
    let mut params = checked.params().clone();
    params.insert(pin.param.clone(), json!(now));
    NextCall::for_request(&ExecuteRequest { action: checked.action().id.clone(), params, ..request.clone() })
}

/// A change of the object since it was shown.
struct PinnedChange<'a> {
    pin: &'a StatePin,
    given: &'a str,
    now: &'a str,
}

impl PinnedChange<'_> {
    async fn error(&self, tools: &Tools, checked: &Checked, request: &ExecuteRequest) -> ToolError {
        let PinnedChange { pin, given, now } = self;
        let message = format!(
            "{}: the object has changed: `{}` was {}, and is {}. Nothing was changed",
            checked.action().id,
            pin.field,
            foreign_line(given),
            foreign_line(now)
        );
        let mut error = ToolError::new(ErrorKind::Conflict, message)
            .hint("Show the user what came since. `fix` is the call for the object as it is now.")
            .fix(unconfirmed_call(checked, request, pin, now));
        if let Some(commits) = self.commits_since(tools, checked).await {
            error.details.insert("commits_since".to_owned(), json!(commits.len()));
            error
                .details
                .insert("came_since".to_owned(), commits.into_iter().take(MAX_COMMITS_NAMED).collect());
        }
        error
    }

    /// The commits between the two states, the newest last; none if GitLab does not show them, as after a rebase that
    /// dropped the old state.
    async fn commits_since(&self, tools: &Tools, checked: &Checked) -> Option<Vec<Value>> {
        let read = self.pin.since.as_ref()?;
        let project = checked.params().get("fullPath")?;
        let params = object_fields(json!({"fullPath": project, "from": self.given, "to": self.now}));
        let compared = lookups::read_json(tools, read, params, Purpose::Diagnosis).await?;
        let commits = compared.get("commits")?.as_array()?;
        let line = |commit: &Value, name: &str| {
            commit.get(name).and_then(Value::as_str).map(foreign_line).unwrap_or_default()
        };
        let named = commits.iter().map(|commit| {
            json!({"sha": line(commit, "short_id"), "title": line(commit, "title"), "author": line(commit, "author_name")})
        });
        Some(named.collect())
    }
}
