//! An object of the answer: a row, and the type it is shown as.

use std::cell::OnceCell;

use serde_json::Value;

use super::super::row::{Row, object};
use super::connection::PageError;
use super::engine::Engine;
use super::row_path::text_at;
use super::session::{Refusal, Session};
use super::template::request;

/// The member of a row that says which type it is shown as, where the schema leaves that open.
pub const TYPE: &str = "__typename";

/// Why a field has no value.
#[derive(Debug, thiserror::Error)]
pub enum NoValue {
    /// The REST interface refused the request.
    #[error("{}", refusal_message(.0))]
    Refused(Refusal),
    /// There is no such page of a list.
    #[error(transparent)]
    Page(#[from] PageError),
    /// The object to write to is missing, or may not be written to.
    #[error(
        "The resource that you are attempting to access does not exist or you don't have permission to perform this action"
    )]
    NotAvailable,
}

fn refusal_message(refusal: &Refusal) -> String {
    refusal.message.as_str().map_or_else(|| refusal.message.to_string(), str::to_owned)
}

/// A row, shown as a type.
#[derive(Debug)]
pub struct Node<'s, 'w> {
    pub engine: &'s Engine,
    pub session: &'s Session<'w>,
    pub name: String,
    pub row: Row,
    whole: OnceCell<Row>,
}

impl<'s, 'w> Node<'s, 'w> {
    /// Root node of a query or a mutation.
    pub fn root(engine: &'s Engine, session: &'s Session<'w>, name: &str) -> Self {
        Self { engine, session, name: name.to_owned(), row: Row::new(), whole: OnceCell::new() }
    }

    /// A row below this one, shown as a type unless it says which.
    pub fn below(&self, name: &str, mut row: Row) -> Self {
        let known = row.remove(TYPE);
        let name = known.as_ref().and_then(Value::as_str).unwrap_or(name).to_owned();
        Self { engine: self.engine, session: self.session, name, row, whole: OnceCell::new() }
    }

    /// All of the row, of which a list may have shown only a part.
    pub fn whole(&self) -> &Row {
        self.whole.get_or_init(|| {
            let known = |name: &str| text_at(&self.row, name);
            let filled = self.engine.table.whole(&self.name).and_then(|template| request(template, &known));
            let answer = filled.and_then(|filled| self.session.send("GET", &filled, Row::new()).ok());
            answer.map(object).unwrap_or_default()
        })
    }
}

/// The name under which an argument's global id is kept as it was given.
pub fn gid_argument(name: &str) -> String {
    format!("gid:{name}")
}

/// A value of an enumeration as the REST interface writes it.
pub fn lower(value: Value) -> Value {
    match value {
        Value::String(text) => Value::from(text.to_lowercase()),
        Value::Array(values) => values.into_iter().map(lower).collect(),
        other => other,
    }
}
