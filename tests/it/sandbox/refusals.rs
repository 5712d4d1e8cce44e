//! Refusals of GitLab's own specifications (`spec/requests/api` of <https://gitlab.com/gitlab-org/gitlab>), on the sandbox
//! and through the tools. `gitlab_refusals.jsonl` has a case a line: who sends what to the sandbox's objects, and the status
//! and words with which GitLab refuses it. `sandbox` is the status where the sandbox is known to differ, in it or in words.

use gitlab_mcp_sandbox::{READ_API_TOKEN, READER_TOKEN, TOKEN};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Got, World};
use crate::support::client::{Client, EXECUTE};

const CASES: &str = include_str!("gitlab_refusals.jsonl");

/// The token of the sandbox's administrator.
const ADMIN_TOKEN: &str = "glpat-sandbox-admin";

#[derive(Deserialize)]
struct Step {
    r#as: String,
    method: String,
    path: String,
    body: Option<Value>,
}

#[derive(Deserialize)]
struct Case {
    spec: String,
    case: String,
    #[serde(flatten)]
    step: Step,
    #[serde(default)]
    before: Vec<Step>,
    status: u16,
    says: Option<String>,
    sandbox: Option<u16>,
}

impl Case {
    fn name(&self) -> String {
        format!("{}: {} ({} {})", self.spec, self.case, self.step.method, self.step.path)
    }

    /// True if the answer is GitLab's.
    fn holds(&self, got: &Got) -> bool {
        let text = got.text().to_lowercase();
        got.status == self.status && self.says.as_ref().is_none_or(|says| text.contains(&says.to_lowercase()))
    }
}

fn cases() -> Vec<Case> {
    CASES.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn token(user: &str) -> Option<&'static str> {
    match user {
        "sandbox" => Some(TOKEN),
        "reader" => Some(READER_TOKEN),
        "read-api" => Some(READ_API_TOKEN),
        "admin" => Some(ADMIN_TOKEN),
        "none" => None,
        other => panic!("{other} has no token"),
    }
}

async fn send(world: &World, step: &Step) -> Got {
    world.send(&step.method, &step.path, token(&step.r#as).unwrap_or_default(), step.body.clone()).await
}

#[tokio::test]
async fn the_sandbox_refuses_what_gitlab_refuses() {
    let mut world = World::new().await;
    let (mut held, mut differs) = (0, Vec::new());
    for case in cases() {
        for step in &case.before {
            send(&world, step).await;
        }
        let got = send(&world, &case.step).await;
        match (case.sandbox, case.holds(&got)) {
            (None, true) => held += 1,
            (Some(status), false) if got.status == status => {}
            (known, _) => differs.push(format!(
                "{}: GitLab {} {:?}, known {known:?}, got {} {}",
                case.name(),
                case.status,
                case.says,
                got.status,
                got.text().chars().take(200).collect::<String>()
            )),
        }
        let changes = case.step.method != "GET" && got.status < 300;
        if changes || !case.before.is_empty() {
            world = World::new().await;
        }
    }
    assert!(differs.is_empty(), "{}", differs.join("\n"));
    assert!(held >= 199, "{held} cases hold");
}

/// A refusal of GitLab's is one of the tools, too: with GitLab's reason, or refused before it was sent.
#[tokio::test]
async fn a_refusal_of_gitlab_is_never_reported_as_done() {
    let world = World::new().await;
    let url = world.sandbox.url().to_owned();
    let told = tokio::task::spawn_blocking(move || {
        let mut clients: Vec<(String, Client)> = Vec::new();
        let mut wrong = Vec::new();
        for case in cases().iter().filter(|case| case.sandbox.is_none() && case.before.is_empty()) {
            let Some(token) = token(&case.step.r#as) else { continue };
            let user = &case.step.r#as;
            if !clients.iter().any(|(known, _)| known == user) {
                clients.push((user.clone(), Client::for_gitlab(&url, &[("GITLAB_TOKEN", token)])));
            }
            let client =
                clients.iter_mut().find(|(known, _)| known == user).map(|(_, client)| client).unwrap();
            let params = json!({"method": case.step.method, "path": case.step.path, "body": case.step.body});
            let call = json!({"action": "api.rest", "params": params, "confirm": true});
            let reply = client.call(EXECUTE, call);
            let kind = reply.structured["error"]["kind"].as_str().unwrap_or_default().to_owned();
            let reason = case.says.as_deref().unwrap_or_default().to_lowercase();
            let reason = reason.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
            let is_told = match kind.as_str() {
                "invalid_params" | "not_found" | "forbidden" | "unauthorized" | "needs_confirmation" => true,
                _ => reply.text.to_lowercase().contains(reason),
            };
            if !reply.is_error || !is_told {
                wrong.push(format!("{}: {}", case.name(), reply.text));
            }
        }
        wrong
    });
    let wrong = told.await.unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
