//! Vocabulary as embedded in the binary: `catalog/language.toml`, the nouns of the domains, and the glossary of
//! parameters. The build script includes this file by path.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::effects::{LandingPlace, Risk};
use super::json::Json;
use super::names::Names;
use super::version::Version;

/// Vocabulary of the finder, from `catalog/language.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Language {
    /// Words that do not help to identify an action.
    pub stopwords: Vec<String>,
    /// Words that are never stemmed.
    pub never_stem: Vec<String>,
    /// Synonyms: a word or phrase, and GitLab's terms for it.
    #[serde(rename = "synonym")]
    pub synonyms: Vec<Synonym>,
    /// Verbs, and the kind of action that each requests.
    #[serde(rename = "verb")]
    pub verbs: Vec<Verb>,
    /// Prepositions before a second object: `labels of a project`.
    pub prepositions: Vec<String>,
    /// Subset of the prepositions that only describe the object: `an issue with labels`.
    pub attributes: Vec<String>,
    /// Question words: a request with one of them only reads.
    pub questions: Vec<String>,
    /// Verbs that are also states, in front of an object: `open issues`.
    pub states: Vec<String>,
    /// Words after which a participle is a request: `be closed`.
    pub passives: Vec<String>,
    /// Words for an object that the request named before: `and merge it`.
    pub pronouns: Vec<String>,
    /// Common words that are unrelated to GitLab; never corrected as misspellings.
    pub ordinary: Vec<String>,
    /// Quantifiers for several objects and for one.
    pub many: Vec<String>,
    pub one: Vec<String>,
    /// Words for a scope: a project, a group, the instance, or the current user.
    #[serde(rename = "scope")]
    pub scopes: Vec<ScopeWord>,
    /// Objects that are also attached to others.
    #[serde(rename = "part")]
    pub parts: Vec<PartWord>,
    /// Objects that other products name differently from GitLab, with the names of those products.
    pub foreign: Foreign,
    /// Ids of actions to suggest if nothing matches a query, the most common first.
    pub suggested: Vec<String>,
    /// Words of requests about files of the client's own machine.
    pub local: LocalWords,
}

/// Words of requests about files of the client's own machine, which this server does not read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalWords {
    /// Phrases for the local machine: `on my disk`. They count if the request names a file.
    pub places: Vec<String>,
    /// Phrases for a local file: `local file`.
    pub files: Vec<String>,
    /// Phrases for a local project. They count if the request names a file and has a verb of `edits`.
    pub projects: Vec<String>,
    pub edits: Vec<String>,
    /// Words for a file or its content.
    pub nouns: Vec<String>,
    /// Words that show that the request is about GitLab.
    pub unless: Vec<String>,
    /// Commands of git in a working copy: `git status`.
    pub git: Vec<String>,
}

/// Names of other products before a noun for a GitLab object: a `jira ticket` is an issue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Foreign {
    /// Names of products in lower case, one word each.
    pub products: Vec<String>,
    /// Nouns before which a product name is ignored.
    pub nouns: Vec<String>,
    /// Words of queries about the product itself: `import jira tickets`.
    pub unless: Vec<String>,
}

/// Nouns of objects that are attached to others, and the verb for attaching them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartWord {
    /// Nouns of one word: `label`.
    pub say: Vec<String>,
    /// Nouns of the objects they are attached to: `issue`.
    pub of: Vec<String>,
    /// Verb of the actions that attach and detach them.
    pub asks: String,
}

/// Words for a scope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScopeWord {
    pub say: Vec<String>,
    /// `project`, `group`, `instance`, `user` or `current`.
    pub mean: String,
}

/// A word or phrase and its meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synonym {
    pub say: Vec<String>,
    pub mean: Vec<String>,
    /// Weight of a match on the meaning relative to a match on the word itself, from 0 to 1.
    #[serde(default = "full_weight")]
    pub weight: f32,
}

fn full_weight() -> f32 {
    1.0
}

/// A verb of requests, and the verbs of the actions it requests, best first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verb {
    pub say: Vec<String>,
    pub mean: Vec<String>,
}

/// A domain: the actions whose ids share the first part. From `[domain.NAME]` in `catalog/curation`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Domain {
    /// Family of domains: the name of its file in `catalog/curation`.
    pub family: String,
    /// Nouns for the domain's object, GitLab's own term first.
    pub nouns: Vec<String>,
    /// Ids of the actions that its composite actions are made of.
    pub parts: Vec<String>,
}

/// A toolset: a part of the catalog that can be enabled as a whole. From `catalog/curation/toolsets.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Toolset {
    /// Description, in a line.
    pub what: String,
    /// Its families of domains. Each family is in exactly one toolset.
    pub families: Vec<String>,
    /// Names of the corresponding toolsets of other servers.
    #[serde(default)]
    pub aliases: Vec<String>,
}

/// A toolset of other servers that has no counterpart here, from `catalog/curation/toolsets.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbsentToolset {
    /// Advice in sentences: this server's counterpart, or the client's.
    pub why: String,
    /// The toolset that comes nearest; none for no toolset.
    pub instead: Option<String>,
}

/// Tools that a client has itself, from `catalog/curation/toolsets.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientTools {
    /// Names without a client's prefix.
    pub names: Vec<String>,
    /// Advice in sentences, which follow the name.
    pub why: String,
}

/// One of several sub-agents that share GitLab, from `catalog/curation/toolsets.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Description, in a line.
    pub what: String,
    /// Its toolsets. Each toolset belongs to exactly one agent.
    pub toolsets: Vec<String>,
    /// Additional instructions for the agent, in a sentence or two.
    #[serde(default)]
    pub note: String,
}

/// Meaning of a parameter's name in every action, from `catalog/curation/glossary.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GlossaryEntry {
    /// One-line description, not copied from GitLab.
    pub note: String,
    /// Accepted aliases, if an action has no parameter of that exact name.
    pub aliases: Vec<String>,
    /// A plausible value, if there is one.
    pub example: Option<Box<Json>>,
    /// Frequently set: listed early in signatures.
    pub first: bool,
    /// Aliases of values, each with the values that it may mean. The corrected call has the first that the action
    /// accepts.
    pub values: BTreeMap<String, Vec<String>>,
}

/// A GitLab quick action: a line of a text that begins with `/name`. From `[quick_actions.commands]` in
/// `catalog/rules.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuickAction {
    /// Ids of the actions with the same effect, for every kind of object that it applies to.
    pub actions: Vec<String>,
    /// True if its argument begins with the path of a project or group, or with a reference that has one.
    #[serde(default)]
    pub path: bool,
    /// The place of its result, if that is another than the text's.
    pub lands: Option<LandingPlace>,
    /// Its risk, if that is above those of the actions.
    pub risk: Option<Risk>,
}

/// Actions that `GITLAB_READABLE_PATHS` allows although they have no path. From `[readable]` in `catalog/rules.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReadableTable {
    /// Ids of actions whose responses contain no data of a project or group.
    pub open: Vec<String>,
    /// Ids of list actions, with the field that holds the path of a row.
    pub rows: BTreeMap<String, String>,
}

/// Numbers of operations in GitLab's files: of REST; of GraphQL, the mutations, the fields of the root of queries, and those
/// that are reached by a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitlabOperations {
    pub rest: usize,
    pub graphql: usize,
}

/// All vocabulary, as the build script embeds it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Words {
    /// The GitLab version whose files the catalog was generated from.
    pub gitlab_version: Version,
    /// The operations that GitLab's files of that version have.
    pub gitlab_operations: GitlabOperations,
    pub language: Language,
    pub domains: BTreeMap<String, Domain>,
    pub glossary: BTreeMap<String, GlossaryEntry>,
    /// Title of each family of domains.
    pub families: BTreeMap<String, String>,
    pub toolsets: BTreeMap<String, Toolset>,
    /// Names of other servers' toolsets without a counterpart here.
    pub absent_toolsets: BTreeMap<String, AbsentToolset>,
    /// Nouns of other servers' tools, each with its domain.
    pub tool_nouns: BTreeMap<String, String>,
    /// Tools of the client itself, by group.
    pub client_tools: BTreeMap<String, ClientTools>,
    pub agents: BTreeMap<String, Agent>,
    /// The quick actions that GitLab executes in texts, by name without the slash.
    pub quick_actions: BTreeMap<String, QuickAction>,
    pub readable: ReadableTable,
    /// Ids of the actions that take a query of the caller, of which GitLab alone knows what it reads.
    pub query_actions: Vec<String>,
    pub examples: ExampleWords,
    pub changes: ChangeWords,
    pub lists: ListWords,
}

/// Parameters of lists by what they do to the rows. From `[lists]` in `catalog/rules.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListWords {
    /// Parameters that keep every row; `*` at the end matches any text.
    pub unfiltered: Vec<String>,
    /// Cursors of GraphQL.
    pub graphql_cursors: Vec<String>,
    /// Filters that keep most rows.
    pub wide: Vec<String>,
    /// The narrowest filters.
    pub narrowest: Vec<String>,
}

impl ListWords {
    /// True if the parameter of a list keeps every row.
    pub fn keeps_rows(&self, param: &str) -> bool {
        self.unfiltered.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(start) => param.starts_with(start),
            None => param == pattern,
        })
    }
}

/// Relation of a write's parameters to the fields of its answer. From `[changes]` in `catalog/rules.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChangeWords {
    /// Parameters whose value shows in a field of another name, the first that fits. Any other parameter shows in the
    /// field of its own name.
    pub shown_as: Vec<ShownAs>,
    /// Fields that the answers of writes on large objects are narrowed to.
    pub receipts: Vec<Receipt>,
    /// Writes that GitLab answers with the object before the change, which it makes afterwards.
    pub background: Vec<BackgroundChange>,
    /// Writes of several steps, of which GitLab may have made the first when it refuses the next.
    pub partial: Vec<PartialChange>,
    /// States of an object in which a change has nothing left to do.
    pub done: Vec<DoneState>,
    /// Reads that show what a call on trial would meet.
    pub trials: Vec<TrialRead>,
    /// Reads that add a field to the rows of a list.
    pub rows: Vec<RowAddition>,
    /// Lists of members.
    pub members: MemberLists,
    /// Updates by which an object gets another address.
    pub moved: Vec<MovedObject>,
    /// Statuses that have another meaning for an action.
    pub refusals: Vec<RefusalMeaning>,
}

/// Updates by which an object gets another address.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MovedObject {
    /// Ids of the actions.
    pub actions: Vec<String>,
    /// The parameter with the address, which is a field of the answer as well.
    pub field: String,
}

/// A status that has another meaning for an action than for others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusalMeaning {
    /// Ids of the actions.
    pub actions: Vec<String>,
    pub status: u16,
    /// A part of GitLab's message; any message if empty.
    #[serde(default)]
    pub message: String,
    /// Its meaning, as a hint.
    pub hint: String,
    /// The action that does what was wanted, with the same parameters.
    pub instead: Option<String>,
    /// Parameters without which GitLab refuses the call, and which change nothing else.
    #[serde(default)]
    pub with: BTreeMap<String, String>,
}

/// The lists of the direct and of all members of a place, which answer with where each member comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemberLists {
    /// Id of the list of direct members.
    pub direct: String,
    /// Id of the list of all members.
    pub all: String,
    /// Ids of the actions on a direct member, which GitLab refuses for another one.
    pub on_direct: Vec<String>,
    /// Id of the read of one direct member.
    pub get: String,
    /// Id of the read of one member, direct or not.
    pub get_any: String,
    /// Parameters of a list that do not narrow it.
    pub with: Vec<String>,
    /// Parameters that narrow each of the lists alike.
    pub narrowed_by: Vec<String>,
}

/// The read that follows a `dry_run`: it shows the state that decides whether the call can succeed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialRead {
    /// Ids of the actions.
    pub actions: Vec<String>,
    /// Id of the read. It takes the parameters that it shares with the call.
    pub read: String,
    /// Fields of its answer; all if empty.
    #[serde(default)]
    pub fields: Vec<String>,
}

/// A read that adds a field to the rows of a list: the last deployment of each environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowAddition {
    /// Id of the list.
    pub action: String,
    /// Name of the field that is added.
    pub field: String,
    /// Id of the read, whose first row of an object counts. It takes the path parameters that it shares with the list.
    pub read: String,
    /// Its other parameters.
    #[serde(default)]
    pub params: BTreeMap<String, Json>,
    /// Dotted field of a row of the read with the `id` of the list's row.
    pub of: String,
    /// Dotted fields of a row of the read that are shown.
    pub shows: Vec<String>,
}

/// A state of an object in which changes have nothing left to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoneState {
    /// Ids of the actions.
    pub actions: Vec<String>,
    /// The field of the object, and its value after the change.
    pub field: String,
    pub is: Json,
}

/// Writes of several steps, of which GitLab may have made the first when it refuses the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartialChange {
    /// Ids of the actions.
    pub actions: Vec<String>,
    /// The step that may have been made, as a sentence without its end.
    pub made: String,
    /// Id of the read that shows whether it was. It takes the parameters of its path that the call has.
    pub read: String,
}

/// Writes whose answer has the object before the change, because GitLab makes the change afterwards.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackgroundChange {
    /// Ids of the actions.
    pub actions: Vec<String>,
    /// The parameter with the new value.
    pub param: String,
    /// Dotted fields of the object, one of which has that value once the change is made.
    pub shown_in: Vec<String>,
    /// Id of the read that shows the object. It takes the `id` of the answer as `fullPath`, which the change may alter.
    pub read: String,
    /// What tells of a failure, for a note.
    pub failure: String,
}

/// Fields of the answer of a write that a person looks at, besides those that identify the object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// Ids of the actions.
    pub actions: Vec<String>,
    pub fields: Vec<String>,
}

/// The field of an answer in which a parameter's value shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownAs {
    /// Name of the parameter; `*` at its beginning or end matches any text.
    pub param: String,
    /// Name of the field; `*` repeats that text.
    pub field: String,
    #[serde(default)]
    pub by: ShownBy,
    /// Value of the field by the parameter's value, if they differ: `closed` by `close`.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
}

/// How a field shows a parameter's value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShownBy {
    /// The same value.
    #[default]
    Value,
    /// An object, or a list of objects, with these ids.
    Ids,
    /// A list that has these values among others.
    Adds,
    /// A list that has none of these values.
    Removes,
}

/// Values of example calls that depend on more than a parameter's name. From `[examples]` in `catalog/rules.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExampleWords {
    /// `fullPath` of an operation on a group.
    pub group: String,
    /// Parameters that an example of an update sets if it would change nothing, the preferred first.
    pub changes: Vec<String>,
    /// References by kind, for parameters that take a name instead of an id.
    pub references: BTreeMap<Names, Json>,
}

impl Words {
    /// The family of the domain that an action's id begins with.
    pub fn family(&self, id: &str) -> &str {
        let domain = id.split_once('.').map_or(id, |(domain, _)| domain);
        self.domains.get(domain).map_or("", |domain| domain.family.as_str())
    }

    /// The toolset of a family.
    pub fn toolset(&self, family: &str) -> Option<&str> {
        let mut toolsets = self.toolsets.iter();
        toolsets
            .find(|(_, toolset)| toolset.families.iter().any(|held| held == family))
            .map(|(name, _)| name.as_str())
    }
}
