//! Policy file: the same options as the settings, and rules by path, action and risk.
//!
//! ```toml
//! denied_actions = ["*.delete"]
//! allowed_paths = ["acme"]
//!
//! [[rule]]
//! paths = ["acme/production"]
//! actions = ["merge_request.merge", "pipeline.*"]
//! decision = "confirm"
//! reason = "the release team must be informed"
//! ```

use std::collections::BTreeSet;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::denied_actions;
use super::error::PolicyError;
use super::path_pattern::{self, PathPattern};
use super::rule::Rule;
use crate::call::{Effects, Role, TouchedPlace};
use crate::catalog::{Action, Catalog, Risk};

/// Decision of a rule, from the most lenient to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Runs without confirmation, even if destructive.
    Allow,
    Confirm,
    Preview,
    Deny,
}

/// A list that names something: an empty one would limit nothing, which is not what it reads like.
fn some<'de, D: Deserializer<'de>>(value: D) -> Result<Vec<String>, D::Error> {
    let list = Vec::<String>::deserialize(value)?;
    match list.is_empty() {
        true => Err(D::Error::custom("an empty list limits nothing: name something, or leave the key out")),
        false => Ok(list),
    }
}

/// Contents of a policy file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Document {
    pub read_only: bool,
    pub safe_mode: bool,
    pub denied_actions: Vec<String>,
    #[serde(deserialize_with = "some")]
    pub allowed_paths: Vec<String>,
    #[serde(deserialize_with = "some")]
    pub readable_paths: Vec<String>,
    #[serde(rename = "rule")]
    rules: Vec<WrittenRule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    #[serde(default, deserialize_with = "some")]
    paths: Vec<String>,
    #[serde(default, deserialize_with = "some")]
    actions: Vec<String>,
    /// Minimum risk of the calls it applies to; any if missing.
    #[serde(default)]
    risk: Option<Risk>,
    decision: Verdict,
    #[serde(default)]
    reason: Option<String>,
}

/// A rule with its patterns resolved.
#[derive(Clone, Debug)]
pub struct CompiledRule {
    pub verdict: Verdict,
    pub rule: Rule,
    paths: Vec<PathPattern>,
    /// Actions it applies to; `None` means all.
    actions: Option<BTreeSet<&'static str>>,
    /// True if one of its actions only reads.
    names_read: bool,
    risk: Risk,
}

impl Document {
    /// Parses a policy file.
    pub fn parse(text: &str, origin: &str) -> Result<Document, PolicyError> {
        toml::from_str(text)
            .map_err(|error| PolicyError::Syntax { origin: origin.to_owned(), source: Box::new(error) })
    }

    /// Compiles its rules, in order.
    pub fn rules(self, catalog: &Catalog) -> Result<Vec<CompiledRule>, PolicyError> {
        self.rules.into_iter().enumerate().map(|(at, rule)| rule.compile(at + 1, catalog)).collect()
    }
}

impl WrittenRule {
    fn compile(self, number: usize, catalog: &Catalog) -> Result<CompiledRule, PolicyError> {
        let mut ids = BTreeSet::new();
        for pattern in &self.actions {
            let found = denied_actions::matching(pattern, catalog)?;
            if found.is_empty() {
                let (origin, pattern) = ("GITLAB_POLICY", pattern.clone());
                return Err(PolicyError::NoAction { origin, pattern, nearest: None });
            }
            ids.extend(found);
        }
        let mut names_read = ids.is_empty();
        for id in &ids {
            names_read |= catalog.get(id)?.is_some_and(|action| action.risk == Risk::Read);
        }
        Ok(CompiledRule {
            names_read,
            verdict: self.decision,
            rule: Rule::PolicyFile { number, reason: self.reason },
            paths: patterns(&self.paths, "GITLAB_POLICY")?,
            actions: (!self.actions.is_empty()).then_some(ids),
            risk: self.risk.unwrap_or(Risk::Read),
        })
    }
}

/// Parses path patterns. Fails with the first that is invalid.
pub fn patterns(texts: &[String], origin: &'static str) -> Result<Vec<PathPattern>, PolicyError> {
    let read = |text: &String| {
        PathPattern::parse(text).ok_or_else(|| PolicyError::NoPath {
            origin,
            text: text.clone(),
            accepted: path_pattern::ACCEPTED,
        })
    };
    texts.iter().map(read).collect()
}

impl CompiledRule {
    /// True if the rule applies to a call. In doubt, a rule that allows does not apply, and any other does.
    pub fn applies_to(&self, effects: &Effects) -> bool {
        effects.risk() >= self.risk && self.applies_to_actions(effects) && self.applies_to_places(effects)
    }

    /// True if the rule applies to reads that are known only to GitLab, such as the selections of a GraphQL document. In
    /// doubt, a rule that allows does not apply, and any other does.
    pub fn applies_to_unknown_reads(&self) -> bool {
        let is_unlimited = self.paths.is_empty() && self.actions.is_none();
        self.risk == Risk::Read && if self.is_lenient() { is_unlimited } else { self.names_read }
    }

    /// True if the rule denies every call of an action.
    pub fn denies_action(&self, action: &Action) -> bool {
        let mut ids = [&action.id].into_iter().chain(&action.twin).chain(&action.effects);
        let named = self.actions.as_ref().is_none_or(|known| ids.any(|id| known.contains(id.as_str())));
        self.verdict == Verdict::Deny && self.paths.is_empty() && named && action.risk >= self.risk
    }

    /// True if it has path patterns.
    pub fn has_paths(&self) -> bool {
        !self.paths.is_empty()
    }

    fn is_lenient(&self) -> bool {
        self.verdict == Verdict::Allow
    }

    fn applies_to_actions(&self, effects: &Effects) -> bool {
        let Some(ids) = &self.actions else { return true };
        let mut touched = effects.touches().iter();
        if self.is_lenient() {
            // Allowing an action does not allow others with the same effect.
            return touched.all(|touched| {
                touched.ids.iter().map(String::as_str).chain(effects.plan()).any(|id| ids.contains(id))
            });
        }
        touched.any(|touched| {
            touched.ids.is_empty() || touched.all_ids().chain(effects.plan()).any(|id| ids.contains(id))
        })
    }

    fn applies_to_places(&self, effects: &Effects) -> bool {
        if self.paths.is_empty() {
            return true;
        }
        let places = effects.places();
        let works = places.iter().any(|place| place.role == Role::Works);
        if self.is_lenient() {
            return works && places.iter().all(|place| path_pattern::covers(&self.paths, &place.location));
        }
        // A read without a place affects no particular path. A change always affects some path, and GitLab may ignore the
        // parameter of a place that is only named.
        (!works && effects.risk() != Risk::Read)
            || places.iter().any(|place| self.may_concern(place, effects.risk()))
    }

    /// True if the patterns may cover a place. Deleting, moving or opening up a group affects everything below it.
    fn may_concern(&self, place: &TouchedPlace, risk: Risk) -> bool {
        let Some(path) = place.location.path() else { return true };
        let reaches_below = risk >= Risk::Grant && place.role != Role::Reads;
        self.paths.iter().any(|pattern| pattern.covers(path) || (reaches_below && pattern.is_below(path)))
    }
}
