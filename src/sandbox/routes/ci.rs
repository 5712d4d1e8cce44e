//! CI/CD apart from pipelines: lint, triggers, schedules, environments, runners.

use serde_json::{Value, json};

use crate::sandbox::access::{is_admin, level};
use crate::sandbox::answer::{Answer, created, ok};
use crate::sandbox::errors::Fault;
use crate::sandbox::level::Level;
use crate::sandbox::pipeline::BASIC;
use crate::sandbox::reply::Reply;
use crate::sandbox::request::Request;
use crate::sandbox::route::{Route, Rule, delete, get, post, put};
use crate::sandbox::row::{Fields, Row, is};
use crate::sandbox::state::Place;

pub const ROUTES: &[Route] = &[
    get("/projects/:id/ci/lint", lint),
    post("/projects/:id/ci/lint", lint).rules(&[Rule::Required("content")]),
    post("/projects/:id/trigger/pipeline", trigger)
        .needs(Level::Anyone)
        .rules(&[Rule::Required("ref"), Rule::Required("token")]),
    get(SCHEDULE, schedule),
    post("/projects/:id/pipeline_schedules/:pipeline_schedule_id/play", play_schedule),
    post("/projects/:id/pipeline_schedules/:pipeline_schedule_id/take_ownership", own_schedule),
    get("/projects/:id/pipeline_schedules/:pipeline_schedule_id/pipelines", schedule_pipelines),
    post("/projects/:id/environments/:environment_id/stop", stop),
    delete("/projects/:id/environments/:environment_id", remove_environment),
    get("/projects/:id/deployments", deployments).rules(&[
        Rule::OneOf("order_by", &["id", "iid", "created_at", "updated_at", "finished_at", "ref"]),
        Rule::OneOf("sort", &["asc", "desc"]),
        Rule::OneOf("status", &["created", "running", "success", "failed", "canceled", "blocked"]),
    ]),
    post("/projects/:id/deployments", deploy).rules(DEPLOYMENT),
    post("/projects/:id/hooks/:hook_id/test/:trigger", test_hook).needs(Level::Maintainer),
    post("/groups/:id/hooks/:hook_id/test/:trigger", test_hook).needs(Level::Owner),
    get("/runners", own_runners).needs(Level::User),
    get("/runners/all", all_runners).needs(Level::Admin),
    get("/runners/:runner_id", runner).needs(Level::User),
    put("/runners/:runner_id", update_runner),
    delete("/runners/:runner_id", remove_runner),
    get("/runners/:runner_id/jobs", runner_jobs).needs(Level::User),
    get("/(projects|groups)/:id/runners", place_runners).needs(Level::Maintainer),
];

/// Checks the configuration as far as lint needs it: jobs need a script.
fn lint(request: &mut Request<'_>) -> Answer {
    let given = request.args.text("content");
    let held = || {
        let commit = request.commit_at("content_ref", "Reference")?;
        let bytes = commit.tree.get(".gitlab-ci.yml").cloned();
        Ok::<_, Fault>(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    let content = match given {
        Some(content) => content,
        None => held()?.ok_or_else(|| Fault::refused(404, "404 Not Found"))?,
    };
    let errors = problems(&content);
    ok(json!({
        "valid": errors.is_empty(), "merged_yaml": if errors.is_empty() { json!(content) } else { Value::Null },
        "errors": errors, "warnings": [], "includes": []
    }))
}

/// Top-level words of a configuration that are no jobs.
const GLOBAL: &[&str] = &[
    "stages",
    "variables",
    "default",
    "include",
    "workflow",
    "image",
    "services",
    "cache",
    "before_script",
    "after_script",
];

fn problems(content: &str) -> Vec<String> {
    let mut jobs: Vec<(String, bool)> = Vec::new();
    for line in content.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
    {
        let key = line.split(':').next().unwrap_or_default();
        if line.starts_with([' ', '\t', '-']) {
            if let Some((_, scripted)) =
                jobs.last_mut().filter(|_| ["script", "trigger", "run", "extends"].contains(&key.trim()))
            {
                *scripted = true;
            }
        } else if !line.contains(':') {
            return vec!["Invalid configuration format".to_owned()];
        } else {
            jobs.push((key.to_owned(), GLOBAL.contains(&key) || key.starts_with('.')));
        }
    }
    if !jobs.iter().any(|(name, _)| !GLOBAL.contains(&name.as_str()) && !name.starts_with('.')) {
        return vec!["jobs config should contain at least one visible job".to_owned()];
    }
    let bad = jobs.iter().filter(|(_, scripted)| !scripted);
    bad.map(|(name, _)| format!("jobs {name} config should implement the script:, run:, or trigger: keyword"))
        .collect()
}

fn trigger(request: &mut Request<'_>) -> Answer {
    let token = request.args.text("token").unwrap_or_default();
    let row =
        request.world.find(&request.shelf("triggers"), "token", &token).cloned().ok_or(Fault::missing(""))?;
    request.user = Some(row.num("owner"));
    let branch = request.args.text("ref").unwrap_or_default();
    let given = request.args.get("variables").cloned().map(crate::sandbox::row::object).unwrap_or_default();
    let variables: Vec<Value> = given
        .iter()
        .map(|(key, value)| json!({"variable_type": "env_var", "key": key, "value": value, "raw": false}))
        .collect();
    let row = super::pipelines::begin(request, &branch, "trigger", Value::from(variables))?;
    created(request.show_without(&row, &["name"]))
}

const SCHEDULE: &str = "/projects/:id/pipeline_schedules/:pipeline_schedule_id";

/// A schedule alone comes with its variables.
fn schedule(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.subject(SCHEDULE)?;
    let variables = request.world.rows(&format!("{shelf}/{}/variables", row.num("id")));
    let variables: Vec<Value> = variables.iter().map(|row| request.show(row)).collect();
    let mut shown = request.world.show(&row);
    shown.set("variables", variables);
    ok(shown)
}

fn play_schedule(request: &mut Request<'_>) -> Answer {
    let (shelf, schedule) = request.subject(SCHEDULE)?;
    let row = super::pipelines::begin(request, schedule.text("ref"), "schedule", json!([]))?;
    let last = request.show_fields(&row, BASIC);
    request.write(&shelf, schedule.num("id"), json!({"last_pipeline": last}));
    created(json!({"message": "201 Created"}))
}

fn own_schedule(request: &mut Request<'_>) -> Answer {
    let (shelf, schedule) = request.subject(SCHEDULE)?;
    let row = request.write(&shelf, schedule.num("id"), json!({"owner": request.user}));
    created(request.show(&row))
}

fn schedule_pipelines(request: &mut Request<'_>) -> Answer {
    request.subject(SCHEDULE)?;
    let mut rows = request.across("pipelines");
    rows.retain(|row| row.text("source") == "schedule");
    request.page(rows.iter().map(|row| request.show_fields(row, BASIC)).collect())
}

/// Fields of an environment where a deployment shows it.
const ENVIRONMENT_FIELDS: &[&str] = &["id", "name", "slug", "external_url", "created_at", "updated_at"];

const ENVIRONMENT: &str = "/projects/:id/environments/:environment_id";

fn stop(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.subject(ENVIRONMENT)?;
    let row = request.write(&shelf, row.num("id"), json!({"state": "stopped"}));
    ok(request.show(&row))
}

/// Only a stopped environment can be deleted.
fn remove_environment(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.subject(ENVIRONMENT)?;
    if row.text("state") != "stopped" {
        return Err(Fault::Forbidden);
    }
    request.world.remove(&shelf, |other| other.num("id") == row.num("id"));
    Ok(Reply::empty())
}

const DEPLOYMENT: &[Rule] = &[
    Rule::Required("environment"),
    Rule::Required("sha"),
    Rule::Required("ref"),
    Rule::Required("tag"),
    Rule::Required("status"),
    Rule::OneOf("status", &["running", "success", "failed", "canceled"]),
];

fn deployments(request: &mut Request<'_>) -> Answer {
    let args = &request.args;
    let mut rows = request.world.rows(&request.shelf("deployments")).to_vec();
    if let Some(name) = args.text("environment") {
        let of = |row: &Row| {
            row.get("environment").and_then(|of| of.get("name")).and_then(Value::as_str)
                == Some(name.as_str())
        };
        rows.retain(of);
    }
    if let Some(status) = args.text("status") {
        rows.retain(|row| row.text("status") == status);
    }
    for (name, is_after) in [("updated_after", true), ("updated_before", false)] {
        if let Some(time) = args.text(name) {
            rows.retain(|row| (row.text("updated_at") >= time.as_str()) == is_after);
        }
    }
    let field = args.text("order_by").unwrap_or_else(|| "id".to_owned());
    let key = |row: &Row| (row.num(&field), row.text(&field).to_owned());
    rows.sort_by_key(key);
    if args.text("sort").as_deref() == Some("desc") {
        rows.reverse();
    }
    request.page_of("deployments", &rows)
}

/// Records a deployment to an environment, which is made where there is none of that name.
fn deploy(request: &mut Request<'_>) -> Answer {
    let (name, args) = (request.args.text("environment").unwrap_or_default(), &request.args);
    args.without_trace(&["tag"]);
    let values = json!({"sha": args.text("sha"), "ref": args.text("ref"), "status": args.text("status")});
    let environments = request.shelf("environments");
    let environment = match request.world.find(&environments, "name", &name) {
        Some(row) => row.clone(),
        None => request.add(&environments, json!({"name": name})),
    };
    let mut values = crate::sandbox::row::object(values);
    values.set("environment", request.show_fields(&environment, ENVIRONMENT_FIELDS));
    let row = request.add(&request.shelf("deployments"), Value::Object(values));
    created(request.show(&row))
}

fn test_hook(request: &mut Request<'_>) -> Answer {
    let shelf = request.shelf("hooks");
    request.row_on(&shelf, "hook_id")?;
    created(json!({"message": "201 Created"}))
}

/// True if the user runs a project that a runner serves.
fn runs(request: &Request<'_>, runner: &Row) -> bool {
    let maintains =
        |id: &u64| level(request.world, request.user, Some(Place::project(*id))) >= Level::Maintainer;
    is_admin(request.world, request.user) || runner.nums("_projects").iter().any(maintains)
}

fn page(request: &Request<'_>, mut rows: Vec<Row>) -> Answer {
    for (parameter, field) in [("type", "runner_type"), ("status", "status"), ("paused", "paused")] {
        if let Some(wanted) = request.args.text(parameter) {
            rows.retain(|row| is(row, field, &wanted) || row.flag(field).to_string() == wanted);
        }
    }
    request.page_of("runners", &rows)
}

fn own_runners(request: &mut Request<'_>) -> Answer {
    let rows = request.world.rows("runners").iter().filter(|row| runs(request, row)).cloned().collect();
    page(request, rows)
}

fn all_runners(request: &mut Request<'_>) -> Answer {
    let rows = request.world.rows("runners").to_vec();
    page(request, rows)
}

fn place_runners(request: &mut Request<'_>) -> Answer {
    let ids: Vec<u64> = request.projects().iter().map(|row| row.num("id")).collect();
    let serves =
        |row: &&Row| row.flag("is_shared") || row.nums("_projects").iter().any(|id| ids.contains(id));
    let rows = request.world.rows("runners").iter().filter(serves).cloned().collect();
    page(request, rows)
}

fn the_runner(request: &Request<'_>) -> Result<Row, Fault> {
    let row = request.world.find("runners", "id", request.param("runner_id")).cloned();
    let row = row.ok_or(Fault::missing("Runner"))?;
    if runs(request, &row) { Ok(row) } else { Err(Fault::Forbidden) }
}

fn runner(request: &mut Request<'_>) -> Answer {
    let row = the_runner(request)?;
    let mut shown = request.world.show(&row);
    let fields = ["id", "name", "name_with_namespace", "path", "path_with_namespace"];
    let project = |id: u64| {
        let row = request.world.row_of(Place::project(id));
        Value::Object(
            fields
                .iter()
                .map(|name| ((*name).to_owned(), row.get(*name).cloned().unwrap_or_default()))
                .collect(),
        )
    };
    shown.set("projects", row.nums("_projects").into_iter().map(project).collect::<Vec<_>>());
    ok(shown)
}

fn update_runner(request: &mut Request<'_>) -> Answer {
    let row = the_runner(request)?;
    let kind = request.world.kinds.named("runners").cloned().ok_or(Fault::Nowhere)?;
    let given = kind.given(&request.args);
    let row = request.world.write("runners", row.num("id"), given);
    ok(request.show(&row))
}

fn remove_runner(request: &mut Request<'_>) -> Answer {
    let row = the_runner(request)?;
    request.world.remove("runners", |other| other.num("id") == row.num("id"));
    Ok(Reply::empty())
}

fn runner_jobs(request: &mut Request<'_>) -> Answer {
    let runner = the_runner(request)?;
    let by = |row: &Row| {
        row.get("runner").and_then(|by| by.get("id")).and_then(Value::as_u64) == Some(runner.num("id"))
    };
    let identity =
        ["id", "description", "name", "name_with_namespace", "path", "path_with_namespace", "created_at"];
    let mut rows = Vec::new();
    for project in request.projects() {
        let identity = request.show_fields(&project, &identity);
        let jobs = request.world.rows(&format!("projects/{}/jobs", project.num("id"))).iter();
        for job in jobs.filter(|job| by(job)) {
            let mut job = job.clone();
            job.retain(|name, _| super::jobs::BASIC.contains(&name.as_str()));
            job.set("project", identity.clone());
            rows.push(job);
        }
    }
    super::jobs::page(request, rows)
}
