//! Jobs, their logs and their artifacts.

use crate::archive::zip;
use crate::diff::Tree;
use crate::pipeline::{settle, trace};
use crate::prelude::*;

pub const ROUTES: &[Route] = &[
    get("", list).needs(Level::User),
    get("/:job_id", show).needs(Level::User),
    get("/:job_id/trace", log).needs(Level::User),
    post("/:job_id/retry", retry),
    post("/:job_id/cancel", cancel),
    post("/:job_id/play", play),
    post("/:job_id/erase", erase),
    post("/:job_id/artifacts/keep", keep_artifacts),
    get("/:job_id/artifacts", artifacts).needs(Level::User),
    get("/:job_id/artifacts/tree", artifacts_tree).needs(Level::User),
    get("/:job_id/artifacts/*artifact_path", artifact_file).needs(Level::User),
    get("/artifacts/:ref_name/download", artifacts_of_ref).needs(Level::User),
    get("/artifacts/:ref_name/raw/*artifact_path", artifact_file_of_ref).needs(Level::User),
];

/// The states of a job, separated by spaces.
const STATES: &str = "created pending running failed success canceled skipped \
    waiting_for_resource manual scheduled preparing canceling";

/// A page of jobs, newest first, narrowed to the states in `scope`.
pub fn page(request: &Request<'_>, rows: Vec<Row>) -> Answer {
    request.page(in_scope(request, rows)?)
}

/// The jobs in the states of `scope`, newest first.
fn in_scope(request: &Request<'_>, mut rows: Vec<Row>) -> Result<Vec<Value>, Fault> {
    let scope = scope(request)?;
    rows.retain(|row| scope.is_empty() || scope.iter().any(|state| row.text("status") == state));
    rows.sort_by_key(|row| std::cmp::Reverse(row.num("id")));
    Ok(rows.iter().map(|row| request.show_in_list("jobs", row)).collect())
}

/// The states that a list is narrowed to. A single text is one state, commas or not.
pub fn scope(request: &Request<'_>) -> Result<Vec<String>, Fault> {
    let scope = match request.args.get("scope") {
        Some(Value::String(one)) => vec![one.clone()],
        _ => request.args.list("scope"),
    };
    match scope.iter().all(|state| STATES.split(' ').any(|known| known == state)) {
        true => Ok(scope),
        false => Err(Fault::Bad("scope does not have a valid value".to_owned())),
    }
}

fn list(request: &mut Request<'_>) -> Answer {
    let rows = request.across("jobs");
    request.page_uncounted(in_scope(request, rows)?)
}

fn find_job(request: &Request<'_>) -> Result<(String, Row), Fault> {
    request.found().map_err(|_| Fault::missing(""))
}

fn show(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_job(request)?;
    ok(request.show(&row))
}

fn log(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_job(request)?;
    Ok(Reply::bytes("text/plain", row.text("_trace")))
}

/// Changes a job and brings its pipeline up to date.
fn change(request: &mut Request<'_>, row: &Row, values: Value) -> Answer {
    let shelf = request.shelf("jobs");
    request.write(&shelf, row.num("id"), values);
    let project = request.place_id();
    settle(request.world, project, row.num("_pipeline"));
    created(request.show(&request.world.by_id(&shelf, row.num("id"))))
}

/// A retried job is a new one; the old one stays behind as it was.
fn retry(request: &mut Request<'_>) -> Answer {
    let (shelf, row) = find_job(request)?;
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
    let (_, row) = find_job(request)?;
    if !matches!(row.text("status"), "created" | "pending" | "running" | "manual") {
        return created(request.show(&row));
    }
    let now = request.world.now();
    change(request, &row, json!({"status": "canceled", "finished_at": now}))
}

/// Plays a manual job, which becomes pending.
fn play(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_job(request)?;
    if row.text("status") != "manual" {
        return Err(Fault::refused(400, "400 Bad request - Unplayable Job"));
    }
    let now = request.world.now();
    let values = json!({"status": "pending", "started_at": now, "user": request.user, "_trace": trace(row.text("name"), "running")});
    change(request, &row, values)?;
    let row = request.world.by_id(&request.shelf("jobs"), row.num("id"));
    ok(request.show_as("jobs", "basic", &row))
}

fn erase(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_job(request)?;
    if matches!(row.text("status"), "created" | "pending" | "running") {
        return Err(Fault::refused(403, "403 Forbidden - Job is not erasable!"));
    }
    let now = request.world.now();
    change(request, &row, json!({"erased_at": now, "_trace": "", "artifacts": [], "artifacts_file": null}))
}

/// The files in the artifacts of a job.
fn files(row: &Row) -> Tree {
    let report = format!("{} of job {}: everything turns\n", row.text("name"), row.num("id"));
    [("report.txt".to_owned(), report.into_bytes().into())].into()
}

/// The entries of the archive below a path. It has no folder.
fn artifacts_tree(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_job(request)?;
    if row.blank("artifacts_file") {
        return Err(Fault::missing(""));
    }
    request.args.without_trace(&["recursive"]);
    let path = request.args.text("path").unwrap_or_default();
    let files = if path.is_empty() { files(&row) } else { return Err(Fault::missing("")) };
    let entries = files.iter().map(|(path, bytes)| {
        json!({"name": path, "path": path, "type": "file", "size": bytes.len(), "mode": "100644"})
    });
    request.page(entries.collect())
}

fn download(row: &Row) -> Answer {
    if row.blank("artifacts_file") {
        return Err(Fault::missing(""));
    }
    let files = files(row);
    Ok(Reply::bytes("application/zip", zip(&files, ""))
        .with("content-disposition", "attachment; filename=\"artifacts.zip\""))
}

fn keep_artifacts(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_job(request)?;
    if row.blank("artifacts_file") {
        return Err(Fault::missing(""));
    }
    change(request, &row, json!({"artifacts_expire_at": null}))
}

fn artifacts(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_job(request)?;
    download(&row)
}

fn artifacts_of_ref(request: &mut Request<'_>) -> Answer {
    download(&newest_of_ref(request)?)
}

/// The job of a name in the newest pipeline of a branch that passed it.
fn newest_of_ref(request: &mut Request<'_>) -> Result<Row, Fault> {
    let branch = request.param("ref_name").to_owned();
    let name = request.args.text("job").unwrap_or_default();
    let mut rows = request.across("jobs");
    rows.retain(|row| {
        row.text("ref") == branch && row.text("name") == name && row.text("status") == "success"
    });
    rows.pop().ok_or(Fault::missing(""))
}

/// One file of the archive of a job.
fn file_of(request: &Request<'_>, row: &Row) -> Answer {
    let file = files(row).remove(request.param("artifact_path")).filter(|_| !row.blank("artifacts_file"));
    let bytes = file.ok_or(Fault::missing(""))?;
    Ok(Reply::bytes("text/plain", bytes.to_vec()))
}

fn artifact_file(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_job(request)?;
    file_of(request, &row)
}

fn artifact_file_of_ref(request: &mut Request<'_>) -> Answer {
    let row = newest_of_ref(request)?;
    file_of(request, &row)
}
