//! Loads `catalog/rules.toml` and applies its rules to the actions.

use std::collections::{BTreeMap, BTreeSet};

use gitlab_mcp::catalog::{
    Action, ChangeWords, ExampleWords, Join, KeptValue, ListChange, ListWords, Method, Names, Piece,
    Presumed, QuickAction, ReadableTable, Risk, RowFilter, SecretNameRules, StatePin, Version, pieces,
};
use serde::Deserialize;

use crate::action_ids::Ids;
use crate::answers::StateRule;
use crate::duplicate_risk::{share_raises, share_risks};
use crate::error::GeneratorError;
use crate::own_params::{EditRules, LabelRules, MarkRule, WaitRules};
use crate::place_rules::PlaceRules;
use crate::risk_rules::{RiskRules, set_effects};
use crate::rule_params::{ListedParams, matches, walk};
use crate::rule_target::{Rule, RuleTarget};

/// Contents of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {
    effects: BTreeMap<String, Vec<String>>,
    risk: RiskRules,
    /// Deprecated actions that GitLab's files do not mark or replace, with the action to use; empty if there is none.
    deprecated: BTreeMap<String, String>,
    /// The oldest version that `since` distinguishes: at run time each mark may cost a request for the version.
    oldest: Version,
    /// Actions for functions that GitLab has removed.
    gone: Vec<String>,
    /// Widgets of work items whose use is no effect of its own.
    plain_widgets: Vec<ListedParams>,
    /// Actions that take a query of the caller.
    query_actions: Vec<String>,
    places: PlaceRules,
    quick_actions: QuickActionRules,
    readable: ReadableTable,
    /// Used at run time only.
    #[serde(rename = "examples")]
    _examples: ExampleWords,
    changes: ChangeWords,
    lists: ListWords,
    /// Used at run time only.
    #[serde(rename = "secrets")]
    _secrets: SecretNameRules,
    states: Vec<StateRule>,
    joins: Vec<Rule<Join>>,
    row_filters: Vec<Rule<RowFilter>>,
    edits: EditRules,
    waits: WaitRules,
    label_names: LabelRules,
    text_marks: Vec<MarkRule>,
    kept_values: Vec<Rule<KeptValue>>,
    list_changes: Vec<Rule<ListChange>>,
    presumed: Vec<Rule<Presumed>>,
    pins: Vec<Rule<StatePin>>,
    naming: NamingRules,
    references: ReferenceRules,
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
#[serde(deny_unknown_fields, default)]
struct QuickActionRules {
    texts: Vec<String>,
    not_texts: Vec<ListedParams>,
    commands: BTreeMap<String, QuickAction>,
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
        let mut target = RuleTarget::new(actions, &mut faults);
        target.set_states(&self.states);
        target.set_joins(&self.joins);
        target.set_row_filters(&self.row_filters);
        target.set_edits(&self.edits);
        target.set_waits(&self.waits);
        target.set_label_names(&self.label_names);
        target.set_text_marks(&self.text_marks);
        target.set_kept_values(&self.kept_values);
        target.set_list_changes(&self.list_changes);
        target.set_presumed(&self.presumed);
        target.set_pins(&self.pins);
        self.check_ids(&mut target);
        self.check_lists(actions, &mut faults);
        if faults.is_empty() { Ok(()) } else { Err(GeneratorError::Faults(faults)) }
    }

    /// Refuses ids of no action, in the rules that are used at run time only.
    fn check_ids(&self, target: &mut RuleTarget<'_>) {
        let ChangeWords {
            receipts, background, partial, done, trials, rows, members, moved, refusals, ..
        } = &self.changes;
        let mut check = |row: &str, ids: &mut dyn Iterator<Item = &String>| {
            ids.for_each(|id| target.check_id(row, id));
        };
        check("changes.receipts", &mut receipts.iter().flat_map(|receipt| &receipt.actions));
        check(
            "changes.background",
            &mut background.iter().flat_map(|one| one.actions.iter().chain([&one.read])),
        );
        check("changes.done", &mut done.iter().flat_map(|done| &done.actions));
        check("changes.partial", &mut partial.iter().flat_map(|one| one.actions.iter().chain([&one.read])));
        check("changes", &mut trials.iter().flat_map(|trial| trial.actions.iter().chain([&trial.read])));
        check("changes", &mut rows.iter().flat_map(|row| [&row.action, &row.read]));
        let members =
            members.on_direct.iter().chain([&members.direct, &members.all, &members.get, &members.get_any]);
        // Rules without these lists have no ids.
        check("changes", &mut members.filter(|id| !id.is_empty()));
        check("changes", &mut moved.iter().flat_map(|moved| &moved.actions));
        check("changes", &mut refusals.iter().flat_map(|one| one.actions.iter().chain(&one.instead)));
        for (command, quick) in &self.quick_actions.commands {
            check(&format!("quick_actions.commands.{command}"), &mut quick.actions.iter());
        }
        check("query_actions", &mut self.query_actions.iter());
        check("readable", &mut self.readable.open.iter().chain(self.readable.rows.keys()));
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
