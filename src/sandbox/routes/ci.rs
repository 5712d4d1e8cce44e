//! CI/CD apart from pipelines: lint, triggers, schedules, environments, runners.

use crate::filter::{keep_between, keep_equal, sort_by};
use crate::prelude::*;

pub const ROUTES: &[Route] = &[
    get("/projects/:id/ci/lint", lint),
    post("/projects/:id/ci/lint", lint).rules(&[Rule::Required("content")]),
    post("/projects/:id/trigger/pipeline", trigger)
        .needs(Level::Anyone)
        .rules(&[Rule::Required("ref"), Rule::Required("token")]),
    get("/projects/:id/pipeline_schedules/:pipeline_schedule_id", schedule),
    post("/projects/:id/pipeline_schedules/:pipeline_schedule_id/play", play_schedule),
    get("/projects/:id/pipeline_schedules/:pipeline_schedule_id/pipelines", schedule_pipelines),
    get("/projects/:id/environments/:environment_id", environment),
    post("/projects/:id/environments/:environment_id/stop", stop),
    delete("/projects/:id/environments/:environment_id", remove_environment),
    get("/projects/:id/deployments", deployments).rules(&[
        Rule::OneOf("order_by", "id iid created_at updated_at finished_at ref"),
        Rule::OneOf("sort", "asc desc"),
        Rule::OneOf("status", "created running success failed canceled blocked"),
    ]),
    post("/projects/:id/deployments", create_deployment).rules(&[
        Rule::Required("environment"),
        Rule::Required("sha"),
        Rule::Required("ref"),
        Rule::Required("tag"),
        Rule::Required("status"),
    ]),
    put("/projects/:id/deployments/:deployment_id", update_deployment)
        .rules(&[Rule::OneOf("status", "created running success failed canceled blocked")]),
    delete("/projects/:id/deployments/:deployment_id", remove_deployment),
    post("/(projects|groups)/:id/hooks/:hook_id/test/:trigger", test_hook).needs_manager(),
    get("/runners", own_runners).needs(Level::User),
    get("/runners/all", all_runners).needs(Level::User),
    get("/runners/:runner_id", runner).needs(Level::User),
    put("/runners/:runner_id", update_runner),
    get("/runners/:runner_id/jobs", runner_jobs).needs(Level::User),
    get("/(projects|groups)/:id/runners", place_runners).needs(Level::Maintainer),
];

/// Checks the configuration as far as lint needs it: jobs need a script.
fn lint(request: &mut Request<'_>) -> Answer {
    let given = request.args.text("content");
    let held = || {
        let commit = request.commit_at("content_ref", "Commit")?;
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

/// Top-level words of a configuration that are no jobs, separated by spaces.
const GLOBAL: &str =
    "stages variables default include workflow image services cache before_script after_script";

/// True for a top-level word that is no job that runs.
fn is_hidden(name: &str) -> bool {
    name.starts_with('.') || GLOBAL.split(' ').any(|word| word == name)
}

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
            jobs.push((key.to_owned(), is_hidden(key)));
        }
    }
    if jobs.iter().all(|(name, _)| is_hidden(name)) {
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
    let given = request.args.get("variables").cloned().map(object).unwrap_or_default();
    let variables: Vec<Value> = given
        .iter()
        .map(|(key, value)| json!({"variable_type": "env_var", "key": key, "value": value, "raw": false}))
        .collect();
    let row = super::pipelines::begin(request, &branch, "trigger", Value::from(variables))?;
    created(request.show_without(&row, &["name"]))
}

/// A schedule alone comes with its variables.
fn schedule(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.found()?;
    let variables = request.world.rows(&format!("{shelf}/{}/variables", row.num("id")));
    let variables: Vec<Value> = variables.iter().map(|row| request.show(row)).collect();
    let mut shown = request.world.show(&row);
    shown.set("variables", variables);
    ok(shown)
}

fn play_schedule(request: &mut Request<'_>) -> Answer {
    let (shelf, schedule) = request.found()?;
    let variables = request.world.rows(&format!("{shelf}/{}/variables", schedule.num("id"))).iter();
    let variables: Value = variables.map(|row| request.show_as("variables", "pipeline", row)).collect();
    let row = super::pipelines::begin(request, schedule.text("ref"), "schedule", variables)?;
    let pipelines = request.shelf("pipelines");
    request.write(&pipelines, row.num("id"), json!({"_schedule": schedule.num("id")}));
    let last = request.show_as("pipelines", "basic", &row);
    request.write(&shelf, schedule.num("id"), json!({"last_pipeline": last}));
    created(json!({"message": "201 Created"}))
}

fn schedule_pipelines(request: &mut Request<'_>) -> Answer {
    let (_, schedule) = request.found()?;
    let mut rows = request.across("pipelines");
    rows.retain(|row| row.num("_schedule") == schedule.num("id"));
    request.page(rows.iter().map(|row| request.show_as("pipelines", "basic", row)).collect())
}

/// An environment with what was deployed on it last (lib/api/entities/environment.rb).
fn environment(request: &mut Request<'_>) -> Answer {
    let (_, row) = request.found()?;
    let is_there = |deployment: &&Row| {
        let of = deployment.get("environment").and_then(|of| of.get("id")).and_then(Value::as_u64);
        of == Some(row.num("id")) && deployment.text("status") == "success"
    };
    let deployments = request.world.rows(&request.shelf("deployments"));
    let last = deployments.iter().filter(is_there).max_by_key(|deployment| deployment.num("id")).cloned();
    let last = last.map_or(Value::Null, |deployment| request.show(&deployment));
    let mut shown = object(request.show(&row));
    shown.set("last_deployment", last);
    ok(Value::Object(shown))
}

fn stop(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.found()?;
    let row = request.write(&shelf, row.num("id"), json!({"state": "stopped"}));
    ok(request.show(&row))
}

/// Only a stopped environment can be deleted.
fn remove_environment(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.found()?;
    if row.text("state") != "stopped" {
        return Err(Fault::Forbidden);
    }
    request.delete(&shelf, &row)
}

/// A deployment that no job made. An environment that is not there is made with it.
fn create_deployment(request: &mut Request<'_>) -> Answer {
    let name = request.args.text("environment").unwrap_or_default();
    let shelf = request.shelf("environments");
    let known = request.world.find(&shelf, "name", &name).cloned();
    let environment = known.unwrap_or_else(|| request.add(&shelf, json!({ "name": name })));
    let mut values = request.given_of("deployments", &["ref", "sha", "status"]);
    values.set("environment", request.show_as("environments", "deployed", &environment));
    request.args.without_trace(&["tag"]);
    let row = request.world.add(&request.shelf("deployments"), values, request.user);
    created(request.show(&row))
}

fn update_deployment(request: &mut Request<'_>) -> Answer {
    if request.row()?.get("deployable").is_some_and(|job| !job.is_null()) {
        let text = "Deployments created using GitLab CI can not be updated using the API";
        return Err(Fault::refused(403, &format!("403 Forbidden - {text}")));
    }
    super::rows::update(request)
}

/// The last deployment of an environment that succeeded is not deleted (app/services/ci/deployments/destroy_service.rb).
fn remove_deployment(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = request.found()?;
    let environment = |row: &Row| row.get("environment").and_then(|of| of.get("id")).cloned();
    let succeeded =
        |other: &&Row| other.text("status") == "success" && environment(other) == environment(&row);
    if row.text("status") == "running" {
        return Err(Fault::refused(400, "Cannot destroy running deployment"));
    }
    let last = request.world.rows(&shelf).iter().filter(succeeded).map(|row| row.num("id")).max();
    if last == Some(row.num("id")) {
        return Err(Fault::refused(400, "Deployment currently deployed to environment"));
    }
    request.delete(&shelf, &row)
}

fn deployments(request: &mut Request<'_>) -> Answer {
    let order = request.args.peek("order_by").and_then(Value::as_str).unwrap_or_default();
    let order = order.to_owned();
    // app/finders/deployments_finder.rb
    for field in ["updated", "finished"] {
        let is_given = |bound: &&str| request.args.peek(&format!("{field}_{bound}")).is_some();
        let is_filtered = ["before", "after"].iter().any(is_given);
        if (order == format!("{field}_at")) != is_filtered {
            let text = format!("`{field}_at` filter and `{field}_at` sorting must be paired");
            return Err(Fault::refused(400, &text));
        }
    }
    if order == "finished_at" && request.args.peek("status").and_then(Value::as_str) != Some("success") {
        let text = "`finished_at` filter must be combined with `success` status filter.";
        return Err(Fault::refused(400, text));
    }
    let mut rows = request.world.rows(&request.shelf("deployments")).to_vec();
    for row in &mut rows {
        let end = row.get("deployable").and_then(|job| job.get("finished_at")).filter(|end| !end.is_null());
        let end = end.or_else(|| row.get("updated_at")).cloned();
        row.insert("finished_at".to_owned(), end.unwrap_or_default());
    }
    if let Some(name) = request.args.text("environment") {
        let of = |row: &Row| row.get("environment").and_then(|of| of.get("name")) == Some(&json!(name));
        rows.retain(of);
    }
    keep_equal(&request.args, &["status"], &mut rows);
    keep_between(&request.args, &["updated_at", "finished_at"], &mut rows);
    sort_by(&request.args, "id", "asc", &mut rows);
    for row in &mut rows {
        row.shift_remove("finished_at");
    }
    request.page_of("deployments", &rows)
}

fn test_hook(request: &mut Request<'_>) -> Answer {
    request.row_on(&request.shelf("hooks"), "hook_id")?;
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
    if !is_admin(request.world, request.user) {
        return Err(Fault::Forbidden);
    }
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
    let project = |id: u64| request.show_as("projects", "named", &request.world.row_of(Place::project(id)));
    shown.set("projects", row.nums("_projects").into_iter().map(project).collect::<Vec<_>>());
    ok(shown)
}

fn update_runner(request: &mut Request<'_>) -> Answer {
    let row = the_runner(request)?;
    let row = request.world.write("runners", row.num("id"), request.given("runners"));
    ok(request.show(&row))
}

fn runner_jobs(request: &mut Request<'_>) -> Answer {
    let runner = the_runner(request)?;
    let by = |row: &Row| {
        row.get("runner").and_then(|by| by.get("id")).and_then(Value::as_u64) == Some(runner.num("id"))
    };
    let mut rows = Vec::new();
    for project in request.projects() {
        let identity = request.show_as("projects", "identity", &project);
        let jobs = request.world.rows(&format!("projects/{}/jobs", project.num("id"))).iter();
        for job in jobs.filter(|job| by(job)) {
            let mut job = object(request.show_as("jobs", "basic", job));
            job.set("project", identity.clone());
            rows.push(job);
        }
    }
    super::jobs::page(request, rows)
}
