//! The next step of checked parameters: the call, or the look-ups that it needs.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Checked;
use crate::call::location::{ACCEPTED_PATHS, HolderKind, Location};
use crate::call::name_resolution::{self, Resolved};
use crate::call::raised_risk::{added_effects, call_risk};
use crate::call::select_operation::{self, ChosenOperation};
use crate::call::{
    Call, Candidate, Effects, Fault, Invalid, Lookup, LookupCache, affected_paths, graphql, quick_action,
    request,
};
use crate::catalog::{self, Locates, Operation, Scope, Touched};
use crate::text::plain_text;

/// Next step after a check: the call, or the look-ups that it needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Ready(Call),
    /// Look-ups without duplicates, which can run concurrently.
    Ask(Vec<Lookup>),
    /// The parameters of a composite action: each of its steps is a call.
    Params(ResolvedParams),
}

/// Parameters with an id in place of each name.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedParams {
    pub params: Map<String, Value>,
    pub resolved: Vec<Resolved>,
}

impl Checked {
    /// Returns the call, or the look-ups that it needs first.
    pub fn step(&self, known: &LookupCache) -> Result<Step, Invalid> {
        if let Some(call) = &self.direct {
            return Ok(Step::Ready(call.clone()));
        }
        if self.action.plan.is_some() {
            return self.params_step(known);
        }
        let operation = match self.operation(known) {
            Ok(ChosenOperation::Operation(operation)) => operation,
            Ok(ChosenOperation::Ask(question)) => return Ok(Step::Ask(vec![question])),
            Err(fault) => return Err(self.invalid(self.with_all_missing(fault))),
        };
        let faults = select_operation::unfit(&self.action, operation, &self.params);
        if !faults.is_empty() {
            return Err(self.invalid(faults));
        }
        if let Some(question) = self.path_lookup(operation).map_err(|fault| self.invalid(vec![fault]))? {
            return match self.by_path(&question, known) {
                Some(by_path) => by_path.step(known),
                None => Ok(Step::Ask(vec![question])),
            };
        }
        let ResolvedParams { params, resolved } = match self.fill(operation, known)? {
            Step::Params(filled) => filled,
            step => return Ok(step),
        };
        let effects = self.effects(operation);
        let call = match &operation.graphql {
            Some(graphql) => graphql::write(&self.action, operation, graphql, &params, resolved, effects),
            None => request::write(&self.action, operation, &params, resolved, effects),
        };
        call.map(Step::Ready).map_err(|fault| self.invalid(vec![fault]))
    }

    /// The look-up of the path for an id in `fullPath`, where GitLab takes a path alone. An id that may be a project's or
    /// a group's is refused.
    fn path_lookup(&self, operation: &Operation) -> Result<Option<Lookup>, Fault> {
        let path = self.action.param("fullPath").filter(|path| path.locates == Some(Locates::Path));
        let sent = path.filter(|path| path.place != catalog::Place::Selector);
        let text = sent.and_then(|_| self.params.get("fullPath")).map(plain_text).unwrap_or_default();
        let Some(Location::Id { id, .. }) = Location::parse(&text, HolderKind::Either) else {
            return Ok(None);
        };
        let field = operation.graphql.as_ref().map_or("", |graphql| graphql.field.as_str());
        match operation.scope {
            scope @ (Scope::Project | Scope::Group) if !field.starts_with("namespace.") => {
                Ok(Some(Lookup::PathOf { scope, id: id.to_string() }))
            }
            _ => Err(Fault::NotALocation {
                name: "fullPath".to_owned(),
                given: text,
                expected: ACCEPTED_PATHS,
            }),
        }
    }

    /// The same call with the path that was found.
    fn by_path(&self, question: &Lookup, known: &LookupCache) -> Option<Checked> {
        let mut by_path = self.clone();
        by_path.params.insert("fullPath".to_owned(), Value::from(known.path(question)?.as_str()));
        Some(by_path)
    }

    /// The call with the path that was found for its id, if it had to be looked up.
    fn located<'a>(&'a self, known: &LookupCache) -> Cow<'a, Checked> {
        let question = match self.operation(known) {
            Ok(ChosenOperation::Operation(operation)) => self.path_lookup(operation).ok().flatten(),
            _ => None,
        };
        let by_path = question.and_then(|question| self.by_path(&question, known));
        by_path.map_or(Cow::Borrowed(self), Cow::Owned)
    }

    /// Returns the parameters alone, or the look-ups that they need first. Parameters may be missing.
    pub fn params_step(&self, known: &LookupCache) -> Result<Step, Invalid> {
        match self.operation(known).map_err(|fault| self.invalid(vec![fault]))? {
            ChosenOperation::Operation(operation) => self.fill(operation, known),
            ChosenOperation::Ask(question) => Ok(Step::Ask(vec![question])),
        }
    }

    fn fill(&self, operation: &Operation, known: &LookupCache) -> Result<Step, Invalid> {
        let filled = name_resolution::fill(&self.action, operation, &self.params, known);
        if !filled.faults.is_empty() {
            return Err(self.invalid(filled.faults));
        }
        if !filled.open.is_empty() {
            return Ok(Step::Ask(filled.open.into_keys().collect()));
        }
        Ok(Step::Params(ResolvedParams { params: filled.params, resolved: filled.resolved }))
    }

    /// The operation of the call, or the look-up that selects it. A composite action has only one.
    fn operation(&self, known: &LookupCache) -> Result<ChosenOperation<'_>, Fault> {
        let plan = self.action.choices().next().filter(|_| self.action.plan.is_some());
        plan.map_or_else(
            || select_operation::operation(&self.action, &self.params, known),
            |operation| Ok(ChosenOperation::Operation(operation)),
        )
    }

    /// The fault, or if a parameter is missing, all that are.
    fn with_all_missing(&self, fault: Fault) -> Vec<Fault> {
        let missing = match fault {
            Fault::Missing { .. } => select_operation::missing(&self.action, &self.params),
            _ => Vec::new(),
        };
        if missing.contains(&fault) { missing } else { vec![fault] }
    }

    /// Possible effects of the call before any look-up: those of each operation that the parameters may select. Empty for
    /// a composite action, as policy decides on its steps.
    pub fn possible_effects(&self) -> Vec<Effects> {
        if self.action.plan.is_some() {
            return Vec::new();
        }
        if let Some(call) = &self.direct {
            return vec![call.effects().clone()];
        }
        select_operation::candidates(&self.action, &self.params)
            .into_iter()
            .map(|operation| self.effects(operation))
            .collect()
    }

    fn effects(&self, operation: &Operation) -> Effects {
        let mut touched = Touched::by(&self.action, operation.to_string());
        touched.risk = call_risk(&self.action, &self.params);
        touched.effects.extend(added_effects(&self.action, &self.params).cloned());
        let mut touches = vec![touched];
        touches.extend(self.quick.0.iter().cloned());
        let mut found = affected_paths::places(&self.action, operation, &self.params);
        found.extend(self.quick.1.iter().cloned());
        found.extend(quick_action::closed_places(&self.action, &self.params));
        Effects::new(&self.action.id, operation.method, operation.to_string(), touches, found)
    }

    /// All look-ups of the call, cached or not.
    pub fn questions(&self, known: &LookupCache) -> Vec<Lookup> {
        let kind = self.params.get("fullPath").and_then(Value::as_str);
        let kind = kind.map(|path| Lookup::KindOf { full_path: path.to_owned() });
        let (asked, path) = match self.operation(known) {
            Ok(ChosenOperation::Operation(operation)) => {
                let params = &self.located(known).params;
                let asked = name_resolution::fill(&self.action, operation, params, known).asked;
                (asked, self.path_lookup(operation).ok().flatten())
            }
            _ => (BTreeSet::new(), None),
        };
        kind.into_iter().chain(path).chain(asked).collect()
    }

    /// Error of an ambiguous name.
    pub fn ambiguous(&self, question: &Lookup, known: &LookupCache, candidates: Vec<Candidate>) -> Invalid {
        let name = self.asking_param(question, known).unwrap_or_else(|| "fullPath".to_owned());
        self.invalid(vec![Fault::Ambiguous { name, candidates }])
    }

    /// Parameter that needs an open look-up.
    pub fn asking_param(&self, question: &Lookup, known: &LookupCache) -> Option<String> {
        match self.operation(known) {
            Ok(ChosenOperation::Operation(operation)) => {
                let params = &self.located(known).params;
                name_resolution::fill(&self.action, operation, params, known).open.remove(question)
            }
            _ => None,
        }
    }
}
