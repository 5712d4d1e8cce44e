//! `doctor --contract`: on the sandbox it holds and leaves nothing behind, and each deviation that is planted between it
//! and the sandbox is found and named by its action.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use gitlab_mcp::documentation::start_sandbox;
use gitlab_mcp_sandbox::Sandbox;
use serde_json::{Value, json};

use crate::support::client::program;
use crate::support::scripted_gitlab::{Answer, Request, exchange, raw};

/// A deviation of a GitLab from the catalog.
struct Deviation {
    what: &'static str,
    /// The scenarios that run.
    only: &'static str,
    /// The action that the report has to name.
    action: &'static str,
    /// Changes the request; an answer in place of the sandbox's.
    request: fn(&mut Request) -> Option<Answer>,
    answer: fn(&Request, &mut Value),
}

fn no_request(_: &mut Request) -> Option<Answer> {
    None
}

fn no_answer(_: &Request, _: &mut Value) {}

/// True for a request to a collection or object whose path ends so.
fn is(request: &Request, method: &str, end: &str) -> bool {
    request.method == method && request.path.ends_with(end)
}

/// Drops a parameter of the query.
fn without(request: &mut Request, name: &str) {
    let (path, query) = request.line.split_once('?').map_or((request.line.as_str(), ""), |both| both);
    let kept: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with(name)).collect();
    request.line = format!("{path}?{}", kept.join("&"));
}

/// Drops a field of the body.
fn without_field(request: &mut Request, name: &str) {
    if let Ok(Value::Object(mut body)) = serde_json::from_slice::<Value>(&request.body) {
        body.remove(name);
        request.body = json!(body).to_string().into_bytes();
    }
}

fn done(status: u16, body: &str) -> Option<Answer> {
    Some(raw(status, "application/json", body))
}

/// True between the log of the runner's job and the next pipeline: the job can be retried.
static IS_FINISHED: AtomicBool = AtomicBool::new(false);

/// A runner's log of the job, and its retry, which the sandbox refuses as the job has not run.
fn run_job(request: &mut Request) -> Option<Answer> {
    if is(request, "POST", "/pipeline") {
        IS_FINISHED.store(false, Ordering::Relaxed);
    }
    if is(request, "GET", "/trace") {
        IS_FINISHED.store(true, Ordering::Relaxed);
        let log = "$ echo \"everything turns\"\neverything turns\nJob succeeded\n";
        return Some(raw(200, "text/plain", log));
    }
    let is_retry = is(request, "POST", "/retry") && IS_FINISHED.load(Ordering::Relaxed);
    if is_retry { done(201, r#"{"id": 4712, "name": "build", "status": "pending"}"#) } else { None }
}

/// The runner, and its job as finished.
fn show_job(request: &Request, body: &mut Value) {
    if is(request, "GET", "/runners") {
        *body = json!([{"id": 1, "status": "online"}]);
    }
    if request.method == "GET" && request.path.contains("/jobs/") && body["name"] == "build" {
        body["status"] = json!("success");
        body["duration"] = json!(1.5);
        body["runner"] = json!({"id": 1});
    }
    if is(request, "GET", "widget/jobs") && IS_FINISHED.load(Ordering::Relaxed) {
        *body = json!([{"id": 4712, "name": "build", "status": "pending"}]);
    }
}

const RUNNER: Deviation =
    Deviation { what: "a runner", only: JOB, action: "", request: run_job, answer: show_job };

const JOB: &str = "pipeline,job,pipeline_end";

/// No deviation.
const NONE: Deviation = Deviation { what: "", only: "", action: "", request: no_request, answer: no_answer };

const DEVIATIONS: [Deviation; 32] = [
    Deviation {
        what: "a field has another name",
        only: "label",
        action: "label.create",
        answer: |request, body| {
            if is(request, "POST", "/labels") {
                let name = body.as_object_mut().and_then(|label| label.remove("name"));
                body["title"] = name.unwrap_or_default();
            }
        },
        ..NONE
    },
    Deviation {
        what: "a value is replaced",
        only: "label",
        action: "label.create",
        answer: |request, body| {
            if is(request, "POST", "/labels") {
                body["color"] = json!("#000000");
            }
        },
        ..NONE
    },
    Deviation {
        what: "a search is ignored",
        only: "label",
        action: "label.list",
        request: |request| {
            if is(request, "GET", "/labels") {
                without(request, "search");
            }
            None
        },
        ..NONE
    },
    Deviation {
        what: "an update is dropped in silence",
        only: "label",
        action: "label.get",
        request: |request| {
            if request.method == "PUT" && request.path.contains("/labels/") {
                request.line = request.line.replacen("PUT", "GET", 1);
                request.method = "GET".to_owned();
                request.body.clear();
            }
            None
        },
        ..NONE
    },
    Deviation {
        what: "a duplicate is accepted",
        only: "label",
        action: "label.create",
        request: |request| {
            let twice =
                is(request, "POST", "/labels") && String::from_utf8_lossy(&request.body).contains("contract");
            let is_second = twice && !String::from_utf8_lossy(&request.body).contains("First");
            if is_second { done(201, r##"{"id": 1, "name": "contract", "color": "#112233"}"##) } else { None }
        },
        ..NONE
    },
    Deviation {
        what: "a deletion does not delete",
        only: "label",
        action: "label.get",
        request: |request| {
            if request.method == "DELETE" && request.path.contains("/labels/") { done(204, "") } else { None }
        },
        ..NONE
    },
    Deviation {
        what: "an object is not found by its title",
        only: "milestone",
        action: "milestone.get",
        request: |request| if is(request, "GET", "/milestones") { done(200, "[]") } else { None },
        ..NONE
    },
    Deviation {
        what: "a date is lost",
        only: "milestone",
        action: "milestone.create",
        answer: |request, body| {
            if is(request, "POST", "/milestones") {
                body["due_date"] = Value::Null;
            }
        },
        ..NONE
    },
    Deviation {
        what: "a filter by state is ignored",
        only: "milestone",
        action: "milestone.list",
        request: |request| {
            if is(request, "GET", "/milestones") {
                without(request, "state");
            }
            None
        },
        ..NONE
    },
    Deviation {
        what: "a filter by label is ignored",
        only: "label,milestone,issue",
        action: "issue.list",
        request: |request| {
            if is(request, "GET", "/issues") {
                without(request, "labels");
            }
            None
        },
        ..NONE
    },
    Deviation {
        what: "pages are ignored",
        only: "label,milestone,issue",
        action: "issue.list",
        request: |request| {
            request.line = request.line.replace("&page=2", "&page=1").replace("?page=2", "?page=1");
            None
        },
        ..NONE
    },
    Deviation {
        what: "the order is reversed",
        only: "label,milestone,issue",
        action: "issue.list",
        request: |request| {
            request.line = request.line.replace("sort=asc", "sort=desc");
            None
        },
        ..NONE
    },
    Deviation {
        what: "a nested field is missing",
        only: "label,milestone,issue",
        action: "issue.create",
        answer: |request, body| {
            if is(request, "POST", "/issues") {
                body["author"] = json!({});
            }
        },
        ..NONE
    },
    Deviation {
        what: "a type is another",
        only: "project",
        action: "project.get",
        answer: |request, body| {
            if request.method == "GET" && request.path.ends_with("widget") && body["id"].is_number() {
                body["id"] = json!(body["id"].to_string());
            }
        },
        ..NONE
    },
    Deviation {
        what: "a title is cut",
        only: "label,milestone,issue",
        action: "issue.get",
        request: |request| {
            if request.method == "PUT" && request.path.contains("/issues/") {
                let body = String::from_utf8_lossy(&request.body).replace("Renamed issue", "Renamed");
                request.body = body.into_bytes();
            }
            None
        },
        ..NONE
    },
    Deviation {
        what: "a change of state is dropped",
        only: "label,milestone,issue",
        action: "issue.list",
        request: |request| {
            if request.method == "PUT" && request.path.contains("/issues/") {
                without_field(request, "state_event");
            }
            None
        },
        ..NONE
    },
    Deviation {
        what: "what does not exist is answered",
        only: "label,milestone,issue",
        action: "issue.get",
        request: |request| {
            if request.path.ends_with("/issues/99999") { done(200, r#"{"iid": 99999}"#) } else { None }
        },
        ..NONE
    },
    Deviation {
        what: "a creation is answered with an error",
        only: "webhook",
        action: "webhook.create",
        request: |request| {
            if is(request, "POST", "/hooks") { done(500, r#"{"message": "500"}"#) } else { None }
        },
        ..NONE
    },
    Deviation {
        what: "a rename is not marked",
        only: "branch,repository_file,commit",
        action: "commit.diff",
        answer: |request, body| {
            for row in body.as_array_mut().into_iter().flatten().filter(|_| request.path.ends_with("/diff")) {
                row["renamed_file"] = json!(false);
            }
        },
        ..NONE
    },
    Deviation {
        what: "a size is wrong",
        only: "branch,repository_file",
        action: "repository_file.get",
        answer: |_, body| {
            if body["file_path"].is_string() && body["size"].is_number() {
                body["size"] = json!(1);
            }
        },
        ..NONE
    },
    Deviation {
        what: "a merge is not made",
        only: "label,branch,repository_file,commit,merge_request,merge",
        action: "merge_request.list",
        request: |request| {
            if is(request, "GET", "/merge_requests") {
                without(request, "state");
            }
            None
        },
        answer: |_, body| {
            for row in body.as_array_mut().into_iter().flatten().filter(|row| row["state"] == "merged") {
                row["iid"] = json!(4711);
            }
        },
    },
    Deviation {
        what: "a path is another",
        only: "group",
        action: "group.get",
        answer: |request, body| {
            if request.method == "GET" && body["full_path"].is_string() {
                body["full_path"] = json!("acme/elsewhere");
            }
        },
        ..NONE
    },
    Deviation {
        what: "a field of a tag is missing",
        only: "tag",
        action: "tag.get",
        answer: |request, body| {
            if request.method == "GET" && request.path.contains("/tags/") {
                body.as_object_mut().map(|tag| tag.remove("message"));
            }
        },
        ..NONE
    },
    Deviation {
        what: "a quick action is not executed",
        only: "label,milestone,issue,quick_action",
        action: "issue.get",
        request: |request| {
            if is(request, "POST", "/notes") {
                request.body =
                    String::from_utf8_lossy(&request.body).replace("/reopen", "reopen").into_bytes();
            }
            None
        },
        ..NONE
    },
    Deviation {
        what: "a quick action within code is executed",
        only: "label,milestone,issue,quick_action",
        action: "issue.update",
        request: |request| {
            if is(request, "POST", "/notes") {
                request.body = String::from_utf8_lossy(&request.body).replace("```", "").into_bytes();
            }
            None
        },
        ..NONE
    },
    Deviation {
        what: "a large diff is sent",
        only: "diffs",
        action: "merge_request.list_diffs",
        answer: |request, body| {
            for row in body.as_array_mut().into_iter().flatten().filter(|_| request.path.ends_with("/diffs"))
            {
                row["diff"] = json!("@@ -0,0 +1 @@\n+One\n");
            }
        },
        ..NONE
    },
    Deviation {
        what: "a refusal has another status",
        only: "label,refusal",
        action: "webhook.create",
        request: |request| {
            if is(request, "POST", "/hooks") { done(400, r#"{"message": "Invalid url"}"#) } else { None }
        },
        ..NONE
    },
    Deviation {
        what: "a refusal is none",
        only: "label,refusal",
        action: "pipeline.get_latest",
        request: |request| {
            if is(request, "GET", "/pipelines/latest") { done(200, r#"{"id": 1}"#) } else { None }
        },
        ..NONE
    },
    Deviation {
        what: "a canceled job runs on",
        only: "pipeline",
        action: "job.get",
        request: |request| {
            if request.method == "POST" && request.path.ends_with("/cancel") {
                done(201, r#"{"id": 1}"#)
            } else {
                None
            }
        },
        ..NONE
    },
    Deviation {
        what: "jobs are not narrowed to a state",
        only: "pipeline",
        action: "job.list",
        request: |request| {
            if is(request, "GET", "/jobs") {
                without(request, "scope");
            }
            None
        },
        ..NONE
    },
    Deviation {
        what: "a log is empty",
        action: "job.log",
        request: |request| {
            if is(request, "GET", "/trace") { Some(raw(200, "text/plain", "")) } else { run_job(request) }
        },
        ..RUNNER
    },
    Deviation {
        what: "a retried job has another name",
        action: "job.retry",
        request: |request| {
            let is_retried = run_job(request);
            is_retried.filter(|_| !is(request, "POST", "/retry")).or_else(|| {
                let is_second = is(request, "POST", "/retry") && IS_FINISHED.load(Ordering::Relaxed);
                if is_second { done(201, r#"{"id": 4712, "name": "other"}"#) } else { None }
            })
        },
        ..RUNNER
    },
];

/// The sandbox, which runs until the test ends.
fn running_sandbox() -> (tokio::runtime::Runtime, Sandbox) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let sandbox = runtime.block_on(start_sandbox(None, None)).unwrap();
    (runtime, sandbox)
}

/// A proxy in front of a GitLab that deviates from it; gives its URL.
fn deviate(gitlab: &str, deviation: &'static Deviation) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = format!("http://{}", listener.local_addr().unwrap());
    let (gitlab, url) = (gitlab.to_owned(), own.clone());
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (gitlab, own) = (gitlab.clone(), own.clone());
            thread::spawn(move || {
                exchange(stream, |request| {
                    let mut request = request.clone();
                    if let Some(answer) = (deviation.request)(&mut request) {
                        return answer;
                    }
                    let mut answer = forward(&gitlab, &own, &request);
                    if let Ok(mut body) = serde_json::from_slice::<Value>(&answer.body) {
                        (deviation.answer)(&request, &mut body);
                        answer.body = body.to_string().into_bytes();
                    }
                    answer
                });
            });
        }
    });
    url
}

/// Sends a request on, and reads the answer to its end. URLs of the GitLab become those of the proxy.
fn forward(gitlab: &str, own: &str, request: &Request) -> Answer {
    let mut stream = TcpStream::connect(gitlab.trim_start_matches("http://")).unwrap();
    let dropped = ["content-length", "accept-encoding", "connection"];
    let head: Vec<&str> =
        request.head.lines().filter(|line| !dropped.iter().any(|name| line.starts_with(name))).collect();
    let head = format!(
        "{} HTTP/1.1\r\n{}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        request.line,
        head.join("\r\n"),
        request.body.len()
    );
    stream.write_all(&[head.as_bytes(), &request.body].concat()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let field =
        |name: &str| head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")).map(str::to_owned));
    let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
    let content_type = field("content-type").unwrap_or_default();
    let body = &bytes[end + 4..];
    let body = match std::str::from_utf8(body) {
        Ok(text) => text.replace(gitlab, own).into_bytes(),
        Err(_) => body.to_owned(),
    };
    let mut answer = raw(status, &content_type, body);
    for name in
        ["x-total", "x-total-pages", "x-page", "x-per-page", "x-next-page", "x-gitlab-ref", "x-gitlab-size"]
    {
        answer.headers.extend(field(name).map(|value| (name, value)));
    }
    answer.headers.extend(field("link").map(|value| ("link", value.replace(gitlab, own))));
    answer
}

fn run_suite(url: &str, arguments: &[&str]) -> (Output, String) {
    let always = ["--url", url, "doctor", "--contract", "--group", "acme", "--yes"];
    let arguments: Vec<&str> = always.into_iter().chain(arguments.iter().copied()).collect();
    let output = program(&arguments, &[("GITLAB_TOKEN", Sandbox::TOKEN)]).output().unwrap();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    (output, text)
}

#[test]
fn the_suite_holds_on_the_sandbox_and_leaves_nothing() {
    let (_runtime, sandbox) = running_sandbox();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let groups = || {
        let list = ["--url", sandbox.url(), "execute", "group.list", "--all", "--json"];
        let listed = program(&list, &[("GITLAB_TOKEN", Sandbox::TOKEN)]).output().unwrap();
        serde_json::from_slice::<Value>(&listed.stdout).unwrap()["data"].clone()
    };
    let before = groups();
    let (output, text) = run_suite(sandbox.url(), &["--report", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(groups(), before, "its group is deleted");
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let steps = report["steps"].as_array().unwrap();
    let mut kinds: Vec<&str> = steps.iter().map(|step| step["kind"].as_str().unwrap()).collect();
    kinds.dedup();
    assert!(kinds.len() >= 40 && steps.len() >= 200, "{} kinds, {} steps", kinds.len(), steps.len());
    let without_runner = |step: &Value| step["kind"] == "job" && step["result"] == "skipped";
    assert!(steps.iter().all(|step| step["result"] == "held" || without_runner(step)), "{report}");
    let report = report.to_string();
    for private in ["acme", "127.0.0.1", Sandbox::TOKEN, "sandbox@"] {
        assert!(!report.contains(private), "the report may be public: {private}");
    }
}

#[test]
fn the_suite_holds_on_older_versions_of_the_sandbox() {
    for version in ["15.11", "16.11", "17.11", "18.4"] {
        let flags =
            ["--sandbox", "--sandbox-version", version, "doctor", "--contract", "--group", "acme", "--yes"];
        let output = program(&flags, &[]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{version}: {text}");
        assert!(text.trim_end().ends_with(&format!("on GitLab {version}.0-ee.")), "{text}");
    }
}

#[test]
fn every_planted_deviation_is_found_by_its_action() {
    let (_runtime, sandbox) = running_sandbox();
    // Without a deviation the same scenarios hold through the same proxy.
    let mut sets: Vec<&str> = DEVIATIONS.iter().map(|deviation| deviation.only).collect();
    sets.sort_unstable();
    sets.dedup();
    let url = deviate(sandbox.url(), &NONE);
    for only in sets.into_iter().filter(|only| *only != JOB) {
        let (output, text) = run_suite(&url, &["--only", only]);
        assert_eq!(output.status.code(), Some(0), "{only}: {text}");
    }
    let (output, text) = run_suite(&deviate(sandbox.url(), &RUNNER), &["--only", JOB]);
    assert!(output.status.code() == Some(0) && text.contains("0 were skipped: 3 kinds"), "{text}");
    for deviation in &DEVIATIONS {
        let url = deviate(sandbox.url(), deviation);
        let (output, text) = run_suite(&url, &["--only", deviation.only]);
        assert_eq!(output.status.code(), Some(1), "{}: {text}", deviation.what);
        let named = format!("differs  {} (", deviation.action);
        assert!(text.contains(&named), "{}: {text}", deviation.what);
        assert!(!text.contains("acme") && !text.contains("127.0.0.1"), "the report may be public: {text}");
    }
}

#[test]
fn a_job_is_skipped_where_no_runner_takes_it() {
    let (_runtime, sandbox) = running_sandbox();
    let (output, text) = run_suite(sandbox.url(), &["--only", JOB]);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let why =
        "skipped  runner.list (job): needs a runner that is online and takes a job within minutes; no row";
    assert!(text.contains(why) && text.contains("skipped  job.log (job): depends on runner.list"), "{text}");
    // A runner that is there and ends the job otherwise.
    const IDLE: Deviation = Deviation {
        answer: |request, body| {
            if is(request, "GET", "/runners") {
                *body = json!([{"id": 1, "status": "online"}]);
            }
            if request.path.contains("/jobs/") && body["name"] == "build" {
                body["status"] = json!("skipped");
            }
        },
        ..NONE
    };
    let (output, text) = run_suite(&deviate(sandbox.url(), &IDLE), &["--only", JOB]);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("skipped  job.get (job): needs a runner"), "{text}");
}

/// The number of refusals that are left.
static LIMITED: AtomicUsize = AtomicUsize::new(0);

#[test]
fn a_rate_limit_is_waited_for_and_is_no_difference() {
    const LIMIT: Deviation = Deviation {
        request: |request| {
            let is_limited = request.path.contains("/labels") && LIMITED.load(Ordering::Relaxed) > 0;
            let limited = || {
                LIMITED.fetch_sub(1, Ordering::Relaxed);
                raw(429, "text/plain", "Retry later").header("retry-after", "1")
            };
            is_limited.then(limited)
        },
        ..NONE
    };
    let (_runtime, sandbox) = running_sandbox();
    let url = deviate(sandbox.url(), &LIMIT);
    let run = |limited: usize| {
        LIMITED.store(limited, Ordering::Relaxed);
        let arguments =
            ["--url", &url, "doctor", "--contract", "--group", "acme", "--yes", "--only", "label,milestone"];
        let variables = [("GITLAB_TOKEN", Sandbox::TOKEN), ("GITLAB_RETRIES", "0")];
        let output = program(&arguments, &variables).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = run(3);
    assert!(code == Some(0) && text.contains("17 of 17 steps hold"), "{text}");
    let (code, text) = run(usize::MAX);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("skipped  label.create (label): GitLab's rate limit"), "{text}");
    assert!(text.contains("8 of 17 steps hold, 0 differ, 9 were skipped"), "{text}");
}

#[test]
fn nothing_is_made_without_consent_or_under_a_rule() {
    let (_runtime, sandbox) = running_sandbox();
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        let always = ["--url", sandbox.url(), "doctor", "--contract"];
        let arguments: Vec<&str> = always.into_iter().chain(arguments.iter().copied()).collect();
        let token = [("GITLAB_TOKEN", Sandbox::TOKEN)];
        let output = program(&arguments, &[&token, variables].concat()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, error) = run(&["--group", "acme"], &[]);
    assert!(code == Some(2) && error.contains("nothing was made: no terminal to ask at"), "{error}");
    let (code, error) = run(&["--group", "acme", "--yes"], &[("GITLAB_READ_ONLY", "true")]);
    assert!(code == Some(2) && error.contains("group.create is denied"), "{error}");
    let (code, error) = run(&["--group", "acme", "--yes", "--only", "frob"], &[]);
    assert!(
        code == Some(2) && error.contains("there is no scenario `frob`; there are project, group"),
        "{error}"
    );
    let (code, error) = run(&["--group", "no-such-group", "--yes"], &[]);
    assert!(code == Some(2) && error.contains("no-such-group"), "{error}");
    let (code, error) = run(&["--yes"], &[]);
    assert!(code == Some(2) && error.contains("--group"), "{error}");
}

/// The job of `.gitlab-ci.yml` runs the suite on GitLab's image, which needs containers. Its script is run here on the
/// sandbox, with the built program and without a runner to download.
#[test]
fn the_nightly_job_runs_the_suite() {
    let (_runtime, sandbox) = running_sandbox();
    let ci = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/.gitlab-ci.yml")).unwrap();
    let ci: Value = serde_saphyr::from_str(&ci).unwrap();
    let job = &ci["contract"];
    let variable = |name: &str| job["variables"][name].as_str().unwrap();
    let made = format!("set_token('{}')", variable("GITLAB_TOKEN"));
    assert!(variable("GITLAB_POST_RECONFIGURE_SCRIPT").contains(&made), "the image makes the job's token");
    assert!(variable("GITLAB_OMNIBUS_CONFIG").contains(variable("GITLAB_URL")));
    let folder = tempfile::tempdir().unwrap();
    let built = env!("CARGO_BIN_EXE_gitlab-mcp");
    let lines = job["script"].as_array().unwrap().iter().map(|line| line.as_str().unwrap());
    let script: Vec<String> = lines
        .filter(|line| !line.starts_with("cargo build"))
        .map(|line| line.replace("target/release/gitlab-mcp", built))
        .collect();
    let mut variables = vec![("GITLAB_URL", sandbox.url()), ("GITLAB_TOKEN", Sandbox::TOKEN)];
    variables.extend([("GITLAB_PLAIN_HTTP", "true"), ("RUNNER_DOWNLOAD", "file:///no/such/runner")]);
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("bash")
        .args(["-e", "-o", "pipefail", "-c", &script.join("\n")])
        .current_dir(folder.path())
        .env_clear()
        .envs([("PATH", path.as_str())].into_iter().chain(variables))
        .output()
        .unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", said(&output.stdout), said(&output.stderr));
    let report = std::fs::read_to_string(folder.path().join("contract.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert!(report["steps"].as_array().unwrap().iter().any(|step| step["result"] == "held"), "{report}");
}
