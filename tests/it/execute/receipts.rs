//! Receipts of objects that were made, changed or there already.

use serde_json::{Value, json};

use super::names::{WIDGET, confirmed, with_iid};
use crate::support::client::{Client, EXECUTE, Reply, execute, follow, refused, succeed};
use crate::support::scripted_gitlab::{Gitlab, answer, raw};

#[test]
fn lines_of_a_blame_have_numbers() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "file_path": "src/widget/gear.rs", "ref": "quiet-gears"});
    let reply = execute(&mut client, "repository_file.blame", params.clone());
    assert!(reply.text.contains("\n5:     teeth: u32,\n"), "{}", reply.text);
    let rows = reply.structured["data"].as_array().unwrap();
    let (first, second) = (&rows[0], &rows[1]);
    assert_eq!(first["title"], "Begin the widget");
    assert!(reply.text.contains("In every row: author_name: Alice Ambler"), "{}", reply.text);
    assert!(first["lines"].as_str().unwrap().starts_with("1: //! Gears.\n2: "), "{first}");
    assert_eq!(second["title"], "Oil the gears");
    assert!(second["lines"].as_str().unwrap().starts_with("3: /// A wheel"), "{second}");
    // Fields that are asked for are GitLab's own.
    let own = json!({"action": "repository_file.blame", "params": params, "fields": ["commit.author_email"]});
    assert_eq!(
        client.call(EXECUTE, own).structured["data"][0]["commit"]["author_email"],
        "alice@acme.example"
    );
}

#[test]
fn the_diff_of_a_branch_names_its_commit() {
    let mut client = Client::sandbox();
    let diff = |client: &mut Client, sha: &str| {
        execute(client, "commit.diff", json!({"fullPath": WIDGET, "sha": sha})).text
    };
    let id = json!({"action": "commit.get", "params": {"fullPath": WIDGET, "sha": "main"}, "fields": ["id"]});
    let id = client.call(EXECUTE, id).structured["data"]["id"].as_str().unwrap().to_owned();
    let of_branch = diff(&mut client, "main");
    let expected = format!("Note: \"main\" is commit {}, \"Thank everybody\"", &id[..8]);
    assert!(of_branch.contains(&expected), "{of_branch}");
    assert!(!diff(&mut client, &id).contains("is commit"));
}

#[test]
fn an_empty_list_names_its_filters_and_the_call_without_the_narrowest() {
    let mut client = Client::sandbox();
    let params =
        json!({"fullPath": WIDGET, "state": "closed", "labels": ["bug"], "search": "zzz", "per_page": 5});
    let reply = execute(&mut client, "issue.list", params.clone());
    assert!(reply.text.starts_with("Nothing found with state, labels, search.\nWider: "), "{}", reply.text);
    let mut wider = params;
    wider.as_object_mut().unwrap().remove("search");
    assert_eq!(reply.structured["wider"]["arguments"]["params"], wider, "{}", reply.text);
    assert!(!follow(&mut client, &reply.structured["wider"]).is_error);
    let filters = |client: &mut Client, action: &str, params: Value| {
        let reply = execute(client, action, params);
        assert!(!reply.is_error, "{}", reply.text);
        reply.structured["filters"].clone()
    };
    let late = "2099-01-01";
    let params = json!({"fullPath": WIDGET, "within": "project", "updated_after": late});
    assert_eq!(filters(&mut client, "merge_request.list", params), json!(["updated_after"]));
    // The server adds `updated_after` for its own filter.
    let params = json!({"fullPath": WIDGET, "within": "project", "merged_after": late});
    assert_eq!(filters(&mut client, "merge_request.list", params), json!(["merged_after"]));
    let params = json!({"fullPath": WIDGET, "ref": "no-such-branch"});
    assert_eq!(filters(&mut client, "pipeline.list", params), json!(["ref"]));
    let params = json!({"fullPath": WIDGET, "within": "project", "after": late});
    assert_eq!(filters(&mut client, "event.list", params), json!(["after"]));
    // A list without a filter is just empty.
    let reply = execute(&mut client, "remote_mirror.list", json!({"fullPath": WIDGET}));
    assert_eq!(reply.text.trim(), "Nothing found: no remote mirror.");
    assert!(reply.structured.get("wider").is_none(), "{}", reply.structured);
}

#[test]
fn receipts_of_large_objects_say_what_changed_and_where_it_is() {
    let mut client = Client::sandbox();
    let fork = execute(&mut client, "project.fork", json!({"fullPath": "acme/site"}));
    let data = &fork.structured["data"];
    assert_eq!(
        (&data["path_with_namespace"], &data["visibility"]),
        (&json!("sandbox/site"), &json!("public"))
    );
    assert!(data["web_url"].is_string() && data.get("merge_method").is_none(), "{data}");
    let star = execute(&mut client, "project.star", json!({"fullPath": "acme/tools/widget-cli"}));
    assert_eq!(star.structured["data"]["star_count"], 1, "{}", star.text);
    let archived = confirmed(&mut client, "project.archive", json!({"fullPath": "sandbox/site"}));
    assert_eq!(archived.structured["data"]["archived"], true, "{}", archived.text);
    for reply in [&fork, &star, &archived] {
        assert!(reply.text.len() < 500, "{}", reply.text);
    }
}

#[test]
fn a_new_object_is_described_with_what_was_set_and_no_secret() {
    let mut client = Client::sandbox();
    let first = |reply: &Reply| reply.text.lines().next().unwrap().to_owned();
    let params = json!({
        "fullPath": WIDGET, "title": "Handle rattles", "labels": ["bug"], "assignee_ids": ["alice"],
        "due_date": "2026-04-01", "description": "It does.",
    });
    let issue = execute(&mut client, "issue.create", params);
    assert_eq!(first(&issue), "Created: issue acme/widget#46 \"Handle rattles\".");
    for set in ["labels: \"bug\"", "assignees: \"alice\"", "due_date: 2026-04-01"] {
        assert!(issue.text.contains(&format!("\n{set}\n")), "{}", issue.text);
    }
    let params = json!({
        "fullPath": WIDGET, "key": "OIL_TOKEN", "value": "abcDEF1234567890", "masked": true, "protected": true,
        "environment_scope": "production", "description": "Oils the gears. ".repeat(20),
    });
    let variable = confirmed(&mut client, "ci_variable.create", params);
    assert_eq!(
        first(&variable),
        "Created: ci variable \"OIL_TOKEN\" in acme/widget. Set: value, description."
    );
    for set in ["protected, masked: true", "environment_scope: \"production\""] {
        assert!(variable.text.contains(&format!("\n{set}")), "{}", variable.text);
    }
    assert!(!variable.text.contains("abcDEF1234567890"), "{}", variable.text);
    let params = json!({
        "fullPath": WIDGET, "url": "https://bot:hunter2pass@git.example.com/acme/widget.git", "enabled": true,
    });
    // In the text of a long answer with what was set, and of a short one without.
    let gitlab = Gitlab::with_project();
    let long = json!({"id": 1, "url": params["url"], "enabled": true, "avatar_url": "a".repeat(500)});
    gitlab.answer("POST", "/remote_mirrors", answer(201, long));
    for (client, is_long) in [(&mut gitlab.client(&[]), true), (&mut client, false)] {
        let mirror = confirmed(client, "remote_mirror.create", params.clone());
        assert_eq!(first(&mirror).contains(WIDGET), is_long, "{}", mirror.text);
        assert!(mirror.text.contains("enabled: true"), "{}", mirror.text);
        assert_eq!(mirror.structured["changed"], first(&mirror));
        assert!(!mirror.text.contains("hunter2pass"), "{}", mirror.text);
        assert!(!mirror.structured.to_string().contains("hunter2pass"), "{}", mirror.structured);
    }
    // A number is shown, also if the number of the object has its digits.
    let update = execute(&mut client, "issue.update", with_iid(1, &json!({"weight": 1})));
    assert!(update.text.contains("\nweight: 1"), "{}", update.text);
}

#[test]
fn the_value_of_a_header_of_a_webhook_is_not_shown() {
    let gitlab = Gitlab::with_project();
    for place in ["custom_headers", "url_variables"] {
        let line = format!("PUT /api/v4/projects/acme%2Fwidget/hooks/3/{place}/X-Key");
        gitlab.says(&line, [answer(200, json!({"key": "X-Key", "avatar_url": "a".repeat(300)}))]);
    }
    let mut client = gitlab.client(&[]);
    for action in ["webhook.set_custom_header", "webhook.set_url_variable"] {
        let params = json!({
            "fullPath": WIDGET, "scope": "project", "hook_id": 3, "key": "X-Key", "value": "hunter2pass",
        });
        let header = confirmed(&mut client, action, params);
        assert!(header.text.lines().next().unwrap().ends_with(" Set: value."), "{}", header.text);
        assert!(!header.text.contains("hunter2pass"), "{}", header.text);
    }
}

#[test]
fn branches_and_merge_requests_are_filtered_by_merges() {
    let gitlab = Gitlab::with_project();
    let branch = |name: &str, merged: bool| json!({"name": name, "merged": merged});
    let first = answer(200, json!([branch("a", true), branch("b", false)])).header("x-next-page", "2");
    gitlab.says(
        "GET /api/v4/projects/acme%2Fwidget/repository/branches",
        [first.header("x-page", "1"), answer(200, json!([branch("c", true)])).header("x-page", "2")],
    );
    let request = |iid: u64, merged_at: Value| json!({"iid": iid, "title": "x", "state": "merged", "merged_at": merged_at});
    let rows = json!([
        request(1, json!("2026-01-31T23:30:00.000-02:00")),
        request(2, json!("2026-01-31T23:30:00.000Z")),
        request(3, json!("2026-01-01T00:00:00.000Z")),
        request(4, json!(null)),
    ]);
    gitlab.answer("GET", "/merge_requests", answer(200, rows));
    let mut client = gitlab.client(&[]);
    let names = |data: &Value, key: &str| -> Vec<Value> {
        data["data"].as_array().unwrap().iter().map(|row| row[key].clone()).collect()
    };
    let merged = succeed(&mut client, "branch.list", json!({"fullPath": WIDGET, "merged": true}));
    assert_eq!(names(&merged, "name"), ["a", "c"], "{merged}");
    let params = json!({
        "fullPath": WIDGET, "within": "project", "merged_after": "2026-01-01", "merged_before": "2026-02-01",
    });
    let merged = succeed(&mut client, "merge_request.list", params);
    assert_eq!(names(&merged, "iid"), [2, 3], "{merged}");
    let line = gitlab.last("/merge_requests?").line;
    assert!(line.contains("updated_after=2026-01-01") && !line.contains("merged_"), "{line}");
}

#[test]
fn what_is_there_already_is_shown_without_its_secret() {
    let mut client = Client::sandbox();
    for key in ["OIL_GRADE", "DEPLOY_KEY"] {
        let params = json!({"fullPath": WIDGET, "key": key, "value": "10W-40-new", "environment_scope": "*"});
        let reply = execute(&mut client, "ci_variable.create", params);
        if reply.is_error {
            let existing = &reply.structured["error"]["existing"];
            assert_eq!(existing["key"], key, "{}", reply.text);
            for secret in ["5W-30", "not-a-real-key"] {
                assert!(
                    !reply.text.contains(secret) && !existing.to_string().contains(secret),
                    "{}",
                    reply.text
                );
            }
        } else {
            assert_eq!(key, "DEPLOY_KEY", "of another environment: {}", reply.text);
        }
    }
}

#[test]
fn what_is_there_already_is_shown_with_the_call_that_changes_it() {
    let mut client = Client::sandbox();
    for (action, params, existing, fix) in [
        (
            "label.create",
            json!({"name": "bug", "color": "#ff0000"}),
            json!({"color": "#d9534f"}),
            "label.update",
        ),
        (
            "release.create",
            json!({"tag_name": "v1.0.0", "name": "One"}),
            json!({"name": "Widget 1.0"}),
            "release.update",
        ),
        ("branch.create", json!({"branch": "main", "ref": "main"}), json!({"name": "main"}), "branch.get"),
        (
            "merge_request.create",
            json!({"source_branch": "quiet-gears", "target_branch": "main", "title": "Again"}),
            json!({"iid": 5}),
            "merge_request.get",
        ),
        (
            "repository_file.create",
            json!({"file_path": "README.md", "branch": "main", "content": "x", "commit_message": "x"}),
            json!({"file_path": "README.md"}),
            "repository_file.update",
        ),
        // Who is added by another name than is changed.
        (
            "member.add",
            json!({"username": "carol", "access_level": 20}),
            json!({"username": "carol"}),
            "member.update",
        ),
        // Its update has no `push_access_level`: the call that is offered would change nothing.
        (
            "protected_branch.create",
            json!({"name": "main", "push_access_level": "maintainer"}),
            json!({"name": "main"}),
            "protected_branch.get",
        ),
    ] {
        let mut params = params;
        params["fullPath"] = json!(WIDGET);
        let reply = client.call(EXECUTE, json!({"action": action, "params": params, "confirm": true}));
        let error = &reply.structured["error"];
        for (field, value) in existing.as_object().unwrap() {
            assert_eq!(&error["existing"][field], value, "{action}: {error}");
        }
        assert_eq!(error["fix"]["arguments"]["action"], fix, "{action}: {error}");
        // The existing merge request may not be mergeable, which is no reason of this conflict.
        assert!(error.get("detailed_merge_status").is_none(), "{action}: {error}");
        let mut call = error["fix"]["arguments"].clone();
        call["confirm"] = json!(true);
        assert!(!client.call(EXECUTE, call).is_error, "{action}: {error}");
    }
}

#[test]
fn what_is_there_already_is_not_offered_for_a_change_that_is_denied() {
    let mut client = Client::sandbox_with(&[("GITLAB_DENIED_ACTIONS", "label.update")]);
    let params = json!({"fullPath": WIDGET, "name": "bug", "color": "#ff0000"});
    let error = refused(&execute(&mut client, "label.create", params), "conflict");
    assert_eq!(error["fix"]["arguments"]["action"], "label.get", "{error}");
    assert!(!error["hint"].to_string().contains("label.update"), "{error}");
}

#[test]
fn a_file_that_is_a_pointer_names_the_call_with_its_content() {
    let gitlab = Gitlab::with_project();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n";
    gitlab.answer("GET", "/repository/files/[^/]+/raw", raw(200, "text/plain", pointer));
    gitlab.json(
        "/repository/files/[^/]+",
        &json!({"file_path": "a.bin", "content": pointer, "last_commit_id": "a"}),
    );
    let mut client = gitlab.client(&[]);
    let params = json!({"fullPath": WIDGET, "file_path": "a.bin", "ref": "v1"});
    for action in ["repository_file.get", "repository_file.get_raw"] {
        let reply = execute(&mut client, action, params.clone());
        assert!(
            reply.text.contains("a Git LFS pointer; the file itself of 12345 bytes"),
            "{action}: {}",
            reply.text
        );
        // The branch or tag that was read: the default branch may have another file.
        assert!(reply.text.contains("\"ref\":\"v1\",\"lfs\":true"), "{action}: {}", reply.text);
    }
    // An edit would change the pointer in place of the file.
    let mut update = params.clone();
    update["branch"] = json!("main");
    update["commit_message"] = json!("Edit");
    update["edits"] = json!([{"old": "size 12345", "new": "size 1"}]);
    update.as_object_mut().unwrap().shift_remove("ref");
    let reply = execute(&mut client, "repository_file.update", update);
    assert!(reply.is_error && reply.text.contains("is a Git LFS pointer"), "{}", reply.text);
}

#[test]
fn a_trial_shows_whether_the_call_could_succeed() {
    let mut client = Client::sandbox();
    let mut trial = |action: &str, params: Value| {
        let reply = client.call(EXECUTE, json!({"action": action, "params": params, "dry_run": true}));
        assert!(reply.text.starts_with("Not sent: "), "{}", reply.text);
        reply.structured["now"].clone()
    };
    let now = trial("merge_request.merge", with_iid(6, &json!({})));
    let blockers = json!(["conflicts with the target branch", "approvals missing: 1"]);
    assert_eq!((&now["blockers"], &now["detailed_merge_status"]), (&blockers, &json!("not_approved")));
    assert!(now["sha"].as_str().is_some_and(|sha| sha.len() == 40), "{now}");
    let now = trial("branch.delete", json!({"fullPath": WIDGET, "branch": "quiet-gears"}));
    assert_eq!(now["merged"], false, "{now}");
    assert!(trial("issue.update", with_iid(1, &json!({"title": "x"}))).is_null());
}
