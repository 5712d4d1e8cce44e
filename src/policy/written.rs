//! A policy as a file: what the settings say, and rules by path, action and risk.
//!
//! ```toml
//! denied_actions = ["*.delete"]
//! allowed_paths = ["acme"]
//!
//! [[rule]]
//! paths = ["acme/production"]
//! actions = ["merge_request.merge", "pipeline.*"]
//! decision = "confirm"
//! reason = "the release team is to know"
//! ```

use std::collections::BTreeSet;

use serde::Deserialize;

use super::path::{self, PathPattern};
use super::{PolicyError, Rule, denied};
use crate::call::{Call, Place};
use crate::catalog::{Action, Catalog, Risk};

/// What a rule of the file decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Without a question, also where something is destroyed.
    Allow,
    Preview,
    Confirm,
    Deny,
}

/// A policy's file as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Document {
    pub read_only: bool,
    pub safe_mode: bool,
    pub denied_actions: Vec<String>,
    pub allowed_paths: Vec<String>,
    #[serde(rename = "rule")]
    rules: Vec<WrittenRule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    actions: Vec<String>,
    /// The least risk that it is about; without it, any.
    #[serde(default)]
    risk: Option<Risk>,
    decision: Verdict,
    #[serde(default)]
    reason: Option<String>,
}

/// A rule that can be applied.
#[derive(Clone, Debug)]
pub struct Written {
    pub verdict: Verdict,
    pub rule: Rule,
    paths: Vec<PathPattern>,
    /// The actions it is about; None where it is about all.
    actions: Option<BTreeSet<&'static str>>,
    risk: Risk,
}

impl Document {
    /// Reads a policy's file.
    pub fn read(text: &str, origin: &str) -> Result<Document, PolicyError> {
        toml::from_str(text)
            .map_err(|error| PolicyError::Syntax { origin: origin.to_owned(), source: Box::new(error) })
    }

    /// Its rules, in their order.
    pub fn rules(self, catalog: &Catalog) -> Result<Vec<Written>, PolicyError> {
        self.rules.into_iter().enumerate().map(|(at, rule)| rule.applied(at + 1, catalog)).collect()
    }
}

impl WrittenRule {
    fn applied(self, number: usize, catalog: &Catalog) -> Result<Written, PolicyError> {
        let mut ids = BTreeSet::new();
        for pattern in &self.actions {
            let found = denied::matching(pattern, catalog);
            if found.is_empty() {
                return Err(PolicyError::NoAction { origin: "GITLAB_POLICY", pattern: pattern.clone() });
            }
            ids.extend(found);
        }
        Ok(Written {
            verdict: self.decision,
            rule: Rule::Written { number, reason: self.reason },
            paths: patterns(&self.paths, "GITLAB_POLICY")?,
            actions: (!self.actions.is_empty()).then_some(ids),
            risk: self.risk.unwrap_or(Risk::Read),
        })
    }
}

/// Patterns of paths, or the first that is none.
pub fn patterns(texts: &[String], origin: &'static str) -> Result<Vec<PathPattern>, PolicyError> {
    let read = |text: &String| {
        PathPattern::read(text).ok_or_else(|| PolicyError::NoPath {
            origin,
            text: text.clone(),
            accepted: path::ACCEPTED,
        })
    };
    texts.iter().map(read).collect()
}

impl Written {
    /// Whether the rule is about a call. In doubt, one that lets something through is not, and one that holds
    /// something back is.
    pub fn is_about(&self, call: &Call) -> bool {
        let lenient = self.verdict == Verdict::Allow;
        call.risk() >= self.risk
            && self.is_about_actions(call, lenient)
            && self.is_about_places(call, lenient)
    }

    /// Whether the rule keeps an action from ever running.
    pub fn bars(&self, action: &Action) -> bool {
        let named = self.actions.as_ref().is_none_or(|ids| ids.contains(action.id.as_str()));
        self.verdict == Verdict::Deny && self.paths.is_empty() && named && action.risk >= self.risk
    }

    fn is_about_actions(&self, call: &Call, lenient: bool) -> bool {
        let Some(ids) = &self.actions else { return true };
        let mut touched = call.touches().iter().map(|touched| {
            let named = touched.ids.iter().map(String::as_str).chain(call.plan());
            let mut named = named.map(|id| ids.contains(id));
            if lenient {
                named.any(|named| named)
            } else {
                touched.ids.is_empty() || named.any(|named| named)
            }
        });
        if lenient { touched.all(|about| about) } else { touched.any(|about| about) }
    }

    fn is_about_places(&self, call: &Call, lenient: bool) -> bool {
        if self.paths.is_empty() {
            return true;
        }
        let covers = |place: &Place| {
            place.path.as_ref().map(|path| self.paths.iter().any(|pattern| pattern.covers(path)))
        };
        let mut places = call.places().iter().map(covers);
        match (lenient, call.places().is_empty()) {
            (true, empty) => !empty && places.all(|covered| covered == Some(true)),
            // What reads from everywhere is about no path in particular; what changes something is somewhere.
            (false, true) => call.risk() != Risk::Read,
            (false, false) => places.any(|covered| covered != Some(false)),
        }
    }
}
