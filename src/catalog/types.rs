//! Fields of the types that GraphQL returns, compressed in the binary and decompressed when
//! a call first has `fields`. The generator (`graphql/types.rs`) documents the format of the lines.

use std::io::Read;
use std::sync::OnceLock;

use flate2::read::DeflateDecoder;

use super::error::CatalogError;

static TYPES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/catalog_types.bin"));

/// All types, one per line.
#[derive(Debug, Default)]
pub struct Types {
    text: OnceLock<String>,
}

/// GraphQL type.
#[derive(Clone, Copy, Debug)]
pub struct Type<'a> {
    pub name: &'a str,
    members: &'a str,
    fields: &'a str,
}

/// Field of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeField<'a> {
    pub name: &'a str,
    pub holds: Holds<'a>,
}

/// Content of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds<'a> {
    Leaf,
    /// An object of that type, or a list of such.
    Object(&'a str),
    /// Pages of such objects, perhaps with their number.
    Connection {
        of: &'a str,
        counted: bool,
    },
}

impl Types {
    /// Finds a type by name.
    pub fn get(&self, name: &str) -> Result<Option<Type<'_>>, CatalogError> {
        let is_it = |line: &&str| {
            let rest = line.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '|']))
        };
        Ok(self.text()?.lines().find(is_it).map(parsed))
    }

    fn text(&self) -> Result<&str, CatalogError> {
        if let Some(text) = self.text.get() {
            return Ok(text);
        }
        let mut text = String::new();
        DeflateDecoder::new(TYPES).read_to_string(&mut text).map_err(CatalogError::Inflate)?;
        Ok(self.text.get_or_init(|| text))
    }
}

fn parsed(line: &str) -> Type<'_> {
    let (head, fields) = line.split_once(' ').unwrap_or((line, ""));
    let (name, members) = head.split_once('|').unwrap_or((head, ""));
    Type { name, members, fields }
}

impl<'a> Type<'a> {
    /// The objects that may stand for it, of an interface or a union.
    pub fn members(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.members.split('|').filter(|name| !name.is_empty())
    }

    /// Fields in the order of the schema.
    pub fn fields(&self) -> impl Iterator<Item = TypeField<'a>> + use<'a> {
        self.fields.split(' ').filter(|field| !field.is_empty() && !field.starts_with('!')).map(field)
    }

    /// Finds a field by name.
    pub fn field(&self, name: &str) -> Option<TypeField<'a>> {
        self.fields().find(|field| field.name == name)
    }

    /// Returns true if its members have the field with different types.
    pub fn is_disagreed(&self, name: &str) -> bool {
        self.fields.split(' ').any(|field| field.strip_prefix('!') == Some(name))
    }
}

fn field(text: &str) -> TypeField<'_> {
    let Some((name, of)) = text.split_once(':') else {
        return TypeField { name: text, holds: Holds::Leaf };
    };
    let pages = |of, counted| Holds::Connection { of, counted };
    let holds = match (of.strip_suffix('+'), of.strip_suffix('#')) {
        (Some(of), _) => pages(of, false),
        (_, Some(of)) => pages(of, true),
        (None, None) => Holds::Object(of),
    };
    TypeField { name, holds }
}
