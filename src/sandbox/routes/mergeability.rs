//! Mergeability of a merge request, and what it lacks.

use crate::prelude::*;
use crate::repo::Repo;

/// Number of approvals that the rules of a project require.
pub fn approvals_required(request: &Request<'_>, project: u64) -> usize {
    let rules = request.world.rows(&format!("projects/{project}/approval_rules")).iter();
    let most = rules.map(|rule| rule.num("approvals_required")).max().unwrap_or_default();
    usize::try_from(most).unwrap_or_default()
}

/// The `detailed_merge_status` of an open merge request: the first of GitLab's checks that fails.
pub fn merge_status(request: &Request<'_>, row: &Row) -> &'static str {
    let project = row.num("project_id");
    let settings = request.world.row_of(Place::project(project));
    let resolved = row.flag("blocking_discussions_resolved");
    if row.flag("draft") {
        return "draft_status";
    }
    if settings.flag("only_allow_merge_if_all_discussions_are_resolved") && !resolved {
        return "discussions_not_resolved";
    }
    if !row.list("_changes_requested").is_empty() {
        return "requested_changes";
    }
    if row.list("_approvals").len() < approvals_required(request, project) {
        return "not_approved";
    }
    if has_conflict(request, row) {
        return "conflict";
    }
    if matches!(settings.text("merge_method"), "ff" | "rebase_merge") && has_diverged(request, row) {
        return "need_rebase";
    }
    if settings.flag("only_allow_merge_if_pipeline_succeeds") {
        let pipelines = request.world.rows(&format!("projects/{project}/pipelines")).iter();
        let last = pipelines.rev().find(|pipeline| pipeline.num("_merge_request") == row.num("iid"));
        let skipped = settings.flag("allow_merge_on_skipped_pipeline");
        match last.map(|pipeline| pipeline.text("status")) {
            Some("success") => {}
            Some("skipped") if skipped => {}
            Some("created" | "pending" | "running") => return "ci_still_running",
            _ => return "ci_must_pass",
        }
    }
    "mergeable"
}

/// True if both sides changed a file since they parted.
pub fn has_conflict(request: &Request<'_>, row: &Row) -> bool {
    let repo = |field: &str| request.world.repos.get(&row.num(field));
    let theirs = repo("source_project_id")
        .and_then(|repo| repo.resolve(row.text("_base")).zip(repo.resolve(row.text("sha"))));
    let ours = repo("project_id").and_then(|repo| repo.head(row.text("target_branch")));
    let trees = theirs.zip(ours);
    trees.is_some_and(|((base, theirs), ours)| Repo::merged(&base.tree, &ours.tree, &theirs.tree).is_none())
}

/// True if the target has commits that the source lacks.
fn has_diverged(request: &Request<'_>, row: &Row) -> bool {
    let target = request.world.repos.get(&row.num("project_id"));
    target
        .and_then(|repo| repo.head(row.text("target_branch")))
        .is_some_and(|head| head.id != row.text("_base"))
}

/// Refuses a call whose `sha` is not the newest commit.
pub fn check_sha(request: &Request<'_>, row: &Row) -> Result<(), Fault> {
    let sha = row.text("sha");
    match request.args.text("sha") {
        Some(given) if given != sha => {
            Err(Fault::refused(409, &format!("SHA does not match HEAD of source branch: {sha}")))
        }
        _ => Ok(()),
    }
}
