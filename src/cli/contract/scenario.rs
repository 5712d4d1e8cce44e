//! Scenarios of the contract suite: the steps of `catalog/contract.toml`, and what each has to answer.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// The scenarios that are part of the program.
const SCENARIOS: &str = include_str!("../../../catalog/contract.toml");

/// All scenarios, in the order in which they run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenarios {
    #[serde(rename = "kind")]
    pub kinds: Vec<KindScenario>,
}

/// The everyday life of one kind: created, read, listed, changed, deleted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindScenario {
    pub name: String,
    /// Requirement that an instance or a token may lack, such as a license. A refusal of its first step then skips it, and
    /// so does whatever a step says that decides on it.
    #[serde(default)]
    pub needs: Option<String>,
    pub steps: Vec<ScenarioStep>,
}

/// A call of one action. Text values of its parameters that begin with `$` are what an earlier step saved.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioStep {
    pub action: String,
    #[serde(default)]
    pub params: Map<String, Value>,
    /// Its `fullPath`: the throwaway project, its group, or none.
    #[serde(default)]
    pub within: Within,
    /// Names under which parts of the answer are saved, each with its JSON pointer.
    #[serde(default)]
    pub save: BTreeMap<String, String>,
    #[serde(default)]
    pub expect: Vec<Expectation>,
    /// True for what GitLab does in the background: the step is repeated for some seconds until it holds.
    #[serde(default)]
    pub eventually: bool,
    /// True if the instance lacks what the scenario needs unless the step holds.
    #[serde(default)]
    pub decides: bool,
    /// The kind of the error that it has to be refused with.
    #[serde(default)]
    pub fails: Option<String>,
    /// The status that GitLab has to refuse it with.
    #[serde(default)]
    pub status: Option<u64>,
}

/// The `fullPath` of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Within {
    #[default]
    Project,
    Group,
    Nowhere,
}

/// A condition on an answer's data at a JSON pointer.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expectation {
    /// JSON pointer; the whole data without one.
    pub at: String,
    pub equals: Option<Value>,
    /// A part of a text, or an item of a list.
    pub contains: Option<Value>,
    /// Fields of one row of a list.
    pub row: Option<Value>,
    /// Fields that no row of a list has.
    pub no_row: Option<Value>,
    /// The number of rows.
    pub count: Option<usize>,
    /// The JSON type: `string`, `number`, `boolean`, `array`, `object`, `null`.
    #[serde(rename = "type")]
    pub json_type: Option<String>,
}

/// Parses the scenarios of the program.
///
/// # Errors
/// The file is not valid, which a test excludes.
pub fn scenarios() -> Result<Scenarios, toml::de::Error> {
    toml::from_str(SCENARIOS)
}

impl Expectation {
    /// How the data differs; none if it holds. `fill` puts in what earlier steps saved. The text has the names of these
    /// values and not the values, as they may be private.
    pub fn difference(&self, data: &Value, fill: impl Fn(&Value) -> Value) -> Option<String> {
        let place = if self.at.is_empty() { "the answer" } else { self.at.as_str() };
        let Some(value) = data.pointer(&self.at) else {
            let is_null = self.equals.as_ref().is_some_and(Value::is_null);
            return (!is_null).then(|| format!("{place} is missing"));
        };
        let rows = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let has = |fields: &Value| rows.iter().any(|row| has_fields(row, &fill(fields)));
        if let Some(wanted) = self.equals.as_ref().filter(|wanted| fill(wanted) != *value) {
            return Some(format!("{place} is {} where {wanted} was expected", describe(value)));
        }
        if let Some(part) = self.contains.as_ref().filter(|part| !contains(value, &fill(part))) {
            return Some(format!("{place} does not have {part}"));
        }
        if let Some(fields) = self.row.as_ref().filter(|fields| !has(fields)) {
            return Some(format!("no row of {place} has {fields}"));
        }
        if let Some(fields) = self.no_row.as_ref().filter(|fields| has(fields)) {
            return Some(format!("a row of {place} has {fields}, which the call excludes"));
        }
        if let Some(count) = self.count.filter(|count| *count != rows.len()) {
            return Some(format!("{place} has {} rows where {count} were expected", rows.len()));
        }
        let wanted = self.json_type.as_deref().filter(|wanted| *wanted != type_name(value))?;
        Some(format!("{place} is of type {} where {wanted} was expected", type_name(value)))
    }
}

fn has_fields(row: &Value, fields: &Value) -> bool {
    fields.as_object().into_iter().flatten().all(|(pointer, wanted)| {
        let found = if pointer.starts_with('/') { row.pointer(pointer) } else { row.get(pointer) };
        found == Some(wanted)
    })
}

fn contains(value: &Value, part: &Value) -> bool {
    match (value, part) {
        (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
        (Value::Array(items), part) => items.contains(part),
        _ => false,
    }
}

/// A value for the report, which may be public: a short word as it is, others by their type.
fn describe(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) => value.to_string(),
        Value::String(text) if text.len() <= 40 && !text.contains(['/', '@']) => value.to_string(),
        value => format!("another {}", type_name(value)),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
