//! Effects of a push: its event, and what becomes of the merge requests from its branch.

use crate::prelude::*;
use crate::repo::Commit;

use super::system_notes;

/// Records that commits were pushed to a branch; a new one was nowhere before.
pub fn record(request: &mut Request<'_>, branch: &str, before: Option<&str>, commit: &Commit) {
    let main = request.default_branch();
    let repo = request.repo().ok();
    let known = before.or_else(|| repo?.head(&main).map(|head| head.id.as_str())).unwrap_or_default();
    let commits: Vec<Commit> =
        repo.map(|repo| repo.ahead(known, &commit.id).into_iter().cloned().collect()).unwrap_or_default();
    let (name, action) = if before.is_some() { ("pushed to", "pushed") } else { ("pushed new", "created") };
    let title = commits.first().map(Commit::title);
    let pushed = json!({
        "commit_count": commits.len(), "action": action, "ref_type": "branch", "commit_from": before,
        "commit_to": commit.id, "ref": branch, "commit_title": title, "ref_count": null
    });
    request.event_of(name, json!({ "push_data": pushed }));
    update_merge_requests(request, branch, &commits);
}

/// Records that a branch or tag was deleted, or that a tag was created.
pub fn record_ref(request: &mut Request<'_>, kind: &str, name: &str, from: Option<&str>, to: Option<&str>) {
    let (words, action) = if to.is_some() { ("pushed new", "created") } else { ("deleted", "removed") };
    let pushed = json!({
        "commit_count": 0, "action": action, "ref_type": kind, "commit_from": from, "commit_to": to, "ref": name,
        "commit_title": null, "ref_count": null
    });
    request.event_of(words, json!({ "push_data": pushed }));
}

/// Takes back the approvals of the open merge requests from a branch, and notes the new commits.
fn update_merge_requests(request: &mut Request<'_>, branch: &str, commits: &[Commit]) {
    let project = request.place_id();
    let all = request.world.all("merge_requests").filter(|(_, row)| {
        row.num("source_project_id") == project
            && row.text("source_branch") == branch
            && row.text("state") == "opened"
    });
    let all: Vec<(String, Row)> = all.map(|(shelf, row)| (shelf.to_owned(), row.clone())).collect();
    for (shelf, row) in all.into_iter().filter(|_| !commits.is_empty()) {
        request.write(&shelf, row.num("id"), json!({"_approvals": Value::Array(Vec::new())}));
        let rows: String = commits
            .iter()
            .rev()
            .map(|commit| format!("<li>{} - {}</li>", commit.id.get(..8).unwrap_or_default(), commit.title()))
            .collect();
        let noun = if commits.len() == 1 { "commit" } else { "commits" };
        let body = format!("added {} {noun}\n\n<ul>{rows}</ul>", commits.len());
        system_notes::add(request, "MergeRequest", &shelf, &row, &body);
    }
}
