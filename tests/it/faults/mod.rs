//! The program under faults: its own tools by stand-ins, and GitLab, with the way to it, by servers that misbehave.
//! Every case ends with a process that serves the next call.

pub mod breaking_proxy;
pub mod broken_bodies;
pub mod clock;
pub mod connections;
pub mod lost_answers;
pub mod rate_limits;

use serde_json::{Value, json};

use crate::support::client::{Client, Reply, execute};
use crate::support::raw_server::Misbehaving;

/// The setting of a case that ends by a timeout. Every other case has `PATIENT`, so that a slow machine does not turn
/// its error into a timeout.
pub const HASTY: (&str, &str) = ("GITLAB_TIMEOUT", "2");
pub const PATIENT: (&str, &str) = ("GITLAB_TIMEOUT", "60");

/// A server process for the GitLab at that address, past its handshake.
pub fn process(url: &str, variables: &[(&str, &str)]) -> Client {
    let always = [("GITLAB_URL", url), PATIENT, ("GITLAB_TOKEN", "glpat-sesame")];
    let all: Vec<(&str, &str)> = always.into_iter().chain(variables.iter().copied()).collect();
    Client::connect(&[], &all)
}

/// Reads the project named like the case.
fn ask(client: &mut Client, case: &str) -> Reply {
    without_token(case, execute(client, "project.get", json!({"fullPath": project_of(case)})))
}

/// The same of a write.
fn write(client: &mut Client, case: &str) -> Reply {
    let params = json!({"fullPath": project_of(case), "title": "Squeaks"});
    without_token(case, execute(client, "issue.create", params))
}

/// Checks that a reply does not show the token.
fn without_token(case: &str, reply: Reply) -> Reply {
    assert!(!reply.text.contains("sesame"), "{case} shows the token: {}", reply.text);
    reply
}

/// The error of a reply, which must be of that kind.
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
