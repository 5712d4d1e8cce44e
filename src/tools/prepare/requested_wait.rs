//! The wait for a state that a call asks for.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::catalog::{Action, StateWait};
use crate::messages::error::{ErrorKind, ToolError};

/// The parameters: the longest time, and the state.
pub const SECONDS: &str = "wait";
pub const STATE: &str = "wait_for";

/// Longest wait.
const MAX_SECONDS: u64 = 600;

/// Longest wait of a step of a composite action, whose steps begin within two minutes.
const MAX_STEP_SECONDS: u64 = 60;

/// A wait that a call asks for.
#[derive(Debug)]
pub struct RequestedWait {
    pub rule: StateWait,
    pub time: Duration,
    /// In lower case.
    pub state: Option<String>,
}

/// The wait that the checked parameters ask for. An error if they do not fit each other.
pub fn parse_wait(
    action: &Action,
    params: &Map<String, Value>,
    is_step: bool,
    notes: &mut Vec<String>,
) -> Result<Option<RequestedWait>, ToolError> {
    let Some(rule) = &action.wait else { return Ok(None) };
    let state = params.get(STATE).and_then(Value::as_str).map(str::trim).filter(|state| !state.is_empty());
    let invalid = |message: &str| {
        let message = format!("{}: {message}. Nothing was sent", action.id);
        Err(ToolError::new(ErrorKind::InvalidParams, message))
    };
    let Some(seconds) = params.get(SECONDS).and_then(Value::as_i64) else {
        return if state.is_some() {
            invalid("`wait_for` is the state of a `wait`, which is missing (seconds)")
        } else {
            Ok(None)
        };
    };
    let Ok(seconds) = u64::try_from(seconds) else {
        return invalid("`wait`: expected a number of seconds from 0 to 600");
    };
    let most = if is_step { MAX_STEP_SECONDS } else { MAX_SECONDS };
    if seconds > most {
        notes.push(format!("`wait` is {most} s, the most{}", if is_step { " of a step" } else { "" }));
    }
    let time = Duration::from_secs(seconds.min(most));
    Ok(Some(RequestedWait { rule: rule.clone(), time, state: state.map(str::to_lowercase) }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn a_wait_that_is_shortened_says_so() {
        let action = Catalog::embedded().unwrap().get("pipeline.get").unwrap().unwrap();
        for (asked, is_step, seconds, note) in [
            (600, false, 600, None),
            (3_600, false, 600, Some("`wait` is 600 s, the most")),
            (60, true, 60, None),
            (600, true, 60, Some("`wait` is 60 s, the most of a step")),
        ] {
            let params = Map::from_iter([(SECONDS.to_owned(), json!(asked))]);
            let mut notes = Vec::new();
            let wait = parse_wait(&action, &params, is_step, &mut notes).unwrap().unwrap();
            assert_eq!(wait.time, Duration::from_secs(seconds), "{asked}");
            assert_eq!(notes.first().map(String::as_str), note, "{asked}");
        }
    }
}
