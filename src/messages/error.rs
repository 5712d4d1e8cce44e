//! Errors of the tools, for a model to act on.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::catalog::CatalogError;
use crate::messages::question::Question;
use crate::messages::request::NextCall;
use crate::present;
use crate::text::error_chain;
use crate::untrusted::{defuse, quote, without_calls};

/// Kinds of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    UnknownAction,
    AmbiguousAlias,
    InvalidParams,
    NeedsConfirmation,
    /// A person declined the call.
    Declined,
    /// A person was asked, and the question was closed without an answer.
    Unanswered,
    /// The configuration forbids the call.
    Denied,
    NotFound,
    Unauthorized,
    Forbidden,
    Conflict,
    RateLimited,
    GitlabError,
    Network,
    Timeout,
    TooLarge,
    /// A fault of this server's own.
    Internal,
}

impl ErrorKind {
    /// Every kind; docs/reference/errors.md has a section for each.
    pub const ALL: [ErrorKind; 17] = [
        ErrorKind::UnknownAction,
        ErrorKind::AmbiguousAlias,
        ErrorKind::InvalidParams,
        ErrorKind::NeedsConfirmation,
        ErrorKind::Declined,
        ErrorKind::Unanswered,
        ErrorKind::Denied,
        ErrorKind::NotFound,
        ErrorKind::Unauthorized,
        ErrorKind::Forbidden,
        ErrorKind::Conflict,
        ErrorKind::RateLimited,
        ErrorKind::GitlabError,
        ErrorKind::Network,
        ErrorKind::Timeout,
        ErrorKind::TooLarge,
        ErrorKind::Internal,
    ];
    /// The kind as answers name it: `not_found`.
    pub fn name(self) -> String {
        json!(self).as_str().unwrap_or("internal").to_owned()
    }
}

/// An error as an answer: the problem, a hint, and the call to make next.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolError {
    pub kind: ErrorKind,
    /// Names the exact value at fault and the accepted values.
    pub message: String,
    pub hint: Option<String>,
    /// The corrected call, or the next one to make.
    pub fix: Option<NextCall>,
    /// More that belongs to this kind, such as `applied: "unknown"` or `retry_after`.
    pub details: Map<String, Value>,
    /// The question to a person behind an error that needs confirmation.
    pub question: Option<Box<Question>>,
}

impl ToolError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> ToolError {
        let message = present::line(&message.into());
        ToolError { kind, message, hint: None, fix: None, details: Map::new(), question: None }
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> ToolError {
        self.hint = Some(present::line(&hint.into()));
        self
    }

    /// Adds a detail.
    pub fn detail(mut self, name: &str, value: Value) -> ToolError {
        self.details.insert(name.to_owned(), value);
        self
    }

    /// Adds the notes on how the call was understood to the hint.
    pub fn with_notes(self, notes: &[String]) -> ToolError {
        let hint = self.hint.clone().into_iter().chain(notes.iter().map(|note| format!("Note: {note}.")));
        let hint = hint.collect::<Vec<String>>().join(" ");
        if hint.is_empty() { self } else { self.hint(hint) }
    }

    /// Adds the next call.
    pub fn fix(mut self, call: NextCall) -> ToolError {
        self.fix = Some(call);
        self
    }

    /// The details, of which GitLab may have written some.
    fn details(&self) -> Map<String, Value> {
        self.details
            .iter()
            .map(|(name, value)| (name.clone(), present::cleaned_value(value.clone())))
            .collect()
    }

    /// `{"error": {kind, message, hint, fix, …}}`
    pub fn structured(&self) -> Map<String, Value> {
        let mut error = Map::new();
        error.insert("kind".to_owned(), json!(self.kind));
        error.insert("message".to_owned(), json!(without_calls(&self.message)));
        if let Some(hint) = &self.hint {
            error.insert("hint".to_owned(), json!(without_calls(hint)));
        }
        if let Some(fix) = &self.fix {
            error.insert("fix".to_owned(), json!(fix));
        }
        error.extend(self.details());
        Map::from_iter([("error".to_owned(), Value::Object(error))])
    }

    /// The error as text.
    pub fn text(&self) -> String {
        let mut lines = vec![format!("Error ({}): {}", self.kind.name(), without_calls(&self.message))];
        lines.extend(self.hint.iter().map(|hint| format!("Hint: {}", without_calls(hint))));
        lines.extend(self.details().iter().map(|(name, value)| detail(name, value)));
        lines.extend(self.fix.iter().map(|fix| format!("Next: {fix}")));
        lines.join("\n")
    }
}

/// Name of the detail with the signature of the action.
pub const SIGNATURE: &str = "signature";

/// A detail to read; of a list of things, one a line. Lines of other things than actions are GitLab's, in tags.
fn detail(name: &str, value: &Value) -> String {
    // Other texts may be GitLab's: quoted, they cannot begin a line of the server's own.
    if let (SIGNATURE, Value::String(text)) = (name, value) {
        return defuse(&format!("{name}: {text}")).into_owned();
    }
    let Some(items) = value.as_array().filter(|items| items.iter().all(Value::is_object)) else {
        return defuse(&format!("{name}: {}", calm(value))).into_owned();
    };
    let line = |item: &Value| {
        let texts = item.as_object().into_iter().flat_map(|fields| fields.values());
        let texts: Vec<String> =
            texts.filter_map(Value::as_str).map(|text| text.replace('\n', " ")).collect();
        format!("- {}", texts.join(" | "))
    };
    let lines: Vec<String> = items.iter().map(line).collect();
    let lines = lines.join("\n");
    match items.iter().all(|item| item.get(SIGNATURE).is_some()) {
        true => defuse(&format!("{name}:\n{lines}")).into_owned(),
        false => format!("{name}:\n{}", present::marked(&lines).trim_end()),
    }
}

/// The value without a text that could be taken for a call of the server's own: its braces are look-alikes.
fn calm(value: &Value) -> Value {
    match value {
        Value::String(text) if text.contains('{') => json!(quote(text).trim_matches('"')),
        Value::Array(items) => items.iter().map(calm).collect(),
        Value::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), calm(field))).collect(),
        other => other.clone(),
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl std::error::Error for ToolError {}

impl From<CatalogError> for ToolError {
    fn from(error: CatalogError) -> ToolError {
        internal(&error)
    }
}

/// A fault of this server's own, with all that is under it.
pub fn internal(error: &dyn std::error::Error) -> ToolError {
    ToolError::new(ErrorKind::Internal, error_chain(error))
}
