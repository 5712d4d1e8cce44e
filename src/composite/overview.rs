//! `merge_request.overview`: what a merge request waits for. Its merge status in words, the verdict of each reviewer, the
//! approvals that are missing, the threads that are open, and the jobs of its pipeline that failed or wait to be started.

use std::fmt::Write as _;

use futures_util::future::{join, join3};
use serde_json::{Map, Value, json};

use crate::catalog::PRESENTATION;
use crate::composite::run::{CompositeRun, params};
use crate::present::{self, ContentKind, Options};
use crate::text::{excerpt, plain_text};
use crate::tools::reply::state_notes;
use crate::tools::{Answer, NextCall, ToolError};

/// Number of threads on a page, and maximum number of pages.
const THREADS_PER_PAGE: usize = 100;
const MAX_PAGES: usize = 5;

/// Maximum number of open threads that are shown, and characters of each.
const MAX_THREADS: usize = 20;
const MAX_THREAD_CHARACTERS: usize = 200;

pub async fn run(run: &CompositeRun<'_>) -> Result<Answer, ToolError> {
    let whole = run.read_json("merge_request.get", run.of_merge_request(json!({}))).await?;
    let mut parts = OverviewParts::default();
    let (people, work) = join(
        join3(
            run.read_json("merge_request.list_reviewers", run.of_merge_request(json!({}))),
            run.read_json("merge_request.get_approval_state", run.of_merge_request(json!({}))),
            read_threads(run),
        ),
        join(
            read_jobs(run, &whole),
            run.read_json("merge_request.list_closing_issues", run.of_merge_request(json!({}))),
        ),
    )
    .await;
    let (reviewers, approvals, threads) = people;
    let (jobs, closes) = work;
    let mut data = Map::new();
    let reference = whole.get("references").and_then(|references| references.get("full"));
    data.extend(reference.map(|reference| ("reference".to_owned(), reference.clone())));
    let shown = PRESENTATION
        .merge_request_overview
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), whole.get(*name)?.clone())));
    data.extend(shown);
    parts.add(&mut data, "reviewers", reviewers.map(|rows| reviewer_states(&rows)));
    parts.add(&mut data, "approvals", approvals.map(|state| missing_approvals(&state)));
    parts.add(&mut data, "threads", threads);
    if let Some(pipeline) = jobs {
        parts.add(&mut data, "pipeline", pipeline);
    }
    parts.add(&mut data, "closes", closes.map(|rows| closed_issues(&rows)));
    data.insert("blockers".to_owned(), json!(blockers(&whole, &data)));
    Ok(render(run, &whole, Value::Object(data), &parts.notes))
}

/// Notes on the parts that could not be read: the others are shown all the same.
#[derive(Debug, Default)]
struct OverviewParts {
    notes: Vec<String>,
}

impl OverviewParts {
    fn add(&mut self, data: &mut Map<String, Value>, name: &str, part: Result<Value, ToolError>) {
        match part {
            Ok(part) => {
                data.insert(name.to_owned(), part);
            }
            Err(error) => self.notes.push(format!("{name} could not be read: {}", error.message)),
        }
    }
}

/// Everything that keeps it from being merged, as far as GitLab shows it: `detailed_merge_status` has only the first.
fn blockers(whole: &Value, shown: &Map<String, Value>) -> Vec<String> {
    let is = |field: &str, value: bool| whole.get(field) == Some(&Value::Bool(value));
    let count = |part: &str, field: &str| shown.get(part)?.get(field)?.as_u64().filter(|count| *count > 0);
    let status = |part: &str| shown.get(part)?.get("status")?.as_str().map(str::to_owned);
    let mut blockers = Vec::new();
    let state = whole.get("state").and_then(Value::as_str).unwrap_or_default();
    if state != "opened" {
        return vec![format!("it is {state}")];
    }
    if is("draft", true) {
        blockers.push("draft".to_owned());
    }
    if is("has_conflicts", true) {
        blockers.push("conflicts with the target branch".to_owned());
    }
    if let Some(missing) = count("approvals", "missing") {
        blockers.push(format!("approvals missing: {missing}"));
    }
    if is("blocking_discussions_resolved", false) {
        let open = count("threads", "unresolved").map_or_else(String::new, |open| format!(": {open}"));
        blockers.push(format!("open threads{open}"));
    }
    if let Some(status) = status("pipeline").filter(|status| status == "failed" || status == "running") {
        blockers.push(format!("pipeline {status}, if it must succeed"));
    }
    blockers
}

/// The issues that are closed when it is merged: `acme/widget#3 The gear squeaks`.
fn closed_issues(rows: &Value) -> Value {
    let issue = |row: &Value| {
        let reference = row.pointer("/references/full").or_else(|| row.get("id"))?;
        let title = row.get("title").map(plain_text).unwrap_or_default();
        Some(json!(format!("{} {title}", plain_text(reference))))
    };
    items(rows).iter().filter_map(issue).collect()
}

fn reviewer_states(rows: &Value) -> Value {
    let row = |row: &Value| json!({"user": name(row.get("user")), "state": row.get("state")});
    items(rows).iter().map(row).collect()
}

/// The approvals that each rule wants, has and lacks (<https://docs.gitlab.com/api/merge_request_approvals/>).
fn missing_approvals(state: &Value) -> Value {
    let mut missing = 0;
    let rules: Vec<Value> = items(state.get("rules").unwrap_or(&Value::Null))
        .iter()
        .map(|rule| {
            let required = rule.get("approvals_required").and_then(Value::as_u64).unwrap_or(0);
            let given = items(rule.get("approved_by").unwrap_or(&Value::Null));
            let lacks = required.saturating_sub(given.len() as u64);
            let lacks = if rule.get("approved") == Some(&Value::Bool(true)) { 0 } else { lacks };
            missing += lacks;
            json!({
                "rule": rule.get("name"), "required": required, "missing": lacks,
                "approved_by": given.iter().map(|user| name(Some(user))).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({"missing": missing, "rules": rules})
}

/// The number of open and resolved threads, and the first of the open ones.
async fn read_threads(run: &CompositeRun<'_>) -> Result<Value, ToolError> {
    let (mut open, mut resolved, mut shown) = (0, 0, Vec::new());
    let mut is_complete = false;
    for page in 1..=MAX_PAGES {
        let of_page = run.of_merge_request(json!({"per_page": THREADS_PER_PAGE, "page": page}));
        let threads = run.read_json("merge_request_discussion.list", of_page).await?;
        for thread in items(&threads) {
            let notes = items(thread.get("notes").unwrap_or(&Value::Null));
            let is = |note: &&Value, field: &str| note.get(field) == Some(&Value::Bool(true));
            let mut resolvable = notes.iter().filter(|note| is(note, "resolvable")).peekable();
            let Some(first) = resolvable.peek().copied() else { continue };
            if resolvable.all(|note| is(&note, "resolved")) {
                resolved += 1;
                continue;
            }
            open += 1;
            if shown.len() < MAX_THREADS {
                shown.push(thread_row(thread, first));
            }
        }
        if items(&threads).len() < THREADS_PER_PAGE {
            is_complete = true;
            break;
        }
    }
    let mut found = Map::from_iter([
        ("unresolved".to_owned(), json!(open)),
        ("resolved".to_owned(), json!(resolved)),
        ("open".to_owned(), Value::Array(shown)),
    ]);
    if !is_complete {
        found.insert(
            "counted".to_owned(),
            json!(format!("the first {} threads", THREADS_PER_PAGE * MAX_PAGES)),
        );
    }
    Ok(Value::Object(found))
}

fn thread_row(thread: &Value, note: &Value) -> Value {
    let position = |name: &str| note.get("position").and_then(|position| position.get(name)).cloned();
    json!({
        "discussion_id": thread.get("id"), "author": name(note.get("author")), "file": position("new_path"),
        "line": position("new_line").filter(|line| !line.is_null()).or_else(|| position("old_line")),
        "text": note.get("body").and_then(Value::as_str).map(|body| excerpt(body, MAX_THREAD_CHARACTERS)),
    })
}

/// The pipeline with its jobs that failed or wait to be started. None if there is no pipeline.
async fn read_jobs(run: &CompositeRun<'_>, whole: &Value) -> Option<Result<Value, ToolError>> {
    let pipeline = whole.get("head_pipeline").filter(|pipeline| pipeline.is_object())?;
    let id = pipeline.get("id")?;
    // The pipeline of a merge request from a fork may be in the fork.
    let of_fork = pipeline.get("project_id").filter(|id| Some(*id) != whole.get("project_id"));
    let project = of_fork.map(plain_text).map(Value::String);
    let project = project.or_else(|| run.params.get("fullPath").cloned())?;
    let of_jobs = params(json!({
        "fullPath": project, "pipeline_id": id, "scope": ["failed", "manual"], "per_page": THREADS_PER_PAGE,
    }));
    let rows = match run.read_json("pipeline.list_jobs", of_jobs).await {
        Ok(rows) => rows,
        Err(error) => return Some(Err(error)),
    };
    let with = |status: &str| -> Vec<Value> {
        let fits =
            items(&rows).iter().filter(|job| job.get("status").and_then(Value::as_str) == Some(status));
        fits.map(|job| json!({"job_id": job.get("id"), "name": job.get("name"), "stage": job.get("stage")}))
            .collect()
    };
    Some(Ok(json!({
        "id": id, "status": pipeline.get("status"), "project": project,
        "failed_jobs": with("failed"), "manual_jobs": with("manual"),
    })))
}

/// The answer: data between marks, the merge status in words, and the next calls.
fn render(run: &CompositeRun<'_>, whole: &Value, data: Value, notes: &[String]) -> Answer {
    let options = Options::new(ContentKind::default(), run.tools.max_bytes, run.tools.client().secrets());
    let calls = next_calls(run, &data);
    let shown = present::present(present::GivenContent::Json(data), &options);
    let mut text = present::marked(&shown.text);
    let mut beside = Map::new();
    let get = run.tools.catalog().get("merge_request.get").ok().flatten();
    let states =
        get.map(|get| state_notes::explain(run.tools, &get, &run.params, whole, None)).unwrap_or_default();
    // An overview has no other field with a state.
    let states = states.into_iter().filter(|state| state.is_of(&["detailed_merge_status".to_owned()]));
    let states: Vec<_> = states.map(|state| state.without_next(run.id)).collect();
    state_notes::add_states(&mut beside, &mut text, &states);
    for call in &calls {
        let _ = writeln!(text, "Next: {call}");
    }
    if !calls.is_empty() {
        beside.insert("next".to_owned(), json!(calls));
    }
    let notes: Vec<String> = shown.notes.iter().chain(notes).cloned().collect();
    run.answer(shown.data, text, beside, &notes)
}

/// Builds the calls for the next steps.
fn next_calls(run: &CompositeRun<'_>, data: &Value) -> Vec<NextCall> {
    let found = |path: &str| data.pointer(path).filter(|value| !value.is_null());
    let mut calls = Vec::new();
    if found("/threads/open/0").is_some() {
        let of = run.of_merge_request(json!({"unresolved": true}));
        calls.push(NextCall::execute("merge_request_discussion.list", &of));
    }
    let project = found("/pipeline/project");
    if let (Some(project), Some(id), Some(_)) =
        (project, found("/pipeline/id"), found("/pipeline/failed_jobs/0"))
    {
        calls.push(NextCall::execute("pipeline.diagnose", &json!({"fullPath": project, "pipeline_id": id})));
    }
    // A pipeline that has passed waits for no job, and a deployment is nothing that a merge needs.
    let waits = found("/pipeline/status").and_then(Value::as_str) == Some("manual");
    if let (Some(project), Some(id), true) = (project, found("/pipeline/manual_jobs/0/job_id"), waits) {
        calls.push(NextCall::execute("job.play", &json!({"fullPath": project, "job_id": id})));
    }
    calls.retain(|call| {
        let action = call.arguments.get("action").and_then(Value::as_str);
        action.is_some_and(|id| run.tools.may_run_id(id))
    });
    calls
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn name(user: Option<&Value>) -> Value {
    user.and_then(|user| user.get("username")).cloned().unwrap_or_default()
}
