//! May this call run: one decision, made on the checked call before anything is sent.

use crate::call::Call;
use crate::catalog::{Action, Risk};

/// What the configuration allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Only actions that change nothing.
    pub read_only: bool,
    /// Whatever is not a read is shown, not sent.
    pub safe_mode: bool,
}

/// What the caller said about one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Consent {
    pub confirm: bool,
    pub dry_run: bool,
}

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Allow,
    /// Show the request; send nothing.
    Preview(Rule),
    /// Ask first.
    Confirm,
    Deny(Rule),
}

/// What decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    ReadOnly,
    SafeMode,
    DryRun,
}

impl Rule {
    /// The rule to a person, with where it is set.
    pub fn explained(self) -> &'static str {
        match self {
            Rule::ReadOnly => "this server only reads (GITLAB_READ_ONLY)",
            Rule::SafeMode => "safe mode sends nothing that could change anything (GITLAB_SAFE_MODE)",
            Rule::DryRun => "`dry_run` was asked for",
        }
    }
}

impl Policy {
    /// Decides on a call. What is denied is denied before it is shown, and shown before it is confirmed.
    pub fn decide(self, call: &Call, consent: Consent) -> Decision {
        match call.risk() {
            risk if self.read_only && changes(risk, call) => Decision::Deny(Rule::ReadOnly),
            _ if consent.dry_run => Decision::Preview(Rule::DryRun),
            risk if self.safe_mode && changes(risk, call) => Decision::Preview(Rule::SafeMode),
            Risk::Destructive if !consent.confirm => Decision::Confirm,
            _ => Decision::Allow,
        }
    }

    /// Whether the finder may offer an action.
    pub fn offers(self, action: &Action) -> bool {
        !self.read_only || action.risk == Risk::Read
    }
}

/// A read by its risk is a read, though it may be a POST (`ci_lint.check`); but nothing that HTTP calls a
/// deletion is ever taken for one.
fn changes(risk: Risk, call: &Call) -> bool {
    risk != Risk::Read || call.method() == crate::catalog::Method::Delete
}
