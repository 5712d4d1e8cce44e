//! Merge requests and repositories.

use gitlab_mcp_sandbox::TOKEN;
use serde_json::{Value, json};

use super::{WIDGET, World};

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
    world.expect(405, "PUT", &format!("{list}/6/merge"), Value::Null).await;
    world.expect(201, "POST", &format!("{list}/6/approve"), Value::Null).await;
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
    world.expect(201, "POST", &format!("{list}/12/approve"), Value::Null).await;
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
    let verdict = json!({"note": "Not yet.", "internal": true, "reviewer_state": "requested_changes"});
    world.expect(204, "POST", &format!("{list}/12/draft_notes/bulk_publish"), verdict).await;
    let notes = world.get(&format!("{list}/12/notes")).await.json();
    assert_eq!((notes[0]["body"].clone(), notes[0]["internal"].clone()), (json!("Not yet."), json!(true)));
    assert_eq!(world.get(&format!("{list}/12")).await.json()["detailed_merge_status"], "requested_changes");
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
async fn a_protected_tag_says_who_may_create_it() {
    let world = World::new().await;
    let rules = format!("{WIDGET}/protected_tags");
    let made = world.expect(201, "POST", &rules, json!({"name": "r*", "create_access_level": 30})).await;
    assert_eq!(made["create_access_levels"][0]["access_level_description"], "Developers + Maintainers");
    let listed = json!({"name": "s*", "allowed_to_create": [{"user_id": 4}, {"deploy_key_id": 1}]});
    let levels = world.expect(201, "POST", &rules, listed).await["create_access_levels"].clone();
    assert_eq!((&levels[0]["user_id"], &levels[0]["deploy_key_id"]), (&json!(4), &Value::Null));
    assert_eq!((&levels[1]["deploy_key_id"], levels.as_array().unwrap().len()), (&json!(1), 2));
    let usual = world.expect(201, "POST", &rules, json!({"name": "t*"})).await;
    assert_eq!(usual["create_access_levels"][0]["access_level"], 40);
    let taken = world.expect(422, "POST", &rules, json!({"name": "r*"})).await;
    assert_eq!(taken["message"], json!(["Name has already been taken"]));
    world.expect(400, "POST", &rules, json!({"name": "u*", "create_access_level": 20})).await;
    world.expect(405, "PATCH", &format!("{rules}/r*"), json!({})).await;

    // The rule of `s*` does not list the owner; that of `q*` allows no role.
    world.expect(201, "POST", &rules, json!({"name": "q*", "create_access_level": 0})).await;
    let tags = format!("{WIDGET}/repository/tags");
    for name in ["s1", "q1"] {
        world.expect(400, "POST", &tags, json!({"tag_name": name, "ref": "main"})).await;
        let release = json!({"tag_name": name, "ref": "main"});
        world.expect(403, "POST", &format!("{WIDGET}/releases"), release).await;
    }
    world.expect(204, "DELETE", &format!("{rules}/q*"), Value::Null).await;
    world.expect(201, "POST", &tags, json!({"tag_name": "q1", "ref": "main"})).await;
}

#[tokio::test]
async fn a_release_annotates_the_tag_that_it_creates() {
    let world = World::new().await;
    let releases = format!("{WIDGET}/releases");
    let release = json!({"tag_name": "v3.0.0", "ref": "main", "tag_message": "Third time lucky"});
    world.expect(201, "POST", &releases, release).await;
    let tag = |name: &str| format!("{WIDGET}/repository/tags/{name}");
    let made = world.get(&tag("v3.0.0")).await.json();
    assert_eq!((&made["message"], made["created_at"].is_string()), (&json!("Third time lucky"), true));
    world.expect(201, "POST", &releases, json!({"tag_name": "v3.0.1", "ref": "main"})).await;
    let plain = world.get(&tag("v3.0.1")).await.json();
    assert_eq!((&plain["message"], &plain["created_at"]), (&json!(""), &Value::Null));

    // A tag that exists keeps its message.
    world
        .expect(201, "POST", &format!("{WIDGET}/repository/tags"), json!({"tag_name": "v4", "ref": "main"}))
        .await;
    let release = json!({"tag_name": "v4", "ref": "main", "tag_message": "Late"});
    world.expect(201, "POST", &releases, release).await;
    assert_eq!(world.get(&tag("v4")).await.json()["message"], "");
}

#[tokio::test]
async fn packages_are_found_by_name_type_version_and_status() {
    let world = World::new().await;
    for (query, found) in [
        ("package_name=IDGE", 1),
        ("package_name=gear", 0),
        ("package_type=generic&package_version=1.0.0", 1),
        ("package_version=1.0", 0),
        ("package_type=npm", 0),
        ("status=hidden", 0),
        ("status=default&order_by=version&sort=desc&include_versionless=true", 1),
    ] {
        for place in ["/projects/1", "/groups/acme"] {
            let names = world.get(&format!("{place}/packages?{query}")).await.each("name");
            assert_eq!(names.len(), found, "{place} {query}");
        }
    }
    assert_eq!(world.get("/groups/acme/packages").await.each("project_path"), ["acme/widget"]);
    world.expect(400, "GET", "/projects/1/packages?package_type=gem", Value::Null).await;
    let files = world.get("/projects/1/packages/1/package_files?order_by=file_name&sort=desc").await;
    assert_eq!(files.each("file_name"), ["widget-1.0.0.tar.gz"]);
}

#[tokio::test]
async fn a_merge_request_keeps_the_diffs_of_a_thousand_files() {
    let world = World::new().await;
    let shown = world.get("/projects/2/merge_requests/1").await.json();
    assert_eq!(shown["changes_count"], "1000+");
    let diffs = world.get("/projects/2/merge_requests/1/diffs?per_page=100").await;
    assert_eq!((diffs.header("x-total"), diffs.header("x-total-pages")), ("1000", "10"));
    let changes = world.get("/projects/2/merge_requests/1/changes").await.json();
    assert_eq!((&changes["overflow"], changes["changes"].as_array().unwrap().len()), (&json!(true), 1000));
    let raw = world.get("/projects/2/merge_requests/1/raw_diffs").await.text();
    assert_eq!(raw.matches("diff --git ").count(), 1200, "the raw diff is whole");
}

#[tokio::test]
async fn a_changelog_has_the_commits_with_a_trailer_by_category() {
    let world = World::new().await;
    let commit = |message: &str, path: &str| {
        json!({
            "branch": "main", "commit_message": message,
            "actions": [{"action": "create", "file_path": path, "content": "x"}]
        })
    };
    let list = "/projects/1/repository/commits";
    let oil =
        world.done("POST", list, commit("Add oil\n\nSo that it turns.\n\nChangelog: added", "oil.txt")).await;
    world.done("POST", list, commit("Hide the gears\n\nChangelog: changed", "gears.txt")).await;
    world.done("POST", list, commit("Chore", "chore.txt")).await;
    let path = "/projects/1/repository/changelog";
    let notes = world.read(&format!("{path}?version=9.0.0&date=2026-03-03")).await;
    let entry = format!("- [Add oil](acme/widget@{})", oil["id"].as_str().unwrap());
    let notes = notes["notes"].as_str().unwrap();
    assert!(notes.starts_with("## 9.0.0 (2026-03-03)\n\n### added (1 change)\n\n"), "{notes}");
    assert!(notes.contains(&entry) && notes.contains("### changed (1 change)") && !notes.contains("Chore"));
    world.expect(200, "POST", path, json!({"version": "9.0.0"})).await;
    let file = world.get("/projects/1/repository/files/CHANGELOG.md/raw?ref=main").await.text();
    assert!(file.starts_with("## 9.0.0 (") && file.contains(&entry), "{file}");
    let other = world.read(&format!("{path}?version=9.0.0&trailer=Category")).await;
    assert!(other["notes"].as_str().unwrap().ends_with("No changes.\n"), "{other}");
    // No tag comes before it.
    world.expect(422, "GET", &format!("{path}?version=0.0.1"), Value::Null).await;
}
