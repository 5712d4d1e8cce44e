//! The object that a call would hit, read before somebody is asked about the call.

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::call::{self, Call, Checked};
use crate::catalog::{
    self, Action, Interface, Locates, Method, Operation, PRESENTATION, Piece, Touched, pieces,
};
use crate::gitlab::{Content, GitlabError};
use crate::messages::error::{ErrorKind, ToolError};
use crate::messages::request::CheckedCall;
use crate::text::object_fields;
use crate::tools::errors::not_found::read_at;
use crate::tools::own_reads::gate::{OwnReadError, Purpose};
use crate::tools::prepare::pin;
use crate::tools::state::Tools;
use crate::tools::{lookups, own_reads};
use crate::untrusted::foreign_line;

/// The action of raw REST requests.
const RAW: &str = "api.rest";

/// The object that a call would hit, as far as GitLab shows it.
#[derive(Debug, Default)]
pub struct TargetObject {
    pub summary: Map<String, Value>,
    /// The fields that consent is bound to, each with its path.
    pub state: Map<String, Value>,
    /// The reason why the target is unknown.
    pub unseen: Option<String>,
}

/// Reads the target object, or the project or group that contains it. A missing target is an error at once; any
/// other failure only leaves the question without the target.
pub async fn look_up_target(
    tools: &Tools,
    call: &Call,
    checked: &Checked,
) -> Result<TargetObject, ToolError> {
    let mut target = TargetObject::default();
    for look in target_reads(tools, call, checked) {
        match read_target(tools, &look.action, look.params).await {
            Ok(Some(object)) => return Ok(object),
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
        let params = object_fields(json!({"method": "GET", "path": path}));
        let thing = TargetRead { action: RAW.to_owned(), params, is_thing_itself: false };
        return std::iter::once(thing).chain(raw_holder_read(tools, call)).collect();
    }
    let mut looks = Vec::new();
    let id = format!("{}.get", action.domain());
    if let Some(pin) = &action.pin {
        let params = pin::read_params(tools, &pin.read, &pin.takes, checked.params());
        // Where the object of another domain is missing, GitLab says what that means for the call.
        looks.push(TargetRead { action: pin.read.clone(), params, is_thing_itself: pin.read == id });
    }
    let is_shown = |id: &String| *id == action.id || action.twin.as_ref() == Some(id);
    for shown in catalog::kinds().shown_by.iter().filter(|shown| is_shown(&shown.action)) {
        let params = pin::read_params(tools, &shown.read, &shown.takes, checked.params());
        looks.push(TargetRead { action: shown.read.clone(), params, is_thing_itself: false });
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
    looks.extend(holder_read(tools, call, checked));
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

/// The read of the object that what a call makes belongs to: the issue of a comment, whose quick actions change it. An object
/// with a number is nearer than a thread between the two.
fn holder_read(tools: &Tools, call: &Call, checked: &Checked) -> Option<TargetRead> {
    let action = checked.action();
    let is_sent =
        |operation: &&Operation| operation.graphql.is_none() && operation.to_string() == call.operation();
    let operation = action.operations.iter().find(is_sent)?;
    let reads = prefixes(&operation.path)
        .filter(|path| path.rsplit('/').next().is_some_and(|word| word.starts_with(':')))
        .filter_map(|path| read_at(tools, operation, path, checked.params()));
    let read = |(action, params): (Action, Map<String, Value>)| TargetRead {
        action: action.id,
        params,
        is_thing_itself: false,
    };
    tracked_or_nearest(reads.map(read), |read| &read.action)
}

/// The same for a raw request that makes something.
fn raw_holder_read(tools: &Tools, call: &Call) -> Option<TargetRead> {
    let index = tools.catalog.operations().ok().filter(|_| call.method() == Method::Post)?;
    let reads = prefixes(call.path()).filter_map(|path| {
        let segments: Vec<String> =
            path.split('/').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        let reads = index.rest(Method::Get, &segments);
        let id = reads.iter().flat_map(Touched::all_ids).find(|id| id.ends_with(".get"))?.to_owned();
        let params = object_fields(json!({"method": "GET", "path": path}));
        Some((id, TargetRead { action: RAW.to_owned(), params, is_thing_itself: false }))
    });
    tracked_or_nearest(reads, |(id, _)| id).map(|(_, read)| read)
}

/// The paths above a path, the nearest first.
fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(path.rsplit_once('/'), |(above, _)| above.rsplit_once('/')).map(|(above, _)| above)
}

/// The first read of a kind with numbers, else the first.
fn tracked_or_nearest<T>(reads: impl Iterator<Item = T>, id: impl Fn(&T) -> &String) -> Option<T> {
    let is_tracked = |read: &T| {
        let mut items =
            catalog::kinds().kinds.iter().filter(|row| row.sigil.is_some()).flat_map(|row| &row.item);
        items.any(|item| item.read == *id(read))
    };
    let mut nearest = None;
    for read in reads {
        if is_tracked(&read) {
            return Some(read);
        }
        nearest = nearest.or(Some(read));
    }
    nearest
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
) -> BoxFuture<'t, Result<Option<TargetObject>, ToolError>> {
    Box::pin(async move {
        let Some(action) = tools.catalog.get(id)? else { return Ok(None) };
        let taken = params.into_iter().filter(|(name, _)| action.param(name).is_some()).collect();
        let context = tools.context()?;
        let Ok(checked) = call::check(action.clone(), taken, &context) else { return Ok(None) };
        let Ok(look) = lookups::resolve_call(tools, &checked).await else { return Ok(None) };
        let look = CheckedCall { call: &look, checked: &checked };
        let reply = match own_reads::send_and_unwrap(tools, look, Purpose::Target).await {
            Err(OwnReadError::Gitlab(GitlabError::NotFound { .. })) if action.direct().is_some() => {
                return Ok(None);
            }
            read => read.map_err(|error| error.explain(tools, &action))?,
        };
        Ok(match reply.content {
            Content::Json(Value::Object(thing)) => Some(TargetObject {
                summary: summarize(&action, &thing),
                state: bound_state(action.domain(), &Value::Object(thing)),
                unseen: None,
            }),
            _ => None,
        })
    })
}

/// The fields that consent to a change is bound to: the identity of the thing, and the state with which it would be another
/// change.
fn bound_state(domain: &str, thing: &Value) -> Map<String, Value> {
    let value =
        |path: &str| thing.pointer(&format!("/{}", path.replace('.', "/"))).filter(|value| !value.is_null());
    let mut bound = Map::new();
    for path in PRESENTATION.bound {
        // `snippet:updated_at` is of that domain alone; `*_events` are the fields that end so.
        let (of, path) = path.split_once(':').unwrap_or((domain, path));
        if of != domain {
            continue;
        }
        if let Some(ending) = path.strip_prefix('*') {
            let fields = thing.as_object().into_iter().flatten().filter(|(name, _)| name.ends_with(ending));
            bound.extend(fields.map(|(name, value)| (name.clone(), value.clone())));
        } else if let Some(value) = value(path) {
            bound.insert(path.to_owned(), value.clone());
        }
    }
    bound
}

impl TargetObject {
    /// The id that distinguishes the object from another of its name; none if GitLab does not show it.
    pub fn identity(&self) -> Option<Value> {
        self.state.get("id").cloned()
    }
}

/// The summary fields of a thing; of a list its length.
fn summarize(action: &Action, thing: &Map<String, Value>) -> Map<String, Value> {
    let folded = |name: &str| name.replace('_', "").to_lowercase();
    let mut told = Map::from_iter([("kind".to_owned(), json!(action.domain()))]);
    for name in PRESENTATION.summary {
        let Some((_, value)) = thing.iter().find(|(given, _)| folded(given) == folded(name)) else {
            continue;
        };
        let said = match value {
            Value::Null | Value::Object(_) => continue,
            Value::Array(items) => json!(items.len()),
            Value::String(text) => json!(foreign_line(text)),
            scalar => scalar.clone(),
        };
        told.insert((*name).to_owned(), said);
    }
    told
}
