//! Preview of a call: the request that would be sent.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::call::{Body, Call, Part};
use crate::messages::header;
use crate::messages::request::Answer;
use crate::policy::Rule;
use crate::present::{self, Options};
use crate::tools::error_mapping;
use crate::tools::prepare::Prepared;
use crate::tools::state::Tools;

/// The preview of a call that a rule holds back.
pub fn preview(tools: &Tools, prepared: &Prepared, rule: &Rule) -> Answer {
    let Prepared { call, texts, .. } = prepared;
    let mut request = describe_request(call);
    texts.iter().for_each(|text| text.shorten_request(&mut request));
    let mut structured = header::head(call);
    structured.insert("preview".to_owned(), json!(true));
    structured.insert("reason".to_owned(), json!(rule.to_string()));
    structured.insert("request".to_owned(), request.clone());
    let mut text = format!("Not sent: {rule}. It would be:\n{request}\n");
    if !texts.is_empty() {
        let diffs: String = texts.iter().map(|text| text.diff.as_str()).collect();
        let options = Options::new(present::ContentKind::default(), tools.max_bytes, tools.client.secrets());
        let shown = present::present(present::GivenContent::Text(diffs), &options);
        structured.insert("diff".to_owned(), shown.data);
        let _ = writeln!(text, "{}", present::marked(&shown.text).trim_end());
    }
    header::add_resolved(&mut text, call.resolved());
    let notes: Vec<String> = prepared.notes.iter().cloned().chain(error_mapping::decider(call)).collect();
    header::add_notes(&mut structured, &mut text, &notes);
    Answer::new(structured, text)
}

/// `{"method": …, "path": …, "query": […], "body": {…}}`
fn describe_request(call: &Call) -> Value {
    let mut request = Map::from_iter([
        ("method".to_owned(), json!(call.method().name())),
        ("path".to_owned(), json!(call.path())),
    ]);
    if !call.query().is_empty() {
        let query: Vec<String> = call.query().iter().map(|(name, value)| format!("{name}={value}")).collect();
        request.insert("query".to_owned(), json!(query));
    }
    let body = match call.body() {
        Body::Empty => None,
        Body::Json(body) => Some(("body", body.clone())),
        Body::Multipart(parts) => Some(("parts", parts.iter().map(describe_part).collect())),
        Body::Local(path) => Some(("file", json!(path))),
        Body::Raw(bytes) => Some(("bytes", json!(bytes.len()))),
    };
    request.extend(body.map(|(name, value)| (name.to_owned(), value)));
    Value::Object(request)
}

fn describe_part(part: &Part) -> Value {
    match part {
        Part::Text { name, value } => json!({"name": name, "value": value}),
        Part::File { name, filename, bytes } => {
            json!({"name": name, "filename": filename, "bytes": bytes.len()})
        }
        Part::Local { name, filename, path } => {
            json!({"name": name, "filename": filename, "path": path})
        }
    }
}
