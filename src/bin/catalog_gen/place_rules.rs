//! Rules for the places that parameters name and where results land: `[places]` of `catalog/rules.toml`.

use std::collections::{BTreeMap, BTreeSet};

use gitlab_mcp::catalog::{
    Action, Base, GraphqlKind, Landing, LandingChoice, LandingPlace, Locates, Names, Param, Place,
    locates_by_name, split_words,
};
use serde::Deserialize;

use crate::action_ids::Ids;
use crate::rule_params::{ListedParams, find_param, matches, no_param, walk};

/// Parameters that name places, and the default places of results.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlaceRules {
    default: Vec<LandingRule>,
    /// Parameters by the kind of their place, where neither type nor name says it.
    located: BTreeMap<Locates, Vec<String>>,
    not_places: Vec<ListedParams>,
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
        let mut located: BTreeMap<(usize, String), Locates> = BTreeMap::new();
        for (kind, entries) in &self.located {
            for entry in entries {
                let found = matches(entry, &format!("places.located {entry}"), &ids, actions, faults);
                located.extend(found.into_iter().map(|key| (key, *kind)));
            }
        }
        let mut excluded: BTreeSet<(usize, String)> = BTreeSet::new();
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for listed in &self.not_places {
            listed.check_reason("places.not_places", faults);
            for entry in &listed.params {
                if entry.contains(':') {
                    let row = format!("places.not_places {entry}");
                    excluded.extend(matches(entry, &row, &ids, actions, faults));
                } else {
                    names.insert(entry);
                }
            }
        }
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut kinds: BTreeSet<String> = BTreeSet::new();
        for (number, action) in actions.iter_mut().enumerate() {
            let of_action = ActionPlaces::new(action, &self.attributes);
            let mut params = std::mem::take(&mut action.params);
            walk(&mut params, "", &mut |path, param| {
                seen.insert(param.name.clone());
                kinds.extend(param.gid.clone());
                let key = (number, path.to_owned());
                if let Some(kind) = located.get(&key) {
                    param.locates = Some(*kind);
                } else if !excluded.contains(&key) && !names.contains(param.name.as_str()) {
                    param.locates = of_action.located(path, param);
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

/// Rules for the places of one action's parameters.
struct ActionPlaces<'a> {
    is_graphql: bool,
    /// True if a global id among the parameters may refer to an object anywhere: in every mutation, and in a query
    /// without a path.
    ids_locate: bool,
    attributes: &'a [String],
}

impl ActionPlaces<'_> {
    fn new<'a>(action: &Action, attributes: &'a [String]) -> ActionPlaces<'a> {
        let graphql = || action.operations.iter().filter_map(|operation| operation.graphql.as_ref());
        let is = |kind: GraphqlKind| graphql().any(|graphql| graphql.kind == kind);
        let by_path = action.param("fullPath").is_some_and(|param| param.place == Place::Path);
        let ids_locate = is(GraphqlKind::Mutation) || (is(GraphqlKind::Query) && !by_path);
        ActionPlaces { is_graphql: graphql().next().is_some(), ids_locate, attributes }
    }

    /// The kind of place that a parameter names: by its reference kind, the type of its global ids, or its name.
    fn located(&self, path: &str, param: &Param) -> Option<Locates> {
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
                (self.ids_locate && (is_object || !self.attributes.contains(kind)))
                    .then_some(Locates::Foreign)
            }
            (Some(_), None) => None,
            (None, None) => self.located_by_name(param),
        }
    }

    fn located_by_name(&self, param: &Param) -> Option<Locates> {
        let is_id = split_words(&param.name).last().is_some_and(|word| matches!(word.as_str(), "id" | "ids"));
        match locates_by_name(&param.name) {
            Some(Locates::Foreign) => Some(Locates::Foreign),
            // GraphQL finds a project or group by its path, unless the type is one of ids.
            Some(_) if self.is_graphql && param.kind.base == Base::String && !is_id => Some(Locates::Path),
            Some(kind) => Some(kind),
            None => {
                let is_global = is_id && param.kind.base == Base::IntegerOrString;
                (self.ids_locate && is_global).then_some(Locates::Foreign)
            }
        }
    }
}
