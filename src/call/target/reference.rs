//! References: an object and its project or group. One table has the nouns and parameters of each kind of object.

use std::fmt;

use crate::call::global_id;
use crate::catalog::{Action, GraphqlKind, Operation, Param, Piece, Scope, pieces};

/// Name of the parameter, which every action with a `fullPath` accepts in addition to its own.
pub const TARGET: &str = "target";

/// The parameter with the comment of a URL's anchor.
pub const NOTE: &str = "note_id";

/// An object and its project or group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Full path of the project or group; empty if the reference has none.
    pub path: String,
    /// Project or group, if the reference determines it.
    pub holder: Option<Scope>,
    pub kind: Kind,
    /// Its number, name or SHA; empty for the project or group itself.
    pub value: String,
    /// The comment that a URL's anchor points to.
    pub note: Option<String>,
}

/// Kind of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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

/// Nouns and parameters of a kind.
#[derive(Debug)]
pub struct Row {
    pub kind: Kind,
    /// Noun with its article, for messages.
    pub noun: &'static str,
    /// Domain of its actions.
    pub domain: &'static str,
    /// Segments of GitLab's paths before its placeholder.
    pub segments: &'static [&'static str],
    /// Other parameters for it, the most likely first.
    pub params: &'static [&'static str],
    /// Names of GraphQL fields that return one, in lower case.
    pub fields: &'static [&'static str],
}

const fn row(
    kind: Kind,
    noun: &'static str,
    domain: &'static str,
    segments: &'static [&'static str],
    params: &'static [&'static str],
) -> Row {
    Row { kind, noun, domain, segments, params, fields: &[] }
}

/// Row of a kind that GraphQL fields return by `iid`.
const fn in_fields(row: Row, fields: &'static [&'static str]) -> Row {
    Row { fields, ..row }
}

/// Every kind once.
pub const ROWS: &[Row] = &[
    row(Kind::Holder, "a project or group", "", &[], &[]),
    row(Kind::User, "a user", "user", &["users"], &["user_id", "username"]),
    in_fields(
        row(Kind::Issue, "an issue", "issue", &["issues"], &[]),
        &["issue", "design", "workitem", "promote"],
    ),
    in_fields(
        row(Kind::MergeRequest, "a merge request", "merge_request", &["merge_requests"], &[]),
        &["mergerequest"],
    ),
    in_fields(row(Kind::Epic, "an epic", "epic", &["epics"], &[]), &["epic", "workitem"]),
    in_fields(
        row(Kind::WorkItem, "a work item", "issue", &["work_items", "issues", "epics"], &[]),
        &["workitem", "issue", "epic", "design"],
    ),
    row(Kind::Commit, "a commit", "commit", &["commits"], &["sha", "ref", "ref_name"]),
    row(Kind::Branch, "a branch", "branch", &["branches"], &["branch", "ref", "ref_name"]),
    row(Kind::Tag, "a tag", "tag", &["tags"], &["tag_name", "ref", "ref_name"]),
    row(Kind::File, "a file", "repository_file", &["files", "blame"], &["file_path", "path"]),
    row(Kind::Directory, "a directory", "repository", &[], &["path"]),
    row(Kind::Pipeline, "a pipeline", "pipeline", &["pipelines"], &["pipeline_id"]),
    row(Kind::Job, "a job", "job", &["jobs"], &["job_id"]),
    row(Kind::Milestone, "a milestone", "milestone", &["milestones"], &["milestone_id"]),
    row(Kind::Label, "a label", "label", &["labels"], &["label_id"]),
    row(Kind::Snippet, "a snippet", "snippet", &["snippets"], &["snippet_id"]),
    row(Kind::Wiki, "a wiki page", "wiki_page", &["wikis"], &["slug"]),
    row(Kind::Release, "a release", "release", &["releases"], &["tag_name"]),
    row(Kind::Environment, "an environment", "environment", &["environments"], &["environment_id"]),
    row(Kind::Board, "a board", "board", &["boards"], &["board_id"]),
    row(
        Kind::PipelineSchedule,
        "a pipeline schedule",
        "pipeline_schedule",
        &["pipeline_schedules"],
        &["pipeline_schedule_id"],
    ),
];

impl Kind {
    /// Returns the row of the kind.
    pub fn row(self) -> Option<&'static Row> {
        ROWS.iter().find(|row| row.kind == self)
    }

    /// Noun with its article, for messages.
    pub fn noun(self) -> &'static str {
        self.row().map_or("something else", |row| row.noun)
    }
}

/// Kinds of objects in the action's paths, the outermost first; empty if it works on a whole project or group.
pub fn takes(action: &Action) -> Vec<&'static Row> {
    let segments: Vec<&str> = action.choices().flat_map(|operation| held(&operation.path)).collect();
    let addressed = global_id::addressed(action).map(global_id::marks).unwrap_or_default();
    let by_field = |row: &Row| {
        action.param("iid").is_some()
            && action.choices().any(|operation| graphql_holds(action, operation, row))
    };
    let holds = |row: &&Row| {
        row.segments.iter().any(|segment| segments.contains(segment))
            || mark(row.kind).is_some_and(|mark| addressed.contains(&mark))
            || by_field(row)
    };
    ROWS.iter().filter(|row| row.kind != Kind::WorkItem).filter(holds).collect()
}

/// Returns the action's parameter for such an object: that of its placeholder in the path, else one by name.
pub fn parameter(action: &Action, kind: Kind) -> Option<&str> {
    let row = kind.row()?;
    let in_path = action.choices().find_map(|operation| {
        let (_, placeholder) = slots(&operation.path).find(|(segment, _)| row.segments.contains(segment))?;
        Some(operation.bind.get(placeholder).map_or(placeholder, String::as_str))
    });
    let by_field = || {
        let held = action.choices().any(|operation| graphql_holds(action, operation, row));
        action.param("iid").filter(|_| held).map(|iid| iid.name.as_str())
    };
    let named = || row.params.iter().find(|name| action.param(name).is_some()).copied();
    in_path.or_else(by_field).or_else(named)
}

/// True if the parameter accepts a reference to such an object.
pub fn is_reference(reference: &Reference, param: &Param) -> bool {
    let mark = reference.to_string().trim_end_matches(|c: char| c.is_ascii_digit()).chars().next_back();
    mark.is_some_and(|mark| global_id::marks(param).contains(&mark))
}

/// True if `fullPath` can be a project or a group.
pub fn is_of_either(operation: &Operation) -> bool {
    operation.graphql.as_ref().is_some_and(|graphql| graphql.field.starts_with("namespace."))
}

/// True if a GraphQL action works on objects of the row: by the names of its fields, or by its `iid`.
fn graphql_holds(action: &Action, operation: &Operation, row: &Row) -> bool {
    let Some(graphql) = &operation.graphql else { return false };
    let mut steps = graphql.field.split('.').map(str::to_lowercase);
    let is_held = |step: String| row.fields.iter().any(|field| step.contains(field));
    let elsewhere = match row.kind {
        Kind::Issue => operation.scope == Scope::Group && !is_of_either(operation),
        Kind::Epic => operation.scope == Scope::Project,
        _ => false,
    };
    match graphql.kind {
        _ if elsewhere => false,
        GraphqlKind::Query => action.param("iid").is_some_and(|iid| iid.required) && steps.any(is_held),
        GraphqlKind::Mutation => steps.any(is_held),
    }
}

fn held(path: &str) -> impl Iterator<Item = &str> {
    slots(path).map(|(segment, _)| segment)
}

/// Iterates over the placeholders of a path, each with the segment before it.
fn slots(path: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut before = "";
    pieces(path).filter_map(move |piece| match piece {
        Piece::Text(text) => {
            before = text.split('/').rfind(|word| !word.is_empty()).unwrap_or(before);
            None
        }
        Piece::Placeholder { name, .. } => Some((before, name)),
    })
}

/// Mark in references to objects of the kind.
fn mark(kind: Kind) -> Option<char> {
    match kind {
        Kind::Issue | Kind::WorkItem => Some('#'),
        Kind::MergeRequest => Some('!'),
        Kind::Epic => Some('&'),
        Kind::Snippet => Some('$'),
        Kind::Commit | Kind::User => Some('@'),
        Kind::Label => Some('~'),
        _ => None,
    }
}

impl fmt::Display for Reference {
    /// Writes the short reference, if the kind has one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = mark(self.kind).map(String::from).unwrap_or_default();
        write!(f, "{}{mark}{}", self.path, self.value)
    }
}
