//! The rules that decide on calls.

use std::fmt;

use crate::call::Location;
use crate::catalog::Risk;

/// The rule behind a decision. Displays as a reason with the setting it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Every change is denied, by this setting.
    ReadOnly {
        setting: String,
    },
    /// The tool of the call runs only reads.
    ReadTool,
    SafeMode,
    DryRun,
    /// A pattern of denied actions, as written.
    Denied {
        setting: &'static str,
        pattern: String,
    },
    /// The action is not in the enabled toolsets and domains.
    NotOffered {
        settings: Vec<String>,
    },
    /// Some actions are denied, and the affected operations of this request are unknown.
    MayBeDenied,
    /// The call would change something outside the allowed paths, by this parameter.
    Outside {
        place: Option<(String, Location)>,
        allowed: Vec<String>,
    },
    /// The call reads outside the readable paths.
    Unreadable {
        place: Option<String>,
        readable: Vec<String>,
    },
    /// A request that the server makes itself may only read.
    NotARead,
    /// The rule with this number in the policy file, counted from 1.
    PolicyFile {
        number: usize,
        reason: Option<String>,
    },
    /// None of the token's scopes allows the call.
    Scope {
        scopes: Vec<String>,
        needs: &'static str,
    },
    /// Calls of this risk need confirmation.
    Risk(Risk),
}

impl Rule {
    /// True if the decision depends on a path.
    pub fn is_about_paths(&self) -> bool {
        matches!(self, Rule::Outside { .. } | Rule::Unreadable { .. } | Rule::PolicyFile { .. })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::ReadOnly { setting } => write!(f, "this server is read-only ({setting})"),
            Rule::ReadTool => f.write_str("the tool that was called only reads"),
            Rule::SafeMode => {
                f.write_str("safe mode shows changes and does not send them (GITLAB_SAFE_MODE)")
            }
            Rule::DryRun => f.write_str("`dry_run` was given"),
            Rule::Denied { setting, pattern } => write!(f, "`{pattern}` is denied ({setting})"),
            Rule::NotOffered { settings } => {
                write!(
                    f,
                    "it is not among the toolsets and domains that this server offers ({})",
                    settings.join(", ")
                )
            }
            Rule::MayBeDenied => f.write_str(
                "some actions are denied (GITLAB_DENIED_ACTIONS), and this request may include one of them",
            ),
            Rule::Outside { place, allowed } => outside(f, place.as_ref(), allowed),
            Rule::Unreadable { place, readable } => {
                match place {
                    Some(param) => write!(f, "`{param}` names a place outside")?,
                    None => f.write_str("it is not limited to one project or group")?,
                }
                let paths = readable.join(", ");
                write!(f, ", and reading is allowed below {paths} only (GITLAB_READABLE_PATHS)")
            }
            Rule::NotARead => f.write_str("this server only reads for itself"),
            Rule::PolicyFile { number, reason } => {
                write!(f, "rule {number} of the policy file (GITLAB_POLICY)")?;
                reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
            }
            Rule::Scope { scopes, needs } => {
                write!(f, "the token has the scopes {}, and this needs {needs}", scopes.join(", "))
            }
            Rule::Risk(Risk::Destructive) => f.write_str("it is destructive"),
            Rule::Risk(Risk::Grant) => f.write_str("it gives access, or data a way out"),
            Rule::Risk(Risk::Write) => f.write_str("it changes something"),
            Rule::Risk(Risk::Read) => f.write_str("it only reads"),
        }
    }
}

fn outside(
    f: &mut fmt::Formatter<'_>,
    place: Option<&(String, Location)>,
    allowed: &[String],
) -> fmt::Result {
    match place {
        Some((param, Location::Path(path))) => write!(f, "`{param}` is {path}")?,
        Some((param, Location::OwnNamespace)) => {
            write!(f, "without `{param}` it lands in your own namespace")?
        }
        Some((param, Location::Instance)) => write!(f, "by `{param}` it works on the whole instance")?,
        Some((param, Location::TopLevel)) => write!(f, "without `{param}` it lands at the top level")?,
        Some((param, Location::Id { .. } | Location::Unknown)) => {
            write!(f, "the path behind `{param}` is not known; give a path")?;
        }
        None => f.write_str("it is not limited to one project or group")?,
    }
    write!(f, ", and changes are allowed below {} only (GITLAB_ALLOWED_PATHS)", allowed.join(", "))
}
