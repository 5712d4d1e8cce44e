//! What decided on a call.

use std::fmt;

use crate::catalog::Risk;

/// The rule that decided, which explains itself to a person with where it is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    ReadOnly,
    SafeMode,
    DryRun,
    /// One of the denied actions, as it is written.
    Denied {
        setting: &'static str,
        pattern: String,
    },
    /// It is not in the part of the catalog that is offered, by these settings.
    LeftOut {
        settings: Vec<String>,
    },
    /// What is touched cannot be told, while some actions are denied.
    Untold,
    /// It would change something outside the paths that are allowed, by this parameter.
    Outside {
        place: Option<(String, Option<String>)>,
        allowed: Vec<String>,
    },
    /// The rule with that number, from 1, of the policy's file.
    Written {
        number: usize,
        reason: Option<String>,
    },
    /// None of the token's scopes is enough.
    Scope {
        scopes: Vec<String>,
        needs: &'static str,
    },
    /// What destroys something is asked about first.
    Risk(Risk),
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::ReadOnly => f.write_str("this server only reads (GITLAB_READ_ONLY)"),
            Rule::SafeMode => f.write_str("safe mode sends nothing that could change anything (GITLAB_SAFE_MODE)"),
            Rule::DryRun => f.write_str("`dry_run` was asked for"),
            Rule::Denied { setting, pattern } => write!(f, "`{pattern}` is denied ({setting})"),
            Rule::LeftOut { settings } => {
                write!(f, "this server offers a part of GitLab in which it is not ({})", settings.join(", "))
            }
            Rule::Untold => f.write_str(
                "some actions are denied (GITLAB_DENIED_ACTIONS), and nobody here can tell whether this does what one of them does",
            ),
            Rule::Outside { place, allowed } => outside(f, place.as_ref(), allowed),
            Rule::Written { number, reason } => {
                write!(f, "rule {number} of the policy (GITLAB_POLICY)")?;
                reason.as_ref().map_or(Ok(()), |reason| write!(f, " says: {reason}"))
            }
            Rule::Scope { scopes, needs } => {
                write!(f, "the token has the scopes {}, and this needs {needs}", scopes.join(", "))
            }
            Rule::Risk(Risk::Destructive) => f.write_str("it destroys something"),
            Rule::Risk(Risk::Grant) => f.write_str("it gives access or a way out for data"),
            Rule::Risk(Risk::Write) => f.write_str("it changes something"),
            Rule::Risk(Risk::Read) => f.write_str("it only reads"),
        }
    }
}

fn outside(
    f: &mut fmt::Formatter<'_>,
    place: Option<&(String, Option<String>)>,
    allowed: &[String],
) -> fmt::Result {
    match place {
        Some((param, Some(path))) => write!(f, "`{param}` is {path}")?,
        Some((param, None)) => write!(f, "where the id in `{param}` is cannot be told; a path can")?,
        None => f.write_str("it works on no project or group in particular")?,
    }
    write!(f, ", and changes are allowed below {} alone (GITLAB_ALLOWED_PATHS)", allowed.join(", "))
}
