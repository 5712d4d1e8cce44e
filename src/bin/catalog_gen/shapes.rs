//! Converts a schema of the OpenAPI document to a parameter's type, choices, default and fields.

use gitlab_mcp::catalog::{ArrayForm, Base, Json, Param, ParamKind, Version};
use serde_json::{Map, Value};

/// A parameter with this name and schema. The caller sets its place.
///
/// `name[]` is a list that is repeated in the query. A `oneOf` of a single type is the document's notation for a list
/// that GitLab splits at commas: `labels=a,b`.
pub fn param(name: &str, schema: &Value) -> Param {
    let (name, bracketed) = name.strip_suffix("[]").map_or((name, false), |name| (name, true));
    let mut param = Param { name: name.to_owned(), ..Param::default() };
    describe(&mut param, schema);
    param.since = introduced(schema);
    if bracketed {
        param.kind.many = true;
    }
    if bracketed || (param.kind.many && param.kind.base != Base::String) {
        param.array = ArrayForm::Brackets;
    }
    param
}

/// The properties of an object schema as parameters.
pub fn fields(schema: &Map<String, Value>) -> Vec<Param> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, property)| Param {
            required: required.contains(&name.as_str()),
            ..param(name, property)
        })
        .collect()
}

/// Query parameters in order, with `not[labels]` as the field `labels` of `not`.
pub fn nested(flat: impl Iterator<Item = Param>) -> Vec<Param> {
    let mut params: Vec<Param> = Vec::new();
    for param in flat {
        match param
            .name
            .split_once('[')
            .map(|(outer, inner)| (outer.to_owned(), inner.replace(['[', ']'], "")))
        {
            Some((outer, inner)) => insert_field(&mut params, outer, Param { name: inner, ..param }),
            None => params.push(param),
        }
    }
    params
}

fn insert_field(params: &mut Vec<Param>, outer: String, field: Param) {
    let object = ParamKind { base: Base::Object, many: false };
    match params.iter_mut().find(|param| param.name == outer) {
        Some(parent) => {
            parent.kind = object;
            parent.fields.push(field);
        }
        None => params.push(Param { name: outer, kind: object, fields: vec![field], ..Param::default() }),
    }
}

fn describe(param: &mut Param, schema: &Value) {
    if let Some(options) = schema.get("oneOf").and_then(Value::as_array) {
        param.kind = one_of(options);
        param.choices =
            options.iter().find(|option| option.get("enum").is_some()).map(choices).unwrap_or_default();
    } else if schema.get("type").and_then(Value::as_str) == Some("array") {
        describe(param, schema.get("items").unwrap_or(&Value::Null));
        param.kind.many = true;
    } else {
        param.kind =
            ParamKind { base: base(schema), many: schema.get("type") == Some(&Value::from("Array")) };
        param.choices = choices(schema);
        if let Some(object) = schema.as_object().filter(|object| object.contains_key("properties")) {
            param.fields = fields(object);
        }
    }
    param.default = schema.get("default").filter(|default| is_said(default)).cloned().map(Json);
}

/// A useful default; the document also lists empty ones.
fn is_said(default: &Value) -> bool {
    !default.is_null() && default.as_str() != Some("") && !default.is_object() && !default.is_array()
}

fn one_of(options: &[Value]) -> ParamKind {
    let names: Vec<&str> = options.iter().filter_map(|option| option.get("type")?.as_str()).collect();
    let items = |option: &Value| option.get("items").map(base);
    let bases: Vec<Base> =
        options.iter().map(|option| items(option).unwrap_or_else(|| base(option))).collect();
    match (bases.as_slice(), names.iter().any(|name| matches!(*name, "Array" | "array"))) {
        ([only], _) => ParamKind { base: *only, many: true },
        (_, true) => ParamKind {
            base: bases.iter().copied().find(|base| *base != Base::Any).unwrap_or_default(),
            many: true,
        },
        (several, _) if several.iter().all(|base| matches!(base, Base::Integer | Base::String)) => {
            ParamKind { base: Base::IntegerOrString, many: false }
        }
        _ => ParamKind { base: Base::Any, many: false },
    }
}

fn base(schema: &Value) -> Base {
    let said = |key: &str| schema.get(key).and_then(Value::as_str);
    match (said("type"), said("format")) {
        (Some("string"), Some("date-time")) | (Some("Time" | "DateTime"), _) => Base::DateTime,
        (Some("string"), Some("date")) | (Some("Date"), _) => Base::Date,
        (Some("string"), Some("binary")) | (Some("File" | "API::Validations::Types::WorkhorseFile"), _) => {
            Base::File
        }
        (Some("string" | "Symbol" | "Gitlab::Color"), _) => Base::String,
        (Some("integer"), _) => Base::Integer,
        (Some("number" | "Float" | "BigDecimal"), _) => Base::Number,
        (Some("boolean"), _) => Base::Boolean,
        (Some("object" | "Hash" | "JSON"), _) => Base::Object,
        _ => Base::Any,
    }
}

/// Values of an enum in order, without duplicates. The colon of Ruby symbols is removed, the empty value is skipped,
/// and `created-by-me` is dropped as the old spelling of `created_by_me`.
fn choices(schema: &Value) -> Vec<String> {
    let listed = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let words: Vec<String> = listed.iter().map(word).filter(|word| !word.is_empty()).collect();
    let mut kept: Vec<String> = Vec::new();
    for word in &words {
        let current = word.replace('-', "_");
        let superseded = *word != current && words.contains(&current);
        if !superseded && !kept.contains(word) {
            kept.push(word.clone());
        }
    }
    kept
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim_start_matches(':').to_owned(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Parses the version of a description that says `introduced in GitLab 17.1`, `introduced in 17.1`, or begins with
/// `since 17.1`.
pub fn introduced(described: &Value) -> Option<Version> {
    let text = described.get("description")?.as_str()?.to_lowercase();
    let after = match text.split_once("introduced in ") {
        Some((_, after)) => after,
        None => text.strip_prefix("since ")?,
    };
    let after = after.strip_prefix("gitlab ").unwrap_or(after);
    let end = after.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(after.len());
    after.get(..end)?.trim_end_matches('.').parse().ok()
}
