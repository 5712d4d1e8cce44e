//! An object of the answer: a row, and the type it is shown as.

use std::cell::OnceCell;

use apollo_compiler::ast::Type;
use apollo_compiler::resolvers::{FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use serde_json::{Value, json};

use super::super::row::{Fields, Row, object};
use super::connection::{self, PageError};
use super::session::{Refusal, Session};
use super::template::request;
use super::{Engine, leaf, mutation};

/// The member of a row that says which type it is shown as, where the schema leaves that open.
pub const TYPE: &str = "__typename";

/// Why a field has no value.
#[derive(Debug, thiserror::Error)]
pub enum NoValue {
    /// The REST interface refused the request.
    #[error("{}", said(.0))]
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

fn said(refusal: &Refusal) -> String {
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

    fn below(&self, name: &str, mut row: Row) -> Self {
        let known = row.remove(TYPE);
        let name = known.as_ref().and_then(Value::as_str).unwrap_or(name).to_owned();
        Self { engine: self.engine, session: self.session, name, row, whole: OnceCell::new() }
    }

    /// All of the row, of which a list may have shown only a part.
    pub fn whole(&self) -> &Row {
        self.whole.get_or_init(|| {
            let known = |name: &str| super::source::text_at(&self.row, name);
            let filled = self.engine.table.whole(&self.name).and_then(|template| request(template, &known));
            let answer = filled.and_then(|filled| self.session.send("GET", &filled, Row::new()).ok());
            answer.map(object).unwrap_or_default()
        })
    }

    /// A value as the field's type wants it.
    fn fit(&self, ty: &Type, value: Value, args: &Row) -> Result<ResolvedValue<'s>, NoValue>
    where
        'w: 's,
    {
        let name = ty.inner_named_type().as_str();
        if name.ends_with("Connection") && !value.is_object() {
            return match value {
                Value::Null if !ty.is_non_null() => Ok(ResolvedValue::null()),
                Value::Array(rows) => Ok(self.object(name, connection::page(rows, args)?)),
                _ => Ok(self.object(name, connection::page(Vec::new(), args)?)),
            };
        }
        let kind = self.engine.schema.types.get(name);
        if kind.is_none_or(|kind| kind.is_scalar() || kind.is_enum()) {
            return Ok(match leaf::fit(&self.engine.schema, ty, value) {
                Value::Array(values) if ty.is_list() => {
                    ResolvedValue::list(values.into_iter().map(ResolvedValue::leaf))
                }
                value => ResolvedValue::leaf(value),
            });
        }
        Ok(match value {
            Value::Array(rows) if ty.is_list() => {
                let rows: Vec<_> = rows.into_iter().map(|row| self.object(name, row)).collect();
                ResolvedValue::list(rows)
            }
            Value::Array(rows) => {
                rows.into_iter().next().map_or_else(ResolvedValue::null, |row| self.object(name, row))
            }
            row => self.object(name, row),
        })
    }

    fn object(&self, name: &str, value: Value) -> ResolvedValue<'s>
    where
        'w: 's,
    {
        match value {
            Value::Object(row) => ResolvedValue::object(self.below(name, row)),
            _ => ResolvedValue::null(),
        }
    }

    fn try_resolve(&self, info: &ResolveInfo<'_>) -> Result<ResolvedValue<'s>, NoValue>
    where
        'w: 's,
    {
        let definition = info.field_definition();
        let given = object(json!(info.arguments()));
        if self.name == "Mutation" {
            let value = mutation::run(self, definition, &given)?;
            return self.fit(&definition.ty, value, &Row::new());
        }
        let mut args = Row::new();
        for (name, value) in given {
            let enumerated = definition.argument_by_name(&name).is_some_and(|argument| {
                self.engine.schema.get_enum(argument.ty.inner_named_type()).is_some()
            });
            if let Some(gid) = value.as_str().filter(|text| text.starts_with("gid://")) {
                args.set(&gid_argument(&name), gid);
            }
            let value = self.session.plain(value);
            args.set(&name, if enumerated { lower(value) } else { value });
        }
        let value = self.value(info.field_name(), &args)?;
        self.fit(&definition.ty, value, &args)
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

impl<'s, 'w: 's> ObjectValue for Node<'s, 'w> {
    fn type_name(&self) -> &str {
        &self.name
    }

    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Result<ResolvedValue<'a>, FieldError> {
        self.try_resolve(info).map_err(|error| FieldError { message: error.to_string() })
    }
}
