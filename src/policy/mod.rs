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
    /// Decides on a call, by the strictest of what it touches. What is denied is denied before it is shown, and
    /// shown before it is confirmed.
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
        !self.read_only || self.risk(action) == Risk::Read
    }

    /// The most that an action can do here. What calls an interface directly is decided on call by call, and
    /// reads where only reads run.
    pub fn risk(self, action: &Action) -> Risk {
        if self.read_only && action.direct().is_some() { Risk::Read } else { action.risk }
    }
}

/// A read by its risk is a read, though it may be a POST (`ci_lint.check`); but nothing that HTTP calls a
/// deletion is ever taken for one.
fn changes(risk: Risk, call: &Call) -> bool {
    risk != Risk::Read || call.method() == crate::catalog::Method::Delete
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Body;
    use crate::catalog::Method;

    const READ_ONLY: Policy = Policy { read_only: true, safe_mode: false };
    const SAFE: Policy = Policy { read_only: false, safe_mode: true };
    const OPEN: Policy = Policy { read_only: false, safe_mode: false };

    fn decide(policy: Policy, risk: Risk, method: Method, confirm: bool, dry_run: bool) -> Decision {
        let call = Call::for_test(risk, method, "/api/v4/x", &[], Body::Empty);
        policy.decide(&call, Consent { confirm, dry_run })
    }

    #[test]
    fn read_only_denies_whatever_else_is_said() {
        for (risk, method) in
            [(Risk::Write, Method::Post), (Risk::Destructive, Method::Delete), (Risk::Read, Method::Delete)]
        {
            for (confirm, dry_run) in [(false, false), (true, false), (false, true), (true, true)] {
                assert_eq!(decide(READ_ONLY, risk, method, confirm, dry_run), Decision::Deny(Rule::ReadOnly));
            }
        }
        assert_eq!(decide(READ_ONLY, Risk::Read, Method::Post, false, false), Decision::Allow);
    }

    #[test]
    fn safe_mode_shows_changes_and_runs_reads() {
        assert_eq!(decide(SAFE, Risk::Write, Method::Post, true, false), Decision::Preview(Rule::SafeMode));
        assert_eq!(
            decide(SAFE, Risk::Destructive, Method::Delete, true, false),
            Decision::Preview(Rule::SafeMode)
        );
        assert_eq!(decide(SAFE, Risk::Read, Method::Get, false, false), Decision::Allow);
    }

    #[test]
    fn what_destroys_is_confirmed_and_nothing_else_is() {
        assert_eq!(decide(OPEN, Risk::Destructive, Method::Put, false, false), Decision::Confirm);
        assert_eq!(decide(OPEN, Risk::Destructive, Method::Put, true, false), Decision::Allow);
        assert_eq!(decide(OPEN, Risk::Write, Method::Post, false, false), Decision::Allow);
        assert_eq!(decide(OPEN, Risk::Destructive, Method::Put, true, true), Decision::Preview(Rule::DryRun));
    }
}
