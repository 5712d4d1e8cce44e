//! Report of `doctor`, as text or JSON.

use std::fmt::Write;

use serde::Serialize;
use serde_json::json;

use crate::tools::name_table_keys;
use crate::untrusted::one_line;

/// Result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The instance, if several are configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    pub check: &'static str,
    pub state: FindingState,
    pub says: String,
    /// Suggested fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

/// Status of a check, in the order of the exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingState {
    Fine,
    /// Not checked; not a problem.
    Unknown,
    /// Works with limitations, or only for a limited time.
    Warning,
    Failure,
}

impl FindingState {
    fn word(self) -> &'static str {
        match self {
            FindingState::Fine => "ok",
            FindingState::Unknown => "-",
            FindingState::Warning => "warning",
            FindingState::Failure => "FAILED",
        }
    }
}

impl Finding {
    /// The finding as one on this instance.
    pub fn of_instance(self, name: &str) -> Finding {
        Finding { instance: Some(name.to_owned()), ..self }
    }

    /// The finding with the keys of the instance's table in place of the plain settings.
    pub fn of_table(self, name: &str) -> Finding {
        let says = name_table_keys(&self.says, name);
        Finding { says, mend: self.mend.map(|mend| name_table_keys(&mend, name)), ..self }
    }

    pub fn passed(check: &'static str, says: impl Into<String>) -> Finding {
        Finding::new(check, FindingState::Fine, says, None)
    }

    pub fn unknown(check: &'static str, says: impl Into<String>) -> Finding {
        Finding::new(check, FindingState::Unknown, says, None)
    }

    pub fn warning(check: &'static str, says: impl Into<String>, mend: impl Into<String>) -> Finding {
        Finding::new(check, FindingState::Warning, says, Some(mend.into()))
    }

    pub fn failure(check: &'static str, says: impl Into<String>, mend: impl Into<String>) -> Finding {
        Finding::new(check, FindingState::Failure, says, Some(mend.into()))
    }

    /// GitLab or a configuration may have written parts of the texts: each is one line.
    fn new(
        check: &'static str,
        state: FindingState,
        says: impl Into<String>,
        mend: Option<String>,
    ) -> Finding {
        let mend = mend.map(|mend| one_line(&mend));
        Finding { instance: None, check, state, says: one_line(&says.into()), mend }
    }
}

/// Worst status of all findings.
pub fn worst(found: &[Finding]) -> FindingState {
    found.iter().map(|finding| finding.state).max().unwrap_or(FindingState::Fine)
}

/// Renders a line for each finding, followed by its fix; those of each of several instances below its name.
pub fn text(found: &[Finding]) -> String {
    let mut text = String::new();
    let mut of = None;
    for Finding { instance, check, state, says, mend } in found {
        if instance.as_ref() != of {
            of = instance.as_ref();
            let _ = writeln!(text, "{}:", instance.as_deref().unwrap_or_default());
        }
        // Writing to a `String` cannot fail.
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
