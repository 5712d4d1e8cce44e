//! Labels, milestones, issues, epics and notes.

use gitlab_mcp_sandbox::TOKEN;
use serde_json::{Value, json};

use super::{WIDGET, World};

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
    assert_eq!(
        world.get(&format!("{one}/resource_label_events")).await.each("action"),
        ["add", "add", "add", "remove"]
    );
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
async fn an_issue_is_put_into_an_epic_and_taken_out() {
    let world = World::new().await;
    let (issue, epic) = (format!("{WIDGET}/issues/4"), |iid: u64| format!("/groups/acme/epics/{iid}/issues"));
    let id = world.get("/groups/acme/epics/1").await.json()["id"].clone();
    let shown = world.expect(200, "PUT", &issue, json!({"epic_id": id})).await;
    assert_eq!((&shown["epic_iid"], &shown["epic"]["id"]), (&json!(1), &id));
    assert!(world.get(&epic(1)).await.each("iid").contains(&json!(4)));

    // An issue is in one epic at most.
    assert_eq!(world.expect(200, "PUT", &issue, json!({"epic_iid": 2})).await["epic_iid"], 2);
    assert!(!world.get(&epic(1)).await.each("iid").contains(&json!(4)));
    assert!(world.get(&epic(2)).await.each("iid").contains(&json!(4)));
    for none in [json!({"epic_id": 0}), json!({"epic_id": null})] {
        world.expect(200, "PUT", &issue, json!({"epic_id": id})).await;
        assert_eq!(world.expect(200, "PUT", &issue, none).await["epic"], Value::Null);
        assert!(!world.get(&epic(1)).await.each("iid").contains(&json!(4)));
    }
    let new = json!({"title": "Oil", "epic_id": id});
    assert_eq!(world.expect(201, "POST", &format!("{WIDGET}/issues"), new).await["epic_iid"], 1);
    world.expect(404, "PUT", &issue, json!({"epic_id": 999, "title": "Lost"})).await;
    assert_ne!(world.get(&issue).await.json()["title"], "Lost");
    let both = json!({"epic_id": id, "epic_iid": 1});
    let refusal = world.expect(400, "PUT", &issue, both).await;
    assert_eq!(refusal["error"], "epic_id, epic_iid are mutually exclusive");
    // A project of no group has no epics.
    let own = world.expect(201, "POST", "/projects", json!({"name": "own"})).await["id"].clone();
    world.expect(404, "POST", &format!("/projects/{own}/issues"), json!({"title": "x", "epic_id": id})).await;
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

    // A thread executes quick actions as a comment does.
    let begun = format!("{WIDGET}/issues/1/discussions");
    world.expect(202, "POST", &begun, json!({"body": "/due 2026-05-01"})).await;
    assert_eq!(world.get(&format!("{WIDGET}/issues/1")).await.json()["due_date"], "2026-05-01");

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
