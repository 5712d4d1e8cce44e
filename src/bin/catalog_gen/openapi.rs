//! Parser of GitLab's OpenAPI document, as a plain value: typed parsers reject the file.

use std::collections::BTreeMap;
use std::path::Path;

use gitlab_mcp::catalog::{ArrayForm, BodyForm, Method, Param, Place, Version};
use serde_json::{Map, Value};

use crate::error::GeneratorError;
use crate::files::load_text;
use crate::paths::documented;
use crate::shapes;

/// Contents of the OpenAPI document.
pub struct Document {
    /// In document order.
    pub operations: Vec<RawOperation>,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// GitLab's version, where the document says it (`info.version`, since 19).
    pub version: Option<String>,
}

/// An operation with its parameters, before it is assigned to an action.
#[derive(Clone, Debug)]
pub struct RawOperation {
    pub method: Method,
    /// Path as in GitLab's documentation.
    pub path: String,
    /// Query and body parameters. Path parameters are derived from the path, as the document often omits them.
    pub params: Vec<Param>,
    /// Types of path parameters that the document lists, by GitLab's name.
    pub path_params: Vec<Param>,
    pub body: BodyForm,
    pub deprecated: bool,
    /// GitLab's summary, for the maintainer's eyes only.
    pub summary: String,
    /// The version in which it was introduced, from its description.
    pub since: Option<Version>,
    /// The first version that lacks it, of an operation in `catalog/kept`.
    pub until: Option<Version>,
}

/// Mark of an operation in `catalog/kept`: the first version that is known to lack it. Without it, GitLab still has the
/// operation.
pub const UNTIL: &str = "x-until";

/// The methods of an item of `paths`.
pub const METHODS: [(&str, Method); 6] = [
    ("get", Method::Get),
    ("head", Method::Head),
    ("post", Method::Post),
    ("put", Method::Put),
    ("patch", Method::Patch),
    ("delete", Method::Delete),
];

/// Parses every operation of the document.
pub fn load(path: &Path) -> Result<Document, GeneratorError> {
    Ok(document(paths(path)?))
}

/// Every operation of a document that was read.
pub fn document(read: Read) -> Document {
    let Read { text, version, paths } = read;
    let styles = ListStyles::of(&paths);
    let operations = paths.iter().flat_map(|(path, item)| operations(path, item, styles)).collect();
    Document { operations, sha256: sha256(&text), version }
}

/// Every summary as a request, one per line, with a tab and all operations that share it.
pub fn requests(path: &Path) -> Result<String, GeneratorError> {
    let Read { paths, .. } = paths(path)?;
    let mut right: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, item) in &paths {
        for (name, method) in METHODS {
            let summary = item.get(name).and_then(|operation| operation.get("summary")?.as_str());
            if let Some(summary) = summary {
                let line = summary.split_whitespace().collect::<Vec<_>>().join(" ");
                right.entry(line).or_default().push(format!("{} {path}", method.name()));
            }
        }
    }
    Ok(right.iter().map(|(summary, right)| format!("{summary}\t{}\n", right.join("|"))).collect())
}

/// The document's text, GitLab's version in it, and its `paths` object.
pub struct Read {
    text: String,
    version: Option<String>,
    pub paths: Map<String, Value>,
}

/// Reads the document, with what its references refer to.
pub fn paths(path: &Path) -> Result<Read, GeneratorError> {
    parse(&path.display().to_string(), load_text(path)?)
}

/// Parses the text of the document, with what its references refer to.
pub fn parse(name: &str, text: String) -> Result<Read, GeneratorError> {
    let malformed = |reason: String| GeneratorError::Malformed { path: name.to_owned(), reason };
    let mut document: Value = serde_saphyr::from_str(&text).map_err(|e| malformed(e.to_string()))?;
    match document.get_mut("paths").map(Value::take) {
        Some(Value::Object(mut paths)) => {
            for operation in paths.values_mut().filter_map(Value::as_object_mut).flat_map(Map::values_mut) {
                for part in ["parameters", "requestBody"] {
                    if let Some(part) = operation.get_mut(part) {
                        resolve(part, &document, 0);
                    }
                }
            }
            let version = document.pointer("/info/version").and_then(Value::as_str);
            // Older documents have the version of the interface here.
            let version = version.filter(|version| version.contains('.')).map(str::to_owned);
            Ok(Read { text, version, paths })
        }
        _ => Err(malformed("has no paths".into())),
    }
}

/// Depth of references within references; an entity may hold itself.
const MAX_REFERENCES: usize = 8;

/// Replaces references (`{"$ref": "#/components/schemas/…"}`) by what they refer to: since GitLab 19, bodies are references.
fn resolve(value: &mut Value, document: &Value, depth: usize) {
    let target = value.get("$ref").and_then(Value::as_str).and_then(|pointer| pointer.strip_prefix('#'));
    if let Some(target) = target.and_then(|pointer| document.pointer(pointer)) {
        let target = if depth < MAX_REFERENCES { target.clone() } else { Value::Null };
        *value = target;
        return resolve(value, document, depth + 1);
    }
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|field| resolve(field, document, depth)),
        Value::Array(items) => items.iter_mut().for_each(|item| resolve(item, document, depth)),
        _ => {}
    }
}

/// SHA-256 of a text, in hexadecimal.
pub fn sha256(text: &str) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn operations(path: &str, item: &Value, styles: ListStyles) -> Vec<RawOperation> {
    let made = |(name, method): &(&str, Method)| Some(operation(path, *method, item.get(name)?, styles));
    METHODS.iter().filter_map(made).collect()
}

fn operation(path: &str, method: Method, described: &Value, styles: ListStyles) -> RawOperation {
    let listed = described.get("parameters").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let (in_path, elsewhere): (Vec<&Value>, Vec<&Value>) =
        listed.iter().partition(|param| param.get("in").and_then(Value::as_str) == Some("path"));
    let mut params =
        shapes::nested(elsewhere.into_iter().filter_map(|param| listed_param(param, Place::Query, styles)));
    let (body, body_params) = body(described);
    params.extend(body_params);
    RawOperation {
        method,
        path: documented(path),
        params,
        path_params: in_path
            .into_iter()
            .filter_map(|param| listed_param(param, Place::Path, styles))
            .collect(),
        body,
        deprecated: described.get("deprecated") == Some(&Value::Bool(true)),
        summary: described.get("summary").and_then(Value::as_str).unwrap_or_default().to_owned(),
        since: shapes::introduced(described),
        until: described.get(UNTIL).and_then(Value::as_str).and_then(|version| version.parse().ok()),
    }
}

/// How a document tells in which form a list goes into a query.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ListStyles {
    /// By `explode: false`, which is a list with commas; any other is repeated with brackets. So since GitLab 19.
    Explode,
    /// By its type alone; see [`shapes::param`].
    Type,
}

impl ListStyles {
    fn of(paths: &Map<String, Value>) -> ListStyles {
        let operations = paths.values().filter_map(Value::as_object).flat_map(Map::values);
        let mut listed = operations.filter_map(|operation| operation.get("parameters")?.as_array()).flatten();
        if listed.any(|param| param.get("explode").is_some()) {
            ListStyles::Explode
        } else {
            ListStyles::Type
        }
    }
}

pub fn listed_param(listed: &Value, place: Place, styles: ListStyles) -> Option<Param> {
    let name = listed.get("name")?.as_str()?;
    let mut param = shapes::param(name, listed.get("schema")?);
    param.place = if param.kind.base == gitlab_mcp::catalog::Base::File { Place::File } else { place };
    if styles == ListStyles::Explode && param.kind.many {
        let is_joined = listed.get("explode") == Some(&Value::Bool(false));
        param.array = if is_joined { ArrayForm::Comma } else { ArrayForm::Brackets };
    }
    param.required = listed.get("required") == Some(&Value::Bool(true));
    param.since = shapes::introduced(listed).or(param.since);
    Some(param)
}

/// Body encoding, and its properties as parameters.
fn body(described: &Value) -> (BodyForm, Vec<Param>) {
    let Some(content) = described.pointer("/requestBody/content").and_then(Value::as_object) else {
        return (BodyForm::None, Vec::new());
    };
    let multipart = content.contains_key("multipart/form-data");
    let form = if multipart { BodyForm::Multipart } else { BodyForm::Json };
    let schema = content.values().find_map(|body| body.get("schema")).and_then(Value::as_object);
    (form, schema.map(properties).unwrap_or_default())
}

fn properties(schema: &Map<String, Value>) -> Vec<Param> {
    let mut params = shapes::fields(schema);
    for param in &mut params {
        param.place =
            if param.kind.base == gitlab_mcp::catalog::Base::File { Place::File } else { Place::Body };
    }
    params
}
