//! Additions of the server to GitLab's operations: parameters of its own, and further reads and calls.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::json::Json;

/// A long text that `edits` or `diff` change in parts: a read shows the present text, and the call sends the whole new
/// one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextEdit {
    /// The list whose objects have the text, `edits` and `diff`; none if they are parameters of the action.
    pub within: Option<String>,
    /// Path of the parameter with the text: `description`, `descriptionWidget.description`.
    pub text: String,
    /// Id of the read. It takes the parameters of the path that the call has as well.
    pub read: String,
    /// Field of its response with the present text; what a response that is the text alone is of.
    pub field: String,
    /// Its further parameters, each by the first of these parameters that the call has.
    #[serde(default)]
    pub takes: BTreeMap<String, Vec<String>>,
    /// True if it takes no other parameters.
    #[serde(default)]
    pub alone: bool,
    /// The field of its response that is sent as the parameter of the same name, so that GitLab refuses the change of a
    /// text that has changed since.
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
    /// Id of the action that creating a label is the effect of.
    pub creates: String,
}

/// A parameter that ties a call to the object as it was shown when the call was confirmed: GitLab refuses the call once
/// the field has another value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatePin {
    /// The parameter, which is sent with the value of the field.
    pub param: String,
    /// Id of the read that shows the object. It takes the parameters of its path that the call has.
    pub read: String,
    /// Its further parameters, each by the first of these parameters that the call has.
    #[serde(default)]
    pub takes: BTreeMap<String, Vec<String>>,
    /// Field of its response.
    pub field: String,
    /// Id of the read that lists the commits between two values, which it takes as `from` and `to`.
    pub since: Option<String>,
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
    /// Its parameters by the fields of the response.
    #[serde(default)]
    pub takes: BTreeMap<String, String>,
    /// Values of a field of the response with which it is made; always, if empty.
    #[serde(default)]
    pub when: BTreeMap<String, Vec<String>>,
    /// The field of the response with the number of rows: without it, or at zero, nothing is read.
    pub counted_by: Option<String>,
    /// Fields of the rows, dotted within their objects.
    pub shows: Vec<String>,
    /// The parameter with the name of a branch or tag whose commit the read shows, in a note. No read is made for a SHA.
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
    pub read: Option<String>,
}

/// A parameter that GitLab needs on every change, with its present value unless a call has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptValue {
    pub param: String,
    /// The field of the object with the present value.
    pub field: String,
    /// Id of the read of the object; it takes the parameters of the path.
    pub read: String,
}

/// A value that a call has if it names some parameters, and others not: GitLab's own default would be another than what is
/// asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Presumed {
    pub param: String,
    pub value: Json,
    /// Parameters of which the call has one.
    pub given: Vec<String>,
    /// Parameters of which it has none.
    #[serde(default)]
    pub absent: Vec<String>,
}

/// Parameters that add to a list and take from it, where GitLab takes only the whole: `add_reviewers` and
/// `remove_reviewers` of `reviewer_ids`. They are not sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListChange {
    /// The parameter with the whole list.
    pub whole: String,
    pub add: String,
    pub remove: String,
    /// The field of the object with the present list.
    pub field: String,
    /// Id of the read of the object; it takes the parameters of the path.
    pub read: String,
    /// Other parameters that set the list.
    #[serde(default)]
    pub also: Vec<String>,
}

impl Companion {
    /// True if a value of the parameter asks for the call: neither null, `false` nor blank. The text `false` is a flag too,
    /// unless the other action takes it as a text.
    pub fn is_asked_by(&self, value: &serde_json::Value) -> bool {
        let is_flag_off =
            self.value.is_none() && value.as_str().is_some_and(|text| text.eq_ignore_ascii_case("false"));
        let is_blank = value.as_str().is_some_and(|text| text.trim().is_empty());
        !value.is_null() && !is_blank && *value != serde_json::Value::Bool(false) && !is_flag_off
    }
}
