//! Jobs, their logs and their artifacts.

use serde_json::json;

use crate::sandbox::answer::{Answer, created, ok};
use crate::sandbox::errors::Fault;
use crate::sandbox::pipeline::{settle, trace};
use crate::sandbox::reply::Reply;
use crate::sandbox::request::Request;
use crate::sandbox::route::{Route, delete, get, post};
use crate::sandbox::row::{Fields, Row, object};

use super::files::EMPTY_ZIP;

const ONE: &str = "/projects/:id/jobs/:job_id";

pub const ROUTES: &[Route] = &[
    get("/projects/:id/jobs", list),
    get(ONE, show),
    get("/projects/:id/jobs/:job_id/trace", log),
    post("/projects/:id/jobs/:job_id/retry", retry),
    post("/projects/:id/jobs/:job_id/cancel", cancel),
    post("/projects/:id/jobs/:job_id/play", play),
    post("/projects/:id/jobs/:job_id/erase", erase),
    get("/projects/:id/jobs/:job_id/artifacts", artifacts),
    delete("/projects/:id/jobs/:job_id/artifacts", drop_artifacts),
    post("/projects/:id/jobs/:job_id/artifacts/keep", keep_artifacts),
    get("/projects/:id/jobs/artifacts/:ref_name/download", artifacts_of_ref),
];

/// A page of jobs, newest first, narrowed to the states in `scope`.
pub fn page(request: &Request<'_>, mut rows: Vec<Row>) -> Answer {
    let scope = request.args.list("scope");
    rows.retain(|row| scope.is_empty() || scope.iter().any(|state| row.text("status") == state));
    rows.sort_by_key(|row| std::cmp::Reverse(row.num("id")));
    request.page_of("jobs", &rows)
}

fn list(request: &mut Request<'_>) -> Answer {
    let states = [
        "created",
        "pending",
        "running",
        "failed",
        "success",
        "canceled",
        "skipped",
        "waiting_for_resource",
        "manual",
        "scheduled",
        "preparing",
        "canceling",
    ];
    if request.args.list("scope").iter().any(|state| !states.contains(&state.as_str())) {
        return Err(Fault::Bad("scope does not have a valid value".to_owned()));
    }
    let rows = request.across("jobs");
    page(request, rows)
}

fn the(request: &Request<'_>) -> Result<(String, Row), Fault> {
    request.subject(ONE).map_err(|_| Fault::missing(""))
}

fn show(request: &mut Request<'_>) -> Answer {
    let (_, row) = the(request)?;
    ok(request.show(&row))
}

fn log(request: &mut Request<'_>) -> Answer {
    let (_, row) = the(request)?;
    Ok(Reply::bytes("text/plain", row.text("_trace")))
}

/// Changes a job and brings its pipeline up to date.
fn change(request: &mut Request<'_>, row: &Row, values: serde_json::Value) -> Answer {
    let shelf = request.shelf("jobs");
    request.write(&shelf, row.num("id"), values);
    let project = request.place_id();
    settle(request.world, project, row.num("_pipeline"));
    created(request.show(&request.world.by_id(&shelf, row.num("id"))))
}

/// A retried job is a new one; the old one stays behind as it was.
fn retry(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = the(request)?;
    if !matches!(row.text("status"), "failed" | "canceled" | "success") {
        return Err(Fault::Refused(403, json!("403 Forbidden - Job is not retryable")));
    }
    let kept = ["stage", "name", "ref", "commit", "pipeline", "tag_list", "_pipeline", "allow_failure"];
    let values = row.iter().filter(|(name, _)| kept.contains(&name.as_str()));
    let values = values.map(|(name, value)| (name.clone(), value.clone())).collect();
    let new = request.world.add(&shelf, values, request.user);
    request.write(&shelf, row.num("id"), json!({"_pipeline": 0}));
    change(request, &new, json!({"status": "pending"}))
}

fn cancel(request: &mut Request<'_>) -> Answer {
    let (_, row) = the(request)?;
    if !matches!(row.text("status"), "created" | "pending" | "running" | "manual") {
        return ok(request.show(&row));
    }
    let now = request.world.now();
    change(request, &row, json!({"status": "canceled", "finished_at": now}))
}

/// Plays a manual job, which becomes pending.
fn play(request: &mut Request<'_>) -> Answer {
    let (_, row) = the(request)?;
    if row.text("status") != "manual" {
        return Err(Fault::refused(400, "400 Bad request - Unplayable Job"));
    }
    let now = request.world.now();
    let values = json!({"status": "pending", "started_at": now, "user": request.user, "_trace": trace(row.text("name"), "running")});
    let reply = change(request, &row, values)?;
    Ok(Reply { status: 200, ..reply })
}

fn erase(request: &mut Request<'_>) -> Answer {
    let (_, row) = the(request)?;
    if matches!(row.text("status"), "created" | "pending" | "running") {
        return Err(Fault::refused(403, "403 Forbidden - Job is not erasable!"));
    }
    let now = request.world.now();
    change(request, &row, json!({"erased_at": now, "_trace": "", "artifacts": [], "artifacts_file": null}))
}

fn download(row: &Row) -> Answer {
    if row.blank("artifacts_file") {
        return Err(Fault::missing(""));
    }
    Ok(Reply::bytes("application/zip", EMPTY_ZIP)
        .with("content-disposition", "attachment; filename=\"artifacts.zip\""))
}

fn artifacts(request: &mut Request<'_>) -> Answer {
    let (_, row) = the(request)?;
    download(&row)
}

fn artifacts_of_ref(request: &mut Request<'_>) -> Answer {
    let branch = request.param("ref_name").to_owned();
    let name = request.args.text("job").unwrap_or_default();
    let mut rows = request.across("jobs");
    rows.retain(|row| {
        row.text("ref") == branch && row.text("name") == name && row.text("status") == "success"
    });
    download(&rows.pop().ok_or(Fault::missing(""))?)
}

fn drop_artifacts(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = the(request)?;
    request.world.write(&shelf, row.num("id"), object(json!({"artifacts": [], "artifacts_file": null})));
    Ok(Reply::empty())
}

fn keep_artifacts(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = the(request)?;
    let row = request.write(&shelf, row.num("id"), json!({"artifacts_expire_at": null}));
    ok(request.show(&row))
}
