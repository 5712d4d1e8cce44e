//! Actions, with everything that makes one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::additions::{
    Companion, Join, KeptValue, LabelNames, ListChange, Presumed, RowFilter, StateNote, StatePin, StateWait,
    TextEdit, TextMark,
};
use super::effects::{Landing, Raise, Risk};
use super::json::Json;
use super::operation::{Interface, Operation, Scope};
use super::param::{Param, Place};

/// An action, such as `issue.list`, with every operation that implements it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    pub twin: Option<String>,
    /// Kind of response, if the response's shape does not show it.
    #[serde(default)]
    pub answers: Answers,
    /// Steps of a composite action, which sends no request itself.
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
    pub replaced_by: Option<String>,
    /// Id of the action that is usually the better choice where both fit.
    pub usually: Option<String>,
    /// Fields of the response that the action is used for: the compact view neither omits nor shortens them.
    #[serde(default)]
    pub shows: Vec<String>,
    /// Parameters that add another call to this one.
    #[serde(default)]
    pub companions: Vec<Companion>,
    /// Note that every answer has, as the end of a sentence.
    pub answer_note: Option<String>,
    /// Parameters with any of which an answer has no such note.
    #[serde(default)]
    pub answer_note_without: Vec<String>,
    /// Parameters that are all given where it is shown.
    #[serde(default)]
    pub answer_note_with: Vec<String>,
    /// Parameters with which a list has the rows that the note says are left out.
    #[serde(default)]
    pub wider: BTreeMap<String, String>,
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
    pub edit: Option<TextEdit>,
    /// The state that a call may wait for. From `[waits]` in `catalog/rules.toml`.
    pub wait: Option<StateWait>,
    /// Parameters with names of labels, which are compared with the existing ones. From `[[label_names]]` in
    /// `catalog/rules.toml`.
    pub label_names: Option<LabelNames>,
    /// A mark of a text that a parameter sets. From `[[text_marks]]` in `catalog/rules.toml`.
    pub text_mark: Option<TextMark>,
    /// A parameter that keeps its value unless it is given. From `[[kept_values]]` in `catalog/rules.toml`.
    pub kept: Option<KeptValue>,
    /// Parameters that change a list in part. From `[[list_changes]]` in `catalog/rules.toml`.
    #[serde(default)]
    pub list_changes: Vec<ListChange>,
    /// Values that a call has by its other parameters. From `[[presumed]]` in `catalog/rules.toml`.
    #[serde(default)]
    pub presumed: Vec<Presumed>,
    /// The parameter that ties a call to the object that was shown. From `[[pins]]` in `catalog/rules.toml`.
    pub pin: Option<StatePin>,
}

/// Actions that a composite action consists of; any action of the catalog if it lists none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Plan {
    /// Ids of required actions: without one of them the composite action cannot run.
    pub needs: Vec<String>,
    /// Ids of optional actions, run if the parameters require them.
    pub picks: Vec<String>,
    /// Bulk: works on several objects; a single object has its own action.
    pub several: bool,
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
