//! What of GitLab's can be read by an address, as a table: how it is addressed, and the action that reads it.

/// What completes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Nothing does.
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

/// What a thing is in, the first word of its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    Project,
    Group,
    /// It is found by its own name or number.
    Nothing(&'static str),
}

impl Holder {
    /// The first word of the address.
    pub fn word(self) -> &'static str {
        match self {
            Holder::Project => "project",
            Holder::Group => "group",
            Holder::Nothing(word) => word,
        }
    }

    /// How few words the path of one may have.
    pub fn least(self) -> usize {
        if self == Holder::Project { 2 } else { 1 }
    }

    /// What completes `fullPath`.
    pub fn source(self) -> Source {
        if self == Holder::Group { Source::Group } else { Source::Project }
    }
}

/// A part of an address, after the path of what the thing is in.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// A word of ours.
    Word(&'static str),
    Value(Variable),
}

/// A part that differs from thing to thing.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    pub name: &'static str,
    pub form: Form,
    /// The action's parameter, and what is written before the value there.
    pub param: &'static str,
    pub mark: &'static str,
    pub source: Source,
}

/// How a variable is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Digits.
    Number,
    /// What is between two slashes, the slashes in it encoded.
    Segment,
    /// All that follows.
    Rest,
}

/// Something that can be read.
#[derive(Debug)]
pub struct Thing {
    /// In the list of templates, and no other's.
    pub name: &'static str,
    pub title: &'static str,
    pub holder: Holder,
    pub parts: &'static [Part],
    pub action: &'static str,
    /// Names that a query may have: `lines`, or parameters of the action.
    pub query: &'static [&'static str],
}

const fn value(name: &'static str, form: Form, param: &'static str, source: Source) -> Part {
    Part::Value(Variable { name, form, param, mark: "", source })
}

const fn number(name: &'static str, source: Source) -> Part {
    value(name, Form::Number, name, source)
}

const fn rest(name: &'static str, source: Source) -> Part {
    value(name, Form::Rest, name, source)
}

/// A milestone by the number that people see, which the parameter tells from an id by its `%`.
const fn milestone(source: Source) -> Part {
    Part::Value(Variable { name: "iid", form: Form::Number, param: "milestone_id", mark: "%", source })
}

const fn thing(
    name: &'static str,
    title: &'static str,
    holder: Holder,
    parts: &'static [Part],
    action: &'static str,
) -> Thing {
    Thing { name, title, holder, parts, action, query: &[] }
}

const fn with(query: &'static [&'static str], thing: Thing) -> Thing {
    Thing { query, ..thing }
}

use Holder::{Group, Nothing, Project};
use Part::Word;

const LINES: &[&str] = &["lines"];
const PAGE: &[&str] = &["page", "per_page"];
const ISSUE: Part = number("iid", Source::Issue);
const REQUEST: Part = number("iid", Source::MergeRequest);
const PIPELINE: Part = number("pipeline_id", Source::Pipeline);
const JOB: Part = number("job_id", Source::None);
const REF: Part = value("ref", Form::Segment, "ref", Source::Branch);
const SNIPPET: Part = number("snippet_id", Source::None);

/// All of it.
pub const THINGS: &[Thing] = &[
    thing("project", "A project", Project, &[], "project.get"),
    thing("issue", "An issue", Project, &[Word("issue"), ISSUE], "issue.get"),
    with(
        PAGE,
        thing(
            "issue_comments",
            "The comments on an issue",
            Project,
            &[Word("issue"), ISSUE, Word("comments")],
            "issue_note.list",
        ),
    ),
    thing(
        "merge_request",
        "A merge request",
        Project,
        &[Word("merge_request"), REQUEST],
        "merge_request.get",
    ),
    with(
        PAGE,
        thing(
            "merge_request_diff",
            "The diff of a merge request",
            Project,
            &[Word("merge_request"), REQUEST, Word("diff")],
            "merge_request.list_diffs",
        ),
    ),
    with(
        PAGE,
        thing(
            "merge_request_comments",
            "The threads of a merge request",
            Project,
            &[Word("merge_request"), REQUEST, Word("comments")],
            "merge_request_discussion.list",
        ),
    ),
    thing("pipeline", "A pipeline", Project, &[Word("pipeline"), PIPELINE], "pipeline.get"),
    with(
        PAGE,
        thing(
            "pipeline_jobs",
            "The jobs of a pipeline",
            Project,
            &[Word("pipeline"), PIPELINE, Word("jobs")],
            "pipeline.list_jobs",
        ),
    ),
    thing("job", "A job", Project, &[Word("job"), JOB], "job.get"),
    with(LINES, thing("job_log", "The log of a job", Project, &[Word("job"), JOB, Word("log")], "job.log")),
    with(
        LINES,
        thing(
            "file",
            "A file at a branch, tag or commit",
            Project,
            &[Word("file"), REF, rest("file_path", Source::None)],
            "repository_file.raw",
        ),
    ),
    with(
        PAGE,
        thing(
            "folder",
            "A folder at a branch, tag or commit",
            Project,
            &[Word("folder"), REF, rest("path", Source::None)],
            "repository.list_tree",
        ),
    ),
    thing("branch", "A branch", Project, &[Word("branch"), rest("branch", Source::Branch)], "branch.get"),
    thing(
        "commit",
        "A commit",
        Project,
        &[Word("commit"), value("sha", Form::Segment, "sha", Source::None)],
        "commit.get",
    ),
    thing("tag", "A tag", Project, &[Word("tag"), rest("tag_name", Source::Tag)], "tag.get"),
    thing(
        "release",
        "A release",
        Project,
        &[Word("release"), rest("tag_name", Source::Release)],
        "release.get",
    ),
    thing(
        "milestone",
        "A milestone of a project",
        Project,
        &[Word("milestone"), milestone(Source::MilestoneNumber)],
        "milestone.get",
    ),
    thing(
        "wiki_page",
        "A wiki page of a project",
        Project,
        &[Word("wiki"), rest("slug", Source::WikiPage)],
        "wiki_page.get",
    ),
    thing("snippet", "A snippet of a project", Project, &[Word("snippet"), SNIPPET], "snippet.get"),
    thing("group", "A group", Group, &[], "group.get"),
    thing("epic", "An epic", Group, &[Word("epic"), number("iid", Source::Epic)], "epic.get"),
    thing(
        "group_milestone",
        "A milestone of a group",
        Group,
        &[Word("milestone"), milestone(Source::GroupMilestoneNumber)],
        "milestone.get",
    ),
    thing(
        "group_wiki_page",
        "A wiki page of a group",
        Group,
        &[Word("wiki"), rest("slug", Source::GroupWikiPage)],
        "wiki_page.get",
    ),
    thing(
        "user",
        "A user",
        Nothing("user"),
        &[value("username", Form::Segment, "user_id", Source::User)],
        "user.get",
    ),
    thing("personal_snippet", "A personal snippet", Nothing("snippet"), &[SNIPPET], "snippet.get"),
];

impl Thing {
    /// The address with its variables open (RFC 6570).
    pub fn template(&self) -> String {
        let mut text = format!("gitlab://{}", self.holder.word());
        match (self.holder, self.parts.is_empty()) {
            (Holder::Nothing(_), _) => {}
            // Alone, nothing that follows has to be told from it.
            (_, true) => text.push_str("/{+fullPath}"),
            (_, false) => text.push_str("/{fullPath}"),
        }
        for part in self.parts {
            match part {
                Part::Word(word) => text.push_str(&format!("/{word}")),
                Part::Value(Variable { name, form: Form::Rest, .. }) => {
                    text.push_str(&format!("/{{+{name}}}"))
                }
                Part::Value(Variable { name, .. }) => text.push_str(&format!("/{{{name}}}")),
            }
        }
        if !self.query.is_empty() {
            text.push_str(&format!("{{?{}}}", self.query.join(",")));
        }
        text
    }

    /// What completes a variable; none where the address has no such.
    pub fn source(&self, variable: &str) -> Option<Source> {
        if variable == "fullPath" && !matches!(self.holder, Holder::Nothing(_)) {
            return Some(self.holder.source());
        }
        if self.query.contains(&variable) {
            return Some(Source::None);
        }
        self.parts.iter().find_map(|part| match part {
            Part::Value(value) if value.name == variable => Some(value.source),
            _ => None,
        })
    }
}

/// The template of that address, of which the list has things of GitLab's alone.
pub fn thing_at(template: &str) -> Option<&'static Thing> {
    THINGS.iter().find(|thing| thing.template() == template)
}
