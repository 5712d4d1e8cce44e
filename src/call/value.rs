//! One value against one parameter: of the right type, or safely made so, or a fault.

use serde_json::{Map, Value, json};
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;

use super::Fault;
use crate::catalog::{Base, Kind, Param};

/// The value as the parameter wants it. What was understood differently from how it was written is added to
/// `understood`.
pub fn fitted(param: &Param, value: Value, understood: &mut Vec<String>) -> Result<Value, Fault> {
    if !param.kind.many {
        return one(param, value, understood);
    }
    let items = match value {
        Value::Array(items) => items,
        Value::String(text) if !matches!(param.kind.base, Base::Any | Base::File) && text.contains(',') => {
            text.split(',').map(|item| json!(item.trim())).collect()
        }
        single => vec![single],
    };
    items
        .into_iter()
        .map(|item| one(param, item, understood))
        .collect::<Result<Vec<_>, _>>()
        .map(Value::Array)
}

fn one(param: &Param, value: Value, understood: &mut Vec<String>) -> Result<Value, Fault> {
    let converted =
        converted(param.kind.base, &param.name, &value).ok_or_else(|| wrong_type(param, &value))?;
    let converted = match converted {
        Value::Object(fields) if param.kind.base == Base::Object && !param.fields.is_empty() => {
            object(param, fields, understood)?
        }
        other => other,
    };
    choice(param, converted, understood)
}

/// The value in the base's type, where nothing can be lost by it.
fn converted(base: Base, name: &str, value: &Value) -> Option<Value> {
    match (base, value) {
        (Base::Any, _)
        | (Base::String | Base::IntegerOrString, Value::String(_))
        | (Base::Boolean, Value::Bool(_))
        | (Base::Object, Value::Object(_)) => Some(value.clone()),
        (Base::Integer | Base::IntegerOrString, Value::Number(number))
            if number.is_i64() || number.is_u64() =>
        {
            Some(value.clone())
        }
        (Base::Number, Value::Number(_)) => Some(value.clone()),
        (Base::Integer, Value::String(text)) => integer(name, text),
        (Base::Number, Value::String(text)) => text.trim().parse::<f64>().ok().map(|number| json!(number)),
        (Base::String, Value::Number(number)) => Some(json!(number.to_string())),
        (Base::String, Value::Bool(truth)) => Some(json!(truth.to_string())),
        (Base::Boolean, Value::String(text)) => truth(text).map(|truth| json!(truth)),
        (Base::Date, Value::String(text)) => is_date(text).then(|| value.clone()),
        (Base::DateTime, Value::String(text)) => (is_date(text) || is_time(text)).then(|| value.clone()),
        (Base::Object, Value::String(text)) => {
            serde_json::from_str::<Map<String, Value>>(text).ok().map(Value::Object)
        }
        (Base::File, Value::Object(_) | Value::String(_)) => Some(value.clone()),
        _ => None,
    }
}

/// `12`; and `#12`, `!45`, `&7` where the number is an iid.
fn integer(name: &str, text: &str) -> Option<Value> {
    let text = text.trim();
    let digits = if name.ends_with("iid") { text.trim_start_matches(['#', '!', '&']) } else { text };
    digits.parse::<i64>().ok().map(|number| json!(number))
}

fn truth(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn is_date(text: &str) -> bool {
    time::Date::parse(text, format_description!("[year]-[month]-[day]")).is_ok()
}

fn is_time(text: &str) -> bool {
    time::OffsetDateTime::parse(text, &Rfc3339).is_ok()
}

fn object(param: &Param, fields: Map<String, Value>, understood: &mut Vec<String>) -> Result<Value, Fault> {
    let mut fitted_fields = Map::new();
    for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_null()) {
        let Some(field) = param.fields.iter().find(|field| field.name == name) else {
            let accepted =
                param.fields.iter().map(|field| format!("{}.{}", param.name, field.name)).collect();
            return Err(Fault::Unknown { given: format!("{}.{name}", param.name), value, accepted });
        };
        let inner = Param { name: format!("{}.{name}", param.name), ..field.clone() };
        fitted_fields.insert(name, fitted(&inner, value, understood)?);
    }
    match param.fields.iter().find(|field| field.required && !fitted_fields.contains_key(&field.name)) {
        Some(field) => {
            Err(Fault::Missing { name: format!("{}.{}", param.name, field.name), expected: expected(field) })
        }
        None => Ok(Value::Object(fitted_fields)),
    }
}

/// The value as one of the choices, however it was cased or its words were joined.
fn choice(param: &Param, value: Value, understood: &mut Vec<String>) -> Result<Value, Fault> {
    if param.choices.is_empty() {
        return Ok(value);
    }
    let given = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if param.choices.contains(&given) {
        return Ok(value);
    }
    match param.choices.iter().find(|choice| folded(choice) == folded(&given)) {
        Some(choice) => {
            understood.push(format!("`{}: {given}` as `{choice}`", param.name));
            Ok(json!(choice))
        }
        None => Err(Fault::NotAChoice { name: param.name.clone(), given, accepted: param.choices.clone() }),
    }
}

fn folded(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn wrong_type(param: &Param, value: &Value) -> Fault {
    let mut given = value.to_string();
    if let Some((end, _)) = given.char_indices().nth(60) {
        given.truncate(end);
        given.push('…');
    }
    Fault::WrongType { name: param.name.clone(), given, expected: expected(param) }
}

/// What a parameter wants, in words.
pub fn expected(param: &Param) -> String {
    let Kind { base, many } = param.kind;
    let one = match base {
        Base::String => "a string",
        Base::Integer => "an integer",
        Base::Number => "a number",
        Base::Boolean => "true or false",
        Base::Date => "a date such as \"2026-01-31\"",
        Base::DateTime => "a time such as \"2026-01-31T09:00:00Z\", or a date",
        Base::IntegerOrString => "an integer or a string",
        Base::Object => "an object",
        Base::File => {
            "a file: {\"filename\": …, \"content\": …} or {\"filename\": …, \"content_base64\": …}, or {\"path\": …}"
        }
        Base::Any => "any value",
    };
    if many { format!("a list, each {one}") } else { one.to_owned() }
}
