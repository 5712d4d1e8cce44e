//! `pipeline.diagnose`: the cause of a pipeline's failure. Failed jobs of the pipeline and of its downstream
//! pipelines, each with its reason and the part of its log around the first error, within the bytes of one answer.

use std::collections::VecDeque;

use futures_util::future::{join, join_all};
use serde_json::{Map, Value, json};

use crate::composite::failed_tests::{self, FailedTests};
use crate::composite::item_results::ItemResults;
use crate::composite::run::{CompositeRun, failed, params};
use crate::gitlab::Content;
use crate::present::{self, ReportedFailure};
use crate::text::{excerpt, is_number, pick_fields, plain_text};
use crate::tools::response::Outcome;
use crate::tools::{Answer, ErrorKind, NextCall, ToolError};
use crate::untrusted::{mask_tokens, quote};

/// Maximum number of pipelines, including the first.
const MAX_PIPELINES: usize = 10;
/// Maximum depth of downstream pipelines.
const MAX_DEEP: usize = 3;
/// Maximum number of logs.
const MAX_LOGS: usize = 20;
/// Number of logs in memory at a time.
const TOGETHER: usize = 4;
/// Minimum size of a useful log excerpt; with less room the job is only listed.
const MIN_LOG_BYTES: usize = 300;
/// Bytes reserved per job for its names and calls.
const AROUND: usize = 500;
const JOBS_PER_PAGE: usize = 100;

/// A pipeline to examine.
#[derive(Clone, Debug)]
struct Pipeline {
    /// A full path, or an id if GitLab returns no path.
    project: Value,
    id: Value,
    deep: usize,
}

/// A failed job, or a bridge whose pipeline could not be created.
#[derive(Debug)]
struct FailedJob {
    project: Value,
    pipeline: Value,
    row: Value,
    is_bridge: bool,
}

/// Results of the diagnosis.
#[derive(Debug, Default)]
struct Findings {
    jobs: Vec<FailedJob>,
    /// The examined pipelines, with the parts that could not be read.
    pipelines: Vec<Value>,
    notes: Vec<String>,
}

pub async fn run(run: &CompositeRun<'_>) -> Result<Answer, ToolError> {
    let Examined { pipeline: first, latest, project } = resolve_pipeline(run).await?;
    let start = Pipeline {
        project: project.or_else(|| run.params.get("fullPath").cloned()).unwrap_or_default(),
        id: first.get("id").cloned().unwrap_or_default(),
        deep: 0,
    };
    let mut found = find_failed_jobs(run, start, &first).await?;
    // Jobs that fail the pipeline come before those allowed to fail.
    found.jobs.sort_by_key(|job| field(&job.row, "allow_failure") == json!(true));
    let room = run.tools.max_bytes.saturating_sub(AROUND * (found.jobs.len().min(MAX_LOGS) + 2));
    let asked = run.params.get("max_bytes").and_then(Value::as_u64);
    let asked = asked.and_then(|bytes| usize::try_from(bytes).ok());
    let budget = asked.map_or(room, |bytes| bytes.min(room));
    Ok(render_diagnosis(run, (&first, latest.as_deref()), found, budget).await)
}

/// The first pipeline of a diagnosis.
struct Examined {
    pipeline: Value,
    /// Branch or merge request whose latest it is, if it was not given by its id: `on main`, `of !45`.
    latest: Option<String>,
    /// Id of its project, if it is of a merge request: the pipeline of one from a fork is in the fork.
    project: Option<Value>,
}

/// Name of a pipeline in a call.
enum PipelineName {
    Id(Value),
    /// The latest of `iid`, `ref` or the default branch.
    Latest,
    /// The latest of this branch or tag.
    Branch(String),
}

impl PipelineName {
    fn parse(given: &Value) -> PipelineName {
        match given.as_str().map(str::trim) {
            Some(word) if word.eq_ignore_ascii_case("latest") => PipelineName::Latest,
            Some(branch) if !is_number(branch) => PipelineName::Branch(branch.to_owned()),
            _ => PipelineName::Id(given.clone()),
        }
    }
}

/// Resolves the pipeline.
async fn resolve_pipeline(run: &CompositeRun<'_>) -> Result<Examined, ToolError> {
    let of = |more: Value| {
        let mut step_params = pick_fields(&run.params, |name| name == "fullPath");
        step_params.extend(params(more));
        step_params
    };
    let branch = match run.params.get("pipeline_id").map(PipelineName::parse) {
        Some(PipelineName::Id(id)) => {
            let pipeline = run.read_json("pipeline.get", of(json!({"pipeline_id": id}))).await?;
            return Ok(Examined { pipeline, latest: None, project: None });
        }
        Some(PipelineName::Branch(branch)) => Some(branch),
        Some(PipelineName::Latest) | None => None,
    };
    let Some(iid) = run.params.get("iid").filter(|_| branch.is_none()) else {
        let branch = branch.as_deref().or(run.text("ref"));
        let on = branch.map_or(json!({}), |branch| json!({"ref": branch}));
        let pipeline = match run.read_json("pipeline.get_latest", of(on.clone())).await {
            // GitLab refuses the latest pipeline of a branch that has none.
            Err(error) if error.kind == ErrorKind::Forbidden => {
                return Err(no_pipeline(error, branch, of(json!({}))));
            }
            read => read?,
        };
        let latest = Some(format!("on {}", plain_or_quoted(&field(&pipeline, "ref"))));
        return Ok(Examined { pipeline, latest, project: None });
    };
    let listed = run.read_json("merge_request.list_pipelines", of(json!({"iid": iid}))).await?;
    // GitLab lists the newest first.
    let newest = listed.get(0);
    match newest.and_then(|row| row.get("id")).cloned() {
        Some(id) => {
            let project = newest.and_then(|row| row.get("project_id")).filter(|id| id.is_u64()).cloned();
            let mut pipeline = of(json!({"pipeline_id": id}));
            pipeline.extend(project.iter().map(|project| ("fullPath".to_owned(), project.clone())));
            let pipeline = run.read_json("pipeline.get", pipeline).await?;
            Ok(Examined { pipeline, latest: Some(format!("of !{iid}")), project })
        }
        None => {
            let message = format!("the merge request !{iid} has no pipeline");
            Err(ToolError::new(ErrorKind::NotFound, message)
                .fix(NextCall::execute("merge_request.get", &of(json!({"iid": iid})))))
        }
    }
}

/// The error of a branch without a pipeline.
fn no_pipeline(refused: ToolError, branch: Option<&str>, within: Map<String, Value>) -> ToolError {
    let place = branch.map_or("the default branch".to_owned(), |branch| quote(&excerpt(branch, 100)));
    let message = format!("no pipeline on {place} that can be seen: {}", refused.message);
    ToolError { kind: ErrorKind::NotFound, message, ..refused }
        .hint("GitLab refuses the latest pipeline of a branch that has none; `fix` lists the pipelines.")
        .fix(NextCall::execute("pipeline.list", &within))
}

/// The failed jobs of a pipeline and of its downstream pipelines, nearest first.
async fn find_failed_jobs(
    run: &CompositeRun<'_>,
    start: Pipeline,
    first: &Value,
) -> Result<Findings, ToolError> {
    let mut found = Findings::default();
    let mut open = VecDeque::from([start]);
    let mut row = Some(first.clone());
    while let Some(pipeline) = open.pop_front() {
        if found.pipelines.len() >= MAX_PIPELINES {
            let next = json!({"action": run.id, "params": {"fullPath": pipeline.project, "pipeline_id": pipeline.id}});
            let left = open.len() + 1;
            found.notes.push(format!("{left} more pipelines were not read; the next: {next}"));
            break;
        }
        let (project, id) = (&pipeline.project, &pipeline.id);
        let bridges = json!({"fullPath": project, "pipeline_id": id, "per_page": JOBS_PER_PAGE});
        let failed_jobs =
            json!({"fullPath": project, "pipeline_id": id, "scope": ["failed"], "per_page": JOBS_PER_PAGE});
        let (jobs, bridges) = join(
            run.read_json("pipeline.list_jobs", params(failed_jobs)),
            run.read_json("pipeline.list_bridges", params(bridges)),
        )
        .await;
        let jobs = match jobs {
            Ok(jobs) => jobs,
            Err(error) if pipeline.deep == 0 => return Err(error),
            Err(error) => {
                found.notes.push(format!(
                    "pipeline {} of {} cannot be read: {}",
                    pipeline.id,
                    plain_text(&pipeline.project),
                    error.message
                ));
                continue;
            }
        };
        found.pipelines.push(seen(row.take().as_ref(), &pipeline));
        found.take(&pipeline, &jobs, false);
        match bridges {
            Ok(bridges) => found.follow(run, &pipeline, &bridges, &mut open),
            Err(error) => {
                found.notes.push(format!("its downstream pipelines cannot be read: {}", error.message))
            }
        }
    }
    Ok(found)
}

impl Findings {
    fn take(&mut self, pipeline: &Pipeline, rows: &Value, is_bridge: bool) {
        let rows = rows.as_array().map(Vec::as_slice).unwrap_or_default();
        if rows.len() == JOBS_PER_PAGE {
            self.notes.push(format!(
                "of pipeline {} only the last {JOBS_PER_PAGE} failed jobs were read",
                pipeline.id
            ));
        }
        // GitLab lists the newest first.
        self.jobs.extend(rows.iter().rev().map(|row| FailedJob {
            project: pipeline.project.clone(),
            pipeline: pipeline.id.clone(),
            row: row.clone(),
            is_bridge,
        }));
    }

    /// Pipelines triggered by failed bridges; a bridge without one is listed like a job.
    fn follow(
        &mut self,
        run: &CompositeRun<'_>,
        pipeline: &Pipeline,
        bridges: &Value,
        open: &mut VecDeque<Pipeline>,
    ) {
        for bridge in bridges.as_array().into_iter().flatten().rev() {
            let down = bridge.get("downstream_pipeline").filter(|down| down.is_object());
            let is_failed = |row: &Value| field(row, "status") == json!("failed");
            match down {
                Some(down) if is_failed(down) && pipeline.deep < MAX_DEEP => open.push_back(Pipeline {
                    project: project_of(run, down),
                    id: field(down, "id"),
                    deep: pipeline.deep + 1,
                }),
                Some(down) if is_failed(down) => self.notes.push(format!(
                    "pipeline {} of {} is nested too deeply to be diagnosed from here",
                    field(down, "id"),
                    plain_text(&project_of(run, down))
                )),
                None if is_failed(bridge) => self.take(pipeline, &json!([bridge]), true),
                _ => {}
            }
        }
    }
}

/// Fields of a pipeline in the answer.
fn seen(row: Option<&Value>, pipeline: &Pipeline) -> Value {
    let mut seen = json!({"project": pipeline.project, "id": pipeline.id});
    if let (Some(row), Value::Object(seen)) = (row, &mut seen) {
        for name in ["status", "ref", "sha", "source", "yaml_errors", "web_url"] {
            seen.extend(
                row.get(name).filter(|value| !value.is_null()).map(|value| (name.to_owned(), value.clone())),
            );
        }
    }
    seen
}

/// The project of a pipeline, by the path in its URL, which is clearer than its id.
fn project_of(run: &CompositeRun<'_>, pipeline: &Value) -> Value {
    let path = || {
        let url = url::Url::parse(pipeline.get("web_url")?.as_str()?).ok()?;
        let below = url.path().strip_prefix(run.tools.base.path())?;
        Some(below.split("/-/").next()?.trim_matches('/').to_owned())
    };
    path().filter(|path| path.contains('/')).map_or_else(|| field(pipeline, "project_id"), |path| json!(path))
}

async fn render_diagnosis(
    run: &CompositeRun<'_>,
    (first, latest): (&Value, Option<&str>),
    found: Findings,
    budget: usize,
) -> Answer {
    let Findings { jobs, mut pipelines, mut notes } = found;
    if let (Some(latest), Some(Value::Object(seen))) = (latest, pipelines.first_mut()) {
        seen.insert("latest".to_owned(), json!(latest));
    }
    let logs: Vec<&FailedJob> = jobs.iter().filter(|job| !job.is_bridge).take(MAX_LOGS).collect();
    let shown = logs.len().min((budget / MIN_LOG_BYTES).max(1));
    let share = budget.checked_div(shown).unwrap_or_default().max(MIN_LOG_BYTES);
    let mut read: Vec<Result<ReportedFailure, ToolError>> = Vec::new();
    for group in logs.get(..shown).unwrap_or_default().chunks(TOGETHER) {
        read.extend(join_all(group.iter().map(|job| log(run, job, share))).await);
    }
    let mut read = read.into_iter();
    let reported = jobs.iter().filter(|job| failed_tests::has_report(&job.row));
    let reported = reported.map(|job| (job.project.clone(), job.pipeline.clone())).collect();
    let tests = FailedTests::fetch(run, reported).await;
    let mut items = ItemResults::default();
    let mut calls = String::new();
    let mut unread = 0;
    for job in &jobs {
        let excerpt = if job.is_bridge { None } else { read.next() };
        unread += usize::from(excerpt.is_none() && !job.is_bridge);
        add(&mut items, &mut calls, job, &tests, excerpt);
    }
    if unread > 0 {
        notes.push(format!(
            "the logs of {unread} more jobs were not read; `log` of each is the call that does"
        ));
    }
    if jobs.is_empty() {
        notes.push(nothing(first));
    }
    let mut answer = items.answer(run, &notes);
    answer.text = format!("{}{}{calls}", heading(first, latest, &pipelines), answer.text);
    answer.structured.insert("pipelines".to_owned(), present::cleaned_value(Value::Array(pipelines)));
    answer
}

/// The failure in a job's log.
async fn log(run: &CompositeRun<'_>, job: &FailedJob, budget: usize) -> Result<ReportedFailure, ToolError> {
    let step_params = params(json!({"fullPath": job.project, "job_id": field(&job.row, "id")}));
    // A dry run previews changes; a diagnosis only reads and runs in any case.
    let request = crate::tools::ExecuteRequest {
        action: "job.log".to_owned(),
        params: step_params,
        ..Default::default()
    };
    let Outcome::Response(response) = run.step_as(request, false).await? else {
        return Ok(ReportedFailure::default());
    };
    let text = match response.reply.content {
        Content::Text(text) => text,
        Content::Binary { bytes, content_type, .. } => {
            present::text_of(&bytes, &content_type).map(|(text, _)| text).unwrap_or_default()
        }
        _ => String::new(),
    };
    Ok(present::failure(&text, budget, run.tools.client.secrets()))
}

fn add(
    items: &mut ItemResults,
    calls: &mut String,
    job: &FailedJob,
    tests: &FailedTests,
    excerpt: Option<Result<ReportedFailure, ToolError>>,
) {
    let mut says = params(json!({"name": field(&job.row, "name"), "stage": field(&job.row, "stage")}));
    says.insert("id".to_owned(), field(&job.row, "id"));
    says.insert("project".to_owned(), job.project.clone());
    says.insert("pipeline_id".to_owned(), job.pipeline.clone());
    let reason = field(&job.row, "failure_reason");
    says.insert("reason".to_owned(), if reason.is_null() { json!("unknown") } else { reason });
    if field(&job.row, "allow_failure") == json!(true) {
        says.insert("allow_failure".to_owned(), json!(true));
    }
    let mark = if job.is_bridge { "bridge" } else { "job" };
    let call = json!(NextCall::execute(
        "job.log",
        &json!({"fullPath": job.project, "job_id": field(&job.row, "id")})
    ));
    let mut details = Map::new();
    details.insert("web_url".to_owned(), field(&job.row, "web_url"));
    let mut text = String::new();
    match excerpt {
        Some(Ok(failure)) => text = excerpted(&failure, &mut details, &call),
        Some(Err(error)) => {
            details.insert("error".to_owned(), failed(&error));
            text = error.text();
        }
        None if !job.is_bridge => {
            details.insert("log".to_owned(), call.clone());
        }
        None => {}
    }
    text.insert_str(0, &list_failed_tests(job, tests, &mut details));
    if details.contains_key("log") {
        calls.push_str(&format!("Log of job {}: {call}\n", plain_text(&field(&job.row, "id"))));
    }
    let status = if job.is_bridge { "no pipeline" } else { "failed" };
    items.put(mark, present_map(says), status, present_map(details), &text);
}

/// The failed tests of a job as text and as data.
fn list_failed_tests(job: &FailedJob, tests: &FailedTests, details: &mut Map<String, Value>) -> String {
    let (failed, left) = tests.of_job(&job.pipeline, &plain_text(&field(&job.row, "name")));
    if failed.is_empty() {
        return String::new();
    }
    let failed: Vec<String> =
        failed.iter().map(|line| mask_tokens(&present::cleaned(line)).into_owned()).collect();
    let more = if left > 0 { format!(", and {left} more") } else { String::new() };
    let text = format!("[failed tests: {}{more}]\n", failed.join("; "));
    details.insert("failed_tests".to_owned(), json!(failed));
    text
}

/// The excerpts of a log as text and as data, with the call for the whole log if it is truncated.
fn excerpted(failure: &ReportedFailure, details: &mut Map<String, Value>, call: &Value) -> String {
    let mut text = String::new();
    let mut stretches = Vec::new();
    let mut last = 0;
    for stretch in &failure.stretches {
        let (from, to) = stretch.lines;
        if from > last + 1 {
            text.push_str(&format!("[lines {}-{} are left out]\n", last + 1, from - 1));
        }
        text.push_str(&stretch.text);
        if !stretch.text.ends_with('\n') {
            text.push('\n');
        }
        last = to;
        stretches.push(json!({"lines": format!("{from}-{to}"), "text": stretch.text}));
    }
    if failure.total_lines == 0 {
        text.push_str("[the log is empty]\n");
    }
    details.extend(failure.line.map(|line| ("error_line".to_owned(), json!(line))));
    details.insert("lines".to_owned(), json!(failure.total_lines));
    details.insert("excerpt".to_owned(), Value::Array(stretches));
    let is_whole = failure.stretches.len() <= 1
        && failure.stretches.iter().all(|only| only.lines == (1, failure.total_lines));
    if !is_whole {
        details.insert("log".to_owned(), call.clone());
    }
    text
}

/// One line that identifies the pipeline.
fn heading(first: &Value, latest: Option<&str>, pipelines: &[Value]) -> String {
    let word = |name: &str| plain_or_quoted(&field(first, name));
    let sha: String = excerpt(&word("sha"), 8);
    let started = match pipelines.len() {
        0 | 1 => String::new(),
        several => format!(", with {} that it started", several - 1),
    };
    let place = match latest {
        Some(latest) if latest.starts_with("on ") => format!(", the latest {latest},"),
        Some(latest) => format!(", the latest {latest}, on {}", word("ref")),
        None => format!(" on {}", word("ref")),
    };
    let mut text = format!("Pipeline {} ({}){place} at {sha}{started}.\n", word("id"), word("status"));
    if let Some(errors) = first.get("yaml_errors").and_then(Value::as_str) {
        text.push_str(&present::marked(&mask_tokens(&present::cleaned(errors))));
    }
    text
}

/// Text if no job failed.
fn nothing(first: &Value) -> String {
    let status = plain_or_quoted(&field(first, "status"));
    if first.get("yaml_errors").is_some_and(Value::is_string) {
        return "no job ran: the configuration is not valid".to_owned();
    }
    format!("no job has failed; the pipeline is {status}")
}

fn present_map(map: Map<String, Value>) -> Map<String, Value> {
    params(present::cleaned_value(Value::Object(map)))
}

fn field(row: &Value, name: &str) -> Value {
    row.get(name).cloned().unwrap_or_default()
}

/// A word from GitLab inside a sentence: unchanged if it can be a field's name, else quoted.
fn plain_or_quoted(value: &Value) -> String {
    let text = plain_text(value);
    if present::is_plain(&text) { text } else { quote(&text) }
}
