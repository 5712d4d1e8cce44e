//! An action's parameters as JSON Schema.

use gitlab_mcp_embed::catalog::language::Words;
use gitlab_mcp_embed::catalog::model::{Action, Base, Json, Param};
use serde_json::{Map, Value, json};

use super::signature::required;

/// The schema of `params`: an object with no combinators at its top, closed to unknown names.
pub fn input_schema(action: &Action, words: &Words) -> Value {
    let mut properties = Map::new();
    for param in &action.params {
        properties.insert(param.name.clone(), property(param, words, true));
    }
    let required: Vec<&str> = required(action);
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if let (false, Some(object)) = (required.is_empty(), schema.as_object_mut()) {
        object.insert("required".to_owned(), json!(required));
    }
    // `anyOf` would express it, but clients refuse a tool whose schema has it at the top.
    let one_of: Vec<String> =
        action.one_of.iter().map(|names| format!("Needs at least one of {}.", names.join(", "))).collect();
    if let (false, Some(object)) = (one_of.is_empty(), schema.as_object_mut()) {
        object.insert("description".to_owned(), json!(one_of.join(" ")));
    }
    schema
}

fn property(param: &Param, words: &Words, described: bool) -> Value {
    let mut one = base(param, words);
    if !param.choices.is_empty() {
        one.insert(
            "enum".to_owned(),
            param.choices.iter().map(|choice| choice_value(param, choice)).collect(),
        );
    }
    let mut schema = if param.kind.many {
        Map::from_iter([("type".to_owned(), json!("array")), ("items".to_owned(), Value::Object(one))])
    } else {
        one
    };
    if let Some(Json(default)) = &param.default {
        schema.insert("default".to_owned(), default.clone());
    }
    if let Some(note) = described.then(|| description(param, words)).flatten() {
        schema.insert("description".to_owned(), Value::String(note));
    }
    Value::Object(schema)
}

fn choice_value(param: &Param, choice: &str) -> Value {
    match param.kind.base {
        Base::Integer => choice.parse::<i64>().map_or_else(|_| json!(choice), |number| json!(number)),
        _ => json!(param.choice_name(choice)),
    }
}

fn base(param: &Param, words: &Words) -> Map<String, Value> {
    let schema = match param.kind.base {
        Base::String => json!({"type": "string"}),
        Base::Integer => json!({"type": "integer"}),
        Base::Number => json!({"type": "number"}),
        Base::Boolean => json!({"type": "boolean"}),
        Base::Date => json!({"type": "string", "format": "date"}),
        Base::DateTime => json!({"type": "string", "format": "date-time"}),
        Base::IntegerOrString => json!({"type": ["integer", "string"]}),
        Base::Role => json!({"type": "string"}),
        Base::File => json!({"type": "object", "properties": {
            "filename": {"type": "string"}, "content": {"type": "string"}, "content_base64": {"type": "string"},
            "path": {"type": "string"},
        }}),
        Base::Object if param.fields.is_empty() => json!({"type": "object"}),
        Base::Object => {
            let fields: Map<String, Value> = param
                .fields
                .iter()
                .map(|field| (field.name.clone(), property(field, words, false)))
                .collect();
            let required: Vec<&str> =
                param.fields.iter().filter(|field| field.required).map(|field| field.name.as_str()).collect();
            json!({"type": "object", "properties": fields, "required": required})
        }
        Base::Any => json!({}),
    };
    match schema {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Meaning of a parameter: its own note, or the glossary's for its name.
pub fn note<'a>(param: &'a Param, words: &'a Words) -> Option<&'a str> {
    let glossary = words.glossary.get(&param.name).map(|entry| entry.note.as_str());
    param.note.as_deref().or(glossary).filter(|note| !note.is_empty())
}

fn description(param: &Param, words: &Words) -> Option<String> {
    let note = note(param, words);
    let scopes = (!param.scopes.is_empty()).then(|| {
        let names: Vec<&str> = param.scopes.iter().map(|scope| scope.name()).collect();
        format!("Only for scope {}.", names.join(" or "))
    });
    match (note, scopes) {
        (Some(note), Some(scopes)) => Some(format!("{note} {scopes}")),
        (Some(note), None) => Some(note.to_owned()),
        (None, scopes) => scopes,
    }
}
