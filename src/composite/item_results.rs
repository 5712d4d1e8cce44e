//! Outcomes of a composite action's items, in order, as data and text: a row with its status, and a text in tags that
//! name the item.

use serde_json::{Map, Value, json};

use crate::composite::run::{CompositeRun, failed};
use crate::present;
use crate::tools::{Answer, ToolError};

/// The outcomes so far.
#[derive(Debug, Default)]
pub struct ItemResults {
    rows: Vec<Value>,
    text: String,
}

impl ItemResults {
    /// Adds the outcome of an item, in a tag with the given attributes.
    pub fn add(&mut self, mark: &str, attributes: Map<String, Value>, outcome: &Result<Answer, ToolError>) {
        let (status, text) = match outcome {
            Ok(answer) => (if is_preview(answer) { "preview" } else { "ok" }, answer.text.clone()),
            Err(error) => ("error", error.text()),
        };
        let details = match outcome {
            Ok(answer) => {
                let own = |name: &String| !matches!(name.as_str(), "action" | "operation" | "preview");
                answer.structured.iter().filter(|(name, _)| own(name)).map(cloned).collect()
            }
            Err(error) => Map::from_iter([("error".to_owned(), failed(error))]),
        };
        self.put(mark, attributes, status, details, &text);
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
        self.text.push_str(&present::marked_as(mark, &row, text));
        row.extend(details);
        self.rows.push(Value::Object(row));
    }

    /// The rows, and the text.
    pub fn parts(self) -> (Value, String) {
        (Value::Array(self.rows), self.text)
    }

    /// The combined answer.
    pub fn answer(self, run: &CompositeRun<'_>, notes: &[String]) -> Answer {
        run.answer(Value::Array(self.rows), self.text, Map::new(), notes)
    }
}

/// True if an answer is a preview.
pub fn is_preview(answer: &Answer) -> bool {
    answer.structured.contains_key("preview")
}

fn cloned((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}
