//! Loads `catalog/rules.toml` and applies its rules to the actions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gitlab_mcp::catalog::{
    Action, ChangeWords, ExampleWords, ListWords, Method, Names, Piece, QuickAction, ReadableTable, Risk,
    SecretNameRules, Version, pieces,
};
use serde::Deserialize;

use crate::action_ids::Ids;
use crate::answers::{self, JoinRule, RowFilterRule, StateRule};
use crate::duplicate_risk::{share_raises, share_risks};
use crate::error::GeneratorError;
use crate::own_params::{
    self, EditRules, KeptRule, LabelRules, ListRule, MarkRule, PinRule, PresumedRule, WaitRules,
};
use crate::place_rules::PlaceRules;
use crate::risk_rules::{RiskRules, set_effects};
use crate::rule_params::{ListedParams, matches, walk};

/// Contents of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    #[serde(default)]
    effects: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    risk: RiskRules,
    /// Deprecated actions that GitLab's files do not mark or replace, with the action to use; empty if there is none.
    #[serde(default)]
    deprecated: BTreeMap<String, String>,
    /// The oldest version that `since` distinguishes: at run time each mark may cost a request for the version.
    #[serde(default)]
    oldest: Version,
    /// Actions for functions that GitLab has removed.
    #[serde(default)]
    gone: Vec<String>,
    /// Widgets of work items whose use is no effect of its own.
    #[serde(default)]
    plain_widgets: Vec<ListedParams>,
    /// Actions that take a query of the caller.
    #[serde(default)]
    query_actions: Vec<String>,
    #[serde(default)]
    places: PlaceRules,
    #[serde(default)]
    quick_actions: QuickActionRules,
    #[serde(default)]
    readable: ReadableTable,
    /// Used at run time only.
    #[serde(default, rename = "examples")]
    _examples: ExampleWords,
    #[serde(default)]
    changes: ChangeWords,
    #[serde(default)]
    lists: ListWords,
    /// Used at run time only.
    #[serde(default, rename = "secrets")]
    _secrets: SecretNameRules,
    #[serde(default)]
    states: Vec<StateRule>,
    #[serde(default)]
    joins: Vec<JoinRule>,
    #[serde(default)]
    row_filters: Vec<RowFilterRule>,
    #[serde(default)]
    edits: EditRules,
    #[serde(default)]
    waits: WaitRules,
    #[serde(default)]
    label_names: LabelRules,
    #[serde(default)]
    text_marks: Vec<MarkRule>,
    #[serde(default)]
    kept_values: Vec<KeptRule>,
    #[serde(default)]
    list_changes: Vec<ListRule>,
    #[serde(default)]
    presumed: Vec<PresumedRule>,
    #[serde(default)]
    pins: Vec<PinRule>,
    #[serde(default)]
    naming: NamingRules,
    #[serde(default)]
    references: ReferenceRules,
    #[serde(default)]
    graphql: GraphqlRules,
}

/// The rules that actions are built with: their names, their references, and GraphQL's operations.
#[derive(Debug, Default)]
pub struct BuildRules {
    pub naming: NamingRules,
    pub references: ReferenceRules,
    pub graphql: GraphqlRules,
}

/// Rules for building ids from paths and fields.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamingRules {
    singular_words: Vec<String>,
    destructive_verbs: Vec<String>,
    pub mutation_verbs: Vec<String>,
    pub canonical_verbs: BTreeMap<String, String>,
    /// First words of a read; another word gets `get_` before it.
    pub reading_verbs: Vec<String>,
    #[serde(default)]
    globs: Vec<GlobRule>,
}

/// Placeholders that take several segments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GlobRule {
    after: String,
    /// Only operations of this method.
    method: Option<Method>,
    names: Vec<String>,
}

impl NamingRules {
    /// True if the words are a plural.
    pub fn is_plural(&self, words: &str) -> bool {
        words.ends_with('s') && !self.singular_words.iter().any(|one| words.ends_with(one))
    }

    /// The path with its globs written as such: `*name`.
    pub fn with_globs(&self, method: Method, path: &str) -> String {
        let mut path = path.to_owned();
        for rule in self.globs.iter().filter(|rule| rule.method.is_none_or(|only| only == method)) {
            let Some(at) = path.find(&rule.after).map(|at| at + rule.after.len() - 1) else { continue };
            let (before, rest) = path.split_at(at);
            let is_glob = |name: &str| rule.names.iter().any(|glob| glob == name);
            let rest: String = pieces(rest)
                .map(|piece| match piece {
                    Piece::Placeholder { name, glob } if glob || is_glob(name) => format!("*{name}"),
                    Piece::Placeholder { name, .. } => format!(":{name}"),
                    Piece::Text(text) => text.to_owned(),
                })
                .collect();
            path = format!("{before}{rest}");
        }
        path
    }

    /// True if the words begin with a verb of reading.
    pub fn begins_with_verb(&self, words: &str) -> bool {
        self.reading_verbs.iter().any(|verb| words.split('_').next() == Some(verb))
    }

    /// True if the word is a destructive verb.
    pub fn is_destructive(&self, verb: &str) -> bool {
        self.destructive_verbs.iter().any(|known| known == verb)
    }

    /// The catalog's verb for a mutation's verb.
    pub fn canonical(&self, verb: &str) -> String {
        self.canonical_verbs.get(verb).map_or(verb, String::as_str).to_owned()
    }
}

/// Rules for parameters that accept a name or path instead of an id.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceRules {
    /// Parameters that accept the number of a role, in snake_case; they accept its name too.
    #[serde(default)]
    pub roles: Vec<String>,
    pub foreign_domains: Vec<String>,
    pub params: Vec<ReferenceRule>,
    pub global_ids: BTreeMap<String, Names>,
}

/// Reference kind of a parameter, in the domains given or in all.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceRule {
    param: String,
    #[serde(default)]
    domains: Vec<String>,
    pub names: Names,
}

impl ReferenceRule {
    /// True if the rule applies to a parameter name in a domain. A domain may end with `*`, for any text.
    pub fn fits(&self, param: &str, domain: &str) -> bool {
        let is_domain = |one: &String| match one.strip_suffix('*') {
            Some(start) => domain.starts_with(start),
            None => one == domain,
        };
        self.param == param && (self.domains.is_empty() || self.domains.iter().any(is_domain))
    }
}

/// Rules for GraphQL operations and selections.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphqlRules {
    pub roots: Vec<GraphqlRoot>,
    /// Deprecated fields that stay, as `Type.field`: operations of an object, and arguments of an input.
    #[serde(default)]
    pub deprecated_fields: Vec<String>,
    /// Arguments that were experiments in an older version, whose schema does not list those: `reviewState` of any
    /// operation, or `mutation tagUpdate pattern`.
    #[serde(default)]
    pub former_experiments: Vec<String>,
    pub name_fields: Vec<String>,
    pub short_connections: Vec<String>,
    pub first_objects: Vec<String>,
    pub left_out_endings: Vec<String>,
    pub kept_leaves: Vec<String>,
    pub left_out_objects: Vec<String>,
}

/// A path below which fields are operations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphqlRoot {
    pub path: String,
    #[serde(rename = "type")]
    pub owner: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct QuickActionRules {
    #[serde(default)]
    texts: Vec<String>,
    #[serde(default)]
    not_texts: Vec<ListedParams>,
    #[serde(default)]
    commands: BTreeMap<String, QuickAction>,
}

/// Loads a file of TOML.
pub fn load<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, GeneratorError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|source| GeneratorError::Read { path: name.clone(), source })?;
    toml::from_str(&text).map_err(|e| GeneratorError::Malformed { path: name, reason: e.to_string() })
}

impl Rules {
    /// The part that is needed to build actions.
    pub fn into_build(self) -> BuildRules {
        BuildRules { naming: self.naming, references: self.references, graphql: self.graphql }
    }

    /// Applies the rules to the actions. A row that matches no action or parameter, or that changes nothing, is a
    /// fault.
    pub fn apply(&self, actions: &mut [Action]) -> Result<(), GeneratorError> {
        let mut faults = Vec::new();
        self.risk.set_risks(actions, &mut faults);
        share_risks(actions);
        self.set_deprecated(actions, &mut faults);
        self.risk.set_raises(actions, &mut faults);
        share_raises(actions);
        // A row of either comes before what holds for a setting without one.
        self.risk.set_settings(actions, &mut faults);
        share_raises(actions);
        set_effects(&self.effects, actions, &mut faults);
        for listed in &self.plain_widgets {
            listed.check("plain_widgets", actions, &mut faults);
        }
        self.places.set_landings(actions, &mut faults);
        self.set_scanned(actions, &mut faults);
        self.places.set_locates(actions, &mut faults);
        answers::set_states(&self.states, actions, &mut faults);
        answers::set_joins(&self.joins, actions, &mut faults);
        answers::set_row_filters(&self.row_filters, actions, &mut faults);
        own_params::set_edits(&self.edits, actions, &mut faults);
        own_params::set_waits(&self.waits, actions, &mut faults);
        own_params::set_label_names(&self.label_names, actions, &mut faults);
        own_params::set_text_marks(&self.text_marks, actions, &mut faults);
        own_params::set_kept_values(&self.kept_values, actions, &mut faults);
        own_params::set_list_changes(&self.list_changes, actions, &mut faults);
        own_params::set_presumed(&self.presumed, actions, &mut faults);
        own_params::set_pins(&self.pins, actions, &mut faults);
        let ids = Ids::new(actions);
        for id in self.changes.receipts.iter().flat_map(|receipt| &receipt.actions) {
            ids.expand(id, "changes.receipts", &mut faults);
        }
        for background in &self.changes.background {
            for id in background.actions.iter().chain([&background.read]) {
                ids.expand(id, "changes.background", &mut faults);
            }
        }
        for id in self.changes.done.iter().flat_map(|done| &done.actions) {
            ids.expand(id, "changes.done", &mut faults);
        }
        for partial in &self.changes.partial {
            for id in partial.actions.iter().chain([&partial.read]) {
                ids.expand(id, "changes.partial", &mut faults);
            }
        }
        let trials = self.changes.trials.iter().flat_map(|trial| trial.actions.iter().chain([&trial.read]));
        let rows = self.changes.rows.iter().flat_map(|row| [&row.action, &row.read]);
        let members = &self.changes.members;
        let members =
            members.on_direct.iter().chain([&members.direct, &members.all, &members.get, &members.get_any]);
        // Rules without these lists have no ids.
        let members = members.filter(|id| !id.is_empty());
        let moved = self.changes.moved.iter().flat_map(|moved| &moved.actions);
        let refusals =
            self.changes.refusals.iter().flat_map(|refusal| refusal.actions.iter().chain(&refusal.instead));
        for id in trials.chain(rows).chain(members).chain(moved).chain(refusals) {
            ids.expand(id, "changes", &mut faults);
        }
        for (command, quick) in &self.quick_actions.commands {
            for id in &quick.actions {
                ids.expand(id, &format!("quick_actions.commands.{command}"), &mut faults);
            }
        }
        for id in &self.query_actions {
            ids.expand(id, "query_actions", &mut faults);
        }
        for id in self.readable.open.iter().chain(self.readable.rows.keys()) {
            ids.expand(id, "readable", &mut faults);
        }
        self.check_lists(actions, &mut faults);
        if faults.is_empty() { Ok(()) } else { Err(GeneratorError::Faults(faults)) }
    }

    /// Refuses words on lists that no read has a parameter for.
    fn check_lists(&self, actions: &[Action], faults: &mut Vec<String>) {
        let reads = actions.iter().filter(|action| action.risk == Risk::Read);
        let params: BTreeSet<&str> =
            reads.flat_map(|action| &action.params).map(|param| param.name.as_str()).collect();
        let ListWords { unfiltered, graphql_cursors, wide, narrowest } = &self.lists;
        for word in [unfiltered, graphql_cursors, wide, narrowest].into_iter().flatten() {
            let is_known = match word.strip_suffix('*') {
                Some(start) => params.iter().any(|param| param.starts_with(start)),
                None => params.contains(word.as_str()),
            };
            if !is_known {
                faults.push(format!("lists: no read has the parameter {word}"));
            }
        }
    }

    /// Marks actions that GitLab's files or the rules deprecate.
    fn set_deprecated(&self, actions: &mut [Action], faults: &mut Vec<String>) {
        let known: BTreeSet<String> = actions.iter().map(|action| action.id.clone()).collect();
        for (id, other) in &self.deprecated {
            let unknown = [id, other].into_iter().filter(|id| !id.is_empty() && !known.contains(*id));
            faults.extend(unknown.map(|id| format!("deprecated: there is no action {id}")));
        }
        let unknown = self.gone.iter().filter(|id| !known.contains(*id));
        faults.extend(unknown.map(|id| format!("gone: there is no action {id}")));
        for action in actions.iter_mut() {
            forget_old_versions(action, self.oldest);
        }
        for action in actions {
            let by_rule = self.deprecated.get(&action.id);
            let by_files = action.choices().next().is_some() && action.choices().all(|o| o.deprecated);
            action.deprecated = by_rule.is_some() || by_files;
            action.replaced_by = by_rule.filter(|other| !other.is_empty()).cloned();
            action.gone = self.gone.contains(&action.id);
        }
    }

    fn set_scanned(&self, actions: &mut [Action], faults: &mut Vec<String>) {
        let ids = Ids::new(actions);
        for text in &self.quick_actions.texts {
            let row = format!("quick_actions.texts {text}");
            for (action, param) in matches(text, &row, &ids, actions, faults) {
                let Some(action) = actions.get_mut(action) else { continue };
                if action.risk == Risk::Read || action.plan.is_some() {
                    continue;
                }
                if !action.scanned.contains(&param) {
                    action.scanned.push(param);
                }
            }
        }
        for listed in &self.quick_actions.not_texts {
            listed.check("quick_actions.not_texts", actions, faults);
        }
    }
}

/// Removes the marks of operations that the oldest version has too.
fn forget_old_versions(action: &mut Action, oldest: Version) {
    for operation in &mut action.operations {
        operation.since = operation.since.filter(|since| *since > oldest);
    }
    walk(&mut action.params, "", &mut |_, param| {
        param.since = param.since.filter(|since| *since > oldest);
        param.choices_since.retain(|_, since| *since > oldest);
    });
}
