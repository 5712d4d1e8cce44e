//! An action's parameters as one line that a model reads like code.

use super::locates::split_words;
use gitlab_mcp_embed::catalog::model::{Action, Base, Json, Param, Place};

/// Renders a signature with names, types, choices, defaults and required parameters in the catalog's order:
/// `issue.list(fullPath?, state?: "opened"|"closed" = "opened", labels?: string[], …)`. All required parameters are
/// shown, then as many others as fit into `bytes`, those that the request mentions first. The rest is counted, and named if
/// the names take no more room than the signature has.
pub fn signature(action: &Action, bytes: usize, request: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut folded: Vec<&str> = Vec::new();
    let end = one_of(action);
    // The folded part has room in it.
    let mut used = action.id.len() + end.len() + FOLD.len() + 12;
    let words: Vec<String> = request
        .split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|word| word.len() > 2)
        .collect();
    let mut params: Vec<&Param> = action.params.iter().collect();
    params.sort_by_key(|param| match param {
        param if always_required(param) || param.place == Place::Path => 0,
        param if is_mentioned(param, &words) || PAGES.contains(&param.name.as_str()) => 1,
        _ => 2,
    });
    for param in params {
        let mut part = parameter(param);
        // The fields of an object take the room of other parameters.
        if bytes < WITH_FIELDS && used + part.len() > bytes && !param.fields.is_empty() {
            part = format!("{}{}: {}", param.name, mark(param), param.kind);
        }
        if used + part.len() > bytes && !always_required(param) {
            folded.push(&param.name);
            continue;
        }
        used += part.len() + 2;
        parts.push(part);
    }
    let names = folded.join(", ");
    match folded.len() {
        0 => {}
        more if bytes < WITH_NAMES || names.len() > bytes => parts.push(format!("… {more}{FOLD}")),
        more => parts.push(format!("… {more}{BY_NAME}{names}")),
    }
    format!("{}({}){}", action.id, parts.join(", "), end)
}

/// Parameters of pages, which the signature of a list always has.
const PAGES: [&str; 2] = ["page", "per_page"];

/// Minimum size of a signature that always has the fields of its required objects.
const WITH_FIELDS: usize = 400;

/// Minimum size of a signature that names the folded parameters.
const WITH_NAMES: usize = 2_000;

/// Text between the number and the names of folded parameters.
pub const BY_NAME: &str = " more by name: ";

/// Text behind the number of folded parameters.
pub const FOLD: &str = " more: detail: \"schema\"";

/// True if a request has each word of the parameter's name, in singular or plural.
fn is_mentioned(param: &Param, words: &[String]) -> bool {
    let same = |part: &str, word: &String| {
        word.strip_suffix('s').unwrap_or(word) == part.strip_suffix('s').unwrap_or(part)
    };
    let mut parts = split_words(&param.name);
    parts.retain(|part| !matches!(part.as_str(), "id" | "ids" | "iid" | "enabled"));
    !words.is_empty()
        && param.name != "name"
        && !parts.is_empty()
        && parts.iter().all(|part| words.iter().any(|word| same(part, word)))
}

/// Parameters of which one is required, if they are few enough to list.
fn one_of(action: &Action) -> String {
    const FEW: usize = 4;
    let few = action.one_of.iter().filter(|names| names.len() <= FEW);
    few.map(|names| format!(" with {}", names.join(" or "))).collect()
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
    let mark = mark(param);
    let default = param.default.as_ref().map(|Json(value)| format!(" = {value}")).unwrap_or_default();
    match shape(param) {
        Some(shape) => format!("{}{mark}: {shape}{default}", param.name),
        None => format!("{}{mark}{default}", param.name),
    }
}

fn mark(param: &Param) -> &'static str {
    if always_required(param) { "" } else { "?" }
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

/// A parameter with more choices than this shows the first of them; the schema has all.
const MANY_CHOICES: usize = 40;
const SHOWN_CHOICES: usize = 12;

fn choices(param: &Param) -> String {
    let quoted = matches!(param.kind.base, Base::String | Base::IntegerOrString | Base::Role);
    let words: Vec<String> = param
        .choices
        .iter()
        .map(|choice| param.choice_name(choice))
        .map(|choice| if quoted { format!("\"{choice}\"") } else { choice.to_owned() })
        .collect();
    let joined = match words.get(..SHOWN_CHOICES) {
        Some(first) if words.len() > MANY_CHOICES => {
            format!("{}|… {} more", first.join("|"), words.len() - SHOWN_CHOICES)
        }
        _ => words.join("|"),
    };
    if param.kind.many { format!("({joined})[]") } else { joined }
}
