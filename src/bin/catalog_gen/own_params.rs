//! Rules of `catalog/rules.toml` on parameters that this server adds or fills in: edits of long texts, marks before a text,
//! waits for a state, names of labels, changes of lists, and pins to the state of an object.

use gitlab_mcp::catalog::{
    Action, Base, Json, KeptValue, LabelNames, ListChange, Param, ParamKind, Place, Presumed, Raise,
    StatePin, StateWait, TextEdit, TextMark, When,
};
use serde::Deserialize;
use serde_json::json;

use crate::action_ids::Ids;

/// Edits of long texts: the parameters, and the texts that they change.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditRules {
    params: Vec<Param>,
    texts: Vec<TextRule>,
}

/// A text of actions. `*` in `read` is the domain of the action.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TextRule {
    actions: Vec<String>,
    edit: TextEdit,
}

/// Waits for a state: the parameters, and the states.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitRules {
    params: Vec<Param>,
    states: Vec<WaitRule>,
}

/// A state that actions wait for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitRule {
    actions: Vec<String>,
    wait: StateWait,
}

/// Parameters of actions with names of labels.
/// Names of labels: the parameter that lets GitLab create some, and the parameters that name them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelRules {
    create: Param,
    rows: Vec<LabelRule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelRule {
    actions: Vec<String>,
    labels: LabelNames,
}

/// Marks of texts, and the parameter that sets them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarkRule {
    actions: Vec<String>,
    set: TextMark,
    note: String,
}

/// Parameters that GitLab needs on every change, and that calls may leave out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptRule {
    actions: Vec<String>,
    kept: KeptValue,
}

/// Parameters that change a list in part.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListRule {
    actions: Vec<String>,
    change: ListChange,
}

/// Values that calls have by their other parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresumedRule {
    actions: Vec<String>,
    presumed: Presumed,
}

/// Parameters that tie a call to the state of an object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinRule {
    actions: Vec<String>,
    pin: StatePin,
}

/// Sets the parameters that tie a call to the state of an object.
pub fn set_pins(rules: &[PinRule], actions: &mut [Action], faults: &mut Vec<String>) {
    let ids = Ids::new(actions);
    for PinRule { actions: patterns, pin } in rules {
        let row = format!("pins {}", pin.param);
        for read in [Some(&pin.read), pin.since.as_ref()].into_iter().flatten() {
            ids.expand(read, &row, faults);
        }
        let read = actions.iter().find(|action| action.id == pin.read);
        let unknown = pin.takes.keys().filter(|name| read.is_some_and(|read| read.param(name).is_none()));
        faults.extend(unknown.map(|name| format!("{row}: no parameter {name} of {}", pin.read)));
        for id in expand_all(patterns, &ids, &row, faults) {
            let Some(action) = actions.iter_mut().find(|action| action.id == id) else { continue };
            if action.param(&pin.param).is_none() {
                faults.push(format!("{row}: {id} has no such parameter"));
            }
            action.pin = Some(pin.clone());
        }
    }
}

/// Sets the marks of texts, and adds the parameter behind the text.
pub fn set_text_marks(rules: &[MarkRule], actions: &mut [Action], faults: &mut Vec<String>) {
    let ids = Ids::new(actions);
    for MarkRule { actions: patterns, set, note } in rules {
        let row = format!("text_marks {}", set.param);
        set.read.iter().for_each(|read| drop(ids.expand(read, &row, faults)));
        for id in expand_all(patterns, &ids, &row, faults) {
            let Some(action) = actions.iter_mut().find(|action| action.id == id) else { continue };
            let param = Param {
                name: set.param.clone(),
                place: Place::Selector,
                kind: ParamKind { base: Base::Boolean, many: false },
                undocumented: true,
                note: Some(note.clone()),
                ..Param::default()
            };
            let row = format!("{row}: {id}");
            let required = action.params.iter().rfind(|param| param.required).map(|param| param.name.clone());
            let is_required = action.param(&set.text).is_some_and(|text| text.required);
            let behind = if is_required { required.unwrap_or_default() } else { set.text.clone() };
            add_params(&mut action.params, &behind, &[param], &row, faults);
            for names in action.one_of.iter_mut().filter(|names| names.contains(&set.text)) {
                names.push(set.param.clone());
            }
            action.text_mark = Some(set.clone());
        }
    }
}

/// Sets the parameters that keep their value: one of those that describe the change is needed then.
pub fn set_kept_values(rules: &[KeptRule], actions: &mut [Action], faults: &mut Vec<String>) {
    let ids = Ids::new(actions);
    for KeptRule { actions: patterns, kept } in rules {
        let row = format!("kept_values {}", kept.param);
        ids.expand(&kept.read, &row, faults);
        for id in expand_all(patterns, &ids, &row, faults) {
            let Some(action) = actions.iter_mut().find(|action| action.id == id) else { continue };
            match action.params.iter_mut().find(|param| param.name == kept.param && param.required) {
                Some(param) => param.required = false,
                None => faults.push(format!("{row}: {id} does not require it")),
            }
            let changes = action.params.iter().filter(|param| param.place == Place::Body);
            action.one_of.push(changes.map(|param| param.name.clone()).collect());
            action.kept = Some(kept.clone());
        }
    }
}

/// Sets the lists that calls may change in parts, and adds the parameters behind the list.
pub fn set_list_changes(rules: &[ListRule], actions: &mut [Action], faults: &mut Vec<String>) {
    let ids = Ids::new(actions);
    for ListRule { actions: patterns, change } in rules {
        let row = format!("list_changes {}", change.whole);
        ids.expand(&change.read, &row, faults);
        for id in expand_all(patterns, &ids, &row, faults) {
            let Some(action) = actions.iter_mut().find(|action| action.id == id) else { continue };
            let whole = action.param(&change.whole).cloned().unwrap_or_default();
            let part = |name: &str, note: &str| Param {
                name: name.to_owned(),
                place: Place::Selector,
                kind: whole.kind,
                names: whole.names,
                undocumented: true,
                note: Some(note.to_owned()),
                ..Param::default()
            };
            let parts = [
                part(&change.add, "Added to the present ones"),
                part(&change.remove, "Taken from the present ones"),
            ];
            add_params(&mut action.params, &change.whole, &parts, &format!("{row}: {id}"), faults);
            for names in action.one_of.iter_mut().filter(|names| names.contains(&change.whole)) {
                names.extend([change.add.clone(), change.remove.clone()]);
            }
            action.list_changes.push(change.clone());
        }
    }
}

/// Sets the values that calls have by their other parameters.
pub fn set_presumed(rules: &[PresumedRule], actions: &mut [Action], faults: &mut Vec<String>) {
    let ids = Ids::new(actions);
    for PresumedRule { actions: patterns, presumed } in rules {
        let row = format!("presumed {}", presumed.param);
        for id in expand_all(patterns, &ids, &row, faults) {
            let Some(action) = actions.iter_mut().find(|action| action.id == id) else { continue };
            let is_known = |name: &&String| action.param(name).is_some();
            let given: Vec<String> = presumed.given.iter().filter(is_known).cloned().collect();
            if given.is_empty() || action.param(&presumed.param).is_none() {
                faults.push(format!("{row}: {id} has no such parameters"));
            }
            action.presumed.push(Presumed { given, ..presumed.clone() });
        }
    }
}

/// Sets the texts that calls may change in parts, and adds the parameters behind the text. A text that was required is one
/// of the three then.
pub fn set_edits(rules: &EditRules, actions: &mut [Action], faults: &mut Vec<String>) {
    let ids = Ids::new(actions);
    for TextRule { actions: patterns, edit } in &rules.texts {
        let row = format!("edits {}", edit.text);
        for id in expand_all(patterns, &ids, &row, faults) {
            let domain = id.split('.').next().unwrap_or_default();
            let edit = TextEdit { read: edit.read.replace('*', domain), ..edit.clone() };
            let read = actions.iter().find(|action| action.id == edit.read);
            match read {
                None => faults.push(format!("{row}: there is no action {}", edit.read)),
                Some(read) => {
                    let unknown = edit.takes.keys().filter(|name| read.param(name).is_none());
                    faults.extend(unknown.map(|name| format!("{row}: no parameter {name} of {}", read.id)));
                }
            }
            let Some(action) = actions.iter_mut().find(|action| action.id == id) else { continue };
            let first = edit.text.split('.').next().unwrap_or_default();
            let list = match &edit.within {
                None => Some(&mut action.params),
                Some(within) => action
                    .params
                    .iter_mut()
                    .find(|param| param.name == *within)
                    .map(|param| &mut param.fields),
            };
            match list {
                Some(list) => add_params(list, first, &rules.params, &format!("{row}: {id}"), faults),
                None => faults.push(format!("{row}: {id} has no list {:?}", edit.within)),
            }
            let whole = action.params.iter_mut().find(|param| param.name == edit.text && param.required);
            if let Some(text) = whole {
                text.required = false;
                let added = rules.params.iter().map(|param| param.name.clone());
                action.one_of.push([edit.text.clone()].into_iter().chain(added).collect());
            }
            action.edit = Some(edit);
        }
    }
}

/// Sets the states that calls may wait for, and adds the parameters.
pub fn set_waits(rules: &WaitRules, actions: &mut [Action], faults: &mut Vec<String>) {
    let ids = Ids::new(actions);
    for WaitRule { actions: patterns, wait } in &rules.states {
        let row = format!("waits {}", wait.read);
        ids.expand(&wait.read, &row, faults);
        let read = actions.iter().find(|action| action.id == wait.read);
        let unknown = wait.takes.keys().filter(|name| read.is_some_and(|read| read.param(name).is_none()));
        faults.extend(unknown.map(|name| format!("{row}: no parameter {name} of {}", wait.read)));
        for id in expand_all(patterns, &ids, &row, faults) {
            let Some(action) = actions.iter_mut().find(|action| action.id == id) else { continue };
            let last = action.params.iter().rposition(|param| param.required);
            let at = last.map_or(0, |at| at + 1);
            for (place, param) in rules.params.iter().enumerate() {
                if action.param(&param.name).is_some() {
                    faults.push(format!("{row}: {id} has a parameter {} already", param.name));
                }
                action.params.insert((at + place).min(action.params.len()), param.clone());
            }
            action.wait = Some(wait.clone());
        }
    }
}

/// Sets the parameters with names of labels.
pub fn set_label_names(rules: &LabelRules, actions: &mut [Action], faults: &mut Vec<String>) {
    let ids = Ids::new(actions);
    let create = &rules.create;
    for LabelRule { actions: patterns, labels } in &rules.rows {
        let row = "label_names";
        ids.expand(&labels.read, row, faults);
        ids.expand(&labels.creates, row, faults);
        for id in expand_all(patterns, &ids, row, faults) {
            let Some(action) = actions.iter_mut().find(|action| action.id == id) else { continue };
            let is_taken = |name: &String| action.param(name).is_some();
            let Some(last) = labels.params.iter().rfind(|name| is_taken(name)).cloned() else {
                faults.push(format!("{row}: {id} has none of the parameters"));
                continue;
            };
            add_params(
                &mut action.params,
                &last,
                std::slice::from_ref(create),
                &format!("{row}: {id}"),
                faults,
            );
            // Creating a label is no more than the action itself does: the risk stays, the effect is added.
            action.raises.push(Raise {
                param: create.name.clone(),
                when: When::Is(Json(json!(true))),
                risk: action.risk,
                effects: vec![labels.creates.clone()],
            });
            action.label_names = Some(labels.clone());
        }
    }
}

fn expand_all(patterns: &[String], ids: &Ids, row: &str, faults: &mut Vec<String>) -> Vec<String> {
    patterns.iter().flat_map(|pattern| ids.expand(pattern, row, faults)).collect()
}

/// Adds parameters behind the one of that name.
fn add_params(list: &mut Vec<Param>, behind: &str, new: &[Param], row: &str, faults: &mut Vec<String>) {
    let Some(at) = list.iter().position(|param| param.name == behind) else {
        faults.push(format!("{row} has no parameter {behind}"));
        return;
    };
    for (place, param) in new.iter().enumerate() {
        if list.iter().any(|known| known.name == param.name) {
            faults.push(format!("{row} has a parameter {} already", param.name));
        }
        list.insert(at + 1 + place, param.clone());
    }
}
