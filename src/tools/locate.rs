//! The paths behind ids, for rules on paths: `5` is decided on as `acme/widget` is.

use serde_json::{Map, Value, json};

use super::Tools;
use super::own_read::{self, Purpose};
use crate::call::{self, Call, Effects, FullPath, HolderKind, Known, Location, Step};
use crate::gitlab::Content;

/// Ids and defaults with the locations that they turned out to be.
pub type Located = Vec<(Location, Location)>;

/// Looks up the ids among the places of a call, where a rule speaks of paths. What cannot be found stays unknown, and
/// is decided on as that.
pub async fn locate(tools: &Tools, effects: &Effects) -> Located {
    let mut located = Located::new();
    if !tools.policy.has_path_rules() {
        return located;
    }
    for location in effects.unlocated() {
        if let Some(path) = path_of(tools, &location).await {
            located.push((location, Location::Path(path)));
        }
    }
    located
}

/// The call, with paths in place of the ids that were found.
pub fn apply(call: Call, located: &Located) -> Call {
    let requests = call.lookups() + located.len();
    call.located(|location| find(located, location)).after(requests)
}

/// The path that was found for a location.
pub fn find(located: &Located, location: &Location) -> Option<Location> {
    located.iter().find(|(known, _)| known == location).map(|(_, path)| path.clone())
}

async fn path_of(tools: &Tools, location: &Location) -> Option<FullPath> {
    let (action, params, field) = match location {
        Location::Id { kind: HolderKind::Project, id } => {
            ("project.get", json!({"fullPath": id.to_string()}), "path_with_namespace")
        }
        Location::Id { kind: HolderKind::Group, id } => {
            ("group.get", json!({"fullPath": id.to_string(), "with_projects": false}), "full_path")
        }
        Location::Id { kind: HolderKind::Namespace, id } => {
            ("namespace.get", json!({"fullPath": id.to_string()}), "full_path")
        }
        Location::OwnNamespace => ("current_user.get", json!({}), "username"),
        _ => return None,
    };
    let call = ready(tools, action, params)?;
    let reply = own_read::send(tools, call, Purpose::Locate).await.ok()?;
    let Content::Json(thing) = reply.content else { return None };
    FullPath::parse(thing.get(field)?.as_str()?)
}

/// A read by an id, which nothing has to be looked up for.
fn ready(tools: &Tools, action: &str, params: Value) -> Option<Call> {
    let params: Map<String, Value> = params.as_object().cloned()?;
    let action = tools.catalog.get(action).ok()??;
    let checked = call::check(action, params, &tools.context().ok()?).ok()?;
    match checked.step(&Known::default()).ok()? {
        Step::Ready(call) => Some(call),
        _ => None,
    }
}
