//! Errors for a model that calls the tools with small mistakes.

use serde_json::json;

use crate::support::client::Client;

#[test]
fn wrong_arguments_are_a_result_that_says_how_to_repair_them() {
    let reply = Client::ready().call("gitlab_find_action", json!({"query": "x", "limit": "many"}));
    assert!(reply.is_error);
    assert_eq!(reply.structured["error"]["kind"], "invalid_params");
    let message = reply.structured["error"]["message"].as_str().unwrap();
    assert_eq!(message, "`limit` takes a whole number from 1 to 50, and got \"many\".");
    assert!(reply.text.contains(message) && reply.text.contains("gitlab_find_action takes {query"));
}

#[test]
fn arguments_that_are_left_out_are_named() {
    let mut client = Client::ready();
    for arguments in [json!({}), json!(null)] {
        let reply = client.call("gitlab_execute_action", arguments);
        let message = reply.structured["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("`action` is missing"), "{message}");
    }
}

#[test]
fn null_for_what_is_optional_is_nothing() {
    let find = json!({
        "query": "x", "limit": null, "domain": null, "read_only": null, "detail": null, "explain": null,
    });
    assert!(!Client::ready().call("gitlab_find_action", find).is_error);
}

#[test]
fn params_as_text_are_read_and_said_to_be() {
    let arguments = json!({
        "action": "issue.get", "params": "{\"fullPath\": \"group/project\", \"iid\": 1}", "dry_run": true,
    });
    let reply = Client::sandbox().call("gitlab_execute_action", arguments);
    assert!(!reply.is_error, "{}", reply.text);
    let notes = reply.structured["notes"].to_string();
    assert!(notes.contains("`params` came as text") && reply.text.contains("`params` came as text"));
}

#[test]
fn parameters_beside_params_come_back_inside_them() {
    let arguments = json!({"action": "issue.get", "fullPath": "group/project", "iid": 1});
    let reply = Client::ready().call("gitlab_execute_action", arguments);
    let fix = &reply.structured["error"]["fix"];
    assert_eq!(fix["tool"], "gitlab_execute_action");
    let corrected = json!({"action": "issue.get", "params": {"fullPath": "group/project", "iid": 1}});
    assert_eq!(fix["arguments"], corrected);
}

#[test]
fn a_request_without_end_is_answered_like_any_other() {
    let mut client = Client::ready();
    for query in ["a".repeat(200_000), "list the issues of a project ".repeat(5_000), "é".repeat(100_000)] {
        let reply = client.call("gitlab_find_action", json!({"query": query}));
        assert!(!reply.is_error, "{}", reply.text);
        assert!(reply.text.len() < 12_000);
    }
    let reply = client.call("gitlab_execute_action", json!({"action": "x".repeat(200_000)}));
    assert!(reply.text.len() < 1_000, "an overlong argument is not repeated");
}
