//! A client of another project, in both eras of the protocol.

use rmcp::model::{CallToolRequestParams, ClientConfig, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::json;

use super::HttpServer;
use crate::support::client::{EXECUTE, FIND};

async fn find_and_execute(lifecycle: ClientLifecycleMode) {
    // The client's TLS needs a provider, although nothing here is encrypted; another test may have installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let server = HttpServer::start(&["--sandbox", "--auth", "token"], &[]);
    let config = StreamableHttpClientTransportConfig::with_uri(format!("http://{}/mcp", server.address))
        .auth_header("glpat-sandbox-admin");
    let transport = StreamableHttpClientTransport::from_config(config);
    let client = ClientConfig::default().serve_with_lifecycle(transport, lifecycle).await.unwrap();
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, [FIND, EXECUTE]);
    let execute = tools[1].input_schema.get("properties").unwrap();
    assert_eq!(execute["action"]["x-mcp-header"], "Action");
    let arguments = json!({"query": "who am I", "limit": 1}).as_object().unwrap().clone();
    let found = client.call_tool(CallToolRequestParams::new(FIND).with_arguments(arguments)).await.unwrap();
    let found = found.structured_content.unwrap();
    assert_eq!(found["results"][0]["action"], "current_user.get");
    let arguments = json!({"action": "current_user.get"}).as_object().unwrap().clone();
    let done = client.call_tool(CallToolRequestParams::new(EXECUTE).with_arguments(arguments)).await.unwrap();
    assert_eq!(done.structured_content.unwrap()["data"]["username"], "root");
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_client_with_a_handshake_finds_and_executes() {
    find_and_execute(ClientLifecycleMode::Initialize).await;
}

#[tokio::test]
async fn a_client_without_a_handshake_finds_and_executes() {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    find_and_execute(ClientLifecycleMode::Discover { preferred_versions }).await;
}
