//! Rules of `catalog/rules.toml` on parameters that this server adds or fills in: edits of long texts, marks before a text,
//! waits for a state, names of labels, changes of lists, and pins to the state of an object.

use std::collections::BTreeSet;

use gitlab_mcp::catalog::{
    Base, Json, KeptValue, LabelNames, ListChange, Param, ParamKind, Place, Presumed, Raise, StatePin,
    StateWait, TextEdit, TextMark, When,
};
use serde::Deserialize;
use serde_json::json;

use crate::rule_target::{Rule, RuleTarget};

/// Edits of long texts: the parameters, and the texts that they change. `*` in `read` is the domain of the action.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditRules {
    params: Vec<Param>,
    texts: Vec<Rule<TextEdit>>,
}

/// Waits for a state: the parameters, and the states.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitRules {
    params: Vec<Param>,
    states: Vec<Rule<StateWait>>,
}

/// Names of labels: the parameter that lets GitLab create some, and the parameters that name them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelRules {
    create: Param,
    rows: Vec<Rule<LabelNames>>,
}

/// Marks of texts, and the note of the parameter that sets them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarkRule {
    actions: Vec<String>,
    set: TextMark,
    note: String,
}

impl RuleTarget<'_> {
    /// Sets the parameters that tie a call to the state of an object.
    pub fn set_pins(&mut self, rules: &[Rule<StatePin>]) {
        for Rule { actions, set: pin } in rules {
            let row = format!("pins {}", pin.param);
            self.check_read(&row, &pin.read, pin.takes.keys());
            pin.since.iter().for_each(|since| self.check_id(&row, since));
            self.each(&row, actions, |action, faults| {
                if action.param(&pin.param).is_none() {
                    faults.push(format!("{row}: {} has no such parameter", action.id));
                }
                action.pin = Some(pin.clone());
            });
        }
    }

    /// Sets the marks of texts, and adds the parameter behind the text.
    pub fn set_text_marks(&mut self, rules: &[MarkRule]) {
        for MarkRule { actions, set, note } in rules {
            let row = format!("text_marks {}", set.param);
            set.read.iter().for_each(|read| self.check_id(&row, read));
            let param =
                Param { kind: ParamKind { base: Base::Boolean, many: false }, ..own(&set.param, note) };
            self.each(&row, actions, |action, faults| {
                let row = format!("{row}: {}", action.id);
                let required =
                    action.params.iter().rfind(|param| param.required).map(|param| param.name.clone());
                let is_required = action.param(&set.text).is_some_and(|text| text.required);
                let behind = if is_required { required.unwrap_or_default() } else { set.text.clone() };
                add_params(&mut action.params, &behind, std::slice::from_ref(&param), &row, faults);
                for names in action.one_of.iter_mut().filter(|names| names.contains(&set.text)) {
                    names.push(set.param.clone());
                }
                action.text_mark = Some(set.clone());
            });
        }
    }

    /// Sets the parameters that keep their value: one of those that describe the change is needed then.
    pub fn set_kept_values(&mut self, rules: &[Rule<KeptValue>]) {
        for Rule { actions, set: kept } in rules {
            let row = format!("kept_values {}", kept.param);
            self.check_id(&row, &kept.read);
            self.each(&row, actions, |action, faults| {
                match action.params.iter_mut().find(|param| param.name == kept.param && param.required) {
                    Some(param) => param.required = false,
                    None => faults.push(format!("{row}: {} does not require it", action.id)),
                }
                let changes = action.params.iter().filter(|param| param.place == Place::Body);
                action.one_of.push(changes.map(|param| param.name.clone()).collect());
                action.kept = Some(kept.clone());
            });
        }
    }

    /// Sets the lists that calls may change in parts, and adds the parameters behind the list.
    pub fn set_list_changes(&mut self, rules: &[Rule<ListChange>]) {
        for Rule { actions, set: change } in rules {
            let row = format!("list_changes {}", change.whole);
            self.check_id(&row, &change.read);
            self.each(&row, actions, |action, faults| {
                let whole = action.param(&change.whole).cloned().unwrap_or_default();
                let parts = [
                    own(&change.add, "Added to the present ones"),
                    own(&change.remove, "Taken from the present ones"),
                ];
                let parts = parts.map(|part| Param { kind: whole.kind, names: whole.names, ..part });
                let row = format!("{row}: {}", action.id);
                add_params(&mut action.params, &change.whole, &parts, &row, faults);
                for names in action.one_of.iter_mut().filter(|names| names.contains(&change.whole)) {
                    names.extend([change.add.clone(), change.remove.clone()]);
                }
                action.list_changes.push(change.clone());
            });
        }
    }

    /// Sets the values that calls have by their other parameters.
    pub fn set_presumed(&mut self, rules: &[Rule<Presumed>]) {
        for Rule { actions, set: presumed } in rules {
            let row = format!("presumed {}", presumed.param);
            self.each(&row, actions, |action, faults| {
                let is_known = |name: &&String| action.param(name).is_some();
                let given: Vec<String> = presumed.given.iter().filter(is_known).cloned().collect();
                if given.is_empty() || action.param(&presumed.param).is_none() {
                    faults.push(format!("{row}: {} has no such parameters", action.id));
                }
                action.presumed.push(Presumed { given, ..presumed.clone() });
            });
        }
    }

    /// Sets the texts that calls may change in parts, and adds the parameters behind the text. A text that was required is
    /// one of the three then.
    pub fn set_edits(&mut self, rules: &EditRules) {
        for Rule { actions, set: edit } in &rules.texts {
            let row = format!("edits {}", edit.text);
            let mut reads = BTreeSet::new();
            self.each(&row, actions, |action, faults| {
                let edit = TextEdit { read: edit.read.replace('*', action.domain()), ..edit.clone() };
                reads.insert(edit.read.clone());
                let row = format!("{row}: {}", action.id);
                let first = edit.text.split('.').next().unwrap_or_default();
                let list = match &edit.within {
                    None => Some(&mut action.params),
                    Some(within) => {
                        let list = action.params.iter_mut().find(|param| param.name == *within);
                        list.map(|param| &mut param.fields)
                    }
                };
                match list {
                    Some(list) => add_params(list, first, &rules.params, &row, faults),
                    None => faults.push(format!("{row} has no list {:?}", edit.within)),
                }
                let whole = action.params.iter_mut().find(|param| param.name == edit.text && param.required);
                if let Some(text) = whole {
                    text.required = false;
                    let added = rules.params.iter().map(|param| param.name.clone());
                    action.one_of.push([edit.text.clone()].into_iter().chain(added).collect());
                }
                action.edit = Some(edit);
            });
            reads.iter().for_each(|read| self.check_read(&row, read, edit.takes.keys()));
        }
    }

    /// Sets the states that calls may wait for, and adds the parameters.
    pub fn set_waits(&mut self, rules: &WaitRules) {
        for Rule { actions, set: wait } in &rules.states {
            let row = format!("waits {}", wait.read);
            self.check_read(&row, &wait.read, wait.takes.keys());
            self.each(&row, actions, |action, faults| {
                let last = action.params.iter().rposition(|param| param.required);
                let at = last.map_or(0, |at| at + 1);
                let row = format!("{row}: {}", action.id);
                insert_params(&mut action.params, at, &rules.params, &row, faults);
                action.wait = Some(wait.clone());
            });
        }
    }

    /// Sets the parameters with names of labels.
    pub fn set_label_names(&mut self, rules: &LabelRules) {
        let create = &rules.create;
        for Rule { actions, set: labels } in &rules.rows {
            let row = "label_names";
            self.check_id(row, &labels.read);
            self.check_id(row, &labels.creates);
            self.each(row, actions, |action, faults| {
                let row = format!("{row}: {}", action.id);
                let Some(last) = labels.params.iter().rfind(|name| action.param(name).is_some()) else {
                    faults.push(format!("{row} has none of the parameters"));
                    return;
                };
                add_params(&mut action.params, last, std::slice::from_ref(create), &row, faults);
                // Creating a label is no more than the action itself does: the risk stays, the effect is added.
                action.raises.push(Raise {
                    param: create.name.clone(),
                    when: When::Is(Json(json!(true))),
                    risk: action.risk,
                    effects: vec![labels.creates.clone()],
                });
                action.label_names = Some(labels.clone());
            });
        }
    }
}

/// A parameter that GitLab does not have.
fn own(name: &str, note: &str) -> Param {
    Param {
        name: name.to_owned(),
        place: Place::Selector,
        undocumented: true,
        note: Some(note.to_owned()),
        ..Param::default()
    }
}

/// Adds parameters behind the one of that name.
fn add_params(list: &mut Vec<Param>, behind: &str, new: &[Param], row: &str, faults: &mut Vec<String>) {
    match list.iter().position(|param| param.name == behind) {
        Some(at) => insert_params(list, at + 1, new, row, faults),
        None => faults.push(format!("{row} has no parameter {behind}")),
    }
}

fn insert_params(list: &mut Vec<Param>, at: usize, new: &[Param], row: &str, faults: &mut Vec<String>) {
    let is_taken = |param: &&Param| list.iter().any(|known| known.name == param.name);
    let taken = new.iter().filter(is_taken).map(|param| &param.name);
    faults.extend(taken.map(|name| format!("{row} has a parameter {name} already")));
    list.splice(at..at, new.iter().cloned());
}
