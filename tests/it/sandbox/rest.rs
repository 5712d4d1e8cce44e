//! The embedded GitLab, over real HTTP.

use gitlab_mcp::sandbox::{ADMIN_TOKEN, EXPIRED_TOKEN, READ_API_TOKEN, READER_TOKEN, TOKEN};
use reqwest::header::HeaderMap;
use reqwest::{Method, multipart};
use serde_json::{Value, json};

use super::World;
use crate::support::client::HANG_GUARD;

/// A response.
struct Got {
    status: u16,
    headers: HeaderMap,
    bytes: Vec<u8>,
}

impl Got {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or(Value::Null)
    }
    fn text(&self) -> String {
        String::from_utf8(self.bytes.clone()).unwrap()
    }
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }
    /// The members of a list that are called `name`.
    fn each(&self, name: &str) -> Vec<Value> {
        self.json().as_array().unwrap_or(&Vec::new()).iter().map(|row| row[name].clone()).collect()
    }
}

impl World {
    async fn send(&self, method: &str, path: &str, token: &str, body: Option<Value>) -> Got {
        let url = format!("{}/api/v4{path}", self.sandbox.url());
        let mut request = self.http.request(method.parse::<Method>().unwrap(), url);
        if !token.is_empty() {
            request = request.header("PRIVATE-TOKEN", token);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        Self::finish(request).await
    }

    async fn finish(request: reqwest::RequestBuilder) -> Got {
        let reply = request.send().await.unwrap();
        let (status, headers) = (reply.status().as_u16(), reply.headers().clone());
        Got { status, headers, bytes: reply.bytes().await.unwrap().to_vec() }
    }

    /// A `GET` that must succeed.
    async fn get(&self, path: &str) -> Got {
        let got = self.send("GET", path, TOKEN, None).await;
        assert_eq!(got.status, 200, "GET {path}: {}", String::from_utf8_lossy(&got.bytes));
        got
    }

    /// A request with a body, and the status it must have.
    async fn expect(&self, status: u16, method: &str, path: &str, body: Value) -> Value {
        let body = if body.is_null() { None } else { Some(body) };
        let got = self.send(method, path, TOKEN, body).await;
        assert_eq!(got.status, status, "{method} {path}: {}", String::from_utf8_lossy(&got.bytes));
        got.json()
    }
}

const WIDGET: &str = "/projects/acme%2Fwidget";

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
    assert!(world.get("/version").await.json()["version"].as_str().unwrap().starts_with("18."));
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

#[tokio::test]
async fn groups_and_their_projects() {
    let world = World::new().await;
    assert_eq!(world.get("/groups").await.each("full_path"), ["acme", "guild", "acme/tools"]);
    assert_eq!(world.get("/groups/acme/subgroups").await.each("full_path"), ["acme/tools"]);
    assert_eq!(world.get("/groups/acme/projects?include_subgroups=true").await.each("id").len(), 5);
    assert_eq!(world.get("/groups/acme/projects").await.each("id").len(), 4);
    assert_eq!(world.get("/groups/acme/members").await.each("access_level"), [50, 40, 30]);
    let made =
        world.expect(201, "POST", "/groups", json!({"name": "Lab", "path": "lab", "parent_id": 1})).await;
    assert_eq!(
        (made["full_path"].clone(), made["full_name"].clone()),
        (json!("acme/lab"), json!("Acme / Lab"))
    );
    world.expect(201, "POST", "/groups/acme%2Flab/members", json!({"user_id": 5, "access_level": 30})).await;
    world.expect(409, "POST", "/groups/acme%2Flab/members", json!({"user_id": 5, "access_level": 30})).await;
    assert_eq!(
        world.expect(200, "PUT", "/groups/acme%2Flab", json!({"description": "Bangs"})).await["description"],
        "Bangs"
    );
    assert_eq!(
        world.expect(202, "DELETE", "/groups/acme%2Flab", Value::Null).await["message"],
        "202 Accepted"
    );
    assert_eq!(world.get("/groups/acme%2Flab").await.json()["marked_for_deletion_on"], "2026-03-02");
    world.expect(201, "POST", "/groups/acme%2Flab/restore", Value::Null).await;
    assert_eq!(world.get("/groups/acme%2Flab").await.json()["marked_for_deletion_on"], Value::Null);
    let now = json!({"permanently_remove": true, "full_path": "acme/lab"});
    assert_eq!(
        world.expect(400, "DELETE", "/groups/acme%2Flab", now.clone()).await["message"],
        "Group must be marked for deletion first."
    );
    world.expect(202, "DELETE", "/groups/acme%2Flab", Value::Null).await;
    world.expect(202, "DELETE", "/groups/acme%2Flab", now).await;
    world.expect(404, "GET", "/groups/acme%2Flab", Value::Null).await;
    assert_eq!(world.get("/namespaces?search=tools").await.each("full_path"), ["acme/tools", "sandbox"]);
    assert_eq!(world.get("/namespaces/acme/exists").await.json()["exists"], true);
}

#[tokio::test]
async fn projects_live_and_die() {
    let world = World::new().await;
    let widget = world.get(&format!("{WIDGET}?statistics=true")).await.json();
    assert_eq!(
        (widget["open_issues_count"].clone(), widget["namespace"]["full_path"].clone()),
        (json!(30), json!("acme"))
    );
    assert!(widget["statistics"]["commit_count"].as_u64().unwrap() > 5);
    assert_eq!(widget["permissions"]["group_access"]["access_level"], 50);
    assert!(widget.as_object().unwrap().keys().all(|name| !name.starts_with('_') || name == "_links"));
    let made = world
        .expect(
            201,
            "POST",
            "/projects",
            json!({"name": "New One", "namespace_id": 1, "initialize_with_readme": true}),
        )
        .await;
    assert_eq!(
        (made["path_with_namespace"].clone(), made["creator_id"].clone()),
        (json!("acme/new-one"), json!(2))
    );
    let taken = world.expect(400, "POST", "/projects", json!({"name": "New One", "namespace_id": 1})).await;
    assert_eq!(taken["message"]["path"], json!(["has already been taken"]));
    assert_eq!(world.get("/projects/acme%2Fnew-one/repository/tree").await.each("path"), ["README.md"]);
    assert_eq!(
        world.expect(200, "PUT", "/projects/acme%2Fnew-one", json!({"description": "d"})).await["description"],
        "d"
    );
    let fork = world.expect(201, "POST", &format!("{WIDGET}/fork"), Value::Null).await;
    assert_eq!(
        (fork["path_with_namespace"].clone(), fork["forked_from_project"]["id"].clone()),
        (json!("sandbox/widget"), json!(1))
    );
    assert_eq!(world.get("/projects/1/forks").await.each("path_with_namespace"), ["sandbox/widget"]);
    assert_eq!(world.expect(201, "POST", "/projects/1/star", Value::Null).await["star_count"], 3);
    world.expect(304, "POST", "/projects/1/star", Value::Null).await;
    assert_eq!(world.expect(201, "POST", "/projects/1/unstar", Value::Null).await["star_count"], 2);
    world.expect(403, "POST", "/projects/3/repository/branches", json!({"branch": "x", "ref": "main"})).await;
    assert_eq!(world.expect(201, "POST", "/projects/3/unarchive", Value::Null).await["archived"], false);
    world.expect(201, "POST", "/projects/3/repository/branches", json!({"branch": "x", "ref": "main"})).await;
    assert!(world.get("/projects/1/languages").await.json()["Rust"].as_f64().unwrap() > 50.0);
    assert_eq!(
        world.get("/projects/1/members/all").await.each("username"),
        ["carol", "sandbox", "alice", "bob"]
    );
    assert_eq!(world.get("/projects/1/users?search=ali").await.each("username"), ["alice"]);
    assert_eq!(world.get("/projects?search=vault").await.each("id"), [5]);
    world.expect(201, "POST", "/projects/5/share", json!({"group_id": 3, "group_access": 20})).await;
    world.expect(204, "DELETE", "/projects/5/share/3", Value::Null).await;
    let renamed =
        world.expect(200, "PUT", "/projects/acme%2Fnew-one", json!({"name": "Newer", "path": "newer"})).await;
    assert_eq!(
        (renamed["path_with_namespace"].clone(), renamed["name_with_namespace"].clone()),
        (json!("acme/newer"), json!("Acme / Newer"))
    );
    assert_eq!(world.send("GET", "/projects/acme%2Fnew-one", TOKEN, None).await.status, 301);
    world.expect(202, "DELETE", "/projects/acme%2Fnewer", Value::Null).await;
    assert_eq!(world.get("/projects/acme%2Fnewer").await.json()["marked_for_deletion_on"], "2026-03-02");
    let wrong = json!({"permanently_remove": true, "full_path": "newer"});
    assert_eq!(
        world.expect(400, "DELETE", "/projects/acme%2Fnewer", wrong).await["message"],
        "`full_path` is incorrect. You must enter the complete path for the project."
    );
    let right = json!({"permanently_remove": true, "full_path": "acme/newer"});
    world.expect(202, "DELETE", "/projects/acme%2Fnewer", right).await;
    world.expect(404, "GET", "/projects/acme%2Fnewer", Value::Null).await;
}

#[tokio::test]
async fn labels_and_milestones() {
    let world = World::new().await;
    assert_eq!(
        world.get("/projects/1/labels").await.each("name"),
        ["acme-wide", "bug", "docs", "feature", "needs triage", "priority::high"]
    );
    assert!(
        world.get("/projects/1/labels?with_counts=true&search=bug").await.json()[0]["open_issues_count"]
            .as_u64()
            .unwrap()
            > 5
    );
    world.expect(201, "POST", "/projects/1/labels", json!({"name": "noise", "color": "#123456"})).await;
    let renamed = world.expect(200, "PUT", "/projects/1/labels/bug", json!({"new_name": "defect"})).await;
    assert_eq!(renamed["name"], "defect");
    assert!(
        world.get("/projects/1/issues/1").await.json()["labels"]
            .as_array()
            .unwrap()
            .contains(&json!("defect"))
    );
    world.expect(201, "POST", "/projects/1/labels/noise/subscribe", Value::Null).await;
    world.expect(304, "POST", "/projects/1/labels/noise/subscribe", Value::Null).await;
    world.expect(200, "PUT", "/projects/1/labels/noise/promote", Value::Null).await;
    assert!(world.get("/groups/acme/labels").await.each("name").contains(&json!("noise")));
    world.expect(204, "DELETE", "/projects/1/labels/docs", Value::Null).await;
    assert_eq!(world.get("/projects/1/milestones?state=active").await.each("title"), ["v2.0", "v1.1"]);
    let made = world
        .expect(201, "POST", "/projects/1/milestones", json!({"title": "v3.0", "due_date": "2026-09-01"}))
        .await;
    assert_eq!((made["iid"].clone(), made["project_id"].clone()), (json!(4), json!(1)));
    let path = format!("/projects/1/milestones/{}", made["id"]);
    assert_eq!(world.expect(200, "PUT", &path, json!({"state_event": "close"})).await["state"], "closed");
    world.expect(204, "DELETE", &path, Value::Null).await;
    assert_eq!(world.get("/groups/acme/milestones").await.each("title"), ["Spring fair"]);
    assert!(world.get("/projects/1/milestones/2/issues").await.each("iid").contains(&json!(1)));
    assert!(world.get("/projects/1/milestones/2/merge_requests").await.each("iid").contains(&json!(5)));
}

#[tokio::test]
async fn issues_are_found() {
    let world = World::new().await;
    for (query, wanted) in [
        ("iids[]=1&iids[]=3", vec![3, 1]),
        ("labels=bug,priority::high", vec![9, 1]),
        ("labels[]=bug&labels[]=priority::high&sort=asc", vec![1, 9]),
        ("search=manual&state=opened", vec![29, 12, 4]),
        ("milestone=v1.1&assignee_username=alice&not[labels]=feature", vec![9, 3, 1]),
        ("author_username=erin&state=closed&order_by=title&sort=asc", vec![44, 39, 34]),
        ("assignee_id=None&labels=None&state=opened&order_by=created_at", vec![18, 7]),
    ] {
        let got = world.get(&format!("{WIDGET}/issues?{query}")).await;
        assert_eq!(got.each("iid"), wanted, "{query}");
    }
    assert!(world.get("/issues").await.each("author").iter().all(|author| author["username"] == "sandbox"));
    assert!(world.get("/issues?scope=all").await.header("x-total").parse::<u32>().unwrap() > 45);
    assert!(world.get("/groups/acme/issues?per_page=100").await.each("project_id").contains(&json!(4)));
    let counts = world.get(&format!("{WIDGET}/issues_statistics")).await.json();
    assert_eq!(counts["statistics"]["counts"], json!({"all": 45, "closed": 15, "opened": 30}));
    let details = world.get(&format!("{WIDGET}/issues?iids[]=1&with_labels_details=true")).await.json();
    assert_eq!(details[0]["labels"][0]["color"], "#d9534f");
    let one = world.get(&format!("{WIDGET}/issues/1")).await.json();
    assert_eq!(one["references"]["full"], "acme/widget#1");
    assert_eq!(one["author"]["web_url"], format!("{}/bob", world.sandbox.url()));
    assert_eq!(one["milestone"]["title"], "v1.1");
}

#[tokio::test]
async fn an_issue_lives() {
    let world = World::new().await;
    let made = world
        .expect(
            201,
            "POST",
            &format!("{WIDGET}/issues"),
            json!({"title": "It leaks", "labels": "bug,wet", "assignee_ids": [3], "milestone_id": 2}),
        )
        .await;
    assert_eq!(
        (made["iid"].clone(), made["labels"].clone(), made["author"]["username"].clone()),
        (json!(46), json!(["bug", "wet"]), json!("sandbox"))
    );
    assert_eq!(made["assignee"]["username"], "alice");
    assert_eq!(world.get(&format!("{WIDGET}/issues")).await.each("iid")[0], 46);
    assert!(world.get("/projects/1/labels").await.each("name").contains(&json!("wet")));
    let one = format!("{WIDGET}/issues/46");
    let closed = world.expect(200, "PUT", &one, json!({"state_event": "close", "add_labels": "docs", "remove_labels": ["wet"], "assignee_ids": [0]})).await;
    assert_eq!(
        (closed["state"].clone(), closed["labels"].clone(), closed["assignees"].clone()),
        (json!("closed"), json!(["bug", "docs"]), json!([]))
    );
    assert_eq!(closed["closed_by"]["username"], "sandbox");
    assert_eq!(world.get(&format!("{one}/resource_state_events")).await.each("state"), ["closed"]);
    assert_eq!(world.get(&format!("{one}/resource_label_events")).await.each("action"), ["add", "remove"]);
    assert_eq!(
        world.expect(200, "PUT", &one, json!({"state_event": "reopen"})).await["closed_at"],
        Value::Null
    );
    world.expect(201, "POST", &format!("{one}/subscribe"), Value::Null).await;
    world.expect(304, "POST", &format!("{one}/subscribe"), Value::Null).await;
    assert_eq!(world.expect(201, "POST", &format!("{one}/todo"), Value::Null).await["target"]["iid"], 46);
    assert_eq!(
        world.expect(200, "POST", &format!("{one}/time_estimate?duration=1d2h"), Value::Null).await["human_time_estimate"],
        "1d 2h"
    );
    assert_eq!(
        world.expect(201, "POST", &format!("{one}/add_spent_time"), json!({"duration": "30m"})).await["total_time_spent"],
        1800
    );
    let link = world
        .expect(
            201,
            "POST",
            &format!("{one}/links"),
            json!({"target_project_id": "acme/widget", "target_issue_iid": 2, "link_type": "blocks"}),
        )
        .await;
    assert_eq!(world.get(&format!("{WIDGET}/issues/2/links")).await.each("link_type"), ["is_blocked_by"]);
    world.expect(200, "DELETE", &format!("{one}/links/{}", link["id"]), Value::Null).await;
    assert_eq!(world.get(&format!("{WIDGET}/issues/3/closed_by")).await.each("iid"), [5]);
    assert_eq!(
        world.get(&format!("{WIDGET}/issues/1/participants")).await.each("username"),
        ["bob", "alice"]
    );
    let moved = world.expect(201, "POST", &format!("{one}/move"), json!({"to_project_id": 4})).await;
    assert_eq!((moved["project_id"].clone(), moved["iid"].clone()), (json!(4), json!(2)));
    assert_eq!(world.get(&one).await.json()["moved_to_id"], moved["id"]);
    world.expect(204, "DELETE", &one, Value::Null).await;
    world.expect(404, "GET", &one, Value::Null).await;
    let url = format!("{}/api/v4{WIDGET}/issues", world.sandbox.url());
    let form = world.http.post(&url).header("PRIVATE-TOKEN", TOKEN).form(&[
        ("title", "by form"),
        ("confidential", "true"),
        ("assignee_ids[]", "4"),
    ]);
    let formed = World::finish(form).await.json();
    assert_eq!(
        (formed["confidential"].clone(), formed["assignees"][0]["username"].clone()),
        (json!(true), json!("bob"))
    );
}

#[tokio::test]
async fn epics_hold_issues() {
    let world = World::new().await;
    assert_eq!(world.get("/groups/acme/epics").await.each("iid"), [2, 1]);
    assert_eq!(world.get("/groups/acme/-/epics/1").await.json()["references"]["full"], "acme&1");
    assert_eq!(world.get("/groups/acme/epics/1/issues?sort=asc").await.each("iid"), [1, 3]);
    world.expect(201, "POST", "/groups/acme/epics/1/issues/2", Value::Null).await;
    assert_eq!(world.get("/groups/acme/epics/1/issues").await.each("iid").len(), 3);
    let made = world.expect(201, "POST", "/groups/acme/epics", json!({"title": "More"})).await;
    assert_eq!(
        world
            .expect(
                200,
                "PUT",
                &format!("/groups/acme/epics/{}", made["iid"]),
                json!({"state_event": "close"})
            )
            .await["state"],
        "closed"
    );
    assert_eq!(world.get("/groups/acme/epics/11/notes").await.each("body"), ["Start with the oil."]);
}

#[tokio::test]
async fn people_talk() {
    let world = World::new().await;
    let notes = format!("{WIDGET}/issues/1/notes");
    assert_eq!(world.get(&format!("{notes}?activity_filter=only_comments")).await.each("id"), [1004]);
    let note = world.expect(201, "POST", &notes, json!({"body": "Me too"})).await;
    let one = format!("{notes}/{}", note["id"]);
    assert_eq!(world.expect(200, "PUT", &one, json!({"body": "Me three"})).await["body"], "Me three");
    world.expect(201, "POST", &format!("{one}/award_emoji"), json!({"name": "heart"})).await;
    assert_eq!(world.get(&format!("{one}/award_emoji")).await.each("name"), ["heart"]);
    world.expect(204, "DELETE", &one, Value::Null).await;
    world.expect(404, "GET", &one, Value::Null).await;
    let emoji =
        world.expect(201, "POST", &format!("{WIDGET}/issues/1/award_emoji"), json!({"name": "tada"})).await;
    world.expect(204, "DELETE", &format!("{WIDGET}/issues/1/award_emoji/{}", emoji["id"]), Value::Null).await;

    let threads = format!("{WIDGET}/merge_requests/12/discussions");
    let seen = world.get(&threads).await.json();
    assert_eq!((seen.as_array().unwrap().len(), seen[0]["notes"].as_array().unwrap().len()), (2, 2));
    let thread = format!("{threads}/{}", seen[0]["id"].as_str().unwrap());
    let resolved = world.expect(200, "PUT", &thread, json!({"resolved": true})).await;
    assert_eq!(resolved["notes"][0]["resolved_by"]["username"], "sandbox");
    assert_eq!(
        world.get(&format!("{WIDGET}/merge_requests/12")).await.json()["blocking_discussions_resolved"],
        true
    );
    let bad = world
        .expect(
            400,
            "POST",
            &threads,
            json!({"body": "x", "position": {"position_type": "text", "new_path": "a"}}),
        )
        .await;
    assert!(bad["message"].as_str().unwrap().contains("line_code"));
    let refs = world.get(&format!("{WIDGET}/merge_requests/12")).await.json()["diff_refs"].clone();
    let position = json!({"position_type": "text", "new_path": "src/widget/gear.rs", "old_path": "src/widget/gear.rs", "new_line": 5, "base_sha": refs["base_sha"], "start_sha": refs["start_sha"], "head_sha": refs["head_sha"]});
    let inline = world.expect(201, "POST", &threads, json!({"body": "here", "position": position})).await;
    assert_eq!(inline["notes"][0]["type"], "DiffNote");
    let answer = format!("{threads}/{}/notes", inline["id"].as_str().unwrap());
    assert_eq!(world.expect(201, "POST", &answer, json!({"body": "there"})).await["resolvable"], true);
    world.expect(201, "POST", &format!("{WIDGET}/snippets/1/notes"), json!({"body": "nice"})).await;
    world
        .expect(201, "POST", &format!("{WIDGET}/repository/commits/main/comments"), json!({"note": "good"}))
        .await;
    assert_eq!(world.get(&format!("{WIDGET}/repository/commits/main/comments")).await.each("note"), ["good"]);
}

#[tokio::test]
async fn merge_requests_are_reviewed_and_merged() {
    let world = World::new().await;
    let list = format!("{WIDGET}/merge_requests");
    assert_eq!(world.get(&format!("{list}?state=merged")).await.each("iid"), [9, 2, 1]);
    assert_eq!(world.get(&format!("{list}?state=opened&draft=true")).await.each("iid"), [4]);
    assert!(
        world.get(&list).await.json()[0].get("diff_refs").is_none(),
        "a list leaves out what only one has"
    );
    assert_eq!(world.get("/merge_requests?scope=reviews_for_me&state=opened").await.each("iid"), [8, 5]);
    assert_eq!(world.get("/groups/acme/merge_requests?source_branch=quiet-gears").await.each("iid"), [5]);
    let five = format!("{list}/5");
    let shown = world.get(&five).await.json();
    assert_eq!(
        (shown["changes_count"].clone(), shown["head_pipeline"]["id"].clone()),
        (json!("2"), json!(303))
    );
    let diffs = world.get(&format!("{five}/diffs")).await.json();
    assert!(
        diffs[1]["diff"].as_str().unwrap().starts_with("@@ -1,13 +1,14 @@")
            && diffs[1]["diff"].as_str().unwrap().contains("+    oil: bool,"),
        "{diffs}"
    );
    assert!(
        world.get(&format!("{five}/raw_diffs")).await.text().starts_with("diff --git a/docs/CHANGELOG.md")
    );
    assert_eq!(world.get(&format!("{five}/changes")).await.json()["changes"].as_array().unwrap().len(), 2);
    assert_eq!(
        world.get(&format!("{five}/commits")).await.each("title"),
        ["Say that they are quiet", "Oil the gears"]
    );
    assert_eq!(world.get(&format!("{five}/versions")).await.json()[0]["head_commit_sha"], shown["sha"]);
    let large = world.get(&format!("{list}/7/diffs")).await.json();
    let flags: Vec<_> = large
        .as_array()
        .unwrap()
        .iter()
        .map(|diff| {
            (
                diff["new_path"].as_str().unwrap(),
                diff["collapsed"] == true,
                diff["too_large"] == true,
                diff["diff"] == "",
            )
        })
        .collect();
    assert_eq!(
        flags,
        [
            ("data/README.md", false, false, false),
            ("data/huge.csv", false, true, true),
            ("data/long.csv", true, false, true)
        ]
    );
    let renamed = world.get(&format!("{list}/8/diffs")).await.json();
    assert_eq!(
        (renamed[0]["renamed_file"].clone(), renamed[0]["old_path"].clone()),
        (json!(true), json!("src/widget/spring.rs"))
    );

    assert_eq!(
        world.expect(201, "POST", &format!("{five}/approve"), Value::Null).await["user_has_approved"],
        true
    );
    world.expect(401, "POST", &format!("{five}/approve"), Value::Null).await;
    assert_eq!(
        world.get(&format!("{five}/approvals")).await.json()["approved_by"].as_array().unwrap().len(),
        2
    );
    world.expect(201, "POST", &format!("{five}/unapprove"), Value::Null).await;
    assert_eq!(world.get(&format!("{five}/approval_state")).await.json()["rules"][0]["approved"], true);
    assert_eq!(world.get(&format!("{five}/reviewers")).await.each("state"), ["unreviewed", "approved"]);
    world.expect(405, "PUT", &format!("{list}/4/merge"), Value::Null).await;
    world.expect(422, "PUT", &format!("{list}/6/merge"), Value::Null).await;
    world.expect(409, "PUT", &format!("{five}/merge"), json!({"sha": "0000000"})).await;
    let merged = world
        .expect(
            200,
            "PUT",
            &format!("{five}/merge"),
            json!({"sha": shown["sha"], "should_remove_source_branch": true}),
        )
        .await;
    assert_eq!(
        (merged["state"].clone(), merged["merged_by"]["username"].clone()),
        (json!("merged"), json!("sandbox"))
    );
    assert_eq!(
        world.get(&format!("{WIDGET}/repository/branches/main")).await.json()["commit"]["id"],
        merged["merge_commit_sha"]
    );
    assert!(
        world
            .get(&format!("{WIDGET}/repository/files/src%2Fwidget%2Fgear.rs/raw"))
            .await
            .text()
            .contains("oil: bool")
    );
    assert_eq!(world.get(&format!("{WIDGET}/issues/3")).await.json()["state"], "closed");
    world.expect(404, "GET", &format!("{WIDGET}/repository/branches/quiet-gears"), Value::Null).await;
    world.expect(405, "PUT", &format!("{five}/merge"), Value::Null).await;
    let twelve = world.get(&format!("{list}/12")).await.json();
    assert_eq!(
        (twelve["has_conflicts"].clone(), twelve["detailed_merge_status"].clone()),
        (json!(true), json!("conflict"))
    );
    let before = world.get(&format!("{list}/11")).await.json()["sha"].clone();
    world.expect(202, "PUT", &format!("{list}/11/rebase"), Value::Null).await;
    assert_ne!(world.get(&format!("{list}/11")).await.json()["sha"], before);

    world
        .expect(
            201,
            "POST",
            &format!("{WIDGET}/repository/branches"),
            json!({"branch": "mine", "ref": "main"}),
        )
        .await;
    let made = world.expect(201, "POST", &list, json!({"title": "Draft: mine", "source_branch": "mine", "target_branch": "main", "reviewer_ids": [3], "labels": "docs"})).await;
    assert_eq!(
        (made["iid"].clone(), made["draft"].clone(), made["detailed_merge_status"].clone()),
        (json!(13), json!(true), json!("draft_status"))
    );
    let ready = world
        .expect(200, "PUT", &format!("{list}/13"), json!({"title": "mine", "state_event": "close"}))
        .await;
    assert_eq!((ready["draft"].clone(), ready["state"].clone()), (json!(false), json!("closed")));
    world.expect(201, "POST", &format!("{list}/12/draft_notes"), json!({"note": "soon"})).await;
    world.expect(204, "POST", &format!("{list}/12/draft_notes/bulk_publish"), Value::Null).await;
    assert_eq!(world.get(&format!("{list}/12/notes")).await.each("body")[0], "soon");
    world.expect(204, "DELETE", &format!("{list}/13"), Value::Null).await;
}

#[tokio::test]
async fn the_repository_is_read() {
    let world = World::new().await;
    let repo = format!("{WIDGET}/repository");
    assert_eq!(
        world.get(&format!("{repo}/tree")).await.each("path"),
        ["assets", "docs", "src", ".gitlab-ci.yml", "README.md"]
    );
    assert_eq!(
        world.get(&format!("{repo}/tree?path=src&recursive=true")).await.each("path"),
        ["src/widget", "src/main.rs", "src/widget/gear.rs", "src/widget/mod.rs", "src/widget/spring.rs"]
    );
    let file = world.get(&format!("{repo}/files/README.md?ref=main")).await;
    assert_eq!(file.json()["encoding"], "base64");
    let head = world.send("HEAD", &format!("{repo}/files/README.md?ref=main"), TOKEN, None).await;
    assert_eq!((head.status, head.bytes.len(), head.header("x-gitlab-file-path")), (200, 0, "README.md"));
    assert_eq!(head.header("x-gitlab-blob-id"), file.json()["blob_id"]);
    let blob = format!("{repo}/blobs/{}/raw", file.json()["blob_id"].as_str().unwrap());
    assert!(world.get(&blob).await.text().starts_with("# Widget"));
    assert_eq!(
        world.get(&format!("{repo}/files/README.md/blame?ref=main")).await.json()[0]["commit"]["message"],
        "Begin the widget"
    );
    assert_eq!(
        world.expect(404, "GET", &format!("{repo}/files/none?ref=main"), Value::Null).await["message"],
        "404 File Not Found"
    );
    assert_eq!(
        world.get(&format!("{repo}/commits?path=src/main.rs")).await.each("title"),
        ["Thank everybody", "Greet whoever turns the widget", "Begin the widget"]
    );
    let commit = world.get(&format!("{repo}/commits/quiet-gears")).await.json();
    assert_eq!(
        (commit["stats"]["additions"].clone(), commit["last_pipeline"]["id"].clone()),
        (json!(4), json!(303))
    );
    let sha = commit["id"].as_str().unwrap().to_owned();
    assert_eq!(world.get(&format!("{repo}/commits/{}/refs", &sha[..8])).await.each("name"), ["quiet-gears"]);
    assert_eq!(world.get(&format!("{repo}/commits/{sha}/merge_requests")).await.each("iid"), [5]);
    assert_eq!(
        world.get(&format!("{repo}/commits/{sha}/diff")).await.each("new_path"),
        ["docs/CHANGELOG.md"]
    );
    let compare = world.get(&format!("{repo}/compare?from=main&to=quiet-gears")).await.json();
    assert_eq!(
        (compare["commits"].as_array().unwrap().len(), compare["diffs"].as_array().unwrap().len()),
        (2, 2)
    );
    let base = world.get(&format!("{repo}/merge_base?refs[]=main&refs[]=quiet-gears")).await.json();
    assert_eq!(base["title"], "Merge branch 'docs-start' into 'main'");
    assert!(world.get(&format!("{repo}/archive.zip")).await.bytes.starts_with(b"PK"));
    assert!(world.get(&format!("{repo}/contributors")).await.each("name").contains(&json!("Alice Ambler")));
    assert_eq!(world.get(&format!("{repo}/tags")).await.each("name"), ["v1.0.0"]);
    assert_eq!(world.get(&format!("{repo}/branches?search=^docs")).await.each("name"), ["docs/été"]);
}

#[tokio::test]
async fn the_repository_is_written() {
    let world = World::new().await;
    let repo = format!("{WIDGET}/repository");
    let file = format!("{repo}/files/docs%2Fnew%20page.md");
    let body = |content: &str| json!({"branch": "main", "commit_message": "Write", "content": content});
    assert_eq!(
        world.expect(201, "POST", &file, body("one\n")).await,
        json!({"file_path": "docs/new page.md", "branch": "main"})
    );
    assert_eq!(
        world.expect(400, "POST", &file, body("one\n")).await["message"],
        "A file with this name already exists"
    );
    world.expect(200, "PUT", &file, body("two\n")).await;
    assert_eq!(world.get(&format!("{file}/raw")).await.text(), "two\n");
    world.expect(204, "DELETE", &file, json!({"branch": "main", "commit_message": "Drop"})).await;
    world.expect(404, "GET", &format!("{file}?ref=main"), Value::Null).await;
    let actions = json!([
        {"action": "create", "file_path": "a.txt", "content": "YQo=", "encoding": "base64"},
        {"action": "move", "file_path": "READ.md", "previous_path": "README.md"}
    ]);
    let made = world
        .expect(
            201,
            "POST",
            &format!("{repo}/commits"),
            json!({"branch": "more", "start_branch": "main", "commit_message": "More", "actions": actions}),
        )
        .await;
    assert_eq!(
        (made["title"].clone(), made["author_name"].clone(), made["stats"]["additions"].clone()),
        (json!("More"), json!("Sandy Box"), json!(1))
    );
    assert_eq!(world.get(&format!("{repo}/files/a.txt/raw?ref=more")).await.text(), "a\n");
    let sha = made["id"].as_str().unwrap();
    world.expect(201, "POST", &format!("{repo}/commits/{sha}/cherry_pick"), json!({"branch": "main"})).await;
    assert_eq!(world.get(&format!("{repo}/files/a.txt/raw?ref=main")).await.text(), "a\n");
    world.expect(400, "POST", &format!("{repo}/commits/{sha}/cherry_pick"), json!({"branch": "main"})).await;
    world.expect(201, "POST", &format!("{repo}/commits/{sha}/revert"), json!({"branch": "main"})).await;
    world.expect(404, "GET", &format!("{repo}/files/a.txt?ref=main"), Value::Null).await;
    world
        .expect(
            201,
            "POST",
            &format!("{WIDGET}/statuses/{sha}"),
            json!({"state": "success", "name": "outside"}),
        )
        .await;
    assert_eq!(world.get(&format!("{repo}/commits/{sha}/statuses")).await.each("status"), ["success"]);
    world.expect(204, "DELETE", &format!("{repo}/branches/more"), Value::Null).await;
    world.expect(405, "DELETE", &format!("{repo}/branches/main"), Value::Null).await;
    assert_eq!(
        world
            .expect(
                201,
                "POST",
                &format!("{repo}/tags"),
                json!({"tag_name": "v2", "ref": "main", "message": "m"})
            )
            .await["message"],
        "m"
    );
    world.expect(204, "DELETE", &format!("{repo}/tags/v2"), Value::Null).await;
    world
        .expect(
            201,
            "POST",
            &format!("{WIDGET}/protected_branches"),
            json!({"name": "release-*", "push_access_level": 0}),
        )
        .await;
    world.expect(409, "POST", &format!("{WIDGET}/protected_branches"), json!({"name": "release-*"})).await;
    world.expect(204, "DELETE", &format!("{WIDGET}/protected_branches/release-*"), Value::Null).await;
    assert_eq!(world.get(&format!("{WIDGET}/protected_tags")).await.each("name"), ["v*"]);
    let release = world.expect(201, "POST", &format!("{WIDGET}/releases"), json!({"tag_name": "v9", "ref": "main", "description": "d", "assets": {"links": [{"name": "n", "url": "https://x.example"}]}})).await;
    assert_eq!(
        (release["assets"]["links"][0]["name"].clone(), release["commit"]["id"].is_string()),
        (json!("n"), true)
    );
    let latest = world.send("GET", &format!("{WIDGET}/releases/permalink/latest"), TOKEN, None).await;
    assert_eq!(
        (latest.status, latest.header("location").to_owned()),
        (302, format!("{}/api/v4/projects/1/releases/v9", world.sandbox.url()))
    );
    assert_eq!(world.get(&format!("{WIDGET}/releases/v1.0.0/assets/links")).await.each("name"), ["Manual"]);
    world.expect(200, "DELETE", &format!("{WIDGET}/releases/v9"), Value::Null).await;
}

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
async fn the_rest_is_kept_too() {
    let world = World::new().await;
    for (path, body, change) in [
        (
            "/projects/1/hooks",
            json!({"url": "https://h.example", "push_events": "false"}),
            json!({"url": "https://i.example"}),
        ),
        ("/groups/1/hooks", json!({"url": "https://h.example"}), json!({"url": "https://i.example"})),
        (
            "/projects/1/badges",
            json!({"link_url": "https://l.example", "image_url": "https://i.example"}),
            json!({"name": "n"}),
        ),
        ("/projects/1/deploy_keys", json!({"title": "t", "key": "ssh-ed25519 BBBB"}), json!({"title": "u"})),
        ("/projects/1/triggers", json!({"description": "d"}), json!({"description": "e"})),
        (
            "/projects/1/pipeline_schedules",
            json!({"description": "d", "ref": "main", "cron": "0 1 * * *"}),
            json!({"active": false}),
        ),
        (
            "/projects/1/environments",
            json!({"name": "review/new"}),
            json!({"external_url": "https://e.example"}),
        ),
        ("/projects/1/feature_flags", json!({"name": "f"}), json!({"active": false})),
        (
            "/projects/1/approval_rules",
            json!({"name": "r", "approvals_required": 2}),
            json!({"approvals_required": 3}),
        ),
        (
            "/projects/1/freeze_periods",
            json!({"freeze_start": "0 23 * * 5", "freeze_end": "0 7 * * 1"}),
            json!({"cron_timezone": "Europe/Lisbon"}),
        ),
        ("/projects/1/boards", json!({"name": "b"}), json!({"name": "c"})),
    ] {
        let made = world.expect(201, "POST", path, body).await;
        let key = made.get("id").unwrap_or(&made["name"]).to_string().replace('"', "");
        let (name, value) = change.as_object().unwrap().iter().next().unwrap();
        let one = format!("{path}/{key}");
        assert_eq!(&world.expect(200, "PUT", &one, change.clone()).await[name], value, "{path}");
        assert_eq!(&world.get(&one).await.json()[name], value, "{path}");
        if !path.ends_with("environments") {
            let status = if path.ends_with("feature_flags") { 200 } else { 204 };
            world.expect(status, "DELETE", &one, Value::Null).await;
            world.expect(404, "GET", &one, Value::Null).await;
        }
    }
    let token = world
        .expect(201, "POST", "/projects/1/access_tokens", json!({"name": "t", "scopes": ["read_api"]}))
        .await;
    assert_eq!(world.send("GET", "/projects/5", token["token"].as_str().unwrap(), None).await.status, 200);
    assert!(
        world.get(&format!("/projects/1/access_tokens/{}", token["id"])).await.json().get("token").is_none()
    );
    assert_eq!(world.get("/projects/1/packages").await.each("name"), ["widget"]);
    assert_eq!(world.get("/groups/acme/packages").await.each("name"), ["widget"]);
    assert_eq!(world.get("/groups/acme/registry/repositories").await.each("path"), ["acme/widget"]);
    assert_eq!(world.get("/groups/acme/releases").await.each("tag_name"), ["v1.0.0"]);
    assert_eq!(world.get("/projects/1/pipeline_schedules/1").await.json()["variables"][0]["key"], "NIGHTLY");
    assert_eq!(world.get("/projects/1/packages/1/package_files").await.each("size"), [2048]);
    assert_eq!(
        world.get("/projects/1/registry/repositories/1/tags/1.0.0").await.json()["path"],
        "acme/widget:1.0.0"
    );
    assert_eq!(world.get("/templates/gitignores").await.each("key"), ["Rust", "Python"]);
    assert_eq!(world.get("/templates/licenses/mit").await.json()["name"], "MIT License");
    assert_eq!(world.get("/topics").await.each("name"), ["widgets", "gears"]);
    assert_eq!(world.get("/broadcast_messages").await.each("id"), [1]);
    assert_eq!(world.get("/user/keys").await.each("title"), ["workbench"]);
    assert_eq!(world.send("GET", "/user/keys", READER_TOKEN, None).await.json(), json!([]));
    assert_eq!(world.send("GET", "/user/keys/1", READER_TOKEN, None).await.status, 404);
    world.expect(201, "POST", "/projects/1/hooks/1/test/push_events", Value::Null).await;
    assert!(
        world.expect(201, "POST", "/markdown", json!({"text": "<b>"})).await["html"]
            .as_str()
            .unwrap()
            .contains("&lt;b&gt;")
    );
    assert_eq!(world.get("/projects/1/access_requests").await.each("username"), ["erin"]);
    world.expect(201, "PUT", "/projects/1/access_requests/7/approve", json!({"access_level": 20})).await;
    assert_eq!(world.get("/projects/1/members/7").await.json()["access_level"], 20);
    world
        .expect(201, "POST", "/groups/1/invitations", json!({"email": "x@y.example", "access_level": 10}))
        .await;
    assert_eq!(world.get("/groups/1/invitations").await.each("invite_email"), ["x@y.example"]);
}

#[tokio::test]
async fn snippets_wikis_and_uploads() {
    let world = World::new().await;
    assert_eq!(world.get("/snippets").await.each("id"), [2]);
    assert_eq!(world.get("/projects/1/snippets/1/raw").await.text(), "#!/bin/sh\necho \"drip, drip\"\n");
    let made = world.expect(201, "POST", "/snippets", json!({"title": "t", "visibility": "private", "files": [{"file_path": "a b.txt", "content": "hi"}]})).await;
    let path = format!("/snippets/{}", made["id"]);
    assert_eq!(world.get(&format!("{path}/files/main/a%20b.txt/raw")).await.text(), "hi");
    assert_eq!(world.send("GET", &path, READER_TOKEN, None).await.status, 404);
    world.expect(204, "DELETE", &path, Value::Null).await;
    assert_eq!(world.get("/projects/1/wikis").await.each("slug"), ["home", "guides/oiling"]);
    assert_eq!(world.get("/projects/1/wikis/guides%2Foiling").await.json()["content"], "Once a week.");
    assert_eq!(
        world.expect(201, "POST", "/projects/1/wikis", json!({"title": "New page", "content": "c"})).await["slug"],
        "New-page"
    );
    assert_eq!(
        world.expect(200, "PUT", "/projects/1/wikis/New-page", json!({"content": "d"})).await["content"],
        "d"
    );
    world.expect(204, "DELETE", "/projects/1/wikis/New-page", Value::Null).await;
    assert_eq!(world.get("/groups/1/wikis").await.each("slug"), ["house-rules"]);

    let picture = b"\x89PNG\r\n\x1a\n\x00\xff".to_vec();
    let part = || multipart::Part::bytes(picture.clone()).file_name("gear.png");
    let url = |path: &str| format!("{}/api/v4{path}", world.sandbox.url());
    let sent = world
        .http
        .post(url("/projects/1/uploads"))
        .header("PRIVATE-TOKEN", TOKEN)
        .multipart(multipart::Form::new().part("file", part()));
    let sent = World::finish(sent).await;
    assert_eq!(sent.status, 201, "{}", sent.text());
    assert!(sent.json()["markdown"].as_str().unwrap().starts_with("![gear](/uploads/"));
    assert_eq!(world.get(&format!("/projects/1/uploads/{}", sent.json()["id"])).await.bytes, picture);
    let avatar = world
        .http
        .put(url("/user/avatar"))
        .header("PRIVATE-TOKEN", TOKEN)
        .multipart(multipart::Form::new().part("avatar", part()));
    assert!(World::finish(avatar).await.json()["avatar_url"].as_str().unwrap().ends_with("gear.png"));
    assert!(world.get("/user").await.json()["avatar_url"].as_str().unwrap().ends_with("gear.png"));
}

#[tokio::test]
async fn search_todos_and_events() {
    let world = World::new().await;
    for (path, field, wanted) in [
        ("/search?scope=projects&search=widget", "path", json!(["widget", "archive", "widget-cli"])),
        ("/search?scope=issues&search=bell", "iid", json!([10, 11])),
        ("/groups/acme/search?scope=milestones&search=fair", "title", json!(["Spring fair"])),
        ("/groups/acme/-/search?scope=merge_requests&search=gears", "iid", json!([3, 5])),
        ("/projects/1/search?scope=blobs&search=struct%20Gear", "path", json!(["src/widget/gear.rs"])),
        ("/projects/1/search?scope=commits&search=push", "title", json!(["Build and test on every push"])),
        ("/projects/1/search?scope=notes&search=zero", "id", json!([1001])),
        ("/projects/1/search?scope=wiki_blobs&search=week", "path", json!(["guides/oiling.md"])),
        ("/search?scope=users&search=ali", "username", json!(["alice"])),
        ("/search?scope=snippet_titles&search=oil", "id", json!([1])),
    ] {
        assert_eq!(Value::from(world.get(path).await.each(field)), wanted, "{path}");
    }
    world.expect(400, "GET", "/search?scope=nothing&search=x", Value::Null).await;
    let todos = world.get("/todos").await;
    assert_eq!(todos.each("id"), [2, 1]);
    assert_eq!(todos.json()[1]["target"]["iid"], 5);
    assert_eq!(world.expect(201, "POST", "/todos/1/mark_as_done", Value::Null).await["state"], "done");
    world.expect(204, "POST", "/todos/mark_as_done", Value::Null).await;
    assert_eq!(world.get("/todos").await.json(), json!([]));
    assert_eq!(world.get("/todos?state=done").await.each("id"), [3, 2, 1]);
    world.expect(201, "POST", "/projects/1/issues", json!({"title": "Seen"})).await;
    assert_eq!(world.get("/events").await.json()[0]["target_title"], "Seen");
    assert_eq!(world.get("/projects/1/events?action=closed").await.each("id"), [3]);
    assert_eq!(world.get("/users/alice/events").await.each("action_name"), ["opened"]);
}
