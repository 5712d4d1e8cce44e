//! The GitLab version of the instance, requested once, when the first call depends on it. A call that an older instance
//! does not support is refused before anything is sent; a newer one gets parameters that the catalog does not know.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::call::{self, Call, Checked, Fault, Invalid};
use crate::catalog::{Action, Base, Operation, Param, ParamKind, Place, Raise, Risk, Version, When};
use crate::gitlab::{Content, GitlabError};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::{Answer, NextCall};
use crate::search;
use crate::text::plain_text;
use crate::tools::own_reads;
use crate::tools::own_reads::gate::{OwnReadError, Purpose};
use crate::tools::own_reads::locate;
use crate::tools::state::Tools;

/// The action that shows the version; GitLab has it since 15.2.
const METADATA: &str = "instance.get_metadata";

/// Maximum time that a call waits for the version.
const PATIENCE: Duration = Duration::from_secs(5);

/// Maximum time that a find waits for the version.
const FIND_PATIENCE: Duration = Duration::from_secs(1);

/// Error of a request for the version that may pass: no answer, a rate limit, a fault of the server.
struct NoAnswer;

/// Returns the version. The first caller requests it, concurrent callers wait. None if GitLab does not report it.
pub async fn learn(tools: &Tools) -> Option<Version> {
    let known = &tools.instance_version;
    if !known.version.initialized() && known.is_paused() {
        return None;
    }
    match known.version.get_or_try_init(|| fetch_version(tools)).await {
        Ok(version) => *version,
        Err(NoAnswer) => {
            known.pause();
            None
        }
    }
}

async fn fetch_version(tools: &Tools) -> Result<Option<Version>, NoAnswer> {
    let Some(call) = locate::ready_call(tools, METADATA, Map::new()) else { return Ok(None) };
    let sent = own_reads::send(tools, call, Purpose::Version);
    let reply = match tokio::time::timeout(PATIENCE, sent).await {
        Ok(Ok(reply)) => reply,
        Ok(Err(OwnReadError::Denied { .. })) => return Ok(None),
        Ok(Err(OwnReadError::Gitlab(error))) if is_refusal(&error) => return Ok(None),
        Ok(Err(_)) | Err(_) => return Err(NoAnswer),
    };
    let Content::Json(body) = reply.content else { return Ok(None) };
    Ok(body.get("version").and_then(Value::as_str).and_then(|version| version.parse().ok()))
}

/// True if GitLab would refuse the same request again.
fn is_refusal(error: &GitlabError) -> bool {
    matches!(
        error,
        GitlabError::Unauthorized { .. } | GitlabError::Forbidden { .. } | GitlabError::NotFound { .. }
    )
}

/// GitLab's answer to a path that it does not have, whatever the path would name.
const NO_ROUTE: &str = "404 Not Found";

/// Adds to a 404 that the instance may lack the operation, as it has another version than the catalog describes.
pub async fn explain_missing(
    tools: &Tools,
    error: &GitlabError,
    checked: &Checked,
    found: ToolError,
) -> ToolError {
    let GitlabError::NotFound { answer } = error else { return found };
    let Ok(words) = tools.catalog.words() else { return found };
    if answer.message != NO_ROUTE || checked.action().direct().is_some() {
        return found;
    }
    let catalog = words.gitlab_version;
    let Some(version) = learn(tools).await.filter(|version| *version != catalog) else { return found };
    let reason = format!(
        "GitLab {version} of this instance may not have this operation: the catalog describes GitLab {catalog}."
    );
    let hint = found.hint.as_ref().map_or(reason.clone(), |hint| format!("{hint} {reason}"));
    found.hint(hint)
}

/// Requests the version for a find, which must not depend on a GitLab that does not answer.
pub async fn learn_for_find(tools: &Tools) {
    if tokio::time::timeout(FIND_PATIENCE, learn(tools)).await.is_err() {
        tools.instance_version.pause();
    }
}

/// True if an answer of find has an action that an older GitLab lacks, and nothing has requested the version.
pub fn is_wanted(tools: &Tools, found: &Answer) -> bool {
    let results = found.structured.get("results").and_then(Value::as_array);
    !tools.instance_version.version.initialized()
        && !tools.instance_version.is_paused()
        && results.into_iter().flatten().any(|result| result.get("since").is_some())
}

/// The version that an action needs: that of its oldest operation.
pub fn since(action: &Action) -> Option<Version> {
    let versions: Option<Vec<Version>> = action.choices().map(|operation| operation.since).collect();
    versions?.into_iter().min()
}

/// The first version that lacks an action: that of its last operation.
pub fn until(action: &Action) -> Option<Version> {
    let versions: Option<Vec<Version>> = action.choices().map(|operation| operation.until).collect();
    versions?.into_iter().max()
}

/// Note that the instance is too old or too new for an action, as far as its version is known by now.
pub fn lacking(tools: &Tools, action: &Action) -> Option<String> {
    let version = tools.instance_version.known();
    if let Some(until) = until(action).filter(|until| version.is_none_or(|version| version >= *until)) {
        let instance = version.map(|version| format!("; this instance has {version}")).unwrap_or_default();
        return Some(format!(" (gone in GitLab {until}{instance})"));
    }
    let version = version?;
    let since = since(action).filter(|since| *since > version)?;
    Some(format!(" (needs GitLab {since}; this instance has {version})"))
}

/// The action for an older instance: in place of an operation that it lacks, an alternative that it has, and no
/// requirement of a parameter that it lacks. None if nothing is to be replaced.
pub async fn for_instance(tools: &Tools, action: &Action) -> Option<Action> {
    let earlier = |newer: &Operation| {
        let since = newer.since?;
        action.operations.iter().position(|operation| {
            let is_earlier = operation.since.is_none_or(|earlier| earlier < since);
            operation.alternate && operation.scope == newer.scope && is_earlier && operation.graphql.is_none()
        })
    };
    let pairs: Vec<(usize, usize)> = (action.operations.iter().enumerate())
        .filter(|(_, operation)| !operation.alternate && operation.graphql.is_none())
        .filter_map(|(at, operation)| Some((at, earlier(operation)?)))
        .collect();
    let is_required_since = |param: &Param| param.required && param.since.is_some();
    if pairs.is_empty() && !action.params.iter().any(is_required_since) {
        return None;
    }
    let version = learn(tools).await?;
    // Operations are dated by comparing two versions, so that one between them may lack a newer operation.
    let is_between = tools.catalog.words().is_ok_and(|words| version < words.gitlab_version);
    let mut fitting = action.clone();
    for param in fitting.params.iter_mut().filter(|param| param.since.is_some_and(|since| since > version)) {
        param.required = false;
    }
    for (newer, earlier) in pairs {
        let is_lacking = |operation: &Operation| operation.since.is_some_and(|since| since > version);
        let operations = &mut fitting.operations;
        if (is_between || operations.get(newer).is_some_and(is_lacking))
            && !operations.get(earlier).is_some_and(is_lacking)
        {
            operations.swap(newer, earlier);
            operations.iter_mut().enumerate().for_each(|(at, operation)| {
                operation.alternate = if at == newer { false } else { operation.alternate || at == earlier };
            });
        }
    }
    (fitting != *action).then_some(fitting)
}

/// The error of a call for which the instance is too old; nothing is sent. GitLab ignores a parameter that it does not
/// know, and some values, so the call would seem to succeed without them.
pub async fn check_age(tools: &Tools, call: &Call, checked: &Checked) -> Result<(), ToolError> {
    let action = checked.action();
    let operation = action.operations.iter().find(|operation| operation.to_string() == call.operation());
    let of_operation = operation.and_then(|operation| operation.since);
    let until = operation.and_then(|operation| operation.until);
    let mut newer = Vec::new();
    collect_newer(&action.params, checked.params(), "", &mut newer);
    if of_operation.is_none() && until.is_none() && newer.is_empty() {
        return Ok(());
    }
    let Some(version) = learn(tools).await else { return Ok(()) };
    if let Some(until) = until.filter(|until| *until <= version) {
        let message = format!("{} is gone in GitLab {until}; this instance has {version}", action.id);
        let successor = action.replaced_by.as_ref().filter(|id| tools.may_run_id(id));
        let successor = successor.map(|other| format!(" `{other}` has taken its place."));
        let hint = format!("The call was not sent.{}", successor.unwrap_or_default());
        return Err(ToolError::new(ErrorKind::NotFound, message).hint(hint));
    }
    if let Some(since) = of_operation.filter(|since| *since > version) {
        let message = format!("{} needs GitLab {since}; this instance has {version}", action.id);
        return Err(ToolError::new(ErrorKind::NotFound, message).hint("The call was not sent."));
    }
    newer.retain(|(_, since)| *since > version);
    if newer.is_empty() {
        return Ok(());
    }
    let mut named: Vec<String> =
        newer.iter().map(|(given, since)| format!("`{given}` needs GitLab {since}")).collect();
    named.dedup();
    let message = format!("{}: {}; this instance has {version}", action.id, named.join(", "));
    Err(ToolError::new(ErrorKind::InvalidParams, message)
        .hint("The call was not sent: without that it would be another one.")
        .fix(NextCall::schema_of(&action.id)))
}

/// Collects the given parameters, fields and values that came later than their action, with the versions.
fn collect_newer(
    params: &[Param],
    given: &Map<String, Value>,
    within: &str,
    newer: &mut Vec<(String, Version)>,
) {
    for param in params {
        let Some(value) = given.get(&param.name) else { continue };
        let path = format!("{within}{}", param.name);
        newer.extend(param.since.map(|since| (path.clone(), since)));
        for item in value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice) {
            if let Value::Object(fields) = item {
                collect_newer(&param.fields, fields, &format!("{path}."), newer);
                continue;
            }
            let choice = plain_text(item);
            let since = param.choices_since.get(&choice);
            newer.extend(since.map(|since| (format!("{path}: {}", param.choice_name(&choice)), *since)));
        }
    }
}

/// An action with parameters and values that the catalog does not know.
pub struct Extension {
    pub action: Action,
    /// Accepted parameters and values, with the reason.
    pub notes: Vec<String>,
    /// Unknown parameters, and known ones with an unknown value.
    pub unknown: Vec<String>,
}

/// The action with what a newer instance may take beyond the catalog, if that is all that is wrong with a call: unknown
/// parameters and values, unless they look like slips of known ones. The notes say what was let through. Where a rule
/// speaks of paths, nothing is: an unknown parameter may name a place.
pub async fn extended(tools: &Tools, action: &Action, invalid: &Invalid) -> Option<Extension> {
    let is_rest = action.plan.is_none() && action.direct().is_none();
    let is_rest = is_rest && action.choices().all(|operation| operation.graphql.is_none());
    if !is_rest || tools.policy.has_path_rules() {
        return None;
    }
    let mut extended = action.clone();
    let (mut differences, mut unknown) = (Vec::new(), Vec::new());
    for fault in &invalid.faults {
        let (name, what) = extend(&mut extended, fault)?;
        differences.push(format!("{name} is not a {what}"));
        unknown.push(name);
    }
    let catalog = tools.catalog.words().ok()?.gitlab_version;
    let version = learn(tools).await.filter(|version| *version > catalog)?;
    let note = |difference: String| {
        format!(
            "{difference} in GitLab {catalog}, which this catalog describes; the instance has {version} and may know it"
        )
    };
    Some(Extension { action: extended, notes: differences.into_iter().map(note).collect(), unknown })
}

/// Adds the unknown parameter or value of a fault to the action, and returns it with its kind; none if it is no matter of
/// versions.
fn extend(action: &mut Action, fault: &Fault) -> Option<(String, &'static str)> {
    match fault {
        Fault::Unknown { given, .. } if !given.contains('.') && !call::is_reserved_param(given) => {
            let names: BTreeSet<&str> = action.params.iter().map(|param| param.name.as_str()).collect();
            if search::nearest(given, names.into_iter()).is_some() {
                return None;
            }
            let kind = ParamKind { base: Base::Any, many: false };
            action.scanned.push(given.clone());
            raise(action, given);
            // For a method without a body it becomes part of the query.
            let place = Place::Body;
            action.params.push(Param {
                name: given.clone(),
                place,
                kind,
                undocumented: true,
                ..Param::default()
            });
            Some((format!("`{given}`"), "parameter"))
        }
        Fault::NotAChoice { name, given, accepted, .. } => {
            if search::nearest(given, accepted.iter().map(String::as_str)).is_some() {
                return None;
            }
            let param = action.params.iter_mut().find(|param| param.name == *name)?;
            param.choices.clear();
            raise(action, name);
            Some((format!("`{name}: {given}`"), "value"))
        }
        _ => None,
    }
}

/// Raises the risk of a write in which a parameter is given that no rule has judged: it may hand out access.
fn raise(action: &mut Action, param: &str) {
    if action.risk > Risk::Read {
        action.raises.push(Raise {
            param: param.to_owned(),
            when: When::Given,
            risk: Risk::Grant,
            effects: Vec::new(),
        });
    }
}
