//! Resolves ids to paths: a rule on `acme/widget` applies to project `5` as well, and so does a decline.

use serde_json::{Map, Value, json};

use crate::call::{self, Call, Effects, FullPath, HolderKind, Location, LookupCache, Step};
use crate::gitlab::Content;
use crate::text::object_fields;
use crate::tools::own_reads::gate::{self, Purpose};
use crate::tools::state::Tools;

/// Ids and defaults with the locations that they turned out to be.
#[derive(Debug, Default)]
pub struct LocatedPaths {
    found: Vec<(Location, Location)>,
    /// Number of requests, including those that found nothing.
    pub requests: usize,
}

/// Looks up the ids among the places of a call, where a rule speaks of paths. What cannot be found stays unknown, and
/// is decided on as that.
pub async fn locate(tools: &Tools, effects: &Effects) -> LocatedPaths {
    if tools.policy.has_path_rules() { locate_ids(tools, effects).await } else { LocatedPaths::default() }
}

/// Looks up the ids among the places of a call.
pub async fn locate_ids(tools: &Tools, effects: &Effects) -> LocatedPaths {
    let mut located = LocatedPaths::default();
    for location in effects.unlocated() {
        let Some(call) = locating_read(tools, &location) else { continue };
        located.requests += 1;
        if let Some(path) = fetch_path(tools, &location, call).await {
            located.found.push((location, Location::Path(path)));
        }
    }
    located
}

/// The call, with paths in place of the ids that were found.
pub fn apply_paths(call: Call, located: &LocatedPaths) -> Call {
    let requests = call.lookups() + located.requests;
    call.located(|location| find_path(located, location)).with_lookups(requests)
}

/// The path that was found for a location.
pub fn find_path(located: &LocatedPaths, location: &Location) -> Option<Location> {
    located.found.iter().find(|(known, _)| known == location).map(|(_, path)| path.clone())
}

/// Returns the read that shows the path of a location, if there is one.
fn locating_read(tools: &Tools, location: &Location) -> Option<Call> {
    let (action, params) = match location {
        Location::Id { kind: HolderKind::Project, id } => {
            ("project.get", json!({"fullPath": id.to_string()}))
        }
        Location::Id { kind: HolderKind::Group, id } => {
            ("group.get", json!({"fullPath": id.to_string(), "with_projects": false}))
        }
        Location::Id { kind: HolderKind::Namespace, id } => {
            ("namespace.get", json!({"fullPath": id.to_string()}))
        }
        Location::OwnNamespace => ("current_user.get", json!({})),
        _ => return None,
    };
    ready_call(tools, action, object_fields(params))
}

async fn fetch_path(tools: &Tools, location: &Location, call: Call) -> Option<FullPath> {
    let field = match location {
        Location::Id { kind: HolderKind::Project, .. } => "path_with_namespace",
        Location::OwnNamespace => "username",
        _ => "full_path",
    };
    let reply = gate::send(tools, call, Purpose::Locate).await.ok()?;
    let Content::Json(thing) = reply.content else { return None };
    FullPath::parse(thing.get(field)?.as_str()?)
}

/// A read for which nothing has to be looked up.
pub fn ready_call(tools: &Tools, action: &str, params: Map<String, Value>) -> Option<Call> {
    let action = tools.catalog.get(action).ok()??;
    let checked = call::check(action, params, &tools.context().ok()?).ok()?;
    match checked.step(&LookupCache::default()).ok()? {
        Step::Ready(call) => Some(call),
        _ => None,
    }
}
