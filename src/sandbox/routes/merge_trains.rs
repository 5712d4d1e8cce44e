//! Merge trains: merge requests that wait to be merged one after the other.

use crate::prelude::*;

use super::merge_requests::{find_merge_request, pipelines_of};
use super::mergeability::check_sha;

const LIST: &[Rule] = &[Rule::OneOf("scope", "active complete"), Rule::OneOf("sort", "asc desc")];

pub const ROUTES: &[Route] = &[
    get("(|/:target_branch)", list).needs(Level::Reporter).rules(LIST),
    get("/merge_requests/:merge_request_iid", show).needs(Level::Reporter),
    post("/merge_requests/:merge_request_iid", add),
];

fn render_car(request: &Request<'_>, car: &Row) -> Value {
    let iid = car.num("_iid").to_string();
    let merge_request = request.world.find(&request.shelf("merge_requests"), "iid", &iid).cloned();
    let merge_request = merge_request.unwrap_or_default();
    let mut shown = request.world.show(car);
    let pipelines = pipelines_of(request, &merge_request);
    let last = pipelines.last().map(|pipeline| request.show_as("pipelines", "basic", pipeline));
    shown.set("pipeline", last.unwrap_or_default());
    shown.set("merge_request", request.show_as("merge_requests", "simple", &merge_request));
    Value::Object(shown)
}

/// True if a merge request is on the train no more.
fn is_complete(car: &Row) -> bool {
    matches!(car.text("status"), "merged" | "skip_merged")
}

/// The cars of all trains, or of the train to the branch in the path.
fn list(request: &mut Request<'_>) -> Answer {
    let mut rows = request.world.rows(&request.shelf("merge_trains")).to_vec();
    let branch = request.param("target_branch");
    let scope = request.args.text("scope");
    rows.retain(|car| {
        (branch.is_empty() || car.text("target_branch") == branch)
            && scope.as_ref().is_none_or(|scope| (scope == "complete") == is_complete(car))
    });
    if request.args.text("sort").as_deref() != Some("asc") {
        rows.reverse();
    }
    request.page(rows.iter().map(|car| render_car(request, car)).collect())
}

/// The car of a merge request.
fn car_of(request: &Request<'_>, merge_request: &Row) -> Option<Row> {
    let rows = request.world.rows(&request.shelf("merge_trains")).iter();
    rows.rev().find(|car| car.num("_iid") == merge_request.num("iid")).cloned()
}

fn show(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_merge_request(request)?;
    ok(render_car(request, &car_of(request, &row).ok_or(Fault::missing(""))?))
}

/// Puts a merge request at the end of its train; one that waits for its pipeline is put there later, which the sandbox
/// never does by itself.
fn add(request: &mut Request<'_>) -> Answer {
    let (_, row) = find_merge_request(request)?;
    check_sha(request, &row)?;
    request.args.without_trace(&["squash"]);
    let waits = ["auto_merge", "when_pipeline_succeeds"].map(|name| request.args.flag(name));
    let running = pipelines_of(request, &row)
        .last()
        .is_some_and(|pipeline| matches!(pipeline.text("status"), "running" | "pending"));
    let is_on = car_of(request, &row).is_some_and(|car| !is_complete(&car));
    if is_on || row.text("state") != "opened" || row.text("detailed_merge_status") != "mergeable" {
        return Err(Fault::refused(400, "Failed to merge"));
    }
    let branch = row.text("target_branch").to_owned();
    let later = waits.contains(&true) && running;
    if !later {
        let values = json!({"target_branch": branch, "_iid": row.num("iid")});
        request.add(&request.shelf("merge_trains"), values);
    }
    let cars = request.world.rows(&request.shelf("merge_trains")).iter();
    let cars = cars.filter(|car| car.text("target_branch") == branch && !is_complete(car));
    let shown: Vec<Value> = cars.map(|car| render_car(request, car)).collect();
    if later { Ok(Reply::json(202, shown)) } else { created(shown) }
}

/// Takes a merge request that was merged off its train.
pub fn complete(request: &mut Request<'_>, merged: &Row) {
    if let Some(car) = car_of(request, merged).filter(|car| !is_complete(car)) {
        let values = json!({"status": "merged", "merged_at": merged.get("merged_at")});
        request.write(&request.shelf("merge_trains"), car.num("id"), values);
    }
}
