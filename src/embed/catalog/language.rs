//! The words of the field: `catalog/language.toml`, the nouns of the domains and the glossary of parameters, as
//! they are embedded. The build script includes this file by path.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::model::{Json, Version};
use super::names::Names;

/// Vocabulary of the finder, from `catalog/language.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Language {
    /// Words that say nothing of the action.
    #[serde(default)]
    pub stopwords: Vec<String>,
    /// Words that are never cut to a stem.
    #[serde(default)]
    pub never_stem: Vec<String>,
    /// Synonyms: a word or phrase, and GitLab's words for it.
    #[serde(default, rename = "synonym")]
    pub synonyms: Vec<Synonym>,
    /// Verbs and the kind of action that they ask for.
    #[serde(default, rename = "verb")]
    pub verbs: Vec<Verb>,
    /// Prepositions before a second object: `labels of a project`.
    #[serde(default)]
    pub prepositions: Vec<String>,
    /// Those of them that only describe the object: `an issue with labels`.
    #[serde(default)]
    pub attributes: Vec<String>,
    /// Words that ask, so that nothing is to be changed.
    #[serde(default)]
    pub questions: Vec<String>,
    /// Verbs that also tell a state, before what is in it: `open issues`.
    #[serde(default)]
    pub states: Vec<String>,
    /// Words after which a participle is wished for: `be closed`.
    #[serde(default)]
    pub passives: Vec<String>,
    /// Words that people use and that say nothing of GitLab; never taken for misspelt ones.
    #[serde(default)]
    pub ordinary: Vec<String>,
    /// Quantifiers for several and for one.
    #[serde(default)]
    pub many: Vec<String>,
    #[serde(default)]
    pub one: Vec<String>,
    /// Words that say where: in a project, a group, the instance, or with oneself.
    #[serde(default, rename = "scope")]
    pub scopes: Vec<ScopeWord>,
    /// Things that are also put on others.
    #[serde(default, rename = "part")]
    pub parts: Vec<PartWord>,
    /// Things that other products call by another name than GitLab, with the names of those products.
    #[serde(default)]
    pub foreign: Foreign,
    /// Ids of actions to suggest if nothing matches a query, the most common first.
    #[serde(default)]
    pub suggested: Vec<String>,
    /// Words of requests about files of the client's own machine.
    #[serde(default)]
    pub local: LocalWords,
}

/// Words of requests about files of the client's own machine, which this server does not read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalWords {
    /// Phrases for the machine: `on my disk`. They count if the request names a file.
    pub places: Vec<String>,
    /// Phrases for a file on it: `local file`.
    pub files: Vec<String>,
    /// Phrases for a project of the client's. They count if the request names a file and has a verb of `edits`.
    pub projects: Vec<String>,
    pub edits: Vec<String>,
    /// Words for a file, or for what is in one.
    pub nouns: Vec<String>,
    /// Words that keep a request at GitLab.
    pub unless: Vec<String>,
    /// Names of clients' tools that read and change local files.
    pub tools: Vec<String>,
}

/// Names of other products before a noun that means a thing of GitLab: a `jira ticket` is an issue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Foreign {
    /// Lower-case names of products, of one word.
    pub products: Vec<String>,
    /// Nouns before which the name of a product says nothing.
    pub nouns: Vec<String>,
    /// Words of a query that is about the product itself: `import jira tickets`.
    pub unless: Vec<String>,
}

/// Nouns of things that others have, and what putting one on another asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartWord {
    /// Nouns of one word: `label`.
    pub say: Vec<String>,
    /// Nouns of what has them: `issue`.
    pub of: Vec<String>,
    /// The verb of the actions that put them on and take them off.
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

/// A word or phrase and what it means here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synonym {
    pub say: Vec<String>,
    pub mean: Vec<String>,
    /// From 0 to 1: how much of a match on the word itself a match on its meaning is worth.
    #[serde(default = "full_weight")]
    pub weight: f32,
}

fn full_weight() -> f32 {
    1.0
}

/// A verb that people use and the verbs of actions it asks for, best first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verb {
    pub say: Vec<String>,
    pub mean: Vec<String>,
}

/// A group of actions that share the first part of their id. From `[domain.NAME]` in `catalog/curation`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Domain {
    /// The family of domains it belongs to: the name of its file in `catalog/curation`.
    pub family: String,
    /// Nouns for the domain's object, GitLab's own first.
    pub nouns: Vec<String>,
}

/// A part of the catalog that goes together. From `catalog/curation/toolsets.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Toolset {
    /// Description, in a line.
    pub what: String,
    /// The families of domains in it; each is in one toolset.
    pub families: Vec<String>,
    /// Names of other servers' toolsets that mean this one.
    #[serde(default)]
    pub aliases: Vec<String>,
}

/// One of several sub-agents that share GitLab, from `catalog/curation/toolsets.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Description, in a line.
    pub what: String,
    /// Its toolsets; each is of one agent.
    pub toolsets: Vec<String>,
    /// Additional instructions for the agent, in a sentence or two.
    #[serde(default)]
    pub note: String,
}

/// Meaning of a parameter's name in every action, from `catalog/curation/glossary.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GlossaryEntry {
    /// One line in our own words.
    #[serde(default)]
    pub note: String,
    /// Spellings that are understood as this one, where an action has no parameter of that very name.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// A plausible value; few have one.
    #[serde(default)]
    pub example: Option<Box<Json>>,
    /// Frequently set: early in signatures.
    #[serde(default)]
    pub first: bool,
    /// Other words for values, each with the values that it may stand for. The corrected call has the first that the
    /// action takes.
    #[serde(default)]
    pub values: BTreeMap<String, Vec<String>>,
}

/// The effect of a GitLab quick action: a line of a text that begins with `/name`. From `[quick_actions.commands]`
/// in `catalog/rules.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuickAction {
    /// Ids of the actions with the same effect, for every kind of object that it applies to.
    pub actions: Vec<String>,
    /// Its argument begins with the path of a project or group, or with a reference that has one.
    #[serde(default)]
    pub path: bool,
}

/// Actions that `GITLAB_READABLE_PATHS` lets through although they have no path. From `[readable]` in `catalog/rules.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadableTable {
    /// Ids of actions whose answers hold nothing of a project or group.
    #[serde(default)]
    pub open: Vec<String>,
    /// Ids of list actions with the field by which a row says where it is.
    #[serde(default)]
    pub rows: BTreeMap<String, String>,
}

/// All vocabulary, as the build script embeds it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Words {
    /// The GitLab version whose files the catalog was made from.
    pub gitlab_version: Version,
    pub language: Language,
    pub domains: BTreeMap<String, Domain>,
    pub glossary: BTreeMap<String, GlossaryEntry>,
    /// Title of each family of domains.
    pub families: BTreeMap<String, String>,
    pub toolsets: BTreeMap<String, Toolset>,
    /// Names of other servers' toolsets that have no counterpart here, each with what to use instead.
    pub absent_toolsets: BTreeMap<String, String>,
    pub agents: BTreeMap<String, Agent>,
    /// The quick actions that GitLab executes in texts, by name without the slash.
    pub quick_actions: BTreeMap<String, QuickAction>,
    pub readable: ReadableTable,
    pub examples: ExampleWords,
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

    /// The toolset that a family is in.
    pub fn toolset(&self, family: &str) -> Option<&str> {
        let mut toolsets = self.toolsets.iter();
        toolsets
            .find(|(_, toolset)| toolset.families.iter().any(|held| held == family))
            .map(|(name, _)| name.as_str())
    }
}
