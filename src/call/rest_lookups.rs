//! Table of resolvers: the reads that find the id of an object by its name, one row a kind.

use crate::catalog::Names;

/// Resolver of one kind of object.
#[derive(Debug)]
pub struct Resolver {
    pub names: Names,
    /// Noun for messages.
    pub noun: &'static str,
    pub form: Form,
    /// Words that GitLab's filters accept in place of an id.
    pub words: &'static [&'static str],
    /// The reads that find it, tried in order until one does.
    pub reads: &'static [Read],
}

/// Notation of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A name or title, perhaps behind a mark and in quotes: `@alice`, `%"v1.0"`.
    Name { mark: &'static str },
    /// A number after one of these marks, with or without a path: `group/project#12`, `#12`. The first mark is used
    /// when path and number are separate parameters.
    Number { marks: &'static [char] },
    /// A number as in [`Form::Number`], or a title.
    NumberOrTitle { marks: &'static [char] },
}

/// A read whose response contains the id.
#[derive(Debug)]
pub struct Read {
    /// The action's id.
    pub action: &'static str,
    /// Its parameters with their values.
    pub ask: &'static [(&'static str, Ask)],
    /// Pointers to the name in a row, any of which may match. Empty: the response is the object itself.
    pub by: &'static [&'static str],
    /// Pointer to the id in a row.
    pub id: &'static str,
    /// Required type of the global id.
    pub of: Option<&'static str>,
}

/// Value of a read's parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    Name,
    /// The name, if it is not a number behind a mark; otherwise the read is skipped.
    Title,
    /// The name, if it is a number; otherwise the read is skipped.
    Digits,
    /// The name as a branch or tag, for its latest run; omitted for [`LATEST`], that of the default branch.
    LatestOn,
    /// No value; the read is skipped unless the name is this word.
    Only(&'static str),
    /// The part of `group/project#12` before its mark, and the part after it.
    Path,
    Number,
    /// The part before this mark; the read is skipped if the name has another mark.
    PathOf(char),
    /// The call's parameter of the same name; the read is skipped without it.
    Same,
    /// The call's parameter of the same name; optional.
    May,
    /// The call's group, or the group of its project; the read is skipped without it.
    Group,
    /// The scope of the call's operation, if known.
    Scope,
    Text(&'static str),
}

use Ask::{Digits, LatestOn, May, Name, Number, Path, PathOf, Same, Scope, Text, Title};

/// The word for the latest run, in place of an id.
pub const LATEST: &str = "latest";

/// Returns the resolver of a kind.
pub fn resolver(names: Names) -> Option<&'static Resolver> {
    RESOLVERS.iter().find(|resolver| resolver.names == names)
}

const NAME: Form = Form::Name { mark: "" };
const PAGE: (&str, Ask) = ("per_page", Text("100"));
const HERE: (&str, Ask) = ("fullPath", Same);
const SCOPE: (&str, Ask) = ("scope", Scope);
/// The project of a list whose `scope` is GitLab's own.
const WITHIN: (&str, Ask) = ("within", Text("project"));
/// The group of the call, or that of its project.
const GROUP: (&str, Ask) = ("fullPath", Ask::Group);
const ACTIVE: (&str, Ask) = ("state", Text("active"));

const fn row(names: Names, noun: &'static str, form: Form, reads: &'static [Read]) -> Resolver {
    Resolver { names, noun, form, words: &[], reads }
}

/// Row of a kind whose filters also accept words.
const fn or_words(resolver: Resolver, words: &'static [&'static str]) -> Resolver {
    Resolver { words, ..resolver }
}

/// A list, with pointers to the name in its rows.
const fn list(
    action: &'static str,
    ask: &'static [(&'static str, Ask)],
    by: &'static [&'static str],
) -> Read {
    Read { action, ask, by, id: "/id", of: None }
}

/// A read of the object itself.
const fn get(action: &'static str, ask: &'static [(&'static str, Ask)]) -> Read {
    list(action, ask, &[])
}

/// A list with another pointer to the id.
const fn with_id(read: Read, id: &'static str) -> Read {
    Read { id, ..read }
}

/// A GraphQL list, whose ids are global ids of this type.
const fn global(
    action: &'static str,
    ask: &'static [(&'static str, Ask)],
    by: &'static [&'static str],
    of: &'static str,
) -> Read {
    Read { of: Some(of), ..list(action, ask, by) }
}

/// Type of global ids for the mark of a reference.
pub fn marked(name: &str) -> Option<&'static str> {
    let mark = name.trim_end_matches(|c: char| c.is_ascii_digit()).chars().next_back()?;
    MARKED.iter().find(|(known, _)| *known == mark).map(|(_, kind)| *kind)
}

/// The word for the user of the token.
pub const ME: &str = "me";

/// Mark that GitLab writes before the ids of a kind: `#305` is a pipeline or job, `$3` a snippet.
pub fn id_mark(names: Names) -> Option<char> {
    match names {
        Names::Pipeline | Names::Job => Some('#'),
        Names::Snippet => Some('$'),
        _ => None,
    }
}

const MARKED: [(char, &str); 3] = [('#', "Issue"), ('!', "MergeRequest"), ('&', "Epic")];
const FIRST: (&str, Ask) = ("first", Text("100"));

const ANY: &[&str] = &["none", "any"];

/// Every kind once; a test holds the reads to the catalog.
pub const RESOLVERS: &[Resolver] = &[
    or_words(
        row(
            Names::User,
            "user",
            Form::Name { mark: "@" },
            &[
                // First, as a stranger may be called so.
                get("current_user.get", &[("", Ask::Only(ME))]),
                list("user.list", &[("username", Name)], &["/username"]),
            ],
        ),
        ANY,
    ),
    row(
        Names::Group,
        "group",
        NAME,
        &[get("group.get", &[("fullPath", Name), ("with_projects", Text("false"))])],
    ),
    row(Names::Project, "project", NAME, &[get("project.get", &[("fullPath", Name)])]),
    row(Names::Namespace, "group or user", NAME, &[get("namespace.get", &[("fullPath", Name)])]),
    row(Names::Topic, "topic", NAME, &[list("topic.list", &[("search", Name), PAGE], &["/name", "/title"])]),
    or_words(
        row(
            Names::Milestone,
            "milestone",
            Form::Name { mark: "%" },
            &[
                list("milestone.list", &[HERE, SCOPE, ("iids", Digits)], &["/iid"]),
                list("milestone.list", &[HERE, SCOPE, ("title", Name)], &["/title"]),
                list(
                    "milestone.list",
                    &[HERE, SCOPE, ("title", Name), ("include_ancestors", Text("true"))],
                    &["/title"],
                ),
            ],
        ),
        &["none", "any", "upcoming", "started"],
    ),
    row(
        Names::Label,
        "label",
        Form::Name { mark: "~" },
        &[list("label.list", &[HERE, SCOPE, ("search", Name), PAGE], &["/name"])],
    ),
    or_words(
        row(
            Names::Iteration,
            "iteration",
            NAME,
            &[list("iteration.list", &[HERE, SCOPE, ("search", Name), PAGE], &["/title"])],
        ),
        &["none", "any", "current"],
    ),
    row(
        Names::IterationCadence,
        "iteration cadence",
        NAME,
        &[global(
            "iteration_cadence.list",
            &[HERE, SCOPE, ("title", Name), FIRST],
            &["/title"],
            "Iterations::Cadence",
        )],
    ),
    row(Names::Board, "board", NAME, &[list("board.list", &[HERE, SCOPE, PAGE], &["/name"])]),
    row(Names::EpicBoard, "epic board", NAME, &[list("epic_board.list", &[HERE, PAGE], &["/name"])]),
    row(
        Names::Environment,
        "environment",
        NAME,
        // The filter compares the case too.
        &[
            list("environment.list", &[HERE, ("name", Name)], &["/name"]),
            list("environment.list", &[HERE, PAGE], &["/name"]),
        ],
    ),
    row(
        Names::Runner,
        "runner",
        NAME,
        &[
            list("runner.list", &[("within", Text("current")), PAGE], &["/description"]),
            list("runner.list", &[HERE, ("within", Scope), PAGE], &["/description"]),
        ],
    ),
    or_words(
        row(
            Names::Epic,
            "epic",
            Form::NumberOrTitle { marks: &['&'] },
            &[
                get("epic.get", &[("fullPath", Path), ("iid", Number)]),
                list("epic.list", &[GROUP, ("search", Title), PAGE], &["/title"]),
            ],
        ),
        ANY,
    ),
    row(
        Names::EpicIid,
        "epic",
        Form::NumberOrTitle { marks: &['&'] },
        &[
            get("epic.get", &[("fullPath", Path), ("iid", Number)]),
            list("epic.list", &[GROUP, ("search", Title), PAGE], &["/title"]),
        ],
    ),
    row(
        Names::EpicTitle,
        "epic",
        NAME,
        &[with_id(list("epic.list", &[HERE, ("search", Name), PAGE], &["/title"]), "/iid")],
    ),
    row(
        Names::IssueTitle,
        "issue",
        NAME,
        &[with_id(
            list("issue.list", &[HERE, WITHIN, ("search", Name), ("in", Text("title")), PAGE], &["/title"]),
            "/iid",
        )],
    ),
    row(
        Names::MergeRequestTitle,
        "merge request",
        NAME,
        &[with_id(
            list(
                "merge_request.list",
                &[HERE, WITHIN, ("search", Name), ("in", Text("title")), PAGE],
                &["/title"],
            ),
            "/iid",
        )],
    ),
    row(
        Names::FeatureFlagUserListIid,
        "user list",
        NAME,
        &[with_id(list("feature_flag_user_list.list", &[HERE, ("search", Name), PAGE], &["/name"]), "/iid")],
    ),
    row(
        Names::FeatureFlagUserList,
        "user list",
        NAME,
        &[list("feature_flag_user_list.list", &[HERE, ("search", Name), PAGE], &["/name"])],
    ),
    row(
        Names::Issue,
        "issue",
        Form::Number { marks: &['#'] },
        &[get("issue.get", &[("fullPath", Path), ("iid", Number)])],
    ),
    row(
        Names::MergeRequest,
        "merge request",
        Form::Number { marks: &['!'] },
        &[get("merge_request.get", &[("fullPath", Path), ("iid", Number)])],
    ),
    row(
        Names::WorkItem,
        "work item",
        Form::Number { marks: &['#', '&'] },
        &[
            get("issue.get", &[("fullPath", PathOf('#')), ("iid", Number)]),
            with_id(get("epic.get", &[("fullPath", Path), ("iid", Number)]), "/work_item_id"),
        ],
    ),
    row(
        Names::Issuable,
        "issue, merge request or epic",
        Form::Number { marks: &['#', '!', '&'] },
        &[
            get("issue.get", &[("fullPath", PathOf('#')), ("iid", Number)]),
            get("merge_request.get", &[("fullPath", PathOf('!')), ("iid", Number)]),
            get("epic.get", &[("fullPath", PathOf('&')), ("iid", Number)]),
        ],
    ),
    row(
        Names::EpicIssue,
        "issue of this epic",
        Form::Number { marks: &['#'] },
        &[with_id(
            list("epic_issue.list", &[HERE, ("iid", Same), PAGE], &["/references/full"]),
            "/epic_issue_id",
        )],
    ),
    row(
        Names::IssueLink,
        "issue linked to this one",
        Form::Number { marks: &['#'] },
        &[with_id(list("issue_link.list", &[HERE, ("iid", Same)], &["/references/full"]), "/issue_link_id")],
    ),
    row(
        Names::EpicLink,
        "epic linked to this one",
        Form::Number { marks: &['&'] },
        &[with_id(
            list("epic_link.list", &[HERE, ("iid", Same)], &["/references/full"]),
            "/related_epic_link_id",
        )],
    ),
    row(
        Names::MergeRequestDependency,
        "merge request that this one waits for",
        Form::Number { marks: &['!'] },
        &[list(
            "merge_request_dependency.list",
            &[HERE, ("iid", Same), PAGE],
            &["/blocking_merge_request/references/full"],
        )],
    ),
    row(Names::Job, "job", NAME, &[list("job.list", &[HERE, PAGE], &["/name"])]),
    row(Names::Pipeline, "pipeline", NAME, &[get("pipeline.get_latest", &[HERE, ("ref", LatestOn)])]),
    row(
        Names::PipelineSchedule,
        "pipeline schedule",
        NAME,
        &[list("pipeline_schedule.list", &[HERE, PAGE], &["/description"])],
    ),
    row(
        Names::PipelineTrigger,
        "trigger token",
        NAME,
        &[list("pipeline_trigger.list", &[HERE, PAGE], &["/description"])],
    ),
    row(Names::Webhook, "webhook", NAME, &[list("webhook.list", &[HERE, SCOPE, PAGE], &["/url", "/name"])]),
    row(
        Names::DeployToken,
        "deploy token",
        NAME,
        &[list("deploy_token.list", &[HERE, SCOPE, PAGE], &["/name", "/username"])],
    ),
    row(
        Names::ProjectAccessToken,
        "active access token",
        NAME,
        &[
            list("project_access_token.list", &[HERE, ACTIVE, ("search", Name)], &["/name"]),
            list("project_access_token.list", &[HERE, ACTIVE], &["/name"]),
        ],
    ),
    row(
        Names::GroupAccessToken,
        "active access token",
        NAME,
        &[
            list("group_access_token.list", &[HERE, ACTIVE, ("search", Name)], &["/name"]),
            list("group_access_token.list", &[HERE, ACTIVE], &["/name"]),
        ],
    ),
    row(
        Names::PersonalAccessToken,
        "active access token",
        NAME,
        &[list("personal_access_token.list", &[ACTIVE, ("search", Name), PAGE], &["/name"])],
    ),
    row(
        Names::ImpersonationToken,
        "active impersonation token",
        NAME,
        &[list("impersonation_token.list", &[("user_id", Same), ACTIVE, PAGE], &["/name"])],
    ),
    row(
        Names::ClusterAgentToken,
        "token of this agent",
        NAME,
        &[list("cluster_agent_token.list", &[HERE, ("agent_id", Same), PAGE], &["/name"])],
    ),
    row(Names::RemoteMirror, "push mirror", NAME, &[list("remote_mirror.list", &[HERE, PAGE], &["/url"])]),
    row(
        Names::BoardList,
        "list of this board",
        Form::Name { mark: "~" },
        &[list("board_list.list", &[HERE, SCOPE, ("board_id", Same), PAGE], &["/label/name"])],
    ),
    row(
        Names::Package,
        "package",
        NAME,
        &[list("package.list", &[HERE, SCOPE, ("package_name", Name), PAGE], &["/name"])],
    ),
    row(
        Names::PackageProtectionRule,
        "protection rule",
        NAME,
        &[list("package_protection_rule.list", &[HERE], &["/package_name_pattern"])],
    ),
    row(
        Names::RegistryProtectionRule,
        "protection rule",
        NAME,
        &[list("registry_repository_protection_rule.list", &[HERE], &["/repository_path_pattern"])],
    ),
    row(
        Names::RegistryTagProtectionRule,
        "protection rule",
        NAME,
        &[list("registry_tag_protection_rule.list", &[HERE], &["/tag_name_pattern"])],
    ),
    row(Names::SystemHook, "system hook", NAME, &[list("system_hook.list", &[PAGE], &["/url", "/name"])]),
    row(
        Names::DeployKey,
        "deploy key",
        NAME,
        &[
            list("deploy_key.list", &[HERE, ("scope", Text("project")), PAGE], &["/title"]),
            list("deploy_key.list", &[("scope", Text("instance")), PAGE], &["/title"]),
        ],
    ),
    row(
        Names::SshKey,
        "SSH key",
        NAME,
        &[list("ssh_key.list", &[("user_id", May), SCOPE, PAGE], &["/title"])],
    ),
    row(
        Names::Email,
        "email address",
        NAME,
        &[list("user_email.list", &[("user_id", May), SCOPE, PAGE], &["/email"])],
    ),
    row(
        Names::Snippet,
        "snippet",
        NAME,
        &[list("snippet.list", &[("fullPath", May), SCOPE, PAGE], &["/title"])],
    ),
    row(Names::Badge, "badge", NAME, &[list("badge.list", &[HERE, SCOPE, PAGE], &["/name"])]),
    row(
        Names::ReleaseLink,
        "link of this release",
        NAME,
        &[list("release_link.list", &[HERE, ("tag_name", Same), PAGE], &["/name", "/url"])],
    ),
    row(
        Names::ApprovalRule,
        "approval rule",
        NAME,
        &[list("approval_rule.list", &[HERE, SCOPE, PAGE], &["/name"])],
    ),
    row(
        Names::MergeRequestApprovalRule,
        "approval rule of this merge request",
        NAME,
        &[list("merge_request_approval_rule.list", &[HERE, ("iid", Same), PAGE], &["/name"])],
    ),
    row(
        Names::StatusCheck,
        "external status check",
        NAME,
        &[list("external_status_check.list", &[HERE, PAGE], &["/name"])],
    ),
    row(
        Names::ProtectedBranch,
        "protected branch",
        NAME,
        &[list("protected_branch.list", &[HERE, SCOPE, ("search", Name), PAGE], &["/name"])],
    ),
    row(
        Names::ClusterAgent,
        "agent for Kubernetes",
        NAME,
        &[list("cluster_agent.list", &[HERE, PAGE], &["/name"])],
    ),
    row(
        Names::Cluster,
        "cluster",
        NAME,
        &[list("cluster.list", &[("fullPath", May), SCOPE, PAGE], &["/name"])],
    ),
    row(
        Names::ContainerRepository,
        "container repository",
        NAME,
        &[list("registry_repository.list", &[HERE, SCOPE, PAGE], &["/path", "/name"])],
    ),
    row(Names::SecureFile, "secure file", NAME, &[list("secure_file.list", &[HERE, PAGE], &["/name"])]),
    row(
        Names::MemberRole,
        "custom role",
        NAME,
        &[
            list("member_role.list", &[HERE, ("scope", Text("group"))], &["/name"]),
            list("member_role.list", &[("scope", Text("instance"))], &["/name"]),
        ],
    ),
    row(
        Names::Application,
        "OAuth application",
        NAME,
        &[list("application.list", &[], &["/application_name", "/application_id"])],
    ),
    row(Names::GeoSite, "Geo site", NAME, &[list("geo_site.list", &[PAGE], &["/name", "/url"])]),
    row(
        Names::WorkItemType,
        "type of work items",
        NAME,
        &[global("work_item_type.list", &[HERE, SCOPE, FIRST], &["/name"], "WorkItems::Type")],
    ),
    row(
        Names::ComplianceFramework,
        "compliance framework",
        NAME,
        &[global(
            "compliance_framework.list",
            &[HERE, SCOPE, FIRST],
            &["/name"],
            "ComplianceManagement::Framework",
        )],
    ),
    row(
        Names::BranchRule,
        "branch rule",
        NAME,
        &[global("branch_rule.list", &[HERE, FIRST], &["/name"], "Projects::BranchRule")],
    ),
    row(
        Names::CustomField,
        "custom field",
        NAME,
        &[global(
            "custom_field.list",
            &[HERE, ("search", Name), FIRST],
            &["/name"],
            "Issuables::CustomField",
        )],
    ),
];
