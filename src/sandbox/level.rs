//! Access levels.

use serde::Deserialize;

/// Access level of a user to something, from anonymous to administrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Everyone, even without a token.
    Anyone,
    /// Every signed-in user.
    User,
    /// A member with access level 5.
    Minimal,
    /// A member with access level 10.
    Guest,
    /// A member with access level 15.
    Planner,
    /// A member with access level 20.
    Reporter,
    /// A member with access level 25.
    #[serde(rename = "security_manager")]
    SecurityManager,
    /// A member with access level 30.
    Developer,
    /// A member with access level 40.
    Maintainer,
    /// A member with access level 50.
    Owner,
    /// An administrator of the instance.
    Admin,
}

/// GitLab's numbers for the roles.
const ROLES: &[(u64, Level)] = &[
    (50, Level::Owner),
    (40, Level::Maintainer),
    (30, Level::Developer),
    (25, Level::SecurityManager),
    (20, Level::Reporter),
    (15, Level::Planner),
    (10, Level::Guest),
    (5, Level::Minimal),
];

impl Level {
    /// The role of an access level.
    pub fn of(number: u64) -> Self {
        ROLES.iter().find(|(least, _)| number >= *least).map_or(Self::User, |(_, level)| *level)
    }
}
