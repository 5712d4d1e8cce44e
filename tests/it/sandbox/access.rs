//! Users, tokens and the shapes of errors.

use std::collections::BTreeSet;

use gitlab_mcp_sandbox::{ADMIN_TOKEN, EXPIRED_TOKEN, READ_API_TOKEN, READER_TOKEN, Sandbox, TOKEN};
use serde_json::{Value, json};

use super::{WIDGET, World};
use crate::support::client::HANG_GUARD;

#[tokio::test]
async fn every_start_is_the_same() {
    let (one, other) = (World::new().await, World::new().await);
    for path in
        ["/projects", "/projects/1/issues?per_page=100", "/projects/1/repository/commits", "/projects/1/jobs"]
    {
        let (a, b) = (one.get(path).await.text(), other.get(path).await.text());
        assert_eq!(a.replace(one.sandbox.url(), ""), b.replace(other.sandbox.url(), ""), "{path}");
    }
}

#[tokio::test]
async fn a_dropped_sandbox_answers_nobody() {
    let world = World::new().await;
    let url = format!("{}/api/v4/projects", world.sandbox.url());
    assert_eq!(world.http.get(&url).send().await.unwrap().status(), 200);
    drop(world.sandbox);
    let start = std::time::Instant::now();
    while reqwest::Client::new().get(&url).send().await.is_ok() {
        assert!(start.elapsed() < HANG_GUARD, "still answering");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn the_instance_and_its_users() {
    let world = World::new().await;
    assert!(
        world.get("/version").await.json()["version"]
            .as_str()
            .unwrap()
            .starts_with(env!("CATALOG_GITLAB_VERSION"))
    );
    assert_eq!(world.get("/metadata").await.json()["enterprise"], true);
    let me = world.get("/user").await.json();
    assert_eq!(
        (me["id"].clone(), me["username"].clone(), me["email"].clone()),
        (json!(2), json!("sandbox"), json!("sandbox@acme.example"))
    );
    assert!(me.get("is_admin").is_none());
    assert_eq!(world.send("GET", "/user", ADMIN_TOKEN, None).await.json()["is_admin"], true);
    assert_eq!(world.get("/users?username=alice").await.each("id"), [3]);
    assert_eq!(world.get("/users?search=BAR").await.each("username"), ["bob"]);
    assert_eq!(world.get("/users?blocked=true").await.each("username"), ["dave"]);
    assert!(world.get("/users/3").await.json().get("email").is_none());
    assert_eq!(world.get("/users/3/status").await.json()["emoji"], "palm_tree");
    world.expect(200, "PUT", "/user/status", json!({"message": "Busy", "emoji": "coffee"})).await;
    assert_eq!(world.get("/user/status").await.json()["message"], "Busy");
    assert_eq!(
        world.expect(403, "POST", "/users/4/block", Value::Null).await,
        json!({"message": "403 Forbidden"})
    );
    assert_eq!(world.send("POST", "/users/4/block", ADMIN_TOKEN, None).await.status, 201);
    assert_eq!(world.get("/users/4").await.json()["state"], "blocked");
    assert_eq!(world.get("/personal_access_tokens/self").await.json()["scopes"], json!(["api"]));
    assert_eq!(world.get("/personal_access_tokens/self").await.json()["expires_at"], "2027-03-01");
    assert!(
        !world.get("/personal_access_tokens").await.text().contains("glpat-"),
        "a token shows itself once only"
    );
}

#[tokio::test]
async fn tokens_open_what_they_may() {
    let world = World::new().await;
    let unauthorized = json!({"message": "401 Unauthorized"});
    for (token, path, method, status) in [
        ("", "/projects/1", "GET", 200),
        ("", "/user", "GET", 401),
        ("", "/projects/1/issues", "POST", 401),
        ("", "/projects/4", "GET", 404),
        ("", "/projects/5", "GET", 404),
        (READER_TOKEN, "/projects/4", "GET", 200),
        (READER_TOKEN, "/projects/5", "GET", 404),
        (READER_TOKEN, "/projects/1/repository/branches/main", "DELETE", 403),
        (READER_TOKEN, "/projects/1/variables", "GET", 403),
        (READER_TOKEN, "/projects/1/issues/19", "GET", 404),
        (READ_API_TOKEN, "/projects/5", "GET", 200),
        (READ_API_TOKEN, "/projects/1/star", "POST", 403),
        (EXPIRED_TOKEN, "/projects/1", "GET", 401),
        ("glpat-wrong", "/projects/1", "GET", 401),
        (TOKEN, "/application/settings", "GET", 403),
        (ADMIN_TOKEN, "/application/settings", "GET", 200),
    ] {
        let got = world.send(method, path, token, None).await;
        assert_eq!(got.status, status, "{token} {method} {path}: {}", got.text());
        if status == 401 && token != EXPIRED_TOKEN {
            assert_eq!(got.json(), unauthorized);
        }
    }
    let expired = world.send("GET", "/user", EXPIRED_TOKEN, None).await.json();
    assert_eq!(expired["error"], "invalid_token");
    assert!(expired["error_description"].as_str().unwrap().starts_with("Token is expired."));
    let scope = world.send("POST", "/projects/1/star", READ_API_TOKEN, None).await.json();
    assert_eq!((scope["error"].as_str(), scope["scope"].as_str()), (Some("insufficient_scope"), Some("api")));
    let url = format!("{}/api/v4/user", world.sandbox.url());
    for (header, value) in [("Authorization", format!("Bearer {TOKEN}")), ("JOB-TOKEN", TOKEN.to_owned())] {
        let got = World::finish(world.http.get(&url).header(header, value)).await;
        assert_eq!(got.json()["username"], "sandbox");
    }
    let revoked = world.expect(204, "DELETE", "/personal_access_tokens/self", Value::Null).await;
    assert_eq!(revoked, Value::Null);
    let ended = world.send("GET", "/user", TOKEN, None).await;
    assert_eq!((ended.status, ended.json()["error"].clone()), (401, json!("invalid_token")));
    assert_eq!(
        ended.json()["error_description"],
        "Token was revoked. You have to re-authorize from the user."
    );
}

/// python-gitlab writes `True`; people write `yes`.
#[tokio::test]
async fn booleans_have_the_spellings_of_gitlabs_interface() {
    let world = World::new().await;
    for (word, is_recursive) in [
        ("true", true),
        ("True", true),
        ("1", true),
        ("on", true),
        ("YES", true),
        ("T", true),
        ("false", false),
        ("False", false),
        ("0", false),
        ("Off", false),
        ("n", false),
    ] {
        let path = format!("/projects/1/repository/tree?per_page=100&recursive={word}");
        let answer = world.get(&path).await;
        assert_eq!(answer.status, 200, "{word}");
        let entries = answer.json();
        let is_nested = |entry: &Value| entry["path"].as_str().is_some_and(|path| path.contains('/'));
        assert_eq!(entries.as_array().unwrap().iter().any(is_nested), is_recursive, "{word}");
    }
}

#[tokio::test]
async fn errors_have_gitlabs_shapes() {
    let world = World::new().await;
    for (method, path, body, status, wanted) in [
        ("GET", "/projects/999", Value::Null, 404, json!({"message": "404 Project Not Found"})),
        ("GET", "/groups/nobody", Value::Null, 404, json!({"message": "404 Group Not Found"})),
        ("GET", "/nonsense", Value::Null, 404, json!({"error": "404 Not Found"})),
        ("GET", "/projects/1/issues/999", Value::Null, 404, json!({"message": "404 Not found"})),
        ("DELETE", "/projects/1/issues/999", Value::Null, 404, json!({"message": "404 Issue Not Found"})),
        ("GET", "/projects/1/merge_requests/999", Value::Null, 404, json!({"message": "404 Not found"})),
        ("GET", "/projects/1/issues/abc", Value::Null, 400, json!({"error": "issue_iid is invalid"})),
        ("GET", "/users/alice", Value::Null, 400, json!({"error": "id is invalid"})),
        ("GET", "/projects/1/labels/999", Value::Null, 404, json!({"message": "404 Label Not Found"})),
        ("POST", "/projects/1/issues", json!({}), 400, json!({"error": "title is missing"})),
        (
            "POST",
            "/projects/1/issues",
            json!({"title": ""}),
            400,
            json!({"message": {"title": ["can't be blank"]}}),
        ),
        (
            "GET",
            "/projects/1/issues?state=open",
            Value::Null,
            400,
            json!({"error": "state does not have a valid value"}),
        ),
        (
            "GET",
            "/projects/1/repository/tree?recursive=maybe",
            Value::Null,
            400,
            json!({"error": "recursive is invalid"}),
        ),
        ("GET", "/projects?page=two", Value::Null, 400, json!({"error": "page is invalid"})),
        ("POST", "/projects/1/labels", json!({}), 400, json!({"error": "name is missing, color is missing"})),
        (
            "POST",
            "/projects/1/labels",
            json!({"name": "bug", "color": "#fff"}),
            409,
            json!({"message": "Label already exists"}),
        ),
        (
            "POST",
            "/projects/1/repository/branches",
            json!({"branch": "main", "ref": "main"}),
            400,
            json!({"message": "Branch already exists"}),
        ),
        (
            "POST",
            "/projects/1/merge_requests",
            json!({"title": "x", "source_branch": "quiet-gears", "target_branch": "main"}),
            409,
            json!({"message": ["Another open merge request already exists for this source branch: !5"]}),
        ),
        (
            "POST",
            "/projects/1/variables",
            json!({"key": "OIL_GRADE", "value": "x"}),
            400,
            json!({"message": {"key": ["(OIL_GRADE) has already been taken"]}}),
        ),
        (
            "POST",
            "/projects/1/variables",
            json!({"key": "a b", "value": "x"}),
            400,
            json!({"message": {"key": ["can contain only letters, digits and '_'."]}}),
        ),
        ("POST", "/projects/1/hooks", json!({"url": "nope"}), 422, json!({"error": "Invalid url given"})),
        (
            "POST",
            "/projects/1/repository/branches",
            json!({"branch": "qq", "ref": "nope"}),
            400,
            json!({"message": "Failed to create branch 'qq': invalid reference name 'nope'"}),
        ),
        (
            "POST",
            "/projects/1/issues/1/notes",
            json!({"body": ""}),
            400,
            json!({"message": "400 Bad request - Note {:note=>[\"can't be blank\"]}"}),
        ),
        (
            "POST",
            "/projects/1/fork",
            json!({"namespace_path": "nowhere"}),
            404,
            json!({"message": "404 Target Namespace Not Found"}),
        ),
        (
            "DELETE",
            "/projects/1/issues/1/award_emoji/1",
            Value::Null,
            401,
            json!({"message": "401 Unauthorized"}),
        ),
        ("PATCH", "/projects/1", json!({"description": "x"}), 405, json!({"error": "405 Not Allowed"})),
        ("GET", "/projects/1/made_up/7", Value::Null, 404, json!({"error": "404 Not Found"})),
    ] {
        assert_eq!(world.expect(status, method, path, body).await, wanted, "{method} {path}");
    }
    let outside = World::finish(world.http.get(format!("{}/elsewhere", world.sandbox.url()))).await;
    assert_eq!((outside.status, outside.json()), (404, json!({"error": "404 Not Found"})));
    let url = format!("{}/api/v4/projects/1/issues", world.sandbox.url());
    let broken = world
        .http
        .post(url)
        .header("PRIVATE-TOKEN", TOKEN)
        .header("content-type", "application/json")
        .body("{");
    assert_eq!(World::finish(broken).await.status, 400);
}

#[tokio::test]
async fn pages_by_number_and_by_key() {
    let world = World::new().await;
    let first = world.get("/projects/acme%2Fwidget/issues?per_page=20&labels=").await;
    assert_eq!(first.each("iid").len(), 20);
    for (name, value) in [
        ("x-total", "45"),
        ("x-total-pages", "3"),
        ("x-page", "1"),
        ("x-next-page", "2"),
        ("x-prev-page", ""),
        ("x-per-page", "20"),
    ] {
        assert_eq!(first.header(name), value, "{name}");
    }
    let link = first.header("link");
    assert!(
        link.contains("rel=\"next\"") && link.contains("acme%2Fwidget") && !link.contains("rel=\"prev\""),
        "{link}"
    );
    let next = link.split(", ").find(|part| part.contains("rel=\"next\"")).unwrap();
    let next = next.trim_start_matches('<').split('>').next().unwrap();
    let second = World::finish(world.http.get(next).header("PRIVATE-TOKEN", TOKEN)).await;
    assert_eq!((second.header("x-page"), second.each("iid").len()), ("2", 20));
    assert_ne!(first.each("iid"), second.each("iid"));
    assert_eq!(world.get("/projects/1/issues?per_page=5000").await.header("x-per-page"), "100");

    let mut seen = Vec::new();
    let mut url =
        format!("{}/api/v4/projects?pagination=keyset&order_by=id&sort=asc&per_page=4", world.sandbox.url());
    loop {
        let got = World::finish(world.http.get(&url).header("PRIVATE-TOKEN", TOKEN)).await;
        assert_eq!(got.header("x-total"), "");
        seen.extend(got.each("id"));
        match got.header("link").split('>').next().filter(|link| !link.is_empty()) {
            Some(link) => url = link.trim_start_matches('<').to_owned(),
            None => break,
        }
    }
    assert_eq!(seen, [1, 2, 3, 4, 5, 6]);
    let tree = world.get("/projects/1/repository/tree?pagination=keyset&per_page=2").await;
    assert!(tree.header("link").contains("page_token="));
}

#[tokio::test]
async fn paths_keep_their_encoding() {
    let world = World::new().await;
    assert_eq!(world.get("/projects/acme%2Ftools%2Fwidget-cli").await.json()["id"], 4);
    assert_eq!(world.get("/groups/acme%2ftools").await.json()["id"], 2);
    let spaced =
        world.get(&format!("{WIDGET}/repository/files/docs%2Fgetting%20started.md?ref=main")).await.json();
    assert_eq!(spaced["file_path"], "docs/getting started.md");
    let hashed = world
        .get(&format!(
            "{WIDGET}/repository/files/docs%2FC%23%20notes%20%E2%80%93%20%C3%A9t%C3%A9.md/raw?ref=main"
        ))
        .await;
    assert!(hashed.text().contains("engrenages d'été"));
    let branch = world.get(&format!("{WIDGET}/repository/branches/docs%2F%C3%A9t%C3%A9")).await.json();
    assert_eq!(branch["name"], "docs/été");
    let png = world.get(&format!("{WIDGET}/repository/files/assets%2Flogo.png/raw")).await;
    assert_eq!(&png.bytes[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(png.header("content-type"), "application/octet-stream");
    let moved = world.send("GET", "/projects/acme%2Fold-widget/issues?state=all", TOKEN, None).await;
    assert_eq!(
        (moved.status, moved.header("location").to_owned()),
        (301, format!("{}/api/v4/projects/1/issues?state=all", world.sandbox.url()))
    );
    world.expect(405, "POST", "/projects/acme%2Fold-widget/issues", json!({"title": "x"})).await;
}

#[test]
fn no_two_routes_have_the_same_path() {
    let mut seen = BTreeSet::new();
    for (method, path) in Sandbox::routes().unwrap() {
        let parts = path.split('/').map(|part| if part.starts_with(':') { ":" } else { part });
        let route = format!("{method} {}", parts.collect::<Vec<_>>().join("/"));
        assert!(seen.insert(route), "{method} {path} is there twice");
    }
}
