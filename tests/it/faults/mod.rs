//! The program under what can go wrong: its own tools by stand-ins, and GitLab, with the way to it, by servers that
//! misbehave. Every case is bounded in time, and ends with a process that serves the next call.

pub mod broken_bodies;
pub mod connections;
pub mod lost_answers;
pub mod rate_limits;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::client::{Client, LATEST_HANDSHAKE, Reply, execute};
use crate::support::raw_server::Misbehaving;

/// Well over what any case may take: a call has two seconds.
const BOUND: Duration = Duration::from_secs(12);

/// A server process for the GitLab at that address, past its handshake, whose calls have two seconds.
pub fn process(url: &str, variables: &[(&str, &str)]) -> Client {
    let always = [("GITLAB_URL", url), ("GITLAB_TIMEOUT", "2"), ("GITLAB_TOKEN", "glpat-sesame")];
    let all: Vec<(&str, &str)> = always.into_iter().chain(variables.iter().copied()).collect();
    let mut client = Client::start(&[], &all);
    client.initialize(LATEST_HANDSHAKE);
    client
}

/// What is asked of the project that is called like the case.
fn ask(client: &mut Client, case: &str) -> Reply {
    timed(case, || execute(client, "project.get", json!({"fullPath": project_of(case)})))
}

/// The same of a write.
fn write(client: &mut Client, case: &str) -> Reply {
    let params = json!({"fullPath": project_of(case), "title": "Squeaks"});
    timed(case, || execute(client, "issue.create", params))
}

fn timed(case: &str, call: impl FnOnce() -> Reply) -> Reply {
    let start = Instant::now();
    let reply = call();
    assert!(start.elapsed() < BOUND, "{case} took {:?}", start.elapsed());
    assert!(!reply.text.contains("sesame"), "{case} shows the token: {}", reply.text);
    reply
}

/// The error of a reply that has to be one of that kind.
fn error(case: &str, reply: Reply, kind: &str) -> Value {
    assert!(reply.is_error, "{case}: {}", reply.text);
    let error = reply.structured["error"].clone();
    assert_eq!(error["kind"], kind, "{case}: {error}");
    error
}

/// Checks that the process is there and that its next call is served.
pub fn is_well(client: &mut Client, after: &str) {
    let reply = execute(client, "instance.get_version", json!({}));
    assert!(!reply.is_error, "after {after}: {}", reply.text);
    assert_eq!(reply.structured["data"]["version"], "18.0.0", "after {after}");
}

/// A project of its own for each case: its name as a path can have it.
fn project_of(case: &str) -> String {
    let name: String = case.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("fault/{name}")
}
