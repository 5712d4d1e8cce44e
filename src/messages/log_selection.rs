//! Selection of a part of a job log: a section, the matches of a pattern, the last lines. The selecting parameters are not
//! sent to GitLab; `lines` and `offset` apply within the part.

use serde_json::{Map, Value, json};

use super::error::{ErrorKind, ToolError};
use super::request::NextCall;
use crate::catalog::{Action, Place as ParamPlace};
use crate::text::{Pattern, PatternError, Position};

/// Maximum number of context lines around a match.
const MAX_CONTEXT_LINES: u64 = 100;

/// The requested part of a log.
#[derive(Debug)]
pub struct LogSelection {
    pub section: Option<String>,
    pub grep: Option<Pattern>,
    /// Lines around a match.
    pub context: usize,
}

/// Parses the selecting parameters; none if the action has no such parameters.
pub fn parse_log_selection(
    action: &Action,
    params: &Map<String, Value>,
) -> Result<Option<LogSelection>, ToolError> {
    if action.param("section").is_none_or(|param| param.place != ParamPlace::Selector) {
        return Ok(None);
    }
    let text = |name: &str| params.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let grep = text("grep").map(|pattern| {
        Pattern::new(pattern).map_err(|error| {
            let mut mended = params.clone();
            let (message, hint) = match error {
                PatternError::Syntax => {
                    mended.insert("grep".to_owned(), json!(Pattern::escape(pattern)));
                    let message = format!(
                        "`grep` is {pattern:?}, which is not a valid regular expression. Nothing was sent"
                    );
                    (message, "`fix` searches for this text literally.")
                }
                error => {
                    mended.remove("grep");
                    (format!("`grep` was not run: {error}. Nothing was sent"), "Use a simpler pattern.")
                }
            };
            ToolError::new(ErrorKind::InvalidParams, message)
                .hint(hint)
                .fix(NextCall::execute(&action.id, &mended))
        })
    });
    let context = params.get("context").and_then(Value::as_u64).unwrap_or_default().min(MAX_CONTEXT_LINES);
    let grep = grep.transpose()?;
    let wanted = LogSelection {
        section: text("section").map(str::to_owned),
        grep,
        context: usize::try_from(context).unwrap_or_default(),
    };
    Ok(Some(wanted).filter(|wanted| wanted.section.is_some() || wanted.grep.is_some()))
}

/// Default start of a log window: at the last lines with `tail`, at the beginning with a pattern.
pub fn window_start(params: &Map<String, Value>) -> Option<Position> {
    let tail = params.get("tail").and_then(Value::as_u64).and_then(|lines| usize::try_from(lines).ok());
    match tail {
        Some(lines) => Some(Position::Last(lines.max(1))),
        None => params.contains_key("grep").then_some(Position::Beginning),
    }
}
