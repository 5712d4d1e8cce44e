//! An action's parameters as one line that a model reads like code.

use gitlab_mcp_embed::catalog::model::{Action, Base, Json, Param};

/// `issue.list(fullPath?, state?: "opened"|"closed" = "opened", labels?: string[], …)`: exact in names, types,
/// choices, defaults and what is required, in the catalog's order. As many parameters as fit into that many bytes, but every required
/// one; what is folded is counted.
pub fn signature(action: &Action, bytes: usize) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut used = action.id.len() + 2;
    for param in &action.params {
        let part = parameter(param);
        if used + part.len() > bytes && !always_required(param) {
            break;
        }
        used += part.len() + 2;
        parts.push(part);
    }
    let folded = action.params.len() - parts.len();
    if folded > 0 {
        parts.push(format!("… {folded} more: detail: \"schema\""));
    }
    format!("{}({})", action.id, parts.join(", "))
}

/// The names of the parameters without which no operation of the action works.
pub fn required(action: &Action) -> Vec<&str> {
    action.params.iter().filter(|param| always_required(param)).map(|param| param.name.as_str()).collect()
}

/// A parameter that only some operations take is required only once one of those is chosen.
fn always_required(param: &Param) -> bool {
    param.required && param.scopes.is_empty()
}

fn parameter(param: &Param) -> String {
    let mark = if always_required(param) { "" } else { "?" };
    let default = param.default.as_ref().map(|Json(value)| format!(" = {value}")).unwrap_or_default();
    match shape(param) {
        Some(shape) => format!("{}{mark}: {shape}{default}", param.name),
        None => format!("{}{mark}{default}", param.name),
    }
}

/// A plain string goes without its type, as most are.
fn shape(param: &Param) -> Option<String> {
    if !param.choices.is_empty() {
        return Some(choices(param));
    }
    match (param.kind.base, param.kind.many, param.fields.is_empty()) {
        (Base::String, false, _) => None,
        (Base::Object, many, false) => {
            let fields: Vec<String> = param.fields.iter().map(parameter).collect();
            Some(format!("{{{}}}{}", fields.join(", "), if many { "[]" } else { "" }))
        }
        _ => Some(param.kind.to_string()),
    }
}

fn choices(param: &Param) -> String {
    let quoted = matches!(param.kind.base, Base::String | Base::IntegerOrString);
    let words: Vec<String> = param
        .choices
        .iter()
        .map(|choice| if quoted { format!("\"{choice}\"") } else { choice.clone() })
        .collect();
    let joined = words.join("|");
    if param.kind.many { format!("({joined})[]") } else { joined }
}
