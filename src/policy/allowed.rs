//! Allowed paths (`GITLAB_ALLOWED_PATHS`): a call that would change something elsewhere is denied.

use super::path_pattern::{self, PathPattern};
use super::rule::Rule;
use crate::call::{self, Effects, Role, TouchedPlace};
use crate::catalog::Action;

/// The paths below which changes are allowed.
#[derive(Debug)]
pub struct Allowed(Vec<PathPattern>);

impl Allowed {
    /// None if changes are allowed everywhere.
    pub(super) fn new(paths: Vec<PathPattern>) -> Option<Allowed> {
        (!paths.is_empty()).then_some(Allowed(paths))
    }

    /// The rule that denies a call: it changes something that is not below these paths, or nobody can tell where.
    pub(super) fn deny(&self, effects: &Effects) -> Option<Rule> {
        if !effects.is_change() {
            return None;
        }
        if !works_somewhere(effects) {
            return Some(self.rule(None));
        }
        let mut changed = effects.places().iter().filter(|place| place.role != Role::Reads);
        let place = changed.find(|place| !path_pattern::covers(&self.0, &place.location))?;
        Some(self.rule(Some(place)))
    }

    /// The rule that denies every call of an action that changes something: it has no place.
    pub(super) fn withholds(&self, action: &Action) -> Option<Rule> {
        (!has_place(action)).then(|| self.rule(None))
    }

    fn rule(&self, place: Option<&TouchedPlace>) -> Rule {
        let place = place.map(|place| (place.param.clone(), place.location.clone()));
        Rule::Outside { place, allowed: path_pattern::texts(&self.0) }
    }
}

/// True if the call names the place it works in.
pub(super) fn works_somewhere(effects: &Effects) -> bool {
    effects.places().iter().any(|place| place.role == Role::Works)
}

/// True if a call of the action can name the place it works in, or its steps can.
pub(super) fn has_place(action: &Action) -> bool {
    action.direct().is_some() || action.plan.is_some() || call::can_be_placed(action)
}
