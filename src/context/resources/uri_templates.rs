//! Table of the GitLab objects that have a URI: the URI template, and the action that reads the object.

/// Sources of completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionSource {
    /// No completions.
    None,
    Action,
    Domain,
    Project,
    Group,
    User,
    Branch,
    Tag,
    Label,
    Milestone,
    MilestoneNumber,
    GroupMilestoneNumber,
    Issue,
    MergeRequest,
    Pipeline,
    Epic,
    Release,
    WikiPage,
    GroupWikiPage,
}

/// Container of an object, the first segment of its URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Namespace {
    Project,
    Group,
    /// None: the object has a name or number of its own.
    Nothing(&'static str),
}

impl Namespace {
    /// The first segment of the URI.
    pub fn first_segment(self) -> &'static str {
        match self {
            Namespace::Project => "project",
            Namespace::Group => "group",
            Namespace::Nothing(word) => word,
        }
    }

    /// Minimum number of path segments.
    pub fn min_segments(self) -> usize {
        if self == Namespace::Project { 2 } else { 1 }
    }

    /// The completion source of `fullPath`.
    pub fn source(self) -> CompletionSource {
        if self == Namespace::Group { CompletionSource::Group } else { CompletionSource::Project }
    }
}

/// A part of a URI after the path of its namespace.
#[derive(Clone, Copy, Debug)]
pub enum UriPart {
    /// A fixed word.
    Word(&'static str),
    Value(UriVariable),
}

/// A variable part.
#[derive(Clone, Copy, Debug)]
pub struct UriVariable {
    pub name: &'static str,
    pub form: VariableForm,
    /// The action's parameter, and the prefix of its value.
    pub param: &'static str,
    pub mark: &'static str,
    pub source: CompletionSource,
}

/// Syntax of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableForm {
    /// Digits.
    Number,
    /// One segment, with its slashes encoded.
    Segment,
    /// The rest of the URI.
    Rest,
}

/// An object that can be read.
#[derive(Debug)]
pub struct ResourceKind {
    /// Unique name in the list of templates.
    pub name: &'static str,
    pub title: &'static str,
    pub holder: Namespace,
    pub parts: &'static [UriPart],
    pub action: &'static str,
    /// Allowed query names: `lines`, or parameters of the action.
    pub query: &'static [&'static str],
}

const fn value(
    name: &'static str,
    form: VariableForm,
    param: &'static str,
    source: CompletionSource,
) -> UriPart {
    UriPart::Value(UriVariable { name, form, param, mark: "", source })
}

const fn number(name: &'static str, source: CompletionSource) -> UriPart {
    value(name, VariableForm::Number, name, source)
}

const fn rest(name: &'static str, source: CompletionSource) -> UriPart {
    value(name, VariableForm::Rest, name, source)
}

/// A milestone by its iid. The parameter distinguishes it from an id by the prefix `%`.
const fn milestone(source: CompletionSource) -> UriPart {
    UriPart::Value(UriVariable {
        name: "iid",
        form: VariableForm::Number,
        param: "milestone_id",
        mark: "%",
        source,
    })
}

const fn resource_kind(
    name: &'static str,
    title: &'static str,
    holder: Namespace,
    parts: &'static [UriPart],
    action: &'static str,
) -> ResourceKind {
    ResourceKind { name, title, holder, parts, action, query: &[] }
}

const fn with(query: &'static [&'static str], thing: ResourceKind) -> ResourceKind {
    ResourceKind { query, ..thing }
}

use Namespace::{Group, Nothing, Project};
use UriPart::Word;

const LINE_PARAMS: &[&str] = &["lines"];
const PAGE_PARAMS: &[&str] = &["page", "per_page"];
const ISSUE: UriPart = number("iid", CompletionSource::Issue);
const REQUEST: UriPart = number("iid", CompletionSource::MergeRequest);
const PIPELINE: UriPart = number("pipeline_id", CompletionSource::Pipeline);
const JOB: UriPart = number("job_id", CompletionSource::None);
const REF: UriPart = value("ref", VariableForm::Segment, "ref", CompletionSource::Branch);
const SNIPPET: UriPart = number("snippet_id", CompletionSource::None);

/// The whole table.
pub const RESOURCE_KINDS: &[ResourceKind] = &[
    resource_kind("project", "A project", Project, &[], "project.get"),
    resource_kind("issue", "An issue", Project, &[Word("issue"), ISSUE], "issue.get"),
    with(
        PAGE_PARAMS,
        resource_kind(
            "issue_comments",
            "The comments on an issue",
            Project,
            &[Word("issue"), ISSUE, Word("comments")],
            "issue_note.list",
        ),
    ),
    resource_kind(
        "merge_request",
        "A merge request",
        Project,
        &[Word("merge_request"), REQUEST],
        "merge_request.get",
    ),
    with(
        PAGE_PARAMS,
        resource_kind(
            "merge_request_diff",
            "The diff of a merge request",
            Project,
            &[Word("merge_request"), REQUEST, Word("diff")],
            "merge_request.list_diffs",
        ),
    ),
    with(
        PAGE_PARAMS,
        resource_kind(
            "merge_request_comments",
            "The threads of a merge request",
            Project,
            &[Word("merge_request"), REQUEST, Word("comments")],
            "merge_request_discussion.list",
        ),
    ),
    resource_kind("pipeline", "A pipeline", Project, &[Word("pipeline"), PIPELINE], "pipeline.get"),
    with(
        PAGE_PARAMS,
        resource_kind(
            "pipeline_jobs",
            "The jobs of a pipeline",
            Project,
            &[Word("pipeline"), PIPELINE, Word("jobs")],
            "pipeline.list_jobs",
        ),
    ),
    resource_kind("job", "A job", Project, &[Word("job"), JOB], "job.get"),
    with(
        LINE_PARAMS,
        resource_kind("job_log", "The log of a job", Project, &[Word("job"), JOB, Word("log")], "job.log"),
    ),
    with(
        LINE_PARAMS,
        resource_kind(
            "file",
            "A file at a branch, tag or commit",
            Project,
            &[Word("file"), REF, rest("file_path", CompletionSource::None)],
            "repository_file.get_raw",
        ),
    ),
    with(
        PAGE_PARAMS,
        resource_kind(
            "folder",
            "A folder at a branch, tag or commit",
            Project,
            &[Word("folder"), REF, rest("path", CompletionSource::None)],
            "repository.list_tree",
        ),
    ),
    resource_kind(
        "branch",
        "A branch",
        Project,
        &[Word("branch"), rest("branch", CompletionSource::Branch)],
        "branch.get",
    ),
    resource_kind(
        "commit",
        "A commit",
        Project,
        &[Word("commit"), value("sha", VariableForm::Segment, "sha", CompletionSource::None)],
        "commit.get",
    ),
    resource_kind(
        "tag",
        "A tag",
        Project,
        &[Word("tag"), rest("tag_name", CompletionSource::Tag)],
        "tag.get",
    ),
    resource_kind(
        "release",
        "A release",
        Project,
        &[Word("release"), rest("tag_name", CompletionSource::Release)],
        "release.get",
    ),
    resource_kind(
        "milestone",
        "A milestone of a project",
        Project,
        &[Word("milestone"), milestone(CompletionSource::MilestoneNumber)],
        "milestone.get",
    ),
    resource_kind(
        "wiki_page",
        "A wiki page of a project",
        Project,
        &[Word("wiki"), rest("slug", CompletionSource::WikiPage)],
        "wiki_page.get",
    ),
    resource_kind("snippet", "A snippet of a project", Project, &[Word("snippet"), SNIPPET], "snippet.get"),
    resource_kind("group", "A group", Group, &[], "group.get"),
    resource_kind(
        "epic",
        "An epic",
        Group,
        &[Word("epic"), number("iid", CompletionSource::Epic)],
        "epic.get",
    ),
    resource_kind(
        "group_milestone",
        "A milestone of a group",
        Group,
        &[Word("milestone"), milestone(CompletionSource::GroupMilestoneNumber)],
        "milestone.get",
    ),
    resource_kind(
        "group_wiki_page",
        "A wiki page of a group",
        Group,
        &[Word("wiki"), rest("slug", CompletionSource::GroupWikiPage)],
        "wiki_page.get",
    ),
    resource_kind(
        "user",
        "A user",
        Nothing("user"),
        &[value("username", VariableForm::Segment, "user_id", CompletionSource::User)],
        "user.get",
    ),
    resource_kind("personal_snippet", "A personal snippet", Nothing("snippet"), &[SNIPPET], "snippet.get"),
];

impl ResourceKind {
    /// The URI template (RFC 6570).
    pub fn template(&self) -> String {
        let mut text = format!("gitlab://{}", self.holder.first_segment());
        match (self.holder, self.parts.is_empty()) {
            (Namespace::Nothing(_), _) => {}
            // At the end of the URI slashes need no encoding.
            (_, true) => text.push_str("/{+fullPath}"),
            (_, false) => text.push_str("/{fullPath}"),
        }
        for part in self.parts {
            match part {
                UriPart::Word(word) => text.push_str(&format!("/{word}")),
                UriPart::Value(UriVariable { name, form: VariableForm::Rest, .. }) => {
                    text.push_str(&format!("/{{+{name}}}"))
                }
                UriPart::Value(UriVariable { name, .. }) => text.push_str(&format!("/{{{name}}}")),
            }
        }
        if !self.query.is_empty() {
            text.push_str(&format!("{{?{}}}", self.query.join(",")));
        }
        text
    }

    /// The completion source of a variable; `None` if the template has no such variable.
    pub fn source(&self, variable: &str) -> Option<CompletionSource> {
        if variable == "fullPath" && !matches!(self.holder, Namespace::Nothing(_)) {
            return Some(self.holder.source());
        }
        if self.query.contains(&variable) {
            return Some(CompletionSource::None);
        }
        self.parts.iter().find_map(|part| match part {
            UriPart::Value(value) if value.name == variable => Some(value.source),
            _ => None,
        })
    }
}

/// Finds the kind with this URI template.
pub fn thing_at(template: &str) -> Option<&'static ResourceKind> {
    RESOURCE_KINDS.iter().find(|thing| thing.template() == template)
}
