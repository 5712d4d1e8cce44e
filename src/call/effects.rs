//! Effects of a call: its operations, their risk, and the places they touch. Policy decides only on these, for actions
//! and raw requests alike.

use super::location::{FullPath, Location};
use crate::catalog::{Method, Risk, Touched};

/// A project, group or namespace that a call works on, reads from or writes into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchedPlace {
    /// Path of the parameter that names it: `links.project_id`.
    pub param: String,
    pub location: Location,
    pub role: Role,
    /// Set if the place is known once that of the call is.
    derived: Option<DerivedPlace>,
}

/// A place that follows from the project or group that a call works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DerivedPlace {
    /// The group that it is in.
    ParentGroup,
    /// The same place under this name; none if it is not known which of several GitLab takes.
    Renamed(Option<String>),
}

impl DerivedPlace {
    /// Unknown unless the path of the call's place is known.
    fn location(&self, own: Option<&Location>) -> Location {
        let own = own.and_then(Location::path);
        let parent = own.and_then(FullPath::parent);
        let path = match (self, parent) {
            (DerivedPlace::ParentGroup, parent) => parent,
            (DerivedPlace::Renamed(Some(name)), Some(parent)) => {
                FullPath::parse(&format!("{}/{name}", parent.as_str()))
            }
            // A group at the top level.
            (DerivedPlace::Renamed(Some(name)), None) => own.and_then(|_| FullPath::parse(name)),
            (DerivedPlace::Renamed(None), _) => None,
        };
        path.map_or(Location::Unknown, Location::Path)
    }
}

/// The role of a place in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The operation works there: the place is in its path, or in its body if the path has no placeholders.
    Works,
    /// A further place that it may touch, such as the target of a move, or one in a field that no action describes. The
    /// operation itself may work elsewhere.
    Named,
    /// The call only reads there (by a GraphQL selection), even if it changes something elsewhere.
    Reads,
}

impl TouchedPlace {
    pub fn new(param: impl Into<String>, location: Location) -> TouchedPlace {
        TouchedPlace { param: param.into(), location, role: Role::Works, derived: None }
    }

    /// A place that follows from that of the call.
    pub fn derived(param: impl Into<String>, derived: DerivedPlace, own: Option<&Location>) -> TouchedPlace {
        let location = derived.location(own);
        TouchedPlace { derived: Some(derived), ..TouchedPlace::new(param, location) }
    }

    /// A place that only GitLab knows.
    pub fn unknown(param: impl Into<String>) -> TouchedPlace {
        TouchedPlace::new(param, Location::Unknown)
    }

    /// The same place in another role.
    pub fn with_role(self, role: Role) -> TouchedPlace {
        TouchedPlace { role, ..self }
    }
}

/// The effects of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Effects {
    action: String,
    /// The id of the composite action that the call is a step of.
    plan: Option<String>,
    method: Method,
    operation: String,
    touches: Vec<Touched>,
    places: Vec<TouchedPlace>,
    is_document: bool,
}

impl Effects {
    pub(super) fn new(
        action: &str,
        method: Method,
        operation: String,
        touches: Vec<Touched>,
        places: Vec<TouchedPlace>,
    ) -> Effects {
        let action = action.to_owned();
        Effects { action, plan: None, method, operation, touches, places, is_document: false }
    }

    /// Marks the effects as those of a GraphQL document that the caller wrote.
    pub(super) fn of_document(self) -> Effects {
        Effects { is_document: true, ..self }
    }

    pub(super) fn set_plan(&mut self, plan: &str) {
        self.plan = Some(plan.to_owned());
    }

    /// Replaces ids by the locations that were looked up for policy; see [`Effects::unlocated`].
    pub fn locate(&mut self, locate: impl Fn(&Location) -> Option<Location>) {
        for place in &mut self.places {
            if let Some(location) = locate(&place.location) {
                place.location = location;
            }
        }
        let own = self.places.iter().find(|place| place.role == Role::Works && place.derived.is_none());
        let own = own.map(|place| place.location.clone());
        // One that was known stays: another mutation of a document works at another place.
        let is_open = |place: &&mut TouchedPlace| place.location == Location::Unknown;
        for place in self.places.iter_mut().filter(|_| !self.is_document).filter(is_open) {
            if let Some(derived) = &place.derived {
                place.location = derived.location(own.as_ref());
            }
        }
    }

    /// The id of the action, such as `issue.list`.
    pub fn action(&self) -> &str {
        &self.action
    }

    /// The id of the composite action that the call is a step of. Rules on that action apply to its steps.
    pub fn plan(&self) -> Option<&str> {
        self.plan.as_deref()
    }

    pub fn method(&self) -> Method {
        self.method
    }

    /// The operation as GitLab's documentation writes it.
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// Possible operations of the call, with those of quick actions in its texts; never empty.
    pub fn touches(&self) -> &[Touched] {
        &self.touches
    }

    /// Every project, group and namespace that it touches; may be empty.
    pub fn places(&self) -> &[TouchedPlace] {
        &self.places
    }

    /// True if it is a GraphQL document that the caller wrote.
    pub fn is_document(&self) -> bool {
        self.is_document
    }

    /// The first of the operations with the highest risk: policy decides by it.
    pub fn strictest(&self) -> Option<&Touched> {
        self.touches.iter().rev().max_by_key(|touched| touched.risk)
    }

    /// The highest risk of its operations.
    pub fn risk(&self) -> Risk {
        self.strictest().map_or(Risk::Destructive, |touched| touched.risk)
    }

    /// True if it may change something. An operation whose risk is `read` does not, even if it is a POST
    /// (`ci_lint.check`); a DELETE always does.
    pub fn is_change(&self) -> bool {
        self.risk() != Risk::Read || self.method == Method::Delete
    }

    /// Locations without a path (ids, and the token's own namespace), which rules on paths need looked up.
    pub fn unlocated(&self) -> Vec<Location> {
        let mut found: Vec<Location> = Vec::new();
        for place in &self.places {
            let is_open = matches!(place.location, Location::Id { .. } | Location::OwnNamespace);
            if is_open && !found.contains(&place.location) {
                found.push(place.location.clone());
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::HolderKind;

    fn at(path: &str) -> Location {
        Location::Path(FullPath::parse(path).unwrap())
    }

    fn located(places: Vec<TouchedPlace>, is_document: bool) -> Vec<Location> {
        let mut effects = Effects::new("a.b", Method::Post, String::new(), Vec::new(), places);
        effects.is_document = is_document;
        effects.locate(|location| matches!(location, Location::Id { .. }).then(|| at("acme/widget")));
        effects.places.into_iter().map(|place| place.location).collect()
    }

    #[test]
    fn the_group_of_a_project_follows_from_its_path_once_that_is_known() {
        let by_id = Location::Id { kind: HolderKind::Project, id: 1 };
        let own = TouchedPlace::new("fullPath", by_id.clone());
        let group = TouchedPlace::derived("group", DerivedPlace::ParentGroup, Some(&by_id));
        let renamed =
            TouchedPlace::derived("path", DerivedPlace::Renamed(Some("gone".to_owned())), Some(&by_id));
        let found = located(vec![own, group, renamed], false);
        assert_eq!(found, [at("acme/widget"), at("acme"), at("acme/gone")]);
    }

    #[test]
    fn the_group_of_a_mutation_is_not_that_of_the_first_one() {
        let other = at("other/vault");
        let first = TouchedPlace::new("projectPath", Location::Id { kind: HolderKind::Project, id: 1 });
        let known = TouchedPlace::derived("group", DerivedPlace::ParentGroup, Some(&other));
        let open = TouchedPlace::derived("group", DerivedPlace::ParentGroup, None);
        let found = located(vec![first, TouchedPlace::new("projectPath", other), known, open], true);
        assert_eq!(found[2..], [at("other"), Location::Unknown]);
    }
}
