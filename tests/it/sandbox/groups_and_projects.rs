//! Groups, projects, and what belongs to them.

use gitlab_mcp_sandbox::{ADMIN_TOKEN, READER_TOKEN, TOKEN};
use reqwest::multipart;
use serde_json::{Value, json};

use super::{WIDGET, World};

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
    // The answer to a transfer is the project as it was; a worker of GitLab's moves it.
    let transfer = "/projects/acme%2Fnewer/transfer";
    let answered = world.expect(200, "PUT", transfer, json!({"namespace": "sandbox"})).await;
    assert_eq!(answered["path_with_namespace"], "acme/newer");
    let there = world.get("/projects/sandbox%2Fnewer").await.json();
    assert_eq!(
        (
            there["id"].clone(),
            there["namespace"]["kind"].clone(),
            there["web_url"].as_str().unwrap().ends_with("/sandbox/newer")
        ),
        (answered["id"].clone(), json!("user"), true)
    );
    assert_eq!(world.send("GET", "/projects/acme%2Fnewer", TOKEN, None).await.status, 301);
    let again =
        world.expect(400, "PUT", "/projects/sandbox%2Fnewer/transfer", json!({"namespace": "sandbox"})).await;
    assert!(again["message"].as_str().unwrap().contains("already in this namespace"), "{again}");
    world.expect(404, "PUT", "/projects/sandbox%2Fnewer/transfer", json!({"namespace": "nowhere"})).await;
    world.expect(200, "PUT", "/projects/sandbox%2Fnewer/transfer", json!({"namespace": "acme"})).await;
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
    assert_eq!(world.get("/projects/1/wikis").await.each("slug"), ["guides/oiling", "home"]);
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
    assert_eq!(world.get("/groups/1/wikis").await.each("slug"), ["House-rules"]);
    let named = |page: &Value| (page["slug"].clone(), page["title"].clone());
    for name in ["House-rules", "house-rules", "House%20rules"] {
        let page = world.get(&format!("/groups/1/wikis/{name}")).await.json();
        assert_eq!(named(&page), (json!("House-rules"), json!("House rules")), "{name}");
    }
    let page = json!({"title": "Guides / Night  shift-work", "content": "Quiet."});
    let page = world.expect(201, "POST", "/projects/1/wikis", page).await;
    assert_eq!(named(&page), (json!("Guides/Night-shift-work"), json!("Night shift work")));
    let again = json!({"title": "guides/night-shift-work", "content": "x", "format": "org"});
    let refusal = world.expect(400, "POST", "/projects/1/wikis", again).await["message"]["base"][0].clone();
    assert!(refusal.as_str().unwrap().ends_with("in the file guides/night-shift-work.org"), "{refusal}");
    let at = "/projects/1/wikis/Guides%2FNight-shift-work";
    let page = world.expect(200, "PUT", at, json!({"title": "Day shift"})).await;
    assert_eq!(named(&page), (json!("Guides/Day-shift"), json!("Day shift")), "it stays in its directory");
    let at = "/projects/1/wikis/Guides%2FDay-shift";
    world.expect(400, "PUT", at, json!({"title": "/home"})).await;
    let page = world.expect(200, "PUT", at, json!({"title": "/Shifts"})).await;
    assert_eq!(page["slug"], "Shifts");
    world.expect(404, "GET", at, Value::Null).await;

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

#[tokio::test]
async fn images_invitations_and_approvals_are_shown_as_asked() {
    let world = World::new().await;
    let plain = world.get("/projects/1/registry/repositories").await.json();
    assert!(plain[0].get("tags").is_none(), "{plain}");
    let images = world.get("/projects/1/registry/repositories?tags=true&tags_count=true").await.json();
    assert_eq!((&images[0]["tags"][0]["name"], &images[0]["tags_count"]), (&json!("1.0.0"), &json!(1)));

    let invited = json!({"email": "eve@elsewhere.example", "access_level": 20, "expires_at": "2027-01-31"});
    assert_eq!(world.send("POST", "/projects/1/invitations", ADMIN_TOKEN, Some(invited)).await.status, 201);
    let later = Some(json!({"expires_at": "2027-02-28", "access_level": 30}));
    let path = "/projects/1/invitations/eve@elsewhere.example";
    assert_eq!(world.send("PUT", path, ADMIN_TOKEN, later).await.status, 200);
    let invitations = world.send("GET", "/projects/1/invitations", ADMIN_TOKEN, None).await.json();
    assert_eq!(invitations[0]["expires_at"], "2027-02-28", "{invitations}");

    let all = world.get("/projects/1/merge_requests?per_page=100").await.each("iid").len();
    let approved = world.get("/projects/1/merge_requests?per_page=100&approved_by_ids=Any").await.each("iid");
    let open = world.get("/projects/1/merge_requests?per_page=100&approved_by_ids=None").await.each("iid");
    assert!(!approved.is_empty() && approved.len() + open.len() == all, "{approved:?} {open:?}");
    for iid in &approved {
        let path = format!("/projects/1/merge_requests/{iid}/approvals");
        let approvals = world.get(&path).await.json();
        let user = approvals["approved_by"][0]["user"]["username"].as_str().unwrap().to_owned();
        let path = format!("/projects/1/merge_requests?per_page=100&approved_by_usernames[]={user}");
        assert!(world.get(&path).await.each("iid").contains(iid), "{user}");
    }
}
