//! GitLab's kinds of objects: how each is named, addressed, looked up, created and changed. From `catalog/kinds.toml`; the
//! comments of the file describe its keys.

use std::collections::BTreeMap;
use std::iter;

use serde::{Deserialize, Serialize};

use super::names::Names;

/// The tables of the file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kinds {
    #[serde(rename = "kind")]
    pub kinds: Vec<KindRow>,
    #[serde(rename = "resolver")]
    pub resolvers: Vec<Resolver>,
    #[serde(rename = "resource")]
    pub resources: Vec<ResourceRow>,
    #[serde(rename = "completion")]
    pub completions: Vec<CompletionRow>,
    /// Fields of items of composite actions, with other spellings of each.
    pub item_fields: Vec<(String, Vec<String>)>,
    /// Fields of items that take a reference: names of its number, and the mark before it.
    pub numbered_fields: Vec<(String, Vec<String>, String)>,
    /// Parameters of updates that an empty text or list takes away.
    pub cleared_by_empty: Vec<String>,
    /// Parameters with names of which none has a comma.
    pub names_without_commas: Vec<String>,
    /// Actions that take a commit.
    pub commits: CommitParams,
    /// Flags of callers, each with GitLab's flag that says the opposite.
    pub opposite_flags: Vec<(String, String)>,
    /// Filters of lists, with their actions, that name one object: a list of names is one call for each.
    pub names_one: Vec<String>,
    /// Parameters, with their actions, whose fields are texts.
    pub text_maps: Vec<String>,
    /// Reads that take the head of a merge request for a branch.
    pub revisions: Revisions,
    /// Fields of objects of GraphQL, with the object's name, and parameters of REST, with the action, that `null` takes away.
    pub cleared_by_null: Vec<String>,
    /// Such fields and parameters that an empty list takes away.
    pub cleared_by_empty_list: Vec<String>,
    /// Types of items, with other spellings of each.
    pub item_types: Vec<(String, Vec<String>)>,
    /// Words by which a commit closes the issues named after them.
    pub closing_words: Vec<String>,
    /// Other names of the parameter `target`, folded.
    pub target_spellings: Vec<String>,
    /// Parameters in which other systems take the owner of a project.
    pub owner_params: Vec<String>,
    /// Names in the URL of a list's page that filter nothing.
    pub page_options: Vec<String>,
    /// Names, folded, under which a number is the id of a project, and those of a group.
    pub holder_numbers: HolderNumbers,
    /// The numbers of a pipeline.
    pub pipeline_numbers: PipelineNumbers,
    /// Beginnings of paths without a project at which an object is the user's own, not the instance's.
    pub own_paths: Vec<String>,
    /// REST paths whose answer is a file.
    pub file_paths: FilePaths,
    /// States that GitLab prints in parentheses after a reference.
    pub reference_states: Vec<String>,
    /// Actions on an object that the read of another domain shows.
    pub shown_by: Vec<ShowingRead>,
    /// Filters of lists whose value names an object.
    #[serde(rename = "filter_name")]
    pub filter_names: Vec<FilterName>,
}

/// An action whose object the read of another domain shows before the call is confirmed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShowingRead {
    pub action: String,
    pub read: String,
    /// Parameters of the read, each by the first of these parameters that the call has.
    pub takes: BTreeMap<String, Vec<String>>,
}

/// Filters of lists whose value names an object, and the read that finds it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilterName {
    pub params: Vec<String>,
    pub noun: String,
    pub read: String,
    /// The parameter of the read that takes the name.
    pub search: String,
    /// The field of its rows with the name.
    pub field: String,
    /// The list of the place that a similar name is looked for in, if it is not the read without its search.
    pub others: Option<String>,
    /// The field of a row with what people call it, if that is not its name.
    pub title: Option<String>,
    /// Parameters of the read with fixed values.
    #[serde(default)]
    pub with: Vec<(String, String)>,
    /// True if only a project has all the names that its lists may be filtered by: a group's list has those of its projects
    /// too, which the read does not show.
    #[serde(default)]
    pub in_project: bool,
    /// Values that name no object, such as `none`.
    #[serde(default)]
    pub words: Vec<String>,
}

/// Names, folded, under which a number is the id of a project, and those of a group.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HolderNumbers {
    pub project: Vec<String>,
    pub group: Vec<String>,
}

/// How callers name the two numbers of a pipeline, and the merge request that it ran for. All names are folded.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PipelineNumbers {
    pub id: Vec<String>,
    pub iid: Vec<String>,
    pub merge_request: Vec<String>,
}

/// REST paths whose answer is a user's file, below `/api/v4`: `*` is one segment, `**` one or more.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilePaths {
    pub files: Vec<String>,
    /// Paths like these that are answered with JSON.
    pub lists: Vec<String>,
}

/// The reads and parameters that take a revision of a repository.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revisions {
    pub domains: Vec<String>,
    pub params: Vec<String>,
}

/// The actions and their parameter that take a commit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommitParams {
    pub param: String,
    pub domains: Vec<String>,
    /// Ids of actions, with their parameters for the branch that has the commit, the first given of which counts.
    pub within: Vec<(String, Vec<String>)>,
}

/// Kind of an object that a URL or reference names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectKind {
    /// The project or group itself.
    Holder,
    User,
    Issue,
    MergeRequest,
    Epic,
    /// An issue or epic by its `work_items` page.
    WorkItem,
    Commit,
    Branch,
    Tag,
    /// A file. The value is `ref/path/of/file`: only GitLab knows where a ref with slashes ends.
    File,
    /// A directory, with the same value.
    Directory,
    Pipeline,
    Job,
    Milestone,
    Label,
    Snippet,
    Wiki,
    Release,
    Environment,
    Board,
    PipelineSchedule,
}

/// One kind.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KindRow {
    /// The name in `itemType` and in the tags of answers.
    pub name: String,
    /// The kind in URLs and references.
    pub object: Option<ObjectKind>,
    /// Noun with its article, for messages.
    pub noun: String,
    /// Domain of its actions.
    pub domain: String,
    /// Mark in references: `#` of `acme/widget#12`.
    pub sigil: Option<char>,
    /// Type of its global ids, where those of several kinds are told apart by the sigil.
    pub global_id_type: Option<String>,
    /// Segments of web pages, with how the value after it is read.
    pub pages: Vec<(String, PageValue)>,
    /// Segments of GitLab's API paths before its placeholder.
    pub segments: Vec<String>,
    /// Other parameters for it, the most likely first.
    pub params: Vec<String>,
    /// Names of GraphQL fields that return one, in lower case.
    pub graphql_fields: Vec<String>,
    pub item: Option<ItemKind>,
    pub create: Option<NewItemKind>,
    /// Changes that `resource.update` takes: field and form.
    pub changes: Vec<(String, ChangeForm)>,
}

impl KindRow {
    /// The actions by which composite actions fetch, change and create one.
    pub fn actions(&self) -> impl Iterator<Item = &String> {
        let item = self.item.iter().flat_map(|item| iter::once(&item.read).chain(&item.update));
        item.chain(self.create.iter().map(|create| &create.action))
    }
}

/// Form of the value after the segment of a web page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageValue {
    /// A number.
    Number,
    /// The rest of the path.
    Rest,
    /// A ref, and the path of a directory where there is one.
    Tree,
}

/// A kind as an item of `resource.fetch` and `resource.update`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemKind {
    /// The action that reads it.
    pub read: String,
    pub comments: Option<String>,
    /// Parameters of the read of its comments.
    #[serde(default)]
    pub comment_params: Vec<(String, String)>,
    pub diffs: Option<String>,
    pub links: Option<String>,
    pub update: Option<String>,
    /// Fields that identify the item besides `fullPath`, the first given one counts.
    #[serde(default)]
    pub names: Vec<ItemName>,
    /// Separator of path and name in the displayed reference.
    #[serde(default)]
    pub mark: String,
    /// True if it may be outside of projects and groups.
    #[serde(default)]
    pub placeless: bool,
    /// The other kind that it may be.
    pub or_else: Option<String>,
}

/// A field that identifies an item.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemName {
    pub field: String,
    pub param: String,
    /// Prefix of the value.
    #[serde(default)]
    pub prefix: String,
    /// True if the value is kept as it is; else a mark of a reference before it is dropped.
    #[serde(default)]
    pub is_path: bool,
}

/// A kind as an item of `resource.create`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewItemKind {
    /// The action that creates it.
    pub action: String,
    /// The kind that a group has in its place.
    pub in_group: Option<String>,
    #[serde(default)]
    pub place: ItemPlace,
    /// Its fields, each with the parameter of the action.
    pub fields: Vec<(String, String)>,
}

/// Meaning of an item's `fullPath`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemPlace {
    /// The project or group of the item.
    #[default]
    Holder,
    /// The same, if it is given.
    Optional,
    /// The path of the new project.
    Project,
    /// The path of the new group.
    Group,
}

/// Form of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeForm {
    /// The parameter that takes the value.
    Is(String),
    /// The parameter that takes the value, with 0 for `none`.
    OrZero(String),
    /// The parameter that takes the value, with an empty text for `none`.
    OrEmpty(String),
    /// Values of `state_event` that open and close it.
    State(String, String),
    /// A parameter, and the one that says that it is set.
    Fixed(String, String),
}

/// An object that a client may read by URI.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourceRow {
    /// Unique name in the list of templates.
    pub name: String,
    pub title: String,
    /// The URI template (RFC 6570).
    pub template: String,
    /// The action that reads it.
    pub action: String,
    #[serde(default)]
    pub variables: BTreeMap<String, ResourceVariable>,
}

/// A variable of a URI template that has completions, or that is no parameter of the action as it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ResourceVariable {
    /// Name of the completions.
    pub complete: Option<String>,
    /// The action's parameter, if its name is another, and the prefix of its value.
    pub param: Option<String>,
    pub mark: String,
}

/// The read that completes what a caller types.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompletionRow {
    pub name: String,
    pub action: String,
    /// The parameter that filters the list by the typed text.
    pub search: Option<String>,
    /// Further parameters.
    pub params: Vec<(String, String)>,
    /// Completions if nothing was typed.
    #[serde(default)]
    pub untyped: Vec<(String, String)>,
    /// The field of each row that is the value.
    pub field: String,
    /// True for the projects and groups in which everything else is.
    #[serde(default)]
    pub is_place: bool,
    /// True if the read is within `fullPath`.
    #[serde(default)]
    pub inside: bool,
}

/// Resolver of one kind of name: the reads that find the id of an object.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resolver {
    pub names: Names,
    /// Noun for messages.
    pub noun: String,
    #[serde(default)]
    pub form: NameForm,
    /// Mark that GitLab writes before the ids of the kind: `#305` is a pipeline or job, `$3` a snippet.
    pub id_mark: Option<char>,
    /// Words that GitLab's filters accept in place of an id.
    #[serde(default)]
    pub words: Vec<String>,
    /// Beginnings of names, in lower case, without which a caller may write one: the mark of a draft.
    #[serde(default)]
    pub prefixes: Vec<String>,
    /// The reads that find it, tried in order until one does.
    pub reads: Vec<ResolverRead>,
    /// The read that shows what an id is of, for a question.
    pub shown: Option<ShownId>,
}

/// The read of an object by its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownId {
    /// The action's id.
    pub action: String,
    /// The parameter that takes the id.
    pub param: String,
    /// The field with the name of the object.
    pub field: String,
}

/// Notation of a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameForm {
    /// A name or title, perhaps behind this mark and in quotes: `@alice`, `%"v1.0"`.
    Name(String),
    /// A number after one of these marks, with or without a path: `group/project#12`, `#12`. The first mark is used
    /// when path and number are separate parameters.
    Number(Vec<char>),
    /// A number as in [`NameForm::Number`], or a title.
    NumberOrTitle(Vec<char>),
}

impl Default for NameForm {
    fn default() -> NameForm {
        NameForm::Name(String::new())
    }
}

/// A read whose response contains the id.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolverRead {
    /// The action's id.
    pub action: String,
    /// Its parameters with their values.
    pub ask: Vec<(String, KindRead)>,
    /// Pointers to the name in a row, any of which may match. Empty: the response is the object itself.
    #[serde(default)]
    pub by: Vec<String>,
    /// Pointer to the id in a row.
    #[serde(default = "default_id")]
    pub id: String,
    /// Required type of the global id.
    pub of: Option<String>,
}

fn default_id() -> String {
    "/id".to_owned()
}

/// Value of a read's parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum KindRead {
    /// `$name`
    Name,
    /// `$title`: the name, if it is not a number behind a mark; otherwise the read is skipped.
    Title,
    /// `$digits`: the name, if it is a number; otherwise the read is skipped.
    Digits,
    /// `$latest_on`: the name as a branch or tag, for its latest run; omitted for the word `latest`, which is that of the
    /// default branch.
    LatestOn,
    /// `$only me`: no value; the read is skipped unless the name is this word.
    Only(String),
    /// `$after iid:`: the part after this beginning; the read is skipped without it.
    After(String),
    /// `$path`: the part of `group/project#12` before its mark.
    Path,
    /// `$number`: the part after it.
    Number,
    /// `$number !`: the part after this mark; the read is skipped if the name has another mark or none.
    NumberOf(char),
    /// `$path #`: the part before this mark; the read is skipped if the name has another mark.
    PathOf(char),
    /// `$same`: the call's parameter of the same name; the read is skipped without it.
    Same,
    /// `$absent`: no value; the read is skipped if the call has the parameter of the same name.
    Absent,
    /// `$may`: the call's parameter of the same name; optional.
    May,
    /// `$group`: the call's group, or the group of its project; the read is skipped without it.
    Group,
    /// `$scope`: the scope of the call's operation, if known.
    Scope,
    /// Any other text.
    Text(String),
}

/// The values that are a word alone.
static WORDS: [(KindRead, &str); 11] = [
    (KindRead::Name, "$name"),
    (KindRead::Title, "$title"),
    (KindRead::Digits, "$digits"),
    (KindRead::LatestOn, "$latest_on"),
    (KindRead::Path, "$path"),
    (KindRead::Number, "$number"),
    (KindRead::Same, "$same"),
    (KindRead::Absent, "$absent"),
    (KindRead::May, "$may"),
    (KindRead::Group, "$group"),
    (KindRead::Scope, "$scope"),
];

impl TryFrom<String> for KindRead {
    type Error = String;

    fn try_from(text: String) -> Result<KindRead, String> {
        if !text.starts_with('$') {
            return Ok(KindRead::Text(text));
        }
        if let Some((ask, _)) = WORDS.iter().find(|(_, word)| *word == text) {
            return Ok(ask.clone());
        }
        let unknown = || format!("{text} is no value of a read");
        match text.split_once(' ') {
            Some(("$only", word)) => Ok(KindRead::Only(word.to_owned())),
            Some(("$after", beginning)) => Ok(KindRead::After(beginning.to_owned())),
            Some(("$path", mark)) => mark.parse().map(KindRead::PathOf).map_err(|_| unknown()),
            Some(("$number", mark)) => mark.parse().map(KindRead::NumberOf).map_err(|_| unknown()),
            _ => Err(unknown()),
        }
    }
}

impl From<KindRead> for String {
    fn from(ask: KindRead) -> String {
        match ask {
            KindRead::Only(word) => format!("$only {word}"),
            KindRead::After(beginning) => format!("$after {beginning}"),
            KindRead::NumberOf(mark) => format!("$number {mark}"),
            KindRead::PathOf(mark) => format!("$path {mark}"),
            KindRead::Text(text) => text,
            other => WORDS.iter().find(|(ask, _)| *ask == other).map_or("", |(_, word)| *word).to_owned(),
        }
    }
}
