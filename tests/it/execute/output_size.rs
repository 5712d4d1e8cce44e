//! Bounds on the data from GitLab: the memory that a body takes, the size of both forms of an answer, and the notes on
//! omitted parts.

use std::fs;

use serde_json::{Map, Value, json};

use crate::support::client::{Client, EXECUTE, Reply, execute, refused};
use crate::support::fixtures::PROJECT;
use crate::support::scripted_gitlab::{Answer, Gitlab, answer, raw};

/// `GITLAB_MAX_BYTES` of these tests, and the allowance in bytes for the server's own words.
const MAX_BYTES: usize = 1_000;
const OWN_WORDS: usize = 24_000;

fn json_body(body: Vec<u8>) -> Answer {
    raw(200, "application/json", body)
}

/// A list of so many rows, eight bytes each.
fn rows(count: usize) -> Vec<u8> {
    format!("[{}{{\"a\":1}}]", "{\"a\":1},".repeat(count - 1)).into_bytes()
}

fn get(client: &mut Client, path: &str) -> Reply {
    execute(client, "api.rest", json!({"method": "GET", "path": path}))
}

/// The most memory that the server has had, in MiB.
fn peak(client: &Client) -> usize {
    memory(client, "VmHWM:")
}

fn memory(client: &Client, field: &str) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", client.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() / 1024
}

#[cfg(target_os = "linux")]
#[test]
fn a_body_of_tiny_values_takes_little_memory() {
    let gitlab = Gitlab::with_project();
    let body = rows(1_000_000);
    gitlab.answer("GET", "/artifacts/report.json", json_body(body.clone()));
    gitlab.answer("GET", "/jobs/7/rows", json_body(body.clone()));
    let object = [b"{\"rows\":".as_slice(), &body, b"}"].concat();
    gitlab.answer("GET", "/jobs/7/object", json_body(object));
    for path in ["artifacts/report.json", "rows", "object"] {
        let mut client = gitlab.client(&[]);
        let before = peak(&client);
        get(&mut client, &format!("/projects/1/jobs/7/{path}"));
        let more = peak(&client) - before;
        assert!(more < 160, "{path}: 8 MB took {more} MiB more than {before}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_of_a_large_body_is_given_back() {
    let gitlab = Gitlab::with_project();
    gitlab.answer("GET", "/jobs/7/rows", json_body(rows(1_000_000)));
    gitlab.body("/jobs/7/artifacts/report.txt", "text/plain", "all is well\n".repeat(1_000_000).as_bytes());
    let mut client = gitlab.client(&[]);
    // Memory that the first call loads is not counted.
    get(&mut client, "/projects/1/small");
    let before = memory(&client, "VmRSS:");
    for _ in 0..3 {
        get(&mut client, "/projects/1/jobs/7/rows");
        get(&mut client, "/projects/1/jobs/7/artifacts/report.txt");
    }
    let (after, peak) = (memory(&client, "VmRSS:"), peak(&client));
    assert!(peak > before + 20, "the bodies took {before} to {peak} MiB");
    assert!(after < before + 15, "{after} MiB are kept, {before} before");
}

#[test]
fn a_file_is_text_whatever_its_type_says() {
    let gitlab = Gitlab::with_project();
    let body = "{\"b\": null,  \"a\": [1]}\n";
    for path in ["/artifacts/report.json", "/packages/generic/a/1.0/x.json", "/repository/files/[^/]*/raw"] {
        gitlab.answer("GET", path, json_body(body.into()));
    }
    let mut client = gitlab.client(&[]);
    let file = |params: Value| [json!({"fullPath": PROJECT}), params];
    let merged = |[mut one, two]: [Value; 2]| {
        one.as_object_mut().unwrap().extend(two.as_object().unwrap().clone());
        one
    };
    let raw_file = merged(file(json!({"file_path": "package.json", "ref": "main"})));
    assert_eq!(execute(&mut client, "repository_file.get_raw", raw_file).structured["data"], body);
    for path in ["/projects/1/jobs/7/artifacts/report.json", "/projects/1/packages/generic/a/1.0/x.json"] {
        assert_eq!(get(&mut client, path).structured["data"], body, "{path}");
    }
}

#[test]
fn a_list_with_too_many_values_shows_its_first_rows_and_counts_all() {
    let gitlab = Gitlab::with_project();
    gitlab.answer("GET", "/issues", json_body(rows(200_000)));
    let mut client = gitlab.client(&[]);
    let reply = execute(&mut client, "issue.list", json!({"fullPath": PROJECT, "scope": "all"}));
    assert!(!reply.is_error, "{}", reply.text);
    let page = &reply.structured["page"];
    assert_eq!(page["came"], 200_000, "{page}");
    assert_eq!(page["shown"], reply.structured["data"].as_array().unwrap().len());
    assert!(reply.text.contains("of 200000 on this page"), "{}", reply.text);
    let batch = json!({"calls": [
        {"action": "api.rest", "params": {"method": "GET", "path": "/projects/1/issues"}},
        {"action": "api.rest", "params": {"method": "GET", "path": "/projects/1/x/$1[199999].a"}},
    ]});
    let reply = execute(&mut client, "api.batch", batch);
    assert!(reply.text.contains("the first of 200000 that came"), "{}", reply.text);
}

#[test]
fn a_list_with_too_many_values_is_not_counted_by_its_first_rows() {
    let gitlab = Gitlab::with_project();
    gitlab.answer("GET", "/issues", json_body(rows(200_000)));
    let mut client = gitlab.client(&[]);
    for (option, value) in [("count_by", json!("a")), ("sum", json!("a")), ("all", json!(true))] {
        let call = json!({"action": "issue.list", "params": {"fullPath": PROJECT}, option: value});
        let error = refused(&client.call(EXECUTE, call), "too_large");
        assert!(error["message"].as_str().unwrap().contains("200000 rows"), "{option}: {error}");
    }
}

#[test]
fn an_object_with_too_many_values_is_too_large_to_read_and_an_accepted_change_stays_one() {
    let gitlab = Gitlab::with_project();
    let object = [b"{\"rows\":".as_slice(), &rows(100_000), b"}"].concat();
    gitlab.answer("GET", "/issues/1", json_body(object.clone()));
    gitlab.answer("POST", "/issues", raw(201, "application/json", object));
    let mut client = gitlab.client(&[]);
    let read = execute(&mut client, "issue.get", json!({"fullPath": PROJECT, "iid": 1}));
    assert_eq!(read.structured["error"]["kind"], "too_large", "{}", read.text);
    assert!(read.text.contains("values"), "{}", read.text);
    let made = execute(&mut client, "issue.create", json!({"fullPath": PROJECT, "title": "t"}));
    assert!(!made.is_error, "{}", made.text);
    assert!(made.structured["notes"].to_string().contains("done; the answer has more than"), "{}", made.text);
}

#[test]
fn a_list_that_was_not_kept_whole_is_no_answer_to_a_look_up() {
    let gitlab = Gitlab::with_project();
    gitlab.answer("GET", "/users", json_body(rows(200_000)));
    gitlab.answer("PUT", "/issues/1", answer(200, json!({"iid": 1})));
    let params = json!({"fullPath": PROJECT, "iid": 1, "assignee_ids": ["alice"]});
    let reply = execute(&mut gitlab.client(&[]), "issue.update", params);
    assert_eq!(reply.structured["error"]["kind"], "too_large", "{}", reply.text);
}

/// The job that broke it may be one of those that were not kept.
#[test]
fn a_pipeline_whose_jobs_were_not_kept_whole_is_not_diagnosed_by_some_of_them() {
    let gitlab = Gitlab::with_project();
    gitlab.json("/pipelines/9", &json!({"id": 9, "status": "failed", "ref": "main"}));
    gitlab.json("/pipelines/9/trigger_jobs", &json!([]));
    gitlab.answer("GET", "/pipelines/9/jobs", json_body(rows(200_000)));
    let params = json!({"fullPath": PROJECT, "pipeline_id": 9});
    let reply = execute(&mut gitlab.client(&[]), "pipeline.diagnose", params);
    assert_eq!(reply.structured["error"]["kind"], "too_large", "{}", reply.text);
}

/// Answers that an attacker may have made, by name.
fn hostile() -> Vec<(&'static str, Value)> {
    let keys: Map<String, Value> = (0..45_000).map(|n| (format!("key_{n}"), json!(1))).collect();
    let wide: Map<String, Value> = (0..2_000).map(|n| (format!("column_{n}"), json!(n))).collect();
    let texts: Map<String, Value> =
        (0..400).map(|n| (format!("text_{n}"), json!("x\n".repeat(300)))).collect();
    let tokens: Vec<Value> = (0..500).map(|n| json!({format!("k{n}_token"): "x"})).collect();
    vec![
        ("a_key", json!({"k".repeat(2_000_000): 1})),
        ("keys", Value::Object(keys)),
        ("nulls", json!({"n": vec![Value::Null; 49_000]})),
        ("row", json!([wide])),
        ("rows", json!([wide, wide, wide, wide])),
        ("long_rows", json!([{"k".repeat(500_000): "v".repeat(500_000)}])),
        ("empty_rows", json!(vec![json!({}); 40_000])),
        ("texts", Value::Object(texts)),
        ("secrets", json!(tokens)),
        ("files", json!([{"diff": "", "too_large": true, "new_path": "p".repeat(500_000)}])),
        ("quotes", json!({"a": "\"\\".repeat(500_000)})),
    ]
}

fn check_size(name: &str, reply: &Reply) {
    let (text, structured) = (reply.text.len(), reply.structured.to_string().len());
    assert!(text <= MAX_BYTES + OWN_WORDS, "{name}: {text} bytes of text");
    assert!(structured <= MAX_BYTES + OWN_WORDS, "{name}: {structured} bytes of structure");
}

#[test]
fn both_forms_of_an_answer_are_bounded_whatever_it_is_made_of() {
    let gitlab = Gitlab::with_project();
    for (name, body) in hostile() {
        gitlab.json(&format!("/hostile/{name}"), &body);
    }
    let mut client = gitlab.client(&[("GITLAB_MAX_BYTES", "1000")]);
    for (name, _) in hostile() {
        for view in ["compact", "full"] {
            let call = json!({"action": "api.rest", "params": {"method": "GET", "path": format!("/projects/1/hostile/{name}")}, "view": view});
            let reply = client.call(EXECUTE, call);
            assert!(!reply.is_error, "{name}: {}", reply.text);
            check_size(name, &reply);
            let data = reply.structured["data"].to_string().len();
            assert!(data <= MAX_BYTES, "{name}: {data} bytes of data");
            let tags = ["<gitlab>", "</gitlab>"].map(|tag| reply.text.matches(tag).count());
            assert_eq!(tags, [1, 1], "{name}");
        }
    }
}

#[test]
fn the_fields_that_do_not_fit_are_counted() {
    let gitlab = Gitlab::with_project();
    let keys: Map<String, Value> = (0..10_000).map(|n| (format!("key_{n}"), json!(n))).collect();
    gitlab.json("/things", &Value::Object(keys));
    let reply = get(&mut gitlab.client(&[("GITLAB_MAX_BYTES", "1000")]), "/projects/1/things");
    let shown = reply.structured["data"].as_object().unwrap().len();
    let note = reply.structured["notes"].to_string();
    assert!(shown > 20 && note.contains(&format!("{} fields left out", 10_000 - shown)), "{shown}: {note}");
}

#[test]
fn errors_and_headers_are_bounded() {
    let gitlab = Gitlab::with_project();
    let errors: Vec<Value> = (0..1_000).map(|_| json!({"message": "e".repeat(5_000)})).collect();
    let refused = answer(200, json!({"errors": errors, "data": null}));
    gitlab.answer("POST", "/api/graphql", refused);
    let long = answer(404, json!({"message": "m".repeat(60_000)}));
    gitlab.answer("GET", "/long", long.header("x-request-id", "r".repeat(60_000).as_str()));
    let scopes = format!("Bearer error=\"insufficient_scope\", scope=\"{}\"", "s ".repeat(20_000));
    let scoped = answer(403, json!({"error": "insufficient_scope"}));
    gitlab.answer("GET", "/scoped", scoped.header("www-authenticate", scopes.as_str()));
    let mut client = gitlab.client(&[("GITLAB_MAX_BYTES", "1000")]);
    let document = json!({"document": "{ currentUser { username } }"});
    let reply = execute(&mut client, "api.graphql", document);
    assert!(reply.is_error && reply.text.contains("and 990 more"), "{}", reply.text);
    check_size("GraphQL errors", &reply);
    for path in ["/projects/1/long", "/projects/1/scoped"] {
        let reply = get(&mut client, path);
        assert!(reply.is_error && reply.text.len() < 3_000, "{path}: {} bytes", reply.text.len());
        check_size(path, &reply);
    }
}

#[test]
fn an_answer_to_slow_texts_comes_and_is_bounded() {
    let gitlab = Gitlab::with_project();
    let names = "section_start:1:".repeat(200_000);
    let nested: Value = (0..100).fold(json!("is invalid"), |value, _| json!({"n".repeat(500): value}));
    let errors: Map<String, Value> =
        (0..500).map(|n| (format!("{}{n}", "k".repeat(1_000)), json!(vec!["is invalid"; 10]))).collect();
    gitlab.body("/jobs/7/trace", "text/plain", format!("\u{1b}[0K{names}").as_bytes());
    gitlab.body("/slashes", "text/plain", "\\".repeat(4_000_000).as_bytes());
    gitlab.body("/ampersands", "text/plain", "&".repeat(4_000_000).as_bytes());
    gitlab.body("/dashes", "text/plain", format!("</gitlab{}>\n", "-".repeat(100_000)).as_bytes());
    for (path, errors) in [("/nested", nested), ("/errors", Value::Object(errors))] {
        let refused = answer(400, json!({"message": errors}));
        gitlab.answer("GET", path, refused);
    }
    let mut client = gitlab.client(&[("GITLAB_MAX_BYTES", "1000")]);
    for path in ["jobs/7/trace", "slashes", "ampersands", "dashes", "nested", "errors"] {
        // Work that grows with the square of the text would run into the hang guard.
        check_size(path, &get(&mut client, &format!("/projects/1/{path}")));
    }
    let dashes = get(&mut client, "/projects/1/dashes");
    assert!(dashes.text.len() < 3_000 && dashes.text.starts_with("<gitlab>\n"), "{}", dashes.text);
    let params = json!({"fullPath": PROJECT, "job_id": 7, "section": "no_such"});
    check_size("sections", &execute(&mut client, "job.log", params));
}

#[test]
fn what_a_caller_says_is_not_repeated_without_end() {
    let mut client = Client::sandbox_with(&[("GITLAB_MAX_BYTES", "1000")]);
    let many: Map<String, Value> = (0..1_000).map(|n| (format!("no_such_{n}"), json!(1))).collect();
    let fields: Vec<String> = (0..1_000).map(|n| format!("no.such.{n}")).collect();
    let calls = [
        ("parameters", json!({"action": "issue.list", "params": many})),
        ("target", json!({"action": "issue.get", "params": {"target": "x".repeat(500_000)}})),
        ("fields", json!({"action": "project.get", "params": {"fullPath": "acme/widget"}, "fields": fields})),
        ("arguments", json!({"action": "issue.list", "x".repeat(500_000): 1})),
    ];
    for (name, call) in calls {
        check_size(name, &client.call(EXECUTE, call));
    }
}
