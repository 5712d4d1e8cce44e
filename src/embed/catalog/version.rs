//! Versions of GitLab.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A version of GitLab: `18.9`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    pub major: u16,
    pub minor: u16,
}

/// Parses `18.9`, `18.9.1` and `18.9.0-pre`.
impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Version, String> {
        let mut parts = text.trim().split('.');
        let mut part = || {
            let digits = parts.next()?;
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            digits.get(..end)?.parse().ok()
        };
        match (part(), part()) {
            (Some(major), Some(minor)) => Ok(Version { major, minor }),
            _ => Err(format!("{text:?} is no version such as 18.9")),
        }
    }
}

impl TryFrom<String> for Version {
    type Error = String;

    fn try_from(text: String) -> Result<Version, String> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> String {
        version.to_string()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
