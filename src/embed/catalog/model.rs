//! What an action is. The same types are the lines of `catalog/actions` (JSON, where a field at its default is
//! left out) and the records embedded in the binary (postcard, where every field stands): the generator, the
//! build script and the server read and write one shape.
//!
//! Nothing here is read from GitLab at run time, and nothing depends on the rest of the crate: the build script
//! includes this file by path.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::names::Names;

/// One thing a person means, such as `issue.list`, with every operation that can do it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// `domain.verb`, both in snake_case. A promise: it does not change when the catalog is generated again.
    #[serde(rename = "action")]
    pub id: String,
    /// One line in our own words: what it does, from the user's side.
    pub summary: String,
    pub risk: Risk,
    #[serde(default)]
    pub audience: Audience,
    /// Preferred first. Operations that can be chosen differ in their scope; see [`Operation::alternate`].
    pub operations: Vec<Operation>,
    #[serde(default)]
    pub params: Vec<Param>,
    /// Other ids this action answers to: former ids, other servers' names.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Phrases that people use for it; for the finder, never shown.
    #[serde(default)]
    pub phrases: Vec<String>,
    /// Ids of actions that come before or after it.
    #[serde(default)]
    pub related: Vec<String>,
    /// Parameters whose example is not the one in the glossary, by name.
    #[serde(default)]
    pub example: BTreeMap<String, Json>,
    /// True where a person wrote the summary; false where rules built it.
    #[serde(default)]
    pub curated: bool,
    /// The id of the action that stands for this one: the same thing through GitLab's other interface. Such an
    /// action runs by its own id and is in no ranking.
    #[serde(default)]
    pub twin: Option<String>,
    /// Kind of response, if its shape does not tell.
    #[serde(default)]
    pub answers: Answers,
    /// Steps of a composite action, which sends nothing itself.
    #[serde(default)]
    pub plan: Option<Plan>,
    /// Ids of other actions whose effect a call of this one can have as well. A rule or a denial of one of them
    /// applies to this action too. From `[effects]` in `catalog/rules.toml`.
    #[serde(default)]
    pub effects: Vec<String>,
    /// Parameters that raise the risk of a call above [`Self::risk`].
    #[serde(default)]
    pub raises: Vec<Raise>,
    /// The place in which the result lands where no parameter names a target.
    #[serde(default)]
    pub lands: Vec<Landing>,
    /// Paths of the text parameters in which GitLab executes quick actions: `body`, `issuables.body`.
    #[serde(default)]
    pub scanned: Vec<String>,
    /// Sets of parameters of which at least one has to be given.
    #[serde(default)]
    pub one_of: Vec<Vec<String>>,
    /// GitLab has deprecated it.
    #[serde(default)]
    pub deprecated: bool,
    /// The action to use in place of a deprecated one.
    #[serde(default)]
    pub replaced_by: Option<String>,
    /// The action that is usually wanted where this one fits as well.
    #[serde(default)]
    pub usually: Option<String>,
    /// Fields of the answer that the action is for: the compact view neither leaves them out nor shortens them to a name.
    #[serde(default)]
    pub shows: Vec<String>,
    /// GitLab no longer has what it does: it can be executed by its id, and is not offered.
    #[serde(default)]
    pub gone: bool,
}

/// A parameter that raises the risk of one call, or adds to its effects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Raise {
    /// The parameter; a field of an object behind a dot. Lists are walked: `actions.action`.
    pub param: String,
    pub when: When,
    /// The least risk of a call in which a value of the parameter matches.
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
    /// An integer that is not less.
    AtLeast(i64),
    /// This value.
    Is(Json),
    /// Any value but null.
    Given,
}

/// The default place of a result, when none of the parameters that name its target is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Landing {
    /// The parameters of which none is given; empty where the result always lands there.
    #[serde(default)]
    pub absent: Vec<String>,
    /// A parameter and the value by which it lands there, whatever else is named.
    #[serde(default)]
    pub by: Option<LandingChoice>,
    pub place: LandingPlace,
}

/// A parameter's value that decides where a result lands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LandingChoice {
    pub param: String,
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
}

/// The kind of place that a parameter's value names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Locates {
    Project,
    Group,
    /// A group or a user's namespace.
    Namespace,
    /// A project or a group, as `fullPath`.
    Holder,
    /// An object in any project or group, whatever else the call names.
    Foreign,
}

/// The actions that a composite action is made of; any of the catalog's, where it names none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Ids of actions without which it is of no use.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Ids of actions of which it runs those that its parameters call for.
    #[serde(default)]
    pub picks: Vec<String>,
    /// Bulk: works on several objects; a single object has its own action.
    #[serde(default)]
    pub several: bool,
}

/// Risk of running an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    /// Changes nothing.
    Read,
    /// Changes something that can be changed back.
    Write,
    /// Gives somebody or something access, or data a way out: tokens, keys, members, webhooks, exports, wider
    /// visibility, protection taken away.
    Grant,
    /// Deletes, overwrites beyond undo, revokes, erases, transfers, merges or blocks. Wants `confirm`.
    Destructive,
}

/// Kind of response of an action, if its shape does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answers {
    #[default]
    Plain,
    /// A log, read from its end.
    Log,
    /// Variables of CI/CD, whose values are often secrets.
    Variables,
    /// A file that is kept apart because it is secret.
    SecretFile,
}

/// Whom an action is for. Machine protocols rank below everything a person could mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Audience {
    #[default]
    Person,
    /// Package managers, runners, GitLab's own components.
    Machine,
}

/// One thing GitLab does: a method on a path of its REST interface, or a field of its GraphQL interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    pub method: Method,
    /// As GitLab's documentation writes it: `/projects/:id/issues/:issue_iid`, a glob as `*file_path`. Relative
    /// to `/api/v4`, or from the instance's root where it starts with `/api/`.
    pub path: String,
    /// Scope; the operations of one action differ in it.
    pub scope: Scope,
    /// The placeholders that another parameter than their namesake fills: `id` by `fullPath`.
    #[serde(default)]
    pub bind: BTreeMap<String, String>,
    #[serde(default)]
    pub body: BodyForm,
    /// A second spelling of an operation that stands beside it (an old path, PATCH beside PUT): accounted for,
    /// never sent.
    #[serde(default)]
    pub alternate: bool,
    #[serde(default)]
    pub deprecated: bool,
    /// The GitLab version that introduced it, where GitLab's files tell.
    #[serde(default)]
    pub since: Option<Version>,
    /// GraphQL request, if it is not a REST one.
    #[serde(default)]
    pub graphql: Option<Graphql>,
    /// It is none of GitLab's: it stands for any operation of that interface, which its parameters say, or for a
    /// plan. Of a plan its path and scope say what it works on; nothing is sent there.
    #[serde(default)]
    pub any: Option<Interface>,
}

/// An interface of GitLab's, or this catalog's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interface {
    Rest,
    Graphql,
    /// The actions of this catalog, by a [`Plan`].
    Plan,
}

/// One thing GitLab's GraphQL interface does: a field of the root, or one reached through it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Graphql {
    pub kind: GraphqlKind,
    /// The fields from the root, as people name it: `project.branchRules`, `workItemCreate`.
    pub field: String,
    /// Selection of that field; spreads of fragments that [`Self::fragments`] defines. Empty for a scalar.
    #[serde(default)]
    pub selection: String,
    /// The arguments without which the field is not reached, with the parameter that fills each:
    /// `project.fullPath` by `fullPath`, `input.projectPath` by `fullPath`. Every other argument is a parameter
    /// of the action by its wire name.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    /// The types of parameters, by name, where they are not [`Param::graphql`], which is another operation's; of a
    /// mutation's `input`, where it is not called as the mutation is.
    #[serde(default)]
    pub types: BTreeMap<String, String>,
    /// The types in the global ids that parameters take, by name, where they are not [`Param::gid`], which is another
    /// operation's.
    #[serde(default)]
    pub gids: BTreeMap<String, String>,
    /// The GitLab version that introduced it as an experiment, where it still is one.
    #[serde(default)]
    pub experiment: Option<String>,
    /// The definitions of the fragments in the selection. The catalog keeps one of each apart from the actions
    /// and adds them when an action is read.
    #[serde(skip)]
    pub fragments: String,
}

/// Kind of a GraphQL operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GraphqlKind {
    Query,
    Mutation,
}

/// An HTTP method that GitLab's interface uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}

/// A version of GitLab: `18.9`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    pub major: u16,
    pub minor: u16,
}

/// Reads `18.9`, `18.9.1` and `18.9.0-pre`.
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

/// Scope of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    Project,
    Group,
    /// A project or a group, whichever `fullPath` names.
    Namespace,
    /// The whole GitLab instance, or whatever the token can see of it.
    Instance,
    /// One user, named by `user_id`.
    User,
    /// The user the token belongs to.
    Current,
}

/// Encoding of a request body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BodyForm {
    #[default]
    None,
    Json,
    Multipart,
    /// The one file that it takes, byte for byte.
    Raw,
}

/// A parameter of an action, or a field of an object parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Param {
    pub name: String,
    /// Place in the request. Without meaning on a field of an object.
    #[serde(rename = "in", default)]
    pub place: Place,
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The values it accepts, where they are few.
    #[serde(rename = "enum", default)]
    pub choices: Vec<String>,
    #[serde(default)]
    pub default: Option<Json>,
    /// Required by every operation that takes it.
    #[serde(default)]
    pub required: bool,
    /// The scopes of the operations that take it, where not all do.
    #[serde(default)]
    pub scopes: Vec<Scope>,
    /// The GitLab version that introduced it, where GitLab's files tell.
    #[serde(default)]
    pub since: Option<Version>,
    /// The fields of an object, or of each object in a list of them.
    #[serde(default)]
    pub fields: Vec<Param>,
    /// Encoding of a list in a query string.
    #[serde(default)]
    pub array: ArrayForm,
    /// Its name in the request, where that is another.
    #[serde(default)]
    pub wire: Option<String>,
    /// Reference kind, if it takes a name where GitLab wants an id.
    #[serde(default)]
    pub names: Option<Names>,
    /// Meaning, if it differs from the glossary's.
    #[serde(default)]
    pub note: Option<String>,
    /// GitLab takes it, but its OpenAPI document leaves it out.
    #[serde(default)]
    pub undocumented: bool,
    /// Its type in GraphQL, where a variable of a query carries it: `[IssuableState!]`.
    #[serde(default)]
    pub graphql: Option<String>,
    /// The type in the global ids that it takes: `Ci::Build` of `gid://gitlab/Ci::Build/1`.
    #[serde(default)]
    pub gid: Option<String>,
    /// The place that its value locates; none where a call works in the same place whatever it is.
    #[serde(default)]
    pub locates: Option<Locates>,
    /// The default is sent if no value is given: GitLab requires one.
    #[serde(default)]
    pub sends_default: bool,
}

/// Place of a parameter in the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    Path,
    #[default]
    Query,
    Body,
    /// A part of a multipart body that carries a file.
    File,
    /// Chooses the operation and is not sent.
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

/// A type: a base, once or as a list. Written `string`, `integer[]`; in the embedded records one byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kind {
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
    /// A role in a project or group, by its name or by GitLab's number for it; see [`ROLES`].
    Role,
    Object,
    File,
    /// Anything JSON can say.
    Any,
}

/// Names of roles with the numbers that GitLab sends and takes: <https://docs.gitlab.com/api/access_requests/#valid-access-levels>;
/// 0 and 60 are of protected branches and environments.
pub const ROLES: [(&str, i64); 9] = [
    ("no_access", 0),
    ("minimal_access", 5),
    ("guest", 10),
    ("planner", 15),
    ("reporter", 20),
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
    /// The name in the catalog and in signatures.
    pub fn name(self) -> &'static str {
        BASES.iter().find(|(base, _)| *base == self).map_or("any", |(_, name)| name)
    }
}

impl Param {
    /// A choice as people and models write it: a role by its name.
    pub fn choice_name<'c>(&self, choice: &'c str) -> &'c str {
        let role =
            ROLES.iter().find(|(_, level)| self.kind.base == Base::Role && level.to_string() == choice);
        role.map_or(choice, |(name, _)| name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.base.name())?;
        f.write_str(if self.many { "[]" } else { "" })
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, many) = text.strip_suffix("[]").map_or((text, false), |name| (name, true));
        BASES
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(base, _)| Kind { base: *base, many })
            .ok_or_else(|| format!("`{text}` is no type of a parameter"))
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_str(self);
        }
        let base = BASES.iter().position(|(base, _)| *base == self.base).unwrap_or_default();
        serializer.serialize_u8(u8::try_from(base * 2 + usize::from(self.many)).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            let packed = u8::deserialize(deserializer)?;
            let found = BASES.get(usize::from(packed / 2));
            let base = found.ok_or_else(|| serde::de::Error::custom("no type of a parameter"))?.0;
            return Ok(Kind { base, many: packed % 2 == 1 });
        }
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A JSON value inside a record: itself in JSON, its text in postcard, which has no self-describing values.
#[derive(Clone, Debug, PartialEq)]
pub struct Json(pub serde_json::Value);

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            self.0.serialize(serializer)
        } else {
            serializer.collect_str(&self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            serde_json::Value::deserialize(deserializer).map(Json)
        } else {
            let text = String::deserialize(deserializer)?;
            serde_json::from_str(&text).map(Json).map_err(serde::de::Error::custom)
        }
    }
}

impl Method {
    /// As HTTP writes it.
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }

    /// True if the method is safe (RFC 9110, 9.2.1).
    pub fn is_safe(self) -> bool {
        matches!(self, Method::Get | Method::Head)
    }

    /// True if the method has its parameters in a body.
    pub fn has_body(self) -> bool {
        matches!(self, Method::Post | Method::Put | Method::Patch)
    }
}

impl GraphqlKind {
    /// As GraphQL writes it.
    pub fn name(self) -> &'static str {
        match self {
            GraphqlKind::Query => "query",
            GraphqlKind::Mutation => "mutation",
        }
    }
}

impl Scope {
    /// The word for it as a value of `scope`.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Project => "project",
            Scope::Group => "group",
            Scope::Instance => "instance",
            Scope::Namespace => "namespace",
            Scope::User => "user",
            Scope::Current => "current",
        }
    }
}

impl Risk {
    /// As results show it.
    pub fn name(self) -> &'static str {
        match self {
            Risk::Read => "read",
            Risk::Write => "write",
            Risk::Grant => "grant",
            Risk::Destructive => "destructive",
        }
    }
}

impl Action {
    /// The part of the id before the dot.
    pub fn domain(&self) -> &str {
        self.id.split_once('.').map_or(self.id.as_str(), |(domain, _)| domain)
    }

    /// The part of the id after the dot.
    pub fn verb(&self) -> &str {
        self.id.split_once('.').map_or("", |(_, verb)| verb)
    }

    /// The parameter of that name.
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|param| param.name == name)
    }

    /// The interface that it calls directly, where the parameters say which operation. Its risk is then the most
    /// that it can be; a call has its own.
    pub fn direct(&self) -> Option<Interface> {
        self.operations.iter().find_map(|operation| operation.any).filter(|_| self.plan.is_none())
    }

    /// True if what it does is said by its parameters alone: a direct call, or a plan of any actions.
    pub fn is_open(&self) -> bool {
        let is_empty = |plan: &Plan| plan.needs.is_empty() && plan.picks.is_empty();
        self.direct().is_some() || self.plan.as_ref().is_some_and(is_empty)
    }

    /// True if the finder and the surfaces offer it: not a duplicate, nor what GitLab no longer has.
    pub fn is_offered(&self) -> bool {
        self.twin.is_none() && !self.gone
    }

    /// The operations that can be chosen, preferred first.
    pub fn choices(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter().filter(|operation| !operation.alternate)
    }

    /// The parameter that chooses among operations of several scopes: `scope`, or `within` where GitLab has a `scope` of
    /// its own.
    pub fn selector(&self) -> Option<&Param> {
        let mut selectors = self.params.iter().filter(|param| param.place == Place::Selector);
        selectors.find(|param| matches!(param.name.as_str(), "scope" | "within"))
    }

    /// [`Self::selector`], where it can choose that scope.
    pub fn selector_of(&self, scope: Scope) -> Option<&Param> {
        self.selector().filter(|selector| selector.choices.iter().any(|choice| choice == scope.name()))
    }
}

impl Operation {
    /// The path's placeholders in order, with whether each is a glob that keeps its slashes; of GraphQL, the
    /// arguments that lead to its field.
    pub fn placeholders(&self) -> impl Iterator<Item = (&str, bool)> {
        let in_path = pieces(&self.path).filter_map(|piece| match piece {
            Piece::Placeholder { name, glob } => Some((name, glob)),
            Piece::Text(_) => None,
        });
        let arguments = self.graphql.iter().flat_map(|graphql| graphql.variables.keys());
        in_path.chain(arguments.map(|argument| (argument.as_str(), false)))
    }

    /// The parameter that fills a placeholder.
    pub fn filled_by<'a>(&'a self, placeholder: &'a str) -> &'a str {
        let argument = || self.graphql.as_ref().and_then(|graphql| graphql.variables.get(placeholder));
        self.bind.get(placeholder).or_else(argument).map_or(placeholder, String::as_str)
    }

    /// True if that parameter fills a placeholder of the path.
    pub fn is_filled_by(&self, param: &str) -> bool {
        self.placeholders().any(|(name, _)| self.filled_by(name) == param)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.graphql, self.any) {
            (Some(graphql), _) => write!(f, "{} {}", graphql.kind.name(), graphql.field),
            (None, Some(Interface::Rest)) => write!(f, "ANY {}", self.path),
            (None, Some(Interface::Plan)) => write!(f, "PLAN {}", self.path),
            (None, _) => write!(f, "{} {}", self.method.name(), self.path),
        }
    }
}

/// A piece of a path: words of GitLab's, or a place for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    Text(&'a str),
    /// `:name`, or `*name` where the value keeps its slashes.
    Placeholder {
        name: &'a str,
        glob: bool,
    },
}

/// The pieces of a path in order. A placeholder may stand inside a segment (`:file_name.tgz`), and a segment
/// may hold two.
pub fn pieces(path: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = path;
    std::iter::from_fn(move || {
        let (piece, length) = first_piece(rest)?;
        rest = rest.get(length..).unwrap_or_default();
        Some(piece)
    })
}

fn first_piece(rest: &str) -> Option<(Piece<'_>, usize)> {
    if rest.is_empty() {
        return None;
    }
    if let Some(name) = rest.strip_prefix([':', '*']).map(leading_name).filter(|name| !name.is_empty()) {
        return Some((Piece::Placeholder { name, glob: rest.starts_with('*') }, name.len() + 1));
    }
    let end = rest
        .char_indices()
        .skip(1)
        .find(|(at, c)| {
            matches!(c, ':' | '*') && !leading_name(rest.get(at + 1..).unwrap_or_default()).is_empty()
        })
        .map_or(rest.len(), |(at, _)| at);
    rest.get(..end).map(|text| (Piece::Text(text), end))
}

fn leading_name(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}
