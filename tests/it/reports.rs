//! Public reports about other software for GitLab and MCP, each tried here: `tests/reports.tsv` has the link, the
//! situation, the verdict, and the test that holds it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, execute, program, succeed};
use crate::support::scripted_gitlab::{Gitlab, answer, raw};

#[test]
fn every_report_has_a_verdict_and_a_test_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let list = fs::read_to_string(root.join("reports.tsv")).unwrap();
    let mut seen = BTreeSet::new();
    for line in list.lines().skip(1) {
        let [link, situation, verdict, test] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        assert!(link.starts_with("https://") && seen.insert(link), "{line}");
        assert!(!situation.is_empty() && matches!(verdict, "holds" | "mended" | "open"), "{line}");
        let (module, name) = test.rsplit_once("::").unwrap();
        let file = root.join("it").join(format!("{}.rs", module.replace("::", "/")));
        let source = fs::read_to_string(&file).unwrap_or_else(|_| panic!("{test}"));
        assert!(source.contains(&format!("fn {name}()")), "{test}");
    }
    assert!(seen.len() >= 30, "{}", seen.len());
}

/// The paths of the requests that came for a call.
fn requested(address: &str, gitlab: &Gitlab, action: &str, params: Value) -> Vec<String> {
    let before = gitlab.seen().len();
    let mut client = Client::for_gitlab(address, &[]);
    client.call(EXECUTE, json!({"action": action, "params": params}));
    gitlab.seen().split_off(before)
}

#[test]
fn a_path_of_many_groups_is_one_encoded_segment() {
    let gitlab = Gitlab::start();
    for path in ["a/b/c/d/tool", "a%2Fb%2Fc%2Fd%2Ftool", "/a/b/c/d/tool/"] {
        let seen = requested(&gitlab.url(), &gitlab, "project.get", json!({"fullPath": path}));
        assert!(seen.contains(&"GET /api/v4/projects/a%2Fb%2Fc%2Fd%2Ftool".to_owned()), "{path}: {seen:?}");
    }
    let seen = requested(&gitlab.url(), &gitlab, "group.get", json!({"fullPath": "org/teams"}));
    assert!(seen.iter().any(|line| line.starts_with("GET /api/v4/groups/org%2Fteams")), "{seen:?}");
}

#[test]
fn an_instance_below_a_sub_path_is_called_there() {
    let gitlab = Gitlab::start();
    for end in ["/scm/git", "/scm/git/", "/scm/git/api/v4", "/scm/git/api/v4/"] {
        let address = format!("{}{end}", gitlab.url());
        let seen = requested(&address, &gitlab, "project.get", json!({"fullPath": "acme/widget"}));
        assert!(seen.contains(&"GET /scm/git/api/v4/projects/acme%2Fwidget".to_owned()), "{end}: {seen:?}");
        // The sub-path in a page's address is no group.
        let page = format!("{}/scm/git/acme/widget/-/issues/3", gitlab.url());
        let seen = requested(&address, &gitlab, "issue.get", json!({"target": page}));
        assert!(
            seen.contains(&"GET /scm/git/api/v4/projects/acme%2Fwidget/issues/3".to_owned()),
            "{end}: {seen:?}"
        );
    }
}

#[test]
fn names_in_any_script_arrive_as_they_are() {
    let mut client = Client::sandbox();
    let branch = "zażółć/ęśląja";
    succeed(
        &mut client,
        "branch.create",
        json!({"fullPath": "acme/widget", "branch": branch, "ref": "main"}),
    );
    let read = succeed(&mut client, "branch.get", json!({"fullPath": "acme/widget", "branch": branch}));
    assert_eq!(read["data"]["name"], branch);
    let path = "ドキュメント/説明 书.md";
    let file = json!({
        "fullPath": "acme/widget", "file_path": path, "branch": branch, "content": "Привет\n", "commit_message": "文書",
    });
    succeed(&mut client, "repository_file.create", file);
    let raw = json!({"fullPath": "acme/widget", "file_path": path, "ref": branch});
    assert!(execute(&mut client, "repository_file.get_raw", raw).text.contains("Привет"));
    let label = "🐛 ошибка";
    succeed(
        &mut client,
        "label.create",
        json!({"fullPath": "acme/widget", "name": label, "color": "#ff0000"}),
    );
    let params = json!({"fullPath": "acme/widget", "title": "Ошибка 🐛", "labels": [label]});
    let issue = succeed(&mut client, "issue.create", params);
    assert_eq!((&issue["data"]["title"], &issue["data"]["labels"]), (&json!("Ошибка 🐛"), &json!([label])));
    let found = succeed(&mut client, "issue.list", json!({"fullPath": "acme/widget", "labels": [label]}));
    assert_eq!(found["page"]["total"], 1, "{found}");
}

#[test]
fn lines_of_a_client_on_windows_end_with_crlf() {
    use std::io::Write as _;
    use std::process::Stdio;
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
        }}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
    ];
    let lines: String = messages.iter().map(|message| format!("{message}\r\n")).collect();
    let mut child =
        program(&["--sandbox"], &[]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let answers: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [1, 2], "{out}");
    assert!(!out.contains('\r'), "messages end with a line feed alone");
}

#[test]
fn a_list_without_totals_is_read_to_its_end() {
    let gitlab = Gitlab::with_project();
    let rows = |range: std::ops::Range<u64>| -> Value {
        range.map(|iid| json!({"iid": iid, "title": format!("Issue {iid}"), "state": "opened"})).collect()
    };
    let issues = "GET /api/v4/projects/acme%2Fwidget/issues";
    // GitLab counts no more than 10,000 rows: then there is the next page alone.
    gitlab.says(
        issues,
        [
            answer(200, rows(1..101))
                .header("x-next-page", "2")
                .header("x-page", "1")
                .header("x-per-page", "100"),
            answer(200, rows(101..151))
                .header("x-next-page", "")
                .header("x-page", "2")
                .header("x-per-page", "100"),
        ],
    );
    let call = json!({"action": "issue.list", "params": {"fullPath": "acme/widget"}, "count_by": "state"});
    let reply = gitlab.client(&[]).call(EXECUTE, call);
    assert!(reply.text.contains("150"), "{}", reply.text);
}

#[test]
fn a_call_without_its_project_is_refused_before_anything_is_sent() {
    let gitlab = Gitlab::start();
    let seen = requested(&gitlab.url(), &gitlab, "merge_request.get", json!({"merge_request_iid": "151"}));
    assert!(seen.iter().all(|line| !line.contains("merge_requests")), "{seen:?}");
    let mut client = Client::for_gitlab(&gitlab.url(), &[]);
    let reply = execute(&mut client, "merge_request.get", json!({"merge_request_iid": "151"}));
    assert!(reply.is_error && reply.text.contains("`fullPath` is missing"), "{}", reply.text);
}

#[test]
fn an_iid_as_a_text_under_gitlabs_own_name_is_taken() {
    let gitlab = Gitlab::with_project();
    let params = json!({"project_id": "acme/widget", "merge_request_iid": "42"});
    for (action, end) in
        [("merge_request_discussion.list", "/discussions"), ("merge_request_note.list", "/notes")]
    {
        let seen = requested(&gitlab.url(), &gitlab, action, params.clone());
        let path = format!("GET /api/v4/projects/acme%2Fwidget/merge_requests/42{end}");
        assert!(seen.iter().any(|line| line.starts_with(&path)), "{action}: {seen:?}");
    }
}

#[test]
fn a_branch_that_begins_with_a_number_sign_is_encoded() {
    let gitlab = Gitlab::with_project();
    let params = json!({"fullPath": "acme/widget", "branch": "#1-this-is-my-first-issue"});
    let seen = requested(&gitlab.url(), &gitlab, "branch.get", params);
    let path = "GET /api/v4/projects/acme%2Fwidget/repository/branches/%231-this-is-my-first-issue";
    assert!(seen.contains(&path.to_owned()), "{seen:?}");
}

/// Strict clients took fields for granted that GitLab leaves out of narrowed answers.
#[test]
fn an_answer_without_the_documented_fields_is_shown() {
    let gitlab = Gitlab::start();
    let projects = json!([{"id": 7, "name": "Widget", "path_with_namespace": "acme/widget"}]);
    gitlab.says("GET /api/v4/projects", [answer(200, projects)]);
    let mut client = gitlab.client(&[]);
    let shown = succeed(&mut client, "project.list", json!({"search": "widget"}));
    assert!(shown.to_string().contains("acme/widget"), "{shown}");
}

#[test]
fn a_rate_limit_is_waited_for_whatever_its_page_says() {
    let gitlab = Gitlab::with_project();
    let issue = json!({"iid": 1, "title": "Gears", "state": "opened"});
    let page =
        || raw(429, "text/plain", "Too many requests, see: https://gitlab.example/settings/#rate-limits");
    let path = "GET /api/v4/projects/acme%2Fwidget/issues/1";
    gitlab.says(path, [page().header("retry-after", "1"), answer(200, issue)]);
    let mut client = gitlab.client(&[]);
    let shown = succeed(&mut client, "issue.get", json!({"fullPath": "acme/widget", "iid": 1}));
    assert!(shown.to_string().contains("Gears"), "{shown}");
    assert_eq!(gitlab.seen().iter().filter(|line| line.starts_with(path)).count(), 2);
}

/// Newer GitLabs name the end of the window in seconds since 1970 where they have no `Retry-After`.
#[test]
fn a_rate_limit_without_retry_after_ends_at_its_reset() {
    let gitlab = Gitlab::with_project();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let limited =
        answer(429, json!({"message": "Retry later"})).header("ratelimit-reset", &(now + 2).to_string());
    let path = "GET /api/v4/projects/acme%2Fwidget/issues/1";
    gitlab.says(path, [limited, answer(200, json!({"iid": 1, "title": "Gears"}))]);
    let mut client = gitlab.client(&[]);
    let shown = succeed(&mut client, "issue.get", json!({"fullPath": "acme/widget", "iid": 1}));
    assert!(shown.to_string().contains("Gears"), "{shown}");
    let pause = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() - now;
    assert!(pause >= 1, "it was sent again at once");
}

#[test]
fn a_reviewer_nobody_knows_stops_the_call() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": "acme/widget", "iid": 5, "reviewers": ["nobody.here"]});
    let reply = execute(&mut client, "merge_request.update", params);
    assert!(reply.is_error && reply.text.contains("nobody.here"), "{}", reply.text);
}

#[test]
fn issues_are_linked_and_commented_by_their_references() {
    let mut client = Client::sandbox();
    let link = json!({"target": "acme/widget#3", "target_issue": "acme/widget#5"});
    let linked = succeed(&mut client, "issue_link.create", link);
    assert!(linked.to_string().contains("#5 Widget falls over on a slope"), "{linked}");
    let issue = succeed(&mut client, "issue.get", json!({"target": "acme/widget#5"}));
    let url = json!({"target": "acme/widget#4", "target_issue_iid": issue["data"]["web_url"]});
    succeed(&mut client, "issue_link.create", url);
    let other = json!({"target": "acme/widget#4", "target_issue_iid": "https://other.example/acme/widget/-/issues/5"});
    let refused = execute(&mut client, "issue_link.create", other);
    assert!(refused.is_error && refused.text.contains("is of other.example"), "{}", refused.text);
    let elsewhere = json!({"target": "acme/widget#1", "target_issue_iid": "acme/widget#5", "target_project_id": "acme/gadget"});
    let refused = execute(&mut client, "issue_link.create", elsewhere);
    assert!(
        refused.is_error && refused.text.contains("`target_issue_iid` has acme/widget"),
        "{}",
        refused.text
    );
    let note = json!({"target": "acme/widget#3", "body": "All tests passed."});
    let noted = succeed(&mut client, "issue_note.create", note);
    assert!(noted.to_string().contains("All tests passed."), "{noted}");
}

/// Forms that clients and models send for the changes of a commit, the inputs of a schedule, and paths.
#[test]
fn forms_with_one_meaning_are_taken() {
    let mut client = Client::sandbox();
    let change = json!({"action": "create", "filePath": "notes/a.md", "content": "x"});
    let commit =
        json!({"fullPath": "acme/widget", "branch": "main", "commit_message": "Note", "actions": [change]});
    succeed(&mut client, "commit.create", commit);
    let read = execute(
        &mut client,
        "repository_file.get",
        json!({"fullPath": "acme/widget", "file_path": "./notes/a.md", "ref": "main"}),
    );
    assert!(!read.is_error && read.text.contains("as `notes/a.md`"), "{}", read.text);
    let schedule = json!({"fullPath": "acme/widget", "description": "Nightly", "ref": "main", "cron": "0 1 * * *", "inputs": {"region": ["north"]}});
    let shown = client
        .call(EXECUTE, json!({"action": "pipeline_schedule.create", "params": schedule, "dry_run": true}));
    assert!(shown.text.contains(r#""inputs":[{"name":"region","value":["north"]}]"#), "{}", shown.text);
    // The fault of a field is the only one that is named.
    let wrong = json!({"action": "create", "file_path": "b.md", "content": "x", "encoding": "utf-8"});
    let commit =
        json!({"fullPath": "acme/widget", "branch": "main", "commit_message": "Note", "actions": [wrong]});
    let refused = execute(&mut client, "commit.create", commit);
    assert!(refused.text.contains("`actions.encoding` is one of"), "{}", refused.text);
    assert!(!refused.text.contains("`actions` is missing"), "{}", refused.text);
}

#[test]
fn a_merge_request_is_merged_by_an_action_of_its_own() {
    let gitlab = Gitlab::with_project();
    let path = "/api/v4/projects/acme%2Fwidget/merge_requests/5/merge";
    gitlab
        .says(&format!("PUT {path}"), [answer(200, json!({"iid": 5, "state": "merged", "title": "Gears"}))]);
    let mut client = gitlab.client(&[]);
    let call = json!({"action": "merge_request.merge", "params": {"fullPath": "acme/widget", "iid": 5}, "confirm": true});
    let merged = client.call(EXECUTE, call);
    assert!(!merged.is_error, "{}", merged.text);
    assert!(gitlab.seen().contains(&format!("PUT {path}")), "{:?}", gitlab.seen());
}
