//! Pipelines and their jobs: creation, logs, and the status of a pipeline.

use serde_json::{Value, json};

use super::row::{Fields, Row, object};
use super::state::World;

/// The jobs of a newly started pipeline: stage, name, status.
pub const JOBS: &[(&str, &str, &str)] = &[
    ("build", "build", "pending"),
    ("test", "unit", "created"),
    ("test", "lint", "created"),
    ("deploy", "deploy", "manual"),
];

/// Pipeline status for a job status: the first of these that any job has.
const STATES: &[(&str, &str)] = &[
    ("failed", "failed"),
    ("canceled", "canceled"),
    ("running", "running"),
    ("pending", "pending"),
    ("created", "created"),
    ("success", "success"),
    ("manual", "manual"),
    ("skipped", "skipped"),
];

/// The jobs whose states end a pipeline.
const OVER: &[&str] = &["success", "failed", "canceled", "skipped"];

/// The jobs whose failure is none of the pipeline's.
const MAY_FAIL: &[&str] = &["e2e"];

/// Why a job fails, where its script is not to blame.
const REASONS: &[(&str, &str)] = &[("publish", "runner_system_failure")];

/// Number of log lines before the failure of a failed test.
const LONG: u32 = 4_000;

/// Adds a pipeline with its jobs; gives the pipeline's row back.
pub fn start(
    world: &mut World,
    project: u64,
    row: Row,
    jobs: &[(&str, &str, &str)],
    user: Option<u64>,
) -> Row {
    let at = row.get("created_at").cloned();
    let pipeline = world.add(&format!("projects/{project}/pipelines"), row, user);
    let web = world.row_of(super::state::Place::project(project)).text("web_url").to_owned();
    let commit = world.repos.get(&project).and_then(|repo| repo.resolve(pipeline.text("sha")));
    let commit = commit.map(|commit| commit.json(&web)).unwrap_or_default();
    // One runner runs all jobs.
    let runner = world.show_as("runners", "job", &world.by_id("runners", 1));
    for (stage, name, status) in jobs {
        let ran = matches!(*status, "success" | "failed" | "running");
        let started = at.clone().filter(|_| ran);
        let artifacts = match (*name, *status) {
            ("build", "success") => artifacts(),
            ("unit", _) if ran => json!([
                {"file_type": "junit", "size": 412, "filename": "junit.xml.gz", "file_format": "gzip"},
                {"file_type": "trace", "size": 1500, "filename": "job.log", "file_format": null}
            ]),
            _ => json!([]),
        };
        let mut job = object(json!({
            "stage": stage, "name": name, "status": status, "ref": pipeline.text("ref"), "user": user,
            "commit": commit, "started_at": started, "artifacts": artifacts,
            "duration": if ran { json!(42.5) } else { Value::Null },
            "failure_reason": if *status == "failed" { json!(reason(name)) } else { Value::Null },
            "allow_failure": MAY_FAIL.contains(name),
            "pipeline": world.show_as("pipelines", "basic", &pipeline), "_pipeline": pipeline.num("id"), "_trace": trace(name, status),
            "runner": if ran { runner.clone() } else { Value::Null },
        }));
        if let Some(file) = artifacts_file(&job) {
            job.set("artifacts_file", file);
        }
        if let Some(at) = at.clone() {
            job.set("created_at", at);
        }
        world.add(&format!("projects/{project}/jobs"), job, user);
    }
    settle(world, project, pipeline.num("id"))
}

fn artifacts() -> Value {
    json!([
        {"file_type": "archive", "size": 138, "filename": "artifacts.zip", "file_format": "zip"},
        {"file_type": "trace", "size": 1500, "filename": "job.log", "file_format": null}
    ])
}

fn artifacts_file(job: &Row) -> Option<Value> {
    let files = job.list("artifacts");
    files
        .iter()
        .any(|file| file["file_type"] == "archive")
        .then(|| json!({"filename": "artifacts.zip", "size": 138}))
}

/// Brings a pipeline's state up to date with its jobs'; gives its row back.
pub fn settle(world: &mut World, project: u64, id: u64) -> Row {
    let shelf = format!("projects/{project}/jobs");
    let jobs: Vec<Row> =
        world.rows(&shelf).iter().filter(|job| job.num("_pipeline") == id).cloned().collect();
    let bridges = world.rows(&format!("projects/{project}/bridges")).iter();
    let bridges: Vec<Row> = bridges.filter(|bridge| bridge.num("_pipeline") == id).cloned().collect();
    let states: Vec<&str> = jobs.iter().chain(&bridges).map(counted_status).collect();
    let status = combined_status(&states);
    let pipelines = format!("projects/{project}/pipelines");
    let old = world.by_id(&pipelines, id);
    let finished = if OVER.contains(&status) { old.get("updated_at").cloned() } else { None };
    let at = old.get("updated_at").cloned();
    let web = old.text("web_url").to_owned();
    let values = object(json!({
        "status": status, "started_at": old.get("created_at"), "finished_at": finished,
        "duration": finished.as_ref().map(|_| 85), "updated_at": at,
        "detailed_status": {
            "icon": format!("status_{status}"), "text": status, "label": status, "group": status, "tooltip": status,
            "has_details": true, "details_path": web, "illustration": null, "favicon": null
        },
    }));
    let row = world.write(&pipelines, id, values);
    let shown = world.show_as("pipelines", "basic", &row);
    for job in &jobs {
        if let Some(job) = world.find_mut(&shelf, "id", &job.num("id").to_string()) {
            job.set("pipeline", shown.clone());
        }
    }
    row
}

/// The status of a job as it counts: a failed one with `allow_failure` does not fail the pipeline.
fn counted_status(job: &Row) -> &str {
    match (job.text("status"), job.flag("allow_failure")) {
        ("failed", true) => "success",
        (status, _) => status,
    }
}

/// The status of what has jobs in these states.
fn combined_status(states: &[&str]) -> &'static str {
    let active = ["running", "pending"].into_iter().find(|status| states.contains(status));
    let first = || STATES.iter().find(|(job, _)| states.contains(job)).map(|(_, state)| *state);
    active.or_else(first).unwrap_or("skipped")
}

/// The stages of a pipeline, from its jobs, which are listed with the newest first.
pub fn stages(jobs: &[Value]) -> Value {
    let jobs: Vec<Row> = jobs.iter().rev().cloned().map(object).collect();
    let mut names: Vec<&str> = jobs.iter().map(|job| job.text("stage")).collect();
    names.dedup();
    let stage = |name: &&str| {
        let own: Vec<&Row> = jobs.iter().filter(|job| job.text("stage") == *name).collect();
        let id = own.first().map(|job| job.num("id"));
        let states: Vec<&str> = own.iter().map(|job| counted_status(job)).collect();
        let status = combined_status(&states);
        let detailed = json!({
            "id": format!("{status}-{}", id.unwrap_or_default()), "icon": format!("status_{status}"), "text": status,
            "label": status, "group": status
        });
        json!({"id": id, "name": name, "status": status, "detailed_status": detailed, "jobs": own})
    };
    names.iter().map(stage).collect()
}

fn reason(name: &str) -> &'static str {
    REASONS.iter().find(|(job, _)| *job == name).map_or("script_failure", |(_, reason)| reason)
}

/// The log of a job, as a runner writes one: colours, and sections that can be folded.
pub fn trace(name: &str, status: &str) -> String {
    if !matches!(status, "success" | "failed" | "running") {
        return String::new();
    }
    let section = |section: &str, text: &str| {
        format!(
            "section_start:1771000000:{section}\r\u{1b}[0K\u{1b}[0K\u{1b}[36;1m{text}\u{1b}[0;m\n\
             section_end:1771000004:{section}\r\u{1b}[0K"
        )
    };
    let mut log = String::from("\u{1b}[0KRunning with sandbox-runner 18.9.0\u{1b}[0;m\n");
    log += &section("prepare_executor", "Preparing the workbench");
    log += &section("get_sources", "Getting the sources");
    log += &format!("section_start:1771000004:step_script\r\u{1b}[0K\u{1b}[32;1m$ cargo {name}\u{1b}[0;m\n");
    match (name, status) {
        ("unit", "failed") => {
            for number in 1..=LONG {
                log += &format!("test gear::turns_{number} ... \u{1b}[32mok\u{1b}[0m\n");
            }
            log += "test spring::holds ... \u{1b}[31mFAILED\u{1b}[0m\n\nassertion `left == right` failed\n  left: 4\n right: 5\n";
            log += "at tests/spring.rs:3\n";
        }
        ("compile", "failed") => {
            log += "   Compiling widget-parts v0.3.0\nwarning: unused variable: `error`\n";
            log += "\u{1b}[31;1merror[E0425]\u{1b}[0m: cannot find value `teeth` in this scope\n --> parts/src/lib.rs:7:5\n";
            log += "error: could not compile `widget-parts`\n";
        }
        ("e2e", "failed") => {
            log += "Error: the window did not open in 30000 ms\n    at open (e2e/window.js:12:9)\n"
        }
        ("lint", "failed") => log += "\u{1b}[31;1mwarning: this spring is never used\u{1b}[0;m\n",
        _ => log += "everything turns\n",
    }
    log += "section_end:1771000060:step_script\r\u{1b}[0K";
    log += match status {
        "success" => "\u{1b}[32;1mJob succeeded\u{1b}[0;m\n",
        "failed" => "\u{1b}[31;1mERROR: Job failed: exit code 101\u{1b}[0;m\n",
        _ => "",
    };
    log
}
