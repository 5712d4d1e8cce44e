//! Resolves a field of an object of the answer.

use apollo_compiler::ast::Type;
use apollo_compiler::resolvers::{FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use serde_json::{Value, json};

use super::super::row::{Fields, Row, object};
use super::node::{NoValue, Node, gid_argument, lower};
use super::{connection, leaf, mutation};

impl<'s, 'w> Node<'s, 'w> {
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
            return Ok(match leaf::fit(self.engine.schema, ty, value) {
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

impl<'s, 'w: 's> ObjectValue for Node<'s, 'w> {
    fn type_name(&self) -> &str {
        &self.name
    }

    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Result<ResolvedValue<'a>, FieldError> {
        self.try_resolve(info).map_err(|error| FieldError { message: error.to_string() })
    }
}
