//! Effects of a request on other objects: rights to branches, checks before a merge, system notes, to-do items, events,
//! versions of a diff; and data that a client can verify.

use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use gitlab_mcp_sandbox::{ADMIN_TOKEN, READER_TOKEN, TOKEN};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use serde_json::{Value, json};

use super::World;

const ONE: &str = "/projects/1/merge_requests/8";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl World {
    /// A token of `bob`, who is a developer of the group.
    async fn developer(&self) -> String {
        let body = json!({"name": "bob's", "scopes": ["api"]});
        let (status, _, token) = self.ask("POST", "/users/4/personal_access_tokens", ADMIN_TOKEN, body).await;
        assert_eq!(status, 201, "{token}");
        token["token"].as_str().unwrap().to_owned()
    }

    async fn merge_status(&self, path: &str) -> Value {
        self.read(path).await["detailed_merge_status"].clone()
    }

    /// The system notes of an object, oldest first.
    async fn system_notes(&self, path: &str) -> Vec<Value> {
        self.column(&format!("{path}/notes?activity_filter=only_activity&sort=asc"), "body").await
    }
}

#[tokio::test]
async fn a_protected_branch_takes_pushes_and_merges_of_those_whom_its_rule_allows() {
    let world = World::new().await;
    let bob = world.developer().await;
    let file = json!({"branch": "main", "content": "x", "commit_message": "x"});
    let path = "/projects/1/repository/files/new.txt";
    let (status, _, answer) = world.ask("POST", path, &bob, file.clone()).await;
    assert_eq!((status, &answer["message"]), (400, &json!("You are not allowed to push into this branch")));
    let actions = json!([{"action": "create", "file_path": "new.txt", "content": "x"}]);
    let commit = json!({"branch": "main", "commit_message": "x", "actions": actions});
    let commits = "/projects/1/repository/commits";
    let (status, _, answer) = world.ask("POST", commits, &bob, commit).await;
    let refused = json!("403 Forbidden - You are not allowed to push into this branch");
    assert_eq!((status, &answer["message"]), (403, &refused));
    world.done("POST", path, file).await;
    let branches = "/projects/1/repository/branches/main";
    let (_, _, branch) = world.ask("GET", branches, &bob, Value::Null).await;
    let may = [&branch["can_push"], &branch["developers_can_push"], &branch["developers_can_merge"]];
    assert_eq!(may, [&json!(false), &json!(false), &json!(true)]);
    // Developers may merge into it, unless its rule lets nobody.
    let rule = json!({"name": "aside", "push_access_level": 0, "merge_access_level": 0});
    world.done("POST", "/projects/1/repository/branches", json!({"branch": "aside", "ref": "main"})).await;
    world.done("POST", "/projects/1/protected_branches", rule).await;
    world.done("PUT", ONE, json!({"target_branch": "aside"})).await;
    world.done("POST", &format!("{ONE}/approve"), Value::Null).await;
    let (status, _, answer) = world.ask("PUT", &format!("{ONE}/merge"), TOKEN, Value::Null).await;
    assert_eq!((status, &answer["message"]), (401, &json!("401 Unauthorized")));
    world.done("PUT", ONE, json!({"target_branch": "main"})).await;
    let (status, _, answer) = world.ask("PUT", &format!("{ONE}/merge"), &bob, Value::Null).await;
    assert_eq!((status, &answer["state"]), (200, &json!("merged")), "{answer}");
}

#[tokio::test]
async fn approvals_threads_and_pipelines_block_a_merge() {
    let world = World::new().await;
    assert_eq!(world.merge_status(ONE).await, "not_approved");
    let (status, _, _) = world.ask("PUT", &format!("{ONE}/merge"), TOKEN, Value::Null).await;
    assert_eq!(status, 405);
    world.done("POST", &format!("{ONE}/approve"), Value::Null).await;
    assert_eq!(world.merge_status(ONE).await, "mergeable");
    let threads = json!({"only_allow_merge_if_all_discussions_are_resolved": true});
    world.done("PUT", "/projects/1", threads).await;
    let thread = world.done("POST", &format!("{ONE}/discussions"), json!({"body": "Why?"})).await;
    assert_eq!(world.merge_status(ONE).await, "discussions_not_resolved");
    let thread = format!("{ONE}/discussions/{}", thread["id"].as_str().unwrap());
    world.done("PUT", &thread, json!({"resolved": true})).await;
    assert_eq!(world.merge_status(ONE).await, "mergeable");
    world.done("PUT", "/projects/1", json!({"only_allow_merge_if_pipeline_succeeds": true})).await;
    assert_eq!(world.merge_status(ONE).await, "ci_must_pass");
    world.done("POST", &format!("{ONE}/pipelines"), Value::Null).await;
    assert_eq!(world.merge_status(ONE).await, "ci_still_running");
    let waits = world.done("PUT", &format!("{ONE}/merge"), json!({"auto_merge": true})).await;
    assert_eq!((&waits["state"], &waits["merge_when_pipeline_succeeds"]), (&json!("opened"), &json!(true)));
    world.done("PUT", "/projects/1", json!({"only_allow_merge_if_pipeline_succeeds": false})).await;
    world.done("POST", &format!("{ONE}/notes"), json!({"body": "/request_changes"})).await;
    assert_eq!(world.merge_status(ONE).await, "requested_changes");
    world.done("POST", &format!("{ONE}/unapprove"), Value::Null).await;
    world.done("POST", &format!("{ONE}/approve"), Value::Null).await;
    assert_eq!(world.merge_status(ONE).await, "mergeable");
    world.done("PUT", "/projects/1", json!({"merge_method": "ff"})).await;
    assert_eq!(world.merge_status(ONE).await, "need_rebase");
}

#[tokio::test]
async fn a_push_makes_a_version_and_takes_back_the_approvals() {
    let world = World::new().await;
    let five = "/projects/1/merge_requests/5";
    let versions = world.read(&format!("{five}/versions")).await;
    assert_eq!(versions.as_array().unwrap().len(), 2);
    assert_eq!((&versions[0]["real_size"], &versions[1]["real_size"]), (&json!("2"), &json!("1")));
    let oldest = world.read(&format!("{five}/versions/{}", versions[1]["id"])).await;
    assert_eq!(oldest["diffs"][0]["new_path"], "src/widget/gear.rs");
    let file = json!({"branch": "quiet-gears", "content": "x", "commit_message": "Add x"});
    world.done("POST", "/projects/1/repository/files/x", file).await;
    assert_eq!(world.read(&format!("{five}/versions")).await.as_array().unwrap().len(), 3);
    assert_eq!(world.read(&format!("{five}/approvals")).await["approved_by"], json!([]));
    let notes = world.system_notes(five).await;
    assert!(notes[0].as_str().unwrap().starts_with("added 1 commit\n\n<ul><li>"), "{notes:?}");
}

#[tokio::test]
async fn changes_without_a_resource_event_leave_a_system_note() {
    let world = World::new().await;
    let one = "/projects/1/issues/2";
    let change = json!({"title": "Let the spring be wound from the right", "assignee_ids": [3, 4],
        "description": "From the right.", "confidential": true, "due_date": "2026-04-01"});
    world.done("PUT", one, change).await;
    world.done("PUT", one, json!({"assignee_ids": [4], "labels": "docs", "milestone_id": 2})).await;
    let notes = world.system_notes(one).await;
    // Labels and milestones have events of their own.
    let expected = [
        "assigned to @alice and @bob",
        "changed title from **Let the spring be wound from the {-lef-}t** to **Let the spring be wound from the {+righ+}t**",
        "changed the description",
        "made the issue confidential",
        "changed due date to April 1, 2026",
        "unassigned @alice",
    ];
    assert_eq!(notes, expected);
    assert_eq!(world.read(one).await["user_notes_count"], 0);
    world.done("PUT", ONE, json!({"title": "Draft: Rename the spring", "reviewer_ids": [4]})).await;
    world.done("POST", &format!("{ONE}/approve"), Value::Null).await;
    let expected = [
        "requested review from @bob and removed review request for @sandbox",
        "marked this merge request as **draft**",
        "approved this merge request",
    ];
    assert_eq!(world.system_notes(ONE).await, expected);
}

#[tokio::test]
async fn assignments_and_mentions_become_to_do_items_until_one_acts() {
    let world = World::new().await;
    let todos = "/todos?type=Issue&action=";
    let body = json!({"title": "Look", "description": "No address: sandbox@acme.example"});
    let (_, _, issue) = world.ask("POST", "/projects/1/issues", READER_TOKEN, body).await;
    let one = format!("/projects/1/issues/{}", issue["iid"]);
    let pending = async |action: &str| {
        let found = world.read(&format!("{todos}{action}")).await;
        found.as_array().unwrap().iter().filter(|todo| todo["target"]["iid"] == issue["iid"]).count()
    };
    assert_eq!(pending("mentioned").await, 0);
    let note = json!({"body": "What does @sandbox say?"});
    world.ask("POST", &format!("{one}/notes"), READER_TOKEN, note.clone()).await;
    world.ask("POST", &format!("{one}/notes"), READER_TOKEN, note).await;
    assert_eq!(pending("mentioned").await, 1, "a second mention adds nothing");
    let assign = json!({"assignee_ids": [2]});
    let (status, _, _) = world.ask("PUT", &one, ADMIN_TOKEN, assign).await;
    assert_eq!((status, pending("assigned").await), (200, 1));
    world.done("POST", &format!("{one}/notes"), json!({"body": "@erin That is so."})).await;
    assert_eq!((pending("mentioned").await, pending("assigned").await), (0, 0));
    let (_, _, others) = world.ask("GET", "/todos", READER_TOKEN, Value::Null).await;
    assert_eq!(others[0]["action_name"], "directly_addressed");
    // Nobody hears of what they may not see.
    world.done("POST", "/projects/5/issues/1/notes", json!({"body": "@erin"})).await;
    let (_, _, others) = world.ask("GET", "/todos", READER_TOKEN, Value::Null).await;
    assert_eq!(others.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn pushes_branches_and_comments_are_events() {
    let world = World::new().await;
    world.done("POST", "/projects/1/repository/branches", json!({"branch": "aside", "ref": "main"})).await;
    let file = json!({"branch": "aside", "content": "x", "commit_message": "Add x"});
    world.done("POST", "/projects/1/repository/files/x", file).await;
    world.done("DELETE", "/projects/1/repository/branches/aside", Value::Null).await;
    world.done("POST", "/projects/1/issues/2/notes", json!({"body": "Hm."})).await;
    let events = world.read("/projects/1/events?per_page=4").await;
    let names: Vec<&Value> = events.as_array().unwrap().iter().map(|event| &event["action_name"]).collect();
    assert_eq!(names, ["commented on", "deleted", "pushed to", "pushed new"]);
    assert_eq!((&events[0]["target_type"], &events[0]["note"]["body"]), (&json!("Note"), &json!("Hm.")));
    let push = &events[2]["push_data"];
    let shown = (&push["commit_count"], &push["commit_title"], &push["ref"], &push["action"]);
    assert_eq!(shown, (&json!(1), &json!("Add x"), &json!("aside"), &json!("pushed")));
}

#[tokio::test]
async fn a_merge_train_takes_what_can_be_merged() {
    let world = World::new().await;
    let path = "/projects/1/merge_trains/merge_requests/8";
    let (status, _, answer) = world.ask("POST", path, TOKEN, Value::Null).await;
    assert_eq!((status, &answer["message"]), (400, &json!("Failed to merge")));
    world.done("POST", &format!("{ONE}/approve"), Value::Null).await;
    let (status, _, cars) = world.ask("POST", path, TOKEN, Value::Null).await;
    assert_eq!(status, 201, "{cars}");
    let iids: Vec<&Value> = cars.as_array().unwrap().iter().map(|car| &car["merge_request"]["iid"]).collect();
    assert_eq!(iids, [11, 8]);
    world.done("PUT", &format!("{ONE}/merge"), Value::Null).await;
    let complete = world.column("/projects/1/merge_trains/main?scope=complete", "status").await;
    assert_eq!(complete, ["merged", "merged"]);
}

#[tokio::test]
async fn a_file_can_be_verified_by_its_hashes() {
    let world = World::new().await;
    let file = world.read("/projects/1/repository/files/README.md?ref=main").await;
    let bytes = STANDARD.decode(file["content"].as_str().unwrap()).unwrap();
    assert_eq!(file["content_sha256"], hex(digest(&SHA256, &bytes).as_ref()));
    let object = [format!("blob {}\0", bytes.len()).as_bytes(), &bytes].concat();
    assert_eq!(file["blob_id"], hex(digest(&SHA1_FOR_LEGACY_USE_ONLY, &object).as_ref()));
    // ssh-keygen -lf
    let keys = world.read("/projects/1/deploy_keys").await;
    assert_eq!(keys[0]["fingerprint_sha256"], "SHA256:85Bm89tDIDSYG7chjrrYsjBl2zLb9HjtDOxEmeDp6VE");
}

#[tokio::test]
async fn lines_are_blamed_on_the_commits_that_wrote_them() {
    let world = World::new().await;
    let path = "/projects/1/repository/files/src%2Fmain.rs/blame?ref=main";
    let groups = world.read(path).await;
    let shown: Vec<(&Value, usize)> = groups
        .as_array()
        .unwrap()
        .iter()
        .map(|group| (&group["commit"]["message"], group["lines"].as_array().unwrap().len()))
        .collect();
    assert_eq!(
        shown,
        [(&json!("Begin the widget"), 3), (&json!("Thank everybody"), 1), (&json!("Begin the widget"), 3)]
    );
}

#[tokio::test]
async fn an_archive_holds_the_files_of_its_commit() {
    let world = World::new().await;
    let fetch = async |path: &str| {
        let got = world.send("GET", path, TOKEN, None).await;
        assert_eq!(got.status, 200);
        let name = got.header("content-disposition").to_owned();
        (name, got.bytes)
    };
    let sha = world.read("/projects/2/repository/commits/main").await["id"].as_str().unwrap().to_owned();
    let (name, bytes) = fetch("/projects/2/repository/archive").await;
    assert_eq!(name, format!("attachment; filename=\"site-main-{sha}.tar.gz\""));
    let mut tar = Vec::new();
    GzDecoder::new(bytes.as_slice()).read_to_end(&mut tar).unwrap();
    let names: Vec<String> = [0, 1024]
        .iter()
        .map(|at| String::from_utf8_lossy(&tar[*at..at + 100]).trim_end_matches('\0').to_owned())
        .collect();
    assert_eq!(names, [format!("site-main-{sha}/README.md"), format!("site-main-{sha}/index.html")]);
    assert_eq!(&tar[512..519], b"# Site\n");
    let (name, zip) = fetch("/projects/2/repository/archive.zip?sha=main&path=index.html").await;
    assert!(name.ends_with(".zip\""), "{name}");
    assert!(zip.starts_with(b"PK\x03\x04") && zip[zip.len() - 22..].starts_with(b"PK\x05\x06\0\0\0\0\x01\0"));
    let text = String::from_utf8_lossy(&zip);
    assert!(text.contains("<h1>Acme</h1>") && !text.contains("README"), "{text}");
}

#[tokio::test]
async fn commits_that_are_made_when_asked_for_are_always_there() {
    for path in ["/projects/3?statistics=true", "/projects?statistics=true&archived=true"] {
        let answer = World::new().await.read(path).await;
        let project = answer.get(0).unwrap_or(&answer);
        assert_eq!(project["statistics"]["commit_count"], 201, "{path}");
    }
    let found = World::new().await.read("/groups/1/search?scope=blobs&search=Day").await;
    assert_eq!(found[0]["path"], "JOURNAL.md", "{found}");
}
