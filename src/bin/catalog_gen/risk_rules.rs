//! Rules for the risk and the effects of actions: `[risk]` and `[effects]` of `catalog/rules.toml`.

use std::collections::{BTreeMap, BTreeSet};

use gitlab_mcp::catalog::{Action, Base, Json, Param, Place, Raise, Risk, When};
use serde::Deserialize;

use crate::action_ids::{Ids, fits};
use crate::rule_params::{ListedParams, dotted_paths, find_param, no_param};

/// Risks of actions that the rules by method and verb get wrong, and parameters that raise the risk of a call.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RiskRules {
    read: Vec<String>,
    write: Vec<String>,
    grant: Vec<String>,
    destructive: Vec<String>,
    raise: Vec<RaiseRule>,
    settings: Vec<SettingsRule>,
    /// Addresses that GitLab neither calls nor sends data to.
    shown_addresses: Vec<ListedParams>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RaiseRule {
    action: String,
    param: String,
    any_of: Option<Vec<Json>>,
    at_least: Option<i64>,
    is: Option<Json>,
    given: Option<bool>,
    /// `None` if it only adds effects.
    risk: Option<Risk>,
    #[serde(default)]
    effects: Vec<String>,
}

/// Actions that change settings: a parameter that is not in `harmless`, and by which no row raises, is a grant.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsRule {
    action: String,
    #[serde(default)]
    harmless: Vec<String>,
}

impl RiskRules {
    /// Sets the risk of each action that a row names.
    pub fn set_risks(&self, actions: &mut [Action], faults: &mut Vec<String>) {
        let ids = Ids::new(actions);
        let tables = [
            (Risk::Read, &self.read),
            (Risk::Write, &self.write),
            (Risk::Grant, &self.grant),
            (Risk::Destructive, &self.destructive),
        ];
        for (risk, patterns) in tables {
            for pattern in patterns {
                let named = ids.expand(pattern, &format!("risk.{}", risk.name()), faults);
                let mut changed = false;
                for action in actions.iter_mut().filter(|action| named.contains(&action.id)) {
                    let applies = match risk {
                        Risk::Read => action.risk > risk,
                        Risk::Write => action.risk != risk,
                        // A pattern of whole domains does not apply to their reads.
                        Risk::Grant if pattern.ends_with('*') => action.risk == Risk::Write,
                        Risk::Grant => action.risk < risk,
                        Risk::Destructive => action.risk < risk && action.risk != Risk::Read,
                    };
                    if applies {
                        action.risk = risk;
                        changed = true;
                    }
                }
                if !changed && !named.is_empty() {
                    faults.push(format!("risk.{}: {pattern} changes no risk", risk.name()));
                }
            }
        }
    }

    /// Sets the parameters that raise the risk of a call.
    pub fn set_raises(&self, actions: &mut [Action], faults: &mut Vec<String>) {
        let ids = Ids::new(actions);
        for rule in &self.raise {
            let row = format!("risk.raise {} {}", rule.action, rule.param);
            let Some(when) = rule.when() else {
                faults.push(format!("{row}: wants one of any_of, at_least, is, given"));
                continue;
            };
            let effects: Vec<String> =
                rule.effects.iter().flat_map(|effect| ids.expand(effect, &row, faults)).collect();
            let named = ids.expand(&rule.action, &row, faults);
            let raised = ResolvedRaise { rule, row, when, effects };
            let named_actions = actions.iter_mut().filter(|action| named.contains(&action.id));
            let is_used =
                named_actions.fold(named.is_empty(), |used, action| raised.apply(action, faults) || used);
            if !is_used && !named.contains(&rule.action) {
                faults.push(format!("{}: raises the risk of nothing", raised.row));
            }
        }
        for listed in &self.shown_addresses {
            listed.check("risk.shown_addresses", actions, faults);
        }
    }
}

impl RiskRules {
    /// Raises the actions that change settings by what no other row is about.
    pub fn set_settings(&self, actions: &mut [Action], faults: &mut Vec<String>) {
        let ids = Ids::new(actions);
        for rule in &self.settings {
            let named = ids.expand(&rule.action, "risk.settings", faults);
            let open = |action: &&mut Action| named.contains(&action.id) && action.risk == Risk::Write;
            actions.iter_mut().filter(open).for_each(|action| rule.apply(action, faults));
        }
    }
}

impl SettingsRule {
    /// Raises the action by each parameter, or field of one, of which no rule says more.
    fn apply(&self, action: &mut Action, faults: &mut Vec<String>) {
        let row = format!("risk.settings {}", self.action);
        let is_within = |path: &str, outer: &str| path == outer || path.starts_with(&format!("{outer}."));
        let settings = action
            .params
            .iter()
            .filter(|param| !param.required && !matches!(param.place, Place::Path | Place::Selector));
        let settings: Vec<Param> = settings.cloned().collect();
        let paths = dotted_paths(&settings, "");
        let is_outer = |path: &str| paths.iter().any(|other| other != path && is_within(other, path));
        for harmless in &self.harmless {
            let is_known = paths.iter().any(|path| fits(harmless, path));
            if !is_known && !self.action.contains('*') {
                faults.push(format!("{row}: {}", no_param(action, harmless)));
            }
            if action.raises.iter().any(|raise| raise.param == *harmless && raise.risk > action.risk) {
                faults.push(format!("{row}: {harmless} raises the risk in another row"));
            }
        }
        let is_harmless = |path: &str| {
            self.harmless
                .iter()
                .any(|harmless| paths.iter().any(|outer| fits(harmless, outer) && is_within(path, outer)))
        };
        let open = paths.iter().filter(|path| {
            // A row on a text that switches off says nothing of the others, and one of effects nothing of risk. One with a list
            // of texts was made from GitLab's list of all.
            let is_free = find_param(&settings, path)
                .is_some_and(|param| param.kind.base == Base::String && param.choices.is_empty());
            let decides =
                |raise: &Raise| raise.risk > action.risk && (!is_free || !matches!(raise.when, When::Is(_)));
            let is_raised = action.raises.iter().any(|raise| is_within(path, &raise.param) && decides(raise));
            !is_outer(path) && !is_raised && !is_harmless(path)
        });
        let raises: Vec<Raise> = open
            .map(|param| Raise {
                param: param.clone(),
                when: When::Given,
                risk: Risk::Grant,
                effects: Vec::new(),
            })
            .collect();
        if raises.is_empty() {
            faults.push(format!("{row}: {} has no other setting", action.id));
        }
        action.raises.extend(raises);
    }
}

/// A row of a raise with its condition and effects.
struct ResolvedRaise<'a> {
    rule: &'a RaiseRule,
    row: String,
    when: When,
    effects: Vec<String>,
}

impl ResolvedRaise<'_> {
    /// Raises an action by each parameter of the row. False if that changes nothing.
    fn apply(&self, action: &mut Action, faults: &mut Vec<String>) -> bool {
        let ResolvedRaise { rule, row, when, effects } = self;
        let is_exact = action.id == rule.action;
        let depth = |path: &str| path.matches('.').count();
        let mut paths = dotted_paths(&action.params, "");
        paths.retain(|path| depth(path) == depth(&rule.param) && fits(&rule.param, path));
        if paths.is_empty() && is_exact {
            faults.push(format!("{row}: {}", no_param(action, &rule.param)));
        }
        // The parameters of a pattern have different choices.
        let exact = paths.iter().find(|path| **path == rule.param);
        if let Some(param) = exact.and_then(|path| find_param(&action.params, path))
            && let Some(value) = unknown_choice(param, when)
        {
            faults.push(format!("{row}: {value} is none of {}", param.choices.join(", ")));
        }
        // A pattern is not meant for the reads that it fits.
        let is_raised = |risk: &Risk| *risk > action.risk && (is_exact || action.risk != Risk::Read);
        let raised = rule.risk.filter(is_raised);
        if raised.is_none() && (rule.risk.is_some() || effects.is_empty()) {
            if is_exact && !paths.is_empty() {
                faults.push(format!("{row}: the action is {} already", action.risk.name()));
            }
            return false;
        }
        let is_used = !paths.is_empty();
        let risk = raised.unwrap_or(action.risk);
        let raises = paths.into_iter().map(|param| {
            let (when, effects) = (when.clone(), effects.clone());
            Raise { param, when, risk, effects }
        });
        action.raises.extend(raises);
        is_used
    }
}

/// Sets effects: an action has the effects of its row and of the row of the action it duplicates, each with its
/// duplicates, and the effects of its own duplicates.
pub fn set_effects(table: &BTreeMap<String, Vec<String>>, actions: &mut [Action], faults: &mut Vec<String>) {
    let ids = Ids::new(actions);
    let mut rows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (pattern, others) in table {
        let named = ids.expand(pattern, "effects", faults);
        let effects: BTreeSet<String> = others
            .iter()
            .flat_map(|other| ids.expand(other, &format!("effects of {pattern}"), faults))
            .collect();
        if others.contains(pattern) {
            faults.push(format!("effects: {pattern} is an effect of itself"));
        }
        for id in named {
            rows.entry(id).or_default().extend(effects.iter().cloned());
        }
    }
    let twins: Vec<(String, String)> =
        actions.iter().filter_map(|action| Some((action.id.clone(), action.twin.clone()?))).collect();
    let stands_for = |id: &str| twins.iter().find(|(twin, _)| twin == id).map(|(_, stands)| stands.as_str());
    for action in actions.iter_mut() {
        if rows.contains_key(&action.id) && (action.plan.is_some() || action.direct().is_some()) {
            faults.push(format!("effects: {} is decided by the calls that it makes", action.id));
        }
        let stands = stands_for(&action.id).unwrap_or(&action.id).to_owned();
        let mut named: BTreeSet<&str> = BTreeSet::from([stands.as_str()]);
        let rows = [rows.get(&action.id), rows.get(&stands)];
        named.extend(rows.into_iter().flatten().flatten().map(String::as_str));
        let mut effects = named.clone();
        for (twin, of) in &twins {
            // A duplicate with an id of its own (`issue.set_weight`) has only a part of its original's effects.
            let is_whole = twin.starts_with("graphql.");
            if (named.contains(of.as_str()) && is_whole) || *of == action.id {
                effects.insert(twin);
            }
        }
        let whole = named.iter().filter(|id| id.starts_with("graphql."));
        effects.extend(whole.filter_map(|id| stands_for(id)));
        effects.remove(action.id.as_str());
        action.effects = effects.into_iter().map(str::to_owned).collect();
    }
}

impl RaiseRule {
    /// The single condition of the row.
    fn when(&self) -> Option<When> {
        let given = self.given.filter(|given| *given).map(|_| When::Given);
        let conditions = [
            self.any_of.clone().map(When::AnyOf),
            self.at_least.map(When::AtLeast),
            self.is.clone().map(When::Is),
            given,
        ];
        let mut conditions = conditions.into_iter().flatten();
        conditions.next().filter(|_| conditions.next().is_none())
    }
}

/// A value of the condition that the parameter does not accept, if any.
fn unknown_choice(param: &Param, when: &When) -> Option<String> {
    let values = match when {
        When::AnyOf(values) => values.as_slice(),
        When::Is(value) => std::slice::from_ref(value),
        When::AtLeast(_) | When::Given => &[],
    };
    let texts = values.iter().filter_map(|Json(value)| value.as_str());
    texts
        .filter(|_| !param.choices.is_empty())
        .find(|text| !param.choices.iter().any(|choice| choice == text))
        .map(str::to_owned)
}
