//! Health, metrics, the access log, limits of callers, TLS, the unix socket, and the end.

use std::io::{BufRead as _, BufReader, Write};
use std::net::SocketAddr;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{GUARD, HttpServer, Response, get, read_response, text, tool_call};
use crate::support::client::{EXECUTE, FIND, program};
use crate::support::scripted_gitlab::{Gitlab, answer};
use crate::support::tls::Authority;

const TOKEN: (&str, &str) = ("PRIVATE-TOKEN", "glpat-caller");

#[test]
fn health_and_metrics_tell_the_state_and_no_secret() {
    let gitlab = Gitlab::start();
    gitlab.json("/api/v4/projects", &json!([]));
    let server = HttpServer::for_callers(&gitlab.url(), &[]);
    let health = server.get("/health");
    assert_eq!((health.status, health.json()["status"].as_str()), (200, Some("ok")));
    server.execute(&[TOKEN], "project.list", json!({"search": "private-search-term"}));
    server.execute(&[TOKEN], "nonsense.private-name", json!({}));
    server.find(&[TOKEN], "a private query");
    probed(server.address);
    let metrics = server.get("/metrics").body;
    for line in [
        "gitlab_mcp_calls_total{tool=\"gitlab_execute_action\",action=\"project.list\",outcome=\"ok\"} 1",
        "gitlab_mcp_calls_total{tool=\"gitlab_execute_action\",action=\"unknown\",outcome=\"unknown_action\"} 1",
        "gitlab_mcp_calls_total{tool=\"gitlab_find_action\",action=\"\",outcome=\"ok\"} 1",
        "gitlab_mcp_callers 1",
        &format!("gitlab_mcp_instance_up{{instance=\"{}/\"}} 1", gitlab.url()),
    ] {
        assert!(metrics.lines().any(|shown| shown == line), "{line} is not in {metrics}");
    }
    assert!(metrics.contains("gitlab_mcp_upstream_responses_total{instance=\""), "{metrics}");
    server.wait_for_log("tool=\"gitlab_find_action\"");
    for shown in [metrics, server.log()] {
        assert!(
            !shown.contains("private-") && !shown.contains("private query") && !shown.contains("glpat-"),
            "{shown}"
        );
    }
}

/// A GET with these headers only.
/// Somebody opens the URL of a colleague in a browser.
#[test]
fn a_person_at_the_address_sees_how_to_connect() {
    let gitlab = Gitlab::start();
    let server = HttpServer::for_callers(&gitlab.url(), &[]);
    probed(server.address);
    let page = server.get("/");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let endpoint = format!("http://{}/mcp", server.address);
    assert!(page.body.contains(&format!("<pre>{endpoint}</pre>")), "{}", page.body);
    assert!(
        page.body.contains(&format!("claude mcp add --transport http --scope user gitlab {endpoint}")),
        "{}",
        page.body
    );
    assert!(page.body.contains(&format!("{}/</code> answers", gitlab.url())), "{}", page.body);
    assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    // A page under another name (DNS rebinding) does not learn the instances.
    let rebound = get_with(server.address, "/", "Host: evil.example.com\r\n");
    assert!(rebound.status == 200 && !rebound.body.contains(&gitlab.url()), "{}", rebound.body);
}

fn get_with(address: SocketAddr, path: &str, headers: &str) -> Response {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(GUARD)).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    read_response(&mut BufReader::new(stream)).unwrap()
}

#[test]
fn a_page_of_another_host_does_not_read_health_or_metrics() {
    let gitlab = Gitlab::start();
    let with_metrics = [("GITLAB_MCP_METRICS", "127.0.0.1:0"), ("GITLAB_MCP_ALLOWED_HOSTS", "probe.example")];
    let apart = HttpServer::for_callers(&gitlab.url(), &with_metrics);
    let together = HttpServer::for_callers(&gitlab.url(), &with_metrics[1..]);
    for address in [apart.metrics_address(), together.address] {
        for host in ["localhost", "127.0.0.1:1", "10.1.2.3:9090", "[fd00::1]:9090", "probe.example:80"] {
            let headers = format!("Host: {host}\r\n");
            assert_eq!(get_with(address, "/metrics", &headers).status, 200, "{host}");
            assert!(get_with(address, "/health", &headers).body.contains("version"), "{host}");
            // A page of any origin.
            for origin in ["http://evil.example", &format!("http://{address}"), "null"] {
                let headers = format!("{headers}Origin: {origin}\r\n");
                for path in ["/metrics", "/health"] {
                    let refused = get_with(address, path, &headers);
                    assert_eq!(refused.status, 403, "{path} {host} {origin}: {}", refused.body);
                }
            }
        }
        // A name that a page has lead here.
        for host in ["evil.example", "localhost.evil.example", "10.1.2.3.evil.example:9090"] {
            let headers = format!("Host: {host}\r\n");
            let refused = get_with(address, "/metrics", &headers);
            assert_eq!(
                (refused.status, refused.json()["error"].as_str()),
                (403, Some("forbidden")),
                "{host}"
            );
            let health = get_with(address, "/health", &headers);
            assert_eq!((health.status, health.json()), (200, json!({"status": "ok"})), "{host}");
        }
        for path in ["/metrics", "/health"] {
            assert_eq!(get_with(address, path, "Host: evil@localhost\r\n").status, 400, "{path}");
        }
    }
    let public = get_with(apart.address, "/health", "Host: 10.1.2.3\r\nOrigin: http://evil.example\r\n");
    assert_eq!(public.status, 403, "the public status");
}

/// Reachability of each instance, as `/health` shows it.
fn reachable(address: SocketAddr) -> Vec<Option<bool>> {
    let health = get(address, "/health");
    assert_eq!((health.status, health.json()["status"].as_str()), (200, Some("ok")), "{}", health.body);
    let instances = health.json()["instances"].as_array().unwrap().clone();
    instances.iter().map(|instance| instance["reachable"].as_bool()).collect()
}

/// Reachability of each instance after the first probe. Each request waits for it within a bound.
fn probed(address: SocketAddr) -> Vec<bool> {
    let started = Instant::now();
    loop {
        if let Some(shown) = reachable(address).into_iter().collect() {
            return shown;
        }
        assert!(started.elapsed() < GUARD, "the probe does not end");
    }
}

#[test]
fn health_probes_each_instance_once_in_a_while() {
    let [refusing, down] = [Gitlab::start(), Gitlab::start()];
    let version = "GET /api/v4/version";
    refusing.says(version, [answer(401, json!({"message": "401 Unauthorized"}))]);
    down.says(version, [answer(502, json!({}))]);
    // The port is closed.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let further = format!("{},http://{closed}", down.url());
    let server = HttpServer::for_callers(&refusing.url(), &[("GITLAB_MCP_INSTANCES", &further)]);
    let expected = |url: &str| url == refusing.url();
    thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                let health = server.get("/health").json();
                for instance in health["instances"].as_array().unwrap() {
                    let url = instance["url"].as_str().unwrap().trim_end_matches('/');
                    // A request that found the probe running and did not wait long enough shows none.
                    let shown = instance["reachable"].as_bool().unwrap_or(expected(url));
                    assert_eq!(shown, expected(url), "{health}");
                }
            });
        }
    });
    let shown = probed(server.address);
    assert_eq!(shown.iter().filter(|reachable| **reachable).count(), 1, "{shown:?}");
    server.get("/metrics");
    for gitlab in [&refusing, &down] {
        assert_eq!(gitlab.seen(), [version], "one probe for all requests");
        assert!(!gitlab.last(version).head.contains("token"), "without a credential");
    }
}

#[test]
fn an_instance_that_hangs_does_not_hold_up_health() {
    let gitlab = Gitlab::start();
    // Longer than the time limit of a probe, after which it would count as unreachable.
    let late = answer(401, json!({})).after(Duration::from_secs(120));
    gitlab.says("GET /api/v4/version", [late]);
    let server = HttpServer::for_callers(&gitlab.url(), &[]);
    assert_eq!(reachable(server.address), [None], "answered before the probe has ended");
}

#[test]
fn metrics_have_an_address_of_their_own() {
    let gitlab = Gitlab::start();
    gitlab.says("GET /api/v4/version", [answer(401, json!({}))]);
    let server = HttpServer::for_callers(&gitlab.url(), &[("GITLAB_MCP_METRICS", "127.0.0.1:0")]);
    server.find(&[TOKEN], "list issues");
    let metrics = server.metrics_address();
    let text = get(metrics, "/metrics").body;
    assert!(text.contains("gitlab_mcp_calls_total{tool=\"gitlab_find_action\""), "{text}");
    assert_eq!(probed(metrics), [true]);
    assert_eq!(get(metrics, "/mcp").status, 404, "the endpoint is at its own address");
    assert_eq!(server.get("/metrics").status, 404);
    let health = server.get("/health");
    assert_eq!((health.status, health.json()), (200, json!({"status": "ok"})), "no instance is named");

    let taken = metrics.to_string();
    let arguments = ["serve", "--http", "127.0.0.1:0", "--auth", "token", "--metrics", &taken];
    let refused = program(&arguments, &[]).output().unwrap();
    let error = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{error}");
    assert!(error.contains("GITLAB_MCP_METRICS: cannot listen on"), "{error}");
}

#[test]
fn a_server_that_stops_says_so_and_ends_what_runs() {
    let gitlab = Gitlab::start();
    gitlab.answer("GET", "/api/v4/projects", answer(200, json!([])).after(Duration::from_secs(2)));
    let server = HttpServer::for_callers(&gitlab.url(), &[]);
    thread::scope(|scope| {
        let running =
            scope.spawn(|| server.post(&[TOKEN], &tool_call(EXECUTE, json!({"action": "project.list"}))));
        while !gitlab.seen().iter().any(|line| line.contains("/projects")) {
            thread::sleep(Duration::from_millis(10));
        }
        server.terminate();
        // The signal takes effect a moment after it was sent.
        while server.get("/health").status == 200 {
            thread::sleep(Duration::from_millis(10));
        }
        let health = server.get("/health");
        assert_eq!((health.status, health.json()["status"].as_str()), (503, Some("draining")));
        assert_eq!(running.join().unwrap().status, 200, "what runs is answered");
    });
    assert_eq!(server.wait(), Some(0));
}

#[test]
fn a_caller_has_a_rate_and_others_have_theirs() {
    let server = HttpServer::for_callers(&Gitlab::start().url(), &[("GITLAB_MCP_CALLER_RATE", "1")]);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let statuses: Vec<u16> = (0..20).map(|_| server.post(&[TOKEN], &ping).status).collect();
    assert_eq!(statuses[..2], [200, 200], "{statuses:?}");
    assert!(statuses.contains(&429), "{statuses:?}");
    let refused = loop {
        let answered = server.post(&[TOKEN], &ping);
        if answered.status == 429 {
            break answered;
        }
    };
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(server.post(&[("PRIVATE-TOKEN", "glpat-another")], &ping).status, 200);
}

#[test]
fn a_caller_whose_gitlab_hangs_holds_nobody() {
    let gitlab = Gitlab::start();
    gitlab.answer("GET", "/api/v4/projects", answer(200, json!([])).after(Duration::from_secs(20)));
    let server = HttpServer::for_callers(&gitlab.url(), &[("GITLAB_MCP_CALLER_CALLS", "4")]);
    let list = tool_call(EXECUTE, json!({"action": "project.list"}));
    let waiting: Vec<_> = (0..4)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(&server.request(&[TOKEN], &list.to_string())).unwrap();
            stream
        })
        .collect();
    while gitlab.seen().iter().filter(|line| line.contains("/projects")).count() < 4 {
        thread::sleep(Duration::from_millis(10));
    }
    let refused = server.post(&[TOKEN], &tool_call(FIND, json!({"query": "list issues"})));
    assert_eq!(refused.status, 429, "{}", refused.body);
    let other = server.find(&[("PRIVATE-TOKEN", "glpat-another")], "list issues");
    assert!(text(&other).contains("issue.list"), "{other}");
    drop(waiting);
}

/// A server, and a call that has progress to tell: GitLab limits its first request.
fn with_progress(gitlab: &Gitlab) -> (HttpServer, Value) {
    let limited = answer(429, json!({})).header("retry-after", "1");
    let rows = answer(200, json!([{"id": 1, "path_with_namespace": "a/b"}]));
    gitlab.says("GET /api/v4/projects", [limited, rows]);
    let mut call = tool_call(EXECUTE, json!({"action": "project.list"}));
    call["params"]["_meta"] = json!({"progressToken": "p1"});
    (HttpServer::for_callers(&gitlab.url(), &[]), call)
}

#[test]
fn progress_is_streamed_and_other_answers_are_json() {
    let gitlab = Gitlab::start();
    let (server, call) = with_progress(&gitlab);
    let streamed = server.post(&[TOKEN], &call);
    assert_eq!(streamed.header("content-type"), Some("text/event-stream"), "{}", streamed.body);
    assert!(streamed.body.contains("notifications/progress"), "{}", streamed.body);
    assert!(streamed.body.contains("a/b"), "{}", streamed.body);
    let plain = server.post(&[TOKEN], &tool_call(FIND, json!({"query": "list issues"})));
    assert_eq!(plain.header("content-type"), Some("application/json"));
}

/// A client that takes JSON and no events got a stream as soon as there was progress to tell.
#[test]
fn a_client_that_takes_json_alone_gets_json() {
    let gitlab = Gitlab::start();
    for accept in ["application/json", "application/json;q=0.9, application/problem+json"] {
        let (server, call) = with_progress(&gitlab);
        let response = server.post(&[TOKEN, ("Accept", accept)], &call);
        assert_eq!(response.header("content-type"), Some("application/json"), "{}", response.body);
        assert!(response.body.contains("a/b"), "{}", response.body);
    }
}

#[cfg(unix)]
#[test]
fn a_unix_socket_is_for_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixStream;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.sock");
    let address = format!("unix:{}", path.display());
    let gitlab = Gitlab::start().url();
    let variables =
        [("GITLAB_URL", gitlab.as_str()), ("GITLAB_MCP_AUTH", "none"), ("GITLAB_MCP_HTTP", &address)];
    let mut child = program(&["serve"], &variables).stderr(Stdio::piped()).spawn().unwrap();
    let started = std::time::Instant::now();
    while UnixStream::connect(&path).is_err() {
        assert!(started.elapsed() < GUARD);
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let mut stream = UnixStream::connect(&path).unwrap();
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    assert_eq!(read_response(&mut BufReader::new(stream)).unwrap().status, 200);
    assert!(program(&["health"], &variables).status().unwrap().success());
    let announced =
        format!("MCP clients connect to the socket {}, with the URL http://localhost/mcp", path.display());
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let line = lines.find(|line| line.starts_with("MCP clients connect"));
    assert_eq!(line.as_deref(), Some(announced.as_str()));
    let second = program(&["serve"], &variables).output().unwrap();
    assert_eq!(second.status.code(), Some(2), "{}", String::from_utf8_lossy(&second.stderr));
    child.kill().unwrap();
    child.wait().unwrap();
    let dead = program(&["health"], &variables).output().unwrap();
    assert_eq!(dead.status.code(), Some(1), "{}", String::from_utf8_lossy(&dead.stderr));
}

#[test]
fn tls_is_served_and_the_health_check_understands_it() {
    let identity = Authority::new().vouch("localhost", 2040);
    let (certificate, key) =
        (identity.certificate_file.path().to_str().unwrap(), identity.key_file.path().to_str().unwrap());
    let gitlab = Gitlab::start().url();
    let variables = [
        ("GITLAB_URL", gitlab.as_str()),
        ("GITLAB_MCP_AUTH", "token"),
        ("GITLAB_MCP_TLS_CERT", certificate),
        ("GITLAB_MCP_TLS_KEY", key),
    ];
    let server = HttpServer::start(&[], &variables);
    // Plain HTTP on this port is no handshake.
    let mut stream = server.connect();
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert!(read_response(&mut BufReader::new(stream)).is_none());
    let address = server.address.to_string();
    let with_address = [variables.as_slice(), &[("GITLAB_MCP_HTTP", address.as_str())]].concat();
    let checked = program(&["health"], &with_address).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

#[test]
fn the_health_check_needs_a_server_to_check() {
    let ended = program(&["health"], &[]).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert!(String::from_utf8(ended.stderr).unwrap().contains("GITLAB_MCP_HTTP is not set"));
}
