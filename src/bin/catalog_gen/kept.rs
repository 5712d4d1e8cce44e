//! Operations that GitLab's newer files lack and older ones have, in `catalog/kept`: instances of the older version still
//! have them, and some are only no longer documented. The files hold facts of the older files, without their texts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gitlab_mcp::catalog::{Base, ParamKind, Place, Version};
use serde_json::{Map, Value, json};

use crate::curation::key;
use crate::error::GeneratorError;
use crate::files::{load_text, malformed};
use crate::graphql::Sdl;
use crate::older::OlderFiles;
use crate::openapi::{self, METHODS, RawOperation, UNTIL};
use crate::output::Files;
use crate::paths::documented;
use crate::rules::GraphqlRules;

/// Kept operations of the REST interface, as an OpenAPI document.
pub const OPENAPI: &str = "kept/openapi.json";

/// Kept fields of the GraphQL interface and their types, as extensions of the schema.
pub const GRAPHQL: &str = "kept/schema.graphql";

/// Types of parameters that older files describe better: `date`, `datetime` or `file` where the newer say `string`.
pub const FORMATS: &str = "kept/formats.toml";

/// The texts of the files in `catalog/kept`.
pub struct Kept {
    openapi: String,
    graphql: String,
    formats: String,
}

impl Kept {
    pub fn load(catalog: &Path) -> Result<Kept, GeneratorError> {
        let text = |file: &str| load_text(&catalog.join(file));
        Ok(Kept { openapi: text(OPENAPI)?, graphql: text(GRAPHQL)?, formats: text(FORMATS)? })
    }

    fn paths(&self) -> Result<openapi::Read, GeneratorError> {
        openapi::parse(OPENAPI, self.openapi.clone())
    }

    /// Kept operations of the REST interface.
    pub fn operations(&self) -> Result<Vec<RawOperation>, GeneratorError> {
        Ok(openapi::document(self.paths()?).operations)
    }

    /// A schema with the kept fields and types.
    pub fn schema(&self, path: &Path) -> Result<Sdl, GeneratorError> {
        let extended = Sdl::load(path)?.extended(&self.graphql);
        extended.map_err(|reason| malformed(Path::new(GRAPHQL), reason))
    }

    /// Types of parameters.
    pub fn formats(&self) -> Result<Formats, GeneratorError> {
        toml::from_str(&self.formats).map_err(|error| malformed(Path::new(FORMATS), error.to_string()))
    }

    /// The files, to be written.
    pub fn files(&self) -> Files {
        let files = [(OPENAPI, &self.openapi), (GRAPHQL, &self.graphql), (FORMATS, &self.formats)];
        files.map(|(name, text)| (name.to_owned(), text.clone())).into()
    }
}

/// GitLab's files, and the older ones with what they lack.
pub struct KeptSources<'a> {
    pub openapi: &'a Path,
    pub graphql: &'a Sdl,
    /// The version of these files.
    pub version: Version,
    pub older: &'a OlderFiles,
}

/// The kept files with what the older files have and the newer lack. What they hold already stays.
pub fn extend(known: &Kept, sources: &KeptSources<'_>, rules: &GraphqlRules) -> Result<Kept, GeneratorError> {
    let mut paths = known.paths()?.paths;
    let newer = keys(&openapi::paths(sources.openapi)?.paths);
    let held = keys(&paths);
    for (path, item) in openapi::paths(&sources.older.openapi())?.paths {
        for (name, method) in METHODS {
            let Some(operation) = item.get(name) else { continue };
            let key = key(method.name(), &documented(&path));
            if !newer.contains(&key) && !held.contains(&key) {
                let kept = paths.entry(documented(&path)).or_insert_with(|| json!({}));
                kept[name] = facts(operation, sources.version);
            }
        }
    }
    let older = Sdl::load(&sources.older.graphql())?;
    let gone = older.lacking_in(sources.graphql, rules, sources.version);
    let mut formats = known.formats()?;
    let newer = openapi::load(sources.openapi)?.operations;
    for older in openapi::load(&sources.older.openapi())?.operations {
        let key = key(older.method.name(), &older.path);
        let Some(same) = newer.iter().find(|raw| self::key(raw.method.name(), &raw.path) == key) else {
            continue;
        };
        for param in older.params.iter().filter(|param| is_format(param.kind.base)) {
            let known = same.params.iter().find(|known| known.name == param.name);
            if known.is_some_and(|known| known.kind.base == Base::String) {
                formats.insert(format!("{key} {}", param.name), param.kind);
            }
        }
    }
    Ok(Kept {
        openapi: rendered(&paths),
        graphql: known.graphql.clone() + &gone,
        formats: rendered_formats(&formats),
    })
}

/// Types of parameters by their operation and name: `GET /issues created_after`.
pub type Formats = BTreeMap<String, ParamKind>;

fn rendered_formats(formats: &Formats) -> String {
    let line = |(name, kind): (&String, &ParamKind)| format!("{name:?} = {}\n", json!(kind));
    formats.iter().map(line).collect()
}

fn is_format(base: Base) -> bool {
    matches!(base, Base::Date | Base::DateTime | Base::File)
}

/// Sets the types of parameters that the document describes as mere strings.
pub fn apply_formats(raw: &mut RawOperation, formats: &Formats) {
    let key = key(raw.method.name(), &raw.path);
    for param in raw.params.iter_mut().filter(|param| param.kind.base == Base::String) {
        let Some(kind) = formats.get(&format!("{key} {}", param.name)) else { continue };
        param.kind.base = kind.base;
        if kind.base == Base::File {
            param.place = Place::File;
        }
    }
}

fn keys(paths: &Map<String, Value>) -> BTreeSet<String> {
    let of_path = |(path, item): (&String, &Value)| {
        let methods = METHODS.iter().filter(|(name, _)| item.get(*name).is_some());
        methods.map(|(_, method)| key(method.name(), &documented(path))).collect::<Vec<_>>()
    };
    paths.iter().flat_map(of_path).collect()
}

/// The parts of an operation that a request needs: parameters and body, without their texts.
fn facts(operation: &Value, until: Version) -> Value {
    let mut kept = Map::new();
    for part in ["parameters", "requestBody", "deprecated"] {
        kept.extend(operation.get(part).map(|value| (part.to_owned(), without_texts(value))));
    }
    kept.insert(UNTIL.to_owned(), json!(until.to_string()));
    Value::Object(kept)
}

/// A part of the document without texts. Names of properties are no texts, whatever they are.
fn without_texts(value: &Value) -> Value {
    const TEXTS: [&str; 4] = ["description", "summary", "example", "title"];
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| !TEXTS.contains(&name.as_str()))
            .map(|(name, value)| {
                let properties = value.as_object().filter(|_| name == "properties");
                let kept = properties.map(|named| {
                    named.iter().map(|(name, value)| (name.clone(), without_texts(value))).collect()
                });
                (name.clone(), kept.unwrap_or_else(|| without_texts(value)))
            })
            .collect(),
        Value::Array(items) => items.iter().map(without_texts).collect(),
        other => other.clone(),
    }
}

/// The document with one line for each operation.
fn rendered(paths: &Map<String, Value>) -> String {
    let operations = |item: &Value| {
        let one = |(method, operation): (&String, &Value)| format!("\n    {}: {operation}", json!(method));
        item.as_object().into_iter().flatten().map(one).collect::<Vec<_>>().join(",")
    };
    let lines: Vec<String> = paths
        .iter()
        .map(|(path, item)| format!("\n  {}: {{{}\n  }}", json!(path), operations(item)))
        .collect();
    format!("{{\"paths\": {{{}\n}}}}\n", lines.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_kept_without_its_texts() {
        let operation = json!({
            "summary": "Merge topics", "description": "Moves all.", "tags": ["topics"],
            "parameters": [{"name": "id", "in": "path", "description": "The ID", "schema": {"type": "integer"}}],
            "requestBody": {"content": {"application/json": {"schema": {"properties": {
                "title": {"type": "string", "description": "The title", "example": "x"},
                "description": {"type": "string"}
            }, "required": ["title"]}}}},
            "responses": {"200": {"description": "OK"}}
        });
        let kept = facts(&operation, "19.5".parse().unwrap());
        assert_eq!(
            kept,
            json!({
                "parameters": [{"name": "id", "in": "path", "schema": {"type": "integer"}}],
                "requestBody": {"content": {"application/json": {"schema": {"properties": {
                    "title": {"type": "string"}, "description": {"type": "string"}
                }, "required": ["title"]}}}},
                "x-until": "19.5"
            })
        );
        let text = rendered(&Map::from_iter([("/topics".to_owned(), json!({"post": kept}))]));
        assert_eq!(text.lines().count(), 5, "{text}");
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["paths"]["/topics"]["post"], kept);
    }
}
