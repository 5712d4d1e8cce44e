//! Which clients get answers as structured content, and how short it is.

use serde_json::{Value, json};

use crate::http::HttpServer;
use crate::support::client::{Client, EXECUTE, FIND};

const LIST: &str = r#"{"action": "issue.list", "params": {"fullPath": "acme/widget", "per_page": 5}}"#;

/// Whether the tools have output schemas, and the result of a list.
fn seen_by(client: &str, setting: Option<&str>) -> (bool, Value) {
    let variables: Vec<(&str, &str)> =
        setting.map(|when| ("GITLAB_STRUCTURED_CONTENT", when)).into_iter().collect();
    let mut started = Client::start(&["--sandbox"], &variables);
    started.initialize_as(client);
    let tools = started.request("tools/list", json!({}))["result"]["tools"].clone();
    let schemas: Vec<bool> =
        tools.as_array().unwrap().iter().map(|tool| tool["outputSchema"].is_object()).collect();
    assert!(schemas.iter().all(|has| *has == schemas[0]), "{tools}");
    let arguments: Value = serde_json::from_str(LIST).unwrap();
    let answer = started.request("tools/call", json!({"name": EXECUTE, "arguments": arguments}));
    (schemas[0], answer["result"].clone())
}

#[test]
fn a_client_that_shows_the_structure_alone_gets_the_text_alone() {
    for (client, setting, is_given) in [
        ("claude-code", None, false),
        ("codex-mcp-client", Some("auto"), false),
        ("cursor-vscode", None, true),
        ("claude-code", Some("always"), true),
        ("cursor-vscode", Some("never"), false),
    ] {
        let (has_schema, result) = seen_by(client, setting);
        assert_eq!(has_schema, is_given, "{client} {setting:?}");
        assert_eq!(result["structuredContent"].is_object(), is_given, "{client} {setting:?}: {result}");
        assert!(result["content"][0]["text"].as_str().unwrap().contains("Draw the logo"), "{result}");
    }
}

#[test]
fn an_error_has_both_forms_for_every_client() {
    let mut client = Client::start(&["--sandbox"], &[]);
    client.initialize_as("claude-code");
    let arguments = json!({"action": "issue.get", "params": {"fullPath": "acme/nowhere", "iid": 1}});
    let answer = client.request("tools/call", json!({"name": EXECUTE, "arguments": arguments}));
    assert_eq!(answer["result"]["structuredContent"]["error"]["kind"], "not_found", "{answer}");
}

#[test]
fn without_a_handshake_the_client_is_known_by_the_request() {
    let server = HttpServer::start(&["--sandbox", "--auth", "none"], &[]);
    for (agent, is_given) in [("claude-code/2.1.197 (cli)", false), ("python-httpx/0.28", true)] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
            {"name": FIND, "arguments": {"query": "list issues"}}});
        let response = server.post(&[("user-agent", agent)], &body);
        assert_eq!(response.body.contains("structuredContent"), is_given, "{agent}: {}", response.body);
    }
}

#[test]
fn the_structure_is_about_as_long_as_the_text() {
    let (_, result) = seen_by("cursor-vscode", None);
    let structure = &result["structuredContent"];
    let rows = structure["data"]["rows"].as_array().unwrap();
    let columns = structure["data"]["columns"].as_array().unwrap();
    assert_eq!((rows.len(), &columns[0]), (5, &json!("iid")), "{structure}");
    // A row ends with its last value, and columns that say the same are one.
    assert!(rows.iter().any(|row| row.as_array().unwrap().len() < columns.len()), "{structure}");
    assert!(columns.contains(&json!("updated_at, created_at")), "{structure}");
    let (text, structure) = (result["content"][0]["text"].as_str().unwrap(), structure.to_string());
    assert!(structure.len() * 4 <= text.len() * 5, "{} and {}", structure.len(), text.len());
}
