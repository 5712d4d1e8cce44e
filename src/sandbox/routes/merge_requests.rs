//! Merge requests: lists at every scope, their fields, and their changes.

use crate::diff::{Change, between};
use crate::filter::keep_between;
use crate::pipeline;
use crate::prelude::*;
use crate::repo::Commit;
use crate::state::World;

use super::branch_rights::can_merge;
use super::mergeability::{has_conflict, merge_status};
use super::rows;
use super::state_event::state_event;

/// The pattern of one merge request.
pub const ONE: &str = "/projects/:id/merge_requests/:merge_request_iid";

/// Parameters of an update, as GitLab lists them if none is given.
const CHANGES: &str = "assignee_id assignee_ids reviewer_ids description labels add_labels remove_labels \
    milestone_id remove_source_branch allow_collaboration allow_maintainer_to_push squash target_branch \
    title state_event discussion_locked merge_after";

const LIST: &[Rule] = &[
    Rule::OneOf("state", "opened closed locked merged all"),
    Rule::OneOf("scope", "created-by-me assigned-to-me created_by_me assigned_to_me reviews_for_me all"),
    Rule::OneOf(
        "order_by",
        "created_at label_priority merged_at milestone_due popularity priority title updated_at",
    ),
    Rule::OneOf("sort", "asc desc"),
    Rule::OneOf("wip", "yes no"),
];

pub const ROUTES: &[Route] = &[
    get("(|/groups/:id|/projects/:id)/merge_requests", list).rules(LIST),
    get(ONE, show),
    post("/projects/:id/merge_requests", create).needs(Level::User).rules(&[
        Rule::Required("title"),
        Rule::Required("source_branch"),
        Rule::Required("target_branch"),
    ]),
    put(ONE, update)
        .needs(Level::User)
        .rules(&[Rule::AnyParameter(CHANGES), Rule::OneOf("state_event", "close reopen")]),
    delete(ONE, rows::remove).needs(Level::Owner),
    get("/projects/:id/merge_requests/:merge_request_iid/diffs", diffs),
    get("/projects/:id/merge_requests/:merge_request_iid/raw_diffs", raw_diffs),
    get("/projects/:id/merge_requests/:merge_request_iid/changes", changes),
    get("/projects/:id/merge_requests/:merge_request_iid/versions", versions),
    get("/projects/:id/merge_requests/:merge_request_iid/versions/:version_id", version),
    get("/projects/:id/merge_requests/:merge_request_iid/commits", commits),
    get("/projects/:id/merge_requests/:merge_request_iid/pipelines", pipelines),
    post("/projects/:id/merge_requests/:merge_request_iid/pipelines", new_pipeline),
    get("/projects/:id/merge_requests/:merge_request_iid/(closes_issues|related_issues)", closes),
    get("/projects/:id/merge_requests/:merge_request_iid/reviewers", reviewers),
];

/// A merge request in its current state: its newest commit, and whether it can be merged.
pub fn current(request: &Request<'_>, row: &Row) -> Row {
    let mut row = row.clone();
    if row.text("state") != "opened" {
        return row;
    }
    let source = request.world.repos.get(&row.num("source_project_id"));
    if let Some(head) = source.and_then(|repo| repo.head(row.text("source_branch"))) {
        row.set("sha", head.id.clone());
    }
    let conflict = has_conflict(request, &row);
    row.set("has_conflicts", conflict);
    row.set("detailed_merge_status", merge_status(request, &row));
    row.set("merge_status", if conflict { "cannot_be_merged" } else { "can_be_merged" });
    row
}

/// A merge request shown alone, with what only then is worth finding out.
pub fn render_merge_request(request: &Request<'_>, row: &Row) -> Value {
    let row = current(request, row);
    let mut shown = request.world.show(&row);
    let base = row.get("_base").cloned().unwrap_or_default();
    shown.set("changes_count", diff_of(request, &row).size());
    shown.set("diff_refs", json!({"base_sha": base, "head_sha": row.get("sha"), "start_sha": base}));
    let pipelines = pipelines_of(request, &row);
    let head = pipelines.last();
    let basic = head.map(|pipeline| request.show_as("pipelines", "basic", pipeline)).unwrap_or_default();
    let full = head.map(|pipeline| request.show_without(pipeline, &["name"])).unwrap_or_default();
    shown.set("head_pipeline", full);
    shown.set("pipeline", basic);
    let can_merge = request.at_least(Level::Developer) && can_merge(request, row.text("target_branch"));
    shown.set("user", json!({"can_merge": can_merge}));
    if request.args.flag("include_diverged_commits_count") {
        shown.set("diverged_commits_count", 0);
    }
    if request.args.flag("include_rebase_in_progress") {
        shown.set("rebase_in_progress", false);
    }
    Value::Object(shown)
}

/// Number of files that a merge request keeps the diffs of: GitLab's default for `diff_max_files`.
const MAX_FILES: usize = 1000;

/// The difference between the target of a merge request and one of its commits.
#[derive(Default)]
struct Diff {
    /// The changed files.
    changes: Vec<Change>,
    /// The commits, newest first.
    commits: Vec<Commit>,
}

impl Diff {
    /// True if there are more files than the limit.
    fn overflows(&self) -> bool {
        self.changes.len() > MAX_FILES
    }

    /// The number of changed files as GitLab has it: a text, with a `+` if it stopped to count.
    fn size(&self) -> String {
        format!("{}{}", self.changes.len().min(MAX_FILES), if self.overflows() { "+" } else { "" })
    }

    /// The diffs that are kept.
    fn json(&self) -> Vec<Value> {
        self.changes.iter().take(MAX_FILES).map(Change::json).collect()
    }
}

/// The difference up to the commit with this id.
fn diff_to(world: &World, row: &Row, head: &str) -> Option<Diff> {
    let repo = world.repos.get(&row.num("source_project_id"))?;
    let (base, head) = repo.resolve(row.text("_base")).zip(repo.resolve(head))?;
    let commits = repo.ahead(&base.id, &head.id).into_iter().cloned().collect();
    Some(Diff { changes: between(&base.tree, &head.tree), commits })
}

/// Path and numbers of added and removed lines of each file that a merge request changes, however many there are.
pub fn diff_stats(world: &World, id: u64, head: &str) -> Vec<Value> {
    let row = world.anywhere("merge_requests", id).map(|(_, row)| row).unwrap_or_default();
    let stats = |change: &Change| {
        let (additions, deletions) = change.counts();
        json!({"path": change.new_path, "additions": additions, "deletions": deletions})
    };
    diff_to(world, &row, head).unwrap_or_default().changes.iter().map(stats).collect()
}

/// The whole difference.
fn diff_of(request: &Request<'_>, row: &Row) -> Diff {
    diff_to(request.world, row, row.text("sha")).unwrap_or_default()
}

fn list(request: &mut Request<'_>) -> Answer {
    let mut rows = request.listed("merge_requests")?;
    keep_approved(request, &mut rows);
    keep_between(&request.args, &["merged_at"], &mut rows);
    let details = request.args.flag("with_labels_details");
    let shown = rows.iter().map(|row| {
        let mut shown = object(request.show_in_list("merge_requests", &current(request, row)));
        if details {
            shown.set("labels", super::issues::label_details(request, row));
        }
        Value::Object(shown)
    });
    request.page(shown.collect())
}

/// Keeps the merge requests that all of the named people have approved; `Any` and `None` are any of them or none
/// (docs on listing merge requests).
fn keep_approved(request: &Request<'_>, rows: &mut Vec<Row>) {
    let user = |name: &String| request.world.user_named(name);
    let ids = request.args.list("approved_by_ids");
    let named = request.args.list("approved_by_usernames");
    match ids.first().map(|first| first.to_lowercase()).as_deref() {
        Some("any") => rows.retain(|row| !row.nums("_approvals").is_empty()),
        Some("none") => rows.retain(|row| row.nums("_approvals").is_empty()),
        _ => {
            let ids = ids.iter().map(|id| id.parse().ok());
            let wanted: Vec<Option<u64>> = ids.chain(named.iter().map(user)).collect();
            let has_all = |row: &Row| {
                let given = row.nums("_approvals");
                wanted.iter().all(|user| user.is_some_and(|user| given.contains(&user)))
            };
            rows.retain(has_all);
        }
    }
}

/// The merge request in the path, in its current state.
pub fn find_merge_request(request: &Request<'_>) -> Result<(String, Row), Fault> {
    let (shelf, row) = request.subject(ONE)?;
    let row = current(request, &row);
    Ok((shelf, row))
}

fn show(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_merge_request(request)?;
    let mut shown = render_merge_request(request, &row);
    if request.args.flag("render_html")
        && let Some(shown) = shown.as_object_mut()
    {
        for field in ["title", "description"] {
            let html = super::instance::render_html(row.text(field));
            shown.insert(format!("{field}_html"), json!(html));
        }
    }
    ok(shown)
}

fn is_draft(title: &str) -> bool {
    let title = title.to_lowercase();
    ["draft:", "[draft]", "(draft)"].iter().any(|prefix| title.starts_with(prefix))
}

/// The fields of a merge request as parameters set them.
fn values(request: &Request<'_>, row: &Row) -> Result<Row, Fault> {
    let kept = ["description", "target_branch", "squash", "discussion_locked", "allow_collaboration"];
    let mut values = request.given_of("merge_requests", &kept);
    values.extend(super::issues::common(request, row)?);
    if request.args.has("reviewer_ids") {
        values.set("reviewers", request.people("reviewer_ids"));
    }
    if let Some(remove) = request.args.maybe("remove_source_branch") {
        values.set("force_remove_source_branch", remove);
    }
    if values.contains_key("title") {
        let draft = is_draft(values.text("title"));
        values.set("draft", draft);
        values.set("work_in_progress", draft);
    }
    Ok(values)
}

fn create(request: &mut Request<'_>) -> Answer {
    let args = &request.args;
    let (source, target) =
        (args.text("source_branch").unwrap_or_default(), args.text("target_branch").unwrap_or_default());
    let from = request.place_id();
    let to = args.num("target_project_id").unwrap_or(from);
    let project = request.world.row_of(Place::project(to));
    if !may_see(request.world, request.user, "projects", &project) {
        return Err(Fault::missing("Project"));
    }
    if !request.at_least(Level::Developer) {
        return Err(Fault::Forbidden);
    }
    if source == target && from == to {
        return Err(Fault::Refused(422, json!(["You can't use same project/branch for source and target"])));
    }
    let shelf = format!("projects/{to}/merge_requests");
    let same = |row: &&Row| {
        row.text("state") == "opened"
            && row.text("source_branch") == source
            && row.text("target_branch") == target
            && row.num("source_project_id") == from
    };
    if let Some(row) = request.world.rows(&shelf).iter().find(same) {
        let iid = row.num("iid");
        return Err(Fault::conflict(&format!(
            "Another open merge request already exists for this source branch: !{iid}"
        )));
    }
    let repo = request.repo()?;
    let head = repo
        .head(&source)
        .cloned()
        .ok_or_else(|| Fault::Refused(400, json!({"source_branch": ["does not exist"]})))?;
    let targets = request.world.repos.get(&to).and_then(|repo| repo.head(&target)).cloned();
    let tip = targets.ok_or_else(|| Fault::Refused(400, json!({"target_branch": ["does not exist"]})))?;
    let base = repo.merge_base(&tip.id, &head.id).map(|base| base.id.clone());
    let mut values = values(request, &Row::new())?;
    values.extend(object(json!({
        "source_branch": source, "target_branch": target, "source_project_id": from, "target_project_id": to, "sha": head.id, "_base": base,
    })));
    let row = request.world.add(&shelf, values, request.user);
    let row = super::issues::record_new(request, "MergeRequest", &shelf, row);
    created(render_merge_request(request, &row))
}

fn update(request: &mut Request<'_>) -> Answer {
    let (shelf, before) = find_merge_request(request)?;
    let mine = request.wrote(&before) || before.nums("assignees").iter().any(|id| Some(*id) == request.user);
    if !request.at_least(Level::Developer) && !mine {
        return Err(Fault::Forbidden);
    }
    let mut values = values(request, &before)?;
    let event = state_event(request, &before);
    // A merged one stays merged, without a word.
    let status = match (event.text("state"), before.text("state")) {
        ("closed", "opened") => Some("not_open"),
        ("opened", "closed") => Some("mergeable"),
        _ => None,
    };
    if let Some(status) = status {
        values.extend(event);
        values.set("detailed_merge_status", status);
    }
    let row = request.world.write(&shelf, before.num("id"), values);
    super::issues::learn_labels(request, &row);
    super::history::record(request, &shelf, "MergeRequest", &before, &row);
    ok(render_merge_request(request, &row))
}

fn diffs(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_merge_request(request)?;
    request.page(diff_of(request, &row).json())
}

fn raw_diffs(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_merge_request(request)?;
    Ok(Reply::text(diff_of(request, &row).changes.iter().map(Change::raw).collect::<String>()))
}

fn changes(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_merge_request(request)?;
    let diff = diff_of(request, &row);
    let mut shown = object(render_merge_request(request, &row));
    shown.set("changes", diff.json());
    shown.set("overflow", diff.overflows());
    ok(shown)
}

/// The versions of the diff, newest first: one for each commit, as if each had been pushed by itself.
fn versions_of(request: &Request<'_>, row: &Row) -> Vec<(Row, Diff)> {
    let commits = diff_of(request, row).commits;
    let versions = commits.iter().enumerate().filter_map(|(age, commit)| {
        let diff = diff_to(request.world, row, &commit.id)?;
        let version = object(json!({
            "id": row.num("id") + 1000 * (commits.len() - age) as u64, "head_commit_sha": commit.id,
            "base_commit_sha": row.get("_base"), "start_commit_sha": row.get("_base"), "created_at": commit.date,
            "merge_request_id": row.num("id"), "state": if diff.overflows() { "overflow" } else { "collected" },
            "real_size": diff.size(), "patch_id_sha": null
        }));
        Some((version, diff))
    });
    versions.collect()
}

fn versions(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_merge_request(request)?;
    let versions = versions_of(request, &row).into_iter().map(|(version, _)| Value::Object(version));
    request.page(versions.collect())
}

fn version(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_merge_request(request)?;
    let wanted = request.param("version_id");
    let found = versions_of(request, &row).into_iter().find(|(version, _)| is(version, "id", wanted));
    let (mut version, diff) = found.ok_or(Fault::missing(""))?;
    let web = request.web();
    version.set("commits", diff.commits.iter().map(|commit| commit.json(&web)).collect::<Vec<_>>());
    version.set("diffs", diff.json());
    ok(version)
}

fn commits(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_merge_request(request)?;
    let web = request.web();
    request.page(diff_of(request, &row).commits.iter().map(|commit| commit.json(&web)).collect())
}

pub fn pipelines_of(request: &Request<'_>, row: &Row) -> Vec<Row> {
    let rows = request.world.rows(&format!("projects/{}/pipelines", row.num("project_id"))).iter();
    rows.filter(|pipeline| pipeline.num("_merge_request") == row.num("iid")).cloned().collect()
}

fn pipelines(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_merge_request(request)?;
    let mut rows = pipelines_of(request, &row);
    rows.reverse();
    request.page(rows.iter().map(|row| request.show_as("pipelines", "basic", row)).collect())
}

fn new_pipeline(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_merge_request(request)?;
    let values = object(json!({
        "ref": row.text("source_branch"), "sha": row.text("sha"), "source": "merge_request_event", "_merge_request": row.num("iid")
    }));
    let project = request.place_id();
    let pipeline = pipeline::start(request.world, project, values, pipeline::JOBS, request.user);
    created(request.show_without(&pipeline, &["name"]))
}

/// The issues that merging closes.
pub fn closed_by(request: &Request<'_>, row: &Row) -> Vec<Row> {
    let mut iids = super::reference::refers(row.text("description"), "Closes ");
    iids.extend(super::reference::refers(row.text("description"), "Fixes "));
    request.across("issues").into_iter().filter(|issue| iids.contains(&issue.num("iid"))).collect()
}

fn closes(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_merge_request(request)?;
    let rows = closed_by(request, &row);
    request.page_of("issues", &rows)
}

fn reviewers(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_merge_request(request)?;
    let approved = row.nums("_approvals");
    let asked = row.nums("_changes_requested");
    let shown = row.nums("reviewers").into_iter().map(|user| {
        let state = match (approved.contains(&user), asked.contains(&user)) {
            (true, _) => "approved",
            (_, true) => "requested_changes",
            _ if row.nums("_reviewed").contains(&user) => "reviewed",
            _ => "unreviewed",
        };
        json!({"user": request.world.basic_user(user), "state": state, "created_at": row.get("created_at")})
    });
    ok(shown.collect::<Vec<_>>())
}
