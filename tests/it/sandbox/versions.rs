//! The sandbox as an older GitLab.

use gitlab_mcp::documentation::start_sandbox;
use gitlab_mcp_sandbox::TOKEN;
use serde_json::{Value, json};

use super::{WIDGET, World};

async fn at(version: &str) -> World {
    let World { http, .. } = World::new().await;
    let sandbox = start_sandbox(None, Some(version.parse().unwrap())).await.unwrap();
    World { sandbox, http }
}

/// Diff statistics came with 18.10 (lib/api/repositories.rb).
#[tokio::test]
async fn an_older_gitlab_has_no_operation_that_came_later() {
    let path = format!("{WIDGET}/repository/diff_stats?from=main&to=main");
    for (version, is_there) in [("17.11", false), ("18.4", false), ("18.10", true), ("19.5", true)] {
        let world = at(version).await;
        let got = world.send("GET", &path, TOKEN, None).await;
        assert_eq!(got.status != 404, is_there, "{version}: {}", got.text());
        assert_eq!(world.read("/version").await["version"], format!("{version}.0-ee"));
        assert_eq!(world.read("/metadata").await["version"], format!("{version}.0-ee"));
    }
}

/// The sandbox holds no start date: the version that has it answers 501, an older one does not look at it.
#[tokio::test]
async fn an_older_gitlab_leaves_out_a_parameter_that_came_later() {
    let body = json!({"title": "Planned", "start_date": "2026-03-04"});
    let issues = format!("{WIDGET}/issues");
    at("18.10").await.expect(501, "POST", &issues, body.clone()).await;
    let planned = at("18.4").await.expect(201, "POST", &issues, body).await;
    assert_eq!((&planned["title"], &planned["start_date"]), (&json!("Planned"), &Value::Null));
}
