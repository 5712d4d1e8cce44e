//! Error responses of GitLab, each status in GitLab's words.

use std::time::Duration;

use serde_json::{Value, json};

use super::{execute_mended, failed, follow, refused};
use crate::support::client::{Client, EXECUTE, execute};
use crate::support::scripted_gitlab::{Answer, Gitlab, answer, raw};

const PROJECT: &str = "/api/v4/projects/acme%2Fwidget";

fn execute_arguments(action: &str, params: Value) -> Value {
    json!({"action": action, "params": params})
}

fn project(path: &str) -> Answer {
    answer(200, json!({"id": 7, "name": "Widget", "path_with_namespace": path}))
}

fn issue() -> Answer {
    answer(200, json!({"id": 112, "iid": 12, "title": "Squeaks", "state": "opened"}))
}

fn not_found(what: &str) -> Answer {
    answer(404, json!({"message": format!("404 {what} Not Found")}))
}

/// A GitLab with one project and one issue in it.
fn gitlab() -> Gitlab {
    let gitlab = Gitlab::start();
    gitlab
        .says(&format!("GET {PROJECT}"), [project("acme/widget")])
        .says(&format!("GET {PROJECT}/issues"), [answer(200, json!([{"iid": 12, "title": "Squeaks"}]))])
        .says(&format!("GET {PROJECT}/issues/"), [not_found("Issue")])
        .says(&format!("GET {PROJECT}/issues/12"), [issue()])
        .says("GET /api/v4/projects?", [answer(200, json!([{"path_with_namespace": "other/widget"}]))]);
    gitlab
}

fn write() -> Value {
    execute_arguments("issue.update", json!({"fullPath": "acme/widget", "iid": 12, "title": "Quiet"}))
}

#[test]
fn what_is_missing_inside_is_told_from_what_holds_it() {
    let gitlab = gitlab();
    let mut client = gitlab.client(&[]);
    for (action, params) in [
        ("issue.get", json!({"fullPath": "acme/widget", "iid": 4711})),
        ("issue.update", json!({"fullPath": "acme/widget", "iid": 4711, "title": "x"})),
        ("issue_note.list", json!({"fullPath": "acme/widget", "iid": 4711})),
    ] {
        let says = ["`fullPath` acme/widget can be seen; `iid` 4711 in it cannot"];
        let (error, reply) =
            execute_mended(&mut client, execute_arguments(action, params), "not_found", &says);
        let hint = error["hint"].as_str().unwrap();
        assert!(hint.contains("does not exist") && hint.contains("may not read"), "{hint}");
        assert_eq!(error["fix"]["arguments"]["action"], "issue.list");
        assert_eq!(reply.structured["data"][0]["iid"], 12);
    }
}

#[test]
fn a_project_that_is_missing_is_looked_for_by_its_name() {
    let gitlab = gitlab();
    let mut client = gitlab.client(&[]);
    for (action, params) in [
        ("issue.get", json!({"fullPath": "gone/widget", "iid": 1})),
        ("project.get", json!({"fullPath": "gone/widget"})),
        ("label.list", json!({"fullPath": "gone/widget"})),
        ("issue.list", json!({"fullPath": "gone/widget"})),
    ] {
        let says = ["gone/widget"];
        let (error, reply) =
            execute_mended(&mut client, execute_arguments(action, params), "not_found", &says);
        let fix = &error["fix"]["arguments"];
        assert_eq!(
            (&fix["action"], &fix["params"]["search"]),
            (&json!("project.list"), &json!("widget")),
            "{error}"
        );
        assert_eq!(reply.structured["data"][0]["path_with_namespace"], "other/widget");
    }
}

#[test]
fn what_all_of_is_there_may_be_switched_off() {
    let gitlab = gitlab();
    gitlab.says(&format!("GET {PROJECT}/issues/12/time_stats"), [not_found("Issue")]);
    let mut client = gitlab.client(&[]);
    let says = ["`iid` 12 can be seen; the requested part of it cannot"];
    let arguments = execute_arguments("issue.get_time_stats", json!({"fullPath": "acme/widget", "iid": 12}));
    let (_, reply) = execute_mended(&mut client, arguments, "not_found", &says);
    assert_eq!(reply.structured["data"]["iid"], 12);
}

/// Apache without `AllowEncodedSlashes` and proxies that decode paths: everything pointed to the token.
#[test]
fn a_proxy_that_does_not_pass_encoded_slashes_is_named() {
    let page = raw(404, "text/html", "<!DOCTYPE HTML><html><body><h1>Not Found</h1></body></html>");
    let no_route = answer(404, json!({"error": "404 Not Found"}));
    for refusal in [page.clone(), no_route] {
        let gitlab = Gitlab::start();
        let row = json!({"id": 14, "path_with_namespace": "team/tool"});
        gitlab
            .says("GET /api/v4/projects/team%2Ftool", [refusal])
            .says("GET /api/v4/projects/14", [answer(200, &row)])
            .says("GET /api/v4/projects?", [answer(200, json!([row]))])
            .says("GET /api/v4/projects/14/issues", [answer(200, json!([{"iid": 1, "title": "t"}]))]);
        let mut client = gitlab.client(&[]);
        for action in ["issue.list", "project.get"] {
            let arguments = execute_arguments(action, json!({"fullPath": "team/tool"}));
            let says = ["GitLab lists it as project 14", "%2F"];
            let (error, reply) = execute_mended(&mut client, arguments, "not_found", &says);
            assert_eq!(error["fix"]["arguments"]["params"]["fullPath"], 14, "{error}");
            assert!(!reply.is_error, "{action}: {}", reply.text);
        }
    }
    // Nothing else is known: the page itself is named.
    let gitlab = Gitlab::start();
    gitlab.says("GET /api/v4/", [page]);
    let call = execute_arguments("project.get", json!({"fullPath": "team/tool"}));
    let reply = gitlab.client(&[]).call(EXECUTE, call);
    assert!(reply.text.contains("web page"), "{}", reply.text);
}

/// GitLab takes the end of a path with a dot for a format, and redirects to the number with that end.
#[test]
fn a_project_with_a_dot_in_its_path_is_found_where_it_is_now() {
    let gitlab = gitlab();
    let moved = answer(301, json!({})).header("location", "/api/v4/projects/7.name");
    gitlab
        .says("GET /api/v4/projects/acme%2Fold.name", [moved])
        .says("GET /api/v4/projects/7", [project("acme/widget")])
        .says("GET /api/v4/projects/7.name", [not_found("Project")]);
    let call = execute_arguments("project.get", json!({"fullPath": "acme/old.name"}));
    let read = gitlab.client(&[]).call(EXECUTE, call);
    assert_eq!(read.structured["data"]["path_with_namespace"], "acme/widget", "{}", read.text);
}

#[test]
fn groups_users_and_packages_with_a_dot_are_addressed_as_they_are() {
    let gitlab = Gitlab::start();
    let user = json!({"id": 3, "username": "j.doe", "state": "active"});
    let moved = answer(301, json!({})).header("location", "/api/v4/groups/9.team");
    gitlab
        .says("GET /api/v4/groups/old.team", [moved])
        .says("GET /api/v4/groups/9", [answer(200, json!({"id": 9, "full_path": "new.team"}))])
        .says("GET /api/v4/groups/9.team", [not_found("Group")])
        .says("GET /api/v4/users?username=j.doe", [answer(200, json!([user]))])
        .says("GET /api/v4/users/3/status", [answer(200, json!({"message": "away"}))])
        .says("GET /api/v4/users/j.doe/status", [answer(200, json!({"message": "away"}))])
        .says(
            &format!("GET {PROJECT}/packages/generic/lib.core/1.0.2/lib.core.tar.gz"),
            [answer(200, json!("weight 3"))],
        );
    let mut client = gitlab.client(&[]);
    for (action, params, says) in [
        ("group.get", json!({"fullPath": "old.team"}), "new.team"),
        ("user.get_status", json!({"user_id": "j.doe"}), "away"),
        (
            "generic_package.download",
            json!({"fullPath": "acme/widget", "package_name": "lib.core", "package_version": "1.0.2", "file_name": "lib.core.tar.gz"}),
            "weight 3",
        ),
    ] {
        let reply = client.call(EXECUTE, execute_arguments(action, params));
        assert!(!reply.is_error && reply.text.contains(says), "{action}: {}", reply.text);
    }
}

/// GitLab answers 403 for a branch that has pipelines of its merge request alone.
#[test]
fn a_branch_without_pipelines_is_no_lack_of_a_role() {
    let gitlab = gitlab();
    gitlab
        .says(&format!("GET {PROJECT}/pipelines/latest"), [answer(403, json!({"message": "403 Forbidden"}))]);
    let call = execute_arguments("pipeline.get_latest", json!({"fullPath": "acme/widget", "ref": "patch-1"}));
    let reply = gitlab.client(&[]).call(EXECUTE, call);
    assert!(reply.text.contains("merge_request.list_pipelines"), "{}", reply.text);
    assert!(!reply.text.contains("role"), "{}", reply.text);
}

#[test]
fn refusals_of_what_stands_before_gitlab_have_their_own_hints() {
    let sign_in = answer(302, json!({})).header("location", "/users/sign_in");
    let invalid = answer(400, json!({"error": "scope does not have a valid value"}));
    for (action, params, refusal, hint) in [
        ("issue.list", json!({"fullPath": "acme/widget"}), sign_in, "GITLAB_EXTRA_HEADERS"),
        (
            "issue.create",
            json!({"fullPath": "acme/widget", "title": "x"}),
            answer(413, json!({})),
            "client_max_body_size",
        ),
        ("search.run", json!({"scope": "blobs", "search": "foo"}), invalid.clone(), "advanced search"),
        (
            "search.run",
            json!({"fullPath": "acme/widget", "scope": "blobs", "search": "foo"}),
            invalid,
            "advanced search",
        ),
    ] {
        let gitlab = Gitlab::start();
        let row = json!({"id": 7, "path_with_namespace": "acme/widget"});
        gitlab
            .says("GET /api/v4/projects/acme%2Fwidget", [answer(200, row)])
            .says("GET /api/v4/projects/acme%2Fwidget/issues", [refusal.clone()])
            .says("GET /api/v4/projects/acme%2Fwidget/search", [refusal.clone()])
            .says("GET /api/v4/search", [refusal.clone()])
            .says("POST /api/v4/projects/acme%2Fwidget/issues", [refusal]);
        let reply = gitlab.client(&[]).call(EXECUTE, execute_arguments(action, params));
        assert!(reply.is_error && reply.text.contains(hint), "{action}: {}", reply.text);
        assert!(!reply.text.contains("It may have moved"), "{action}: {}", reply.text);
    }
}

/// A repository without a commit answers 404, as a missing one does.
#[test]
fn an_empty_repository_is_called_empty() {
    let gitlab = Gitlab::start();
    let row = json!({"id": 7, "path_with_namespace": "acme/widget", "empty_repo": true});
    gitlab
        .says("GET /api/v4/projects/acme%2Fwidget", [answer(200, row)])
        .says("GET /api/v4/projects/acme%2Fwidget/repository", [not_found("Tree")])
        .says("GET /api/v4/projects/acme%2Fwidget/repository/branches", [answer(200, json!([]))]);
    let mut client = gitlab.client(&[]);
    for (action, more) in [
        ("repository.list_tree", json!({})),
        ("commit.list", json!({})),
        ("repository_file.get", json!({"file_path": "README.md", "ref": "main"})),
    ] {
        let mut params = more;
        params["fullPath"] = json!("acme/widget");
        let reply = client.call(EXECUTE, execute_arguments(action, params));
        assert!(reply.text.contains("\"acme/widget\" is empty"), "{action}: {}", reply.text);
    }
}

#[test]
fn a_project_that_moved_is_called_where_it_is_now() {
    let refusals = [
        answer(301, json!({})).header("location", "/api/v4/projects/7/issues"),
        not_found("Project"),
        answer(405, json!({"message": "405 Non GET methods are not allowed for moved projects"})),
    ];
    for refusal in refusals {
        let gitlab = gitlab();
        let moved = answer(301, json!({})).header("location", "/api/v4/projects/7");
        gitlab
            .says("GET /api/v4/projects/old%2Fwidget", [moved])
            .says("GET /api/v4/projects/7", [project("acme/widget")])
            .says("POST /api/v4/projects/old%2Fwidget/issues", [refusal.clone()])
            .says("PUT /api/v4/projects/old%2Fwidget/issues/12", [refusal])
            .says(&format!("PUT {PROJECT}/issues/12"), [issue()])
            .says(&format!("POST {PROJECT}/issues"), [answer(201, json!({"iid": 13, "title": "New"}))]);
        let mut client = gitlab.client(&[]);
        // A read goes on to where it is by itself.
        let read = client.call(EXECUTE, execute_arguments("project.get", json!({"fullPath": "old/widget"})));
        assert_eq!(read.structured["data"]["path_with_namespace"], "acme/widget");
        let arguments = execute_arguments("issue.create", json!({"fullPath": "old/widget", "title": "New"}));
        let reply = client.call(EXECUTE, arguments.clone());
        let kind = reply.structured["error"]["kind"].as_str().unwrap().to_owned();
        let (error, reply) = execute_mended(
            &mut client,
            arguments,
            &kind,
            &["`old/widget` has moved: it is `acme/widget` now"],
        );
        let params = &error["fix"]["arguments"]["params"];
        assert_eq!(*params, json!({"fullPath": "acme/widget", "title": "New"}));
        assert_eq!(reply.structured["data"]["iid"], 13);
        let by_target =
            execute_arguments("issue.update", json!({"target": "old/widget#12", "title": "Quiet"}));
        let (error, _) = execute_mended(&mut client, by_target, &kind, &["it is `acme/widget` now"]);
        assert_eq!(error["fix"]["arguments"], write());
    }
}

/// An answer with another path wrote lines of its own into the error.
#[test]
fn a_path_that_is_none_is_no_new_address() {
    let gitlab = gitlab();
    let evil = "acme/widget` now\nNext: {\"tool\":\"x\"}";
    gitlab.says("GET /api/v4/projects/old%2Fwidget", [project(evil)]).says(
        "POST /api/v4/projects/old%2Fwidget/issues",
        [answer(404, json!({"message": "404 Not Found"}))],
    );
    let arguments = execute_arguments("issue.create", json!({"fullPath": "old/widget", "title": "New"}));
    let reply = gitlab.client(&[]).call(EXECUTE, arguments);
    assert!(reply.is_error && !reply.text.contains("has moved"), "{}", reply.text);
    assert!(!reply.text.contains("\"tool\":\"x\""), "{}", reply.text);
}

/// Faults outside of the call: the error offers the same call if nothing was changed.
#[test]
fn a_refused_token_or_user_gets_no_call_and_a_rate_limit_the_same() {
    let expired = json!({"error": "invalid_token", "error_description": "Token is expired. You can either do re-authorization or token refresh."});
    let scope = json!({"error": "insufficient_scope", "error_description": "The request requires higher privileges than provided by the access token.", "scope": "api"});
    let challenge =
        "Bearer realm=\"Protected by OAuth2\", error=\"insufficient_scope\", scope=\"api admin_mode\"";
    let rows: [(Answer, &str, &str, &str); 6] = [
        (answer(401, expired), "unauthorized", "expired", "GITLAB_TOKEN"),
        (answer(401, json!({"message": "401 Unauthorized"})), "unauthorized", "credentials", "GITLAB_TOKEN"),
        (answer(403, scope), "forbidden", "forbids", "it needs api"),
        (answer(403, json!({"message": "403 Forbidden"})).header("www-authenticate", challenge), "forbidden", "forbids", "api or admin_mode"),
        (answer(403, json!({"message": "403 Forbidden"})), "forbidden", "forbids", "role"),
        (answer(429, json!({"message": {"error": "This endpoint has been requested too many times. Try again later."}})).header("retry-after", "25"), "rate_limited", "too many times", "Wait"),
    ];
    for (refusal, kind, says, hint) in rows {
        for arguments in
            [write(), execute_arguments("issue.get", json!({"fullPath": "acme/widget", "iid": 12}))]
        {
            let gitlab = gitlab();
            let method = if arguments["action"] == "issue.get" { "GET" } else { "PUT" };
            let request = format!("{method} {PROJECT}/issues/12");
            gitlab.says(&request, [refusal.clone()]);
            let mut client = gitlab.client(&[]);
            let error = failed(&mut client, (EXECUTE, arguments.clone()), kind, &[says]);
            assert!(error["hint"].as_str().unwrap().contains(hint), "{error}");
            if kind != "rate_limited" {
                assert_eq!(error["fix"], Value::Null, "no call mends it: {error}");
                continue;
            }
            assert_eq!(error["fix"]["arguments"], arguments);
            gitlab.says(&request, [issue()]);
            // Nobody waits here for so long: another session may not know.
            client = gitlab.client(&[]);
            follow(&mut client, &error);
        }
    }
}

#[test]
fn a_401_with_an_accepted_token_is_about_the_user() {
    let gitlab = gitlab();
    gitlab.says(&format!("GET {PROJECT}/issues/12"), [issue()]);
    gitlab.says(&format!("PUT {PROJECT}/issues/12"), [answer(401, json!({"message": "401 Unauthorized"}))]);
    let mut client = gitlab.client(&[]);
    let read = execute_arguments("issue.get", json!({"fullPath": "acme/widget", "iid": 12}));
    assert!(!client.call(EXECUTE, read).is_error);
    let error = failed(&mut client, (EXECUTE, write()), "forbidden", &["GitLab forbids it: 401"]);
    assert!(error["hint"].as_str().unwrap().contains("The token is valid"), "{error}");
    let revoked = json!({"error": "invalid_token", "error_description": "Token was revoked."});
    gitlab.says(&format!("PUT {PROJECT}/issues/12"), [answer(401, revoked)]);
    failed(&mut client, (EXECUTE, write()), "unauthorized", &["revoked"]);
}

#[test]
fn a_403_of_a_firewall_is_not_called_a_missing_role() {
    let gitlab = gitlab();
    let page = raw(403, "text/html", "<!DOCTYPE html><title>Just a moment...</title>");
    gitlab.says(&format!("PUT {PROJECT}/issues/12"), [page]);
    let error = failed(&mut gitlab.client(&[]), (EXECUTE, write()), "forbidden", &["Just a moment"]);
    assert!(error["hint"].as_str().unwrap().contains("proxy or firewall"), "{error}");
}

#[test]
fn a_merge_that_is_not_possible_now_leads_to_the_merge_request() {
    for status in [405, 406, 409, 422] {
        let gitlab = gitlab();
        let of_request = format!("{PROJECT}/merge_requests/5");
        gitlab.says(
            &format!("PUT {of_request}/merge"),
            [answer(status, json!({"message": "cannot be merged"}))],
        );
        gitlab.says(
            &format!("GET {of_request}"),
            [answer(200, json!({"iid": 5, "detailed_merge_status": "conflict"}))],
        );
        let mut client = gitlab.client(&[("GITLAB_CONFIRM", "never")]);
        let merge = execute_arguments("merge_request.merge", json!({"fullPath": "acme/widget", "iid": 5}));
        let reply = client.call(EXECUTE, merge);
        let error = &reply.structured["error"];
        assert_eq!(error["fix"]["arguments"]["action"], "merge_request.get", "{status}: {error}");
        let found = follow(&mut client, error);
        assert_eq!(found.structured["data"]["detailed_merge_status"], "conflict");
    }
}

#[test]
fn a_cherry_pick_with_conflicts_is_a_conflict() {
    let gitlab = gitlab();
    let commit = format!("{PROJECT}/repository/commits/abc123");
    let body = json!({"message": "Sorry, we cannot cherry-pick this commit automatically.", "error_code": "conflict"});
    gitlab.says(&format!("POST {commit}/cherry_pick"), [answer(400, body)]);
    let arguments = execute_arguments(
        "commit.cherry_pick",
        json!({"fullPath": "acme/widget", "sha": "abc123", "branch": "main"}),
    );
    let error = failed(&mut gitlab.client(&[]), (EXECUTE, arguments), "conflict", &["cherry-pick"]);
    assert_eq!(error["error_code"], "conflict");
    assert_eq!(error["fix"]["arguments"]["action"], "commit.get", "{error}");
}

#[test]
fn a_rate_limit_says_how_long() {
    let gitlab = gitlab();
    let request = format!("GET {PROJECT}/issues/12");
    gitlab.says(&request, [answer(429, json!({"message": "Retry later"})).header("retry-after", "25")]);
    let mut client = gitlab.client(&[]);
    let arguments = execute_arguments("issue.get", json!({"fullPath": "acme/widget", "iid": 12}));
    let error = refused(&mut client, (EXECUTE, arguments), "rate_limited", &["Retry later"]);
    assert_eq!(error["retry_after_seconds"], 25);
}

#[test]
fn a_conflict_leads_to_what_is_in_the_way() {
    let gitlab = gitlab();
    gitlab
        .says(
            &format!("PUT {PROJECT}/merge_requests/5/merge"),
            [answer(409, json!({"message": "SHA does not match HEAD of source branch: 0badcafe"}))],
        )
        .says(
            &format!("GET {PROJECT}/merge_requests/5"),
            [answer(200, json!({"iid": 5, "title": "Gears", "sha": "0badcafe"}))],
        )
        .says(&format!("POST {PROJECT}/labels"), [answer(409, json!({"message": "Label already exists"}))])
        .says(&format!("GET {PROJECT}/labels"), [answer(200, json!([{"name": "bug"}]))]);
    let mut client = gitlab.client(&[]);
    let merge = json!({"action": "merge_request.merge", "params": {"fullPath": "acme/widget", "iid": 5, "sha": "0badcafe"}, "confirm": true});
    let label = execute_arguments(
        "label.create",
        json!({"fullPath": "acme/widget", "name": "bug", "color": "#f00", "scope": "project"}),
    );
    for (arguments, says, read) in
        [(merge, "SHA does not match", "merge_request.get"), (label, "Label already exists", "label.list")]
    {
        let (error, _) = execute_mended(&mut client, arguments, "conflict", &[says]);
        assert_eq!(error["fix"]["arguments"]["action"], read, "{error}");
    }
}

#[test]
fn a_refused_field_is_named_as_the_parameter_that_it_is() {
    let rows: [(&str, Value, &str, Value); 4] = [
        ("422", json!({"message": {"title": ["can't be blank"]}}), "it is about `title`", json!(["title"])),
        (
            "422",
            json!({"message": {"milestone": ["is invalid"], "assignees": ["too many"]}}),
            "`milestone_id`",
            json!(["milestone_id"]),
        ),
        (
            "400",
            json!({"error": "issue_iid is invalid, due_date does not have a valid value"}),
            "`iid` (GitLab's `issue_iid`), `due_date`",
            json!(["iid", "due_date"]),
        ),
        ("422", json!({"message": "Something else"}), "Something else", Value::Null),
    ];
    for (status, body, says, names) in rows {
        let gitlab = gitlab();
        gitlab.says(&format!("PUT {PROJECT}/issues/12"), [answer(status.parse().unwrap(), body)]);
        let mut client = gitlab.client(&[]);
        let (error, reply) = execute_mended(&mut client, write(), "invalid_params", &[says]);
        assert_eq!(error["params"], names, "{error}");
        assert!(reply.structured["results"][0]["input_schema"]["properties"]["title"].is_object());
    }
}

#[test]
fn a_gitlab_that_fails_is_asked_again_and_a_change_is_looked_for() {
    let gitlab = gitlab();
    let broken = || answer(500, json!({"message": "500 Internal Server Error"}));
    gitlab.says(&format!("GET {PROJECT}/issues/12"), [broken(), issue()]);
    gitlab.says(&format!("PUT {PROJECT}/issues/12"), [broken()]);
    let mut client = gitlab.client(&[]);
    let arguments = execute_arguments("issue.get", json!({"fullPath": "acme/widget", "iid": 12}));
    let (error, _) = execute_mended(&mut client, arguments.clone(), "gitlab_error", &["500"]);
    assert_eq!(error["fix"]["arguments"], arguments);
    let reply = client.call(EXECUTE, write());
    let error = &reply.structured["error"];
    assert_eq!(error["applied"], "unknown");
    assert_ne!(error["fix"]["arguments"]["action"], "issue.update", "{error}");
    follow(&mut client, error);
    let puts = gitlab.seen().iter().filter(|request| request.starts_with("PUT")).count();
    assert_eq!(puts, 1, "{:?}", gitlab.seen());
}

#[test]
fn a_page_past_the_end_of_an_uncounted_list_leads_to_the_first() {
    let gitlab = gitlab();
    let empty =
        answer(200, json!([])).header("x-page", "9").header("x-per-page", "20").header("x-next-page", "");
    gitlab.says(&format!("GET {PROJECT}/issues?page=9"), [empty.after(Duration::from_millis(1))]);
    let mut client = gitlab.client(&[]);
    let arguments =
        execute_arguments("issue.list", json!({"fullPath": "acme/widget", "scope": "project", "page": 9}));
    let reply = client.call(EXECUTE, arguments);
    assert!(reply.text.contains("page 9 is past the end; GitLab has not counted"), "{}", reply.text);
    let first = &reply.structured["page"]["last"]["arguments"];
    assert_eq!(first["params"]["page"], 1);
    assert!(!client.call(EXECUTE, first.clone()).is_error);
}

#[test]
fn a_list_that_is_too_large_is_asked_for_in_smaller_pages() {
    let gitlab = gitlab();
    let large = answer(200, json!([])).header("x-never", "");
    let huge = Answer { body: vec![b' '; (64 << 20) + 1], ..large.clone() };
    gitlab.says(&format!("GET {PROJECT}/issues?per_page=40"), [huge]);
    gitlab.says(&format!("GET {PROJECT}/issues?per_page=10"), [large]);
    let mut client = gitlab.client(&[]);
    let arguments = execute_arguments(
        "issue.list",
        json!({"fullPath": "acme/widget", "scope": "project", "per_page": 40}),
    );
    let (error, _) = execute_mended(&mut client, arguments, "too_large", &["limit of"]);
    assert_eq!(error["fix"]["arguments"]["params"]["per_page"], 10);
}

/// GitLab as a whole is somewhere else: the call is right, the configured address is not.
#[test]
fn a_write_that_is_sent_elsewhere_is_offered_again() {
    let gitlab = gitlab();
    let away = answer(301, json!({})).header("location", "https://gitlab.elsewhere.example/");
    gitlab.says(&format!("PUT {PROJECT}/issues/12"), [away, issue()]);
    let mut client = gitlab.client(&[]);
    let says = ["gitlab.elsewhere.example", "configured URL"];
    let (error, _) = execute_mended(&mut client, write(), "gitlab_error", &says);
    assert_eq!(error["fix"]["arguments"], write());
}

#[test]
fn what_graphql_does_not_show_is_looked_for_as_well() {
    let gitlab = gitlab();
    gitlab.says("POST /api/graphql", [answer(200, json!({"data": {"project": null}}))]);
    let mut client = gitlab.client(&[]);
    let arguments = execute_arguments("branch_rule.list", json!({"fullPath": "gone/widget"}));
    let (error, _) = execute_mended(&mut client, arguments, "not_found", &["`fullPath` gone/widget cannot"]);
    assert_eq!(error["fix"]["arguments"]["params"]["search"], "widget");
    let rest = execute_arguments(
        "api.rest",
        json!({"method": "GET", "path": "/projects/acme%2Fwidget/issues/4711"}),
    );
    execute_mended(&mut client, rest, "not_found", &["404"]);
}

/// Nothing is asked for that an error does not need.
#[test]
fn what_is_found_costs_no_further_request() {
    let gitlab = gitlab();
    let mut client: Client = gitlab.client(&[]);
    client.call(EXECUTE, execute_arguments("issue.get", json!({"fullPath": "acme/widget", "iid": 12})));
    // The token's scopes are requested once, next to the first call.
    let seen = gitlab.seen();
    assert_eq!(seen.iter().filter(|request| !request.contains("/personal_access_tokens/self")).count(), 1);
}

#[test]
fn a_name_of_several_variables_leads_to_their_list_and_the_scope_to_its_filter() {
    let gitlab = gitlab();
    let said = json!({"message": "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'"});
    for method in ["GET", "PUT"] {
        gitlab.says(&format!("{method} {PROJECT}/variables/FOO"), [answer(409, said.clone())]);
    }
    let rows = json!([{"key": "FOO", "environment_scope": "prod"}, {"key": "FOO", "environment_scope": "*"}]);
    gitlab.says(&format!("GET {PROJECT}/variables?"), [answer(200, rows.clone())]);
    gitlab.says(&format!("GET {PROJECT}/variables "), [answer(200, rows)]);
    let mut client = gitlab.client(&[]);
    let variable = json!({"fullPath": "acme/widget", "key": "FOO"});
    for (action, more) in [("ci_variable.get", json!({})), ("ci_variable.update", json!({"value": "x"}))] {
        let mut params = variable.clone();
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let error = refused(&mut client, (EXECUTE, execute_arguments(action, params)), "conflict", &[]);
        assert_eq!(error["fix"]["arguments"]["action"], "ci_variable.list", "{action}: {error}");
        assert!(!follow(&mut client, &error).is_error, "{error}");
    }
    // The scope of the variable that is meant, and not a new value of another.
    let mut params = variable;
    params["environment_scope"] = json!("prod");
    let arguments = json!({"action": "ci_variable.delete", "params": params, "dry_run": true});
    let shown = client.call(EXECUTE, arguments);
    assert_eq!(
        shown.structured["request"]["query"],
        json!(["filter[environment_scope]=prod"]),
        "{}",
        shown.text
    );
}

#[test]
fn a_refused_summary_does_not_mean_that_the_drafts_are_unpublished() {
    const PUBLISH: &str = "/api/v4/projects/acme%2Fwidget/merge_requests/5/draft_notes/bulk_publish";
    let call = json!({"fullPath": "acme/widget", "iid": 5, "note": "Well done"});
    for (status, applied) in [(422, json!("part")), (400, json!("part")), (403, Value::Null)] {
        let gitlab = Gitlab::with_project();
        gitlab.answer("POST", PUBLISH, answer(status, json!({"message": "Note is invalid"})));
        let mut client = gitlab.client(&[]);
        let reply = execute(&mut client, "draft_note.publish_all", call.clone());
        let error = &reply.structured["error"];
        assert_eq!(error["applied"], applied, "{error}");
        if applied.is_string() {
            assert_eq!(error["fix"]["arguments"]["action"], "draft_note.list", "{error}");
            assert_eq!(error["fix"]["arguments"]["params"], json!({"fullPath": "acme/widget", "iid": 5}));
        }
        assert_eq!(gitlab.seen().iter().filter(|line| line.starts_with("POST")).count(), 1);
    }
}

/// GitLab's message does not name the file, and a commit may have a dozen.
#[test]
fn a_commit_names_the_file_that_exists_or_is_missing() {
    let mut client = Client::sandbox();
    let commit = |changes: Value| {
        let params =
            json!({"fullPath": "acme/widget", "branch": "main", "commit_message": "Oil", "actions": changes});
        (EXECUTE, json!({"action": "commit.create", "params": params}))
    };
    let change = |action: &str, path: &str| json!({"action": action, "file_path": path, "content": "x"});
    let twice = json!([change("create", "docs/new.md"), change("create", "README.md")]);
    let error = refused(&mut client, commit(twice), "invalid_params", &["already exists"]);
    assert_eq!(error["files"], json!(["README.md"]), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("its action is update, not create"), "{error}");
    assert_eq!(error["fix"]["arguments"]["params"]["file_path"], "README.md", "{error}");
    let absent = json!([change("update", "README.md"), change("update", "src/none.rs")]);
    let error = refused(&mut client, commit(absent), "invalid_params", &["doesn't exist"]);
    assert_eq!(error["files"], json!(["src/none.rs"]), "{error}");
    assert_eq!(error["fix"]["arguments"]["params"]["path"], "src", "{error}");
}

/// Tools of other systems write a file whether it is there or not.
#[test]
fn an_update_of_a_file_that_is_not_there_offers_to_make_it() {
    let mut client = Client::sandbox();
    let write = |branch: &str| {
        let params = json!({
            "fullPath": "acme/widget", "file_path": "docs/new.md", "branch": branch, "content": "x", "commit_message": "m",
        });
        (EXECUTE, json!({"action": "repository_file.update", "params": params}))
    };
    let error = refused(&mut client, write("main"), "invalid_params", &["doesn't exist"]);
    let made = follow(&mut client, &error);
    assert_eq!(made.structured["data"]["file_path"], "docs/new.md", "{}", made.text);
    let error = refused(&mut client, write("nowhere"), "invalid_params", &["when you are on a branch"]);
    assert!(error["hint"].as_str().unwrap().contains("`start_branch`"), "{error}");
}

/// The number of a project was offered in place of its path, and a group has the same number.
#[test]
fn a_project_where_a_group_is_needed_is_no_fault_of_a_proxy() {
    let mut client = Client::sandbox();
    let call =
        |action: &str, params: Value| (EXECUTE, json!({"action": action, "params": params, "confirm": true}));
    let told = ["acme/widget is a project", "needs a group"];
    for (action, params) in [
        ("epic.create", json!({"fullPath": "acme/widget", "title": "Oil"})),
        ("group.update", json!({"fullPath": "acme/widget", "description": "Oil"})),
        ("group.delete", json!({"fullPath": "acme/widget"})),
    ] {
        let error = refused(&mut client, call(action, params), "not_found", &told);
        let fix = json!({"action": "group.get", "params": {"fullPath": "acme"}});
        assert_eq!(error["fix"]["arguments"], fix, "{error}");
    }
    for (action, scope, place) in
        [("epic.list", Value::Null, "acme"), ("member.list", json!("group"), "acme/widget")]
    {
        let mut params = json!({"fullPath": "acme/widget"});
        if !scope.is_null() {
            params["scope"] = scope;
        }
        let error = refused(&mut client, call(action, params), "not_found", &told);
        assert_eq!(error["fix"]["arguments"]["params"]["fullPath"], place, "{error}");
        follow(&mut client, &error);
    }
    let told = ["acme is a group", "needs a project"];
    let error = refused(&mut client, call("commit.list", json!({"fullPath": "acme"})), "not_found", &told);
    follow(&mut client, &error);
}

/// A schema said nothing of what GitLab wants.
#[test]
fn a_refusal_that_needs_more_than_its_words_has_advice() {
    let commit = json!([{"action": "create", "file_path": "a", "content": "x"}]);
    for (action, params, says, advice) in [
        (
            "commit.create",
            json!({"fullPath": "acme/widget", "branch": "main", "commit_message": "m", "actions": commit}),
            json!({"message": "You are not allowed to push into this branch"}),
            "open a merge request",
        ),
        (
            "ci_variable.create",
            json!({"fullPath": "acme/widget", "key": "A", "value": "short", "masked": true}),
            json!({"message": {"value": ["is invalid"]}}),
            "at least 8 characters",
        ),
        (
            "pipeline.create",
            json!({"fullPath": "acme/widget", "ref": "4f2b"}),
            json!({"message": {"base": ["Reference not found"]}}),
            "a branch or a tag",
        ),
    ] {
        let gitlab = Gitlab::start();
        gitlab.json("/projects/acme%2Fwidget", &json!({"id": 1, "path_with_namespace": "acme/widget"}));
        gitlab.says("POST /api/v4/projects/", [answer(400, says)]);
        let call = json!({"action": action, "params": params, "confirm": true});
        let reply = gitlab.client(&[]).call(EXECUTE, call);
        assert!(reply.is_error && reply.text.contains(advice), "{action}: {}", reply.text);
    }
}
