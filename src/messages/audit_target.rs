//! Target of a call, as the audit names it.

use percent_encoding::utf8_percent_encode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::call::{Call, Checked, RESERVED, TARGET};

/// Placeholder of a path whose value gives access to what it names: the link of an upload is open to who has it.
const SECRET: &str = "secret";

/// Parameters that identify an object.
const IDENTIFYING: [&str; 3] = ["fullPath", "iid", "id"];

/// Maximum number of bytes of a target as a caller wrote it.
const MAX_GIVEN_BYTES: usize = 300;

/// Target of a call: its object, without the values of other parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AuditTarget {
    /// The operation as GitLab's documentation writes it.
    pub operation: Option<String>,
    /// The path of the request below `/api/v4`.
    pub path: Option<String>,
    /// Project or group, and iid or id, of a GraphQL call, whose path has neither, and of a call that was not built.
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
            _ => AuditTarget { operation, path: None, target: joined(&IDENTIFYING, params) },
        }
    }

    /// The target of a call that may end before its request is known: it is denied, or names nothing. As the caller wrote
    /// it.
    pub fn given(params: &Map<String, Value>) -> AuditTarget {
        // The query of a URL may be a search.
        let page = params.get(TARGET).and_then(Value::as_str).and_then(|target| target.split('?').next());
        let page = page.map(|page| utf8_percent_encode(page, RESERVED).to_string());
        let target = page.or_else(|| joined(&IDENTIFYING, params));
        AuditTarget {
            target: target.filter(|target| target.len() <= MAX_GIVEN_BYTES),
            ..AuditTarget::default()
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

fn joined(names: &[&str], params: &Map<String, Value>) -> Option<String> {
    let parts: Vec<String> = names.iter().filter_map(|name| param_text(name, params)).collect();
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// The value of a parameter that identifies an object.
fn param_text(param: &str, params: &Map<String, Value>) -> Option<String> {
    match params.get(param)? {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(utf8_percent_encode(text.trim_matches('/'), RESERVED).to_string()),
        _ => None,
    }
}
