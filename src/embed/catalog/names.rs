//! Kinds of references: parameters that accept a name where GitLab expects an id. The build script includes this file
//! by path.

use serde::{Deserialize, Serialize};

/// Kind of object that a reference names. The `call` module resolves each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Names {
    User,
    Group,
    Project,
    /// A group or a user, as the namespace of projects.
    Namespace,
    Topic,
    Milestone,
    Label,
    Iteration,
    IterationCadence,
    Board,
    EpicBoard,
    Environment,
    Runner,
    Epic,
    /// An epic given by its iid, where the path needs its id: numbers are names too.
    EpicIid,
    Issue,
    MergeRequest,
    /// An issue, a task, an epic or any other work item; its global id contains the number of its issue.
    WorkItem,
    /// An issue, a merge request or an epic: an object with comments.
    Issuable,
    /// Link of an issue to an epic, named by the issue.
    EpicIssue,
    /// Link between two issues, named by the other issue.
    IssueLink,
    /// Link between two epics, named by the other epic.
    EpicLink,
    /// Merge request dependency, named by the other merge request.
    MergeRequestDependency,
    /// A job by its name, which each pipeline has again.
    Job,
    Pipeline,
    /// A pipeline by its id, where the request has its iid in the project.
    PipelineIid,
    PipelineSchedule,
    PipelineTrigger,
    Webhook,
    SystemHook,
    DeployKey,
    SshKey,
    Email,
    Snippet,
    Badge,
    ReleaseLink,
    ApprovalRule,
    MergeRequestApprovalRule,
    StatusCheck,
    ProtectedBranch,
    ClusterAgent,
    Cluster,
    ContainerRepository,
    SecureFile,
    MemberRole,
    Application,
    GeoSite,
    WorkItemType,
    ComplianceFramework,
    BranchRule,
    CustomField,
    /// An issue by its title, where the request has its iid.
    IssueTitle,
    /// A merge request by its title, where the request has its iid.
    MergeRequestTitle,
    /// An epic by its title, where the request has its iid.
    EpicTitle,
    FeatureFlagUserList,
    /// A user list of feature flags by its name, where the request has its iid.
    FeatureFlagUserListIid,
    DeployToken,
    ProjectAccessToken,
    GroupAccessToken,
    PersonalAccessToken,
    /// A to-do item, named by what it is about.
    Todo,
    ImpersonationToken,
    ClusterAgentToken,
    RemoteMirror,
    /// List of an issue board, named by its label.
    BoardList,
    Package,
    PackageProtectionRule,
    RegistryProtectionRule,
    RegistryTagProtectionRule,
}

impl Names {
    /// True if it is written as a path, a sign and a number (`group/project#12`), which may identify an action's only
    /// target.
    pub fn is_tracked(self) -> bool {
        matches!(self, Names::WorkItem | Names::Issue | Names::MergeRequest | Names::Epic | Names::Issuable)
    }

    /// True for a pipeline, by its id or by its iid.
    pub fn is_pipeline(self) -> bool {
        matches!(self, Names::Pipeline | Names::PipelineIid)
    }

    /// True if its name is unique in the instance: a user, a path. Any other kind is looked up within a project or
    /// group.
    pub fn is_global(self) -> bool {
        matches!(
            self,
            Names::User
                | Names::Group
                | Names::Project
                | Names::Namespace
                | Names::Topic
                | Names::SystemHook
                | Names::SshKey
                | Names::Email
                | Names::Snippet
                | Names::Cluster
                | Names::Application
                | Names::GeoSite
                | Names::PersonalAccessToken
                | Names::Todo
                | Names::ImpersonationToken
        )
    }

    /// True if the parameter takes the number that people see, which a title can stand for. Its type remains integer.
    pub fn is_titled(self) -> bool {
        matches!(
            self,
            Names::IssueTitle
                | Names::MergeRequestTitle
                | Names::EpicTitle
                | Names::EpicIid
                | Names::FeatureFlagUserListIid
        )
    }
}
