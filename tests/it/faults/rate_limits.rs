//! A GitLab that limits the rate: waits, messages, and no further requests meanwhile.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::{ask, error, is_well, process, write};
use crate::support::client::{Client, HANG_GUARD, WITHOUT_HANDSHAKE, reply};
use crate::support::raw_server::{Behaviour, Misbehaving, answer};

const JSON: &str = "content-type: application/json\r\n";

/// The headers of an answer that is the last for so many seconds.
fn used_up(name: &str, seconds: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let date = httpdate::fmt_http_date(SystemTime::now());
    format!(
        "{JSON}date: {date}\r\nratelimit-name: {name}\r\nratelimit-limit: 60\r\nratelimit-remaining: 0\r\n\
         ratelimit-reset: {}\r\n",
        now.as_secs() + seconds
    )
}

const CASES: &[(&str, Behaviour)] = &[
    ("storm", |stream, _| {
        answer(stream, "429 Too Many Requests", "retry-after: 0\r\nconnection: close\r\n", "Retry later")
    }),
    ("later", |stream, _| answer(stream, "429 Too Many Requests", "retry-after: 3600\r\n", "Retry later")),
    ("soon", |stream, turn| match turn {
        1 => answer(stream, "429 Too Many Requests", "retry-after: 1\r\n", "Retry later"),
        _ => answer(stream, "200 OK", JSON, "{\"id\": 1}"),
    }),
    ("last-for-2", |stream, _| {
        answer(stream, "200 OK", &used_up("throttle_authenticated_api", 2), "{\"id\": 1}")
    }),
    ("last-for-hour", |stream, _| {
        answer(stream, "200 OK", &used_up("throttle_authenticated_api", 3600), "{\"id\": 1}")
    }),
    ("last-of-a-part", |stream, _| {
        answer(stream, "200 OK", &used_up("throttle_authenticated_files_api", 3600), "{\"id\": 1}")
    }),
    ("down", |stream, _| answer(stream, "503 Service Unavailable", "connection: close\r\n", "")),
];

/// A GitLab whose requests under way are each answered when the test says so, by the sender that it gets.
fn held() -> (Misbehaving, Receiver<Sender<()>>) {
    let (sender, under_way) = channel();
    let sender = Mutex::new(sender);
    let busy = move |stream: &mut std::net::TcpStream, _: usize| {
        let (release, released) = channel();
        sender.lock().unwrap().send(release).unwrap();
        if released.recv().is_ok() {
            answer(stream, "200 OK", JSON, "{\"id\": 1}");
        }
    };
    (Misbehaving::sharing(vec![("kept-busy", Box::new(busy))]), under_way)
}

fn start() -> (Misbehaving, Client) {
    let gitlab = Misbehaving::start(CASES);
    let client = process(&gitlab.url(), &[]);
    (gitlab, client)
}

#[test]
fn a_storm_is_not_joined() {
    let (gitlab, mut client) = start();
    error("storm", ask(&mut client, "storm"), "rate_limited");
    assert_eq!(gitlab.requests("storm").len(), 4);
    let refused = error("storm", write(&mut client, "storm"), "rate_limited");
    assert_eq!(refused["applied"], Value::Null, "what was refused was not made: {refused}");
    for _ in 0..20 {
        error("storm", ask(&mut client, "storm"), "rate_limited");
    }
    // Ten retries are all that a session has while nothing is answered.
    assert!(gitlab.requests("storm").len() <= 22 + 10, "{}", gitlab.requests("storm").len());
    is_well(&mut client, "a storm");
    client.close().well();
}

#[test]
fn a_gitlab_that_is_down_is_asked_once_a_call() {
    let (gitlab, mut client) = start();
    for _ in 0..20 {
        error("down", ask(&mut client, "down"), "gitlab_error");
    }
    assert!(gitlab.requests("down").len() <= 30, "{}", gitlab.requests("down").len());
}

#[test]
fn a_pause_that_is_short_is_waited_out_and_a_long_one_told() {
    let (gitlab, mut client) = start();
    assert!(!ask(&mut client, "soon").is_error);
    let requests = gitlab.requests("soon");
    // The least that a wait takes; how much more it takes is the machine's.
    assert!(requests[1].at - requests[0].at >= Duration::from_secs(1));
    let told = error("later", ask(&mut client, "later"), "rate_limited");
    assert_eq!((told["retry_after_seconds"].as_u64(), gitlab.requests("later").len()), (Some(3600), 1));
}

#[test]
fn what_gitlab_would_refuse_is_not_sent() {
    let (gitlab, mut client) = start();
    assert!(!ask(&mut client, "last-of-a-part").is_error);
    is_well(&mut client, "a limit that is another's");
    assert!(!ask(&mut client, "last-for-2").is_error);
    assert!(!ask(&mut client, "last-for-hour").is_error);
    let at = |case: &str| gitlab.requests(case)[0].at;
    // The reset is two seconds after the second in which the answer was made, so more than one after the answer.
    assert!(at("last-for-hour") - at("last-for-2") > Duration::from_secs(1), "the reset is waited for");
    let told = error("down", ask(&mut client, "down"), "rate_limited");
    assert!(
        told["retry_after_seconds"].as_u64().is_some_and(|seconds| (3000..=3600).contains(&seconds)),
        "{told}"
    );
    assert!(gitlab.requests("down").is_empty());
    client.close().well();
}

#[test]
fn no_more_are_under_way_than_may_be() {
    let (gitlab, under_way) = held();
    let mut client = process(&gitlab.url(), &[("GITLAB_MAX_REQUESTS", "2"), ("GITLAB_TIMEOUT", "600")]);
    for id in 80..90 {
        let arguments = json!({"action": "project.get", "params": {"fullPath": "fault/kept-busy"}});
        let params = json!({"name": "gitlab_execute_action", "arguments": arguments});
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
        // The order in which the calls are begun is that of the messages.
        client.assert_unanswered();
    }
    let mut answered = Vec::new();
    let mut running = VecDeque::new();
    for left in (1..=10).rev() {
        while running.len() < 2.min(left) {
            running.push_back(under_way.recv_timeout(HANG_GUARD).unwrap());
        }
        // A third would be there by now: the server has answered others since.
        client.call("gitlab_find_action", json!({"query": "list issues"}));
        assert!(under_way.try_recv().is_err(), "more than two are under way");
        running.pop_front().unwrap().send(()).unwrap();
        let answer = client.receive();
        assert!(!reply(&answer).is_error, "{answer}");
        answered.push(answer["id"].as_u64().unwrap());
    }
    // Each waits for its turn, none is overtaken by more than it shares a turn with.
    assert!(answered.iter().zip(80..).all(|(id, turn)| id.abs_diff(turn) <= 1), "{answered:?}");
}

#[test]
fn a_wait_is_told_to_a_client_that_asked_for_progress() {
    let (gitlab, mut client) = start();
    let call = |token: Option<&str>, id: u64| {
        let arguments = json!({"action": "project.get", "params": {"fullPath": "fault/last-for-2"}});
        let mut params = json!({"name": "gitlab_execute_action", "arguments": arguments});
        if let Some(token) = token {
            params["_meta"] = json!({"progressToken": token});
        }
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    client.send(&call(Some("mine"), 80));
    assert!(!reply(&client.receive()).is_error, "the first is not waited for");
    client.send(&call(Some("mine"), 81));
    let progress = client.receive();
    assert_eq!(progress["method"], "notifications/progress", "{progress}");
    assert_eq!(
        (&progress["params"]["progressToken"], &progress["params"]["progress"]),
        (&json!("mine"), &json!(1.0))
    );
    assert!(progress["params"]["message"].as_str().unwrap().contains("rate limit"), "{progress}");
    assert_eq!(client.receive()["id"], 81);
    // The same without a handshake, where each request says who asks.
    let mut modern = call(Some("yours"), 83);
    modern["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(WITHOUT_HANDSHAKE);
    modern["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
    modern["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let mut other = Client::start(&[], &[("GITLAB_URL", &gitlab.url())]);
    other.send(&modern);
    assert_eq!(other.receive()["id"], 83);
    other.send(&modern);
    assert_eq!(other.receive()["params"]["progressToken"], "yours");
    assert_eq!(other.receive()["id"], 83);
    // No other client gets a notification.
    client.send(&call(None, 82));
    assert_eq!(client.receive()["id"], 82);
    client.close().well();
}
