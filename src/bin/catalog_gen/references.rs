//! Which parameters name something, so that a name can be given where GitLab wants an id.

use gitlab_mcp::catalog::{Base, Kind, Names, Param, Place};

use crate::curation::{CuratedAction, CuratedNames};
use crate::graphql;

/// A parameter's name, the domains in which it means this (all, where none is said), and what it names. The first
/// that fits is right, so what is special stands before what is general.
const RULES: &[(&str, &[&str], Names)] = &[
    ("user_id", &[], Names::User),
    ("user_ids", &[], Names::User),
    ("assignee_id", &[], Names::User),
    ("assignee_ids", &[], Names::User),
    ("reviewer_id", &[], Names::User),
    ("reviewer_ids", &[], Names::User),
    ("author_id", &[], Names::User),
    ("approver_ids", &[], Names::User),
    ("approved_by_ids", &[], Names::User),
    ("closed_by_id", &[], Names::User),
    ("merge_user_id", &[], Names::User),
    ("mirror_user_id", &[], Names::User),
    ("parent_id", &["epic"], Names::Epic),
    ("parent_id", &["namespace"], Names::Namespace),
    ("parent_id", &[], Names::Group),
    ("group_id", &[], Names::Group),
    ("group_ids", &[], Names::Group),
    ("add_group_id", &[], Names::Group),
    ("add_user_ids", &[], Names::User),
    ("duo_default_namespace_id", &[], Names::Namespace),
    ("target_group_id", &[], Names::Group),
    ("group_with_project_templates_id", &[], Names::Group),
    ("csp_namespace_id", &[], Names::Group),
    ("elasticsearch_namespace_ids", &[], Names::Group),
    ("selective_sync_namespace_ids", &[], Names::Group),
    ("namespace_id", &[], Names::Namespace),
    ("target_id", &["namespace"], Names::Namespace),
    ("project_id", &[], Names::Project),
    ("target_project_id", &[], Names::Project),
    ("to_project_id", &[], Names::Project),
    ("source_project_id", &[], Names::Project),
    ("from_project_id", &[], Names::Project),
    ("forked_from_id", &[], Names::Project),
    ("blocking_project_id", &[], Names::Project),
    ("template_project_id", &[], Names::Project),
    ("source_template_project_id", &[], Names::Project),
    ("file_template_project_id", &[], Names::Project),
    ("management_project_id", &[], Names::Project),
    ("elasticsearch_project_ids", &[], Names::Project),
    ("topic_id", &[], Names::Topic),
    ("source_topic_id", &[], Names::Topic),
    ("target_topic_id", &[], Names::Topic),
    ("milestone_id", &[], Names::Milestone),
    ("milestone_ids", &[], Names::Milestone),
    // Elsewhere GitLab takes a label's name itself.
    ("label_id", &["board_list"], Names::Label),
    ("label_ids", &[], Names::Label),
    ("add_label_ids", &[], Names::Label),
    ("remove_label_ids", &[], Names::Label),
    ("iteration_id", &[], Names::Iteration),
    ("board_id", &["epic_board", "epic_board_list"], Names::EpicBoard),
    ("board_id", &[], Names::Board),
    ("environment_id", &[], Names::Environment),
    ("runner_id", &[], Names::Runner),
    ("epic_id", &[], Names::Epic),
    ("child_epic_id", &[], Names::Epic),
    ("move_before_id", &["epic_child"], Names::Epic),
    ("move_after_id", &["epic_child"], Names::Epic),
    ("move_before_id", &["epic_issue"], Names::EpicIssue),
    ("move_after_id", &["epic_issue"], Names::EpicIssue),
    ("move_before_id", &["issue"], Names::Issue),
    ("move_after_id", &["issue"], Names::Issue),
    ("issue_id", &[], Names::Issue),
    ("merge_request_id", &[], Names::MergeRequest),
    ("blocking_merge_request_id", &[], Names::MergeRequest),
    ("epic_issue_id", &[], Names::EpicIssue),
    ("issue_link_id", &["issue_link"], Names::IssueLink),
    ("related_epic_link_id", &[], Names::EpicLink),
    ("block_id", &[], Names::MergeRequestDependency),
    ("pipeline_id", &[], Names::Pipeline),
    ("pipeline_schedule_id", &[], Names::PipelineSchedule),
    ("trigger_id", &[], Names::PipelineTrigger),
    ("hook_id", &["system_hook"], Names::SystemHook),
    ("hook_id", &[], Names::Webhook),
    ("key_id", &["deploy_key"], Names::DeployKey),
    ("deploy_key_id", &[], Names::DeployKey),
    ("key_id", &["ssh_key"], Names::SshKey),
    ("email_id", &[], Names::Email),
    ("snippet_id", &[], Names::Snippet),
    ("badge_id", &[], Names::Badge),
    ("link_id", &["release_link"], Names::ReleaseLink),
    ("approval_rule_id", &["approval_rule"], Names::ApprovalRule),
    ("approval_project_rule_id", &[], Names::ApprovalRule),
    ("approval_rule_id", &[], Names::MergeRequestApprovalRule),
    ("check_id", &[], Names::StatusCheck),
    ("external_status_check_id", &[], Names::StatusCheck),
    ("protected_branch_ids", &[], Names::ProtectedBranch),
    ("agent_id", &[], Names::ClusterAgent),
    ("cluster_agent_id", &[], Names::ClusterAgent),
    ("cluster_id", &[], Names::Cluster),
    ("repository_id", &["registry_repository", "registry_tag"], Names::ContainerRepository),
    ("secure_file_id", &[], Names::SecureFile),
    ("member_role_id", &[], Names::MemberRole),
    ("application_id", &["application"], Names::Application),
    ("geo_site_id", &[], Names::GeoSite),
];

/// A type in global ids, and what it names.
const GLOBAL: &[(&str, Names)] = &[
    ("ApprovalProjectRule", Names::ApprovalRule),
    ("Awardable", Names::Issuable),
    ("Board", Names::Board),
    ("Boards::EpicBoard", Names::EpicBoard),
    ("Ci::Pipeline", Names::Pipeline),
    ("Ci::PipelineSchedule", Names::PipelineSchedule),
    ("Ci::Runner", Names::Runner),
    ("Ci::Trigger", Names::PipelineTrigger),
    ("Clusters::Agent", Names::ClusterAgent),
    ("Clusters::Cluster", Names::Cluster),
    ("ComplianceManagement::Framework", Names::ComplianceFramework),
    ("ContainerRepository", Names::ContainerRepository),
    ("DeployKey", Names::DeployKey),
    ("Email", Names::Email),
    ("Environment", Names::Environment),
    ("Epic", Names::Epic),
    ("Group", Names::Group),
    ("GroupHook", Names::Webhook),
    ("Issuable", Names::Issuable),
    ("Issuables::CustomField", Names::CustomField),
    ("Issue", Names::Issue),
    ("Iteration", Names::Iteration),
    ("Iterations::Cadence", Names::IterationCadence),
    ("Label", Names::Label),
    ("MemberRole", Names::MemberRole),
    ("MergeRequest", Names::MergeRequest),
    ("MergeRequests::ExternalStatusCheck", Names::StatusCheck),
    ("Milestone", Names::Milestone),
    ("Namespace", Names::Namespace),
    ("Noteable", Names::Issuable),
    ("Project", Names::Project),
    ("ProjectHook", Names::Webhook),
    ("Projects::BranchRule", Names::BranchRule),
    ("Snippet", Names::Snippet),
    ("Todoable", Names::Issuable),
    ("User", Names::User),
    ("WorkItem", Names::WorkItem),
    ("WorkItems::Type", Names::WorkItemType),
];

/// Domains in which an id is another program's, and a filter compares it as it is written.
const FOREIGN: [&str; 2] = ["sidekiq", "bulk_import_entity"];

/// Sets what each parameter names; curation has the last word.
pub fn assign(domain: &str, params: &mut [Param], written: &CuratedAction) {
    for param in params.iter_mut() {
        match written.params.get(&param.name).and_then(|curated| curated.names) {
            Some(CuratedNames::None) => param.names = None,
            Some(CuratedNames::Some(names)) => set(param, names),
            None => by_rule(domain, param),
        }
    }
}

/// Adds `fullPath` where names are looked up within a place and the operation takes none, and `iid` where both
/// stand for the one thing that it works on.
pub fn add_place(params: &mut Vec<Param>) {
    let has = |params: &[Param], name: &str| params.iter().any(|param| param.name == name);
    if has(params, "fullPath") || !params.iter().any(needs_place) {
        return;
    }
    let at = params.iter().take_while(|param| param.required).count();
    let selector = |name: &str, base: Base, note: &str| Param {
        name: name.to_owned(),
        place: Place::Selector,
        kind: Kind { base, many: false },
        note: Some(note.to_owned()),
        ..Param::default()
    };
    if let Some(param) = addressed(params) {
        let one_mark = param.names != Some(Names::Issuable);
        let beside = if one_mark { "its id; or say `fullPath` and `iid`" } else { "its global id" };
        param.note.get_or_insert_with(|| format!("A reference such as {}, or {beside}.", forms(param.names)));
        if one_mark && !has(params, "iid") {
            params.insert(at, selector("iid", Base::Integer, "With `fullPath`: the number people see."));
        }
    }
    params.insert(at, selector("fullPath", Base::String, "Where what is named in this call is looked up."));
}

/// How references to what is named look.
fn forms(names: Option<Names>) -> &'static str {
    match names {
        Some(Names::Issue) => "`group/project#12`",
        Some(Names::MergeRequest) => "`group/project!45`",
        Some(Names::Epic) => "`group&7`",
        Some(Names::WorkItem) => "`group/project#12` or `group&7`",
        _ => "`group/project#12`, `group/project!45` or `group&7`",
    }
}

/// Whether what the parameter names is found only within a project or group.
fn needs_place(param: &Param) -> bool {
    param.names.is_some_and(|names| !names.is_global()) || param.fields.iter().any(needs_place)
}

/// The parameter that holds the one numbered thing that an action works on.
fn addressed(params: &mut [Param]) -> Option<&mut Param> {
    params
        .iter_mut()
        .find(|param| param.required && !param.kind.many && param.names.is_some_and(Names::is_tracked))
}

fn by_rule(domain: &str, param: &mut Param) {
    for field in &mut param.fields {
        by_rule(domain, field);
    }
    if let Some(kind) = &param.gid {
        if let Some((_, names)) = GLOBAL.iter().find(|(known, _)| known == kind) {
            set(param, *names);
        }
        return;
    }
    // GraphQL spells them `milestoneId`; of those, a single text is compared as it stands, and texts in a list
    // are ids that stay texts.
    let name = graphql::snake(&param.name).join("_");
    let is_text = name != param.name && !matches!(param.kind.base, Base::Integer | Base::IntegerOrString);
    if is_text && !param.kind.many {
        return;
    }
    let fits =
        |rule: &&(&str, &[&str], Names)| rule.0 == name && (rule.1.is_empty() || rule.1.contains(&domain));
    match RULES.iter().find(fits) {
        Some((_, _, names)) if is_text => param.names = Some(*names),
        Some((_, _, names)) if !FOREIGN.contains(&domain) => set(param, *names),
        _ => {}
    }
}

fn set(param: &mut Param, names: Names) {
    param.names = Some(names);
    if matches!(param.kind.base, Base::Integer | Base::String | Base::Any) && names != Names::EpicIid {
        param.kind = Kind { base: Base::IntegerOrString, ..param.kind };
    }
}
