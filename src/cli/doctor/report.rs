//! What was found, to read or as JSON.

use std::fmt::Write;

use serde::Serialize;
use serde_json::json;

/// One link of the chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub check: &'static str,
    pub state: State,
    pub says: String,
    /// What to do about it, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

/// How a link is. The order is that of the exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Fine,
    /// It could not be looked at, which says nothing against it.
    Unknown,
    /// It works, and may not do all that is wanted of it, or not for long.
    Warning,
    Failure,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Fine => "ok",
            State::Unknown => "-",
            State::Warning => "warning",
            State::Failure => "FAILED",
        }
    }
}

impl Finding {
    pub fn fine(check: &'static str, says: impl Into<String>) -> Finding {
        Finding { check, state: State::Fine, says: says.into(), mend: None }
    }

    pub fn unknown(check: &'static str, says: impl Into<String>) -> Finding {
        Finding { check, state: State::Unknown, says: says.into(), mend: None }
    }

    pub fn warning(check: &'static str, says: impl Into<String>, mend: impl Into<String>) -> Finding {
        Finding { check, state: State::Warning, says: says.into(), mend: Some(mend.into()) }
    }

    pub fn failure(check: &'static str, says: impl Into<String>, mend: impl Into<String>) -> Finding {
        Finding { check, state: State::Failure, says: says.into(), mend: Some(mend.into()) }
    }
}

/// The worst of all.
pub fn worst(found: &[Finding]) -> State {
    found.iter().map(|finding| finding.state).max().unwrap_or(State::Fine)
}

/// A line each, and below it what to do.
pub fn text(found: &[Finding]) -> String {
    let mut text = String::new();
    for Finding { check, state, says, mend } in found {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:8} {check:12} {says}", state.word());
        if let Some(mend) = mend {
            let _ = writeln!(text, "{:21} {mend}", "");
        }
    }
    text
}

pub fn json(found: &[Finding]) -> String {
    format!("{:#}\n", json!({"state": worst(found), "checks": found}))
}
