//! Validates the given parameters of an action: names, other spellings, and types.

pub mod step;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::context::Context;
use super::encoded::list_in_text;
use super::location::{ACCEPTED_LOCATIONS, HolderKind, Location};
use super::noun::other_holder;
use super::param_names::{named, param_named};
use super::quick_action::{self, QuickActions};
use super::{
    Call, Fault, Invalid, TARGET, TouchedPlace, affected_paths, coerce, given_forms, global_id, items,
    lookup, raw_request, revision, select_operation, taken_away, target,
};
use crate::catalog::{self, Action, Json, Names, Param, Place, Risk, Scope, Touched, Words};
use crate::text::{is_digits, plain_text};

/// Valid parameters of an action. Its operation is not selected yet.
#[derive(Clone, Debug)]
pub struct Checked {
    action: Action,
    params: Map<String, Value>,
    understood: Vec<String>,
    unsent: Vec<String>,
    /// The call of a raw request, which needs no look-up.
    direct: Option<Call>,
    /// Effects of the quick actions in its texts.
    quick: (Vec<Touched>, Vec<TouchedPlace>),
    /// Faults of a composite action's items by index.
    item_faults: BTreeMap<usize, Fault>,
}

/// Checks the parameters of an action without a request.
///
/// An explicit `null` counts as absent. A parameter may be spelled as in the glossary, in GitLab's own path
/// (`issue_iid`) or in another case (`perPage`); [`Checked::understood`] has a note on each. `target` replaces the
/// parameters that locate the object.
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
        unsent: Vec::new(),
        direct: None,
        quick,
        item_faults: BTreeMap::new(),
    };
    let mut faults = Vec::new();
    let target = checked.take_target(&mut params, context);
    let target = checked.target_in_items(target, &mut params, context);
    let mut params = checked.understand(params, context);
    faults.extend(
        target::divide_references(&checked.action, &mut params, context.base, &mut checked.understood).err(),
    );
    faults.extend(checked.take_all(params, context));
    if let Some(target) = target {
        faults.extend(checked.apply_target(&target, context).err());
    }
    checked.complete();
    if faults.is_empty() {
        faults = checked.faults_as_a_whole(context);
    }
    if faults.is_empty() {
        return Ok(checked);
    }
    faults.extend(checked.missing_besides(&faults));
    Err(checked.invalid(faults))
}

impl Checked {
    /// Takes the target out of the parameters, by any of its names.
    fn take_target(&mut self, params: &mut Map<String, Value>, context: &Context<'_>) -> Option<Value> {
        if !target::takes_target(&self.action) {
            return None;
        }
        params.shift_remove(TARGET).filter(|target| !target.is_null()).or_else(|| {
            let spelled = self.spelled_target(params, context)?;
            let value = params.shift_remove(&spelled);
            self.understood.push(format!("`{spelled}` as `target`"));
            value
        })
    }

    /// Takes a target that is a file or a merge request as the fields of each item of a read of files; returns any other.
    fn target_in_items(
        &mut self,
        target: Option<Value>,
        params: &mut Map<String, Value>,
        context: &Context<'_>,
    ) -> Option<Value> {
        let agrees = |(name, value): &(String, String)| {
            params.get(name).is_none_or(|given| given.as_str() == Some(value))
        };
        let Some(fields) = target
            .as_ref()
            .filter(|_| items::are_files(&self.action))
            .and_then(|target| target::item_fields(&plain_text(target), context.base))
            .filter(|fields| fields.iter().all(agrees))
        else {
            return target;
        };
        let written: Vec<String> = fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        self.understood.push(format!("`target` as {}", written.join(", ")));
        for (name, value) in fields {
            params.entry(name).or_insert(Value::String(value));
        }
        None
    }

    /// The parameters in the forms of the action, in place of those in which callers write them.
    fn understand(&mut self, mut params: Map<String, Value>, context: &Context<'_>) -> Map<String, Value> {
        self.selector_by_scope(&mut params);
        self.selector_by_number(&mut params);
        let (action, understood) = (&self.action, &mut self.understood);
        items::wrap_single(action, &mut params, understood);
        given_forms::move_words(action, &mut params, context.words, understood);
        given_forms::turn_flags(action, &mut params, understood);
        given_forms::text_values(action, &mut params);
        given_forms::join_owner(action, &mut params, context.words, understood);
        given_forms::join_pipeline_number(action, &mut params, understood);
        given_forms::join_pipeline(action, &mut params, understood);
        given_forms::join_reference(action, &mut params, context.words, understood);
        let mut params = given_forms::nest(action, params, context.words, understood);
        self.unsent = taken_away::clear_nulls(action, &mut params, context.words, understood);
        params
    }

    /// True for a value that a client's form leaves blank, where it can mean nothing else: an optional parameter of a read,
    /// a thread, and whatever has no empty value, such as a number. In an update an empty value may take something away.
    fn is_left_out(&self, name: &str, value: &Value, words: &Words) -> bool {
        let blank = value.as_str().map(str::trim).filter(|text| text.is_empty() || *text == "null");
        let param = param_named(&self.action, name, words);
        let Some(blank) = blank else { return value.is_null() && !self.is_taken_away(param) };
        let Some(param) = param else { return false };
        let holds_text = coerce::may_be_empty(param) || param.kind.many || param.names.is_some();
        let is_thread = param.place == Place::Path && name.ends_with("_id");
        let is_read = self.action.risk == Risk::Read && param.place != Place::Path;
        let may_be_blank = match blank {
            "" => is_thread || is_read || (!holds_text && !self.action.verb().starts_with("update")),
            _ => is_read && !holds_text,
        };
        !param.required && param.locates.is_none() && may_be_blank
    }

    /// True if `null` takes a parameter of an update away.
    fn is_taken_away(&self, param: Option<&Param>) -> bool {
        let is_update = self.action.verb().starts_with("update");
        is_update && param.is_some_and(|param| taken_away::is_cleared_by_null(&self.action, param))
    }

    /// Takes each parameter, and returns the faults of those that it cannot take. Exact names first: they win over other
    /// spellings.
    fn take_all(&mut self, params: Map<String, Value>, context: &Context<'_>) -> Vec<Fault> {
        let (exact, spelled): (Vec<_>, Vec<_>) = params
            .into_iter()
            .filter(|(name, value)| !self.is_left_out(name, value, context.words))
            .partition(|(name, _)| self.action.param(name).is_some());
        let taken = exact.into_iter().chain(spelled);
        taken.filter_map(|(name, value)| self.take(&name, value, context).err()).collect()
    }

    /// Adds what follows from the parameters that were taken.
    fn complete(&mut self) {
        self.fill_path_by_short_name();
        global_id::complete(&self.action, &mut self.params);
        revision::resolve(&self.action, &mut self.params, &mut self.understood);
        self.presume();
        self.send_defaults();
    }

    /// The faults of parameters that are right one by one.
    fn faults_as_a_whole(&mut self, context: &Context<'_>) -> Vec<Fault> {
        if let Some(fault) = given_forms::not_base64(&self.action, &self.params) {
            return vec![fault];
        }
        if let Some(fault) = self.changes_nothing() {
            return vec![fault];
        }
        if let Err(fault) = self.read_quick_actions(context) {
            return vec![fault];
        }
        match self.build_raw_call(context) {
            faults if faults.is_empty() => self.plan_faults(),
            faults => faults,
        }
    }

    /// The fault of an update of which nothing is left to send, because `null` takes nothing away.
    fn changes_nothing(&self) -> Option<Fault> {
        let name = self.unsent.first()?;
        let is_sent = |param: &Param| {
            let is_change = !matches!(param.place, catalog::Place::Path | catalog::Place::Selector);
            is_change && self.params.contains_key(&param.name)
        };
        if self.action.params.iter().any(is_sent) {
            return None;
        }
        Some(Fault::not_taken(name, "`null` takes nothing away here, and nothing else is changed"))
    }

    /// Moves a scope to the action's selector if GitLab has a parameter `scope` of its own.
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

    /// Adds the choice between project and group where the name of a numeric id says it: `project_id: 1`.
    fn selector_by_number(&mut self, params: &mut Map<String, Value>) {
        let is_id = |value: &Value| value.is_u64() || value.as_str().is_some_and(is_digits);
        let is_given = |name: &str| self.action.param(name).is_none() && params.get(name).is_some_and(is_id);
        let is_named = |scope: &Scope| is_given(scope.name()) || is_given(&format!("{}_id", scope.name()));
        let mut named = [Scope::Project, Scope::Group].into_iter().filter(is_named);
        let (Some(scope), None) = (named.next(), named.next()) else { return };
        let Some(selector) = self.action.selector_of(scope) else { return };
        if !params.contains_key(&selector.name) && !params.contains_key("fullPath") {
            params.insert(selector.name.clone(), Value::from(scope.name()));
        }
    }

    /// Moves a value to a missing parameter of the path from one whose name lacks the domain: `name` of a feature flag to
    /// `feature_flag_name`. Without it, the object is unknown.
    fn fill_path_by_short_name(&mut self) {
        let prefix = format!("{}_", self.action.domain());
        let is_missing = |param: &&Param| {
            param.required && param.place == catalog::Place::Path && !self.params.contains_key(&param.name)
        };
        let Some(param) = self.action.params.iter().find(is_missing) else { return };
        let Some(short) = param.name.strip_prefix(&prefix) else { return };
        let takes = self.action.param(short).is_some_and(|own| !own.required && own.kind == param.kind);
        if let Some(value) = takes.then(|| self.params.shift_remove(short)).flatten() {
            self.understood.push(format!("`{short}` as `{}`", param.name));
            self.params.insert(param.name.clone(), value);
        }
    }

    /// Parameters that are missing in addition to the faults, so that one error names everything.
    fn missing_besides(&self, faults: &[Fault]) -> Vec<Fault> {
        // A target fills several parameters. A field of an object is missing besides parameters.
        let is_done = |fault: &Fault| {
            let is_missing = matches!(fault, Fault::Missing { name, .. } if !name.contains('.'));
            fault.name() == TARGET || is_missing
        };
        if self.action.direct().is_some() || faults.iter().any(is_done) {
            return Vec::new();
        }
        let mut given = self.params.clone();
        // A fault of `actions.encoding` is one of `actions`.
        let root = |fault: &Fault| fault.name().split('.').next().unwrap_or_default().to_owned();
        given.extend(faults.iter().map(|fault| (root(fault), Value::Null)));
        select_operation::missing(&self.action, &given)
    }

    /// The action.
    pub fn action(&self) -> &Action {
        &self.action
    }

    /// The parameters with the catalog's names and types.
    pub fn params(&self) -> &Map<String, Value> {
        &self.params
    }

    /// Notes on parameters that were interpreted differently from how they were written.
    pub fn understood(&self) -> &[String] {
        &self.understood
    }

    /// Parameters of an update that were `null` and are not sent: GitLab has no way to take them away.
    pub fn unsent(&self) -> &[String] {
        &self.unsent
    }

    /// Faults of a composite action's items by index. The other items are valid.
    pub fn item_faults(&self) -> &BTreeMap<usize, Fault> {
        &self.item_faults
    }

    /// Adds the values that the call has by its other parameters.
    fn presume(&mut self) {
        for presumed in &self.action.presumed {
            let has = |name: &String| self.params.contains_key(name);
            let by = presumed.given.iter().find(|name| has(name));
            let Some(by) = by.filter(|_| !has(&presumed.param) && !presumed.absent.iter().any(has)) else {
                continue;
            };
            let Json(value) = &presumed.value;
            self.understood.push(format!("`{by}` with `{}: {}`", presumed.param, plain_text(value)));
            self.params.insert(presumed.param.clone(), value.clone());
        }
    }

    /// Fills in the defaults of parameters that GitLab requires. A default of `{name}` is the value of that parameter.
    fn send_defaults(&mut self) {
        let sent = self.action.params.iter().filter(|param| param.sends_default);
        for param in sent.filter(|param| !self.params.contains_key(&param.name)).collect::<Vec<_>>() {
            let Some(Json(default)) = &param.default else { continue };
            let value = match referenced_param(default) {
                None => Some(default.clone()),
                Some(name) => self.params.get(name).cloned(),
            };
            if let Some(value) = value {
                self.params.insert(param.name.clone(), value);
            }
        }
    }

    /// Applies the handling of quick actions to the texts.
    fn read_quick_actions(&mut self, context: &Context<'_>) -> Result<(), Fault> {
        let found = quick_action::scan(&self.action, &self.params);
        let Some(first) = found.first() else { return Ok(()) };
        match context.quick_actions {
            // In a file nothing is escaped: its separators are not known for certain.
            QuickActions::Escape if !quick_action::takes_rows(&self.action) => {
                quick_action::escape_all(&self.action, &mut self.params);
                self.understood.push(format!("the quick actions in `{}` as text (escaped)", first.param));
                return Ok(());
            }
            QuickActions::Refuse | QuickActions::Escape => {
                let commands = first.commands.iter().map(|command| format!("/{}", command.name)).collect();
                return Err(Fault::QuickAction { name: first.param.clone(), commands });
            }
            QuickActions::Check => {}
        }
        let own = affected_paths::place_of(&self.params);
        let domain = self.action.domain();
        let quick = quick_action::effects(domain, own.as_ref(), &found, context.words, context.catalog);
        self.quick = quick.map_err(|error| Fault::Catalog { reason: error.to_string() })?;
        Ok(())
    }

    fn invalid(&self, faults: Vec<Fault>) -> Invalid {
        let mut right = self.params.clone();
        for fault in &faults {
            right.remove(fault.name());
        }
        Invalid { action: self.action.id.clone(), faults, right }
    }

    /// Finds a target under another name: a spelling of `target`, or a parameter of the path with a URL or the reference
    /// of an object (`group/project#12`). It is then treated as `target`.
    fn spelled_target(&self, params: &Map<String, Value>, context: &Context<'_>) -> Option<String> {
        let named = |name: &str| named(&self.action, name, &Map::new(), context.words);
        let is_target = |(name, value): &(&String, &Value)| {
            let Some(text) = value.as_str() else { return false };
            match named(name) {
                None => target::is_spelling(name) && target::is_sane(text),
                Some(param) if param.name == "fullPath" => target::is_thing(text, context.base),
                Some(param) => target::is_object_of(&self.action, param, text, context.base),
            }
        };
        params.iter().find(is_target).map(|(name, _)| name.clone())
    }

    /// Adds the parameters of the target to the given ones.
    fn apply_target(&mut self, target: &Value, context: &Context<'_>) -> Result<(), Fault> {
        let said = plain_text(target);
        let filled = target::filled(&self.action, &said, &self.params, context.base)?;
        let written: Vec<String> = filled.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let told = self.understood.len();
        // The query in the URL of an object says how its page is shown.
        let is_selector =
            |name: &str| self.action.param(name).is_some_and(|param| param.place == Place::Selector);
        let is_of_place = filled.iter().all(|(name, _)| name == "fullPath" || is_selector(name));
        for (name, value) in filled {
            match self.params.get(&name) {
                Some(given) if is_same(given, &value) => {}
                Some(given) => {
                    let (given, reference) = (given.to_string(), TARGET.to_owned());
                    return Err(Fault::Disagrees { name, given, reference, target: value });
                }
                None => self.take(&name, Value::String(value), context)?,
            }
        }
        // No note on numbers as text: a target is a text.
        self.understood.truncate(told);
        self.understood.push(format!("`target` as {}", written.join(", ")));
        if is_of_place {
            self.take_page_filters(&said, context);
        }
        Ok(())
    }

    /// Takes the filters in the URL of a list's page, and notes those that the list does not have.
    fn take_page_filters(&mut self, target: &str, context: &Context<'_>) {
        if !self.action.verb().starts_with("list") {
            return;
        }
        for (name, value) in target::page_filters(target, context.base) {
            let param = named(&self.action, &name, &self.params, context.words);
            let filter = param.filter(|param| param.place == Place::Query).map(|param| param.name.clone());
            let noted = self.understood.len();
            match filter {
                Some(filter) if self.params.contains_key(&filter) => {}
                Some(filter) if self.take(&name, value.clone(), context).is_ok() => {
                    self.understood.truncate(noted);
                    self.understood
                        .push(format!("`{name}` of the URL as `{filter}: {}`", plain_text(&value)));
                }
                _ => {
                    self.understood.truncate(noted);
                    self.understood.push(format!("`{name}` of the URL as nothing: not a filter here"));
                }
            }
        }
    }

    /// Builds the call of a raw request.
    fn build_raw_call(&mut self, context: &Context<'_>) -> Vec<Fault> {
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

    /// Checks a composite action, which has no operation to select.
    fn plan_faults(&self) -> Vec<Fault> {
        let operation = self.action.choices().next().filter(|_| self.action.plan.is_some());
        operation
            .map_or_else(Vec::new, |operation| select_operation::unfit(&self.action, operation, &self.params))
    }

    fn take(&mut self, given: &str, value: Value, context: &Context<'_>) -> Result<(), Fault> {
        let Some(param) = named(&self.action, given, &self.params, context.words).cloned() else {
            let accepted = self.action.params.iter().map(|param| param.name.clone()).collect();
            return Err(Fault::Unknown { given: given.to_owned(), value, accepted });
        };
        if value.is_null() && self.is_taken_away(Some(&param)) {
            self.params.insert(param.name, value);
            return Ok(());
        }
        if let Some(other) = other_holder(&self.action, &param, given, &value) {
            let reason =
                format!("the number is that of a {}, and {} takes none", other.name(), self.action.id);
            return Err(Fault::not_taken(given, reason));
        }
        let param = self.own_object(given, &param, &value).unwrap_or(param);
        let (param, value) = match self.by_id_for_me(&param, &value) {
            Some(id) => (id, Value::from(lookup::ME)),
            None => (param, value),
        };
        if param.name != given {
            self.understood.push(format!("`{given}` as `{}`", param.name));
        }
        let value = match value.as_str().filter(|_| param.kind.many).and_then(list_in_text) {
            Some(Ok(items)) if param.kind.base != catalog::Base::File => Value::Array(items),
            _ => value,
        };
        if let Some(fitted) = items::fit(&self.action, &param, &value, &mut self.understood)? {
            self.item_faults.extend(fitted.faults);
            self.params.insert(param.name, fitted.value);
            return Ok(());
        }
        let value = self.choice_by_synonym(&param, value, context.words);
        let pasted =
            value.as_str().filter(|text| text.contains("://") && !global_id::marks(&param).is_empty());
        let reference = pasted.and_then(|text| target::reference(text, context.base));
        if let Some(fault) = coerce::other_mark(&self.action, &param, &value) {
            return Err(fault);
        }
        let fitted = coerce::fitted(&param, reference.map_or(value, Value::String), &mut self.understood)?;
        let fitted = match global_holder(&param, &fitted) {
            Some((scope, id)) => self.take_holder(scope, id, &fitted)?,
            None => with_location(&param, self.with_dashes(&param, fitted))?,
        };
        self.params.insert(param.name, fitted);
        Ok(())
    }

    /// The parameter with the object itself, for a name that GitLab has for it in one operation and for its place in
    /// another: `id` of a snippet. A path has a slash.
    fn own_object(&self, given: &str, param: &Param, value: &Value) -> Option<Param> {
        let is_place = param.name == "fullPath" && given != "fullPath" && !plain_text(value).contains('/');
        let bound = self.action.operations.iter().filter(|_| is_place);
        let mut others = bound.filter_map(|operation| operation.bind.get(given));
        let other = others.find(|name| *name != "fullPath" && !self.params.contains_key(*name))?;
        self.action.param(other).cloned()
    }

    /// The parameter with the id of a user in place of the one with the username, for the word `me`: GitLab would look
    /// for a user of that name, and answer with an empty list.
    fn by_id_for_me(&self, param: &Param, value: &Value) -> Option<Param> {
        let is_me = |value: &Value| value.as_str().is_some_and(is_me);
        let kind = param.name.strip_suffix("_username")?;
        let only = value.as_array().map_or(Some(value), |list| list.first().filter(|_| list.len() == 1));
        let id = self.action.param(&format!("{kind}_id")).filter(|id| id.names == Some(Names::User))?;
        (only.is_some_and(is_me) && !self.params.contains_key(&id.name)).then(|| id.clone())
    }

    /// Replaces a word that the glossary has for a choice by the choice: `closed` by the event `close`.
    fn choice_by_synonym(&mut self, param: &Param, value: Value, words: &Words) -> Value {
        let given = value.as_str().map(|word| word.trim().to_lowercase()).unwrap_or_default();
        let is_choice = |word: &str| param.choices.iter().find(|choice| choice.eq_ignore_ascii_case(word));
        if is_choice(&given).is_some() {
            return value;
        }
        let in_one_word = given.replace([' ', '-'], "_");
        let synonyms = words.glossary.get(&param.name).and_then(|entry| entry.values.get(&in_one_word));
        let choice = synonyms.and_then(|known| known.iter().find_map(|word| is_choice(word)));
        let Some(choice) = choice else { return value };
        self.understood.push(format!("`{}: {given}` as `{choice}`", param.name));
        Value::from(choice.as_str())
    }

    /// Writes the blanks of a title as dashes, where GitLab does.
    fn with_dashes(&mut self, param: &Param, value: Value) -> Value {
        let Some(text) = value.as_str().filter(|text| param.dashed && text.contains(char::is_whitespace))
        else {
            return value;
        };
        let dashed = text.split_whitespace().collect::<Vec<_>>().join("-");
        self.understood.push(format!("`{}: {text}` as `{dashed}`", param.name));
        Value::from(dashed)
    }

    /// Converts a global id of a project or group to the id as `fullPath`. Its type selects the operation.
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

/// Parses a global id that is given as `fullPath`.
fn global_holder(param: &Param, value: &Value) -> Option<(Scope, u64)> {
    let text = value.as_str().filter(|_| param.name == "fullPath")?.trim();
    let location =
        text.starts_with(super::location::GLOBAL).then(|| Location::parse(text, HolderKind::Either));
    match location?? {
        Location::Id { kind: HolderKind::Project, id } => Some((Scope::Project, id)),
        Location::Id { kind: HolderKind::Group, id } => Some((Scope::Group, id)),
        _ => None,
    }
}

/// Normalizes the location in a value: policy decides on it, and the request is built from it. A value that is not a
/// location is refused if the parameter accepts nothing else.
fn with_location(param: &Param, value: Value) -> Result<Value, Fault> {
    let holds_location = param.name == "fullPath"
        || matches!(param.names, Some(Names::Project | Names::Group | Names::Namespace));
    if !holds_location {
        return Ok(value);
    }
    let normalize = |value: Value| {
        let Value::String(text) = value else { return Ok(value) };
        match Location::parse(&text, HolderKind::Either).and_then(|location| location.wire()) {
            // A global id is kept, as GraphQL requires it. Policy decides on its id.
            Some(_) if text.trim().starts_with(super::location::GLOBAL) => Ok(Value::from(text.trim())),
            Some(wire) => Ok(Value::from(wire)),
            None => Err(Fault::NotALocation {
                name: param.name.clone(),
                given: text.chars().take(100).collect(),
                expected: ACCEPTED_LOCATIONS,
            }),
        }
    };
    match value {
        Value::String(text) if text.trim().is_empty() && param.name != "fullPath" => Ok(Value::String(text)),
        Value::Array(items) => items.into_iter().map(normalize).collect(),
        one => normalize(one),
    }
}

/// Name of the parameter whose value is the default, which is written as `{name}`.
fn referenced_param(default: &Value) -> Option<&str> {
    default.as_str()?.strip_prefix('{')?.strip_suffix('}')
}

/// True if a given value equals that of the target.
fn is_same(given: &Value, said: &str) -> bool {
    let given = plain_text(given);
    given.trim_matches('/').eq_ignore_ascii_case(said)
}

/// True for the word that stands for the user of the token.
fn is_me(word: &str) -> bool {
    word.trim().trim_start_matches('@').eq_ignore_ascii_case(lookup::ME)
}
