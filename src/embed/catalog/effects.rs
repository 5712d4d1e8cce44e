//! Effects of a call: its risk, which parameters may raise, and where its result is.

use serde::{Deserialize, Serialize};

use super::json::Json;

/// A parameter that raises the risk of one call, or adds to its effects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Raise {
    /// The parameter; object fields follow a dot. Lists are traversed: `actions.action`.
    pub param: String,
    pub when: When,
    /// Minimum risk of a call in which a value of the parameter matches.
    pub risk: Risk,
    /// Ids of further actions whose effect such a call has.
    #[serde(default)]
    pub effects: Vec<String>,
}

/// The values of a parameter that raise the risk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// One of these values.
    AnyOf(Vec<Json>),
    /// An integer greater than or equal to this.
    AtLeast(i64),
    /// This value. Null and blank text count as false.
    Is(Json),
    /// Any value, null too: it resets what was set.
    Given,
}

/// Default place of a result, if no parameter names its target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Landing {
    /// Parameters that are all absent; empty if the result always lands there.
    #[serde(default)]
    pub absent: Vec<String>,
    /// A parameter and the value that selects this place, whatever else is given.
    pub by: Option<LandingChoice>,
    pub place: LandingPlace,
}

/// Parameter value that selects the place of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LandingChoice {
    pub param: String,
    /// `*` is any value that GitLab would use.
    pub is: String,
}

/// A place that no parameter names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LandingPlace {
    /// The personal namespace of the user the token belongs to.
    OwnNamespace,
    /// The top level of the instance.
    TopLevel,
    /// The whole instance, in no project or group.
    Instance,
    /// The group that the project of the call is in.
    ParentGroup,
    /// The place of the call under another name.
    Renamed,
}

/// Risk of running an action; an unknown one is the highest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    /// Changes nothing.
    Read,
    /// Makes a reversible change.
    Write,
    /// Grants access, or lets data out: tokens, keys, members, webhooks, exports, wider visibility, removed protection.
    Grant,
    /// Deletes, overwrites irreversibly, revokes, erases, transfers, merges or blocks. Needs `confirm`.
    #[default]
    Destructive,
}

impl Risk {
    /// Name in results.
    pub fn name(self) -> &'static str {
        match self {
            Risk::Read => "read",
            Risk::Write => "write",
            Risk::Grant => "grant",
            Risk::Destructive => "destructive",
        }
    }
}
