//! What a parameter names where GitLab wants an id and a person knows a name. The build script includes this file
//! by path.

use serde::{Deserialize, Serialize};

/// The kind of thing that an id belongs to. How each is found by its name is known to `call`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Names {
    User,
    Group,
    Project,
    /// A group or a user, as what holds projects.
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
    /// An epic whose iid the parameter is, where the path wants its id: numbers are names too.
    EpicIid,
    Issue,
    MergeRequest,
    /// An issue, a task, an epic or anything else that is tracked; its global id has the number of its issue.
    WorkItem,
    /// An issue, a merge request or an epic: what can be commented on.
    Issuable,
    /// The link by which an issue belongs to an epic, named by the issue.
    EpicIssue,
    /// The link between two issues, named by the other one.
    IssueLink,
    /// The link between two epics, named by the other one.
    EpicLink,
    /// Merge request dependency, named by the other merge request.
    MergeRequestDependency,
    Pipeline,
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
}

impl Names {
    /// True if it is written as a path, a mark and a number (`group/project#12`), and may be all that an action
    /// works on.
    pub fn is_tracked(self) -> bool {
        matches!(self, Names::WorkItem | Names::Issue | Names::MergeRequest | Names::Epic | Names::Issuable)
    }

    /// True if it is called alike everywhere: a user, a path. Anything else is looked up within a project or group.
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
        )
    }
}
