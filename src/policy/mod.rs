//! May this call run: one decision, with the rule that made it, on the checked call and before anything is sent.
//!
//! What is denied is denied before it is shown, and shown before it is confirmed; no later rule lifts an earlier one.

mod denied;
mod part;
mod path;
mod rule;
mod scopes;
mod stars;
#[cfg(test)]
mod tests;
mod written;

use std::sync::OnceLock;

pub use rule::Rule;
pub use scopes::Scopes;

use crate::call::{self, Call, Place};
use crate::catalog::{Action, Catalog, CatalogError, Interface, Method, Risk};
use denied::Denied;
use part::Part;
use path::PathPattern;
use written::{Document, Verdict, Written};

/// How what destroys something is agreed to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confirm {
    /// `confirm: true`, or the user's own yes.
    #[default]
    Ask,
    /// The word that the question held, which is of that call on that thing as it was then.
    Plan,
    /// Not at all.
    Never,
}

/// What the configuration allows, as it is written.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Only actions that change nothing.
    pub read_only: bool,
    /// Whatever is not a read is shown, not sent.
    pub safe_mode: bool,
    pub confirm: Confirm,
    /// `issue.delete`, `issue.*`, `*.delete`, `manage_issue:delete`.
    pub denied_actions: Vec<String>,
    /// A regular expression on the names of tools and actions.
    pub denied_tools: Option<String>,
    /// What the tools are called that stand for families of domains, where there are such: a dropped one denies its
    /// actions.
    pub family_tool: Option<FamilyTool>,
    /// The parts of the catalog that are offered; all of it, where none is named.
    pub toolsets: Vec<String>,
    pub domains: Vec<String>,
    /// Projects and groups below which changes are allowed; everywhere, where there are none.
    pub allowed_paths: Vec<String>,
    /// The text of a policy's file.
    pub file: Option<String>,
}

/// The name of the tool for the actions of a family that have this risk.
pub type FamilyTool = fn(&str, Risk) -> String;

/// Why a policy cannot be used. Nothing runs under one that says other than was meant.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    #[error("{origin} has `{pattern}`, which means no action")]
    NoAction { origin: &'static str, pattern: String },
    #[error("{origin} has `{name}`, and takes {accepted}")]
    NoPart { origin: &'static str, name: String, accepted: String },
    #[error("{origin} has `{text}`, and takes {accepted}")]
    NoPath { origin: &'static str, text: String, accepted: &'static str },
    #[error("GITLAB_DENIED_TOOLS_REGEX is `{text}`, which is no regular expression")]
    Expression { text: String, source: regex_lite::Error },
    #[error("{origin} cannot be read")]
    Syntax { origin: String, source: Box<toml::de::Error> },
    #[error("the catalog cannot be read")]
    Catalog(#[from] CatalogError),
}

/// What the configuration allows.
#[derive(Debug, Default)]
pub struct Policy {
    read_only: bool,
    safe_mode: bool,
    confirm: Confirm,
    denied: Denied,
    /// Whether some action that is denied only reads: then what a document selects cannot be let through.
    denies_reads: bool,
    part: Option<Part>,
    allowed: Vec<PathPattern>,
    written: Vec<Written>,
    scopes: OnceLock<Scopes>,
}

/// What the caller said about one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Consent {
    pub confirm: bool,
    pub dry_run: bool,
}

/// What happens to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Allow,
    /// Show the request; send nothing.
    Preview(Rule),
    /// Ask first.
    Confirm(Rule),
    Deny(Rule),
}

impl Decision {
    /// As an audit line says it.
    pub fn name(&self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Preview(_) => "preview",
            Decision::Confirm(_) => "confirm",
            Decision::Deny(_) => "deny",
        }
    }
}

impl Policy {
    /// The policy of these settings.
    ///
    /// # Errors
    /// A pattern, a path, an expression or a file that says nothing that could be meant.
    pub fn new(settings: Settings, catalog: &Catalog) -> Result<Policy, PolicyError> {
        let text = settings.file.as_deref().unwrap_or_default();
        let mut document = Document::read(text, "GITLAB_POLICY")?;
        let in_file = std::mem::take(&mut document.denied_actions);
        let patterns = [(denied::ACTIONS, settings.denied_actions), ("GITLAB_POLICY", in_file)];
        let denied =
            Denied::read(&patterns, settings.denied_tools.as_deref(), settings.family_tool, catalog)?;
        let mut denies_reads = false;
        for id in denied.ids() {
            denies_reads |= catalog.get(id)?.is_some_and(|action| action.risk == Risk::Read);
        }
        let mut allowed = written::patterns(&settings.allowed_paths, "GITLAB_ALLOWED_PATHS")?;
        allowed.extend(written::patterns(&document.allowed_paths, "GITLAB_POLICY")?);
        Ok(Policy {
            read_only: settings.read_only || document.read_only,
            safe_mode: settings.safe_mode || document.safe_mode,
            confirm: settings.confirm,
            denied,
            denies_reads,
            part: Part::read(&settings.toolsets, &settings.domains, catalog)?,
            allowed,
            written: document.rules(catalog)?,
            scopes: OnceLock::new(),
        })
    }

    /// Decides on a call, by the strictest of what it touches.
    pub fn decide(&self, call: &Call, consent: Consent) -> Decision {
        if let Some(rule) = self.bar(call) {
            return Decision::Deny(rule);
        }
        if consent.dry_run {
            return Decision::Preview(Rule::DryRun);
        }
        if self.safe_mode && changes(call) {
            return Decision::Preview(Rule::SafeMode);
        }
        let destroys = call.risk() == Risk::Destructive;
        match self.written.iter().find(|written| written.is_about(call)) {
            Some(Written { verdict: Verdict::Preview, rule, .. }) => Decision::Preview(rule.clone()),
            Some(Written { verdict: Verdict::Confirm, rule, .. }) if !consent.confirm => {
                Decision::Confirm(rule.clone())
            }
            Some(Written { verdict: Verdict::Allow, .. }) => Decision::Allow,
            _ if destroys && !consent.confirm && self.confirm != Confirm::Never => {
                Decision::Confirm(Rule::Risk(Risk::Destructive))
            }
            _ => Decision::Allow,
        }
    }

    /// The rule that keeps a call from running, whatever is said about it.
    fn bar(&self, call: &Call) -> Option<Rule> {
        if self.read_only && changes(call) {
            return Some(Rule::ReadOnly);
        }
        self.denied(call)
            .or_else(|| self.outside(call))
            .or_else(|| {
                let first = self.written.iter().find(|written| written.is_about(call))?;
                (first.verdict == Verdict::Deny).then(|| first.rule.clone())
            })
            .or_else(|| self.scopes.get()?.bar(call))
    }

    fn denied(&self, call: &Call) -> Option<Rule> {
        if self.denied.is_empty() {
            return None;
        }
        let ids = call.touches().iter().flat_map(|touched| &touched.ids);
        let ids = ids.map(String::as_str).chain([call.action()]).chain(call.plan());
        let named = ids.into_iter().find_map(|id| self.denied.rule(id));
        let untold = call.touches().iter().any(|touched| touched.ids.is_empty());
        let selects = self.denies_reads && call.is_document();
        named.cloned().or_else(|| (untold || selects).then_some(Rule::Untold))
    }

    fn outside(&self, call: &Call) -> Option<Rule> {
        if self.allowed.is_empty() || !changes(call) {
            return None;
        }
        let is_within = |place: &Place| {
            place.path.as_ref().is_some_and(|path| self.allowed.iter().any(|pattern| pattern.covers(path)))
        };
        let allowed = || self.allowed.iter().map(|pattern| pattern.text().to_owned()).collect();
        match call.places().iter().find(|place| !is_within(place)) {
            Some(place) => {
                let place = Some((place.param.clone(), place.path.clone()));
                Some(Rule::Outside { place, allowed: allowed() })
            }
            None if call.places().is_empty() => Some(Rule::Outside { place: None, allowed: allowed() }),
            None => None,
        }
    }

    /// The rule that keeps an action from ever running here, so that the finder does not offer it.
    pub fn withholds(&self, action: &Action) -> Option<Rule> {
        if let Some(rule) = self.part.as_ref().and_then(|part| part.leaves_out(action)) {
            return Some(rule.clone());
        }
        let ids = [Some(&action.id), action.twin.as_ref()];
        let direct = action.direct();
        if self.read_only && self.risk(action) != Risk::Read {
            return Some(Rule::ReadOnly);
        }
        if let Some(rule) = ids.into_iter().flatten().find_map(|id| self.denied.rule(id)) {
            return Some(rule.clone());
        }
        if self.denies_reads && direct == Some(Interface::Graphql) {
            return Some(Rule::Untold);
        }
        if !self.allowed.is_empty()
            && self.risk(action) != Risk::Read
            && direct.is_none()
            && action.plan.is_none()
            && !call::can_be_placed(action)
        {
            let allowed = self.allowed.iter().map(|pattern| pattern.text().to_owned()).collect();
            return Some(Rule::Outside { place: None, allowed });
        }
        let barred =
            self.written.iter().find(|written| written.bars(action)).map(|written| written.rule.clone());
        barred.or_else(|| self.scopes.get()?.bar_action(action))
    }

    /// Whether GraphQL may be asked for other fields than an action's own: what is denied could be among them.
    pub fn selects(&self) -> bool {
        !self.denies_reads
    }

    /// Whether a tool of that name is offered at all.
    pub fn offers_tool(&self, name: &str) -> bool {
        !self.denied.drops(name)
    }

    /// The most that an action can do here. What calls an interface directly, or any action of the catalog, is
    /// decided on call by call, and reads where only reads run.
    pub fn risk(&self, action: &Action) -> Risk {
        if self.read_only && action.is_open() { Risk::Read } else { action.risk }
    }

    /// Whether only reads run.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// How what destroys something is agreed to.
    pub fn confirm(&self) -> Confirm {
        self.confirm
    }

    /// Whether what destroys something is asked about at all.
    pub fn asks(&self) -> bool {
        self.confirm != Confirm::Never
    }

    /// Takes note of what the token may do; the first note stays.
    pub fn learn(&self, scopes: Scopes) {
        // Another caller may have been first, with the same.
        let _ = self.scopes.set(scopes);
    }
}

/// A read by its risk is a read, though it may be a POST (`ci_lint.check`); but nothing that HTTP calls a
/// deletion is ever taken for one.
fn changes(call: &Call) -> bool {
    call.risk() != Risk::Read || call.method() == Method::Delete
}
