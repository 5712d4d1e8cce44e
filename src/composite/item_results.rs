//! Outcomes of a composite action's items, in order, as data and text: a row with its status, and a text in tags that
//! name the item. An error that several items have is shown once, with those items.

use serde_json::{Map, Value, json};

use crate::catalog::KindRow;
use crate::composite::byte_budget::render_within_budget;
use crate::composite::run::{CompositeRun, failed};
use crate::present;
use crate::text::{pick_fields, plain_text};
use crate::tools::response::Outcome;
use crate::tools::{Answer, ToolError, header};

/// The outcomes so far.
#[derive(Debug, Default)]
pub struct ItemResults {
    items: Vec<Item>,
}

/// An item with its outcome.
#[derive(Debug)]
struct Item {
    mark: String,
    /// The attributes that name the item, and its status.
    row: Map<String, Value>,
    /// Parameters that distinguish it from other items with the same error.
    params: Map<String, Value>,
    details: Map<String, Value>,
    text: String,
    /// Its error without the parts that only this item has.
    error: Option<Value>,
}

impl ItemResults {
    /// Adds the outcome of an item, in a tag with the given attributes.
    pub fn add(&mut self, mark: &str, attributes: Map<String, Value>, outcome: &Result<Answer, ToolError>) {
        self.add_call(mark, attributes, &Map::new(), outcome);
    }

    /// Adds the outcome of a call with these parameters, in a tag with the given attributes.
    pub fn add_call(
        &mut self,
        mark: &str,
        attributes: Map<String, Value>,
        params: &Map<String, Value>,
        outcome: &Result<Answer, ToolError>,
    ) {
        let (status, text) = match outcome {
            Ok(answer) => (if answer.is_preview() { "preview" } else { "ok" }, answer.text.clone()),
            Err(error) => ("error", error.text()),
        };
        let details = match outcome {
            Ok(answer) => pick_fields(&answer.structured, |name| {
                !matches!(name.as_str(), "action" | "operation" | "preview")
            }),
            Err(error) => Map::from_iter([(ERROR.to_owned(), failed(error))]),
        };
        self.put(mark, attributes, status, details, &text);
        if let (Some(item), Err(error)) = (self.items.last_mut(), outcome) {
            item.error = Some(comparable(failed(error), params));
            item.params = params.clone();
        }
    }

    /// An item with only an outcome.
    pub fn put(
        &mut self,
        mark: &str,
        attributes: Map<String, Value>,
        status: &str,
        details: Map<String, Value>,
        text: &str,
    ) {
        let mut row = attributes;
        row.insert("status".to_owned(), json!(status));
        let (mark, text) = (mark.to_owned(), text.to_owned());
        self.items.push(Item { mark, row, params: Map::new(), details, text, error: None });
    }

    /// The rows, and the text.
    pub fn parts(self) -> (Value, String) {
        let mut rows = Vec::new();
        let mut text = String::new();
        for (at, item) in self.items.iter().enumerate() {
            let mut row = item.row.clone();
            match self.items.iter().take(at).position(|earlier| earlier.has_error_of(item)) {
                Some(first) => {
                    let part = |name: &str| item.details.get(ERROR).and_then(|error| error.get(name));
                    let mut error = Map::from_iter([
                        ("kind".to_owned(), json!(part("kind"))),
                        ("same_as_row".to_owned(), json!(first + 1)),
                    ]);
                    error.extend(part(APPLIED).map(|applied| (APPLIED.to_owned(), applied.clone())));
                    row.insert(ERROR.to_owned(), Value::Object(error));
                }
                None => {
                    let same: Vec<&Item> =
                        self.items.iter().skip(at + 1).filter(|later| item.has_error_of(later)).collect();
                    let says = if same.is_empty() { row.clone() } else { joined(item, &same) };
                    text.push_str(&present::marked_as(&item.mark, &says, &item.text));
                    row.extend(item.details.clone());
                }
            }
            rows.push(Value::Object(row));
        }
        (Value::Array(rows), text)
    }

    /// The combined answer.
    pub fn answer(mut self, run: &CompositeRun<'_>, notes: &[String]) -> Answer {
        let shared = self.take_shared_notes();
        let notes: Vec<String> = notes.iter().cloned().chain(shared).collect();
        let (rows, text) = self.parts();
        run.answer(rows, text, Map::new(), &notes)
    }

    /// Takes the notes that every item has: they are said once, for all.
    fn take_shared_notes(&mut self) -> Vec<String> {
        let Some((first, others)) = self.items.split_first() else { return Vec::new() };
        let is_shared = |note: &String| others.iter().all(|item| item.notes().any(|other| other == note));
        let shared: Vec<String> =
            first.notes().filter(|note| !others.is_empty() && is_shared(note)).cloned().collect();
        for item in &mut self.items {
            for note in &shared {
                let line = header::note_line(note);
                // Notes are last: the same words in a text before them are not ours.
                if let Some(at) = item.text.rfind(&line) {
                    item.text.replace_range(at..at + line.len(), "");
                }
            }
            if let Some(Value::Array(notes)) = item.details.get_mut(NOTES) {
                notes.retain(|note| !shared.iter().any(|said| note == said));
            }
            item.details.retain(|name, value| name != NOTES || *value != json!([]));
        }
        shared
    }
}

/// The attributes that name an item, and its kind if that is known.
pub fn item_attributes(kind: Option<&KindRow>, target: &str) -> Map<String, Value> {
    let kind = kind.map(|kind| ("kind".to_owned(), json!(kind.name)));
    kind.into_iter().chain([("target".to_owned(), json!(target))]).collect()
}

/// The answer with the outcomes of items, each with its attributes, within the size limit of one answer.
pub fn render_items(
    run: &CompositeRun<'_>,
    attributes: Vec<Map<String, Value>>,
    outcomes: Vec<Result<Outcome, ToolError>>,
) -> Answer {
    let mut items = ItemResults::default();
    for (attributes, answer) in attributes.into_iter().zip(render_within_budget(run.tools, outcomes)) {
        items.add("item", attributes, &answer);
    }
    items.answer(run, &[])
}

/// The field of a row with its notes.
const NOTES: &str = "notes";

/// The field of a row with its error.
const ERROR: &str = "error";

/// The field of an error that says if the change may have been made.
const APPLIED: &str = "applied";

impl Item {
    fn notes(&self) -> impl Iterator<Item = &String> {
        let notes = self.details.get(NOTES).and_then(Value::as_array).into_iter().flatten();
        notes.filter_map(|note| match note {
            Value::String(text) => Some(text),
            _ => None,
        })
    }

    fn has_error_of(&self, other: &Item) -> bool {
        self.error.is_some() && self.error == other.error && self.mark == other.mark
    }
}

/// The error without the number of its request, and without the call's own parameters in the call to make next.
fn comparable(mut error: Value, params: &Map<String, Value>) -> Value {
    if let Value::Object(error) = &mut error {
        error.shift_remove("request_id");
    }
    if let Some(Value::Object(next)) = error.pointer_mut("/fix/arguments/params") {
        next.retain(|name, value| params.get(name) != Some(value));
    }
    error
}

/// The attributes of items with the same error: a value that differs is that of each, and so is a parameter.
fn joined(first: &Item, others: &[&Item]) -> Map<String, Value> {
    let each = |of: fn(&Item) -> &Map<String, Value>, name: &str| -> Option<Vec<Value>> {
        std::iter::once(&first).chain(others).map(|item| of(item).get(name).cloned()).collect()
    };
    let is_same = |values: &[Value]| values.iter().all(|value| Some(value) == values.first());
    let list = |values: &[Value]| json!(values.iter().map(plain_text).collect::<Vec<_>>().join(", "));
    let mut says = Map::new();
    for (name, value) in &first.row {
        let values = each(|item| &item.row, name).filter(|values| !is_same(values));
        says.insert(name.clone(), values.map_or_else(|| value.clone(), |values| list(&values)));
    }
    let is_plain = |value: &Value| {
        value.is_number() || value.as_str().is_some_and(|text| text.len() < MAX_NAMING_VALUE_BYTES)
    };
    for name in first.params.keys().filter(|name| present::is_plain(name)) {
        let values = each(|item| &item.params, name);
        let values = values.filter(|values| !is_same(values) && values.iter().all(is_plain));
        if let Some(values) = values.filter(|_| !says.contains_key(name)) {
            says.insert(name.clone(), list(&values));
        }
    }
    // Nothing distinguishes them but their number.
    if says == first.row {
        says.insert("items".to_owned(), json!(others.len() + 1));
    }
    says
}

/// Maximum length of a parameter's value that names an item.
const MAX_NAMING_VALUE_BYTES: usize = 60;
