//! Target of a call, as the audit names it.

use percent_encoding::utf8_percent_encode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::call::{Call, Checked, RESERVED};

/// Placeholder of a path whose value gives access to what it names: the link of an upload is open to who has it.
const SECRET: &str = "secret";

/// Target of a call: its object, without the values of other parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AuditTarget {
    /// The operation as GitLab's documentation writes it.
    pub operation: Option<String>,
    /// The path of the request below `/api/v4`.
    pub path: Option<String>,
    /// Project or group, and iid or id, of a GraphQL call, whose path has neither.
    pub target: Option<String>,
}

impl AuditTarget {
    /// The target of a call.
    pub fn new(call: &Call, checked: &Checked) -> AuditTarget {
        let action = checked.action();
        if action.direct().is_some() {
            return raw_target(call);
        }
        let params = checked.params();
        let operation = Some(call.operation().to_owned());
        match action.operations.iter().find(|operation| operation.to_string() == call.operation()) {
            Some(known) if known.graphql.is_none() => {
                let path = sent_path(call, params.get(SECRET).and_then(Value::as_str));
                AuditTarget { operation, path: Some(path), target: None }
            }
            _ => {
                let parts = ["fullPath", "iid", "id"].iter().filter_map(|name| param_text(name, params));
                let parts: Vec<String> = parts.collect();
                let target = (!parts.is_empty()).then(|| parts.join("/"));
                AuditTarget { operation, path: None, target }
            }
        }
    }
}

/// The operations of a raw request as the catalog names them, with the path. An unknown operation has neither, because
/// its path may contain anything.
fn raw_target(call: &Call) -> AuditTarget {
    let known = call.touches().iter().filter(|touched| !touched.ids.is_empty());
    let known: Vec<&str> = known.map(|touched| touched.operation.as_str()).collect();
    if known.is_empty() {
        let operation = Some(format!("{} (not in the catalog)", call.method().name()));
        return AuditTarget { operation, ..AuditTarget::default() };
    }
    let is_rest = known.iter().all(|operation| operation.contains(" /") && !operation.contains(":secret"));
    let path = is_rest.then(|| sent_path(call, None));
    AuditTarget { operation: Some(known.join(", ")), path, target: None }
}

/// The path of the request, with a placeholder in place of a secret.
fn sent_path(call: &Call, secret: Option<&str>) -> String {
    let path = call.path().strip_prefix("/api/v4").unwrap_or(call.path());
    match secret {
        Some(secret) if !secret.is_empty() => {
            path.replace(&utf8_percent_encode(secret, RESERVED).to_string(), ":secret")
        }
        _ => path.to_owned(),
    }
}

/// The value of a parameter that identifies an object.
fn param_text(param: &str, params: &Map<String, Value>) -> Option<String> {
    match params.get(param)? {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(utf8_percent_encode(text.trim_matches('/'), RESERVED).to_string()),
        _ => None,
    }
}
