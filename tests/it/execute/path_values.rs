//! Values in the path of a request: one that may lead elsewhere is refused before anything is sent.

use serde_json::{Value, json};

use crate::support::client::{Client, execute};

fn refused(client: &mut Client, action: &str, params: Value, reason: &str) {
    let reply = execute(client, action, params.clone());
    let error = &reply.structured["error"];
    assert_eq!(error["kind"], "invalid_params", "{params}: {}", reply.text);
    assert!(error["message"].as_str().unwrap().contains(reason), "{params}: {error}");
}

#[test]
fn dots_backslashes_and_control_characters_are_refused() {
    let mut client = Client::sandbox();
    let file = |path: &str| json!({"fullPath": "acme/widget", "file_path": path, "ref": "main"});
    for (path, reason) in [
        ("a/../../b", "`..` would lead elsewhere"),
        ("a/../../b\\c", "backslash"),
        ("docs/./README.md", "`.` would lead elsewhere"),
        ("./../secret", "`..` would lead elsewhere"),
        ("%2e%2e/secret", "`..` would lead elsewhere"),
        ("a%252f..%252fb", "`..` would lead elsewhere"),
        ("a\nb", "control character"),
    ] {
        refused(&mut client, "repository_file.get_raw", file(path), reason);
    }
    let branch = json!({"fullPath": "acme/widget", "branch": "x\u{0}y\r\nHost: z"});
    refused(&mut client, "branch.get", branch, "control character");
    refused(&mut client, "issue.list", json!({"fullPath": "acme/../admin"}), "expected a full path");
}

/// Shells and editors write a file of a folder as `./README.md`: it is that file, and nothing above it.
#[test]
fn a_leading_dot_and_slash_is_the_file_itself() {
    let mut client = Client::sandbox();
    for path in ["README.md", "./README.md"] {
        let file = json!({"fullPath": "acme/widget", "file_path": path, "ref": "main"});
        let reply = execute(&mut client, "repository_file.get_raw", file);
        assert!(reply.text.contains("\n# Widget\n"), "{path}: {}", reply.text);
    }
}
