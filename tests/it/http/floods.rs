//! What one caller, or somebody without a token, can take from the others.

use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{GUARD, HttpServer, error_kind, read_response, tool_call};
use crate::support::client::{EXECUTE, FIND};
use crate::support::scripted_gitlab::{Gitlab, answer};

const CALLER: (&str, &str) = ("PRIVATE-TOKEN", "glpat-caller");
const OTHER: (&str, &str) = ("PRIVATE-TOKEN", "glpat-other");

/// Toolsets of which a header names two.
const TOOLSETS: [&str; 8] =
    ["issues", "wikis", "projects", "groups", "packages", "pipelines", "releases", "runners"];

fn ping() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})
}

/// Pairs of toolsets, each of which is another narrowing.
fn narrowings() -> Vec<String> {
    let pairs = |(at, first): (usize, &&str)| {
        TOOLSETS.iter().skip(at + 1).map(|second| format!("{first},{second}")).collect::<Vec<_>>()
    };
    TOOLSETS.iter().enumerate().flat_map(pairs).collect()
}

#[test]
fn a_token_has_one_rate_however_it_is_sent_and_whatever_it_narrows() {
    let server = HttpServer::for_callers(&Gitlab::start().url(), &[("GITLAB_MCP_CALLER_RATE", "1")]);
    let mut headers: Vec<Vec<(&str, &str)>> = vec![
        vec![CALLER],
        vec![("Authorization", "Bearer glpat-caller")],
        vec![("JOB-TOKEN", "glpat-caller")],
        vec![CALLER, ("X-MCP-Readonly", "true")],
        vec![CALLER, ("X-MCP-Confirm", "write")],
    ];
    let narrowings = narrowings();
    headers.extend(narrowings.iter().map(|toolsets| vec![CALLER, ("X-MCP-Toolsets", toolsets.as_str())]));
    let started = Instant::now();
    let accepted = headers.iter().filter(|headers| server.post(headers, &ping()).status == 200).count();
    let allowed = 2 + usize::try_from(started.elapsed().as_secs()).unwrap() + 1;
    assert!((2..=allowed).contains(&accepted), "{accepted} of {} in {:?}", headers.len(), started.elapsed());
    assert!(server.get("/metrics").body.contains("gitlab_mcp_callers 1\n"), "it is one caller");
}

#[test]
fn a_token_has_its_concurrent_calls_once_whatever_it_narrows() {
    let gitlab = Gitlab::start();
    let late = || answer(200, json!([])).after(Duration::from_secs(20));
    gitlab.answer("GET", "/api/v4/projects", late());
    // The retry is told as progress, by which the response becomes a stream.
    gitlab.says("GET /api/v4/groups", [answer(429, json!({})).header("retry-after", "1"), late()]);
    let server = HttpServer::for_callers(&gitlab.url(), &[("GITLAB_MCP_CALLER_CALLS", "2")]);
    let plain = tool_call(EXECUTE, json!({"action": "project.list"}));
    let mut streamed = tool_call(EXECUTE, json!({"action": "group.list"}));
    streamed["params"]["_meta"] = json!({"progressToken": "p1"});
    let narrowed = [CALLER, ("X-MCP-Toolsets", "projects")];
    let mut waiting = Vec::new();
    for (headers, call, path, requests) in
        [(&narrowed[..], &plain, "/projects", 1), (&narrowed[..1], &streamed, "/groups", 2)]
    {
        let mut stream = server.connect();
        stream.write_all(&server.request(headers, &call.to_string())).unwrap();
        waiting.push(stream);
        while gitlab.seen().iter().filter(|line| line.contains(path)).count() < requests {
            thread::sleep(Duration::from_millis(10));
        }
    }
    let refused = server.post(&[CALLER, ("X-MCP-Readonly", "true")], &ping());
    assert_eq!(refused.status, 429, "{}", refused.body);
    assert_eq!(server.post(&[OTHER], &ping()).status, 200);
    drop(waiting);
    let started = Instant::now();
    while server.post(&[CALLER], &ping()).status == 429 {
        assert!(started.elapsed() < GUARD, "the turns of closed connections are given back");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_header_that_narrows_is_held_beside_calls_without_it() {
    let gitlab = Gitlab::with_project();
    let server = HttpServer::for_callers(&gitlab.url(), &[]);
    let create = |headers: &[(&str, &str)]| {
        let headers: Vec<(&str, &str)> = [CALLER].iter().chain(headers).copied().collect();
        let created = server.execute(&headers, "issue.create", json!({"fullPath": "a/b", "title": "x"}));
        error_kind(&created).to_owned()
    };
    for (name, value, kind) in [
        ("X-MCP-Confirm", "write", "needs_confirmation"),
        ("X-MCP-Readonly", "true", "denied"),
        ("X-MCP-Toolsets", "wikis", "denied"),
    ] {
        for headers in [&[][..], &[(name, value)][..], &[][..], &[(name, value)][..]] {
            // The scripted GitLab has no such path to write to.
            let expected = if headers.is_empty() { "not_found" } else { kind };
            assert_eq!(create(headers), expected, "{headers:?} after the other");
        }
    }
}

#[test]
fn made_up_tokens_do_not_cost_an_accepted_caller_its_confirmation() {
    let gitlab = Gitlab::with_project();
    gitlab.json("/projects/[^/]*/issues/7", &json!({"iid": 7, "title": "x", "state": "opened"}));
    gitlab.answer("DELETE", "/projects/[^/]*/issues/7", answer(204, json!(null)));
    let server = HttpServer::for_callers(&gitlab.url(), &[("GITLAB_CONFIRM", "destructive,token")]);
    let issue = json!({"fullPath": "a/b", "iid": 7});
    assert_eq!(error_kind(&server.execute(&[CALLER], "issue.get", issue.clone())), "(no error)");
    let asked = server.execute(&[CALLER], "issue.delete", issue);
    let confirmed = asked["structuredContent"]["error"]["fix"]["arguments"].clone();
    assert!(confirmed["confirmation_token"].is_string(), "{asked}");
    thread::scope(|scope| {
        for flood in 0..4 {
            let server = &server;
            scope.spawn(move || {
                for number in 0..280 {
                    let token = format!("glpat-made-up-{flood}-{number}");
                    assert_eq!(server.post(&[("PRIVATE-TOKEN", &token)], &ping()).status, 200);
                }
            });
        }
        // The caller's own narrowings do not cost it either, as far as they are few.
        for toolsets in narrowings().iter().take(6) {
            assert_eq!(server.post(&[CALLER, ("X-MCP-Toolsets", toolsets)], &ping()).status, 200);
        }
    });
    assert!(server.get("/metrics").body.contains("gitlab_mcp_callers 1000\n"), "callers are bounded");
    let deleted = server.call(&[CALLER], EXECUTE, confirmed);
    assert_eq!(error_kind(&deleted), "(no error)", "{deleted}");
}

/// The number of finds that have ended.
fn finds_made(server: &HttpServer) -> usize {
    let metrics = server.get("/metrics").body;
    let name = "gitlab_mcp_calls_total{tool=\"gitlab_find_action\",action=\"\",outcome=\"ok\"} ";
    metrics.lines().find_map(|line| line.strip_prefix(name)).map_or(0, |count| count.parse().unwrap())
}

#[test]
fn finds_of_one_caller_take_turns_with_those_of_others() {
    let gitlab = Gitlab::start();
    gitlab.json("/api/v4/projects", &json!([]));
    let server = HttpServer::for_callers(&gitlab.url(), &[("GITLAB_MCP_CALLER_RATE", "10000")]);
    for caller in [CALLER, OTHER] {
        server.execute(&[caller], "project.list", json!({}));
        server.find(&[caller], "list issues");
    }
    // As long as a query may be.
    let long =
        tool_call(FIND, json!({"query": "close an issue that is a duplicate of another one, ".repeat(20)}));
    let narrowings = narrowings();
    let tokens: Vec<String> = (0..12).map(|number| format!("glpat-made-up-{number}")).collect();
    // Finds of one caller, each under another narrowing; then each under another token.
    let narrowed = narrowings.iter().map(|toolsets| vec![CALLER, ("X-MCP-Toolsets", toolsets.as_str())]);
    let made_up = tokens.iter().map(|token| vec![("PRIVATE-TOKEN", token.as_str())]);
    for flood in [narrowed.take(12).collect::<Vec<_>>(), made_up.collect()] {
        // The finds of the flood that end while another caller waits for its own.
        let made_meanwhile = || {
            let send = |headers: &Vec<(&str, &str)>| {
                let mut stream = server.connect();
                stream.write_all(&server.request(headers, &long.to_string())).unwrap();
                stream
            };
            let streams: Vec<TcpStream> = flood.iter().map(send).collect();
            // By then, all of them wait for a turn.
            thread::sleep(Duration::from_millis(200));
            let before = finds_made(&server);
            server.find(&[OTHER], "list issues");
            let made = finds_made(&server) - before;
            for stream in streams {
                assert_eq!(read_response(&mut BufReader::new(stream)).unwrap().status, 200);
            }
            made
        };
        // Its own, and two of the flood. On a machine with other work, one try may fail.
        let made: Vec<usize> = (0..3).map(|_| made_meanwhile()).collect();
        let late = made.iter().filter(|made| **made > 3).count();
        assert!(late < 2, "{made:?} of {} finds ended before that of another caller", flood.len());
    }
}

/// The head of a request with a body of that size, and the beginning of the body.
fn unfinished(server: &HttpServer, token: &str, size: usize) -> TcpStream {
    let length = size.to_string();
    let mut stream = server.connect();
    let head = server.request(&[("PRIVATE-TOKEN", token), ("Content-Length", &length)], "");
    // The server may refuse it before all is sent.
    let _ = stream.write_all(&head).and_then(|()| stream.write_all(&vec![b' '; size - 1]));
    stream
}

#[test]
fn unfinished_bodies_of_made_up_tokens_are_refused_and_others_are_read() {
    const LARGE: usize = 6 * 1024 * 1024;
    let gitlab = Gitlab::start();
    gitlab.json("/api/v4/projects", &json!([]));
    let server = HttpServer::for_callers(&gitlab.url(), &[]);
    server.execute(&[CALLER], "project.list", json!({}));
    // One after the other: two that grow at once may both be refused, and leave room.
    let begin = |number: usize| {
        let stream = unfinished(&server, &format!("glpat-made-up-{number}"), LARGE);
        thread::sleep(Duration::from_millis(100));
        stream
    };
    let streams: Vec<TcpStream> = (0..8).map(begin).collect();
    let mut large = tool_call(FIND, json!({"query": "list issues"})).to_string();
    large.push_str(&" ".repeat(LARGE - large.len()));
    // The server reads the beginnings of the bodies in its own time.
    let send = || server.send(&server.request(&[("PRIVATE-TOKEN", "glpat-made-up")], &large));
    let mut refused = send();
    for _ in 0..50 {
        if refused.status == 503 {
            break;
        }
        thread::sleep(Duration::from_millis(100));
        refused = send();
    }
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")), "{}", refused.body);
    // A large body of an accepted caller, and a small one of anybody.
    assert_eq!(server.send(&server.request(&[CALLER], &large)).status, 200);
    assert_eq!(server.post(&[OTHER], &ping()).status, 200);
    drop(streams);
}

#[cfg(target_os = "linux")]
#[test]
fn slow_heads_and_bodies_keep_nobody_out() {
    // Many systems allow 1,024 open files.
    let own = std::process::id().to_string();
    let raised = std::process::Command::new("prlimit").args(["--pid", &own, "--nofile=4096:"]).status();
    assert!(raised.unwrap().success(), "the soft limit of open files can be raised");
    let gitlab = Gitlab::start();
    gitlab.answer("GET", "/api/v4/projects", answer(200, json!([])).after(Duration::from_secs(8)));
    let server = HttpServer::for_callers(&gitlab.url(), &[]);
    let list = tool_call(EXECUTE, json!({"action": "project.list"}));
    thread::scope(|scope| {
        let running = scope.spawn(|| server.post(&[OTHER], &list));
        while !gitlab.seen().iter().any(|line| line.contains("/projects")) {
            thread::sleep(Duration::from_millis(10));
        }
        let mut slow = Vec::new();
        for number in 0..1_100 {
            let mut stream = server.connect();
            // The server may have closed it.
            let _ = match number % 2 {
                0 => stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: local"),
                _ => {
                    let token = ("PRIVATE-TOKEN", &*format!("glpat-made-up-{number}"));
                    stream.write_all(&server.request(&[token, ("Content-Length", "100")], "{"))
                }
            };
            slow.push(stream);
        }
        let started = Instant::now();
        assert_eq!(server.post(&[CALLER], &ping()).status, 200);
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
        assert_eq!(running.join().unwrap().status, 200, "a request that was running is answered");
    });
}
