//! Every route of the sandbox against GitLab's own files, where `GITLAB_API_FILES` says they are: the response entity of
//! the operation in the OpenAPI document, and the answers in `answers`, which others recorded.
//!
//! `openapi/requests.toml` has a successful request of each route, `corrections.toml` the entities that the document names
//! wrongly, `exceptions.toml` the known differences with a reason each, and `missing.toml` the keys that GitLab sends and
//! the sandbox does not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use gitlab_mcp_sandbox::{ADMIN_TOKEN, READER_TOKEN, Sandbox, TOKEN};
use regex::Regex;
use reqwest::multipart;
use serde_json::{Map, Value, json};

use super::World;
use crate::support::gitlab_files;

type Keys = BTreeMap<String, BTreeSet<&'static str>>;

pub fn data(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sandbox/openapi").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// An operation with each placeholder as `{}`: the document and the sandbox name them differently.
pub fn normal(method: &str, path: &str) -> String {
    static OPTIONAL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\([^()]*\)").unwrap());
    static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{\w+\}|[:*][A-Za-z_]\w*").unwrap());
    let path = OPTIONAL.replace_all(path, "");
    let path = PLACEHOLDER.replace_all(&path, "{}");
    format!("{} {}", method.to_uppercase(), path.strip_prefix("/api/v4").unwrap_or(&path))
}

/// Description of an operation in GitLab's files.
#[derive(Default)]
struct Operation {
    /// The successful statuses.
    statuses: BTreeSet<u16>,
    /// Name of the entity of a response, or of the rows of one.
    entity: Option<String>,
    /// The keys of recorded answers, with the types of their values; `a.b` for a key of a nested object.
    recorded: Keys,
}

struct Document {
    operations: BTreeMap<String, Operation>,
    entities: Map<String, Value>,
    /// The entities that the document does not name where they are sent.
    corrections: Value,
}

impl Document {
    fn load() -> Document {
        let text = std::fs::read_to_string(gitlab_files::folder().join("openapi.yaml")).unwrap();
        let document: Value = serde_saphyr::from_str(&text).unwrap();
        let mut operations: BTreeMap<String, Operation> = BTreeMap::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, described) in item.as_object().unwrap() {
                let Some(responses) = described["responses"].as_object() else { continue };
                let operation = operations.entry(normal(method, path)).or_default();
                for (status, response) in responses.iter().filter(|(status, _)| status.starts_with('2')) {
                    operation.statuses.insert(status.parse().unwrap());
                    // Since GitLab 19, a list says so.
                    let schema = response.pointer("/content/application~1json/schema");
                    let schema =
                        schema.and_then(|schema| schema.get("$ref").or(schema.pointer("/items/$ref")));
                    operation.entity = operation.entity.take().or_else(|| schema.map(entity_of));
                }
            }
        }
        let index = std::fs::read_to_string(gitlab_files::answers().join("index.json")).unwrap();
        let index: Vec<Value> = serde_json::from_str(&index).unwrap();
        for entry in index.iter().filter(|entry| (200..300).contains(&entry["status"].as_u64().unwrap())) {
            let name = normal(entry["method"].as_str().unwrap(), entry["path"].as_str().unwrap());
            let body = std::fs::read(gitlab_files::answers().join(entry["file"].as_str().unwrap())).unwrap();
            if let (Some(operation), Ok(body)) = (operations.get_mut(&name), serde_json::from_slice(&body)) {
                collect_keys(&body, "", &mut operation.recorded);
            }
        }
        let entities = document["components"]["schemas"].as_object().unwrap().clone();
        Document { operations, entities, corrections: data("corrections.toml") }
    }

    /// The properties of an entity, with those of the entities that GitLab merges into it.
    fn properties(&self, entity: &str) -> Map<String, Value> {
        let mut properties = self.entities[entity]["properties"].as_object().unwrap().clone();
        let merged = self.corrections["merged"].get(entity).and_then(|merged| merged["entity"].as_str());
        if let Some(merged) = merged {
            properties.extend(self.properties(merged));
        }
        properties
    }

    /// The entity of a route's answer; none if the document does not describe it.
    fn entity<'d>(&'d self, route: &str, operation: &'d Operation) -> Option<&'d str> {
        match self.corrections["sent"].get(route) {
            Some(sent) => sent["entity"].as_str().filter(|entity| !entity.is_empty()),
            None => operation.entity.as_deref(),
        }
    }
}

fn entity_of(reference: &Value) -> String {
    reference.as_str().unwrap().rsplit('/').next().unwrap().to_owned()
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The rows of an answer: those of a list, or the one object.
fn rows(value: &Value) -> Vec<&Map<String, Value>> {
    match value {
        Value::Array(values) => values.iter().filter_map(Value::as_object).collect(),
        other => other.as_object().into_iter().collect(),
    }
}

fn collect_keys(value: &Value, prefix: &str, keys: &mut Keys) {
    for row in rows(value) {
        for (name, value) in row {
            let at = format!("{prefix}{name}");
            collect_keys(value, &format!("{at}."), keys);
            keys.entry(at).or_default().insert(type_of(value));
        }
    }
}

/// Differences that were found, by kind and place: each is an exception or a fault.
#[derive(Default)]
struct Faults(BTreeMap<(&'static str, String), String>);

impl Faults {
    fn add(&mut self, kind: &'static str, at: impl Into<String>, what: String) {
        self.0.entry((kind, at.into())).or_insert(what);
    }
}

/// One answer of the sandbox being compared.
struct Comparison<'a> {
    document: &'a Document,
    operation: &'a Operation,
    /// The route, for messages.
    route: &'a str,
    faults: &'a mut Faults,
    /// The keys that are missing, with a route of each.
    missing: &'a mut BTreeMap<String, String>,
}

impl Comparison<'_> {
    /// Compares the rows of a value with an entity; `prefix` is where they are in the answer.
    fn compare(&mut self, entity: &str, value: &Value, prefix: &str) {
        let properties = self.document.properties(entity);
        let rows = rows(value);
        for row in &rows {
            for (name, value) in row.iter() {
                let (at, place) = (format!("{entity}.{name}"), format!("{prefix}{name}"));
                let Some(property) = properties.get(name) else {
                    self.faults.add("extra", at, format!("{} sends {place}", self.route));
                    continue;
                };
                if let Some(wanted) = self.wrong_type(property, value, &place) {
                    let sent = format!("{} sends {place} as {value}, not {wanted}", self.route);
                    self.faults.add("type", at, sent);
                }
                let nested = property.get("$ref").or_else(|| property.pointer("/items/$ref"));
                if let Some(nested) = nested {
                    self.compare(&entity_of(nested), value, &format!("{place}."));
                }
            }
        }
        for name in properties.keys().filter(|_| !rows.is_empty()) {
            let is_sent = self.operation.recorded.contains_key(&format!("{prefix}{name}"));
            if is_sent && !rows.iter().any(|row| row.contains_key(name)) {
                self.missing.entry(format!("{entity}.{name}")).or_insert_with(|| self.route.to_owned());
            }
        }
    }

    /// The type that a value should have and has not.
    ///
    /// The document has the type string for every value without a declared type, so `string` is reliable only with a
    /// string as example. Recorded types are always reliable.
    fn wrong_type(&self, property: &Value, value: &Value, place: &str) -> Option<String> {
        if value.is_null() {
            return None;
        }
        let recorded = self.operation.recorded.get(place).cloned().unwrap_or_default();
        let recorded: BTreeSet<&str> = recorded.into_iter().filter(|kind| *kind != "null").collect();
        if !recorded.is_empty() && !recorded.contains(type_of(value)) {
            return Some(format!("{recorded:?} as recorded"));
        }
        let is_dated =
            |value: &Value| value.as_str().is_some_and(|text| text.starts_with("20") && text.len() >= 10);
        let example = property["example"].as_str().unwrap_or_default();
        let is_telling = !example.is_empty() && serde_json::from_str::<Value>(example).is_err();
        let fits = match property["type"].as_str().unwrap_or_default() {
            _ if property.get("$ref").is_some() => {
                matches!(value, Value::Object(_) | Value::Array(_))
            }
            "integer" | "int" => value.is_i64(),
            "number" | "Float" => value.is_number(),
            "Boolean" | "boolean" => value.is_boolean(),
            "DateTime" | "date-time" => is_dated(value),
            "array" | "Array" => value.is_array(),
            "object" => value.is_object(),
            "string" if is_telling => value.is_string(),
            _ => true,
        };
        // Recorded types take precedence.
        (!fits && recorded.is_empty()).then(|| property.to_string())
    }
}

/// The keys of `missing.toml`, which are listed by the reason why the sandbox does not send them.
fn listed_keys() -> BTreeSet<String> {
    let reasons: BTreeMap<String, Vec<String>> = serde_json::from_value(data("missing.toml")).unwrap();
    reasons.into_values().flatten().collect()
}

/// A request that succeeds on a fresh sandbox.
#[derive(Clone)]
pub struct Sample {
    pub path: String,
    pub token: &'static str,
    pub body: Value,
    /// Name of the form field with a file.
    pub file: Option<String>,
    /// The requests that come first.
    pub before: Vec<String>,
}

/// True if a name is a key's, in which `*` is any text.
pub fn fits(key: &str, name: &str) -> bool {
    let Some((start, end)) = key.split_once('*') else { return key == name };
    let Some(rest) = name.strip_prefix(start) else { return false };
    (0..=rest.len()).any(|at| rest.is_char_boundary(at) && fits(end, &rest[at..]))
}

/// The entry of a name: of those whose key fits, the longest.
pub fn entry<'a>(table: &'a Value, name: &str) -> Option<&'a Value> {
    let table = table.as_object().unwrap();
    table.keys().filter(|key| fits(key, name)).max_by_key(|key| key.len()).and_then(|key| table.get(key))
}

impl Sample {
    pub fn new(requests: &Value, method: &str, pattern: &str) -> Sample {
        let route = format!("{method} {pattern}");
        let mut body = entry(&requests["requests"], &route).cloned().unwrap_or_else(|| json!({}));
        let mut take = |name: &str| body.as_object_mut().unwrap().remove(name);
        let text = |value: Value| value.as_str().unwrap().to_owned();
        let whole = take("@path").map(text);
        let query = take("@query").map(text).map(|query| format!("?{query}")).unwrap_or_default();
        let token = if take("@admin").is_some() { ADMIN_TOKEN } else { TOKEN };
        let file = take("@file").map(text);
        let before = requests["before"].as_object().unwrap().iter();
        let before = before.filter(|(key, _)| fits(key, &route));
        let before = before.flat_map(|(_, steps)| steps.as_array().unwrap().iter().cloned().map(text));
        let mut so_far = String::new();
        let filled = pattern.split('/').skip(1).map(|part| {
            so_far.push_str(&format!("/{part}"));
            let value = entry(&requests["placeholders"], &so_far).filter(|_| part.starts_with(':'));
            format!("/{}", value.map_or(part, |value| value.as_str().unwrap()))
        });
        let path = whole.unwrap_or_else(|| filled.collect());
        Sample { path: format!("{path}{query}"), token, file, before: before.collect(), body }
    }
}

/// A path with `{notes/0/id}` replaced by that value of an answer.
fn filled(path: &str, last: &Value) -> String {
    let Some((start, rest)) = path.split_once('{') else { return path.to_owned() };
    let (pointer, rest) = rest.split_once('}').unwrap();
    let value = last.pointer(&format!("/{pointer}")).cloned().unwrap_or_default();
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!("{start}{text}{}", filled(rest, last))
}

impl World {
    fn request(&self, method: &str, path: &str, token: &str) -> reqwest::RequestBuilder {
        let url = format!("{}/api/v4{path}", self.sandbox.url());
        self.http.request(method.parse().unwrap(), url).header("PRIVATE-TOKEN", token)
    }

    /// Sends a request given as `METHOD /path {json}`, with another user's name in front of it, or `UPLOAD /path`.
    async fn prepare(&self, step: &str, last: &Value) -> Result<Value, String> {
        let (token, rest) = match step.split_once(' ').unwrap() {
            ("admin", rest) => (ADMIN_TOKEN, rest),
            ("reader", rest) => (READER_TOKEN, rest),
            _ => (TOKEN, step),
        };
        let mut parts = rest.splitn(3, ' ');
        let (method, path) = (parts.next().unwrap(), filled(parts.next().unwrap(), last));
        let request = match (method, parts.next()) {
            ("UPLOAD", _) => self.request("POST", &path, token).multipart(form("file", &json!({}))),
            (_, Some(body)) => self
                .request(method, &path, token)
                .header("content-type", "application/json")
                .body(body.to_owned()),
            (_, None) => self.request(method, &path, token),
        };
        let reply = request.send().await.unwrap();
        let status = reply.status();
        let body = reply.text().await.unwrap();
        match status.is_success() {
            true => Ok(serde_json::from_str(&body).unwrap_or_default()),
            false => Err(format!("{step} is answered {status} {body}")),
        }
    }

    async fn sample(&self, method: &str, sample: &Sample) -> Result<(u16, Vec<u8>), String> {
        let reply = self.reply(method, sample).await?;
        Ok((reply.status().as_u16(), reply.bytes().await.unwrap().to_vec()))
    }

    pub async fn reply(&self, method: &str, sample: &Sample) -> Result<reqwest::Response, String> {
        let mut last = Value::Null;
        for step in &sample.before {
            last = self.prepare(step, &last).await?;
        }
        let request = self.request(method, &filled(&sample.path, &last), sample.token);
        let request = match &sample.file {
            Some(field) => request.multipart(form(field, &sample.body)),
            None if sample.body != json!({}) => request.json(&sample.body),
            None => request,
        };
        Ok(request.send().await.unwrap())
    }
}

fn form(field: &str, values: &Value) -> multipart::Form {
    let part = multipart::Part::bytes(b"hello".to_vec()).file_name("notes.txt");
    let form = multipart::Form::new().part(field.to_owned(), part);
    let values = values.as_object().unwrap().iter();
    values.fold(form, |form, (name, value)| form.text(name.clone(), value.as_str().unwrap().to_owned()))
}

#[tokio::test]
#[cfg_attr(not(gitlab_api_files), ignore = "set GITLAB_API_FILES to the folder of GitLab's openapi.yaml")]
async fn every_answer_is_one_of_gitlabs() {
    let document = Document::load();
    let requests = data("requests.toml");
    let reads = World::new().await;
    let (mut faults, mut missing) = (Faults::default(), BTreeMap::new());
    let routes = Sandbox::routes().unwrap();
    for (method, pattern) in &routes {
        let route = format!("{method} {pattern}");
        let Some(operation) = document.operations.get(&normal(method, pattern)) else {
            faults.add("operation", &route, "is not in the document".to_owned());
            continue;
        };
        let sample = Sample::new(&requests, method, pattern);
        let is_read = *method == "GET" && sample.before.is_empty();
        let answer = match is_read {
            true => reads.sample(method, &sample).await,
            false => World::new().await.sample(method, &sample).await,
        };
        let (status, bytes) = match answer {
            Ok(answer) => answer,
            Err(failed) => {
                faults.add("before", &route, failed);
                continue;
            }
        };
        // GitLab 19.5's document has 200 for every method: for those that write it tells nothing.
        let is_silent = operation.statuses.is_empty()
            || (*method != "GET" && operation.statuses.iter().all(|status| *status == 200));
        let is_documented = match is_silent {
            true => status / 100 == 2,
            false => operation.statuses.contains(&status),
        };
        if !is_documented {
            let body = String::from_utf8_lossy(&bytes).chars().take(300).collect::<String>();
            let at = format!("{route} {status}");
            let told = format!("{} is answered {body}, not {:?}", sample.path, operation.statuses);
            faults.add("status", at, told);
        }
        if status / 100 != 2 {
            continue;
        }
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let is_list = body.is_array();
        if is_list && body == json!([]) {
            faults.add("empty", &route, "has no row to compare".to_owned());
        }
        if let Some(entity) = document.entity(&route, operation) {
            let mut comparison = Comparison {
                document: &document,
                operation,
                route: &route,
                faults: &mut faults,
                missing: &mut missing,
            };
            comparison.compare(entity, &body, "");
        }
    }
    let exceptions = data("exceptions.toml");
    let mut known = BTreeSet::new();
    for (kind, table) in exceptions.as_object().unwrap() {
        known.extend(table.as_object().unwrap().keys().map(|at| (kind.clone(), at.clone())));
    }
    let found: BTreeSet<_> = faults.0.keys().map(|(kind, at)| ((*kind).to_owned(), at.clone())).collect();
    let unknown =
        faults.0.iter().filter(|((kind, at), _)| !known.contains(&((*kind).to_owned(), at.clone())));
    let unknown: Vec<String> =
        unknown.map(|((kind, at), what)| format!("[{kind}] \"{at}\": {what}")).collect();
    let settled: Vec<_> = known.difference(&found).collect();
    let listed = listed_keys();
    let absent: Vec<_> = missing.iter().filter(|(key, _)| !listed.contains(*key)).collect();
    let sent: Vec<_> = listed.iter().filter(|key| !missing.contains_key(*key)).collect();
    assert!(
        unknown.is_empty() && settled.is_empty() && absent.is_empty() && sent.is_empty(),
        "{} differences from GitLab:\n{}\nexceptions that are none any more: {settled:?}\nkeys that are missing and not \
         listed: {absent:?}\nlisted and not missing: {sent:?}",
        unknown.len(),
        unknown.join("\n"),
    );
    assert!(routes.len() > 300, "{} routes", routes.len());
}
