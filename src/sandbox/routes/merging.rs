//! Approvals, merging and rebasing of a merge request.

use crate::args::Args;
use crate::prelude::*;
use crate::repo::Repo;
use crate::repo_author::author;

use super::branch_rights::{can_merge, can_push};
use super::merge_requests::{closed_by, find_merge_request, render_merge_request};
use super::mergeability::{approvals_required, check_sha};
use super::state_event::close;

pub const ROUTES: &[Route] = &[
    get("/approvals", approvals),
    get("/approval_state", approval_state),
    post("/approve", approve),
    post("/unapprove", unapprove),
    put("/reset_approvals", reset),
    put("/merge", merge).needs(Level::User),
    post("/(cancel_auto_merge|cancel_merge_when_pipeline_succeeds)", cancel).needs(Level::User),
    put("/rebase", rebase),
    get("/merge_ref", merge_ref),
    post("/draft_notes", draft).needs(Level::User).rules(&[Rule::Required("note")]),
    put("/draft_notes/:draft_note_id/publish", publish),
    post("/draft_notes/bulk_publish", publish_all),
];

pub const SETTINGS: &[Route] = &[get("/approvals", settings)];

fn show_approvals(request: &Request<'_>, row: &Row) -> Value {
    let given = row.nums("_approvals");
    let required = approvals_required(request, row.num("project_id"));
    let by: Vec<Value> = given
        .iter()
        .map(|user| json!({"user": request.world.basic_user(*user), "approved_at": row.get("updated_at")}))
        .collect();
    let mine = request.user.is_some_and(|user| given.contains(&user));
    json!({
        "id": row.num("id"), "iid": row.num("iid"), "project_id": row.num("project_id"), "title": row.text("title"),
        "description": row.get("description"), "state": row.text("state"), "created_at": row.get("created_at"),
        "updated_at": row.get("updated_at"), "merge_status": row.text("merge_status"), "approved": given.len() >= required,
        "approvals_required": required, "approvals_left": required.saturating_sub(given.len()),
        "require_password_to_approve": false, "approved_by": by, "suggested_approvers": [], "approvers": [],
        "approver_groups": [], "user_has_approved": mine, "user_can_approve": !mine && request.at_least(Level::Developer),
        "approval_rules_left": [], "has_approval_rules": true, "merge_request_approvers_available": true, "multiple_approval_rules_available": true
    })
}

fn approvals(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_merge_request(request)?;
    ok(show_approvals(request, &row))
}

fn approval_state(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_merge_request(request)?;
    let given = row.nums("_approvals");
    let by: Vec<Value> = given.iter().map(|user| request.world.basic_user(*user)).collect();
    let rules = request.world.rows(&request.shelf("approval_rules")).iter().map(|rule| {
        let mut shown =
            object(request.show_without(rule, &["protected_branches", "applies_to_all_protected_branches"]));
        shown.set("approved", given.len() as u64 >= rule.num("approvals_required"));
        shown.set("approved_by", by.clone());
        shown.extend(object(
            json!({"code_owner": false, "section": null, "source_rule": null, "overridden": false}),
        ));
        Value::Object(shown)
    });
    let rules: Vec<Value> = rules.collect();
    ok(json!({"approval_rules_overwritten": false, "rules": rules}))
}

fn approve(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_merge_request(request)?;
    check_sha(request, &row)?;
    let row = record_approval(request)?;
    created(show_approvals(request, &row))
}

fn record_approval(request: &mut Request<'_>) -> Result<Row, Fault> {
    let (shelf, row) = find_merge_request(request)?;
    let me = request.me()?;
    let mut given = row.nums("_approvals");
    if given.contains(&me) || row.text("state") != "opened" {
        return Err(Fault::Unauthorized);
    }
    given.push(me);
    let mut asked = row.nums("_changes_requested");
    asked.retain(|user| *user != me);
    let values = json!({"_approvals": given, "_changes_requested": asked});
    let row = request.write(&shelf, row.num("id"), values);
    super::system_notes::add(request, "MergeRequest", &shelf, &row, "approved this merge request");
    super::todo_items::settle(request, &shelf, &row);
    request.event("approved", "MergeRequest", &row);
    Ok(row)
}

/// Records that the user looked at the changes, or wants other ones.
fn record_review(request: &mut Request<'_>, field: &str) -> Result<(), Fault> {
    let (shelf, row) = find_merge_request(request)?;
    let me = request.me()?;
    let mut users = row.nums(field);
    if !users.contains(&me) {
        users.push(me);
        let mut values = Row::new();
        values.set(field, users);
        request.write(&shelf, row.num("id"), Value::Object(values));
    }
    Ok(())
}

fn unapprove(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = find_merge_request(request)?;
    let me = request.me()?;
    let mut given = row.nums("_approvals");
    if !given.contains(&me) {
        return Err(Fault::missing(""));
    }
    given.retain(|user| *user != me);
    let row = request.write(&shelf, row.num("id"), json!({"_approvals": given}));
    super::system_notes::add(request, "MergeRequest", &shelf, &row, "unapproved this merge request");
    created(show_approvals(request, &row))
}

/// Only the bots of projects and groups may do this.
fn reset(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = find_merge_request(request)?;
    if !request.world.by_id("users", request.me()?).flag("bot") {
        return Err(Fault::Unauthorized);
    }
    request.write(&shelf, row.num("id"), json!({"_approvals": []}));
    Ok(Reply::json(202, Value::Null))
}

fn settings(request: &mut Request<'_>) -> Answer {
    ok(json!({
        "approvals_before_merge": approvals_required(request, request.place_id()), "reset_approvals_on_push": true, "selective_code_owner_removals": false,
        "disable_overriding_approvers_per_merge_request": false, "merge_requests_author_approval": true,
        "merge_requests_disable_committers_approval": false, "require_password_to_approve": false
    }))
}

fn merge(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = find_merge_request(request)?;
    if !request.at_least(Level::Developer) || !can_merge(request, row.text("target_branch")) {
        return Err(Fault::Unauthorized);
    }
    let waits =
        ["auto_merge", "merge_when_pipeline_succeeds"].map(|name| request.args.flag(name)).contains(&true);
    let running = request.world.rows(&request.shelf("pipelines")).iter().any(|pipeline| {
        pipeline.num("_merge_request") == row.num("iid")
            && matches!(pipeline.text("status"), "running" | "pending")
    });
    match row.text("detailed_merge_status") {
        "mergeable" => {}
        "ci_still_running" if waits && running => {}
        "conflict" | "need_rebase" => return Err(Fault::refused(422, "Branch cannot be merged")),
        _ => return Err(Fault::refused(405, "405 Method Not Allowed")),
    }
    check_sha(request, &row)?;
    if waits && running {
        // How it will be merged, which the sandbox never does by itself.
        request.args.without_trace(&[
            "squash",
            "should_remove_source_branch",
            "merge_commit_message",
            "squash_commit_message",
        ]);
        let row = request.write(
            &shelf,
            row.num("id"),
            json!({"merge_when_pipeline_succeeds": true, "merge_user": request.user}),
        );
        return ok(render_merge_request(request, &row));
    }
    let row = really_merge(request, &shelf, &row)?;
    ok(render_merge_request(request, &row))
}

fn really_merge(request: &mut Request<'_>, shelf: &str, row: &Row) -> Result<Row, Fault> {
    let (source, target) = (row.text("source_branch").to_owned(), row.text("target_branch").to_owned());
    let author = author(request.world, request.me()?);
    let now = request.world.now();
    let refused = || Fault::refused(422, "Branch cannot be merged");
    let origin = request.world.repos.get(&row.num("source_project_id")).ok_or_else(refused)?;
    let theirs = origin.resolve(row.text("sha")).cloned().ok_or_else(refused)?;
    let base = origin.resolve(row.text("_base")).cloned().ok_or_else(refused)?;
    let ours = request.repo()?.head(&target).cloned().ok_or_else(refused)?;
    let tree = Repo::merged(&base.tree, &ours.tree, &theirs.tree).ok_or_else(refused)?;
    let squash = request.args.maybe("squash").unwrap_or_else(|| row.flag("squash"));
    let default = format!(
        "Merge branch '{source}' into '{target}'\n\n{}\n\nSee merge request {}!{}",
        row.text("title"),
        request.full_path(),
        row.num("iid")
    );
    // A squash makes one commit of all, which is then merged as the branch would be.
    let merge_message = request.args.text("merge_commit_message").unwrap_or(default);
    let squash_message = request.args.text("squash_commit_message");
    let mut theirs = theirs.id;
    let mut squashed = None;
    if squash {
        let message = squash_message.unwrap_or_else(|| row.text("title").to_owned());
        let parents = vec![ours.id.clone()];
        let made = request.repo_mut().detached(parents, tree.clone(), &message, author.clone(), &now);
        theirs = made.id.clone();
        squashed = Some(made.id);
    }
    let ours_id = ours.id.clone();
    let parents = vec![ours.id, theirs];
    let made = request.repo_mut().commit(&target, parents, tree, &merge_message, author, &now);
    let gone = request
        .args
        .maybe("should_remove_source_branch")
        .unwrap_or_else(|| row.flag("force_remove_source_branch"));
    if gone && row.num("source_project_id") == request.place_id() {
        request.repo_mut().branches.remove(&source);
    }
    let merge_sha = json!(made.id);
    let squash_sha = squashed.map_or(Value::Null, Value::from);
    let values = json!({
        "state": "merged", "merged_by": request.user, "merge_user": request.user, "merged_at": now,
        "detailed_merge_status": "not_open", "merge_commit_sha": merge_sha, "squash_commit_sha": squash_sha,
        "sha": row.text("sha"), "should_remove_source_branch": gone, "squash": squash
    });
    let merged = request.write(shelf, row.num("id"), values);
    let closes = if target == request.default_branch() { closed_by(request, row) } else { Vec::new() };
    for issue in closes.iter().filter(|issue| issue.text("state") == "opened") {
        let values = close(request);
        request.world.write(&request.shelf("issues"), issue.num("id"), values);
    }
    super::todo_items::settle(request, shelf, &merged);
    request.event("accepted", "MergeRequest", &merged);
    super::pushes::record(request, &target, Some(&ours_id), &made);
    super::merge_trains::complete(request, &merged);
    Ok(merged)
}

fn cancel(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = find_merge_request(request)?;
    if !request.wrote(&row) && !can_merge(request, row.text("target_branch")) {
        return Err(Fault::Unauthorized);
    }
    if !row.flag("merge_when_pipeline_succeeds") {
        return Err(Fault::refused(406, "Failed to cancel auto merge"));
    }
    let row = request.write(
        &shelf,
        row.num("id"),
        json!({"merge_when_pipeline_succeeds": false, "merge_user": null}),
    );
    created(render_merge_request(request, &row))
}

/// Rebasing gives the branch one new commit on top of its target.
fn rebase(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = find_merge_request(request)?;
    if row.text("state") != "opened" {
        return Err(Fault::Forbidden);
    }
    if !can_push(request, row.text("source_branch")) {
        return Err(Fault::refused(403, "403 Forbidden - Cannot push to source branch"));
    }
    let author = author(request.world, row.num("author"));
    let now = request.world.now();
    let repo = request.repo()?;
    let ends = repo
        .resolve(row.text("_base"))
        .zip(repo.resolve(row.text("sha")))
        .zip(repo.head(row.text("target_branch")));
    let ((base, theirs), ours) = ends.ok_or(Fault::missing("Branch"))?;
    let (message, target) = (theirs.message.clone(), ours.id.clone());
    match Repo::merged(&base.tree, &ours.tree, &theirs.tree) {
        Some(tree) => {
            let before = theirs.id.clone();
            let made = request.repo_mut().commit(
                row.text("source_branch"),
                vec![target.clone()],
                tree,
                &message,
                author,
                &now,
            );
            super::pushes::record(request, row.text("source_branch"), Some(&before), &made);
            request.write(
                &shelf,
                row.num("id"),
                json!({"sha": made.id, "_base": target, "merge_error": null}),
            );
        }
        None => {
            let error = "Rebase failed: Rebase locally, resolve all conflicts, then push the branch.";
            request.write(&shelf, row.num("id"), json!({"merge_error": error}));
        }
    }
    Ok(Reply::json(202, json!({"rebase_in_progress": true})))
}

fn merge_ref(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_merge_request(request)?;
    ok(json!({"commit_id": row.text("sha")}))
}

/// A note that only its author sees until it is published.
fn draft(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = find_merge_request(request)?;
    let args = &request.args;
    if args.flag("resolve_discussion") && !args.has("in_reply_to_discussion_id") {
        return Err(Fault::refused(400, "User is not allowed to resolve thread"));
    }
    let values = json!({
        "note": args.text("note"), "merge_request_id": row.num("id"), "discussion_id": args.text("in_reply_to_discussion_id"),
        "resolve_discussion": args.flag("resolve_discussion"), "commit_id": args.text("commit_id"), "position": args.get("position"),
    });
    let row = request.add(&format!("{shelf}/{}/draft_notes", row.num("iid")), values);
    created(request.show(&row))
}

/// Turns a draft into a note.
fn say(request: &mut Request<'_>, draft: &Row) -> Result<(), Fault> {
    let (shelf, row) = find_merge_request(request)?;
    let under = format!("{shelf}/{}", row.num("iid"));
    let new = crate::git_object::sha1(&format!("{under}/draft{}", draft.num("id")));
    let discussion = if draft.blank("discussion_id") { new } else { draft.text("discussion_id").to_owned() };
    let drafts = format!("{under}/draft_notes");
    request.world.remove(&drafts, |other| other.num("id") == draft.num("id"));
    let mut values = object(json!({
        "body": draft.text("note"), "noteable_id": row.num("id"), "noteable_iid": row.num("iid"), "_individual": false,
        "noteable_type": "MergeRequest", "_discussion": discussion, "author": draft.num("author_id"), "type": "DiscussionNote",
        "resolvable": true, "resolved": false, "resolved_by": null, "resolved_at": null,
        "internal": draft.flag("internal"), "confidential": draft.flag("internal"),
    }));
    if let Some(position) = draft.get("position").filter(|position| position.is_object()) {
        // GitLab loses a draft on a line that is not there when it is published.
        let asked = Args::from(object(position.clone()));
        if super::notes::line_of(request, &asked).is_none() {
            return Ok(());
        }
        values.set("type", "DiffNote");
        values.set("position", position.clone());
    }
    let note = request.add(&format!("{under}/notes"), Value::Object(values));
    super::notes::record(request, "MergeRequest", &shelf, &row, &note);
    Ok(())
}

fn drafts(request: &Request<'_>) -> Result<Vec<Row>, Fault> {
    let (shelf, row) = find_merge_request(request)?;
    let drafts = request.world.rows(&format!("{shelf}/{}/draft_notes", row.num("iid"))).iter();
    Ok(drafts.filter(|draft| Some(draft.num("author_id")) == request.user).cloned().collect())
}

fn publish(request: &mut Request<'_>) -> Answer {
    let wanted = request.param("draft_note_id").to_owned();
    let draft = drafts(request)?.into_iter().find(|draft| draft.num("id").to_string() == wanted);
    say(request, &draft.ok_or(Fault::missing(""))?)?;
    Ok(Reply::empty())
}

fn publish_all(request: &mut Request<'_>) -> Answer {
    for draft in drafts(request)? {
        say(request, &draft)?;
    }
    let internal = request.args.flag("internal");
    if let Some(note) = request.args.text("note").filter(|note| !note.trim().is_empty()) {
        let summary = json!({"note": note, "author_id": request.me()?, "internal": internal});
        say(request, &object(summary))?;
    }
    match request.args.text("reviewer_state").as_deref() {
        Some("approved") => {
            record_approval(request)?;
        }
        Some("requested_changes") => record_review(request, "_changes_requested")?,
        Some("reviewed") => record_review(request, "_reviewed")?,
        _ => {}
    }
    Ok(Reply::empty())
}
