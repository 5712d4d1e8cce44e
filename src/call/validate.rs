//! Every parameter that was given, against the action: known by name or by another spelling, and of its type.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::context::Context;
use super::location::{ACCEPTED_LOCATIONS, HolderKind, Location};
use super::quick_action::{self, QuickActions};
use super::risk::{added_effects, call_risk};
use super::{
    Call, Candidate, Effects, Fault, Invalid, Lookup, LookupCache, Place, affected_paths, coerce, global_id,
    graphql, items, name_resolution, raw_request, request, select_operation, target,
};
use crate::catalog::{Action, GlossaryEntry, Json, Names, Operation, Param, Scope, Touched, Words};

/// Parameters that are right in themselves; which operation they call for is still open.
#[derive(Clone, Debug)]
pub struct Checked {
    action: Action,
    params: Map<String, Value>,
    understood: Vec<String>,
    /// Of an action that calls an interface directly: the call, which nothing has to be looked up for.
    direct: Option<Call>,
    /// The effects of the quick actions in its texts.
    quick: (Vec<Touched>, Vec<Place>),
    /// Of a composite action: the faults of its items, by their places.
    item_faults: BTreeMap<usize, Fault>,
}

/// What follows a check: the call, or what must be known before it can be written.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Ready(Call),
    /// Each question once; they can be asked side by side.
    Ask(Vec<Lookup>),
    /// It is a plan's: each of its steps makes a call of its own.
    Plan,
}

/// Checks the parameters of an action by themselves.
///
/// An explicit `null` is a parameter that was not given. A parameter may be spelled as the glossary, GitLab's own
/// path (`issue_iid`) or another case (`perPage`) has it; what was understood is said in [`Checked::understood`].
/// `target` stands for those that say where the action works.
pub fn check(
    action: Action,
    mut params: Map<String, Value>,
    context: &Context<'_>,
) -> Result<Checked, Invalid> {
    let quick = (Vec::new(), Vec::new());
    let mut checked = Checked {
        action,
        params: Map::new(),
        understood: Vec::new(),
        direct: None,
        quick,
        item_faults: BTreeMap::new(),
    };
    let mut faults = Vec::new();
    let takes_target = target::takes_target(&checked.action);
    let target = takes_target.then(|| params.shift_remove(target::TARGET)).flatten();
    let target = target.filter(|target| !target.is_null()).or_else(|| {
        let spelled = takes_target.then(|| checked.spelled_target(&params, context)).flatten()?;
        let value = params.shift_remove(&spelled);
        checked.understood.push(format!("`{spelled}` as `target`"));
        value
    });
    checked.selector_by_scope(&mut params);
    // Exact names first: what they take is not taken by another spelling.
    let (exact, spelled): (Vec<_>, Vec<_>) = params
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .partition(|(name, _)| checked.action.param(name).is_some());
    for (name, value) in exact.into_iter().chain(spelled) {
        if let Err(fault) = checked.take(&name, value, context) {
            faults.push(fault);
        }
    }
    if let Some(target) = target {
        faults.extend(checked.aim(&target, context).err());
    }
    global_id::complete(&checked.action, &mut checked.params);
    checked.send_defaults();
    if faults.is_empty() {
        faults.extend(checked.read_quick_actions(context).err());
    }
    if faults.is_empty() {
        faults = checked.go_direct(context);
    }
    if faults.is_empty() {
        faults = checked.go_by_plan();
    }
    if faults.is_empty() { Ok(checked) } else { Err(checked.invalid(faults)) }
}

impl Checked {
    /// A scope of ours in the parameter `scope` that is GitLab's own stands for the action's selector.
    fn selector_by_scope(&mut self, params: &mut Map<String, Value>) {
        let Some(selector) = self.action.selector().filter(|selector| selector.name != "scope") else {
            return;
        };
        let is_ours = |word: &str| selector.choices.iter().any(|choice| choice == word);
        let own = self.action.param("scope");
        let is_theirs = |word: &str| own.is_some_and(|own| own.choices.iter().any(|choice| choice == word));
        let given =
            params.get("scope").and_then(Value::as_str).filter(|word| is_ours(word) && !is_theirs(word));
        if given.is_some() && !params.contains_key(&selector.name) {
            let name = selector.name.clone();
            self.understood.push(format!("`scope` as `{name}`"));
            if let Some(value) = params.shift_remove("scope") {
                params.insert(name, value);
            }
        }
    }

    /// The action that is called.
    pub fn action(&self) -> &Action {
        &self.action
    }

    /// The parameters by the catalog's names, in its types.
    pub fn params(&self) -> &Map<String, Value> {
        &self.params
    }

    /// What was understood otherwise than it was written, to be told.
    pub fn understood(&self) -> &[String] {
        &self.understood
    }

    /// The faults of a composite action's items, by their places among `items`. The other items are right.
    pub fn item_faults(&self) -> &BTreeMap<usize, Fault> {
        &self.item_faults
    }

    /// The call, or what has to be known first.
    pub fn step(&self, known: &LookupCache) -> Result<Step, Invalid> {
        if self.action.plan.is_some() {
            return Ok(Step::Plan);
        }
        if let Some(call) = &self.direct {
            return Ok(Step::Ready(call.clone()));
        }
        let operation = match select_operation::operation(&self.action, &self.params, known) {
            Ok(select_operation::Chosen::Operation(operation)) => operation,
            Ok(select_operation::Chosen::Ask(question)) => return Ok(Step::Ask(vec![question])),
            Err(fault) => return Err(self.invalid(vec![fault])),
        };
        let faults = select_operation::unfit(&self.action, operation, &self.params);
        if !faults.is_empty() {
            return Err(self.invalid(faults));
        }
        let filled = name_resolution::fill(&self.action, operation, &self.params, known);
        if !filled.faults.is_empty() {
            return Err(self.invalid(filled.faults));
        }
        if !filled.open.is_empty() {
            return Ok(Step::Ask(filled.open.into_keys().collect()));
        }
        let effects = self.effects(operation);
        let (params, resolved) = (&filled.params, filled.resolved);
        let call = match &operation.graphql {
            Some(graphql) => graphql::write(&self.action, operation, graphql, params, resolved, effects),
            None => request::write(&self.action, operation, params, resolved, effects),
        };
        call.map(Step::Ready).map_err(|fault| self.invalid(vec![fault]))
    }

    /// Possible effects of the call, before anything is looked up: those of each operation that the parameters may
    /// call for. Empty for a composite action, whose steps are decided on by themselves.
    pub fn prospects(&self) -> Vec<Effects> {
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

    /// Fills in the defaults of parameters that GitLab requires.
    fn send_defaults(&mut self) {
        let sent = self.action.params.iter().filter(|param| param.sends_default);
        for param in sent.filter(|param| !self.params.contains_key(&param.name)).collect::<Vec<_>>() {
            if let Some(Json(default)) = &param.default {
                self.params.insert(param.name.clone(), default.clone());
            }
        }
    }

    fn effects(&self, operation: &Operation) -> Effects {
        let mut touched = Touched::by(&self.action, operation.to_string());
        touched.risk = call_risk(&self.action, &self.params);
        touched.effects.extend(added_effects(&self.action, &self.params).cloned());
        let mut touches = vec![touched];
        touches.extend(self.quick.0.iter().cloned());
        let mut found = affected_paths::places(&self.action, operation, &self.params);
        found.extend(self.quick.1.iter().cloned());
        Effects::new(&self.action.id, operation.method, operation.to_string(), touches, found)
    }

    /// Reads the quick actions in the texts that are sent.
    fn read_quick_actions(&mut self, context: &Context<'_>) -> Result<(), Fault> {
        let found = quick_action::scan(&self.action, &self.params);
        let Some(first) = found.first() else { return Ok(()) };
        match context.quick_actions {
            QuickActions::Refuse => {
                let commands = first.commands.iter().map(|command| format!("/{}", command.name)).collect();
                return Err(Fault::QuickAction { name: first.param.clone(), commands });
            }
            QuickActions::Escape => {
                quick_action::escape_all(&self.action, &mut self.params);
                self.understood.push(format!("the quick actions in `{}` as text (escaped)", first.param));
                return Ok(());
            }
            QuickActions::Check => {}
        }
        let quick = quick_action::effects(&self.action, &found, context.words, context.catalog);
        self.quick = quick.map_err(|error| Fault::Catalog { reason: error.to_string() })?;
        Ok(())
    }

    /// Everything that the call asks, whether it is known or not.
    pub fn questions(&self, known: &LookupCache) -> Vec<Lookup> {
        let kind = self.params.get("fullPath").and_then(Value::as_str);
        let kind = kind.map(|path| Lookup::KindOf { full_path: path.to_owned() });
        let asked = match select_operation::operation(&self.action, &self.params, known) {
            Ok(select_operation::Chosen::Operation(operation)) => {
                name_resolution::fill(&self.action, operation, &self.params, known).asked
            }
            _ => BTreeSet::new(),
        };
        kind.into_iter().chain(asked).collect()
    }

    /// The parameters cannot make a call, because the question has several answers.
    pub fn ambiguous(&self, question: &Lookup, known: &LookupCache, candidates: Vec<Candidate>) -> Invalid {
        let name = self.asks(question, known).unwrap_or_else(|| "fullPath".to_owned());
        self.invalid(vec![Fault::Ambiguous { name, candidates }])
    }

    /// The parameter that asks an open question.
    pub fn asks(&self, question: &Lookup, known: &LookupCache) -> Option<String> {
        match select_operation::operation(&self.action, &self.params, known) {
            Ok(select_operation::Chosen::Operation(operation)) => {
                name_resolution::fill(&self.action, operation, &self.params, known).open.remove(question)
            }
            _ => None,
        }
    }

    fn invalid(&self, faults: Vec<Fault>) -> Invalid {
        let mut right = self.params.clone();
        for fault in &faults {
            right.remove(fault.name());
        }
        Invalid { action: self.action.id.clone(), faults, right }
    }

    /// The parameter that holds a target under another name: a spelling of `target`, or `fullPath` with a URL or the
    /// reference of a thing (`group/project#12`) in place of a path. What it says is checked, and decided on, as that of
    /// `target`.
    fn spelled_target(&self, params: &Map<String, Value>, context: &Context<'_>) -> Option<String> {
        let named = |name: &str| named(&self.action, name, &Map::new(), context.words);
        let is_target = |(name, value): &(&String, &Value)| {
            let Some(text) = value.as_str() else { return false };
            match named(name) {
                None => target::is_spelling(name) && target::is_sane(text),
                Some(param) => param.name == "fullPath" && target::is_thing(text, context.base),
            }
        };
        params.iter().find(is_target).map(|(name, _)| name.clone())
    }

    /// The parameters that the target stands for, beside those that were given.
    fn aim(&mut self, target: &Value, context: &Context<'_>) -> Result<(), Fault> {
        let said = target.as_str().map_or_else(|| target.to_string(), str::to_owned);
        let filled = target::filled(&self.action, &said, &self.params, context.base)?;
        let written: Vec<String> = filled.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let told = self.understood.len();
        for (name, value) in filled {
            match self.params.get(&name) {
                Some(given) if is_same(given, &value) => {}
                Some(given) => {
                    return Err(Fault::Disagrees { name, given: given.to_string(), target: value });
                }
                None => self.take(&name, Value::String(value), context)?,
            }
        }
        // A target is a text: that its numbers came as one is nothing to tell.
        self.understood.truncate(told);
        self.understood.push(format!("`target` as {}", written.join(", ")));
        Ok(())
    }

    /// Writes the call of an action that calls an interface directly.
    fn go_direct(&mut self, context: &Context<'_>) -> Vec<Fault> {
        let (Some(interface), Some(operation)) = (self.action.direct(), self.action.choices().next()) else {
            return Vec::new();
        };
        let missing = select_operation::unfit(&self.action, operation, &self.params);
        if !missing.is_empty() {
            return missing;
        }
        match raw_request::write(interface, &self.action, &mut self.params, context) {
            Ok(call) => self.direct = Some(call),
            Err(fault) => return vec![fault],
        }
        Vec::new()
    }

    /// A plan has no operation to choose: what it lacks is known at once.
    fn go_by_plan(&self) -> Vec<Fault> {
        let operation = self.action.choices().next().filter(|_| self.action.plan.is_some());
        operation
            .map_or_else(Vec::new, |operation| select_operation::unfit(&self.action, operation, &self.params))
    }

    fn take(&mut self, given: &str, value: Value, context: &Context<'_>) -> Result<(), Fault> {
        let Some(param) = named(&self.action, given, &self.params, context.words).cloned() else {
            let accepted = self.action.params.iter().map(|param| param.name.clone()).collect();
            return Err(Fault::Unknown { given: given.to_owned(), value, accepted });
        };
        if param.name != given {
            self.understood.push(format!("`{given}` as `{}`", param.name));
        }
        if let Some(fitted) = items::fit(&self.action, &param, &value, &mut self.understood)? {
            self.item_faults.extend(fitted.faults);
            self.params.insert(param.name, fitted.value);
            return Ok(());
        }
        let pasted =
            value.as_str().filter(|text| text.contains("://") && !global_id::marks(&param).is_empty());
        let reference = pasted.and_then(|text| target::reference(text, context.base));
        let fitted = coerce::fitted(&param, reference.map_or(value, Value::String), &mut self.understood)?;
        let fitted = match global_holder(&param, &fitted) {
            Some((scope, id)) => self.take_holder(scope, id, &fitted)?,
            None => with_location(&param, fitted)?,
        };
        self.params.insert(param.name, fitted);
        Ok(())
    }

    /// The id in a global id of a project or group, as `fullPath`. Its type says which of the operations is meant.
    fn take_holder(&mut self, scope: Scope, id: u64, given: &Value) -> Result<Value, Fault> {
        let has = |wanted: Scope| self.action.choices().any(|operation| operation.scope == wanted);
        if !has(scope) {
            return Err(Fault::NotALocation {
                name: "fullPath".to_owned(),
                given: given.to_string(),
                expected: ACCEPTED_LOCATIONS,
            });
        }
        if let Some(selector) = self.action.selector_of(scope)
            && !self.params.contains_key(&selector.name)
        {
            self.params.insert(selector.name.clone(), Value::from(scope.name()));
        }
        Ok(Value::from(id.to_string()))
    }
}

/// The scope and id of a global id that is given as `fullPath`.
fn global_holder(param: &Param, value: &Value) -> Option<(Scope, u64)> {
    let text = value.as_str().filter(|_| param.name == "fullPath")?.trim();
    let location = text.starts_with(super::lookup::GLOBAL).then(|| Location::parse(text, HolderKind::Either));
    match location?? {
        Location::Id { kind: HolderKind::Project, id } => Some((Scope::Project, id)),
        Location::Id { kind: HolderKind::Group, id } => Some((Scope::Group, id)),
        _ => None,
    }
}

/// The value with the location that it names in its one spelling, from which policy decides and the request is
/// written. What is no location is refused where the parameter can hold nothing else.
fn with_location(param: &Param, value: Value) -> Result<Value, Fault> {
    let holds_location = param.name == "fullPath"
        || matches!(param.names, Some(Names::Project | Names::Group | Names::Namespace));
    if !holds_location {
        return Ok(value);
    }
    let normalized = |text: &str| {
        let location = Location::parse(text, HolderKind::Either);
        let wrong = || Fault::NotALocation {
            name: param.name.clone(),
            given: text.chars().take(100).collect(),
            expected: ACCEPTED_LOCATIONS,
        };
        match location.and_then(|location| location.wire()) {
            // A global id stays one: GraphQL wants it, and it is decided on as the id that it holds.
            Some(_) if text.trim().starts_with(super::lookup::GLOBAL) => Ok(Value::from(text.trim())),
            Some(wire) => Ok(Value::from(wire)),
            None => Err(wrong()),
        }
    };
    match value {
        Value::String(text) if text.trim().is_empty() && param.name != "fullPath" => Ok(Value::String(text)),
        Value::String(text) => normalized(&text),
        Value::Array(items) => {
            let items: Result<Vec<Value>, Fault> = items
                .into_iter()
                .map(|item| match item {
                    Value::String(text) => normalized(&text),
                    other => Ok(other),
                })
                .collect();
            items.map(Value::Array)
        }
        other => Ok(other),
    }
}

/// True if a given value says what the target says.
fn is_same(given: &Value, said: &str) -> bool {
    let given = given.as_str().map_or_else(|| given.to_string(), str::to_owned);
    given.trim_matches('/').eq_ignore_ascii_case(said)
}

/// The parameter meant by a name: its own; GitLab's, of a placeholder that it fills or in a request; the same letters in another case;
/// a spelling of the glossary, the parameter that lists it earliest first. Never one that is `taken` already.
fn named<'a>(
    action: &'a Action,
    given: &str,
    taken: &Map<String, Value>,
    words: &Words,
) -> Option<&'a Param> {
    let free = || action.params.iter().filter(|param| !taken.contains_key(&param.name));
    let by = |name: &str| free().find(|param| param.name == name);
    let wired = || free().find(|param| param.wire.as_deref() == Some(given));
    let filled =
        || action.operations.iter().find_map(|operation| operation.bind.get(given)).and_then(|name| by(name));
    let bare = given.strip_suffix("[]").unwrap_or(given);
    let cased = || free().find(|param| folded(&param.name) == folded(bare));
    let glossary = || {
        let ranked = free().filter_map(|param| Some((rank(words.glossary.get(&param.name)?, given)?, param)));
        ranked.min_by_key(|(rank, _)| *rank).map(|(_, param)| param)
    };
    action.param(given).or_else(filled).or_else(wired).or_else(cased).or_else(glossary)
}

/// The parameter of an action that a spelling means.
pub fn param_named<'a>(action: &'a Action, given: &str, words: &Words) -> Option<&'a Param> {
    named(action, given, &Map::new(), words)
}

/// The place of a spelling among a parameter's, the most usual first.
fn rank(entry: &GlossaryEntry, given: &str) -> Option<usize> {
    entry.aliases.iter().position(|alias| folded(alias) == folded(given))
}

fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
