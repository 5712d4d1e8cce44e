//! Rules for the places that parameters name and where results land: `[places]` of `catalog/rules.toml`.

use std::collections::BTreeSet;

use gitlab_mcp::catalog::{
    Action, Base, GraphqlKind, Landing, LandingChoice, LandingPlace, Locates, Names, Param, Place,
    locates_by_name,
};
use serde::Deserialize;

use crate::action_ids::Ids;
use crate::rule_params::{find_param, matches, no_param, walk};

/// Parameters that name places, and the default places of results.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceRules {
    #[serde(default)]
    default: Vec<LandingRule>,
    #[serde(default)]
    foreign: Vec<String>,
    #[serde(default)]
    addresses: Vec<String>,
    #[serde(default)]
    not_places: Vec<String>,
    #[serde(default)]
    attributes: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LandingRule {
    action: String,
    absent: Vec<String>,
    /// The parameter value that selects this place.
    by: Option<LandingChoice>,
    place: LandingPlace,
}

impl PlaceRules {
    /// Sets the default places of results.
    pub fn set_landings(&self, actions: &mut [Action], faults: &mut Vec<String>) {
        let ids = Ids::new(actions);
        for rule in &self.default {
            let row = format!("places.default {}", rule.action);
            let named = ids.expand(&rule.action, &row, faults);
            for action in actions.iter_mut().filter(|action| named.contains(&action.id)) {
                let unknown = rule.absent.iter().filter(|path| find_param(&action.params, path).is_none());
                faults.extend(unknown.map(|path| format!("{row}: {}", no_param(action, path))));
                let by = rule.by.clone();
                let chosen = by.iter().filter(|by| find_param(&action.params, &by.param).is_none());
                faults.extend(chosen.map(|by| format!("{row}: {}", no_param(action, &by.param))));
                action.lands.push(Landing { absent: rule.absent.clone(), by, place: rule.place });
            }
        }
    }

    /// Sets the kind of place that each parameter names.
    pub fn set_locates(&self, actions: &mut [Action], faults: &mut Vec<String>) {
        let ids = Ids::new(actions);
        let mut foreign: BTreeSet<(usize, String)> = BTreeSet::new();
        for entry in &self.foreign {
            foreign.extend(matches(entry, &format!("places.foreign {entry}"), &ids, actions, faults));
        }
        let mut addresses: BTreeSet<(usize, String)> = BTreeSet::new();
        for entry in &self.addresses {
            addresses.extend(matches(entry, &format!("places.addresses {entry}"), &ids, actions, faults));
        }
        let mut excluded: BTreeSet<(usize, String)> = BTreeSet::new();
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for entry in &self.not_places {
            if entry.contains(':') {
                excluded.extend(matches(entry, &format!("places.not_places {entry}"), &ids, actions, faults));
            } else {
                names.insert(entry);
            }
        }
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut kinds: BTreeSet<String> = BTreeSet::new();
        for (number, action) in actions.iter_mut().enumerate() {
            let ids_locate = ids_locate(action);
            let mut params = std::mem::take(&mut action.params);
            walk(&mut params, "", &mut |path, param| {
                seen.insert(param.name.clone());
                kinds.extend(param.gid.clone());
                let key = (number, path.to_owned());
                if foreign.contains(&key) {
                    param.locates = Some(Locates::Foreign);
                } else if addresses.contains(&key) {
                    param.locates = Some(Locates::Address);
                } else if !excluded.contains(&key) && !names.contains(param.name.as_str()) {
                    param.locates = located(path, param, ids_locate, &self.attributes);
                }
            });
            action.params = params;
        }
        let unknown = names.iter().filter(|name| !seen.contains(**name));
        faults.extend(unknown.map(|name| format!("places.not_places: no parameter is called {name}")));
        let unknown = self.attributes.iter().filter(|kind| !kinds.contains(*kind));
        faults.extend(unknown.map(|kind| format!("places.attributes: no global id is of a {kind}")));
    }
}

/// True if a global id among the parameters may refer to an object anywhere: in every mutation, and in a query without
/// a path.
fn ids_locate(action: &Action) -> bool {
    let is = |kind: GraphqlKind| {
        let mut operations = action.operations.iter().filter_map(|operation| operation.graphql.as_ref());
        operations.any(|graphql| graphql.kind == kind)
    };
    let by_path = action.param("fullPath").is_some_and(|param| param.place == Place::Path);
    is(GraphqlKind::Mutation) || (is(GraphqlKind::Query) && !by_path)
}

/// The kind of place that a parameter names: by its reference kind, the type of its global ids, or its name.
fn located(path: &str, param: &Param, ids_locate: bool, attributes: &[String]) -> Option<Locates> {
    if matches!(
        param.kind.base,
        Base::Boolean | Base::Date | Base::DateTime | Base::Object | Base::File | Base::Number
    ) {
        return None;
    }
    match (param.names, &param.gid) {
        (Some(Names::Project), _) => Some(Locates::Project),
        (Some(Names::Group), _) => Some(Locates::Group),
        (Some(Names::Namespace), _) => Some(Locates::Namespace),
        (Some(names), _) if names.is_tracked() => Some(Locates::Foreign),
        (_, Some(kind)) => {
            let is_object = matches!(path, "id" | "ids");
            (ids_locate && (is_object || !attributes.contains(kind))).then_some(Locates::Foreign)
        }
        (Some(_), None) => None,
        (None, None) => locates_by_name(&param.name).or_else(|| {
            let is_id = ["id", "ids"].contains(&param.name.as_str())
                || param.name.ends_with("Id")
                || param.name.ends_with("Ids");
            let is_global = is_id && param.kind.base == Base::IntegerOrString;
            (ids_locate && is_global).then_some(Locates::Foreign)
        }),
    }
}
