//! Questions to the user over HTTP: by the result of a call (2026-07-28), and never on the stream of one.

use serde_json::{Value, json};

use super::{HttpServer, error_kind, tool_call};
use crate::policy::vault::{gitlab, sent};
use crate::support::client::{EXECUTE, WITHOUT_HANDSHAKE};

const TOKEN: (&str, &str) = ("PRIVATE-TOKEN", "glpat-a");

/// The deletion of an issue, with the model's consent.
fn deletion() -> Value {
    json!({"action": "issue.delete", "params": {"fullPath": "acme/widget", "iid": 1}, "confirm": true})
}

/// Calls execute in the protocol that asks by the result, as a client that can ask; `more` is added to its parameters.
fn call(server: &HttpServer, headers: &[(&str, &str)], more: Value) -> Value {
    let mut message = tool_call(EXECUTE, deletion());
    let params = message["params"].as_object_mut().unwrap();
    params.extend(more.as_object().unwrap().clone());
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": WITHOUT_HANDSHAKE,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    });
    params.insert("_meta".to_owned(), meta);
    let own = [
        TOKEN,
        ("MCP-Protocol-Version", WITHOUT_HANDSHAKE),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", EXECUTE),
        ("Mcp-Param-Action", "issue.delete"),
    ];
    let response = server.post(&[&own, headers].concat(), &message);
    assert_eq!(response.status, 200, "{}", response.body);
    response.json()["result"].clone()
}

fn answered(asked: &Value, answer: Value) -> Value {
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    json!({"requestState": asked["requestState"], "inputResponses": {"confirm": answer}})
}

#[test]
fn a_shared_server_asks_the_person_of_each_caller() {
    let gitlab = gitlab();
    let server = HttpServer::for_callers(&gitlab.url(), &[]);
    let asked = call(&server, &[], json!({}));
    let declined = call(&server, &[], answered(&asked, json!({"action": "decline"})));
    assert_eq!(error_kind(&declined), "declined", "{declined}");
    // The decline is of this caller: another one is asked.
    assert_eq!(error_kind(&call(&server, &[], json!({}))), "declined");
    // Whatever limits the caller asks for, it is the same person.
    for narrowed in [("X-MCP-Toolsets", "issues"), ("X-MCP-Confirm", "write")] {
        assert_eq!(error_kind(&call(&server, &[narrowed], json!({}))), "declined", "{narrowed:?}");
    }
    let other = [("PRIVATE-TOKEN", "glpat-b")];
    let mut message = tool_call(EXECUTE, deletion());
    message["params"]["arguments"]["confirm"] = json!(null);
    let response = server.post(&other, &message);
    assert_eq!(error_kind(&response.json()["result"]), "needs_confirmation", "{}", response.body);
    assert!(!sent(&gitlab).iter().any(|request| request.starts_with("DELETE")));
}

#[test]
fn a_caller_can_only_ask_for_more_than_the_server() {
    let gitlab = gitlab();
    let server = HttpServer::for_callers(&gitlab.url(), &[("GITLAB_CONFIRM_BY", "model")]);
    let asked = call(&server, &[("X-MCP-Confirm-By", "person")], json!({}));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let done = call(&server, &[], json!({}));
    assert_eq!(done["isError"], false, "{done}");
    // The other headers say nothing about who confirms.
    let done = call(&server, &[("X-MCP-Confirm", "write")], json!({}));
    assert_eq!(done["isError"], false, "{done}");
    let refused = server.post(&[TOKEN, ("X-MCP-Confirm-By", "model")], &tool_call(EXECUTE, deletion()));
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert!(refused.body.contains("x-mcp-confirm-by"), "{}", refused.body);
}

/// No answer to a question of the server would reach a call of these protocols.
#[test]
fn a_client_of_an_earlier_protocol_gets_the_error_at_once() {
    let gitlab = gitlab();
    let server = HttpServer::for_callers(&gitlab.url(), &[]);
    for version in ["2025-06-18", "2025-11-25"] {
        let headers = [TOKEN, ("MCP-Protocol-Version", version)];
        let able = json!({"elicitation": {"form": {}}});
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": able, "clientInfo": client});
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        assert_eq!(server.post(&headers, &initialize).status, 200);
        for meta in [json!({}), json!({"io.modelcontextprotocol/clientCapabilities": able})] {
            let mut message = tool_call(EXECUTE, deletion());
            message["params"]["arguments"]["confirm"] = json!(false);
            message["params"]["_meta"] = meta;
            let response = server.post(&headers, &message);
            assert_eq!(error_kind(&response.json()["result"]), "needs_confirmation", "{}", response.body);
        }
        let done = server.post(&headers, &tool_call(EXECUTE, deletion())).json()["result"].clone();
        assert_eq!(done["isError"], false, "{done}");
    }
}
