//! Pipelines.

use crate::filter::{keep_between, keep_equal, sort_by};
use crate::pipeline::{JOBS, settle, start};
use crate::prelude::*;

use super::rows;

/// The states that a list can be narrowed to.
const STATUS: Rule = Rule::OneOf(
    "status",
    "created waiting_for_resource preparing pending running success failed canceled canceling skipped manual scheduled",
);

pub const ROUTES: &[Route] = &[
    get("/pipelines", own).needs(Level::User),
    get("/projects/:id/pipelines", list).rules(&[
        STATUS,
        Rule::OneOf("scope", "running pending finished branches tags"),
        Rule::OneOf("order_by", "id status ref updated_at user_id"),
    ]),
    get("/projects/:id/pipelines/latest", latest),
    get("/projects/:id/pipelines/:pipeline_id", rows::show),
    post("/projects/:id/pipeline", create).rules(&[Rule::Required("ref")]),
    post("/projects/:id/pipelines/:pipeline_id/cancel", cancel),
    post("/projects/:id/pipelines/:pipeline_id/retry", retry),
    delete("/projects/:id/pipelines/:pipeline_id", remove).needs(Level::Owner),
    get("/projects/:id/pipelines/:pipeline_id/jobs", jobs),
    get("/projects/:id/pipelines/:pipeline_id/(bridges|trigger_jobs)", bridges),
    get("/projects/:id/pipelines/:pipeline_id/variables", variables),
    get("/projects/:id/pipelines/:pipeline_id/test_report", test_report),
    get("/projects/:id/pipelines/:pipeline_id/test_report_summary", test_summary),
];

/// The source of a pipeline that another pipeline of its project started. Lists leave it out unless they are asked for it
/// (app/finders/ci/pipelines_finder.rb), and it is never the latest of a branch.
const CHILD: &str = "parent_pipeline";

fn list(request: &mut Request<'_>) -> Answer {
    let args = &request.args;
    let mut rows = request.across("pipelines");
    if args.text("source").as_deref() != Some(CHILD) {
        rows.retain(|row| row.text("source") != CHILD);
    }
    keep_equal(args, &["status", "ref", "sha", "source", "name"], &mut rows);
    keep_between(args, &["updated_at", "created_at"], &mut rows);
    if let Some(user) = args.text("username").map(|name| request.world.user_named(&name)) {
        rows.retain(|row| Some(row.num("user")) == user);
    }
    if let Some(broken) = args.maybe("yaml_errors") {
        rows.retain(|row| row.blank("yaml_errors") != broken);
    }
    match args.text("scope").as_deref() {
        Some("finished") => rows.retain(|row| !row.blank("finished_at")),
        Some(state @ ("running" | "pending")) => rows.retain(|row| row.text("status") == state),
        _ => {}
    }
    sort_by(args, "id", "desc", &mut rows);
    request.page_of("pipelines", &rows)
}

/// The pipelines of all projects that the token's user started, the newest first.
fn own(request: &mut Request<'_>) -> Answer {
    let me = request.me()?;
    let mut rows = request.across("pipelines");
    rows.retain(|row| row.num("user") == me);
    keep_equal(&request.args, &["status", "ref", "source"], &mut rows);
    sort_by(&request.args, "id", "desc", &mut rows);
    request.page_of("pipelines", &rows)
}

fn latest(request: &mut Request<'_>) -> Answer {
    let branch = request.args.text("ref").unwrap_or_else(|| request.default_branch());
    let is_of_branch = |row: &Row| row.text("ref") == branch && row.text("source") != CHILD;
    let rows = request.across("pipelines").into_iter().filter(is_of_branch);
    let row = rows.max_by_key(|row| row.num("id")).ok_or(Fault::Forbidden)?;
    ok(request.show(&row))
}

/// Starts a pipeline on a branch or tag.
pub fn begin(request: &mut Request<'_>, branch: &str, source: &str, variables: Value) -> Result<Row, Fault> {
    let commit = request.repo()?.resolve(branch).cloned();
    let commit = commit.ok_or_else(|| Fault::Refused(400, json!({"base": ["Reference not found"]})))?;
    if !commit.tree.contains_key(".gitlab-ci.yml") {
        return Err(Fault::Refused(400, json!({"base": ["Missing CI config file"]})));
    }
    let values = object(json!({"ref": branch, "sha": commit.id, "source": source, "_variables": variables}));
    let project = request.place_id();
    Ok(start(request.world, project, values, JOBS, request.user))
}

fn create(request: &mut Request<'_>) -> Answer {
    let branch = request.args.text("ref").unwrap_or_default();
    let variables: Vec<Value> = request
        .args
        .rows("variables")
        .iter()
        .map(|row| json!({"variable_type": row.get("variable_type").cloned().unwrap_or_else(|| json!("env_var")), "key": row.get("key"), "value": row.get("value"), "raw": false}))
        .collect();
    let row = begin(request, &branch, "api", Value::from(variables))?;
    created(request.show(&row))
}

/// Moves the jobs of a pipeline that are in one of some states to another.
fn turn(request: &mut Request<'_>, from: &[&str], to: &str) -> Result<Value, Fault> {
    let (_, row) = request.found()?;
    let shelf = request.shelf("jobs");
    for job in jobs_of(request, &row).iter().filter(|job| from.contains(&job.text("status"))) {
        request.write(&shelf, job.num("id"), json!({"status": to, "failure_reason": null}));
    }
    let project = request.place_id();
    let row = settle(request.world, project, row.num("id"));
    Ok(request.show_without(&row, &["name"]))
}

fn cancel(request: &mut Request<'_>) -> Answer {
    ok(turn(request, &["created", "pending", "running", "manual"], "canceled")?)
}

fn retry(request: &mut Request<'_>) -> Answer {
    created(turn(request, &["failed", "canceled"], "pending")?)
}

fn remove(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.found()?;
    request.world.remove(&request.shelf("jobs"), |job| job.num("_pipeline") == row.num("id"));
    request.delete(&shelf, &row)
}

fn jobs_of(request: &Request<'_>, pipeline: &Row) -> Vec<Row> {
    let jobs = request.world.rows(&request.shelf("jobs")).iter();
    jobs.filter(|job| job.num("_pipeline") == pipeline.num("id")).cloned().collect()
}

fn jobs(request: &mut Request<'_>) -> Answer {
    let (_, row) = request.found()?;
    let rows = jobs_of(request, &row);
    super::jobs::page(request, rows)
}

fn bridges(request: &mut Request<'_>) -> Answer {
    let (_, row) = request.found()?;
    let scope = super::jobs::scope(request)?;
    let mut rows = request.across("bridges");
    rows.retain(|bridge| bridge.num("_pipeline") == row.num("id"));
    rows.retain(|bridge| scope.is_empty() || scope.iter().any(|state| bridge.text("status") == state));
    rows.reverse();
    let shown = rows.iter().map(|bridge| {
        let mut shown = object(request.show(bridge));
        let downstream = bridge.get("_downstream").and_then(Value::as_u64).unwrap_or_default();
        let found = request.world.anywhere("pipelines", downstream);
        let shown_of = |(_, row): (String, Row)| request.show_as("pipelines", "basic", &row);
        shown.set("downstream_pipeline", found.map_or(Value::Null, shown_of));
        Value::Object(shown)
    });
    let shown = shown.collect();
    request.page(shown)
}

fn variables(request: &mut Request<'_>) -> Answer {
    let (_, row) = request.found()?;
    ok(row.get("_variables").cloned().unwrap_or_else(|| json!([])))
}

/// The counts of a test report: each test job counts as one suite of two cases.
fn suites(request: &Request<'_>, pipeline: &Row) -> (Vec<Value>, u64, u64) {
    let (mut good, mut bad) = (0, 0);
    let mut suites = Vec::new();
    for job in
        jobs_of(request, pipeline).iter().filter(|job| job.text("name") == "unit" && !job.blank("started_at"))
    {
        let failed = job.text("status") == "failed";
        let case = |name: &str, failed: bool| {
            let output = if failed { json!("left: 4, right: 5") } else { Value::Null };
            json!({"status": if failed { "failed" } else { "success" }, "name": name, "classname": "widget", "file": "tests/spring.rs", "execution_time": 0.2, "system_output": output, "stack_trace": null, "recent_failures": null})
        };
        good += if failed { 1 } else { 2 };
        bad += u64::from(failed);
        suites.push(json!({
            "name": job.text("name"), "total_time": 0.4, "total_count": 2, "success_count": if failed { 1 } else { 2 },
            "failed_count": u64::from(failed), "skipped_count": 0, "error_count": 0, "suite_error": null,
            "test_cases": [case("gear::turns", false), case("spring::holds", failed)]
        }));
    }
    (suites, good, bad)
}

fn test_report(request: &mut Request<'_>) -> Answer {
    let (_, row) = request.found()?;
    let (suites, good, bad) = suites(request, &row);
    ok(
        json!({"total_time": 0.4, "total_count": good + bad, "success_count": good, "failed_count": bad, "skipped_count": 0, "error_count": 0, "test_suites": suites}),
    )
}

fn test_summary(request: &mut Request<'_>) -> Answer {
    let (_, row) = request.found()?;
    let (_, good, bad) = suites(request, &row);
    ok(
        json!({"total": {"time": 0.4, "count": good + bad, "success": good, "failed": bad, "skipped": 0, "error": 0, "suite_error": null}, "test_suites": []}),
    )
}
