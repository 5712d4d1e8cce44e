//! Every parameter of GitLab's OpenAPI document changes the sandbox's answer, or is refused: 501 where the sandbox lacks
//! it. `openapi/without_effect.toml` has those that change nothing on the seeded data, by the reason.

use std::collections::{BTreeMap, BTreeSet};

use gitlab_mcp::documentation::start_sandbox;
use gitlab_mcp_sandbox::Sandbox;
use serde_json::{Value, json};

use super::World;
use super::against_openapi::{Sample, data, entry, fits, normal};
use crate::support::gitlab_files;

/// A parameter of an operation.
struct Parameter {
    name: String,
    schema: Value,
}

/// The parameters of the document by operation, without those of paths and headers.
fn parameters() -> BTreeMap<String, Vec<Parameter>> {
    let text = std::fs::read_to_string(gitlab_files::folder().join("openapi.yaml")).unwrap();
    let document: Value = serde_saphyr::from_str(&text).unwrap();
    let resolve = |schema: &Value| match schema["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).cloned().unwrap_or_default(),
        None => schema.clone(),
    };
    let mut operations: BTreeMap<String, Vec<Parameter>> = BTreeMap::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, described) in item.as_object().unwrap() {
            let parameters = operations.entry(normal(method, path)).or_default();
            for one in
                described["parameters"].as_array().into_iter().flatten().filter(|one| one["in"] == "query")
            {
                let name = one["name"].as_str().unwrap().to_owned();
                parameters.push(Parameter { name, schema: resolve(&one["schema"]) });
            }
            for content in described["requestBody"]["content"].as_object().into_iter().flatten() {
                let schema = resolve(&content.1["schema"]);
                for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
                    parameters.push(Parameter { name: name.clone(), schema: resolve(schema) });
                }
            }
        }
    }
    operations
}

impl Parameter {
    /// Values of which one at least has to make a difference.
    fn values(&self, telling: &Value) -> Vec<Value> {
        if let Some(values) = entry(telling, &self.name).and_then(Value::as_array) {
            return values.clone();
        }
        if let Some(choices) = self.schema["enum"].as_array() {
            return choices.clone();
        }
        let kind =
            self.schema["type"].as_str().or(self.schema.pointer("/oneOf/0/type").and_then(Value::as_str));
        match kind {
            Some("boolean") => vec![json!(true), json!(false)],
            Some("integer" | "number") => vec![json!(1), json!(987_654)],
            Some("array") => {
                let choice = self.schema.pointer("/items/enum/0").cloned();
                let number = self.schema.pointer("/items/type").is_some_and(|kind| kind == "integer");
                let other = if number { json!(987_654) } else { json!("zzz") };
                vec![json!([choice.unwrap_or(other)])]
            }
            Some("object") => vec![json!({"zzz": "zzz"})],
            _ => vec![json!("zzz"), json!("2031-01-01T00:00:00Z"), json!("1")],
        }
    }
}

/// A sample with one parameter more.
fn with(sample: &Sample, method: &str, name: &str, value: &Value) -> Sample {
    let mut more = sample.clone();
    if matches!(method, "GET" | "DELETE") {
        let pairs: Vec<(String, Value)> = match value {
            Value::Array(values) => values.iter().map(|value| (format!("{name}[]"), value.clone())).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(field, value)| (format!("{name}[{field}]"), value.clone())).collect()
            }
            one => vec![(name.to_owned(), one.clone())],
        };
        for (name, value) in pairs {
            let mark = if more.path.contains('?') { '&' } else { '?' };
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            more.path += &format!("{mark}{name}={text}");
        }
    } else {
        let value = if sample.file.is_some() { json!(value.to_string()) } else { value.clone() };
        more.body[name] = value;
    }
    more
}

/// The parts of an answer that a parameter may change.
#[derive(PartialEq)]
struct Seen {
    status: u16,
    paging: Vec<String>,
    body: Vec<u8>,
}

impl World {
    /// Starts another sandbox; the client is slow to build and stays.
    async fn renew(&mut self) {
        self.sandbox = start_sandbox(None, None).await.unwrap();
    }

    async fn see(&self, method: &str, sample: &Sample) -> Seen {
        let reply = self.reply(method, sample).await.unwrap();
        let paging = ["x-page", "x-per-page", "x-next-page"];
        let paging = paging.iter().filter_map(|name| reply.headers().get(*name));
        let paging = paging.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect();
        Seen { status: reply.status().as_u16(), paging, body: reply.bytes().await.unwrap().to_vec() }
    }
}

/// True for an order, where there is nothing to put in order.
fn is_moot(name: &str, usual: &Seen) -> bool {
    let rows: Value = serde_json::from_slice(&usual.body).unwrap_or_default();
    ["order_by", "sort"].contains(&name) && rows.as_array().is_some_and(|rows| rows.len() < 2)
}

#[tokio::test]
#[cfg_attr(not(gitlab_api_files), ignore = "set GITLAB_API_FILES to the folder of GitLab's openapi.yaml")]
async fn every_parameter_changes_the_answer_or_is_refused() {
    let operations = parameters();
    let (requests, without_effect) = (data("requests.toml"), data("without_effect.toml"));
    // A request that is refused changes nothing: the next one finds the same world.
    let mut fresh = World::new().await;
    let mut ignored = BTreeSet::new();
    let mut tried = 0;
    for (method, pattern) in &Sandbox::routes().unwrap() {
        let sample = Sample::new(&requests, method, pattern);
        let is_read = *method == "GET" && sample.before.is_empty();
        let usual = fresh.see(method, &sample).await;
        if !is_read {
            fresh.renew().await;
        }
        let parameters = operations.get(&normal(method, pattern)).map(Vec::as_slice).unwrap_or_default();
        for parameter in parameters {
            let given = [format!("?{}=", parameter.name), format!("&{}=", parameter.name)];
            let is_given = sample.body.get(&parameter.name).is_some()
                || given.iter().any(|given| sample.path.contains(given));
            let is_file = sample.file.as_ref() == Some(&parameter.name);
            if is_given || is_file || usual.status / 100 != 2 || is_moot(&parameter.name, &usual) {
                continue;
            }
            tried += 1;
            let mut is_ignored = true;
            for value in parameter.values(&without_effect["values"]) {
                let answer = fresh.see(method, &with(&sample, method, &parameter.name, &value)).await;
                if !is_read && (answer.status < 400 || !sample.before.is_empty()) {
                    fresh.renew().await;
                }
                if answer != usual {
                    is_ignored = false;
                    break;
                }
            }
            if is_ignored {
                ignored.insert(format!("{method} {pattern} {}", parameter.name));
            }
        }
    }
    let reasons: BTreeMap<String, Vec<String>> =
        serde_json::from_value(without_effect["reasons"].clone()).unwrap();
    let known: Vec<&String> = reasons.values().flatten().collect();
    let unknown: Vec<_> = ignored.iter().filter(|at| !known.iter().any(|key| fits(key, at))).collect();
    let settled: Vec<_> = known.iter().filter(|key| !ignored.iter().any(|at| fits(key, at))).collect();
    assert!(tried > 1500, "{tried} parameters");
    assert!(
        unknown.is_empty() && settled.is_empty(),
        "{} of {tried} parameters change nothing: {unknown:#?}\nlisted, and changing something: {settled:#?}",
        unknown.len()
    );
}
