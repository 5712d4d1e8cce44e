//! Target of a call, as the audit names it.

use percent_encoding::utf8_percent_encode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::call::{Call, Checked, RESERVED};
use crate::catalog::{Piece, pieces};

/// Target of a call, without any parameter's value but the project or group and the iids.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AuditTarget {
    /// The operation as GitLab's documentation writes it.
    pub operation: Option<String>,
    pub path: Option<String>,
    /// Project or group, and iid, of a GraphQL call, whose path has neither.
    pub target: Option<String>,
}

impl AuditTarget {
    /// The target of a call.
    pub fn new(call: &Call, checked: &Checked) -> AuditTarget {
        let action = checked.action();
        if action.direct().is_some() {
            return AuditTarget { operation: Some(known_operations(call)), ..AuditTarget::default() };
        }
        let mut audited =
            AuditTarget { operation: Some(call.operation().to_owned()), ..AuditTarget::default() };
        let params = checked.params();
        let operation = action.operations.iter().find(|operation| operation.to_string() == call.operation());
        match operation {
            Some(operation) if operation.graphql.is_none() => {
                let filled = |name: &str| param_text(operation.filled_by(name), params);
                audited.path = Some(template(&operation.path, filled));
            }
            _ => {
                let parts: Vec<String> =
                    ["fullPath", "iid"].iter().filter_map(|name| param_text(name, params)).collect();
                audited.target = (!parts.is_empty()).then(|| parts.join("/"));
            }
        }
        audited
    }
}

/// The operations of a raw request as the catalog names them; an unknown operation is not named, because it may
/// contain anything.
fn known_operations(call: &Call) -> String {
    let known = call.touches().iter().filter(|touched| !touched.ids.is_empty());
    let known: Vec<&str> = known.map(|touched| touched.operation.as_str()).collect();
    match known.as_slice() {
        [] => format!("{} (not in the catalog)", call.method().name()),
        known => known.join(", "),
    }
}

/// The path with the placeholders filled that may be.
fn template(path: &str, filled: impl Fn(&str) -> Option<String>) -> String {
    let parts = pieces(path).map(|piece| match piece {
        Piece::Text(text) => text.to_owned(),
        Piece::Placeholder { name, glob } => {
            filled(name).unwrap_or_else(|| format!("{}{name}", if glob { '*' } else { ':' }))
        }
    });
    parts.collect()
}

/// The value of a parameter that identifies a project, a group or a numbered object, if it has that form.
fn param_text(param: &str, params: &Map<String, Value>) -> Option<String> {
    let is_number = param == "iid" || param.ends_with("_iid");
    match params.get(param)? {
        Value::Number(number) if is_number || param == "fullPath" => Some(number.to_string()),
        Value::String(text) if is_number && crate::text::is_number(text) => Some(text.clone()),
        Value::String(text) if param == "fullPath" => {
            Some(utf8_percent_encode(text.trim_matches('/'), RESERVED).to_string())
        }
        _ => None,
    }
}
