//! Parser of GitLab's SDL: types with their fields, arguments and stability. Descriptions are used for the types in
//! global ids, which are documented nowhere else, and shown to the maintainer who describes a new operation.

use std::collections::BTreeMap;
use std::path::Path;

use cynic_parser::common::WrappingType;
use cynic_parser::type_system::{
    Definition, Directive, FieldDefinition, InputValueDefinition, Type, TypeDefinition,
};
use cynic_parser::values::ConstValue;
use gitlab_mcp::catalog::Version;
use serde_json::{Value, json};

use crate::error::GeneratorError;
use crate::files;

/// Every type by its name.
pub struct Sdl {
    types: BTreeMap<String, Shape>,
    /// Number of types in the file, without extensions.
    length: usize,
    /// The objects of each interface.
    implementors: BTreeMap<String, Vec<String>>,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
}

/// Shape of a type.
pub enum Shape {
    /// With the type in its global ids, for an id scalar: `Ci::Build`.
    Scalar(Option<String>),
    Enum(Vec<String>),
    Input(Vec<Input>),
    Object(Vec<Field>),
    /// With the fields common to all of its objects.
    Interface(Vec<Field>),
    Union(Vec<String>),
}

/// A field of an object.
#[derive(Clone)]
pub struct Field {
    pub name: String,
    pub ty: Ty,
    pub arguments: Vec<Input>,
    pub status: Status,
    pub description: String,
    /// The first version that lacks it, of a field in `catalog/kept`.
    pub until: Option<Version>,
}

/// An argument, or a field of an input object.
#[derive(Clone)]
pub struct Input {
    pub name: String,
    pub ty: Ty,
    pub default: Option<Value>,
    pub status: Status,
}

/// Stability of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    Stable,
    /// With the version that introduced it.
    Experiment(String),
    Deprecated,
}

/// A type reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Ty {
    /// Name without list brackets and exclamation marks.
    pub name: String,
    /// GraphQL notation.
    pub text: String,
    pub many: bool,
    pub required: bool,
}

impl Sdl {
    /// Parses the file.
    pub fn load(path: &Path) -> Result<Sdl, GeneratorError> {
        Sdl::parse(&files::load_text(path)?).map_err(|reason| files::malformed(path, reason))
    }

    /// The schema in which these inputs, as `Type.field`, are not deprecated.
    pub fn with_inputs(mut self, kept: &[String]) -> Sdl {
        for (of, field) in kept.iter().filter_map(|name| name.split_once('.')) {
            if let Some(Shape::Input(inputs)) = self.types.get_mut(of) {
                let named = inputs.iter_mut().filter(|input| input.name == field);
                named.for_each(|input| input.status = Status::Stable);
            }
        }
        self
    }

    /// The schema with more types, and more fields of known ones.
    pub fn extended(mut self, extensions: &str) -> Result<Sdl, String> {
        // The parser refuses a document without definitions.
        if extensions.trim().is_empty() {
            return Ok(self);
        }
        let document = cynic_parser::parse_type_system_document(extensions).map_err(|e| e.to_string())?;
        for definition in document.definitions() {
            match definition {
                Definition::Type(ty) => drop(self.types.insert(ty.name().to_owned(), shape(ty))),
                Definition::TypeExtension(TypeDefinition::Object(object)) => {
                    match self.types.get_mut(object.name()) {
                        Some(Shape::Object(fields)) => fields.extend(object.fields().map(field)),
                        _ => return Err(format!("extends {}, which is no object", object.name())),
                    }
                }
                _ => {}
            }
        }
        Ok(self)
    }

    /// Parses a schema.
    pub fn parse(text: &str) -> Result<Sdl, String> {
        let document = cynic_parser::parse_type_system_document(text).map_err(|error| error.to_string())?;
        let types = document.definitions().filter_map(|definition| match definition {
            Definition::Type(ty) => Some((ty.name().to_owned(), shape(ty))),
            _ => None,
        });
        let mut implementors: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for definition in document.definitions() {
            let Definition::Type(TypeDefinition::Object(object)) = definition else { continue };
            for interface in object.implements_interfaces() {
                implementors.entry(interface.to_owned()).or_default().push(object.name().to_owned());
            }
        }
        let types: BTreeMap<String, Shape> = types.collect();
        Ok(Sdl { length: types.len(), types, implementors, sha256: crate::openapi::sha256(text) })
    }

    /// Number of types in the file.
    pub fn len(&self) -> usize {
        self.length
    }

    /// The type with that name.
    pub fn shape(&self, name: &str) -> Option<&Shape> {
        self.types.get(name)
    }

    /// The objects of an interface.
    pub fn implementors(&self, interface: &str) -> &[String] {
        self.implementors.get(interface).map(Vec::as_slice).unwrap_or_default()
    }

    /// The fields of the object or interface with that name.
    pub fn fields(&self, name: &str) -> &[Field] {
        match self.shape(name) {
            Some(Shape::Object(fields) | Shape::Interface(fields)) => fields,
            _ => &[],
        }
    }

    /// The field of that type.
    pub fn field(&self, of: &str, name: &str) -> Option<&Field> {
        self.fields(of).iter().find(|field| field.name == name)
    }

    /// True if the type is a leaf, without fields to select.
    pub fn is_leaf(&self, name: &str) -> bool {
        matches!(self.shape(name), None | Some(Shape::Scalar(_) | Shape::Enum(_)))
    }

    /// The type of a connection's nodes.
    pub fn nodes(&self, connection: &str) -> Option<&Ty> {
        let nodes = self.field(connection, "nodes").filter(|_| connection.ends_with("Connection"))?;
        Some(&nodes.ty)
    }
}

fn shape(definition: TypeDefinition<'_>) -> Shape {
    match definition {
        TypeDefinition::Scalar(scalar) => {
            // The scalar of every object's global id shows one of a user as its example.
            let is_of_a_type = scalar.name() != "GlobalID";
            let described = scalar.description().map(|text| text.literal().to_cow().into_owned());
            let described = described.filter(|_| is_of_a_type);
            Shape::Scalar(described.and_then(|text| global_id_type(&text)))
        }
        TypeDefinition::Enum(known) => Shape::Enum(
            known
                .values()
                .filter(|value| status(value.directives()) != Status::Deprecated)
                .map(|value| value.value().to_owned())
                .collect(),
        ),
        TypeDefinition::InputObject(object) => Shape::Input(object.fields().map(input).collect()),
        TypeDefinition::Object(object) => Shape::Object(object.fields().map(field).collect()),
        TypeDefinition::Interface(interface) => Shape::Interface(interface.fields().map(field).collect()),
        TypeDefinition::Union(union) => {
            Shape::Union(union.members().map(|member| member.name().to_owned()).collect())
        }
    }
}

/// Extracts `Ci::Build` from a description with `gid://gitlab/Ci::Build/1`.
fn global_id_type(description: &str) -> Option<String> {
    let (_, from_type) = description.split_once("gid://gitlab/")?;
    Some(from_type.split_once('/')?.0.to_owned())
}

fn field(definition: FieldDefinition<'_>) -> Field {
    Field {
        name: definition.name().to_owned(),
        ty: ty(definition.ty()),
        arguments: definition.arguments().map(input).collect(),
        status: status(definition.directives()),
        until: definition.directives().find(|directive| directive.name() == "until").and_then(|directive| {
            let version = directive.arguments().find(|argument| argument.name() == "version")?;
            version.value().as_str()?.parse().ok()
        }),
        description: definition
            .description()
            .map(|text| text.literal().to_cow().into_owned())
            .unwrap_or_default(),
    }
}

fn input(definition: InputValueDefinition<'_>) -> Input {
    Input {
        name: definition.name().to_owned(),
        ty: ty(definition.ty()),
        default: definition.default_value().map(value).filter(|value| !value.is_null()),
        status: status(definition.directives()),
    }
}

fn ty(used: Type<'_>) -> Ty {
    let mut wrappers = used.wrappers();
    Ty {
        name: used.name().to_owned(),
        text: used.to_string(),
        many: wrappers.any(|wrapper| wrapper == WrappingType::List),
        required: used.is_non_null(),
    }
}

/// The reason of `@deprecated` of an experiment begins with it.
pub const EXPERIMENT: &str = "**Status**: Experiment. Introduced in GitLab ";

/// Stability by the reason of `@deprecated`, which GitLab also uses for experiments.
fn status<'a>(mut directives: impl Iterator<Item = Directive<'a>>) -> Status {
    let Some(mark) = directives.find(|directive| directive.name() == "deprecated") else {
        return Status::Stable;
    };
    let reason = mark.arguments().find(|argument| argument.name() == "reason");
    let reason = reason.and_then(|argument| argument.value().as_str().map(str::to_owned)).unwrap_or_default();
    let version = reason.strip_prefix(EXPERIMENT).map(|version| version.trim_end_matches('.').to_owned());
    version.map_or(Status::Deprecated, Status::Experiment)
}

fn value(constant: ConstValue<'_>) -> Value {
    match constant {
        ConstValue::Int(number) => json!(number.as_i64()),
        ConstValue::Float(number) => json!(number.as_f64()),
        ConstValue::String(text) => json!(text.as_str()),
        ConstValue::Boolean(truth) => json!(truth.as_bool()),
        ConstValue::Enum(word) => json!(word.as_str()),
        ConstValue::List(items) => items.items().map(value).collect(),
        ConstValue::Null(_) | ConstValue::Object(_) => Value::Null,
    }
}
