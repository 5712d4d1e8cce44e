//! Builds the world from the embedded data in `world/`.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::diff::Tree;
use super::kinds::Kinds;
use super::pipeline;
use super::repo::{Author, Journal, Repo, Tag};
use super::repo_author::author;
use super::row::{Fields, Row, object};
use super::start_error::SandboxError;
use super::state::World;

const ROWS: (&str, &str) = ("world/rows.json", include_str!("world/rows.json"));
const ISSUES: (&str, &str) = ("world/issues.json", include_str!("world/issues.json"));
const REPOS: (&str, &str) = ("world/repos.json", include_str!("world/repos.json"));
const PIPELINES: (&str, &str) = ("world/pipelines.json", include_str!("world/pipelines.json"));

/// Rows for one shelf.
#[derive(Deserialize)]
struct Shelf {
    shelf: String,
    rows: Vec<Row>,
}

/// An issue of the main project: title, author, labels, assignees, milestone, whether closed, when.
#[derive(Deserialize)]
struct Issue(String, u64, Vec<String>, Vec<u64>, Option<u64>, bool, String);

/// A commit, or a merge of a branch as a merge request did it. One with `repeat` is made that many times, a day apart, with
/// `{n}` for its number.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    project: u64,
    on: String,
    from: Option<String>,
    by: u64,
    at: String,
    message: String,
    #[serde(default)]
    files: BTreeMap<String, Option<Contents>>,
    merge: Option<String>,
    request: Option<u64>,
    tag: Option<String>,
    repeat: Option<u32>,
}

/// Content of a file; that of `copies` files if the path has `{n}` for the number of each.
#[derive(Deserialize)]
#[serde(untagged)]
enum Contents {
    Text(String),
    Binary { base64: String },
    Lines { line: String, count: u32 },
    Files { text: String, copies: u32 },
}

/// A pipeline with its jobs: stage, name, status.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pipeline {
    project: u64,
    id: u64,
    #[serde(rename = "ref")]
    branch: String,
    by: u64,
    at: String,
    request: Option<u64>,
    jobs: Vec<(String, String, String)>,
    deploys: Option<String>,
    /// The source, if it was neither a push nor a merge request.
    source: Option<String>,
    /// The jobs that started other pipelines: name, status, and which.
    #[serde(default)]
    bridges: Vec<(String, String, u64)>,
}

/// The world as it is at every start.
pub fn build(url: String, kinds: Kinds, version: String) -> Result<World, SandboxError> {
    let mut world = World::new(url, kinds, version);
    for shelf in read::<Vec<Shelf>>(ROWS)? {
        if world.kinds.of(&shelf.shelf).is_none() {
            return Err(SandboxError::Unknown(format!("a kind of rows for {}", shelf.shelf)));
        }
        for mut row in shelf.rows {
            if let Some(namespace) = row.get("_namespace").and_then(Value::as_u64) {
                add_namespace(&world, &mut row, namespace);
            }
            let user = row.get("owner").and_then(Value::as_u64);
            let file = row.remove("_base64");
            let row = world.add(&shelf.shelf, row, user);
            if let Some(base64) = file.as_ref().and_then(Value::as_str) {
                let bytes = bytes(Contents::Binary { base64: base64.to_owned() })?;
                world.files.insert(format!("{}/{}", shelf.shelf, row.num("id")), bytes);
            }
        }
    }
    for issue in read::<Vec<Issue>>(ISSUES)? {
        add_issue(&mut world, issue);
    }
    for epic in world.rows("groups/1/epics").to_vec() {
        epic.nums("_issues").into_iter().for_each(|issue| world.set_epic(issue, Some(&epic)));
    }
    for step in read::<Vec<Step>>(REPOS)? {
        commit(&mut world, step)?;
    }
    settle_merge_requests(&mut world);
    for pipeline in read::<Vec<Pipeline>>(PIPELINES)? {
        run(&mut world, pipeline);
    }
    world.start_clock();
    Ok(world)
}

fn read<T: DeserializeOwned>((file, text): (&'static str, &str)) -> Result<T, SandboxError> {
    serde_json::from_str(text).map_err(|source| SandboxError::Seed { file, source })
}

fn add_namespace(world: &World, row: &mut Row, group: u64) {
    let owner = row.num("creator_id");
    row.set("namespace", world.namespace(group, owner));
    let namespace = row.get("namespace").and_then(|value| value.get("name")).and_then(Value::as_str);
    let full =
        if group > 0 { world.by_id("groups", group).text("full_name").to_owned() } else { String::new() };
    let owner = if full.is_empty() { namespace.unwrap_or_default().to_owned() } else { full };
    let name = format!("{owner} / {}", row.text("name"));
    row.set("name_with_namespace", name);
}

fn add_issue(world: &mut World, issue: Issue) {
    let Issue(title, author, labels, assignees, milestone, closed, at) = issue;
    let iid = world.rows("projects/1/issues").len() + 1;
    let mut row = object(json!({
        "id": iid, "title": title, "author": author, "labels": labels, "assignees": assignees, "milestone": milestone,
        "created_at": at, "updated_at": at,
        "description": format!("{title}.\n\nSeen in the workshop."),
        "user_notes_count": if iid == 1 { 1 } else { 0 }, "upvotes": u64::from(iid == 1),
    }));
    if closed {
        row.extend(object(json!({"state": "closed", "closed_at": at, "closed_by": 2})));
    }
    if iid == 19 {
        row.set("confidential", true);
    }
    world.add("projects/1/issues", row, Some(author));
}

/// The commits that a step with `repeat` stands for, which are made when they are asked for.
fn journal(step: Step, times: u32, author: Author) -> Result<Journal, SandboxError> {
    let unknown = || SandboxError::Unknown(format!("a journal of {}", step.message));
    let first = OffsetDateTime::parse(&step.at, &Rfc3339).map_err(|_| unknown())?;
    let Some((path, Some(Contents::Text(text)))) = step.files.into_iter().next() else {
        return Err(unknown());
    };
    Ok(Journal { branch: step.on, author, first, times, message: step.message, path, text })
}

fn commit(world: &mut World, step: Step) -> Result<(), SandboxError> {
    let author = author(world, step.by);
    let repo = world.repo_mut(step.project);
    if let Some(times) = step.repeat {
        repo.journal = Some(journal(step, times, author)?);
        return Ok(());
    }
    let start = step.from.as_deref().unwrap_or(&step.on);
    let parent = repo.head(start).cloned();
    let mut parents: Vec<String> = parent.iter().map(|parent| parent.id.clone()).collect();
    let mut tree: Tree = parent.map(|parent| parent.tree).unwrap_or_default();
    let mut merged = None;
    if let Some(branch) = &step.merge {
        let source = repo.head(branch).cloned().ok_or_else(|| SandboxError::Unknown(branch.clone()))?;
        let base = parents.first().and_then(|ours| repo.merge_base(ours, &source.id)).cloned();
        let base_tree = base.as_ref().map(|base| base.tree.clone()).unwrap_or_default();
        tree = Repo::merged(&base_tree, &tree, &source.tree)
            .ok_or_else(|| SandboxError::Unknown(format!("a way to merge {branch}")))?;
        parents.push(source.id.clone());
        merged = Some((source.id, base.map(|base| base.id).unwrap_or_default()));
        repo.branches.remove(branch);
    }
    for (path, contents) in step.files {
        match contents {
            Some(Contents::Files { text, copies }) => tree.extend((1..=copies).map(|number| {
                let fill = |text: &String| text.replace("{n}", &number.to_string());
                (fill(&path), fill(&text).into_bytes().into())
            })),
            Some(contents) => {
                tree.insert(path, bytes(contents)?);
            }
            None => {
                tree.remove(&path);
            }
        }
    }
    let made = repo.commit(&step.on, parents, tree, &step.message, author, &step.at);
    if let Some(tag) = step.tag {
        let message = Some("It turns.".to_owned());
        repo.tags.insert(tag, Tag { commit: made.id.clone(), message, date: step.at });
    }
    if let (Some(iid), Some((head, base))) = (step.request, merged) {
        let shelf = format!("projects/{}/merge_requests", step.project);
        if let Some(row) = world.find_mut(&shelf, "iid", &iid.to_string()) {
            row.extend(object(json!({"sha": head, "_base": base, "merge_commit_sha": made.id})));
        }
    }
    Ok(())
}

fn bytes(contents: Contents) -> Result<Arc<[u8]>, SandboxError> {
    let bytes = match contents {
        Contents::Text(text) | Contents::Files { text, .. } => text.into_bytes(),
        Contents::Binary { base64 } => STANDARD
            .decode(&base64)
            .map_err(|error| SandboxError::Unknown(format!("the bytes of {base64} ({error})")))?,
        Contents::Lines { line, count } => {
            let lines = (1..=count).map(|number| line.replace("{n}", &number.to_string()) + "\n");
            lines.collect::<String>().into_bytes()
        }
    };
    Ok(bytes.into())
}

/// Gives every merge request whose branch is still there its newest commit.
fn settle_merge_requests(world: &mut World) {
    let all = world.all("merge_requests").map(|(shelf, row)| (shelf.to_owned(), row.clone()));
    for (shelf, row) in all.collect::<Vec<_>>() {
        let Some(repo) = world.repos.get(&row.num("project_id")) else { continue };
        let Some(head) = repo.head(row.text("source_branch")).map(|head| head.id.clone()) else { continue };
        let main = repo.branches.get("main").cloned().unwrap_or_default();
        let base = repo.merge_base(&main, &head).map(|base| base.id.clone());
        if let Some(row) = world.find_mut(&shelf, "iid", &row.num("iid").to_string()) {
            row.extend(object(json!({"sha": head, "_base": base})));
        }
    }
}

fn run(world: &mut World, seed: Pipeline) {
    let repo = world.repos.get(&seed.project);
    let sha = repo.and_then(|repo| repo.head(&seed.branch)).map(|head| head.id.clone()).unwrap_or_default();
    let usual = if seed.request.is_some() { "merge_request_event" } else { "push" };
    let source = seed.source.as_deref().unwrap_or(usual);
    let jobs: Vec<(&str, &str, &str)> = seed
        .jobs
        .iter()
        .map(|(stage, name, status)| (stage.as_str(), name.as_str(), status.as_str()))
        .collect();
    let row = object(json!({
        "id": seed.id, "ref": seed.branch, "sha": sha, "source": source, "created_at": seed.at, "updated_at": seed.at,
        "_merge_request": seed.request,
    }));
    pipeline::start(world, seed.project, row, &jobs, Some(seed.by));
    let bridged = !seed.bridges.is_empty();
    for (name, status, downstream) in seed.bridges {
        let reason = (status == "failed").then_some("downstream_pipeline_failed");
        let bridge = object(json!({
            "name": name, "status": status, "ref": seed.branch, "created_at": seed.at, "failure_reason": reason,
            "_pipeline": seed.id, "_downstream": downstream,
        }));
        world.add(&format!("projects/{}/bridges", seed.project), bridge, Some(seed.by));
    }
    if bridged {
        pipeline::settle(world, seed.project, seed.id);
    }
    let Some(environment) = seed.deploys else { return };
    let environments = format!("projects/{}/environments", seed.project);
    let environment = world.find(&environments, "name", &environment).cloned().unwrap_or_default();
    let job = world.rows(&format!("projects/{}/jobs", seed.project)).last().cloned().unwrap_or_default();
    let deployment = object(json!({
        "ref": seed.branch, "sha": sha, "status": "success", "user": seed.by, "created_at": seed.at,
        "updated_at": seed.at, "deployable": job,
        "environment": {"id": environment.num("id"), "name": environment.text("name"), "slug": environment.text("name"), "external_url": environment.get("external_url"), "created_at": environment.get("created_at"), "updated_at": environment.get("updated_at")},
    }));
    world.add(&format!("projects/{}/deployments", seed.project), deployment, Some(seed.by));
}
