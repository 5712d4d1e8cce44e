//! Jobs and pipelines by their names, branches and merge requests.

use serde_json::{Value, json};

use super::names::WIDGET;
use crate::support::client::{Client, EXECUTE, execute, follow, refused, succeed};

#[test]
fn a_job_is_the_newest_of_its_name_for_reads() {
    let mut client = Client::sandbox();
    let jobs = succeed(&mut client, "job.list", json!({"fullPath": WIDGET, "per_page": 100}));
    let ids = jobs["data"].as_array().unwrap().iter().filter(|job| job["name"] == "lint");
    let ids: Vec<u64> = ids.map(|job| job["id"].as_u64().unwrap()).collect();
    let newest = ids.iter().max().unwrap();
    let read = succeed(&mut client, "job.get", json!({"fullPath": WIDGET, "job_id": "lint"}));
    assert_eq!(read["data"]["id"], *newest);
    assert_eq!(read["resolved"]["job_id"], format!("lint -> {newest}"));
    let retry = execute(&mut client, "job.retry", json!({"fullPath": WIDGET, "job_id": "lint"}));
    let error = refused(&retry, "invalid_params");
    let message = error["message"].as_str().unwrap();
    assert!(ids.len() > 1 && ids.iter().all(|id| message.contains(&format!("with the id {id}"))), "{error}");
}

#[test]
fn the_latest_pipeline_is_named_by_its_id_in_the_answer() {
    let mut client = Client::sandbox();
    let latest = json!({"fullPath": WIDGET, "pipeline_id": "latest"});
    let id = succeed(&mut client, "pipeline.get", latest.clone())["data"]["id"].clone();
    let reply = execute(&mut client, "pipeline.retry", latest);
    let first = reply.text.lines().next().unwrap();
    assert!(first.ends_with(&format!("pipeline {id} in acme/widget.")), "{first}");
}

#[test]
fn a_cherry_pick_begins_a_branch_and_variables_are_pairs() {
    let mut client = Client::sandbox();
    let pick = json!({"fullPath": WIDGET, "sha": "quiet-gears", "branch": "pick", "start_branch": "main"});
    let reply = execute(&mut client, "commit.cherry_pick", pick);
    assert!(!reply.is_error, "{}", reply.text);
    let head = succeed(&mut client, "commit.get", json!({"fullPath": WIDGET, "sha": "pick"}));
    assert_eq!(head["data"]["title"], "Say that they are quiet");
    // The branch would be created for real.
    for action in ["commit.cherry_pick", "commit.revert"] {
        let params = json!({
            "fullPath": WIDGET, "sha": "quiet-gears", "branch": "trial", "start_branch": "main", "dry_run": true,
        });
        let error = refused(&execute(&mut client, action, params), "invalid_params");
        assert!(error["hint"].as_str().unwrap().contains("branch.create"), "{error}");
        let branch = execute(&mut client, "branch.get", json!({"fullPath": WIDGET, "branch": "trial"}));
        refused(&branch, "not_found");
    }
    // Two commits begin one branch.
    let picks = json!({
        "fullPath": WIDGET, "sha": ["quiet-gears", "quiet-gears"], "branch": "picks", "start_branch": "main",
    });
    let picks =
        client.call(EXECUTE, json!({"action": "commit.cherry_pick", "params": picks, "dry_run": true}));
    assert_eq!(picks.structured.to_string().matches("branch.create").count(), 1, "{}", picks.structured);
    let params = json!({"fullPath": WIDGET, "ref": "main", "variables": {"SPEED": "slow", "TURNS": "4"}});
    let made = client.call(EXECUTE, json!({"action": "pipeline.create", "params": params, "dry_run": true}));
    let pairs = json!([{"key": "SPEED", "value": "slow"}, {"key": "TURNS", "value": "4"}]);
    assert_eq!(made.structured["request"]["body"]["variables"], pairs, "{}", made.text);
}

#[test]
fn a_word_of_the_only_schedule_proposes_it_and_its_deletion_is_not_offered() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "pipeline_schedule_id": "nightly", "active": false});
    let error = refused(&execute(&mut client, "pipeline_schedule.update", params), "not_found");
    assert_eq!(error["hint"], "Did you mean \"Every night\"?", "{error}");
    let reply = follow(&mut client, &error["fix"]);
    assert!(reply.text.starts_with("Updated: pipeline schedule"), "{}", reply.text);
    let params = json!({"fullPath": WIDGET, "pipeline_schedule_id": "nightly"});
    let call = json!({"action": "pipeline_schedule.delete", "params": params, "confirm": true});
    let error = refused(&client.call(EXECUTE, call), "not_found");
    assert_eq!(error["fix"]["arguments"]["action"], "pipeline_schedule.list", "{error}");
}

#[test]
fn environments_have_what_is_deployed_on_them() {
    let mut client = Client::sandbox();
    let rows = succeed(&mut client, "environment.list", json!({"fullPath": WIDGET}))["data"].clone();
    let row = |name: &str| rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    let deployment =
        json!({"fullPath": WIDGET, "environment": "production", "status": "success", "sort": "desc"});
    let last = succeed(&mut client, "deployment.list", deployment)["data"][0].clone();
    assert_eq!(row("production")["deployed"]["sha"], last["sha"], "{rows}");
    assert!(row("review/old").get("deployed").is_none(), "{rows}");
}

#[test]
fn a_pipeline_is_named_by_its_merge_request_and_a_webhook_by_its_host() {
    let mut client = Client::sandbox();
    let of_branch = succeed(&mut client, "merge_request.get", json!({"fullPath": WIDGET, "iid": 10}));
    let head = of_branch["data"]["head_pipeline"]["id"].as_u64().unwrap();
    let params = json!({"fullPath": WIDGET, "pipeline_id": "!10"});
    let reply = execute(&mut client, "pipeline.get_test_report", params);
    assert!(reply.text.contains(&format!("pipeline_id: !10 -> {head}")), "{}", reply.text);
    let params = json!({"fullPath": WIDGET, "hook_id": "hooks.acme.example"});
    let hook = succeed(&mut client, "webhook.get", params);
    assert!(hook["data"]["url"].as_str().unwrap().starts_with("https://hooks.acme.example/"), "{hook}");
    let params = json!({"fullPath": WIDGET, "hook_id": "acme.example"});
    refused(&execute(&mut client, "webhook.get", params), "not_found");
}

#[test]
fn an_approval_takes_a_comment_and_a_list_of_jobs_a_stage() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "iid": 5, "comment": "Fine by me"});
    let reply = execute(&mut client, "merge_request.approve", params);
    assert!(!reply.is_error && reply.text.contains("Fine by me"), "{}", reply.text);
    let params = json!({"fullPath": WIDGET, "pipeline_id": "main", "stage": "test"});
    let jobs = succeed(&mut client, "pipeline.list_jobs", params)["data"].clone();
    let names: Vec<&Value> = jobs.as_array().unwrap().iter().map(|job| &job["name"]).collect();
    assert!(names.contains(&&json!("unit")) && !names.contains(&&json!("deploy")), "{names:?}");
}

#[test]
fn a_job_is_named_by_its_name_and_its_pipeline() {
    let mut client = Client::sandbox();
    let log = json!({"fullPath": WIDGET, "job_id": "unit", "pipeline_id": "!10", "tail": 1});
    let read = execute(&mut client, "job.log", log);
    assert!(read.text.contains("pipeline_id: !10 -> 302"), "{}", read.text);
    let several = execute(&mut client, "job.retry", json!({"fullPath": WIDGET, "job_id": "unit"}));
    let error = refused(&several, "invalid_params");
    assert!(error["hint"].as_str().unwrap().contains("`pipeline_id`"), "{error}");
    let retry = |job: &str| json!({"fullPath": WIDGET, "job_id": job, "pipeline_id": "main"});
    let done = succeed(&mut client, "job.retry", retry("unit"));
    assert_eq!(done["data"]["pipeline"]["id"], 305, "{done}");
    // A job of another pipeline is not taken for it.
    let none =
        execute(&mut client, "job.retry", json!({"fullPath": WIDGET, "job_id": "e2e", "pipeline_id": 302}));
    let error = refused(&none, "not_found");
    assert!(error["hint"].as_str().unwrap().contains("There are"), "{error}");
    let waits = json!({"fullPath": WIDGET, "job_id": "deploy", "pipeline_id": "!10"});
    let error = refused(&execute(&mut client, "job.retry", waits), "forbidden");
    assert!(error["hint"].as_str().unwrap().contains("job.play"), "{error}");
}

#[test]
fn a_pipeline_is_named_by_the_branch_or_merge_request_that_is_given() {
    let mut client = Client::sandbox();
    for (name, value, says) in [
        ("ref", json!("main"), "pipeline_id: main -> 305"),
        ("branch", json!("main"), "pipeline_id: main -> 305"),
        ("merge_request", json!(12), "pipeline_id: !12 -> 304"),
        ("merge_request_iid", json!("12"), "pipeline_id: !12 -> 304"),
    ] {
        let params = json!({"fullPath": WIDGET, name: value});
        let reply = execute(&mut client, "pipeline.list_jobs", params);
        assert!(!reply.is_error && reply.text.contains(says), "{name}: {}", reply.text);
        assert!(!reply.text.contains("ip_address"), "{}", reply.text);
    }
    // A merge request that is a parameter of the action stays one.
    let overview = json!({"fullPath": WIDGET, "merge_request": 10});
    let reply = execute(&mut client, "pipeline.diagnose", overview);
    assert!(!reply.is_error && !reply.text.contains("as `pipeline_id"), "{}", reply.text);
}
