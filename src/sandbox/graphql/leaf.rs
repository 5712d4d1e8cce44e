//! A value of a row as a scalar or an enumeration of the schema.

use apollo_compiler::Schema;
use apollo_compiler::ast::Type;
use serde_json::Value;

use super::super::args::text_of;

/// The value as the type wants it.
pub fn fit(schema: &Schema, ty: &Type, value: Value) -> Value {
    let name = ty.inner_named_type();
    match (name.as_str(), value) {
        ("Boolean", Value::Null) if ty.is_non_null() => Value::Bool(false),
        ("String" | "ID", Value::Number(number)) => Value::from(number.to_string()),
        ("Int", value @ (Value::String(_) | Value::Number(_))) => whole(&value),
        ("Float", Value::String(text)) => text.parse::<f64>().map_or(Value::Null, Value::from),
        (_, Value::Array(values)) => {
            values.into_iter().map(|value| fit(schema, ty.item_type(), value)).collect()
        }
        (_, value) => enumerated(schema, name, &value).unwrap_or(value),
    }
}

/// A number without its decimals.
fn whole(value: &Value) -> Value {
    let text = text_of(value).unwrap_or_default();
    let digits = text.split('.').next().unwrap_or_default();
    digits.parse::<i64>().map_or(Value::Null, Value::from)
}

/// The enumeration's own spelling of a value.
fn enumerated(schema: &Schema, name: &str, value: &Value) -> Option<Value> {
    let text = text_of(value)?;
    let known = schema.get_enum(name)?.values.keys().find(|known| known.eq_ignore_ascii_case(&text))?;
    Some(Value::from(known.as_str()))
}
