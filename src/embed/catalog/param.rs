//! Parameters of actions, and their types.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::json::Json;
use super::names::Names;
use super::operation::Scope;
use super::version::Version;

/// Kind of place that a parameter's value names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Locates {
    Project,
    Group,
    /// A group or a user's namespace.
    Namespace,
    /// A project or a group, as `fullPath`.
    Holder,
    /// A project, group or namespace by its path alone: GitLab takes a number for a path, not for an id.
    Path,
    /// An object in any project or group, whatever else the call names.
    Foreign,
    /// Anything on any instance: a URL, a short reference or a git remote, which a composite action takes apart.
    Address,
}

/// A parameter of an action, or a field of an object parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Param {
    pub name: String,
    /// Place in the request. Not used for fields of an object.
    #[serde(rename = "in", default)]
    pub place: Place,
    #[serde(rename = "type")]
    pub kind: ParamKind,
    /// Accepted values, if there are few.
    #[serde(rename = "enum", default)]
    pub choices: Vec<String>,
    pub default: Option<Json>,
    /// True if every operation that has the parameter requires it.
    #[serde(default)]
    pub required: bool,
    /// Scopes of the operations that have the parameter; empty if all do.
    #[serde(default)]
    pub scopes: Vec<Scope>,
    /// The GitLab version that introduced it, where GitLab's files tell.
    pub since: Option<Version>,
    /// The GitLab version that introduced an accepted value, for values that came after the parameter.
    #[serde(rename = "enum_since", default)]
    pub choices_since: BTreeMap<String, Version>,
    /// Fields of an object, or of the objects in a list.
    #[serde(default)]
    pub fields: Vec<Param>,
    /// Encoding of a list in a query string.
    #[serde(default)]
    pub array: ArrayForm,
    /// Name in the request, if different.
    pub wire: Option<String>,
    /// Reference kind, if it accepts a name where GitLab expects an id.
    pub names: Option<Names>,
    /// Description, if it differs from the glossary's.
    pub note: Option<String>,
    /// True if GitLab accepts it although its OpenAPI document omits it.
    #[serde(default)]
    pub undocumented: bool,
    /// GraphQL type, if it is sent as a variable: `[IssuableState!]`.
    pub graphql: Option<String>,
    /// Type in the global ids that it accepts: `Ci::Build` of `gid://gitlab/Ci::Build/1`.
    pub gid: Option<String>,
    /// Kind of place that its value names; `None` if its value does not affect where the call works.
    pub locates: Option<Locates>,
    /// True if the default is sent when no value is given: GitLab requires one.
    #[serde(default)]
    pub sends_default: bool,
    /// True if GitLab writes the blanks of a title as dashes in it: the slug of a wiki page.
    #[serde(default)]
    pub dashed: bool,
}

/// Place of a parameter in the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    Path,
    #[default]
    Query,
    Body,
    /// A multipart part that carries a file.
    File,
    /// Selects the operation and is not sent.
    Selector,
}

/// Encoding of a list in a query string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrayForm {
    /// `labels=a,b`
    #[default]
    Comma,
    /// `iids[]=1&iids[]=2`
    Brackets,
}

/// A type: a base type or a list of it. Written `string`, `integer[]`; one byte in the embedded records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ParamKind {
    pub base: Base,
    pub many: bool,
}

/// Type of one value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Base {
    #[default]
    String,
    Integer,
    Number,
    Boolean,
    /// `2026-02-28`
    Date,
    /// `2026-02-28T09:00:00Z`
    DateTime,
    IntegerOrString,
    /// A role in a project or group, by its name or GitLab's number; see [`ROLES`].
    Role,
    Object,
    File,
    /// Any JSON value.
    Any,
}

/// Names of roles with GitLab's numbers: <https://docs.gitlab.com/api/access_requests/#valid-access-levels>; 0 and 60
/// are used by protected branches and environments.
pub const ROLES: [(&str, i64); 10] = [
    ("no_access", 0),
    ("minimal_access", 5),
    ("guest", 10),
    ("planner", 15),
    ("reporter", 20),
    ("security_manager", 25),
    ("developer", 30),
    ("maintainer", 40),
    ("owner", 50),
    ("admin", 60),
];

const BASES: [(Base, &str); 11] = [
    (Base::String, "string"),
    (Base::Integer, "integer"),
    (Base::Number, "number"),
    (Base::Boolean, "boolean"),
    (Base::Date, "date"),
    (Base::DateTime, "datetime"),
    (Base::IntegerOrString, "integer|string"),
    (Base::Role, "role"),
    (Base::Object, "object"),
    (Base::File, "file"),
    (Base::Any, "any"),
];

impl Base {
    /// Name in the catalog and in signatures.
    pub fn name(self) -> &'static str {
        BASES.iter().find(|(base, _)| *base == self).map_or("any", |(_, name)| name)
    }
}

impl Param {
    /// True if operations of the scope have the parameter.
    pub fn is_of_scope(&self, scope: Scope) -> bool {
        self.scopes.is_empty() || self.scopes.contains(&scope)
    }

    /// Display form of a choice: the name of a role instead of its number.
    pub fn choice_name<'c>(&self, choice: &'c str) -> &'c str {
        let role =
            ROLES.iter().find(|(_, level)| self.kind.base == Base::Role && level.to_string() == choice);
        role.map_or(choice, |(name, _)| name)
    }
}

impl fmt::Display for ParamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.base.name())?;
        f.write_str(if self.many { "[]" } else { "" })
    }
}

impl FromStr for ParamKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, many) = text.strip_suffix("[]").map_or((text, false), |name| (name, true));
        BASES
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(base, _)| ParamKind { base: *base, many })
            .ok_or_else(|| format!("`{text}` is no type of a parameter"))
    }
}

impl Serialize for ParamKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_str(self);
        }
        let base = BASES.iter().position(|(base, _)| *base == self.base).unwrap_or_default();
        serializer.serialize_u8(u8::try_from(base * 2 + usize::from(self.many)).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for ParamKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            let packed = u8::deserialize(deserializer)?;
            let found = BASES.get(usize::from(packed / 2));
            let base = found.ok_or_else(|| serde::de::Error::custom("no type of a parameter"))?.0;
            return Ok(ParamKind { base, many: packed % 2 == 1 });
        }
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
