//! Loads `catalog/rules.toml` and applies its rules to the actions: risk, effects, raised risks, places and texts with
//! quick actions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gitlab_mcp::catalog::{
    Action, Base, ChangeWords, ExampleWords, GraphqlKind, Json, Landing, LandingChoice, LandingPlace,
    Locates, Names, Param, Place, QuickAction, Raise, ReadableTable, Risk, Version, When, locates_by_name,
};
use serde::Deserialize;

use crate::action_ids::{Ids, nearest};
use crate::answers::{self, JoinRule, RowFilterRule, StateRule};
use crate::duplicate_risk::share_risks;
use crate::error::GeneratorError;
use crate::own_params::{self, EditRules, LabelRule, MarkRule, WaitRules};

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
    label_names: Vec<LabelRule>,
    #[serde(default)]
    text_marks: Vec<MarkRule>,
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
}

impl NamingRules {
    /// True if the words are a plural.
    pub fn is_plural(&self, words: &str) -> bool {
        words.ends_with('s') && !self.singular_words.iter().any(|one| words.ends_with(one))
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
struct RiskRules {
    #[serde(default)]
    read: Vec<String>,
    #[serde(default)]
    write: Vec<String>,
    #[serde(default)]
    grant: Vec<String>,
    #[serde(default)]
    destructive: Vec<String>,
    #[serde(default)]
    raise: Vec<RaiseRule>,
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

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceRules {
    #[serde(default)]
    default: Vec<LandingRule>,
    #[serde(default)]
    foreign: Vec<String>,
    #[serde(default)]
    not_places: Vec<String>,
    #[serde(default)]
    attributes: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LandingRule {
    action: String,
    absent: Vec<String>,
    /// The parameter value that selects this place.
    by: Option<LandingChoice>,
    place: LandingPlace,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct QuickActionRules {
    #[serde(default)]
    texts: Vec<String>,
    #[serde(default)]
    commands: BTreeMap<String, QuickAction>,
}

/// Loads the file.
pub fn load(path: &Path) -> Result<Rules, GeneratorError> {
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
        self.set_risks(actions, &mut faults);
        share_risks(actions);
        self.set_deprecated(actions, &mut faults);
        self.set_raises(actions, &mut faults);
        self.set_effects(actions, &mut faults);
        self.set_landings(actions, &mut faults);
        self.set_scanned(actions, &mut faults);
        self.set_locates(actions, &mut faults);
        answers::set_states(&self.states, actions, &mut faults);
        answers::set_joins(&self.joins, actions, &mut faults);
        answers::set_row_filters(&self.row_filters, actions, &mut faults);
        own_params::set_edits(&self.edits, actions, &mut faults);
        own_params::set_waits(&self.waits, actions, &mut faults);
        own_params::set_label_names(&self.label_names, actions, &mut faults);
        own_params::set_text_marks(&self.text_marks, actions, &mut faults);
        let ids = Ids::new(actions);
        for id in self.changes.receipts.iter().flat_map(|receipt| &receipt.actions) {
            ids.expand(id, "changes.receipts", &mut faults);
        }
        for (command, quick) in &self.quick_actions.commands {
            for id in &quick.actions {
                ids.expand(id, &format!("quick_actions.commands.{command}"), &mut faults);
            }
        }
        for id in self.readable.open.iter().chain(self.readable.rows.keys()) {
            ids.expand(id, "readable", &mut faults);
        }
        if faults.is_empty() { Ok(()) } else { Err(GeneratorError::Faults(faults)) }
    }

    fn set_risks(&self, actions: &mut [Action], faults: &mut Vec<String>) {
        let ids = Ids::new(actions);
        let tables = [
            (Risk::Read, &self.risk.read),
            (Risk::Write, &self.risk.write),
            (Risk::Grant, &self.risk.grant),
            (Risk::Destructive, &self.risk.destructive),
        ];
        for (risk, patterns) in tables {
            for pattern in patterns {
                let named = ids.expand(pattern, &format!("risk.{}", risk.name()), faults);
                let mut changed = false;
                for action in actions.iter_mut().filter(|action| named.contains(&action.id)) {
                    let applies = match risk {
                        Risk::Read | Risk::Write => action.risk > risk,
                        Risk::Grant => action.risk == Risk::Write,
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

    fn set_raises(&self, actions: &mut [Action], faults: &mut Vec<String>) {
        let ids = Ids::new(actions);
        for rule in &self.risk.raise {
            let row = format!("risk.raise {} {}", rule.action, rule.param);
            let Some(when) = rule.when() else {
                faults.push(format!("{row}: wants one of any_of, at_least, is, given"));
                continue;
            };
            let effects: Vec<String> =
                rule.effects.iter().flat_map(|effect| ids.expand(effect, &row, faults)).collect();
            let named = ids.expand(&rule.action, &row, faults);
            let is_exact = named.contains(&rule.action);
            let mut is_used = named.is_empty();
            for action in actions.iter_mut().filter(|action| named.contains(&action.id)) {
                let Some(param) = find_param(&action.params, &rule.param) else {
                    if is_exact {
                        faults.push(format!("{row}: {}", no_param(action, &rule.param)));
                        is_used = true;
                    }
                    continue;
                };
                if let Some(value) = unknown_choice(param, &when) {
                    faults.push(format!("{row}: {value} is none of {}", param.choices.join(", ")));
                }
                let raised = rule.risk.filter(|risk| *risk > action.risk && action.risk != Risk::Read);
                if raised.is_none() && (rule.risk.is_some() || effects.is_empty()) {
                    if is_exact {
                        faults.push(format!("{row}: the action is {} already", action.risk.name()));
                    }
                    continue;
                }
                let (param, when, effects) = (rule.param.clone(), when.clone(), effects.clone());
                action.raises.push(Raise { param, when, risk: raised.unwrap_or(action.risk), effects });
                is_used = true;
            }
            if !is_used && !is_exact {
                faults.push(format!("{row}: raises the risk of nothing"));
            }
        }
    }

    /// Sets effects: an action has the effects of its row and of the row of the action it duplicates, each with its
    /// duplicates, and the effects of its own duplicates.
    fn set_effects(&self, actions: &mut [Action], faults: &mut Vec<String>) {
        let ids = Ids::new(actions);
        let mut rows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (pattern, others) in &self.effects {
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
        let stands_for =
            |id: &str| twins.iter().find(|(twin, _)| twin == id).map(|(_, stands)| stands.as_str());
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

    fn set_landings(&self, actions: &mut [Action], faults: &mut Vec<String>) {
        let ids = Ids::new(actions);
        for rule in &self.places.default {
            let row = format!("places.default {}", rule.action);
            let named = ids.expand(&rule.action, &row, faults);
            for action in actions.iter_mut().filter(|action| named.contains(&action.id)) {
                let unknown = rule.absent.iter().filter(|path| find_param(&action.params, path).is_none());
                faults.extend(unknown.map(|path| format!("{row}: {}", no_param(action, path))));
                let by = rule.by.clone();
                let chosen = by.iter().filter(|by| find_param(&action.params, &by.param).is_none());
                faults.extend(chosen.map(|by| format!("{row}: {}", no_param(action, &by.param))));
                action.lands.push(Landing { absent: rule.absent.clone(), by, place: rule.place });
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
    }

    fn set_locates(&self, actions: &mut [Action], faults: &mut Vec<String>) {
        let ids = Ids::new(actions);
        let mut foreign: BTreeSet<(usize, String)> = BTreeSet::new();
        for entry in &self.places.foreign {
            foreign.extend(matches(entry, &format!("places.foreign {entry}"), &ids, actions, faults));
        }
        let mut excluded: BTreeSet<(usize, String)> = BTreeSet::new();
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for entry in &self.places.not_places {
            if entry.contains(':') {
                excluded.extend(matches(entry, &format!("places.not_places {entry}"), &ids, actions, faults));
            } else {
                names.insert(entry);
            }
        }
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut kinds: BTreeSet<String> = BTreeSet::new();
        for (number, action) in actions.iter_mut().enumerate() {
            let ids_locate = ids_locate(action);
            let mut params = std::mem::take(&mut action.params);
            walk(&mut params, "", &mut |path, param| {
                seen.insert(param.name.clone());
                kinds.extend(param.gid.clone());
                let key = (number, path.to_owned());
                if foreign.contains(&key) {
                    param.locates = Some(Locates::Foreign);
                } else if !excluded.contains(&key) && !names.contains(param.name.as_str()) {
                    param.locates = located(path, param, ids_locate, &self.places.attributes);
                }
            });
            action.params = params;
        }
        let unknown = names.iter().filter(|name| !seen.contains(**name));
        faults.extend(unknown.map(|name| format!("places.not_places: no parameter is called {name}")));
        let unknown = self.places.attributes.iter().filter(|kind| !kinds.contains(*kind));
        faults.extend(unknown.map(|kind| format!("places.attributes: no global id is of a {kind}")));
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

/// True if a global id among the parameters may refer to an object anywhere: in every mutation, and in a query without
/// a path.
fn ids_locate(action: &Action) -> bool {
    let is = |kind: GraphqlKind| {
        let mut operations = action.operations.iter().filter_map(|operation| operation.graphql.as_ref());
        operations.any(|graphql| graphql.kind == kind)
    };
    let by_path = action.param("fullPath").is_some_and(|param| param.place == Place::Path);
    is(GraphqlKind::Mutation) || (is(GraphqlKind::Query) && !by_path)
}

/// The kind of place that a parameter names: by its reference kind, the type of its global ids, or its name.
fn located(path: &str, param: &Param, ids_locate: bool, attributes: &[String]) -> Option<Locates> {
    if matches!(
        param.kind.base,
        Base::Boolean | Base::Date | Base::DateTime | Base::Object | Base::File | Base::Number
    ) {
        return None;
    }
    match (param.names, &param.gid) {
        (Some(Names::Project), _) => Some(Locates::Project),
        (Some(Names::Group), _) => Some(Locates::Group),
        (Some(Names::Namespace), _) => Some(Locates::Namespace),
        (Some(names), _) if names.is_tracked() => Some(Locates::Foreign),
        (_, Some(kind)) => {
            let is_object = matches!(path, "id" | "ids");
            (ids_locate && (is_object || !attributes.contains(kind))).then_some(Locates::Foreign)
        }
        (Some(_), None) => None,
        (None, None) => locates_by_name(&param.name).or_else(|| {
            let is_id = ["id", "ids"].contains(&param.name.as_str())
                || param.name.ends_with("Id")
                || param.name.ends_with("Ids");
            let is_global = is_id && param.kind.base == Base::IntegerOrString;
            (ids_locate && is_global).then_some(Locates::Foreign)
        }),
    }
}

/// Removes the marks of operations that the oldest version has too.
fn forget_old_versions(action: &mut Action, oldest: Version) {
    for operation in &mut action.operations {
        operation.since = operation.since.filter(|since| *since > oldest);
    }
    walk(&mut action.params, "", &mut |_, param| param.since = param.since.filter(|since| *since > oldest));
}

/// Visits every parameter and every field of one, with its dotted path.
fn walk(params: &mut [Param], within: &str, visit: &mut impl FnMut(&str, &mut Param)) {
    for param in params {
        let path = if within.is_empty() { param.name.clone() } else { format!("{within}.{}", param.name) };
        visit(&path, param);
        walk(&mut param.fields, &path, visit);
    }
}

/// The parameter at a dotted path.
fn find_param<'a>(params: &'a [Param], path: &str) -> Option<&'a Param> {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let param = params.iter().find(|param| param.name == name)?;
    rest.map_or(Some(param), |rest| find_param(&param.fields, rest))
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

fn no_param(action: &Action, path: &str) -> String {
    let names = action.params.iter().map(|param| param.name.as_str());
    let near = nearest(path, names).map(|near| format!("; the nearest is {near}")).unwrap_or_default();
    format!("{} has no parameter {path}{near}", action.id)
}

/// Resolves `action:param` to numbers of actions and the parameter's path. The action may be a pattern. A missing
/// parameter of an exact id is a fault, and so is a pattern that matches no action with it.
fn matches(
    entry: &str,
    row: &str,
    ids: &Ids,
    actions: &[Action],
    faults: &mut Vec<String>,
) -> Vec<(usize, String)> {
    let Some((pattern, path)) = entry.split_once(':') else {
        faults.push(format!("{row}: wants `action:param`"));
        return Vec::new();
    };
    let named = ids.expand(pattern, row, faults);
    let found: Vec<(usize, String)> = actions
        .iter()
        .enumerate()
        .filter(|(_, action)| named.contains(&action.id) && find_param(&action.params, path).is_some())
        .map(|(number, _)| (number, path.to_owned()))
        .collect();
    if found.is_empty() && !named.is_empty() {
        match actions.iter().find(|action| action.id == pattern) {
            Some(action) => faults.push(format!("{row}: {}", no_param(action, path))),
            None => faults.push(format!("{row}: no action of {pattern} has the parameter {path}")),
        }
    }
    found
}
