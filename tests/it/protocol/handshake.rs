//! MCP in both eras.

use regex::Regex;
use rmcp::model::{CallToolRequestParams, ClientConfig, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};

use crate::support::client::{Client, LATEST_HANDSHAKE, WITHOUT_HANDSHAKE, program, reply};

const HANDSHAKES: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", LATEST_HANDSHAKE];

async fn connect(lifecycle: ClientLifecycleMode) -> RunningService<RoleClient, ClientConfig> {
    let command = tokio::process::Command::from(program(&[], &[]));
    let transport = TokioChildProcess::new(command).unwrap();
    ClientConfig::default().serve_with_lifecycle(transport, lifecycle).await.unwrap()
}

/// One session of a client that was written by someone else.
async fn use_both_tools(lifecycle: ClientLifecycleMode) {
    let client = connect(lifecycle).await;
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["gitlab_find_action", "gitlab_execute_action"]);
    let arguments = json!({"query": "list issues"}).as_object().cloned().unwrap();
    let request = CallToolRequestParams::new("gitlab_find_action").with_arguments(arguments);
    let result = client.call_tool(request).await.unwrap();
    assert_eq!(result.is_error, Some(false));
    assert_eq!(result.structured_content.unwrap()["results"][0]["action"], "issue.list");
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_client_with_a_handshake_uses_both_tools() {
    use_both_tools(ClientLifecycleMode::Initialize).await;
}

#[tokio::test]
async fn a_client_without_a_handshake_uses_both_tools() {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    use_both_tools(ClientLifecycleMode::Discover { preferred_versions }).await;
}

#[test]
fn every_handshake_is_answered_in_its_own_version() {
    for version in HANDSHAKES {
        let mut client = Client::start(&[], &[]);
        let result = client.initialize(version)["result"].clone();
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "gitlab-mcp");
        let capabilities = json!({"completions": {}, "prompts": {}, "resources": {}, "tools": {}});
        assert_eq!(result["capabilities"], capabilities, "nothing is advertised that is not there");
        assert!(result.get("resultType").is_none());
        assert!(client.request("ping", json!({}))["result"].is_object());
        client.close().well();
    }
}

#[test]
fn a_version_without_a_handshake_here_is_answered_with_the_newest_that_has_one() {
    for version in ["2031-01-01", WITHOUT_HANDSHAKE, "1999-01-01"] {
        let mut client = Client::start(&[], &[]);
        assert_eq!(client.initialize(version)["result"]["protocolVersion"], LATEST_HANDSHAKE);
    }
}

#[test]
fn a_request_that_says_no_version_before_any_handshake_is_refused_and_outlived() {
    let mut client = Client::start(&[], &[]);
    assert_eq!(client.request("tools/list", json!({}))["error"]["code"], -32602);
    assert!(client.modern("tools/list", json!({}))["result"].is_object());
}

#[test]
fn a_version_that_is_not_spoken_is_refused_with_those_that_are() {
    let mut client = Client::start(&[], &[]);
    let params = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2031-01-01",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    for method in ["server/discover", "tools/list"] {
        let answer = client.request(method, params.clone());
        assert_eq!(answer["error"]["code"], -32022, "{answer}");
        assert_eq!(answer["error"]["data"]["supported"].as_array().unwrap().len(), 5);
    }
    assert!(client.modern("server/discover", json!({}))["result"].is_object());
}

#[test]
fn discovery_needs_no_handshake_and_may_be_kept() {
    let mut client = Client::start(&[], &[]);
    let result = client.modern("server/discover", json!({}))["result"].clone();
    assert_eq!(result["supportedVersions"], json!([&HANDSHAKES[..], &[WITHOUT_HANDSHAKE]].concat()));
    assert!(result["capabilities"]["tools"].is_object() && result["capabilities"]["resources"].is_object());
    assert_eq!((&result["resultType"], &result["cacheScope"]), (&json!("complete"), &json!("public")));
    assert!(result["ttlMs"].as_u64().unwrap() > 0 && result["instructions"].is_string());
    let tools = client.modern("tools/list", json!({}))["result"].clone();
    // Clients may get other lists than this one.
    assert_eq!((&tools["resultType"], &tools["cacheScope"]), (&json!("complete"), &json!("private")));
    assert!(tools["ttlMs"].as_u64().unwrap() > 0);
    let call = json!({"name": "gitlab_find_action", "arguments": {"query": "x"}});
    let answer = client.modern("tools/call", call);
    assert_eq!(answer["result"]["resultType"], "complete");
    assert!(!reply(&answer).is_error);
    client.close().well();
}

#[test]
fn the_tools_and_instructions_stay_within_their_bytes() {
    let mut client = Client::start(&[], &[]);
    let instructions = client.initialize(LATEST_HANDSHAKE)["result"]["instructions"].clone();
    let list = client.request("tools/list", json!({}))["result"].clone();
    let bytes = list.to_string().len() + instructions.as_str().unwrap().len();
    assert!(bytes <= 4_000, "{bytes} bytes");
}

/// The ids in `a.{b, c}` and `{a, b}.c` of a text.
fn ids_in(text: &str) -> Vec<String> {
    let alternatives = |part: &str| -> Vec<String> {
        part.trim_matches(['{', '}']).split(", ").map(str::to_owned).collect()
    };
    let pair = Regex::new(r"(\{[a-z_, ]+\}|[a-z_]+)\.(\{[a-z_, ]+\}|[a-z_]+)").unwrap();
    let ids = pair.captures_iter(text).flat_map(|pair| {
        let (domains, verbs) = (alternatives(&pair[1]), alternatives(&pair[2]));
        domains
            .into_iter()
            .flat_map(move |domain| verbs.clone().into_iter().map(move |verb| format!("{domain}.{verb}")))
    });
    ids.filter(|id| id != "domain.verb").collect()
}

#[test]
fn every_id_in_the_instructions_is_one() {
    let mut client = Client::sandbox();
    let mut other = Client::start(&[], &[]);
    let instructions = other.initialize(LATEST_HANDSHAKE)["result"]["instructions"].clone();
    let ids = ids_in(instructions.as_str().unwrap());
    assert!(ids.len() >= 30, "{ids:?}");
    for id in ids {
        let found = client.call("gitlab_find_action", json!({"query": id, "limit": 1}));
        assert_eq!(found.structured["results"][0]["action"], json!(id));
    }
}

#[test]
fn the_tools_say_what_they_are() {
    let tools = Client::ready().request("tools/list", json!({}))["result"]["tools"].clone();
    let hints = |number: usize, name: &str| tools[number]["annotations"][name].clone();
    assert_eq!((hints(0, "readOnlyHint"), hints(0, "openWorldHint")), (json!(true), json!(false)));
    assert_eq!(hints(0, "idempotentHint"), json!(true));
    assert_eq!((hints(1, "destructiveHint"), hints(1, "openWorldHint")), (json!(true), json!(true)));
    for tool in tools.as_array().unwrap() {
        assert!(tool["title"].is_string() && tool["description"].is_string());
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            assert_eq!(schema["type"], "object");
            jsonschema::meta::validate(schema).unwrap();
            let text = schema.to_string();
            for refused in ["anyOf", "oneOf", "allOf", "$ref", "$defs"] {
                assert!(!text.contains(refused), "{refused} in {text}");
            }
        }
    }
}

#[test]
fn answers_and_errors_fit_the_output_schemas() {
    let mut client = Client::ready();
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let calls = [
        (0, json!({"query": "list issues", "limit": null})),
        (0, json!({"limit": "many"})),
        (1, json!({"action": "issue.list", "params": null, "dry_run": true})),
        (1, json!({"action": "no.such"})),
    ];
    for (number, arguments) in calls {
        let reply = client.call(tools[number]["name"].as_str().unwrap(), arguments);
        let validator = jsonschema::validator_for(&tools[number]["outputSchema"]).unwrap();
        assert!(validator.is_valid(&reply.structured), "{}", reply.structured);
        assert_eq!(reply.is_error, reply.structured.get("error").is_some());
        assert!(!reply.text.is_empty());
    }
}

#[test]
fn what_is_not_there_is_not_found() {
    let mut client = Client::ready();
    let methods = [("logging/setLevel", json!({"level": "info"})), ("gitlab/anything", json!({}))];
    for (method, params) in methods {
        let answer = client.request(method, params);
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
    client.close().well();
}

#[test]
fn an_unknown_tool_is_an_error_of_the_protocol() {
    let answer =
        Client::ready().request("tools/call", json!({"name": "gitlab_list_issues", "arguments": {}}));
    assert_eq!(answer["error"]["code"], -32602);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("unknown tool: gitlab_list_issues. Call gitlab_execute_action"), "{message}");
    assert_eq!(answer["error"]["data"]["tools"], json!(["gitlab_find_action", "gitlab_execute_action"]));
}

#[test]
fn a_page_that_was_never_named_is_refused() {
    let answer = Client::ready().request("tools/list", json!({"cursor": "2"}));
    assert_eq!(answer["error"]["code"], -32602);
}

#[test]
fn params_of_another_shape_are_answered() {
    let mut client = Client::ready();
    for params in [json!({"name": "gitlab_find_action", "arguments": "list issues"}), json!({}), Value::Null]
    {
        let answer = client.request("tools/call", params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    client.close().well();
}
