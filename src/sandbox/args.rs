//! A request's parameters: the query and the body as one object, the way GitLab itself sees them.
//!
//! `iids[]=1&iids[]=2`, `not[labels]=x` and `actions[][action]=create` become arrays and objects; a value from a form
//! or a query is text, so every reading of a parameter accepts text as well as the JSON that it represents.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::Value;

use super::row::Row;

/// A file in a multipart body.
#[derive(Debug)]
pub struct Upload {
    /// The form field it came in.
    pub field: String,
    /// The file's name.
    pub name: String,
    /// The file's content.
    pub bytes: Vec<u8>,
}

/// All parameters of one request, and which of them were read.
#[derive(Clone, Debug, Default)]
pub struct Args {
    given: Row,
    read: RefCell<BTreeSet<String>>,
}

impl Args {
    /// Adds one pair of a query or a form, whose name may hold brackets.
    pub fn add(&mut self, name: &str, value: &str) {
        let parts: Vec<&str> = name.split('[').map(|part| part.trim_end_matches(']')).collect();
        let mut whole = Value::Object(std::mem::take(&mut self.given));
        put(&mut whole, &parts, Value::from(value));
        self.given = super::row::object(whole);
    }

    /// Adds the members of a JSON body.
    pub fn extend(&mut self, body: Row) {
        self.given.extend(body);
    }

    /// Takes a parameter away.
    pub fn remove(&mut self, name: &str) {
        self.given.remove(name);
    }

    /// All that were given, by their names.
    pub fn given(&self) -> &Row {
        &self.given
    }

    /// The names of all that were given.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.given.keys()
    }

    /// Names of given parameters that no handler has read.
    pub fn unread(&self) -> Vec<String> {
        let read = self.read.borrow();
        // Nothing in the sandbox has custom attributes, so that whatever may be asked for them has none.
        let is_read = |name: &String| read.contains(name) || name == "with_custom_attributes";
        self.given.keys().filter(|name| !is_read(name)).cloned().collect()
    }

    /// A parameter, which is not read by this.
    pub fn peek(&self, name: &str) -> Option<&Value> {
        self.given.get(name)
    }

    /// A parameter as it came.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let value = self.given.get(name)?;
        self.read.borrow_mut().insert(name.to_owned());
        Some(value)
    }

    /// Reads parameters that change nothing that can be seen.
    pub fn without_trace(&self, names: &[&str]) {
        for name in names {
            self.get(name);
        }
    }

    /// True if a parameter was given, even as null.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A parameter as text, unless absent, null or empty.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(text_of).filter(|text| !text.is_empty())
    }

    /// A parameter as a number.
    pub fn num(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    /// True if a parameter is true.
    pub fn flag(&self, name: &str) -> bool {
        self.maybe(name).unwrap_or_default()
    }

    /// Value of a boolean parameter; none if it was not given.
    pub fn maybe(&self, name: &str) -> Option<bool> {
        self.text(name).map(|text| switch(&text) == Some(true))
    }

    /// A parameter as a list: an array, or a text with commas.
    pub fn list(&self, name: &str) -> Vec<String> {
        self.get(name).map(list_of).unwrap_or_default()
    }

    /// The values that a parameter allows: those of an array, or one text, commas or not. None unless there is one.
    pub fn any_of(&self, name: &str) -> Option<Vec<String>> {
        let values = match self.get(name)? {
            Value::Array(values) => values.iter().filter_map(text_of).collect(),
            one => vec![text_of(one)?],
        };
        values.iter().any(|value| !value.is_empty()).then_some(values)
    }

    /// A parameter as a list of numbers; leaves out all that is no number, and GitLab's `0` for no user.
    pub fn nums(&self, name: &str) -> Vec<u64> {
        self.list(name).iter().filter_map(|text| text.parse().ok()).filter(|number| *number > 0).collect()
    }

    /// A parameter that is a list of objects.
    pub fn rows(&self, name: &str) -> Vec<Row> {
        let rows = self.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        rows.into_iter().map(super::row::object).collect()
    }

    /// A parameter that is an object, such as `not`, `position` or `filter`.
    pub fn nested(&self, name: &str) -> Self {
        Self::from(self.get(name).cloned().map(super::row::object).unwrap_or_default())
    }
}

impl From<Row> for Args {
    fn from(given: Row) -> Self {
        Self { given, read: RefCell::default() }
    }
}

/// A scalar as text.
pub fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// A text as a boolean, in the words that GitLab's REST interface takes for one (`Params::Bool` of dry-types): Python's `True`
/// as well as `yes`. None for any other.
pub fn switch(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(true),
        "y" | "Y" | "yes" | "Yes" | "YES" => Some(true),
        "0" | "f" | "F" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(false),
        "n" | "N" | "no" | "No" | "NO" => Some(false),
        _ => None,
    }
}

/// A value as a list of texts.
pub fn list_of(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().filter_map(text_of).filter(|text| !text.is_empty()).collect(),
        other => text_of(other)
            .unwrap_or_default()
            .split(',')
            .map(|part| part.trim().to_owned())
            .filter(|part| !part.is_empty())
            .collect(),
    }
}

/// A value given for a field, in the type that the field already has.
pub fn like(model: &Value, given: &Value) -> Value {
    match (model, given) {
        (Value::Bool(_), Value::String(text)) => Value::from(switch(text) == Some(true)),
        (Value::Number(_), Value::String(text)) => {
            text.parse::<i64>().map_or_else(|_| given.clone(), Value::from)
        }
        (Value::Array(_), Value::String(_)) => Value::from(list_of(given)),
        _ => given.clone(),
    }
}

fn put(slot: &mut Value, path: &[&str], value: Value) {
    match path.split_first() {
        None => *slot = value,
        Some((&"", rest)) => {
            if !slot.is_array() {
                *slot = Value::Array(Vec::new());
            }
            let Value::Array(items) = slot else { return };
            let taken =
                rest.first().is_some_and(|name| items.last().is_some_and(|last| last.get(name).is_some()));
            if rest.is_empty() || items.is_empty() || taken {
                items.push(Value::Null);
            }
            if let Some(last) = items.last_mut() {
                put(last, rest, value);
            }
        }
        Some((name, rest)) => {
            if !slot.is_object() {
                *slot = Value::Object(Row::new());
            }
            let Value::Object(members) = slot else { return };
            put(members.entry((*name).to_owned()).or_insert(Value::Null), rest, value);
        }
    }
}
