//! Policy: decides whether a call may run, from its effects, before anything is sent. A decision contains the rule that
//! made it.
//!
//! Rules apply to effects: to every operation that a call may execute, to actions with the same effect, and to every
//! project, group and namespace that it affects. Denials precede previews, and previews precede confirmation; no later
//! rule overrides an earlier one. Only this module creates a [`Permit`], and the client sends nothing else.

mod allowed;
mod confirm;
mod denied_actions;
mod error;
mod file;
mod path_pattern;
mod permit;
mod readable;
mod restriction_words;
mod rule;
mod settings;
#[cfg(test)]
mod tests;
mod token_scopes;
mod toolset_filter;
mod wildcard;

use std::collections::BTreeSet;
use std::sync::OnceLock;

pub use confirm::{Confirm, ConfirmBy, Consents};
pub use error::PolicyError;
pub use path_pattern::PathPattern;
pub use permit::Permit;
pub use restriction_words::{contains_restriction, is_restriction_alone, reads_like_restriction};
pub use rule::Rule;
pub use settings::{PolicySettings, ToolNames};
pub use token_scopes::Scopes;

use crate::call::{Call, Effects};
use crate::catalog::{Action, Catalog, Risk};
use allowed::Allowed;
use denied_actions::Denied;
use file::{CompiledRule, Document, Verdict};
use readable::Readable;
use toolset_filter::ToolsetFilter;

/// The setting by which only reads run, unless the settings name another.
const READ_ONLY: &str = "GITLAB_READ_ONLY";

/// A policy compiled from the configuration.
#[derive(Debug, Default)]
pub struct Policy {
    /// The rule that denies every change.
    read_only: Option<Rule>,
    safe_mode: bool,
    confirm: Confirm,
    denied: Denied,
    /// True if a denied action only reads. Queries of the caller are then refused, since they could select it.
    denies_reads: bool,
    /// Actions that are queries of the caller: GitLab alone knows what they read.
    query_actions: BTreeSet<String>,
    /// An action is offered if every filter offers it.
    toolset_filters: Vec<ToolsetFilter>,
    allowed: Option<Allowed>,
    readable: Option<Readable>,
    written: Vec<CompiledRule>,
    scopes: OnceLock<Scopes>,
}

/// The caller's options for one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Consent {
    pub confirm: bool,
    pub dry_run: bool,
}

/// Ruling on a call, by its effects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    Allow,
    /// Shows the request without sending it.
    Preview(Rule),
    /// Asks for confirmation first.
    Confirm(Rule),
    Deny(Rule),
}

/// A ruling other than [`Ruling::Allow`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    Preview(Rule),
    Confirm(Rule),
    Deny(Rule),
}

impl Ruling {
    /// Name in the audit log.
    pub fn name(&self) -> &'static str {
        match self {
            Ruling::Allow => "allow",
            Ruling::Preview(_) => "preview",
            Ruling::Confirm(_) => "confirm",
            Ruling::Deny(_) => "deny",
        }
    }
}

impl Policy {
    /// Compiles a policy.
    ///
    /// # Errors
    /// An invalid pattern, path, expression or policy file.
    pub fn new(settings: PolicySettings, catalog: &Catalog) -> Result<Policy, PolicyError> {
        let text = settings.file.as_deref().unwrap_or_default();
        let mut document = Document::parse(text, "GITLAB_POLICY")?;
        let in_file = std::mem::take(&mut document.denied_actions);
        let patterns = [(denied_actions::ACTIONS, settings.denied_actions), ("GITLAB_POLICY", in_file)];
        let mut denied = Denied::parse(&patterns, catalog)?;
        if let Some(expression) = &settings.denied_tools {
            denied.add_tools(expression, settings.tool_names, catalog)?;
        }
        let mut denies_reads = false;
        for id in denied.ids() {
            denies_reads |= catalog.get(id)?.is_some_and(|action| action.risk == Risk::Read);
        }
        let mut allowed = file::patterns(&settings.allowed_paths, "GITLAB_ALLOWED_PATHS")?;
        allowed.extend(file::patterns(&document.allowed_paths, "GITLAB_POLICY")?);
        let mut readable = file::patterns(&settings.readable_paths, "GITLAB_READABLE_PATHS")?;
        readable.extend(file::patterns(&document.readable_paths, "GITLAB_POLICY")?);
        Ok(Policy {
            read_only: match (settings.read_only || document.read_only, settings.reads_by_tool) {
                (true, _) => Some(Rule::ReadOnly {
                    setting: settings.read_only_setting.unwrap_or_else(|| READ_ONLY.to_owned()),
                }),
                (false, true) => Some(Rule::ReadTool),
                (false, false) => None,
            },
            safe_mode: settings.safe_mode || document.safe_mode,
            confirm: settings.confirm,
            denied,
            denies_reads,
            query_actions: catalog.words()?.query_actions.iter().cloned().collect(),
            toolset_filters: [
                ToolsetFilter::parse(&settings.toolsets, &settings.domains, catalog)?,
                ToolsetFilter::of_caller(&settings.narrowed_toolsets, catalog)?,
            ]
            .into_iter()
            .flatten()
            .collect(),
            allowed: Allowed::new(allowed),
            readable: Readable::new(readable, catalog)?,
            written: document.rules(catalog)?,
            scopes: OnceLock::new(),
        })
    }

    /// Decides on a call by its effects.
    pub fn decide(&self, effects: &Effects, consent: Consent) -> Ruling {
        if let Some(rule) = self.denial(effects) {
            return Ruling::Deny(rule);
        }
        if consent.dry_run {
            return Ruling::Preview(Rule::DryRun);
        }
        if self.safe_mode && effects.is_change() {
            return Ruling::Preview(Rule::SafeMode);
        }
        let risk = effects.risk();
        match self.written_rule(effects) {
            Some(CompiledRule { verdict: Verdict::Preview, rule, .. }) => Ruling::Preview(rule.clone()),
            Some(CompiledRule { verdict: Verdict::Confirm, rule, .. }) if !consent.confirm => {
                Ruling::Confirm(rule.clone())
            }
            Some(CompiledRule { verdict: Verdict::Allow, .. }) => Ruling::Allow,
            _ if self.confirm.asks_about(risk) && !consent.confirm => Ruling::Confirm(Rule::Risk(risk)),
            _ => Ruling::Allow,
        }
    }

    /// The permit of a call, or what stands against it.
    pub fn permit(&self, call: Call, consent: Consent) -> Result<Permit, Obstacle> {
        match self.decide(call.effects(), consent) {
            Ruling::Allow => Ok(Permit::new(call, self.fences_reads())),
            Ruling::Preview(rule) => Err(Obstacle::Preview(rule)),
            Ruling::Confirm(rule) => Err(Obstacle::Confirm(rule)),
            Ruling::Deny(rule) => Err(Obstacle::Deny(rule)),
        }
    }

    /// The permit of a read that the server makes itself: a look-up, a diagnosis, a token check. The same rules apply
    /// as to a caller's reads, but confirmation is impossible.
    pub fn permit_own_read(&self, call: Call) -> Result<Permit, Rule> {
        match self.decide(call.effects(), Consent::default()) {
            _ if call.effects().is_change() => Err(Rule::NotARead),
            Ruling::Allow => Ok(Permit::new(call, self.fences_reads())),
            Ruling::Deny(rule) | Ruling::Preview(rule) | Ruling::Confirm(rule) => Err(rule),
        }
    }

    /// The permit of the read that resolves an id to a path. Path rules do not apply, as they need its result. Its
    /// response is shown to no one.
    pub fn permit_locating_read(&self, call: Call) -> Result<Permit, Rule> {
        let effects = call.effects();
        if effects.is_change() {
            return Err(Rule::NotARead);
        }
        let by_scope = || self.scopes.get()?.deny(effects);
        match self.denied(effects).or_else(by_scope) {
            Some(rule) => Err(rule),
            None => Ok(Permit::new(call, true)),
        }
    }

    /// True if a rule has paths, so that ids have to be resolved to paths.
    pub fn has_path_rules(&self) -> bool {
        self.allowed.is_some() || self.readable.is_some() || self.written.iter().any(CompiledRule::has_paths)
    }

    /// True if path rules apply to reads.
    pub fn fences_reads(&self) -> bool {
        self.readable.is_some() || self.written.iter().any(CompiledRule::has_paths)
    }

    /// The filter of list rows, if reads are restricted to some paths.
    pub fn readable(&self) -> Option<&Readable> {
        self.readable.as_ref()
    }

    /// The rule that denies a call, whatever consent its caller gave.
    pub fn denial(&self, effects: &Effects) -> Option<Rule> {
        let read_only = self.read_only.as_ref().filter(|_| effects.is_change());
        read_only
            .cloned()
            .or_else(|| self.denied(effects))
            .or_else(|| self.allowed.as_ref()?.deny(effects))
            .or_else(|| self.readable.as_ref()?.deny(effects))
            .or_else(|| {
                let decisive = self.written_rule(effects)?;
                (decisive.verdict == Verdict::Deny).then(|| decisive.rule.clone())
            })
            .or_else(|| self.scopes.get()?.deny(effects))
    }

    /// The rule of the file that decides: the first that applies. What a query selects beside the operations that are
    /// known of it has a first rule too, and the stricter of the two decides.
    fn written_rule(&self, effects: &Effects) -> Option<&CompiledRule> {
        let known = self.written.iter().find(|written| written.applies_to(effects));
        let selected = self.rule_on_unknown_reads().filter(|_| self.is_query(effects));
        selected.into_iter().chain(known).max_by_key(|written| written.verdict)
    }

    fn rule_on_unknown_reads(&self) -> Option<&CompiledRule> {
        self.written.iter().find(|written| written.applies_to_unknown_reads())
    }

    /// True for a GraphQL document of the caller, and for a call of an action that takes such a query.
    fn is_query(&self, effects: &Effects) -> bool {
        let mut ids = effects.touches().iter().flat_map(|touched| &touched.ids);
        effects.is_document() || ids.any(|id| self.query_actions.contains(id))
    }

    fn denied(&self, effects: &Effects) -> Option<Rule> {
        if self.denied.is_empty() {
            return None;
        }
        let ids = effects.touches().iter().flat_map(|touched| touched.all_ids());
        let mut ids = ids.chain([effects.action()]).chain(effects.plan());
        let named = ids.find_map(|id| self.denied.rule(id));
        let is_unknown = effects.touches().iter().any(|touched| touched.ids.is_empty());
        let selects = self.denies_reads && self.is_query(effects);
        named.cloned().or_else(|| (is_unknown || selects).then_some(Rule::MayBeDenied))
    }

    /// The settings of toolsets and domains, as written.
    pub fn toolset_settings(&self) -> Vec<&str> {
        self.toolset_filters.iter().flat_map(|filter| filter.settings()).collect()
    }

    /// True unless the toolsets and domains leave out an action that is no duplicate.
    pub fn is_in_toolsets(&self, id: &str) -> bool {
        self.toolset_filters.iter().all(|filter| filter.offers(id))
    }

    /// The rule that denies every call of an action, so that the finder does not offer it.
    pub fn withholds(&self, action: &Action) -> Option<Rule> {
        let changes = self.risk(action) != Risk::Read;
        let mut ids = [&action.id].into_iter().chain(&action.twin).chain(&action.effects);
        let mut own_ids = [&action.id].into_iter().chain(&action.twin);
        let is_query = own_ids.any(|id| self.query_actions.contains(id));
        let denies_query = |written: &&CompiledRule| is_query && written.verdict == Verdict::Deny;
        let not_offered = self.toolset_filters.iter().find_map(|filter| filter.deny(action));
        not_offered
            .or_else(|| self.read_only.as_ref().filter(|_| changes))
            .or_else(|| ids.find_map(|id| self.denied.rule(id)))
            .cloned()
            .or_else(|| (self.denies_reads && is_query).then_some(Rule::MayBeDenied))
            .or_else(|| self.allowed.as_ref().filter(|_| changes)?.withholds(action))
            .or_else(|| self.readable.as_ref()?.withholds(action))
            .or_else(|| {
                let barred = self.written.iter().find(|written| written.denies_action(action));
                let barred = barred.or_else(|| self.rule_on_unknown_reads().filter(denies_query))?;
                Some(barred.rule.clone())
            })
            .or_else(|| self.scopes.get()?.deny_action(action))
    }

    /// True if GraphQL calls may select fields other than an action's own. Where a rule applies to reads, such a
    /// selection could include one of them.
    pub fn selects(&self) -> bool {
        let restricts = |written: &CompiledRule| written.verdict != Verdict::Allow;
        !self.denies_reads && !self.fences_reads() && !self.rule_on_unknown_reads().is_some_and(restricts)
    }

    /// True if the tool is offered.
    pub fn offers_tool(&self, name: &str) -> bool {
        !self.denied.removes_tool(name)
    }

    /// Maximum risk of an action under this policy. Direct calls and plans of any actions are decided on call by call;
    /// in read-only mode they only read.
    pub fn risk(&self, action: &Action) -> Risk {
        if self.read_only.is_some() && action.is_open() { Risk::Read } else { action.risk }
    }

    /// True if only reads run.
    pub fn is_read_only(&self) -> bool {
        self.read_only.is_some()
    }

    /// The setting by which only reads run.
    pub fn read_only_setting(&self) -> Option<&str> {
        match &self.read_only {
            Some(Rule::ReadOnly { setting }) => Some(setting),
            _ => None,
        }
    }

    /// The calls that need confirmation, and how consent is given.
    pub fn confirm(&self) -> Confirm {
        self.confirm
    }

    /// Stores the token's scopes; only the first call has an effect.
    pub fn learn(&self, scopes: Scopes) {
        // A concurrent caller may have stored the same scopes.
        let _ = self.scopes.set(scopes);
    }
}
