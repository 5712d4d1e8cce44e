//! Commits: reading them, and making them from a list of actions.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::args::text_of;
use crate::diff::{Change, Tree, between};
use crate::prelude::*;
use crate::repo::{Author, Commit, Repo};

use super::branch_rights::can_push;

const BRANCH: &[Rule] = &[Rule::Required("branch")];
const RANGE: &[Rule] = &[Rule::Required("from"), Rule::Required("to")];
const STATES: Rule = Rule::OneOf("state", "pending running success failed canceled skipped");

pub const ROUTES: &[Route] = &[
    get("/projects/:id/repository/commits", list),
    post("/projects/:id/repository/commits", create).rules(&[
        Rule::Required("branch"),
        Rule::Required("commit_message"),
        Rule::Required("actions"),
    ]),
    get("/projects/:id/repository/commits/:sha", show),
    get("/projects/:id/repository/commits/:sha/diff", diff),
    get("/projects/:id/repository/commits/:sha/refs", refs),
    get("/projects/:id/repository/commits/:sha/comments", comments),
    post("/projects/:id/repository/commits/:sha/comments", comment)
        .needs(Level::User)
        .rules(&[Rule::Required("note")]),
    get("/projects/:id/repository/commits/:sha/statuses", statuses),
    post("/projects/:id/statuses/:sha", set_status).rules(&[Rule::Required("state"), STATES]),
    post("/projects/:id/repository/commits/:sha/cherry_pick", cherry_pick).rules(BRANCH),
    post("/projects/:id/repository/commits/:sha/revert", revert).rules(BRANCH),
    get("/projects/:id/repository/commits/:sha/merge_requests", merge_requests),
    get("/projects/:id/repository/commits/:sha/signature", signature),
    get("/projects/:id/repository/compare", compare).rules(RANGE),
    get("/projects/:id/repository/changed_paths", changed_paths).rules(RANGE),
    get("/projects/:id/repository/diff_stats", diff_stats).rules(RANGE),
    get("/projects/:id/repository/diverging_commits", diverging_commits).rules(RANGE),
    get("/projects/:id/repository/merge_base", merge_base).rules(&[Rule::Required("refs")]),
    get("/projects/:id/repository/contributors", contributors),
];

fn find_commit(request: &Request<'_>) -> Result<Commit, Fault> {
    request.repo()?.resolve(request.param("sha")).cloned().ok_or(Fault::missing("Commit"))
}

/// A commit shown alone, with its changes and the status of its pipeline.
fn render_commit(request: &Request<'_>, commit: &Commit) -> Result<Value, Fault> {
    let mut shown = object(commit.json(&request.web()));
    let counts = request
        .repo()?
        .changes(commit)
        .iter()
        .map(Change::counts)
        .fold((0, 0), |(a, d), (x, y)| (a + x, d + y));
    let (additions, deletions) = counts;
    shown.set(
        "stats",
        json!({"additions": additions, "deletions": deletions, "total": additions + deletions}),
    );
    let pipelines = request.world.rows(&request.shelf("pipelines"));
    let last = pipelines.iter().rfind(|pipeline| pipeline.text("sha") == commit.id);
    shown.set(
        "status",
        last.map(|pipeline| pipeline.text("status").to_owned()).map_or(Value::Null, Value::from),
    );
    shown.set("project_id", request.place_id());
    shown.set(
        "last_pipeline",
        last.map(|pipeline| request.show_in_list("pipelines", pipeline)).unwrap_or_default(),
    );
    Ok(Value::Object(shown))
}

fn list(request: &mut Request<'_>) -> Answer {
    let args = &request.args;
    if request.repo()?.branches.is_empty() {
        return request.page(Vec::new());
    }
    let head = request.commit_at("ref_name", "Commit")?;
    let repo = request.repo()?;
    let (all, first_parent) = (args.flag("all"), args.flag("first_parent"));
    let mut line = repo.log(&head.id);
    if all {
        line = repo.everything();
    } else if first_parent {
        line = repo.first_parents(&head.id);
    }
    let (path, since, until, author) =
        (args.text("path"), args.text("since"), args.text("until"), args.text("author"));
    let touches = |commit: &Commit| {
        path.as_ref().is_none_or(|path| {
            let under = format!("{path}/");
            let hit = |at: &String| at == path || at.starts_with(&under);
            commit.parents.len() < 2
                && repo.changes(commit).iter().any(|change| hit(&change.new_path) || hit(&change.old_path))
        })
    };
    let commits = line.into_iter().filter(|commit| {
        touches(commit)
            && since.as_ref().is_none_or(|since| commit.date >= *since)
            && until.as_ref().is_none_or(|until| commit.date <= *until)
            && author
                .as_ref()
                .is_none_or(|author| commit.author.name.contains(author) || commit.author.email == *author)
    });
    let web = request.web();
    let with_stats = args.flag("with_stats");
    let rows =
        commits.map(|commit| if with_stats { render_commit(request, commit) } else { Ok(commit.json(&web)) });
    request.page_uncounted(rows.collect::<Result<Vec<_>, _>>()?)
}

fn show(request: &mut Request<'_>) -> Answer {
    ok(render_commit(request, &find_commit(request)?)?)
}

fn diff(request: &mut Request<'_>) -> Answer {
    let changes = request.repo()?.changes(&find_commit(request)?);
    request.page(changes.iter().map(Change::json).collect())
}

fn refs(request: &mut Request<'_>) -> Answer {
    let commit = find_commit(request)?;
    let repo = request.repo()?;
    let holds = |head: &str| repo.log(head).iter().any(|other| other.id == commit.id);
    let branches = repo
        .branches
        .iter()
        .filter(|(_, head)| holds(head))
        .map(|(name, _)| json!({"type": "branch", "name": name}));
    let tags = repo
        .tags
        .iter()
        .filter(|(_, tag)| holds(&tag.commit))
        .map(|(name, _)| json!({"type": "tag", "name": name}));
    let wanted = request.args.text("type").filter(|wanted| wanted != "all");
    let all = branches.chain(tags).filter(|row| {
        wanted.as_ref().is_none_or(|wanted| row.get("type").and_then(Value::as_str) == Some(wanted))
    });
    request.page(all.collect())
}

fn comments_shelf(request: &Request<'_>) -> Result<String, Fault> {
    Ok(request.shelf(&format!("repository/commits/{}/notes", find_commit(request)?.id)))
}

fn show_comment(request: &Request<'_>, row: &Row) -> Value {
    let author = request.world.basic_user(row.num("author"));
    json!({"note": row.text("body"), "path": row.get("_path"), "line": row.get("_line"), "line_type": row.get("_line_type"), "author": author, "created_at": row.get("created_at")})
}

fn comments(request: &mut Request<'_>) -> Answer {
    let rows = request.world.rows(&comments_shelf(request)?);
    request.page(rows.iter().map(|row| show_comment(request, row)).collect())
}

fn comment(request: &mut Request<'_>) -> Answer {
    let shelf = comments_shelf(request)?;
    let args = &request.args;
    let discussion = crate::git_object::sha1(&format!("{shelf}{}", request.world.rows(&shelf).len()));
    let values = json!({
        "body": args.text("note"), "noteable_type": "Commit", "commit_id": find_commit(request)?.id, "_discussion": discussion,
        "_path": args.text("path"), "_line": args.num("line"), "_line_type": args.text("line_type")
    });
    let row = request.add(&shelf, values);
    created(show_comment(request, &row))
}

fn statuses(request: &mut Request<'_>) -> Answer {
    let shelf = request.shelf(&format!("repository/commits/{}/statuses", find_commit(request)?.id));
    let rows = request.world.rows(&shelf).to_vec();
    request.page_of("statuses", &rows)
}

fn set_status(request: &mut Request<'_>) -> Answer {
    let commit = find_commit(request)?;
    let args = &request.args;
    let name = args.text("name").or_else(|| args.text("context")).unwrap_or_else(|| "default".to_owned());
    let values = json!({
        "sha": commit.id, "status": args.text("state"), "name": name, "ref": args.text("ref").unwrap_or_else(|| "main".to_owned()),
        "target_url": args.text("target_url"), "description": args.text("description")
    });
    let shelf = request.shelf(&format!("repository/commits/{}/statuses", commit.id));
    let known = request.world.find(&shelf, "name", &name);
    let runs = |row: &&Row| row.text("status") == "running";
    if args.text("state").as_deref() == Some("running") && known.filter(runs).is_some() {
        let reason = "Cannot transition status via :run from :running (Reason(s): Status cannot transition via \"run\")";
        return Err(Fault::refused(400, reason));
    }
    let row = match known.map(|row| row.num("id")) {
        Some(id) => request.write(&shelf, id, values),
        None => request.add(&shelf, values),
    };
    created(request.show(&row))
}

/// The branch to commit to, made from another where `start_branch` or `start_sha` says so.
fn parent(request: &Request<'_>, branch: &str) -> Result<Option<Commit>, Fault> {
    let repo = request.repo()?;
    let from = request.args.text("start_branch").or_else(|| request.args.text("start_sha"));
    let force = request.args.flag("force");
    match (repo.head(branch), from) {
        (Some(_), Some(_)) if !force => Err(Fault::refused(
            400,
            &format!(
                "A branch called '{branch}' already exists. Switch to that branch in order to make changes"
            ),
        )),
        (Some(head), None) => Ok(Some(head.clone())),
        (_, Some(from)) => match repo.resolve(&from) {
            Some(commit) => Ok(Some(commit.clone())),
            None => Err(Fault::refused(400, "You can only create or edit files when you are on a branch")),
        },
        (None, None) if repo.branches.is_empty() => Ok(None),
        (None, None) => {
            Err(Fault::refused(400, "You can only create or edit files when you are on a branch"))
        }
    }
}

fn bytes(row: &Row) -> Result<Arc<[u8]>, Fault> {
    let content = row.get("content").and_then(text_of).unwrap_or_default();
    if row.text("encoding") != "base64" {
        return Ok(content.into_bytes().into());
    }
    let invalid = |_| Fault::refused(400, "Invalid base64 content");
    Ok(STANDARD.decode(content.replace('\n', "")).map_err(invalid)?.into())
}

/// One change to a tree, as `actions` describe it.
pub fn apply(tree: &mut Tree, action: &Row) -> Result<(), Fault> {
    let path = action.text("file_path").trim_start_matches('/').to_owned();
    let exists = tree.contains_key(&path);
    let kind = action.text("action");
    if path.is_empty() {
        return Err(Fault::Bad("actions[0][file_path] is missing".to_owned()));
    }
    match (kind, exists) {
        ("create", true) => return Err(Fault::refused(400, "A file with this name already exists")),
        ("update" | "delete" | "chmod", false) => {
            return Err(Fault::refused(400, "A file with this name doesn't exist"));
        }
        ("create" | "update", _) => {
            tree.insert(path, bytes(action)?);
        }
        ("delete", _) => {
            tree.remove(&path);
        }
        ("chmod", _) => {}
        ("move", _) => {
            let old = tree.remove(action.text("previous_path"));
            let old = old.ok_or_else(|| Fault::refused(400, "A file with this name doesn't exist"))?;
            let new = if action.contains_key("content") { bytes(action)? } else { old };
            tree.insert(path, new);
        }
        _ => return Err(Fault::Bad("actions[0][action] does not have a valid value".to_owned())),
    }
    Ok(())
}

/// Refuses to write over a change that its caller did not know of.
fn check_last_commit(request: &Request<'_>, head: Option<&Commit>, action: &Row) -> Result<(), Fault> {
    let known = action.text("last_commit_id");
    let path = action.text("previous_path");
    let path = if path.is_empty() { action.text("file_path") } else { path };
    let last =
        head.and_then(|head| request.repo().ok()?.last_change(head, path)).map(|commit| commit.id.as_str());
    match last {
        Some(last) if !known.is_empty() && last != known => Err(Fault::refused(
            400,
            "You are attempting to update a file that has changed since you started editing it.",
        )),
        _ => Ok(()),
    }
}

/// Makes a commit of actions, with the signed-in user as its author.
pub fn commit(
    request: &mut Request<'_>,
    branch: &str,
    message: &str,
    actions: &[Row],
) -> Result<Commit, Fault> {
    let head = parent(request, branch)?;
    let mut tree = head.as_ref().map(|head| head.tree.clone()).unwrap_or_default();
    for action in actions {
        check_last_commit(request, head.as_ref(), action)?;
        apply(&mut tree, action)?;
    }
    let mut author = crate::repo_author::author(request.world, request.me()?);
    author.name = request.args.text("author_name").unwrap_or(author.name);
    author.email = request.args.text("author_email").unwrap_or(author.email);
    let now = request.world.now();
    let before = request.repo()?.branches.get(branch).cloned();
    let parents = head.into_iter().map(|head| head.id).collect();
    let made = request.repo_mut().commit(branch, parents, tree, message, author, &now);
    super::pushes::record(request, branch, before.as_deref(), &made);
    Ok(made)
}

/// GitLab's words for a push that the rules of the branch do not allow.
pub const NO_PUSH: &str = "You are not allowed to push into this branch";

fn check_push(request: &Request<'_>, branch: &str) -> Result<(), Fault> {
    if can_push(request, branch) {
        return Ok(());
    }
    Err(Fault::refused(403, &format!("403 Forbidden - {NO_PUSH}")))
}

fn create(request: &mut Request<'_>) -> Answer {
    let branch = request.args.text("branch").unwrap_or_default();
    let message = request
        .args
        .text("commit_message")
        .ok_or_else(|| Fault::refused(400, "Commit message can't be blank"))?;
    let actions = request.args.rows("actions");
    check_push(request, &branch)?;
    let made = commit(request, &branch, &message, &actions)?;
    let mut shown = object(render_commit(request, &made)?);
    if request.args.maybe("stats") == Some(false) {
        shown.remove("stats");
    }
    created(shown)
}

/// Applies what changed between two trees to a branch.
fn carry(request: &mut Request<'_>, from: &Tree, to: &Tree, message: &str, verb: &str) -> Answer {
    let branch = request.args.text("branch").unwrap_or_default();
    let ours = request.repo()?.head(&branch).cloned().ok_or(Fault::missing("Branch"))?;
    check_push(request, &branch)?;
    let tree = Repo::merged(from, &ours.tree, to).filter(|tree| *tree != ours.tree);
    let Some(tree) = tree else {
        let said = format!(
            "Sorry, we cannot {verb} this commit automatically. This commit may already have been {verb}ed, or a more recent commit may have updated some of its content."
        );
        return Err(Fault::refused(400, &said));
    };
    if request.args.flag("dry_run") {
        return ok(json!({"dry_run": "success"}));
    }
    let author = crate::repo_author::author(request.world, request.me()?);
    let now = request.world.now();
    let before = ours.id.clone();
    let made = request.repo_mut().commit(&branch, vec![ours.id], tree, message, author, &now);
    super::pushes::record(request, &branch, Some(&before), &made);
    created(made.json(&request.web()))
}

fn before(request: &Request<'_>, commit: &Commit) -> Result<Tree, Fault> {
    let parent = commit.parents.first().and_then(|id| request.repo().ok()?.resolve(id));
    Ok(parent.map(|parent| parent.tree.clone()).unwrap_or_default())
}

fn cherry_pick(request: &mut Request<'_>) -> Answer {
    let commit = find_commit(request)?;
    let before = before(request, &commit)?;
    let message = format!("{}\n\n(cherry picked from commit {})", commit.message.trim_end(), commit.id);
    carry(request, &before, &commit.tree, &message, "cherry-pick")
}

fn revert(request: &mut Request<'_>) -> Answer {
    let commit = find_commit(request)?;
    let before = before(request, &commit)?;
    let message = format!("Revert \"{}\"\n\nThis reverts commit {}.", commit.title(), commit.id);
    carry(request, &commit.tree, &before, &message, "revert")
}

fn merge_requests(request: &mut Request<'_>) -> Answer {
    let commit = find_commit(request)?;
    let repo = request.repo()?;
    let mut rows = request.across("merge_requests");
    rows.retain(|row| {
        let brought =
            repo.ahead(row.text("_base"), row.text("sha")).iter().any(|other| other.id == commit.id);
        brought || row.text("merge_commit_sha") == commit.id
    });
    request.page_of("merge_requests", &rows)
}

fn signature(request: &mut Request<'_>) -> Answer {
    find_commit(request)?;
    Err(Fault::missing("Signature"))
}

fn compare(request: &mut Request<'_>) -> Answer {
    let (from, to) = (request.commit_at("from", "Ref")?, request.commit_at("to", "Ref")?);
    let repo = request.repo()?;
    let web = request.web();
    let mut commits: Vec<Value> =
        repo.ahead(&from.id, &to.id).iter().map(|commit| commit.json(&web)).collect();
    commits.reverse();
    let base = if request.args.flag("straight") { Some(&from) } else { repo.merge_base(&from.id, &to.id) };
    let diffs: Vec<Value> =
        base.map(|base| between(&base.tree, &to.tree)).unwrap_or_default().iter().map(Change::json).collect();
    ok(json!({
        "commit": commits.last(), "commits": commits, "diffs": diffs, "compare_timeout": false,
        "compare_same_ref": from.id == to.id, "web_url": format!("{web}/-/compare/{}...{}", from.id, to.id)
    }))
}

/// The changes between the two commits of a request.
fn changes(request: &Request<'_>) -> Result<Vec<Change>, Fault> {
    let (from, to) = (request.commit_at("from", "Ref")?, request.commit_at("to", "Ref")?);
    Ok(between(&from.tree, &to.tree))
}

/// A rename is the removal of one path and another new one, unless renames are asked for.
fn changed_paths(request: &mut Request<'_>) -> Answer {
    let row = |status: &str, change: &Change| {
        json!({
            "status": status, "path": change.new_path, "old_path": change.old_path,
            "old_mode": if status == "ADDED" { "0" } else { "100644" },
            "new_mode": if status == "DELETED" { "0" } else { "100644" }
        })
    };
    let mut rows = Vec::new();
    for change in changes(request)? {
        let is_renamed = change.old_path != change.new_path;
        if is_renamed && !request.args.flag("find_renames") {
            let gone = Change { new_path: change.old_path.clone(), ..change };
            rows.push(row("DELETED", &gone));
            let new = Change { old_path: change.new_path.clone(), new_path: change.new_path, ..gone };
            rows.push(row("ADDED", &new));
            continue;
        }
        rows.push(match (change.new_file, change.deleted_file) {
            (true, _) => row("ADDED", &change),
            (_, true) => row("DELETED", &change),
            _ => row(if is_renamed { "RENAMED" } else { "MODIFIED" }, &change),
        });
    }
    request.page(rows)
}

fn diff_stats(request: &mut Request<'_>) -> Answer {
    let rows = changes(request)?;
    let row = |change: &Change| {
        let (additions, deletions) = change.counts();
        json!({
            "path": change.new_path, "old_path": change.old_path, "additions": additions, "deletions": deletions
        })
    };
    request.page(rows.iter().map(row).collect())
}

fn diverging_commits(request: &mut Request<'_>) -> Answer {
    let (from, to) = (request.commit_at("from", "Ref")?, request.commit_at("to", "Ref")?);
    let repo = request.repo()?;
    let most =
        request.args.num("max_count").filter(|most| *most > 0).map_or(usize::MAX, |most| most as usize);
    let count = |from: &str, to: &str| repo.ahead(from, to).len().min(most);
    ok(json!({"left_count": count(&to.id, &from.id), "right_count": count(&from.id, &to.id)}))
}

fn merge_base(request: &mut Request<'_>) -> Answer {
    let refs = request.args.list("refs");
    let [one, other] = refs.as_slice() else {
        return Err(Fault::refused(400, "Provide at least 2 refs"));
    };
    let repo = request.repo()?;
    let end = |name: &String| {
        repo.resolve(name).ok_or_else(|| Fault::refused(400, &format!("Could not find ref: {name}")))
    };
    let ends = (end(one)?, end(other)?);
    let base = repo.merge_base(&ends.0.id, &ends.1.id).ok_or(Fault::missing("Merge Base"))?;
    ok(base.json(&request.web()))
}

fn contributors(request: &mut Request<'_>) -> Answer {
    let head = request.commit_at("ref", "Repository")?;
    let mut people: Vec<(Author, u64)> = Vec::new();
    for commit in request.repo()?.log(&head.id) {
        match people.iter_mut().find(|(author, _)| author.email == commit.author.email) {
            Some((_, count)) => *count += 1,
            None => people.push((commit.author.clone(), 1)),
        }
    }
    let shown = people.iter().map(|(author, count)| json!({"name": author.name, "email": author.email, "commits": count, "additions": 0, "deletions": 0}));
    request.page(shown.collect())
}
