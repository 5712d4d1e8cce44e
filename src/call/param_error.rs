//! Errors of the parameters of a call: each fault separately, together with the valid parameters, so that the call can
//! be corrected in one step.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::Candidate;
use crate::catalog::ObjectKind;

/// Name of the parameter that locates an object by a reference: every action with a `fullPath` accepts it in addition to
/// its own.
pub const TARGET: &str = "target";

/// Error of the parameters of a call.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{action}: {}", list(.faults))]
pub struct Invalid {
    pub action: String,
    /// All faults, in the order of the parameters.
    pub faults: Vec<Fault>,
    /// The valid parameters, by the catalog's names.
    pub right: Map<String, Value>,
}

/// One fault of a parameter.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    #[error("there is no parameter `{given}`", given = quote_value(.given))]
    Unknown { given: String, value: Value, accepted: Vec<String> },
    #[error("`{name}` is {expected}; {given} was given", given = quote_value(.given))]
    WrongType { name: String, given: String, expected: String },
    #[error("`{name}` is {expected}; {given} was given{}", render_readings(.readings), given = quote_value(.given))]
    NoDate {
        name: String,
        given: String,
        expected: String,
        /// Days that the text may mean, in the accepted form.
        readings: Vec<String>,
    },
    #[error("`{name}` is one of {}; {given} was given", names(.accepted), given = quote_value(.given))]
    NotAChoice {
        name: String,
        given: String,
        accepted: Vec<String>,
        /// All items of the list that the value is in; none for a value by itself.
        items: Vec<Value>,
    },
    #[error("`{name}` is missing ({expected})")]
    Missing { name: String, expected: String },
    #[error("one of {} is needed", names(.accepted))]
    NoneOf { accepted: Vec<String> },
    #[error("`{name}` is not accepted for scope `{scope}`, only for {}", names(.accepted))]
    OtherScope { name: String, scope: String, accepted: Vec<String> },
    #[error("`{name}` is needed, one of {}: {reason}", names(.accepted))]
    ScopeNeeded {
        name: String,
        reason: String,
        accepted: Vec<String>,
        /// The only one that the parameters fit, where a wrong guess changes nothing of others.
        fitting: Option<String>,
    },
    #[error("`{name}`: expected {expected}, got {given:?}")]
    NotALocation { name: String, given: String, expected: &'static str },
    #[error("`{name}` holds the quick actions {}, which GitLab would execute; this server refuses them (GITLAB_QUICK_ACTIONS=refuse)", names(.commands))]
    QuickAction { name: String, commands: Vec<String> },
    #[error("the catalog cannot be read: {reason}")]
    Catalog { reason: String },
    #[error("`{name}` cannot be part of a path: {reason}")]
    BadPath { name: String, reason: String },
    #[error("`{name}` is the id of {article} {noun}, or {expected}; `{given}` was given", article = article(.noun), given = quote_value(.given))]
    NoName { name: String, given: String, noun: &'static str, expected: String },
    #[error("`{name}`: a {noun} is looked up by name only in {}; add that, or give the id of `{given}`", names(.needs), given = quote_value(.given))]
    NoPlace { name: String, given: String, noun: &'static str, needs: Vec<String> },
    #[error("`{name}` is ambiguous: {}", render_candidates(.name, .candidates))]
    Ambiguous { name: String, candidates: Vec<Candidate> },
    #[error("`target` is invalid: {given}: {reason}", given = quote_value(.given))]
    NoTarget { given: String, reason: String },
    #[error("`target` is of {given}, but this server is for {configured}", given = quote_value(.given))]
    OtherHost { given: String, configured: String },
    #[error("`target` is {is}, and this works on {takes}: {given}", given = quote_value(.given))]
    WrongTarget { given: String, kind: ObjectKind, is: String, takes: String },
    #[error("`{name}` is {given}, but `{reference}` has {target}", given = quote_value(.given))]
    Disagrees { name: String, given: String, reference: String, target: String },
    #[error("`path` cannot be called: {reason}; `{given}` was given", given = quote_value(.given))]
    NoPath { given: String, reason: String },
    #[error("`{name}` is not accepted here: {reason}")]
    NotTaken { name: String, reason: String, instead: Option<(String, Value)> },
    #[error("`path` is the GraphQL API: use api.graphql")]
    IsGraphql { body: Option<Value> },
    #[error("`document` cannot be run: {reason}{}", render_line(.line))]
    NoDocument { reason: String, line: Option<usize> },
}

impl Fault {
    /// The fault of a parameter that is not accepted, without another that is.
    pub(super) fn not_taken(name: &str, reason: impl Into<String>) -> Fault {
        Fault::NotTaken { name: name.to_owned(), reason: reason.into(), instead: None }
    }

    /// Name of the parameter.
    pub fn name(&self) -> &str {
        match self {
            Fault::Unknown { given, .. } => given,
            Fault::NoneOf { accepted } => accepted.first().map_or("", String::as_str),
            Fault::NoTarget { .. } | Fault::OtherHost { .. } | Fault::WrongTarget { .. } => TARGET,
            Fault::NoPath { .. } | Fault::IsGraphql { .. } => "path",
            Fault::NoDocument { .. } => "document",
            Fault::Catalog { .. } => "action",
            Fault::ScopeNeeded { name, .. }
            | Fault::NotTaken { name, .. }
            | Fault::WrongType { name, .. }
            | Fault::NoDate { name, .. }
            | Fault::NotAChoice { name, .. }
            | Fault::Missing { name, .. }
            | Fault::OtherScope { name, .. }
            | Fault::NoName { name, .. }
            | Fault::NoPlace { name, .. }
            | Fault::Ambiguous { name, .. }
            | Fault::Disagrees { name, .. }
            | Fault::NotALocation { name, .. }
            | Fault::QuickAction { name, .. }
            | Fault::BadPath { name, .. } => name,
        }
    }
}

/// The indefinite article of a noun. None of the nouns begins with a vowel that sounds like a consonant, except `user`.
fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" }
}

/// Truncates a caller's text for a message.
fn quote_value(given: &str) -> Cow<'_, str> {
    const MAX_QUOTED_CHARACTERS: usize = 200;
    let shown = given.get(..given.floor_char_boundary(MAX_QUOTED_CHARACTERS)).unwrap_or(given);
    if shown.len() == given.len() { Cow::Borrowed(given) } else { Cow::Owned(format!("{shown}…")) }
}

fn render_line(line: &Option<usize>) -> String {
    line.map(|line| format!(" (line {line})")).unwrap_or_default()
}

/// Renders the possible days of a date.
fn render_readings(readings: &[String]) -> String {
    let quoted: Vec<String> = readings.iter().map(|day| format!("\"{day}\"")).collect();
    if quoted.len() > 1 { format!(", which may be {}", quoted.join(" or ")) } else { String::new() }
}

fn list(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn render_candidates(param: &str, candidates: &[Candidate]) -> String {
    let number = if param.ends_with("iid") { "iid" } else { "id" };
    let named =
        candidates.iter().map(|candidate| format!("`{}` with the {number} {}", candidate.name, candidate.id));
    named.collect::<Vec<_>>().join(" or ")
}

/// Joins names for a message. A long list is truncated: the schema has all of it.
fn names(names: &[String]) -> String {
    const SHOWN: usize = 30;
    let mut quoted: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if names.len() > SHOWN {
        quoted.push(format!("{} more", names.len() - SHOWN));
    }
    if quoted.is_empty() { "none".to_owned() } else { quoted.join(", ") }
}
