//! Mistakes of a model, and failures on the way to GitLab: every error names the exact thing and carries the corrected
//! call, which is sent here unchanged and has to work.

pub mod foreign_texts;
pub mod http_statuses;
pub mod invalid_params;
pub mod network;
pub mod unknown_action;

use gitlab_mcp::tools::ErrorKind;
use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, Reply};

/// The error of a call, which is of that kind, says all of these in its message, says the same in both forms, and
/// carries a call.
fn refused(client: &mut Client, call: (&str, Value), kind: &str, says: &[&str]) -> Value {
    let error = failed(client, call, kind, says);
    assert!(error["fix"].is_object(), "{error}");
    error
}

/// The error of a call, with or without a call that mends it.
fn failed(client: &mut Client, (tool, arguments): (&str, Value), kind: &str, says: &[&str]) -> Value {
    let reply = client.call(tool, arguments.clone());
    assert!(reply.is_error, "{arguments}: {}", reply.text);
    let error = reply.structured["error"].clone();
    assert_eq!(error["kind"], kind, "{arguments}: {error}");
    let message = error["message"].as_str().unwrap();
    for part in says {
        assert!(message.contains(part), "{arguments}: no {part} in: {message}");
    }
    assert!(reply.text.contains(message), "{}", reply.text);
    let next = if error["fix"].is_null() { String::new() } else { format!("Next: {}", error["fix"]) };
    assert!(reply.text.contains(&next), "{}", reply.text);
    error
}

/// Makes the call that the error offers, which has to work.
fn follow(client: &mut Client, error: &Value) -> Reply {
    let fix = &error["fix"];
    let reply = client.call(fix["tool"].as_str().unwrap(), fix["arguments"].clone());
    assert!(!reply.is_error, "{fix}: {}", reply.text);
    reply
}

/// A call that is refused, and its fix, which works.
fn mended(client: &mut Client, call: (&str, Value), kind: &str, says: &[&str]) -> (Value, Reply) {
    let error = refused(client, call, kind, says);
    let reply = follow(client, &error);
    (error, reply)
}

/// A call of an action that is refused, and its fix, which works.
fn execute_mended(client: &mut Client, arguments: Value, kind: &str, says: &[&str]) -> (Value, Reply) {
    mended(client, (EXECUTE, arguments), kind, says)
}

/// A call that runs, and says all of these in its notes.
fn runs(client: &mut Client, arguments: Value, says: &[&str]) -> Value {
    let reply = client.call(EXECUTE, arguments.clone());
    assert!(!reply.is_error, "{arguments}: {}", reply.text);
    let notes = reply.structured["notes"].to_string();
    for part in says {
        let quoted = json!(part).to_string();
        assert!(notes.contains(quoted.trim_matches('"')), "{arguments}: no {part} in: {notes}");
    }
    reply.structured
}

#[test]
fn every_kind_of_error_is_on_its_page() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference/errors.md");
    let page = std::fs::read_to_string(path).unwrap();
    for kind in ErrorKind::ALL {
        let name = json!(kind);
        let row = format!("\n| `{}` | ", name.as_str().unwrap());
        assert_eq!(page.matches(&row).count(), 1, "docs/reference/errors.md should have one row of {name}");
    }
    let (_, kinds) = page.split_once("## Kinds").unwrap();
    let rows = kinds.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(rows, ErrorKind::ALL.len(), "and of nothing else");
}

/// No other call helps against a denial by the configuration.
#[test]
fn a_denied_call_has_no_fix() {
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("policy.toml");
    std::fs::write(&policy, "[[rule]]\npaths = [\"acme/widget\"]\ndecision = \"deny\"\n").unwrap();
    let issue = json!({"fullPath": "acme/widget", "iid": 1});
    let call = |action: &str| json!({"action": action, "params": issue});
    let direct = json!({"method": "DELETE", "path": "/projects/1/issues/1"});
    for (setting, arguments) in [
        (("GITLAB_READ_ONLY", "true"), call("issue.delete")),
        (("GITLAB_READ_ONLY", "true"), json!({"action": "api.rest", "params": direct})),
        (("GITLAB_DENIED_ACTIONS", "issue.*"), call("issue.get")),
        (("GITLAB_ALLOWED_PATHS", "acme/site"), call("issue.delete")),
        (("GITLAB_READABLE_PATHS", "acme/site"), call("issue.get")),
        (("GITLAB_POLICY", policy.to_str().unwrap()), call("issue.get")),
    ] {
        let reply = Client::sandbox_with(&[setting]).call(EXECUTE, arguments.clone());
        let error = crate::support::client::refused(&reply, "denied");
        assert!(error.get("fix").is_none(), "{setting:?} {arguments}: {error}");
        assert!(!reply.text.contains("\nNext: "), "{setting:?} {arguments}: {}", reply.text);
    }
}
