//! The end of the pipeline: a tool's input schema as it is sent to a client.

use serde_json::{Map, Value, json};

use super::source::{Branch, Form, ParamSchema, SchemaMode, Source};

/// Descriptions of `action` and `params`.
const ACTION: &str = "What to do.";
const PARAMS: &str = "The action's parameters.";

/// Maximum number of branches that the description of a parameter names.
const MAX_BRANCHES_NAMED: usize = 3;

/// The input schema of a tool: an object. Alternatives are at its top only if they are configured, as some clients
/// refuse them.
pub fn input_schema(source: &Source, mode: SchemaMode) -> Map<String, Value> {
    match (source.form, mode) {
        (Form::Plain, _) => plain(source),
        (Form::Beside, _) => envelope_schema(source),
        // Without parameters the alternatives would not differ.
        (Form::Within(ParamSchema::Opaque), _) => opaque(source),
        (Form::Within(_), SchemaMode::Flat) => {
            within(source, source.branches.iter().map(line).collect(), flat(&source.branches))
        }
        (Form::Within(_), SchemaMode::Discriminated) => discriminated(source),
    }
}

fn plain(source: &Source) -> Map<String, Value> {
    object([
        ("properties", Value::Object(source.own.clone())),
        ("required", json!(source.required)),
        ("additionalProperties", json!(false)),
    ])
}

/// The parameters of the one action, then the tool's own.
fn envelope_schema(source: &Source) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if let Some(branch) = source.branches.first() {
        properties.extend(branch.params.clone());
        required.clone_from(&branch.required);
    }
    properties.extend(source.own.clone());
    object([
        ("properties", Value::Object(properties)),
        ("required", json!(required)),
        ("additionalProperties", json!(false)),
    ])
}

/// The actions, with only the descriptions of them and of their parameters that were written for this server.
fn opaque(source: &Source) -> Map<String, Value> {
    let lines = source.branches.iter().filter(|branch| branch.told).map(line).collect();
    let mut params = flat(&source.branches);
    params.retain(|_, schema| schema.get("description").is_some());
    within(source, lines, params)
}

/// One object: which action, and these parameters.
fn within(source: &Source, lines: Vec<String>, params: Map<String, Value>) -> Map<String, Value> {
    let ids: Vec<&str> = source.branches.iter().map(|branch| branch.action.as_str()).collect();
    let mut action = json!({"type": "string", "enum": ids});
    if !lines.is_empty() {
        put(&mut action, "description", json!(lines.join("\n")));
    }
    let mut nested = json!({"type": "object"});
    if source.form == Form::Within(ParamSchema::Opaque) {
        put(&mut nested, "description", json!(PARAMS));
    }
    if !params.is_empty() {
        put(&mut nested, "properties", Value::Object(params));
    }
    object([
        ("properties", Value::Object(properties(source, action, nested))),
        ("required", json!(["action"])),
        ("additionalProperties", json!(false)),
    ])
}

/// An alternative for each action, with its parameters and those of them that it needs.
fn discriminated(source: &Source) -> Map<String, Value> {
    let action = json!({"type": "string", "description": ACTION});
    let params = json!({"type": "object", "description": PARAMS});
    object([
        ("properties", Value::Object(properties(source, action, params))),
        ("required", json!(["action"])),
        ("oneOf", source.branches.iter().map(alternative).collect()),
    ])
}

fn alternative(branch: &Branch) -> Value {
    let mut params = json!({"type": "object", "properties": branch.params});
    let mut required = vec!["action"];
    if !branch.required.is_empty() {
        put(&mut params, "required", json!(branch.required));
        required.push("params");
    }
    json!({
        "description": branch.description,
        "properties": {"action": {"const": branch.action}, "params": params},
        "required": required,
    })
}

fn properties(source: &Source, action: Value, params: Value) -> Map<String, Value> {
    let named = [("action".to_owned(), action), ("params".to_owned(), params)];
    named.into_iter().chain(source.own.clone()).collect()
}

/// `milestone.create(title): Create a milestone in a project or group`
fn line(branch: &Branch) -> String {
    format!("{}({}): {}", branch.action, branch.required.join(", "), branch.description)
}

/// Every parameter of any branch, once.
fn flat(branches: &[Branch]) -> Map<String, Value> {
    let mut union: Map<String, Value> = Map::new();
    for (name, schema) in branches.iter().flat_map(|branch| &branch.params) {
        match union.get_mut(name) {
            Some(known) => merge(known, schema),
            None => {
                union.insert(name.clone(), schema.clone());
            }
        }
    }
    for (name, schema) in &mut union {
        name_takers(branches, name, schema);
    }
    union
}

/// Adds the actions of a parameter to its description, if only few of many actions take it.
fn name_takers(branches: &[Branch], name: &str, schema: &mut Value) {
    let takers: Vec<&str> = branches
        .iter()
        .filter(|branch| branch.params.contains_key(name))
        .map(|branch| branch.action.as_str())
        .collect();
    let Some(described) = schema.get("description").and_then(Value::as_str) else { return };
    let is_told = branches.iter().any(|branch| branch.told_params.contains(name));
    if !is_told && takers.len() <= MAX_BRANCHES_NAMED && takers.len() < branches.len() {
        let described = format!("{described} Only for {}.", takers.join(", "));
        put(schema, "description", json!(described));
    }
}

/// Merges two schemas of one name: the result accepts the values of either, and keeps the first description.
fn merge(known: &mut Value, other: &Value) {
    let (Some(one), Some(two)) = (known.as_object_mut(), other.as_object()) else { return };
    if one.get("type") != two.get("type") {
        one.retain(|key, _| key == "description");
        return;
    }
    match (one.get_mut("enum"), two.get("enum")) {
        (Some(Value::Array(choices)), Some(Value::Array(others))) => {
            let new: Vec<Value> = others.iter().filter(|other| !choices.contains(other)).cloned().collect();
            choices.extend(new);
        }
        _ => {
            one.shift_remove("enum");
        }
    }
    let same = |key: &str, value: &Value| {
        ["type", "enum", "description"].contains(&key) || two.get(key) == Some(value)
    };
    let item_type =
        |list: &Map<String, Value>| list.get("items").and_then(|items| items.get("type")).cloned();
    let shared = item_type(one).filter(|kind| item_type(two).as_ref() == Some(kind));
    one.retain(|key, value| same(key, value));
    // Strict clients want the items of every list.
    if one.get("type").and_then(Value::as_str) == Some("array") && !one.contains_key("items") {
        one.insert("items".to_owned(), json!({"type": shared.unwrap_or_else(|| json!("string"))}));
    }
}

fn object<const N: usize>(rest: [(&str, Value); N]) -> Map<String, Value> {
    let head = [("type", json!("object"))];
    head.into_iter().chain(rest).map(|(name, value)| (name.to_owned(), value)).collect()
}

fn put(schema: &mut Value, name: &str, value: Value) {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert(name.to_owned(), value);
    }
}
