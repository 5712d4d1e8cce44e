//! Sources of each field and each mutation: `fields.json` and `mutations.json`.
//!
//! A field is fed by
//! - `"a.b"`: the value at that path in the row (`|` between alternatives); `"."` is the row itself;
//! - `"=text"`: that text; `"?a"`: whether `a` is there; `"a==text"`: whether it is that, or the member in `"a==@b"`; `"~a"`: the path of
//!   the address in `a`; `"base64:a"`: the decoded content of `a`;
//! - `"diff_stats:each"` and `"diff_stats:sum"`: the changed lines of a merge request by file and in total;
//! - `"/projects/{id}/issues"`: the answer to that request, `{id}` being a member of the row and `{$iid}` an
//!   argument; `"gid:$id"`: the object that this global id names;
//!
//! or by an object of those and more: see [`Source`].

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use super::super::start_error::SandboxError;

const FIELDS: (&str, &str) = ("graphql/fields.json", include_str!("fields.json"));
const MUTATIONS: (&str, &str) = ("graphql/mutations.json", include_str!("mutations.json"));

/// Both tables.
#[derive(Debug)]
pub struct Table {
    types: BTreeMap<String, Type>,
    mutations: BTreeMap<String, Mutation>,
}

/// One type of the schema.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Type {
    /// The names in its global id: see [`choose`](super::source::choose).
    gid: Vec<String>,
    /// The request for all of a row of which a list shows only a part.
    #[serde(rename = "self")]
    whole: Option<String>,
    /// Another type that supplies the entries missing here.
    like: Option<String>,
    #[serde(deserialize_with = "sources")]
    fields: BTreeMap<String, Source>,
}

/// Source of a field's value.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Source {
    /// The request.
    pub get: Option<String>,
    /// Path of the value in the row.
    pub key: Option<String>,
    /// Filter of the rows: keeps those whose member is the `$argument`, is in the row's `@member`, or is `=text`.
    pub keep: BTreeMap<String, String>,
    /// The argument for each of whose elements the request is made.
    pub each: Option<String>,
    /// The `$argument` or the row's `@member` that is a pattern with `*` for names.
    pub glob: Option<String>,
    /// True to take the number of the rows.
    pub count: bool,
    /// True to put the rows, which are jobs, together by their stage.
    pub stages: bool,
    /// Members of this row that the rows of the answer get, by the name that they get them under.
    pub with: BTreeMap<String, String>,
    /// The part of the answer to take.
    pub pluck: Option<String>,
    /// Texts to replace: REST's value to GraphQL's.
    pub map: BTreeMap<String, String>,
    /// Path in the row if the argument `full` is true.
    pub full: Option<String>,
    /// The type of an object, chosen by its members.
    pub by: Vec<String>,
    /// The types of the objects: one for all, or each for one made of the row.
    #[serde(rename = "as")]
    pub types: Vec<String>,
    /// The argument that says which of those types are wanted.
    pub only: Option<String>,
}

/// A source as it is written.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Short(String),
    Long(Box<Source>),
}

/// The request that a mutation is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutation {
    /// Method and path, or several of which the first that can be filled in is sent; one with ` if argument=value` only then.
    pub send: String,
    /// The field of the payload that is the answer.
    pub gives: Option<String>,
    /// Other parameter names to send.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
    /// Other values to send.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
    /// The list that `operationMode` sets, adds to or takes from.
    pub set: Option<Crowd>,
}

/// A list that is set, added to or taken from.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crowd {
    /// The argument with the given values.
    pub from: String,
    /// The member that holds the list.
    pub of: String,
    /// The parameter that sets it.
    pub to: String,
}

impl Table {
    /// Reads the embedded tables.
    pub fn load() -> Result<Self, SandboxError> {
        Ok(Self { types: read(FIELDS)?, mutations: read(MUTATIONS)? })
    }

    /// Source of a field, unless it is simply the member of the same name.
    pub fn source(&self, name: &str, field: &str) -> Option<&Source> {
        self.lines(name).find_map(|line| line.fields.get(field))
    }

    /// The names in a type's global id.
    pub fn gid(&self, name: &str) -> &[String] {
        self.lines(name).map(|line| line.gid.as_slice()).find(|gid| !gid.is_empty()).unwrap_or_default()
    }

    /// The request for all of a row.
    pub fn whole(&self, name: &str) -> Option<&str> {
        self.lines(name).find_map(|line| line.whole.as_deref())
    }

    /// The request that a mutation is.
    pub fn mutation(&self, name: &str) -> Option<&Mutation> {
        self.mutations.get(name)
    }

    /// Entries of a type, then of the type that it is like.
    fn lines(&self, name: &str) -> impl Iterator<Item = &Type> {
        let first = self.types.get(name);
        let second = first.and_then(|line| self.types.get(line.like.as_ref()?));
        first.into_iter().chain(second)
    }
}

fn read<T: DeserializeOwned>((file, text): (&'static str, &str)) -> Result<T, SandboxError> {
    serde_json::from_str(text).map_err(|source| SandboxError::Kinds { file, source })
}

fn sources<'de, D: Deserializer<'de>>(reader: D) -> Result<BTreeMap<String, Source>, D::Error> {
    let entries = BTreeMap::<String, Entry>::deserialize(reader)?;
    Ok(entries.into_iter().map(|(field, entry)| (field, entry.source())).collect())
}

impl Entry {
    fn source(self) -> Source {
        match self {
            Self::Short(text) if text.starts_with('/') || text.starts_with("gid:") => {
                Source { get: Some(text), ..Source::default() }
            }
            Self::Short(text) => Source { key: Some(text), ..Source::default() },
            Self::Long(source) => *source,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use super::super::Engine;

    #[test]
    fn the_tables_and_the_schema_know_each_other() {
        let Engine { schema, table } = Engine::load().unwrap();
        for (name, line) in &table.types {
            assert!(schema.get_object(name).is_some(), "{name}");
            for (field, source) in &line.fields {
                let inherited = table.types.values().any(|other| other.like.as_ref() == Some(name));
                assert!(inherited || schema.type_field(name, field).is_ok(), "{name}.{field}");
                assert!(source.types.iter().all(|name| schema.get_object(name).is_some()), "{name}.{field}");
            }
        }
        for field in schema.get_object("Query").unwrap().fields.keys() {
            assert!(table.source("Query", field).is_some(), "{field}");
        }
        let mutations = &schema.get_object("Mutation").unwrap().fields;
        assert!(mutations.keys().all(|name| table.mutation(name).is_some()));
        for (name, mutation) in &table.mutations {
            let payload = mutations[name.as_str()].ty.inner_named_type();
            assert!(mutation.gives.iter().all(|field| schema.type_field(payload, field).is_ok()), "{name}");
        }
    }
}
