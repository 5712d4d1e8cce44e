//! Explains states in an answer, such as `detailed_merge_status`, and offers the action that is next. The words are the
//! catalog's; of the answer, only numbers and plain names go into a call.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::catalog::{Action, Param, StateNote};
use crate::messages::request::NextCall;
use crate::present;
use crate::tools::state::Tools;

/// Begins a pattern of values: any that end with the rest.
const ANY: char = '*';

/// In place of a field: the number of all rows of a list.
const TOTAL: &str = "total";

/// A state of an answer, explained.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedState {
    field: String,
    /// The value; empty for any.
    value: String,
    says: String,
    /// Number of rows with the state, of a list.
    rows: Option<usize>,
    next: Option<NextCall>,
}

impl ExplainedState {
    /// True if the field is among those that were asked for, by which all of an answer is meant if there are none.
    pub fn is_of(&self, fields: &[String]) -> bool {
        self.field == TOTAL || fields.is_empty() || fields.contains(&self.field)
    }

    /// The state without the next call, if that is this action.
    pub fn without_next(mut self, action: &str) -> ExplainedState {
        let is_it = |next: &NextCall| next.arguments.get("action").and_then(Value::as_str) == Some(action);
        self.next = self.next.filter(|next| !is_it(next));
        self
    }
}

/// The explained states of an answer: of a list, those of its first rows that have one, and of its total.
pub fn explain(
    tools: &Tools,
    action: &Action,
    params: &Map<String, Value>,
    answer: &Value,
    total: Option<u64>,
) -> Vec<ExplainedState> {
    let total = total.map(|total| json!({ TOTAL: total.to_string() }));
    let explain_note = |note: &StateNote| {
        let (object, rows) = match answer {
            Value::Array(_) if note.field == TOTAL => (total.as_ref()?, None),
            Value::Array(rows) => {
                let fits = rows.iter().filter(|row| has_state(note, row));
                (fits.clone().next()?, Some(fits.count()))
            }
            object => (object, None),
        };
        has_state(note, object).then(|| ExplainedState {
            field: note.field.clone(),
            value: shown_value(note, object),
            says: note.says.clone(),
            rows,
            next: next_call(tools, note, params, object),
        })
    };
    action.states.iter().filter_map(explain_note).collect()
}

/// The value of a state, of a pattern the one that the answer has; empty for any.
fn shown_value(note: &StateNote, object: &Value) -> String {
    match note.value.strip_prefix(ANY) {
        None => note.value.clone(),
        Some("") => String::new(),
        Some(_) => {
            let text = object.get(&note.field).and_then(Value::as_str).unwrap_or_default();
            let is_number = text.trim_end_matches('+').bytes().all(|byte| byte.is_ascii_digit());
            if is_number { text.to_owned() } else { String::new() }
        }
    }
}

fn has_state(note: &StateNote, object: &Value) -> bool {
    let end = note.value.strip_prefix(ANY);
    match object.get(&note.field) {
        None | Some(Value::Null) => false,
        Some(Value::Array(items)) => end == Some("") && !items.is_empty(),
        Some(Value::String(text)) => end.map_or(*text == note.value, |end| text.ends_with(end)),
        Some(Value::Bool(on)) => end == Some("") || note.value == on.to_string(),
        Some(_) => end == Some(""),
    }
}

/// The next call, with the parameters that it shares with this one and those that it takes from the answer. None if
/// policy denies the action, or if the answer lacks a parameter.
fn next_call(
    tools: &Tools,
    note: &StateNote,
    params: &Map<String, Value>,
    object: &Value,
) -> Option<NextCall> {
    let next = tools.catalog.get(note.next.as_deref()?).ok().flatten()?;
    if !tools.may_run(&next) {
        return None;
    }
    let shared = next.params.iter().filter(|param| param.required || is_place(&param.name));
    let mut taken: Map<String, Value> =
        shared.filter_map(|param| Some((param.name.clone(), params.get(&param.name)?.clone()))).collect();
    for (name, path) in &note.takes {
        taken.insert(name.clone(), plain_value(object, path)?);
    }
    // A composite action has no operation, and one of several scopes needs the parameters of one of them.
    let is_lacking = |param: &&Param| param.required && !taken.contains_key(&param.name);
    let lacking: Vec<&Param> = next.params.iter().filter(is_lacking).collect();
    let is_complete = lacking.is_empty()
        || next
            .operations
            .iter()
            .any(|operation| lacking.iter().all(|param| !param.is_of_scope(operation.scope)));
    is_complete.then(|| NextCall::execute(&next.id, &taken))
}

fn is_place(name: &str) -> bool {
    matches!(name, "fullPath" | "iid")
}

/// The number or plain name at a path.
fn plain_value(object: &Value, path: &str) -> Option<Value> {
    let step = |value: &'_ Value, name: &str| match name.parse::<usize>() {
        Ok(at) => value.get(at).cloned(),
        Err(_) => value.get(name).cloned(),
    };
    let found = path.split('.').try_fold(object.clone(), |value, name| step(&value, name))?;
    match &found {
        Value::Number(_) => Some(found),
        Value::String(text) if present::is_plain(text) => Some(found),
        _ => None,
    }
}

/// Adds the states to an answer, in both forms.
pub fn add_states(structured: &mut Map<String, Value>, text: &mut String, states: &[ExplainedState]) {
    if states.is_empty() {
        return;
    }
    let mut rows = Vec::new();
    for state in states {
        let ExplainedState { field, value, says, rows: count, next } = state;
        let mut row = Map::from_iter([("field".to_owned(), json!(field))]);
        let mut line = field.clone();
        if !value.is_empty() {
            row.insert("value".to_owned(), json!(value));
            let _ = write!(line, " {value}");
        }
        if let Some(count) = count {
            row.insert("rows".to_owned(), json!(count));
            let _ = write!(line, " ({count} {})", if *count == 1 { "row" } else { "rows" });
        }
        if !says.is_empty() {
            row.insert("says".to_owned(), json!(says));
            let _ = write!(line, ": {says}");
        }
        let _ = writeln!(text, "{line}.");
        if let Some(next) = next {
            row.insert("next".to_owned(), json!(next));
            let _ = writeln!(text, "Next: {next}");
        }
        rows.push(Value::Object(row));
    }
    structured.insert("states".to_owned(), Value::Array(rows));
}
