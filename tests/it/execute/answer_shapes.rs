//! Answers in shapes that GitLab sends and that were once shown without what they are asked for.

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, Reply, execute, follow, succeed};
use crate::support::fixtures::PROJECT;
use crate::support::scripted_gitlab::{Answer, Gitlab, answer, raw};

/// The answer to a confirmed call, of which GitLab's reply is this.
fn reply_to(request: (&str, &str), sent: Answer, action: &str, params: Value) -> Reply {
    let gitlab = Gitlab::with_project();
    gitlab.answer(request.0, request.1, sent);
    let mut params = params;
    if action != "avatar.get" {
        params["fullPath"] = json!(PROJECT);
    }
    let arguments = json!({"action": action, "params": params, "confirm": true});
    gitlab.client(&[]).call(crate::support::client::EXECUTE, arguments)
}

/// The same of an answer in JSON, which has to succeed.
fn present_answer(request: (&str, &str), body: Value, action: &str, params: Value) -> Reply {
    let reply = reply_to(request, answer(200, body), action, params);
    assert!(!reply.is_error, "{action}: {}", reply.text);
    reply
}

fn issue(iid: u64) -> Value {
    json!({
        "id": iid + 9_000, "iid": iid, "title": format!("Gear {iid}"), "state": "opened",
        "web_url": format!("https://gitlab.example.com/{PROJECT}/-/issues/{iid}"),
    })
}

#[test]
fn an_approval_state_has_what_each_rule_requires_and_who_approved() {
    let rule = json!({
        "id": 1, "name": "Security", "rule_type": "regular", "approvals_required": 2, "approved": false,
        "approved_by": [{"id": 5, "username": "ann", "name": "Ann", "web_url": "https://x/ann"}],
    });
    let body = json!({"approval_rules_overwritten": true, "rules": [rule]});
    let reply = present_answer(
        ("GET", "/approval_state"),
        body,
        "merge_request.get_approval_state",
        json!({"iid": 5}),
    );
    let rule = &reply.structured["data"]["rules"][0];
    assert_eq!((&rule["approvals_required"], &rule["approved"]), (&json!(2), &json!(false)));
    assert_eq!(rule["approved_by"], json!(["ann"]));
    assert!(reply.text.contains("approvals_required") && reply.text.contains("ann"), "{}", reply.text);
}

#[test]
fn large_diffs_fill_the_answer_and_lead_to_their_rest() {
    let lines: String = (0..100).map(|line| format!("+line {line} of a long new file\n")).collect();
    let diff = format!("@@ -0,0 +1,100 @@\n{lines}");
    let files: Vec<Value> = (0..20)
        .map(|n| json!({"old_path": format!("f{n}"), "new_path": format!("f{n}"), "diff": diff}))
        .collect();
    let gitlab = Gitlab::with_project();
    gitlab.json("/repository/compare", &json!({"commits": [], "diffs": files}));
    let mut client = gitlab.client(&[]);
    let params = json!({"fullPath": PROJECT, "from": "v1", "to": "main"});
    let reply = crate::support::client::execute(&mut client, "repository.compare", params);
    assert!(reply.text.len() > 12_000, "{} of the 16,000 bytes are used", reply.text.len());
    let cut = &reply.structured["omitted"]["diffs.0.diff"];
    assert_eq!(cut["lines"], 101, "{}", reply.structured["omitted"]);
    let mut whole = reply.structured["data"]["diffs"][0]["diff"].as_str().unwrap().to_owned();
    whole.truncate(whole.find("\u{2026}").unwrap());
    let mut next = cut["next"].clone();
    while !next.is_null() {
        let more = follow(&mut client, &next);
        whole += more.structured["data"].as_str().unwrap();
        next = more.structured["omitted"]["diffs.0.diff"]["next"].clone();
    }
    assert_eq!(whole, diff);
}

#[test]
fn a_page_or_half_an_answer_is_no_success() {
    let page = || raw(200, "text/html", "<!DOCTYPE html><title>Sign in</title>");
    for (request, action, params) in [
        (("GET", "/issues"), "issue.list", json!({})),
        (("POST", "/issues"), "issue.create", json!({"title": "Squeaks"})),
        (("DELETE", "/issues/3"), "issue.delete", json!({"iid": 3})),
        (("PUT", "/merge"), "merge_request.merge", json!({"iid": 5})),
    ] {
        let reply = reply_to(request, page(), action, params);
        assert!(reply.is_error && reply.text.contains("Sign in"), "{action}: {}", reply.text);
        let applied = match request.0 {
            "GET" => Value::Null,
            // The read that follows a deletion does not find the object, in an answer without GitLab's headers.
            _ => json!("unknown"),
        };
        assert_eq!(reply.structured["error"]["applied"], applied, "{action}: {}", reply.structured);
    }
    for body in ["[{\"iid\": 1, \"ti", ""] {
        let reply = reply_to(("GET", "/issues"), raw(200, "application/json", body), "issue.list", json!({}));
        assert!(reply.is_error, "{body}: {}", reply.text);
    }
}

#[test]
fn values_are_masked_whatever_the_type_and_the_form_of_the_body() {
    let rows = "[{\"key\": \"A\", \"value\": \"s3cret-value\"";
    for (content_type, body) in [
        ("text/plain", format!("{rows}}}]")),
        ("", format!("{rows}}}]")),
        ("application/json", format!("\u{feff}{rows}}}]")),
        ("application/json", format!("{rows}, \"description\": \"\\ud83d\"}}]")),
        ("application/json", format!("{rows}, \"n\": 1e400}}]")),
    ] {
        let sent = raw(200, content_type, body.clone());
        let reply = reply_to(("GET", "/variables"), sent, "ci_variable.list", json!({"scope": "project"}));
        assert!(!reply.is_error, "{body}: {}", reply.text);
        assert!(!reply.text.contains("s3cret"), "{content_type} {body}: {}", reply.text);
        assert!(
            !reply.structured.to_string().contains("s3cret"),
            "{content_type} {body}: {}",
            reply.structured
        );
    }
}

#[test]
fn a_linked_issue_has_its_relation_and_the_id_of_the_link() {
    let mut linked = issue(4);
    linked["issue_link_id"] = json!(71);
    linked["link_type"] = json!("is_blocked_by");
    linked["labels"] = json!(["bug"]);
    let reply = present_answer(("GET", "/links"), json!([linked]), "issue_link.list", json!({"iid": 3}));
    let row = &reply.structured["data"][0];
    assert_eq!((&row["link_type"], &row["issue_link_id"]), (&json!("is_blocked_by"), &json!(71)));
}

#[test]
fn a_bridge_has_its_downstream_pipeline() {
    let downstream = json!({
        "id": 55, "sha": "ab12", "ref": "main", "status": "failed", "web_url": "https://gitlab.example.com/acme/other/-/pipelines/55",
    });
    let bridge = json!({
        "id": 8, "name": "deploy", "status": "success", "downstream_pipeline": downstream,
        "web_url": "https://gitlab.example.com/x/-/jobs/8",
    });
    let reply = present_answer(
        ("GET", "/trigger_jobs"),
        json!([bridge]),
        "pipeline.list_bridges",
        json!({"pipeline_id": 7}),
    );
    let shown = &reply.structured["data"][0]["downstream_pipeline"];
    assert_eq!((&shown["id"], &shown["status"]), (&json!(55), &json!("failed")));
    assert!(
        shown["web_url"].as_str().unwrap().contains("acme/other"),
        "the page names the other project: {shown}"
    );
}

#[test]
fn a_release_has_its_files() {
    let link = json!({"id": 2, "name": "gear.zip", "url": "https://x/gear.zip", "link_type": "package"});
    let assets =
        json!({"count": 1, "sources": [{"format": "zip", "url": "https://x/src.zip"}], "links": [link]});
    let release =
        json!({"tag_name": "v1", "name": "One", "assets": assets, "_links": {"self": "https://x/v1"}});
    for (action, path, body, params) in [
        ("release.get", "/releases/v1", release.clone(), json!({"tag_name": "v1"})),
        ("release.list", "/releases", json!([release.clone()]), json!({"scope": "project"})),
    ] {
        let reply = present_answer(("GET", path), body, action, params);
        assert!(reply.text.contains("https://x/gear.zip"), "{action}: {}", reply.text);
        assert!(
            reply.structured.to_string().contains("https://x/gear.zip"),
            "{action}: {}",
            reply.structured
        );
    }
}

#[test]
fn a_change_that_was_made_before_succeeds_and_is_said_once() {
    for (action, path, params) in
        [("issue.subscribe", "/subscribe", json!({"iid": 3})), ("project.star", "/star", json!({}))]
    {
        let reply = reply_to(("POST", path), answer(304, json!(null)), action, params);
        assert!(!reply.is_error, "{action}: {}", reply.text);
        assert_eq!(reply.structured["data"]["changed"], false);
        assert_eq!(reply.text.matches("hanged").count(), 1, "{}", reply.text);
        assert!(reply.text.starts_with("Unchanged"), "{}", reply.text);
    }
}

#[test]
fn things_within_an_answer_have_their_numbers() {
    let link = json!({"source_issue": issue(14), "target_issue": issue(15), "link_type": "relates_to"});
    let params = json!({"iid": 14, "target_project_id": 5, "target_issue_iid": 15});
    let reply = present_answer(("POST", "/links"), link, "issue_link.create", params);
    assert_eq!(reply.structured["data"]["source_issue"], "#14 Gear 14");
    assert_eq!(reply.structured["data"]["target_issue"], "#15 Gear 15");
    let request = json!({"id": 9, "iid": 59, "title": "Oil", "web_url": "https://x/-/merge_requests/59"});
    let train = json!([{"id": 1, "merge_request": request, "status": "fresh"}]);
    let reply = present_answer(("GET", "/merge_trains"), train, "merge_train.list", json!({}));
    assert_eq!(reply.structured["data"][0]["merge_request"], "!59 Oil");
    let mut in_epic = issue(4);
    in_epic["epic"] = json!({"id": 1, "iid": 5, "title": "Drive", "url": "/groups/acme/-/epics/5", "group_id": 2,
        "web_url": "https://x/groups/acme/-/epics/5"});
    let reply = present_answer(("GET", "/issues/4"), in_epic, "issue.get", json!({"iid": 4}));
    assert!(reply.text.contains("&5 Drive"), "{}", reply.text);
}

#[test]
fn a_feature_flag_has_the_parameters_and_scopes_of_its_strategies() {
    let strategy = json!({
        "id": 1, "name": "gradualRolloutUserId", "parameters": {"groupId": "default", "percentage": "25"},
        "scopes": [{"id": 2, "environment_scope": "production"}],
    });
    let flag =
        json!({"name": "brakes", "active": true, "version": "new_version_flag", "strategies": [strategy]});
    for (action, path, body, params) in [
        ("feature_flag.get", "/feature_flags/brakes", flag.clone(), json!({"feature_flag_name": "brakes"})),
        ("feature_flag.list", "/feature_flags", json!([flag.clone()]), json!({})),
    ] {
        let reply = present_answer(("GET", path), body, action, params);
        assert!(reply.text.contains("25") && reply.text.contains("production"), "{action}: {}", reply.text);
    }
}

#[test]
fn a_list_that_goes_on_by_a_cursor_is_never_sent_back_to_its_first_page() {
    let next = "<https://gitlab.example.com/api/v4/projects/1/jobs?cursor=eyJ4&per_page=20>; rel=\"next\"";
    let rows = answer(200, json!([{"id": 1, "name": "lint", "status": "success"}])).header("link", next);
    let reply = reply_to(("GET", "/jobs"), rows, "job.list", json!({}));
    let call = &reply.structured["page"]["next"]["arguments"];
    assert_eq!(call["action"], "api.rest", "{}", reply.text);
    assert_eq!(call["params"]["query"]["cursor"], "eyJ4");
}

#[test]
fn an_answer_of_nothing_but_noise_is_shown() {
    let body = json!({"avatar_url": "https://x/ann.png"});
    let reply = present_answer(("GET", "/avatar"), body, "avatar.get", json!({"email": "ann@example.com"}));
    assert!(reply.text.contains("https://x/ann.png"), "{}", reply.text);
}

#[test]
fn an_invitation_that_gitlab_refused_with_201_is_an_error() {
    let body = json!({"status": "error", "message": {"a@b.example": "Already taken", "c@d.example": "Already a member"}});
    let params = json!({"email": "a@b.example", "access_level": "developer", "scope": "project"});
    let reply = reply_to(("POST", "/invitations"), answer(201, body), "invitation.create", params);
    assert!(reply.is_error, "{}", reply.text);
    assert!(reply.text.contains("a@b.example: Already taken; c@d.example"), "{}", reply.text);
}

#[test]
fn small_things_of_lists_and_objects() {
    // The page of a commit has its whole id.
    let commit = |c: char| {
        let id: String = std::iter::repeat_n(c, 40).collect();
        json!({"id": id, "short_id": id[..8], "title": "Turn", "web_url": format!("https://x/-/commit/{id}")})
    };
    let rows = json!(['a', 'b', 'c'].map(commit));
    let reply = present_answer(("GET", "/repository/commits"), rows, "commit.list", json!({}));
    assert_eq!(reply.structured["in_every_row"]["web_url"], "https://x/-/commit/{id}");
    assert_eq!(reply.structured["data"][0]["id"].as_str().unwrap().len(), 40);
    // The fields of a nested object are indented, and an item's number is said once.
    let long = "a text of more than one line\nin a nested object".to_owned();
    let body = json!({"tag_name": "v1", "commit": {"id": "ab", "message": long, "parent_ids": ["cd"]}});
    let reply = present_answer(("GET", "/releases/v1"), body, "release.get", json!({"tag_name": "v1"}));
    assert!(reply.text.contains("\n  id: ab\n"), "{}", reply.text);
    // Who merged is shown where the newer field is empty.
    let merged =
        json!({"iid": 5, "title": "Oil", "merged_by": {"id": 1, "username": "bob"}, "merge_user": null});
    let reply = present_answer(("GET", "/merge_requests/5"), merged, "merge_request.get", json!({"iid": 5}));
    assert_eq!(reply.structured["data"]["merged_by"], "bob");
}

/// Who has approved, who has looked and what is missing took two more reads.
#[test]
fn an_open_merge_request_says_its_reviews_and_approvals() {
    let mut client = Client::sandbox();
    let read = succeed(&mut client, "merge_request.get", json!({"fullPath": "acme/widget", "iid": 8}));
    let data = &read["data"];
    assert_eq!(data["reviews"], json!([{"user": "sandbox", "state": "unreviewed"}]), "{data}");
    assert_eq!(data["approvals"]["approvals_left"], 1, "{data}");
    let merged = succeed(&mut client, "merge_request.get", json!({"fullPath": "acme/widget", "iid": 2}));
    assert!(merged["data"].get("approvals").is_none(), "it is merged: {merged}");
}

#[test]
fn a_merge_says_what_it_closes_and_what_becomes_of_the_branch() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": "acme/widget", "iid": 5, "should_remove_source_branch": true});
    let call = json!({"action": "merge_request.merge", "params": params, "confirm": true});
    let data = client.call(EXECUTE, call).structured["data"].clone();
    assert_eq!(data["closes"][0]["reference"], "acme/widget#3", "{data}");
    assert_eq!((&data["state"], &data["should_remove_source_branch"]), (&json!("merged"), &json!(true)));
}

/// Rows of several projects had the number of theirs alone.
#[test]
fn rows_of_a_group_or_a_person_name_their_project() {
    let mut client = Client::sandbox();
    let found = json!({"fullPath": "acme", "scope": "blobs", "search": "Gear::new"});
    for (action, params) in [("search.run", found), ("event.list", json!({}))] {
        let text = execute(&mut client, action, params).text;
        assert!(text.contains("project: acme/widget"), "{action}: {text}");
    }
}

#[test]
fn a_person_among_the_fields_is_the_username() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": "acme/widget", "state": "opened", "assignee": "carol"});
    let mut fields = |fields: serde_json::Value| {
        let call = json!({"action": "issue.list", "params": params, "fields": fields});
        client.call(EXECUTE, call).structured["data"].to_string()
    };
    let people = fields(json!(["iid", "assignees"]));
    assert!(people.contains("carol") && !people.contains("avatar_url"), "{people}");
    assert!(fields(json!(["iid", "assignees.name"])).contains("Carol Crane"));
}

/// A list of members by name had the direct ones alone.
#[test]
fn a_member_by_name_is_found_wherever_the_membership_comes_from() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": "acme/vault", "query": "bob"});
    let rows = succeed(&mut client, "member.list", params)["data"].clone();
    assert_eq!((&rows[0]["username"], &rows[0]["from"]), (&json!("bob"), &json!("acme")), "{rows}");
    assert_eq!(rows.as_array().map(Vec::len), Some(1), "{rows}");
}

/// `lines` of a file went unheard, and the whole file came.
#[test]
fn lines_are_those_of_the_only_text_of_an_object() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": "acme/widget", "file_path": "data/huge.csv", "ref": "measurements"});
    let call = json!({"action": "repository_file.get", "params": params, "lines": "-2"});
    let read = client.call(EXECUTE, call);
    assert!(read.text.contains("2000,12.5") && !read.text.contains("1998,12.5"), "{}", read.text);
    let params = json!({"fullPath": "acme/widget", "iid": 5});
    let call = json!({"action": "merge_request.list_diffs", "params": params, "lines": "-2"});
    assert!(client.call(EXECUTE, call).text.contains("name one in `fields`"));
}

#[test]
fn an_environment_says_what_is_deployed_on_it() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": "acme/widget", "environment_id": "production"});
    let data = succeed(&mut client, "environment.get", params)["data"].clone();
    assert_eq!(data["last_deployment"]["ref"], "main", "{data}");
}
