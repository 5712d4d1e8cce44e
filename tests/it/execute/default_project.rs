//! The default project of calls that name none, also of actions that work on the whole instance.

use serde_json::{Value, json};

use crate::support::client::{Client, execute, succeed};

#[test]
fn the_default_project_serves_actions_with_an_instance_scope_and_the_answer_says_so() {
    let mut client = Client::sandbox_with(&[("GITLAB_PROJECT", "acme/widget")]);
    for (action, params) in [
        ("merge_request.list", json!({})),
        ("issue.list", json!({})),
        ("issue.list", json!({"within": "project"})),
        ("ci_variable.list", json!({})),
        ("ci_variable.list", json!({"scope": "project"})),
        ("snippet.list", json!({})),
        ("label.list", json!({})),
        // Objects of those lists, too.
        ("snippet.get", json!({"snippet_id": 1})),
        ("ci_variable.get", json!({"key": "OIL_GRADE"})),
        ("ci_variable.get", json!({"key": "OIL_GRADE", "scope": "project"})),
        ("ci_variable.update", json!({"key": "OIL_GRADE", "value": "5W30"})),
    ] {
        let mut placed = params.clone();
        placed["fullPath"] = json!("acme/widget");
        let reply = execute(&mut client, action, params.clone());
        assert!(!reply.is_error, "{action} {params}: {}", reply.text);
        assert_eq!(
            reply.structured["data"],
            succeed(&mut client, action, placed)["data"],
            "{action} {params}"
        );
        let notes = reply.structured["notes"].to_string();
        assert!(notes.contains("`fullPath` is acme/widget, the configured project"), "{action}: {notes}");
    }
    // The whole instance has to be asked for, as the note says.
    let reply = execute(&mut client, "issue.list", json!({}));
    let whole = "`within: instance` with `scope: all` is for all";
    assert!(reply.text.contains(whole), "{}", reply.text);
    let count = |client: &mut Client, params: Value| {
        let reply = execute(client, "issue.list", params);
        reply.structured["data"].as_array().map(Vec::len)
    };
    let own = count(&mut client, json!({"within": "instance", "per_page": 100}));
    let all = count(&mut client, json!({"within": "instance", "scope": "all", "per_page": 100}));
    assert!(own < all, "{own:?} {all:?}");
    let reply = execute(&mut client, "issue.list", json!({"within": "instance"}));
    assert!(!reply.is_error && !reply.text.contains("the configured project"), "{}", reply.text);
    let other = execute(&mut client, "issue.list", json!({"fullPath": "acme"}));
    assert!(!other.is_error && !other.text.contains("the configured project"), "{}", other.text);
    // Without a default there is none.
    let reply = execute(&mut Client::sandbox(), "issue.list", json!({}));
    assert!(!reply.text.contains("`fullPath` is"), "{}", reply.text);
}

#[test]
fn a_write_to_the_instance_goes_to_the_default_project_or_is_refused() {
    let write = json!({"key": "A_KEY", "value": "x"});
    let mut client = Client::sandbox_with(&[("GITLAB_PROJECT", "acme/widget")]);
    let reply = execute(&mut client, "ci_variable.create", write.clone());
    assert!(!reply.is_error && reply.text.contains("the configured project"), "{}", reply.text);
    let refused = execute(&mut Client::sandbox(), "ci_variable.create", write);
    assert_eq!(refused.structured["error"]["kind"], "invalid_params", "{}", refused.text);
}

#[test]
fn a_client_without_roots_works_in_the_directory_of_its_server() {
    let directory = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let done =
            std::process::Command::new("git").args(arguments).current_dir(directory.path()).output().unwrap();
        assert!(done.status.success(), "{arguments:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    let gitlab = crate::support::scripted_gitlab::Gitlab::with_project();
    gitlab.json("/labels", &json!([{"id": 1, "name": "bug"}]));
    git(&["remote", "add", "origin", &format!("{}/acme/widget.git", gitlab.url())]);
    let mut command =
        crate::support::client::program(&[], &[("GITLAB_URL", &gitlab.url()), ("GITLAB_TOKEN", "glpat-x")]);
    let mut client = Client::spawn(command.current_dir(directory.path()).stdin(std::process::Stdio::piped()));
    client.initialize("2025-11-25");
    let reply = execute(&mut client, "label.list", json!({}));
    assert!(!reply.is_error, "{}", reply.text);
    assert!(reply.text.contains("`fullPath` is acme/widget, the workspace's project"), "{}", reply.text);
    // Items are of that project too.
    gitlab.json("/issues/3", &json!({"id": 3, "iid": 3, "title": "Squeaks"}));
    let fetched = execute(&mut client, "resource.fetch", json!({"items": [{"itemType": "issue", "iid": 3}]}));
    assert_eq!(fetched.structured["data"][0]["status"], "ok", "{}", fetched.text);
}
