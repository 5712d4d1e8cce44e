//! Pipelines, jobs and the settings of CI.

use gitlab_mcp_sandbox::ADMIN_TOKEN;
use serde_json::{Value, json};

use super::{WIDGET, World};

#[tokio::test]
async fn pipelines_run_and_fail() {
    let world = World::new().await;
    assert_eq!(world.get(&format!("{WIDGET}/pipelines?status=failed")).await.each("id"), [305, 302]);
    let failed = world.get(&format!("{WIDGET}/pipelines/302")).await.json();
    assert_eq!(
        (failed["status"].clone(), failed["user"]["username"].clone()),
        (json!("failed"), json!("carol"))
    );
    assert_eq!(world.get(&format!("{WIDGET}/pipelines/latest")).await.json()["id"], 305);
    let jobs = world.get(&format!("{WIDGET}/pipelines/302/jobs?scope[]=failed")).await;
    assert_eq!(jobs.each("name"), ["lint", "unit"]);
    let unit = jobs.each("id")[1].clone();
    let log = world.get(&format!("{WIDGET}/jobs/{unit}/trace")).await;
    assert_eq!(log.header("content-type"), "text/plain");
    assert!(
        log.bytes.len() > 100_000
            && log.text().contains("section_start:")
            && log.text().trim_end().ends_with("exit code 101\u{1b}[0;m")
    );
    assert_eq!(world.get(&format!("{WIDGET}/pipelines/302/test_report")).await.json()["failed_count"], 1);
    let retried = world.expect(201, "POST", &format!("{WIDGET}/jobs/{unit}/retry"), Value::Null).await;
    assert_ne!(retried["id"], unit);
    assert_eq!(world.get(&format!("{WIDGET}/pipelines/302")).await.json()["status"], "pending");
    assert_eq!(
        world.expect(200, "POST", &format!("{WIDGET}/pipelines/302/cancel"), Value::Null).await["status"],
        "failed"
    );
    let made = world
        .expect(
            201,
            "POST",
            &format!("{WIDGET}/pipeline"),
            json!({"ref": "main", "variables": [{"key": "A", "value": "1"}]}),
        )
        .await;
    let new = format!("{WIDGET}/pipelines/{}", made["id"]);
    assert_eq!(world.get(&format!("{new}/variables")).await.each("key"), ["A"]);
    assert_eq!(world.get(&format!("{new}/bridges")).await.json(), json!([]));
    let manual = world.get(&format!("{new}/jobs?scope=manual")).await.each("id")[0].clone();
    assert_eq!(
        world.expect(200, "POST", &format!("{WIDGET}/jobs/{manual}/play"), Value::Null).await["status"],
        "pending"
    );
    assert_eq!(world.expect(200, "POST", &format!("{new}/cancel"), Value::Null).await["status"], "canceled");
    assert_eq!(world.expect(201, "POST", &format!("{new}/retry"), Value::Null).await["status"], "pending");
    world.expect(204, "DELETE", &new, Value::Null).await;
    world.expect(400, "POST", "/projects/2/pipeline", json!({"ref": "main"})).await;
    let build = world.get(&format!("{WIDGET}/pipelines/301/jobs")).await.each("id").last().unwrap().clone();
    let zip = world.get(&format!("{WIDGET}/jobs/{build}/artifacts")).await;
    assert!(zip.bytes.starts_with(b"PK") && zip.header("content-type") == "application/zip");
    for place in [format!("jobs/{build}/artifacts"), "jobs/artifacts/main/raw".to_owned()] {
        let file = world.get(&format!("{WIDGET}/{place}/report.txt?job=build")).await;
        assert!(file.bytes.starts_with(b"build of job "), "{place}: {:?}", file.bytes);
        world.expect(404, "GET", &format!("{WIDGET}/{place}/no/such.txt?job=build"), Value::Null).await;
    }
    world.expect(201, "POST", &format!("{WIDGET}/jobs/{build}/erase"), Value::Null).await;
    world.expect(404, "GET", &format!("{WIDGET}/jobs/{build}/artifacts"), Value::Null).await;
}

#[tokio::test]
async fn ci_has_its_settings() {
    let world = World::new().await;
    let lint = world
        .expect(200, "POST", &format!("{WIDGET}/ci/lint"), json!({"content": "test:\n  stage: test\n"}))
        .await;
    assert_eq!((lint["valid"].clone(), lint["merged_yaml"].clone()), (json!(false), Value::Null));
    assert!(lint["errors"][0].as_str().unwrap().contains("jobs test config"));
    assert_eq!(world.get(&format!("{WIDGET}/ci/lint")).await.json()["valid"], true);
    for (path, key) in [("/projects/1/variables", "OIL_GRADE"), ("/groups/1/variables", "WORKSHOP")] {
        assert_eq!(world.get(path).await.each("key")[0], key);
        let made =
            world.expect(201, "POST", path, json!({"key": "NEW", "value": "1", "protected": "true"})).await;
        assert_eq!((made["protected"].clone(), made.get("id").is_none()), (json!(true), true));
        assert_eq!(
            world.expect(200, "PUT", &format!("{path}/NEW"), json!({"value": "2"})).await["value"],
            "2"
        );
        world.expect(204, "DELETE", &format!("{path}/NEW"), Value::Null).await;
        world.expect(404, "GET", &format!("{path}/NEW"), Value::Null).await;
    }
    world.expect(403, "GET", "/admin/ci/variables", Value::Null).await;
    assert_eq!(world.send("GET", "/admin/ci/variables", ADMIN_TOKEN, None).await.each("key"), ["REGION"]);
    assert_eq!(
        world.get(&format!("{WIDGET}/pipeline_schedules/1/variables/NIGHTLY")).await.json()["value"],
        "1"
    );
    world.expect(201, "POST", &format!("{WIDGET}/pipeline_schedules/1/play"), Value::Null).await;
    assert_eq!(world.get(&format!("{WIDGET}/pipelines?source=schedule")).await.each("ref"), ["main"]);
    let url = format!("{}/api/v4/projects/1/trigger/pipeline", world.sandbox.url());
    let by_token =
        world.http.post(url).form(&[("token", "glptt-sandbox"), ("ref", "main"), ("variables[A]", "1")]);
    assert_eq!(World::finish(by_token).await.json()["source"], "trigger");
    assert_eq!(world.get(&format!("{WIDGET}/environments?search=stag")).await.each("name"), ["staging"]);
    assert_eq!(world.get(&format!("{WIDGET}/environments?name=staging")).await.each("id"), [2]);
    world.expect(403, "DELETE", &format!("{WIDGET}/environments/2"), Value::Null).await;
    assert_eq!(
        world.expect(200, "POST", &format!("{WIDGET}/environments/2/stop"), Value::Null).await["state"],
        "stopped"
    );
    world.expect(204, "DELETE", &format!("{WIDGET}/environments/2"), Value::Null).await;
    assert_eq!(
        world.get(&format!("{WIDGET}/deployments")).await.json()[0]["environment"]["name"],
        "production"
    );
    assert_eq!(world.get("/runners").await.each("id"), [1]);
    assert_eq!(world.get("/runners/1").await.json()["projects"][0]["path_with_namespace"], "acme/widget");
}

#[tokio::test]
async fn a_schedule_runs_next_by_its_cron_expression_and_zone() {
    let world = World::new().await;
    let list = format!("{WIDGET}/pipeline_schedules");
    assert_eq!(world.get(&list).await.each("next_run_at"), ["2026-03-03T04:03:00.000Z"]);
    let schedule = |cron: &str, zone: &str| json!({"description": "d", "ref": "main", "cron": cron, "cron_timezone": zone});
    for (cron, zone, next) in [
        // 06:30 in Berlin is 05:30 in UTC until the end of March; GitLab looks for schedules three minutes later.
        ("30 6 * * 1-5", "Europe/Berlin", json!("2026-03-03T05:33:00.000Z")),
        ("0 6 1 4 *", "Europe/Berlin", json!("2026-04-01T04:03:00.000Z")),
        ("@daily", "UTC", Value::Null),
        ("0 6 * * *", "Berlin", json!("2026-03-03T05:03:00.000Z")),
    ] {
        let made = world.expect(201, "POST", &list, schedule(cron, zone)).await;
        assert_eq!(made["next_run_at"], next, "{cron} {zone}");
    }
    let one = format!("{list}/2");
    let changed = world.expect(200, "PUT", &one, json!({"cron_timezone": "America/New_York"})).await;
    assert_eq!(changed["next_run_at"], "2026-03-02T11:33:00.000Z");
    for (cron, zone, field) in [("nightly", "UTC", "cron"), ("0 1 * * *", "Europe/Sandbox", "cron_timezone")]
    {
        let refusal = world.expect(400, "POST", &list, schedule(cron, zone)).await;
        assert_eq!(refusal["message"], json!({field: ["syntax is invalid"]}));
    }

    // A pipeline is of the schedule that was played, and has its variables.
    world.expect(201, "POST", &format!("{list}/1/play"), Value::Null).await;
    assert_eq!(world.get(&format!("{one}/pipelines")).await.json(), json!([]));
    let played = world.get(&format!("{list}/1/pipelines")).await.each("id");
    let variables = world.get(&format!("{WIDGET}/pipelines/{}/variables", played[0])).await.json();
    assert_eq!((&variables[0]["key"], &variables[0]["value"]), (&json!("NIGHTLY"), &json!("1")));
    let variable = json!({"key": "NEW", "value": "1"});
    let made = world.expect(201, "POST", &format!("{list}/1/variables"), variable.clone()).await;
    assert!(made.get("environment_scope").is_none(), "{made}");
    world.expect(400, "POST", &format!("{list}/1/variables"), variable).await;
}

#[tokio::test]
async fn strategies_of_a_feature_flag_are_changed_by_their_ids() {
    let world = World::new().await;
    let flag = format!("{WIDGET}/feature_flags/whisper_mode");
    let half = json!({"id": 1, "parameters": {"groupId": "default", "percentage": "50"}});
    let alice = json!({"name": "userWithId", "parameters": "{\"userIds\":\"alice\"}", "scopes": [{"environment_scope": "staging"}]});
    let shown = world.expect(200, "PUT", &flag, json!({"strategies": [half, alice]})).await;
    let strategies = shown["strategies"].as_array().unwrap();
    assert_eq!(strategies.len(), 2, "{shown}");
    assert_eq!(strategies[0]["parameters"]["percentage"], "50");
    assert_eq!(strategies[0]["scopes"][0]["environment_scope"], "production", "what is not given stays");
    assert_eq!(strategies[1]["parameters"], json!({"userIds": "alice"}));
    let ids: Vec<&Value> = strategies.iter().map(|strategy| &strategy["id"]).collect();
    assert!(ids[1].is_u64() && ids[0] != ids[1], "{shown}");
    for (scope, found) in [("disabled", 1), ("enabled", 0)] {
        let flags = world.get(&format!("{WIDGET}/feature_flags?scope={scope}")).await.each("name");
        assert_eq!(flags.len(), found, "{scope}");
    }
    let shown = world.expect(200, "PUT", &flag, json!({"active": true})).await;
    assert_eq!(shown["strategies"].as_array().unwrap().len(), 2, "{shown}");
    let shown = world.expect(200, "PUT", &flag, json!({"strategies": [{"id": 1, "_destroy": true}]})).await;
    assert_eq!(shown["strategies"].as_array().unwrap().len(), 1, "{shown}");
    world.expect(404, "PUT", &flag, json!({"strategies": [{"id": 99, "name": "default"}]})).await;
    let taken =
        world.expect(400, "POST", &format!("{WIDGET}/feature_flags"), json!({"name": "whisper_mode"})).await;
    assert_eq!(taken["message"], json!(["Name has already been taken"]));
}

/// lib/api/entities/ci/variable.rb
#[tokio::test]
async fn the_value_of_a_hidden_variable_is_never_shown() {
    let world = World::new().await;
    let variables = format!("{WIDGET}/variables");
    let hidden = json!({"key": "HUSH", "value": "oil-and-gears", "masked_and_hidden": true});
    let made = world.expect(201, "POST", &variables, hidden).await;
    let changed = json!({"value": "gears-and-oil"});
    let changed = world.expect(200, "PUT", &format!("{variables}/HUSH"), changed).await;
    let shown = world.get(&format!("{variables}/HUSH")).await.json();
    let listed = world.get(&variables).await.json();
    let listed = listed.as_array().unwrap().iter().find(|row| row["key"] == "HUSH").unwrap();
    for variable in [&made, &changed, &shown, listed] {
        let seen = (&variable["value"], &variable["masked"], &variable["hidden"]);
        assert_eq!(seen, (&Value::Null, &json!(true), &json!(true)), "{variable}");
    }
}

/// app/services/ci/deployments/destroy_service.rb
#[tokio::test]
async fn a_deployment_by_the_api_is_deleted_once_it_is_not_the_live_one() {
    let world = World::new().await;
    let deployments = format!("{WIDGET}/deployments");
    let new = |status: &str| {
        json!({"environment": "attic", "sha": "a1b8203adef490953e11d8ea6cc3caa6d2347cb6", "ref": "main", "tag": false,
            "status": status})
    };
    let first = world.expect(201, "POST", &deployments, new("success")).await;
    assert_eq!(first["environment"]["name"], "attic");
    let first = format!("{deployments}/{}", first["id"]);
    world.expect(400, "DELETE", &first, Value::Null).await;
    let second = world.expect(201, "POST", &deployments, new("running")).await;
    let second = format!("{deployments}/{}", second["id"]);
    world.expect(400, "DELETE", &second, Value::Null).await;
    world.expect(200, "PUT", &second, json!({"status": "success"})).await;
    world.expect(204, "DELETE", &first, Value::Null).await;
}
