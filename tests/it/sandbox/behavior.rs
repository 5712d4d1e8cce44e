//! Behavior of GitLab beyond its shapes: defaults, side effects, permissions; and 501 for parts that the sandbox lacks.

use gitlab_mcp_sandbox::{ADMIN_TOKEN, READER_TOKEN, TOKEN};
use serde_json::{Value, json};

use super::World;

#[tokio::test]
async fn a_parameter_that_is_not_read_is_no_success() {
    let world = World::new().await;
    let (status, _, answer) = world.ask("GET", "/projects/1/issues?epic_id=11", TOKEN, Value::Null).await;
    assert_eq!(status, 501);
    assert_eq!(
        answer["message"],
        "501 Not Implemented: the sandbox does not have the parameter epic_id of GET /projects/:id/issues"
    );
    // Nothing of such a write stays.
    let (status, _, _) = world
        .ask("PUT", "/projects/1/issues/1", TOKEN, json!({"title": "Changed", "created_at": "2026-01-01"}))
        .await;
    assert_eq!(status, 501);
    assert_eq!(world.read("/projects/1/issues/1").await["title"], "The gear squeaks at full speed");
    // Nor of one that is refused after its first change.
    let body = json!({"tag_name": "v99", "ref": "main", "milestones": ["nope"]});
    let (status, _, answer) = world.ask("POST", "/projects/1/releases", TOKEN, body).await;
    assert_eq!((status, &answer["message"]), (400, &json!("Milestone(s) not found: nope")));
    for path in ["/projects/1/releases/v99", "/projects/1/repository/tags/v99"] {
        assert_eq!(world.ask("GET", path, TOKEN, Value::Null).await.0, 404, "{path}");
    }
    // GitLab ignores what it does not know.
    assert_eq!(world.column("/projects/1/issues?made_up=1&iids[]=2", "iid").await, [2]);
}

/// glab asks for them with a project, `repo view` and `issue create` among others.
#[tokio::test]
async fn nothing_has_custom_attributes() {
    let world = World::new().await;
    for path in ["/projects/1", "/projects", "/groups/acme", "/groups", "/users"] {
        let asked = format!("{path}?with_custom_attributes=true");
        assert_eq!(world.ask("GET", &asked, TOKEN, Value::Null).await.0, 200, "{path}");
    }
}

#[tokio::test]
async fn a_path_with_another_method_is_not_allowed() {
    let world = World::new().await;
    let (status, headers, answer) = world.ask("PATCH", "/projects/1", TOKEN, json!({"name": "x"})).await;
    assert_eq!((status, answer), (405, json!({"error": "405 Not Allowed"})));
    assert_eq!(headers["allow"], "GET, PUT, DELETE");
    let (status, _, answer) = world.ask("GET", "/projects/1/push_rule", TOKEN, Value::Null).await;
    assert_eq!(status, 501, "{answer}");
    let (status, _, answer) = world.ask("GET", "/projects/1/push_rules", TOKEN, Value::Null).await;
    assert_eq!((status, answer), (404, json!({"error": "404 Not Found"})));
}

#[tokio::test]
async fn answers_have_gitlabs_headers() {
    let world = World::new().await;
    let (_, one, _) = world.ask("GET", "/projects/1", TOKEN, Value::Null).await;
    let (_, other, _) = world.ask("GET", "/projects/1", TOKEN, Value::Null).await;
    assert_ne!(one["x-request-id"], other["x-request-id"]);
    assert_eq!(one["etag"], other["etag"]);
    assert!(one["etag"].to_str().unwrap().starts_with("W/\""));
    for name in ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "x-runtime", "cache-control"] {
        assert!(one.contains_key(name), "{name}");
    }
    assert_eq!(one["ratelimit-limit"], "2000");
    let (_, changed, _) = world.ask("GET", "/projects/2", TOKEN, Value::Null).await;
    assert_ne!(one["etag"], changed["etag"]);
}

#[tokio::test]
async fn jobs_and_commits_are_not_counted() {
    let world = World::new().await;
    for path in ["/projects/1/jobs?per_page=5", "/projects/1/repository/commits?per_page=2"] {
        let (status, headers, _) = world.ask("GET", path, TOKEN, Value::Null).await;
        assert_eq!(status, 200);
        assert!(!headers.contains_key("x-total") && !headers.contains_key("x-total-pages"), "{path}");
        assert_eq!(headers["x-next-page"], "2");
        let link = headers["link"].to_str().unwrap();
        assert!(link.contains("rel=\"next\"") && !link.contains("rel=\"last\""), "{link}");
    }
    let (_, headers, _) = world.ask("GET", "/projects/1/issues", TOKEN, Value::Null).await;
    assert_eq!(headers["x-total"], "45");
}

#[tokio::test]
async fn keyset_pages_go_the_way_of_their_order() {
    let world = World::new().await;
    let (_, headers, _) =
        world.ask("GET", "/projects?pagination=keyset&order_by=id&per_page=2", TOKEN, Value::Null).await;
    assert!(headers["link"].to_str().unwrap().contains("id_before="));
    let (status, _, answer) =
        world.ask("GET", "/projects?pagination=keyset&order_by=star_count", TOKEN, Value::Null).await;
    assert_eq!(status, 405);
    assert_eq!(answer["error"], "Keyset pagination is not yet available for this type of request");
}

#[tokio::test]
async fn a_scope_of_jobs_is_one_state_unless_it_is_a_list() {
    let world = World::new().await;
    let (status, _, answer) =
        world.ask("GET", "/projects/1/jobs?scope=failed,success", TOKEN, Value::Null).await;
    assert_eq!((status, answer), (400, json!({"error": "scope does not have a valid value"})));
    let both = world.column("/projects/1/jobs?scope[]=failed&scope[]=skipped&per_page=100", "status").await;
    assert!(both.contains(&json!("failed")) && both.contains(&json!("skipped")));
    assert!(both.iter().all(|status| status == "failed" || status == "skipped"));
}

#[tokio::test]
async fn an_unknown_milestone_clears_the_milestone() {
    let world = World::new().await;
    assert_eq!(world.read("/projects/1/issues/1").await["milestone"]["id"], 2);
    let changed = world.done("PUT", "/projects/1/issues/1", json!({"milestone_id": 4711})).await;
    assert_eq!(changed["milestone"], Value::Null);
}

#[tokio::test]
async fn an_update_without_a_change_is_refused() {
    let world = World::new().await;
    for path in ["/projects/1", "/groups/1", "/projects/1/merge_requests/5"] {
        let (status, _, answer) = world.ask("PUT", path, TOKEN, json!({})).await;
        assert_eq!(status, 400, "{path}");
        let error = answer["error"].as_str().unwrap();
        assert!(error.ends_with("are missing, at least one parameter must be provided"), "{error}");
    }
}

#[tokio::test]
async fn merging_guards_the_commit_and_the_issues() {
    let world = World::new().await;
    let merge = "/projects/1/merge_requests/5/merge";
    let head = world.read("/projects/1/merge_requests/5").await["sha"].as_str().unwrap().to_owned();
    let (status, _, answer) = world.ask("PUT", merge, TOKEN, json!({"sha": "0123"})).await;
    assert_eq!(
        (status, answer),
        (409, json!({"message": format!("SHA does not match HEAD of source branch: {head}")}))
    );
    let (status, _, answer) = world.ask("PUT", merge, READER_TOKEN, Value::Null).await;
    assert_eq!((status, answer), (401, json!({"message": "401 Unauthorized"})));
    let merged = world.done("PUT", merge, json!({"squash": true})).await;
    assert!(merged["merge_commit_sha"].is_string() && merged["squash_commit_sha"].is_string());
    assert_ne!(merged["merge_commit_sha"], merged["squash_commit_sha"]);
    assert_eq!(world.read("/projects/1/issues/3").await["state"], "closed");
    // A merged one stays merged.
    let again = world.done("PUT", "/projects/1/merge_requests/5", json!({"state_event": "reopen"})).await;
    assert_eq!(again["state"], "merged");
    let (status, _, _) =
        world.ask("PUT", "/projects/1/merge_requests/12/reset_approvals", TOKEN, Value::Null).await;
    assert_eq!(status, 401);
}

#[tokio::test]
async fn a_merge_into_another_branch_closes_nothing() {
    let world = World::new().await;
    world.done("POST", "/projects/1/repository/branches", json!({"branch": "aside", "ref": "main"})).await;
    let body = json!({"title": "Aside", "source_branch": "quiet-gears", "target_branch": "aside", "description": "Closes #6"});
    let made = world.done("POST", "/projects/1/merge_requests", body).await;
    let path = format!("/projects/1/merge_requests/{}", made["iid"]);
    world.done("POST", &format!("{path}/approve"), Value::Null).await;
    world.done("PUT", &format!("{path}/merge"), Value::Null).await;
    assert_eq!(world.read("/projects/1/issues/6").await["state"], "opened");
}

#[tokio::test]
async fn drafts_are_their_authors() {
    let world = World::new().await;
    let path = "/projects/1/merge_requests/12/draft_notes";
    let thread = "6a9c1750b37d513a43987b574953fceb50b03ce7";
    let body = json!({"note": "Later.", "in_reply_to_discussion_id": thread});
    let draft = world.done("POST", path, body).await;
    assert_eq!((&draft["discussion_id"], &draft["merge_request_id"]), (&json!(thread), &json!(212)));
    assert_eq!(world.column(path, "note").await, ["Later."]);
    let (_, _, others) = world.ask("GET", path, ADMIN_TOKEN, Value::Null).await;
    assert_eq!(others, json!([]));
    world.done("PUT", &format!("{path}/{}/publish", draft["id"]), Value::Null).await;
    let thread = world.read(&format!("/projects/1/merge_requests/12/discussions/{thread}")).await;
    assert_eq!(thread["notes"].as_array().unwrap().last().unwrap()["body"], "Later.");
}

#[tokio::test]
async fn filters_narrow() {
    let world = World::new().await;
    world.done("POST", "/projects/3/unarchive", Value::Null).await;
    world.done("POST", "/projects/3/issues", json!({"title": "Zeppelin"})).await;
    world.done("POST", "/projects/3/archive", Value::Null).await;
    assert!(world.read("/groups/acme/issues?search=zeppelin&in=title").await.as_array().unwrap().is_empty());
    let all = world.column("/groups/acme/issues?search=zeppelin&in=title&non_archived=false", "title").await;
    assert_eq!(all, ["Zeppelin"]);
    assert_eq!(
        world.read("/projects/1/deployments?environment=production").await.as_array().unwrap().len(),
        1
    );
    assert_eq!(world.read("/projects/1/deployments?environment=staging").await, json!([]));
    assert_eq!(world.column("/projects/1/access_tokens?state=active", "id").await, [51]);
    assert_eq!(world.read("/projects/1/access_tokens?state=inactive").await, json!([]));
    assert_eq!(world.column("/groups/1/iterations?state=current", "id").await, [1]);
    assert_eq!(world.column("/projects/1/environments?states=stopped", "id").await, [3]);
    let (status, _, _) = world.ask("GET", "/users", "", Value::Null).await;
    assert_eq!(status, 403);
}

#[tokio::test]
async fn tags_are_in_the_order_of_versions() {
    let world = World::new().await;
    for name in ["v1.9.0", "v1.10.0", "v1.10.0-rc1"] {
        world.done("POST", "/projects/1/repository/tags", json!({"tag_name": name, "ref": "main"})).await;
    }
    let order = |query: &'static str| format!("/projects/1/repository/tags?{query}");
    assert_eq!(
        world.column(&order("order_by=version"), "name").await,
        ["v1.10.0", "v1.10.0-rc1", "v1.9.0", "v1.0.0"]
    );
    assert_eq!(
        world.column(&order("order_by=name&sort=asc"), "name").await,
        ["v1.0.0", "v1.10.0", "v1.10.0-rc1", "v1.9.0"]
    );
    assert_eq!(
        world.column(&order(""), "name").await,
        ["v1.10.0-rc1", "v1.10.0", "v1.9.0", "v1.0.0"],
        "the newest first"
    );
}

#[tokio::test]
async fn what_is_passed_is_kept() {
    let world = World::new().await;
    let body = json!({"tag_name": "v9", "ref": "main", "milestones": ["v1.1"]});
    assert_eq!(world.done("POST", "/projects/1/releases", body).await["milestones"][0]["title"], "v1.1");
    let body = json!({"name": "kept", "allowed_to_push": [{"user_id": 3}], "allowed_to_merge": [{"access_level": 30}]});
    let made = world.done("POST", "/projects/1/protected_branches", body).await;
    assert_eq!(made["push_access_levels"][0]["user_id"], 3);
    assert_eq!(made["merge_access_levels"][0]["access_level_description"], "Developers + Maintainers");
    let file = "/projects/1/repository/files/README.md";
    let body = json!({"branch": "main", "commit_message": "x", "content": "x", "last_commit_id": "0000"});
    let (status, _, answer) = world.ask("PUT", file, TOKEN, body).await;
    assert_eq!(status, 400);
    assert_eq!(
        answer["message"],
        "You are attempting to update a file that has changed since you started editing it."
    );
}

#[tokio::test]
async fn variables_differ_by_scope() {
    let world = World::new().await;
    let path = "/projects/1/variables";
    let body = json!({"key": "OIL_GRADE", "value": "0W", "environment_scope": "staging"});
    world.done("POST", path, body).await;
    let (status, _, answer) = world.ask("GET", &format!("{path}/OIL_GRADE"), TOKEN, Value::Null).await;
    assert_eq!(status, 409);
    assert_eq!(
        answer["message"],
        "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'"
    );
    let one = world.read(&format!("{path}/OIL_GRADE?filter[environment_scope]=staging")).await;
    assert_eq!(one["value"], "0W");
}

#[tokio::test]
async fn a_value_that_the_sandbox_lacks_is_refused_as_a_parameter_is() {
    let world = World::new().await;
    for query in [
        "order_by=label_priority",
        "due_date=week",
        "milestone_id=Upcoming",
        "not[milestone_id]=Started",
        "not[release_tag]=v1",
    ] {
        let path = format!("/projects/1/issues?{query}");
        let refusal = world.expect(501, "GET", &path, Value::Null).await;
        let name = query.split(['=', '[']).next().unwrap();
        assert!(refusal["message"].as_str().unwrap().contains(&format!("parameter {name} ")), "{refusal}");
    }
    world.read("/projects/1/issues?due_date=overdue&milestone_id=Any&order_by=weight").await;
    let merged =
        "/projects/1/merge_requests?merged_after=2000-01-01T00:00:00Z&merged_before=2031-01-01T00:00:00Z";
    let states = world.column(&format!("{merged}&per_page=100"), "state").await;
    assert!(!states.is_empty() && states.iter().all(|state| state == "merged"), "{states:?}");
}

#[tokio::test]
async fn quick_actions_are_executed() {
    let world = World::new().await;
    let notes = "/projects/1/issues/2/notes";
    let body = "/close\n/label ~bug ~\"needs triage\"\n/assign @alice\n/milestone %v1.1\n/due 2026-05-01";
    let (status, _, answer) = world.ask("POST", notes, TOKEN, json!({ "body": body })).await;
    assert_eq!(status, 202);
    assert_eq!(answer["commands_changes"]["state_event"], "close");
    let issue = world.read("/projects/1/issues/2").await;
    assert_eq!(issue["state"], "closed");
    assert_eq!(issue["labels"], json!(["feature", "bug", "needs triage"]));
    assert_eq!(
        (&issue["assignees"][0]["username"], &issue["milestone"]["title"]),
        (&json!("alice"), &json!("v1.1"))
    );
    assert_eq!(issue["due_date"], "2026-05-01");
    let made = world
        .done("POST", "/projects/1/issues", json!({"title": "x", "description": "Text\n/confidential"}))
        .await;
    assert_eq!((&made["confidential"], &made["description"]), (&json!(true), &json!("Text")));
    let reader = world.ask("POST", notes, READER_TOKEN, json!({"body": "/reopen"})).await;
    assert_eq!(world.read("/projects/1/issues/2").await["state"], "closed", "{}", reader.2);
}

#[tokio::test]
async fn quick_actions_set_times_and_stay_text_within_code() {
    let world = World::new().await;
    let notes = "/projects/1/issues/2/notes";
    let body = "/estimate 2h\n/spend 1h30m\n/estimate soon";
    let (_, _, answer) = world.ask("POST", notes, TOKEN, json!({ "body": body })).await;
    assert_eq!(answer["body"], "/estimate soon", "{answer}");
    let stats = world.read("/projects/1/issues/2/time_stats").await;
    assert_eq!((&stats["time_estimate"], &stats["total_time_spent"]), (&json!(7200), &json!(5400)));
    world.done("POST", notes, json!({"body": "Done\n/remove_estimate\n/remove_time_spent"})).await;
    let stats = world.read("/projects/1/issues/2/time_stats").await;
    assert_eq!((&stats["time_estimate"], &stats["total_time_spent"]), (&json!(0), &json!(0)));
    let code = "Run\n```\n/close\n```\n/weight 3";
    let note = world.done("POST", notes, json!({ "body": code })).await;
    assert_eq!(note["body"], "Run\n```\n/close\n```");
    let issue = world.read("/projects/1/issues/2").await;
    assert_eq!((&issue["state"], &issue["weight"]), (&json!("opened"), &json!(3)));
}

#[tokio::test]
async fn a_duplicate_is_closed_and_linked_to_its_original() {
    let world = World::new().await;
    let notes = "/projects/1/issues/4/notes";
    let run = |body: &'static str| world.ask("POST", notes, TOKEN, json!({ "body": body }));
    // An issue that is not there is no command, nor is the issue itself.
    for body in ["/duplicate #999", "/duplicate #4"] {
        assert_eq!(run(body).await.0, 201, "{body}");
    }
    let (status, _, answer) = run("/duplicate #1").await;
    assert_eq!(status, 202);
    assert_eq!(
        answer["summary"],
        json!(["Closed this issue. Marked as related to, and a duplicate of, #1."])
    );
    let issue = world.read("/projects/1/issues/4").await;
    let original = world.read("/projects/1/issues/1").await;
    assert_eq!(issue["state"], "closed");
    assert_eq!(issue["_links"]["closed_as_duplicate_of"], original["_links"]["self"]);
    let links = world.read("/projects/1/issues/4/links").await;
    assert_eq!((&links[0]["iid"], &links[0]["link_type"]), (&json!(1), &json!("relates_to")));
    let last = |notes: Value| notes[0]["body"].as_str().unwrap().to_owned();
    assert_eq!(last(world.read(notes).await), "marked this issue as a duplicate of #1");
    let on_original = world.read("/projects/1/issues/1/notes").await;
    assert_eq!(last(on_original), "marked #4 as a duplicate of this issue");
    world.done("PUT", "/projects/1/issues/4", json!({"state_event": "reopen"})).await;
    let issue = world.read("/projects/1/issues/4").await;
    assert_eq!(issue["_links"]["closed_as_duplicate_of"], Value::Null);
    // By path and by page, also of another project.
    let page = world.read("/projects/2/issues/1").await["web_url"].as_str().unwrap().to_owned();
    for reference in ["acme/site#1", page.as_str()] {
        let body = json!({ "body": format!("/duplicate {reference}") });
        assert_eq!(world.ask("POST", notes, TOKEN, body).await.0, 202, "{reference}");
    }
    let links = world.read("/projects/1/issues/4/links").await;
    assert_eq!(links.as_array().unwrap().len(), 2, "{links}");
}

#[tokio::test]
async fn votes_and_notes_are_counted() {
    let world = World::new().await;
    let one = "/projects/1/issues/2";
    let award = world.done("POST", &format!("{one}/award_emoji"), json!({"name": "thumbsup"})).await;
    assert_eq!(world.read(one).await["upvotes"], 1);
    world.done("DELETE", &format!("{one}/award_emoji/{}", award["id"]), Value::Null).await;
    assert_eq!(world.read(one).await["upvotes"], 0);
    let note = world.done("POST", &format!("{one}/notes"), json!({"body": "Hm."})).await;
    assert_eq!(world.read(one).await["user_notes_count"], 1);
    world.done("DELETE", &format!("{one}/notes/{}", note["id"]), Value::Null).await;
    assert_eq!(world.read(one).await["user_notes_count"], 0);
    let (status, _, answer) =
        world.ask("POST", &format!("{one}/award_emoji"), TOKEN, json!({"name": "nope"})).await;
    assert_eq!(status, 404);
    assert_eq!(answer["message"], "404 Award Emoji Name is not a valid emoji name Not Found");
    world.done("POST", "/groups/1/epics/2/issues/2", Value::Null).await;
    assert_eq!(world.read(one).await["epic"]["iid"], 2);
}

#[tokio::test]
async fn guests_write_texts_and_assignees_update() {
    let world = World::new().await;
    let body = json!({"title": "From outside", "labels": "bug,made up", "assignee_ids": [3]});
    let (status, _, made) = world.ask("POST", "/projects/1/issues", READER_TOKEN, body).await;
    assert_eq!(status, 201, "{made}");
    assert_eq!((&made["labels"], &made["assignees"]), (&json!([]), &json!([])));
    let one = format!("/projects/1/issues/{}", made["iid"]);
    let (status, _, _) = world.ask("PUT", "/projects/1/issues/2", READER_TOKEN, json!({"title": "x"})).await;
    assert_eq!(status, 403);
    world.done("PUT", "/projects/1/issues/2", json!({"assignee_ids": [7]})).await;
    let (status, _, _) = world.ask("PUT", "/projects/1/issues/2", READER_TOKEN, json!({"title": "x"})).await;
    assert_eq!(status, 200);
    assert_eq!(world.read(&one).await["title"], "From outside");
}

#[tokio::test]
async fn boards_have_lists_and_labels_are_named_in_the_body() {
    let world = World::new().await;
    let lists = "/projects/1/boards/1/lists";
    let list = world.done("POST", lists, json!({"label_id": 1})).await;
    assert_eq!(list["label"]["name"], "bug");
    let board = world.read("/projects/1/boards/1").await;
    assert_eq!((&board["project"]["name"], &board["lists"][1]["id"]), (&json!("Widget"), &list["id"]));
    world.done("DELETE", &format!("{lists}/{}", list["id"]), Value::Null).await;
    assert_eq!(world.column(lists, "id").await, [1]);
    let renamed = world.done("PUT", "/projects/1/labels", json!({"name": "docs", "new_name": "words"})).await;
    assert_eq!(renamed["name"], "words");
    world.done("DELETE", "/projects/1/labels", json!({"name": "words"})).await;
    assert!(!world.column("/projects/1/labels", "name").await.contains(&json!("words")));
    world.done("POST", "/projects/1/export", Value::Null).await;
    assert_eq!(world.read("/projects/1/export").await["export_status"], "finished");
}
