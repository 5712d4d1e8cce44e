//! A row: one thing GitLab holds, as the JSON object it is served as. Names that begin with `_`, but for `_links`, are the
//! sandbox's own and are never served.

use serde_json::{Map, Value};

/// One thing, by its field names.
pub type Row = Map<String, Value>;

/// Reading a row without caring whether a field is there.
pub trait Fields {
    /// The text of a field, or nothing.
    fn text(&self, name: &str) -> &str;
    /// The number in a field, or zero.
    fn num(&self, name: &str) -> u64;
    /// True if a field is true.
    fn flag(&self, name: &str) -> bool;
    /// The elements of a field that is a list.
    fn list(&self, name: &str) -> &[Value];
    /// The texts in a field that is a list.
    fn texts(&self, name: &str) -> Vec<String> {
        self.list(name).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }
    /// The numbers in a field that is a list.
    fn nums(&self, name: &str) -> Vec<u64> {
        self.list(name).iter().filter_map(Value::as_u64).collect()
    }
    /// True if a field is absent or null.
    fn blank(&self, name: &str) -> bool;
    /// The fields of the row that have these names.
    fn pick(&self, names: &[&str]) -> Row;
    /// Writes a field.
    fn set(&mut self, name: &str, value: impl Into<Value>);
}

impl Fields for Row {
    fn text(&self, name: &str) -> &str {
        self.get(name).and_then(Value::as_str).unwrap_or_default()
    }
    fn num(&self, name: &str) -> u64 {
        self.get(name).and_then(Value::as_u64).unwrap_or_default()
    }
    fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or_default()
    }
    fn list(&self, name: &str) -> &[Value] {
        self.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }
    fn blank(&self, name: &str) -> bool {
        self.get(name).is_none_or(Value::is_null)
    }
    fn pick(&self, names: &[&str]) -> Row {
        let has = |name: &&str| Some(((*name).to_owned(), self.get(*name)?.clone()));
        names.iter().filter_map(has).collect()
    }
    fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.insert(name.to_owned(), value.into());
    }
}

/// The object in a value; an empty one where it is none.
pub fn object(value: Value) -> Row {
    match value {
        Value::Object(row) => row,
        _ => Row::new(),
    }
}

/// True if a field of a row, as text, is `wanted`: how a key in a path is compared.
pub fn is(row: &Row, field: &str, wanted: &str) -> bool {
    match row.get(field) {
        Some(Value::String(text)) => text == wanted,
        Some(Value::Number(number)) => number.to_string() == wanted,
        _ => false,
    }
}

/// True if any of `fields` holds `words`, without regard to case.
pub fn mentions(row: &Row, fields: &[&str], words: &str) -> bool {
    let words = words.to_lowercase();
    fields.iter().any(|field| row.text(field).to_lowercase().contains(&words))
}
