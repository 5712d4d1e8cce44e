//! A tool before it is customized: its own arguments, and a branch for each of its actions.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::catalog::{Action, Risk, Words, input_schema};
use crate::surface::names::is_plain;
use crate::surface::tool_definition::Annotations;

/// Detail of the parameters in the schema of a tool of several actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParamSchema {
    /// An object without its fields, except for parameters with a description written for this server.
    #[default]
    Opaque,
    /// Their names, types and choices.
    Compact,
    /// Also their descriptions.
    Full,
}

/// Arrangement of several actions in a tool's schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchemaMode {
    /// One object with every parameter of any action, none of them required.
    #[default]
    Flat,
    /// `oneOf`, an alternative for each action.
    Discriminated,
}

/// Place of the actions' parameters in a tool's arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// No place: the tool has no action.
    #[default]
    Plain,
    /// Next to the tool's own arguments, for a tool of one action.
    Beside,
    /// In `params`, for a tool of several actions.
    Within(ParamSchema),
}

/// A tool before it is customized.
#[derive(Clone, Debug, Default)]
pub struct Source {
    pub name: String,
    pub title: Option<String>,
    /// The description; empty if that of its one action is used.
    pub description: String,
    /// True if the description was written for this server.
    pub described: bool,
    /// The tool's own arguments, by name.
    pub own: Map<String, Value>,
    /// The required ones of them.
    pub required: Vec<&'static str>,
    pub branches: Vec<Branch>,
    /// The tool of its family on other surfaces, by which an override may name it too.
    pub family_tool: Option<String>,
    pub form: Form,
    pub output: Option<Map<String, Value>>,
    pub annotations: Annotations,
}

/// An action among those of a tool.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The action's id.
    pub action: String,
    pub risk: Risk,
    pub description: String,
    /// True if the description was written for this server.
    pub told: bool,
    /// The schema of each parameter.
    pub params: Map<String, Value>,
    /// The parameters with a description written for this server.
    pub told_params: BTreeSet<String>,
    pub required: Vec<String>,
}

impl Branch {
    /// The branch of an action.
    pub fn new(action: &Action, words: &Words) -> Branch {
        let mut schema = input_schema(action, words);
        let mut take = |name: &str| schema.get_mut(name).map(Value::take);
        let mut params = match take("properties") {
            Some(Value::Object(params)) => params,
            _ => Map::new(),
        };
        params.values_mut().for_each(one_type);
        let required = take("required").and_then(|names| serde_json::from_value(names).ok());
        Branch {
            action: action.id.clone(),
            risk: action.risk,
            description: action.summary.clone(),
            told: false,
            told_params: BTreeSet::new(),
            params: params.into_iter().filter(|(name, _)| is_plain(name)).collect(),
            required: required.unwrap_or_default(),
        }
    }

    /// The part of the action's id after the dot.
    pub fn verb(&self) -> &str {
        self.action.split_once('.').map_or("", |(_, verb)| verb)
    }

    /// Its parameters without their descriptions.
    fn compact(&mut self) {
        for schema in self.params.values_mut().filter_map(Value::as_object_mut) {
            schema.shift_remove("description");
        }
    }
}

/// Rewrites a schema into what every client takes: one type, `items` of every list, choices of texts alone. Gemini and
/// OpenAI refuse a tool with anything else (<https://ai.google.dev/api/caching#Schema>). What is a number or a text is a
/// text: a number in it is understood. Choices of numbers are words of the description.
fn one_type(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(one_type),
        Value::Object(fields) => {
            if fields.get("type").is_some_and(Value::is_array) {
                fields.insert("type".to_owned(), Value::from("string"));
            }
            if fields.get("type").and_then(Value::as_str) == Some("array") && !fields.contains_key("items") {
                fields.insert("items".to_owned(), json!({"type": "string"}));
            }
            describe_numbers(fields);
            fields.values_mut().for_each(one_type);
        }
        _ => {}
    }
}

/// Moves choices that are no texts into the description.
fn describe_numbers(fields: &mut Map<String, Value>) {
    let choices = fields.get("enum").and_then(Value::as_array);
    let Some(choices) = choices.filter(|choices| !choices.iter().all(Value::is_string)) else { return };
    let named: Vec<String> = choices.iter().map(ToString::to_string).collect();
    let before = fields.get("description").and_then(Value::as_str);
    let before = before.map(|before| format!("{} ", before.trim_end())).unwrap_or_default();
    let description = format!("{before}One of {}.", named.join(", "));
    fields.shift_remove("enum");
    fields.insert("description".to_owned(), Value::from(description));
}

impl Source {
    /// Leaves out the branches that may not run; their parameters go with them, as no other branch has them.
    pub fn prune(&mut self, offers: impl Fn(&Branch) -> bool) {
        self.branches.retain(offers);
        if self.form != Form::Plain {
            self.annotations = Annotations::new(self.branches.iter().map(|branch| branch.risk));
        }
    }

    /// Removes the descriptions of parameters if the kind of schema has none.
    pub fn shorten(&mut self) {
        if let Form::Within(ParamSchema::Opaque | ParamSchema::Compact) = self.form {
            self.branches.iter_mut().for_each(Branch::compact);
        }
    }
}
