//! Data model of actions. The same types are serialized as lines of `catalog/actions` (JSON, fields at their default
//! omitted) and as the records embedded in the binary (postcard, every field present): generator, build script and
//! server share one format.
//!
//! Nothing here is fetched from GitLab at run time or depends on the rest of the crate: the build script includes this
//! file by path.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::names::Names;

/// An action, such as `issue.list`, with every operation that implements it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// `domain.verb`, both in snake_case. Stable: it does not change when the catalog is generated again.
    #[serde(rename = "action")]
    pub id: String,
    /// One-line description from the user's side, not copied from GitLab.
    pub summary: String,
    pub risk: Risk,
    #[serde(default)]
    pub audience: Audience,
    /// Preferred first. Operations that can be selected differ in scope; see [`Operation::alternate`].
    pub operations: Vec<Operation>,
    #[serde(default)]
    pub params: Vec<Param>,
    /// Other ids that resolve to this action: former ids, other servers' names.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Parameters that other names of the action stand for: `paused: true` of `runner.pause`.
    #[serde(default)]
    pub implied: BTreeMap<String, BTreeMap<String, Json>>,
    /// Phrases of requests for it; for the finder, never shown.
    #[serde(default)]
    pub phrases: Vec<String>,
    /// Ids of actions that are often used before or after it.
    #[serde(default)]
    pub related: Vec<String>,
    /// Examples that override the glossary's, by parameter name.
    #[serde(default)]
    pub example: BTreeMap<String, Json>,
    /// True if the summary was written by hand; false if rules generated it.
    #[serde(default)]
    pub curated: bool,
    /// Id of the action that this one duplicates through GitLab's other interface. A duplicate runs by its own id and
    /// is not ranked.
    #[serde(default)]
    pub twin: Option<String>,
    /// Kind of response, if the response's shape does not show it.
    #[serde(default)]
    pub answers: Answers,
    /// Steps of a composite action, which sends no request itself.
    #[serde(default)]
    pub plan: Option<Plan>,
    /// Ids of other actions whose effect a call of this one can have as well. A rule or a denial of one of them
    /// applies to this action too. From `[effects]` in `catalog/rules.toml`.
    #[serde(default)]
    pub effects: Vec<String>,
    /// Parameters that raise the risk of a call above [`Self::risk`].
    #[serde(default)]
    pub raises: Vec<Raise>,
    /// Place of the result if no parameter names a target.
    #[serde(default)]
    pub lands: Vec<Landing>,
    /// Paths of the text parameters in which GitLab executes quick actions: `body`, `issuables.body`.
    #[serde(default)]
    pub scanned: Vec<String>,
    /// Sets of parameters of which at least one must be given.
    #[serde(default)]
    pub one_of: Vec<Vec<String>>,
    /// True if GitLab has deprecated it.
    #[serde(default)]
    pub deprecated: bool,
    /// The action to use in place of a deprecated one.
    #[serde(default)]
    pub replaced_by: Option<String>,
    /// Id of the action that is usually the better choice where both fit.
    #[serde(default)]
    pub usually: Option<String>,
    /// Fields of the response that the action is used for: the compact view neither omits nor shortens them.
    #[serde(default)]
    pub shows: Vec<String>,
    /// Parameters that add another call to this one.
    #[serde(default)]
    pub companions: Vec<Companion>,
    /// Note that every answer has, as the end of a sentence.
    #[serde(default)]
    pub answer_note: Option<String>,
    /// True if GitLab has removed the function: the action runs by its id but is not offered.
    #[serde(default)]
    pub gone: bool,
    /// Values of a field of the response that are explained in words, with the action that is next.
    #[serde(default)]
    pub states: Vec<StateNote>,
    /// Reads whose rows are added to the response. From `[[joins]]` in `catalog/rules.toml`.
    #[serde(default)]
    pub joins: Vec<Join>,
    /// Parameters by which this server filters the rows of the response. From `[[row_filters]]` in `catalog/rules.toml`.
    #[serde(default)]
    pub row_filters: Vec<RowFilter>,
    /// The long text that a call may change in parts. From `[edits]` in `catalog/rules.toml`.
    #[serde(default)]
    pub edit: Option<TextEdit>,
    /// The state that a call may wait for. From `[waits]` in `catalog/rules.toml`.
    #[serde(default)]
    pub wait: Option<StateWait>,
    /// Parameters with names of labels, which are compared with the existing ones. From `[[label_names]]` in
    /// `catalog/rules.toml`.
    #[serde(default)]
    pub label_names: Option<LabelNames>,
    /// A mark of a text that a parameter sets. From `[[text_marks]]` in `catalog/rules.toml`.
    #[serde(default)]
    pub text_mark: Option<TextMark>,
}

/// A long text that `edits` or `diff` change in parts: a read shows the present text, and the call sends the whole new
/// one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextEdit {
    /// The list whose objects have the text, `edits` and `diff`; none if they are parameters of the action.
    #[serde(default)]
    pub within: Option<String>,
    /// Path of the parameter with the text: `description`, `descriptionWidget.description`.
    pub text: String,
    /// Id of the read. It takes the parameters of the path that the call has as well.
    pub read: String,
    /// Field of its response with the present text.
    pub field: String,
    /// Its further parameters, each by the first of these parameters that the call has.
    #[serde(default)]
    pub takes: BTreeMap<String, Vec<String>>,
    /// True if it takes no other parameters.
    #[serde(default)]
    pub alone: bool,
    /// The field of its response that is sent as the parameter of the same name, so that GitLab refuses the change of a
    /// text that has changed since.
    #[serde(default)]
    pub guard: Option<String>,
}

/// A state that is polled after a call until it ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateWait {
    /// Id of the read that shows the state.
    pub read: String,
    /// Its parameters by fields of the response of the call, besides those that it shares with the call.
    pub takes: BTreeMap<String, String>,
    /// The field with the state.
    pub field: String,
    /// States in which nothing changes without another call.
    pub ends: Vec<String>,
}

/// Parameters with names of labels, of which GitLab creates those that it does not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelNames {
    /// Lists of names. Of `removed`, an unknown one has no effect.
    pub params: Vec<String>,
    #[serde(default)]
    pub removed: Vec<String>,
    /// Id of the read that lists the labels. It takes `fullPath`.
    pub read: String,
    /// Its other parameters.
    #[serde(default)]
    pub with: BTreeMap<String, Json>,
}

/// The meaning of a value in a response, and the action that is next. From `[[states]]` in `catalog/rules.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateNote {
    /// Name of the field, at the top of the response or of a row.
    pub field: String,
    pub value: String,
    /// Meaning of the value, as the end of a sentence. Empty if the value explains itself.
    #[serde(default)]
    pub says: String,
    /// Id of the action that is next.
    #[serde(default)]
    pub next: Option<String>,
    /// Parameters of that action by fields of the response, apart from those that it shares with the call.
    #[serde(default)]
    pub takes: BTreeMap<String, String>,
}

/// A read whose rows are added to the response of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Join {
    /// Name of the field that the rows are added as.
    pub field: String,
    /// Id of the read. It takes the parameters of the call that it has as well.
    pub action: String,
    /// Its other parameters.
    #[serde(default)]
    pub params: BTreeMap<String, Json>,
    /// Values of a field of the response with which it is made; always, if empty.
    #[serde(default)]
    pub when: BTreeMap<String, Vec<String>>,
    /// Fields of the rows.
    pub shows: Vec<String>,
    /// The parameter with the name of a branch or tag whose commit the read shows, in a note. No read is made for a SHA.
    #[serde(default)]
    pub of_ref: Option<String>,
}

/// A parameter by which rows are filtered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowFilter {
    pub param: String,
    #[serde(default)]
    pub by: RowTest,
    /// Field of a row: with the list of objects, or with the value.
    pub field: String,
    /// Values of which an object in the list has all.
    #[serde(default)]
    pub has: BTreeMap<String, Json>,
    /// A filter of GitLab's that keeps all of these rows by the same value, and is sent.
    #[serde(default)]
    pub sends: Option<String>,
}

/// The rows that a filter keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RowTest {
    /// If the parameter is true: the rows with an object that has the values.
    #[default]
    Has,
    /// The rows whose field is the parameter.
    Equals,
    /// The rows whose field is a time from the parameter on.
    After,
    /// The rows whose field is a time before the parameter.
    Before,
}

/// A parameter that adds another call to an action, as people say both in one breath: a comment to closing an issue, a
/// merge request to a commit. The parameter itself is a selector, and is not sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Companion {
    /// The parameter: the value of `value`, or an object with parameters of the other action.
    pub param: String,
    /// Id of the other action. It takes the parameters of the path that it has too.
    pub action: String,
    /// The parameter of the other action that takes the value.
    #[serde(default)]
    pub value: Option<String>,
    /// True if it is called first.
    #[serde(default)]
    pub first: bool,
    /// True if the other action is called in place of this one, with all its parameters.
    #[serde(default)]
    pub instead: bool,
    /// Parameters of the other action by those of this one, where they are not given.
    #[serde(default)]
    pub takes: BTreeMap<String, String>,
    /// Parameters that cannot be combined with it, such as `dry_run`, which GitLab would not apply to the other action.
    #[serde(default)]
    pub excludes: Vec<String>,
}

/// A mark at the beginning of a text that a parameter sets and clears, such as `Draft:` of a title. The parameter is
/// not sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextMark {
    /// The parameter: true or false.
    pub param: String,
    /// The parameter with the text. A field of the same name has the present text.
    pub text: String,
    /// The mark that is set, with the space behind it.
    pub mark: String,
    /// The marks that GitLab knows, in lower case.
    pub known: Vec<String>,
    /// Id of the read with the present text, if the call has no text; it takes the parameters of the path.
    #[serde(default)]
    pub read: Option<String>,
}

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
    /// This value.
    Is(Json),
    /// Any value but null.
    Given,
}

/// Default place of a result, if no parameter names its target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Landing {
    /// Parameters that are all absent; empty if the result always lands there.
    #[serde(default)]
    pub absent: Vec<String>,
    /// A parameter and the value that selects this place, whatever else is given.
    #[serde(default)]
    pub by: Option<LandingChoice>,
    pub place: LandingPlace,
}

/// Parameter value that selects the place of a result.
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
    /// An object in any project or group, whatever else the call names.
    Foreign,
}

/// Actions that a composite action consists of; any action of the catalog if it lists none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Ids of required actions: without one of them the composite action cannot run.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Ids of optional actions, run if the parameters require them.
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
    /// Makes a reversible change.
    Write,
    /// Grants access, or lets data out: tokens, keys, members, webhooks, exports, wider visibility, removed protection.
    Grant,
    /// Deletes, overwrites irreversibly, revokes, erases, transfers, merges or blocks. Needs `confirm`.
    Destructive,
}

/// Kind of response of an action, if the response's shape does not show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answers {
    #[default]
    Plain,
    /// A log, shown from its end.
    Log,
    /// CI/CD variables, whose values are often secrets.
    Variables,
    /// A secure file: its content is secret.
    SecretFile,
    /// Lines of a file by commit, which are numbered.
    Blame,
}

/// Audience of an action. Machine protocols rank below everything that a person could request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Audience {
    #[default]
    Person,
    /// Package managers, runners, GitLab's own components.
    Machine,
}

/// An operation of GitLab: a method and path of its REST interface, or a field of its GraphQL interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    pub method: Method,
    /// Path as in GitLab's documentation: `/projects/:id/issues/:issue_iid`, a glob as `*file_path`. Relative to
    /// `/api/v4`, or to the instance's root if it begins with `/api/`.
    pub path: String,
    /// Scope; the operations of one action differ in it.
    pub scope: Scope,
    /// Placeholders that are filled by a parameter of another name: `id` by `fullPath`.
    #[serde(default)]
    pub bind: BTreeMap<String, String>,
    #[serde(default)]
    pub body: BodyForm,
    /// Alternative of another operation of the action (an old path, PATCH in addition to PUT): listed but never sent.
    #[serde(default)]
    pub alternate: bool,
    #[serde(default)]
    pub deprecated: bool,
    /// The GitLab version that introduced it, where GitLab's files tell.
    #[serde(default)]
    pub since: Option<Version>,
    /// GraphQL request; `None` for REST.
    #[serde(default)]
    pub graphql: Option<Graphql>,
    /// Set if it is not an operation of GitLab: it represents any operation of that interface, which the parameters
    /// select, or a plan. For a plan, path and scope describe its target; nothing is sent there.
    #[serde(default)]
    pub any: Option<Interface>,
}

/// An interface of GitLab, or this catalog's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interface {
    Rest,
    Graphql,
    /// Actions of this catalog, by a [`Plan`].
    Plan,
}

/// An operation of GitLab's GraphQL interface: a root field, or a field reached through one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Graphql {
    pub kind: GraphqlKind,
    /// Fields from the root: `project.branchRules`, `workItemCreate`.
    pub field: String,
    /// Selection of that field, as spreads of fragments that [`Self::fragments`] defines. Empty for a scalar.
    #[serde(default)]
    pub selection: String,
    /// Arguments that are needed to reach the field, each with the parameter that fills it: `project.fullPath` by
    /// `fullPath`, `input.projectPath` by `fullPath`. Every other argument is a parameter of the action by its wire
    /// name.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    /// Types of parameters, by name, that differ from [`Param::graphql`], which is another operation's; also the type
    /// of a mutation's `input` if it is not named after the mutation.
    #[serde(default)]
    pub types: BTreeMap<String, String>,
    /// Types in the global ids that parameters accept, by name, that differ from [`Param::gid`], which is another
    /// operation's.
    #[serde(default)]
    pub gids: BTreeMap<String, String>,
    /// GitLab version that introduced it as an experiment, if it still is one.
    #[serde(default)]
    pub experiment: Option<String>,
    /// Definitions of the fragments in the selection. The catalog stores each once, apart from the actions, and adds
    /// them when an action is loaded.
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

/// An HTTP method of GitLab's interface.
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

/// Scope of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    Project,
    Group,
    /// A project or a group, depending on `fullPath`.
    Namespace,
    /// The whole GitLab instance, as far as the token can see it.
    Instance,
    /// One user, named by `user_id`.
    User,
    /// The token's user.
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
    /// The content of a single file, byte for byte.
    Raw,
}

/// A parameter of an action, or a field of an object parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Param {
    pub name: String,
    /// Place in the request. Not used for fields of an object.
    #[serde(rename = "in", default)]
    pub place: Place,
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Accepted values, if there are few.
    #[serde(rename = "enum", default)]
    pub choices: Vec<String>,
    #[serde(default)]
    pub default: Option<Json>,
    /// True if every operation that has the parameter requires it.
    #[serde(default)]
    pub required: bool,
    /// Scopes of the operations that have the parameter; empty if all do.
    #[serde(default)]
    pub scopes: Vec<Scope>,
    /// The GitLab version that introduced it, where GitLab's files tell.
    #[serde(default)]
    pub since: Option<Version>,
    /// Fields of an object, or of the objects in a list.
    #[serde(default)]
    pub fields: Vec<Param>,
    /// Encoding of a list in a query string.
    #[serde(default)]
    pub array: ArrayForm,
    /// Name in the request, if different.
    #[serde(default)]
    pub wire: Option<String>,
    /// Reference kind, if it accepts a name where GitLab expects an id.
    #[serde(default)]
    pub names: Option<Names>,
    /// Description, if it differs from the glossary's.
    #[serde(default)]
    pub note: Option<String>,
    /// True if GitLab accepts it although its OpenAPI document omits it.
    #[serde(default)]
    pub undocumented: bool,
    /// GraphQL type, if it is sent as a variable: `[IssuableState!]`.
    #[serde(default)]
    pub graphql: Option<String>,
    /// Type in the global ids that it accepts: `Ci::Build` of `gid://gitlab/Ci::Build/1`.
    #[serde(default)]
    pub gid: Option<String>,
    /// Kind of place that its value names; `None` if its value does not affect where the call works.
    #[serde(default)]
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
    /// A role in a project or group, by its name or GitLab's number; see [`ROLES`].
    Role,
    Object,
    File,
    /// Any JSON value.
    Any,
}

/// Names of roles with GitLab's numbers: <https://docs.gitlab.com/api/access_requests/#valid-access-levels>; 0 and 60
/// are used by protected branches and environments.
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
    /// Name in the catalog and in signatures.
    pub fn name(self) -> &'static str {
        BASES.iter().find(|(base, _)| *base == self).map_or("any", |(_, name)| name)
    }
}

impl Param {
    /// Display form of a choice: the name of a role instead of its number.
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

/// A JSON value inside a record: plain in JSON, as text in postcard, which has no self-describing values.
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
    /// Name in HTTP.
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
    /// Keyword in GraphQL.
    pub fn name(self) -> &'static str {
        match self {
            GraphqlKind::Query => "query",
            GraphqlKind::Mutation => "mutation",
        }
    }
}

impl Scope {
    /// Name as a value of `scope`.
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

impl Action {
    /// The part of the id before the dot.
    pub fn domain(&self) -> &str {
        self.id.split_once('.').map_or(self.id.as_str(), |(domain, _)| domain)
    }

    /// The part of the id after the dot.
    pub fn verb(&self) -> &str {
        self.id.split_once('.').map_or("", |(_, verb)| verb)
    }

    /// The parameter with that name.
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|param| param.name == name)
    }

    /// The interface that it calls directly, if parameters select the operation. The action's risk is then the maximum;
    /// each call has its own.
    pub fn direct(&self) -> Option<Interface> {
        self.operations.iter().find_map(|operation| operation.any).filter(|_| self.plan.is_none())
    }

    /// True if its parameters alone decide what it does: a direct call, or a plan of any actions.
    pub fn is_open(&self) -> bool {
        let is_empty = |plan: &Plan| plan.needs.is_empty() && plan.picks.is_empty();
        self.direct().is_some() || self.plan.as_ref().is_some_and(is_empty)
    }

    /// True if the finder and the surfaces offer it: neither a duplicate nor removed from GitLab.
    pub fn is_offered(&self) -> bool {
        self.twin.is_none() && !self.gone
    }

    /// Operations that can be selected, preferred first.
    pub fn choices(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter().filter(|operation| !operation.alternate)
    }

    /// The parameter that selects among operations of several scopes: `scope`, or `within` if GitLab's operation has a
    /// `scope` of its own.
    pub fn selector(&self) -> Option<&Param> {
        let mut selectors = self.params.iter().filter(|param| param.place == Place::Selector);
        selectors.find(|param| matches!(param.name.as_str(), "scope" | "within"))
    }

    /// [`Self::selector`], if it can select that scope.
    pub fn selector_of(&self, scope: Scope) -> Option<&Param> {
        self.selector().filter(|selector| selector.choices.iter().any(|choice| choice == scope.name()))
    }
}

impl Companion {
    /// True if a value of the parameter asks for the call: neither null nor `false`. The text `false` is a flag too,
    /// unless the other action takes it as a text.
    pub fn is_asked_by(&self, value: &serde_json::Value) -> bool {
        let is_flag_off =
            self.value.is_none() && value.as_str().is_some_and(|text| text.eq_ignore_ascii_case("false"));
        !value.is_null() && *value != serde_json::Value::Bool(false) && !is_flag_off
    }
}

impl Operation {
    /// Placeholders of the path in order, each with true if it is a glob that keeps its slashes; for GraphQL, the
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

    /// True if the parameter fills a placeholder of the path.
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

/// A piece of a path: literal text or a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    Text(&'a str),
    /// `:name`, or `*name` if the value keeps its slashes.
    Placeholder {
        name: &'a str,
        glob: bool,
    },
}

/// Splits a path into its pieces. A placeholder may be inside a segment (`:file_name.tgz`), and a segment may have two.
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
